"""Grades of a calibration: each measurement as fine, acceptable or poor, with a remedy, printed and drawn.

The limits beyond which the eye cannot read cards were measured at the simulated table (docs/figures.md); the grades
keep a distance from them. `referee.setup.calibration.calibrate` measures, prints, draws and stores.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
from rich.console import Console
from rich.table import Table

from hardware.fonts import font_file
from models.eye.classes import HEIGHT_MM, WIDTH_MM
from models.eye.geometry import Floats
from models.table_view.light import (
    MOST_NOISE,
    Exposure,
    Light,
    Stillness,
    advise,
    compare,
    measure_light,
    smear_px,
)  # fmt: skip
from models.table_view.mains import UNSEEN, Mains, is_steady, steady_rate
from models.table_view.table_map import TableFound, card_heights, grid
from referee.errors import UserError
from referee.sentence import Sentence, joined
from referee.settings.model import CameraSettings
from referee.setup.calibration.find_table import BENT_PX, TableMatch
from referee.setup.check import COLOURS, Check
from referee.text.terminal_language import here, translate

_SMEARED_MM: Final = (4.0, 12.0)
"""Motion of a briskly laid card during an exposure, mm: limits of fine and of acceptable."""
_FLICKERS: Final = 0.01
"""Share by which brightness swings from which on flicker is visible ..."""
FLICKER: Final = 0.04
"""... and from which on it is poor."""
SOFTEST: Final = 0.045
"""Largest width of an edge, as a share of a card's height; a wider one is poor."""
DARKEST: Final = 60
"""Grey level of white paper, of 255; less is poor."""
CLIPPED: Final = 0.25
"""Largest overexposed share of white paper; more is poor."""
NO_COLOUR: Final = Sentence("the picture is without colour: the referee reads no suits and asks about each card")
COLOUR_CAMERA: Final = Sentence("use a colour camera, or switch this one's night mode off")
_GREEN: Final = (90, 210, 90)
_YELLOW: Final = (60, 215, 245)
_BLUE: Final = (240, 190, 90)
_GREY: Final = (215, 215, 215)
_GRID_MM: Final = 50.0


@dataclass(frozen=True, slots=True)
class Measured:
    """Measurements of the pictures."""

    found: TableMatch
    still: Stillness
    light: Light
    heights: tuple[float, float, float]
    """A card's height, px: in the middle of the playing area, least, most."""
    edge_px: float
    """Width of an edge, px; NaN if none could be measured."""
    mains: Mains = UNSEEN
    """The lamps' flicker, measured at a frame rate that reveals it."""

    @property
    def flicker(self) -> float:
        """Share by which lamps make the light swing, from picture to picture or at the rate that revealed it."""
        return float(np.nanmax([self.still.flicker, self.mains.ripple]))


def measure(found: TableMatch, images: Sequence[Any], mains: Mains = UNSEEN) -> Measured:
    """Measure the table found in pictures (H x W x 3) of one view."""
    edge = float(np.median(found.edges_px)) if len(found.edges_px) else math.nan
    light = measure_light(images[0], found.outlines)
    return Measured(found, compare(images), light, card_heights(found.table.view, found.area), edge, mains)


def section_of(m: Measured) -> dict[str, Any]:
    """Return the section ``[calibration]`` of the settings."""
    view, table = m.found.table.view, m.found.table
    fields: dict[str, Any] = {
        "source": m.found.source,
        "width": view.size[0],
        "height": view.size[1],
        "card_height_px": round(m.heights[0], 1),
        "tilt_deg": round(table.tilt, 1),
        "error_px": round(table.error_px, 3),
        "edge_px": round(m.edge_px, 2) if not math.isnan(m.edge_px) else 0.0,
        "homography": [[float(f"{v:.9g}") for v in row] for row in view.homography.tolist()],
        "area": [[round(v, 1) for v in row] for row in m.found.area.tolist()],
    }
    if (lens := view.lens) is not None:
        fields["lens"] = [float(f"{v:.7g}") for v in (lens.fx, lens.fy, lens.cx, lens.cy, *lens.bend)]
    return fields


# Grades


def grade(m: Measured, camera: CameraSettings | None) -> list[Check]:
    """Return every item; ``camera`` gives the exposure of the pictures, None: unknown."""
    motion = [] if camera is None else [_grade_motion(m, camera)]
    lens = m.found.lens
    if lens.lens is not None:
        k1, k2 = lens.lens.bend[:2]
        words = Sentence(
            "measured from {views} views to {error} px (k1 {k1}, k2 {k2}); corrected",
            views=lens.views, error=f"{lens.error_px:.2f}", k1=f"{k1:+.3f}", k2=f"{k2:+.3f}",
        )  # fmt: skip
        worth = _graded("lens", lens.error_px, (0.7, BENT_PX), words)
    else:
        words = Sentence("not measured: {why}", why=lens.why_not)
        worth = _graded("lens", m.found.table.error_px, (0.5, math.inf), words)
    return [*_grade_view(m), *_grade_light(m, camera), *motion, worth]


