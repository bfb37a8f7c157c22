"""Whether a confidence means what it says: readings by what was said of them and whether they were right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

SURE: Final = 0.9
"""A reading said with so much confidence is one that others rely on."""
EDGES: Final = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1.0)
"""Bins of confidence: fine where most readings are. Below the first the eye gives no name."""
Z95: Final = 1.96


@dataclass(frozen=True, slots=True)
class Said:
    """A reading that gave a name: the confidence in it, 0 to 1, and whether it was right."""

    confidence: float
    right: bool


@dataclass(frozen=True, slots=True)
class Bin:
    """The readings with low <= confidence < high (the last bin holds 1.0 too)."""

    low: float
    high: float
    count: int
    right: int
    said: float
    """Their mean confidence; 0 where there are none."""

    @property
    def share(self) -> float:
        """The share that was right."""
        return self.right / self.count if self.count else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of that share."""
        return wilson(self.right, self.count)


def wilson(hits: int, count: int, z: float = Z95) -> tuple[float, float]:
    """Wilson's score interval of a share, which is of use near 0 and 1 too; (0, 1) where nothing was counted.

    Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).
    """
    if not count:
        return 0.0, 1.0
    p, n = hits / count, float(count)
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def bins(readings: Sequence[Said], edges: Sequence[float] = EDGES) -> list[Bin]:
    """The readings sorted into bins, empty ones included; those below the first edge are left out."""
    out = []
    for low, high in pairwise(edges):
        inside = [r for r in readings if low <= r.confidence < high or (high == edges[-1] and r.confidence >= high)]
        said = sum(r.confidence for r in inside) / len(inside) if inside else 0.0
        out.append(Bin(low, high, len(inside), sum(r.right for r in inside), said))
    return out


def calibration_error(readings: Sequence[Said], edges: Sequence[float] = EDGES) -> float:
    """Expected calibration error: how far what is said and what is right lie apart, mean over the readings.

    Naeini, Cooper, Hauskrecht, Obtaining well calibrated probabilities using Bayesian binning, AAAI 2015.
    """
    filled = [b for b in bins(readings, edges) if b.count]
    total = sum(b.count for b in filled)
    return sum(b.count * abs(b.said - b.share) for b in filled) / total if total else 0.0


def table(readings: Sequence[Said]) -> str:
    """The bins as a Markdown table."""
    lines = ["| confidence | readings | said % | right % | 95 % interval |", "| --- " * 5 + "|"]
    for b in bins(readings):
        low, high = b.interval
        shown = (
            f"{100 * b.said:.2f} | {100 * b.share:.2f} | {100 * low:.2f} – {100 * high:.2f}" if b.count else "– | – | –"
        )
        lines.append(f"| {b.low:g} – {b.high:g} | {b.count} | {shown} |")
    return "\n".join(lines)


def words(readings: Sequence[Said]) -> str:
    """What it amounts to, in lines: the calibration error, and how far 0.9 and more can be relied on."""
    sure = [r for r in readings if r.confidence >= SURE]
    right = [r for r in readings if r.right]
    wrong = sum(not r.right for r in sure)
    low, high = wilson(wrong, len(sure))
    firm = sum(r.confidence >= SURE for r in right)
    return "\n".join(
        [
            f"readings with a name: {len(readings)}; right: {len(right)}; "
            f"expected calibration error: {calibration_error(readings):.4f}",
            f"wrong among those said with {SURE:g} or more: {wrong} of {len(sure)} = "
            f"{100 * wrong / max(1, len(sure)):.2f} % (95 %: {100 * low:.2f} to {100 * high:.2f} %)",
            f"right ones said with {SURE:g} or more: {firm} of {len(right)} = {100 * firm / max(1, len(right)):.1f} %",
        ]
    )
