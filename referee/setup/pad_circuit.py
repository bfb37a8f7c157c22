"""The circuit of a pad with a pressure sensor: a divider, a filter, a gate of a 74HC14, a resistor before the pin.

``seats`` are always the pins (BCM) of the wired pads, by seat.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hardware.pads.pinout import pin_number
from referee.setup.blueprint import FAINT, INK, LABEL, PAPER, SHADE, SMALL, STROKES, WIRE, Blueprint

DIVIDER_OHMS: Final = 4_700
"""From a gate's input to ground: sets the force of a hit. With more, the plate's own weight would trigger some
gates.
"""
GUARD_OHMS: Final = 1_000
"""From a gate's output to the pin: protects both if the pin is ever an output by mistake."""
SUPPLY_OHMS: Final = 100
"""From 3.3 V to each pad's plug: a pinched cable must not take the Pi's supply down."""
FILTER_FARAD: Final = 1e-9
FILTER: Final = "1 nF"
"""From a gate's input to ground: a light's wire beside the pad's must not switch the gate."""
CAPACITOR: Final = "100 nF"
GATES: Final = ((1, 2), (5, 6), (13, 12), (9, 8))
"""Input and output of the gates of a chip's four seats: every second gate, for room on the board."""
SPARE_GATES: Final = ((3, 4), (11, 10))
CHIP_GROUND: Final = 7
CHIP_SUPPLY: Final = 14
CIRCUIT_HEIGHT: Final = 560
"""Height of `draw_circuit`."""
_WIDTH: Final = 980
_MIDDLE: Final = _WIDTH / 2


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate of a seat's pad."""

    chip: str
    """A for seats 1 to 4, B for 5 to 8."""
    input: int
    output: int


