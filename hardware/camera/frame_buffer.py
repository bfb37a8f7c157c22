"""Frames handed from one process to another through shared memory, the newest first.

The memory is an anonymous file (``memfd``): it has no name that could be left behind, and the kernel frees it when the
last process that holds it is gone, however that process ended.

Frame ``n`` (from 1) lies in slot ``(n - 1) % slots``. The writer announces ``begun = n`` before it touches the slot and
``done = n`` after. A reader copies the newest frame and looks at ``begun`` again: the copy is whole if the writer has
not come round. It is thrown away one frame before that could matter, since a store may be seen late by another
processor (Python has no memory barrier to offer), but not a whole frame late. That a frame is done is told by an
``eventfd``, whose lock in the kernel orders the picture before its news.
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
"""Frames that the ring holds: one being written, one as a margin, two to read from."""
_PAGE: Final = 4096
_MAGIC: Final = 0x52464D31
# Cells of the head, 8 bytes each: what the ring is, and how far the writer has come.
_SHAPE: Final = slice(0, 4)
_BEGUN: Final = 4
_DONE: Final = 5
# Cells of each slot's note: number, t, exposure, t_error, given_at, clock_error.
_NOTES: Final = 16
_NOTE: Final = 8
# By number: Python's fcntl has the commands, but not these two seals in every build.
_SEAL_SHRINK: Final = 0x2
_SEAL_GROW: Final = 0x4


def new_memory() -> int:
    """The file descriptor of an empty anonymous file for `FrameRing.lay_out` in another process."""
    return os.memfd_create("frames", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)


class FrameRing:
    """One end of the ring."""

    def __init__(self, memory: int) -> None:
        """Map a ring that was laid out.

        Args:
            memory: file descriptor; stays the caller's.

        Raises:
            ValueError: there is no ring in it, or one cut short.
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
        """Copies thrown away because the writer came near while they were made."""

    @classmethod
    def lay_out(cls, memory: int, height: int, width: int, slots: int = SLOTS) -> FrameRing:
        """Size the memory for pictures of height × width × 3 bytes, and map it.

        Raises:
            OSError: there is not so much memory, or a ring lies there already.
        """
        os.ftruncate(memory, _PAGE + slots * _stride(height, width))
        # A file that shrinks under a reader's map would end the reader with a bus error.
        fcntl.fcntl(memory, fcntl.F_ADD_SEALS, _SEAL_SHRINK | _SEAL_GROW)
        with mmap.mmap(memory, _PAGE) as head:
            cells: NDArray[np.int64] = np.frombuffer(head, np.int64, _PAGE // 8)
            cells[_SHAPE] = (_MAGIC, height, width, slots)
            del cells
        return cls(memory)

    def put(self, frame: Frame, given_at: int) -> int:
        """Write one frame over the oldest; returns its number, from 1.

        Args:
            frame: its picture has the ring's shape; its index is not kept, the number tells the order.
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
        self._head[_DONE] = number
        return number

    def take(self) -> tuple[Frame, int] | None:
        """The newest frame that was not taken yet, its picture copied, and the instant at which it was given (ns).

        None if there is none. The frame's index is its number less 1: frames that nobody took leave a gap.
        """
        for _ in range(self.slots):
            number = int(self._head[_DONE])
            if number == self._taken:
                return None
            slot = (number - 1) % self.slots
            image: Image = self._pictures[slot].copy()
            at = _NOTES + slot * _NOTE
            told, t, exposure, t_error, given_at, clock_error = (int(cell) for cell in self._head[at : at + 6])
            if told == number and int(self._head[_BEGUN]) < number + self.slots - 1:
                self._taken = number
                return Frame(image, t, exposure, number - 1, t_error, clock_error), given_at
            self.torn += 1
        return None

    @property
    def given_at(self) -> int | None:
        """When the newest frame was given, ns; None before the first."""
        number = int(self._head[_DONE])
        return int(self._head[_NOTES + (number - 1) % self.slots * _NOTE + 4]) if number else None

    def close(self) -> None:
        """Let go of the memory."""
        del self._head, self._pictures
        self._map.close()


def _stride(height: int, width: int) -> int:
    return -(-height * width * 3 // _PAGE) * _PAGE
