"""The simulated table's camera in a separate process, so that drawing and looking each have a processor.

Pictures travel in a ring of shared memory; only their slot and timestamp go through a pipe.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hardware.clock import monotonic
from hardware.ports import Frame, HardwareMissing
from hardware.simulated.table.script import Script
from hardware.simulated.table.simulated_table import SimulatedTable, write_notes
from referee.units import SECOND

_AHEAD: Final = 12
"""Number of pictures that may be drawn before they are looked at."""


@dataclass(frozen=True, slots=True)
class CameraView:
    """The scene before the simulated camera, and the camera's parameters."""

    script: Script
    fps: float
    family: str
    size: tuple[int, int] = (960, 720)
    frames: Path | None = None
    """Folder to which every picture is also written."""


def _written(folder: Path, frame: Frame) -> Frame:
    """Write a picture as JPEG, and return it as decoded from that file, so that a later reader sees the same pixels."""
    import cv2

    path = folder / f"{frame.index:06d}.jpg"
    done, data = cv2.imencode(".jpg", frame.image, [cv2.IMWRITE_JPEG_QUALITY, 95])
    if not done:
        raise OSError(f"{path} cannot be written")
    path.write_bytes(data.tobytes())
    image = np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)
    return Frame(image, frame.t, frame.exposure, frame.index)


class DrawnCamera:
    """The simulated camera, drawn in this process on demand; implements `hardware.ports.Camera`."""

    def __init__(self, view: CameraView) -> None:
        """Raises OSError if the folder of the frames cannot be written."""
        self._folder = view.frames
        self._table = SimulatedTable(view.script, view.fps, view.size, view.family)
        self._table.warm()
        self._write_notes()

    def frames(self) -> Iterator[Frame]:
        """Yield every frame of the script, in order, and write it to the folder if there is one.

        Raises:
            OSError: a picture cannot be written.
        """
        for frame in self._table.frames():
            yield frame if self._folder is None else _written(self._folder, frame)

    def follow(self, script: Script, since: int) -> None:
        """Switch to another script, which is the same up to ``since`` (ns); later frames are redrawn."""
        self._table.follow(script, since)
        self._write_notes()

    def _write_notes(self) -> None:
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_notes(self._folder, self._table)

    def close(self) -> None:
        """Stop drawing."""
        self._table.close()


def _serve(view: CameraView, memory: str, pipe: Connection) -> None:
    """Run the drawing process."""
    # The other process handles an interrupt: it closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import cv2

    cv2.setNumThreads(1)
    ring = SharedMemory(memory)
    width, height = view.size
    slots = np.ndarray((_AHEAD, height, width, 3), np.uint8, buffer=ring.buf)
    free, scripts = list(range(_AHEAD)), 0
    try:
        camera = DrawnCamera(view)
        for frame in camera.frames():
            # The script of this frame: a new one may arrive while the frame waits for a slot.
            drawn_by = scripts
            while not free or pipe.poll():
                said = pipe.recv()
                if isinstance(said, int):
                    free.append(said)
                else:
                    camera.follow(*said)
                    scripts += 1
            slot = free.pop()
            slots[slot] = frame.image
            pipe.send((slot, frame.t, frame.exposure, frame.index, drawn_by))
        pipe.send(None)
    except (EOFError, ConnectionError):
        # The reader has closed the pipe.
        pass
    except OSError as error:
        pipe.send(str(error))
    finally:
        # The array holds the ring's buffer, which must be free before it closes.
        del slots
        ring.close()


