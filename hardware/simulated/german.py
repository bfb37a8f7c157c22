"""The signs of German packs as outlines: acorns for clubs, leaves for spades, bells for diamonds, and hearts.

Unit height, centred on (0, 0), as in `hardware.simulated.pips`.
"""

from __future__ import annotations

import numpy as np

from hardware.simulated.canvas import Points, bezier, box, ellipse, mirrored


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
