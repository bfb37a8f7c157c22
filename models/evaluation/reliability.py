"""Checks the eye's confidence: readings by stated confidence and by whether they were right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, Final

from models.eye.classes import SURE_READING
from referee.share import wilson

_EDGES: Final = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1.0)
"""Bins of confidence: fine where most readings are. Below the first edge the eye gives no name."""
_CHART_EDGES: Final = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_SURE_EDGES: Final = (0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 1.0)


@dataclass(frozen=True, slots=True)
class ScoredReading:
    """A reading that gave a name: the confidence in it, 0 to 1, and whether it was right."""

    confidence: float
    right: bool


@dataclass(frozen=True, slots=True)
class ConfidenceBin:
    """The readings with low <= confidence < high (the last bin also holds 1.0)."""

    low: float
    high: float
    count: int
    right: int
    said: float
    """Their mean confidence; 0 for an empty bin."""

    @property
    def share(self) -> float:
        """The share of right readings."""
        return self.right / self.count if self.count else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of that share."""
        return wilson(self.right, self.count)


def bins(readings: Sequence[ScoredReading], edges: Sequence[float] = _EDGES) -> list[ConfidenceBin]:
    """Return the readings sorted into bins, including empty ones; those below the first edge are left out."""
    out = []
    for low, high in pairwise(edges):
        inside = [r for r in readings if low <= r.confidence < high or (high == edges[-1] and r.confidence >= high)]
        said = sum(r.confidence for r in inside) / len(inside) if inside else 0.0
        out.append(ConfidenceBin(low, high, len(inside), sum(r.right for r in inside), said))
    return out


def calibration_error(readings: Sequence[ScoredReading]) -> float:
    """Return the expected calibration error: mean distance between confidence and share right, over the readings.

    Naeini, Cooper, Hauskrecht, Obtaining well calibrated probabilities using Bayesian binning, AAAI 2015.
    """
    filled = [b for b in bins(readings) if b.count]
    total = sum(b.count for b in filled)
    return sum(b.count * abs(b.said - b.share) for b in filled) / total if total else 0.0


def reliability_table(readings: Sequence[ScoredReading]) -> str:
    """Return the bins as a Markdown table."""
    lines = ["| confidence | readings | said % | right % | 95 % interval |", "| --- " * 5 + "|"]
    for b in bins(readings):
        low, high = b.interval
        shown = (
            f"{100 * b.said:.2f} | {100 * b.share:.2f} | {100 * low:.2f} – {100 * high:.2f}" if b.count else "– | – | –"
        )
        lines.append(f"| {b.low:g} – {b.high:g} | {b.count} | {shown} |")
    return "\n".join(lines)


def summary(readings: Sequence[ScoredReading]) -> str:
    """Return a summary in lines: the calibration error, and the reliability of confidence 0.9 and more."""
    sure = [r for r in readings if r.confidence >= SURE_READING]
    right = [r for r in readings if r.right]
    wrong = sum(not r.right for r in sure)
    low, high = wilson(wrong, len(sure))
    firm = sum(r.confidence >= SURE_READING for r in right)
    share = 100 * firm / max(1, len(right))
    return "\n".join(
        [
            f"readings with a name: {len(readings)}; right: {len(right)}; "
            f"expected calibration error: {calibration_error(readings):.4f}",
            f"wrong among those said with {SURE_READING:g} or more: {wrong} of {len(sure)} = "
            f"{100 * wrong / max(1, len(sure)):.2f} % (95 %: {100 * low:.2f} to {100 * high:.2f} %)",
            f"right ones said with {SURE_READING:g} or more: {firm} of {len(right)} = {share:.1f} %",
        ]
    )


def save_chart(readings: Sequence[ScoredReading], title: str, target: Path | IO[bytes]) -> None:
    """Draw confidence against share right, and the sure readings again by share of wrong; write a PNG.

    Bars are the bins' shares, whiskers their 95 % intervals, with the number of readings below each.
    """
    from matplotlib.figure import Figure  # for development only

    figure = Figure(figsize=(15, 8.6), layout="constrained")
    error = f"expected calibration error {calibration_error(readings):.4f}"
    figure.suptitle(f"{title}\n{len(readings)} readings with a name, {error}")
    (right, wrong), counts = figure.subplots(2, 2, height_ratios=(4, 1))
    right.set(title="all readings: share that was right", xlabel="said", xlim=(0, 1), ylim=(0, 1))
    right.plot((0, 1), (0, 1), color="grey")
    for b in bins(readings, _CHART_EDGES):
        right.bar(b.low, b.share, b.high - b.low, align="edge", color="C0", alpha=0.3)
        _draw_whisker(right, b.said, (b.share, *b.interval), b.count)
    wrong.set(title=f"said with {SURE_READING:g} or more: share that was wrong (grey: to be expected)")
    wrong.set(yscale="log", ylim=(1e-4, 0.2))
    for b in bins(readings, _SURE_EDGES):
        wrong.plot(f"{b.low:g}", 1 - b.said, marker="_", markersize=40, color="grey")
        _draw_whisker(wrong, f"{b.low:g}", (1 - b.share, 1 - b.interval[1], 1 - b.interval[0]), b.count)
    for axes, edges in zip(counts, (_CHART_EDGES, _SURE_EDGES), strict=True):
        shown = bins(readings, edges)
        bars = axes.bar([f"{b.low:g}" for b in shown], [math.sqrt(b.count) for b in shown])
        axes.bar_label(bars, [f"{b.count}" for b in shown])
        axes.set(title="readings in each bin of confidence (heights by square root)", yticks=())
    figure.savefig(target, format="png")


def _draw_whisker(axes: Any, x: float | str, share: tuple[float, float, float], count: int) -> None:
    """Draw a dot at a share, with whiskers for its interval; draw nothing for an empty bin."""
    if count:
        at, low, high = share
        axes.errorbar(x, at, yerr=[[max(0.0, at - low)], [max(0.0, high - at)]], fmt="o", color="C0", capsize=4)
