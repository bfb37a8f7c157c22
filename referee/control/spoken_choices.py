"""Options that the table reads out, one for each tap, for people who answer, correct and choose without a screen. Pure.

While people have paused the game, a tap on any pad reads out the open question, or the position; each further tap reads
out one option, the likeliest first. Yes chooses it, no skips to the next one. After a game the same taps go through
what may come next. Called in the main process, by `referee.table.page_link`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from referee.control.corrections import CARD_QUESTIONS, SEAT_QUESTIONS, takes_count
from referee.control.facts import Facts
from referee.control.offers import WILD_RANKS, likely_cards
from referee.engine.amended_log import LATE
from referee.engine.foresight import Foresight
from referee.engine.observations import Card, Slap, Taken
from referee.engine.overrule import find_overrulable
from referee.engine.rulings import Ruling, gap_form
from referee.rules.cards import RANKS, SUITS, UNREADABLE
from referee.rules.presets import PRESETS
from referee.units import SECOND

PATIENCE: Final = 20 * SECOND
"""Time in which yes still refers to what was read out, ns; a later tap begins anew."""
_LOUDER: Final = 15
"""Percent by which the voice becomes louder or softer."""
_SOFTEST: Final = 10
"""Softest volume that pads can set, percent: it can still be heard."""

Ask = Mapping[str, Any]
"""The record of a command."""


@dataclass(frozen=True, slots=True)
class SpokenChoice:
    """One option that is read out."""

    what: str
    """The notice that reads it out (`referee.announce.sinks.Notice`)."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """The notice's fields."""
    ask: Ask | None = None
    """The command that yes gives; None: none."""
    more: tuple[SpokenChoice, ...] = ()
    """The options that yes leads to: the suits of a rank."""

    @property
    def can_be_meant(self) -> bool:
        """Whether yes or no can be said to it."""
        return self.ask is not None or bool(self.more)


class ReadingOut:
    """The position in the list of options: what was read out last, and what comes next."""

    def __init__(self) -> None:
        self._whole: tuple[SpokenChoice, ...] = ()
        self._listed: tuple[SpokenChoice, ...] = ()
        self._at, self._t = -1, -PATIENCE

    def move_on(self, choices: tuple[SpokenChoice, ...], t: int) -> SpokenChoice | None:
        """Return the option to read out at ``t`` (ns): the first if the options changed, or no tap came for long."""
        if choices != self._whole or t - self._t > PATIENCE:
            self._whole = self._listed = choices
            self._at = -1
        return self._read(t)

    def say_yes(self, t: int) -> SpokenChoice | None:
        """Return the option that yes chooses; None if none was read out just now. Its own options are read out next."""
        if not self._listed or self._at < 0 or t - self._t > PATIENCE:
            return None
        chosen = self._listed[self._at]
        if chosen.more:
            self._listed, self._at, self._t = chosen.more, -1, t
        elif chosen.ask is not None:
            self.forget()
        return chosen

    def is_open(self, t: int) -> bool:
        """Return whether an option was read out just now to which yes or no can be said."""
        return self._at >= 0 and t - self._t <= PATIENCE and self._listed[self._at].can_be_meant

    def forget(self) -> None:
        """Begin anew with the next tap."""
        self._whole = self._listed = ()
        self._at = -1

    def _read(self, t: int) -> SpokenChoice | None:
        if not self._listed:
            return None
        self._at, self._t = (self._at + 1) % len(self._listed), t
        return self._listed[self._at]


def list_choices(facts: Facts, places: Foresight | None, voice: Mapping[str, Any] | None) -> tuple[SpokenChoice, ...]:
    """Return the options that taps go through; empty while the game goes on, or if the camera alone has paused it.

    Args:
        facts: the present game.
        places: what deck memory knows of all cards; None if it is switched off.
        voice: its volume and whether it calls cards, if that can be chosen; None if not.
    """
    if facts.view.game_over:
        return tuple(_after_game(facts, voice))
    if not facts.log.pause.by_people:
        return ()
    found = [ruling for name in facts.view.questions if (ruling := facts.log.ruling(name)) is not None]
    if found:
        # Questions about late lines come last: they may wait for as long as people like.
        asked = min(found, key=lambda question: (question["ask"] == LATE, question.t, question.id))
        return tuple(_of_question(asked, facts, places))
    return tuple(_of_game(facts, places, voice))


