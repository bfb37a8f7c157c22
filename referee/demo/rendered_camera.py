"""The simulated table's camera in a process of its own, so that drawing and looking each have a processor.

Pictures travel in a ring of shared memory; only their place and instant go through a pipe.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any, Final

import numpy as np

from hardware.ports import Frame, HardwareMissing
from hardware.simulated.table.script import Script
from hardware.simulated.table.simulated_table import SimulatedTable, write_notes

_AHEAD: Final = 12
"""Pictures that may be drawn before they are looked at."""


@dataclass(frozen=True, slots=True)
class CameraView:
    """What the simulated camera looks at, and how."""

    script: Script
    fps: float
    family: str
    size: tuple[int, int] = (960, 720)
    frames: Path | None = None
    """Folder in which every picture is also written."""


def _written(folder: Path, frame: Frame) -> Frame:
    """Write a picture as JPEG, and go on with what the file holds: whoever reads it later sees the same pixels."""
    import cv2

    path = folder / f"{frame.index:06d}.jpg"
    done, data = cv2.imencode(".jpg", frame.image, [cv2.IMWRITE_JPEG_QUALITY, 95])
    if not done:
        raise OSError(f"{path} cannot be written")
    path.write_bytes(data.tobytes())
    image = np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)
    return Frame(image, frame.t, frame.exposure, frame.index)


def draw(view: CameraView) -> Iterator[Frame]:
    """Every frame, written to the folder too if there is one; draws in this process.

    Raises:
        OSError: a picture cannot be written.
    """
    table = SimulatedTable(view.script, view.fps, view.size, view.family)
    table.warm()
    if view.frames is not None:
        view.frames.mkdir(parents=True, exist_ok=True)
        write_notes(view.frames, table)
    for frame in table.frames():
        yield frame if view.frames is None else _written(view.frames, frame)


def _serve(view: CameraView, memory: str, pipe: Connection) -> None:
    """The drawing process."""
    # An interrupt is the other process's to handle: it closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import cv2

    cv2.setNumThreads(1)
    ring = SharedMemory(memory)
    width, height = view.size
    slots = np.ndarray((_AHEAD, height, width, 3), np.uint8, buffer=ring.buf)
    free = list(range(_AHEAD))
    try:
        for frame in draw(view):
            while not free or pipe.poll():
                free.append(pipe.recv())
            slot = free.pop()
            slots[slot] = frame.image
            pipe.send((slot, frame.t, frame.exposure, frame.index))
        pipe.send(None)
    except (EOFError, ConnectionError):
        # Nobody looks any more.
        pass
    except OSError as bad:
        pipe.send(str(bad))
    finally:
        del slots
        ring.close()


class RenderedCamera:
    """The simulated camera; implements `hardware.ports.Camera`. Drawing begins at once."""

    def __init__(self, view: CameraView) -> None:
        width, height = view.size
        self._shape = (_AHEAD, height, width, 3)
        self._ring = SharedMemory(create=True, size=_AHEAD * height * width * 3)
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(view, self._ring.name, theirs), daemon=True)
        self._process.start()
        theirs.close()

    def frames(self) -> Iterator[Frame]:
        """Every frame of the script, in order.

        Raises:
            HardwareMissing: the drawing process has stopped.
        """
        while True:
            try:
                told = self._pipe.recv()
            except (EOFError, OSError) as bad:
                raise HardwareMissing("the simulated camera's process has stopped; start the demo again") from bad
            if told is None:
                return
            if isinstance(told, str):
                raise HardwareMissing(f"the simulated camera stopped: {told}")
            slot, t, exposure, index = told
            slots: Any = np.ndarray(self._shape, np.uint8, buffer=self._ring.buf)
            image = slots[slot].copy()
            del slots
            # Drawing may have come to its end already; what was drawn still waits in the pipe.
            with suppress(OSError):
                self._pipe.send(slot)
            yield Frame(image, t, exposure, index)

    def close(self) -> None:
        """Stop drawing and give the memory back."""
        self._pipe.close()
        self._process.join(timeout=0.3)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(timeout=2)
        self._ring.close()
        self._ring.unlink()
