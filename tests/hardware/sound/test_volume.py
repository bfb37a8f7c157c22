"""The voice's volume by hour."""

from __future__ import annotations

from datetime import time
from typing import Any

import numpy as np
import pytest

from hardware.simulated.devices.silent_speaker import RecordingSpeaker
from hardware.sound.volume import Volume, VolumeControl, VolumeError, factor


@pytest.mark.parametrize(
    ("hour", "level"), [("21:59", 80), ("22:00", 30), ("23:59", 30), ("00:00", 30), ("06:59", 30), ("07:00", 80)]
)
def test_quiet_hours_go_past_midnight(hour: str, level: int) -> None:
    assert Volume(80, "22:00", "07:00", 30).at(time.fromisoformat(hour)) == level


@pytest.mark.parametrize(("hour", "level"), [("12:59", 80), ("13:00", 10), ("14:59", 10), ("15:00", 80), ("03:00", 80)])
def test_quiet_hours_in_the_middle_of_the_day(hour: str, level: int) -> None:
    assert Volume(80, "13:00", "15:00", 10).at(time.fromisoformat(hour)) == level


def test_without_quiet_hours_and_never_louder_in_them() -> None:
    assert Volume(80).at(time(3)) == 80
    assert Volume(20, "22:00", "07:00", 30).at(time(3)) == 20
    assert Volume(80, "08:00", "08:00", 30).at(time(8)) == 80, "no time at all"


def test_the_scale_is_even_and_ends_in_silence() -> None:
    assert (factor(0), factor(100), factor(140), factor(-3)) == (0.0, 1.0, 1.0, 0.0)
    assert 20 * np.log10(factor(50)) == pytest.approx(-12.04, abs=0.01)
    steps = [factor(level) for level in range(101)]
    assert steps == sorted(steps)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"level": 101}, "0 to 100, not 101"),
        ({"level": -1}, "0 to 100"),
        ({"quiet_level": 12.5}, "whole number"),
        ({"level": True}, "whole number"),
        ({"level": "80"}, "whole number"),
        ({"quiet_from": "24:00", "quiet_to": "07:00"}, "time of day"),
        ({"quiet_from": "7:00", "quiet_to": "08:00"}, "time of day"),
        ({"quiet_from": "22:00\n", "quiet_to": "07:00"}, "time of day"),
        ({"quiet_from": "22:00"}, "both"),
        ({"level": 10, "quiet_to": "07:00"}, "both"),
    ],
)
def test_what_is_no_volume_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(VolumeError, match=words):
        Volume(**given)


def test_another_volume_holds_at_once() -> None:
    hour = time(23)
    control = VolumeControl(Volume(80, "22:00", "07:00", 30), lambda: hour)
    assert control() == factor(30)
    control.volume = Volume(80, "23:30", "07:00", 30)
    assert control() == factor(80)
    speaker = RecordingSpeaker(lambda: 0)
    speaker.set_volume(Volume(20))
    assert speaker.volume == Volume(20)
