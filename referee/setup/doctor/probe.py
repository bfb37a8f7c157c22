"""What the doctor looks at the machine through: files under a root, programs that are run, modules that are imported.

Every look takes one, so that a test can hand it another machine.

The doctor on what the simulated table needs too: Python, libraries, the three package names, the eye's weights.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import metadata
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


OUR_PACKAGES: Final = ("referee", "hardware", "models")
LIBRARIES: Final = {
    "numpy": "numpy", "cv2": "opencv-python", "onnxruntime": "onnxruntime", "gpiozero": "gpiozero",
    "PIL": "pillow", "rich": "rich", "tomlkit": "tomlkit",
}  # fmt: skip
SYSTEM_LIBRARIES: Final = {"cv2": "sudo apt install libgl1 libglib2.0-0"}


def software() -> Iterator[Finding]:
    """Every part."""
    # Whatever is older cannot even read these files.
    yield Finding("Python", "fine", ".".join(str(part) for part in sys.version_info[:3]), needed=True)
    app = Path(__file__).resolve().parents[3]
    for name in OUR_PACKAGES:
        yield ours_alone(name, app)
    for name, distribution in LIBRARIES.items():
        yield library(name, distribution)
    yield _weights()


def _version(module: Any, distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return str(getattr(module, "__version__", "here"))


def library(name: str, distribution: str) -> Finding:
    """How one Python library stands: it is imported to know."""
    mend = f"make install   (or: pip install {distribution})"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError:
        return Finding(distribution, "missing", f"the module {name} is not installed", mend, needed=True)
    except (ImportError, OSError, AttributeError) as bad:
        return Finding(distribution, "broken", short(bad), SYSTEM_LIBRARIES.get(name, mend), needed=True)
    return Finding(distribution, "fine", _version(module, distribution), needed=True)


def ours_alone(name: str, app: Path) -> Finding:
    """Whether the package that answers to one of our general names is ours.

    Args:
        name: one of `OUR_PACKAGES`.
        app: the folder in which our packages lie side by side.
    """
    part = f"package name {name}"
    mend = "use an environment of its own: make install"
    try:
        module = importlib.import_module(name)
    except ImportError as bad:
        return Finding(part, "broken", short(bad), mend, needed=True)
    where = [Path(place).resolve() for place in module.__path__]
    if where != [(app / name).resolve()]:
        return Finding(part, "broken", f"answered by {where[0] if where else 'nothing'}", mend, needed=True)
    owners = sorted({owner for owner in metadata.packages_distributions().get(name, ()) if owner != "table-referee"})
    if owners:
        return Finding(
            part, "broken", f"also brought by {', '.join(owners)}", f"pip uninstall {owners[0]}", needed=True
        )
    return Finding(part, "fine", "ours alone", needed=True)


def _weights() -> Finding:
    mend = "fetch the whole repository again (git checkout models/weights), or: make train"
    try:
        models = importlib.import_module("models")
    except ImportError as bad:
        return Finding("weights of the eye", "broken", short(bad), mend, needed=True)
    files = sorted((Path(models.__path__[0]) / "weights").glob("*.onnx"))
    if not files:
        return Finding("weights of the eye", "missing", "no .onnx file in models/weights", mend, needed=True)
    size = sum(file.stat().st_size for file in files) / 1e6
    try:
        from models.eye.eye import Eye

        Eye.load()
    except (ImportError, OSError, RuntimeError, ValueError) as bad:
        return Finding("weights of the eye", "broken", short(bad), mend, needed=True)
    return Finding("weights of the eye", "fine", f"{len(files)} files, {size:.1f} MB", needed=True)
