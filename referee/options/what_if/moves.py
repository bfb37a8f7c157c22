"""The rulings of a game in which one hand or card had come a little sooner or later.

The game is ruled once more with a correction of that line appended, as if people had made it (K6). The correction is
stored nowhere, and the given lines do not change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from referee.engine.explanation import Explanation
from referee.engine.observations import Card, Correct, Lift, LogError, Observation, Slap
from referee.engine.replay import ReplayedGame
from referee.engine.rulings import SHOWN_BY_POSITION, SLAP_KINDS, Ruling, base_id, cause_of, unamended, verdict_on
from referee.units import MS, SECOND

MOST_MOVED: Final = 50 * MS
"""Longest distance by which an instant may be moved, and the greatest error that it may be given, ns. Beyond it, people
would have acted differently as well.
"""
_NEAR: Final = SECOND
"""Hands within this time of the moved line belong to the same moment, ns."""
_VERDICTS: Final = frozenset((*SLAP_KINDS, "dead_heat"))
"""Rulings on hands; the verdict is among those of the moment itself, not later."""
_MEASURED: Final = frozenset(("margin", "error", "runners_up"))
"""Fields that change with every movement, even if the decision stays."""


class MoveError(ValueError):
    """A movement that is not possible; ``problem`` is ``line``, ``far`` or ``order``, a key of the texts."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(problem)


class Move(NamedTuple):
    """A slap or a card at another instant."""

    line: str
    by: int
    """Delay of the line, ns; negative: it comes sooner."""
    error: int | None = None
    """New error of its instant, ns; None: unchanged."""


