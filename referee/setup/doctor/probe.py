"""What the doctor looks at the machine through: files under a root, programs that are run, modules that are imported.

Every look takes one, so that a test can hand it another machine.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

State = Literal["fine", "missing", "broken"]
OURS: Final = "referee"
APPLIANCE: Final = "/opt/table-referee"
PATIENCE: Final = 5.0
"""How long a program that is asked may take, s."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One part: how it stands, in words, and what to do where it is not fine."""

    part: str
    state: State
    words: str
    mend: str = ""
    needed: bool = False
    group: str = ""


@dataclass(frozen=True, slots=True)
class Space:
    """Room on a disk."""

    free: int
    """Bytes that a user may still write."""
    read_only: bool


def run_program(command: Sequence[str]) -> str | None:
    """What a program prints, whatever its exit status; None where there is no such program, or it hangs."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False, errors="replace")
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout


def readable(path: Path) -> bool:
    """Whether this user may read and write a file."""
    return os.access(path, os.R_OK | os.W_OK)


def disk_space(path: Path) -> Space:
    """Room on the disk that holds a path; raises OSError."""
    told = os.statvfs(path)
    return Space(told.f_bavail * told.f_frsize, bool(told.f_flag & os.ST_RDONLY))


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine as the doctor sees it."""

    root: Path = Path("/")
    run: Callable[[Sequence[str]], str | None] = run_program
    bring: Callable[[str], Any] = field(default=importlib.import_module)
    space: Callable[[Path], Space] = disk_space
    access: Callable[[Path], bool] = readable

    def at(self, place: str) -> Path:
        """A file of this machine, by its absolute place."""
        return self.root / place.lstrip("/")

    def read(self, place: str) -> str:
        """A small file's text, blanks off; empty where it cannot be read."""
        try:
            return self.at(place).read_text(encoding="utf-8", errors="replace").strip("\0 \n")
        except OSError:
            return ""

    def devices(self, pattern: str) -> list[str]:
        """Devices by their places, such as ``/dev/gpiochip0``, in the order of their numbers."""
        found = sorted(self.at("/dev").glob(pattern), key=lambda path: (len(path.name), path.name))
        return [f"/dev/{path.name}" for path in found]

    def may_open(self, place: str) -> bool:
        """Whether this user may read and write a device."""
        return self.access(self.at(place))

    @property
    def is_pi(self) -> bool:
        """Whether this is a Raspberry Pi."""
        return "Raspberry Pi" in self.read("/proc/device-tree/model")

    def holders(self, device: str) -> list[str]:
        """Other programs that hold a device open, as ``name (process 123)``; those of other users may stay unseen.

        The referee's own processes are all called `OURS`.
        """
        found = []
        for folder in self.at("/proc").glob("[0-9]*"):
            if folder.name != str(os.getpid()) and _holds(folder, device):
                name = self.read(f"/proc/{folder.name}/comm") or "a program"
                # The camera's process is a bare Python of our environment.
                own = self.read(f"/proc/{folder.name}/cmdline").startswith((f"{sys.prefix}/", f"{APPLIANCE}/"))
                found.append(f"{OURS if own else name} (process {folder.name})")
        return sorted(found)


def _holds(process: Path, device: str) -> bool:
    try:
        return any(str(link.readlink()) == device for link in (process / "fd").iterdir())
    except OSError:
        # Gone meanwhile, or another user's.
        return False


def short(bad: BaseException) -> str:
    """An exception's text in a line of bearable length."""
    text = " ".join(str(bad).split())
    return text[:140] or type(bad).__name__


USER_TO_GROUP: Final = "sudo usermod -aG {group} $USER, then log in again"


def join_group(group: str) -> str:
    """The command that gives a user a group's devices."""
    return USER_TO_GROUP.format(group=group)
