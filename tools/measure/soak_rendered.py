"""Whole rendered games for the soak: each a table (`tools.measure.soak_table`) whose processes are watched."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from statistics import median
from typing import Any, Final, Protocol

from tests.web.viewers import ROOT, Viewers
from tools.measure.soak_day import Check, flat
from tools.measure.soak_memory import children, held, rise

SEEDS: Final = (72, 81, 74, 75)
"""Of games of four that come to an end: 299, 357, 355 and 313 cards in four minutes each."""
EVERY: Final = 1.0
"""Seconds from one look at the processes to the next."""
VIEWERS: Final = 3


class Asked(Protocol):
    """Whether the end was requested."""

    asked: bool


@dataclass(frozen=True)
class Played:
    """One game."""

    seed: int
    summary: dict[str, Any]
    memory: dict[str, list[int]]
    """By process, every second while cards fell."""
    seconds: float

    def checks(self) -> list[Check]:
        """Return its lines of the table."""
        said, cards = self.summary, self.summary["cards"]
        whole = f"{cards['right']} of {cards['laid']} cards right, {said['rulings']['equal']} rulings as the truth's"
        missed = "; ".join(said["missed_targets"])
        name = f"rendered game {self.seed}"
        found = {process: rise(samples) for process, samples in self.memory.items()}
        out: list[Check] = [
            (f"{name}: played to its end", "yes", "yes" if said["finished"] else "no", bool(said["finished"])),
            (f"{name}: refereed as it was", "its targets", missed or whole, not missed),
        ]
        for process in ("referee", "looking", "page"):
            samples, more = self.memory.get(process, []), found.get(process)
            last = f"{median(samples[-60:]) / 1e6:.0f} MB in its last minute" if samples else "never seen"
            out.append(
                flat(f"{name}: memory of {process} rises", f"{more:+.1%}, {last}" if more is not None else last, more)
            )
        return out


def _of(pid: int) -> dict[str, int]:
    """Return the referee's processes: itself, the one that looks, the page's."""
    found = {"referee": pid}
    for child, command in children(pid).items():
        if "spawn_main" in command:
            found["looking"] = child
        elif " page " in command:
            found["page"] = child
    return found


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def answers(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def serves(port: int) -> bool:
    """Whether the page itself answers; the referee holds its listening socket, so a connection alone proves nothing."""
    asked = HTTPConnection("127.0.0.1", port, timeout=2.0)
    try:
        asked.request("GET", "/")
        return asked.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        asked.close()


def _watch(process: subprocess.Popen[bytes], port: int, tell: str) -> dict[str, list[int]]:
    """Note each process's memory, every second that all three are there and viewers have been let in."""
    memory: dict[str, list[int]] = {}
    viewers: Viewers | None = None
    began = told = time.monotonic()
    try:
        while process.poll() is None:
            time.sleep(EVERY)
            if viewers is None:
                viewers = Viewers(port, VIEWERS) if answers(port) else None
                continue
            try:
                now = {name: held(pid) for name, pid in _of(process.pid).items()}
            except (OSError, ProcessLookupError):
                continue
            if len(now) == 3:
                for name, size in now.items():
                    memory.setdefault(name, []).append(size)
            if time.monotonic() - told > 30:
                told = time.monotonic()
                sizes = ", ".join(f"{name} {size / 1e6:.0f} MB" for name, size in now.items())
                print(f"{tell}, {told - began:.0f} s: {sizes}", file=sys.stderr, flush=True)
    finally:
        if viewers is not None:
            viewers.close()
    return memory


def _play(folder: Path, seed: int, cards: int, tell: str, stopped: Asked) -> Played | None:
    """Play one game; None where the end was requested meanwhile."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    port, began = free_port(), time.monotonic()
    command = [sys.executable, "-m", "tools.measure.soak_table", "--seed", str(seed), "--cards", str(cards)]
    with (folder / "said.txt").open("wb") as said:
        process = subprocess.Popen(
            [*command, "--folder", str(folder), "--port", str(port)], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=said,
            stderr=said, env={**os.environ, "XDG_RUNTIME_DIR": str(folder), "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        try:
            memory = _watch(process, port, tell)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    if stopped.asked:
        return None
    if process.returncode:
        raise RuntimeError(f"the rendered game failed: {(folder / 'said.txt').read_text()[-2000:]}")
    return Played(seed, json.loads((folder / "summary.json").read_text()), memory, time.monotonic() - began)


def rendered(folder: Path, games: int, cards: int, stopped: Asked) -> list[Played]:
    """Return a number of games with a maximum of cards, including earlier ones; fewer where it is stopped."""
    kept, out = folder / f"rendered-{cards}.jsonl", list[Played]()
    for line in kept.read_text().splitlines() if kept.exists() else ():
        out.append(Played(**json.loads(line)))
    for number in range(len(out), games):
        if stopped.asked:
            break
        tell = f"rendered game {number + 1} of {games} (some five minutes each)"
        print(tell, file=sys.stderr, flush=True)
        game = _play(folder.absolute() / "rendered", SEEDS[number % len(SEEDS)], cards, tell, stopped)
        if game is None:
            break
        with kept.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(asdict(game)) + "\n")
        out.append(game)
    return out[:games]
