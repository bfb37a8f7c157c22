"""The shell over the kernel's input devices, as far as it can be tested without one."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("evdev")

from hardware.pads.evdev_keys import EvdevDevices


@pytest.mark.parametrize(("name", "code"), [("a", 30), ("KEY_A", 30), ("leftshift", 42), ("1", 2), ("btn_south", 304)])
def test_a_key_has_the_kernels_code_and_a_name_that_leads_back(name: str, code: int) -> None:
    devices = EvdevDevices()
    assert devices.code(name) == code
    assert devices.code(devices.key(code)) == code


def test_keys_without_a_name_have_a_number() -> None:
    devices = EvdevDevices()
    assert devices.code(devices.key(0x2FE)) == 0x2FE


@pytest.mark.parametrize("name", ["", "any", "0xg"])
def test_there_is_no_such_key(name: str) -> None:
    with pytest.raises(ValueError, match=r"key|invalid"):
        EvdevDevices().code(name)


def test_a_machine_without_input_devices(tmp_path: Path) -> None:
    devices = EvdevDevices(tmp_path)
    assert (devices.find(()), devices.places(), devices.refused) == ([], [], "")


def test_what_is_no_device_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "event0").write_text("")
    assert EvdevDevices(tmp_path).find(()) == []
