"""Rows read straight from the pages of a SQLite file, where SQLite itself gives up at the first that is damaged. Pure.

Each page of a table or an index without row ids holds whole rows, and says so itself; none of the pages above it is
needed to read them. So whatever page is lost, the rows of all others are there.

https://www.sqlite.org/fileformat2.html
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

_TABLE_LEAF, _INDEX_LEAF, _INDEX_INNER = 0x0D, 0x0A, 0x02
_HEADERS: Final = {_TABLE_LEAF: 8, _INDEX_LEAF: 8, _INDEX_INNER: 12}
_FILE_HEADER: Final = 100
_LARGEST_ROW: Final = 16 << 20
"""Bytes; a row that says it is larger is none."""
_INTEGERS: Final = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""Bytes of an integer by its serial type."""


class PageRow(NamedTuple):
    """One row; ``key`` is its row id, None in a table without."""

    key: int | None
    values: tuple[Any, ...]


class NoRow(ValueError):  # noqa: N818 - never leaves the record's own modules
    """What stands there is no row."""


Pages = Mapping[int, bytes]
"""Pages by their numbers, from 1."""


def page_size_of(file: bytes) -> int:
    """The size that a data base's first bytes tell; the usual one where they tell none."""
    size = int.from_bytes(file[16:18]) if len(file) >= _FILE_HEADER else 0
    size = 65_536 if size == 1 else size
    return size if size in (1 << n for n in range(9, 17)) else 4096


def split_pages(file: bytes, size: int) -> dict[int, bytes]:
    """The pages of a data base's file."""
    return {at // size + 1: file[at : at + size] for at in range(0, len(file) - size + 1, size)}


def read_rows(number: int, page: bytes, pages: Pages) -> Iterator[PageRow]:
    """The rows of a page, as far as they can be read; none of one that holds no rows.

    Args:
        number: the page's.
        page: its bytes.
        pages: where a row that is longer than a page goes on.
    """
    start = _FILE_HEADER if number == 1 else 0
    kind = page[start]
    if kind not in _HEADERS:
        return
    at = start + _HEADERS[kind]
    count = min(int.from_bytes(page[start + 3 : start + 5]), (len(page) - at) // 2)
    for place in struct.unpack_from(f">{count}H", page, at):
        try:
            yield _read_cell(page, place, kind, pages)
        except (NoRow, IndexError, struct.error):
            continue


def _read_cell(page: bytes, at: int, kind: int, pages: Pages) -> PageRow:
    if kind == _INDEX_INNER:
        at += 4
    length, at = _varint(page, at)
    key = None
    if kind == _TABLE_LEAF:
        key, at = _varint(page, at)
        key = key - (1 << 64) if key >= 1 << 63 else key
    if not 2 <= length <= _LARGEST_ROW:
        raise NoRow
    most = len(page) - 35 if kind == _TABLE_LEAF else (len(page) - 12) * 64 // 255 - 23
    local = length
    if length > most:
        least = (len(page) - 12) * 32 // 255 - 23
        local = least + (length - least) % (len(page) - 4)
        local = local if local <= most else least
    content = page[at : at + local]
    if len(content) < local:
        raise NoRow
    if local < length:
        (following,) = struct.unpack_from(">I", page, at + local)
        content += _overflow(following, length - local, pages)
    return PageRow(key, _read_record(content))


def _overflow(number: int, left: int, pages: Pages) -> bytes:
    """The rest of a long row, which goes on from page to page."""
    parts, seen = [], set[int]()
    while left > 0:
        page = pages.get(number)
        if page is None or number in seen:
            raise NoRow
        seen.add(number)
        parts.append(page[4 : 4 + left])
        left -= len(parts[-1])
        number = int.from_bytes(page[:4])
    return b"".join(parts)


def _read_record(content: bytes) -> tuple[Any, ...]:
    header, at = _varint(content, 0)
    if not at <= header <= len(content):
        raise NoRow
    values: list[Any] = []
    where = header
    while at < header:
        serial, at = _varint(content, at)
        value, where = _value(content, serial, where)
        values.append(value)
    if where != len(content):
        raise NoRow
    return tuple(values)


def _value(content: bytes, serial: int, at: int) -> tuple[Any, int]:
    """A value by its serial type, and where the next begins."""
    if serial == 0:
        return None, at
    if serial in (8, 9):
        return serial - 8, at
    if serial in _INTEGERS:
        end = at + _INTEGERS[serial]
        return int.from_bytes(content[at:end], signed=True), end
    if serial == 7:
        return struct.unpack_from(">d", content, at)[0], at + 8
    if serial < 12:
        raise NoRow
    end = at + (serial - 12) // 2
    if end > len(content):
        raise NoRow
    data = content[at:end]
    return (data.decode(errors="replace") if serial % 2 else data), end


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where it ends."""
    value = 0
    for place in range(9):
        byte = data[at + place]
        if place == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    raise NoRow
