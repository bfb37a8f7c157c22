"""Hands that close contacts at chosen instants, in a separate process, and report between which instants each did.

A write to the simulated line takes the kernel some 0.1 ms, the edge falls somewhere within. So nothing here claims
microseconds: the order of two edges is certain when their brackets do not touch.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection

from tests.vm.chip import CLOSED, OPEN, SimulatedChip


@dataclass(frozen=True, slots=True)
class Move:
    """Close or open one seat's contact, this long (ns) after the move before was done."""

    seat: int
    closed: bool
    wait: int = 0


@dataclass(frozen=True, slots=True)
class Done:
    """A move and the bracket of instants (ns, CLOCK_MONOTONIC) in which it was made."""

    seat: int
    closed: bool
    before: int
    after: int


class Hands:
    """The process; ends with its owner."""

    def __init__(self, chip: SimulatedChip, pins: dict[int, int]) -> None:
        self._here, there = multiprocessing.Pipe()
        lines = {seat: chip.pull(pin) for seat, pin in pins.items()}
        fork = multiprocessing.get_context("fork")
        self._process = fork.Process(target=_act, args=(there, lines), daemon=True)
        self._process.start()
        there.close()

    def begin(self, moves: Sequence[Move]) -> None:
        """Make these moves, one after another."""
        self._here.send(list(moves))

    def done(self) -> list[Done] | None:
        """Return the moves as they were made, once all were; None until then."""
        if not self._here.poll():
            return None
        made: list[Done] = self._here.recv()
        return made

    def end(self) -> None:
        """Stop moving."""
        self._here.send(None)
        self._process.join(timeout=5)


def _act(orders: Connection, lines: dict[int, int]) -> None:
    os.sched_setaffinity(0, {0})
    while (moves := orders.recv()) is not None:
        orders.send(_play(moves, lines))


def _play(moves: Sequence[Move], lines: dict[int, int]) -> list[Done]:
    made: list[Done] = []
    last = time.monotonic_ns()
    for move in moves:
        due = last + move.wait
        # Sleep over the long waits so that the referee's process has the machine, and spin to the instant.
        if move.wait > 5_000_000:
            time.sleep((move.wait - 3_000_000) / 1e9)
        while (before := time.monotonic_ns()) < due:
            pass
        os.pwrite(lines[move.seat], CLOSED if move.closed else OPEN, 0)
        last = time.monotonic_ns()
        made.append(Done(move.seat, move.closed, before, last))
    return made
