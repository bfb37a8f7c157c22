"""Finds the table in pictures, by the printed sheet or by four cards, or says what is wrong.

It also makes the printable page of the sheet: the board, a line to check the scale of the print, and instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np

from hardware.fonts import font_file
from models.eye.geometry import Floats
from models.table_view import corner_cards, sheet
from models.table_view.edges import refined_corners, softness, spreads
from models.table_view.lens import LensFound, measure_lens
from models.table_view.table_map import NoTable, TableFound, fit_table, project, seen_area
from referee.errors import UserError
from referee.sentence import Sentence

if TYPE_CHECKING:
    from models.eye.eye import CardSeen, Eye

PAPERS: Final = {"a4": (210.0, 297.0), "letter": (215.9, 279.4)}
"""Width and height, mm."""
SCALE: Final = 20
"""Pixels per millimetre: 508 per inch, so that both papers and every square end on whole pixels."""
_TOP_MM: Final = 22.0
"""Top of the board on the page, mm."""
_LINE_MM: Final = 150
"""Length of the line that shows whether the print is true to size."""

_SOFT: Final = 6.0
"""Width of a picture's hardest edges, px, from which on it is too blurred for finding anything."""
_SOFTER: Final = 5.0
"""The same, if blur, rather than a hand, hides a part of the sheet."""
_DARK_MEAN, _DARK_BRIGHTEST = 24.0, 60.0
_NAMED: Final = 0.5
_SURE: Final = 0.9
_MISFIT_PX: Final = 3.0
"""Error above which four cards do not match the assumed size, or are not flat, px."""
BENT_PX: Final = 1.5
_SAME_VIEW_PX: Final = 1.0
"""Maximum distance of the sheet's corners in two pictures of the same view, px."""
_RIM_PX: Final = 2.0
"""Distance from the picture's rim within which a card's edge is not visible, px."""
_SPREAD_OUT: Final = 8.0
"""Area that the cards' centres must span, in card areas: otherwise the table's far edge is uncertain."""
_WORDS: Final = (
    "1.  Print at 100 % (“actual size”; never “fit to page”). The line above must measure 150 mm with a ruler.",
    "2.  Lay the sheet flat in the middle of the table: whole in the camera’s picture, nothing on it, no shine on it.",
    "3.  referee calibrate --settings table.toml      finds the table and says how well the camera sees it.",
    "4.  For the lens: take more pictures of the sheet, tilted each time another way: referee calibrate --help",
)


def board_origin(paper: str) -> tuple[float, float]:
    """Return the position of the board's upper left corner on the page, mm."""
    return (PAPERS[paper][0] - sheet.BOARD_MM[0]) / 2, _TOP_MM


def draw_page(paper: str = "a4") -> Any:
    """Draw the page, a Pillow picture of one channel at `SCALE` px/mm.

    Args:
        paper: one of `PAPERS`.
    """
    from PIL import Image, ImageDraw, ImageFont

    width, height = PAPERS[paper]
    printed = Image.new("L", (round(width * SCALE), round(height * SCALE)), 255)
    x, y = board_origin(paper)
    printed.paste(Image.fromarray(sheet.board_picture(SCALE)), (round(x * SCALE), round(y * SCALE)))
    pen = ImageDraw.Draw(printed)

    def write(words: str, left: float, top: float, size: float, name: str) -> None:
        # The font would draw two hyphens as one dash, and people would type it: a hair space keeps them apart.
        words = words.replace("--", "-\u200a-")
        font = ImageFont.truetype(font_file(name), round(size * SCALE))
        pen.text((left * SCALE, top * SCALE), words, fill=0, font=font)

    write("Table Referee: calibration sheet", x, 9.0, 6.0, "Roboto-Bold")
    below = y + sheet.BOARD_MM[1] + 3.5
    thick = 0.3

    def bar(x0: float, y0: float, x1: float, y1: float) -> None:
        pen.rectangle([round(v * SCALE) for v in (x0, y0)] + [round(v * SCALE) - 1 for v in (x1, y1)], fill=0)

    bar(x, below, x + _LINE_MM, below + thick)
    for mm in range(0, _LINE_MM + 1, 10):
        # The end bars are flush with the line: it is measured from outer edge to outer edge.
        at = x + mm - thick * mm / _LINE_MM
        bar(at, below, at + thick, below + (3.0 if mm % 50 == 0 else 1.6))
    for mm in range(0, _LINE_MM, 50):
        write(f"{mm}", x + mm + 0.8, below + 1.6, 3.2, "Roboto-Regular")
    write(f"{_LINE_MM} mm", x + _LINE_MM + 1.2, below + 1.6, 3.2, "Roboto-Regular")
    for number, words in enumerate(_WORDS):
        write(words, x, below + 10.5 + 5.4 * number, 3.6, "Roboto-Regular")
    return printed


