"""The eye's cost on a Raspberry Pi in instructions: `make instructions`.

The watcher sees the simulated table as arm64 code with the arm64 wheels of the product, and QEMU counts the program's
instructions. A count depends on no machine and no load; a time is an estimate, the count over a rate. What a kernel
does for the program is not counted.

Exit status 77: a requirement cannot be had on this machine (the last line names it).
"""

from __future__ import annotations

import argparse
import json
import math
import mmap
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from hardware.ports import Frame
from tools.pi.setup import (
    CANNOT,
    FOLDER,
    PYTHON,
    ROOT,
    SUITES,
    Archive,
    CannotSetUpError,
    debian_archive,
    run,
    set_up,
    unpack,
)  # fmt: skip

PLUGIN: Final = Path(__file__).with_suffix(".c")
SUITE: Final = SUITES["3.11"]
"""The suite of Debian whose user-mode QEMU takes plugins: the newer one's is linked statically."""
COUNTER: Final = "INSTRUCTIONS"
"""Environment variable with the file of the count."""
_PROCESSOR: Final = """processor : 0
Features : fp asimd evtstrm crc32 cpuid
CPU implementer : 0x41
CPU architecture: 8
CPU variant : 0x0
CPU part : 0xd08
CPU revision : 3
"""
"""A Cortex-A72 as Linux describes it: a library must not take this machine's description for its own."""


@dataclass(frozen=True, slots=True)
class Board:
    """A Raspberry Pi."""

    rate: float
    """Assumed thousand millions of instructions a second, on one thread."""
    wanted: float
    """Cards a second."""


BOARDS: Final = {"Pi 4": Board(1.2, 3.5), "Pi 5": Board(3.8, 8.0)}
"""The rates are those of NCNN's own benchmark: the instructions of MobileNetV2 and SqueezeNet, counted, over the times
that it publishes.
"""
SHAPES: Final = {"finder": (1, 256, 256), "reader": (4, 64, 48), "card": (1, 88, 64)}
"""Number, height and width of the pictures of a usual look at a pile, by network."""
THREADS: Final = 2
SPEED_UP: Final = 1.57
"""Of the eye's networks by that many threads: that of ResNet-18 in the same benchmark, on another Cortex-A72."""


@dataclass(slots=True)
class RecordedNetwork:
    """A network of the eye that keeps what it answers."""

    network: Any
    answers: list[tuple[Any, Any]] = field(default_factory=list)
    """Shape of the pictures and output, of each call since the last frame."""

    def __call__(self, batch: Any) -> Any:
        """See `models.eye.networks.Network`."""
        out = self.network(batch)
        self.answers.append((batch.shape, out))
        return out


def record(folder: Path, frames: int, fps: float, size: tuple[int, int]) -> None:
    """Watch the game on this machine's processor; keep the frames and what the eye's networks answer."""
    from models.eye.eye import Eye
    from tools.measure.pace import parts_of, rendered, table_of, watched

    eye, table = Eye.load(), table_of(fps, size)
    networks = {name: RecordedNetwork(part._network) for name, part in parts_of(eye).items()}
    for name, part in parts_of(eye).items():
        part._network = networks[name]
    kept: list[Any] = []

    def keep() -> Iterator[Frame]:
        for number, frame in enumerate(rendered(table, frames)):
            np.save(folder / f"{number}.npy", frame.image)
            yield frame
            kept.append(
                (replace(frame, image=frame.image[:0]), {name: network.answers for name, network in networks.items()})
            )
            for network in networks.values():
                network.answers = []

    watched(keep(), table.seat_bearings, eye)
    (folder / "game").write_bytes(pickle.dumps((table.seat_bearings, kept)))


class InstructionClock:
    """A clock whose seconds are thousand millions of instructions of this program, and of what is charged to it."""

    def __init__(self) -> None:
        with Path(os.environ[COUNTER]).open("rb") as file:
            self._count = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)).cast("Q")
        self.charged = 0.0

    def __call__(self) -> float:
        """Return the instant."""
        return self._count[0] / 1e9 + self.charged