class RenderedCamera:
    """The simulated camera, drawn in a separate process from the start; implements `hardware.ports.Camera`."""

    def __init__(self, view: CameraView) -> None:
        width, height = view.size
        self._shape = (_AHEAD, height, width, 3)
        self._ring = SharedMemory(create=True, size=_AHEAD * height * width * 3)
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(view, self._ring.name, theirs), daemon=True)
        self._process.start()
        theirs.close()
        self._changed: list[int] = []
        """Start of each later script, ns."""

    def follow(self, script: Script, since: int) -> None:
        """See `DrawnCamera`. Some frames were drawn ahead: those after ``since`` are skipped."""
        self._changed.append(since)
        # `frames` reports a stopped process.
        with suppress(OSError):
            self._pipe.send((script, since))

    def frames(self) -> Iterator[Frame]:
        """Yield every frame of the script, in order.

        Raises:
            HardwareMissing: the drawing process has stopped.
        """
        while True:
            try:
                told = self._pipe.recv()
            except (EOFError, OSError) as error:
                raise HardwareMissing("the simulated camera's process has stopped; start the demo again") from error
            if told is None:
                return
            if isinstance(told, str):
                raise HardwareMissing("the simulated camera stopped: {told}", told=told)
            slot, t, exposure, index, drawn_by = told
            if any(t > since for since in self._changed[drawn_by:]):
                # Drawn ahead from a script that has since been replaced.
                self._pipe.send(slot)
                continue
            slots: Any = np.ndarray(self._shape, np.uint8, buffer=self._ring.buf)
            image = slots[slot].copy()
            del slots
            # The drawing process may have finished; its last pictures still wait in the pipe.
            with suppress(OSError):
                self._pipe.send(slot)
            yield Frame(image, t, exposure, index)

    def close(self) -> None:
        """Stop drawing and free the memory."""
        self._pipe.close()
        self._process.join(timeout=0.3)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(timeout=2)
        self._ring.close()
        self._ring.unlink()


class WatchedCamera:
    """The simulated camera in real time, opened in the vision process; implements `hardware.ports.Camera`.

    Before the game it shows the empty table, and after it the final position, as a camera does.

    Args:
        view: the scene.
        start: name of the shared memory of three numbers: the start of the game, ns, 0 before; the number of later
            scripts; and the instant from which the last of them is played, ns of the script.
        script: file that holds that script.
        origin: the machine's instant from which the table's time is counted, ns.
        _on_change: unused callback for the camera's state.
    """

    def __init__(self, view: CameraView, start: str, script: Path, origin: int, _on_change: object) -> None:
        self._gap, self._origin = round(SECOND / view.fps), origin
        self._start, self._script, self._scripts = SharedMemory(start), script, 0
        self._camera = RenderedCamera(view)
        self._closed = False

    def frames(self) -> Iterator[Frame]:
        """Yield frames in real time, until closed."""
        drawn = self._camera.frames()
        first = next(drawn)
        last = replace(first, t=monotonic() - self._origin - first.exposure)
        began = 0
        # The pictures follow each other up to the first one of the game: a gap would be blindness.
        while not self._closed and (not began or last.t + self._gap < began):
            yield (last := self._again(last))
            began = int(numbers_in(self._start)[0])
        for frame in chain((first,), drawn):
            due = began + frame.t
            time.sleep(max(0, self._origin + due + frame.exposure - monotonic()) / 1e9)
            since = self._heed_script()
            if since is not None and frame.t > since:
                # This frame comes again, drawn from the new script.
                continue
            last = replace(frame, t=due)
            yield last
        while not self._closed:
            yield (last := self._again(last))

    def _heed_script(self) -> int | None:
        """Switch to a new script, if there is one; return the instant from which it is played, ns."""
        _, scripts, since = map(int, numbers_in(self._start))
        if scripts == self._scripts:
            return None
        self._scripts = scripts
        self._camera.follow(pickle.loads(self._script.read_bytes()), since)
        return since

    def _again(self, frame: Frame) -> Frame:
        """Return the same picture when the next one is due; a slow eye delays it, and it leaves no gap."""
        due = frame.t + self._gap
        time.sleep(max(0, self._origin + due + frame.exposure - monotonic()) / 1e9)
        return replace(frame, t=due)

    def close(self) -> None:
        """Stop drawing."""
        self._closed = True
        self._camera.close()


def numbers_in(memory: SharedMemory) -> NDArray[np.int64]:
    """Return the three numbers in shared memory; see `WatchedCamera`."""
    return np.ndarray(3, np.int64, buffer=memory.buf)
