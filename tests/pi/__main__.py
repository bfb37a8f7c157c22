"""`make pi-test`: sets the emulated Raspberry Pi up, plays a plan on it and judges; exit status 1 for a fault."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from tests.pi.faults import FAULTS
from tests.pi.judge import LIGHT, Verdict, judge
from tests.pi.plan import MS, contacts_of, make_series
from tests.pi.report import Report, read_report
from tools.pi.board import Run, run_on_board
from tools.pi.setup import BOARDS, CANNOT, SUITES, CannotSetUpError, set_up

LIMIT = 600.0
"""Longest time for a board to boot and report, s of a busy machine ..."""
ROUND_LIMIT = 5.0
"""... and for each round."""
BUSY_LIGHT = 10 * MS
"""Longest time to a light, ns, beside a program whose memory grows: meanwhile Debian's kernel runs no other thread."""


def play(
    *, seeds: Iterable[int], pairs: int, board: str, version: str, fault: str = "none", growth: int = 0
) -> tuple[Verdict, Run, Report]:
    """Play the plans of these seeds on a board that is set up; return the verdict and what it is based on."""
    rounds = make_series(seeds, pairs)
    orders = {"length": rounds[-1].end + 300 * MS, "fault": fault, "growth": growth}
    run = run_on_board(
        "tests.pi.guest", contacts_of(rounds), board=board, version=version,
        limit=LIMIT + ROUND_LIMIT * len(rounds),
        files=[("orders.json", 0o100644, json.dumps(orders).encode())],
    )  # fmt: skip
    report = read_report(run.lines)
    return judge(rounds, run, report, BUSY_LIGHT if growth else LIGHT), run, report


def main() -> int:
    """Play on each board with each Python that was asked for; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.pi", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="the first")
    parser.add_argument("--seeds", type=int, default=1, help="number of seeds that are played in one boot")
    parser.add_argument("--pairs", type=int, default=4, help="pairs at each gap, and rounds of each other kind")
    parser.add_argument("--board", action="append", choices=BOARDS)
    parser.add_argument("--python", action="append", choices=SUITES)
    parser.add_argument("--fault", choices=FAULTS, default="none", help="a broken driver, which must be found")
    parser.add_argument("--growth", type=int, default=0, help="MB that another program on the board takes in a second")
    chosen = parser.parse_args()
    began = time.monotonic()
    try:
        set_up(chosen.python or list(SUITES))
    except CannotSetUpError as error:
        print(f"pi: cannot be had here: {error}")
        return CANNOT
    total = Verdict()
    seeds = range(chosen.seed, chosen.seed + chosen.seeds)
    boards = [(board, version) for board in chosen.board or BOARDS for version in chosen.python or SUITES]
    # The emulator takes one core, and the guest's clock does not depend on how busy this machine is.
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as players:
        played = players.map(
            lambda which: play(
                seeds=seeds, pairs=chosen.pairs, board=which[0], version=which[1],
                fault=chosen.fault, growth=chosen.growth,
            ),
            boards,
        )  # fmt: skip
        for (board, _), (verdict, run, report) in zip(boards, played, strict=True):
            total.add(verdict)
            print(
                f"{board}, {report.board}, seeds {seeds[0]} to {seeds[-1]}, {run.seconds:.0f} s\n{verdict}\n",
                flush=True,
            )
    print(f"all boards and Pythons\n{replace(total, faults=[])}")
    print(
        f"pi: {len(total.faults)} faults, {time.monotonic() - began:.0f} s, load {os.getloadavg()[2]:.1f}", flush=True
    )
    return 1 if total.faults else 0


if __name__ == "__main__":
    sys.exit(main())
