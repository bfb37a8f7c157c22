"""Drawings of the parts to saw, glue and hang: the pad, the arm with its camera, the box.

All millimetres stand here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from referee.setup.blueprint import FAINT, SHADE, SMALL, THIN, Blueprint
from tools.build_guide import sums

WIDTH: Final = 980
_WOOD: Final = "#e8d3ab"
_RUBBER: Final = "#8b8f94"
_PLATE: Final = "#f3e6c8"
_FELT: Final = "#4c8b6b"
_FOAM: Final = "#f6e7a1"
_METAL: Final = "#c9ced3"


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of a pad."""

    name: str
    across: float
    deep: float
    thick: float
    colour: str
    note: str = ""


FSR_MM: Final = (13.0, 0.5)
"""An FSR's disc: diameter, thickness."""
DISC_MM: Final = (10.0, 3.0)
HOLE_MM: Final = 30.0
"""Diameter of the hole in the rubber, round the sensor."""
FELT, PLATE, RUBBER, BASE, FOAM = (
    Layer("felt", 120, 120, 2, _FELT, "glued on"),
    Layer("plate", 120, 120, 3, _PLATE, "plywood; the disc is glued under its middle"),
    Layer("rubber", 110, 110, 3, _RUBBER, f"hole of {HOLE_MM:g} mm; glued to the base"),
    Layer("plywood", 140, 120, 6, _WOOD, "the strip in front bears the light: a hole of 5 mm"),
    Layer("foam", 140, 120, 10, _FOAM, "glued under; nothing is screwed to the table"),
)
LAYERS: Final = (FELT, PLATE, RUBBER, BASE, FOAM)
"""A pad's layers, from the top."""


PLYWOOD: Final = 0.65
ACRYLIC: Final = 1.19
_FELTED: Final = 0.2
"""Densities, g/cm³."""


def resting_newtons(density: float) -> float:
    """Return the weight of a plate of this density (g/cm³) and its felt on the sensor of an untouched pad."""
    grams = sum(
        layer.across * layer.deep * layer.thick / 1000 * mass for layer, mass in ((PLATE, density), (FELT, _FELTED))
    )
    return grams * 9.81 / 1000


def pad_svg() -> str:
    """Draw the pad: an exploded view, and a section through its middle."""
    sheet = Blueprint(WIDTH, 960, "A pad: its layers apart, and cut through the middle", "measures in millimetres")
    _draw_layers(sheet, 120)
    _draw_section(sheet, 90, 880, 5)
    return sheet.svg()


_SCALE: Final = 1.8
_SLANT: Final = (0.42, -0.30)
"""Direction of depth in the exploded view."""
_FRONTS: Final = (178, 268, 400, 534, 640)
"""Vertical position of each layer's front edge."""


def _draw_layers(sheet: Blueprint, left: float) -> None:
    strip = BASE.across - PLATE.across
    middle = left + (strip + PLATE.across / 2 + PLATE.deep / 2 * _SLANT[0]) * _SCALE
    for layer, front in zip(LAYERS, _FRONTS, strict=True):
        aside = 0.0 if layer in (BASE, FOAM) else strip + (PLATE.across - layer.across) / 2
        back = (PLATE.deep - layer.deep) / 2
        x, y = left + (aside + back * _SLANT[0]) * _SCALE, front + back * _SLANT[1] * _SCALE
        _draw_slab(sheet, x, y, layer)
        edge = (x + (layer.across + layer.deep * _SLANT[0] / 2) * _SCALE, y + layer.deep * _SLANT[1] / 2 * _SCALE + 2)
        sheet.callout(520, edge[1], *edge, f"{layer.name}, {layer.across:g} × {layer.deep:g}, {layer.thick:g} thick")
        sheet.text(526, edge[1] + 24, layer.note, size=SMALL, fill=FAINT)
    for place, size, words in (
        (305, DISC_MM, f"disc, {DISC_MM[0]:g} across, {DISC_MM[1]:g} thick, hard: plywood, acrylic"),
        (434, FSR_MM, f"FSR, {FSR_MM[0]:g} across, glued to the middle of the base"),
    ):
        _draw_puck(sheet, middle, place, size, words)
    for start, end in ((278, 296), (314, 366), (372, 428), (440, 500)):
        sheet.line((middle, start), (middle, end), stroke=FAINT, width=THIN, dashes="10 3 2 3")


