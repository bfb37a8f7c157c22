"""The drawing of the table without solder: each wire from a Raspberry Pi Pico to a button.

Pins are those of docs/pad_board.py.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Final

from referee.setup.blueprint import FAINT, INK, LABEL, PAPER, SHADE, SMALL, STROKES, WIRE, Blueprint

_SKETCH: Final = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "pad_board.py"))
PADS: Final[tuple[int, ...]] = _SKETCH["PINS"]
LAMPS: Final[tuple[int, ...]] = _SKETCH["LAMPS"]
GROUNDS: Final = (3, 8, 13, 18)
"""The Pico's pins for the grounds of seats 1 to 4, and again of 5 to 8."""
_WIDTH: Final = 980
_ROW: Final = 30
_TOP: Final = 130
_PICO: Final = (300, 480)
"""Left and right side of the Pico."""


def pico_pin(gpio: int) -> int:
    """Return the place of a GPIO among the Pico's 40 pins, by its data sheet: a ground follows every fourth of them."""
    return gpio + 1 + (gpio + 2) // 4


def pin_uses() -> dict[int, tuple[str, str]]:
    """Return by pin of the Pico the wire's kind (pad, light, ground) and its words."""
    uses = {pico_pin(gpio): ("pad", f"GP{gpio}: pad {seat}") for seat, gpio in enumerate(PADS, start=1)}
    uses |= {pico_pin(gpio): ("light", f"GP{gpio}: light {seat}") for seat, gpio in enumerate(LAMPS, start=1)}
    for seat, pin in enumerate(GROUNDS, start=1):
        uses[pin] = ("ground", f"GND: grounds {seat} and {seat + len(GROUNDS)}")
    return uses


def buttons_svg() -> str:
    """Draw the Pico with its wires, and a button with the four wires of its cable."""
    sheet = Blueprint(
        _WIDTH, _TOP + 20 * _ROW + 50, "Buttons on a Raspberry Pi Pico, seen from above, its USB socket at the top",
        "each seat: pad, light and two wires to ground; four seats use the left side alone",
    )  # fmt: skip
    left, right = _PICO
    sheet.rect(left, _TOP - 26, right - left, 20 * _ROW + 20, SHADE, radius=8)
    sheet.rect((left + right) / 2 - 30, _TOP - 40, 60, 40)
    sheet.text((left + right) / 2, _TOP - 16, "USB", "middle", SMALL)
    uses = pin_uses()
    for pin in range(1, 41):
        is_left = pin <= 20
        x, side = (left, -1) if is_left else (right, 1)
        y = _TOP + 10 + _ROW * ((pin - 1) if is_left else (40 - pin))
        kind, words = uses.get(pin, ("free", ""))
        fill = INK if kind == "ground" else STROKES[kind][0] if kind in STROKES else PAPER
        with sheet.group(data_pin=pin, data_kind=kind):
            if kind != "free":
                colour, dashes = STROKES.get(kind, (INK, ""))
                sheet.line((x, y), (x + side * 50, y), stroke=colour, width=WIRE, dashes=dashes)
                sheet.text(x + side * 58, y + 5, words, "end" if is_left else "start", LABEL)
            sheet.circle(x, y, 9, fill)
            sheet.text(
                x - side * 16, y + 4.5, str(pin), "start" if is_left else "end", SMALL,
                FAINT if kind == "free" else INK,
            )  # fmt: skip
    _draw_button(sheet, 600, _TOP + 10)
    return sheet.svg()


def _draw_button(sheet: Blueprint, left: float, top: float) -> None:
    sheet.text(left, top, "Each button, seen from behind", size=LABEL)
    sheet.rect(left + 180, top + 30, 170, 284, SHADE, radius=8)
    sheet.text(left + 265, top + 54, "lamp (LED)", "middle")
    sheet.line((left + 196, top + 166), (left + 334, top + 166), stroke=FAINT)
    sheet.text(left + 265, top + 188, "microswitch", "middle")
    for row, (kind, wire, blade) in enumerate((
        ("light", "1  light", "+ (long)"), ("ground", "2  ground", "− (short)"),
        ("ground", "3  ground", "COM"), ("pad", "4  pad", "NO"), ("", "", "NC: stays free"),
    )):  # fmt: skip
        y = top + 84 + 40 * row + (50 if row > 1 else 0)
        if kind:
            colour, dashes = STROKES.get(kind, (INK, ""))
            sheet.line((left + 84, y), (left + 180, y), stroke=colour, width=WIRE, dashes=dashes)
            sheet.text(left, y + 5, wire, size=LABEL)
        sheet.rect(left + 174, y - 6, 26, 12)
        sheet.text(left + 210, y + 5, blade)
    sheet.lines(
        left, top + 350,
        ("Flat cable, its wires in this order: the two", "grounds lie between light and pad.",
         "If a lamp stays dark, swap its two wires."),
    )  # fmt: skip
