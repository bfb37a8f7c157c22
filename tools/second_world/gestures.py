"""Hand gestures at the table, as tracks through time: lay a card, take the pile, slap it, rest.

A track gives, for any instant, the point that the hand holds (mm), its pose and its turn. Speeds are human: a reach
of 400 mm takes 0.3 to 0.5 s, a card is turned over in 90 to 170 ms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tools.second_world.hand_model import JOINTS, POSES, Matrix, Points, turn
from tools.second_world.things import PALM, Arm, CardSheet

HOME_MM: Final = 470.0
"""Distance of a waiting hand from the table's middle: out of the picture."""
_OVERLAP_MM: Final = 21.0
"""Part of a card that lies between finger and thumb."""
_AWAY_MM: Final = 560.0
_TOSSED_MM_S: Final = 450.0
"""Mean speed of a tossed card."""


def smooth(share: float) -> float:
    """Return the share of a minimum-jerk movement that begins and ends at rest."""
    s = min(1.0, max(0.0, share))
    return s * s * s * (10 - 15 * s + 6 * s * s)


@dataclass(frozen=True, slots=True)
class Handling:
    """How the people of a room handle their cards; most lay them with care."""

    scatter: float = 11.0
    """Distance by which cards miss the pile's middle, mm (standard deviation) ..."""
    skew: float = 9.0
    """... and the degrees by which they lie askew."""
    slow: float = 1.0
    """Factor on the usual duration of every movement."""
    pause: float = 0.95
    """Seconds before a slapping or taking hand comes down."""
    toss: float = 0.0
    """Greatest distance that a released card slides on, mm ..."""
    spin: float = 0.0
    """... and its rotation meanwhile, degrees."""


USUAL: Final = Handling()


@dataclass(frozen=True, slots=True)
class Grip:
    """A hand's state at one instant."""

    at: Points
    pose: Matrix
    pitch: float
    roll: float
    yaw: float = 0.0


@dataclass(frozen=True, slots=True)
class Track:
    """Grips at instants (s), interpolated smoothly; ``hold`` is the place in the hand that comes to a grip's ``at``."""

    times: tuple[float, ...]
    grips: tuple[Grip, ...]
    hold: Points | None = None

    @property
    def begin(self) -> float:
        """Return when the hand first appears."""
        return self.times[0]

    @property
    def end(self) -> float:
        """Return when it is gone again."""
        return self.times[-1]

    def _row(self, k: int) -> Matrix:
        grip = self.grips[k]
        return np.concatenate([grip.at, grip.pose, [grip.pitch, grip.roll, grip.yaw]])

    def at(self, t: float) -> Grip:
        """Return the grip at an instant: a cubic through the instants' grips, at rest at both ends."""
        k = int(np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 2))
        length = self.times[k + 1] - self.times[k]
        s = float(np.clip((t - self.times[k]) / length, 0.0, 1.0))
        slopes = []
        for j in (k, k + 1):
            inside = 0 < j < len(self.times) - 1
            if not inside:
                slopes.append(np.zeros(JOINTS + 6))
                continue
            before, after = self._row(j) - self._row(j - 1), self._row(j + 1) - self._row(j)
            # Half the mean slope: the hand slows down where it acts; a coordinate that reverses stands still.
            slope = 0.5 * (before + after) / (self.times[j + 1] - self.times[j - 1])
            slopes.append(np.where(before * after > 0, slope, 0.0))
        a, b = self._row(k), self._row(k + 1)
        row = (
            (2 * s**3 - 3 * s**2 + 1) * a
            + (s**3 - 2 * s**2 + s) * length * slopes[0]
            + (3 * s**2 - 2 * s**3) * b
            + (s**3 - s**2) * length * slopes[1]
        )
        return Grip(row[:3], row[3:-3], float(row[-3]), float(row[-2]), float(row[-1]))


