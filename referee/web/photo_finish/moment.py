"""The data of a slap's photo-finish (hands, edges, cards, their instants and errors), and its words. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from referee.engine.observations import Card, Lift, Observation, Other, Slap
from referee.engine.rulings import SLAP_KINDS, Ruling, cause_of, verdict_on
from referee.text.catalogue import Texts
from referee.text.ruling_lines import RulingWords, pretty
from referee.units import MS, SECOND

_BEFORE: Final = 2_500 * MS
_AFTER: Final = 1_500 * MS
"""Span after the slap, and before it, whose lines are used, ns."""
_NEWEST: Final = 2
"""Number of cards named when a hand came down on nothing."""
_NEAR: Final = SECOND
"""Hands within this of the slap are shown with it, ns."""


@dataclass(frozen=True, slots=True)
class FinishHand:
    """One press of a pad."""

    id: str
    seat: int
    t: int
    error: int
    force: float | None
    lift: int | None
    """Instant at which it was lifted, ns; None if unknown."""
    ruling: Ruling | None
    """The ruling on this very hand."""
    behind: int | None
    """Time after the hand that won, as in the ruling, ns; 0 for that hand, None for one that is not compared."""
    behind_error: int | None
    """The sum of both errors, ns."""


@dataclass(frozen=True, slots=True)
class Finish:
    """A slap and everything near it. Instants are the log's own, ns."""

    slap: str
    """The id of the requested hand."""
    seats: int
    zero: int
    """Instant of the first hand that counted, or of the hand itself."""
    hands: tuple[FinishHand, ...]
    """In order of time."""
    cards: tuple[Card, ...]
    """Cards that came face up near the slap."""
    edges: tuple[tuple[int, int, bool], ...]
    """Raw edges: seat, instant, pressed."""
    ruling: Ruling | None
    """The verdict on the pile: the slap that won, or the ruling on the hand itself."""
    heat: Ruling | None
    """The dead heat that this hand was in."""

    @property
    def zero_error(self) -> int:
        """The error of the zero, ns."""
        return next((hand.error for hand in self.hands if hand.t == self.zero), 0)

    @property
    def asked(self) -> FinishHand:
        """The requested hand."""
        return next(hand for hand in self.hands if hand.id == self.slap)

    @property
    def pattern(self) -> list[Card]:
        """The cards that the ruling rests on."""
        return [card for card in self.cards if self.ruling is not None and card.id in self.ruling.because]


def finish(
    lines: Iterable[Observation], rulings: Sequence[Ruling], slap: str, gone: Container[str] = (), seats: int = 0
) -> Finish | None:
    """Collect the data of a photo-finish.

    Args:
        lines: corrected observations; those far from the slap are ignored.
        rulings: of the game; several may have the same cause.
        slap: the hand's id.
        gone: ids of rulings that were replaced.
        seats: number of seats at the table.

    Returns:
        None if there is no such hand.
    """
    near = list(lines)
    asked = next((line for line in near if isinstance(line, Slap) and line.id == slap), None)
    if asked is None:
        return None
    in_force = [ruling for ruling in rulings if ruling.id not in gone]
    ruling = verdict_on(in_force, slap)
    own = {cause_of(standing): standing for standing in in_force if standing.kind in SLAP_KINDS}
    heat = next((standing for standing in in_force if standing.kind == "dead_heat" and slap in standing.because), None)
    near = sorted((line for line in near if -_BEFORE <= line.t - asked.t <= _AFTER), key=lambda line: line.t)
    pressed = [line for line in near if isinstance(line, Slap) and abs(line.t - asked.t) <= _NEAR]
    lifts = [line for line in near if isinstance(line, Lift)]
    behind = _behind(pressed, ruling, heat)
    hands = []
    for hand in pressed:
        after = min((other.t for other in pressed if other.seat == hand.seat and other.t > hand.t), default=2**63)
        lift = min((line.t for line in lifts if line.seat == hand.seat and hand.t <= line.t < after), default=None)
        margin, error = behind.get(hand.id, (None, None))
        hands.append(
            FinishHand(hand.id, hand.seat, hand.t, hand.t_error, hand.force, lift, own.get(hand.id), margin, error)
        )
    return Finish(
        slap=slap,
        seats=max([seats, *(hand.seat for hand in hands)]),
        zero=min((hand.t for hand in hands if hand.behind is not None), default=asked.t),
        hands=tuple(hands),
        cards=tuple(card for card in near if isinstance(card, Card)),
        edges=tuple(
            (line.extra["seat"], line.t, line.extra["pressed"])
            for line in near
            if isinstance(line, Other)
            and line.name == "edge"
            and isinstance(line.extra.get("seat"), int)
            and isinstance(line.extra.get("pressed"), bool)
        ),
        ruling=ruling,
        heat=heat,
    )


