"""The sound of a video: read it, and find the instants at which something hit the table.

A slap is a burst above 2 kHz that rises by many decibels within two milliseconds; talk and music rise more slowly or
lie lower. `hearing` decides which onset belongs to which hand. `read_sound` needs PyAV, the extra ``sound``; the rest
is pure.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

from referee.errors import UserError
from referee.units import MS, SECOND

RATE: Final = 48_000
"""Samples a second that the sound is converted to."""
ONSET_ERROR: Final = 2 * MS
"""Error of an onset's instant in the sound's own time, ns: AAC smears it by a block of 2.7 ms."""
_HOP: Final = RATE // 1000
_RISE: Final = 7.0
"""Minimum rise of an onset over the ten milliseconds before it, dB."""
_OVER_ROOM: Final = 12.0
"""Minimum height of an onset over the median of the two seconds around it, dB."""
_ECHO: Final = (3.0, 30, 0.25)
"""A sound after a louder one counts if it is at most this many dB weaker; after so many ms, this much more for each ms.

Walls and furniture return a slap within 30 ms hardly weaker than 6 dB."""
_MEMORY: Final = 160
"""Time for which an onset may be an echo of an earlier one, ms."""
_APART: Final = 4
"""Onsets nearer than this, ms, are one."""


class Onset(NamedTuple):
    """A sudden sound."""

    t: int
    """Its instant in the sound's own time, ns; known to ± `ONSET_ERROR`."""
    level: float
    """Its height, dB; only differences mean something."""


class Sound(NamedTuple):
    """The onsets and the loudness of a video's sound."""

    onsets: tuple[Onset, ...]
    """By time."""
    loudness: tuple[int, ...]
    """Largest amplitude of each millisecond, 0 to 255."""


def listen(samples: Any) -> Sound:
    """Return the onsets and the loudness of a sound (`RATE` floats a second)."""
    import numpy as np

    hops = len(samples) // _HOP
    peaks = np.abs(samples[: hops * _HOP]).reshape(hops, _HOP).max(axis=1) if hops else np.zeros(0)
    loudness = np.round(255 * peaks / max(float(peaks.max(initial=0)), 1e-9)).astype(int)
    return Sound(tuple(find_onsets(samples)), tuple(loudness.tolist()))


def read_sound(video: Path) -> Any | None:
    """Return a video's sound as one channel of `RATE` floats a second from the file's zero on; None: it has none.

    Raises:
        UserError: the library that reads sound is not installed, or the sound is broken.
    """
    try:
        import av
    except ImportError:
        raise UserError(
            "the sound of {video} is not used: to read it, install PyAV (pip install av)", video=video
        ) from None
    import numpy as np

    try:
        with av.open(str(video)) as opened:
            if not opened.streams.audio:
                return None
            converter = av.AudioResampler(format="flt", layout="mono", rate=RATE)
            begin: int | None = None
            pieces = []
            for frame in opened.decode(audio=0):
                for piece in converter.resample(frame):
                    if begin is None:
                        begin = round(float(piece.time or 0.0) * RATE)
                    pieces.append(piece.to_ndarray()[0])
    except (av.FFmpegError, OSError) as error:
        raise UserError("the sound of {video} cannot be read: {why}", video=video, why=error.strerror) from None
    if begin is None:
        return None
    samples = np.concatenate(pieces)
    return np.concatenate([np.zeros(begin, np.float32), samples]) if begin >= 0 else samples[-begin:]


def find_onsets(samples: Any) -> list[Onset]:
    """Return the onsets in a sound (`RATE` floats a second), by time."""
    import numpy as np

    # The second difference lifts high frequencies by 12 dB an octave: a slap's crack stands out from voices.
    sharp = np.diff(np.asarray(samples, np.float32), 2, prepend=np.zeros(2, np.float32))
    hops = len(sharp) // _HOP
    if hops < 2 * _MEMORY:
        return []
    energy = np.square(sharp[: hops * _HOP]).reshape(hops, _HOP).sum(axis=1, dtype=np.float64) + 1e-12
    level = 10 * np.log10(energy)
    total = np.concatenate([[0.0], np.cumsum(energy)])
    places = np.arange(hops)
    before = (total[np.maximum(places - 1, 0)] - total[np.maximum(places - 11, 0)]) / 10 + 1e-12
    peak = np.maximum.reduce([level, np.append(level[1:], level[-1]), np.append(level[2:], [level[-1]] * 2)])
    rise = peak - 10 * np.log10(before)
    room = _running_median(level)
    loud = np.flatnonzero((rise >= _RISE) & (peak >= room + _OVER_ROOM))
    onsets: list[tuple[int, float]] = []
    for run in np.split(loud, np.flatnonzero(np.diff(loud) > _APART) + 1):
        if not len(run):
            continue
        place = int(run[np.argmax(rise[run])])
        if not _is_echo(place, float(peak[place]), onsets):
            onsets.append((place, float(peak[place])))
    return [Onset(_first_sample(sharp, place) * SECOND // RATE, height) for place, height in onsets]


def _running_median(level: Any) -> Any:
    """Return the median level of the two seconds around each millisecond, found for each quarter of a second."""
    import numpy as np

    step = 250
    medians = [np.median(level[max(0, place - 1000) : place + 1000]) for place in range(0, len(level), step)]
    return np.repeat(medians, step)[: len(level)]


def _is_echo(place: int, height: float, before: list[tuple[int, float]]) -> bool:
    """Return whether a sound may be an echo of one before it."""
    weaker, full, more = _ECHO
    return any(
        height < earlier - weaker - more * max(0, place - then - full)
        for then, earlier in before[-8:]
        if place - then <= _MEMORY
    )


def _first_sample(sharp: Any, place: int) -> int:
    """Return the sample at which an onset begins to stand out of what was there before."""
    import numpy as np

    begin = max(0, (place - 3) * _HOP)
    piece = np.abs(sharp[begin : (place + 3) * _HOP])
    quiet = np.abs(sharp[max(0, begin - 8 * _HOP) : begin])
    floor = float(quiet.max()) if len(quiet) else 0.0
    wanted = max(0.3 * float(piece.max()), min(1.2 * floor, 0.7 * float(piece.max())))
    return begin + int(np.argmax(piece >= wanted))
