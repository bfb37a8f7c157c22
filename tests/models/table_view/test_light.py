"""Noise, flicker, light, sharpness and the resulting exposure, with the truth from the simulated camera."""

from __future__ import annotations

import math
from dataclasses import replace

import cv2
import numpy as np
import pytest

from hardware.simulated.pictures.ambient import Lamp
from hardware.simulated.pictures.overhead import Overhead
from models.table_view.edges import softness, spread
from models.table_view.light import (
    MOST_NOISE,
    SHORTEST_US,
    WHITE_LEVEL,
    Light,
    advise,
    compare,
    measure_light,
    smear_px,
)
from models.table_view.sheet import find_sheet, outline
from models.table_view.table_map import fit_table, project
from referee.units import SECOND
from tests.support.overhead import Bytes, Floats, with_sheet


def _frames(camera: Overhead, count: int = 5, ripple: float = 0.0) -> list[Bytes]:
    """Return frames 30 times a second; ``ripple`` is what 4 ms of exposure leave of a lamp's, on mains of 50 Hz."""
    exposed, lamp = camera.exposed(with_sheet()), Lamp(50, ripple)
    return [lamp.shine(camera.developed(exposed, index), round(index * SECOND / 30), 0) for index in range(count)]


def _paper(camera: Overhead) -> Floats:
    seen = find_sheet(replace(camera, noise=0.0, light=1.0).picture(with_sheet()))
    assert seen is not None
    found = fit_table(seen.mm, seen.px, camera.size)
    return found.view.to_px(project(found.from_source, outline()))


@pytest.mark.parametrize("noise", [1.0, 3.0, 8.0])
def test_noise_is_measured(noise: float) -> None:
    """Grey is a weighted mean of three channels, so its noise is two thirds of theirs."""
    still = compare(_frames(Overhead(noise=noise)))
    assert still.noise == pytest.approx(noise * math.sqrt(0.299**2 + 0.587**2 + 0.114**2), rel=0.1, abs=0.1)
    assert still.flicker < 0.005
    assert still.moving < 0.01


@pytest.mark.parametrize("swing", [0.02, 0.1])
def test_flicker_is_measured_and_is_no_motion(swing: float) -> None:
    still = compare(_frames(Overhead(), ripple=swing))
    # From picture to picture light swings by up to twice its amplitude; grey levels go as its power of 1 / 2.2.
    assert 0.5 * swing < still.flicker < 1.1 * swing
    assert still.moving < 0.05
    assert still.noise < 3


def test_something_that_moves_is_seen() -> None:
    camera = Overhead()
    one, other = _frames(camera, 2)
    hand = camera.picture(with_sheet(), 1, with_sheet().with_hand(200.0, 1))
    assert compare([one, other]).moving < 0.01
    assert compare([one, hand]).moving > 0.05


def test_one_picture_tells_no_noise() -> None:
    still = compare(_frames(Overhead(), 1))
    assert math.isnan(still.noise)
    assert math.isnan(still.flicker)


def test_dark_and_overexposed_paper() -> None:
    papers = [_paper(Overhead())]
    white = {light: measure_light(Overhead(light=light).picture(with_sheet()), papers) for light in (0.1, 1.0, 2.5)}
    assert white[0.1].white < 90 < white[1.0].white
    assert white[1.0].clipped < 0.02
    assert white[2.5].clipped > 0.5
    assert measure_light(Overhead().picture(with_sheet()), []).white == 0


@pytest.mark.parametrize(("light", "exposure_us"), [(1.0, 4000), (0.25, 8000), (3.0, 6000), (0.6, 12_000)])
def test_what_is_advised_is_shorter_or_brighter_and_holds(light: float, exposure_us: int) -> None:
    """The simulated camera, set as advised (again where paper was overexposed), is bright enough and quiet enough."""
    camera = Overhead(light=light, exposure_us=exposure_us)
    papers = [_paper(camera)]
    for _ in range(2):
        frames = _frames(camera, 3)
        advice = advise(
            measure_light(frames[0], papers),
            compare(frames).noise,
            camera.exposure_us,
            camera.gain,
            30.0,
        )
        camera = replace(camera, exposure_us=advice.exposure_us, gain=advice.gain)
    after = _frames(camera, 3)
    assert advice.more_light < 1.2
    assert SHORTEST_US <= camera.exposure_us < exposure_us
    assert measure_light(after[0], papers).white == pytest.approx(WHITE_LEVEL, abs=12)
    assert compare(after).noise < 1.1 * MOST_NOISE


