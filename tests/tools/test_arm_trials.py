"""Heads' shadows over the picture's edge, in small; `make arm-trials` plays all of them."""

from __future__ import annotations

import pytest

from tools.measure.arm_trials import shadows


@pytest.mark.parametrize(("seed", "depth"), [(1, 0.1), (2, 0.2), (3, 0.3)])
def test_a_heads_soft_shadow_is_no_arm(seed: int, depth: float) -> None:
    assert not any(shadows(seed, depth))
