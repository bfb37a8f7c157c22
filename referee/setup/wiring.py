"""The 40-pin header and what hangs on each of its pins, by the settings or the default pin map.

`referee wiring`: the header and every wire on it, drawn as SVG, from the settings or the default pin map.

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
POWER: Final = "3.3 V"

# BCM numbers by their places on the header, pin 1 first (Raspberry Pi documentation, "GPIO and the 40-pin header").
_BCM: Final[tuple[int | str, ...]] = (
    POWER, "5 V", 2, "5 V", 3, "ground", 4, 14, "ground", 15, 17, 18, 27, "ground", 22, 23, POWER, 24, 10, "ground",
    9, 25, 11, 8, "ground", 7, 0, 1, 5, "ground", 6, 12, 13, "ground", 19, 16, 26, 20, "ground", 21,
)  # fmt: skip
SPI: Final = {10: "DIN", 9: "DOUT", 11: "CLK", 8: "CS"}
"""The header's SPI0, BCM numbers, by the names that the MCP3008's pins have."""
COLOURS: Final = ("red", "green", "blue")
LONGEST: Final = 10
"""Letters of a name that have room in the picture."""
SEAT_OHMS: Final = 330
TABLE_OHMS: Final = {"red": 330, "green": 100, "blue": 100}
"""Green and blue need most of the 3.3 V for themselves."""


@dataclass(frozen=True, slots=True)
class Pin:
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
    """BCM numbers of everything that is wired."""

    pads: tuple[int, ...] = PAD_PINS
    lights: tuple[int, ...] = SEAT_LIGHT_PINS
    table: tuple[int, int, int] | None = TABLE_LIGHT_PINS
    names: tuple[str, ...] = ()
    """The seats' names; empty where they have none."""
    force: bool = False
    active_high: bool = False


def map_of(settings: Settings) -> PinMap:
    """What the settings say."""
    lit = settings.lights.enabled
    return PinMap(
        tuple(seat.pad for seat in settings.seats),
        tuple(seat.light for seat in settings.seats) if lit else (),
        settings.lights.table if lit else None,
        tuple(seat.name for seat in settings.seats),
        settings.pads.force,
        settings.pads.active_high,
    )


def header(pins: PinMap) -> list[Pin]:
    """All 40 pins, in the order of their numbers."""
    uses: dict[int, tuple[Kind, str, int]] = {}
    for seat, bcm in enumerate(pins.pads, start=1):
        uses[bcm] = ("pad", f"pad {seat}{_name(pins, seat)}", 0)
    for seat, bcm in enumerate(pins.lights, start=1):
        uses[bcm] = ("light", f"light {seat}{_name(pins, seat)}", SEAT_OHMS)
    for colour, bcm in zip(COLOURS, pins.table or (), strict=False):
        uses[bcm] = ("colour", f"table light, {colour}", TABLE_OHMS[colour])
    if pins.force:
        uses |= {bcm: ("force", f"MCP3008 {name}", 0) for bcm, name in SPI.items()}
    out = []
    for number, there in enumerate(_BCM, start=1):
        if isinstance(there, int):
            kind, label, ohms = uses.get(there, ("free", "", 0))
            out.append(Pin(number, there, kind, label, ohms))
        else:
            out.append(Pin(number, None, _fixed(there), there))
    return out


def _fixed(word: str) -> Kind:
    return "ground" if word == "ground" else "5 V" if word == "5 V" else "3.3 V"


