"""The mains frequency, from the beat of a lamp's flicker, with the truth from the simulated lamp."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from hardware.simulated.pictures.ambient import Lamp, SensorNoise
from hardware.simulated.pictures.overhead import Overhead
from models.table_view.mains import BEAT_FRAMES, BEAT_RATES, Flicker, Mains, is_steady, steady_rate
from referee.units import MS, SECOND
from tests.support.overhead import with_sheet

SIZE = (320, 240)
EXPOSURE = 3 * MS


@cache
def still() -> NDArray[np.uint8]:
    return Overhead(size=SIZE, noise=0.0).picture(with_sheet())


@cache
def noise() -> SensorNoise:
    return SensorNoise(*SIZE, 2.0, 1)


def beat(lamp: Lamp | None, rates: tuple[float, ...] = BEAT_RATES, jitter: int = 0, exposure: int = EXPOSURE) -> Mains:
    """Return the result for a lamp's flicker; ``jitter`` is the error of a frame's instant, ns."""
    chance = np.random.default_rng(7)
    flicker, t = Flicker(), 5 * SECOND
    for rate in rates:
        for index in range(BEAT_FRAMES):
            image = still().copy() if lamp is None else lamp.shine(still(), t, exposure)
            noise().add_to(image, index)
            flicker.feed(image, t + round(chance.normal() * jitter), exposure)
            t += round(SECOND / rate)
        t += SECOND // 3
    return flicker.judge()


@pytest.mark.parametrize("hz", [50, 60])
@pytest.mark.parametrize("ripple", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("readout", [0, 8 * MS, 23 * MS])
def test_the_mains_are_told_by_weak_and_strong_lamps_and_by_any_sensor(hz: int, ripple: float, readout: int) -> None:
    told = beat(Lamp(hz, ripple, readout))
    assert told.hz == hz
    assert 0.6 * ripple < told.ripple < 1.05 * ripple


@pytest.mark.parametrize("hz", [49.95, 50.05, 59.95, 60.05])
def test_mains_that_are_a_little_off_are_told_all_the_same(hz: float) -> None:
    assert beat(Lamp(hz, 0.1)).hz == round(hz)


@pytest.mark.parametrize(
    "lamp",
    [None, Lamp(50, 0.002), Lamp(60, 0.002), *(Lamp(hz, 0.2) for hz in (16.7, 45, 55, 75, 200))],
)
def test_what_flickers_with_neither_or_not_at_all_is_not_told(lamp: Lamp | None) -> None:
    assert beat(lamp).hz is None


def test_whole_swings_show_no_flicker_and_frames_without_good_instants_tell_nothing() -> None:
    assert beat(Lamp(50, 0.2), exposure=10 * MS).hz is None
    assert beat(Lamp(50, 0.2), jitter=4 * MS).hz is None
    assert beat(Lamp(50, 0.2), jitter=MS).hz == 50


def test_a_camera_that_keeps_its_rate_tells_what_does_not_stand_still_at_it() -> None:
    assert [beat(Lamp(hz, 0.2), (30.0,)).hz for hz in (50, 60)] == [50, None]
    assert [beat(Lamp(hz, 0.2), (25.0,)).hz for hz in (50, 60)] == [None, 60]


def test_bands_stand_still_at_each_mains_own_rate() -> None:
    assert [steady_rate(hz) for hz in (50, 60, None)] == [25.0, 30.0, 30.0]
    assert is_steady(25.0, 50) and is_steady(30.0, 60) and is_steady(20.0, 50) and is_steady(15.0, 60)
    assert not is_steady(30.0, 50) and not is_steady(25.0, 60) and not is_steady(240.0, 50)
