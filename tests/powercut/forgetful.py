"""A filesystem that loses power: unsynced data is forgotten, whole or sector by sector.

It holds one flat folder in memory. A file's bytes are safe once the file was synced, its name once the folder was (or
the file, as ext4 does). When the power is cut - at once, or at the n-th change, counted - every call fails until the
power is back; then each file holds its safe bytes, and of the sectors written since some, all or none.

Run as a program: ``python -m tests.powercut.forgetful MOUNTPOINT``. It is controlled by extended attributes of its
root: see `Forgetful.setxattr`.
"""

from __future__ import annotations

import errno
import os
import random
import signal
import stat
import sys
import time
from dataclasses import dataclass, field
from typing import Any, Final

import mfusepy as fuse

SECTOR: Final = 512
CUT_AT: Final = "user.cut_at"
"""Set: the power fails at this change, counted from now (0: at once)."""
BACK: Final = "user.back"
"""Set: the power is back. With a seed as its value, unsynced data survives by chance, sector by sector."""
CHANGES: Final = "user.changes"
"""Read: the last change before the cut, and the number of changes."""
VICTIM: Final = "user.victim"
"""Set: the process of this number loses power too: it is killed at the cut, before its call returns."""
CLEAR: Final = "user.clear"
"""Set: an empty folder, and the power is on."""
REFUSE: Final = "user.refuse"
"""Set: every change except a sync is refused with this error, as by a disk that is full or has turned read-only; 0:
none is.
"""

SLOW: Final = "user.slow"
"""Set: extra seconds for each sync of a file; every other call waits for it, as with a worn card."""


@dataclass(slots=True)
class _File:
    now: bytearray = field(default_factory=bytearray)
    safe: bytes | None = None
    """The surviving bytes; None: not even the name."""


