// Corrections by touch: on a paired device, touching anything on the scoreboard opens a sheet with its possible
// corrections, and the oldest question stands there with its answers. Any other device shows how to pair.
"use strict";
(() => {
  const { say, text } = Words;
  const { element, button, row } = Make;
  const { control } = Asking;
  const board = document.getElementById("board");
  const bar = document.getElementById("mended");
  const answer = document.getElementById("answer");
  const language = document.documentElement.lang;
  const mend = (key, fields) => text(`mend.${key}`, fields);
  const paired = () => Asking.session().paired;

  // The sheet: one at a time, including the answer to its last request.
  const sheet = element("dialog", { class: "sheet", "aria-labelledby": "sheet-head" });
  document.body.append(sheet);
  let touched = null;
  let stale = true;
  let busy = false;

  const fill = (head, ...parts) => {
    sheet.replaceChildren(
      element("div", { class: "bar" }, element("h2", { id: "sheet-head", tabindex: -1 }, head),
        button("×", () => sheet.close(), "close")),
      answer, ...parts.filter((one) => one != null));
    sheet.querySelector(".close").setAttribute("aria-label", mend("close"));
    if (!sheet.open) sheet.showModal();
    sheet.scrollTop = 0;
    sheet.querySelector("#sheet-head").focus({ preventScroll: true });
  };
  sheet.addEventListener("close", () => {
    touched = null;
    bar.prepend(answer);
  });
  // A touch beside the sheet closes it, too.
  sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());

  const send = async (act, body) => {
    if (busy) return;
    busy = true;
    const done = await control(act, body);
    busy = false;
    if (done) sheet.close();
    else answer.scrollIntoView({ block: "nearest" });
  };

  const names = (thing) => thing.seats.map((name, place) => [place + 1, name]);
  const choices = (...buttons) => element("div", { class: "choices" }, ...buttons.filter((one) => one));
  const titled = (title, ...parts) =>
    element("section", {}, element("h3", {}, title), ...parts.filter((one) => one != null));
  const back = (thing) => button(`← ${mend("back")}`, () => show(thing));
  const whole = (thing) => (thing.card ? Faces.spoken(thing.card) : thing.words || thing.seen);

  // The further pages of a sheet; each has a heading and a way back.
  const page = (head, build) => (thing) => {
    stale = false;
    fill(head, ...build(thing), choices(back(thing)));
  };
  const anotherCard = page(say("another_card"), (thing) =>
    [Faces.chooser((card) => send("correct", { line: thing.line, card }))]);
  const missedSlap = page(mend("slap_missed"), (thing) => [titled(say("who_slapped"), choices(
    ...names(thing).map(([seat, name]) => button(name, () => send("missed-slap", { seat, on: thing.on })))))]);
  const bySeat = { card: "another_player", slap: "another_hand", taken: "another_taker" };
  const anotherSeat = (thing) => page(mend(bySeat[thing.kind]), () => [titled(say("right_player"), choices(
    ...names(thing).filter(([seat]) => seat !== thing.seat)
      .map(([seat, name]) => button(name, () => send("correct", { line: thing.line, seat })))))])(thing);
  const missedCard = page(mend("card_missed"), (thing) => {
    let laid = thing.missed_seat;
    const seats = names(thing).map(([seat, name]) => {
      const made = button(name, () => {
        laid = seat;
        seats.forEach((one) => one.setAttribute("aria-pressed", String(one === made)));
      });
      made.setAttribute("aria-pressed", String(seat === laid));
      return made;
    });
    const tell = (card) => send("missed-card", { seat: laid, card, after: thing.after });
    return [titled(say("who_laid"), choices(...seats)), titled(say("what_is_it"), Faces.chooser(tell))];
  });

  const strike = (label, thing) => button(label, () => send("void", { line: thing.line }));
  const verdicts = (thing) => [
    ...thing.verdicts.map((verdict) => button(say(verdict), () => send("overrule", { ruling: thing.ruling, verdict }))),
    ...thing.firsts.map((seat) => button(say("was_first", { name: thing.seats[seat - 1] ?? seat }),
      () => send("overrule", { ruling: thing.ruling, seat }))),
  ];
  const rests = (thing) => {
    const cards = thing.rests.filter((one) => one.card);
    const others = thing.rests.filter((one) => !one.card);
    return thing.rests.length ? titled(mend("rests"),
      Faces.picks(cards.map((one) => one.card), (_, place) => open(cards[place].of)),
      choices(...others.map((one) => button(one.words, () => open(one.of))))) : null;
  };
  const kinds = {
    card: (thing) => [
      titled(say("what_is_it"), Faces.picks(thing.likely, (card) => send("correct", { line: thing.line, card }))),
      choices(
        button(say("another_card"), () => anotherCard(thing)),
        ...verdicts(thing),
        strike(say("no_card"), thing),
        thing.after ? button(say("missed_before"), () => missedCard(thing)) : null,
        button(mend("slap_on"), () => missedSlap(thing)),
        button(mend(bySeat.card), () => anotherSeat(thing))),
    ],
    slap: (thing) => [
      choices(
        ...verdicts(thing),
        strike(say("no_hand"), thing),
        button(mend(bySeat.slap), () => anotherSeat(thing)),
        thing.on ? button(mend("slap_missed"), () => missedSlap(thing)) : null,
        thing.after ? button(mend("card_before_slap"), () => missedCard(thing)) : null),
    ],
    taken: (thing) => [
      choices(strike(mend("no_take"), thing), button(mend(bySeat.taken), () => anotherSeat(thing))),
    ],
    ruling: (thing) => [choices(...verdicts(thing))],
  };

  const show = (thing) => {
    stale = true;
    const body = kinds[thing.kind](thing);
    const lines = [thing.card && thing.words, thing.words || thing.card ? thing.seen : null].filter((one) => one);
    fill(whole(thing),
      element("div", { class: "thing" },
        thing.card ? Faces.image(thing.card, "") : null,
        element("div", {}, ...lines.map((one) => element("p", {}, one)),
          thing.why ? element("a", { href: thing.why }, mend("why")) : null),
        Faces.picture(thing.picture)),
      ...body, rests(thing));
  };

  const recent = async () => (await fetch(`/recent.json?${new URLSearchParams({ lang: language })}`)).json();
  const fetched = async (of) => fetch(`/touched.json?${new URLSearchParams({ lang: language, of })}`);
  const open = async (of) => {
    const got = await fetched(of);
    if (got.status === 401) return howToPair();
    touched = { of };
    Asking.tell("", "");
    if (!got.ok) return fill(mend("gone"), element("p", {}, mend("gone_what")));
    const thing = await got.json();
    touched = { of, text: JSON.stringify(thing) };
    return show(thing);
  };
  // The thing shown may have changed meanwhile, or have gone.
  const renew = async () => {
    if (!sheet.open || !touched || busy) return;
    const { of, text: before } = touched;
    const got = await fetched(of);
    if (!touched || touched.of !== of) return;
    if (!got.ok) {
      if (before) fill(mend("gone"), element("p", {}, mend("gone_what")));
      touched = { of };
      return;
    }
    const thing = await got.json();
    if (JSON.stringify(thing) === before) return;
    touched = { of, text: JSON.stringify(thing) };
    if (stale) show(thing);
  };

  // Everything that can be corrected in one list: also cards of piles that were taken.
  const list = async () => {
    if (!paired()) return howToPair();
    const now = await recent();
    const all = [...now.cards, ...now.rulings].map((one) => button(one.words, () => open(one.id)));
    touched = null;
    Asking.tell("", "");
    return fill(say("what_is_wrong"), all.length ? choices(...all) : element("p", {}, text("board.no_rulings")));
  };
  document.getElementById("mend").addEventListener("click", list);

  const howToPair = () => {
    fill(say("not_paired"), element("p", {}, say("ask")),
      row(element("a", { class: "button strong", href: "/control" }, say("pair_here"))));
  };

  // Touchable things are buttons for keyboards and screen readers; on an unpaired device they are not.
  const wrong = (of, label) => {
    const made = button(text("board.wrong_short"), () => {}, "wrong");
    made.dataset.of = of;
    made.setAttribute("aria-label", `${text("board.wrong_short")} ${label}`);
    return made;
  };
  const dress = (root) => {
    if (!paired()) return;
    for (const card of root.querySelectorAll("[data-line]:not([role])")) {
      card.setAttribute("role", "button");
      card.setAttribute("tabindex", "0");
      card.setAttribute("aria-haspopup", "dialog");
    }
    for (const item of root.querySelectorAll("li[data-id]:not(.replaced):not(:has(.wrong))")) {
      item.append(wrong(item.dataset.id, item.querySelector(".text").textContent));
    }
  };
  const touch = (event) => {
    const of = event.target.closest("[data-of]")?.dataset.of ?? event.target.closest("[data-line]")?.dataset.line
      ?? (event.target.closest("a, button") ? null : event.target.closest("li[data-id]:not(.replaced)")?.dataset.id);
    if (!of || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (paired()) open(of);
    else howToPair();
  };
  board.addEventListener("click", touch);
  board.addEventListener("keydown", (event) => {
    if ((event.key === "Enter" || event.key === " ") && event.target.matches("[role=button][data-line]")) touch(event);
  });

  // The oldest question, with its answers, and the last thing that can be undone.
  let shown = "";
  const asked = element("div", { class: "asked forms", role: "group" });
  const ask = (one) => {
    const same = JSON.stringify(one ?? null);
    if (same === shown) return;
    shown = same;
    asked.remove();
    if (!one) return;
    asked.setAttribute("aria-label", one.words);
    const counts = () => element("a", { class: "button strong", href: "/control" }, mend("counts"));
    asked.replaceChildren(...Correcting.answers(one, counts));
    document.querySelector(".p-questions").append(asked);
  };
  const undo = button(say("undo"), () => undo.dataset.of && control("undo", { of: undo.dataset.of }), "strong");
  undo.hidden = true;
  bar.append(undo);

  const look = async () => {
    if (!paired()) return;
    const now = await recent();
    ask(now.questions[0]);
    undo.hidden = !now.undo;
    undo.dataset.of = now.undo ?? "";
    await renew();
  };
  // One request at a time, and at most two in a second however fast the cards fall.
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
        // The connection is gone; the board's stream reconnects on its own.
      }
      await new Promise((done) => setTimeout(done, PACE));
    }
    looking = false;
  };
  document.addEventListener("changed", refresh);
  document.addEventListener("regions", refresh);
  document.addEventListener("unpaired", () => location.reload());

  Regions.dress = dress;
  Asking.isPaired().then(() => {
    document.body.classList.toggle("paired", paired());
    dress(board);
    refresh();
  });
})();
