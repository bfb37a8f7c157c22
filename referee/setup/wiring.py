"""`referee wiring`: the 40-pin header and every wire on it, drawn as SVG, from the settings or the default pin map.

What a wire is shows three times: in words, in its stroke (pads solid, lights dashed, colours dotted, SPI dash-dotted)
and in its colour; so it can be read without the last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal
from xml.sax.saxutils import escape

from hardware.pads.pinout import PAD_PINS, SEAT_LIGHT_PINS, TABLE_LIGHT_PINS
from referee.errors import UserError

if TYPE_CHECKING:
    from referee.settings.model import Settings

Kind = Literal["pad", "light", "colour", "force", "ground", "3.3 V", "5 V", "free"]

# BCM numbers by their places on the header, pin 1 first (Raspberry Pi documentation, "GPIO and the 40-pin header").
_BCM: Final[tuple[int | Literal["3.3 V", "5 V", "ground"], ...]] = (
    "3.3 V", "5 V", 2, "5 V", 3, "ground", 4, 14, "ground", 15, 17, 18, 27, "ground", 22, 23, "3.3 V", 24, 10, "ground",
    9, 25, 11, 8, "ground", 7, 0, 1, 5, "ground", 6, 12, 13, "ground", 19, 16, 26, 20, "ground", 21,
)  # fmt: skip
SPI: Final = {10: "DIN", 9: "DOUT", 11: "CLK", 8: "CS"}
"""The header's SPI0, BCM numbers, by the names that the MCP3008's pins have."""
_SEAT_OHMS: Final = 330
_TABLE_OHMS: Final = {"red": 330, "green": 100, "blue": 100}
"""Green and blue need most of the 3.3 V for themselves."""
_LONGEST: Final = 10
"""Letters of a name that have room in the picture."""
_ROW: Final = 34
_TOP: Final = 92
_WIDTH: Final = 980
_MIDDLE: Final = _WIDTH / 2
_APART: Final = 17
"""From the middle to either row of pins."""
_RIM: Final = 74
"""From the middle to where wires begin."""
_PART: Final = 330
"""From the middle to where parts stand."""
_INK: Final = "#1b1b1b"
STROKES: Final = {
    "pad": ("#0b5cad", ""), "light": ("#b35900", "9 4"), "colour": ("#7a1fa2", "2 4"), "force": ("#00695c", "10 3 2 3"),
}  # fmt: skip
"""Colour and dashes of each kind of wire."""
_FILLS: Final = {"ground": _INK, "3.3 V": "#ffffff", "5 V": "#ffffff", "free": "#d9d9d9"}


@dataclass(frozen=True, slots=True)
class HeaderPin:
    """One pin of the header."""

    number: int
    """1 to 40, as they are counted on the board: odd ones in one row, even ones in the other."""
    bcm: int | None
    kind: Kind
    label: str = ""
    ohms: int = 0
    """Of the resistor in the wire; 0 where there is none."""


@dataclass(frozen=True, slots=True)
class PinMap:
    """BCM numbers of everything that is wired; by default as the referee takes it without settings."""

    pads: tuple[int | None, ...] = PAD_PINS
    """None: that seat's pad is no wire."""
    lights: tuple[int, ...] = SEAT_LIGHT_PINS
    table: tuple[int, int, int] | None = TABLE_LIGHT_PINS
    names: tuple[str, ...] = ()
    """The seats' names; empty where they have none."""
    force: bool = False
    active_high: bool = False


def pin_map_of(settings: Settings) -> PinMap:
    """The pin map that the settings say."""
    lit = settings.lights.enabled
    return PinMap(
        tuple(seat.pad_pin for seat in settings.seats),
        tuple(seat.light for seat in settings.seats) if lit else (),
        settings.lights.table if lit else None,
        tuple(seat.name for seat in settings.seats),
        settings.pads.force,
        settings.pads.active_high,
    )


