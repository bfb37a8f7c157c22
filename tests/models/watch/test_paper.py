"""White paper is found by any lamp, and by a colour that was learned amiss; skin and cloth are none."""

from __future__ import annotations

import numpy as np
import pytest

from models.watch.motion import Motion

WHITE, WARM, AMISS = (235.0, 235.0, 235.0), (123.0, 198.0, 252.0), (178.0, 195.0, 219.0)


def _share_white(learned: tuple[float, ...], colour: tuple[float, ...]) -> float:
    """How much of a picture of one colour is paper, where the paper's colour is known."""
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
