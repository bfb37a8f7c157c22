"""White paper is found by any lamp, and by a wrongly learned colour; skin and cloth are none."""

from __future__ import annotations

import numpy as np
import pytest

from models.watch.faces import _patches
from models.watch.motion import Motion

WHOLE = np.array([(0, 0), (240, 0), (240, 240), (0, 240)], np.float32)
WHITE, WARM, AMISS = (235.0, 235.0, 235.0), (123.0, 198.0, 252.0), (178.0, 195.0, 219.0)


def _share_white(learned: tuple[float, ...], colour: tuple[float, ...]) -> float:
    """Return the share of paper in a picture of one colour, where the paper's colour is known."""
    motion = Motion()
    motion.paper = np.array(learned)
    half = np.full((40, 40, 3), colour, np.uint8)
    return float((motion.paper_in(half, np.full((80, 80), 255, np.uint8)) > 0).mean())


@pytest.mark.parametrize(("learned", "colour"), [(WHITE, WHITE), (WARM, WARM), (AMISS, (230.0, 231.0, 230.0))])
def test_a_face_is_white(learned: tuple[float, ...], colour: tuple[float, ...]) -> None:
    assert _share_white(learned, colour) == 1.0


@pytest.mark.parametrize("learned", [WHITE, WARM, AMISS])
@pytest.mark.parametrize("colour", [(90.0, 120.0, 190.0), (40.0, 45.0, 110.0), (60.0, 120.0, 60.0)])
def test_skin_and_cloth_are_none(learned: tuple[float, ...], colour: tuple[float, ...]) -> None:
    assert _share_white(learned, colour) == 0.0


def test_the_first_card_teaches_its_paper_though_a_hand_covers_most_of_it() -> None:
    small = np.full((60, 60, 3), (140, 168, 208), np.uint8)
    small[:9] = 220
    motion = Motion()
    motion.learn_paper(small, WHOLE)
    assert motion.paper == pytest.approx((220, 220, 220))


def test_paper_seen_slanted_at_first_grows_brighter_but_no_darker_while_a_hand_moves() -> None:
    motion = Motion()
    for level, paper in ((140, 140.0), (190, 165.0), (100, 165.0)):
        motion.learn_paper(np.full((60, 60, 3), level, np.uint8), WHOLE, 0.5, darker=False)
        assert motion.paper == pytest.approx((paper,) * 3)


@pytest.mark.parametrize(("rows", "broad"), [((0, 5), False), ((60, 65), False), ((0, 12), True), ((60, 72), True)])
def test_a_strip_at_the_edge_of_the_picture_is_no_broader_than_it_looks(rows: tuple[int, int], broad: bool) -> None:
    """The border of a card's back that comes in is no face."""
    white = np.zeros((120, 160), np.uint8)
    white[rows[0] : rows[1], 40:90] = 255
    (found,) = _patches(white, white, least=50.0, side=7)
    assert found.sure == broad
