"""Runs a Python module on an emulated Raspberry Pi while contacts on its header open and close by a plan."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.pi.cpio import Entry, folder_entries, folders, pack
from tools.pi.setup import FOLDER, ROOT, emulator

GO_PIN: Final = 7
"""BCM number of the pin by which the guest says that it is ready for the plan: an output that nothing else uses."""
END: Final = "PI END"
"""The guest's last line."""
_PANIC: Final = "System halted"
_KEPT: Final = ("tests/pi", "tools/pi")
_OPTIONS: Final = "console=ttyAMA0,115200 loglevel=3 panic=-1 isolcpus=1-3"
"""Of the kernel. QEMU lets processors take turns when it counts instructions: those that idle delay no interrupt."""
_INIT: Final = """#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mkdir -p /dev/shm
export PATH=/usr/bin HOME=/tmp PYTHONPATH=/opt/referee:/opt/site PYTHONDONTWRITEBYTECODE=1
cd /tmp
/usr/bin/python3 -m {module}
echo "{end} $?"
/bin/busybox sleep 9999
"""


class BoardError(Exception):
    """The emulated board did not come to its end."""


@dataclass(frozen=True, slots=True)
class Contact:
    """A contact that closes to ground or opens; ``t`` in ns."""

    t: int
    pin: int
    closed: bool


@dataclass(frozen=True, slots=True)
class Output:
    """A change of a pin that the guest drives; ``t`` in ns."""

    t: int
    pin: int
    level: bool


@dataclass(frozen=True, slots=True)
class Service:
    """The guest's interrupt handler acknowledges an edge, immediately before it stamps it; ``t`` in ns."""

    t: int
    pin: int


@dataclass(frozen=True, slots=True)
class Run:
    """The board's events; instants are the emulator's, ns."""

    lines: tuple[str, ...]
    """The module's output."""
    contacts: tuple[Contact, ...]
    outputs: tuple[Output, ...]
    seconds: float
    services: tuple[Service, ...] = ()


def run_on_board(
    module: str, *plans: Iterable[Contact], board: str, version: str, limit: float, files: Sequence[Entry] = (),
    archives: Sequence[Path] = (), packages: Sequence[str] = ("hardware", "referee"), speed: int = 1,
    hear: Callable[[str], None] = lambda line: None,
) -> Run:  # fmt: skip
    """Boot the board, run ``python3 -m MODULE`` there, and play contacts as soon as it drives `GO_PIN` high.

    The guest's clock counts its instructions: it does not depend on this machine's load.

    Args:
        module: a module of this repository, below one of the folders that are copied to the board.
        plans: the contacts, counted from that moment, ns; those of each further plan, from its next rise.
        board: one of `tools.pi.setup.BOARDS`.
        version: the Python.
        limit: seconds of this machine's time until it is killed.
        files: further files on the board.
        archives: further files on the board, packed by `tools.pi.cpio`.
        packages: this repository's, on the board; none where an installed product shall be found.
        speed: how long an instruction takes on the guest's clock, as a power of two of ns.
        hear: is given each line of the module's output.

    Raises:
        BoardError: it did not end in time, or the module failed.
    """
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pi-") as name:
        folder = Path(name)
        plan = folder / "plan"
        plan.write_text("-1 0 0\n".join(map(plan_text, plans)))
        init = ("init", 0o100755, _INIT.format(module=module, end=END).encode())
        initrd = folder / "initrd"
        packed = pack([init, *_code([*_KEPT, *packages]), *files])
        layers = [path.read_bytes() for path in (FOLDER / f"python{version}.cpio", *archives)]
        initrd.write_bytes(b"".join([*layers, packed]))
        command = emulator(
            "qemu-system-aarch64", "-M", board, "-kernel", FOLDER / "vmlinuz", "-dtb", FOLDER / f"{board}.dtb",
            "-initrd", initrd, "-icount", f"shift={speed},sleep=off", "-append", _OPTIONS,
            "-display", "none", "-monitor", "none", "-serial", "stdio", "-no-reboot", preload=FOLDER / "pi_gpio.so",
        )  # fmt: skip
        where = {"PI_GPIO_PLAN": str(plan), "PI_GPIO_LOG": str(folder / "log"), "PI_GPIO_GO": str(GO_PIN)}

        def is_over(lines: list[str]) -> bool:
            return any(line.startswith(END) or _PANIC in line for line in lines[-1:])

        lines = emulate(command, where, began + limit, is_over=is_over, hear=hear)
        made, driven, services = read_log((folder / "log").read_text())
    if f"{END} 0" not in lines:
        raise BoardError("the board did not come to a good end:\n" + "\n".join(lines[-30:]))
    return Run(tuple(lines), tuple(made), tuple(driven), time.monotonic() - began, tuple(services))


def plan_text(contacts: Iterable[Contact]) -> str:
    """Return a plan of contacts for the model of the pins."""
    return "".join(f"{it.t} {it.pin} {it.closed:d}\n" for it in sorted(contacts, key=lambda it: it.t))


def _code(packages: Iterable[str]) -> list[Entry]:
    entries = folders("opt", "opt/referee", "opt/referee/tests", "opt/referee/tools")
    for kept in packages:
        prefix = f"opt/referee/{kept}/"
        entries += [*folders(prefix.rstrip("/")), *folder_entries(ROOT / kept, prefix, keep=_is_code)]
    return entries


def _is_code(name: str) -> bool:
    return "__pycache__" not in name and (name.endswith(".py") or "." not in name)


def emulate(
    command: Sequence[str | Path], where: Mapping[str, str], until: float, *, is_over: Callable[[list[str]], bool],
    hear: Callable[[str], None] = lambda line: None,
) -> list[str]:  # fmt: skip
    """Run the emulator until its console's lines say that it is over, or it ends by itself; return them.

    Args:
        command: of `tools.pi.setup.emulator`.
        where: environment of the model of the pins (``pi_gpio.c``).
        until: the instant (`time.monotonic`) at which the power is cut in any case.
        is_over: is asked about the lines so far each second, and after each piece of the console; then the power is
            cut.
        hear: is called with each line of the console as it comes.
    """
    modules = {"QEMU_MODULE_DIR": str(FOLDER / "qemu/usr/lib/x86_64-linux-gnu/qemu")}
    process = subprocess.Popen(
        command, env={**os.environ, **modules, **where}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    lines: list[str] = []
    rest = bytearray()
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while not is_over(lines) and time.monotonic() < until:
                if selector.select(1.0):
                    chunk = os.read(process.stdout.fileno(), 1 << 16)
                    if not chunk:
                        break
                    # A line may be a megabyte long, and its chunks a few bytes.
                    rest += chunk
                    if b"\n" in chunk:
                        *whole, rest = rest.split(b"\n")
                        for line in whole:
                            lines.append(line.decode(errors="replace").strip("\r"))
                            hear(lines[-1])
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
    return lines


def read_log(text: str) -> tuple[list[Contact], list[Output], list[Service]]:
    """Return what happened on the pins, from the log of their model."""
    made: list[Contact] = []
    driven: list[Output] = []
    services: list[Service] = []
    # The power may have been cut within the last line.
    for line in text.splitlines(keepends=True):
        if not line.endswith("\n"):
            break
        t, kind, pin, value = line.split()
        if kind == "contact":
            made.append(Contact(int(t), int(pin), value == "1"))
        elif kind == "served":
            services.append(Service(int(t), int(pin)))
        else:
            driven.append(Output(int(t), int(pin), value == "1"))
    return made, driven, services
