"""SQLite's write-ahead log, read by hand where SQLite would drop what is damaged in it without a word. Pure.

SQLite reads such a log up to the first frame whose checksum fails, and takes the rest for a write that the power cut
short. Nearly always it is: what was never synced was never announced. But a frame that fails *before* a later
transaction was whole once, for each commit is synced before the next begins; and a checksum that is off by just one
word was written whole, and changed since. Only those two are called damage here. The sums are linear, so of a single
changed word they tell which one it was, and what stood there.

https://www.sqlite.org/fileformat2.html#the_write_ahead_log
"""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

_HEADER, _FRAME = 32, 24
_MAGICS: Final = (0x377F0682, 0x377F0683)
_VERSION: Final = 3_007_000
_MASK: Final = 0xFFFF_FFFF
_SMALLEST, _LARGEST = 512, 65_536

_Sums = tuple[int, int]


class WalFrame(NamedTuple):
    """One page as a transaction wrote it."""

    page: int
    """Its number, from 1."""
    commits: bool
    """Whether it is the last of its transaction."""
    data: bytes


@dataclass(frozen=True, slots=True)
class Wal:
    """A write-ahead log."""

    frames: tuple[WalFrame, ...] = ()
    """Of whole transactions, and of damaged ones as far as they can be read, in their order."""
    damaged: int = 0
    """Frames that were changed after they had been written; the header counts as one."""
    older: tuple[bytes, ...] = ()
    """Pages of earlier rounds, of which only the file holds rests; and those that the power cut short."""


def read_wal(data: bytes, page_size: int = 4096) -> Wal:
    """Read a log.

    Args:
        data: the file's bytes.
        page_size: of the data base, for a log whose header does not tell.
    """
    if len(data) < _HEADER + _FRAME:
        return Wal()
    header, damaged = _mend_header(data[:_HEADER], page_size)
    order = ">" if header[3] & 1 else "<"
    size = int.from_bytes(header[8:12])
    size = size if size in (1 << n for n in range(9, 17)) else page_size
    step = _FRAME + size
    raw = [data[at : at + step] for at in range(_HEADER, len(data) - step + 1, step)]
    salts = header[16:24]
    if damaged and not (any(salts) and any(one[8:16] == salts for one in raw)):
        # The header's own salts are lost: those of its frames stand in the first of them.
        found = Counter(one[8:16] for one in raw[:3] if any(one[8:16])).most_common(1)
        salts = found[0][0] if found else bytes(8)
    if not any(salts):
        # Room that was made for a log, and never written.
        return Wal()
    sums = _sums_of(header[24:32]) if not damaged else _checksum(header[:24], order, (0, 0))
    checked = _check_frames(raw, salts, order, sums)
    made = _whole(checked, damaged)
    return replace(made, older=tuple(one[_FRAME:] for one in raw[len(made.frames) :]))


class _Checked(NamedTuple):
    frame: WalFrame
    is_whole: bool
    was_changed: bool
    """By a single word, which is mended."""


def _check_frames(raw: list[bytes], salts: bytes, order: str, sums: _Sums) -> list[_Checked]:
    """Every frame of this log's present round: those before it have other salts."""
    last = max((place for place, one in enumerate(raw) if one[8:16] == salts), default=-1)
    made: list[_Checked] = []
    for place, one in enumerate(raw[: last + 1]):
        stored = _sums_of(one[16:24])
        content = one[:8] + one[24:]
        found = _checksum(content, order, sums)
        was_changed = one[8:16] != salts
        is_whole = found == stored and any(content[:4])
        if not is_whole and any(one):
            mended = _mend_word(content, order, sums, stored)
            following = raw[place + 1] if place < last else b""
            if mended is not None:
                content, is_whole, was_changed = mended, True, True
            elif _differ_little(found, stored) or (
                following and _checksum(following[:8] + following[24:], order, found) == _sums_of(following[16:24])
            ):
                # Its own sum was changed, and nothing else.
                stored, is_whole, was_changed = found, True, True
        page, size = struct.unpack(">II", content[:8])
        made.append(_Checked(WalFrame(page, size != 0, content[8:]), is_whole, was_changed))
        sums = stored
    return made


def _whole(checked: list[_Checked], damaged: bool) -> Wal:
    """Without what the power cut short: frames after the last whole commit, and a last transaction with torn ones."""
    ends = [place for place, one in enumerate(checked) if one.frame.commits and one.is_whole]
    while ends:
        first = ends[-2] + 1 if len(ends) > 1 else 0
        # A torn frame lies in the last transaction; where one lies before, there is a whole commit after it.
        torn = [place for place in range(first, ends[-1] + 1) if not checked[place].is_whole]
        commits = [place for place in torn if checked[place].frame.commits]
        if not torn or commits:
            break
        ends.pop()
    kept = checked[: ends[-1] + 1] if ends else []
    changed = sum(not one.is_whole or one.was_changed for one in kept)
    return Wal(tuple(one.frame for one in kept), changed + damaged if kept else 0)


def _mend_header(header: bytes, page_size: int) -> tuple[bytes, bool]:
    """The header as it was, as far as that can be told, and whether it was changed."""
    for order in "<>":
        found, stored = _checksum(header[:24], order, (0, 0)), _sums_of(header[24:32])
        magic = int.from_bytes(header[:4])
        if found == stored and magic in _MAGICS:
            return header, False
        mended = _mend_word(header[:24], order, (0, 0), stored)
        if mended is not None and int.from_bytes(mended[:4]) == _MAGICS[order == ">"]:
            return mended + header[24:], True
        if magic == _MAGICS[order == ">"] and int.from_bytes(header[4:8]) == _VERSION:
            return header[:24] + struct.pack(">II", *found), True
    return struct.pack(">III", _MAGICS[0], _VERSION, page_size) + header[12:], True


def _sums_of(data: bytes) -> _Sums:
    first, second = struct.unpack(">II", data)
    return first, second


def _checksum(data: bytes, order: str, sums: _Sums) -> _Sums:
    """SQLite's sums over words of 32 bits, going on from these."""
    one, two = sums
    words = iter(struct.unpack(f"{order}{len(data) // 4}I", data))
    for word in words:
        one = (one + word + two) & _MASK
        two = (two + next(words) + one) & _MASK
    return one, two


def _differ_little(found: _Sums, stored: _Sums) -> bool:
    """Whether two sums differ in one byte, as no two sums of different pages do."""
    pairs = zip(struct.pack(">II", *found), struct.pack(">II", *stored), strict=True)
    return sum(a != b for a, b in pairs) == 1


def _mend_word(data: bytes, order: str, sums: _Sums, stored: _Sums) -> bytes | None:
    """The data with the one word mended whose change explains its sum; as it is where several do; None where none does.

    What a word adds to the sums is carried on by every pair after it, ``(a, b) -> (a + b, a + 2b)``; so the difference
    of the sums is carried back pair by pair until it is that of one word. That another damage looks so by chance
    happens once in some four million.
    """
    found = _checksum(data, order, sums)
    one, two = (stored[0] - found[0]) & _MASK, (stored[1] - found[1]) & _MASK
    places = []
    for at in range(len(data) - 8, -1, -8):
        if one == two or one == 0:
            places.append((at if one == two else at + 4, two))
        one, two = (2 * one - two) & _MASK, (two - one) & _MASK
    if len(places) != 1:
        return data if places else None
    place, change = places[0]
    (word,) = struct.unpack_from(f"{order}I", data, place)
    return data[:place] + struct.pack(f"{order}I", (word + change) & _MASK) + data[place + 4 :]
