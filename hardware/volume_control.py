"""The volume of a speaker that is speaking: asked for with every block of sound, and changed from any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, time

from hardware.volume import Volume, factor


def local_hour() -> time:
    """The wall's clock where the machine stands."""
    return datetime.now().time()


class VolumeControl:
    """Answers by what samples are to be multiplied now, as the volume and the quiet hours say."""

    def __init__(self, volume: Volume | None = None, wall: Callable[[], time] = local_hour) -> None:
        """``volume``: to begin with, full if not given; ``wall`` answers the hour of the wall's clock."""
        self._volume = volume or Volume()
        self._wall = wall
        self._lock = threading.Lock()

    def __call__(self) -> float:
        """The factor, 0 to 1. Never waits: the sound card's own thread asks."""
        return factor(self._volume.at(self._wall()))

    @property
    def volume(self) -> Volume:
        """As it is set now."""
        return self._volume

    def set(
        self,
        *,
        volume: int | None = None,
        quiet_volume: int | None = None,
        quiet_from: str | None = None,
        quiet_to: str | None = None,
    ) -> None:
        """Change what is given, all at once; the arguments are those of `hardware.ports.Speaker.set_volume`.

        Raises:
            VolumeError: that is no volume, or no hour; nothing has changed then.
        """
        with self._lock:
            self._volume = self._volume.changed(
                level=volume, quiet_level=quiet_volume, quiet_from=quiet_from, quiet_to=quiet_to
            )
