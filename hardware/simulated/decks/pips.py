"""Suit signs as outlines, by the pack's style. Unit height, centred on (0, 0)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from hardware.simulated.pictures.canvas import Canvas, Colour, Points, ellipse, mirrored, path, placed

_HALVES = {
    "h": {
        "classic": "M0 0.5 C0.05 0.34 0.44 0.08 0.44 -0.22 C0.44 -0.41 0.34 -0.49 0.23 -0.49 "
        "C0.11 -0.49 0.02 -0.4 0 -0.29",
        "sharp": "M0 0.5 C0.07 0.3 0.47 0.12 0.47 -0.2 C0.47 -0.4 0.36 -0.5 0.24 -0.5 C0.12 -0.5 0.03 -0.42 0 -0.24",
        "round": "M0 0.46 C0.06 0.46 0.5 0.14 0.5 -0.17 C0.5 -0.36 0.38 -0.46 0.25 -0.46 C0.12 -0.46 0.03 -0.39 0 -0.3",
    },
    "s": {
        "classic": "M0 -0.5 C0.06 -0.33 0.42 -0.13 0.42 0.13 C0.42 0.33 0.13 0.35 0.03 0.16 L0 0.16",
        "sharp": "M0 -0.5 C0.05 -0.28 0.45 -0.14 0.45 0.14 C0.45 0.34 0.12 0.36 0 0.14",
        "round": "M0 -0.48 C0.08 -0.46 0.47 -0.12 0.47 0.1 C0.47 0.3 0.18 0.36 0 0.22",
    },
    "d": {
        "classic": "M0 -0.5 Q0.13 -0.18 0.4 0 Q0.13 0.18 0 0.5",
        "round": "M0 -0.5 Q0.23 -0.285 0.39 0 Q0.23 0.285 0 0.5",
    },
}
"""The right half of hearts, spades and diamonds."""
_STEMS = {
    "classic": "M0 0.05 L0.05 0.05 C0.06 0.3 0.1 0.43 0.25 0.46 L0.25 0.5 L0 0.5",
    "sharp": "M0 0.08 Q0.06 0.3 0.24 0.5 L0 0.5",
    "round": "M0 0.1 L0.085 0.1 L0.09 0.4 Q0.2 0.42 0.2 0.5 L0 0.5",
}
"""The right half of the stems of spades and clubs."""
_CLUBS = {
    "classic": (0.222, -0.27, 0.245, 0.09),
    "sharp": (0.205, -0.29, 0.27, 0.06),
    "round": (0.245, -0.25, 0.25, 0.09),
}
"""A leaf's radius, the upper leaf's height, and the other leaves' distance to the side and below."""
SIGNS: dict[tuple[str, str], tuple[Points, ...]] = {
    ("d", "sharp"): (np.array([[0.0, -0.5], [0.36, 0.0], [0.0, 0.5], [-0.36, 0.0]]),),
}
"""Outlines by suit and style, for signs that are not composed of the halves above."""


@lru_cache(maxsize=32)
def pip(suit: str, style: str) -> tuple[Points, ...]:
    """Return the outlines of a suit (``s``, ``h``, ``d``, ``c``) in a style: ``classic``, ``sharp``, ``round``."""
    if (suit, style) in SIGNS:
        return SIGNS[suit, style]
    stem = mirrored(path(_STEMS[style]))
    if suit == "c":
        radius, up, out, down = _CLUBS[style]
        web = np.array([[0.0, -0.2], [0.17, 0.12], [-0.17, 0.12]])
        return ellipse(0, up, radius), ellipse(out, down, radius), ellipse(-out, down, radius), web, stem
    sign = mirrored(path(_HALVES[suit][style]))
    return (sign, stem) if suit == "s" else (sign,)


def draw_pip(
    canvas: Canvas, suit: str, style: str, colour: Colour, x: float, y: float, size: float, *,
    turn: float = 0.0,
) -> None:  # fmt: skip
    """Print a suit's sign ``size`` mm high, centred on (x, y)."""
    for part in pip(suit, style):
        canvas.fill(placed(part, x, y, size, turn), colour)
