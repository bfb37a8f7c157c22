"""The requests of picamera2's camera, waited for under a deadline, and the camera started anew when none comes.

One job is waited for again and again: one that timed out stays queued, and asking anew would leave it with its buffer.
After stopping and starting frames come again; buffers and configuration stay as they are.
"""

from __future__ import annotations

import logging
from typing import Any, Final

from hardware.clock import Clock
from hardware.ports import HardwareMissing

RESTARTS: Final = 3
"""How often in a row the camera is started anew before it counts as gone."""

_log = logging.getLogger(__name__)


class FrameStream:
    """The frames of a configured camera."""

    def __init__(self, camera: Any, controls: dict[str, Any], patience: float, mono: Clock) -> None:
        """Nothing is started yet.

        Args:
            camera: a ``Picamera2`` object.
            controls: what to set at each start; may be added to.
            patience: a frame that takes longer has failed, s.
            mono: answers ``CLOCK_MONOTONIC``, ns.
        """
        self._camera, self._controls, self._patience, self._mono = camera, controls, patience, mono
        self._job: Any = None
        self._failures = 0
        self._why = ""
        self.started = 0
        """Instant of the last start, ns: a frame that was read out before is an old one."""

    def start(self) -> None:
        """Begin to deliver. A start uses up the controls that were set, those of the configuration too."""
        self._camera.set_controls(self._controls)
        self.started = self._mono()
        self._camera.start()

    def request(self) -> tuple[Any, int]:
        """The next completed request, which the caller releases, and its arrival (ns).

        Raises:
            HardwareMissing: none comes, and starting anew is no help.
        """
        while True:
            request = self._wait()
            if request is not None:
                return request, self._mono()
            self.fail()

    def sound(self) -> None:
        """A good frame came: failures before it are forgotten."""
        self._failures = 0

    def fail(self) -> None:
        """No good frame came in time: stop and start; raises `HardwareMissing` after `RESTARTS` in a row."""
        self._failures += 1
        if self._failures > RESTARTS:
            raise HardwareMissing(f"the camera stopped delivering{self._why}; look at its ribbon cable and power")
        _log.warning("no frame for %g s%s: starting the camera anew", self._patience, self._why)
        self._camera.cancel_all_and_flush()
        self._job = None
        self._camera.stop()
        self.start()

    def _wait(self) -> Any:
        """The job's request, or None if it did not come in time; the job stays ours."""
        self._why = ""
        try:
            if self._job is None:
                self._job = self._camera.capture_request(wait=False)
            request = self._camera.wait(self._job, timeout=self._patience)
        except TimeoutError:
            return None
        except Exception as bad:
            # What went wrong in the camera's own loop comes out here.
            self._why = f" ({type(bad).__name__}: {bad})"
            self._job = None
            return None
        self._job = None
        return request
