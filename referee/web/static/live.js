// Keeps the scoreboard up to date with the server: one stream of events, reopened when it breaks.
"use strict";
(() => {
  const board = document.getElementById("board");
  const lost = document.getElementById("lost");
  const STAY = 8000;
  const from = document.body.classList.contains("projector") ? "?from=projector" : "";
  let first = true;
  let ended = false;

  const open = () => {
    const stream = new EventSource(board.dataset.events);
    stream.addEventListener("open", () => {
      lost.hidden = true;
    });
    stream.addEventListener("regions", (event) => {
      const fresh = JSON.parse(event.data);
      const carry = first ? null : Winner.pileGoes(fresh);
      for (const [id, html] of Object.entries(fresh)) Regions.show(id, html, first);
      if ("winner" in fresh) Winner.shown(first);
      if ("said" in fresh) Sound.heard(first);
      if (carry) carry();
      const end = document.querySelector("#state [data-end]");
      // A game that was over when the board was opened stays on it.
      if (first) ended = Boolean(end);
      else if (end && !ended) setTimeout(() => location.assign(`${end.href}${from}`), STAY);
      if (!end) ended = false;
      document.dispatchEvent(new CustomEvent("regions", { detail: { first } }));
      first = false;
      board.dataset.shown = String(Number(board.dataset.shown ?? 0) + 1);
    });
    stream.addEventListener("error", () => {
      lost.hidden = false;
      first = true;
      // The browser reconnects on its own, unless the server refused.
      if (stream.readyState === EventSource.CLOSED) setTimeout(open, 4000);
    });
    addEventListener("pagehide", () => stream.close(), { once: true });
  };

  addEventListener("pageshow", (event) => {
    if (event.persisted) open();
  });
  open();
})();
