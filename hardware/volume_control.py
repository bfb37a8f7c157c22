"""The volume of a speaker that is speaking: asked for with every block of sound, and changed from any thread."""

from __future__ import annotations

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
        self.volume = volume or Volume()
        """As it is set now; another one holds from the next block on, and may be put here from any thread."""
        self._wall = wall

    def __call__(self) -> float:
        """The factor, 0 to 1. Never waits: the sound card's own thread asks."""
        return factor(self.volume.at(self._wall()))
