"""The doctor's checks of pads that are not on the header: keyboards and other input devices, and boards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hardware.pads.pad_place import PadPlace
from referee.sentence import Sentence
from referee.setup.check import Check
from referee.setup.doctor.device_health import check_device, check_library
from referee.setup.doctor.probe import Machine, pip_install

if TYPE_CHECKING:
    from referee.settings.model import Settings


def check_plugged_pads(machine: Machine, settings: Settings | None) -> Iterator[Check]:
    """Check every kind of such pads that the settings name, and each seat's pad."""
    if settings is None:
        return
    places = {n: place for n, seat in enumerate(settings.seats, 1) if (place := seat.pad_place) is not None}
    keys = {seat: place for seat, place in places.items() if place.kind == "key"}
    if keys:
        mend = Sentence("make install; where it has no wheel: sudo apt install python3-evdev, or gcc python3-dev")
        yield check_library(machine, "evdev", Sentence("keys as pads"), mend)
        yield from _check_keys(machine, keys)
    boards = {seat: place for seat, place in places.items() if place.kind == "serial"}
    if boards:
        yield check_library(machine, "serial", Sentence("pads on a board"), pip_install("pyserial"))
        yield from _check_boards(machine, boards)


def _check_keys(machine: Machine, keys: Mapping[int, PadPlace]) -> Iterator[Check]:
    """Check that each seat's keyboard is plugged in and readable."""
    labels = {
        device: {device, *(machine.read(f"/sys/class/input/{Path(device).name}/device/{part}") for part in _LABELS)}
        for device in machine.devices("input/event*")
    }
    for seat, place in keys.items():
        part = Sentence("pad of {seat}", seat=seat)
        found = [device for device, names in labels.items() if not place.device or place.device in names]
        if not found and place.device.startswith("/dev/") and machine.at(place.device).exists():
            found = [place.device]
        if not found:
            words = Sentence(
                "{place}: {device} is not plugged in", place=place, device=place.device or Sentence("a keyboard")
            )
            yield Check(
                part, "missing", words, Sentence("plug it in; or choose another key: referee setup --step pads")
            )
        elif not any(machine.may_open(device) for device in found):
            yield Check(
                part,
                "broken",
                Sentence("{place}: not allowed to read {device}", place=place, device=found[0]),
                machine.join_group("input"),
            )
        else:
            yield Check(part, "fine", str(place))


def _check_boards(machine: Machine, boards: Mapping[int, PadPlace]) -> Iterator[Check]:
    """Check that each seat's board is plugged in, and may be opened."""
    for seat, place in boards.items():
        device = place.device or next(iter(machine.devices("ttyACM*") + machine.devices("ttyUSB*")), "")
        mend = Sentence("plug the board in; or choose another pad: referee setup --step pads")
        found = check_device(machine, Sentence("pad of {seat}", seat=seat), device or "/dev/ttyACM0", mend, "dialout")
        yield replace(found, words=Sentence("{place}: {words}", place=place, words=found.words))


_LABELS = ("name", "phys", "uniq")
"""Attributes by which the kernel distinguishes input devices; a seat may name a device by any of them."""
