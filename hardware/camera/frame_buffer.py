"""Passes frames from one process to another through shared memory, the newest first.

The memory is an anonymous file (``memfd``): it leaves no name behind, and the kernel frees it when the last process
that holds it is gone, however that process ended.

Frame ``n`` (from 1) lies in slot ``(n - 1) % slots``. The writer sets ``begun = n`` before it touches the slot and
``done = n`` after. A reader copies the newest frame and then checks ``begun``: the copy is intact if the writer has not
come round. The copy is discarded one frame earlier than necessary, since another processor may see a store late (Python
has no memory barrier), but not a whole frame late. An ``eventfd`` announces each frame; its kernel lock orders the
picture before the announcement.
"""

from __future__ import annotations

import fcntl
import mmap
import os
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hardware.ports import Frame, Image

SLOTS: Final = 4
"""Number of frames in the ring: one being written, one as a margin, two to read from."""
_PAGE: Final = 4096
_MAGIC: Final = 0x52464D31
# Header cells, 8 bytes each: the ring's shape, and the writer's progress.
_SHAPE: Final = slice(0, 4)
_BEGUN: Final = 4
_DONE: Final = 5
# Cells of each slot's note: number, t, exposure, t_error, given_at, clock_error.
_NOTES: Final = 16
_NOTE: Final = 8
# Literal values: Python's fcntl lacks these two seals in some builds.
_SEAL_SHRINK: Final = 0x2
_SEAL_GROW: Final = 0x4


def new_memory() -> int:
    """Return a descriptor of an empty anonymous file for `FrameRing.lay_out` in another process."""
    return os.memfd_create("frames", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)


class FrameRing:
    """One side of the ring, for writing or reading."""

    def __init__(self, memory: int) -> None:
        """Map a ring that was laid out.

        Args:
            memory: file descriptor; the caller keeps it.

        Raises:
            ValueError: it holds no ring, or a truncated one.
        """
        size = os.fstat(memory).st_size
        if size < _PAGE:
            raise ValueError("no frame ring was laid out in this memory")
        self._map = mmap.mmap(memory, size)
        self._head: NDArray[np.int64] = np.frombuffer(self._map, np.int64, _PAGE // 8)
        magic, height, width, self.slots = (int(cell) for cell in self._head[_SHAPE])
        self.shape = (height, width, 3)
        stride = _stride(height, width)
        if magic != _MAGIC or size < _PAGE + self.slots * stride:
            raise ValueError("this memory holds no frame ring, or one cut short")
        pixels = np.frombuffer(self._map, np.uint8, self.slots * stride, _PAGE).reshape(self.slots, stride)
        used = height * width * 3
        self._pictures = [pixels[slot, :used].reshape(self.shape) for slot in range(self.slots)]
        self._taken = 0
        self.torn = 0
        """Number of copies discarded because the writer came too close."""

    @classmethod
    def lay_out(cls, memory: int, height: int, width: int, slots: int = SLOTS) -> FrameRing:
        """Size the memory for pictures of height × width × 3 bytes, and map it.

        Raises:
            OSError: there is not enough memory, or it already holds a ring.
        """
        os.ftruncate(memory, _PAGE + slots * _stride(height, width))
        # Seal the size: a reader's map of a shrunken file would end the reader with a bus error.
        fcntl.fcntl(memory, fcntl.F_ADD_SEALS, _SEAL_SHRINK | _SEAL_GROW)
        with mmap.mmap(memory, _PAGE) as head:
            cells: NDArray[np.int64] = np.frombuffer(head, np.int64, _PAGE // 8)
            cells[_SHAPE] = (_MAGIC, height, width, slots)
            del cells
        return cls(memory)

    def put(self, frame: Frame, given_at: int) -> int:
        """Write one frame over the oldest; return its number, from 1.

        Args:
            frame: a picture of the ring's shape; its index is not kept, since the number gives the order.
            given_at: the present instant, ns.

        Raises:
            ValueError: the picture has another shape.
        """
        if frame.image.shape != self.shape:
            raise ValueError(f"a picture of {frame.image.shape} does not fit a ring of {self.shape}")
        number = int(self._head[_DONE]) + 1
        slot = (number - 1) % self.slots
        self._head[_BEGUN] = number
        np.copyto(self._pictures[slot], frame.image)
        at = _NOTES + slot * _NOTE
        self._head[at : at + 6] = (number, frame.t, frame.exposure, frame.t_error, given_at, frame.clock_error)
        # Last: a reader may copy the slot from now on.
        self._head[_DONE] = number
        return number

    def take(self) -> tuple[Frame, int] | None:
        """Return the newest frame not taken yet, with its picture copied, and the instant it was put (ns).

        None if there is none. The frame's index is its number less 1: frames that were skipped leave a gap.
        """
        for _ in range(self.slots):
            number = int(self._head[_DONE])
            if number == self._taken:
                return None
            slot = (number - 1) % self.slots
            image: Image = self._pictures[slot].copy()
            at = _NOTES + slot * _NOTE
            told, t, exposure, t_error, given_at, clock_error = (int(cell) for cell in self._head[at : at + 6])
            # Reject one frame before the writer can reach this slot: its stores may be seen late.
            if told == number and int(self._head[_BEGUN]) < number + self.slots - 1:
                self._taken = number
                return Frame(image, t, exposure, number - 1, t_error, clock_error), given_at
            self.torn += 1
        return None

    @property
    def given_at(self) -> int | None:
        """The instant at which the newest frame was put, ns; None before the first."""
        number = int(self._head[_DONE])
        return int(self._head[_NOTES + (number - 1) % self.slots * _NOTE + 4]) if number else None

    def close(self) -> None:
        """Release the memory."""
        del self._head, self._pictures
        self._map.close()


def _stride(height: int, width: int) -> int:
    return -(-height * width * 3 // _PAGE) * _PAGE