def write_sheet(path: Path, paper: str = "a4") -> None:
    """Write the sheet as a PNG or PDF file that prints at exact size.

    Raises:
        UserError: the file has another suffix, or cannot be written.
    """
    if path.suffix.lower() not in (".png", ".pdf"):
        raise UserError("--sheet {path}: name a file that ends in .png or .pdf", path=path)
    printed, dots = draw_page(paper), SCALE * 25.4
    try:
        if path.suffix.lower() == ".pdf":
            # Black and white only: a small file with hard edges.
            printed.convert("1").save(path, "PDF", resolution=dots, title="Table Referee: calibration sheet")
        else:
            printed.save(path, "PNG", dpi=(dots, dots), optimize=True)
    except OSError as error:
        raise UserError("--sheet {path} cannot be written: {why}", path=path, why=error.strerror) from None


@dataclass(frozen=True, slots=True)
class TableMatch:
    """The table, and the marks by which it was found."""

    source: str
    """``sheet`` or ``cards``."""
    words: str
    table: TableFound
    area: Floats
    """(4, 2) mm: the playing area."""
    outlines: tuple[Floats, ...]
    """Outlines of the board or the cards, (4, 2) px each."""
    names: tuple[str, ...]
    points: Floats
    """(n, 2) px: the corners by which the table was found."""
    edges_px: Floats
    """Width of each edge from dark to light, px."""
    lens: LensFound


def _grey_of(image: Any) -> Any:
    return cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)


def _refuse_soft(image: Any, most: float = _SOFT) -> None:
    soft = softness(_grey_of(image))
    if soft > most:
        raise UserError(
            "the picture is blurred (its hardest edges spread over about {soft} px): turn the "
            "lens's ring, or set the lens position, until print on the table is sharp; see that "
            "the camera does not shake",
            soft=f"{soft:.0f}",
        )


def _mirrored_words(by: str) -> UserError:
    return UserError(
        "the picture is mirrored ({by} can be read only in a mirror): switch off mirroring "
        "(hflip or vflip alone) in the camera's settings; a picture turned by 180 degrees is "
        "fine",
        by=by,
    )


def _find_by_sheet(images: Sequence[Any], views: Sequence[sheet.SheetSeen | None]) -> TableMatch:
    """Find the table by the sheet in the first picture; other views of the sheet may reveal the lens.

    Raises:
        UserError: the sheet is missing, incomplete, or bent; says what to do.
    """
    image, seen = images[0], views[0]
    if seen is None or len(seen.ids) < sheet.ENOUGH:
        if sheet.mirrored_sheet(image):
            raise _mirrored_words("the sheet")
        _refuse_soft(image, _SOFT if seen is None else _SOFTER)
        if seen is None:
            raise UserError(
                "no calibration sheet is in the picture: print one (referee calibrate --sheet sheet.pdf), lay it flat "
                "in the middle of the table, and see that no hand or shine hides it"
            )
        raise UserError(
            "only {many} of the sheet's {corners} corners can be seen: move it wholly into the "
            "picture, and take off what lies on it or shines on it",
            many=len(seen.ids),
            corners=sheet.CORNERS,
        )
    size = (image.shape[1], image.shape[0])
    lens = measure_lens(_different_views(views), size)
    try:
        table = fit_table(seen.mm, seen.px, size, lens.lens)
    except NoTable as error:
        raise UserError("the sheet does not lie flat ({why}): lay it flat on the table", why=error) from None
    scale = table.view.scale((0.0, 0.0))
    board = project(table.from_source, sheet.outline())
    edges = [table.view.to_px(project(table.from_source, edge)) for edge in sheet.rims()]
    rims = [(edge[0], edge[1]) for edge in edges if (edge > 0).all() and (edge < size).all()]
    words = Sentence("the sheet, {many} of {corners} corners", many=len(seen.ids), corners=sheet.CORNERS)
    return TableMatch(
        "sheet", words, table, seen_area(table.view),
        (table.view.to_px(board),), ("sheet",), seen.px,
        spreads(_grey_of(image), rims, 0.95 * sheet.RIM_MM * scale), lens,
    )  # fmt: skip


