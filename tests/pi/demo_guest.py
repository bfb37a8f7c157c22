"""On the board, without root's rights: `referee doctor`, `run` and `demo`, while contacts close and open.

The person at this table is a program: it slaps when the roll-call asks, and plays the second plan of contacts in time
with the camera's pictures. The table is `/table`, laid out by `tests.pi.demo`.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import gpiod
from gpiod.line import Direction, Value

from tools.pi.board import GO_PIN

TABLE: Final = Path("/table")
FRAMES: Final = TABLE / "frames"
ORDERS: Final = TABLE / "orders.json"
SETTINGS: Final = TABLE / "table.toml"
STATUS, LOG = "PI STATUS ", "PI LOG "
"""Marks of lines for the judge: a command and its exit status, a line of the game's log."""
ASKED: Final = "slap your pad"
ENDED: Final = "the camera's pictures have ended"
_USER, _GPIO = 1000, 997
_CHIP: Final = "/dev/gpiochip0"
_OPENED: Final = 0x20
"""inotify's IN_OPEN."""
_LATE: Final = 2.0
"""Seconds for the last words after the camera's pictures have ended."""


def main() -> int:
    """Run the commands that were ordered; the judge decides whether they ran well."""
    orders = json.loads(ORDERS.read_text())
    _become_user()
    if "doctor" in orders["commands"]:
        _run("doctor", "--settings", str(SETTINGS))
    if "run" in orders["commands"]:
        _play(Path.home() / "game.jsonl", orders)
    if "demo" in orders["commands"]:
        _run("demo", "--no-pace", "--no-page", *orders["demo"])
    return 0


def _play(log: Path, orders: dict[str, Any]) -> None:
    """Referee the game, and print its log."""
    with gpiod.request_lines(
        _CHIP, consumer="signal", config={GO_PIN: gpiod.LineSettings(direction=Direction.OUTPUT)}
    ) as line:

        def signal_board() -> None:
            line.set_value(GO_PIN, Value.ACTIVE)
            line.set_value(GO_PIN, Value.INACTIVE)

        _referee(log, signal_board, orders)
    for told in log.read_text().splitlines():
        if '"tick"' not in told:
            print(LOG + told, flush=True)


def _become_user() -> None:
    """Give up root's rights, after giving the pins to the group that has them on Raspberry Pi OS."""
    os.chown(_CHIP, 0, _GPIO)
    Path(_CHIP).chmod(0o660)
    for folder in ("/tmp", "/dev/shm"):
        Path(folder).chmod(0o1777)
    home = Path("/home/player")
    home.mkdir(parents=True)
    os.chown(home, _USER, _USER)
    os.setgroups([_GPIO])
    os.setgid(_USER)
    os.setuid(_USER)
    os.chdir(home)
    os.environ |= {"HOME": str(home), "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1"}


def _start(*words: str) -> subprocess.Popen[str]:
    print(f"$ referee {' '.join(words)}", flush=True)
    return subprocess.Popen(
        [sys.executable, "-m", "referee", *words],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def _run(*words: str) -> None:
    process = _start(*words)
    assert process.stdout is not None
    for line in process.stdout:
        print(line, end="", flush=True)
    print(f"{STATUS}{words[0]} {process.wait()}", flush=True)


def _referee(log: Path, signal_board: Callable[[], None], orders: dict[str, Any]) -> None:
    """Referee the recorded game, and end it as Ctrl-C does when its pictures are over."""
    pictures = threading.Thread(target=_play_with_pictures, args=(signal_board, orders), daemon=True)
    pictures.start()
    process = _start("run", "--settings", str(SETTINGS), "--log", str(log))
    assert process.stdout is not None
    asked = False
    for line in process.stdout:
        print(line, end="", flush=True)
        if ASKED in line and not asked:
            asked = True
            signal_board()
        if ENDED in line:
            threading.Timer(_LATE, process.send_signal, [signal.SIGINT]).start()
    print(f"{STATUS}run {process.wait()}", flush=True)


def _play_with_pictures(signal_board: Callable[[], None], orders: dict[str, Any]) -> None:
    """Begin the second plan so long after the first picture as was ordered.

    A recording's second picture is opened when the first one's time is over.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_CLOEXEC)
    second = sorted(FRAMES.glob("*.jpg"))[1]
    libc.inotify_add_watch(watch, os.fsencode(second), _OPENED)
    os.read(watch, 4096)
    first = time.monotonic_ns() - orders["frame"]
    time.sleep(max(0, first + orders["begin"] - time.monotonic_ns()) / 1e9)
    signal_board()


if __name__ == "__main__":
    sys.exit(main())
