"""A picture without colour is recognised as one, and no suit in it is sure."""

import cv2
import numpy as np
import pytest

from hardware.simulated.decks.families import FAMILIES
from hardware.simulated.pictures.canvas import Bytes
from models.eye.classes import SURE_READING, UNREAD
from models.eye.eye import Eye
from models.eye.grey import is_grey
from tests.models.evaluation.damaged import scene


def grey_of(image: Bytes) -> Bytes:
    return np.asarray(cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR), np.uint8)


def jpeg_of(image: Bytes, quality: int) -> Bytes:
    _, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)


def tinted(image: Bytes, *shares: float) -> Bytes:
    return np.asarray(np.clip(image * np.array(shares) + 0.5, 0, 255), np.uint8)


@pytest.mark.parametrize("number", range(4))
def test_a_monochrome_picture_is_known_whatever_its_file_or_tint(number: int) -> None:
    image = scene(sorted(FAMILIES)[number], (611, number)).image
    grey = grey_of(image)
    assert is_grey(grey)
    assert is_grey(jpeg_of(grey, 40))
    assert is_grey(tinted(grey, 1.05, 1.0, 0.96))
    assert is_grey(jpeg_of(tinted(grey, 1.05, 1.0, 0.96), 90))
    assert not is_grey(image)


def test_black_signs_on_a_grey_table_are_no_grey_picture() -> None:
    rng = np.random.default_rng(6)
    table = np.full((480, 640), 120.0)
    table[100:300, 200:340] = 235
    table[120:160, 215:235] = 25
    noisy = np.clip(table[..., None] + rng.normal(0, 2, (480, 640, 3)), 0, 255).astype(np.uint8)
    assert not is_grey(noisy)
    assert is_grey(np.repeat(noisy[..., :1], 3, axis=2)), "one noise in all colours is a monochrome sensor's"


def test_a_red_sign_is_colour_enough() -> None:
    table = np.full((480, 640, 3), 120, np.uint8)
    table[100:300, 200:340] = 235
    assert is_grey(table)
    table[120:150, 215:235] = (40, 30, 190)
    assert not is_grey(table)


def test_a_green_cloth_alone_is_no_grey_picture() -> None:
    cloth = np.linspace(60, 140, 640)[None, :, None] * np.ones((480, 1, 1))
    assert is_grey(tinted(np.repeat(cloth, 3, axis=2), 1.0, 1.0, 1.0))
    assert not is_grey(tinted(np.repeat(cloth, 3, axis=2), 0.6, 1.0, 0.5))


def test_of_a_picture_that_shows_nothing_it_cannot_be_said() -> None:
    for level in (0, 120, 255):
        assert not is_grey(np.full((64, 64, 3), level, np.uint8))


def test_in_a_grey_picture_ranks_are_read_and_no_name_is_sure() -> None:
    eye, ranks = Eye.load(), 0
    for number in range(6):
        shown = scene(sorted(FAMILIES)[number % 4], (612, number))
        seen = eye.recognise(grey_of(shown.image))
        assert all(s.grey and s.confidence < SURE_READING for s in seen)
        named = [s for s in seen if s.card != UNREAD]
        for s in named:
            assert sum(p for _, p in s.candidates) <= 1 + 1e-6
            assert s.candidates[0] == (s.card, s.confidence)
            assert s.rank_confidence >= s.confidence
        ranks += sum(s.rank_confidence >= SURE_READING for s in named)
        assert not any(s.grey for s in eye.recognise(shown.image))
    assert ranks >= 6
