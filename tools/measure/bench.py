"""The costs of replay and frames, and the reliability of the eye: `make bench`.

First the cost of replaying a log, in whole processes; then the cost of a frame (`tools.measure.pace`), and the
calibration of the eye's confidence on packs that it was not trained on (`tools.measure.held_back`). ``--only`` chooses
one of the three.

``--lines`` chooses the lengths; a million lines take a minute or more. Compare CPU time (user and system) where
other programs are running; wall time is shown beside it. Each figure is the median of three runs, of one from 100,000
lines on.

Even CPU time swells where several virtual machines share a processor, so a fixed piece of work is timed before and
after: figures of two moments compare only where these agree.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from referee.engine.log import encode_observation
from tests.oracle.games import play
from tests.support.record_games import ENDLESS, NESSLER, log

LENGTHS: Final = (1_000, 10_000, 100_000, 1_000_000)
LONG: Final = 100_000
CLASSIC: Final = 723
"""The seed of a long game of ``classic``: seven seats, slaps right and wrong, dead heats, pauses."""
BACKWARDS: Final = 10_000
OBJECTS: Final = 100_000


class Cost(NamedTuple):
    """Cost of one process: CPU and wall time in seconds, and peak memory in MB."""

    cpu: float
    wall: float
    memory: float


def cost(path: Path) -> Cost:
    """Replay a log in a separate process."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "referee", "replay", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed with status {process.returncode}")
    return Cost(used.ru_utime + used.ru_stime, time.perf_counter() - begin, used.ru_maxrss / 1024)


def typical(path: Path, runs: int) -> Cost:
    """Return the median of some runs, figure by figure."""
    costs = [cost(path) for _ in range(runs)]
    return Cost(*(statistics.median(figures) for figures in zip(*costs, strict=True)))


def write(path: Path, lines: Iterable[str]) -> int:
    """Write a log; return its number of lines."""
    number = 0
    with path.open("w", encoding="utf-8") as out:
        for line in lines:
            out.write(line + "\n")
            number += 1
    return number


def pace() -> float:
    """Return the CPU seconds of a fixed piece of work, similar to a replay, here and now.

    Nothing is kept: a measured process begins with the memory of this one.
    """
    begin = time.process_time()
    for number in range(OBJECTS):
        json.loads(json.dumps({"kind": "card", "t": number, "id": f"c{number}"}))
    return time.process_time() - begin


def backwards(deal: str, lines: int) -> Iterator[str]:
    """Write a log backwards: all of it must wait until its first card is known."""
    told = log(deal, lines)
    yield from islice(told, 1)
    yield from reversed(list(told))


def main(lengths: Iterable[int]) -> None:
    """Print the table."""
    print(f"{OBJECTS:,} objects through JSON: {pace():.2f} s of CPU time now")
    print(f"{'log':<34}{'lines':>9}{'CPU s':>9}{'wall s':>9}{'us a line':>11}{'MB':>7}{'MB over an empty log':>22}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        write(path, log(ENDLESS, 1))
        empty = typical(path, 3)
        _row("empty (its table only)", 1, empty, empty)
        lines = write(path, log(NESSLER.hands))
        _row("record game of 8,344 cards", lines, typical(path, 3), empty)
        for length in lengths:
            lines = write(path, log(ENDLESS, length))
            _row("the deal that never ends", lines, typical(path, 1 if length >= LONG else 3), empty)
        lines = write(path, backwards(ENDLESS, BACKWARDS))
        _row("the same, told backwards", lines, typical(path, 3), empty)
        lines = write(path, map(encode_observation, play(CLASSIC, cards=3000).observations))
        _row("a long game of classic", lines, typical(path, 3), empty)
    print(f"{OBJECTS:,} objects through JSON: {pace():.2f} s of CPU time now")


def _row(name: str, lines: int, used: Cost, empty: Cost) -> None:
    each = (used.cpu - empty.cpu) / lines * 1e6
    over = used.memory - empty.memory
    print(
        f"{name:<34}{lines:>9,}{used.cpu:>9.2f}{used.wall:>9.2f}{each:>11.1f}{used.memory:>7.0f}{over:>22.1f}",
        flush=True,
    )


def eye(only: str | None) -> None:
    """Print the cost of a frame and the reliability of a confidence; imported late, see `pace`."""
    from tools.measure import held_back
    from tools.measure import pace as frames

    if only in (None, "frames"):
        print("\nWhat a frame costs")
        frames.main([])
    if only in (None, "confidence"):
        print("\nWhat the eye's confidence is worth")
        held_back.main([])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, nargs="*", default=LENGTHS, help="lengths of logs (default: %(default)s)")
    parser.add_argument("--only", choices=("replay", "frames", "confidence"), help="one part (default: all three)")
    chosen = parser.parse_args()
    if chosen.only in (None, "replay"):
        main(chosen.lines)
    if chosen.only != "replay":
        eye(chosen.only)
