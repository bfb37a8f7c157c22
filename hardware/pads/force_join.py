"""How hard a pad was hit, joined to its contact: pure, in event time."""

from __future__ import annotations

from typing import Final

PEAK: Final = 15_000_000
"""The force of a slap is the greatest within so long of its first edge, ns."""
WAIT: Final = 40_000_000
"""How long after its instant a slap waits for its force, ns; without one it is told as a slap without a force."""
LOUD: Final = 0.5
"""A contact with this share of the other hand's force is no echo of it."""
_MEMORY: Final = 200_000_000


class PadForces:
    """The forces that one pad's sampler told."""

    def __init__(self) -> None:
        self._told: list[tuple[int, float]] = []

    def add(self, t: int, force: float) -> None:
        """The greatest force within `PEAK` of the edge at ``t`` (ns) was ``force``.

        Raises:
            ValueError: no force is below 0 or above 1.
        """
        if not 0 <= force <= 1:
            raise ValueError(f"a force must be from 0 to 1, not {force}")
        self._told = [one for one in self._told if one[0] > t - _MEMORY]
        self._told.append((t, force))

    def of(self, first: int, landed: int) -> float | None:
        """The force of a contact whose first edge was at ``first`` and whose hand came by ``landed`` (ns); None where
        it is not known.
        """
        return max((force for t, force in self._told if first <= t <= landed + PEAK), default=None)
