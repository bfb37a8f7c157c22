"""A stretch of play in a room: its events, and all positions at any instant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from tools.second_world.gestures import USUAL, Grip, Handling, Lay, Sweep, Track, draw_lay, draw_rest, draw_sweep
from tools.second_world.hand_model import Points
from tools.second_world.room import Room
from tools.second_world.things import CARD_MM, Arm, ArmMesh, CardSheet

ArmPoints = tuple[Points, Points | None]
_HAND_MM: Final = 14.0
"""Extra height of a hand that comes down on another."""
_HELD_MM: Final = {"rest": 3.0, "wait": 70.0}
"""Height of a hand that is held over the table."""
_TOGETHER: Final = 0.5
"""Slaps that follow each other by less, s, meet on the pile."""
_SINK_MM: Final = 4.0
"""Depth by which soft flesh gives way on a table."""


@dataclass(frozen=True, slots=True)
class Score:
    """The score of a play: one line for each event, in order.

    ``lay:SEAT:MANNER``, ``take:SEAT``, ``slap:SEAT``, ``rest:SEAT`` (an arm lies there from now to the end) or
    ``wait:SEAT`` (it is held over the table meanwhile), each with the seconds since the one before.
    """

    lines: tuple[tuple[str, float], ...]
    lead: float = 0.7
    """Seconds of bare table before the first."""
    tail: float = 0.8
    handling: Handling = USUAL


@dataclass(slots=True)
class Sequence:
    """Everything that happens in one sequence."""

    room: Room
    lays: list[Lay] = field(default_factory=list)
    sweeps: list[Sweep] = field(default_factory=list)
    rests: dict[int, Track] = field(default_factory=dict)
    seats: dict[int, int] = field(default_factory=dict)
    """The seat of each lay (by its number) and, from 1000 on, of each sweep."""
    length: float = 0.0

    def pile_of(self, number: int) -> Sweep | None:
        """Return the hand that takes a card away, if one does."""
        after = [sweep for sweep in self.sweeps if sweep.takes and sweep.touched > self.lays[number].landed]
        return after[0] if after else None

    def card(self, number: int, sheet: CardSheet, t: float, *, corners: bool = False) -> Points | None:
        """Return a card's sheet (or its four ``corners``) at an instant; None while it is not in the world."""
        lay, taker = self.lays[number], self.pile_of(number)
        if t < lay.track.begin or (taker is not None and t >= taker.track.end):
            return None
        laid = min(t, taker.moved) if taker is not None else t
        points = lay.corners(sheet, laid) if corners else lay.pose_card(sheet, laid)
        return points if taker is None else taker.carried(points, number, t)

    def _grip(self, seat: int, t: float) -> tuple[Arm, Grip, Points | None] | None:
        """Return a seat's grip at an instant."""
        for k, lay in enumerate(self.lays):
            if self.seats[k] == seat and lay.track.begin <= t < lay.track.end:
                return lay.arm, lay.grip(t), lay.track.hold
        for k, sweep in enumerate(self.sweeps):
            if self.seats[1000 + k] == seat and sweep.track.begin <= t < sweep.track.end:
                return sweep.arm, sweep.track.at(t), sweep.track.hold
        rest = self.rests.get(seat)
        if rest is not None and rest.begin <= t < rest.end:
            return self.room.people[seat].arm, rest.at(t), rest.hold
        return None

    def arm(self, seat: int, mesh: ArmMesh, t: float) -> ArmPoints | None:
        """Return a seat's skin and sleeve at an instant; None while the arm is away."""
        found = self._grip(seat, t)
        if found is None:
            return None
        arm, grip, hold = found
        frame = arm.frame(grip.at, grip.pitch, grip.roll, grip.yaw)
        skin, cloth = (
            None if part is None else arm.reach(part, grip.pose, grip.at, frame, hold) for part in mesh.posed(grip.pose)
        )
        assert skin is not None
        lift = np.array([0.0, 0.0, max(0.0, -float(skin[:, 2].min()) - _SINK_MM)])
        return skin + lift, None if cloth is None else cloth + lift


def compose(room: Room, score: Score) -> Sequence:
    """Play a score in a room; hands, places and speeds come from the room's seed."""
    chance = np.random.default_rng((room.seed, 74))
    out = Sequence(room)
    t, height, hands = score.lead, CARD_MM, 0
    rests: list[tuple[int, float, float]] = []
    for line, wait in score.lines:
        what, seat, *manner = line.split(":")
        t += wait
        arm = room.people[int(seat)].arm
        if what == "lay":
            out.seats[len(out.lays)] = int(seat)
            out.lays.append(draw_lay(arm, room.cards[len(out.lays)], t, height, manner[0], chance, score.handling))
            height += CARD_MM
        elif what in _HELD_MM:
            rests.append((int(seat), t, _HELD_MM[what]))
        else:
            out.seats[1000 + len(out.sweeps)] = int(seat)
            hands = hands + 1 if what == "slap" and wait < _TOGETHER else 0
            high = height + _HAND_MM * hands
            out.sweeps.append(draw_sweep(arm, t, high, what == "take", chance, score.handling))
            height = CARD_MM if what == "take" else height
    out.length = max(_ends(out)) + score.tail
    for resting, begin, high in rests:
        out.rests[resting] = draw_rest(room.people[resting].arm, begin, out.length + 2.0, chance, high)
    return out


def _ends(sequence: Sequence) -> Iterable[float]:
    yield from (lay.track.end for lay in sequence.lays)
    yield from (sweep.track.end for sweep in sequence.sweeps)
