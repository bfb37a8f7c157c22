"""Shadows that are no arms, and arms that rest: scores of the watcher's search for arms.

``python -m tools.measure.arm_trials [--seeds N]``: soft shadows of 6 to 30 % fall over the picture's edge, stay and go
(heads and shoulders over the table's rim); arms come in, rest for a minute, reach on and go. Tables, sleeves and skins
are those of the simulated table. It ends with status 1 if a shadow was reported as an arm or a resting arm was lost.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from typing import Final

import cv2
import numpy as np

from hardware.simulated.pictures.ambient import SensorNoise
from hardware.simulated.pictures.canvas import Bytes
from hardware.simulated.pictures.overhead import Top
from models.watch.arms import apart, bearing_of
from models.watch.motion import Glance, Motion
from models.watch.reaches import Reach
from referee.units import SECOND

SIZE: Final = (960, 720)
DEPTHS: Final = (0.06, 0.1, 0.15, 0.2, 0.3)
"""Shares of the light that the shadows take."""
FPS: Final = 15
_COMES, _STAYS, _RESTS = 0.6, 3.0, 60.0
"""Seconds in which a shadow or an arm comes, in which a shadow stays, and in which an arm rests."""
_NEAR: Final = 30.0
"""Degrees within which a bearing is right."""


class Stream:
    """Pictures with sensor noise, fed one after the other; the first shows the bare table."""

    def __init__(self, bare: Bytes, seed: int) -> None:
        self._motion, self._noise, self._index = Motion(), SensorNoise(*SIZE, 2.0, seed), 0
        self._t = 0
        for _ in range(FPS):
            self.look(bare)

    def look(self, picture: Bytes, seconds: float = 1 / FPS) -> Glance:
        """Look at the next frame, a time after the one before."""
        frame = picture.copy()
        self._noise.add_to(frame, self._index)
        self._index += 1
        self._t += round(seconds * SECOND)
        return self._motion.look(frame, self._t, None)


def _table(seed: int) -> Top:
    return Top(760.0, 570.0, seed=seed)


def _photograph(picture: Bytes) -> Bytes:
    return np.asarray(cv2.resize(picture, SIZE, interpolation=cv2.INTER_AREA), np.uint8)


def _edge(bearing: float) -> tuple[float, float]:
    """Return where the ray of a bearing leaves the picture, px."""
    x, y = math.cos(math.radians(bearing)), -math.sin(math.radians(bearing))
    far = 1 / max(abs(x) * 2 / SIZE[0], abs(y) * 2 / SIZE[1])
    return SIZE[0] / 2 + x * far, SIZE[1] / 2 + y * far


def shadows(seed: int, depth: float) -> Iterator[bool]:
    """Return, for each frame with a head's shadow, whether an arm was reported."""
    chance = np.random.default_rng((seed, 5))
    bearing = float(chance.uniform(0, 360))
    bare = _photograph(_table(seed).image)
    stream = Stream(bare, seed)
    radius, soft = float(chance.uniform(60, 190)), float(chance.uniform(6, 50))
    (x, y), steps = _edge(bearing), round(_COMES * FPS)
    ways = [k / steps for k in range(steps + 1)] + [1.0] * round(_STAYS * FPS)
    for way in ways + ways[steps::-1]:
        mask = np.zeros(SIZE[::-1], np.float32)
        out = (1 - way) * (radius + 3 * soft)
        at = (x + math.cos(math.radians(bearing)) * out, y - math.sin(math.radians(bearing)) * out)
        cv2.circle(mask, (round(at[0]), round(at[1])), round(radius), depth, -1)
        shade = 1 - cv2.GaussianBlur(mask, (0, 0), soft)
        yield bool(
            stream.look(np.asarray(cv2.multiply(bare, cv2.merge([shade] * 3), dtype=cv2.CV_8U), np.uint8)).reaches
        )


def resting(seed: int) -> Iterator[bool]:
    """Yield whether each frame is reported correctly: an arm comes in, rests for a minute, reaches for the pile, and
    goes.

    While it is there it alone must be reported, with its bearing; as it reaches on it must be reported as moving.
    """
    chance = np.random.default_rng((seed, 6))
    bearing, seat = float(chance.uniform(0, 360)), int(chance.integers(1, 9))
    top = _table(seed)
    stream = Stream(_photograph(top.image), seed)
    for far in (240.0, 200.0, 160.0):
        stream.look(_photograph(top.with_hand(bearing, seat, far)))
    still = _photograph(top.with_hand(bearing, seat, 130.0))
    for _ in range(round(_RESTS * 3)):
        found = stream.look(still, 1 / 3)
        yield _is_at(found, [*found.reaches, *found.resting], bearing)
    for far in (100.0, 60.0, 20.0, 20.0):
        found = stream.look(_photograph(top.with_hand(bearing, seat, far)))
        yield _is_at(found, found.reaches, bearing)
    for _ in range(FPS):
        found = stream.look(_photograph(top.image))
        yield not found.reaches and not found.resting


def _is_at(found: Glance, told: list[Reach], bearing: float) -> bool:
    rows, columns = found.small.shape[:2]
    angles = [bearing_of(reach.x, reach.y, (columns / 2, rows / 2)) for reach in told]
    return len(angles) == 1 and apart(angles[0], bearing) <= _NEAR


def there_before(seed: int) -> bool:
    """Return whether an arm that lay in the first picture, and left, is no arm any more two seconds later."""
    chance = np.random.default_rng((seed, 7))
    top = _table(seed)
    arm = top.with_hand(float(chance.uniform(0, 360)), int(chance.integers(1, 9)), 130.0)
    stream = Stream(_photograph(arm), seed)
    found = [stream.look(_photograph(top.image)) for _ in range(3 * FPS)][2 * FPS :]
    return not any(glance.reaches or glance.resting for glance in found)


def main() -> int:
    """Print the figures; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.measure.arm_trials", description=__doc__)
    parser.add_argument("--seeds", type=int, default=12, help="tables for each kind of trial")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    false = lost = 0
    for depth in DEPTHS:
        told = [list(shadows(seed, depth)) for seed in range(args.seeds)]
        false += sum(any(seen) for seen in told)
        frames = sum(sum(seen) for seen in told)
        print(
            f"soft shadow of {depth:.0%}: an arm in {sum(any(seen) for seen in told)} of {len(told)} sequences, "
            f"{frames} of {sum(len(seen) for seen in told)} frames",
            flush=True,
        )
    right = [list(resting(seed)) for seed in range(args.seeds)]
    lost = sum(not all(seen) for seen in right)
    print(
        f"arms that rest, reach on and go: {len(right) - lost} of {len(right)} told rightly all the time, "
        f"{sum(sum(seen) for seen in right)} of {sum(len(seen) for seen in right)} frames",
        flush=True,
    )
    gone = [there_before(seed) for seed in range(args.seeds)]
    print(f"arms that lay there from the first: {sum(gone)} of {len(gone)} forgotten when they had gone")
    return int(bool(false or lost or not all(gone)))


if __name__ == "__main__":
    sys.exit(main())
