"""An initial RAM filesystem: what was packed is read again, and archives may follow each other."""

from __future__ import annotations

from tools.pi.cpio import folders, pack, unpack


def test_archives_are_read_one_after_the_other() -> None:
    first = [*folders("etc"), ("etc/name", 0o100644, b"table\n"), ("etc/empty", 0o100600, b"")]
    second = [("init", 0o100755, b"#!/bin/sh"), ("link", 0o120777, b"init")]
    entries, rest = unpack(pack(first) + bytes(512) + pack(second) + b"packed")
    assert entries == first
    assert unpack(rest) == (second, b"packed")