def _graded(name: str, value: float, limits: tuple[float, float], words: str, todo: str = "") -> Check:
    """Return an item whose value should be small; a remedy is added unless it is fine."""
    fine, acceptable = limits
    if value <= fine:
        return Check(name, "fine", words)
    return Check(name, "acceptable" if value <= acceptable else "poor", words, todo)


def _grade_view(m: Measured) -> Iterator[Check]:
    """Grade the table's position, the cards' size, the camera's tilt, and the sharpness."""
    table, (middle, least, most) = m.found.table, m.heights
    yield _graded("table", table.error_px, (0.5, BENT_PX),
                  Sentence("found by {what}; its points fit to {error} px",
                           what=m.found.words, error=f"{table.error_px:.2f}"),
                  Sentence("see that it lies flat; a lens that bends needs several views of the sheet"))  # fmt: skip
    yield grade_size(middle, least, most)
    yield _graded("tilt", table.tilt, (20, 35), _tilt_words(table),
                  Sentence("hang it more nearly over the middle: far cards are small, and hide behind hands"),
                 )  # fmt: skip
    if math.isnan(m.edge_px):
        yield Check("sharpness", "poor", Sentence("no edge of the sheet or of a card could be followed"),
                   Sentence("focus by hand or change the lens position; lay cards on a darker cloth"))  # fmt: skip
        return
    yield grade_edges(m.edge_px, least)


def _tilt_words(table: TableFound) -> str:
    tilt, error, side = f"{table.tilt:.0f}", f"{table.tilt_error:.0f}", f"{table.towards:.0f}"
    words = Sentence("the camera looks down {tilt}° off upright", tilt=tilt)
    if table.tilt_error > 1.5:
        words = Sentence("the camera looks down {tilt}° off upright (give or take {error}°)", tilt=tilt, error=error)
    if table.tilt > 3 + 2 * table.tilt_error:
        return Sentence("{what}, nearest to the side at {side}°", what=words, side=side)
    return words


def grade_size(middle: float, least: float, most: float) -> Check:
    """Grade the height of cards in the picture, px: in its middle, least and most."""
    px, spread = f"{middle:.0f}", "" if most - least < 3 else f" ({least:.0f}-{most:.0f})"
    words = Sentence("cards are {px} px tall{spread}: small", px=px, spread=spread)
    if least >= 80:
        words = Sentence("cards are {px} px tall{spread}: good", px=px, spread=spread)
    return _graded("card size", -least, (-80, -60), words,
                   Sentence("hang the camera lower, or choose a larger picture (camera.width)"))  # fmt: skip


def grade_edges(spread_px: float, card_px: float) -> Check:
    """Grade the sharpness: the width of edges relative to a card's height."""
    share = spread_px / card_px
    px, percent = f"{spread_px:.1f}", f"{100 * share:.1f}"
    words = Sentence("edges spread over {px} px, {percent} % of a card's height: sharp", px=px, percent=percent)
    if share > 0.033:
        words = Sentence("edges spread over {px} px, {percent} % of a card's height: the picture is soft",
                         px=px, percent=percent)  # fmt: skip
    return _graded("sharpness", share, (0.033, SOFTEST), words,
                   Sentence("focus by hand or raise the lens position, and look again"))  # fmt: skip


def grade_brightness(light: Light) -> Check:
    """Grade the brightness of white paper."""
    if light.clipped > 0.05:
        words = Sentence("{percent} % of white paper is overexposed", percent=f"{100 * light.clipped:.0f}")
        return _graded("light", light.clipped, (0.05, CLIPPED), words,
                       Sentence("lower camera.exposure_us or camera.gain; turn away a lamp that shines there"),
                      )  # fmt: skip
    words = Sentence("white paper shows at {level} of 255: bright", level=f"{light.white:.0f}")
    if light.white < 110:
        words = Sentence("white paper shows at {level} of 255: dark", level=f"{light.white:.0f}")
    return _graded("light", -light.white, (-110, -DARKEST), words,
                   Sentence("more light on the table, or more exposure (see motion blur)"))  # fmt: skip


def _grade_light(m: Measured, camera: CameraSettings | None) -> Iterator[Check]:
    """Grade brightness, and noise and flicker if there are several pictures."""
    noise, flicker = m.still.noise, m.still.flicker
    yield grade_brightness(m.light)
    if not math.isnan(noise):
        words = Sentence("{levels} grey levels from picture to picture", levels=f"{noise:.1f}")
        todo = Sentence("more light and less camera.gain")
        yield _graded("noise", noise, (MOST_NOISE, 2 * MOST_NOISE), words, todo)
    if not math.isnan(flicker):
        percent = f"{100 * flicker:.1f}"
        words = Sentence("brightness swings by {percent} % from picture to picture", percent=percent)
        yield _graded("flicker", flicker, (_FLICKERS, FLICKER), _with_mains(words, m), _steadier(m, camera))


