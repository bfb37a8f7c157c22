"""The eye's speed, measured with eyes of scripted duration, by a clock that only they move."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from models.eye.eye import CardSeen
from models.eye.geometry import PixelBox
from models.watch.motion import Bytes
from referee.setup.eye_speed import ENOUGH, LOOKS_A_CARD, EyeSpeed, measure_eye, quickest

SIZE = (320, 240)


class SlowEye:
    """Reads nothing, and takes a set time over it."""

    def __init__(self, took: list[float], seconds: float) -> None:
        self._took, self._seconds = took, seconds

    def recognise(self, image: Bytes) -> Sequence[CardSeen]:
        assert image.shape == (SIZE[1], SIZE[0], 3)
        self._took[0] += self._seconds
        return ()

    def read_at(self, image: Bytes, region: PixelBox, card_height: float | None = None) -> Sequence[CardSeen]:
        return self.recognise(image)


def measured(ms: dict[int, float], fps: float = 25.0) -> list[EyeSpeed]:
    """Return the figures of eyes that take these milliseconds a look with each number of threads."""
    took = [0.0]
    return measure_eye(
        SIZE, fps, list(ms), load=lambda threads: SlowEye(took, ms[threads] / 1000), clock=lambda: took[0]
    )


def test_each_number_of_threads_is_told_its_own_look() -> None:
    told = measured({1: 40.0, 2: 25.0, 4: 30.0})
    assert [speed.threads for speed in told] == [1, 2, 4]
    assert [speed.look_ms for speed in told] == pytest.approx([40.0, 25.0, 30.0])
    assert [speed.quiet_ms for speed in told] == pytest.approx([0.0] * 3), "only the eye moves this clock"
    assert quickest(told).threads == 2


def test_a_further_thread_must_be_worth_it() -> None:
    speeds = [EyeSpeed(SIZE, 25.0, threads, ms, 1.0) for threads, ms in ((1, 40), (2, 38), (3, 30), (4, 28))]
    assert quickest(speeds).threads == 3
    assert quickest(speeds[:2]).threads == 1


@pytest.mark.parametrize("quiet", [0.0, 4.0])
def test_cards_a_second_are_what_looks_leave_of_one(quiet: float) -> None:
    """Each frame costs a glance; the rest of a second goes into looks."""
    enough = (1000 - 25 * quiet) / (ENOUGH * LOOKS_A_CARD)
    speed = EyeSpeed(SIZE, 25.0, 1, enough, quiet)
    assert speed.cards_a_second == pytest.approx(ENOUGH)
    assert not EyeSpeed(SIZE, 25.0, 1, 1.01 * enough, quiet).suffices
    assert EyeSpeed(SIZE, 25.0, 1, 0.99 * enough, quiet).suffices


def test_an_eye_that_glances_the_whole_second_follows_no_card() -> None:
    speed = EyeSpeed(SIZE, 30.0, 2, 20.0, 40.0)
    assert (speed.cards_a_second, speed.suffices) == (0.0, False)
    assert "(threads: 2): follows about 0.0 cards a second" in speed.words
