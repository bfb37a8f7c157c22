"""The cost of looking into a large record: `make looking-cost`.

A record is written once into a folder and kept there: games as long as an evening, one game of 100,000 rulings (or
several), copied until the file has its size. Then the page's own process serves it, and an unpaired visitor
opens its pages. Measured are the time to the first answer, the time to the whole one (a page may say that it is still
counting), and the growth of memory of the page and its children meanwhile. Exit status 1 where a limit is
missed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from referee.engine.adjudicator import LIVE_LOOKAHEAD, Adjudicator
from referee.engine.log import encode_observation
from referee.engine.observations import Card, Lift, Observation, Slap, Table, Taken, Tick
from referee.engine.rulings import encode_ruling
from referee.record.database import connect
from referee.record.store import Record
from referee.units import MS
from tests.web.served import Served

SECONDS: Final = 5.0
"""Limit of an answer."""
OPENED_MB: Final = 150
"""Limit of the growth while a game is opened, ..."""
COUNTED_MB: Final = 200
"""... and while figures are counted, MB."""
LONG: Final = 100_000
"""Rulings of a long game, ..."""
USUAL: Final = 1_500
"""... and of one of half an hour."""
_SEATS: Final = 4
_RANKS: Final = "23456789T"
_SUITS: Final = "shdc"
_STEP: Final = 900 * MS
_BEGAN: Final = "2026-03-{day:02}T18:05:00+00:00"
_PATIENCE: Final = 600.0


def play(rulings: int) -> Iterator[str]:
    """Play a game of a minimum number of rulings, line by line as a table writes it: doubles, late and false hands."""
    referee = Adjudicator(lookahead_ns=LIVE_LOOKAHEAD)
    ruled = 0
    for seen in _course():
        yield encode_observation(seen)
        for ruling in referee.observe(seen):
            ruled += 1
            yield encode_ruling(ruling)
        if ruled >= rulings:
            return


def _course() -> Iterator[Observation]:
    """Yield the events of a table at which no player runs out of cards."""
    names, sensors = ("Ana", "Ben", "Cho", "Dora"), ("camera", "pads")
    yield Table(t=0, id="table", seats=names, dealer=_SEATS, rules="classic", sensors=sensors, packs=2)
    t, seat, number, slaps, piles = 1_000 * MS, 1, 0, 0, 0
    while True:
        first = number
        while True:
            number += 1
            # A run of ranks has no double and no sandwich; the twelfth card of a pile repeats the one before.
            is_double = number - first == 12
            rank = _RANKS[(number - is_double) % len(_RANKS)]
            card = f"{rank}{_SUITS[(number // len(_RANKS) + is_double) % len(_SUITS)]}"
            yield Card(t=t, id=f"c{number}", card=card, seat=seat, t_error=40 * MS, confidence=0.999)
            yield from _promises(t + 100 * MS)
            if is_double:
                break
            if number % 31 == 0:
                slaps += 1
                yield from _hand(t + 300 * MS, f"s{slaps}", seat % _SEATS + 1)
                yield from _promises(t + 600 * MS)
            t, seat = t + _STEP, seat % _SEATS + 1
        # The seats win in turn, so that none runs out of cards.
        piles += 1
        seat = piles % _SEATS + 1
        for behind, hand in enumerate((seat, seat % _SEATS + 1)):
            slaps += 1
            yield from _hand(t + (250 + 40 * behind) * MS, f"s{slaps}", hand)
        yield from _promises(t + 800 * MS)
        t += 2 * _STEP
        yield Taken(t=t, id=f"t{number}", seat=seat)
        yield from _promises(t + 100 * MS)
        t += _STEP


def _hand(t: int, name: str, seat: int) -> Iterator[Observation]:
    yield Slap(t=t, id=name, seat=seat, t_error=MS)
    yield Lift(t=t + 30 * MS, id=f"{name}-up", seat=seat)


def _promises(t: int) -> Iterator[Tick]:
    for sensor in ("camera", "pads"):
        yield Tick(t=t, sensor=sensor)


def write_record(path: Path, rulings: int, size: int) -> None:
    """Write a record with games of these lengths, of a minimum size in bytes; an existing one is used unchanged."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)
    with Record(part) as record:
        lines = list(enumerate(play(rulings), start=1))
        first = record.add_game(_BEGAN.format(day=1), lines)
        record.end(first, _BEGAN.format(day=1))
    del lines
    with closing(connect(part, "rw")) as db:
        # A seal depends on the lines before it alone: the same game again has the same seals.
        db.execute("PRAGMA synchronous=OFF")
        each = part.stat().st_size
        for number in range(2, max(1, size // each) + 1):
            began = _BEGAN.format(day=1 + number % 28)
            db.execute("BEGIN")
            db.execute(
                "INSERT INTO game SELECT ?, ?, ?, seats, rules, keep, end_seal, resealed FROM game WHERE id=?",
                (number, began, began, first),
            )
            db.execute("INSERT INTO line SELECT ?, number, text, seal FROM line WHERE game=?", (number, first))
            db.execute("COMMIT")
            if number % 50 == 0:
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("PRAGMA journal_mode=DELETE")
        db.execute("PRAGMA journal_mode=WAL")
    part.rename(path)


@dataclass(frozen=True)
class Look:
    """The figures of one look."""

    status: int
    first: float
    """Seconds until there was an answer, ..."""
    whole: float
    """... and until it was whole."""
    processor: float
    """Processor seconds of the page for the first answer: the time on an idle machine."""
    grown: float
    """Largest simultaneous growth of the page and its children, MB."""
    bytes: int


class Memory:
    """Watches the memory of a process and its children from here to `close`."""

    def __init__(self, pid: int) -> None:
        self._pid, self.most, self._done = pid, 0, threading.Event()
        self._before = self._held()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _held(self) -> int:
        held = 0
        for pid in (self._pid, *_children(self._pid)):
            # A child may be gone by now; memory shared with its parent is counted once.
            with suppress(OSError, IndexError, ValueError):
                lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
                held += int(next(line for line in lines if line.startswith("Pss:")).split()[1]) * 1024
        return held

    def _watch(self) -> None:
        while not self._done.wait(0.02):
            self.most = max(self.most, self._held())

    def close(self) -> float:
        """Return its largest growth, MB."""
        self._done.set()
        self._thread.join()
        return max(0, max(self.most, self._held()) - self._before) / 1e6


def _children(pid: int) -> list[int]:
    with suppress(OSError):
        found = Path(f"/proc/{pid}/task").glob("*/children")
        return [int(child) for file in found for child in file.read_text().split()]
    return []


def _processor(pid: int) -> float:
    """Return a process's processor time so far, s."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def look(served: Served, path: str) -> Look:
    """Open an address, again as long as it is still counting."""
    memory, began, first, processor = Memory(served.pid), time.monotonic(), 0.0, _processor(served.pid)
    taken = 0.0
    while True:
        try:
            with urllib.request.urlopen(f"{served.address}{path}", timeout=_PATIENCE) as answer:
                status, again, size = answer.status, answer.headers.get("Refresh"), len(answer.read())
        except urllib.error.HTTPError as error:
            status, again, size = error.code, error.headers.get("Retry-After"), len(error.read())
        took = time.monotonic() - began
        if not first:
            first, taken = took, _processor(served.pid) - processor
        if not again or took > _PATIENCE:
            return Look(status, first, took, taken, memory.close(), size)
        time.sleep(min(1.0, float(again)))


def main() -> int:
    """Write the record, look, and print required against measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/looking-cost"), help="keeps the records")
    parser.add_argument("--rulings", type=int, default=LONG, help="of the long game")
    parser.add_argument("--mb", type=int, default=2048, help="size of a large record")
    parser.add_argument("--json", type=Path, help="writes what was measured")
    args = parser.parse_args()
    one, usual, long = (args.folder / name for name in ("one-long.db", "usual-games.db", "long-games.db"))
    write_record(one, args.rulings, 0)
    write_record(usual, USUAL, args.mb << 20)
    write_record(long, args.rulings, args.mb << 20)
    looks = (
        ("a game's page", one, "/games/1", OPENED_MB),
        ("its last rulings, all kinds", one, f"/games/1?all=1&from={args.rulings - 100}", OPENED_MB),
        ("the scoreboard", one, "/", OPENED_MB),
        ("figures of usual games", usual, "/figures", COUNTED_MB),
        ("the league of usual games", usual, "/league", COUNTED_MB),
        ("the list of usual games", usual, "/games", COUNTED_MB),
        ("figures of long games", long, "/figures", COUNTED_MB),
        ("the list of long games", long, "/games", COUNTED_MB),
    )
    good, told = True, []
    print(f"on {os.cpu_count()} cores with {os.getloadavg()[0]:.1f} processes wanting them")
    for file in (one, usual, long):
        print(f"{file.name}: {file.stat().st_size / 1e6:.0f} MB")
    heads = (("status", 7), ("first answer, s", 17), ("processor, s", 14), ("whole, s", 10), ("grown, MB", 11))
    print(f"{'':30}" + "".join(f"{head:>{width}}" for head, width in heads) + f"{'required':>16}")
    for what, record, path, most in looks:
        with Served(record) as served:
            found = look(served, path)
        kept = found.status == 200 and found.first <= SECONDS and found.grown <= most
        good = good and kept
        limit = f"{SECONDS:.0f} s, {most} MB"
        print(
            f"{what:30}{found.status:7}{found.first:17.2f}{found.processor:14.2f}{found.whole:10.1f}{found.grown:11.0f}{limit:>16}"
        )
        told.append({"what": what, "file": record.name, "path": path, "kept": kept} | found.__dict__)
    if args.json:
        args.json.write_text(json.dumps(told, indent=1))
    print("within the limits" if good else "NOT within the limits")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
