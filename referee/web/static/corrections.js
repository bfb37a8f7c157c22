// Corrections of the game that is on: answers, cards, players, rulings, counts.
"use strict";
const Correcting = (() => {
  const { say, text } = Words;
  const { element, button, options, select, input, row, group, form } = Make;
  const { control } = Asking;

  const picker = () => [
    select("rank", say("rank"), [
      ...Faces.ranks.map((rank) => [rank, Faces.printed(rank)]),
      ...Object.entries(Faces.jokers).map(([card, name]) => [card, say(name)]),
    ]),
    select("suit", say("suit"), Object.entries(Faces.suits).map(([key, name]) => [key, say(name)])),
  ];
  const picked = ({ rank, suit }) => (rank.value.startsWith("X") ? rank.value : rank.value + suit.value);

  const note = (key) => element("p", { class: "note" }, say(key));
  const wilds = Faces.ranks.slice(1, 10).map((rank) => [Faces.printed(rank), rank]);
  // A question's subject, its picture, and the possible answers; `counts` names the place where counts are entered.
  const answers = (one, counts = () => note("count_below")) => {
    const send = (value) => control("answer", { question: one.id, value });
    const choose = (...choices) => row(...choices.map(([label, value]) => button(label, () => send(value), "strong")));
    const bySeat = () => choose(...one.seats.map(({ seat, name }) => [name, seat]));
    const bodies = {
      slap_or_card: () => [choose([say("before_card"), "slap"], [say("after_card"), "card"])],
      slap_or_limit: () => [one.laid.length
        ? choose([say("drawn_at_once"), "before"], [say("drawn_apart"), "after"])
        : choose([say("before_limit"), "before"], [say("after_limit"), "after"])],
      wild_rank: () => [choose(...wilds)],
      late_evidence: () => [row(button(say("take_up"), () => control("take-up", { line: one.about[0] }), "strong"),
        button(say("leave_out"), () => send("ignore")))],
      recount: () => [counts(), ...(one.by_seat ? [note("most_cards"), bySeat()] : [])],
    };
    // The cards that were laid unseen, one after the other, until the list is complete.
    const between = () => {
      const home = element("div", { class: "between" });
      const came = [];
      const add = () => {
        home.replaceChildren(...came.map((card) => Faces.image(card)), Faces.chooser((card) => show(came.push(card))));
        home.querySelector("button").focus();
      };
      const show = () => {
        home.replaceChildren(...came.map((card) => Faces.image(card)),
          row(button(say("gap_all"), () => send(came.join(" ")), "strong"), button(say("gap_another"), add)));
        home.querySelector("button").focus();
      };
      home.append(button(say("gap_cards"), add));
      return home;
    };
    bodies.unseen_gap = () => {
      const took = one.seats.map(({ seat, name }) => [say("gap_took", { name }), seat]);
      const rest = [choose(...took), row(button(say("gap_unknown"), () => send("unknown")))];
      if (one.passed) return [choose([say("gap_nothing"), "nothing"]), ...rest];
      return one.laid.length ? [choose([say("gap_nothing"), "nothing"]), between(), ...rest] : rest;
    };
    const aCard = () => {
      const chooser = Faces.chooser(send);
      if (!one.cards.length) return [chooser];
      const more = button(say("another_card"), () => {
        more.replaceWith(chooser);
        chooser.querySelector("button").focus();
      });
      return [Faces.picks(one.cards, send), more];
    };
    const laid = one.laid.map(({ card, words }) =>
      element("figure", { class: "laid" }, Faces.image(card), element("figcaption", {}, words)));
    const about = laid.length || one.picture ? [element("div", { class: "thing" }, ...laid, Faces.picture(one.picture))] : [];
    return [...about, ...(bodies[one.ask] ?? (one.by_seat ? () => [bySeat()] : aCard))()];
  };
  const question = (one) => group(one.words, ...answers(one));

  const cards = (known) =>
    group(say("correct"),
      form([select("line", say("which_line"), known.map((card) => [card.id, card.words])), ...picker()],
        (fields) => control("correct", { line: fields.line.value, card: picked(fields) })),
      row(button(say("void"), (event) => {
        control("void", { line: event.target.closest("fieldset").querySelector("select").value });
      })));

  // A list whose choice changes the options of another list.
  const leading = (first, second, offered) => {
    const show = () => second.querySelector("select").replaceChildren(...options(offered(first.querySelector("select").value)));
    first.addEventListener("change", show);
    show();
    return [first, second];
  };

  const players = (known, seats) => {
    const seen = new Map([...known.cards, ...known.hands].map((one) => [one.id, one]));
    const which = select("line", say("which_seen"), [...seen.values()].map((one) => [one.id, one.words]));
    const whose = select("seat", say("right_player"), []);
    const others = (id) =>
      seats.map((name, place) => [place + 1, name]).filter(([seat]) => seat !== seen.get(id).seat);
    return group(say("wrong_player"),
      form(leading(which, whose, others),
        ({ line, seat }) => control("correct", { line: line.value, seat: Number(seat.value) })),
      known.hands.length
        ? form([select("line", say("which_hand"), known.hands.map((one) => [one.id, one.words]))],
            ({ line }) => control("void", { line: line.value }), say("no_hand"))
        : null);
  };

  const rulings = (known, seats, asked) => {
    const byId = new Map(known.map((one) => [one.id, one]));
    const which = select("ruling", say("which_ruling"), known.map((one) => [one.id, one.words]));
    const instead = select("instead", say("right_is"), []);
    if (byId.has(asked)) which.querySelector("select").value = asked;
    const offered = (id) => {
      const one = byId.get(id);
      return [
        ...one.verdicts.map((verdict) => [verdict, say(verdict)]),
        ...one.seats.map((seat) => [seat, say("was_first", { name: seats[seat - 1] ?? seat })]),
      ];
    };
    const send = ({ ruling, instead: other }) => {
      const seat = Number(other.value);
      return control("overrule", { ruling: ruling.value, ...(seat ? { seat } : { verdict: other.value }) });
    };
    return group(say("wrong_ruling"),
      asked && !byId.has(asked) ? element("p", { class: "note" }, say("ruling_gone")) : null,
      known.length ? form(leading(which, instead, offered), send) : null);
  };

  const counting = (seats) =>
    group(say("recount"),
      note("recount_what"),
      form(seats.map((name, place) => input(`seat${place}`, name, { type: "number", min: 0, max: 500, class: "count" })),
        (fields) => {
          const counts = seats.map((_, place) => fields[`seat${place}`].value).map((said) => (said === "" ? null : Number(said)));
          const counted = counts.flatMap((cards, place) => (cards === null ? [] : [{ seat: place + 1, cards }]));
          if (!counted.length) return false;
          return counted.length === 1 ? control("count", counted[0]) : control("recount", { cards: counts });
        }));

  return { answers, question, cards, players, rulings, counting, picker, picked };
})();
