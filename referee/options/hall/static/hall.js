// Keeps the tables as the server has them. A table's words are put in as text, never as markup.
"use strict";
(() => {
  const hall = document.getElementById("hall");
  const words = JSON.parse(hall.dataset.words);
  const only = hall.dataset.only ?? null;
  const list = document.getElementById("tables");
  const template = document.getElementById("tile");
  const byId = (id) => document.getElementById(id);
  const tables = new Map();
  let ahead = 0; // how far the server's clock is ahead of ours, ms
  const SUITS = { s: "♠", h: "♥", d: "♦", c: "♣", r: "★", b: "★" };

  const fill = (text, fields) => text.replace(/\{(\w+)\}/g, (_, key) => fields[key] ?? "");
  const put = (element, text) => {
    if (element.textContent !== text) element.textContent = text;
  };
  const show = (element, shown) => {
    if (element.hidden === shown) element.hidden = !shown;
  };
  const card = (name) => ({ T: "10", X: "" }[name[0]] ?? name[0]) + (SUITS[name[1]] ?? "");

  const age = (ms) => {
    const s = Math.max(0, Math.round(ms / 1000));
    if (s < 60) return fill(words.seconds, { n: s });
    return s < 7200 ? fill(words.minutes, { n: Math.floor(s / 60) }) : fill(words.hours, { n: Math.floor(s / 3600) });
  };

  const condition = (facts) => {
    if (facts.condition !== "silent") return words[`condition_${facts.condition}`] ?? "";
    return facts.quiet == null ? words.condition_silent
      : fill(words.silent_for, { time: age(performance.now() + ahead - facts.quiet) });
  };

  const mark = (facts, seat) => {
    if (facts.winner === seat) return ["winner", words.winner];
    if (facts.owner === seat) return ["owner", words.owner];
    if (facts.pays && facts.pays[0] === seat) return ["turn", fill(words.pays, { n: facts.pays[1] })];
    if (facts.turn === seat && facts.condition !== "over") return ["turn", words.turn];
    if ((facts.locked ?? []).includes(seat)) return ["locked", words.locked];
    return facts.cards[seat - 1] === 0 ? ["empty", words.out] : ["", ""];
  };

  const players = (tile, facts) => {
    const names = facts.names ?? [];
    const place = tile.querySelector(".players");
    while (place.children.length > names.length) place.lastElementChild.remove();
    while (place.children.length < names.length) {
      const row = document.createElement("li");
      for (const name of ["player", "mark", "count"]) {
        const span = document.createElement("span");
        span.className = name;
        row.append(span);
      }
      place.append(row);
    }
    names.forEach((name, at) => {
      const row = place.children[at];
      const [kind, said] = mark(facts, at + 1);
      const class_ = `seat${(at % 8) + 1} ${kind}`.trim();
      if (row.className !== class_) row.className = class_;
      put(row.children[0], name);
      put(row.children[1], said);
      put(row.children[2], facts.cards[at] == null ? "?" : String(facts.cards[at]));
    });
  };

  const draw = (name, table) => {
    const { tile, facts } = table;
    const class_ = `tile c-${facts.condition}${facts.help ? " helped" : ""}`;
    if (tile.className !== class_) tile.className = class_;
    put(tile.querySelector(".condition"), condition(facts));
    const help = [...(facts.asks ?? []), ...(facts.troubles ?? [])].join(" · ");
    put(tile.querySelector(".help"), help && `${words.needs_help}: ${help}`);
    show(tile.querySelector(".help"), Boolean(help));
    players(tile, facts);
    const top = tile.querySelector(".topcard");
    put(top, facts.top ? card(facts.top) : "");
    const colour = facts.top ? `topcard ${"hdr".includes(facts.top[1]) ? "red" : "black"}` : "topcard bare";
    if (top.className !== colour) top.className = colour;
    put(tile.querySelector(".under"), facts.pile ? `× ${facts.pile}` : words.no_pile);
    const said = tile.querySelector(".said");
    put(said, facts.said?.words || words.nothing);
    const kind = `said k-${facts.said?.kind ?? "none"}`;
    if (said.className !== kind) said.className = kind;
  };

  const recent = (facts) => {
    const place = byId("recent");
    if (!place || !facts.recent) return;
    const rows = [...facts.recent].reverse().map((one) => {
      const row = document.createElement("li");
      row.className = `k-${one.kind}`;
      row.textContent = one.words;
      return row;
    });
    place.replaceChildren(...rows);
  };

  const add = (name) => {
    const tile = template.content.firstElementChild.cloneNode(true);
    const link = tile.querySelector("a.name");
    link.textContent = name;
    link.href = `/tables/${encodeURIComponent(name)}`;
    tile.dataset.name = name;
    const table = { tile, facts: {} };
    tables.set(name, table);
    return table;
  };

  // Which tables are shown, and in which order.
  const kept = (key, usual) => {
    try {
      return sessionStorage.getItem(`hall-${key}`) ?? usual;
    } catch {
      return usual;
    }
  };
  const collator = new Intl.Collator(document.documentElement.lang, { numeric: true });
  const urgency = ({ facts }) => (facts.help ? 0 : facts.condition === "silent" && facts.game != null ? 1 : 2);
  const sorts = {
    by_help: (a, b) => urgency(a[1]) - urgency(b[1]),
    by_name: () => 0,
    by_pile: (a, b) => (b[1].facts.pile ?? 0) - (a[1].facts.pile ?? 0),
    by_recent: (a, b) => (b[1].at ?? 0) - (a[1].at ?? 0),
  };
  const shows = {
    all: () => true,
    live: (facts) => facts.condition === "live" || facts.condition === "paused",
    help: (facts) => facts.help,
    silent: (facts) => facts.condition === "silent",
  };

  const arrange = () => {
    const wanted = (byId("find")?.value ?? "").trim().toLocaleLowerCase();
    const shown = shows[byId("show")?.value] ?? shows.all;
    const sort = sorts[byId("sort")?.value] ?? sorts.by_help;
    const order = [...tables].sort((a, b) => sort(a, b) || collator.compare(a[0], b[0]));
    const within = order.filter(([name, { facts }]) =>
      shown(facts) && (!wanted || [name, ...(facts.names ?? [])].some((text) => text.toLocaleLowerCase().includes(wanted))));
    const tiles = within.map(([, { tile }]) => tile);
    const keep = new Set(tiles);
    for (const tile of [...list.children]) if (!keep.has(tile)) tile.remove();
    tiles.forEach((tile, place) => {
      if (list.children[place] === tile) return;
      const focused = tile.contains(document.activeElement) ? document.activeElement : null;
      list.insertBefore(tile, list.children[place] ?? null);
      focused?.focus({ preventScroll: true });
    });
    put(byId("none"), tables.size ? words.no_match : only === null ? words.none : words.gone);
    show(byId("none"), !tiles.length);
    count();
  };

  // An order that changes with every card would leave no time to read.
  let arranged = { at: 0, size: -1 };
  const arrangeCalmly = () => {
    const restless = ["by_pile", "by_recent"].includes(byId("sort")?.value);
    const soon = performance.now() - arranged.at < 3000;
    if (restless && soon && arranged.size === tables.size) return count();
    arranged = { at: performance.now(), size: tables.size };
    return arrange();
  };

  const count = () => {
    const place = byId("counted");
    if (!place) return;
    const all = [...tables.values()];
    const many = (test) => all.filter(({ facts }) => test(facts)).length;
    put(place, fill(words.counted, {
      n: all.length, live: many(shows.live), help: many(shows.help), silent: many(shows.silent),
    }));
  };

  const hear = (event) => {
    const told = JSON.parse(event.data);
    ahead = told.now - performance.now();
    show(byId("broker"), !told.broker);
    if (told.whole) {
      for (const name of [...tables.keys()]) if (!Object.hasOwn(told.tables, name)) told.gone.push(name);
    }
    for (const name of told.gone) {
      tables.get(name)?.tile.remove();
      tables.delete(name);
    }
    for (const [name, facts] of Object.entries(told.tables)) {
      const table = tables.get(name) ?? add(name);
      const before = table.facts.help;
      Object.assign(table.facts, facts);
      if (facts.n !== undefined) table.at = told.now;
      draw(name, table);
      if (!told.whole && facts.help && !before) {
        byId("news").textContent = `${fill(words.table, { name })}: ${tables.get(name).tile.querySelector(".help").textContent}`;
      }
      if (only !== null) recent(facts);
    }
    arrangeCalmly();
    hall.dataset.shown = String(Number(hall.dataset.shown ?? 0) + 1);
  };

  const open = () => {
    const stream = new EventSource(hall.dataset.events);
    stream.addEventListener("open", () => show(byId("lost"), false));
    stream.addEventListener("tables", hear);
    stream.addEventListener("error", () => {
      show(byId("lost"), true);
      // Nothing is shown as live that may not be.
      for (const [name, table] of tables) {
        table.facts.condition = "silent";
        draw(name, table);
      }
      count();
      // The browser tries again by itself, unless the server refused.
      if (stream.readyState === EventSource.CLOSED) setTimeout(open, 4000);
    });
    addEventListener("pagehide", () => stream.close(), { once: true });
  };

  for (const id of ["show", "sort"]) {
    const choice = byId(id);
    if (!choice) continue;
    choice.value = kept(id, choice.value);
    if (!choice.value) choice.selectedIndex = 0;
    choice.addEventListener("change", () => {
      try {
        sessionStorage.setItem(`hall-${id}`, choice.value);
      } catch {
        // A browser that keeps nothing shows it until the page is left.
      }
      arrange();
    });
  }
  byId("find")?.addEventListener("input", arrange);
  byId("choose")?.addEventListener("submit", (event) => event.preventDefault());
  setInterval(() => {
    for (const { tile, facts } of tables.values())
      if (facts.condition === "silent") put(tile.querySelector(".condition"), condition(facts));
  }, 1000);
  addEventListener("pageshow", (event) => {
    if (event.persisted) open();
  });
  open();
})();
