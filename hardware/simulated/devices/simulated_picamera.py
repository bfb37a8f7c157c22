"""A twin of picamera2's ``Picamera2`` object, so that the Pi camera's shell runs without a Pi.

It follows the documented and observed behaviour: controls take 11 frames to show, sizes are adjusted silently, a
timed-out job stays queued and keeps its place, a flushed job raises, the first start uses up the configuration's
controls, stamps are those of the first row's readout. Written from the documentation and picamera2 0.3.38; never
compared with a real camera.

`open_twin` opens the Pi camera's real shell over it by name: ``twin``, ``twin:silent@30``, ``twin:/path``. The text
after the colon is a script of faults (`hardware.simulated.devices.camera_faults`) or, if it contains a slash, the path
of a file with a script, which may change while the camera runs.
"""

from __future__ import annotations

import ctypes
import errno
import importlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np

from hardware.camera.pi_camera import PiCamera, PiCameraSettings
from hardware.camera.pi_driver import open_driver
from hardware.clock import Clock, boottime, monotonic
from hardware.ports import Image
from hardware.simulated.devices.camera_faults import Faults
from hardware.simulated.pictures.ambient import Lamp
from referee.units import MS, SECOND

LATE_REQUEST: Final = 11
"""Number of frames until a changed control shows."""
_DELIVERY: Final = 12 * MS
"""Time from the readout of a frame's first row to its arrival, ns: readout and processing."""
_DAY: Final = 86_400 * 10**9
_SILENT: Final = frozenset(("stall", "silent", "hang", "stuck", "loop"))
_HANGS: Final = frozenset(("hang", "loop"))
_FORMATS: Final = {"rgb": ("BGR888", 3), "four": ("XRGB8888", 4), "planes": ("YUV420", 3)}
_ADVERTISED: Final = (
    "AeEnable", "ExposureTime", "AnalogueGain", "AwbEnable", "ColourGains", "FrameDurationLimits",
)  # fmt: skip
_LENS: Final = ("AfMode", "AfTrigger", "LensPosition")
_MODES: Final = ((1536, 864), (2304, 1296), (4608, 2592))
"""Modes of the sensor: the smallest that holds a picture is scaled down to it."""

_SHORTEST_US: Final = 60
_FASTER: Final = 0.3
"""Share of the way to the right exposure that the automatics cover with each frame."""
_SCAN: Final = 24
"""Number of frames of an autofocus run."""
_IDLE, _SCANNING, _FOCUSED, _FAILED = range(4)
_SOFT_PX: Final = 0.004
"""Softness per dioptre of defocus, as a share of the picture's height (standard deviation)."""
_GAMMA: Final = 2.2

Pause = Callable[[float], object]
Pictures = Callable[[int, int, tuple[int, int]], Image]
"""Paints a frame from its number, the instant of its readout (ns, CLOCK_MONOTONIC), and its width and height."""


@dataclass(frozen=True, slots=True)
class CameraRoom:
    """The scene before a camera: distance and light."""

    focus: float = 1.6
    """Focus distance of the table, dioptres."""
    light: float = 12_000.0
    """Exposure (µs) times gain at which pictures appear as bright as painted."""
    colour_gains: tuple[float, float] = (1.5, 2.5)
    lamp: Lamp | None = None

    def show(self, image: Image, told: Mapping[str, Any], readout: int) -> Image:
        """Return the picture with these metadata, its first row read out at ``readout`` (ns)."""
        exposure = int(told["ExposureTime"])
        bright = (exposure * told["AnalogueGain"] / self.light) ** (1 / _GAMMA)
        soft = _SOFT_PX * len(image) * abs(told.get("LensPosition", self.focus) - self.focus)
        if soft > 0.2:
            image = np.asarray(cv2.GaussianBlur(image, (0, 0), soft), np.uint8)
        image = np.asarray(cv2.convertScaleAbs(image, alpha=bright), np.uint8)
        if self.lamp is None:
            return image
        return self.lamp.shine(image, readout - exposure * 1000, exposure * 1000)


