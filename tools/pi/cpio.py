"""Packs files as an initial RAM filesystem (cpio, format "newc"); archives may follow each other."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

Entry = tuple[str, int, bytes]
"""A name without a leading slash, its mode and its content (of a link, the target)."""
_END: Final = "TRAILER!!!"
_HEAD: Final = 110
"""Length of an entry's head, before its name."""


def pack(entries: Iterable[Entry]) -> bytes:
    """Return the archive of these entries; a folder comes before its files."""
    parts = [_record(number, *entry) for number, entry in enumerate(entries, start=1)]
    return b"".join([*parts, _record(0, _END, 0, b"")])


def unpack(archive: bytes) -> tuple[list[Entry], bytes]:
    """Return the entries of the first archive, and what follows it."""
    entries: list[Entry] = []
    at = 0
    while True:
        head = archive[at : at + _HEAD]
        mode, size, length = (int(head[6 + 8 * field :][:8], 16) for field in (1, 6, 11))
        name = os.fsdecode(archive[at + _HEAD : at + _HEAD + length - 1])
        begin = at + (_HEAD + length + 3) // 4 * 4
        if name == _END:
            return entries, archive[begin:].lstrip(b"\0")
        entries.append((name, mode, archive[begin : begin + size]))
        at = begin + (size + 3) // 4 * 4


def folder_entries(folder: Path, prefix: str = "", *, keep: Callable[[str], bool] = lambda name: True) -> list[Entry]:
    """Return a folder's entries below ``prefix``, as far as ``keep`` wants them by their name inside the folder."""
    entries: list[Entry] = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not keep(name):
            continue
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            entries.append((prefix + name, stat.S_IFLNK | 0o777, os.fsencode(path.readlink())))
        elif stat.S_ISDIR(mode):
            entries.append((prefix + name, stat.S_IFDIR | 0o755, b""))
        elif stat.S_ISREG(mode):
            entries.append((prefix + name, stat.S_IFREG | (mode & 0o755), path.read_bytes()))
    return entries


def folders(*names: str) -> list[Entry]:
    """Return entries of empty folders."""
    return [(name, stat.S_IFDIR | 0o755, b"") for name in names]


def _record(number: int, name: str, mode: int, content: bytes) -> bytes:
    encoded = os.fsencode(name) + b"\0"
    # number, mode, owner, group, links, time, size, device (2), special device (2), length of the name, checksum
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(encoded), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
    return _padded(head) + _padded(content)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
