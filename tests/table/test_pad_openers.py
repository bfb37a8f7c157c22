"""The pads that a table's settings open, and the reports about pads that cannot be opened."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from hardware.pads.gpiod_lines import GpiodLines
from hardware.pads.pads import GpioPads
from hardware.pads.plugged_pads import MixedPads
from hardware.ports import HardwareMissing
from hardware.simulated.devices.simulated_pads import SimulatedLineRequest
from referee.control.seat_codes import read_seat_codes
from referee.settings.model import Settings, parse_settings
from referee.setup import wired_devices
from referee.setup.wired_devices import open_lights, open_pads
from tests.support.machines import Rig

pytest.importorskip("evdev")
NOWHERE = "no such keyboard"


def seats(*pads: str) -> Settings:
    return parse_settings("".join(f'[[seat]]\nname = "S{n}"\npad = {pad}\n' for n, pad in enumerate(pads)))


def refuse_pins(*_: object, **__: object) -> GpioPads:
    raise HardwareMissing("no header here")


def test_a_kind_that_is_not_here_silences_its_own_seats_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wired_devices, "GpioPads", refuse_pins)
    with closing(open_pads(seats("4", f'"key:a@{NOWHERE}"', "5"))) as pads:
        assert isinstance(pads, MixedPads)
        assert pads.silent[1] == pads.silent[3] == "no header here"
        assert f"{NOWHERE} is not plugged in" in pads.silent[2] or "may not be opened" in pads.silent[2]
        assert pads.trouble == ""


def test_a_pin_of_another_function_is_named_and_not_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.file("/proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.4")
    rig.file("/proc/cmdline", "console=serial0,115200")
    taken: dict[int, int] = {}

    def claim(pins: dict[int, int], **_: object) -> GpioPads:
        taken.update(pins)
        return GpioPads(pins, lines=GpiodLines(SimulatedLineRequest(pins.values())), poller=False)

    monkeypatch.setattr(wired_devices, "GpioPads", claim)
    table = parse_settings(
        "".join(f'[[seat]]\nname = "S{pin}"\npad = {pin}\n' for pin in (4, 15)) + "[lights]\nenabled = false\n"
    )
    with closing(open_pads(table, rig.root)) as pads:
        assert isinstance(pads, MixedPads)
        assert taken == {1: 4}
        assert "pin 15 (the pad of seat 2) is not free (the serial console)" in pads.silent[2]
    only = parse_settings(
        "".join(f'[[seat]]\nname = "S{pin}"\npad = {pin}\n' for pin in (14, 15)) + "[lights]\nenabled = false\n"
    )
    with pytest.raises(HardwareMissing, match=r"pin 14 .*; pin 4 is.*; pin 15 .*; pin 5 is"):
        open_pads(only, rig.root)


def test_lights_on_pins_of_another_function_stay_dark_and_the_others_light(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The table's light has three pins; without one of them it would show another colour."""
    rig, taken = Rig(tmp_path), []
    rig.file("/proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.4")
    rig.file("/proc/cmdline", "console=serial0,115200")
    monkeypatch.setattr(wired_devices, "GpioLights", lambda lamps, table: taken.append((lamps, table)))
    missing: dict[str, str] = {}
    open_lights(seats("4", "5"), missing, rig.root)
    assert taken == [({1: 19, 2: 20}, None)]
    assert "pin 14 (the table's light) is not free (the serial console)" in missing["lights"]
    assert "pin 15 (the table's light) is not free" in missing["lights"]


def test_where_no_kind_is_here_all_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wired_devices, "GpioPads", refuse_pins)
    with pytest.raises(HardwareMissing, match="no key called 'anykey'") as told:
        open_pads(seats("4", '"key:anykey"'))
    assert "no header here" in str(told.value)
    with pytest.raises(HardwareMissing, match="a board's pads have numbers"):
        open_pads(seats('"serial:a"', '"serial:2"'))


def test_phones_are_known_by_who_sits_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path / "run"))
    table = parse_settings(
        '[[seat]]\nname = "Ana"\npad = "phone"\n[[seat]]\nname = "Ben"\npad = "browser:l"\n[pads]\nphones = 2\n'
    )
    with closing(open_pads(table)):
        codes = read_seat_codes(tmp_path / "run")
    assert [(code.seat, code.key, code.name, code.phones) for code in codes] == [
        (1, "", "Ana", 2),
        (2, "KeyL", "Ben", 2),
    ]
