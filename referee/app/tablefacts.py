"""How a table is set up, for its page: who stands where, what its calibration is worth. No picture of the camera."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from referee.app.settings import CalibrationSettings, Settings

_HALF_MM: Final = (31.75, 44.45)
"""Half a card."""


def table_facts(settings: Settings) -> dict[str, Any]:
    """``seats`` (name and bearing, degrees), ``camera`` (its source), and ``calibration``, None where there is none."""
    stored = settings.calibration
    return {
        "seats": [{"name": seat.name, "bearing": seat.bearing} for seat in settings.seats],
        "camera": settings.camera.source,
        "calibration": None if stored is None else _calibration(stored),
    }


def _calibration(stored: CalibrationSettings) -> dict[str, Any]:
    """Figures as they were measured; the playing area and a card in its middle as corners in the picture, px.

    The lens is left out of these corners: it bends them by less than a line of the drawing is wide, and what knows of
    lenses has no other business in the referee's process.
    """
    x, y = (sum(corner[axis] for corner in stored.area) / len(stored.area) for axis in (0, 1))
    wide, high = _HALF_MM
    card = ((x - wide, y - high), (x + wide, y - high), (x + wide, y + high), (x - wide, y + high))
    return {
        **{name: getattr(stored, name) for name in
           ("source", "width", "height", "card_height_px", "tilt_deg", "error_px", "edge_px")},
        "area": [_in_picture(stored.homography, corner) for corner in stored.area],
        "card": [_in_picture(stored.homography, corner) for corner in card],
    }  # fmt: skip


def _in_picture(homography: Sequence[Sequence[float]], mm: Sequence[float]) -> list[float]:
    x, y, w = (row[0] * mm[0] + row[1] * mm[1] + row[2] for row in homography)
    return [round(x / w, 1), round(y / w, 1)]
