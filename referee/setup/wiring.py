"""`referee wiring`: the 40-pin header and every wire on it, drawn as SVG, from the settings or the default pin map.

The kind of a wire shows in three ways: in words, in its stroke (pads solid, lights dashed, colours dotted, SPI
dash-dotted) and in its colour; so the drawing is legible without colour.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from hardware.pads.pinout import HEADER, PAD_PINS, SEAT_LIGHT_PINS, TABLE_LIGHT_PINS
from referee.errors import UserError
from referee.setup.blueprint import FAINT, INK, LABEL, PAPER, SHADE, SMALL, STROKES, WIRE, Blueprint
from referee.setup.pad_circuit import CIRCUIT_HEIGHT, GUARD_OHMS, Gate, circuit_head, draw_circuit, gate_of, ohm_words
from referee.text.terminal_language import translate

if TYPE_CHECKING:
    from referee.settings.model import Settings

Kind = Literal["pad", "light", "colour", "force", "ground", "3.3 V", "5 V", "free"]
Pad = Literal["fsr", "switch"]
"""Type of a pad: a pressure sensor before a Schmitt trigger, or a switch directly on the pin."""

SPI: Final = {10: "DIN", 9: "DOUT", 11: "CLK", 8: "CS"}
"""The header's SPI0, BCM numbers, with the names of the MCP3008's pins."""
SEAT_OHMS: Final = 330
TABLE_OHMS: Final = {"red": 330, "green": 150, "blue": 150}
"""Green and blue LEDs drop most of 3.3 V themselves, so a ULN2003 switches them, and red, to ground from 5 V."""
_LONGEST: Final = 10
"""Letters of a name that fit into the picture."""
_ROW: Final = 34
_TOP: Final = 92
_WIDTH: Final = 980
_MIDDLE: Final = _WIDTH / 2
_APART: Final = 17
"""Distance from the middle to either row of pins."""
_RIM: Final = 74
"""Distance from the middle to the start of the wires."""
_PART: Final = 322
"""Distance from the middle to the parts."""
_FREE: Final = "#d9d9d9"
_FILLS: Final = {"ground": INK, "3.3 V": PAPER, "5 V": PAPER, "free": _FREE}


@dataclass(frozen=True, slots=True)
class HeaderPin:
    """One pin of the header."""

    number: int
    """1 to 40, as numbered on the board: odd ones in one row, even ones in the other."""
    bcm: int | None
    kind: Kind
    label: str = ""
    ohms: int = 0
    """Resistance in the wire; 0: none."""
    gate: Gate | None = None
    """The gate between the pad and the pin."""


@dataclass(frozen=True, slots=True)
class PinMap:
    """BCM numbers of all wired parts; by default those that the referee uses without settings."""

    pads: tuple[int | None, ...] = PAD_PINS
    """None: that seat's pad is not wired."""
    lights: tuple[int, ...] = SEAT_LIGHT_PINS
    table: tuple[int, int, int] | None = TABLE_LIGHT_PINS
    names: tuple[str, ...] = ()
    """The seats' names; empty if unknown."""
    force: bool = False
    active_high: bool = False
    made_of: Pad = "fsr"


def pin_map_of(settings: Settings) -> PinMap:
    """Return the pin map of the settings; pads that close to 3.3 V must be switches, because a gate's output falls."""
    lit = settings.lights.enabled
    return PinMap(
        tuple(seat.pad_pin for seat in settings.seats),
        tuple(seat.light for seat in settings.seats) if lit else (),
        settings.lights.table if lit else None,
        tuple(seat.name for seat in settings.seats),
        settings.pads.force,
        settings.pads.active_high,
        "switch" if settings.pads.active_high else "fsr",
    )


