"""A court figure's head: hair, face, beard, and what each rank wears on it."""

from __future__ import annotations

from hardware.simulated.canvas import bezier, box, ellipse, mirrored
from hardware.simulated.court_figure import Figure

_CHEEK = {"fine": 4.4, "flat": 4.7, "merry": 5.0}
"""Half a face's width, mm."""
_LIPS = (190, 52, 56)
_HAIR = {
    "Q": mirrored(
        bezier(
            (0.0, -29),
            ((6.5, -29), (8.0, -24), (7.2, -19)),
            ((6.8, -15), (9.4, -13.4), (8.2, -10.4)),
            ((6.0, -11.5), (4.6, -13), (4.2, -17)),
            ((0, -17),),
        )
    ),
    "K": mirrored(
        bezier(
            (0.0, -28.5),
            ((6, -28), (7.4, -23), (6.8, -18)),
            ((8.2, -17), (8.0, -14.6), (6.2, -14.6)),
            ((4.6, -14.6), (4.2, -17), (4.2, -19)),
            ((0, -19),),
        )
    ),
    "J": mirrored(
        bezier(
            (0.0, -28.5),
            ((6.2, -28.4), (7.0, -23), (6.2, -18.4)),
            ((5.8, -15.6), (7.6, -15.0), (7.4, -16.8)),
            ((7.2, -13.6), (4.0, -14.4), (4.2, -19)),
            ((0, -19),),
        )
    ),
}
"""The outline of the hair behind the face, by rank."""


def draw_hair(f: Figure, rank: str) -> None:
    """What is seen of the hair behind the face, with some strands."""
    f.shape(_HAIR[rank], f.hair)
    for side in (-1.0, 1.0):
        for k in (5.2, 6.1):
            f.line(bezier((side * (k - 0.6), -26), ((side * k, -22), (side * k, -17.4))), 0.14)


def draw_face(f: Figure, rank: str) -> None:
    """Neck, face, nose and lips, and the king's beard."""
    f.shape(box(-2.1, -18.8, 2.1, -14.2), f.costume.skin)
    wide = _CHEEK[f.costume.face]
    f.shape(
        mirrored(
            bezier(
                (0.0, -27.4),
                ((wide, -27.4), (wide + 0.5, -22.5), (wide - 0.4, -20.2)),
                ((wide - 1.4, -17.6), (1.6, -16.6), (0, -16.5)),
            )
        ),
        f.costume.skin,
    )
    for side in (-1.0, 1.0):
        _draw_eye(f, side)
    f.line(bezier((0.2, -23.3), ((0.9, -21.2), (0.95, -20.7)), ((0.5, -20.2), (-0.2, -20.4))), 0.2)
    f.fill(
        bezier((-1.3, -18.9), ((-0.5, -19.5), (0, -19.1)), ((0.5, -19.5), (1.3, -18.9)), ((0, -17.9), (-1.3, -18.9))),
        _LIPS,
    )
    if rank == "K":
        _draw_beard(f)


def _draw_eye(f: Figure, side: float) -> None:
    """The eye in the way of the face, and its brow."""
    ink = f.costume.ink
    if f.costume.face == "merry":
        f.shape(ellipse(side * 1.9, -22.6, 0.95, 1.2), (255, 255, 255), 0.16)
        f.fill(ellipse(side * 1.9 + 0.2, -22.4, 0.5, 0.7), ink)
        f.fill(ellipse(side * 3.0, -20.2, 0.9, 0.6), (238, 156, 140))
    elif f.costume.face == "flat":
        f.fill(ellipse(side * 1.9, -22.4, 0.6), ink)
    else:
        f.line(bezier((side * 1.0, -22.5), ((side * 1.9, -23.4), (side * 2.9, -22.4))), 0.22)
        f.fill(ellipse(side * 1.95, -22.5, 0.42, 0.5), ink)
        f.line(bezier((side * 1.1, -21.9), ((side * 1.9, -21.7), (side * 2.7, -22.1))), 0.12)
    f.line(bezier((side * 0.9, -24.1), ((side * 2.0, -24.8), (side * 3.2, -23.9))), 0.34)


