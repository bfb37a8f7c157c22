"""What can still be read of a damaged record: every row of every page, and for each line the copy that its seal proves.

A page may lie there several times, in the file and in its write-ahead log. A row that is wrong in one copy may be right
in another, and a row that nothing points to any more may still stand in its page; its seal shows that it belongs there.
Pure: bytes in, rows out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from referee.record.erasure import SCRUB_WAITS
from referee.record.seals import FIRST_SEAL, seal_line
from referee.record.sqlite_pages import PageRow, page_size_of, read_rows, split_pages
from referee.record.sqlite_wal import read_wal

_USUAL_SIZE: Final = 4096
_ID: Final = re.compile(r"[0-9a-f]{16}")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\dT")
_NOTES: Final = ("version", "keeping", "settle", SCRUB_WAITS)
"""Keys of the notes among the tables of people."""
_SEALED: Final = re.compile(rb"\}([0-9a-f]{16})")
_KINDS: Final = (0x02, 0x05, 0x0A, 0x0D)
_GREATEST: Final = 1 << 31
"""Numbers of games and lines beyond it are damage."""

Line = tuple[str, str | None]
"""Text and seal."""


@dataclass(slots=True)
class Salvage:
    """Rows of a damaged record."""

    tables: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    """By table, its row ids first where they matter; all but the lines."""
    lines: dict[int, dict[int, Line]] = field(default_factory=dict)
    """By game and number."""

    @property
    def count(self) -> int:
        """How many lines there are."""
        return sum(len(lines) for lines in self.lines.values())


def salvage_rows(file: bytes, log: bytes) -> Salvage:
    """Read what can be read.

    Args:
        file: the data base.
        log: its write-ahead log; empty where there is none.
    """
    sizes = dict.fromkeys((page_size_of(file), _USUAL_SIZE))
    return max((_salvage(file, log, size) for size in sizes), key=lambda one: one.count)


def _salvage(file: bytes, log: bytes, size: int) -> Salvage:
    present = split_pages(file, size)
    copies = list(present.items())
    wal = read_wal(log, size)
    for frame in wal.frames:
        if len(frame.data) == size:
            present[frame.page] = frame.data
            copies.append((frame.page, frame.data))
    tables = _read_tables(present)
    gone = {row[1] for row in tables.get("removed", ())}
    # Rests may hold what people wanted gone, until that has been overwritten: then they are left alone.
    waits = any(row[0] == SCRUB_WAITS for row in tables.get("people_meta", ()))
    found = _Lines(present, copies, () if waits else [page for page in wal.older if len(page) == size])
    games = {row[0] for row in tables.get("game", ())} | {game for game in found.opened if game not in gone}
    ends = {row[0]: row[6] for row in tables.get("game", ()) if len(row) == 8}
    return Salvage(tables, {game: found.of(game, ends.get(game)) for game in sorted(games)})


def _read_tables(present: Mapping[int, bytes]) -> dict[str, list[tuple[Any, ...]]]:
    tables: dict[str, list[tuple[Any, ...]]] = {}
    for number in sorted(present):
        for row in read_rows(number, present[number], present):
            if row.key is not None and (name := _table_of(row.values)):
                values = (row.key, *row.values[1:]) if name == "game" else row.values
                tables.setdefault(name, []).append(values)
    return tables


def _table_of(values: tuple[Any, ...]) -> str:
    """Whose row this is, by what stands in it; empty for one that is nobody's."""
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


