"""What hands do over the table, on a timeline: laying, taking, burning. Lengths in mm, instants in ns.

The table's middle is (0, 0); x runs to the picture's right and y down. A seat's direction is a *bearing*, in degrees
counter-clockwise from the picture's right; seat 1 sits at the bottom edge and seats follow clockwise.

A card is laid turned away from oneself: it comes in on the hand, back up, swings over about its near edge, and its
face shows first at `Lay.t`, the one instant that counts; `SETTLE_NS` later it lies still and is let go.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from referee.units import MS

SETTLE_NS = 120 * MS
"""From the first sight of a face to the card at rest."""
FLIP_NS = 45 * MS
"""From edge-on to flat."""
LIFT_NS = 90 * MS
"""From flat on the hand to edge-on."""
HOLD_NS = 8 * MS
"""From rest until the hand draws back."""
REVEAL_MM = 70.0
"""How far from its place a card shows its face."""
GRASP_NS = 180 * MS
"""How long a hand lies on the pile before it draws it away."""
SWEEP_NS = 460 * MS
"""How long the pile takes to leave the picture."""
TUCK_NS = 160 * MS
"""How long a hand stays at the pile with a burned card."""


def bearing(seat: int, seats: int) -> float:
    """A seat's bearing in degrees, 0 to 360."""
    return (270.0 - 360.0 * (seat - 1) / seats) % 360.0


def towards(degrees: float) -> tuple[float, float]:
    """The unit vector from the table's middle towards a bearing."""
    return math.cos(math.radians(degrees)), -math.sin(math.radians(degrees))


@dataclass(frozen=True, slots=True)
class CardPose:
    """Where a card lies: its centre, and where its upper edge points (degrees clockwise from the picture's top)."""

    x: float
    y: float
    turn: float


@dataclass(frozen=True, slots=True)
class Lay:
    """A card is laid on the pile, face up."""

    t: int
    """The face's first instant."""
    seat: int
    card: str
    pose: CardPose
    sideways: bool = False
    """Carried by its long edge."""

    @property
    def rest(self) -> int:
        return self.t + SETTLE_NS


@dataclass(frozen=True, slots=True)
class Take:
    """A hand sweeps the pile away."""

    t: int
    """When the pile has left the middle: half-way through the sweep."""
    seat: int

    @property
    def starts(self) -> int:
        """When the pile begins to move."""
        return self.t - SWEEP_NS // 2

    @property
    def grasp(self) -> int:
        """When the hand lies on the pile."""
        return self.starts - GRASP_NS

    @property
    def ends(self) -> int:
        return self.starts + SWEEP_NS


@dataclass(frozen=True, slots=True)
class Burn:
    """Penalty cards go into the pile, face up."""

    t: int
    """When they lie at rest."""
    seat: int
    cards: tuple[str, ...]
    poses: tuple[CardPose, ...]
    top: bool = False


@dataclass(frozen=True, slots=True)
class Start:
    """Cards that lie on the table face down before the first is laid."""

    t: int
    cards: tuple[str, ...]
    poses: tuple[CardPose, ...]
    seat: int = 0


@dataclass(frozen=True, slots=True)
class Cover:
    """A flat hand comes down over the pile without taking it: slapping the pile, or hovering."""

    t: int
    """When it is there."""
    until: int
    seat: int


@dataclass(frozen=True, slots=True)
class HandOver:
    """Cards go from one stack's bottom to another's, beside the table, where no camera looks."""

    t: int
    seat: int
    """Whose they were; 0: those that lie lowest in the pile, from which they are drawn unseen."""
    to: int
    count: int


Act = Lay | Take | Burn | Cover | Start | HandOver


def settled_at(act: Act) -> int | None:
    """When an act has changed the pile for good, or None."""
    if isinstance(act, Lay):
        return act.rest
    if isinstance(act, Burn | Start):
        return act.t
    return act.starts if isinstance(act, Take) else None
