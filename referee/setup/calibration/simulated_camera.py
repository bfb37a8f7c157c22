"""A simulated table for calibration: with the sheet or four cards on it, and hands that reach over it on request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from hardware.simulated.pictures.overhead import Overhead, OverheadFrames, Top
from referee.setup.calibration.find_table import SCALE, draw_page

CORNER_CARD_NAMES: Final = (("7h", -190.0, -118.0, 12.0), ("Kc", 192.0, -122.0, -8.0), ("2d", 182.0, 122.0, 95.0),
                ("Ts", -186.0, 118.0, 181.0))  # fmt: skip
"""Four cards: positions of their centres, mm, and rotations, degrees."""
_SHEET: Final = (18.0, -8.0, 7.0)


def simulated_camera(by: str, reaches: Sequence[float] = ()) -> OverheadFrames:
    """Return a slightly tilted camera over such a table.

    Args:
        by: ``cards``, or anything else for the sheet.
        reaches: bearings, degrees, from which hands reach over the middle, one after another.
    """
    top = Top(seed=1)
    if by == "cards":
        for card, x, y, turn in CORNER_CARD_NAMES:
            top.lay_card(card, x, y, turn)
    else:
        top.lay_paper(np.asarray(draw_page("a4"), np.uint8), SCALE, *_SHEET)
    camera = Overhead(tilt=6.0, towards=270.0, turn=1.5, height=640.0, seed=1)
    return OverheadFrames(camera, top, reaches=reaches, fps=15.0)
