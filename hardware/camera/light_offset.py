"""How late a camera's stamps are against the pads' clock, from a light that it saw come on at known instants.

Pure. Each time that the light was switched bounds the offset: it came on before the end of the exposure that first
shows it, and after the end of the one before, but for a rest too faint to see. One instant gives an interval as long as
a frame; of many instants, spread over a frame's time, the intervals have little in common.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from referee.units import US

UNSEEN: Final = 0.1
"""Less than this share of the whole light is none: nobody could tell it from noise."""
WHOLE: Final = 0.9
"""More than this share is the whole of it."""
_NOT_WHOLE: Final = 0.25
"""The whole light may lack this share of an exposure: grey levels are not linear ..."""
_FAINT: Final = 0.1
"""... and none may be the light of this share: at worst they are."""
LEAST_TRIALS: Final = 12
"""Fewer do not tell one stray frame from the rule."""
_SHARE: Final = 0.9
"""Of all trials that have to agree; the others may be a hand over the light, or a frame that was lost."""
_STEP: Final = 50 * US
"""In steps of this it is tried how much each trial must be allowed to err until so many agree, ns."""


@dataclass(frozen=True, slots=True)
class LightTrial:
    """One time that the light was switched on, and the two frames around it as the camera stamped them; ns."""

    on_from: int
    """It was dark at this instant still, by the pads' clock ..."""
    on_until: int
    """... and burnt from this one on at the latest."""
    dark_t: int
    """Beginning of the last exposure without the light, by the camera's stamps."""
    dark_exposure: int
    seen_t: int
    """Beginning of the first one with it."""
    seen_exposure: int
    share: float
    """How much of the whole light that one shows, 0 to 1."""
    clipped: bool = False
    """Whether the whole light is brighter than the camera can tell: then its share tells little."""

    @property
    def bounds(self) -> tuple[int, int]:
        """Least and most that the camera's stamps can be late by this trial alone, ns."""
        most = self.seen_t + self.seen_exposure - self.on_from
        if self.share >= WHOLE and not self.clipped:
            most = self.seen_t + round(_NOT_WHOLE * self.seen_exposure) - self.on_from
        least = self.dark_t + round((1 - _FAINT) * self.dark_exposure) - self.on_until
        if self.share < WHOLE:
            least = max(least, self.seen_t - self.on_until)
        return min(least, most), max(least, most)


@dataclass(frozen=True, slots=True)
class LightOffset:
    """How late a camera's stamps are, ns; negative: they are early."""

    late: int
    error: int
    """Half-width of what is known about it; the jitter of the stamps is in it."""
    agreed: int
    """So many trials say so ..."""
    trials: int
    """... of these."""


class NoOffset(ValueError):  # noqa: N818 - it names what was measured
    """The trials tell no offset; says why."""


def estimate_offset(trials: Sequence[LightTrial], *, readout: int = 0) -> LightOffset:
    """The offset that fits all trials best, but for a tenth of them that may be far off.

    Args:
        trials: at instants spread over a frame's time; see `LightTrial`.
        readout: how much later than the camera's stamp the row is exposed in which the light stands, ns.

    Raises:
        NoOffset: there are too few trials, or they contradict each other.
    """
    if len(trials) < LEAST_TRIALS:
        raise NoOffset(f"the light was seen {len(trials)} times; {LEAST_TRIALS} times are needed")
    spacings = [trial.seen_t - trial.dark_t for trial in trials]
    usual = sorted(spacings)[len(spacings) // 2]
    bounds = [(low + readout, high + readout) for low, high in (trial.bounds for trial in trials)]
    wanted = math.ceil(_SHARE * len(bounds))
    give = next((give for give in range(0, usual // 2, _STEP) if _most_agreed(bounds, give)[0] >= wanted), None)
    if give is None:
        raise NoOffset("the instants at which the light was seen contradict each other")
    _, low, high = _most_agreed(bounds, give)
    # What lies a good part of a frame away from what the others say was no matter of jitter.
    near = [one for one in bounds if one[0] - usual // 4 <= high and one[1] + usual // 4 >= low]
    least, most = max(low for low, _ in near), min(high for _, high in near)
    # Stamps that wander let the bounds cross: the truth lies where they cross, give or take their wandering.
    error = (most - least + 1) // 2 if least <= most else least - most
    wander = sorted(abs(spacing - usual) for spacing in spacings if abs(spacing - usual) < usual // 2)
    return LightOffset((least + most) // 2, error + wander[math.ceil(_SHARE * len(wander)) - 1], len(near), len(trials))


def _most_agreed(bounds: Sequence[tuple[int, int]], give: int) -> tuple[int, int, int]:
    """How many bounds, each widened by ``give``, share an offset at most, and from where to where these reach."""
    ends = sorted([(low - give, 0) for low, _ in bounds] + [(high + give, 1) for _, high in bounds])
    best, now, least, most = 0, 0, 0, 0
    for at, closes in ends:
        if not closes:
            now += 1
            if now > best:
                best, least = now, at
                most = at
        else:
            if now == best:
                most = at
            now -= 1
    return best, least, most
