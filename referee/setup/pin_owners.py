"""Pins of the header that belong to another function of the processor: a serial port, SPI, I2S, a sound card.

The Pi's pin drivers show such a pin as free, and give it to any program, which takes it from its function. So they are
named here before a pad or a light takes one (`refuse_pins`), and others are proposed (`free_pins`).
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hardware.pads.pinout import HEADER, I2S_PINS, PAD_PINS, SEAT_LIGHT_PINS, TABLE_LIGHT_PINS
from hardware.sound.sound_cards import is_on_header
from referee.sentence import Sentence
from referee.vision.cameras import read_line

if TYPE_CHECKING:
    from referee.settings.model import Settings

SERIAL_PINS: Final = (14, 15)
SPI_HEADER_PINS: Final = (7, 8, 9, 10, 11)
_TREE: Final = "proc/device-tree"
_NAMES: Final = {"serial": Sentence("a serial port (UART)"), "spi": "SPI", "i2s": "I2S", "i2c": "I2C", "pwm": "PWM"}
"""Names of the device tree's nodes before their ``@``, in words."""
_ORDER: Final = (*PAD_PINS, *SEAT_LIGHT_PINS, *TABLE_LIGHT_PINS, *SPI_HEADER_PINS, 2, 3)
"""Pins in the order in which they are proposed: 2 and 3 have pull-ups of their own, and 0 and 1 are a HAT's memory."""


def pin_owners(root: Path) -> dict[int, str]:
    """Return the pins that belong to another function, and its name.

    Root may read the kernel's list of all pins. Others learn from the kernel's command line, the device tree and the
    sound cards. ``root`` holds proc and sys.
    """
    for table in sorted((root / "sys/kernel/debug/pinctrl").glob("*/pinmux-pins")):
        text = read_line(table)
        if listed := re.findall(r"^pin (\d+) \(gpio\d+\): ([^(\s]\S*) ", text, flags=re.MULTILINE):
            return {int(pin): owner for pin, owner in listed if int(pin) in HEADER}
    owners = dict(_tree_owners(root / _TREE))
    if re.search(r"\bconsole=(serial0|ttyS0|ttyAMA0)\b", read_line(root / "proc/cmdline")):
        owners |= dict.fromkeys(SERIAL_PINS, Sentence("the serial console"))
    for line in read_line(root / "proc/asound/cards").splitlines():
        if is_on_header(line) and (card := re.search(r"\]: (.+)", line)):
            owners |= dict.fromkeys(I2S_PINS, Sentence("the sound card {name}", name=card[1].strip()))
    return owners


def _tree_owners(tree: Path) -> Iterator[tuple[int, str]]:
    """Yield the pins that the device tree gives to devices that it switches on, with the device's kind."""
    # One walk: a Pi's tree has thousands of files.
    nodes = {Path(folder): files for folder, _, files in os.walk(tree)}
    groups = dict(_pin_groups(nodes))
    spi = tree / _read(tree / "aliases" / "spi0").decode("ascii", "replace").strip("\0").lstrip("/")
    for node, files in nodes.items():
        kind = node.name.partition("@")[0]
        if "pinctrl-0" in files:
            pins = [pin for handle in _numbers(_read(node / "pinctrl-0")) for pin in groups.get(handle, ())]
        else:
            # Without a pin group a device has its usual pins.
            pins = list(I2S_PINS if node.name.startswith("i2s@") else SPI_HEADER_PINS if node == spi != tree else ())
        if pins and _read(node / "status") in (b"okay\0", b"ok\0", b""):
            yield from ((pin, _NAMES.get(kind, kind)) for pin in pins if pin in HEADER)


def _pin_groups(nodes: Mapping[Path, Sequence[str]]) -> Iterator[tuple[int, list[int]]]:
    """Yield each group of pins of the header's controller: its handle, by which devices name it, and the pins."""
    for controller in (node for node in nodes if node.name.startswith("gpio@")):
        # The Pi 5's processor has controllers of its own besides the header's.
        if not re.search(rb"raspberrypi,rp1-gpio|brcm,bcm2(835|711)-gpio", _read(controller / "compatible")):
            continue
        for group in (node for node in nodes if node.parent == controller and "phandle" in nodes[node]):
            pins: list[int] = []
            # On a Pi 5 the pins of a group may be in nodes below it.
            for folder, _, files in os.walk(group):
                if "brcm,pins" in files:
                    pins += _numbers(_read(Path(folder, "brcm,pins")))
                if "pins" in files:
                    pins += [int(pin) for pin in re.findall(rb"\bgpio(\d+)\b", _read(Path(folder, "pins")))]
            yield from ((number, pins) for number in _numbers(_read(group / "phandle")))


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _numbers(cells: bytes) -> list[int]:
    """Return the numbers of a property of the device tree; a rest of less than four bytes is none."""
    whole = len(cells) // 4
    return list(struct.unpack(f">{whole}I", cells[: 4 * whole]))


def owned_here(root: Path = Path("/")) -> dict[int, str]:
    """Return `pin_owners` of a Raspberry Pi; another machine has no such header."""
    return pin_owners(root) if "Raspberry Pi" in read_line(root / _TREE / "model") else {}


def free_pins(owners: Collection[int], used: Collection[int]) -> list[int]:
    """Return the pins that nothing owns or uses, those that the wiring picture uses first."""
    return [pin for pin in _ORDER if pin not in owners and pin not in used]


def used_pins(settings: Settings | None) -> dict[int, str]:
    """Return the use of each pin, from the settings or else the wiring picture."""
    pads: Sequence[int | None] = PAD_PINS
    lights: Sequence[int] = SEAT_LIGHT_PINS
    table = TABLE_LIGHT_PINS
    if settings is not None:
        pads = [seat.pad_pin for seat in settings.seats]
        lights = [seat.light for seat in settings.seats if settings.lights.enabled]
        table = settings.lights.table
    uses: dict[int, str] = {
        pin: Sentence("the pad of {seat}", seat=n) for n, pin in enumerate(pads, start=1) if pin is not None
    }
    uses |= {pin: Sentence("the light of {seat}", seat=n) for n, pin in enumerate(lights, start=1)}
    return uses | dict.fromkeys(table if lights else (), Sentence("the table's light"))


def refuse_pins(owners: Mapping[int, str], settings: Settings) -> dict[int, str]:
    """Return the settings' pins that are not to be taken, each with its owner and a free pin instead, in words."""
    uses = used_pins(settings)
    free = iter(free_pins(owners, uses))
    refused: dict[int, str] = {}
    for pin in sorted(owners.keys() & uses.keys()):
        words = Sentence("pin {pin} ({use}) is not free ({owner}) and is not taken", pin=pin, use=uses[pin],
                         owner=owners[pin])  # fmt: skip
        instead = next(free, None)
        if instead is None:
            refused[pin] = Sentence("{words}; no other is free: switch that off, or do without this part", words=words)
        else:
            refused[pin] = Sentence(
                "{words}; pin {free} is: move the wire there, then referee setup --step pins",
                words=words, free=instead,
            )  # fmt: skip
    return refused
