"""A network camera that is away for ten seconds of data: it is watched again, reported, and its errors hold."""

from __future__ import annotations

import pytest

from hardware.camera.supervisor import Patience
from referee.units import MS, SECOND
from tools.measure.network_camera import watch


@pytest.mark.parametrize(("delay", "jitter"), [(120, 5), (250, 20), (450, 40)])
@pytest.mark.parametrize("is_measured", [True, False])
def test_it_is_taken_up_again_and_what_it_states_holds(delay: int, jitter: int, is_measured: bool) -> None:
    for seed in range(3):
        one = watch(seed, delay=delay * MS, jitter=jitter * MS, delay_ms=delay if is_measured else None)
        words = [words for _, words in one.told]
        assert "fell silent" in words[0] and words[-1] == "the camera is back"
        assert words.count("the camera is back") == 1
        assert 20 * SECOND < one.told[0][0] < 26 * SECOND, "after three silent seconds"
        assert 0 < one.back_after < max(Patience().rests) + 3 * SECOND
        assert one.held > 0.99
        assert len(one.off) > 1200


def test_an_error_that_is_set_too_small_would_be_seen() -> None:
    wrong = watch(1, delay=400 * MS, jitter=5 * MS, delay_ms=100)
    assert wrong.held < 0.05
