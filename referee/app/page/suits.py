"""The four suits as outlines in a square of 100 by 100, for the page's and the drawings' cards."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import Final

Point = tuple[float, float]
_STEM: Final = "M50 58 C50 78 44 90 32 95 L68 95 C56 90 50 78 50 58 Z"
_PATHS: Final = {
    "h": ("M50 93 C22 66 6 49 6 30 C6 16 17 7 29 7 C39 7 46 13 50 22 C54 13 61 7 71 7 C83 7 94 16 94 30 "
          "C94 49 78 66 50 93 Z",),
    "d": ("M50 3 C60 20 72 36 86 50 C72 64 60 80 50 97 C40 80 28 64 14 50 C28 36 40 20 50 3 Z",),
    "s": ("M50 4 C70 30 94 42 94 62 C94 75 84 82 74 82 C63 82 55 76 50 66 C45 76 37 82 26 82 C16 82 6 75 6 62 "
          "C6 42 30 30 50 4 Z", _STEM),
    "c": ("M72 26 C72 38 62 48 50 48 C38 48 28 38 28 26 C28 14 38 4 50 4 C62 4 72 14 72 26 Z",
          "M48 60 C48 72 38 82 26 82 C14 82 4 72 4 60 C4 48 14 38 26 38 C38 38 48 48 48 60 Z",
          "M96 60 C96 72 86 82 74 82 C62 82 52 72 52 60 C52 48 62 38 74 38 C86 38 96 48 96 60 Z",
          "M42 40 L58 40 L58 64 L42 64 Z", _STEM),
}  # fmt: skip


def path(suit: str) -> str:
    """The outline as the data of an SVG path; a star for jokers."""
    if suit in _PATHS:
        return " ".join(_PATHS[suit])
    return "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in _star()) + " Z"


@cache
def polygons(suit: str) -> tuple[tuple[Point, ...], ...]:
    """The outline as polygons."""
    if suit not in _PATHS:
        return (tuple(_star()),)
    return tuple(tuple(_flat(data)) for data in _PATHS[suit])


def _star() -> Iterator[Point]:
    for place in range(10):
        radius = 48.0 if place % 2 == 0 else 20.0
        angle = math.pi * place / 5
        yield 50 + radius * math.sin(angle), 52 - radius * math.cos(angle)


def _flat(data: str) -> Iterator[Point]:
    """Straight pieces of a path of M, L, C and Z."""
    words = iter(data.split())
    here: Point = (0.0, 0.0)
    for word in words:
        if word == "Z":
            return
        command, first = word[0], word[1:]
        points = [(float(first), float(next(words)))]
        if command == "C":
            points += [(float(next(words)), float(next(words))) for _ in range(2)]
            b, c, d = points
            yield from (_bezier(here, b, c, d, step / 12) for step in range(1, 13))
        else:
            yield points[0]
        here = points[-1]


def _bezier(a: Point, b: Point, c: Point, d: Point, at: float) -> Point:
    """A point of a cubic Bézier curve, ``at`` from 0 to 1."""
    weights = ((1 - at) ** 3, 3 * at * (1 - at) ** 2, 3 * at**2 * (1 - at), at**3)
    return (
        sum(w * p[0] for w, p in zip(weights, (a, b, c, d), strict=True)),
        sum(w * p[1] for w, p in zip(weights, (a, b, c, d), strict=True)),
    )
