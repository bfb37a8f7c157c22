"""Reads a damaged record: scans all its bytes for lines whose seals continue a game's chain. Pure.

SQLite gives up at the first damaged page. But each line of a game is stored with its seal behind it, and a seal proves
its line from the seal before (`referee.record.seals`). So a line is found wherever its bytes are, in the database or in
its write-ahead log, whether or not anything points to it, and a changed line never passes as an original one.

The few rows beside the lines (games, people, notes) have no seals, so only rows that the pages point to count.

https://www.sqlite.org/fileformat2.html#record_format
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from referee.record.erasure import SCRUB_WAITS
from referee.record.seals import FIRST_SEAL, SEAL_DIGITS, seal_line
from referee.record.sqlite_wal import PAGE, read_wal

_FILE_HEADER: Final = 100
_TABLE_LEAF: Final = 0x0D
_SIZES: Final = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 8: 0, 9: 0}
"""Bytes of nulls and integers, by their serial type in a row's header."""
_LINE_HEADER: Final = re.compile(rb"[\x04-\x07](?=([\x01-\x04\x09])([\x01-\x04\x09])([\x80-\xff]{0,2}[\x00-\x7f]))")
"""Start of a line's row: the header's length, and the serial types of game, number and text."""
_SEAL_KIND: Final = 13 + 2 * SEAL_DIGITS
_SEALED: Final = re.compile(rb"\}([0-9a-f]{16})")
_MOST_IN_PAGE: Final = (PAGE - 12) * 64 // 255 - 23
"""Largest row of a line that fits into one page, bytes; longer ones continue in other pages."""
_LEAST_IN_PAGE: Final = (PAGE - 12) * 32 // 255 - 23
_LONGEST_ROW: Final = 4 << 20
_ID: Final = re.compile(r"[0-9a-f]{16}")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\dT")
_NOTES: Final = ("version", "keeping", "settle", SCRUB_WAITS)
"""Keys of the notes among the tables of people."""


class Line(NamedTuple):
    """A stored line."""

    text: str
    seal: str | None
    """None if it was written by a program without seals."""

    @property
    def is_whole(self) -> bool:
        """Whether nothing shows that its end was overwritten."""
        return self.seal is None or _ID.fullmatch(self.seal) is not None

    def follows(self, before: str) -> bool:
        """Return whether its seal continues the one before."""
        return self.seal is None or self.seal == seal_line(before, self.text)


@dataclass(slots=True)
class Salvage:
    """Rows of a damaged record."""

    tables: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    """By table, row ids first where they matter; everything except the lines."""
    lines: dict[int, dict[int, Line]] = field(default_factory=dict)
    """By game and number."""

    @property
    def count(self) -> int:
        """Number of lines."""
        return sum(len(lines) for lines in self.lines.values())


def salvage_rows(file: bytes, log: bytes) -> Salvage:
    """Read everything that is readable.

    Args:
        file: the database.
        log: its write-ahead log; empty if there is none.
    """
    present = _write_back(file, log)
    tables = _read_tables(present)
    # Until erased data is overwritten, older copies may still hold it: then they are left alone.
    waits = any(row[0] == SCRUB_WAITS for row in tables.get("people_meta", ()))
    found = _Lines((present,) if waits or not log else (present, log, file))
    gone = {row[1] for row in tables.get("removed", ())}
    ends = {row[0]: row[6] if len(row) == 8 else None for row in tables.get("game", ())}
    games = sorted({*ends, *(found.opened - gone)})
    return Salvage(tables, {game: found.chain(game, ends.get(game)) for game in games})


def count_proven(lines: Mapping[int, tuple[str, str | None]]) -> int:
    """Return how many lines of a game are proved by their seals: each follows the one before it."""
    proven, last, before = 0, 0, FIRST_SEAL
    for number in sorted(lines):
        line = Line(*lines[number])
        proven += number == last + 1 and line.seal is not None and line.follows(before)
        last, before = number, line.seal or seal_line(before, line.text)
    return proven


def _write_back(file: bytes, log: bytes) -> bytes:
    """Return the database with the pages of its log in their places."""
    present = bytearray(file)
    for frame in read_wal(log).frames:
        # A random page number would make the file arbitrarily long.
        if 0 < frame.page <= (len(file) + len(log)) // PAGE:
            end = frame.page * PAGE
            present.extend(bytes(max(0, end - len(present))))
            present[end - PAGE : end] = frame.data
    return bytes(present)


