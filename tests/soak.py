"""A simulated day at one table: memory stays flat, the record and its pictures stay under their caps.

``python -m tests.soak --cards 200000`` plays games to their end, one after the other, each through raw edges and
injected observations into the conductor and the record, with pictures round every slap; then ``--rendered`` games
through the real camera, eye and pads. Memory is what the process holds at the end of a game; the first tenth is warming
up.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final

from hardware.simulated.script import Script
from referee.adjudication.rulings import Ruling
from referee.app.demo import Options, play, script_of
from referee.app.record import Keeper, Record
from referee.app.record_frames import FrameStore, Picture
from referee.app.record_pruning import make_room
from referee.app.scripted import ScriptedWatcher, as_seen, blank_frames

FPS: Final = 15.0
FLAT: Final = 0.05
"""How far memory may rise over the day, as a share."""
WARM: Final = 0.1
"""Share of the day that is warming up."""
RECORD_CAP: Final = 64 << 20
FRAMES_CAP: Final = 16 << 20
JPEG: Final = b"\xff\xd8" + bytes(range(256)) * 80 + b"\xff\xd9"
SLACK: Final = 1.1
"""A database may be so much larger than what it holds: pages that are half full,"""
JOURNAL: Final = 6 << 20
"""and its journal, bytes."""


def resident() -> int:
    """Bytes of memory that this process holds."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("this system does not say how much memory a process holds")


@dataclass(slots=True)
class Day:
    """What a day came to."""

    games: int = 0
    cards: int = 0
    lines: int = 0
    removed: int = 0
    given_up: int = 0
    memory: list[tuple[int, int]] = field(default_factory=list)
    """Cards so far, and bytes held, after each game."""
    record: int = 0
    frames: int = 0
    """Greatest size of the two files, bytes."""

    @property
    def rise(self) -> float:
        """How much more the last tenth of the day holds than the first tenth after warming up, as a share."""
        start = int(len(self.memory) * WARM)
        tenth = max(1, len(self.memory) // 10)
        first = sorted(held for _, held in self.memory[start : start + tenth])
        last = sorted(held for _, held in self.memory[-tenth:])
        return last[len(last) // 2] / first[len(first) // 2] - 1


class _Pictures:
    """Keeps pictures round slaps, as the appliance does."""

    def __init__(self, store: FrameStore, keeper: Keeper, day: Day) -> None:
        self._store, self._keeper, self._day = store, keeper, day

    def __call__(self, rulings: Sequence[Ruling]) -> None:
        game = self._keeper.game
        for ruling in rulings:
            if game is not None and ruling.kind.startswith("slap"):
                near = [Picture(ruling.t + n * 66_000_000, 4_000_000, JPEG) for n in range(-4, 5)]
                self._day.given_up += self._store.add(game, near)


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.parent.glob(path.name + "*"))


def _game(script: Script, seed: int, record: Record, store: FrameStore, day: Day) -> None:
    keeper = record.begin(f"2026-01-01T00:00:00+00:00 game {seed}")
    eye = ScriptedWatcher(as_seen(script.truth, round(1e9 / FPS)), delay=round(1e9 / FPS))
    _, conductor = play(
        Options(seed=seed, pace=False, live=False), script, eye,
        outlets={"pictures": _Pictures(store, keeper, day)},
        frames=blank_frames(FPS, script.duration), journal=keeper,
    )  # fmt: skip
    keeper.end("2026-01-01T01:00:00+00:00")
    day.games += 1
    day.cards += conductor.cards
    day.lines += keeper.written


def _scripts() -> Iterator[tuple[int, Script]]:
    """Games without end: twenty scripts, again and again."""
    scripts = [script_of(Options(seed=seed, max_cards=400)) for seed in range(1, 21)]
    for number in count():
        yield number, scripts[number % len(scripts)]


def a_day(folder: Path, cards: int, tell: bool = True) -> Day:
    """Play games until so many cards were laid."""
    day = Day()
    store = FrameStore(folder / "frames.db", cap=FRAMES_CAP)
    with Record(folder / "record.db") as record:
        for number, script in _scripts():
            _game(script, number, record, store, day)
            day.removed += len(make_room(record, "2026-01-01", RECORD_CAP).removed)
            day.record = max(day.record, _size(folder / "record.db"))
            day.frames = max(day.frames, _size(folder / "frames.db"))
            gc.collect()
            day.memory.append((day.cards, resident()))
            if tell and day.games % 10 == 0:
                print(f"\r{day.cards} cards, {resident() / 1e6:.0f} MB", end="", file=sys.stderr, flush=True)
            if day.cards >= cards:
                break
    store.close()
    return day


def rendered(games: int) -> list[tuple[bool, int]]:
    """Whole games with drawn frames and the real eye; of each whether it met its targets, and the memory held then."""
    import subprocess

    out = []
    for seed in range(71, 71 + games):
        done = subprocess.run(
            [sys.executable, "-m", "referee.app.cli", "demo", "--no-pace", "--seed", str(seed)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        print(done.stdout.strip().splitlines()[-1])
        out.append((done.returncode == 0, seed))
    return out


def _under(what: str, cap: int, size: int, how: str) -> tuple[str, str, str, bool]:
    allowed = cap * SLACK + JOURNAL
    return what, f"{allowed / 1e6:.0f} MB", f"{size / 1e6:.0f} MB ({how})", size <= allowed


def main() -> int:
    """Play the day, print required and measured; exit status 1 where one is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cards", type=int, default=200_000)
    parser.add_argument("--rendered", type=int, default=2)
    args = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        stdout, sys.stdout = sys.stdout, Path("/dev/null").open("w", encoding="utf-8")  # noqa: SIM115
        try:
            day = a_day(Path(name), args.cards)
        finally:
            sys.stdout.close()
            sys.stdout = stdout
    print(f"\n{day.games} games, {day.cards} cards, {day.lines} lines, {time.monotonic() - began:.0f} s")
    checks = [
        ("memory rises by at most", f"{FLAT:.0%}", f"{day.rise:+.1%}", day.rise <= FLAT),
        _under("record stays under", RECORD_CAP, day.record, f"{day.removed} old games removed"),
        _under("pictures stay under", FRAMES_CAP, day.frames, f"{day.given_up} old ones given up"),
    ]
    well = [ok for ok, _ in rendered(args.rendered)]
    checks.append(("rendered games that met their targets", str(len(well)), str(sum(well)), all(well)))
    for what, required, measured, ok in checks:
        print(f"{what:40} required {required:>8}   measured {measured}{'' if ok else '   MISSED'}")
    return int(not all(ok for *_, ok in checks))


if __name__ == "__main__":
    sys.exit(main())