def gate_of(seat: int) -> Gate:
    """Return the gate of a seat, counted from 1."""
    return Gate("AB"[(seat - 1) // len(GATES)], *GATES[(seat - 1) % len(GATES)])


def ohm_words(ohms: int) -> str:
    """Return a resistance as written in a drawing."""
    return f"{ohms} Ω" if ohms < 1000 else f"{ohms / 1000:g} kΩ"


def circuit_svg(seats: dict[int, int]) -> str:
    """Draw the circuit of the pads alone, SVG."""
    sheet = Blueprint(_WIDTH, CIRCUIT_HEIGHT, *circuit_head(seats))
    draw_circuit(sheet, 0, seats)
    return sheet.svg()


def circuit_head(seats: dict[int, int]) -> tuple[str, str]:
    """Return the title and subtitle."""
    return "A pad with a pressure sensor (FSR) and a gate of a 74HC14", f"drawn for seat {min(seats)}; all seats alike"


def draw_circuit(sheet: Blueprint, top: float, seats: dict[int, int], *, force: bool = False) -> None:
    """Draw one seat's pad from 3.3 V to its pin, and below it the connections of each chip."""
    seat, bcm = next(iter(seats.items()))
    gate = gate_of(seat)
    y = top + 130
    node, gate_x, guard, end = 360.0, 500.0, 610.0, 720.0
    colour = STROKES["pad"][0]
    sheet.line((80, y), (end, y), stroke=colour, width=WIRE)
    sheet.supply(80, y)
    sheet.text(80, y - 18, "3.3 V", "middle")
    sheet.resistor(135, y, ohm_words(SUPPLY_OHMS))
    _draw_filter(sheet, node + 60, y, colour)
    sheet.rect(215, y - 16, 70, 32)
    sheet.text(250, y + 5, "FSR", "middle")
    sheet.text(250, y - 26, f"pad {seat}", "middle")
    for plug in (185, 315):
        sheet.circle(plug, y, 4)
    sheet.line((node, y), (node, y + 85), stroke=colour, width=WIRE)
    sheet.circle(node, y, 4, colour, colour)
    sheet.resistor(node, y + 48, ohm_words(DIVIDER_OHMS), upright=True)
    sheet.ground(node, y + 85)
    if force:
        sheet.line(
            (node, y), (node, y - 30), (node + 30, y - 30), stroke=STROKES["force"][0], width=WIRE, dashes="10 3 2 3"
        )
        sheet.text(node + 36, y - 25, f"MCP3008, CH{seat - 1}")
    sheet.gate(gate_x, y)
    sheet.text(gate_x - 27, y - 8, f"{gate.chip}{gate.input}", "end", SMALL)
    sheet.text(gate_x + 27, y - 8, f"{gate.chip}{gate.output}", "start", SMALL)
    sheet.resistor(guard, y, ohm_words(GUARD_OHMS))
    sheet.circle(end, y, 4)
    sheet.text(end + 14, y + 5, f"GPIO {bcm} (pin {pin_number(bcm)})", "start", LABEL)
    _draw_chip_supply(sheet, gate_x + 110, y + 50)
    chips = sorted({gate_of(seat).chip for seat in seats})
    for place, chip in enumerate(chips):
        _draw_chip(sheet, _WIDTH * (2 * place + 1) / (2 * len(chips)), top + 300, chip, seats)
    words = (
        "Seen from above, the notch upwards. Gates that nothing uses: input to ground, output free. 3.3 V, never 5 V."
    )
    sheet.text(_MIDDLE, top + 540, words, "middle")


def _draw_filter(sheet: Blueprint, x: float, y: float, colour: str) -> None:
    """Draw the capacitor from the gate's input, at (x, y), to ground."""
    sheet.line((x, y), (x, y + 44), stroke=colour, width=WIRE)
    sheet.line((x, y + 52), (x, y + 85), stroke=colour, width=WIRE)
    for plate in (y + 44, y + 52):
        sheet.line((x - 14, plate), (x + 14, plate), width=WIRE)
    sheet.circle(x, y, 4, colour, colour)
    sheet.ground(x, y + 85)
    sheet.text(x + 20, y + 53, FILTER, size=SMALL)


def _draw_chip_supply(sheet: Blueprint, x: float, y: float) -> None:
    """Draw the chip's decoupling capacitor from 3.3 V, at (x, y), to ground."""
    sheet.line((x, y), (x, y + 12), width=2)
    sheet.line((x, y + 20), (x, y + 35), width=2)
    for plate in (y + 12, y + 20):
        sheet.line((x - 14, plate), (x + 14, plate), width=WIRE)
    sheet.supply(x, y)
    sheet.ground(x, y + 35)
    sheet.text(x - 10, y - 5, f"3.3 V (pin {CHIP_SUPPLY})", "end", SMALL)
    sheet.text(x + 24, y + 20, f"{CAPACITOR}, close to each chip", "start", SMALL)
    sheet.text(x + 18, y + 47, f"ground (pin {CHIP_GROUND})", "start", SMALL)


def chip_pins(chip: str, seats: dict[int, int]) -> dict[int, str]:
    """Return the connection of each of a chip's 14 legs; ``seats`` are the wired pads' pins (BCM)."""
    uses = {CHIP_SUPPLY: "3.3 V", CHIP_GROUND: "ground"}
    for place, (taken, given) in enumerate(GATES):
        seat = place + 1 + len(GATES) * "AB".index(chip)
        if seat in seats:
            uses |= {taken: f"from pad {seat}", given: f"{ohm_words(GUARD_OHMS)} to GPIO {seats[seat]}"}
        else:
            uses |= {taken: "ground", given: "free"}
    for taken, given in SPARE_GATES:
        uses |= {taken: "ground", given: "free"}
    return uses


def _draw_chip(sheet: Blueprint, x: float, y: float, chip: str, seats: dict[int, int]) -> None:
    """Draw a chip of 14 legs from above: 1 to 7 down the left side, 8 to 14 up the right."""
    row, half = 28, 48
    sheet.rect(x - half, y - 20, 2 * half, 7 * row + 12, SHADE, radius=4)
    sheet.path(f"M{x - 9:g} {y - 20:g} a9 9 0 0 0 18 0", PAPER)
    sheet.text(x - 3, y + 3 * row, "74HC14", "middle", turn=-90)
    sheet.text(x + 15, y + 3 * row, f"chip {chip}", "middle", turn=-90)
    uses = chip_pins(chip, seats)
    for leg, words in sorted(uses.items()):
        side = -1 if leg <= 7 else 1
        at = y + row * ((leg - 1) if leg <= 7 else (14 - leg))
        with sheet.group(data_leg=f"{chip}{leg}"):
            sheet.rect(x + side * half - (14 if side < 0 else 0), at - 5, 14, 10)
            sheet.text(x + side * (half - 8), at + 4.5, str(leg), "start" if side < 0 else "end", SMALL)
            sheet.text(
                x + side * (half + 22), at + 4.5, words, "end" if side < 0 else "start", SMALL,
                FAINT if words == "free" else INK,
            )  # fmt: skip
