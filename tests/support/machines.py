"""Machines for the doctor: a root folder, programs with scripted answers, fakes for modules."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from referee.errors import UserError
from referee.settings.model import CameraSettings, EyeSettings
from referee.setup.doctor.probe import Machine
from referee.setup.eye_speed import EyeSpeed

GIGABYTE = 1_000_000_000


class FakeChip:
    """A GPIO chip as gpiod shows it."""

    def __init__(self, label: str, held: Mapping[int, str]) -> None:
        self._label, self._held = label, held

    def __enter__(self) -> FakeChip:
        return self

    def __exit__(self, *_: object) -> None: ...

    def get_info(self) -> Any:
        """Return the label."""
        return SimpleNamespace(label=self._label)

    def get_line_info(self, pin: int) -> Any:
        """Return the holder of a line."""
        return SimpleNamespace(used=pin in self._held, consumer=self._held.get(pin, ""))


def disk(free: int, *, read_only: bool = False) -> os.statvfs_result:
    """Return a disk with this many bytes free."""
    return os.statvfs_result((1, 1, free, free, free, 0, 0, 0, os.ST_RDONLY if read_only else 0, 255))


class Rig:
    """A machine that is put together in a test."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.answers: dict[str, str] = {}
        self.modules: dict[str, Any] = {}
        self.room = disk(8 * GIGABYTE)
        self.locked: set[str] = set()
        self.look_ms: float | None = 5.0
        self.chips: dict[str, FakeChip] = {}
        self.modules["gpiod"] = SimpleNamespace(Chip=lambda path: self.chips[Path(path).name])

    @property
    def machine(self) -> Machine:
        """Return the machine."""
        return Machine(
            self.root, self._run, self._bring, lambda _path: self.room, lambda p: p.name not in self.locked,
            self._eye_speed,
        )  # fmt: skip

    def file(self, place: str, text: str = "") -> None:
        """Put a file there."""
        path = self.root / place.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def chip(self, name: str, label: str, held: Mapping[int, str] | None = None) -> None:
        """Add a GPIO chip with a label, some of whose lines are held."""
        self.file(f"/dev/{name}")
        self.chips[name] = FakeChip(label, held or {})

    def webcam(self, number: int, name: str, index: int = 0) -> None:
        """Add a device of Video4Linux."""
        self.file(f"/dev/video{number}")
        self.file(f"/sys/class/video4linux/video{number}/name", f"{name}\n")
        self.file(f"/sys/class/video4linux/video{number}/index", f"{index}\n")

    def holds(self, process: int, name: str, device: str, program: str = "/usr/bin/python3") -> None:
        """Add a program that has a device open."""
        self.file(f"/proc/{process}/comm", f"{name}\n")
        self.file(f"/proc/{process}/cmdline", f"{program}\0-c\0")
        folder = self.root / "proc" / str(process) / "fd"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "7").symlink_to(device)

    def _eye_speed(self, camera: CameraSettings, eye: EyeSettings) -> EyeSpeed:
        if self.look_ms is None:
            raise UserError("the eye cannot see")
        return EyeSpeed((camera.width, camera.height), camera.fps, eye.threads or 1, self.look_ms, 1.0)

    def _run(self, command: Sequence[str]) -> str | None:
        return self.answers.get(command[0])

    def _bring(self, name: str) -> Any:
        made = self.modules.get(name, ModuleNotFoundError(f"No module named {name!r}", name=name))
        if isinstance(made, Exception):
            raise made
        return made