def _of_question(asked: Ruling, facts: Facts, places: Foresight | None) -> Iterator[SpokenChoice]:
    """Yield the question again, then its answers if two taps alone could not give them."""
    ask, log = asked["ask"], facts.log
    about = [line for name in asked.get("about", ()) if log.known(name) and (line := log.now(name)) is not None]
    read = [line.card for line in about[:1] if isinstance(line, Card) and line.card != UNREADABLE]
    if read and ask not in CARD_QUESTIONS:
        yield SpokenChoice("asked_about", {"question": asked, "card": read[0]})
    else:
        yield SpokenChoice("asked_again", {"question": asked})

    def say(value: Any) -> Ask:
        return {"do": "answer", "question": asked.id, "value": value}

    if ask in SEAT_QUESTIONS or takes_count(asked):
        hands = {line.seat for line in about if isinstance(line, Slap | Taken)} if ask == "who_was_first" else set()
        for seat in range(1, len(facts.view.names) + 1):
            if seat not in facts.view.absent and (not hands or seat in hands):
                yield SpokenChoice("offer_seat", {"seat": seat}, say(seat))
    elif ask == "wild_rank":
        for rank in WILD_RANKS:
            yield SpokenChoice("offer_rank", {"rank": rank}, say(rank))
    elif ask == "unseen_gap":
        yield from _of_gap(asked, facts, places, say)
    elif ask in CARD_QUESTIONS:
        cards = [line for line in about if isinstance(line, Card)]
        named = tuple(asked.get("cards", ()))
        likely = likely_cards(cards[0], places, named) if cards else named
        yield from _cards([card for card in dict.fromkeys((*named, *likely)) if card != UNREADABLE], places, say)


def _of_gap(
    asked: Ruling, facts: Facts, places: Foresight | None, say: Callable[[Any], Ask]
) -> Iterator[SpokenChoice]:  # fmt: skip
    """Yield what may have passed in a gap: nothing, a pick-up, or one card; more than one needs a screen."""
    form = gap_form(asked)
    is_gone = form in ("gone", "passed")
    if form != "gone":
        yield SpokenChoice("offer_nothing_else", {}, say("nothing"))
    for seat in range(1, len(facts.view.names) + 1):
        if seat not in facts.view.absent:
            yield SpokenChoice("offer_took", {"seat": seat}, say(seat))
    yield SpokenChoice("offer_unknown", {}, say("unknown"))
    if not is_gone:
        yield from _cards((), places, say)


def _of_game(facts: Facts, places: Foresight | None, voice: Mapping[str, Any] | None) -> Iterator[SpokenChoice]:
    """Yield the position, then what may be wrong: the latest verdict on a hand, the card on top, or a foul."""
    yield _where_it_stands(facts)
    if voice is not None and not voice["cards"]:
        yield SpokenChoice("offer_calls", {}, {"do": "settings", "cards": True})
    laid_by = facts.view.laid_by if facts.rules.has("K6") else ()
    top = facts.log.now(laid_by[-1]) if laid_by and facts.log.known(laid_by[-1]) else None
    card = top if isinstance(top, Card) else None

    def mend(other: str) -> Ask:
        return {"do": "correct", "line": "" if card is None else card.id, "card": other}

    if facts.rules.has("K6"):
        yield from _verdicts(facts, card.t if card is not None else 0)
    if card is not None:
        for other in likely_cards(card, places):
            yield SpokenChoice("offer_card", {"card": other}, mend(other))
    yield from _fouls(facts)
    if card is not None:
        yield from _cards((), places, mend)


def _where_it_stands(facts: Facts) -> SpokenChoice:
    view = facts.view
    if view.pile and view.pile[-1] != UNREADABLE:
        lies = {"card": view.pile[-1], "number": len(view.pile)}
        if view.turn is None:
            return SpokenChoice("card_lands_alone", lies)
        return SpokenChoice("card_lands", {**lies, "seat": view.turn})
    if view.turn is None or view.pile:
        return SpokenChoice("still_paused")
    return SpokenChoice("nothing_lies", {"seat": view.turn})