def test_too_little_light_is_told_and_no_exposure_is_longer_than_a_frame() -> None:
    camera = Overhead(light=0.004, exposure_us=10_000, noise=6.0)
    frames = _frames(camera, 3)
    advice = advise(measure_light(frames[0], [_paper(camera)]), compare(frames).noise, 10_000, camera.gain, 60.0)
    assert advice.exposure_us <= 1e6 / 60
    assert advice.more_light > 2


def test_under_lamps_that_flicker_whole_swings_are_advised() -> None:
    camera = Overhead()
    frames = _frames(camera, 3, ripple=0.1)
    advice = advise(measure_light(frames[0], [_paper(camera)]), 2.0, 4000, 4.0, 30.0, mains_hz=50)
    assert advice.exposure_us % 10_000 == 0
    assert advice.gain < 4


@pytest.mark.parametrize(("mains_hz", "fps", "swing"), [(50, 25.0, 10_000), (60, 30.0, 8333)])
def test_exposures_are_whole_swings_where_light_allows(mains_hz: int, fps: float, swing: int) -> None:
    """``product`` is the exposure times gain of correctly exposed paper, at a noise that allows a gain of 4."""
    for product, wanted in ((8_000, 2000), (36_000, swing), (72_000, 2 * swing)):
        advice = advise(Light(WHITE_LEVEL, 0.0), MOST_NOISE, product / 4, 4.0, fps, mains_hz=mains_hz)
        assert advice.exposure_us == pytest.approx(wanted, abs=1), product
        assert advice.exposure_us * advice.gain == pytest.approx(product, rel=0.05), "as bright as before"
    # At a rate at which bands wander even a short exposure is made whole, but never so that it overexposes.
    assert advise(Light(WHITE_LEVEL, 0.0), MOST_NOISE, 5000, 4.0, 24.0, mains_hz=mains_hz).exposure_us == swing
    assert advise(Light(WHITE_LEVEL, 0.0), MOST_NOISE, 1600, 4.0, 24.0, mains_hz=mains_hz).exposure_us == 1600


def test_a_card_at_two_metres_a_second_moves_two_millimetres_in_one() -> None:
    assert smear_px(1000, 1.5) == pytest.approx(3.0)


def _edge(sigma: float, angle: float, noise: float = 2.0) -> Bytes:
    """Return a straight edge from 40 to 200 through the middle, blurred by ``sigma`` px."""
    ys, xs = np.mgrid[0:200, 0:200].astype(np.float64)
    a = math.radians(angle)
    off = (xs - 99.5) * math.cos(a) + (ys - 99.5) * math.sin(a)
    step = 40 + 160 * np.clip(off + 0.5, 0, 1)
    blurred = cv2.GaussianBlur(step, (0, 0), sigma)
    grain = np.random.default_rng(1).normal(0, noise, blurred.shape)
    return np.asarray(np.clip(np.rint(blurred + grain), 0, 255), np.uint8)


@pytest.mark.parametrize("sigma", [0.6, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("angle", [3.0, 30.0, 95.0])
def test_the_spread_of_an_edge_is_measured(sigma: float, angle: float) -> None:
    """A Gaussian's integral rises from 10 to 90 % over 2.563 sigma; a pixel's width adds a little."""
    a = math.radians(angle)
    along = np.array([-math.sin(a), math.cos(a)])
    off = 0.8 * np.array([math.cos(a), math.sin(a)])
    start, end = np.array([99.5, 99.5]) - 70 * along + off, np.array([99.5, 99.5]) + 70 * along + off
    width = spread(_edge(sigma, angle), start, end, 14.0)
    assert width is not None
    assert width == pytest.approx(2.563 * math.hypot(sigma, 0.4), rel=0.12, abs=0.25)


def test_where_there_is_no_edge_none_is_measured() -> None:
    flat = np.full((200, 200), 90, np.uint8)
    assert spread(flat, np.array([20.0, 100.0]), np.array([180.0, 100.0]), 10.0) is None


def test_a_blurred_picture_is_known_without_knowing_what_it_shows() -> None:
    sharp, blurred = (
        softness(cv2.cvtColor(Overhead(blur=blur).picture(with_sheet()), cv2.COLOR_BGR2GRAY)) for blur in (0.6, 6.0)
    )
    assert sharp < 5
    assert blurred > 9