def _with_mains(words: str, m: Measured) -> str:
    if m.mains.hz is None:
        return words
    return Sentence(
        "{what}; lamps on {hz} Hz mains make the light swing by {percent} %",
        what=words, hz=m.mains.hz, percent=f"{100 * m.mains.ripple:.1f}",
    )  # fmt: skip


def _steadier(m: Measured, camera: CameraSettings | None) -> str:
    """Return the remedy for flicker."""
    hz = m.mains.hz if camera is None else m.mains.hz or camera.mains_hz
    if hz is None:
        return Sentence("set camera.mains_hz = 50 or 60 and camera.fps = 25 or 30, or use a lamp that does not flicker")
    if camera is not None and not is_steady(camera.fps, hz):
        said = "set camera.fps = {fps}, at which the bands of {hz} Hz lamps stand still"
        return Sentence(said, fps=f"{steady_rate(hz):g}", hz=hz)
    return Sentence("use a lamp that does not flicker")


def advised_exposure(m: Measured, camera: CameraSettings) -> Exposure:
    """Return a better exposure, from measurements with the camera's present settings."""
    hz = (m.mains.hz or camera.mains_hz) if m.flicker > _FLICKERS else None
    return advise(m.light, m.still.noise, camera.exposure_us, camera.gain, camera.fps, mains_hz=hz)


def _grade_motion(m: Measured, camera: CameraSettings) -> Check:
    scale = m.found.table.view.scale((0.0, 0.0))
    moved = smear_px(camera.exposure_us, scale)
    best = advised_exposure(m, camera)
    words = Sentence(
        "in {us} µs a card laid at 2 m/s moves {mm} mm ({px} px); cards at rest are not smeared",
        us=camera.exposure_us, mm=f"{moved / scale:.1f}", px=f"{moved:.0f}",
    )  # fmt: skip
    todo = []
    if best.differs(camera.exposure_us, camera.gain):
        said = "set camera.exposure_us = {us} and camera.gain = {gain}"
        todo.append(Sentence(said, us=best.exposure_us, gain=f"{best.gain:g}"))
    if best.more_light > 1.2:
        todo.append(Sentence("the light is short by {times} times: add a lamp", times=f"{best.more_light:.1f}"))
    check = _graded("motion blur", moved / scale, _SMEARED_MM, words)
    return replace(check, mend=joined(todo))


# Printed report


def print_words(items: Sequence[Check], seats: Mapping[str, float]) -> None:
    """Print a line for each measurement, and the seats' bearings."""
    table = Table(box=None, show_header=False, pad_edge=False)
    for item in items:
        words = translate(item.words) + (f"\n→ {translate(item.mend)}" if item.mend else "")
        graded, name = here()(f"grade.{item.state}"), here()(f"measured.{item.part.replace(' ', '_')}")
        table.add_row(f"[{COLOURS[item.state]}]{graded}[/]", name, words)
    if seats:
        stand = ", ".join(f"{name} {bearing:.0f}°" for name, bearing in seats.items())
        table.add_row("", here()("measured.seats"), stand)
    Console(highlight=False).print(table)


def print_json(items: Sequence[Check], m: Measured, seats: Mapping[str, float], camera: CameraSettings | None) -> None:
    """Print all measurements as one JSON object."""
    out: dict[str, Any] = {
        "items": [{"name": item.part, "grade": item.state, "words": item.words, "todo": item.mend} for item in items],
        "calibration": section_of(m),
        "seats": {name: round(bearing, 1) for name, bearing in seats.items()},
        "noise": None if math.isnan(m.still.noise) else round(m.still.noise, 2),
        "flicker": None if math.isnan(m.still.flicker) else round(m.still.flicker, 4),
        "white": round(m.light.white, 1),
        "mains_hz": m.mains.hz,
        "ripple": round(m.mains.ripple, 4),
    }
    if camera is not None:
        out["exposure"] = asdict(advised_exposure(m, camera))
    print(json.dumps(out, ensure_ascii=False))


# Drawn report