@dataclass(frozen=True, slots=True)
class Turned:
    """When a held card is turned over: from ``roll`` degrees (180: face down) to 0, between two instants (s)."""

    begin: float
    end: float
    roll: float

    def at(self, t: float) -> float:
        """Return the roll at an instant."""
        return self.roll * (1 - smooth((t - self.begin) / (self.end - self.begin)))


@dataclass(frozen=True, slots=True)
class Lay:
    """A card laid on the pile: the hand's track, and the card's way from the hand to its rest.

    ``landed`` is when the hand lets go, ``rested`` when the card has slid to its rest.
    """

    arm: Arm
    track: Track
    turned: Turned
    card: str
    landed: float
    rested: float
    lift: float
    """Height of the card's rest, mm."""
    slide: float
    off: float
    """Degrees between the card's long side and the hand."""
    bend: float
    flat: float
    """How far the card's short edges stay lifted when it lies."""
    up: bool
    """Whether the card's head points away from the hand."""
    spin: float = 0.0
    """Rotation between hand and rest, degrees."""

    def grip(self, t: float) -> Grip:
        """Return the hand's grip, turning included."""
        grip = self.track.at(t)
        roll = self.turned.at(t)
        # The edge of a turning card must clear the table.
        raised = grip.at + np.array([0.0, 0.0, 44.0 * np.sin(np.radians(roll))])
        return Grip(raised, grip.pose, grip.pitch * float(np.cos(np.radians(roll))), roll, grip.yaw)

    def _held(self, t: float) -> tuple[Points, Matrix]:
        """Middle and frame of the card in the hand."""
        grip = self.grip(t)
        frame = self.arm.frame(grip.at, 0.35 * grip.pitch, grip.roll, grip.yaw)
        return grip.at, frame

    def pose_card(self, sheet: CardSheet, t: float) -> Points:
        """Return the card's sheet at an instant, in world coordinates."""
        return self._placed(sheet, sheet.bent(self._bend_at(t), 0.15 * self._bend_at(t)), t)

    def corners(self, sheet: CardSheet, t: float) -> Points:
        """The card's corners in the world, upper left first."""
        return self._placed(sheet, sheet.corners, t)

    def _bend_at(self, t: float) -> float:
        held = (
            self.bend if t < self.landed else self.bend * (1 - smooth((t - self.landed) / (self.rested - self.landed)))
        )
        return held + self.flat

    def _placed(self, sheet: CardSheet, points: Points, t: float) -> Points:
        at, frame = self._held(min(t, self.landed))
        reach = sheet.size[1] / 2 - _OVERLAP_MM
        share = max(0.0, t - self.landed) / (self.rested - self.landed)
        gone = 1 - (1 - min(1.0, share)) ** 2
        # The sheet's own x points to its right; in the hand its long side points along the fingers.
        own = turn(2, self.off + self.spin * (1 - gone) + (-90.0 if self.up else 90.0))
        held = (points @ own.T + np.array([reach, 0.0, 0.0])) @ frame.T + at
        if t <= self.landed:
            return np.asarray(held)
        level = self.arm.frame(at, 0.0, 0.0, self.grip(self.landed).yaw)
        ahead = level @ np.array([self.slide * gone, 0.0, 0.0])
        flat = (points @ own.T + np.array([reach, 0.0, 0.0])) @ level.T + at
        flat[:, 2] += self.lift - at[2]
        down = smooth(1.6 * share)
        return np.asarray(held * (1 - down) + flat * down + ahead)


def outwards(arm: Arm, far: float, high: float) -> Points:
    """Return a point on the way to the arm's shoulder, mm from the table's middle."""
    way = arm.shoulder / np.linalg.norm(arm.shoulder)
    return np.array([*(way * far), high])


