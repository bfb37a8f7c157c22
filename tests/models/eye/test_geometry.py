"""Patches, frames and overlaps."""

import cv2
import numpy as np
import pytest

from models.eye import geometry


def arrow(size: int, centre: tuple[float, float], up: tuple[float, float]) -> np.ndarray:
    """Return a grey picture with an index-sized block: red at its upper half, blue at its lower half."""
    image = np.full((size, size, 3), 128, np.uint8)
    c, u = np.array(centre), np.array(up)
    side = np.array([-u[1], u[0]]) * 0.6
    for colour, way in (((0, 0, 255), 1), ((255, 0, 0), -1)):
        box = np.array([c - side, c + side, c + side + way * u, c - side + way * u])
        cv2.fillPoly(image, [np.round(box).astype(np.int32)], colour)
    return image


@pytest.mark.parametrize("angle", [0, 37, 90, 145, 180, 260, 333])
@pytest.mark.parametrize("half", [10, 30, 70])
def test_a_patch_stands_upright_at_one_size(angle: float, half: float) -> None:
    a = np.radians(angle)
    up = (half * float(np.sin(a)), -half * float(np.cos(a)))
    patch = geometry.cut_patch(geometry.pyramid(arrow(400, (200.0, 190.0), up)), np.array([200.0, 190.0]), np.array(up))
    assert patch.shape == (geometry.PATCH_H, geometry.PATCH_W, 3)
    middle, quarter = geometry.PATCH_W // 2, geometry.INDEX_H // 4
    upper = patch[geometry.PATCH_H // 2 - quarter, middle]
    lower = patch[geometry.PATCH_H // 2 + quarter, middle]
    assert upper[2] > 180 > upper[0]
    assert lower[0] > 180 > lower[2]


def test_a_card_frame_maps_the_crop_onto_the_card() -> None:
    centre, up, right = np.array([100.0, 120.0]), np.array([5.0, -44.0]), np.array([31.0, 4.0])
    frame = geometry.card_frame(centre, up, right)
    grow = 1 + 2 * geometry.CROP_MARGIN
    middle = np.array([(geometry.CROP_W - 1) / 2, (geometry.CROP_H - 1) / 2])
    top_left = middle - np.array([geometry.CROP_W, geometry.CROP_H]) / 2 / grow
    assert np.allclose(frame[:, :2] @ top_left + frame[:, 2], geometry.quad_of(centre, up, right)[0])


def test_axes_of_a_parallelogram_are_its_own() -> None:
    centre, up, right = np.array([3.0, 4.0]), np.array([1.0, -9.0]), np.array([6.0, 0.5])
    for got, wanted in zip(geometry.axes_of(geometry.quad_of(centre, up, right)), (centre, up, right), strict=True):
        assert np.allclose(got, wanted)


def test_overlap_is_of_the_smaller_quad() -> None:
    small = np.array([[0, 0], [10, 0], [10, 10], [0, 10]], float)
    assert geometry.overlap(small, small * 3) == pytest.approx(1.0)
    assert geometry.overlap(small, small + np.array([5, 0])) == pytest.approx(0.5)
    assert geometry.overlap(small, small + np.array([50, 0])) == 0.0
    assert geometry.overlap(small, np.zeros((4, 2))) == 0.0


def test_the_pyramid_halves_until_it_is_small() -> None:
    shapes = [level.shape[:2] for level in geometry.pyramid(np.zeros((300, 200, 3), np.uint8), 5)]
    assert shapes == [(300, 200), (150, 100), (75, 50)]