def _draw_slab(sheet: Blueprint, x: float, y: float, layer: Layer) -> None:
    """Draw a sheet in oblique view; (x, y) is the front left corner of its upper face."""
    w, thick = layer.across * _SCALE, layer.thick * _SCALE
    dx, dy = (layer.deep * _SCALE * part for part in _SLANT)
    for corners in (
        ((x, y), (x + w, y), (x + w, y + thick), (x, y + thick)),
        ((x + w, y), (x + w + dx, y + dy), (x + w + dx, y + dy + thick), (x + w, y + thick)),
        ((x, y), (x + w, y), (x + w + dx, y + dy), (x + dx, y + dy)),
    ):
        sheet.line(*corners, close=True, fill=layer.colour)
    if layer is RUBBER:
        sheet.ellipse(x + (w + dx) / 2, y + dy / 2, HOLE_MM * _SCALE / 2, HOLE_MM * _SCALE * 0.21)
    if layer is BASE:
        sheet.ellipse(x + 10 * _SCALE + dx / 2, y + dy / 2, 5, 3)


def _draw_puck(sheet: Blueprint, x: float, y: float, size: tuple[float, float], words: str) -> None:
    half, thick = size[0] * _SCALE / 2, size[1] * _SCALE
    sheet.ellipse(x, y + thick, half, half * 0.42, _METAL)
    sheet.ellipse(x, y, half, half * 0.42, _METAL)
    sheet.callout(520, y + 1, x + half, y + 1, words)


def _draw_section(sheet: Blueprint, left: float, bottom: float, scale: float) -> None:
    """Draw the section from the player's side (left) to the middle of the table, to one scale."""
    strip = BASE.across - PLATE.across
    middle, right = left + (strip + PLATE.across / 2) * scale, left + BASE.across * scale
    y, tops = bottom, {}
    for layer in reversed(LAYERS):
        # Sensor and disc hold the plate up, a little higher than the rubber.
        y -= (layer.thick + (FSR_MM[1] if layer is PLATE else 0)) * scale
        tops[layer] = y
        x = left if layer in (BASE, FOAM) else left + (strip + (PLATE.across - layer.across) / 2) * scale
        sheet.rect(x, y, layer.across * scale, layer.thick * scale, layer.colour)
    above, floor = tops[FELT] - 34, tops[BASE]
    sheet.text(
        left - 60,
        above - 24,
        "cut through the middle; on the left the player’s side, with the light",
        size=SMALL,
        fill=FAINT,
    )
    hole = HOLE_MM * scale / 2
    sheet.rect(middle - hole, tops[RUBBER], 2 * hole, RUBBER.thick * scale)
    for (across, thick), colour, under in ((FSR_MM, "#d08a2e", floor), (DISC_MM, _METAL, floor - FSR_MM[1] * scale)):
        sheet.rect(
            middle - across * scale / 2, under - thick * scale, across * scale, thick * scale, colour, weight=THIN
        )
    # The light, seen from below, is flush with the strip.
    at = left + 10 * scale
    sheet.path(f"M{at - 12.5:g} {floor + 43:g} v-30 a12.5 12.5 0 0 1 25 0 v30 z", "#ffd9a0")
    for wire in (-5, 5):
        sheet.line((at + wire, floor + 43), (at + wire, floor + 62))
    sheet.text(at, floor - 10, "LED, 5 mm", "middle", SMALL)
    sheet.callout(middle - 120, above, middle, floor - 9, "disc: all force goes through it", SMALL)
    sheet.callout(middle + 70, above, middle + 5.5 * scale, floor - 1, "FSR", SMALL)
    rubber = middle + 40 * scale
    sheet.callout(rubber + 10, above, rubber, tops[RUBBER] - 1, f"air, {FSR_MM[1]:g}", SMALL)
    for row, layer in enumerate(LAYERS):
        edge = right if layer in (FELT, PLATE, BASE, FOAM) else right - 5 * scale
        y = tops[layer] + layer.thick * scale / 2
        sheet.callout(
            right + 30, (tops[FELT] - 14 + 21 * row) if row < 4 else y, edge, y, f"{layer.name} {layer.thick:g}", SMALL
        )
    total = sum(layer.thick for layer in LAYERS) + FSR_MM[1]
    sheet.measure(left, tops[FELT], left, bottom, f"{total:g}", -24)
    sheet.line((left, tops[FELT]), (left + strip * scale, tops[FELT]), stroke=FAINT, width=THIN, dashes="2 4")
    sheet.measure(left, bottom, left + strip * scale, bottom, f"{strip:g}", 22)
    sheet.measure(left + strip * scale, bottom, right, bottom, f"{PLATE.across:g}", 22)
    sheet.measure(left, bottom, right, bottom, f"{BASE.across:g}", 46)