def _lay_grips(arm: Arm, held: Points, low: float, yaw: float, chance: np.random.Generator) -> tuple[Grip, ...]:
    """Return the grips from home, ``low`` over the table, to the release (``held``), and back."""
    home, middle = outwards(arm, HOME_MM, max(low, 25.0)), held * 0.5 + outwards(arm, HOME_MM, low) * 0.5
    middle[2] = low
    pinch, loose = POSES["pinch"] + chance.normal(0, 3, 22), POSES["open"] + chance.normal(0, 3, 22)
    pitch = float(chance.uniform(8, 16))
    return (
        Grip(home, pinch, pitch, 0.0, yaw),
        Grip(middle, pinch, pitch, 0.0, yaw),
        Grip(held, pinch, pitch + 3, 0.0, yaw),
        Grip(held + np.array([0, 0, 4.0]), loose, pitch, 0.0, yaw),
        Grip(held * 0.75 + outwards(arm, HOME_MM, 0.0) * 0.25 + [0, 0, 34.0], loose, pitch * 0.6, 0.0, 0.5 * yaw),
        Grip(outwards(arm, HOME_MM + 30, 60.0), POSES["loose"], 5.0, 0.0, 0.0),
    )


def draw_lay(
    arm: Arm,
    card: str,
    landed: float,
    height: float,
    manner: str,
    chance: np.random.Generator,
    handling: Handling = USUAL,
) -> Lay:
    """Draw an arm's laying of a card.

    Args:
        arm: lays it.
        card: its name.
        landed: when it lands, s.
        height: of the pile, mm.
        manner: ``flip`` (turned over in view), ``late`` (turned over the pile), ``slide`` (face up along the table).
        chance: draws the rest.
        handling: the room's way of handling cards.
    """
    reach = float(chance.uniform(0.34, 0.5)) * handling.slow
    spot = np.array([*chance.normal(0, handling.scatter, 2), height])
    slide = float(chance.uniform(6, 26)) * (1.6 if manner == "slide" else 1.0)
    # Drawn only where cards are tossed: other rooms must keep their sequence of random numbers.
    toss, spin = (handling.toss * chance.random(), handling.spin * chance.normal()) if handling.toss else (0.0, 0.0)
    slide += float(toss)
    yaw, off = float(chance.normal(0, 8)), float(chance.normal(0, handling.skew))
    level = arm.frame(spot, 0.0, 0.0, yaw)
    held = spot - level @ np.array([88.0 / 2 - _OVERLAP_MM + slide, 0.0, 0.0])
    held[2] = height + (3.0 if manner == "slide" else 7.0)
    low = height + 2.0 if manner == "slide" else float(chance.uniform(35, 70))
    grips = _lay_grips(arm, held, low, yaw, chance)
    let_go, lifted, away = (float(v) * handling.slow for v in chance.uniform((0.04, 0.08, 0.24), (0.09, 0.14, 0.4)))
    times = np.cumsum([landed - reach, reach * 0.55, reach * 0.45, let_go, lifted, away])
    span = float(chance.uniform(0.09, 0.17)) * handling.slow
    ends = {"flip": landed - float(chance.uniform(0.03, 0.11)), "late": landed + 0.012, "slide": landed - reach}[manner]
    roll = 0.0 if manner == "slide" else float(chance.uniform(165, 185))
    return Lay(
        arm=arm,
        track=Track(tuple(float(t) for t in times), grips),
        turned=Turned(ends - span, ends, roll),
        card=card,
        landed=landed,
        rested=landed + float(chance.uniform(0.06, 0.15)) + float(toss) / _TOSSED_MM_S,
        lift=height,
        slide=slide,
        off=off,
        bend=float(chance.uniform(1.5, 5.0)),
        flat=0.25,
        up=bool(chance.random() < 0.5),
        spin=float(spin),
    )


