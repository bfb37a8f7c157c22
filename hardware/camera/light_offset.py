"""Measures how late a camera's stamps are on the pads' clock, from a light switched on at known instants.

Pure. Each switching bounds the offset: the light came on before the end of the exposure that first shows it, and after
the end of the previous one, except for a rest too faint to see. One instant gives an interval as long as a frame; the
intervals of many instants, spread over a frame's time, have little in common.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from referee.units import US

UNSEEN: Final = 0.1
"""Share of the whole light below which it counts as off: noise could reach it."""
WHOLE: Final = 0.9
"""Share above which the light counts as whole."""
_NOT_WHOLE: Final = 0.25
"""Share of an exposure that whole light may lack: grey levels are not linear ..."""
_FAINT: Final = 0.1
"""... and the share that may pass as none, in the worst case."""
LEAST_TRIALS: Final = 12
"""Least number of trials: fewer do not separate a stray frame from the rule."""
_SHARE: Final = 0.9
"""Share of all trials that must agree; the others may be a hand over the light, or a lost frame."""
_STEP: Final = 50 * US
"""Step, ns, in which the tolerance of each trial is raised until enough agree."""


@dataclass(frozen=True, slots=True)
class LightTrial:
    """One switching of the light, and the two frames around it as stamped by the camera; ns."""

    on_from: int
    """It was still dark at this instant, by the pads' clock ..."""
    on_until: int
    """... and lit by this one at the latest."""
    dark_t: int
    """Start of the last exposure without the light, by the camera's stamps."""
    dark_exposure: int
    seen_t: int
    """Start of the first exposure with it."""
    seen_exposure: int
    share: float
    """Share of the whole light in that frame, 0 to 1."""
    clipped: bool = False
    """Whether the whole light is clipped by the camera: then its share says little."""

    @property
    def bounds(self) -> tuple[int, int]:
        """Smallest and largest delay of the camera's stamps by this trial alone, ns."""
        most = self.seen_t + self.seen_exposure - self.on_from
        if self.share >= WHOLE and not self.clipped:
            most = self.seen_t + round(_NOT_WHOLE * self.seen_exposure) - self.on_from
        least = self.dark_t + round((1 - _FAINT) * self.dark_exposure) - self.on_until
        if self.share < WHOLE:
            least = max(least, self.seen_t - self.on_until)
        return min(least, most), max(least, most)


@dataclass(frozen=True, slots=True)
class LightOffset:
    """Delay of a camera's stamps, ns; negative if they are early."""

    late: int
    error: int
    """Half-width of its uncertainty, including the jitter of the stamps."""
    agreed: int
    """Number of trials that agree ..."""
    trials: int
    """... of this total."""


class NoOffset(ValueError):  # noqa: N818 - it names what was measured
    """The trials give no offset; the message says why."""


def estimate_offset(trials: Sequence[LightTrial], *, readout: int = 0) -> LightOffset:
    """Return the offset that fits best, ignoring up to a tenth of the trials as outliers.

    Args:
        trials: at instants spread over a frame's time; see `LightTrial`.
        readout: delay between the camera's stamp and the exposure of the light's row, ns.

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
    # A trial a good part of a frame away from the others is an outlier, not jitter.
    near = [bound for bound in bounds if bound[0] - usual // 4 <= high and bound[1] + usual // 4 >= low]
    least, most = max(low for low, _ in near), min(high for _, high in near)
    # With jittering stamps the bounds may cross: the truth lies where they cross, within the jitter.
    error = (most - least + 1) // 2 if least <= most else least - most
    wander = sorted(abs(spacing - usual) for spacing in spacings if abs(spacing - usual) < usual // 2)
    return LightOffset((least + most) // 2, error + wander[math.ceil(_SHARE * len(wander)) - 1], len(near), len(trials))


def _most_agreed(bounds: Sequence[tuple[int, int]], give: int) -> tuple[int, int, int]:
    """Return the largest number of bounds, each widened by ``give``, that share an offset, and their common range."""
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
