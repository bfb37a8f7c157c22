"""Gaps that the looking child finds by the frames' stamps, and pictures that only repeat the last one."""

from __future__ import annotations

from collections import deque
from typing import Any, cast

import numpy as np

from hardware.ports import Frame
from referee.units import MS, SECOND
from referee.vision.message_pipe import MessagePipe
from referee.vision.process import LONGEST_GAP, NO_FRAME, Child, Eyes, Repeats, Work
from referee.vision.sight import Blind, Sight
from tests.support.scripted_watcher import ScriptedWatcher


def picture(number: int) -> Any:
    return np.random.default_rng(number).integers(0, 255, (32, 32, 3), np.uint8)


def test_a_picture_that_repeats_is_none_once_a_camera_has_shown_that_it_has_noise() -> None:
    repeats = Repeats()
    assert [repeats.is_repeat(picture(n)) for n in (1, 1, 2, 3, 4, 5, 5, 5, 6)] == [
        False, False, False, False, False, False, True, True, False,
    ]  # fmt: skip


def test_a_drawn_camera_without_noise_is_believed() -> None:
    repeats = Repeats()
    assert not any(repeats.is_repeat(picture(n // 3)) for n in range(30))


def test_one_pixel_that_differs_is_another_picture() -> None:
    repeats = Repeats()
    for n in range(5):
        repeats.is_repeat(picture(n))
    other = picture(4)
    other[7, 9, 1] ^= 1
    assert not repeats.is_repeat(other)
    assert repeats.is_repeat(other.copy())


class _Fed:
    """Eyes that have frames, or none for a while (None), and then end; they advance the clock."""

    def __init__(self, frames: list[tuple[int, int] | None]) -> None:
        self._frames = deque(frames)
        self.now = 0
        self.backlog = type("Backlog", (), {"after_gap": False, "is_behind": False})
        self.words = "no pictures"

    @property
    def ended(self) -> bool:
        return not self._frames

    def next(self, _seconds: float) -> Frame | None:
        if not self._frames:
            return None
        told = self._frames.popleft()
        if told is None:
            self.now += 500 * MS
            return None
        self.now = max(self.now, told[0])
        return Frame(picture(told[1]), told[0], 4 * MS, 0)


class _Pipe:
    def __init__(self) -> None:
        self.sent: list[Any] = []

    def send(self, told: Any) -> None:
        self.sent.append(told)

    def poll(self, _seconds: float = 0.0) -> bool:
        return False


def watched(frames: list[tuple[int, int] | None], *, live: bool = True) -> list[Sight | Blind]:
    eyes, pipe = _Fed(frames), _Pipe()
    work = Work(cast(Any, None), lambda: ScriptedWatcher([]), live=live)
    assert Child(work, cast(MessagePipe, pipe), lambda: eyes.now).watch(cast(Eyes, eyes))
    return [told for told in pipe.sent if isinstance(told, Sight | Blind)]


STEADY: list[tuple[int, int] | None] = [(n * 33 * MS, n) for n in range(10)]
LAST = 9 * 33 * MS


def test_a_gap_that_nobody_had_to_wait_for_is_found_by_the_stamps() -> None:
    """An eye that still had older frames to look at: the next one is there when it asks."""
    told = watched([*STEADY, (LAST + LONGEST_GAP + 1, 10)])
    assert [isinstance(news, Blind) for news in told] == [False] * 10 + [True, False]
    assert isinstance(told[-1], Sight) and told[-1].first, "another watcher"


def test_a_shorter_one_is_left_to_the_watcher_and_a_recording_has_none() -> None:
    assert not any(isinstance(news, Blind) for news in watched([*STEADY, (LAST + LONGEST_GAP, 10)]))
    assert not any(isinstance(news, Blind) for news in watched([*STEADY, (LAST + 9 * SECOND, 10)], live=False))


def test_a_gap_that_was_waited_for_is_told_once() -> None:
    told = watched([*STEADY, *[None] * 6, (LAST + 3 * SECOND, 10)])
    assert [isinstance(news, Blind) for news in told].count(True) == 1


def test_pictures_that_repeat_are_not_looked_at_and_after_two_seconds_the_camera_counts_as_lost() -> None:
    frozen: list[tuple[int, int] | None] = [(LAST + n * 33 * MS, 9) for n in range(1, 20)]
    told = watched([*STEADY, *frozen, (LAST + SECOND, 10)])
    assert [news.t for news in told if isinstance(news, Sight)] == [n * 33 * MS for n in range(10)] + [LAST + SECOND]
    assert not any(isinstance(news, Blind) for news in told)
    longer: list[tuple[int, int] | None] = [(LAST + n * 33 * MS, 9) for n in range(1, NO_FRAME // (33 * MS) + 3)]
    (blind,) = [news for news in watched([*STEADY, *longer]) if isinstance(news, Blind)]
    assert "same picture" in blind.words
