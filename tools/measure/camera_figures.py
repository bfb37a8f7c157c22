"""The cost of the camera's own process, and its recovery after it was killed or hung.

The cameras of the first figures draw nothing: only the transfer of a frame between processes is measured.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hardware.camera.remote import RemoteCamera
from hardware.camera.spec import CameraSpec
from hardware.clock import monotonic
from hardware.ports import Camera, Frame

SIZE = (1536, 864)
FPS = 30.0


class Still:
    """The same picture at an even pace; each frame's time is the instant at which it is handed over."""

    def frames(self) -> Iterator[Frame]:
        picture = np.random.default_rng(1).integers(0, 256, (SIZE[1], SIZE[0], 3), dtype=np.uint8)
        pause = threading.Event()
        begun = monotonic()
        for index in range(10**9):
            left = begun + round((index + 1) * 1e9 / FPS) - monotonic()
            pause.wait(max(0, left) / 1e9)
            yield Frame(picture, monotonic(), 1, index)

    def close(self) -> None:
        pass


def still() -> Camera:
    """Make the camera; called by import path in the other process."""
    return Still()


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def hand_over(count: int) -> None:
    """Print cost and delay of each frame."""
    camera = RemoteCamera(CameraSpec(f"{__spec__.name if __spec__ else __name__}:still"))
    pid = camera.pid or 0
    late: list[float] = []
    camera.next(10)
    here, there, began = time.process_time(), _processor_seconds(pid), time.monotonic()
    while len(late) < count:
        frame = camera.next(10)
        if frame is not None:
            late.append((monotonic() - frame.t) / 1e6)
    frames = count + camera.order.dropped
    mine = (time.process_time() - here) / count * 1e3
    theirs = (_processor_seconds(pid) - there) / frames * 1e3
    seconds = time.monotonic() - began
    late.sort()
    print(f"{SIZE[0]}×{SIZE[1]} at {FPS:g}/s: {count} frames in {seconds:.1f} s, {camera.order.dropped} missed")
    print(f"processor time a frame: {theirs:.2f} ms in the camera's process, {mine:.2f} ms in the consumer's")
    print(f"handed over after {statistics.median(late):.2f} ms (median), {late[int(count * 0.99)]:.2f} ms (99 %)")
    camera.close()


def recovery(fault: str) -> None:
    """Print the time without frames."""
    with tempfile.TemporaryDirectory() as folder:
        switch = Path(folder) / "fault"
        words: list[str] = []
        source = CameraSpec.of(f"twin:{switch}", size=list(SIZE), fps=FPS)
        camera = RemoteCamera(source, told=words.append)
        frame = camera.next(10)
        while frame is None:
            frame = camera.next(10)
        began = monotonic()
        if fault == "killed":
            os.kill(camera.pid or 0, signal.SIGKILL)
        else:
            switch.write_text(fault)
        told = 0
        while not words or words[-1] != "the camera is back":
            camera.next(0.01)
            if words and not told:
                told = monotonic()
                switch.write_text("")
        told_after, back_after = ((instant - began) / 1e9 for instant in (told, monotonic()))
        print(f"{fault}: told after {told_after:.2f} s, frames again after {back_after:.2f} s")
        camera.close()


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=300)
    options = parser.parse_args()
    hand_over(options.frames)
    for fault in ("killed", "die", "hang", "stuck"):
        recovery(fault)


if __name__ == "__main__":
    main()
