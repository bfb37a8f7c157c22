"""What pads do when they are hit one at a time: how they bounce, what their neighbours hear, how far they disagree.

Pure, in event time. One pad alone tells nothing of how long it takes from the hand to its edge: there is nothing to
hold the edge against. Two pads hit by one blow, on a stiff board that lies over both, tell how far their answers
differ; what both have in common stays unseen, and makes no hand earlier than another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hardware.pads.debounce import REBOUND
from hardware.ports import Edge
from referee.units import MS

_LANDING: Final = 30 * MS
"""Contacts that a hand makes later than so long after its first edge are those of its leaving, ns."""
_ONE_BLOW: Final = 40 * MS
"""Two pads that close further apart than this were not hit by one blow, ns."""
_BEFORE: Final = 10 * MS
_HAND: Final = 20 * MS
"""A contact that lasts for so long is a hand, ns."""


@dataclass(frozen=True, slots=True)
class MeasuredContact:
    """A contact of one pad with all its chatter."""

    seat: int
    t: int
    lasted: int
    """From its first edge until it had opened for good at the latest, ns."""
    bounce: int
    """From its first edge to the last one of its landing, ns."""


def touches(edges: Sequence[Edge]) -> list[MeasuredContact]:
    """The contacts of all pads in the order of their first edges; one that is still closed is left out."""
    out: list[MeasuredContact] = []
    for seat in sorted({edge.seat for edge in edges}):
        group: list[Edge] = []
        for edge in sorted((edge for edge in edges if edge.seat == seat), key=lambda one: one.t):
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
    """By seat that heard it: how long, and how long after the hand that began; ns."""


class NotOneBlow(ValueError):  # noqa: N818 - it names what people did
    """What was felt is not what was asked for; ``seats`` are those it is about."""

    def __init__(self, what: str, seats: Sequence[int]) -> None:
        self.what = what
        """``silent``, ``twice``, ``others`` or ``apart``."""
        self.seats = tuple(seats)
        super().__init__(f"{what}: {self.seats}")


def blow(seat: int, found: Sequence[MeasuredContact]) -> Blow:
    """What one hand on ``seat``'s pad did, if these are all the contacts there were.

    Raises:
        NotOneBlow: there was no hand there, more than one, or another's as well.
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
    """How much later ``other``'s pad told a blow on both than ``one``'s, ns.

    Raises:
        NotOneBlow: not both were hit, or too far apart for one blow.
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
    """Half-widths by seat that explain how far pads' answers lay apart, none below ``stated``; ns.

    A pad that disagrees with several others is taken for the worse one; of two that only disagree with each other
    nobody can say which it is, and both get their half.
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
