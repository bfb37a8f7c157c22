"""Which cameras this machine has: the Pi's own first, then those that are plugged in."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# The Pi's own video devices: codecs, image processors and receivers. None of them is a camera that OpenCV can open.
INTERNAL: Final = re.compile(r"bcm2835|pisp|rp1-cfe|unicam|rpivid|rpi-hevc|codec|-isp", re.IGNORECASE)


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
        if INTERNAL.search(name) or read_line(system / "index") not in ("", "0"):
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