def _name(pins: PinMap, seat: int) -> str:
    if not pins.names:
        return ""
    name = pins.names[seat - 1]
    return " " + (name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…")


ROW: Final = 34
TOP: Final = 92
WIDTH: Final = 980
MIDDLE: Final = WIDTH / 2
APART: Final = 17
"""From the middle to either row of pins."""
RIM: Final = 74
"""From the middle to where wires begin."""
PART: Final = 330
"""From the middle to where parts stand."""
INK: Final = "#1b1b1b"
STROKES: Final = {
    "pad": ("#0b5cad", ""), "light": ("#b35900", "9 4"), "colour": ("#7a1fa2", "2 4"), "force": ("#00695c", "10 3 2 3"),
}  # fmt: skip
"""Colour and dashes of each kind of wire."""
FILLS: Final = {"ground": INK, "3.3 V": "#ffffff", "5 V": "#ffffff", "free": "#d9d9d9"}
SUFFIX: Final = ".svg"


def draw(out: Path, settings: Path | None, seats: int) -> int:
    """Draw the wiring of these settings, or of the default pin map for some seats; returns the exit status.

    Raises:
        UserError: the settings cannot be read, or the picture cannot be written.
    """
    from referee.settings.model import load_settings

    pins = map_of(load_settings(settings)) if settings is not None else default_map(seats)
    if out.suffix.lower() != SUFFIX:
        raise UserError(f"--out {out}: name a file that ends in {SUFFIX}")
    try:
        out.write_text(picture(pins), encoding="utf-8")
    except OSError as bad:
        raise UserError(f"--out {out} cannot be written: {bad.strerror}") from None
    print(f"{out}: {len(pins.pads)} pads, {len(pins.lights)} lights")
    return 0


def default_map(seats: int) -> PinMap:
    """The default pin map for some seats."""
    whole = PinMap()
    return PinMap(whole.pads[:seats], whole.lights[:seats])


def picture(pins: PinMap) -> str:
    """The drawing, SVG."""
    height = TOP + 20 * ROW + 132
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="DejaVu Sans, Verdana, sans-serif" font-size="14" fill="{INK}">',
        "<title>Table Referee: the wires on the Raspberry Pi's header</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(MIDDLE, 30, "Table Referee: the Raspberry Pi’s header, seen from above", "middle", 20),
        _text(
            MIDDLE, 54, "pin 1 (square) is the corner nearest to the SD card; USB sockets are at the bottom", "middle"
        ),
        f'<rect x="{MIDDLE - 36}" y="{TOP - 22}" width="72" height="{20 * ROW + 10}" rx="6" fill="#efefef" '
        f'stroke="{INK}"/>',
    ]
    for pin in header(pins):
        lines += _pin(pin, pins)
    lines += _legend(TOP + 20 * ROW + 18, pins)
    return "\n".join([*lines, "</svg>", ""])