class _Lines:
    """Every copy of every line, and which is the right one."""

    def __init__(
        self, present: Mapping[int, bytes], copies: Iterable[tuple[int, bytes]], rests: Iterable[bytes]
    ) -> None:
        """``rests`` are pages of which only such lines are taken as their seals prove."""
        self._present, self._copies, self._rests = present, dict.fromkeys(copies), rests
        self._found: dict[int, dict[int, list[Line]]] = {}
        self.opened: set[int] = set()
        """Games whose table is there."""
        self._pages: dict[int, set[tuple[int, bytes]]] = {}
        """By game, the pages on which its lines stand."""
        self._odd: list[tuple[int, bytes]] = []
        """Pages that are none, or of which a row cannot be read."""
        for number, page in self._copies:
            count = 0
            for row in read_rows(number, page, present):
                count += 1
                if (keyed := _line_of(row)) is not None:
                    game, at, line = keyed
                    self._found.setdefault(game, {}).setdefault(at, []).insert(0, line)
                    self._pages.setdefault(game, set()).add((number, page))
                    if at == 1 and '"table"' in line[0][:200]:
                        self.opened.add(game)
            start = 100 if number == 1 else 0
            said = int.from_bytes(page[start + 3 : start + 5])
            if (page[start] not in _KINDS and any(page)) or (page[start] != 0x05 and count < said):
                self._odd.append((number, page))

    def of(self, game: int, end: str | None) -> dict[int, Line]:
        """A game's lines by their numbers; ``end`` is the seal with which it ended, if that is known."""
        found = self._found.get(game, {})
        pool: list[Line] | None = None
        chosen: dict[int, Line] = {}
        seal, last, placed = FIRST_SEAL, 0, set[Line]()
        if min(found, default=1) > 1:
            pool = self._searched(game)
            for early in _beginning(pool, min(found), found[min(found)]):
                last, seal = last + 1, early[1] or ""
                chosen[last] = early
                placed.add(early)
        for number in [*sorted(found), _GREATEST]:
            if number == _GREATEST and (seal == end or (end is None and not self._odd)):
                break
            # What does not stand under its number may stand under another, or where nothing points any more.
            copies = found.get(number, []) if number == last + 1 else []
            while (line := next((one for one in copies if _fits(seal, one)), None)) is None and number > last:
                pool = self._searched(game) if pool is None else pool
                # Nothing before a first line shows whose it is, but for what follows (`_beginning`).
                line = next((one for one in pool if last and _fits(seal, one)), None)
                if line is None:
                    break
                placed.add(line)
                last += 1
                chosen[last], seal = line, line[1] or ""
                copies = found.get(number, []) if number == last + 1 else []
            if number <= last or number == _GREATEST:
                continue
            line = line or next((one for one in found[number] if one not in placed), None)
            if line is not None:
                chosen[number], last = line, number
                seal = line[1] or seal_line(seal, line[0])
        return chosen

    def _searched(self, game: int) -> list[Line]:
        """Whatever looks like a line on the pages of a game, on those that are damaged, and in the rests."""
        made: dict[Line, None] = {}
        for lines in self._found.values():
            for some in lines.values():
                made |= dict.fromkeys(some) if len(lines) < 3 else {}
        for lines_ in self._found.get(game, {}).values():
            made |= dict.fromkeys(lines_)
        pages = dict.fromkeys(page for _, page in (*self._pages.get(game, ()), *self._odd))
        for page in (*pages, *self._rests):
            made |= dict.fromkeys(_search_lines(page))
        return [line for line in made if line[1] is not None]


def _beginning(pool: list[Line], until: int, follows: list[Line]) -> list[Line]:
    """A game's lines before number ``until`` whose seals lead from a first line to one of those that follow."""
    for first in pool:
        chain = [first] if _fits(FIRST_SEAL, first) else []
        while chain and len(chain) < until - 1:
            seal = chain[-1][1] or ""
            line = next((one for one in pool if _fits(seal, one)), None)
            chain = [*chain, line] if line is not None else []
        if chain and any(line[1] is not None and _fits(chain[-1][1] or "", line) for line in follows):
            return chain
    return []


def _search_lines(page: bytes) -> Iterator[Line]:
    """Whatever looks like a line with its seal behind it, also where nothing points to it any more."""
    begin = 0
    for found in _SEALED.finditer(page):
        at = page.find(b"{", begin, found.start() + 1)
        while at >= 0:
            yield page[at : found.start() + 1].decode(errors="replace"), found[1].decode()
            at = page.find(b"{", at + 1, found.start() + 1)
        begin = found.end()


def _line_of(row: PageRow) -> tuple[int, int, Line] | None:
    """Game, number and line of a row; None for one of another table."""
    values = row.values
    if row.key is not None or len(values) not in (3, 4):
        return None
    game, number, text = values[:3]
    seal = values[3] if len(values) == 4 else None
    if type(game) is not int or type(number) is not int or not isinstance(text, str):
        return None
    if not (0 < game < _GREATEST and 0 < number < _GREATEST) or not isinstance(seal, str | None):
        return None
    return game, number, (text, seal)


def count_proven(lines: Mapping[int, Line]) -> int:
    """How many lines of a game are proved by their seals: each follows on the one before it."""
    proven, last, before = 0, 0, FIRST_SEAL
    for number in sorted(lines):
        line = lines[number]
        proven += number == last + 1 and line[1] is not None and _fits(before, line)
        last, before = number, line[1] or seal_line(before, line[0])
    return proven


def _fits(before: str, line: Line) -> bool:
    return line[1] is None or line[1] == seal_line(before, line[0])
