"""The Raspberry Pi's camera.

The picture must not change during a game, so exposure, gain, white balance and focus are locked, and checked in the
frames' metadata, since libcamera adjusts silently. The camera is configured once, with few buffers: contiguous memory
is scarce, and switching modes uses it up. picamera2 gets no callback: an exception in one would end its event loop, and
with it all frames.

Stopping may hang after a fault of the cable, and this process cannot prevent that: `hardware.camera.remote` runs the
camera in a separate process.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from hardware.camera.held_controls import Locks
from hardware.camera.one_shot import AF_MANUAL, Adjustment, find_look
from hardware.camera.pi_driver import memory_words, open_driver
from hardware.camera.sensor_clock import ARRIVAL, SensorClock
from hardware.camera.sensor_readout import readout_ns
from hardware.camera.spec import CameraReport
from hardware.clock import Clock, boottime, monotonic
from hardware.ports import Frame, HardwareMissing, Image

STREAM_RESTARTS: Final = 3
"""Number of restarts in a row before the camera counts as gone."""
_BUFFERS: Final = 4

# Channel order in numpy, by libcamera's format name, which counts from the other end.
_CHANNELS: Final[dict[str, list[int] | None]] = {
    "RGB888": None,
    "BGR888": [2, 1, 0],
    "XRGB8888": [0, 1, 2],
    "XBGR8888": [2, 1, 0],
}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PiCameraSettings:
    """How the camera views the table."""

    size: tuple[int, int] = (1536, 864)
    """Width and height, px: Camera Module 3's fastest mode."""
    fps: float = 30.0
    exposure_us: int = 4_000
    """At 2 m/s a card is smeared by 2 mm per millisecond; cards are read at rest, so 4 ms suffice.
    """
    gain: float = 4.0
    colour_gains: tuple[float, float] | None = None
    """Red and blue; None: the camera finds them before the game and locks them."""
    lens_position: float | None = None
    """Dioptres; None: the lens is not moved (a camera without autofocus)."""
    settle_frames: int = 30
    """Frames to wait until a locked setting shows; a change took 11."""
    patience: float = 1.0
    """Longest wait for a frame before it counts as failed, s."""

    def changed(self, **look: Any) -> PiCameraSettings:
        """Return these settings with other fields; None changes nothing, and a list is accepted for a tuple.

        Raises:
            TypeError: there is no such field.
        """
        given: dict[str, Any] = {name: tuple(told) if isinstance(told, list) else told for name, told in look.items()}
        return replace(self, **{name: value for name, value in given.items() if value is not None})


class FrameStream:
    """The requests of a configured camera, awaited with a deadline; the camera is restarted if none comes.

    The same job is awaited repeatedly: a job that timed out stays queued, and a new one would leave it with its buffer.
    After a restart frames come again; buffers and configuration stay as they are.
    """

    def __init__(self, camera: Any, controls: dict[str, Any], patience: float, mono: Clock) -> None:
        """Create the stream without starting the camera.

        Args:
            camera: a ``Picamera2`` object.
            controls: controls to set at each start; may be added to.
            patience: longest wait for a frame before it counts as failed, s.
            mono: returns ``CLOCK_MONOTONIC``, ns.
        """
        self._camera, self._controls, self._patience, self._mono = camera, controls, patience, mono
        self._job: Any = None
        self._failures = 0
        self._why = ""
        self.started = 0
        """The instant of the last start, ns: a frame read out earlier is stale."""

    def start(self) -> None:
        """Start delivering. Each start uses up the controls that were set, including those of the configuration."""
        self._camera.set_controls(self._controls)
        self.started = self._mono()
        self._camera.start()

    def request(self) -> tuple[Any, int]:
        """Return the next completed request, which the caller releases, and its arrival (ns).

        Raises:
            HardwareMissing: none comes, even after restarts.
        """
        while True:
            request = self._wait()
            if request is not None:
                return request, self._mono()
            self.fail()

    def sound(self) -> None:
        """Note a good frame: earlier failures no longer count."""
        self._failures = 0

    def fail(self) -> None:
        """Restart after a failed frame; raises `HardwareMissing` after `STREAM_RESTARTS` failures in a row."""
        self._failures += 1
        if self._failures > STREAM_RESTARTS:
            raise HardwareMissing(
                "the camera stopped delivering{why}; look at its ribbon cable and power", why=self._why
            )
        _log.warning("no frame for %g s%s: starting the camera anew", self._patience, self._why)
        self._camera.cancel_all_and_flush()
        self._job = None
        self._camera.stop()
        self.start()

    def _wait(self) -> Any:
        """Return the job's request, or None if it did not come in time; the job is kept."""
        self._why = ""
        try:
            if self._job is None:
                self._job = self._camera.capture_request(wait=False)
            request = self._camera.wait(self._job, timeout=self._patience)
        except TimeoutError:
            return None
        except Exception as error:
            # Errors of the camera's own loop surface here.
            self._why = f" ({type(error).__name__}: {error})"
            self._job = None
            return None
        self._job = None
        return request


