// Cards to touch: drawn faces as buttons, and any card by its rank and then its suit.
"use strict";
const Faces = (() => {
  const { say, text } = Words;
  const { element, button } = Make;

  const ranks = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K"];
  const suits = { s: "spades", h: "hearts", d: "diamonds", c: "clubs" };
  const named = { A: "ace", K: "king", Q: "queen", J: "jack" };
  const jokers = { Xr: "joker_red", Xb: "joker_black" };

  const printed = (rank) => (rank === "T" ? "10" : rank);
  const spoken = (card) => {
    if (card === "??") return text("card.unread");
    if (card in jokers) return say(jokers[card]);
    const [rank, suit] = card;
    return text("card.of", { rank: named[rank] ? text(`card.${named[rank]}`) : printed(rank), suit: say(suits[suit]) });
  };
  const image = (card, alt = spoken(card), kind = "") =>
    element("img", { src: `/static/cards/${card === "??" ? "back" : card}.webp`, alt, class: `card face ${kind}`.trim() });
  const pick = (card, act) =>
    element("button", { type: "button", class: "pick", "aria-label": spoken(card), onclick: act }, image(card, ""));
  // `act` receives the card, and its index among them.
  const picks = (cards, act) =>
    element("div", { class: "picks" }, ...cards.map((card, place) => pick(card, () => act(card, place))));

  // First the rank, then the suit.
  const chooser = (act) => {
    const home = element("div", { class: "chooser" });
    const byRank = () => home.replaceChildren(
      element("div", { class: "picks ranks", role: "group", "aria-label": say("rank") },
        ...ranks.map((rank) => button(printed(rank), () => bySuit(rank), "rank")),
        ...Object.entries(jokers).map(([card, name]) => button(say(name), () => act(card), "joker"))));
    const bySuit = (rank) => {
      home.replaceChildren(
        element("div", { role: "group", "aria-label": say("suit") }, picks(Object.keys(suits).map((suit) => rank + suit), act)),
        button(text("mend.other_rank"), () => {
          byRank();
          home.querySelector("button").focus();
        }));
      home.querySelector("button").focus();
    };
    byRank();
    return home;
  };

  // The cards that the camera saw.
  const picture = (source) =>
    source ? element("figure", { class: "seen" }, element("img", { src: source, alt: say("as_seen") }),
      element("figcaption", {}, say("as_seen"))) : null;

  return { ranks, suits, jokers, printed, spoken, image, picks, chooser, picture };
})();
