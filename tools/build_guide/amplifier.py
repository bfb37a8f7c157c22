"""An amplifier board on I2S: its pins, which of our default pins they take, and where those move to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hardware.pads.pinout import PAD_PINS, SEAT_LIGHT_PINS, pin_number
from referee.setup.blueprint import FAINT, INK, LABEL, SHADE, SMALL, STROKES, WIRE, Blueprint
from referee.setup.wiring import PinMap, header_pins

I2S: Final = {"BCLK": 18, "LRC": 19, "DIN": 21}
"""By the names on a MAX98357A's board: bit clock, left or right, data (BCM)."""
LISTENING: Final = 20
"""I2S's recording line: the kernel claims it too."""
POWER: Final = {"VIN": 2, "GND": 6}
"""Header pins for 5 V and ground."""
OPEN: Final = {"GAIN": "open: 9 dB", "SD": "open: always on, both sides mixed"}
HAT: Final = {"mute": 16, "shutdown": 26}
"""Pins that an amplifier of HiFiBerry's MiniAmp kind takes besides I2S."""
FOUR: Final = PinMap(PAD_PINS[:4], (22, 23, 24, 25))
"""Pin map of four seats beside such a board; a HAT's pins stay free as well."""
EIGHT: Final = PinMap((*PAD_PINS[:7], 7), (8, 9, 10, *SEAT_LIGHT_PINS[3:]))
"""Pin map of eight seats beside a MAX98357A: SPI's pins are given away, so there is no MCP3008."""


def taken(pins: PinMap) -> dict[int, str]:
    """Return the use of each pin (BCM) in a pin map."""
    return {pin.bcm: pin.label for pin in header_pins(pins) if pin.bcm is not None and pin.label}


def amplifier_table() -> Iterator[str]:
    """Markdown: each line of a board, where it goes, and what our default map has there."""
    ours = taken(PinMap())
    yield "| MAX98357A | goes to | there by default |"
    yield "| --- | --- | --- |"
    for name, bcm in I2S.items():
        yield f"| {name} | GPIO {bcm} (pin {pin_number(bcm)}) | {ours.get(bcm, 'nothing')} |"
    place = f"GPIO {LISTENING} (pin {pin_number(LISTENING)})"
    yield f"| none: taken by I2S all the same | {place} | {ours.get(LISTENING, 'nothing')} |"
    for name, pin in POWER.items():
        yield f"| {name} | {'5 V' if name == 'VIN' else 'ground'} (pin {pin}) | |"
    for name, words in OPEN.items():
        yield f"| {name} | {words} | |"


def moved_table() -> Iterator[str]:
    """Markdown: the pins to type in `referee setup` when such a board is fitted."""
    yield "| with an I2S board | pads | lights | table’s light |"
    yield "| --- | --- | --- | --- |"
    for words, pins in (("four seats", FOUR), ("eight seats, no MCP3008", EIGHT)):
        typed = (" ".join(map(str, some)) for some in (pins.pads, pins.lights, pins.table or ()))
        yield f"| {words} | {' | '.join(typed)} |"


def amplifier_svg() -> str:
    """Draw the board, its seven pins, and the header's."""
    sheet = Blueprint(
        980, 400, "An amplifier board with a MAX98357A", "the names stand on the board; their order differs by maker"
    )  # fmt: skip
    ours, row, y = taken(PinMap()), 40, 110
    names = ("LRC", "BCLK", "DIN", "GAIN", "SD", "GND", "VIN")
    sheet.rect(220, y - 26, 120, row * len(names) + 12, SHADE, radius=6)
    sheet.text(244, y + 3 * row + 4, "MAX98357A", "middle", turn=-90)
    sheet.rect(120, y + 2 * row - 14, 60, 124, radius=6)
    sheet.text(150, y + 3 * row + 46, "speaker", "middle", SMALL)
    sheet.text(150, y + 3 * row + 62, "4 to 8 Ω", "middle", SMALL)
    sheet.circle(150, y + 3 * row - 2, 22)
    sheet.circle(150, y + 3 * row - 2, 9, INK)
    for step in (-10, 10):
        sheet.line((180, y + 3 * row + step), (220, y + 3 * row + step), width=WIRE)
    for place, name in enumerate(names):
        at = y + place * row
        with sheet.group(data_amplifier=name):
            sheet.circle(340, at, 7)
            sheet.text(324, at + 5, name, "end", LABEL)
            if name in OPEN:
                sheet.text(362, at + 5, OPEN[name], fill=FAINT)
                continue
            colour, dashes = STROKES["force" if name in I2S else "pad"]
            if name in POWER:
                colour = INK if name == "GND" else "#c1121f"
            sheet.line((347, at), (560, at), stroke=colour, width=WIRE, dashes=dashes)
            sheet.circle(573, at, 13)
            pin = POWER[name] if name in POWER else pin_number(I2S[name])
            sheet.text(573, at + 4.5, str(pin), "middle", SMALL)
            words = {"GND": "ground", "VIN": "5 V"}.get(name)
            sheet.text(598, at + 5, words or f"GPIO {I2S[name]}: by default {ours[I2S[name]]}, so move that")
    sheet.text(490, 390, "Neither leg of the speaker goes to ground.", "middle", SMALL)
    return sheet.svg()