def header_pins(pins: PinMap) -> list[HeaderPin]:
    """Return all 40 pins, ordered by number."""

    def name(seat: int) -> str:
        if not pins.names:
            return ""
        words = pins.names[seat - 1]
        return f" {words}" if len(words) <= _LONGEST else f" {words[: _LONGEST - 1]}…"

    uses: dict[int, tuple[Kind, str, int, Gate | None]] = {}
    gated = pins.made_of == "fsr"
    for seat, bcm in enumerate(pins.pads, start=1):
        if bcm is None:
            continue
        uses[bcm] = ("pad", f"pad {seat}{name(seat)}", GUARD_OHMS * gated, gate_of(seat) if gated else None)
    for seat, bcm in enumerate(pins.lights, start=1):
        uses[bcm] = ("light", f"light {seat}{name(seat)}", SEAT_OHMS, None)
    for (colour, ohms), bcm in zip(TABLE_OHMS.items(), pins.table or (), strict=False):
        uses[bcm] = ("colour", f"table light, {colour}", ohms, None)
    if pins.force:
        uses |= {bcm: ("force", f"MCP3008 {word}", 0, None) for bcm, word in SPI.items()}
    return [
        HeaderPin(number, there, *uses.get(there, ("free", "", 0, None)))
        if isinstance(there, int)
        else HeaderPin(number, None, there, there)
        for number, there in enumerate(HEADER, start=1)
    ]


def draw_wiring(out: Path, settings: Path | None, seats: int, made_of: Pad | None = None) -> int:
    """Draw the wiring of these settings, or of the default pin map for some seats; return the exit status.

    Raises:
        UserError: the settings cannot be read or are not for such pads, or the picture cannot be written.
    """
    from referee.settings.model import load_settings

    pins = pin_map_of(load_settings(settings)) if settings else PinMap(PAD_PINS[:seats], SEAT_LIGHT_PINS[:seats])
    if made_of == "fsr" and pins.active_high:
        raise UserError(
            "--pads fsr: {settings} has pads that close to 3.3 V, but a gate's output closes to "
            "ground; try: referee setup --set pads.active_high=false",
            settings=settings,
        )
    if not (any(pins.pads) or pins.lights or pins.table):
        raise UserError("nothing is wired: keys, buttons or a board are the pads, and there are no lights")
    pins = replace(pins, made_of=made_of or pins.made_of)
    if out.suffix.lower() != ".svg":
        raise UserError("--out {out}: name a file that ends in .svg", out=out)
    try:
        out.write_text(wiring_svg(pins), encoding="utf-8")
    except OSError as error:
        raise UserError("--out {out} cannot be written: {why}", out=out, why=error.strerror) from None
    print(
        translate(
            "{out}: pads: {pads}, lights: {lights}",
            out=out,
            pads=len(pins.pads) - pins.pads.count(None),
            lights=len(pins.lights),
        )
    )
    return 0


def wiring_svg(pins: PinMap) -> str:
    """Return the drawing, SVG: the header, and for pressure sensors the circuit of their gates below it."""
    header = header_pins(pins)
    wired = {seat: bcm for seat, bcm in enumerate(pins.pads, start=1) if bcm is not None}
    gated = pins.made_of == "fsr" and bool(wired)
    height = _TOP + 20 * _ROW + 132
    sheet = Blueprint(
        _WIDTH, height + (CIRCUIT_HEIGHT if gated else 0), "Table Referee: the Raspberry Pi’s header, seen from above",
        "pin 1 (square) is the corner nearest to the SD card; USB sockets are at the bottom",
    )  # fmt: skip
    sheet.rect(_MIDDLE - 36, _TOP - 22, 72, 20 * _ROW + 10, SHADE, radius=6)
    for pin in header:
        _draw_pin(sheet, pin, pins)
    # The legend of the strokes, and the connections to ground.
    pad = "pad: a contact to 3.3 V" if pins.active_high else "pad: a contact to ground (any black pin)"
    kinds = {
        "pad": "pad: through 1 kΩ and a gate of a 74HC14 (A1: chip A, pin 1), as drawn below" if gated else pad,
        "light": "seat’s light: resistor, long leg of the LED, short leg to ground",
        "colour": "table’s light: from input to output of a ULN2003, resistor, LED of three colours, common leg to 5 V",
        "force": "SPI to the MCP3008 (VDD and VREF to 3.3 V, AGND and DGND to ground)",
    }
    y = _TOP + 20 * _ROW + 18
    for kind, words in kinds.items():
        if kind in {pin.kind for pin in header}:
            _draw_stroke(sheet, (60, y), (130, y), kind)
            sheet.text(142, y + 5, words)
            y += 22
    sheet.text(60, y + 5, "black: ground.  white: power, never to a pin with a number behind GPIO.  grey: free.")
    if gated:
        sheet.head(height, *circuit_head(wired))
        draw_circuit(sheet, height, wired, force=pins.force)
    return sheet.svg()


