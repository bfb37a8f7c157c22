"""Measures pads hit one at a time: their bounce, their neighbours' echoes, and their differences in delay.

Pure, in event time. A single pad does not reveal its delay from hand to edge, for lack of a reference. Two pads hit by
one blow, on a stiff board that lies over both, reveal the difference of their delays; the common part stays unknown,
and favours no hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hardware.pads.debounce import REBOUND
from hardware.ports import Edge
from referee.units import MS

_LANDING: Final = 30 * MS
"""Time after its first edge, ns, from which a hand's contacts belong to its leaving."""
_ONE_BLOW: Final = 40 * MS
"""Greatest distance, ns, between two pads' closings in one blow."""
_BEFORE: Final = 10 * MS
_HAND: Final = 20 * MS
"""Least length, ns, of a hand's contact."""


@dataclass(frozen=True, slots=True)
class MeasuredContact:
    """A contact of one pad, including its chatter."""

    seat: int
    t: int
    lasted: int
    """Time from its first edge until its latest possible final opening, ns."""
    bounce: int
    """Time from its first edge to the last edge of its landing, ns."""


def touches(edges: Sequence[Edge]) -> list[MeasuredContact]:
    """Return the contacts of all pads in order of their first edges; one still closed is left out."""
    out: list[MeasuredContact] = []
    for seat in sorted({edge.seat for edge in edges}):
        group: list[Edge] = []
        for edge in sorted((edge for edge in edges if edge.seat == seat), key=lambda found: found.t):
            if group and edge.pressed and not group[-1].pressed and edge.t - group[-1].t > REBOUND:
                out += _touch(group)
                group = []
            group.append(edge)
        out += _touch(group)
    return sorted(out, key=lambda touch: (touch.t, touch.seat))


def _touch(group: Sequence[Edge]) -> list[MeasuredContact]:
    if not group or not group[0].pressed or group[-1].pressed:
        return []
    first = group[0].t
    landing = [edge.t for edge in group if edge.pressed and edge.t <= first + _LANDING]
    return [MeasuredContact(group[0].seat, first, group[-1].t + group[-1].t_error - first, landing[-1] - first)]


@dataclass(frozen=True, slots=True)
class Blow:
    """One hand on one pad."""

    bounce: int
    echoes: Mapping[int, tuple[int, int]]
    """By seat that heard it: length of the echo, and its delay after the hand; ns."""


class NotOneBlow(ValueError):  # noqa: N818 - it names what people did
    """The pads felt something other than requested; ``seats`` are those concerned."""

    def __init__(self, what: str, seats: Sequence[int]) -> None:
        self.what = what
        """``silent``, ``twice``, ``others`` or ``apart``."""
        self.seats = tuple(seats)
        super().__init__(f"{what}: {self.seats}")


def blow(seat: int, found: Sequence[MeasuredContact]) -> Blow:
    """Return the effect of one hand on ``seat``'s pad, given all contacts.

    Raises:
        NotOneBlow: there was no hand there, more than one, or another seat's as well.
    """
    hands = [touch for touch in found if touch.lasted >= _HAND]
    mine = [touch for touch in hands if touch.seat == seat]
    others = [touch.seat for touch in hands if touch.seat != seat]
    if others:
        raise NotOneBlow("others", others)
    if len(mine) != 1:
        raise NotOneBlow("twice" if mine else "silent", [seat])
    (hand,) = mine
    echoes: dict[int, tuple[int, int]] = {}
    for touch in found:
        if touch.seat != seat and hand.t - _BEFORE < touch.t < hand.t + _ONE_BLOW:
            echoes[touch.seat] = max(echoes.get(touch.seat, (0, 0)), (touch.lasted, touch.t - hand.t))
    return Blow(hand.bounce, echoes)


def difference(one: int, other: int, found: Sequence[MeasuredContact]) -> int:
    """Return the delay, ns, of ``other``'s pad relative to ``one``'s, for a blow on both.

    Raises:
        NotOneBlow: only one was hit, or the two were too far apart for one blow.
    """
    firsts = {touch.seat: touch.t for touch in reversed(found) if touch.lasted >= _HAND}
    silent = [seat for seat in (one, other) if seat not in firsts]
    if silent:
        raise NotOneBlow("silent", silent)
    late = firsts[other] - firsts[one]
    if abs(late) > _ONE_BLOW:
        raise NotOneBlow("apart", [one, other])
    return late


def errors(stated: int, apart: Mapping[tuple[int, int], int], seats: int) -> tuple[int, ...]:
    """Return half-widths by seat that explain the differences between pads, none below ``stated``; ns.

    A pad that disagrees with several others is considered the worse one; if two disagree only with each other, the
    fault is unknown, and each gets half.
    """
    out = dict.fromkeys(range(1, seats + 1), stated)
    for _ in range(seats):
        lacking = {pair: far - out[pair[0]] - out[pair[1]] for pair, far in apart.items()}
        lacking = {pair: far for pair, far in lacking.items() if far > 0}
        if not lacking:
            break
        votes = {seat: sum(seat in pair for pair in lacking) for seat in out}
        worst = max(lacking, key=lambda pair: (sum(votes[seat] for seat in pair), lacking[pair]))
        most = max(votes[seat] for seat in worst)
        guilty = [seat for seat in worst if votes[seat] == most]
        for seat in guilty:
            out[seat] += -(-lacking[worst] // len(guilty))
    return tuple(out.values())
