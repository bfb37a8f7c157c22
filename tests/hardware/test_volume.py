"""How loud the voice is at which hour."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import time
from typing import Any

import numpy as np
import pytest

from hardware.simulated.speaker import RecordingSpeaker
from hardware.volume import Volume, VolumeError, factor
from hardware.volume_control import VolumeControl


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


BAD: list[tuple[dict[str, Any], str]] = [
    ({"volume": 101}, "0 to 100, not 101"),
    ({"volume": -1}, "0 to 100"),
    ({"quiet_volume": 12.5}, "whole number"),
    ({"volume": True}, "whole number"),
    ({"volume": "80"}, "whole number"),
    ({"quiet_from": "24:00", "quiet_to": "07:00"}, "time of day"),
    ({"quiet_from": "7:00", "quiet_to": "08:00"}, "time of day"),
    ({"quiet_from": "22:00\n", "quiet_to": "07:00"}, "time of day"),
    ({"quiet_from": ""}, "both"),
    ({"volume": 10, "quiet_to": ""}, "both"),
]


@pytest.mark.parametrize(("given", "words"), BAD)
def test_what_is_no_volume_is_refused_and_changes_nothing(given: dict[str, Any], words: str) -> None:
    speaker = RecordingSpeaker(lambda: 0)
    speaker.set_volume(volume=70, quiet_from="22:00", quiet_to="07:00", quiet_volume=20)
    before = speaker.volume
    assert before == Volume(70, "22:00", "07:00", 20)
    with pytest.raises(VolumeError, match=words):
        speaker.set_volume(**given)
    assert speaker.volume == before


def test_only_what_is_given_changes() -> None:
    hour = time(23)
    control = VolumeControl(Volume(80, "22:00", "07:00", 30), lambda: hour)
    control.set(volume=50)
    assert control() == factor(30)
    control.set(quiet_from="23:30")
    assert control() == factor(50)
    control.set(quiet_from="", quiet_to="")
    assert control.volume == Volume(50, "", "", 30)
    control.set(volume=0)
    assert control() == 0.0


def test_changes_from_many_threads_are_all_kept() -> None:
    control = VolumeControl(Volume(0, "00:00", "00:00", 0))

    def turn(which: int) -> None:
        for n in range(100):
            level, hour = n + 1, f"{n % 24:02}:{n % 60:02}"
            given: dict[str, Any] = {"volume": level, "quiet_volume": level, "quiet_from": hour, "quiet_to": hour}
            name = list(given)[which]
            control.set(**{name: given[name]})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(turn, range(4)))
    assert control.volume == Volume(100, "03:39", "03:39", 100)