def header_pins(pins: PinMap) -> list[HeaderPin]:
    """All 40 pins, in the order of their numbers."""

    def name(seat: int) -> str:
        if not pins.names:
            return ""
        words = pins.names[seat - 1]
        return f" {words}" if len(words) <= _LONGEST else f" {words[: _LONGEST - 1]}…"

    uses: dict[int, tuple[Kind, str, int]] = {}
    for seat, bcm in enumerate(pins.pads, start=1):
        if bcm is None:
            continue
        uses[bcm] = ("pad", f"pad {seat}{name(seat)}", 0)
    for seat, bcm in enumerate(pins.lights, start=1):
        uses[bcm] = ("light", f"light {seat}{name(seat)}", _SEAT_OHMS)
    for (colour, ohms), bcm in zip(_TABLE_OHMS.items(), pins.table or (), strict=False):
        uses[bcm] = ("colour", f"table light, {colour}", ohms)
    if pins.force:
        uses |= {bcm: ("force", f"MCP3008 {word}", 0) for bcm, word in SPI.items()}
    return [
        HeaderPin(number, there, *uses.get(there, ("free", "", 0)))
        if isinstance(there, int)
        else HeaderPin(number, None, there, there)
        for number, there in enumerate(_BCM, start=1)
    ]


def draw_wiring(out: Path, settings: Path | None, seats: int) -> int:
    """Draw the wiring of these settings, or of the default pin map for some seats; returns the exit status.

    Raises:
        UserError: the settings cannot be read, or the picture cannot be written.
    """
    from referee.settings.model import load_settings

    pins = pin_map_of(load_settings(settings)) if settings else PinMap(PAD_PINS[:seats], SEAT_LIGHT_PINS[:seats])
    if out.suffix.lower() != ".svg":
        raise UserError(f"--out {out}: name a file that ends in .svg")
    try:
        out.write_text(wiring_svg(pins), encoding="utf-8")
    except OSError as bad:
        raise UserError(f"--out {out} cannot be written: {bad.strerror}") from None
    print(f"{out}: {len(pins.pads) - pins.pads.count(None)} pads, {len(pins.lights)} lights")
    return 0


def wiring_svg(pins: PinMap) -> str:
    """The drawing, SVG."""
    height = _TOP + 20 * _ROW + 132
    seen_from = "pin 1 (square) is the corner nearest to the SD card; USB sockets are at the bottom"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        f'font-family="DejaVu Sans, Verdana, sans-serif" font-size="14" fill="{_INK}">',
        "<title>Table Referee: the wires on the Raspberry Pi's header</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(_MIDDLE, 30, "Table Referee: the Raspberry Pi’s header, seen from above", "middle", 20),
        _text(_MIDDLE, 54, seen_from, "middle"),
        f'<rect x="{_MIDDLE - 36}" y="{_TOP - 22}" width="72" height="{20 * _ROW + 10}" rx="6" fill="#efefef" '
        f'stroke="{_INK}"/>',
    ]
    header = header_pins(pins)
    for pin in header:
        lines += _draw_pin(pin, pins)
    # What each stroke means, and what goes to ground.
    kinds = {
        "pad": "pad: a contact to 3.3 V" if pins.active_high else "pad: a contact to ground (any black pin)",
        "light": "seat’s light: resistor, long leg of the LED, short leg to ground",
        "colour": "table’s light: one LED of three colours, common leg to ground",
        "force": "SPI to the MCP3008 (VDD and VREF to 3.3 V, AGND and DGND to ground)",
    }
    y = _TOP + 20 * _ROW + 18
    for kind, words in kinds.items():
        if kind in {pin.kind for pin in header}:
            lines += [_line(60, y, 130, y, *STROKES[kind]), _text(142, y + 5, words)]
            y += 22
    power = "black: ground.  white: power, never to a pin with a number behind GPIO.  grey: free."
    lines.append(_text(60, y + 5, power))
    return "\n".join([*lines, "</svg>", ""])