class Automatics:
    """Exposure, white balance and focus of a camera, frame by frame, as far as its controls allow."""

    def __init__(self, room: CameraRoom) -> None:
        self._room = room
        self._light = 10_000.0
        self._run = -1
        self.lens = 1.0
        """Default position of a lens."""
        self.state = _IDLE

    def ask(self, controls: Mapping[str, Any]) -> None:
        """Apply controls that have just taken effect."""
        if controls.get("AfMode") == 1 and controls.get("AfTrigger") == 0:
            self._run, self.state = 0, _SCANNING
        elif "LensPosition" in controls:
            self.lens, self._run, self.state = float(controls["LensPosition"]), -1, _IDLE

    def step(self, shown: Mapping[str, Any], longest_us: int, *, blind: bool) -> dict[str, Any]:
        """Return the next frame's exposure, gains and lens; a ``blind`` lens finds no focus."""
        if shown.get("AeEnable"):
            self._light *= (self._room.light / self._light) ** _FASTER
            exposure = int(min(max(self._light, _SHORTEST_US), longest_us))
            out: dict[str, Any] = {"ExposureTime": exposure, "AnalogueGain": max(1.0, self._light / exposure)}
        else:
            exposure = int(shown.get("ExposureTime", 10_000))
            out = {"ExposureTime": exposure, "AnalogueGain": float(shown.get("AnalogueGain", 1.0))}
            self._light = exposure * out["AnalogueGain"]
        held = None if shown.get("AwbEnable", True) else shown.get("ColourGains")
        out["ColourGains"] = held or self._room.colour_gains
        if self.state == _SCANNING:
            self._run += 1
            self.lens = 10.0 * self._run / _SCAN
            if self._run == _SCAN:
                self.lens, self.state = (1.0, _FAILED) if blind else (self._room.focus, _FOCUSED)
        return out


def plain(number: int, _t: int, size: tuple[int, int]) -> Image:
    """Return a grey picture that identifies its frame: every byte is the number's last byte."""
    return np.full((size[1], size[0], 3), number % 256, np.uint8)


class TwinRequest:
    """One completed frame."""

    def __init__(self, image: Image, metadata: dict[str, Any]) -> None:
        self._image, self._metadata = image, metadata
        self.released = False

    def make_array(self, _name: str) -> Image:
        """Return a copy of the picture; raises `RuntimeError` after `release`, when the camera reuses the memory."""
        if self.released:
            raise RuntimeError("the request was released")
        return self._image.copy()

    def get_metadata(self) -> dict[str, Any]:
        """Return the sensor's metadata of this frame."""
        return dict(self._metadata)

    def release(self) -> None:
        """Return the memory to the camera."""
        self._image[:] = 0
        self.released = True


class SimulatedJob:
    """A queued capture."""

    def __init__(self, first: int) -> None:
        self.first = first
        """The first frame that may serve it."""
        self.cancelled = False


def in_memory(image: Image, main: Mapping[str, Any]) -> Image:
    """Return a picture (blue first) in a stream configuration's format and stride."""
    width, height = main["size"]
    if main["format"] == "BGR888":
        image = image[:, :, ::-1].copy()
    if main["format"] == "XRGB8888":
        image = np.dstack([image, np.full((height, width), 255, np.uint8)])
    padding = main["stride"] - width * image.shape[2]
    if padding:
        rows = np.pad(image.reshape(height, -1), ((0, 0), (0, padding)), constant_values=77)
        return rows.reshape(height, -1, image.shape[2])
    return image


