"""The USB camera's shell on a camera that the kernel simulates (its driver vivid), inside the virtual machine."""

from __future__ import annotations

import itertools
import os
import queue
import subprocess
import threading
import time
from pathlib import Path
from typing import Final

from hardware.camera.usb import UsbCamera
from hardware.clock import monotonic
from hardware.ports import Frame, HardwareMissing
from tests.vm.table import Row

FRAMES: Final = 20
SIZE: Final = (320, 180)
SECOND: Final = 1_000_000_000
UNBIND: Final = Path("/sys/bus/platform/drivers/vivid/unbind")
PATIENCE: Final = 30.0
"""Seconds: OpenCV itself gives up after ten."""


def plug_in() -> bool:
    """Load the driver with one camera; return whether there is a /dev/video0 then."""
    for module in Path(os.environ["VM"], "camera-modules").read_text().split():
        options = ["n_devs=1", "node_types=0x1"] if "/vivid" in module else []
        subprocess.run(["insmod", module, *options], check=True)
    until = time.monotonic() + 10
    while not Path("/dev/video0").exists() and time.monotonic() < until:
        time.sleep(0.05)
    return Path("/dev/video0").exists()


def usb_camera(_: None) -> list[Row]:
    """Test frames, their instants, and the camera's end."""
    rows = [_without()]
    if not plug_in():
        return [*rows, Row("the kernel's simulated camera", "/dev/video0", "not there", ok=False)]
    camera = UsbCamera(0, size=SIZE, fps=15.0)
    taken: list[tuple[Frame, int]] = [(frame, monotonic()) for frame in itertools.islice(camera.frames(), FRAMES)]
    rows += _instants(taken)
    told: queue.Queue[str] = queue.Queue()

    def look_on() -> None:
        try:
            for _frame in camera.frames():
                pass
        except HardwareMissing as error:
            told.put(str(error))

    looking = threading.Thread(target=look_on, daemon=True)
    looking.start()
    time.sleep(0.5)
    began = time.monotonic()
    UNBIND.write_text("vivid.0")
    try:
        words = f"{told.get(timeout=PATIENCE)} (after {time.monotonic() - began:.1f} s)"
    except queue.Empty:
        words = ""
    camera.close()
    return [
        *rows,
        Row("the camera goes while it is looked through", "is reported", words or "nothing is reported", bool(words)),
    ]


def _without() -> Row:
    try:
        UsbCamera(0)
    except HardwareMissing as error:
        return Row("no camera", "says what to do", str(error), "usb:0" in str(error))
    return Row("no camera", "says what to do", "no error at all", ok=False)


def _instants(taken: list[tuple[Frame, int]]) -> list[Row]:
    """Whether the instants run forward, lie in the past, and are as far apart as the camera's rate says."""
    starts = [frame.t for frame, _ in taken]
    forward = sum(a < b for a, b in itertools.pairwise(starts))
    ages = [now - frame.t - frame.exposure for frame, now in taken]
    shape = taken[0][0].image.shape
    past = all(0 <= age < SECOND for age in ages)
    moved = sum((a.image != b.image).any() for (a, _), (b, _) in itertools.pairwise(taken))
    return [
        Row("frames of the USB camera", f"{FRAMES}, {SIZE[0]} x {SIZE[1]}", f"{len(taken)}, {shape[1]} x {shape[0]}",
            len(taken) == FRAMES and (shape[1], shape[0]) == SIZE),
        Row("frames that differ from the one before", f"{FRAMES - 1}", str(moved), moved == FRAMES - 1),
        Row("instants that run forward", f"{FRAMES - 1}", str(forward), forward == FRAMES - 1),
        Row("a frame's end before its arrival", "0 to 1 s",
            f"{min(ages) / 1e6:.1f} to {max(ages) / 1e6:.1f} ms", past),
    ]  # fmt: skip
