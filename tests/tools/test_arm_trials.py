"""Heads' shadows over the picture's edge, and arms that rest there, in small; `make arm-trials` plays all of them."""

from __future__ import annotations

import pytest

from tools.measure.arm_trials import resting, shadows, there_before


@pytest.mark.parametrize(("seed", "depth"), [(1, 0.1), (2, 0.2), (2, 0.3), (9, 0.2)])
def test_a_heads_soft_shadow_is_no_arm(seed: int, depth: float) -> None:
    assert not any(shadows(seed, depth))


@pytest.mark.parametrize("seed", [9, 20, 21])
def test_an_arm_that_rests_is_told_until_it_goes(seed: int) -> None:
    assert all(resting(seed))


@pytest.mark.parametrize("seed", [20, 21])
def test_an_arm_that_lay_there_from_the_first_is_forgotten_when_it_has_gone(seed: int) -> None:
    assert there_before(seed)