class _Lines:
    """Every copy of every line, wherever it is stored."""

    def __init__(self, places: Iterable[bytes]) -> None:
        """``places``: the database, then further bytes that may hold older copies of its pages."""
        self.opened: set[int] = set()
        """Games whose table line is there."""
        self._copies: dict[int, dict[int, list[Line]]] = {}
        """By game and number."""
        present = b""
        for data in places:
            present = present or data
            for game, number, line in _find_lines(data, present):
                copies = self._copies.setdefault(game, {}).setdefault(number, [])
                if line not in copies:
                    copies.append(line)
                if number == 1 and '"table"' in line.text[:200]:
                    self.opened.add(game)
        placed, self._strays = set(), dict[Line, None]()
        for lines in self._copies.values():
            for number, copies in lines.items():
                before = [earlier.seal for earlier in lines.get(number - 1, ())] if number > 1 else [FIRST_SEAL]
                for line in copies:
                    if any(line.follows(seal or "") for seal in before):
                        placed.add(line.seal)
                    elif line.seal is not None:
                        self._strays[line] = None
        for data in places:
            self._strays |= dict.fromkeys(_find_texts(data, placed))

    def chain(self, game: int, end: str | None) -> dict[int, Line]:
        """Return a game's lines by number; ``end``: the seal with which it ended, if known."""
        copies, chain = self._copies.get(game, {}), dict[int, Line]()
        number, seal = 0, FIRST_SEAL
        while number < max(copies, default=0) or (number and seal != end):
            number += 1
            line = next((line for line in copies.get(number, ()) if line.follows(seal)), None)
            # A first line has no seal before it: only the following line shows to which game it belongs.
            line = line or self._find_stray(seal, copies.get(2, []) if number == 1 else None)
            line = line or _seal_anew(seal, copies.get(number, ()), copies.get(number + 1, ()))
            if line is None:
                if (gap := self._after_gap(copies, chain, number)) is None:
                    break
                number, line = gap
            chain[number], seal = line, line.seal or seal_line(seal, line.text)
        return chain

    def _find_stray(self, seal: str, following: list[Line] | None) -> Line | None:
        """Return a line without a usable row that continues this seal; ``following``: one of these must follow it."""
        for line in self._strays:
            if line.follows(seal) and (following is None or any(two.follows(line.seal or "") for two in following)):
                return line
        return None

    @staticmethod
    def _after_gap(
        copies: Mapping[int, list[Line]], chain: Mapping[int, Line], missing: int
    ) -> tuple[int, Line] | None:
        """Return the next line after a gap: proved by the missing line's surviving seal, or else unproved."""
        for number in sorted(copies):
            if number > missing:
                before = [line.seal or "" for line in copies.get(number - 1, ()) if line.is_whole]
                for line in copies[number]:
                    is_new = line.is_whole and line not in chain.values()
                    if is_new and (not before or any(map(line.follows, before))):
                        return number, line
        return None


def _seal_anew(before: str, copies: Iterable[Line], following: Iterable[Line]) -> Line | None:
    """Return a line whose own seal is damaged, but which the next line proves."""
    for line in copies:
        seal = seal_line(before, line.text)
        if any(after.seal is not None and after.follows(seal) for after in following):
            return Line(line.text, seal)
    return None


def _find_lines(data: bytes, present: bytes) -> Iterator[tuple[int, int, Line]]:
    """Yield game, number and line of everything that looks like a line's row; long ones continue in ``present``."""
    for found in _LINE_HEADER.finditer(data):
        start, text_kind = found.start(), _read_varint(found[3], 0)[0]
        header, known = data[start], 3 + len(found[3])
        # A program without seals wrote rows without a fourth column, or they later got an empty one.
        seal_kind = data[found.end() + known - 1] if header == known + 1 and len(data) >= start + header else 0
        if header - known not in (0, 1) or seal_kind not in (0, _SEAL_KIND) or text_kind < 13 or text_kind % 2 == 0:
            continue
        kinds = found[1][0], found[2][0]
        text_at = header + sum(_SIZES[kind] for kind in kinds)
        seal_at = text_at + (text_kind - 13) // 2
        length = seal_at + (SEAL_DIGITS if seal_kind else 0)
        row = _whole_row(data, start, length, present)
        text, seal = row[text_at:seal_at], row[seal_at:]
        if len(row) < length or (not seal_kind and text[:1] + text[-1:] != b"{}"):
            continue
        game, number = _read_numbers(kinds, row[header:text_at])
        if game > 0 and number > 0:
            yield game, number, Line(text.decode(errors="replace"), seal.decode(errors="replace") or None)


