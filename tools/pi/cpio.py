"""Packs files as an initial RAM filesystem (cpio, format "newc"); archives may follow each other."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

Entry = tuple[str, int, bytes]
"""A name without a leading slash, its mode and its content (of a link, the target)."""


def pack(entries: Iterable[Entry]) -> bytes:
    """Return the archive of these entries; a folder comes before its files."""
    parts = [_record(number, *entry) for number, entry in enumerate(entries, start=1)]
    return b"".join([*parts, _record(0, "TRAILER!!!", 0, b"")])


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
