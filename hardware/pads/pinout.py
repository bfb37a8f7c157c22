"""The header's pins, their wiring, and the chip and factory by which pads and lights use them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from hardware.ports import HardwareMissing
from referee.sentence import Sentence

if TYPE_CHECKING:
    from hardware.pin_factory import GpiodFactory

# 19 of the header's lines. Left free: 0 and 1 (the HAT's memory), 2 and 3 (fixed pull-ups), 7 to 11 (SPI, for an
# MCP3008 that measures force). 14 and 15 belong to the serial console unless `raspi-config` switches it off.
PAD_PINS: Final = (4, 5, 6, 12, 13, 16, 17, 18)
"""BCM number of each seat's pad, seat 1 first."""
SEAT_LIGHT_PINS: Final = (19, 20, 21, 22, 23, 24, 25, 26)
"""BCM number of each seat's light, seat 1 first."""
TABLE_LIGHT_PINS: Final = (27, 14, 15)
"""BCM numbers of the table light's red, green and blue."""

HEADER: Final[tuple[int | Literal["3.3 V", "5 V", "ground"], ...]] = (
    "3.3 V", "5 V", 2, "5 V", 3, "ground", 4, 14, "ground", 15, 17, 18, 27, "ground", 22, 23, "3.3 V", 24, 10, "ground",
    9, 25, 11, 8, "ground", 7, 0, 1, 5, "ground", 6, 12, 13, "ground", 19, 16, 26, 20, "ground", 21,
)  # fmt: skip
"""BCM numbers by position on the header, pin 1 first (Raspberry Pi documentation, "GPIO and the 40-pin header")."""

I2S_PINS: Final = (18, 19, 20, 21)
"""BCM numbers used by every sound card on the header: clock, word, data in, data out."""

HEADER_LABELS: Final = ("pinctrl-rp1", "pinctrl-bcm2712", "pinctrl-bcm2711", "pinctrl-bcm2835")
"""Labels of the chips behind a Raspberry Pi's header: the chip number varies on the Pi 5."""

USER_TO_GROUP: Final = Sentence("put your user into the group gpio (sudo usermod -aG gpio $USER), then log in again")
"""Advice for a chip that may not be opened."""


def pin_number(bcm: int) -> int:
    """Return a GPIO's position on the header: 1 to 40, odd ones in one row, even ones in the other."""
    return HEADER.index(bcm) + 1


def header_path(devices: Path = Path("/dev")) -> Path:
    """Return the path of the header's GPIO chip, found by its label, since its number differs between kernels.

    Raises:
        HardwareMissing: there is none, or it may not be opened.
    """
    import gpiod

    labels: dict[Path, str] = {}
    forbidden: list[Path] = []
    for path in sorted(devices.glob("gpiochip*")):
        try:
            with gpiod.Chip(str(path)) as chip:
                labels[path] = chip.get_info().label
        except PermissionError:
            forbidden.append(path)
        except OSError:
            continue
    for wanted in HEADER_LABELS:
        for path, label in labels.items():
            if label == wanted:
                return path
    if forbidden:
        raise HardwareMissing(
            "{forbidden} may not be opened, so there are no pads: {advice}",
            forbidden=forbidden[0],
            advice=USER_TO_GROUP,
        )
    if not labels:
        raise HardwareMissing(
            "this machine has no GPIO chip (/dev/gpiochip*), so no pads; try `referee demo`, which needs none"
        )
    seen = ", ".join(f"{path.name} is {label!r}" for path, label in labels.items())
    raise HardwareMissing(
        "no GPIO chip here is a Raspberry Pi's header ({seen}), so there are no pads; try `referee demo`", seen=seen
    )


@cache
def open_factory() -> GpiodFactory:
    """Return gpiozero's pin factory on the header's chip: one for pads and lights, open until the end.

    Raises:
        HardwareMissing: a library is not installed, this is no Raspberry Pi, or its pins may not be opened.
    """
    try:
        from hardware.pin_factory import GpiodFactory
    except ImportError as error:
        raise HardwareMissing(
            "pads and lights on the header need {name}: pip install {name}",
            name=(error.name or "gpiod").partition(".")[0],
        ) from error
    return GpiodFactory()