class Change(NamedTuple):
    """A ruling as it was, and its replacement; None on either side if there is no ruling."""

    was: Ruling | None
    would_be: Ruling | None


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A game as it was, and as it would have been."""

    move: Move
    hand: str
    """The slap whose verdict matters most; empty if no hand was near."""
    game: ReplayedGame
    """The hypothetical game; the ids of its rulings may differ from those in `rulings`."""
    rulings: tuple[Ruling, ...]
    """Its rulings in force, under the ids that they would have had without a correction."""
    verdict: Change
    later: Change
    """The first later ruling that differs; both None if all stay the same."""

    @property
    def is_other(self) -> bool:
        """Whether the verdict is of another kind, or names another player."""
        return _content_of(self.verdict.was) != _content_of(self.verdict.would_be)

    def explain(self) -> Explanation | None:
        """Explain the hypothetical verdict, as if no correction had been made; `None`: there is no verdict."""
        found = self.verdict.would_be
        if found is None:
            return None
        made = next(ruling for ruling in self.game.rulings if _is_now(ruling, found, self.game))
        return replace(self.game.explain(made), ruling=found)


def move_line(
    lines: Sequence[tuple[int, Observation]],
    game: ReplayedGame,
    move: Move,
    hand: str = "",
    leave_out: Callable[[int, LogError], None] | None = None,
) -> WhatIf:
    """Rule a game once more with a hand or a card at another instant.

    Args:
        lines: of the game, numbered as they stand in its log.
        game: the same lines as they were ruled.
        move: the movement.
        hand: the slap whose verdict is wanted; by default the moved one, or the hand nearest to it.
        leave_out: as for `ReplayedGame`.

    Raises:
        MoveError: there is no such hand or card, it is moved too far, or to an instant that the log cannot have.
        TooLong: the game is too long to be kept.
    """
    standing = game.lines()
    moved = next((line for line in standing if line.id == move.line and isinstance(line, Slap | Card)), None)
    if not isinstance(moved, Slap | Card):
        raise MoveError("line")
    if abs(move.by) > MOST_MOVED or not 0 <= (move.error or 0) <= MOST_MOVED:
        raise MoveError("far")
    end, number = max(line.t for _, line in lines), max(at for at, _ in lines)
    known = {line.id for _, line in lines} | {str(at) for at, _ in lines}
    said = [
        Correct(t=end, id=_unused(f"moved{place}", known), line=name, extra={"fields": fields})
        for place, (name, fields) in enumerate(_corrected(moved, move, standing).items(), start=1)
    ]
    try:
        again = ReplayedGame(
            [*lines, *((number + at, tick) for at, tick in enumerate(said, start=1))], leave_out=leave_out
        )
    except LogError:
        raise MoveError("order") from None
    found = again.line(moved.id)
    if found is None or found.t != moved.t + move.by:
        raise MoveError("order")
    ours = {correct.id for correct in said}
    rulings = tuple(
        unamended(ruling)
        for ruling in again.rulings
        if ruling.id not in again.replaced_by and cause_of(ruling) not in ours
    )
    old = [ruling for ruling in game.rulings if ruling.id not in game.replaced_by]
    hand = hand or _hand_of(moved, standing)
    verdict = Change(_come_to(old, hand), _come_to(rulings, hand))
    return WhatIf(move, hand, again, rulings, verdict, _first_change(old, rulings, moved.t))


def _is_now(made: Ruling, named: Ruling, game: ReplayedGame) -> bool:
    """Return whether this ruling in force has the original id of the other, apart from corrections."""
    return made.id not in game.replaced_by and base_id(made) == named.id


def _come_to(rulings: Sequence[Ruling], hand: str) -> Ruling | None:
    """Return the ruling on a hand; the dead heat that it is in if that has not been settled."""
    heat = next((ruling for ruling in rulings if ruling.kind == "dead_heat" and hand in ruling.because), None)
    return verdict_on(rulings, hand) or heat


def _corrected(moved: Slap | Card, move: Move, standing: Sequence[Observation]) -> dict[str, Mapping[str, Any]]:
    """Return the changed fields, by line."""
    at, error = moved.t + move.by, moved.t_error if move.error is None else move.error
    fields: dict[str, Any] = {"t": at, "t_error": error}
    if isinstance(moved, Card):
        return {moved.id: fields if moved.known_at is None else {**fields, "known_at": moved.known_at + move.by}}
    after = [
        line for line in standing if isinstance(line, Slap | Lift) and line.seat == moved.seat and line.t >= moved.t
    ]
    ends = next((line for line in sorted(after, key=lambda hand: hand.t) if line.id != moved.id), None)
    if isinstance(ends, Lift) and ends.t <= at:
        # A lift must follow its slap.
        return {moved.id: fields, ends.id: {"t": at + 1}}
    return {moved.id: fields}


def _unused(name: str, known: set[str]) -> str:
    while name in known:
        name += "'"
    return name


def _hand_of(moved: Slap | Card, standing: Sequence[Observation]) -> str:
    """Return the moved hand; for a card the first hand after it, or else the nearest one."""
    if isinstance(moved, Slap):
        return moved.id
    near = [line for line in standing if isinstance(line, Slap) and abs(line.t - moved.t) <= _NEAR]
    return min(near, key=lambda hand: (hand.t < moved.t, abs(hand.t - moved.t))).id if near else ""


def _content_of(ruling: Ruling | None) -> object:
    """Return a ruling's content apart from figures that change with every movement."""
    if ruling is None:
        return None
    return ruling.kind, {name: value for name, value in ruling.fields.items() if name not in _MEASURED}


def _first_change(was: Sequence[Ruling], would_be: Sequence[Ruling], t: int) -> Change:
    """Return the first differing ruling on each side, except verdicts of the moment itself and turns."""
    sides = []
    for rulings in (was, would_be):
        listed = [
            ruling
            for ruling in rulings
            if ruling.kind not in SHOWN_BY_POSITION and (ruling.kind not in _VERDICTS or abs(ruling.t - t) > _NEAR)
        ]
        sides.append({base_id(ruling): ruling for ruling in listed})
    old, new = sides
    first = next((ruling for name, ruling in old.items() if _content_of(ruling) != _content_of(new.get(name))), None)
    other = next((ruling for name, ruling in new.items() if _content_of(ruling) != _content_of(old.get(name))), None)
    if first is not None and base_id(first) in new and (other is None or other.t >= first.t):
        return Change(first, new[base_id(first)])
    return Change(first, other)
