"""What a calibration is worth: each thing measured as fine, acceptable or poor, in words, and what to do.

Where cards stop being read was measured with the eye at the simulated table (docs/calibration.md); the grades keep
clear of those ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from models.light import MAINS_US, MOST_NOISE, Exposure, Light, Stillness, advise, smear_px
from models.table import card_heights
from referee.app.finding import BENT_PX, Found
from referee.app.settings import CameraSettings

Grade = Literal["fine", "acceptable", "poor"]
SMEARED_MM: Final = (4.0, 12.0)
"""How far a card that is laid briskly may move during an exposure, mm."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing measured."""

    name: str
    grade: Grade
    words: str
    todo: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that the pictures tell."""

    found: Found
    still: Stillness
    light: Light
    heights: tuple[float, float, float]
    """A card's height, px: in the middle of the playing area, least, most."""
    edge_px: float
    """Over how many pixels an edge spreads; NaN if none could be followed."""


def measured(found: Found, still: Stillness, light: Light) -> Measured:
    """Put together what was measured."""
    edge = float(np.median(found.edges_px)) if len(found.edges_px) else math.nan
    return Measured(found, still, light, card_heights(found.table.view, found.area), edge)


def _grade(value: float, fine: float, acceptable: float) -> Grade:
    """Of a value that is better the smaller it is."""
    return "fine" if value <= fine else "acceptable" if value <= acceptable else "poor"


def _place(m: Measured) -> Item:
    error = m.found.table.error_px
    return Item(
        "table", _grade(error, 0.5, BENT_PX), f"found by {m.found.words}; its points fit to {error:.2f} px",
        "" if error <= 0.5 else "see that it lies flat; a lens that bends needs several views of the sheet",
    )  # fmt: skip


def _height(m: Measured) -> Item:
    middle, least, most = m.heights
    grade = _grade(-least, -80, -60)
    where = f"cards are {middle:.0f} px tall" + ("" if most - least < 3 else f" ({least:.0f} to {most:.0f})")
    if grade == "fine":
        return Item("card size", grade, f"{where}: good")
    return Item(
        "card size", grade, f"{where}: small", "hang the camera lower, or choose a larger picture (camera.width)"
    )


def _tilt(m: Measured) -> Item:
    table = m.found.table
    words = f"the camera looks down {table.tilt:.0f}° off upright"
    if table.tilt_error > 1.5:
        words += f" (give or take {table.tilt_error:.0f}°)"
    if table.tilt > 3 + 2 * table.tilt_error:
        words += f", nearest to the side at {table.towards:.0f}°"
    todo = "hang it more nearly over the middle: far cards are small, and hide behind hands"
    grade = _grade(table.tilt, 20, 35)
    return Item("tilt", grade, words, "" if grade == "fine" else todo)


def _sharpness(m: Measured) -> Item:
    if math.isnan(m.edge_px):
        return Item("sharpness", "poor", "no edge of the sheet or of a card could be followed",
                    "focus by hand or change the lens position; lay cards on a darker cloth")  # fmt: skip
    share = m.edge_px / m.heights[1]
    grade = _grade(share, 0.033, 0.045)
    words = f"edges spread over {m.edge_px:.1f} px, {100 * share:.1f} % of a card's height"
    if grade == "fine":
        return Item("sharpness", grade, f"{words}: sharp")
    return Item("sharpness", grade, f"{words}: the picture is soft",
                "focus by hand or raise the lens position, and look again")  # fmt: skip


def _light(m: Measured) -> Item:
    white, clipped = m.light.white, m.light.clipped
    if clipped > 0.05:
        return Item("light", _grade(clipped, 0.05, 0.25), f"{100 * clipped:.0f} % of white paper is overexposed",
                    "lower camera.exposure_us or camera.gain; turn away a lamp that shines on the table")  # fmt: skip
    grade = _grade(-white, -110, -60)
    todo = "" if grade == "fine" else "more light on the table, or more exposure (see motion blur)"
    return Item(
        "light", grade, f"white paper shows at {white:.0f} of 255" + (": bright" if not todo else ": dark"), todo
    )


def _noise(m: Measured) -> Item | None:
    if math.isnan(m.still.noise):
        return None
    grade = _grade(m.still.noise, MOST_NOISE, 2 * MOST_NOISE)
    todo = "" if grade == "fine" else "more light and less camera.gain"
    return Item("noise", grade, f"{m.still.noise:.1f} grey levels from picture to picture", todo)


def flickers(still: Stillness) -> bool:
    """Whether the lamps' flicker shows."""
    return still.flicker > 0.01


def _flicker(m: Measured) -> Item | None:
    if math.isnan(m.still.flicker):
        return None
    grade = _grade(m.still.flicker, 0.01, 0.04)
    words = f"brightness swings by {100 * m.still.flicker:.1f} % from picture to picture"
    todo = (
        f"expose for whole swings of the mains (camera.exposure_us = {MAINS_US}), or use a lamp that does not flicker"
    )
    return Item("flicker", grade, words, "" if grade == "fine" else todo)


def advice(m: Measured, camera: CameraSettings) -> Exposure:
    """How to expose."""
    return advise(m.light, m.still.noise, camera.exposure_us, camera.gain, camera.fps, flickers=flickers(m.still))


def _motion(m: Measured, camera: CameraSettings) -> Item:
    scale = m.found.table.view.scale((0.0, 0.0))
    moved = smear_px(camera.exposure_us, scale)
    best = advice(m, camera)
    grade = _grade(moved / scale, *SMEARED_MM)
    words = (
        f"in {camera.exposure_us} µs a card laid at 2 m/s moves {moved / scale:.1f} mm ({moved:.0f} px); "
        "cards at rest are not smeared"
    )
    todo = ""
    near = abs(best.exposure_us - camera.exposure_us) < 0.15 * camera.exposure_us and abs(best.gain - camera.gain) < 1
    if not near:
        todo = f"set camera.exposure_us = {best.exposure_us} and camera.gain = {best.gain:g}"
    if best.more_light > 1.2:
        todo += ("; " if todo else "") + f"the light is short by {best.more_light:.1f} times: add a lamp"
    return Item("motion blur", grade, words, todo)


def _lens(m: Measured) -> Item:
    lens = m.found.lens
    if lens.lens is not None:
        k1, k2 = lens.lens.bend[:2]
        words = f"measured from {lens.views} views to {lens.error_px:.2f} px (k1 {k1:+.3f}, k2 {k2:+.3f}); corrected"
        return Item("lens", _grade(lens.error_px, 0.7, BENT_PX), words)
    return Item("lens", "fine" if m.found.table.error_px <= 0.5 else "acceptable", f"not measured: {lens.why_not}")


def grade(m: Measured, camera: CameraSettings | None) -> list[Item]:
    """Every item.

    Args:
        m: what was measured.
        camera: how the pictures were exposed; None where nobody knows.
    """
    items = [_place(m), _height(m), _tilt(m), _sharpness(m), _light(m), _noise(m), _flicker(m)]
    if camera is not None:
        items.append(_motion(m, camera))
    items.append(_lens(m))
    return [item for item in items if item is not None]