def _whole_row(data: bytes, start: int, length: int, present: bytes) -> bytes:
    """Return a row of that length, following it from page to page; shorter if a page is missing."""
    if length <= _MOST_IN_PAGE or length > _LONGEST_ROW:
        return data[start : start + length] if length <= _MOST_IN_PAGE else b""
    local = _LEAST_IN_PAGE + (length - _LEAST_IN_PAGE) % (PAGE - 4)
    local = local if local <= _MOST_IN_PAGE else _LEAST_IN_PAGE
    parts, left, at = [data[start : start + local]], length - local, data[start + local : start + local + 4]
    while left > 0:
        page_start = (int.from_bytes(at) - 1) * PAGE
        page = present[page_start : page_start + PAGE] if page_start >= 0 else b""
        if len(page) < PAGE:
            break
        parts.append(page[4 : 4 + left])
        left, at = left - len(parts[-1]), page[:4]
    return b"".join(parts)


def _find_texts(data: bytes, known: set[str | None]) -> Iterator[Line]:
    """Yield everything that looks like a line followed by an unknown seal, even where the row around it is damaged."""
    begin = 0
    for found in _SEALED.finditer(data):
        if (seal := found[1].decode()) not in known:
            at = data.find(b"{", max(begin, found.start() - PAGE), found.start() + 1)
            while at >= 0:
                yield Line(data[at : found.start() + 1].decode(errors="replace"), seal)
                at = data.find(b"{", at + 1, found.start() + 1)
        begin = found.end()


def _read_tables(present: bytes) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of all tables except the lines, from the pages that hold them."""
    tables: dict[str, list[tuple[Any, ...]]] = {}
    for at in range(0, len(present) - PAGE + 1, PAGE):
        page, start = present[at : at + PAGE], 0 if at else _FILE_HEADER
        if page[start] == _TABLE_LEAF:
            count = min(int.from_bytes(page[start + 3 : start + 5]), PAGE // 4)
            for place in struct.unpack_from(f">{count}H", page, start + 8):
                with suppress(IndexError, ValueError, KeyError):
                    key, values = _read_row(page, place)
                    if name := _table_of(values):
                        tables.setdefault(name, []).append((key, *values[1:]) if name == "game" else values)
    return tables


def _read_row(page: bytes, at: int) -> tuple[int, tuple[Any, ...]]:
    """Return row id and values; raises `IndexError`, `KeyError` or `ValueError` if no row of one page is here."""
    _, at = _read_varint(page, at)
    key, header_at = _read_varint(page, at)
    header, at = _read_varint(page, header_at)
    value_at, values = header_at + header, list[Any]()
    while at < header_at + header:
        kind, at = _read_varint(page, at)
        is_text = kind >= 13 and kind % 2 == 1
        end = value_at + ((kind - 13) // 2 if is_text else _SIZES[kind])
        if end > len(page):
            raise IndexError
        data, value_at = page[value_at:end], end
        number = kind - 8 if kind in (8, 9) else int.from_bytes(data, signed=True)
        values.append(data.decode(errors="replace") if is_text else None if kind == 0 else number)
    return key, tuple(values)


def _read_numbers(kinds: tuple[int, int], data: bytes) -> tuple[int, int]:
    """Return two consecutive integers."""
    first = _SIZES[kinds[0]]
    game, number = (int.from_bytes(part, signed=True) for part in (data[:first], data[first:]))
    return 1 if kinds[0] == 9 else game, 1 if kinds[1] == 9 else number


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return an integer of one to nine bytes, and the offset after it; raises `IndexError`."""
    value = 0
    for place in range(8):
        byte = data[at + place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    return value << 8 | data[at + 8], at + 9


def _table_of(values: tuple[Any, ...]) -> str:
    """Return the table to which a row belongs, judged by its values; empty for none."""
    kinds = tuple(type(value) for value in values)
    if len(values) in (6, 8) and values[0] is None and kinds[1] is str and kinds[3:6] == (str, str, int):
        return "game"
    if kinds == (str, int, str, str):
        return "removed"
    if kinds == (str, str, int, str, int) and _ID.fullmatch(values[0]):
        return "person"
    if kinds == (int, int, str) and _ID.fullmatch(values[2]):
        return "played"
    if kinds == (str, int):
        return "sqlite_sequence" if values[0] == "game" else ""
    if kinds == (str, str):
        if _ID.fullmatch(values[0]) and _DATE.match(values[1]):
            return "forgotten"
        return "spelling" if _ID.fullmatch(values[1]) else "people_meta" if values[0] in _NOTES else ""
    return ""