class Forgetful(fuse.Operations):  # type: ignore[misc]
    """The filesystem's calls; one at a time."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}
        self._gone: dict[str, bytes] = {}
        """Removed files, as they come back if the removal was not synced."""
        self._dead = False
        self._left: int | None = None
        self._count = 0
        self._last = ""
        self._victim = 0
        self._refuses = 0
        self._slow = 0.0

    def _cut(self) -> None:
        self._dead, self._left = True, None
        if self._victim:
            os.kill(self._victim, signal.SIGKILL)
            self._victim = 0

    def _change(self, what: str, path: str) -> None:
        if self._dead:
            raise fuse.FuseOSError(errno.EIO)
        if self._refuses and what != "sync":
            raise fuse.FuseOSError(self._refuses)
        self._count += 1
        self._last = f"{what} {path[1:]}"
        if self._left is not None:
            self._left -= 1
            if self._left <= 0:
                self._cut()
                raise fuse.FuseOSError(errno.EIO)

    def _file(self, path: str) -> _File:
        if self._dead:
            raise fuse.FuseOSError(errno.EIO)
        try:
            return self._files[path]
        except KeyError:
            raise fuse.FuseOSError(errno.ENOENT) from None

    def getattr(self, path: str, fh: Any = None) -> dict[str, int]:
        """Describe the root or a file."""
        if path == "/":
            return {"st_mode": stat.S_IFDIR | 0o777, "st_nlink": 2}
        return {"st_mode": stat.S_IFREG | 0o666, "st_nlink": 1, "st_size": len(self._file(path).now)}

    def readdir(self, path: str, fh: Any) -> list[str]:
        """Return every name."""
        return [".", "..", *(name[1:] for name in self._files)]

    def create(self, path: str, mode: int, fi: Any = None) -> int:
        """Create a file, whose name is not safe yet."""
        self._change("create", path)
        self._files[path] = _File()
        return 0

    def open(self, path: str, flags: int) -> int:
        """Do nothing."""
        self._file(path)
        return 0

    def read(self, path: str, size: int, offset: int, fh: Any) -> bytes:
        """Return the present bytes."""
        return bytes(self._file(path).now[offset : offset + size])

    def write(self, path: str, data: bytes, offset: int, fh: Any) -> int:
        """Write; not safe until synced."""
        file = self._file(path)
        self._change("write", path)
        file.now.extend(bytes(max(0, offset - len(file.now))))
        file.now[offset : offset + len(data)] = data
        return len(data)

    def truncate(self, path: str, length: int, fh: Any = None) -> None:
        """Truncate; not safe until synced."""
        file = self._file(path)
        self._change("truncate", path)
        del file.now[length:]
        file.now.extend(bytes(length - len(file.now)))

    def fsync(self, path: str, datasync: int, fh: Any) -> int:
        """Make its bytes and its name safe."""
        file = self._file(path)
        self._change("sync", path)
        time.sleep(self._slow)
        file.safe = bytes(file.now)
        return 0

    def fsyncdir(self, path: str, datasync: int, fh: Any) -> int:
        """Make every name safe, and every removal."""
        self._change("sync", "/folder")
        for file in self._files.values():
            if file.safe is None:
                file.safe = b""
        self._gone.clear()
        return 0

    def unlink(self, path: str) -> None:
        """Remove; a removal that is not synced may not have happened."""
        file = self._file(path)
        self._change("remove", path)
        if file.safe is not None:
            self._gone[path] = file.safe
        del self._files[path]

    def rename(self, old: str, new: str) -> None:
        """Move over an existing file."""
        file = self._file(old)
        self._change("rename", old)
        self._files[new] = self._files.pop(old)
        self._files[new].safe = file.safe

    def setxattr(self, path: str, name: str, value: bytes, options: int, position: int = 0) -> int:
        """Control the filesystem; see the constants above."""
        if name == CUT_AT:
            self._left, self._count = int(value), 0
            if self._left == 0:
                self._cut()
        elif name == VICTIM:
            self._victim = int(value)
        elif name == REFUSE:
            self._refuses = int(value)
        elif name == SLOW:
            self._slow = float(value)
        elif name == BACK:
            self._come_back(random.Random(int(value)) if value else None)
        elif name == CLEAR:
            self._files.clear()
            self._gone.clear()
            self._dead, self._left, self._count, self._last = False, None, 0, ""
        return 0

    def getxattr(self, path: str, name: str, position: int = 0) -> bytes:
        """Return the value of `CHANGES`."""
        if name == CHANGES:
            return f"{self._count} {self._last}".encode()
        raise fuse.FuseOSError(errno.ENODATA)

    def _come_back(self, chance: random.Random | None) -> None:
        self._dead, self._left = False, None
        survivors = {name: _survived(file, chance) for name, file in self._files.items()}
        back = {name: safe for name, safe in self._gone.items() if chance is None or chance.random() < 0.5}
        left = {**back, **{name: data for name, data in survivors.items() if data is not None}}
        self._files = {name: _File(bytearray(data), data) for name, data in left.items()}
        self._gone.clear()

    def flush(self, path: str, fh: Any) -> int:
        """Closing syncs nothing."""
        return 0

    def release(self, path: str, fh: Any) -> int:
        """Closing syncs nothing."""
        return 0

    def chmod(self, path: str, mode: int) -> int:
        """Do nothing: all users may do everything."""
        return 0

    def chown(self, path: str, uid: int, gid: int) -> int:
        """Do nothing: files have no owner here."""
        return 0

    def utimens(self, path: str, times: Any = None) -> int:
        """Do nothing: files have no times here."""
        return 0


def _survived(file: _File, chance: random.Random | None) -> bytes | None:
    """Return the rest of a file: the safe bytes, with sectors written since then by chance."""
    if chance is None or bytes(file.now) == file.safe:
        return file.safe
    if file.safe is None and chance.random() < 0.5:
        return None
    old = file.safe or b""
    length = len(file.now) if chance.random() < 0.5 else len(old)
    out = bytearray(old[:length]) + bytes(max(0, length - len(old)))
    # A disk writes sectors in any order, so each survives or not by itself.
    for at in range(0, length, SECTOR):
        if chance.random() < 0.5:
            part = bytes(file.now[at : min(at + SECTOR, length)])
            out[at : at + len(part)] = part
    return bytes(out)


def main() -> None:
    """Serve until the mount point is unmounted."""
    # Without timeouts the kernel caches no names and attributes, so that a cut shows at once.
    fuse.FUSE(Forgetful(), sys.argv[1], foreground=True, nothreads=True, attr_timeout=0, entry_timeout=0)


if __name__ == "__main__":
    main()
