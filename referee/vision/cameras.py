"""The camera named in a table's settings, opened in this process or a separate one, and the cameras available."""

from __future__ import annotations

import importlib
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hardware.camera.spec import NETWORK
from hardware.clock import monotonic
from referee.sentence import Sentence

if TYPE_CHECKING:
    from hardware.camera.spec import CameraSpec
    from hardware.ports import Camera, Frame
    from referee.settings.model import CameraSettings, Settings
    from referee.vision.process import Work


def camera_spec(settings: CameraSettings) -> CameraSpec:
    """Return the specification of the camera named in the settings."""
    from hardware.camera.spec import CameraSpec

    gains = settings.colour_gains
    return CameraSpec.of(
        settings.source, size=[settings.width, settings.height], fps=settings.fps, exposure_us=settings.exposure_us,
        gain=settings.gain, colour_gains=None if gains is None else list(gains), lens_position=settings.lens_position,
        delay_ms=settings.delay_ms,
    )  # fmt: skip


def open_camera_of(settings: CameraSettings) -> Camera:
    """Open the camera named in the settings in this process; raises `HardwareMissing`."""
    return camera_spec(settings).open()


def open_remote(spec: CameraSpec, told: Callable[[str], None]) -> Camera:
    """Open the camera in a separate process, which survives driver faults; raises `HardwareMissing`.

    This needs Linux (`memfd_create`). Elsewhere the camera runs in this process, so a driver fault ends the watcher.
    """
    if not hasattr(os, "memfd_create"):
        return spec.open()
    from hardware.camera.remote import RemoteCamera

    return RemoteCamera(spec, told=told)


class Played:
    """Replays a recording in real time, each frame at its timestamp; implements `hardware.ports.Camera`."""

    def __init__(self, camera: Camera) -> None:
        self._camera = camera

    def frames(self) -> Iterator[Frame]:
        """Yield the recording's frames, starting now."""
        began: int | None = None
        for frame in self._camera.frames():
            if began is None:
                began = monotonic() - frame.t
            due = began + frame.t
            # A real frame arrives at the end of its exposure.
            time.sleep(max(0, due + frame.exposure - monotonic()) / 1e9)
            yield replace(frame, t=due)

    def close(self) -> None:
        """Close the recording."""
        self._camera.close()


def open_recording(spec: CameraSpec, _told: Callable[[str], None]) -> Camera:
    """Open a recording in place of a camera, to try a table's settings without one; raises `HardwareMissing`."""
    return Played(spec.open())


def is_live(settings: CameraSettings) -> bool:
    """Return whether this is a camera, which may come back after it ends, rather than a recording."""
    return settings.source.partition(":")[0] in ("picamera", "usb", "twin", *NETWORK)


def work_of(settings: Settings) -> Work:
    """Return the work of the vision process at this table."""
    from referee.vision.process import Work
    from referee.vision.videos import new_watcher

    live = is_live(settings.camera)
    bearings = {number: seat.bearing for number, seat in enumerate(settings.seats, start=1)}
    return Work(
        camera=partial(open_remote if live else open_recording, camera_spec(settings.camera)),
        watcher=partial(new_watcher, bearings, settings.deck, settings.camera.bare_table, settings.eye.threads),
        live=live,
        pictures=settings.record.pictures and bool(settings.record.file),
    )


# The Pi's internal video devices (codecs, image processors, receivers): OpenCV cannot open any of them as a camera.
_INTERNAL: Final = re.compile(r"bcm2835|pisp|rp1-cfe|unicam|rpivid|rpi-hevc|codec|-isp", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CameraFound:
    """A camera: its name in the settings, and the name that it reports."""

    source: str
    name: str


def pi_cameras() -> list[str]:
    """Return the models of the cameras on the Pi's ribbon cable, as libcamera lists them; empty without libcamera.

    Raises:
        Exception: picamera2 is installed but broken; mismatched C code can raise any exception.
    """
    try:
        # Through importlib: only one file imports picamera2 by name.
        picamera2 = importlib.import_module("picamera2")
    except ModuleNotFoundError as error:
        if error.name == "picamera2":
            return []
        raise
    # libcamera lists USB cameras too; their ids name the bus.
    told = picamera2.Picamera2.global_camera_info()
    return [str(info.get("Model", "camera")) for info in told if "usb" not in str(info.get("Id", "")).lower()]


def usb_cameras(root: Path = Path("/")) -> list[CameraFound]:
    """Return the Video4Linux cameras that OpenCV can open, ordered by number; ``root`` holds sys and dev."""
    found = []
    for device in sorted((root / "dev").glob("video*"), key=_number):
        system = root / "sys" / "class" / "video4linux" / device.name
        name = read_line(system / "name")
        # Only the first of a camera's devices delivers pictures; the others carry metadata.
        if _INTERNAL.search(name) or read_line(system / "index") not in ("", "0"):
            continue
        found.append(CameraFound(f"usb:{_number(device)}", name or device.name))
    return found


def cameras(root: Path = Path("/"), own: Callable[[], list[str]] = pi_cameras) -> list[CameraFound]:
    """Return every camera, the Pi's own first, or last with an explanation in its name if its library is broken."""
    try:
        models = own()
    except Exception as error:  # see `pi_cameras`
        words = " ".join(str(error).split()) or type(error).__name__
        broken = f"the Pi's own, which does not work yet ({words}); referee doctor says what mends it"
        return [*usb_cameras(root), CameraFound("picamera", broken)]
    return [
        CameraFound("picamera", Sentence("the Pi's own ({model})", model=model)) for model in models[:1]
    ] + usb_cameras(root)


def read_line(path: Path) -> str:
    """Return the stripped text of a small file; empty if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip("\0 \n")
    except OSError:
        return ""


def _number(device: Path) -> int:
    digits = device.name.removeprefix("video")
    return int(digits) if digits.isdecimal() else 99