def _draw_beard(f: Figure) -> None:
    beard = mirrored(
        bezier(
            (0.0, -13.0),
            ((1.6, -13.2), (3.6, -14.8), (4.4, -20.6)),
            ((3.6, -20.2),),
            ((3.0, -17.9), (1.8, -17.7), (0, -17.7)),
        )
    )
    f.shape(beard, f.hair)
    for x in (-2.4, -1.2, 0.0, 1.2, 2.4):
        f.line(bezier((x * 1.1, -17.2), ((x * 0.9, -15.4), (x * 0.6, -14.0))), 0.13)
    f.shape(
        mirrored(bezier((0.0, -20.0), ((1.2, -20.4), (2.2, -19.6), (3.1, -19.0)), ((1.4, -18.8), (0, -19.4)))),
        f.hair,
        0.16,
    )


def draw_headgear(f: Figure, rank: str) -> None:
    """The king's crown, the queen's, or the jack's hat."""
    {"K": _crown, "Q": _coronet, "J": _hat}[rank](f)


def _crown(f: Figure) -> None:
    crown = mirrored(bezier((0.0, -26.0), ((5.6, -25.2),), ((6.8, -32.2),), ((3.6, -28.9),), ((0.0, -33.2),)))
    f.shape(crown, f.costume.gold)
    band = mirrored(bezier((0.0, -25.2), ((3, -25.2), (5.5, -24.5)), ((5.9, -26.6),), ((3, -27.2), (0, -27.2))))
    f.shape(band, f.sash)
    for x, y in ((0, -32.6), (6.6, -31.6), (-6.6, -31.6)):
        f.shape(ellipse(x, y, 0.85), f.lining)
    for x in (-3.6, 0.0, 3.6):
        f.fill(ellipse(x, -26.2, 0.6), f.costume.gold)


def _coronet(f: Figure) -> None:
    crown = mirrored(
        bezier(
            (0.0, -27.0),
            ((4.8, -26.0),),
            ((6.2, -30.6),),
            ((4.4, -29.2), (3.4, -29.2)),
            ((2.9, -31.8),),
            ((1.6, -29.6), (0.8, -29.8)),
            ((0.0, -32.6),),
        )
    )
    f.shape(crown, f.costume.gold)
    for x, y in ((0, -32.3), (2.9, -31.4), (-2.9, -31.4), (6.0, -30.2), (-6.0, -30.2)):
        f.shape(ellipse(x, y, 0.62), (252, 250, 246), 0.16)
    f.fill(ellipse(0, -28.2, 0.9, 0.7), f.sash)


def _hat(f: Figure) -> None:
    hat = bezier(
        (-6.4, -25.2),
        ((-8.0, -29.8), (-1.6, -31.8), (3.2, -30.6)),
        ((7.6, -29.6), (7.4, -26.6), (6.2, -25.0)),
        ((2, -27.0), (-2, -27.0), (-6.4, -25.2)),
    )
    f.patterned(hat, f.sash, f.robe, "stripes")
    f.shape(
        mirrored(bezier((0.0, -25.6), ((3.6, -25.6), (6.4, -24.2)), ((6.7, -25.8),), ((3.6, -27.3), (0, -27.3)))),
        f.costume.gold,
    )
    plume = bezier(
        (5.2, -27.2), ((9.6, -28.2), (11.2, -31.4), (8.6, -33.2)), ((9.2, -30.8), (7.0, -29.8), (4.2, -28.6))
    )
    f.shape(plume, (250, 248, 242))
    f.line(bezier((5.2, -27.6), ((8.6, -29.2), (9.2, -32.4))), 0.16)
