"""Changes of daylight, and of a camera's balance, are fitted, and nothing else is taken for them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from models.watch.daylight import balanced, fit_balance, fit_bands, fit_daylight, rebalanced, relit, usual_table

Picture = NDArray[np.uint8]
SHAPE = (216, 384)


def cloth() -> Picture:
    return np.random.default_rng(3).integers(80, 130, (*SHAPE, 3), np.uint8)


def sloping(middle: float, across: float, down: float, colour: tuple[float, float, float]) -> NDArray[np.float64]:
    ys, xs = np.mgrid[-1 : 1 : SHAPE[0] * 1j, -1 : 1 : SHAPE[1] * 1j]
    return np.asarray((middle + across * xs + down * ys)[..., None] * np.array(colour))


def everywhere() -> NDArray[np.bool_]:
    return np.ones(SHAPE, np.bool_)


@pytest.mark.parametrize(
    ("middle", "across", "down", "colour"),
    [(0.95, 0.03, 0.0, (1, 1, 1)), (1.06, -0.02, 0.02, (1, 1, 1)), (0.96, 0.0, 0.03, (1.02, 1.0, 0.97))],
)
def test_light_that_dims_more_at_the_windows_side_is_fitted_past_what_lies_there(
    middle: float, across: float, down: float, colour: tuple[float, float, float]
) -> None:
    light = sloping(middle, across, down, colour)
    now = relit(cloth(), light)
    seen = everywhere()
    seen[60:120, 100:150] = False
    now[60:120, 100:150] = 235
    now[100:216, 200:260] = (120, 160, 205)
    found = fit_daylight(cloth(), now, seen)
    assert found is not None and np.abs(found - light).max() < 0.015


@pytest.mark.parametrize("middle", [1.0, 0.99, 0.8, 1.3])
def test_the_same_light_and_another_lamp_are_no_daylight(middle: float) -> None:
    assert fit_daylight(cloth(), relit(cloth(), np.full(3, middle)), everywhere()) is None


def test_where_most_of_the_table_is_out_of_sight_nothing_is_fitted() -> None:
    now = relit(cloth(), np.full(3, 0.95))
    now[:, : round(0.7 * SHAPE[1])] = (90, 140, 60)
    assert fit_daylight(cloth(), now, everywhere()) is None
    assert fit_daylight(cloth(), now, np.zeros(SHAPE, np.bool_)) is None


@pytest.mark.parametrize(
    "change", [((1.2, 1.0, 0.8), (0, 0, 0)), ((1, 1, 1), (45, 0, 0)), ((0.9, 0.9, 0.9), (10, 0, -20))]
)
def test_a_cameras_balance_is_fitted_past_an_arm_and_clipped_as_the_camera_clips(
    change: tuple[tuple[float, float, float], tuple[int, int, int]],
) -> None:
    before = cloth()
    before[20:60, 20:60] = 235
    truth = np.stack([np.array(part, np.float64) for part in change], axis=1)
    now = rebalanced(before, truth)
    now[100:216, 200:260] = (120, 160, 205)
    found = fit_balance(before, now, everywhere())
    assert found is not None
    assert np.abs(balanced(before[:90], found) - balanced(before[:90], truth)).max() < 4


def test_what_hides_most_of_the_table_is_no_other_balance() -> None:
    now = cloth()
    now[:, : round(0.7 * SHAPE[1])] = (200, 20, 60)
    assert fit_balance(cloth(), now, everywhere()) is None
    assert fit_balance(cloth(), cloth(), np.zeros(SHAPE, np.bool_)) is None


def test_the_usual_table_goes_on_under_what_lies_on_it() -> None:
    truth = relit(np.full((*SHAPE, 3), (60, 90, 150), np.uint8), sloping(1.0, 0.12, -0.06, (1, 1, 1)))
    shown, seen = truth.copy(), everywhere()
    shown[80:140, 150:230], seen[80:140, 150:230] = 235, False
    shown[:40, 300:] = (120, 160, 205)  # an arm outside any mask
    guess = usual_table(shown, seen)
    assert np.abs(guess[80:140, 150:230].astype(int) - truth[80:140, 150:230]).max() <= 3


def waves(number: float, swing: float) -> NDArray[np.float64]:
    return 1 + swing * np.cos(2 * np.pi * number * np.arange(SHAPE[0]) / SHAPE[0] + 1)[:, None, None]


@pytest.mark.parametrize(("number", "swing"), [(0.8, 0.1), (1.9, 0.18), (2.55, 0.04), (5.3, 0.1)])
def test_a_lamps_bands_are_fitted_past_an_arm(number: float, swing: float) -> None:
    now = relit(cloth(), waves(number, swing))
    now[60:110, :300] = (120, 160, 205)
    bands = fit_bands(cloth(), now)
    assert bands is not None and np.abs(bands - waves(number, swing)).max() < 0.02


def test_neither_an_arm_nor_steady_light_nor_daylight_nor_another_lamp_shows_bands() -> None:
    arm = cloth()
    arm[60:110, :300] = (120, 160, 205)
    lights = np.ones(3), np.full(3, 0.8), sloping(0.95, 0.03, 0.03, (1, 1, 1)), waves(2, 0.02)
    assert all(fit_bands(cloth(), now) is None for now in (arm, *(relit(cloth(), light) for light in lights)))