HEIGHT_MM: Final = 800
"""Height at which the camera is drawn."""
TABLE_MM: Final = 900
PLAY_MM: Final = sums.WANTED_MM


def arm_svg() -> str:
    """Draw the arm: side view of the table with the camera, and top view with the camera's field of view."""
    camera = sums.CAMERAS[0]
    across, deep = (round(side, -1) for side in sums.area_mm(camera, HEIGHT_MM))
    low, high = sums.fitting(camera)
    sheet = Blueprint(
        WIDTH, 700, "The arm, the camera, the lamp", f"drawn for the {camera.name}; measures in centimetres"
    )
    scale = 0.42
    left, floor = 90.0, 590.0
    right, middle = left + TABLE_MM * scale, left + TABLE_MM * scale / 2
    lens = floor - HEIGHT_MM * scale
    # The field of view; the table; the support that the arm is clamped to, which is not the table.
    half = across * scale / 2
    sheet.line(
        (middle - half, floor), (middle, lens), (middle + half, floor), stroke="none", fill="#e6f0fa", close=True
    )
    for edge in (-half, half):
        sheet.line((middle, lens), (middle + edge, floor), stroke=FAINT, width=THIN, dashes="6 4")
    sheet.rect(left, floor, TABLE_MM * scale, 12, _WOOD)
    for leg in (left + 20, right - 32):
        sheet.rect(leg, floor + 12, 12, 48, _WOOD)
    post = right + 46
    sheet.rect(post - 14, floor - 40, 74, 100, SHADE)
    sheet.text(post + 23, floor + 4, "shelf", "middle", SMALL)
    sheet.line((post, floor - 30), (post, lens - 40), (middle, lens - 24), width=5, stroke="#6b6f74")
    sheet.circle(post, lens - 40, 6, _METAL)
    sheet.rect(middle - 14, lens - 26, 28, 18, _METAL)
    sheet.circle(middle, lens - 6, 5, "#333333")
    sheet.line((middle - 130, lens - 20), (middle - 60, lens - 44), width=7, stroke="#d9a400")
    sheet.lines(middle - 110, lens - 76, ["lamp: wide and dull,", "beside the camera"], "middle", SMALL)
    for pad in (left + 6, right - 6 - 120 * scale):
        sheet.rect(pad, floor - 10, 120 * scale, 10, _FELT)
    sheet.measure(left, lens, left, floor, f"{HEIGHT_MM / 10:g}", -22)
    sheet.line((left - 27, lens), (middle - 8, lens), stroke=FAINT, width=THIN, dashes="2 4")
    sheet.measure(middle - half, floor + 66, middle + half, floor + 66, f"it sees {across / 10:g}", 12)
    sheet.text(left - 60, 100, f"the lens hangs {low / 10:g} to {high / 10:g} above the table", size=SMALL)
    sheet.text(post + 4, lens - 56, "arm, 60 or longer", "middle", SMALL)
    # Top view.
    x, y, scale = 640.0, 210.0, 0.32
    side = TABLE_MM * scale
    sheet.text(x + side / 2, y - 30, "from above", "middle", 16)
    sheet.rect(x, y, side, side, _WOOD, radius=8)
    cx, cy = x + side / 2, y + side / 2
    for words, size, fill, dashes in (
        (f"it sees {across / 10:g} × {deep / 10:g}", (across, deep), "#e6f0fa", "6 4"),
        (f"needed {PLAY_MM[0] / 10:g} × {PLAY_MM[1] / 10:g}", PLAY_MM, "#ffffff", ""),
    ):
        w, d = (length * scale for length in size)
        sheet.rect(cx - w / 2, cy - d / 2, w, d, fill, weight=THIN, dashes=dashes)
        sheet.text(cx, cy + (d / 2 - 6 if size is PLAY_MM else d / 2 + 16), words, "middle", SMALL)
    card = (63 * scale, 89 * scale)
    for k in range(3):
        sheet.rect(cx - card[0] / 2 + 3 * k, cy - card[1] / 2 - 2 * k, *card, radius=2)
    sheet.text(cx - 16, cy + 4, "pile", "end", SMALL)
    pad = 120 * scale
    for px, py in ((cx, y + 26), (cx, y + side - 26), (x + 26, cy), (x + side - 26, cy)):
        sheet.rect(px - pad / 2, py - pad / 2, pad, pad, _FELT, radius=3)
    sheet.measure(x, y + side, x + side, y + side, f"{TABLE_MM / 10:g}", 26)
    sheet.callout(x + 40, y + side + 60, cx, y + side - 20, "", SMALL)
    sheet.lines(
        x - 10, y + side + 76, ["pads at the rim, each on its own foam;", "the arm stands on none of it"], size=SMALL
    )
    return sheet.svg()