class SimulatedPicamera2:
    """A camera at real pace, or at the pace of ``clock`` and ``pause``."""

    def __init__(
        self,
        faults: Faults | None = None,
        *,
        model: str = "imx708",
        pictures: Pictures = plain,
        room: CameraRoom | None = None,
        clock: Clock = monotonic,
        boot: Clock = boottime,
        pause: Pause | None = None,
    ) -> None:
        """Open the camera.

        Args:
            faults: its faults.
            model: libcamera's name of the sensor.
            pictures: paints the frames.
            room: light and distance, which alter the painted frames; without one frames come as painted.
            clock: returns CLOCK_MONOTONIC, ns.
            boot: returns CLOCK_BOOTTIME, ns.
            pause: waits for a number of seconds.

        Raises:
            RuntimeError: no camera answers, or another program holds it, in picamera2's words.
        """
        self._faults = faults or Faults()
        self._model = model
        self._pictures, self._room = pictures, room
        self._automatics = Automatics(room or CameraRoom())
        self._clock, self._boot = clock, boot
        self._pause: Pause = pause or threading.Event().wait
        self._config: dict[str, Any] = {}
        self._next: dict[str, Any] = {}
        self._shown: dict[str, Any] = {}
        self._coming: list[tuple[int, dict[str, Any]]] = []
        self._number = self._begun = -1
        self._epoch = 0
        self._frozen = 0
        self._stalled = False
        self.jobs: list[SimulatedJob] = []
        self.starts = 0
        now = self._faults.at(-1)
        if "absent" in now:
            raise RuntimeError(
                'No camera number 0 found - use "rpicam-hello --list-cameras" to check connected cameras'
            )
        if "busy" in now:
            raise RuntimeError("Camera __init__ sequence did not complete.") from RuntimeError(
                "Failed to acquire camera: Device or resource busy"
            )

    @property
    def camera_properties(self) -> dict[str, Any]:
        """The sensor's properties."""
        return {"Model": self._model}

    @property
    def camera_controls(self) -> dict[str, Any]:
        """The available controls; their limits are not simulated."""
        lens = () if "fixed" in self._faults.at(-1) else _LENS
        return dict.fromkeys((*_ADVERTISED, *lens), (None, None, None))

    def create_video_configuration(self, **wanted: Any) -> dict[str, Any]:
        """Return the configuration as requested."""
        width, height = wanted["main"]["size"]
        held = [mode for mode in _MODES if mode[0] >= width and mode[1] >= height]
        return {"raw": {"size": (held or _MODES[-1:])[0]}, **wanted}

    def configure(self, config: dict[str, Any]) -> None:
        """Take a configuration, and adjust it silently; raises `OSError` if there is no memory."""
        now = self._faults.at(-1)
        if "memory" in now:
            raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
        main = dict(config["main"])
        if "size" in now:
            main["size"] = (main["size"][0] // 2, main["size"][1] // 2)
        depth = 3
        for fault, (name, channels) in _FORMATS.items():
            if fault in now:
                main["format"], depth = name, channels
        main["stride"] = main["size"][0] * depth
        if "padded" in now:
            main["stride"] = -(-main["stride"] // 96) * 96 + 96
        self._config = {**config, "main": main}
        self.set_controls(config["controls"])

    def camera_configuration(self) -> dict[str, Any]:
        """Return the actual configuration."""
        return self._config

    def set_controls(self, controls: dict[str, Any]) -> None:
        """Change controls; a running camera shows it later. Raises `RuntimeError` for an unknown control."""
        for name in controls:
            if name not in self.camera_controls:
                raise RuntimeError(f"Control {name} is not advertised by libcamera")
        if self._epoch:
            self._coming.append((self._number + LATE_REQUEST, dict(controls)))
        else:
            self._next |= controls

    def start(self) -> None:
        """Start delivering, with the controls set since the last start."""
        self.starts += 1
        # Controls set before an earlier start are lost.
        self._shown, self._next, self._coming = self._next, {}, []
        self._automatics.ask(self._shown)
        self._epoch = self._clock()
        self._begun = self._number
        self._stalled = False

    def stop(self) -> None:
        """Stop delivering."""
        if self._faults.at(self._number + 1) & _HANGS:
            while True:
                self._pause(3600.0)
        self._epoch = 0

    def close(self) -> None:
        """Release the camera."""
        if self._epoch:
            self.stop()

    def cancel_all_and_flush(self) -> None:
        """Drop every job; a thread that waits for one gets an error."""
        for job in self.jobs:
            job.cancelled = True
        self.jobs = []

    def capture_request(self, wait: bool | None = None) -> SimulatedJob:
        """Queue a job; raises `AssertionError` for a job that would block without limit."""
        assert wait is False, "an untimed capture may block for ever; pass wait=False"
        passed = (self._clock() - self._epoch - _DELIVERY) // self._length if self._epoch else 0
        job = SimulatedJob(max(self._number + 1, self._begun + 1 + max(0, passed)))
        self.jobs.append(job)
        return job

    def wait(self, job: SimulatedJob, timeout: float | None = None) -> TwinRequest:
        """Return the job's request; raises `TimeoutError` after ``timeout`` s, or the camera loop's error."""
        assert timeout is not None, "an untimed wait may block for ever; pass a timeout"
        now = self._faults.at(job.first)
        _misbehave(now)
        if job.cancelled:
            raise CancelledError
        self._stalled |= "stall" in now and self.starts == 1
        due = self._epoch + (job.first - self._begun) * self._length
        left = (due + _DELIVERY - self._clock()) / 1e9
        if self._stalled or now & (_SILENT - {"stall"}) or not self._epoch or left > timeout:
            self._pause(timeout)
            raise TimeoutError
        if left > 0:
            self._pause(left)
        # Jobs are served in order: a forgotten job takes the frame.
        served = self.jobs.pop(0)
        if served is not job:
            raise TimeoutError
        self._number = job.first
        if "error" in now:
            raise RuntimeError("failed to find buffer")
        for at, controls in self._coming:
            if at <= self._number:
                self._shown |= controls
                self._automatics.ask(controls)
        self._coming = [(at, controls) for at, controls in self._coming if at > self._number]
        main = self._config["main"]
        width, height = main["size"]
        image = self._pictures(self._number, due, (width, height))
        told = self._metadata(now, due)
        if self._room is not None:
            image = self._room.show(image, told, due)
        image = np.zeros_like(image) if "dark" in now else image.copy()
        return TwinRequest(in_memory(image, main), told)

    @property
    def _length(self) -> int:
        micros = (self._shown.get("FrameDurationLimits") or (33_333, 33_333))[1]
        return int(micros) * 1000 * (3 if "slow" in self._faults.at(-1) else 1)

    def _metadata(self, now: frozenset[str], readout: int) -> dict[str, Any]:
        wander = "unlocked" in now
        auto = self._automatics.step(self._shown, self._length // 1000, blind="unfocused" in now)
        if "past" in now:
            readout -= 3 * SECOND
        if "again" in now:
            readout = self._frozen = self._frozen or readout
        stamp = readout
        if "alien" in now:
            stamp += _DAY
        elif "mono" not in now:
            stamp += self._boot() - self._clock()
        out = {
            "SensorTimestamp": stamp,
            "ExposureTime": auto["ExposureTime"] * (3 if wander else 1),
            "AnalogueGain": auto["AnalogueGain"] * (2.0 if wander else 1.0),
            "ColourGains": auto["ColourGains"],
            "FrameDuration": self._length // 1000,
            "Lux": 0.0 if "dark" in now else 400.0,
        }
        if "LensPosition" in self.camera_controls:
            out["LensPosition"] = self._automatics.lens + (0.8 if "drift" in now else 0.0)
            out["AfState"] = self._automatics.state
        if "unstamped" in now:
            del out["SensorTimestamp"]
        return out


def _misbehave(now: frozenset[str]) -> None:
    """Crash, print, or never return, if these faults are among ``now``."""
    if "die" in now:
        print("*** the simulated driver fell over: bad address", file=sys.stderr, flush=True)
        os.abort()
    if "noisy" in now:
        print("the simulated driver complains. " * 400, file=sys.stderr, flush=True)
    while "stuck" in now:
        # A PyDLL keeps the interpreter lock: no other thread runs, and no signal interrupts it.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        ctypes.PyDLL(None).sleep(3600)


def open_twin(source: str = "twin", *, pictures: str | Pictures = plain, **look: Any) -> PiCamera:
    """Open a Pi camera without a Pi, at real pace, on the real clocks.

    Args:
        source: ``twin``, ``twin:silent@30`` or ``twin:/path``, as above.
        look: fields of `hardware.camera.pi_camera.PiCameraSettings`; None keeps the default.
        pictures: paints each frame, or the import path (``package.module:function``) of a painter; see `Pictures`.

    Raises:
        HardwareMissing: a fault at opening.
        ValueError: there is no such fault.
    """
    _, _, told = source.partition(":")
    faults = Faults(switch=Path(told)) if "/" in told else Faults(told)
    if isinstance(pictures, str):
        module, _, function = pictures.partition(":")
        paint: Pictures = getattr(importlib.import_module(module), function)
    else:
        paint = pictures

    def load() -> Any:
        """Import picamera2, or fail by a fault."""
        now = faults.at(-1)
        if "uninstalled" in now:
            raise ModuleNotFoundError("No module named 'picamera2'", name="picamera2")
        if "bindings" in now:
            raise ModuleNotFoundError("No module named 'libcamera'", name="libcamera")
        if "mismatch" in now:
            raise ImportError("_libcamera.cpython-311-aarch64-linux-gnu.so: undefined symbol: _ZN9libcamera4_logE")
        if "numpy" in now:
            raise ValueError("numpy.dtype size changed, may indicate binary incompatibility")
        return lambda: SimulatedPicamera2(faults, pictures=paint)

    return PiCamera(PiCameraSettings().changed(**look), driver=open_driver(load), source=source)
