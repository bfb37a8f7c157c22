"""The 40-pin header and what hangs on each of its pins, by the settings or the default pin map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from hardware.gpio import PAD_PINS, SEAT_LIGHT_PINS, TABLE_LIGHT_PINS

if TYPE_CHECKING:
    from referee.app.settings import Settings

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
