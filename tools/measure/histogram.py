"""Histograms as a picture, one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def draw_histograms(path: Path, series: Sequence[tuple[str, Sequence[float], float | None]]) -> None:
    """Draw one histogram below the other: a name, its values (ms), and a limit as a line (none: None)."""
    from matplotlib.figure import Figure  # for development only

    figure = Figure(figsize=(9, 2.2 * max(1, len(series))), layout="constrained")
    for place, (name, values, limit) in enumerate(series):
        axes = figure.add_subplot(len(series), 1, place + 1)
        axes.hist(values, bins=60, range=(0.0, 1.1 * max(*values, limit or 0.0, 1e-9)))
        axes.set_title(f"{name}   (n = {len(values)})")
        if limit is not None:
            axes.axvline(limit, color="red", label=f"limit {limit:g} ms")
            axes.legend()
    figure.savefig(path)
