"""Frames through shared memory, both ends in one process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from hardware.camera.frame_buffer import SLOTS, FrameRing, new_memory
from hardware.ports import Frame


def frame(level: int, shape: tuple[int, ...] = (6, 5, 3)) -> Frame:
    return Frame(np.full(shape, level, np.uint8), level * 100, 7, 0, 3)


@pytest.fixture
def memory() -> Iterator[int]:
    number = new_memory()
    yield number
    os.close(number)


def test_the_newest_is_taken_once_and_the_rest_leave_a_gap(memory: int) -> None:
    writer = FrameRing.lay_out(memory, 6, 5)
    reader = FrameRing(memory)
    assert (reader.take(), reader.given_at) == (None, None)
    for level in range(1, 8):
        assert writer.put(frame(level), given_at=level) == level
    taken = reader.take()
    assert taken is not None
    got, given_at = taken
    assert (got.index, got.t, got.exposure, got.t_error, given_at) == (6, 700, 7, 3, 7)
    assert (got.image == 7).all()
    assert reader.take() is None
    writer.put(frame(8), given_at=9)
    assert (got.image == 7).all(), "a copy of its own"
    assert reader.given_at == 9
    again = reader.take()
    assert again is not None
    assert again[0].index == 7


def test_a_copy_that_the_writer_came_near_is_thrown_away(memory: int) -> None:
    writer = FrameRing.lay_out(memory, 6, 5)
    reader = FrameRing(memory)
    writer.put(frame(1), given_at=1)
    begun = np.memmap(f"/proc/self/fd/{memory}", np.int64, "r+", shape=(8,))
    # The writer has begun the frame before the one that would overwrite this: one frame's margin.
    begun[4] = SLOTS
    assert reader.take() is None
    assert reader.torn > 0
    begun[4] = SLOTS - 1
    assert reader.take() is not None


def test_a_picture_of_another_shape_and_a_memory_without_a_ring_are_refused(memory: int) -> None:
    with pytest.raises(ValueError, match="no frame ring was laid out"):
        FrameRing(memory)
    ring = FrameRing.lay_out(memory, 6, 5)
    with pytest.raises(ValueError, match=r"\(5, 6, 3\) does not fit"):
        ring.put(frame(1, (5, 6, 3)), given_at=0)
    with pytest.raises(OSError, match="not permitted"):
        FrameRing.lay_out(memory, 60, 50)
    other = new_memory()
    os.ftruncate(other, 8192)
    with pytest.raises(ValueError, match="no frame ring, or one cut short"):
        FrameRing(other)
    os.close(other)


def test_the_memory_is_gone_with_its_last_holder(memory: int) -> None:
    ring = FrameRing.lay_out(memory, 600, 500)
    assert str(Path(f"/proc/self/fd/{memory}").readlink()) == "/memfd:frames (deleted)", "it never had a name"
    assert "memfd:frames" in Path("/proc/self/maps").read_text()
    ring.close()
    assert "memfd:frames" not in Path("/proc/self/maps").read_text()
