// The control page: pairing, and the controls of a paired device, kept up to date with the table.
"use strict";
(() => {
  const { say } = Words;
  const { element, button, input, row, group, form } = Make;
  const { control, post } = Asking;
  const home = document.getElementById("control");
  const query = new URLSearchParams(location.search);
  const asked = query.get("ruling") ?? "";
  const parts = new Map();

  if (home.dataset.controlled === undefined) {
    home.replaceChildren(element("p", { class: "note" }, say("not_paired")));
    return;
  }

  const pairing = () =>
    group(say("not_paired"), element("p", {}, say("ask")),
      form([
        input("code", say("code"), { inputmode: "numeric", autocomplete: "one-time-code", pattern: "[0-9]{6}([0-9]{2}){0,2}", maxlength: 10,
          required: true }),
        input("device", say("device"), { maxlength: 40, autocomplete: "nickname" }),
      ], async ({ code, device }) => {
        const done = await post("/api/pair", { code: code.value, device: device.value || "?" });
        // If only paired devices may view, the stream was refused until now.
        if (done && stream.readyState === EventSource.CLOSED) location.reload();
        else if (done) refresh();
        return done;
      }, say("send")));

  const signOut = async (body) => {
    if (await post("/api/devices/sign-out", body)) refresh();
  };
  const device = (...children) => element("div", { class: "row device" }, ...children);
  const devices = (known) =>
    group(say("devices"),
      ...known.map((one) => device(element("b", {}, one.name), button(say("sign_out"), () => signOut({ device: one.id })))),
      device(button(say("invite"), () => post("/api/devices/invite", {})),
        button(say("sign_out_all"), () => signOut({ all: true }))));

  const pausing = (now) =>
    row(
      !now.playing ? null : now.paused ? button(say("resume"), () => control("resume"), "strong")
        : button(say("pause"), () => control("pause"), "strong"),
      now.correctable ? button(say("undo"), () => control("undo")) : null);

  const typing = (element) => element.contains(document.activeElement) && document.activeElement.matches("input, select");

  // Rebuild a part only when its content has changed, and never while a person is filling it in.
  const part = (name, data, build) => {
    if (!data) return null;
    const text = JSON.stringify(data);
    const old = parts.get(name);
    if (old && (old.text === text || old.element.dataset.touched || typing(old.element))) {
      old.stale = old.text !== text;
      return old.element;
    }
    const made = build();
    made.addEventListener("input", () => (made.dataset.touched = "yes"));
    made.addEventListener("done", () => delete made.dataset.touched);
    made.addEventListener("focusout", () => parts.get(name).stale && refresh());
    const held = old?.element.contains(document.activeElement);
    parts.set(name, { text, element: made, held });
    return made;
  };
  const columns = [element("div"), element("div")];
  // On a phone, what a game needs most stays in sight, and the rest lies behind "More".
  const narrow = matchMedia("(max-width: 640px)");
  const FIRST = new Set(["pairing", "who", "pause", "begin", "people"]);
  const more = element("details", { class: "more", hidden: true }, element("summary", {}, say("more")), columns[1]);
  home.append(columns[0], more);
  const arrange = (column, wanted) => {
    const elements = wanted.filter((one) => one);
    for (const child of [...column.children]) if (!elements.includes(child)) child.remove();
    elements.forEach((one, place) => {
      if (column.children[place] !== one) column.insertBefore(one, column.children[place] ?? null);
    });
    // Pass the focus on from a button that was replaced.
    for (const known of parts.values()) {
      if (known.held) known.element.querySelector("button, a, input, select")?.focus({ preventScroll: true });
      known.held = false;
    }
  };

  // Reports that the house rules in force make useful.
  const reports = ({ offers, seats, cards, hands, moments }, known) => {
    if (!offers || !known) return [];
    const { contests, fouls, call, joins, leaves, sights } = offers;
    return [
      part("call", call && [call, seats], () => Reporting.call(call, seats)),
      part("contest", contests && seats, () => Reporting.contest(seats)),
      part("foul", fouls.length && [fouls, seats], () => Reporting.foul(fouls, seats)),
      part("missed", sights && [cards, hands, seats], () => Reporting.missed({ cards, hands, moments }, seats)),
      part("people", joins.length + leaves.length && [joins, leaves, seats], () => Reporting.people(offers, seats)),
    ];
  };

  const counting = (now) => now.seats.length > 0 && now.questions.some((one) => one.ask === "recount");
  const games = (now) => {
    const known = now.seats.length > 0;
    const mending = now.correctable && known;
    const counted = counting(now);
    const gone = asked && !now.rulings.some((one) => one.id === asked);
    return [
      part("pause", known && { playing: now.playing, paused: now.paused, correctable: now.correctable }, () => pausing(now)),
      ...now.questions.map((one) => part(one.id, one, () => Correcting.question(one))),
      // Requested counts are entered there; once a game is over, they may still decide who has won it.
      counted ? part("seats", now.seats, () => Correcting.counting(now.seats)) : null,
      ...reports(now, known),
      part("rulings", mending && (now.rulings.length || gone) && [now.rulings, now.seats],
        () => Correcting.rulings(now.rulings, now.seats, asked)),
      part("cards", mending && now.cards.length && now.cards, () => Correcting.cards(now.cards)),
      part("players", mending && (now.cards.length || now.hands.length) && [now.cards, now.hands, now.seats],
        () => Correcting.players(now, now.seats)),
      counted ? null : part("seats", now.playing && known && now.seats, () => Correcting.counting(now.seats)),
    ];
  };
  const table = (now) => {
    const about = now.about ?? {};
    return [
      part("begin", about.pads >= 2 && [about.pads, about.names, about.rules], () => Beginning.begin(about)),
      part("voice", about.voice, () => Tablewide.voice(about.voice)),
      part("phones", now.phones.length && now.phones, () => Tablewide.phones(now.phones)),
      part("backup", true, () => Tablewide.backup()),
      part("power", about.power_off, () => Tablewide.power()),
    ];
  };

  // A visitor who followed a link to one thing sees that first.
  const wanted = asked ? "rulings" : query.has("begin") ? "begin" : "";
  let shown = false;
  const showWanted = () => {
    const field = wanted && !shown && parts.get(wanted)?.element.querySelector("input, select");
    if (!field) return;
    shown = true;
    more.open ||= more.contains(field);
    field.closest("fieldset").scrollIntoView({ block: asked ? "center" : "start" });
    field.focus({ preventScroll: true });
  };

  const look = async () => {
    const session = await Asking.look();
    if (!session.paired) {
      arrange(columns[0], [part("pairing", true, pairing)]);
      arrange(columns[1], []);
      more.hidden = true;
      return;
    }
    const which = new URLSearchParams({ lang: home.dataset.language, ruling: asked });
    const now = await (await fetch(`/recent.json?${which}`)).json();
    const known = (await (await fetch("/api/devices")).json()).devices ?? [];
    home.dataset.playing = now.playing;
    const left = [
      part("who", session.device, () => element("p", { class: "note" }, `${say("paired")} ${session.device ?? ""}`)),
      ...games(now),
    ];
    const right = [...table(now), part("devices", known.map((one) => one.name), () => devices(known))];
    const asking = new Set([...FIRST, ...now.questions.map((one) => one.id), ...(counting(now) ? ["seats"] : [])]);
    const first = new Set([...asking].map((name) => parts.get(name)?.element));
    const all = [...left, ...right];
    more.hidden = false;
    if (!narrow.matches) more.open = true;
    else if (!more.classList.contains("narrow")) more.open = false;
    more.classList.toggle("narrow", narrow.matches);
    arrange(columns[0], narrow.matches ? all.filter((one) => first.has(one)) : left);
    arrange(columns[1], narrow.matches ? all.filter((one) => !first.has(one)) : right);
    showWanted();
  };

  // One request at a time, and at most two in a second however fast the cards fall.
  const PACE = 500;
  const SLOWLY = 5000;
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
        // The connection is gone; the stream reconnects on its own and asks again.
      }
      await new Promise((done) => setTimeout(done, PACE));
    }
    looking = false;
  };

  document.addEventListener("changed", () => refresh());
  narrow.addEventListener("change", () => refresh());
  document.addEventListener("unpaired", () => refresh());
  const stream = new EventSource(`/events?lang=${home.dataset.language}`);
  stream.addEventListener("regions", () => refresh());
  // Some changes, such as of the volume, cause no event on the stream.
  setInterval(() => document.hidden || refresh(), SLOWLY);
  refresh();
})();