def _place(pin: Pin) -> tuple[int, float]:
    """Which side the pin lies on (-1 left, 1 right), and its height in the picture."""
    return (-1 if pin.number % 2 else 1), TOP + ((pin.number - 1) // 2) * ROW


def _pin(pin: Pin, pins: PinMap) -> Iterator[str]:
    side, y = _place(pin)
    x = MIDDLE + side * APART
    fill = STROKES[pin.kind][0] if pin.kind in STROKES else FILLS[pin.kind]
    inner = INK if fill in ("#ffffff", "#d9d9d9") else "#ffffff"
    yield f'<g id="pin-{pin.number}" data-kind="{pin.kind}" data-bcm="{"" if pin.bcm is None else pin.bcm}">'
    if pin.number == 1:
        yield f'<rect x="{x - 13}" y="{y - 13}" width="26" height="26" fill="{fill}" stroke="{INK}"/>'
    else:
        yield f'<circle cx="{x}" cy="{y}" r="13" fill="{fill}" stroke="{INK}"/>'
    yield _text(x, y + 4.5, str(pin.number), "middle", 12, inner)
    name = pin.label if pin.bcm is None else f"GPIO {pin.bcm}"
    anchor = "end" if side < 0 else "start"
    if pin.kind in STROKES:
        yield from _wire(pin, side, y, pins)
    yield _text(MIDDLE + side * (RIM - 32), y - (5 if pin.kind in STROKES else -4.5), name, anchor, 12,
                INK if pin.kind != "free" else "#6b6b6b")  # fmt: skip
    yield "</g>"


def _wire(pin: Pin, side: int, y: float, pins: PinMap) -> Iterator[str]:
    """From the pin to its part: through a resistor if there is one, to ground in the end."""
    colour, dashes = STROKES[pin.kind]
    begin, end = MIDDLE + side * (RIM - 40), MIDDLE + side * PART
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    yield f'<line x1="{begin}" y1="{y}" x2="{end}" y2="{y}" stroke="{colour}" stroke-width="2.5"{dashed}/>'
    anchor = "end" if side < 0 else "start"
    if pin.ohms:
        at = MIDDLE + side * 190
        box = f'<rect x="{at - 27}" y="{y - 9}" width="54" height="18" fill="#ffffff"'
        yield f'{box} stroke="{INK}" stroke-width="1.5"/>'
        yield _text(at, y + 4.5, f"{pin.ohms} Ω", "middle", 12)
        yield from _led(MIDDLE + side * 262, y, side)
    if pin.kind == "pad":
        yield from _switch(MIDDLE + side * 226, y, side)
    if pin.kind != "force":
        yield from _end(end, y, high=pin.kind == "pad" and pins.active_high)
    yield _text(end + side * 16, y + 5, pin.label, anchor, 15)


def _led(x: float, y: float, side: int) -> Iterator[str]:
    """A diode that points away from the pin; its flat side, and short leg, lies towards ground."""
    tip, back = x + side * 10, x - side * 10
    yield f'<path d="M{back} {y - 9} V{y + 9} L{tip} {y} Z" fill="#ffffff" stroke="{INK}" stroke-width="1.5"/>'
    yield f'<line x1="{tip}" y1="{y - 9}" x2="{tip}" y2="{y + 9}" stroke="{INK}" stroke-width="2.5"/>'
    for up in (0, 6):
        a = x + up - 4
        yield f'<path d="M{a} {y - 11} l6 -6 m-3 0 h3 v3" fill="none" stroke="{INK}"/>'


def _switch(x: float, y: float, side: int) -> Iterator[str]:
    """A contact that a hand closes."""
    yield f'<rect x="{x - 20}" y="{y - 12}" width="40" height="24" fill="#ffffff"/>'
    for end in (-20, 20):
        yield f'<circle cx="{x + end}" cy="{y}" r="3.5" fill="{INK}"/>'
    yield f'<line x1="{x - side * 20}" y1="{y}" x2="{x + side * 14}" y2="{y - 12}" stroke="{INK}" stroke-width="2.5"/>'


def _end(x: float, y: float, *, high: bool) -> Iterator[str]:
    """Ground, as three shrinking bars; or 3.3 V, as an arrow."""
    if high:
        yield f'<path d="M{x} {y} v-10 m-5 5 l5 -5 l5 5" fill="none" stroke="{INK}" stroke-width="2"/>'
        return
    yield f'<line x1="{x}" y1="{y}" x2="{x}" y2="{y + 5}" stroke="{INK}" stroke-width="2"/>'
    for k, half in enumerate((9, 6, 3)):
        at = y + 5 + 3 * k
        yield f'<line x1="{x - half}" y1="{at}" x2="{x + half}" y2="{at}" stroke="{INK}" stroke-width="2"/>'


def _legend(y: float, pins: PinMap) -> Iterator[str]:
    """What each stroke means, and what goes to ground."""
    kinds = {
        "pad": "pad: a contact to 3.3 V" if pins.active_high else "pad: a contact to ground (any black pin)",
        "light": "seat’s light: resistor, long leg of the LED, short leg to ground",
        "colour": "table’s light: one LED of three colours, common leg to ground",
        "force": "SPI to the MCP3008 (VDD and VREF to 3.3 V, AGND and DGND to ground)",
    }
    used = [kind for kind in kinds if kind in {pin.kind for pin in header(pins)}]
    for row, kind in enumerate(used):
        colour, dashes = STROKES[kind]
        at = y + 22 * row
        yield (f'<line x1="60" y1="{at}" x2="130" y2="{at}" stroke="{colour}" stroke-width="2.5"'
               + (f' stroke-dasharray="{dashes}"/>' if dashes else "/>"))  # fmt: skip
        yield _text(142, at + 5, kinds[kind])
    yield _text(
        60,
        y + 22 * len(used) + 5,
        "black: ground.  white: power, never to a pin with a number behind GPIO.  grey: free.",
    )


def _text(x: float, y: float, words: str, anchor: str = "start", size: float = 14, fill: str = INK) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size:g}" fill="{fill}">{escape(words)}</text>'
