"""Waiting frames: in order, none lost while there is room, and a gap that is reported when there is none."""

from __future__ import annotations

import threading

import numpy as np

from hardware.ports import Frame
from referee.units import SECOND
from referee.vision.process import Backlog, room_for_frames
from tests.support.patience import PATIENCE

IMAGE = np.zeros((10, 10, 3), np.uint8)


def frame(t: int) -> Frame:
    return Frame(IMAGE, t, 0, t)


def test_a_slow_eye_gets_every_frame_in_order_while_there_is_room() -> None:
    waiting = Backlog(100 * IMAGE.nbytes)
    for t in range(100):
        waiting.put(frame(t))
    taken = [waiting.next(0) for _ in range(101)]
    assert [take.t for take in taken if take is not None] == list(range(100))
    assert taken[-1] is None and not waiting.after_gap


def test_where_there_is_no_room_all_that_wait_are_given_up_and_the_gap_is_told_once() -> None:
    waiting = Backlog(3 * IMAGE.nbytes)
    for t in range(4):
        waiting.put(frame(t))
    waiting.put(frame(4))
    first = waiting.next(0)
    assert first is not None and first.t == 3 and waiting.after_gap
    second = waiting.next(0)
    assert second is not None and second.t == 4 and not waiting.after_gap


def test_an_eye_seconds_behind_is_told_of_until_it_has_caught_up() -> None:
    waiting = Backlog(100 * IMAGE.nbytes)
    for t in range(0, 5 * SECOND, SECOND // 2):
        waiting.put(frame(t))
    behind = []
    while waiting.next(0) is not None:
        behind.append(waiting.is_behind)
    assert behind[0] and not behind[-1]
    assert behind == sorted(behind, reverse=True)
    assert sum(behind) > sum(4.5 * SECOND - k * SECOND / 2 > 3 * SECOND for k in range(10)), "not told off at once"


def test_a_recording_waits_for_whoever_looks() -> None:
    waiting = Backlog(2 * IMAGE.nbytes, drop=False)

    def film() -> None:
        for t in range(20):
            waiting.put(frame(t))

    camera = threading.Thread(target=film, daemon=True)
    camera.start()
    seen = [one.t for _ in range(20) if (one := waiting.next(PATIENCE)) is not None]
    camera.join(PATIENCE)
    assert seen == list(range(20)) and not waiting.after_gap


def test_the_room_is_bounded_whatever_the_machine_has() -> None:
    assert 64 * 2**20 <= room_for_frames() <= 2**30
