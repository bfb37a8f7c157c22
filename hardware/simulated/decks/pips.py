"""The signs of German packs as outlines: acorns for clubs, leaves for spades, bells for diamonds, and hearts.

Unit height, centred on (0, 0), as in `hardware.simulated.decks.pips`.

Suit signs as outlines, in three hands: ``classic``, ``sharp`` and ``round``. Unit height, centred on (0, 0).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from hardware.simulated.pictures.canvas import Canvas, Colour, Points, bezier, box, ellipse, mirrored, placed


def _acorn() -> tuple[Points, ...]:
    nut = mirrored(bezier((0.0, 0.5), ((0.06, 0.42), (0.24, 0.34), (0.24, 0.0)), ((0.0, 0.0),)))
    cup = mirrored(bezier((0.0, -0.34), ((0.22, -0.34), (0.36, -0.22), (0.36, -0.05)), ((0.0, -0.05),)))
    stalk = box(-0.05, -0.5, 0.05, -0.3)
    return (nut, cup, stalk)


def _leaf() -> tuple[Points, ...]:
    blade = mirrored(
        bezier(
            (0.0, -0.5),
            ((0.1, -0.34), (0.4, -0.3), (0.4, -0.02)),
            ((0.4, 0.18), (0.2, 0.3), (0.05, 0.22)),
            ((0.0, 0.2),),
        )
    )
    stalk = np.array([[-0.04, 0.15], [0.04, 0.15], [0.1, 0.48], [0.02, 0.5]])
    return (blade, stalk)


def _bell() -> tuple[Points, ...]:
    body = mirrored(bezier((0.0, -0.36), ((0.3, -0.36), (0.36, -0.1), (0.36, 0.06)), ((0.0, 0.06),)))
    lower = mirrored(bezier((0.0, 0.5), ((0.26, 0.5), (0.36, 0.3), (0.36, 0.13)), ((0.0, 0.13),)))
    return (body, lower, ellipse(0, -0.42, 0.09))


def _heart() -> tuple[Points, ...]:
    half = bezier(
        (0.0, 0.5),
        ((0.02, 0.22), (0.46, 0.14), (0.46, -0.2)),
        ((0.46, -0.46), (0.2, -0.56), (0.0, -0.28)),
    )
    return (mirrored(half),)


def german_sign(suit: str) -> tuple[Points, ...]:
    """The outlines of a suit's German sign (``s`` leaf, ``h`` heart, ``d`` bell, ``c`` acorn)."""
    return {"s": _leaf, "h": _heart, "d": _bell, "c": _acorn}[suit]()


Shape = tuple[Points, ...]

_STYLES = ("classic", "sharp", "round")


def _stem(style: str) -> Points:
    if style == "sharp":
        return mirrored(bezier((0.0, 0.08), ((0.06, 0.3), (0.24, 0.5)), ((0.0, 0.5),)))
    if style == "round":
        return mirrored(bezier((0.0, 0.1), ((0.085, 0.1),), ((0.09, 0.4),), ((0.2, 0.42), (0.2, 0.5)), ((0.0, 0.5),)))
    return mirrored(
        bezier((0.0, 0.05), ((0.05, 0.05),), ((0.06, 0.3), (0.1, 0.43), (0.25, 0.46)), ((0.25, 0.5),), ((0.0, 0.5),))
    )


def _plain_heart(style: str) -> Shape:
    if style == "sharp":
        half = bezier(
            (0.0, 0.5),
            ((0.07, 0.3), (0.47, 0.12), (0.47, -0.2)),
            ((0.47, -0.4), (0.36, -0.5), (0.24, -0.5)),
            ((0.12, -0.5), (0.03, -0.42), (0.0, -0.24)),
        )
    elif style == "round":
        half = bezier(
            (0.0, 0.46),
            ((0.06, 0.46), (0.5, 0.14), (0.5, -0.17)),
            ((0.5, -0.36), (0.38, -0.46), (0.25, -0.46)),
            ((0.12, -0.46), (0.03, -0.39), (0.0, -0.3)),
        )
    else:
        half = bezier(
            (0.0, 0.5),
            ((0.05, 0.34), (0.44, 0.08), (0.44, -0.22)),
            ((0.44, -0.41), (0.34, -0.49), (0.23, -0.49)),
            ((0.11, -0.49), (0.02, -0.4), (0.0, -0.29)),
        )
    return (mirrored(half),)


def _spade(style: str) -> Shape:
    if style == "sharp":
        half = bezier(
            (0.0, -0.5), ((0.05, -0.28), (0.45, -0.14), (0.45, 0.14)), ((0.45, 0.34), (0.12, 0.36), (0.0, 0.14))
        )
    elif style == "round":
        half = bezier(
            (0.0, -0.48), ((0.08, -0.46), (0.47, -0.12), (0.47, 0.1)), ((0.47, 0.3), (0.18, 0.36), (0.0, 0.22))
        )
    else:
        half = bezier(
            (0.0, -0.5),
            ((0.06, -0.33), (0.42, -0.13), (0.42, 0.13)),
            ((0.42, 0.33), (0.13, 0.35), (0.03, 0.16)),
            ((0.0, 0.16),),
        )
    return (mirrored(half), _stem(style))


def _diamond(style: str) -> Shape:
    if style == "sharp":
        return (np.array([[0.0, -0.5], [0.36, 0.0], [0.0, 0.5], [-0.36, 0.0]]),)
    bend = 0.07 if style == "classic" else -0.035
    wide = 0.4 if style == "classic" else 0.39
    half = bezier(
        (0.0, -0.5), ((wide / 2 - bend, -0.25 + bend), (wide, 0.0)), ((wide / 2 - bend, 0.25 - bend), (0.0, 0.5))
    )
    return (mirrored(half),)


def _club(style: str) -> Shape:
    radius, up, out, down = {
        "classic": (0.222, -0.27, 0.245, 0.09),
        "sharp": (0.205, -0.29, 0.27, 0.06),
        "round": (0.245, -0.25, 0.25, 0.09),
    }[style]
    web = np.array([[0.0, -0.2], [0.17, 0.12], [-0.17, 0.12]])
    return (ellipse(0, up, radius), ellipse(out, down, radius), ellipse(-out, down, radius), web, _stem(style))


@lru_cache(maxsize=32)
def pip(suit: str, style: str) -> Shape:
    """The outlines that make up a suit's sign (``s``, ``h``, ``d``, ``c``); style ``german`` has other signs."""
    if style == "german":
        return german_sign(suit)
    return {"s": _spade, "h": _plain_heart, "d": _diamond, "c": _club}[suit](style)


def draw_pip(
    canvas: Canvas,
    suit: str,
    style: str,
    colour: Colour,
    x: float,
    y: float,
    size: float,
    *,
    turn: float = 0.0,
    wide: float = 1.0,
) -> None:
    """Print a suit's sign ``size`` mm high, centred on (x, y)."""
    for part in pip(suit, style):
        canvas.fill(placed(part, x, y, size, turn, wide), colour)
