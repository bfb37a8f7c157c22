"""The drawings of `models.eye.annotate`: lines by confidence, labels that keep off each other."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from models.eye.annotate import STYLES, Labels, confidence_text, draw_dashed, draw_readings, line_style
from models.eye.eye import CardSeen


def reading(
    card: str,
    confidence: float,
    corners: NDArray[np.float64],
    indices: Sequence[tuple[float, float]] = (),
) -> CardSeen:
    return CardSeen(card, confidence, corners, False, 0.5, np.array(indices, np.float64).reshape(-1, 2))


def quad(x: float, y: float, width: float = 200, height: float = 280) -> NDArray[np.float64]:
    return np.array([[x, y], [x + width, y], [x + width, y + height], [x, y + height]], np.float64)


@pytest.mark.parametrize(
    ("card", "confidence", "number"), [("7h", 0.9, 0), ("7h", 0.89, 1), ("7h", 0.49, 2), ("??", 0.2, 3)]
)
def test_each_degree_of_confidence_has_a_line_of_its_own(card: str, confidence: float, number: int) -> None:
    assert line_style(reading(card, confidence, quad(0, 0))) is STYLES[number]
    assert len({s.dash for s in STYLES}) == len({s.colour for s in STYLES}) == len(STYLES)


def test_a_dashed_line_leaves_out_what_a_whole_one_draws() -> None:
    lengths = []
    for dash in ((1, 0), (7, 4), (3, 3)):
        canvas = np.zeros((20, 400, 3), np.uint8)
        draw_dashed(canvas, np.array([5.0, 10.0]), np.array([395.0, 10.0]), (255, 255, 255), dash, 1, 4.0)
        lengths.append(int((canvas[10, :, 0] > 0).sum()))
    assert lengths[0] > 385 > lengths[1] > lengths[2] > 100


def test_a_confidence_is_never_rounded_up_to_certainty() -> None:
    assert [confidence_text(c) for c in (0.3, 0.987, 0.9949, 0.99949, 0.9996, 1.0)] == [
        "0.30", "0.99", "0.995", "0.999", ">.999", ">.999",
    ]  # fmt: skip


def test_labels_of_cards_in_one_place_do_not_overlap() -> None:
    labels = Labels(np.zeros((900, 1200, 3), np.uint8), 1.2, [])
    for _ in range(8):
        labels.put(reading("Qh", 0.95, quad(500, 300)), np.array([600.0, 440.0]))
    boxes = labels.placed
    for i, (x, y, w, h) in enumerate(boxes):
        for ox, oy, ow, oh in boxes[:i]:
            assert x >= ox + ow or ox >= x + w or y >= oy + oh or oy >= y + h


def test_corners_outside_the_picture_are_shown_on_a_margin() -> None:
    image = np.full((600, 1200, 3), 90, np.uint8)
    inside = draw_readings(image, [reading("7h", 0.99, quad(100, 100))])
    outside = draw_readings(image, [reading("7h", 0.99, quad(-100, 100))])
    assert inside.shape[1] == 1200
    assert outside.shape[1] == 1300


def test_a_picture_without_cards_is_left_as_it_is() -> None:
    image = np.full((600, 1200, 3), 90, np.uint8)
    out = draw_readings(image, [])
    assert np.array_equal(out[:600], image)
    assert cv2.countNonZero(cv2.inRange(out[600:], (0, 0, 0), (80, 80, 80))) > 100


def test_a_wild_reading_is_drawn_all_the_same() -> None:
    image = np.full((300, 400, 3), 90, np.uint8)
    wild = np.array([[-1e6, 0], [1e6, 10], [1e6, 1e6], [-1e6, 200]], np.float64)
    assert draw_readings(image, [reading("??", 0.02, wild, indices=[(9e5, 9e5)])]).dtype == np.uint8
