"""Histograms as a picture, drawn with Pillow: no plotting library is needed for bars."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PIL import Image, ImageDraw

WIDTH: Final = 900
HEIGHT: Final = 190
LEFT: Final = 60
BINS: Final = 60


def draw_histograms(path: Path, series: Sequence[tuple[str, Sequence[float], float | None]]) -> None:
    """Draw one histogram below the other: a name, its values, and a limit as a line (none: None)."""
    picture = Image.new("RGB", (WIDTH, HEIGHT * max(1, len(series))), "white")
    pen = ImageDraw.Draw(picture)
    for place, (name, values, limit) in enumerate(series):
        _draw(pen, place * HEIGHT, name, values, limit)
    picture.save(path)


def _draw(pen: ImageDraw.ImageDraw, top: int, name: str, values: Sequence[float], limit: float | None) -> None:
    end = 1.1 * max(*values, limit or 0.0, 1e-9)
    counts = [0] * BINS
    for value in values:
        counts[min(BINS - 1, int(BINS * max(0.0, value) / end))] += 1
    width, floor, tall = WIDTH - LEFT - 20, top + HEIGHT - 30, HEIGHT - 70
    pen.text((LEFT, top + 8), f"{name}   (n = {len(values)})", fill="black")
    for bin_, count in enumerate(counts):
        x = LEFT + bin_ * width / BINS
        if count:
            pen.rectangle((x, floor - max(1, tall * count / max(counts)), x + width / BINS - 1, floor), fill="#4477aa")
    pen.line((LEFT, floor, LEFT + width, floor), fill="black")
    for part in range(6):
        x = LEFT + width * part / 5
        pen.line((x, floor, x, floor + 4), fill="black")
        pen.text((x - 8, floor + 6), f"{end * part / 5:.1f}", fill="black")
    pen.text((4, floor - tall), str(max(counts)), fill="black")
    if limit is not None:
        x = LEFT + width * limit / end
        pen.line((x, floor - tall - 8, x, floor), fill="#cc3311", width=2)
        pen.text((max(LEFT, x - 70), floor - tall - 20), f"limit {limit:g} ms", fill="#cc3311")
