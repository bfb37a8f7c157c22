"""A court figure from the shoulders down: the robe and what lies over it, the arm and what it holds."""

from __future__ import annotations

import numpy as np

from hardware.simulated.canvas import bezier, box, ellipse, mirrored, placed
from hardware.simulated.court_figure import Figure

_PATTERNS = {"K": ("lozenges", "stripes"), "Q": ("scales", "dots"), "J": ("chevrons", "lozenges")}
_SHOULDER = {"K": -14.5, "Q": -12.5, "J": -13.5}
_HELD_AT = 11.6
"""How far to the side the hand holds something upright, mm."""


def draw_body(f: Figure, rank: str) -> None:
    """The robe of a rank, and the king's cape, the queen's collar, or the jack's."""
    shoulder = _SHOULDER[rank]
    first, second = _PATTERNS[rank]
    robe = mirrored(
        bezier(
            (0.0, shoulder - 2.5),
            ((6, shoulder - 2.2), (13, shoulder), (15.5, shoulder + 6)),
            ((18, -4), (20, 4), (20, 8)),
            ((0, 8),),
        )
    )
    f.patterned(robe, f.robe, f.lining, first)
    front = mirrored(bezier((0.0, shoulder - 1), ((3.4, shoulder), (4.2, -4), (6.5, 8)), ((0, 8),)))
    f.patterned(front, f.sash, f.costume.gold, second)
    _hem(f, shoulder)
    {"K": _cape, "Q": _necklace, "J": _collar}[rank](f)


def _hem(f: Figure, shoulder: float) -> None:
    """A golden edge with studs along both sides of the front."""
    for side in (-1.0, 1.0):
        edge = bezier(
            (side * 3.2, shoulder - 1),
            ((side * 5.0, shoulder + 2), (side * 5.2, -4), (side * 8.2, 8)),
            ((side * 10.2, 8),),
            ((side * 7.4, -5), (side * 7.2, shoulder + 2), (side * 5.2, shoulder - 1.4)),
        )
        f.shape(edge, f.costume.gold)
        for y in np.arange(shoulder + 1.5, 2, 2.3):
            f.fill(ellipse(side * (5.2 + (y - shoulder) * 0.13), float(y), 0.5), f.robe)


def _cape(f: Figure) -> None:
    """The king's, of ermine."""
    cape = mirrored(bezier((0.0, -13.5), ((5, -14), (11, -13.5), (14.5, -9.5)), ((11, -8.6), (6, -9.6), (0, -8.2))))
    f.shape(cape, (252, 250, 243))
    for x, y in ((-10, -10.8), (-6.2, -11.4), (-2.2, -10.6), (2.2, -10.6), (6.2, -11.4), (10, -10.8)):
        f.fill(ellipse(x, y, 0.42, 0.85), f.costume.ink)


def _necklace(f: Figure) -> None:
    """The queen's white front, and beads of gold."""
    f.shape(
        mirrored(bezier((0.0, -9.0), ((3.5, -10.5), (6.6, -12), (8, -16.5)), ((5, -15.6), (2.5, -14), (0, -13.4)))),
        (250, 247, 240),
    )
    for a in np.linspace(-0.9, 0.9, 7):
        f.shape(ellipse(6.2 * np.sin(a), -15.3 + 4.6 * np.cos(a), 0.72), f.costume.gold)


def _collar(f: Figure) -> None:
    """The jack's."""
    f.shape(mirrored(bezier((0.0, -11.5), ((4, -11.8),), ((8, -13.2),), ((6.8, -16.6),), ((0, -14.6),))), f.lining)
    f.line(np.array([[0, -14.6], [0, -11.5]]))


def draw_arm(f: Figure, rank: str) -> None:
    """A sleeve across the body, its cuff, and what the hand holds."""
    {"K": _sword, "Q": _rose, "J": _halberd}[rank](f)
    sleeve = bezier((18.5, 4), ((18.5, -4),), ((16.8, -8.6), (14.2, -8.4)), ((12.2, -5.2), (8.4, 4)))
    f.patterned(sleeve, f.lining, f.robe, "stripes" if rank != "K" else "chevrons")
    f.shape(placed(box(-2.6, -1.0, 2.6, 1.0, 0.5), 13.2, -6.6, turn=-28), f.costume.gold)
    f.shape(placed(ellipse(0, 0, 2.15, 1.75), 11.7, -8.9, turn=-28), f.costume.skin)
    for k in (-0.75, 0.05, 0.85):
        f.line(np.array([[10.2, -8.9 + k], [12.4, -9.2 + k]]), 0.15)


def _sword(f: Figure) -> None:
    x = _HELD_AT
    f.shape(
        np.array([[x - 0.9, -28.5], [x, -32.2], [x + 0.9, -28.5], [x + 0.9, -8.2], [x - 0.9, -8.2]]),
        (214, 220, 226),
    )
    f.line(np.array([[x, -31], [x, -8.5]]), 0.16)
    f.shape(box(x - 3.2, -8.6, x + 3.2, -7.2, 0.6), f.costume.gold)
    f.shape(box(x - 0.7, -7.4, x + 0.7, -1.5), f.sash)


def _rose(f: Figure) -> None:
    x = _HELD_AT
    f.line(bezier((x, -3), ((x - 1.2, -10), (x, -18))), 0.6, (64, 124, 66))
    for side in (-1.0, 1.0):
        f.shape(
            bezier((x - 0.5, -11), ((x + side * 3.2, -15.4), (x + side * 2.2, -12.0)), ((x, -10.4), (x - 0.5, -11))),
            (92, 156, 84),
            0.16,
        )
    for a in range(0, 360, 60):
        f.shape(placed(ellipse(0, -1.9, 1.25, 1.75), x, -20.4, turn=a), f.sash, 0.18)
    f.shape(ellipse(x, -20.4, 1.25), f.costume.gold)


def _halberd(f: Figure) -> None:
    x = _HELD_AT
    f.shape(box(x - 0.55, -30, x + 0.55, 2), (150, 104, 62))
    f.shape(
        bezier(
            (x, -33),
            ((x + 1.0, -30.2),),
            ((x + 5.2, -29.4), (x + 4.4, -23.8)),
            ((x + 2.6, -26), (x + 0.7, -25.4)),
            ((x - 0.7, -25.4),),
            ((x - 1.0, -30.2),),
        ),
        (206, 212, 220),
    )
    f.shape(ellipse(x, -24.4, 1.0, 0.7), f.costume.gold)
