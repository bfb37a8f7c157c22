"""A strip of lights, on a file that stands for its device."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hardware.lights.strip import BRIGHTEST, BothLights, StripLights, picture, stretches
from hardware.ports import HardwareMissing
from hardware.simulated.devices.simulated_lights import SimulatedLights
from tests.support.patience import PATIENCE

DARK = (0, 0, 0)


class SimulatedStrip:
    """A strip's device as a file: `hardware.lights.strip.StripLights` writes to it as to the real one."""

    def __init__(self, device: Path, length: int) -> None:
        """``device``: where to make it; ``length``: LEDs."""
        self.device, self._length = device, length
        device.write_bytes(b"")

    @property
    def leds(self) -> list[tuple[int, int, int]]:
        """Red, green and blue of each LED, 0 to 255, as last written."""
        data = self.device.read_bytes()
        return [(data[at], data[at + 1], data[at + 2]) for at in range(0, min(len(data), 4 * self._length), 4)]


def test_each_seat_has_a_stretch_and_none_is_left_over() -> None:
    made = stretches(64, 5)
    assert [led for stretch in made for led in stretch] == list(range(64))
    assert max(len(s) for s in made) - min(len(s) for s in made) <= 1
    with pytest.raises(ValueError, match="too short"):
        stretches(3, 4)


def test_a_seat_is_white_and_the_tables_colour_is_at_its_ends() -> None:
    data = picture(16, {1: 1.0, 2: 0.0}, (0.0, 1.0, 0.0))
    leds = [tuple(data[at : at + 3]) for at in range(0, 64, 4)]
    assert leds[0] == leds[7] == leds[8] == leds[15] == (0, BRIGHTEST, 0)
    assert set(leds[1:7]) == {(BRIGHTEST,) * 3}
    assert set(leds[9:15]) == {DARK}
    assert len(data) == 64


def test_the_newest_picture_is_written_and_all_is_dark_at_the_end(tmp_path: Path) -> None:
    strip = SimulatedStrip(tmp_path / "leds0", 8)
    lights = StripLights(strip.device, 8, seats=2)
    assert strip.leds == [DARK] * 8
    for level in (0.1, 0.5, 1.0):
        lights.seat(2, level)
    lights.seat(7, 1.0)
    until = time.monotonic() + PATIENCE
    while strip.leds[5] != (BRIGHTEST,) * 3:
        assert time.monotonic() < until
    assert strip.leds[:4] == [DARK] * 4
    lights.close()
    assert strip.leds == [DARK] * 8


@pytest.mark.parametrize(("length", "words"), [(1, "lights.strip_length"), (8, "dtoverlay=ws2812-pio")])
def test_what_is_missing_is_said(tmp_path: Path, length: int, words: str) -> None:
    device = tmp_path / "leds0"
    if length == 1:
        device.write_bytes(b"")
    with pytest.raises(HardwareMissing, match=words):
        StripLights(device, length, seats=2)
    assert device.exists() == (length == 1), "no file is made in place of a device"


class Broken:
    def seat(self, seat: int, level: float) -> None:
        raise OSError(5, "Input/output error")

    def table(self, red: float, green: float, blue: float) -> None:
        raise OSError(5, "Input/output error")

    def close(self) -> None: ...


def test_of_two_sets_of_lights_the_other_one_goes_on() -> None:
    whole = SimulatedLights(2)
    both = BothLights(Broken(), whole)
    with pytest.raises(OSError, match="Input/output"):
        both.seat(1, 1.0)
    with pytest.raises(OSError, match="Input/output"):
        both.table(1.0, 0.0, 0.0)
    assert (whole.levels["seat 1"], whole.levels["red"]) == (1.0, 1.0)
    both.close()
