"""The simulated table as `referee calibrate --simulated` sees it: the sheet or four cards, and players who reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from hardware.simulated.overhead import Overhead, OverheadFrames, Top
from referee.app.sheets import SCALE, page

CARDS: Final = (("7h", -190.0, -118.0, 12.0), ("Kc", 192.0, -122.0, -8.0), ("2d", 182.0, 122.0, 95.0),
                ("Ts", -186.0, 118.0, 181.0))  # fmt: skip
"""Four cards: where their middles lie, mm, and how they are turned, degrees."""
SHEET: Final = (18.0, -8.0, 7.0)
FPS: Final = 15.0


def top_with(by: str, seed: int = 1) -> Top:
    """A table top on which the sheet (``sheet``) or four cards (``cards``) lie."""
    top = Top(seed=seed)
    if by == "cards":
        for card, x, y, turn in CARDS:
            top.lay_card(card, x, y, turn)
    else:
        top.lay_paper(np.asarray(page("a4"), np.uint8), SCALE, *SHEET)
    return top


def practice_camera(by: str, *, reaches: Sequence[float] = (), seed: int = 1) -> OverheadFrames:
    """A camera that leans a little over such a table.

    Args:
        by: ``cards``, or anything else for the sheet.
        reaches: bearings, degrees, from which hands reach over the middle, one after another.
        seed: cloth, light, arms and noise.
    """
    camera = Overhead(tilt=6.0, towards=270.0, turn=1.5, height=640.0, seed=seed)
    return OverheadFrames(camera, top_with(by, seed), reaches=reaches, fps=FPS)
