"""A network camera: a phone or an IP camera, by ``http(s)://`` (MJPEG) or ``rtsp://``, through OpenCV.

Its pictures are delayed by the camera, its encoder and the network, which no stamp of this machine shows. Variations of
the delay are measured here, frame by frame; the rest is the setting ``camera.delay_ms``, or by default the usual delay
of such cameras, with an equally wide error.

A frame that lay there before it was read has an error that says so (`hardware.camera.arrival`).
"""

from __future__ import annotations

import os
import re
import statistics
from collections import deque
from collections.abc import Iterator
from typing import Any, Final

from hardware.camera.arrival import MOST_LATE, ArrivalWatch
from hardware.camera.sensor_clock import ARRIVAL
from hardware.camera.spec import CameraReport
from hardware.camera.usb import opencv, picture
from hardware.clock import Clock, monotonic, time_awake
from hardware.ports import Frame, HardwareMissing
from referee.units import MS, SECOND

_OPENING_MS: Final = 8000
_SILENT_MS: Final = 3000
"""Milliseconds without a picture after which the camera has stopped."""
_USUAL_DELAY: Final = 300 * MS
"""Phones and IP cameras take 0.1 to 0.6 s from the light to the network; the error spans from 0 to twice this."""
_IN_A_ROW: Final = 3
"""Number of consecutive frames that had to be waited for, after which none of the early frames is left."""
_MOST_SKIPPED: Final = 200
"""Greatest number of frames skipped: a stream that is always ahead is still watched."""
_REMEMBERED: Final = 300
"""Number of frames whose intervals give the jitter."""


class NetworkCamera:
    """A network camera; implements `hardware.ports.Camera`."""

    def __init__(
        self, url: str, *, delay_ms: float | None = None, clock: Clock = monotonic, awake: Clock = time_awake,
        capture: Any = None,
    ) -> None:  # fmt: skip
        """Open the stream.

        Args:
            url: the stream's own address, not that of a page that shows it.
            delay_ms: measured delay of its pictures; None if not measured.
            clock: returns the present instant, ns.
            awake: returns for how long this thread has not slept, ns.
            capture: stands for OpenCV's VideoCapture.

        Raises:
            HardwareMissing: nothing answers there, or the answer is no video.
        """
        cv2 = opencv()
        self.source = masked(url)
        self._clock, self._awake = clock, awake
        if capture is None:
            # A decoder with threads of its own would delay pictures, and hide for how long this thread slept.
            waits = [
                *(cv2.CAP_PROP_N_THREADS, 1, cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, _OPENING_MS),
                *(cv2.CAP_PROP_READ_TIMEOUT_MSEC, _SILENT_MS),
            ]
            # OpenCV 4 tries UDP first, which loses packets; version 5 prefers TCP by itself.
            os.environ.setdefault("OPENCV_FFMPEG_CAPTURE_OPTIONS", "rtsp_transport;tcp")
            capture = cv2.VideoCapture(url, cv2.CAP_FFMPEG, waits)
        self._capture = capture
        if not capture.isOpened():
            raise HardwareMissing(
                "no video comes from {source}; see that this machine and the camera are in the same "
                "network, and that the address is the stream's own (a phone's app shows it, often with "
                "/video at its end)",
                source=self.source,
            )
        self._measured = delay_ms is not None
        self._delay = _USUAL_DELAY if delay_ms is None else round(delay_ms * MS)
        self._distances: deque[int] = deque(maxlen=_REMEMBERED)
        self._waits: deque[int] = deque(maxlen=_REMEMBERED)
        """Distances at whose end the frame was waited for, and 0 for the others."""
        self._size: tuple[int, int] | None = None

    @property
    def jitter(self) -> int:
        """The largest interval between two remembered frames less the usual one, ns, as far as the stream caused it."""
        if not self._distances:
            return 0
        return max(0, max(self._waits) - round(statistics.median(self._distances)))

    def report(self) -> CameraReport:
        """Return the camera's report."""
        notes = [f"pictures come by the network: their instants vary by {self.jitter / MS:.0f} ms"]
        if not self._measured:
            usual = round(_USUAL_DELAY / MS)
            notes.append(f"how late they come is not known, and taken for {usual} ± {usual} ms: see camera.delay_ms")
        return CameraReport(self.source, None, self._size, ARRIVAL, warnings=tuple(notes))

    def frames(self) -> Iterator[Frame]:
        """Yield frames as they arrive; raises `HardwareMissing` if the stream ends, or is read too slowly for long."""
        index, last, came, skipped, waited = 0, -1, 0, 0, 0
        arrivals = ArrivalWatch(self._clock, self._awake)
        while True:
            arrival = arrivals.read(self._capture.read)
            now, is_fresh = arrival.t, arrival.was_awaited
            if arrival.image is None:
                raise HardwareMissing(
                    "the camera {source} stopped sending; see to it and to the network", source=self.source
                )
            waited = waited + 1 if is_fresh else 0
            if not index and waited < _IN_A_ROW and skipped < _MOST_SKIPPED:
                skipped += 1
                continue
            if index:
                self._distances.append(now - came)
                self._waits.append(now - came if is_fresh else 0)
            came = now
            if index and arrival.late > _SILENT_MS * MS:
                raise HardwareMissing(
                    "this machine is too busy to read the pictures of the camera {source} as they come; end other "
                    "programs, or let the camera send fewer or smaller pictures",
                    source=self.source,
                )
            unsure = self.jitter + (0 if self._measured else _USUAL_DELAY) + (0 if is_fresh else arrival.late)
            if index and not is_fresh and unsure > MOST_LATE:
                continue
            # A frame's exposure ended within one frame interval before it was sent.
            length = round(statistics.fmean(self._distances)) if self._distances else SECOND // 15
            t = max(now - self._delay - length, last + 1)
            last = t
            shown = picture(arrival.image)
            self._size = (shown.shape[1], shown.shape[0])
            yield Frame(shown, t, length, index, clock_error=unsure)
            index += 1

    def close(self) -> None:
        """Close the stream."""
        self._capture.release()


def masked(url: str) -> str:
    """Return an address without its password, to be shown and logged."""
    return re.sub(r"(?<=://)[^/@]*@", "…@", url)
