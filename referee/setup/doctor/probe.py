"""The doctor's view of a machine, and its findings: files under a root, programs run, modules imported.

Every check takes a `Machine`, so that a test can substitute another. This module checks the needs of the simulated
table: Python, its libraries, the three names of our packages, the eye's weights.
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from referee.settings.model import CameraSettings, EyeSettings
    from referee.setup.eye_speed import EyeSpeed

from referee.sentence import Sentence
from referee.settings.places import install_command
from referee.setup.check import Check

OURS: Final = "referee"
"""Name given here to the referee's own processes."""
_APPLIANCE: Final = "/opt/table-referee"
SERVICE: Final = "table-referee"
UNIT: Final = f"/etc/systemd/system/{SERVICE}.service"
_PATIENCE: Final = 5.0
"""Time limit for a program, s."""
_LIBRARIES: Final = {
    "numpy": "numpy", "cv2": "opencv-python", "ncnn": "ncnn", "gpiozero": "gpiozero",
    "PIL": "pillow", "rich": "rich", "tomlkit": "tomlkit",
}  # fmt: skip
_SYSTEM_LIBRARIES: Final = {"cv2": "sudo apt install libgl1 libglib2.0-0"}


def run_program(command: Sequence[str]) -> str | None:
    """Return a program's output, regardless of its exit status; `None`: there is no such program, or it hangs."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=False, errors="replace")
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout


def measure_eye_speed(camera: CameraSettings, eye: EyeSettings) -> EyeSpeed:
    """Measure the speed of the eye; raises `UserError` if it cannot be loaded, and `ImportError`."""
    from referee.setup.eye_speed import eye_speed

    return eye_speed(camera, eye)


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine as the doctor sees it."""

    root: Path = Path("/")
    run: Callable[[Sequence[str]], str | None] = run_program
    bring: Callable[[str], Any] = field(default=importlib.import_module)
    statvfs: Callable[[Path], os.statvfs_result] = os.statvfs
    access: Callable[[Path], bool] = field(default=lambda path: os.access(path, os.R_OK | os.W_OK))
    eye_speed: Callable[[CameraSettings, EyeSettings], EyeSpeed] = measure_eye_speed
    user: str = ""
    """The service's user, as whom devices are checked; empty: the user who asks."""

    def at(self, place: str) -> Path:
        """Return a file of this machine, by its absolute path."""
        return self.root / place.lstrip("/")

    def read(self, place: str) -> str:
        """Return the stripped text of a small file; empty if it cannot be read."""
        try:
            return self.at(place).read_text(encoding="utf-8", errors="replace").strip("\0 \n")
        except OSError:
            return ""

    def devices(self, pattern: str) -> list[str]:
        """Return the paths of devices, such as ``/dev/gpiochip0``, ordered by number."""
        found = sorted(self.at("/dev").glob(pattern), key=lambda path: (len(path.name), path.name))
        return [f"/{path.relative_to(self.root)}" for path in found]

    def may_open(self, place: str) -> bool:
        """Return whether the user may read and write a device."""
        return self.access(self.at(place))

    def join_group(self, group: str) -> str:
        """Return the command that gives the user a group's devices."""
        if self.user:
            return Sentence(
                "sudo usermod -aG {group} {user}, then sudo systemctl restart {user}", group=group, user=self.user
            )
        return Sentence("sudo usermod -aG {group} $USER, then log in again", group=group)

    def holders(self, device: str) -> list[str]:
        """Return other programs that hold a device open, as ``name (process 123)``; other users' may be invisible.

        The referee's own processes are all called `OURS`.
        """
        found = []
        for folder in self.at("/proc").glob("[0-9]*"):
            try:
                holds = any(str(link.readlink()) == device for link in (folder / "fd").iterdir())
            except OSError:
                # It has ended, or belongs to another user.
                continue
            if holds and folder.name != str(os.getpid()):
                name = self.read(f"/proc/{folder.name}/comm") or "a program"
                # The camera's process is a plain Python interpreter of our environment.
                own = self.read(f"/proc/{folder.name}/cmdline").startswith((f"{sys.prefix}/", f"{_APPLIANCE}/"))
                found.append(f"{OURS if own else name} (process {folder.name})")
        return sorted(found)


def one_line(bad: BaseException) -> str:
    """Return an exception's text as one short line."""
    return " ".join(str(bad).split())[:140] or type(bad).__name__


