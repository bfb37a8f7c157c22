"""The voice's volume, and its quiet hours."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, time
from typing import Final

_FULL: Final = 100
_HOUR: Final = re.compile(r"(([01]\d|2[0-3]):[0-5]\d)?")


class VolumeError(ValueError):
    """Invalid volume or quiet hours; the message says what is expected."""


@dataclass(frozen=True, slots=True)
class Volume:
    """A volume, and another for the quiet hours."""

    level: int = _FULL
    """0 (silent) to `_FULL`."""
    quiet_from: str = ""
    """``HH:MM`` from which `quiet_level` applies; empty: there are no quiet hours."""
    quiet_to: str = ""
    """``HH:MM`` from which `level` applies again; may be past midnight."""
    quiet_level: int = 30

    def __post_init__(self) -> None:
        """Check all fields; raises `VolumeError`."""
        for level in (self.level, self.quiet_level):
            if type(level) is not int or not 0 <= level <= _FULL:
                raise VolumeError(f"a volume must be a whole number from 0 to {_FULL}, not {level!r}")
        for hour in (self.quiet_from, self.quiet_to):
            if not isinstance(hour, str) or not _HOUR.fullmatch(hour):
                raise VolumeError(f'quiet hours need a time of day such as "22:00", or "" for never, not {hour!r}')
        if bool(self.quiet_from) != bool(self.quiet_to):
            raise VolumeError("quiet hours need both: from when, and until when")

    def at(self, hour: time) -> int:
        """Return the level at this local time; never louder in the quiet hours than outside them."""
        if not self.quiet_from:
            return self.level
        start, end = time.fromisoformat(self.quiet_from), time.fromisoformat(self.quiet_to)
        now = hour.replace(second=0, microsecond=0, tzinfo=None)
        is_quiet = start <= now < end if start <= end else now >= start or now < end
        return min(self.level, self.quiet_level) if is_quiet else self.level


def factor(level: float) -> float:
    """Return the factor for samples: the square, since half the scale then sounds about half as loud (-12 dB)."""
    return (min(max(level, 0), _FULL) / _FULL) ** 2


def local_hour() -> time:
    """Return the local time."""
    return datetime.now().time()


class VolumeControl:
    """Returns the present factor for samples, from the volume and the quiet hours."""

    def __init__(self, volume: Volume | None = None, wall: Callable[[], time] = local_hour) -> None:
        """``volume``: the initial one, full if not given; ``wall`` returns the local time."""
        self.volume = volume or Volume()
        """The current volume; a new one applies from the next block on, and may be set from any thread."""
        self._wall = wall

    def __call__(self) -> float:
        """Return the factor, 0 to 1. Never blocks: the sound card's thread calls it."""
        return factor(self.volume.at(self._wall()))