@dataclass(slots=True)
class ReplayedNetwork:
    """A network of the eye that gives the answers of a record at its own cost by pixel.

    Emulated arithmetic is slow, and what a network costs depends on the number of pixels alone.
    """

    network: Any
    clock: InstructionClock
    shape: tuple[int, int, int]
    """Number, height and width of the pictures from which the cost is taken."""
    each: float = 0.0
    """Cost of a pixel."""
    answers: list[tuple[Any, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        begin = self.clock()
        self.network(np.zeros((*self.shape, 3), np.uint8))
        self.each = (self.clock() - begin) / math.prod(self.shape)

    def __call__(self, batch: Any) -> Any:
        """See `models.eye.networks.Network`; what the record does not have is computed."""
        if not self.answers or self.answers[0][0] != batch.shape:
            return self.network(batch)
        self.clock.charged += self.each * batch[..., 0].size
        return self.answers.pop(0)[1]


def count_frames(folder: Path) -> dict[str, Any]:
    """Return the instructions, millions, of each recorded frame by kind, of its networks, and of each card; in QEMU."""
    import cv2

    from models.eye.eye import Eye
    from tools.measure.pace import parts_of, watched

    cv2.setNumThreads(1)
    bearings, kept = pickle.loads((folder / "game").read_bytes())
    clock, eye = InstructionClock(), Eye.load()
    networks = {name: ReplayedNetwork(part._network, clock, SHAPES[name]) for name, part in parts_of(eye).items()}
    for name, part in parts_of(eye).items():
        part._network = networks[name]

    def replayed() -> Iterator[Frame]:
        for number, (frame, answers) in enumerate(kept):
            for name, network in networks.items():
                network.answers = answers[name]
            yield replace(frame, image=np.load(folder / f"{number}.npy"))

    paces, cards = watched(replayed(), bearings, eye, clock)
    kinds = {kind: {"whole": pace.whole, "networks": pace.parts["networks"]} for kind, pace in paces.items()}
    each = {name: network.each * 1e9 for name, network in networks.items()}
    return {"kinds": kinds, "cards": [1000 * card for card in cards], "each": each}


def emulated(module: str, *arguments: str) -> str:
    """Run a module as an arm64 program; return its output."""
    tree, python, product = FOLDER / "qemu-user" / "usr", FOLDER / f"python{PYTHON}", FOLDER / "product"
    with tempfile.TemporaryDirectory(prefix="instructions-") as name:
        prefix = Path(name, "root")
        _lay_out(prefix, python)
        guest = {
            COUNTER: f"{name}/count", "HOME": name, "PATH": "/usr/bin", "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": f"{ROOT}:{product / 'opt' / 'site'}", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
            "LD_LIBRARY_PATH": str(product / "usr" / "lib" / "aarch64-linux-gnu"),
        }  # fmt: skip
        command: list[str | Path] = [
            tree / "lib64" / "ld-linux-x86-64.so.2", "--library-path", tree / "lib" / "x86_64-linux-gnu",
            tree / "bin" / "qemu-aarch64", "-cpu", "cortex-a72", "-plugin", FOLDER / "instructions.so", "-L", prefix,
            *(word for key, value in guest.items() for word in ("-E", f"{key}={value}")),
            python / "usr" / "bin" / f"python{PYTHON}", "-m", module, *arguments,
        ]  # fmt: skip
        where = {COUNTER: guest[COUNTER]}
        return subprocess.run(
            command, cwd=ROOT, env=where, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True
        ).stdout


def _lay_out(prefix: Path, python: Path) -> None:
    """Make the folder in which QEMU looks for the program's files before it takes this machine's."""
    processors = prefix / "sys" / "devices" / "system" / "cpu"
    for folder in (prefix / "proc", processors):
        folder.mkdir(parents=True)
    (prefix / "proc" / "cpuinfo").write_text(_PROCESSOR)
    for name in ("possible", "present", "online", "kernel_max"):
        (processors / name).write_text("0\n")
    for name in ("bin", "lib", "lib64", "sbin", "usr"):
        (prefix / name).symlink_to(python / name)


def set_up_counter() -> None:
    """Make QEMU with its plugin and the arm64 Python ready.

    Raises:
        CannotSetUpError: something cannot be had on this machine.
    """
    set_up([PYTHON], "product")
    tree, part = FOLDER / "qemu-user", FOLDER / "qemu-user.part"
    if not tree.exists():
        unpack(Archive(debian_archive(), SUITE, "amd64", "user").download("qemu-user"), part)
        part.rename(tree)
    run(["gcc", "-O2", "-Wall", "-shared", "-fPIC", "-o", FOLDER / "instructions.so", PLUGIN])


def report(counted: Mapping[str, Any], fps: float, size: tuple[int, int]) -> str:
    """Return the counts as a Markdown table, with the estimated times and cards a second."""
    from referee.setup.eye_speed import EyeSpeed

    out = [
        f"{size[0]} x {size[1]}, {fps:g} frames a second; times with {THREADS} threads",
        "| instructions, M, median | n | whole | the eye's networks | "
        + " | ".join(f"{name}, ms" for name in BOARDS)
        + " |",
        "| --- " * (4 + len(BOARDS)) + "|",
    ]
    ms: dict[str, dict[str, float]] = {}
    for kind, counts in counted["kinds"].items():
        whole, networks = (statistics.median(counts[part] or [0.0]) for part in ("whole", "networks"))
        ms[kind] = {name: (networks / SPEED_UP + whole - networks) / board.rate for name, board in BOARDS.items()}
        times = " | ".join(f"{time:.0f}" for time in ms[kind].values())
        out.append(f"| {kind} | {len(counts['whole'])} | {whole:.0f} | {networks:.0f} | {times} |")
    cards = counted["cards"]
    looks = len(counted["kinds"]["read"]["whole"]) / max(1, len(cards))
    out.append(
        f"{len(cards)} cards, {looks:.1f} looks each; from the first look to the report, median: "
        f"{statistics.median(cards or [0.0]):.0f} M instructions"
    )
    for name, board in BOARDS.items():
        read, moving = ms["read"][name], ms["glanced"][name]
        alone = EyeSpeed(size, fps, THREADS, read, 0.0).cards_a_second
        speed = EyeSpeed(size, fps, THREADS, read - moving, moving).cards_a_second
        word = "met" if speed >= board.wanted else "MISSED"
        out.append(
            f"{name}: {alone:.1f} cards a second by looks alone, {speed:.1f} while every frame shows movement; wanted "
            f"{board.wanted:g}: {word}"
        )
    return "\n".join(out)


def main(argv: Sequence[str] | None = None) -> int:
    """Count, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tools.measure.instructions", description=__doc__)
    parser.add_argument("--frames", type=int, default=200)
    parser.add_argument("--fps", type=float, default=25.0)
    parser.add_argument("--size", type=int, nargs=2, default=(1536, 864), metavar=("WIDTH", "HEIGHT"))
    parser.add_argument("--record", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    size = (args.size[0], args.size[1])
    if COUNTER in os.environ:
        print(json.dumps(count_frames(args.record)))
        return 0
    try:
        set_up_counter()
    except CannotSetUpError as error:
        print(f"instructions: cannot be had here: {error}")
        return CANNOT
    with tempfile.TemporaryDirectory(prefix="instructions-") as folder:
        record(Path(folder), args.frames, args.fps, size)
        counted = json.loads(emulated("tools.measure.instructions", "--record", folder))
    print(report(counted, args.fps, size))
    return 0


if __name__ == "__main__":
    sys.exit(main())