def this_machine() -> Machine:
    """Return this machine: as the service's user sees it, where root asks and the service is installed.

    Root may open every device, which says nothing about the service.
    """
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return Machine()
    import grp
    import pwd

    try:
        unit = Path(UNIT).read_text(encoding="utf-8")
        user = pwd.getpwnam(SERVICE)
    except (OSError, KeyError):
        return Machine()
    groups = {*os.getgrouplist(SERVICE, user.pw_gid)}
    for name in supplementary_groups(unit):
        with suppress(KeyError):
            groups.add(grp.getgrnam(name).gr_gid)
    return Machine(access=lambda path: is_allowed(path, user.pw_uid, groups), user=SERVICE)


def supplementary_groups(unit: str) -> list[str]:
    """Return the groups that a unit gives its program besides those of its user."""
    return " ".join(re.findall(r"^SupplementaryGroups=(.*)$", unit, flags=re.MULTILINE)).split()


def is_allowed(path: Path, user: int, groups: Collection[int]) -> bool:
    """Return whether a device's mode lets a user, or a member of groups, read and write it; by their numbers."""
    try:
        found = path.stat()
    except OSError:
        return False
    if found.st_uid == user:
        granted = found.st_mode >> 6
    else:
        granted = found.st_mode >> 3 if found.st_gid in groups else found.st_mode
    return granted & 6 == 6


def pip_install(name: str) -> str:
    """Return the command that installs a Python library."""
    if install_command() == "make install":
        return Sentence("make install   (or: pip install {name})", name=name)
    return f"{sys.executable} -m pip install {name}"


# Software


def check_software() -> Iterator[Check]:
    """Check every part that even the simulated table needs."""
    # An older Python cannot even parse these files.
    yield Check("Python", "fine", ".".join(str(part) for part in sys.version_info[:3]), needed=True)
    root = Path(__file__).resolve().parents[3]
    for name in ("referee", "hardware", "models"):
        yield check_package(name, root)
    for name, distribution in _LIBRARIES.items():
        yield check_library(name, distribution)
    yield _check_weights()


def check_library(name: str, distribution: str) -> Check:
    """Check one Python library by importing it."""
    mend = pip_install(distribution)
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError:
        return Check(
            distribution, "missing", Sentence("the module {name} is not installed", name=name), mend, needed=True
        )
    except (ImportError, OSError, AttributeError) as error:
        return Check(distribution, "broken", one_line(error), _SYSTEM_LIBRARIES.get(name, mend), needed=True)
    try:
        version = metadata.version(distribution)
    except metadata.PackageNotFoundError:
        version = str(getattr(module, "__version__", "here"))
    return Check(distribution, "fine", version, needed=True)


def check_package(name: str, root: Path) -> Check:
    """Check that the package with one of our general names is ours.

    Args:
        name: ``referee``, ``hardware`` or ``models``.
        root: the folder that contains our packages side by side.
    """
    part = Sentence("package name {name}", name=name)
    mend = Sentence("use an environment of its own: make install")
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        return Check(part, "broken", one_line(error), mend, needed=True)
    where = [Path(place).resolve() for place in module.__path__]
    if where != [(root / name).resolve()]:
        return Check(
            part,
            "broken",
            Sentence("answered by {what}", what=where[0] if where else Sentence("nothing")),
            mend,
            needed=True,
        )
    owners = sorted({owner for owner in metadata.packages_distributions().get(name, ()) if owner != "table-referee"})
    if owners:
        words = Sentence("also brought by {names}", names=", ".join(owners))
        return Check(part, "broken", words, f"pip uninstall {owners[0]}", needed=True)
    return Check(part, "fine", Sentence("ours alone"), needed=True)


def _check_weights() -> Check:
    part = Sentence("weights of the eye")
    mend = Sentence("fetch the whole repository again (git checkout models/weights), or: make train")
    try:
        models = importlib.import_module("models")
        files = sorted((Path(models.__path__[0]) / "weights").glob("*.ncnn"))
        if not files:
            return Check(part, "missing", Sentence("no .ncnn file in models/weights"), mend, needed=True)
        size = sum(file.stat().st_size for file in files) / 1e6
        from models.eye.eye import Eye

        Eye.load()
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        return Check(part, "broken", one_line(error), mend, needed=True)
    return Check(part, "fine", Sentence("{count} files, {size} MB", count=len(files), size=f"{size:.1f}"), needed=True)