BOX_MM: Final = (180.0, 120.0, 50.0)
"""Inside dimensions: width, depth, height."""
WALL_MM: Final = 6.0


@dataclass(frozen=True, slots=True)
class Place:
    """Position of a board in the box, from the inner front left corner."""

    name: str
    x: float
    y: float
    across: float
    deep: float


PLACES: Final = (
    Place("perfboard B", 5, 6, 70, 50), Place("perfboard A", 5, 64, 70, 50), Place("Raspberry Pi", 93, 3, 85, 56),
)  # fmt: skip


def cut_list() -> list[tuple[int, str, float, float]]:
    """Return the cut list of the box's plywood: number, name, and two dimensions."""
    across, deep, high = BOX_MM
    outer = (across + 2 * WALL_MM, deep + 2 * WALL_MM)
    return [(2, "floor and lid", *outer), (2, "front and back", outer[0], high), (2, "sides", deep, high)]


def box_svg() -> str:
    """Draw the box: top view without lid, front, right side, and the cut list."""
    sheet = Blueprint(
        WIDTH, 640, "The box for Raspberry Pi and perfboards",
        f"plywood of {WALL_MM:g} mm; from above, without its lid; measures in millimetres",
    )  # fmt: skip
    scale = 2.6
    across, deep = (side * scale for side in BOX_MM[:2])
    wall = WALL_MM * scale
    left, top = 110.0, 130.0
    sheet.rect(left - wall, top - wall, across + 2 * wall, deep + 2 * wall, _WOOD)
    sheet.rect(left, top, across, deep)

    def corner(x: float, y: float) -> tuple[float, float]:
        return left + x * scale, top + deep - y * scale

    colours = {"Raspberry Pi": "#d5ecd8"}
    for place in PLACES:
        x, y = corner(place.x, place.y + place.deep)
        sheet.rect(x, y, place.across * scale, place.deep * scale, colours.get(place.name, "#f7f3e8"), radius=4)
        sheet.text(x + place.across * scale / 2, y + 70, place.name, "middle")
        sheet.text(x + place.across * scale / 2, y + 88, f"{place.across:g} × {place.deep:g}", "middle", SMALL)
    # The Pi's header faces the back, its USB sockets the right, its power socket the front.
    board = PLACES[-1]
    x, y = corner(board.x + 7, board.y + board.deep - 1)
    sheet.rect(x, y, 51 * scale, 5 * scale, "#444444")
    sheet.text(x + 51 * scale / 2, y + 30, "header: pin 1 on the left", "middle", SMALL)
    for name, at, wide in (("supply", 7, 9), ("HDMI", 22, 22)):
        x, y = corner(board.x + at, board.y + 7)
        sheet.rect(x, y, wide * scale, 7 * scale, _METAL)
        sheet.text(x + wide * scale / 2, y - 6, name, "middle", SMALL)
    x, y = corner(board.x + board.across - 17, board.y + board.deep - 3)
    sheet.rect(x, y, 19 * scale, 50 * scale, _METAL)
    sheet.text(x + 19 * scale / 2 + 4, y + 25 * scale, "USB, network", "middle", SMALL, turn=-90)
    # Openings, drawn as gaps in the walls.
    for (x1, y1), (x2, y2) in _openings(scale, left, top, across, deep, wall):
        sheet.rect(x1, y1, x2 - x1, y2 - y1, stroke=FAINT, weight=THIN)
    sheet.callout(
        left + across + 76, top + 60, left + across * 0.72, top - wall / 2, "slot for the camera’s cable: 20 × 3", SMALL
    )
    sheet.callout(left + across + 76, top + 230, left + across + wall / 2, top + 230, "USB and network: 54 × 20", SMALL)
    sheet.callout(
        left + across + 76,
        top + deep + 44,
        left + across * 0.63,
        top + deep + wall / 2,
        "supply and HDMI: 50 × 14",
        SMALL,
    )
    sheet.text(
        left - 36, top + deep / 2, "cables to the seats: slot of 100 × 8 under the lid", "middle", SMALL, turn=-90
    )
    sheet.measure(left, top - wall, left + across, top - wall, f"{BOX_MM[0]:g} inside", -20)
    sheet.measure(
        left - wall, top + deep + wall, left + across + wall, top + deep + wall, f"{BOX_MM[0] + 2 * WALL_MM:g}", 34
    )
    sheet.measure(left + across + wall, top, left + across + wall, top + deep, f"{BOX_MM[1]:g} inside", 24)
    rows: Sequence[str] = [f"{count} × {words}: {a:g} × {b:g}" for count, words, a, b in cut_list()]
    y = top + deep + 110
    sheet.text(left - wall, y, "To be sawn", size=16)
    sheet.lines(left - wall, y + 26, rows)
    sheet.lines(left - wall + 380, y, [
        f"{BOX_MM[2]:g} high inside. Boards stand on spacers of 8.", "Lid: 12 holes of 6 over the Pi, for its heat.",
        "All wires leave with a loop that is tied down:", "a pulled cable pulls no pin.",
    ])  # fmt: skip
    return sheet.svg()


def _openings(
    scale: float, left: float, top: float, across: float, deep: float, wall: float
) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Return the gaps in the walls, from corner to corner: back, right, front, left."""
    board = PLACES[-1]
    right, front = left + across, top + deep
    pi_left, pi_top = left + board.x * scale, front - (board.y + board.deep) * scale
    return [
        ((left + across * 0.72 - 10 * scale, top - wall), (left + across * 0.72 + 10 * scale, top)),
        ((right, pi_top + scale), (right + wall, pi_top + 55 * scale)),
        ((pi_left + 2 * scale, front), (pi_left + 52 * scale, front + wall)),
        ((left - wall, top + 10 * scale), (left, top + 110 * scale)),
    ]
