// Keeps the league as the server has it; names are put in as text, never as markup.
"use strict";
(() => {
  const hall = document.getElementById("hall");
  const body = document.getElementById("league");
  const lost = document.getElementById("lost");

  const row = ([name, tables, games, won, slaps, wrong, cards], at) => {
    const line = document.createElement("tr");
    [at + 1, name, games, won, slaps, wrong, cards, tables].forEach((value, column) => {
      const cell = document.createElement(column === 1 ? "th" : "td");
      if (column === 1) cell.scope = "row";
      cell.textContent = String(value);
      line.append(cell);
    });
    return line;
  };

  const open = () => {
    const stream = new EventSource(hall.dataset.events);
    stream.addEventListener("open", () => (lost.hidden = true));
    stream.addEventListener("league", (event) => {
      const told = JSON.parse(event.data);
      document.getElementById("broker").hidden = told.broker;
      document.getElementById("none").hidden = told.rows.length > 0;
      body.replaceChildren(...told.rows.map(row));
      hall.dataset.shown = String(Number(hall.dataset.shown ?? 0) + 1);
    });
    stream.addEventListener("error", () => {
      lost.hidden = false;
      if (stream.readyState === EventSource.CLOSED) setTimeout(open, 4000);
    });
    addEventListener("pagehide", () => stream.close(), { once: true });
  };
  open();
})();
