"""The drawn camera after a change of script: its frames go on without a gap, and show the new one."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

import numpy as np
import pytest

from hardware.clock import monotonic
from hardware.ports import Frame
from hardware.simulated.table.interruption import stand_still
from hardware.simulated.table.script import Script, play_game
from hardware.simulated.table.simulated_table import SimulatedTable
from referee.demo.rendered_camera import CameraView, DrawnCamera, RenderedCamera, WatchedCamera, numbers_in

FPS = 10.0
AT = 700_000_000
SIZE = (160, 120)


@pytest.fixture(scope="module")
def script() -> Script:
    return play_game(1, 2, max_cards=4)


def followed(frames: Iterator[Frame], follow: Callable[[Script, int], None], script: Script) -> list[Frame]:
    """Return thirty frames; after the third of them the players stop."""
    first = list(islice(frames, 3))
    follow(stand_still(script, AT), AT)
    return [*first, *islice(frames, 27)]


@pytest.mark.parametrize("camera", [DrawnCamera, RenderedCamera])
def test_another_script_is_drawn_in_this_process_and_in_one_of_its_own(
    script: Script, camera: type[DrawnCamera | RenderedCamera]
) -> None:
    drawn = camera(CameraView(script, FPS, "harbour", SIZE))
    try:
        frames = followed(drawn.frames(), drawn.follow, script)
    finally:
        drawn.close()
    is_still(frames, script)


def is_still(frames: list[Frame], script: Script) -> None:
    """Whether the frames follow each other, and are those of the script in which the players stop."""
    assert [frame.index for frame in frames] == list(range(30))
    table = SimulatedTable(stand_still(script, AT), FPS, SIZE)
    for frame in frames:
        assert np.array_equal(frame.image, table.render(round(frame.index * 1e9 / FPS)).image), frame.index


def test_the_process_that_looks_hears_of_another_script_in_the_midst_of_a_game(script: Script, tmp_path: Path) -> None:
    memory, file = SharedMemory(create=True, size=24), tmp_path / "script"
    origin = monotonic()
    camera = WatchedCamera(CameraView(script, FPS, "harbour", SIZE), memory.name, file, origin, lambda _: None)
    try:
        frames = camera.frames()
        waiting = next(frames)
        began = monotonic() - origin
        numbers_in(memory)[0] = began
        shown = list(islice(frames, 4))
        assert waiting.t < began

        def follow(other: Script, since: int) -> None:
            file.write_bytes(pickle.dumps(other))
            numbers_in(memory)[2] = since
            numbers_in(memory)[1] += 1

        follow(stand_still(script, AT), AT)
        shown += list(islice(frames, 30))
        told = {frame.index: replace(frame, t=frame.t - began) for frame in shown if frame.t >= began}
    finally:
        camera.close()
        memory.close()
        memory.unlink()
    is_still([told[index] for index in range(30)], script)