def _behind(hands: Sequence[Slap], ruling: Ruling | None, heat: Ruling | None) -> Mapping[str, tuple[int, int]]:
    """Return each hand's margin behind the winner and its error, as in the rulings; hands without one are left out.

    In a dead heat that nothing has settled: behind the first of its hands.
    """
    winner = None
    if ruling is not None and ruling.kind == "slap_won":
        first = cause_of(ruling)
        winner = next((hand for hand in hands if hand.id == first), None)
    if winner is None or ruling is None:
        tied = sorted((hand for hand in hands if heat is not None and hand.id in heat.because), key=lambda hand: hand.t)
        out = {hand.id: (hand.t - tied[0].t, tied[0].t_error + hand.t_error) for hand in tied}
        return out | {hand.id: (0, 0) for hand in tied[:1]}
    out = {winner.id: (0, 0)}
    for runner in ruling["runners_up"]:
        hand = next((h for h in hands if h.seat == runner["seat"] and h.t - winner.t == runner["margin"]), None)
        if hand is not None:
            out[hand.id] = (runner["margin"], winner.t_error + hand.t_error)
    return out


class Headline(NamedTuple):
    """The text above the drawing."""

    text: str
    under: str
    seat: int | None
    """Seat whose colour it has."""


def headline(finish: Finish, words: RulingWords) -> Headline:
    """Return who was first and by how much, or the ruling if the slap did not win."""
    texts, ruling = words.texts, finish.ruling
    if finish.heat is not None:
        # No hand was first; then, if it is settled, who has the pile and why.
        under = texts("finish.apart", margin=texts.measured(finish.heat["margin"], finish.heat["error"]))
        if ruling is not None and ruling.kind == "slap_won":
            under = f"{under} · {words.name(ruling['seat'])}: {words.how(ruling)}"
        return Headline(texts("finish.heat"), under, None)
    if ruling is None:
        asked = finish.asked
        return Headline(texts("finish.pending", name=words.name(asked.seat)), "", asked.seat)
    name = words.name(ruling.get("seat"))
    if ruling.kind != "slap_won":
        key = "finish.false" if ruling.kind == "slap_false" else "finish.void"
        return Headline(texts(key, name=name), words.reason(ruling), ruling.get("seat"))
    how = words.how(ruling)
    if how:
        return Headline(texts("finish.first", name=name), how, ruling["seat"])
    if ruling["margin"] is None:
        key = "finish.first" if ruling.window == "open" else "finish.alone"
        return Headline(texts(key, name=name), words.patterns(ruling["patterns"]), ruling["seat"])
    under = texts("finish.by", margin=texts.measured(ruling["margin"], ruling["error"]))
    return Headline(texts("finish.first", name=name), under, ruling["seat"])


class RoomVerdict(NamedTuple):
    """The winner of a slap and the margin, in a few words that can be read across a room."""

    who: str
    how: str
    """As large as a name: the margin, or what decided instead."""
    under: str
    """The error of the margin."""
    seat: int | None


