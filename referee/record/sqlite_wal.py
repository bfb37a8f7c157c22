"""Tells a damaged write-ahead log of SQLite from one that a power cut ended, and returns its pages. Pure.

SQLite reads such a log up to the first frame whose checksum fails, and ignores the rest silently: nearly always that is
a write that the power cut short, which was never announced. But a frame that fails *before* a later transaction was
sound once, for each commit is synced before the next begins; and a frame whose checksum is off by just one word was
written completely, and changed since. Only those two are called damage here.

https://www.sqlite.org/fileformat2.html#the_write_ahead_log
"""

from __future__ import annotations

import struct
from collections import Counter
from typing import Final, NamedTuple

PAGE: Final = 4096
"""Page size of every record, bytes."""
_HEADER, _FRAME = 32, 24
_STEP: Final = _FRAME + PAGE
_MAGICS: Final = {0x377F0682: "<", 0x377F0683: ">"}
"""The first word of a log, and the byte order of the summed words."""
_MASK: Final = 0xFFFF_FFFF

_Sums = tuple[int, int]


class WalFrame(NamedTuple):
    """One page as a transaction wrote it."""

    page: int
    """Its number, from 1."""
    commits: bool
    """Whether it is the last of its transaction."""
    data: bytes
    is_whole: bool = True
    was_changed: bool = False
    """Changed in a single word, which is repaired."""


class Wal(NamedTuple):
    """A write-ahead log."""

    frames: tuple[WalFrame, ...] = ()
    """Frames of every transaction that the power did not cut short, in order."""
    damaged: int = 0
    """Number of frames that were changed after they were written; the header counts as one."""


def read_wal(data: bytes) -> Wal:
    """Read the bytes of a log."""
    raw = [data[at : at + _STEP] for at in range(_HEADER, len(data) - _STEP + 1, _STEP)]
    if not raw:
        return Wal()
    magic, sums = int.from_bytes(data[:4]), _sums_of(data[24:32])
    order = _MAGICS.get(magic, "<")
    is_sound = magic in _MAGICS and _checksum(data[:24], order, (0, 0)) == sums
    salts = data[16:24]
    if not is_sound:
        # The first frames of this round repeat the header's salts.
        salts = Counter(frame[8:16] for frame in raw[:3]).most_common(1)[0][0]
    if not any(salts):
        # Space reserved for a log, and never written.
        return Wal()
    last = max((place for place, frame in enumerate(raw) if frame[8:16] == salts), default=-1)
    frames = _check_frames(raw[: last + 1], salts, order, sums)
    kept = frames[: _count_kept(frames)]
    changed = sum(not frame.is_whole or frame.was_changed for frame in kept)
    return Wal(tuple(kept), changed + (not is_sound) if kept else 0)


def _check_frames(raw: list[bytes], salts: bytes, order: str, sums: _Sums) -> list[WalFrame]:
    """Return the frames of the present round; those of earlier ones have other salts."""
    frames = []
    for frame, following in zip(raw, [*raw[1:], b""], strict=True):
        stored, content = _sums_of(frame[16:24]), frame[:8] + frame[24:]
        found = _checksum(content, order, sums)
        is_whole, was_changed = found == stored, frame[8:16] != salts
        if not is_whole:
            if (mended := _mend_word(content, order, sums, stored)) is not None:
                content, is_whole, was_changed = mended, True, True
            elif following and _checksum(following[:8] + following[24:], order, found) == _sums_of(following[16:24]):
                # Only its own sum was changed.
                stored, is_whole, was_changed = found, True, True
        page, size = struct.unpack(">II", content[:8])
        frames.append(WalFrame(page, size != 0, content[8:], is_whole, was_changed))
        sums = stored
    return frames


def _count_kept(frames: list[WalFrame]) -> int:
    """Return the number of frames before a transaction that the power cut short."""
    ends = [place for place, frame in enumerate(frames) if frame.commits and frame.is_whole]
    while ends:
        first = ends[-2] + 1 if len(ends) > 1 else 0
        # A torn frame belongs to the last transaction; if one comes earlier, a complete commit follows it.
        torn = [frame for frame in frames[first : ends[-1] + 1] if not frame.is_whole]
        if not torn or any(frame.commits for frame in torn):
            return ends[-1] + 1
        ends.pop()
    return 0


def _sums_of(data: bytes) -> _Sums:
    first, second = struct.unpack(">II", data)
    return first, second


def _checksum(data: bytes, order: str, sums: _Sums) -> _Sums:
    """Return SQLite's sums over words of 32 bits, starting from these."""
    first, second = sums
    words = iter(struct.unpack(f"{order}{len(data) // 4}I", data))
    for word in words:
        first = (first + word + second) & _MASK
        second = (second + next(words) + first) & _MASK
    return first, second


def _mend_word(data: bytes, order: str, sums: _Sums, stored: _Sums) -> bytes | None:
    """Repair the one word whose change explains the sum; the data is unchanged if several do, None if none does.

    Every later pair carries on what a word adds to the sums, ``(a, b) -> (a + b, a + 2b)``; so the difference of the
    sums is carried back pair by pair until it is that of one word. Other damage looks like this by chance once in some
    four million cases.
    """
    found = _checksum(data, order, sums)
    first, second = (stored[0] - found[0]) & _MASK, (stored[1] - found[1]) & _MASK
    places = []
    for at in range(len(data) - 8, -1, -8):
        if first in (0, second):
            places.append((at if first == second else at + 4, second))
        first, second = (2 * first - second) & _MASK, (second - first) & _MASK
    if len(places) != 1:
        return data if places else None
    place, change = places[0]
    (word,) = struct.unpack_from(f"{order}I", data, place)
    return data[:place] + struct.pack(f"{order}I", (word + change) & _MASK) + data[place + 4 :]
