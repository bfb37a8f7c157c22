"""The header's pins and their wiring, and gpiozero's pin factory for the lights."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal

from hardware.ports import HardwareMissing
from referee.sentence import Sentence

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

LGPIO_FOLDER: Final = "LG_WD"
"""The environment variable for the folder of lgpio's pipe."""

USER_TO_GROUP: Final = Sentence("put your user into the group gpio (sudo usermod -aG gpio $USER), then log in again")
"""Advice for a chip that may not be opened."""


def pin_number(bcm: int) -> int:
    """Return a GPIO's position on the header: 1 to 40, odd ones in one row, even ones in the other."""
    return HEADER.index(bcm) + 1


def header_chip(label_of: Callable[[int], str | None]) -> int | None:
    """Return the number of the header's GPIO chip, found by label; None if there is none.

    Args:
        label_of: returns a chip's label, or None if no chip has that number.
    """
    labels = {number: label_of(number) for number in range(16)}
    for wanted in HEADER_LABELS:
        for number, label in labels.items():
            if label == wanted:
                return number
    return None


def import_tidily(name: str) -> Any:
    """Import a library in a scratch folder, since lgpio leaves a pipe in the current folder.

    The current folder may not be writable, either. lgpio reads a variable for its folder (``LG_WD``) and changes the
    whole program's current folder to it, so the variable points to the scratch folder meanwhile.

    Raises:
        ImportError: it is not installed, or broken.
    """
    before = os.environ.get(LGPIO_FOLDER)
    with TemporaryDirectory() as scratch, contextlib.chdir(scratch):
        os.environ[LGPIO_FOLDER] = scratch
        try:
            return importlib.import_module(name)
        finally:
            if before is None:
                del os.environ[LGPIO_FOLDER]
            else:
                os.environ[LGPIO_FOLDER] = before


@cache
def open_factory() -> Any:
    """Return gpiozero's lgpio factory on the header's chip: one for pads and lights, open until the end.

    gpiozero keeps the pins of all such factories in one place, so closing one would close the other's pins.

    Raises:
        HardwareMissing: lgpio is not installed, this is no Raspberry Pi, or its pins may not be opened.
    """
    try:
        lgpio = import_tidily("lgpio")
        from gpiozero.exc import PinUnknownPi
        from gpiozero.pins.lgpio import LGPIOFactory
    except ImportError as missing:
        raise HardwareMissing(
            "the pads and lights need {name}: on a Raspberry Pi, apt install python3-lgpio python3-gpiozero",
            name=missing.name,
        ) from missing

    def label_of(number: int) -> str | None:
        if not Path(f"/dev/gpiochip{number}").exists():
            return None
        try:
            handle = lgpio.gpiochip_open(number)
        except lgpio.error:
            return None
        try:
            label = lgpio.gpio_get_chip_info(handle)[3]
        finally:
            lgpio.gpiochip_close(handle)
        return label.decode() if isinstance(label, bytes) else str(label)

    try:
        return LGPIOFactory(chip=header_chip(label_of))
    except PinUnknownPi as no_pi:
        raise HardwareMissing(
            "this machine has no Raspberry Pi header, so no pads or lights; try `referee demo`"
        ) from no_pi
    except lgpio.error as refused:
        raise HardwareMissing(
            "the header's pins cannot be opened ({why}): {advice}", why=refused, advice=USER_TO_GROUP
        ) from refused