def read_verdict(finish: Finish, words: RulingWords) -> RoomVerdict:
    """Return the verdict on a slap at a glance."""
    texts, ruling, heat = words.texts, finish.ruling, finish.heat
    if ruling is None or ruling.kind != "slap_won":
        if heat is None:
            head = headline(finish, words)
            return RoomVerdict(head.text, head.under, "", head.seat)
        margin, error = heat["margin"], heat["error"]
        under = texts("board.apart", margin=texts.ms(margin, error), error=texts.ms(error, error))
        return RoomVerdict(texts.both(map(words.name, heat["seats"])), texts("finish.heat"), under, None)
    name, seat = words.name(ruling["seat"]), int(ruling["seat"])
    decided = words.how(ruling)
    if decided:
        return RoomVerdict(name, decided, "", seat)
    if ruling["margin"] is None:
        patterns = words.patterns(ruling["patterns"])
        if ruling.window == "open":
            # Other hands may still come.
            return RoomVerdict(name, patterns, "", seat)
        return RoomVerdict(name, texts("board.only_hand"), patterns, seat)
    margin, error = ruling["margin"], ruling["error"]
    how = texts("board.ahead", margin=texts.ms(margin, error))
    return RoomVerdict(name, how, texts("board.give_or_take", error=texts.ms(error, error) if error else "0"), seat)


def tell_why(finish: Finish, words: RulingWords) -> str:
    """Return why it was ruled so, or why it cannot be known, in sentences that need no knowledge of the machine.

    Empty if the verdict itself says everything.
    """
    texts, ruling, heat = words.texts, finish.ruling, finish.heat
    if heat is not None:
        margin, error = heat["margin"], heat["error"]
        seats = texts.both(map(words.name, heat["seats"]))
        said = texts("finish.why_heat", seats=seats, margin=texts.ms(margin, error), error=texts.ms(error, error))
        settled = ruling is not None and ruling.kind == "slap_won"
        return f"{said} {words(ruling)}." if settled and ruling is not None else said
    if ruling is None:
        return texts("finish.why_pending")
    if ruling.kind == "slap_won" and not words.how(ruling):
        if ruling["margin"] is None or not ruling["runners_up"]:
            if ruling.window == "open":
                return ""
            return texts(
                "finish.why_alone", name=words.name(ruling["seat"]), patterns=words.patterns(ruling["patterns"])
            )
        margin, error = ruling["margin"], ruling["error"]
        first, second = words.name(ruling["seat"]), words.name(ruling["runners_up"][0]["seat"])
        key = "finish.why_first" if error else "finish.why_before"
        return texts(key, first=first, second=second, margin=texts.ms(margin, error), error=texts.ms(error, error))
    if ruling.kind == "slap_won":
        return f"{words(ruling)}."
    before = [pretty(card.card) for card in finish.cards if card.t <= finish.asked.t][-_NEWEST:]
    if ruling.get("reason") != "no_pattern" or len(before) < _NEWEST:
        return ""
    return texts("finish.why_nothing", name=words.name(ruling["seat"]), cards=texts.both(before))


def offset(t: int, error: int, finish: Finish, texts: Texts, *, alone: bool = False) -> str:
    """Return the time from the first hand to an instant, with the sum of both errors; ``alone``: without the error.

    The first hand itself is the zero, and has no error.
    """
    if t == finish.zero:
        return texts.ms(0, 0)
    write = texts.ms if alone else texts.measured
    return write(t - finish.zero, finish.zero_error + error, sign=True)


def verdict(hand: FinishHand, finish: Finish, words: RulingWords) -> str:
    """Return the ruling on one hand, in a word or two."""
    texts = words.texts
    if finish.heat is not None and hand.seat in finish.heat["seats"] and hand.id in finish.heat.because:
        won = hand.ruling is not None and hand.ruling.kind == "slap_won"
        return texts("finish.in_heat") + (f", {texts('board.won')}" if won else "")
    if hand.ruling is None:
        return ""
    return texts("finish.won") if hand.ruling.kind == "slap_won" else words.reason(hand.ruling)


def description(finish: Finish, words: RulingWords) -> str:
    """Return a description of the drawing in sentences."""
    texts = words.texts
    head = headline(finish, words)
    parts = [f"{head.text}, {head.under}" if head.under else head.text]
    for hand in finish.hands:
        after = offset(hand.t, hand.error, finish, texts)
        said = verdict(hand, finish, words)
        parts.append(f"{words.name(hand.seat)}: {after}" + (f", {said}" if said else ""))
    return ". ".join(parts) + "."