def _draw_pin(pin: HeaderPin, pins: PinMap) -> Iterator[str]:
    side, y = -1 if pin.number % 2 else 1, _TOP + ((pin.number - 1) // 2) * _ROW
    x = _MIDDLE + side * _APART
    is_wired = pin.kind in STROKES
    fill = STROKES[pin.kind][0] if is_wired else _FILLS[pin.kind]
    yield f'<g id="pin-{pin.number}" data-kind="{pin.kind}" data-bcm="{"" if pin.bcm is None else pin.bcm}">'
    if pin.number == 1:
        yield f'<rect x="{x - 13}" y="{y - 13}" width="26" height="26" fill="{fill}" stroke="{_INK}"/>'
    else:
        yield f'<circle cx="{x}" cy="{y}" r="13" fill="{fill}" stroke="{_INK}"/>'
    yield _text(x, y + 4.5, str(pin.number), "middle", 12, _INK if fill in ("#ffffff", "#d9d9d9") else "#ffffff")
    if is_wired:
        yield from _draw_wire(pin, side, y, is_high=pin.kind == "pad" and pins.active_high)
    label = pin.label if pin.bcm is None else f"GPIO {pin.bcm}"
    yield _text(
        _MIDDLE + side * (_RIM - 32), y - (5 if is_wired else -4.5), label,
        "end" if side < 0 else "start", 12, _INK if pin.kind != "free" else "#6b6b6b",
    )  # fmt: skip
    yield "</g>"


def _draw_wire(pin: HeaderPin, side: int, y: float, *, is_high: bool) -> Iterator[str]:
    """From the pin to its part: through a resistor if there is one, to ground (or to 3.3 V) in the end."""
    end = _MIDDLE + side * _PART
    yield _line(_MIDDLE + side * (_RIM - 40), y, end, y, *STROKES[pin.kind])
    if pin.ohms:
        at = _MIDDLE + side * 190
        box = f'<rect x="{at - 27}" y="{y - 9}" width="54" height="18" fill="#ffffff"'
        yield f'{box} stroke="{_INK}" stroke-width="1.5"/>'
        yield _text(at, y + 4.5, f"{pin.ohms} Ω", "middle", 12)
        # A diode that points away from the pin; its flat side, and short leg, lies towards ground.
        x = _MIDDLE + side * 262
        tip, back = x + side * 10, x - side * 10
        yield f'<path d="M{back} {y - 9} V{y + 9} L{tip} {y} Z" fill="#ffffff" stroke="{_INK}" stroke-width="1.5"/>'
        yield _line(tip, y - 9, tip, y + 9)
        for a in (x - 4, x + 2):
            yield f'<path d="M{a} {y - 11} l6 -6 m-3 0 h3 v3" fill="none" stroke="{_INK}"/>'
    if pin.kind == "pad":
        # A contact that a hand closes.
        x = _MIDDLE + side * 226
        yield f'<rect x="{x - 20}" y="{y - 12}" width="40" height="24" fill="#ffffff"/>'
        for at in (x - 20, x + 20):
            yield f'<circle cx="{at}" cy="{y}" r="3.5" fill="{_INK}"/>'
        yield _line(x - side * 20, y, x + side * 14, y - 12)
    if is_high:
        # 3.3 V, as an arrow; ground, as three shrinking bars.
        yield f'<path d="M{end} {y} v-10 m-5 5 l5 -5 l5 5" fill="none" stroke="{_INK}" stroke-width="2"/>'
    elif pin.kind != "force":
        yield _line(end, y, end, y + 5, width=2)
        for k, half in enumerate((9, 6, 3)):
            yield _line(end - half, y + 5 + 3 * k, end + half, y + 5 + 3 * k, width=2)
    yield _text(end + side * 16, y + 5, pin.label, "end" if side < 0 else "start", 15)


def _line(x1: float, y1: float, x2: float, y2: float, stroke: str = _INK, dashes: str = "", width: float = 2.5) -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{stroke}" stroke-width="{width}"{dashed}/>'


def _text(x: float, y: float, words: str, anchor: str = "start", size: float = 14, fill: str = _INK) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size:g}" fill="{fill}">{escape(words)}</text>'
