"""Why a ruling came out as it did: the pile then, the instants around it, and what else was considered (K5).

A `WitnessedLog` watches a log being judged. Afterwards it explains any ruling from what its cause met, by asking the
same functions again that decided it.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from referee.engine.doubt import order_is_open
from referee.engine.event_queue import JudgedMoment
from referee.engine.near_misses import why_not
from referee.engine.observations import MAX_ERROR, Card, Observation, Slap, Table
from referee.engine.rulings import Ruling, cause_of, ruling_fields
from referee.engine.state import State
from referee.rules.card_play import lay
from referee.rules.matches import find_patterns, own_patterns
from referee.rules.patterns import PATTERNS
from referee.rules.position import Laid, Position
from referee.rules.rows import ROWS
from referee.rules.slap_verdict import judge_slap
from referee.rules.step import Step
from referee.units import MS

_AROUND_NS: Final = 1_500_000_000
"""How far from a ruling's instant other lines are still worth telling, ns."""
_SHOWN: Final = frozenset(("card", "slap", "lift", "taken", "placed", "foul", "answer", "correct", "count"))
_OF_SLAPS: Final = frozenset(("slap_won", "slap_false", "slap_void", "dead_heat", "question"))


class Moment(NamedTuple):
    """A line near the ruling: how long after the ruling's instant (ns, negative before), and how well that is known."""

    id: str
    kind: str
    seat: int | None
    card: str
    offset: int
    error: int


class Considered(NamedTuple):
    """Something else that was looked at: by which row, whether it held, and why or why not."""

    row: str
    held: bool
    why: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that explains one ruling."""

    ruling: Ruling
    pile: tuple[Laid, ...]
    """As it lay before the ruling's cause, lowest card first."""
    counts: tuple[int | None, ...]
    turn: int | None
    moments: tuple[Moment, ...]
    considered: tuple[Considered, ...]

    @property
    def rules(self) -> tuple[tuple[str, str], ...]:
        """Id and title of each row that it rests on."""
        return tuple((row, ROWS[row].title) for row in self.ruling.rule if row in ROWS)

    def fields(self) -> dict[str, Any]:
        """The same as a JSON object."""
        return {
            "ruling": ruling_fields(self.ruling),
            "notation": notation(self.pile),
            "pile": [{"card": laid.card, "seat": laid.seat, "state": laid.state} for laid in self.pile],
            "counts": list(self.counts),
            "turn": self.turn,
            "moments": [moment._asdict() for moment in self.moments],
            "rules": [{"id": row, "name": ROWS[row].name, "title": title} for row, title in self.rules],
            "considered": [considered._asdict() for considered in self.considered],
            "supersedes": list(self.ruling.supersedes),
        }


def notation(pile: tuple[Laid, ...]) -> str:
    """The pile on one line, oldest first; burned cards in square brackets, dead ones in round ones."""
    marks = {"played": "{}", "burned": "[{}]", "dead": "({})"}
    return " ".join(marks[laid.state].format(laid.card) for laid in pile)


