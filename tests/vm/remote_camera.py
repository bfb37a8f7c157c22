"""A USB camera in a separate process, inside the virtual machine: the kernel's own camera goes, and comes again."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from hardware.camera.remote import RemoteCamera
from hardware.camera.spec import CameraSpec
from hardware.camera.supervisor import Patience
from hardware.ports import Frame, HardwareMissing
from tests.vm.camera import plug_in
from tests.vm.table import Row

SECOND: Final = 1_000_000_000
DRIVER: Final = Path("/sys/bus/platform/drivers/vivid")
# This machine is emulated: Python alone takes seconds to start.
SLOW: Final = Patience(opening=60 * SECOND, frame=5 * SECOND, asked=3 * SECOND, killed=5 * SECOND)
LIMIT: Final = 60.0


def remote_usb(_: None) -> list[Row]:
    """Test no camera, a camera, its cable out, its cable in."""
    spec = CameraSpec.of("usb:0", size=[320, 180], fps=15.0)
    rows = [_without(spec)]
    if not _plug_in():
        return [*rows, Row("the kernel's simulated camera", "/dev/video0", "not there", ok=False)]
    words: list[str] = []
    camera = RemoteCamera(spec, told=words.append, patience=SLOW)
    before: list[Frame] = []
    _frames_until(camera, lambda: len(before) >= 10, before)
    clock = camera.report.clock
    (DRIVER / "unbind").write_text("vivid.0")
    began = time.monotonic()
    _frames_until(camera, lambda: bool(words), [])
    told_after = time.monotonic() - began
    (DRIVER / "bind").write_text("vivid.0")
    after = _frames_until(camera, lambda: camera.live, [])
    took = time.monotonic() - began
    shape = before[0].image.shape
    camera.close()
    return [
        *rows,
        Row("frames through another process", "10, 320 x 180", f"{len(before)}, {shape[1]} x {shape[0]}",
            len(before) >= 10 and shape == (180, 320, 3)),
        # This driver computes its stamps, of frames that it has yet to paint: those of the future are not believed.
        Row("the clock of its stamps", "is reported", clock, clock in ("CLOCK_MONOTONIC", "arrival")),
        Row("the cable is out", "is reported", f"{words[0] if words else 'nothing'} (after {told_after:.1f} s)",
            bool(words) and "usb:0 stopped answering" in words[0]),
        Row("the cable is in again", "frames go on", f"{words[-1:]} (after {took:.1f} s, {camera.starts} starts)",
            words[-1:] == ["the camera is back"] and bool(after) and after[-1].t > before[-1].t),
    ]  # fmt: skip


def _plug_in() -> bool:
    """Plug the camera in: an earlier test may have left the driver without it."""
    if not DRIVER.exists():
        return plug_in()
    (DRIVER / "bind").write_text("vivid.0")
    return True


def _without(spec: CameraSpec) -> Row:
    try:
        RemoteCamera(spec, patience=SLOW).close()
    except HardwareMissing as error:
        told = str(error).splitlines()[0]
        return Row("no camera, in another process", "says what to do", told, "usb:0; plug one in" in told)
    return Row("no camera, in another process", "says what to do", "no error at all", ok=False)


def _frames_until(camera: RemoteCamera, reached: Callable[[], bool], out: list[Frame]) -> list[Frame]:
    limit = time.monotonic() + LIMIT
    while not reached() and time.monotonic() < limit:
        frame = camera.next(0.2)
        if frame is not None:
            out.append(frame)
    return out
