"""A disk that fills up or turns read-only during writes, and recovers."""

from __future__ import annotations

import errno
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.powercut.mount import NoFuse, mounted

SIZE = 1 << 20
"""Bytes of the disk that can be filled up."""


@dataclass(frozen=True)
class Disk:
    """A mounted folder, and its possible faults."""

    folder: Path
    fail: Callable[[], None]
    mend: Callable[[], None]


@contextmanager
def full(folder: Path) -> Iterator[Disk]:
    """Yield a small tmpfs, filled to its last page; where none can be mounted, our own filesystem that is full."""
    folder.mkdir()
    if not _mount_small(folder):
        with refusing(folder, errno.ENOSPC) as disk:
            yield disk
        return
    filler = folder / "filler"

    def fill() -> None:
        with filler.open("wb", buffering=0) as out:
            try:
                while out.write(bytes(4096)):
                    pass
            except OSError as error:
                assert error.errno == errno.ENOSPC

    try:
        yield Disk(folder, fill, filler.unlink)
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def _mount_small(folder: Path) -> bool:
    mount = shutil.which("mount")
    if mount is None:
        return False
    asked = [mount, "-t", "tmpfs", "-o", f"size={SIZE}", "none", str(folder)]
    return subprocess.run(asked, check=False, capture_output=True).returncode == 0


@contextmanager
def read_only(folder: Path) -> Iterator[Disk]:
    """Yield our own filesystem: the kernel refuses read-only remounts under open files, until it finds a fault."""
    folder.mkdir()
    with refusing(folder, errno.EROFS) as disk:
        yield disk


@contextmanager
def refusing(folder: Path, error: int) -> Iterator[Disk]:
    """Yield a filesystem that refuses every change with this error; raises `NoFuse`."""
    with mounted(folder) as power:
        yield Disk(folder, lambda: power.refuse(error), lambda: power.refuse(0))


__all__ = ["Disk", "NoFuse", "full", "read_only"]
