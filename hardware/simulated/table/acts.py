"""Acts of hands over the table, on a timeline: laying, taking, burning. Lengths in mm, instants in ns.

The table's middle is (0, 0); x runs to the picture's right and y down. A seat's direction is a *bearing*, in degrees
counter-clockwise from the picture's right; seat 1 sits at the bottom edge and seats follow clockwise.

A card is laid turning away from the player: it comes in on the hand, face down, swings over about its near edge, and
its face first shows at `Lay.t`, the one instant that counts; `SETTLE_NS` later it lies still and is released.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from referee.units import MS

SETTLE_NS = 120 * MS
"""Time from a card's reveal until it is at rest."""
FLIP_NS = 45 * MS
"""Time from edge-on to flat."""
LIFT_NS = 90 * MS
"""Time from flat on the hand to edge-on."""
HOLD_NS = 8 * MS
"""Time from rest until the hand draws back."""
REVEAL_MM = 70.0
"""Distance from its place at which a card shows its face."""
GRASP_NS = 180 * MS
"""Time for which a hand lies on the pile before drawing it away."""
SWEEP_NS = 460 * MS
"""Time for the pile to leave the picture."""
TUCK_NS = 160 * MS
"""Time for which a hand stays at the pile with a burned card."""


def bearing(seat: int, seats: int) -> float:
    """Return a seat's bearing in degrees, 0 to 360."""
    return (270.0 - 360.0 * (seat - 1) / seats) % 360.0


def towards(degrees: float) -> tuple[float, float]:
    """Return the unit vector from the table's middle towards a bearing."""
    return math.cos(math.radians(degrees)), -math.sin(math.radians(degrees))


@dataclass(frozen=True, slots=True)
class CardPose:
    """A card's pose: its centre, and its upper edge's direction (degrees clockwise from the picture's top)."""

    x: float
    y: float
    turn: float


@dataclass(frozen=True, slots=True)
class Lay:
    """A card is laid on the pile, face up."""

    t: int
    """The instant of the reveal."""
    seat: int
    card: str
    pose: CardPose
    sideways: bool = False
    """Whether it is carried by its long edge."""

    @property
    def rest(self) -> int:
        return self.t + SETTLE_NS


@dataclass(frozen=True, slots=True)
class Take:
    """A hand sweeps the pile away."""

    t: int
    """The instant at which the pile has left the middle: half-way through the sweep."""
    seat: int

    @property
    def starts(self) -> int:
        """The instant at which the pile begins to move."""
        return self.t - SWEEP_NS // 2

    @property
    def grasp(self) -> int:
        """The instant at which the hand lies on the pile."""
        return self.starts - GRASP_NS

    @property
    def ends(self) -> int:
        return self.starts + SWEEP_NS


@dataclass(frozen=True, slots=True)
class Burn:
    """Penalty cards go into the pile, face up."""

    t: int
    """The instant at which they are at rest."""
    seat: int
    cards: tuple[str, ...]
    poses: tuple[CardPose, ...]
    top: bool = False


@dataclass(frozen=True, slots=True)
class Start:
    """Cards that lie face down on the table before the first card is laid."""

    t: int
    cards: tuple[str, ...]
    poses: tuple[CardPose, ...]
    seat: int = 0


@dataclass(frozen=True, slots=True)
class Cover:
    """A flat hand comes down over the pile without taking it: slapping the pile, or hovering."""

    t: int
    """The instant from which it is there."""
    until: int
    seat: int


@dataclass(frozen=True, slots=True)
class HandOver:
    """Cards go from one stack's bottom to another's, beside the table and out of the camera's view."""

    t: int
    seat: int
    """The giving seat; 0: the lowest cards of the pile, drawn unseen."""
    to: int
    count: int


Act = Lay | Take | Burn | Cover | Start | HandOver


def settled_at(act: Act) -> int | None:
    """Return the instant at which an act changes the pile for good, or None."""
    if isinstance(act, Lay):
        return act.rest
    if isinstance(act, Burn | Start):
        return act.t
    return act.starts if isinstance(act, Take) else None
