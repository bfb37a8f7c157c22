// Mends what the board shows by touch, on a paired device: a tap on a card, a ruling or a question opens what it may
// have been instead, the likeliest first; the next tap says it.
"use strict";
(() => {
  const { say, text } = Words;
  const { element, button, select, row, form } = Make;
  const { control } = Asking;
  const board = document.getElementById("board");
  const toast = document.getElementById("mended");
  const LONG = 12000;
  let sheet = null;
  let timer = 0;

  const face = (card) => element("img", { src: `/static/cards/${card}.webp`, alt: card, class: "card face" });

  // What is done closes the sheet, and can be taken back for a while.
  const act = async (what, body) => {
    const done = await control(what, body);
    if (!done) return false;
    sheet?.close();
    toast.classList.add("undoable");
    clearTimeout(timer);
    timer = setTimeout(() => toast.classList.remove("undoable"), LONG);
    return true;
  };
  toast.querySelector("button").addEventListener("click", async () => {
    if (await control("undo")) toast.classList.remove("undoable");
  });

  const more = (label, ...children) => element("details", {}, element("summary", {}, label), ...children);
  const seatsBut = (seats, seat, what, body) =>
    row(...seats.flatMap((name, place) => (place + 1 === seat ? [] : [button(name, () => act(what, body(place + 1)))])));
  const picture = (one) => (one.picture ? element("img", { src: one.picture, alt: say("as_seen"), class: "seen",
    onerror: (event) => event.target.remove() }) : null);
  const bySeat = (seats) => seats.map((name, place) => [place + 1, name]);
  const missedSlap = (seats, on) =>
    more(say("missed_slap"), row(...seats.map((name, place) =>
      button(name, () => act("missed-slap", { seat: place + 1, ...(on ? { on } : {}) })))));

  const card = (one, now) => {
    const before = now.moments[now.moments.indexOf(one.id) + 1];
    const correct = (name) => act("correct", { line: one.id, card: name });
    return [one.words, [
      picture(one),
      element("p", {}, say("what_is_it")),
      element("div", { class: "likely" }, ...one.likely.map((name) =>
        element("button", { type: "button", "data-card": name, onclick: () => correct(name) }, face(name)))),
      more(say("another_card"), form(Correcting.picker(), (fields) => correct(Correcting.picked(fields)))),
      more(say("right_player"), seatsBut(now.seats, one.seat, "correct", (seat) => ({ line: one.id, seat }))),
      row(button(say("no_card"), () => act("void", { line: one.id }))),
      now.offers?.sights ? more(say("missed_before"),
        form([select("seat", say("who_laid"), bySeat(now.seats)), ...Correcting.picker()],
          (fields) => act("missed-card", { seat: Number(fields.seat.value), card: Correcting.picked(fields),
            ...(before ? { after: before } : {}) }), say("missed_card"))) : null,
      now.offers?.sights ? missedSlap(now.seats, one.id) : null,
    ]];
  };

  const hand = (one, now) => [
    row(button(say("no_hand"), () => act("void", { line: one.id }), "strong")),
    more(say("right_player"), seatsBut(now.seats, one.seat, "correct", (seat) => ({ line: one.id, seat }))),
  ];

  const ruling = (one, now) => {
    const slap = now.hands.find((known) => one.id.split("@")[1] === known.id);
    return [one.words, [
      row(...one.verdicts.map((verdict) => button(say(verdict), () => act("overrule", { ruling: one.id, verdict }), "strong")),
        ...one.seats.map((seat) =>
          button(say("was_first", { name: now.seats[seat - 1] }), () => act("overrule", { ruling: one.id, seat }), "strong"))),
      ...(slap ? hand(slap, now) : []),
      now.offers?.sights ? missedSlap(now.seats, null) : null,
    ]];
  };

  const question = (one, now) => {
    const about = now.cards.find((known) => one.about.includes(known.id));
    const choices = one.cards.length ? one.cards : (about?.likely ?? []);
    const pick = (name) => act("answer", { question: one.id, value: name });
    return ["", [
      about ? picture(about) : null,
      about && !one.by_seat && choices.length
        ? element("div", { class: "likely" }, ...choices.map((name) =>
          element("button", { type: "button", "data-card": name, onclick: () => pick(name) }, face(name))))
        : null,
      Correcting.question(one, now.seats),
    ]];
  };

  const open = ([title, body], about) => {
    sheet?.close();
    sheet = element("dialog", { class: "mend", "aria-labelledby": "mend-title", "data-about": about },
      element("h2", { id: "mend-title" }, title), ...body,
      row(element("button", { type: "button", class: "button", onclick: () => sheet.close() }, say("cancel"))));
    const own = sheet;
    sheet.addEventListener("close", () => {
      own.remove();
      if (sheet === own) sheet = null;
    });
    document.body.append(sheet);
    sheet.showModal();
  };

  const look = async (about) => {
    if (!(await Asking.look()).paired) {
      open([say("not_paired"), [element("p", {}, say("ask")), element("a", { href: "/control", class: "button strong" },
        say("pair_here"))]], "");
      return null;
    }
    const which = new URLSearchParams({ lang: document.documentElement.lang, ruling: about });
    return (await fetch(`/recent.json?${which}`)).json();
  };

  // The pile has names alone: the newest card of a name is the newest of that name that was seen.
  const lineOf = (tapped, known) => {
    const faces = [...document.querySelectorAll("#pile .card")].reverse();
    const name = (one) => one.dataset.key.split(":")[1];
    const nth = faces.slice(0, faces.indexOf(tapped)).filter((one) => name(one) === name(tapped)).length;
    return known.filter((one) => one.card === name(tapped))[nth];
  };

  board.addEventListener("click", async (event) => {
    const tapped = event.target.closest("#pile .card, #questions [data-question], #rulings .wrong");
    if (!tapped) return;
    event.preventDefault();
    const id = tapped.dataset.question ?? tapped.closest("[data-id]")?.dataset.id ?? "";
    const now = await look(id);
    if (!now) return;
    if (tapped.matches("#pile .card")) {
      const one = lineOf(tapped, now.cards);
      if (one) open(card(one, now), one.id);
      return;
    }
    const asked = now.questions.find((one) => one.id === id);
    const wrong = now.rulings.find((one) => one.id === id);
    if (asked) open(question(asked, now), id);
    else if (wrong) open(ruling(wrong, now), id);
    else Asking.tell("refused", say("ruling_gone"));
  });

  // Without a pointer: all that can be mended, in one list.
  document.getElementById("mend").addEventListener("click", async () => {
    const now = await look("");
    if (!now) return;
    const all = [
      ...now.questions.map((one) => [one.words, () => question(one, now), one.id]),
      ...now.cards.map((one) => [one.words, () => card(one, now), one.id]),
      ...now.rulings.map((one) => [one.words, () => ruling(one, now), one.id]),
    ];
    const list = element("ul", { class: "mendable" },
      ...all.map(([words, body, id]) => element("li", {}, button(words, () => open(body(), id)))));
    open([say("what_is_wrong"), [all.length ? list : element("p", {}, text("board.no_rulings"))]], "");
  });

  // A question that has been settled meanwhile asks no more.
  document.addEventListener("regions", () => {
    const about = sheet?.dataset.about ?? "";
    if (about.startsWith("question@") && !document.querySelector(`#questions [data-question="${CSS.escape(about)}"]`)) sheet.close();
  });
})();