def _different_views(views: Sequence[sheet.SheetSeen | None]) -> list[sheet.SheetSeen]:
    """Return one picture of each view of the sheet."""

    def is_same(one: sheet.SheetSeen, other: sheet.SheetSeen) -> bool:
        places = dict(zip(one.ids.tolist(), one.px, strict=True))
        both = [(places[n], px) for n, px in zip(other.ids.tolist(), other.px, strict=True) if n in places]
        return len(both) >= 4 and float(np.median([np.linalg.norm(a - b) for a, b in both])) < _SAME_VIEW_PX

    kept: list[sheet.SheetSeen] = []
    for view in views:
        if view is not None and len(view.ids) >= 6 and not any(is_same(view, other) for other in kept):
            kept.append(view)
    return kept


def find_by_cards(image: Any, eye: Eye, size_name: str | None = None) -> TableMatch:
    """Find the table by four cards in the corners of the playing area.

    Args:
        image: H x W x 3.
        eye: finds the cards.
        size_name: one of `corner_cards.CARD_SIZES`; None: the one that fits.

    Raises:
        UserError: there are not four, they overlap, or do not fit a plane; says what to do.
    """
    grey = _grey_of(image)
    seen = _see_cards(grey, image, eye)
    quads = [corner_cards.upright(np.asarray(s.corners, np.float64)) for s in seen]
    names = [s.card for s in seen]
    _refuse_wrong_cards(image, eye, quads, names)
    quads = [corner_cards.sharpened(grey, quad) for quad in quads]
    size = (image.shape[1], image.shape[0])
    for name, quad in zip(names, quads, strict=True):
        if (quad < _RIM_PX).any() or (quad > np.array(size) - 1 - _RIM_PX).any():
            raise UserError("the card {name} is not whole in the picture: lay it nearer to the middle", name=name)
    sizes = corner_cards.CARD_SIZES if size_name is None else {size_name: corner_cards.CARD_SIZES[size_name]}
    try:
        tried = {name: corner_cards.fit_cards(quads, size, mm) for name, mm in sizes.items()}
    except NoTable as error:
        raise UserError("the four cards tell no table ({why}): lay them flat, one in each corner", why=error) from None
    best = min(tried, key=lambda name: tried[name].table.error_px)
    found = tried[best]
    if found.table.error_px > _MISFIT_PX:
        raise UserError(
            "the four cards do not fit together as flat cards of {sizes} size (off by {error_px} "
            "px): use four cards of one pack, unbent, flat on the table",
            sizes=" or ".join(sizes),
            error_px=f"{found.table.error_px:.1f}",
        )
    tall = found.table.view.scale((0.0, 0.0))
    sides = [(quad[k], quad[(k + 1) % 4]) for quad in quads for k in range(4)]
    lens = LensFound(None, 0, float("nan"), Sentence("cards are too small to tell the lens: see the sheet"))
    words = Sentence("four cards of {size} size ({names})", size=best, names=", ".join(names))
    return TableMatch(
        "cards", words, found.table, found.area, found.quads, tuple(names),
        np.concatenate(quads), spreads(grey, sides, 3.0 * tall), lens,
    )  # fmt: skip