def _draw_stroke(sheet: Blueprint, start: tuple[float, float], end: tuple[float, float], kind: str) -> None:
    colour, dashes = STROKES[kind]
    sheet.line(start, end, stroke=colour, width=WIRE, dashes=dashes)


def _draw_pin(sheet: Blueprint, pin: HeaderPin, pins: PinMap) -> None:
    side, y = -1 if pin.number % 2 else 1, _TOP + ((pin.number - 1) // 2) * _ROW
    x = _MIDDLE + side * _APART
    is_wired = pin.kind in STROKES
    fill = STROKES[pin.kind][0] if is_wired else _FILLS[pin.kind]
    with sheet.group(id=f"pin-{pin.number}", data_kind=pin.kind, data_bcm="" if pin.bcm is None else pin.bcm):
        if pin.number == 1:
            sheet.rect(x - 13, y - 13, 26, 26, fill)
        else:
            sheet.circle(x, y, 13, fill)
        sheet.text(x, y + 4.5, str(pin.number), "middle", SMALL, INK if fill in (PAPER, _FREE) else PAPER)
        if is_wired:
            _draw_wire(sheet, pin, side, y, pins)
        label = pin.label if pin.bcm is None else f"GPIO {pin.bcm}"
        sheet.text(
            _MIDDLE + side * (_RIM - 32), y - (5 if is_wired else -4.5), label,
            "end" if side < 0 else "start", SMALL, FAINT if pin.kind == "free" else INK,
        )  # fmt: skip


def _draw_wire(sheet: Blueprint, pin: HeaderPin, side: int, y: float, pins: PinMap) -> None:
    """Draw the wire from the pin to its part: through its resistor, if any, finally to ground, 3.3 V or 5 V."""
    end = _MIDDLE + side * _PART
    _draw_stroke(sheet, (_MIDDLE + side * (_RIM - 40), y), (end, y), pin.kind)
    if pin.ohms:
        sheet.resistor(_MIDDLE + side * 190, y, ohm_words(pin.ohms))
    if pin.kind in ("light", "colour"):
        _draw_diode(sheet, _MIDDLE + side * 262, y, side if pin.kind == "light" else -side)
    if pin.gate is not None:
        x = _MIDDLE + side * 262
        sheet.gate(x, y, -side)
        sheet.text(x - side * 32, y - 7, f"{pin.gate.chip}{pin.gate.output}", "middle", SMALL)
        sheet.text(x + side * 32, y - 7, f"{pin.gate.chip}{pin.gate.input}", "middle", SMALL)
        sheet.circle(end, y, 4)
    elif pin.kind == "pad":
        # A contact that a hand closes.
        x = _MIDDLE + side * 226
        sheet.rect(x - 20, y - 12, 40, 24, stroke="none")
        for at in (x - 20, x + 20):
            sheet.circle(at, y, 3.5, INK)
        sheet.line((x - side * 20, y), (x + side * 14, y - 12), width=WIRE)
    if pin.kind == "colour":
        channel = (pins.table or ()).index(pin.bcm)
        sheet.rect(_MIDDLE + side * 132 - 24, y - 9, 48, 18)
        sheet.text(_MIDDLE + side * 132, y + 4.5, f"IN{channel + 1}, {'ABC'[channel]}", "middle", SMALL)
        sheet.supply(end, y)
        sheet.text(end - side * 12, y - 7, "5 V", "start" if side < 0 else "end", SMALL)
    elif pin.kind == "pad" and pins.active_high:
        sheet.supply(end, y)
    elif pin.kind != "force" and pin.gate is None:
        sheet.ground(end, y)
    sheet.text(end + side * 16, y + 5, pin.label, "end" if side < 0 else "start", LABEL)


def _draw_diode(sheet: Blueprint, x: float, y: float, side: int) -> None:
    """Draw an LED that points to ``side``; its flat side, and short leg, is there."""
    tip, back = x + side * 10, x - side * 10
    sheet.line((back, y - 9), (back, y + 9), (tip, y), close=True, fill=PAPER)
    sheet.line((tip, y - 9), (tip, y + 9), width=WIRE)
    for a in (x - 4, x + 2):
        sheet.path(f"M{a:g} {y - 11:g} l6 -6 m-3 0 h3 v3", weight=1)
