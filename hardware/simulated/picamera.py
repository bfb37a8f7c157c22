"""A stand-in for a ``Picamera2`` object, so that the Pi camera's shell runs where there is no Pi.

It behaves as the real one was seen to: silently another size, a timed-out job that stays queued, stamps of
the first row's readout on a clock of its choice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class SimulatedRequest:
    """One frame's request."""

    def __init__(self, image: Any, metadata: dict[str, Any]) -> None:
        self._image, self._metadata = image, metadata
        self.released = False

    def make_array(self, _name: str) -> Any:
        """The picture; its memory is the camera's until `release`."""
        return self._image

    def get_metadata(self) -> dict[str, Any]:
        """What the sensor said of this frame."""
        return dict(self._metadata)

    def release(self) -> None:
        """Give the memory back; the picture in it is overwritten."""
        self._image[:] = 0
        self.released = True


class SimulatedPicamera2:
    """Delivers frames whose readouts happen when ``stamp(index)`` says (ns); None is a frame that never
    comes.
    """

    def __init__(self, stamp: Callable[[int], int | None], size: tuple[int, int] | None = None) -> None:
        self._stamp = stamp
        self._given_size = size
        self._config: dict[str, Any] = {}
        self._count = 0
        self.controls: dict[str, Any] = {}
        self.requests: list[SimulatedRequest] = []
        self.jobs = 0
        self.starts = 0
        self.running = False

    def create_video_configuration(self, **wanted: Any) -> dict[str, Any]:
        """The configuration, as asked for."""
        return wanted

    def configure(self, config: dict[str, Any]) -> None:
        """Take a configuration, and adjust it without a word."""
        main = dict(config["main"])
        if self._given_size is not None:
            main["size"] = self._given_size
        self._config = {**config, "main": main}
        self.controls = dict(config["controls"])

    def camera_configuration(self) -> dict[str, Any]:
        """What is really given."""
        return self._config

    def set_controls(self, controls: dict[str, Any]) -> None:
        """Change controls."""
        self.controls |= controls

    def start(self) -> None:
        """Begin to deliver."""
        self.starts += 1
        self.running = True

    def stop(self) -> None:
        """Deliver no more."""
        self.running = False

    def close(self) -> None:
        """Let go."""

    def cancel_all_and_flush(self) -> None:
        """Forget every job."""
        self.jobs = 0

    def capture_request(self, wait: bool = True) -> object:
        """Queue a job."""
        if wait:
            raise AssertionError("an untimed capture may block for ever; pass wait=False")
        self.jobs += 1
        return object()

    def wait(self, _job: object, timeout: float | None = None) -> SimulatedRequest:
        """The job's request; raises `TimeoutError` after ``timeout`` s."""
        if timeout is None:
            raise AssertionError("an untimed wait may block for ever; pass a timeout")
        stamp = self._stamp(self._count)
        self._count += 1
        if stamp is None:
            raise TimeoutError
        self.jobs -= 1
        width, height = self._config["main"]["size"]
        image = np.full((height, width, 3), self._count % 256, np.uint8)
        metadata = {
            "SensorTimestamp": stamp,
            "ExposureTime": self.controls["ExposureTime"],
            "ColourGains": (1.5, 2.5),
        }
        request = SimulatedRequest(image, metadata)
        self.requests.append(request)
        return request
