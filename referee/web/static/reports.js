// Reports of what no sensor saw: missed cards and slaps, contests, fouls, calls, joining and leaving.
"use strict";
const Reporting = (() => {
  const { say, text } = Words;
  const { element, button, select, row, group, form, confirm } = Make;
  const { control } = Asking;

  const bySeat = (seats) => seats.map((name, place) => [place + 1, name]);
  const chosen = (label, value) => {
    if (value != null) label.querySelector("select").value = value;
    return label;
  };

  // People mostly mean the latest card: a later hand came after the missed thing, too.
  const missed = (known, seats) => {
    const words = new Map([...known.cards, ...known.hands].map((one) => [one.id, one.words]));
    const after = known.moments.map((id) => [id, words.get(id)]);
    return group(say("missed"), element("p", { class: "note" }, say("missed_what")),
      form([
        select("seat", say("who_laid"), bySeat(seats)), ...Correcting.picker(),
        ...(after.length ? [chosen(select("after", say("right_after"), after), known.cards[0]?.id)] : []),
      ], (fields) => control("missed-card", {
        seat: Number(fields.seat.value), card: Correcting.picked(fields), ...(after.length ? { after: fields.after.value } : {}),
      }), say("missed_card")),
      known.cards.length
        ? form([
          select("seat", say("who_slapped"), bySeat(seats)),
          select("on", say("on_card"), known.cards.map((one) => [one.id, one.words])),
        ], ({ seat, on }) => control("missed-slap", { seat: Number(seat.value), on: on.value }), say("missed_slap"))
        : null);
  };

  const contest = (seats) =>
    group(say("contest"),
      form([
        select("against", say("contest_against"), bySeat(seats)),
        element("div", { class: "row", role: "group", "aria-label": say("contest_by") },
          element("span", {}, say("contest_by")),
          ...bySeat(seats).map(([seat, name]) =>
            element("label", { class: "switch" }, element("input", { type: "checkbox", name: "by", value: seat }), name))),
      ], ({ against }, own) => {
        const by = [...own.querySelectorAll("[name=by]:checked")].map((box) => Number(box.value));
        return control("contest", { against: Number(against.value), by });
      }, say("contest")));

  const foul = (fouls, seats) =>
    group(say("foul"),
      form([select("seat", say("whose_foul"), bySeat(seats)),
        select("foul", say("which_foul"), fouls.map((name) => [name, text(`foul.${name}`)]))],
        ({ seat, foul: which }) => control("foul", { seat: Number(seat.value), foul: which.value })));

  const call = ([turn, next], seats) =>
    group(say("call"),
      form([chosen(select("seat", say("who_calls"), bySeat(seats)), turn),
        chosen(select("rank", say("rank"), Faces.ranks.map((rank) => [rank, Faces.printed(rank)])), next)],
        ({ seat, rank }) => control("say", { seat: Number(seat.value), rank: rank.value }), say("call")));

  const people = ({ joins, leaves }, seats) =>
    group(say("seats"),
      joins.length ? row(...joins.map((seat) => button(say("join_at", { n: seat }), () => control("join", { seat })))) : null,
      leaves.length
        ? form([select("seat", say("who_leaves"), leaves.map((seat) => [seat, seats[seat - 1]]))], async ({ seat }) => {
          const name = seats[seat.value - 1];
          return (await confirm(say("leave_ask", { name }), say("leave"))) && control("leave", { seat: Number(seat.value) });
        }, say("leave"))
        : null);

  return { missed, contest, foul, call, people };
})();