class PiCamera:
    """The Pi's camera; implements `hardware.ports.Camera`."""

    def __init__(
        self,
        settings: PiCameraSettings | None = None,
        *,
        driver: Any = None,
        source: str = "picamera",
        mono: Clock = monotonic,
        boot: Clock = boottime,
    ) -> None:
        """Configure, lock and start the camera, and wait until its frames show the locked values.

        Args:
            settings: how it views the table.
            driver: stands for a ``Picamera2`` object.
            source: its name in the report.
            mono: returns ``CLOCK_MONOTONIC``, ns.
            boot: returns ``CLOCK_BOOTTIME``, ns.

        Raises:
            HardwareMissing: picamera2, the camera or memory is missing, the format is unknown, or no frame comes.
        """
        self._settings = settings or PiCameraSettings()
        self._source = source
        self._mono = mono
        self._clock = SensorClock(mono, boot)
        self._locks = Locks()
        self._notes: list[str] = []
        self.past = 0
        """Number of frames discarded because they were stale on arrival."""
        self._camera = open_driver() if driver is None else driver
        self._controls: dict[str, Any] = {}
        self._configure()
        self._stream = FrameStream(self._camera, self._controls, self._settings.patience, mono)
        try:
            self._stream.start()
            self._settle()
        except HardwareMissing:
            raise
        except Exception as error:
            raise HardwareMissing(memory_words(error) or f"the camera does not start ({error}); reboot") from error

    @property
    def readout(self) -> int | None:
        """Time from the first row's readout to the last row's, ns; None if unknown."""
        return self._readout

    def report(self) -> CameraReport:
        """Return the camera's actual state."""
        offset = self._clock.offset
        notes = list(self._notes)
        if self._clock.name == ARRIVAL:
            notes.append("the sensor's stamps fit no clock of this machine: frames are dated by their arrival")
        elif not self._clock.certain:
            notes.append(
                f"on which clock the sensor counts is unknown, and they stand {offset.ahead / 1e6:g} ms apart: "
                "restart the machine, or do not let it sleep"
            )
        return CameraReport(
            self._source, self._settings.size, self._size, self._clock.name, offset.ahead, offset.error,
            self._locks.all, (*notes, *self._locks.warnings),
        )  # fmt: skip

    def frames(self) -> Iterator[Frame]:
        """Yield frames; restart a camera that falls silent, and raise `HardwareMissing` if that does not help."""
        index, last, sound = 0, -1, self._mono()
        while True:
            image, metadata, arrived = self._picture()
            frame = self._frame(image, metadata, arrived, index)
            if frame is None or frame.t <= last:
                self.past += 1
                if arrived - sound > self._settings.patience * 1e9:
                    # Stale frames alone are as good as none.
                    self._stream.fail()
                    sound = self._mono()
                continue
            self._stream.sound()
            sound = arrived
            for name in self._locks.look(metadata):
                _log.warning("%s no longer holds; it is set again", name)
                self._camera.set_controls(self._controls)
            yield frame
            last = frame.t
            index += 1

    def close(self) -> None:
        """Stop and release the camera."""
        self._camera.stop()
        self._camera.close()

    def hold(self, **look: Any) -> None:
        """Lock other values (fields of `PiCameraSettings`), and wait until the frames show them."""
        self._settings = self._settings.changed(**look)
        self._ask()
        self._camera.set_controls(self._controls)
        self._settle()

    def adjust(self) -> Adjustment:
        """Let exposure, white balance and focus settle on the table once, and hold the result."""

        def look() -> dict[str, Any]:
            return self._picture(pixels=False)[1]

        found = find_look(self._camera, look)
        self.hold(**found.look)
        return found

    def _ask(self) -> None:
        """Set controls and locks from the settings."""
        wanted = self._settings
        frame_us = round(1_000_000 / wanted.fps)
        controls: dict[str, Any] = {
            "AeEnable": False,
            "ExposureTime": wanted.exposure_us,
            "AnalogueGain": wanted.gain,
            "FrameDurationLimits": (frame_us, frame_us),
        }
        self._locks.ask("ExposureTime", wanted.exposure_us)
        self._locks.ask("AnalogueGain", wanted.gain)
        self._locks.ask("FrameDuration", frame_us)
        if wanted.colour_gains is not None:
            controls |= {"AwbEnable": False, "ColourGains": tuple(wanted.colour_gains)}
            self._locks.ask("ColourGains", *wanted.colour_gains)
        if wanted.lens_position is not None and "LensPosition" in self._camera.camera_controls:
            controls |= {"AfMode": AF_MANUAL, "LensPosition": wanted.lens_position}
            self._locks.ask("LensPosition", wanted.lens_position)
        self._controls |= controls

    def _configure(self) -> None:
        self._ask()
        wanted, controls = self._settings, dict(self._controls)
        if wanted.lens_position is not None and "LensPosition" not in controls:
            self._notes.append("this camera's lens cannot be moved: lens_position is not used")
        # picamera2 names formats by the memory order of a little-endian word: RGB888 arrives as blue, green, red.
        # queue=False: a queued frame would show an old state of the table.
        main = {"size": wanted.size, "format": "RGB888"}
        try:
            config = self._camera.create_video_configuration(
                main=main, controls=controls, buffer_count=_BUFFERS, queue=False
            )
            self._camera.configure(config)
        except Exception as error:
            raise HardwareMissing(memory_words(error) or f"the camera cannot be configured: {error}") from error
        self._read_back(self._camera.camera_configuration())

    def _read_back(self, given: dict[str, Any]) -> None:
        """Read back the configuration, which libcamera adjusts silently."""
        main, wanted = given["main"], self._settings.size
        self._format = main["format"]
        if self._format not in _CHANNELS:
            raise HardwareMissing(
                "the camera gives {format} instead of RGB888; choose another size", format=self._format
            )
        self._size: tuple[int, int] = (int(main["size"][0]), int(main["size"][1]))
        self._stride = int(main.get("stride") or 0)
        if self._size != tuple(wanted):
            words = "the camera gives {}×{} px instead of {}×{}".format(*self._size, *wanted)
            self._notes.append(words)
            _log.warning(words)
        mode = (given.get("sensor") or {}).get("output_size") or (given.get("raw") or {}).get("size")
        model = str(self._camera.camera_properties.get("Model", ""))
        known = readout_ns(model, (int(mode[0]), int(mode[1])) if mode else None)
        self._readout = known
        if known is None:
            words = f"how long the sensor {model or '(without a name)'} reads out a picture is not known in this mode"
            self._notes.append(f"{words}: instants are known to a whole frame's time only")

    def _settle(self) -> None:
        """Wait until the frames show the locked values; first find the white balance, if not given, and lock it: a
        reddish table must not change suits.
        """
        gains = None
        for at in range(2 * self._settings.settle_frames):
            _, metadata, _ = self._picture(pixels=False)
            self._locks.look(metadata)
            gains = metadata.get("ColourGains", gains)
            finding = "ColourGains" not in self._controls
            if finding and gains is not None and at + 1 >= self._settings.settle_frames:
                found = tuple(round(float(gain), 4) for gain in gains)
                self._controls |= {"AwbEnable": False, "ColourGains": found}
                self._locks.ask("ColourGains", *found)
                self._camera.set_controls({"AwbEnable": False, "ColourGains": found})
            elif self._locks.settled and not finding:
                return
        for words in self._locks.warnings:
            _log.warning(words)

    def _picture(self, *, pixels: bool = True) -> tuple[Image | None, dict[str, Any], int]:
        """Return the next frame: picture, metadata, arrival (ns)."""
        request, arrived = self._stream.request()
        try:
            metadata = request.get_metadata()
            # Copied, since the camera reuses its memory after the release.
            image = self._image(request.make_array("main")) if pixels else None
        finally:
            request.release()
        if "SensorTimestamp" in metadata:
            self._clock.judge(int(metadata["SensorTimestamp"]), arrived)
        return image, metadata, arrived

    def _frame(self, image: Image | None, metadata: dict[str, Any], arrived: int, index: int) -> Frame | None:
        """Return the frame; None if it was stale on arrival. The stamp is that of the first row's readout; its exposure
        began ``ExposureTime`` earlier, and the last row's is later by the readout time.
        """
        exposure = int(metadata.get("ExposureTime", self._settings.exposure_us)) * 1_000
        stamp = metadata.get("SensorTimestamp")
        readout = None if stamp is None else self._clock.to_monotonic(int(stamp))
        assert image is not None
        length = round(1e9 / self._settings.fps)
        if readout is None:
            return Frame(image, arrived - length - exposure, exposure, index, length)
        if readout < self._stream.started - self._clock.error:
            return None
        rows = length if self._readout is None else self._readout
        return Frame(image, readout - exposure, exposure, index, rows + self._clock.error)

    def _image(self, pixels: Any) -> Image:
        """Return the rows without padding, with channels in the order blue, green, red."""
        width, height = self._size
        rows: Image = np.asarray(pixels, dtype=np.uint8)
        if rows.ndim < 3:
            depth = 4 if "8888" in self._format else 3
            stride = self._stride or rows.size // height
            rows = rows.reshape(height, stride)[:, : stride // depth * depth].reshape(height, -1, depth)
        channels = _CHANNELS[self._format]
        rows = rows[:height, :width]
        return np.ascontiguousarray(rows if channels is None else rows[:, :, channels])
