"""The camera of a real table, as its settings say: opened by plain values, so that another process can do it.

Which cameras this machine has: the Pi's own first, then those that are plugged in.
"""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hardware.clock import Clock, monotonic
from hardware.ports import Camera, Frame

if TYPE_CHECKING:
    from referee.settings.model import CameraSettings, Settings
    from referee.vision.client import Work
    from referee.vision.sight import Watching


def open_table_camera(
    source: str, size: Sequence[int], fps: float, exposure_us: int, gain: float,
    colour_gains: Sequence[float] | None = None, lens_position: float | None = None,
) -> Camera:  # fmt: skip
    """Open the camera in this process; raises `HardwareMissing`."""
    from hardware.camera.camera import open_camera

    return open_camera(
        source, fps=fps, size=(size[0], size[1]), exposure_us=exposure_us, gain=gain,
        colour_gains=None if colour_gains is None else (colour_gains[0], colour_gains[1]),
        lens_position=lens_position,
    )  # fmt: skip


def camera_values(settings: CameraSettings) -> dict[str, Any]:
    """What `open_table_camera` is to be called with."""
    gains = settings.colour_gains
    return {
        "source": settings.source, "size": [settings.width, settings.height], "fps": settings.fps,
        "exposure_us": settings.exposure_us, "gain": settings.gain,
        "colour_gains": None if gains is None else list(gains), "lens_position": settings.lens_position,
    }  # fmt: skip


def open_camera_of(settings: CameraSettings) -> Camera:
    """The camera that the settings name, in this process; raises `HardwareMissing`."""
    return open_table_camera(**camera_values(settings))


def is_live(source: str) -> bool:
    """Whether this is a camera rather than a recording: what ends may come back."""
    return source.partition(":")[0] in ("picamera", "usb", "twin")


def open_remote(values: Mapping[str, Any], told: Callable[[str], None]) -> Camera:
    """The camera in a process of its own, which outlives the driver's faults; raises `HardwareMissing`."""
    from hardware.camera.remote import RemoteCamera
    from hardware.camera.spec import CameraSpec

    return RemoteCamera(CameraSpec(f"{__name__}:{open_table_camera.__name__}", values), told=told)


class Played:
    """A recording shown as if it happened now, each frame at its time; implements `hardware.ports.Camera`."""

    def __init__(
        self, camera: Camera, clock: Clock = monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:  # fmt: skip
        self._camera, self._clock, self._sleep = camera, clock, sleep

    def frames(self) -> Iterator[Frame]:
        """The recording's frames, from now on."""
        began: int | None = None
        for frame in self._camera.frames():
            if began is None:
                began = self._clock() - frame.t
            due = began + frame.t
            self._sleep(max(0, due + frame.exposure - self._clock()) / 1e9)
            yield replace(frame, t=due)

    def close(self) -> None:
        """Let go of the recording."""
        self._camera.close()


def open_recording(values: Mapping[str, Any], told: Callable[[str], None]) -> Camera:
    """A recording, in place of a camera: to try a table's settings without one; raises `HardwareMissing`."""
    return Played(open_table_camera(**values))


def table_watcher(bearings: Mapping[int, float], deck: str | None) -> Watching:
    """A watcher for this table; raises `UserError` where there is no eye."""
    from referee.vision.videos import new_watcher

    return new_watcher(bearings, deck)


def work_of(settings: Settings) -> Work:
    """What the process that looks has to do at this table."""
    from referee.vision.client import Work

    live = is_live(settings.camera.source)
    bearings = {number: seat.bearing for number, seat in enumerate(settings.seats, start=1)}
    return Work(
        camera=partial(open_remote if live else open_recording, camera_values(settings.camera)),
        watcher=partial(table_watcher, bearings, settings.deck),
        live=live,
        pictures=settings.record.pictures and bool(settings.record.file),
    )


# The Pi's own video devices: codecs, image processors and receivers. None of them is a camera that OpenCV can open.
_INTERNAL: Final = re.compile(r"bcm2835|pisp|rp1-cfe|unicam|rpivid|rpi-hevc|codec|-isp", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CameraFound:
    """A camera: what the settings call it, and what it calls itself."""

    source: str
    name: str


def pi_cameras() -> list[str]:
    """Models of the cameras on the Pi's own cable, as libcamera sees them; none where there is no libcamera.

    Raises:
        ImportError, OSError, RuntimeError: picamera2 is here and does not work.
    """
    try:
        # Through importlib: picamera2 is imported by name in one file only.
        picamera2 = importlib.import_module("picamera2")
    except ModuleNotFoundError as bad:
        if bad.name == "picamera2":
            return []
        raise
    # libcamera lists USB cameras too; their ids name the bus.
    told = picamera2.Picamera2.global_camera_info()
    return [str(info.get("Model", "camera")) for info in told if "usb" not in str(info.get("Id", "")).lower()]


def usb_cameras(root: Path = Path("/")) -> list[CameraFound]:
    """Cameras of Video4Linux that OpenCV can open, in the order of their numbers; ``root`` holds sys and dev."""
    found = []
    for device in sorted((root / "dev").glob("video*"), key=_number):
        system = root / "sys" / "class" / "video4linux" / device.name
        name = read_line(system / "name")
        # Of one camera's devices only the first gives pictures; the others tell about them.
        if _INTERNAL.search(name) or read_line(system / "index") not in ("", "0"):
            continue
        found.append(CameraFound(f"usb:{_number(device)}", name or device.name))
    return found


def cameras(root: Path = Path("/"), own: Callable[[], list[str]] = pi_cameras) -> list[CameraFound]:
    """Every camera, the Pi's own first."""
    try:
        models = own()
    except (ImportError, OSError, RuntimeError, AttributeError):
        models = []
    return [CameraFound("picamera", f"the Pi's own ({model})") for model in models[:1]] + usb_cameras(root)


def read_line(path: Path) -> str:
    """A small file's text, blanks off; empty where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip("\0 \n")
    except OSError:
        return ""


def _number(device: Path) -> int:
    digits = device.name.removeprefix("video")
    return int(digits) if digits.isdecimal() else 99
