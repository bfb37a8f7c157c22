"""One order for the frames of a camera whose process is started anew: indices go on, and time never goes back."""

from __future__ import annotations

from dataclasses import replace

from hardware.ports import Frame


class FrameOrder:
    """Numbers frames through every restart, and throws away those that cannot come next."""

    def __init__(self) -> None:
        self.dropped = 0
        """Frames that came faster than they were asked for."""
        self.stale = 0
        """Frames thrown away because they were no newer than one before, or of the future."""
        self._first_index = self._next_index = 0
        self._last_t: int | None = None

    def restart(self) -> None:
        """The next frame is the first of another process, which counts its own from 0."""
        self._first_index = self._next_index

    def follow(self, frame: Frame, latest: int | None) -> Frame | None:
        """The frame with its index in the whole order; None if it is no newer than the last, or after ``latest``.

        Args:
            frame: with the index that its own process gave it.
            latest: the instant by which it must have been taken, ns; None for a recording, whose times are its own.
        """
        index = self._first_index + frame.index
        self.dropped += index - self._next_index
        self._next_index = index + 1
        early = latest is not None and frame.t > latest
        if early or (self._last_t is not None and frame.t <= self._last_t):
            self.stale += 1
            return None
        self._last_t = frame.t
        return replace(frame, index=index)
