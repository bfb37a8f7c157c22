"""The calibration sheet as a page to print: the board, a line by which the print's scale is checked, and what to do."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Final

from referee.app.problems import UserError

PAPERS: Final = {"a4": (210.0, 297.0), "letter": (215.9, 279.4)}
"""Width and height, mm."""
SCALE: Final = 20
"""Pixels a millimetre: 508 to the inch, with which both papers and every square end on whole pixels."""
TOP_MM: Final = 22.0
"""Where the board begins."""
LINE_MM: Final = 150
"""Length of the line that tells whether the print has its true size."""
SUFFIXES: Final = (".png", ".pdf")

_WORDS: Final = (
    "1.  Print at 100 % (“actual size”; never “fit to page”). The line above must measure 150 mm with a ruler.",
    "2.  Lay the sheet flat in the middle of the table: whole in the camera’s picture, nothing on it, no shine on it.",
    "3.  referee calibrate --settings table.toml      finds the table and says how well the camera sees it.",
    "4.  For the lens: take more pictures of the sheet, tilted each time another way: referee calibrate --help",
)


def board_origin(paper: str) -> tuple[float, float]:
    """Where the board's upper left lies on the page, mm."""
    from models.sheet import BOARD_MM

    return (PAPERS[paper][0] - BOARD_MM[0]) / 2, TOP_MM


def page(paper: str = "a4") -> Any:
    """The page, a Pillow picture of one channel at `SCALE` px/mm.

    Args:
        paper: one of `PAPERS`.
    """
    import font_roboto
    from PIL import Image, ImageDraw, ImageFont

    from models.sheet import BOARD_MM, board_picture

    width, height = PAPERS[paper]
    sheet = Image.new("L", (round(width * SCALE), round(height * SCALE)), 255)
    x, y = board_origin(paper)
    sheet.paste(Image.fromarray(board_picture(SCALE)), (round(x * SCALE), round(y * SCALE)))
    pen = ImageDraw.Draw(sheet)

    def write(words: str, left: float, top: float, size: float, font: str) -> None:
        # Two hyphens would be drawn as one dash, and typed so: a hair space keeps them apart.
        words = words.replace("--", "-\u200a-")
        pen.text((left * SCALE, top * SCALE), words, fill=0, font=ImageFont.truetype(font, round(size * SCALE)))

    write("Table Referee: calibration sheet", x, 9.0, 6.0, font_roboto.RobotoBold)
    below = y + BOARD_MM[1] + 3.5
    _ruler(pen, x, below, write, font_roboto.Roboto)
    for number, words in enumerate(_WORDS):
        write(words, x, below + 10.5 + 5.4 * number, 3.6, font_roboto.Roboto)
    return sheet


def _ruler(pen: Any, left: float, top: float, write: Any, font: str) -> None:
    """A line of `LINE_MM` with a tick for each centimetre."""
    thick = 0.3

    def bar(x0: float, y0: float, x1: float, y1: float) -> None:
        pen.rectangle([round(v * SCALE) for v in (x0, y0)] + [round(v * SCALE) - 1 for v in (x1, y1)], fill=0)

    bar(left, top, left + LINE_MM, top + thick)
    for mm in range(0, LINE_MM + 1, 10):
        # Ends are flush with the line's: from outer edge to outer edge it is the whole length.
        at = left + mm - thick * mm / LINE_MM
        bar(at, top, at + thick, top + (3.0 if mm % 50 == 0 else 1.6))
    for mm in range(0, LINE_MM + 1, 50):
        write(
            f"{mm} mm" if mm == LINE_MM else f"{mm}", left + mm + (0.8 if mm < LINE_MM else 1.2), top + 1.6, 3.2, font
        )


def write_sheet(path: Path, paper: str = "a4") -> None:
    """Write the sheet as a PNG or PDF file whose size in print is exact.

    Raises:
        UserError: the name ends otherwise, or the file cannot be written.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UserError(f"--sheet {path}: name a file that ends in .png or .pdf")
    sheet, dots = page(paper), SCALE * 25.4
    data = io.BytesIO()
    if path.suffix.lower() == ".pdf":
        # Black and white alone, so that the file is small and its edges are hard.
        sheet.convert("1").save(data, "PDF", resolution=dots, title="Table Referee: calibration sheet")
    else:
        sheet.save(data, "PNG", dpi=(dots, dots), optimize=True)
    try:
        path.write_bytes(data.getvalue())
    except OSError as bad:
        raise UserError(f"--sheet {path} cannot be written: {bad.strerror}") from None