def _verdicts(facts: Facts, since: int) -> Iterator[SpokenChoice]:
    """Yield other verdicts on the latest slap that won or was false, unless a card came after it (``since``, ns)."""
    log, owner = facts.log, facts.view.owner
    hands = [line for line in log.all_now() if isinstance(line, Slap)]
    ruled = [
        ruling for ruling in log.rulings.values() if ruling.kind in ("slap_won", "slap_false") and ruling.t >= since
    ]
    if owner is not None:
        # A slap that won is on record once its pile is picked up.
        first = [hand for hand in hands if hand.seat == owner and hand.t >= since][:1]
        ruled += [Ruling("slap_won", f"slap_won@{hand.id}", hand.t, (hand.id,), (), {"seat": owner}) for hand in first]
    latest = max(ruled, key=lambda ruled_slap: ruled_slap.t, default=None)
    if latest is None:
        return
    instead = find_overrulable(latest, hands, owner=owner, is_on_record=latest.id in log.rulings)
    if instead is None:
        return
    for seat in instead.seats:
        yield SpokenChoice("offer_first", {"seat": seat}, {"do": "overrule", "ruling": latest.id, "seat": seat})
    for verdict in instead.verdicts:
        ask = {"do": "overrule", "ruling": latest.id, "verdict": verdict}
        yield SpokenChoice(f"offer_{verdict}", {"seat": latest["seat"]}, ask)


def _fouls(facts: Facts) -> Iterator[SpokenChoice]:
    """Yield the fouls that people may report, each with its seats."""
    seats = [seat for seat in range(1, len(facts.view.names) + 1) if seat not in facts.view.absent]
    fouls = [
        SpokenChoice(
            f"offer_foul.{foul}",
            more=tuple(
                SpokenChoice("offer_seat", {"seat": seat}, {"do": "foul", "seat": seat, "foul": foul}) for seat in seats
            ),
        )
        for foul in facts.offers.fouls
    ]
    if fouls:
        yield SpokenChoice("offer_fouls", more=tuple(fouls))


def _cards(first: Iterable[str], places: Foresight | None, say: Callable[[str], Ask]) -> Iterator[SpokenChoice]:
    """Yield the likeliest cards, then every other one by its rank and suit."""
    for card in first:
        yield SpokenChoice("offer_card", {"card": card}, say(card))
    for rank in RANKS:
        suits = tuple(SpokenChoice("offer_card", {"card": rank + suit}, say(rank + suit)) for suit in SUITS)
        yield SpokenChoice("offer_rank", {"rank": rank}, more=suits)
    for joker in places.pack[len(RANKS) * len(SUITS) :] if places is not None else ():
        yield SpokenChoice("offer_card", {"card": joker}, say(joker))


def _after_game(facts: Facts, voice: Mapping[str, Any] | None) -> Iterator[SpokenChoice]:
    """Yield another game, the voice's settings, and the same people with other rules."""
    yield SpokenChoice("another")
    if voice is not None:
        louder, softer = min(100, voice["volume"] + _LOUDER), max(_SOFTEST, voice["volume"] - _LOUDER)
        if voice["volume"] < louder:
            yield SpokenChoice("offer_louder", {}, {"do": "settings", "volume": louder})
        if voice["volume"] > softer:
            yield SpokenChoice("offer_softer", {}, {"do": "settings", "volume": softer})
        what = "offer_no_calls" if voice["cards"] else "offer_calls"
        yield SpokenChoice(what, {}, {"do": "settings", "cards": not voice["cards"]})
    table = facts.log.table
    if table is None:
        return
    people, dealer = list(table.seats), table.dealer % len(table.seats) + 1
    for preset in PRESETS:
        ask = {"do": "begin", "seats": people, "rules": preset, "dealer": dealer}
        yield SpokenChoice("offer_rules", {"rules": preset}, ask)
