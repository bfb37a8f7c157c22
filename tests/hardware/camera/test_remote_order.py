"""The remote camera with frames out of order: a fake process, time that stands still."""

from __future__ import annotations

import os
from collections import deque
from typing import Any

import numpy as np

from hardware.camera.camera_process import CameraProcess
from hardware.camera.remote import RemoteCamera
from hardware.camera.spec import CameraReport, CameraSpec
from hardware.camera.supervisor import Patience
from hardware.ports import Frame

NOW = 1_000


class Scripted(CameraProcess):
    """Gives frames of certain instants, and ends after the last of them."""

    def __init__(self, times: list[int], clock: str) -> None:
        self._times = deque(enumerate(times))
        self._saying = [{"kind": "report", "report": CameraReport("scripted", clock=clock).to_json()}]
        self.pid = 0
        self.bell = os.eventfd(0)
        self.gone: int | None = None

    @property
    def files(self) -> set[int]:
        return {self.bell}

    def listen(self) -> list[dict[str, Any]]:
        said, self._saying = self._saying, []
        self.gone = None if self._times else 1
        return said

    def take(self) -> tuple[Frame, int] | None:
        if not self._times:
            return None
        index, t = self._times.popleft()
        return Frame(np.zeros((2, 2, 3), np.uint8), t, 1, index), NOW

    @property
    def given_at(self) -> int | None:
        return NOW

    @property
    def status(self) -> int | None:
        return self.gone

    last_words = ""
    torn = 0

    def ask(self) -> None:
        self.gone = 0

    def wait(self, seconds: float) -> bool:
        return True

    def let_go(self) -> None:
        os.close(self.bell)


def times_of(*processes: list[int], clock: str = "CLOCK_MONOTONIC") -> tuple[list[tuple[int, int]], RemoteCamera]:
    """Return times and indices of the frames from these processes, one after the other."""
    waiting = deque(processes)
    camera = RemoteCamera(
        CameraSpec("scripted:camera"), told=lambda _: None, clock=lambda: NOW, patience=Patience(rests=(0,)),
        process=lambda _: Scripted(waiting.popleft() if waiting else [], clock),
    )  # fmt: skip
    out = []
    for _ in range(30):
        frame = camera.next(0)
        if frame is not None:
            out.append((frame.t, frame.index))
    camera.close()
    return out, camera


def test_a_frame_no_newer_than_the_last_is_none() -> None:
    got, camera = times_of([10, 20, 20, 15, 30])
    assert got == [(10, 0), (20, 1), (30, 4)]
    assert camera.order.stale == 2


def test_the_next_process_begins_where_the_last_one_ended() -> None:
    got, camera = times_of([10, 20], [5, 20, 25])
    assert got == [(10, 0), (20, 1), (25, 4)]
    assert (camera.order.stale, camera.order.dropped) == (2, 0)


def test_a_frame_from_the_future_is_none_unless_a_recording_tells_its_own_time() -> None:
    assert times_of([10, NOW + 5, 20])[0] == [(10, 0), (20, 2)]
    assert times_of([10, NOW + 5], clock="unknown")[0] == [(10, 0), (NOW + 5, 1)]
