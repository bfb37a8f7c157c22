// Pairing, and what a paired device may do. Every request is checked by the server; this only offers it.
"use strict";
(() => {
  const home = document.getElementById("control");
  const answer = document.getElementById("answer");
  const words = JSON.parse(home.dataset.words);
  const lang = home.dataset.language;
  const say = (key) => words[`control.${key}`] ?? key;
  let session = { paired: false };
  const parts = new Map();

  const make = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "onclick" || key === "onsubmit") element[key] = value;
      else if (value !== false && value != null) element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child != null));
    return element;
  };

  const post = async (path, body) => {
    const headers = { "Content-Type": "application/json" };
    if (session.csrf) headers[session.csrf_header] = session.csrf;
    answer.textContent = "…";
    try {
      const got = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
      const told = await got.json();
      const good = told.accepted ?? got.ok;
      answer.textContent = good ? told.words || say("sent") : say("refused").replace("{words}", told.words ?? got.status);
      if (got.status === 401) refresh();
      return good;
    } catch {
      answer.textContent = say("unanswered");
      return false;
    }
  };
  const control = async (act, body = {}) => {
    if (await post(`/api/control/${act}`, body)) refresh();
  };
  const button = (key, act, strong = false) =>
    make("button", { type: "button", class: `button${strong ? " strong" : ""}`, onclick: act }, say(key));

  const ranks = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K"];
  const suits = { s: "spades", h: "hearts", d: "diamonds", c: "clubs" };
  const select = (name, label, options) =>
    make("label", {}, label, make("select", { name }, ...options.map(([value, text]) => make("option", { value }, text))));
  const picker = () => {
    const rank = select("rank", say("rank"), [
      ...ranks.map((r) => [r, r === "T" ? "10" : r]), ["Xr", say("joker_red")], ["Xb", say("joker_black")],
    ]);
    const suit = select("suit", say("suit"), Object.entries(suits).map(([key, name]) => [key, say(name)]));
    return [rank, suit];
  };
  const picked = (form) =>
    form.elements.rank.value.startsWith("X") ? form.elements.rank.value : form.elements.rank.value + form.elements.suit.value;
  const form = (children, act, key = "apply") =>
    make("form", { onsubmit: (event) => { event.preventDefault(); act(event.target); } }, ...children,
      make("button", { class: "button strong" }, say(key)));

  const pairing = () =>
    make("fieldset", {}, make("legend", {}, say("not_paired")), make("p", {}, say("ask")),
      form([
        make("label", {}, say("code"), make("input", { name: "code", inputmode: "numeric", autocomplete: "one-time-code",
          pattern: "[0-9]{6}", maxlength: 6, required: true })),
        make("label", {}, say("device"), make("input", { name: "device", maxlength: 40, autocomplete: "nickname" })),
      ], async (f) => {
        if (await post("/api/pair", { code: f.elements.code.value, device: f.elements.device.value || "?" })) refresh();
      }, "send"));

  const choices = {
    seat: (question, seats) => seats.map((name, place) => [name, place + 1]),
    cards: (question) => question.cards.map((card) => [card, card]),
    order: () => [[say("before_card"), "slap"], [say("after_card"), "card"]],
  };
  const kinds = { who_was_first: "seat", who_played: "seat", mend_pile: "seat", slap_or_card: "order" };

  const question = (one, seats) => {
    const send = (value) => control("answer", { question: one.id, value });
    const kind = kinds[one.ask] ?? (one.cards.length > 1 ? "cards" : "card");
    const body = choices[kind]
      ? make("div", { class: "row" }, ...choices[kind](one, seats).map(([text, value]) =>
          make("button", { type: "button", class: "button strong", onclick: () => send(value) }, text)))
      : form(picker(), (f) => send(picked(f)), "answer");
    return make("fieldset", {}, make("legend", {}, one.words), body);
  };

  const correcting = (cards) =>
    make("fieldset", {}, make("legend", {}, say("correct")),
      form([select("line", say("which_line"), cards.map((card) => [card.id, card.words])), ...picker()],
        (f) => control("correct", { line: f.elements.line.value, card: picked(f) })),
      make("div", { class: "row" }, button("void", (event) => {
        control("void", { line: event.target.closest("fieldset").querySelector("select").value });
      })));

  const counting = (seats) =>
    make("fieldset", {}, make("legend", {}, say("recount")),
      form([
        select("seat", say("seat"), seats.map((name, place) => [place + 1, name])),
        make("label", {}, say("cards"), make("input", { name: "cards", type: "number", min: 0, max: 500, required: true })),
      ], (f) => control("count", { seat: Number(f.elements.seat.value), cards: Number(f.elements.cards.value) })));

  const devices = (known) => {
    const rows = known.map((one) =>
      make("div", { class: "row" }, make("b", {}, one.name),
        button("sign_out", async () => {
          if (await post("/api/devices/sign-out", { device: one.id })) refresh();
        })));
    return make("fieldset", {}, make("legend", {}, say("devices")), ...rows,
      button("sign_out_all", async () => {
        if (await post("/api/devices/sign-out", { all: true })) refresh();
      }));
  };

  if (home.dataset.controlled === undefined) {
    home.replaceChildren(make("p", { class: "note" }, say("not_paired")));
    return;
  }

  // A part is made anew only when what it shows has changed, and never while somebody is filling it in.
  const part = (name, data, build) => {
    if (data === null) return null;
    const text = JSON.stringify(data) ?? "";
    const old = parts.get(name);
    if (old && (old.text === text || old.element.dataset.touched)) return old.element;
    const element = build();
    element.addEventListener("input", () => (element.dataset.touched = "yes"));
    element.addEventListener("submit", () => delete element.dataset.touched);
    parts.set(name, { text, element });
    return element;
  };
  const arrange = (wanted) => {
    const elements = wanted.filter((element) => element);
    for (const child of [...home.children]) if (!elements.includes(child)) child.remove();
    elements.forEach((element, place) => {
      if (home.children[place] !== element) home.insertBefore(element, home.children[place] ?? null);
    });
  };

  const look = async () => {
    const got = await fetch("/api/session");
    session = got.ok ? await got.json() : { paired: false };
    if (!session.paired) {
      arrange([part("pairing", true, pairing)]);
      return;
    }
    const now = await (await fetch(`/recent.json?lang=${lang}`)).json();
    const known = (await (await fetch("/api/devices")).json()).devices ?? [];
    arrange([
      part("who", session.device, () => make("p", { class: "note" }, `${say("paired")} ${session.device ?? ""}`)),
      part("pause", now.paused, () => make("div", { class: "row" },
        now.paused ? button("resume", () => control("resume"), true) : button("pause", () => control("pause"), true),
        button("undo", () => control("undo")))),
      ...now.questions.map((one) => part(one.id, one, () => question(one, now.seats))),
      part("cards", now.cards.length ? now.cards : null, () => correcting(now.cards)),
      part("seats", now.seats.length ? now.seats : null, () => counting(now.seats)),
      part("devices", known.map((one) => one.name), () => devices(known)),
    ]);
  };

  // One look at a time, and not more than two in a second however fast the cards fall.
  const PACE = 500;
  let looking = false;
  let again = false;
  const refresh = async () => {
    again = true;
    if (looking) return;
    looking = true;
    while (again) {
      again = false;
      try {
        await look();
      } catch {
        // The connection is gone; the stream comes back by itself and asks again.
      }
      await new Promise((done) => setTimeout(done, PACE));
    }
    looking = false;
  };

  const stream = new EventSource(`/events?lang=${lang}`);
  stream.addEventListener("regions", () => refresh());
  refresh();
})();