class _Pen:
    """Draws with line widths in proportion to the picture."""

    def __init__(self, image: Any) -> None:
        self.image = image
        self._texts: list[tuple[str, tuple[float, float], tuple[int, int, int], float]] = []
        self.unit = max(image.shape[:2]) / 1200

    def lines(self, points: Floats, colour: tuple[int, int, int], width: float, *, closed: bool = False) -> None:
        shifted = np.rint(points * 16).astype(np.int32)
        thick = max(1, round(width * self.unit))
        cv2.polylines(self.image, [shifted], closed, colour, thick, cv2.LINE_AA, 4)

    def words(self, text: str, at: tuple[float, float], colour: tuple[int, int, int], size: float = 19.0) -> None:
        """Add text centred on ``at``; `written` draws it on top of everything else."""
        self._texts.append((text, at, colour, size))

    def written(self) -> Any:
        """Return the picture with its texts, all inside it."""
        from PIL import Image, ImageDraw, ImageFont

        sheet = Image.fromarray(cv2.cvtColor(self.image, cv2.COLOR_BGR2RGB))
        pen = ImageDraw.Draw(sheet)
        rows, columns = self.image.shape[:2]
        for text, (x, y), (blue, green, red), size in self._texts:
            font = ImageFont.truetype(font_file("Roboto-Medium"), max(9, round(size * self.unit)))
            stroke = max(2, round(2.2 * self.unit))
            left, top, right, bottom = pen.textbbox((0, 0), text, font=font, stroke_width=stroke)
            wide, high = right - left, bottom - top
            at = (
                min(max(x - wide / 2, 4), columns - wide - 4) - left,
                min(max(y - high / 2, 4), rows - high - 4) - top,
            )
            pen.text(at, text, font=font, fill=(red, green, blue), stroke_width=stroke, stroke_fill=(0, 0, 0))
        return cv2.cvtColor(np.asarray(sheet), cv2.COLOR_RGB2BGR)


def _grid(pen: _Pen, m: Measured) -> None:
    view = m.found.table.view
    layer = pen.image.copy()
    thin = _Pen(layer)
    for line in grid(m.found.area, _GRID_MM):
        thin.lines(view.to_px(line), _GREY, 1.2)
    cv2.addWeighted(layer, 0.55, pen.image, 0.45, 0, dst=pen.image)
    sides = np.concatenate([m.found.area, m.found.area[:1]])
    along = np.concatenate([np.linspace(a, b, 25) for a, b in pairwise(sides)])
    pen.lines(view.to_px(along), _YELLOW, 2.5, closed=True)


def draw_measured(image: Any, m: Measured, bearings: Mapping[str, float]) -> Any:
    """Return the picture with everything that was found (H x W x 3); ``bearings`` by the seats' names, degrees."""
    pen = _Pen(image.copy())
    _grid(pen, m)
    for outline, name in zip(m.found.outlines, m.found.names, strict=True):
        pen.lines(outline, _GREEN, 2.5, closed=True)
        top = outline[outline[:, 1].argmin()]
        pen.words(name, (float(top[0]), float(top[1]) - 14 * pen.unit), _GREEN)
    for x, y in np.rint(m.found.points).astype(int).tolist():
        cv2.circle(pen.image, (x, y), max(2, round(3 * pen.unit)), _GREEN, -1, cv2.LINE_AA)
    # A card's outline in the middle of the playing area, with its height.
    half = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * (WIDTH_MM / 2, HEIGHT_MM / 2)
    quad = m.found.table.view.to_px(half + m.found.area.mean(axis=0))
    pen.lines(quad, _YELLOW, 2, closed=True)
    pen.lines(np.array([(quad[0] + quad[1]) / 2, (quad[2] + quad[3]) / 2]), _YELLOW, 2)
    middle, least, most = m.heights
    below = (float(quad[:, 0].mean()), float(quad[:, 1].max()) + 16 * pen.unit)
    pen.words(f"card {middle:.0f} px ({least:.0f} to {most:.0f})", below, _YELLOW)
    rows, columns = pen.image.shape[:2]
    centre = np.array([columns / 2, rows / 2])
    for name, bearing in bearings.items():
        way = np.array([math.cos(math.radians(bearing)), -math.sin(math.radians(bearing))])
        rim = min(centre[0] / max(abs(way[0]), 1e-9), centre[1] / max(abs(way[1]), 1e-9))
        pen.lines(np.array([centre + way * rim * 0.72, centre + way * rim]), _BLUE, 4)
        x, y = (centre + way * rim * 0.66).tolist()
        pen.words(f"{name} {bearing:.0f}°", (x, y), _BLUE, 26.0)
    words = f"grid {_GRID_MM:.0f} mm, tilt {m.found.table.tilt:.0f}°, edges {m.edge_px:.1f} px"
    pen.words(words, (columns / 2, rows - 14 * pen.unit), _GREY)
    return pen.written()


def write_picture(path: Path, image: Any) -> None:
    """Write a picture.

    Raises:
        UserError: it cannot be written.
    """
    try:
        written = cv2.imwrite(str(path), image)
    except cv2.error:
        written = False
    if not written:
        raise UserError("--draw: {path} cannot be written; name a .jpg or .png file in a folder that exists", path=path)
