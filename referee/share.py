"""Shares of counted and measured values. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

_Z95: Final = 1.96


def wilson(hits: int, count: int) -> tuple[float, float]:
    """Return Wilson's score interval of a share, which also holds near 0 and 1; (0, 1) if nothing was counted.

    Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).
    """
    if not count:
        return 0.0, 1.0
    p, n, z = hits / count, float(count), _Z95
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the least value that this share of all values does not exceed (nearest rank); NaN if there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered), max(1, math.ceil(share * len(ordered)))) - 1] if ordered else math.nan
