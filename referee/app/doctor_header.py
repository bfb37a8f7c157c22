"""The doctor on the header: its chip, who holds its lines, what lights and force need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from hardware.gpio import HEADER_LABELS, PAD_PINS, SEAT_LIGHT_PINS, TABLE_LIGHT_PINS
from referee.app.doctor_machine import Finding, Machine, join_group, short

if TYPE_CHECKING:
    from referee.app.settings import Settings

OURS: Final = ("table referee", "lg")
"""How the names begin under which our own programs hold lines: the pads' and the lights'."""
SERIAL: Final = (14, 15)
SPI: Final = (7, 8, 9, 10, 11)
SPIDEV: Final = "/dev/spidev0.0"


def header(machine: Machine, settings: Settings | None) -> Iterator[Finding]:
    """Chip, lines, lights, SPI."""
    yield _library(machine, "gpiod", "gpiod (pads with the kernel's times)", "make install   (or: pip install gpiod)")
    chip, finding = header_chip(machine)
    yield finding
    if chip:
        yield lines(machine, chip, used_pins(settings))
    yield _library(
        machine, "lgpio", "lgpio (lights)",
        "pip install lgpio   (Python 3.13: sudo apt install python3-lgpio, then make install)",
    )  # fmt: skip
    if settings is not None and settings.lights.strip:
        yield _strip(machine, settings.lights.strip)
    if settings is not None and settings.pads.force:
        yield spi(machine)


def _library(machine: Machine, name: str, part: str, mend: str) -> Finding:
    try:
        machine.bring(name)
    except ModuleNotFoundError:
        return Finding(part, "missing", "not installed", mend)
    except (ImportError, OSError) as bad:
        return Finding(part, "broken", short(bad), mend)
    return Finding(part, "fine", "here")


def header_chip(machine: Machine) -> tuple[str, Finding]:
    """The chip that the header hangs on, found by its label, and how it stands; empty where there is none to use."""
    part = "GPIO header"
    chips = machine.devices("gpiochip*")
    if not chips:
        words = "no /dev/gpiochip*: this machine has no pins for pads"
        return "", Finding(part, "missing", words, "run on a Raspberry Pi; the simulated table needs none")
    locked = [chip for chip in chips if not machine.may_open(chip)]
    if len(locked) == len(chips):
        return "", Finding(part, "broken", f"{locked[0]}: not allowed to open", join_group("gpio"))
    labels: dict[str, str] = {}
    for chip in chips:
        try:
            with _chip(machine, chip) as opened:
                labels[chip] = str(opened.get_info().label)
        except ImportError:
            return "", Finding(part, "broken", f"{', '.join(chips)}, which nothing can read here", "make install")
        except OSError as bad:
            labels[chip] = f"unreadable: {short(bad)}"
    words = ", ".join(f"{chip} {label}" for chip, label in labels.items())
    found = next((chip for wanted in HEADER_LABELS for chip, label in labels.items() if label == wanted), "")
    if not found:
        return "", Finding(part, "missing", f"{words}: none is a Pi's header", "run on a Raspberry Pi")
    return found, Finding(part, "fine", f"{found} ({labels[found]})")


def _chip(machine: Machine, place: str) -> Any:
    return machine.bring("gpiod").Chip(str(machine.at(place)))


def used_pins(settings: Settings | None) -> dict[int, str]:
    """What hangs on which pin, as the settings or else the wiring picture have it."""
    if settings is None:
        uses = {pin: f"the pad of seat {n}" for n, pin in enumerate(PAD_PINS, start=1)}
        uses |= {pin: f"the light of seat {n}" for n, pin in enumerate(SEAT_LIGHT_PINS, start=1)}
        return uses | dict.fromkeys(TABLE_LIGHT_PINS, "the table's light")
    uses = {seat.pad: f"the pad of seat {n}" for n, seat in enumerate(settings.seats, start=1)}
    if settings.lights.enabled:
        uses |= {seat.light: f"the light of seat {n}" for n, seat in enumerate(settings.seats, start=1)}
        uses |= dict.fromkeys(settings.lights.table, "the table's light")
    return uses


def lines(machine: Machine, chip: str, uses: dict[int, str]) -> Finding:
    """Whether somebody else holds a line that we need, and who."""
    part = "GPIO lines"
    taken, ours = {}, 0
    try:
        with _chip(machine, chip) as opened:
            for pin in sorted(uses):
                info = opened.get_line_info(pin)
                if info.used and str(info.consumer).startswith(OURS):
                    ours += 1
                elif info.used:
                    taken[pin] = str(info.consumer) or "another driver"
    except (OSError, ImportError) as bad:
        return Finding(part, "broken", short(bad), "reboot; see dmesg")
    if taken:
        words = ", ".join(f"pin {pin} ({uses[pin]}) is held by {who}" for pin, who in taken.items())
        return Finding(part, "broken", words, _free(set(taken)))
    held = f", {ours} held by the referee that runs" if ours else ""
    return Finding(part, "fine", f"{len(uses)} lines are ours to use{held}")


def _free(pins: set[int]) -> str:
    if pins & set(SERIAL):
        return "switch the serial console off: sudo raspi-config nonint do_serial_cons 1, then reboot"
    if pins & set(SPI):
        return "choose other pins (referee setup --step pins), or: sudo raspi-config nonint do_spi 1, then reboot"
    return "stop that program (gpioinfo lists them), or choose other pins: referee setup --step pins"


def _strip(machine: Machine, device: str) -> Finding:
    part = "strip of lights"
    if not machine.at(device).exists():
        mend = 'see docs/build.md; or no strip: lights.strip = ""'
        return Finding(part, "missing", f"there is no {device}", mend)
    if not machine.may_open(device):
        return Finding(part, "broken", f"{device}: not allowed to open", join_group("gpio"))
    return Finding(part, "fine", device)


def spi(machine: Machine) -> Finding:
    """What the MCP3008 that measures force hangs on."""
    part = "SPI (force)"
    if not machine.at(SPIDEV).exists():
        return Finding(part, "missing", f"no {SPIDEV}", "sudo raspi-config nonint do_spi 0, then reboot")
    if not machine.may_open(SPIDEV):
        return Finding(part, "broken", f"{SPIDEV}: not allowed to open", join_group("spi"))
    return Finding(part, "fine", SPIDEV)
