"""The forgetful filesystem, mounted for the length of a ``with``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.powercut.forgetful import BACK, CHANGES, CLEAR, CUT_AT, REFUSE, SLOW, VICTIM
from tests.support.patience import PATIENCE


class NoFuse(RuntimeError):  # noqa: N818 - it names a state of the machine
    """No filesystem of ours can be mounted here; the message says why."""


class Power:
    """The switch of a mounted forgetful filesystem."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def clear(self) -> None:
        """Empty the folder and switch the power on."""
        os.setxattr(self.folder, CLEAR, b"1")

    def cut_at(self, change: int, victim: int = 0) -> None:
        """Fail the power after a number of changes (0: at once), also that of this process."""
        os.setxattr(self.folder, VICTIM, str(victim).encode())
        os.setxattr(self.folder, CUT_AT, str(change).encode())

    def back(self, seed: int | None = None) -> None:
        """Restore the power; with a seed some of the unsynced data has survived."""
        os.setxattr(self.folder, BACK, b"" if seed is None else str(seed).encode())

    def refuse(self, error: int) -> None:
        """Refuse every change from now on, with this error (`errno`); 0: as before."""
        os.setxattr(self.folder, REFUSE, str(error).encode())

    def slow(self, seconds: float) -> None:
        """Delay each sync from now on."""
        os.setxattr(self.folder, SLOW, str(seconds).encode())

    def changes(self) -> tuple[int, str]:
        """Return the number of changes since the cut was set up, and the last one."""
        count, _, last = os.getxattr(self.folder, CHANGES).decode().partition(" ")
        return int(count), last


@contextmanager
def mounted(folder: Path) -> Iterator[Power]:
    """Mount on an empty folder.

    Raises:
        NoFuse: this machine cannot.
    """
    if not Path("/dev/fuse").exists():
        raise NoFuse("the kernel has no /dev/fuse")
    try:
        import mfusepy  # noqa: F401
    except (ImportError, OSError) as error:
        raise NoFuse(f"mfusepy cannot be loaded ({error}); apt install libfuse3-3") from None
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.powercut.forgetful", str(folder)], stderr=subprocess.PIPE, text=True
    )
    try:
        _wait(server, folder)
        yield Power(folder)
    finally:
        unmount = shutil.which("fusermount3") or shutil.which("fusermount")
        subprocess.run([unmount, "-uz", folder] if unmount else ["umount", "-l", folder], check=False)
        server.terminate()
        server.wait(PATIENCE)


def _wait(server: subprocess.Popen[str], folder: Path) -> None:
    until = time.monotonic() + PATIENCE
    while not os.path.ismount(folder):
        if server.poll() is not None or time.monotonic() > until:
            server.kill()
            said = server.communicate()[1].strip().splitlines()
            raise NoFuse(said[-1] if said else "the mount did not come up")
        time.sleep(0.01)
