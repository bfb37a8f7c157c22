"""The lights' shell, over mock pins."""

from __future__ import annotations

import pytest

from hardware.lights.leds import GpioLights
from hardware.pads.pinout import PAD_PINS, SEAT_LIGHT_PINS, TABLE_LIGHT_PINS
from hardware.ports import HardwareMissing
from hardware.simulated.devices.simulated_lights import LevelChange, SimulatedLights, recording_factory


def test_a_pattern_is_told_change_by_change() -> None:
    now = 0
    lights = SimulatedLights(4, lambda: now)
    lights.seat(2, 1.0)
    now = 5
    lights.seat(2, 0.25)
    lights.seat(3, 0.0)
    lights.table(0.0, 1.0, 0.5)
    assert lights.changes == [
        LevelChange(0, "seat 2", 1.0),
        LevelChange(5, "seat 2", 0.25),
        LevelChange(5, "green", 1.0),
        LevelChange(5, "blue", 0.5),
    ]
    lights.close()
    assert set(lights.levels.values()) == {0.0}


def test_levels_out_of_range_are_brought_to_the_nearest() -> None:
    lights = SimulatedLights(1)
    lights.seat(1, 7)
    lights.table(-1, 2, 0.5)
    assert lights.levels == {"seat 1": 1.0, "red": 0.0, "green": 1.0, "blue": 0.5}


def test_a_seat_without_a_light_is_passed_over() -> None:
    lights = SimulatedLights(2)
    lights.seat(5, 1.0)
    assert lights.changes == []
    GpioLights({}, None, factory=recording_factory(lambda pin, level: None)).table(1, 1, 1)


def test_pins_that_cannot_be_used_are_named() -> None:
    with pytest.raises(HardwareMissing, match="choose other pins"):
        GpioLights({1: 19, 2: 19}, None, factory=recording_factory(lambda pin, level: None))


def test_the_wiring_gives_every_line_once() -> None:
    lines = (*PAD_PINS, *SEAT_LIGHT_PINS, *TABLE_LIGHT_PINS)
    assert len(lines) == len(set(lines)) == 19