@dataclass(frozen=True, slots=True)
class Sweep:
    """A hand on the pile: it takes the pile (``takes``), or only slaps it and goes."""

    arm: Arm
    track: Track
    touched: float
    """When the hand is on the pile."""
    moved: float
    """When it begins to leave with it."""
    takes: bool

    def carried(self, points: Points, number: int, t: float) -> Points:
        """Return the position of a carried pile card; each lags a little in its own way."""
        if not self.takes or t <= self.moved:
            return points
        chance = np.random.default_rng((number, 91))
        late, turned = float(chance.uniform(0, 0.03)), float(chance.normal(0, 14))
        here, then = self.track.at(max(self.moved, t - late)), self.track.at(self.moved)
        gone = here.at - then.at
        share = smooth(float(np.linalg.norm(gone[:2])) / 120.0)
        heading = self.arm.heading(here.at) - self.arm.heading(then.at) + turned * share
        gathered = 1 - 0.5 * share
        middle = then.at * [1, 1, 0]
        own = points.mean(axis=0) * [1, 1, 0]
        # The cards come together under the palm while it draws them off.
        drawn = (points - own) @ turn(2, heading).T + middle + (own - middle) * gathered
        return np.asarray(drawn + gone * [1, 1, 1])


def draw_sweep(
    arm: Arm, touched: float, height: float, takes: bool, chance: np.random.Generator, handling: Handling = USUAL
) -> Sweep:
    """Draw a hand that comes down on the pile and takes it, or slaps it and goes."""
    reach, stays = float(chance.uniform(0.26, 0.4)) * handling.slow, float(chance.uniform(0.1, 0.22))
    away = float(chance.uniform(0.38, 0.6)) * handling.slow
    flat = POSES["flat"] + chance.normal(0, 3, 22)
    hand = POSES["gather"] if takes else flat
    spot = np.array([*chance.normal(0, 8, 2), height + 2.0])
    lifted = float(chance.choice([0.0, 30.0])) if takes else 40.0
    grips = (
        Grip(outwards(arm, HOME_MM, 60.0), flat, 6.0, 0.0, 0.0),
        Grip(spot * 0.6 + outwards(arm, HOME_MM, 70.0) * 0.4 + [0, 0, 25.0], flat, 8.0, 0.0, 0.0),
        Grip(spot, flat, 5.0, 0.0, 0.0),
        Grip(spot, hand, 5.0, 0.0, 0.0),
        Grip(spot * 0.55 + outwards(arm, HOME_MM, 0.0) * 0.45 + [0, 0, lifted * 0.5], hand, 5.0, 0.0, 0.0),
        Grip(outwards(arm, _AWAY_MM if takes else HOME_MM, 3.0 + lifted), hand, 5.0, 0.0, 0.0),
    )
    times = np.cumsum([touched - reach, reach * 0.6, reach * 0.4, stays, away * 0.5, away * 0.5])
    track = Track(tuple(float(t) for t in times), grips, PALM)
    return Sweep(arm, track, touched, touched + stays, takes)


def draw_rest(arm: Arm, begin: float, end: float, chance: np.random.Generator, high: float = 3.0) -> Track:
    """Draw an arm that comes to lie at its own table edge, or ``high`` over it, stirs now and then, and goes."""
    side = float(chance.uniform(-70, 70))
    spot = outwards(arm, float(chance.uniform(165, 215)), high) + turn(2, arm.bearing)[:, 1] * side
    times, grips = [begin, begin + 0.5], [Grip(outwards(arm, _AWAY_MM, 50.0), POSES["loose"], 4.0, 0.0, 0.0)]
    grips.append(Grip(spot, POSES["loose"], 6.0, 0.0, 0.0))
    t = begin + 0.5
    while t + 1.9 < end - 0.5:
        still, stir = float(chance.uniform(0.8, 1.6)), float(chance.uniform(0.15, 0.3))
        grips.append(grips[-1])
        there = spot + np.array([*chance.normal(0, 5, 2), 0.0])
        pose = POSES["loose"] + np.concatenate([chance.normal(0, 5, 20), [0.0, 0.0]])
        grips.append(Grip(there, pose, 6.0, 0.0, float(chance.normal(0, 3))))
        times += [t + still, t + still + stir]
        t += still + stir
    grips += [grips[-1], Grip(outwards(arm, _AWAY_MM, 50.0), POSES["loose"], 4.0, 0.0, 0.0)]
    times += [end - 0.5, end]
    return Track(tuple(times), tuple(grips), PALM)
