"""The requirements for a certificate: one table, each limit with its origin (docs/build.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hardware.pads.crosstalk import LONGEST
from hardware.pads.debounce import BOUNCE
from referee.setup.calibration.pad_check import MARGIN
from referee.setup.calibration.report import CLIPPED, DARKEST, FLICKER, SOFTEST
from referee.setup.eye_speed import ENOUGH
from referee.units import MS


@dataclass(frozen=True, slots=True)
class Limit:
    """The greatest, or the least, value that passes."""

    value: float
    unit: str
    origin: str
    """Origin of the limit."""
    is_least: bool = False

    def holds(self, value: float) -> bool:
        """Return whether a value passes; NaN does not."""
        return value >= self.value if self.is_least else value <= self.value


LIMITS: Final[Mapping[str, Limit]] = {
    "order": Limit(0, "pairs", "a wrong order is a wrong verdict"),
    "bounce": Limit(
        round(BOUNCE / MARGIN / MS, 1), "ms",
        "hardware/pads/debounce.py: BOUNCE, less the margin for bounces that a few blows do not show",
    ),
    "crosstalk": Limit(
        round(LONGEST / MARGIN / MS, 1), "ms",
        "hardware/pads/crosstalk.py: LONGEST, less the same margin; what lasts longer cannot be told from a hand",
    ),
    "focus": Limit(
        100 * SOFTEST, "%", "docs/build.md: edges over a card's height, where the eye begins to misread"
    ),
    "exposure": Limit(DARKEST, "of 255", "docs/build.md: grey of white paper", is_least=True),
    "clipped": Limit(100 * CLIPPED, "%", "docs/build.md: overexposed share of white paper"),
    "flicker": Limit(100 * FLICKER, "%", "docs/build.md: swing of brightness from picture to picture"),
    "look": Limit(ENOUGH, "cards/s", "what a table at ease lays (referee/setup/eye_speed.py)", is_least=True),
    "light": Limit(10.0, "ms", "docs/timing.md: 5 ms for the referee, and as much for a machine that wakes late"),
    "sound": Limit(50.0, "ms", "docs/timing.md: 30 ms for referee and card, 20 for a machine that wakes late"),
    "clock": Limit(0.15, "ms", "a tenth of the least error that a pad states, 1.5 ms (referee/settings/model.py)"),
    "disk": Limit(100.0, "ms", "a third of what lines may wait for their commit (LATEST_COMMIT, record/journal.py)"),
}  # fmt: skip
"""Limits by measurement. The limit of the camera's offset is the stated error of its timestamps: `offset_limit`."""
USUAL_SHARE: Final = 0.95
"""Share of a few dozen measurements that must hold the limit; `make latency` takes hundreds."""


def offset_limit(exposure: int, t_error: int, clock_error: int, spacing: int) -> int:
    """Return the greatest delay of the camera's timestamps, ns, that each card's stated error already allows for.

    A frame is assumed to lie within its exposure and its stated error, never beyond the next frame.

    Args:
        exposure, t_error, clock_error: as the frames have them.
        spacing: time between frames, ns.
    """
    return min(exposure + t_error, spacing) + clock_error