class WitnessedLog:
    """A witness that keeps what every line of a log met when it was judged."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._scenes: dict[str, list[JudgedMoment]] = {}
        self._order: dict[str, int] = {}
        self._timeline: list[tuple[int, int, str]] = []

    def __call__(self, scene: JudgedMoment) -> None:
        """Keep what an observation met."""
        self._scenes.setdefault(scene.observation.id, []).append(scene)
        self._order[scene.observation.id] = len(self._order)
        self._timeline.clear()

    def explain(self, ruling: Ruling) -> Explanation:
        """Explain a ruling of the log that was watched."""
        scenes = self._scenes.get(cause_of(ruling.id))
        moments = tuple(self._moments(ruling))
        if not scenes:
            return Explanation(ruling, (), self._table.counts or (), None, moments, ())
        # A ruling that was replaced belongs to what its cause met first, its successor to what it met last.
        scene = scenes[-1] if "~" in ruling.id else scenes[0]
        position = scene.state.position
        considered = tuple(self._considered(ruling, scene))
        return Explanation(ruling, position.pile, position.counts, position.turn, moments, considered)

    def lines(self) -> list[Observation]:
        """Every line as it was judged last, the table first, in the order in which they were first judged."""
        return [self._table, *(scenes[-1].observation for scenes in self._scenes.values())]

    def line(self, name: str) -> Observation | None:
        """A line as it was judged last; None where there is none of that id."""
        scenes = self._scenes.get(name)
        return scenes[-1].observation if scenes else self._table if name == self._table.id else None

    def state_before(self, name: str) -> State:
        """What a line met when it was first judged."""
        return self._scenes[name][0].state

    def _line(self, name: str) -> Observation:
        return self._scenes[name][-1].observation

    def _between(self, begin: int, end: int) -> Iterator[Observation]:
        """The lines of a span of event time (ns, both ends included), in its order."""
        if not self._timeline:
            self._timeline = sorted((self._line(name).t, place, name) for name, place in self._order.items())
        for at in range(bisect.bisect_left(self._timeline, (begin,)), len(self._timeline)):
            t, _, name = self._timeline[at]
            if t > end:
                return
            yield self._line(name)

    def _moments(self, ruling: Ruling) -> Iterator[Moment]:
        around = self._between(ruling.t - _AROUND_NS, ruling.t + _AROUND_NS)
        near = {line.id: line for line in around if line.kind in _SHOWN}
        near.update((name, self._line(name)) for name in ruling.because if name in self._scenes)
        for line in sorted(near.values(), key=lambda line: (line.t, self._order[line.id])):
            yield Moment(
                line.id,
                line.kind,
                getattr(line, "seat", None),
                getattr(line, "card", ""),
                line.t - ruling.t,
                getattr(line, "t_error", 0),
            )

    def _considered(self, ruling: Ruling, scene: JudgedMoment) -> Iterator[Considered]:
        if isinstance(scene.observation, Slap) and ruling.kind in _OF_SLAPS:
            yield from self._of_slap(ruling, scene, scene.observation)
        elif ruling.kind == "dead_card":
            yield Considered("S5", False, f"it was the turn of {_seat(scene.state.position.turn)}")
        elif ruling.kind in ("burn", "give", "strike") and isinstance(ruling.get("seat"), int):
            held = scene.state.position.counts[ruling["seat"] - 1]
            words = "nobody knows how many" if held is None else str(held)
            yield Considered("E1", held != 0, f"{_seat(ruling['seat'])} held {words} cards before")
        elif ruling.kind == "challenge_won" and scene.state.position.rules.slaps:
            yield Considered("C9", True, "until it is picked up, a valid slap still takes this pile")

    def _of_slap(self, ruling: Ruling, scene: JudgedMoment, slap: Slap) -> Iterator[Considered]:
        position = scene.state.position
        reason = ruling.get("reason", "")
        if reason == "late":
            yield from self._late(scene, slap)
        elif reason == "held":
            yield from self._held(slap)
        elif ruling.kind != "slap_void" or reason == "covered":
            yield from _patterns(position)
            if ruling.kind != "slap_won":
                yield from _cover(position, slap.t)
        if ruling.kind == "slap_won":
            if not ruling["runners_up"]:
                yield Considered("K3", True, "no other hand that counted came down on this pile")
            for runner in ruling["runners_up"]:
                words = f"{_seat(runner['seat'])} was {runner['margin'] / MS:.2f} ms later"
                if runner["margin"] == ruling["margin"]:
                    words += f", ± {ruling['error'] / MS:.2f} ms"
                yield Considered("K3", False, words)
        yield from self._readings(slap)

    def _late(self, scene: JudgedMoment, slap: Slap) -> Iterator[Considered]:
        claim = scene.state.position.claim
        first = self._scenes.get(claim.ref) if claim is not None else None
        if claim is None or not first:
            return
        winner = first[-1].observation
        if isinstance(winner, Slap):
            errors = (winner.t_error + slap.t_error) / MS
            later = (slap.t - winner.t) / MS
            yield Considered(
                "M1", False, f"{_seat(claim.seat)} was first: this hand came {later:.2f} ms later, ± {errors:.2f} ms"
            )

    def _held(self, slap: Slap) -> Iterator[Considered]:
        """Since when the pad has been down."""
        before = self._order[slap.id]
        down: Slap | None = None
        for line in self._between(self._table.t, slap.t):
            if isinstance(line, Slap) and line.seat == slap.seat and self._order[line.id] < before:
                down = line
        if down is not None:
            since = (slap.t - down.t) / MS
            yield Considered("M5", False, f"this pad has been down for {since:.1f} ms, since {down.id}, without a lift")

    def _readings(self, slap: Slap) -> Iterator[Considered]:
        """What either order would have given, where errors leave it open which came first (K9)."""
        for card in self._between(slap.t - 2 * MAX_ERROR, slap.t + 2 * MAX_ERROR):
            if not isinstance(card, Card) or card.zone != "pile" or not order_is_open(slap, card):
                continue
            earlier = min(slap.id, card.id, key=lambda name: self._order[name])
            position = self._scenes[earlier][-1].state.position
            before = judge_slap(position, slap.seat, slap.t)
            step = Step(position, card.t, card.id)
            lay(step, card.card, card.seat)
            after = judge_slap(step.position, slap.seat, max(slap.t, card.t))
            apart = (slap.t - card.t) / MS
            error = (slap.t_error + card.t_error) / MS
            yield Considered(
                "K9",
                before.outcome != after.outcome,
                f"slap and {card.card} lie {apart:+.1f} ms apart, ± {error:.1f} ms: slap first it is {_worth(before)}, "
                f"card first it is {_worth(after)}",
            )


def _worth(judged: Any) -> str:
    because = ", ".join(judged.patterns) or str(judged.reason).replace("_", " ")
    return f"{judged.outcome} ({because})" if because else str(judged.outcome)


def _seat(seat: int | None) -> str:
    return "nobody" if seat is None else f"seat {seat}"


def _patterns(position: Position) -> Iterator[Considered]:
    """Each pattern that is on, and what it missed by."""
    look, rules = position.look(), position.rules
    held = set(find_patterns(look, rules)[0])
    for row in PATTERNS:
        if row in rules.on:
            why = "it holds" if row in held else why_not(row, look, rules)
            yield Considered(row, row in held, why)
    for name, own in own_patterns(rules) if rules.has("P19") else ():
        row = f"P19:{name}"
        short = f"it looks at {own.depth} cards, and {len(look.top)} count" if len(look.top) < own.depth else ""
        yield Considered(row, row in held, "it holds" if row in held else short or "its condition does not hold")


def _cover(position: Position, t: int) -> Iterator[Considered]:
    """Whether the slap may have been meant for what the newest card covered (M9)."""
    laid = [card for card in position.pile if card.state != "burned"]
    if not position.rules.has("M9") or not laid:
        return
    newest = max(laid, key=lambda card: card.t)
    since, limit = (t - newest.t) / MS, position.rules.number("M9")
    under = position.without(newest)
    covered = find_patterns(under.look(), position.rules)[0]
    near = since < limit
    what = f"it covered {', '.join(covered)}" if covered else "what it covered was no pattern"
    late = "less" if near else "not less"
    yield Considered(
        "M9", near and bool(covered), f"{newest.card} came {since:.1f} ms before, {late} than {limit} ms; {what}"
    )