def _see_cards(grey: Any, image: Any, eye: Eye) -> list[CardSeen]:
    """Return the cards that the eye names, and unnamed ones with four straight edges."""
    seen = []
    for card in eye.recognise(image):
        quad = np.asarray(card.corners, np.float64)
        reach = 0.06 * float(np.linalg.norm(quad[2] - quad[1]))
        if card.confidence >= _NAMED or refined_corners(grey, quad, reach) is not None:
            seen.append(card)
    # Weak readings that overlap surer ones are misread parts of them.
    quads = [np.asarray(card.corners, np.float64) for card in seen]
    weak = {max(pair, key=lambda k: -seen[k].confidence) for pair in corner_cards.overlapping(quads)}
    return [card for k, card in enumerate(seen) if k not in weak or card.confidence >= _SURE]


def _refuse_wrong_cards(image: Any, eye: Eye, quads: Sequence[Floats], names: Sequence[str]) -> None:
    over = corner_cards.overlapping(quads)
    if over:
        one, other = over[0]
        raise UserError(
            "two cards lie over each other ({names} and {names2}): lay four cards apart, one in "
            "each corner of the playing area",
            names=names[one],
            names2=names[other],
        )
    if len(quads) != corner_cards.FOUR_CARDS:
        # Cards that can be read only in the mirror image mean a mirrored picture.
        turned = [s for s in eye.recognise(np.ascontiguousarray(image[:, ::-1])) if s.confidence >= _SURE]
        if len(turned) >= corner_cards.FOUR_CARDS:
            raise _mirrored_words("the cards")
        _refuse_soft(image)
        told = f" ({', '.join(names)})" if names else ""
        number = "no card is" if not quads else "one card is" if len(quads) == 1 else f"{len(quads)} cards are"
        todo = "take the others away" if len(quads) > corner_cards.FOUR_CARDS else "each whole in the picture"
        raise UserError(
            "{number} seen{told}, and four are needed: lay four cards face up, one in each corner "
            "of the playing area, {todo}",
            number=number,
            told=told,
            todo=todo,
        )
    middles = np.array([quad.mean(axis=0) for quad in quads], np.float32)
    spanned = float(cv2.contourArea(cv2.convexHull(middles)))
    if spanned < _SPREAD_OUT * float(np.mean([cv2.contourArea(quad.astype(np.float32)) for quad in quads])):
        raise UserError("the four cards lie too near to each other or in a row: lay one in each corner of the area")


def find_table(images: Sequence[Any], by: str, eye: Any, size_name: str | None = None) -> TableMatch:
    """Find the table in the first picture.

    Args:
        images: H x W x 3 each, of one size; further ones are other views of the sheet, or the same view again.
        by: ``sheet``, ``cards``, or ``auto``: the sheet if a part of it is visible.
        eye: returns the eye when needed.
        size_name: see `find_by_cards`.

    Raises:
        UserError: it cannot be found; says what to do.
    """
    brightest = float(np.percentile(images[0], 99.5))
    if float(images[0].mean()) < _DARK_MEAN or brightest < _DARK_BRIGHTEST:
        raise UserError(
            "the picture is too dark (its brightest parts reach {brightest} of 255): take off the "
            "lens's cap, switch on a lamp, or raise camera.exposure_us and camera.gain in the "
            "settings",
            brightest=f"{brightest:.0f}",
        )
    views = [None] * len(images) if by == "cards" else [sheet.find_sheet(image) for image in images]
    if by == "sheet" or views[0] is not None or (by == "auto" and sheet.mirrored_sheet(images[0])):
        return _find_by_sheet(images, views)
    try:
        return find_by_cards(images[0], eye(), size_name)
    except UserError as error:
        if by == "auto" and str(error).startswith("no card is"):
            raise UserError(
                "neither a calibration sheet nor a card is in the picture: lay the sheet in the middle of the table "
                "(referee calibrate --sheet sheet.pdf prints one), or four cards face up in the playing area's corners"
            ) from None
        raise
