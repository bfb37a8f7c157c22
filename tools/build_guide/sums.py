"""The build guide's calculations: card size by camera and height, and the switching point of a pressure pad's gate.

`make build-guide` puts the first into docs/build.md as a table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from models.table_view.table_map import TableView, pinhole, seen_area
from referee.setup.pad_circuit import SUPPLY_OHMS

HEIGHTS_MM: Final = (400, 600, 800, 1000)
FINE_PX: Final = 80
"""From this height on a card is large enough (docs/build.md)."""
WANTED_MM: Final = (480.0, 340.0)
"""Width and depth of the area that four players need, with room for the pile and for hands."""


@dataclass(frozen=True, slots=True)
class Optics:
    """A camera in one of its modes."""

    name: str
    size: tuple[int, int]
    """Picture size, px."""
    across: float
    """Horizontal field of view, degrees."""

    @property
    def focal(self) -> float:
        """Return the focal length, px."""
        return self.size[0] / 2 / math.tan(math.radians(self.across) / 2)

    def view(self, height: float) -> TableView:
        """Return the area of the table that is seen from straight above, ``height`` mm from the lens."""
        pose = np.array([0.0, 0.0, 0.0, 0.0, 0.0, height, math.log(self.focal)])
        return TableView(pinhole(pose, self.size, None), self.size)


def cropped(across: float, share: float) -> float:
    """Return the horizontal field of view of a mode that reads only the middle ``share`` of the sensor's width."""
    return math.degrees(2 * math.atan(share * math.tan(math.radians(across) / 2)))


# Raspberry Pi's camera documentation: 66 and 102 degrees across; the fast mode reads 3072 of 4608 columns. Global
# Shutter: pixels of 3.45 um, here behind the 6 mm lens. Webcams mostly state 78 degrees, diagonally.
_WEBCAM: Final = math.degrees(2 * math.atan(math.tan(math.radians(78 / 2)) * 16 / math.hypot(16, 9)))
_SHUTTER: Final = math.degrees(2 * math.atan(1456 * 0.00345 / 2 / 6))
CAMERAS: Final = (
    Optics("Camera Module 3, 1536×864", (1536, 864), cropped(66, 3072 / 4608)),
    Optics("Camera Module 3, 2304×1296", (2304, 1296), 66),
    Optics("Camera Module 3 Wide, 1536×864", (1536, 864), cropped(102, 3072 / 4608)),
    Optics("Global Shutter, 6 mm lens, 1456×1088", (1456, 1088), _SHUTTER),
    Optics("USB webcam, 1280×720", (1280, 720), _WEBCAM),
)


def card_px(camera: Optics, height: float) -> float:
    """Return the height of a card in the middle of the picture, px."""
    return camera.view(height).card_height()


def area_mm(camera: Optics, height: float) -> tuple[float, float]:
    """Return width and depth of the visible part of the table, less a small margin, mm."""
    area = seen_area(camera.view(height))
    width, depth = area.max(axis=0) - area.min(axis=0)
    return float(width), float(depth)


def fitting(camera: Optics) -> tuple[int, int]:
    """Return the lowest height (mm, in steps of 10) that shows the wanted area, and the greatest that suits cards."""
    steps = range(200, 3001, 10)
    low = next(h for h in steps if area_mm(camera, h)[0] >= WANTED_MM[0] and area_mm(camera, h)[1] >= WANTED_MM[1])
    high = max(h for h in steps if card_px(camera, h) >= FINE_PX)
    return low, high


def heights_table() -> Iterator[str]:
    """Markdown: by camera and height, a card's height in px and the area seen; and the heights that suit."""
    heads = [f"{height / 10:.0f} cm" for height in HEIGHTS_MM]
    yield f"| camera | {' | '.join(heads)} | hang it at |"
    yield "| --- |" + " --- |" * (len(heads) + 1)
    for camera in CAMERAS:
        cells = []
        for height in HEIGHTS_MM:
            width, depth = area_mm(camera, height)
            cells.append(f"{card_px(camera, height):.0f} px, {width / 10:.0f}×{depth / 10:.0f} cm")
        low, high = fitting(camera)
        yield f"| {camera.name} | {' | '.join(cells)} | {low / 10:.0f} to {high / 10:.0f} cm |"


# A pressure pad's gate: 3.3 V - 100 Ohm - FSR - gate's input - resistor - ground.

RISING: Final = (0.38, 0.53, 0.70)
FALLING: Final = (0.20, 0.31)
"""74HC14: the input voltage at which it switches, as a share of its supply: least, typical and most upwards, least and
typical downwards (data sheet, at 4.5 V).
"""
FSR_OHM_NEWTON: Final = 10_000.0
"""An FSR of 13 mm has about 10 kOhm at 1 N (a weight of 100 g), and about the inverse of the force elsewhere."""


def switching(resistor: float, share: float) -> float:
    """Return the FSR's resistance, Ohm, at which the gate's input stands at ``share`` of the supply."""
    return resistor * (1 / share - 1) - SUPPLY_OHMS


def newtons(fsr: float) -> float:
    """Return the approximate force at which an FSR has a resistance."""
    return FSR_OHM_NEWTON / fsr
