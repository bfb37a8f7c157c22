"""Scripted pulses and recorded edges as files, so that another machine can play the former and record the latter.

Both are CSV: ``t_ns,pin,level`` and, for recorded edges, ``t_error_ns``. A pin is a BCM number of the Raspberry Pi;
level 0 is a closed pad, which pulls its line to ground.
"""

from __future__ import annotations

import csv
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from hardware.pads.pinout import PAD_PINS
from hardware.ports import Edge
from referee.units import MS
from tools.measure.pulse_trials import ERROR, Trial

COLUMNS: Final = ("t_ns", "pin", "level", "t_error_ns")
NEAR: Final = 50 * MS
"""Largest drift of a trial against the one before it, ns: two clocks count the time between."""


def write_pulses(path: Path, trials: Iterable[Trial]) -> int:
    """Write every pulse, in order, for a machine that closes contacts at these instants; return their number."""
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(COLUMNS[:3])
        for trial in trials:
            for pulse in trial.pulses:
                out.writerow((pulse.t, PAD_PINS[pulse.seat - 1], 0 if pulse.pressed else 1))
                count += 1
    return count


class EdgeWriter:
    """Writes edges as they come; its `tell` may be passed to `hardware.ports.Pads.start`."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8", newline="")
        self._out = csv.writer(self._file)
        self._out.writerow(COLUMNS)
        self.count = 0

    def tell(self, edge: Edge) -> None:
        """Write one edge."""
        self._out.writerow((edge.t, PAD_PINS[edge.seat - 1], 0 if edge.pressed else 1, edge.t_error))
        self.count += 1

    def close(self) -> None:
        """Finish the file."""
        self._file.close()


def read_edges(path: Path) -> list[Edge]:
    """Return the edges of a file, by their instants.

    Raises:
        ValueError: a line is none of these; says which.
    """
    seats = {pin: seat for seat, pin in enumerate(PAD_PINS, start=1)}
    edges = []
    with path.open(encoding="utf-8", newline="") as file:
        for number, fields in enumerate(csv.DictReader(file), start=2):
            try:
                t, pin, level = (int(fields[name]) for name in COLUMNS[:3])
                pressed = level == 0
                error = int(fields.get("t_error_ns") or (ERROR if pressed else 0))
                edges.append(Edge(seats[pin], t, pressed=pressed, t_error=error))
            except (KeyError, TypeError, ValueError):
                raise ValueError(f"{path}, line {number}: not {','.join(COLUMNS)} of one of the pads' pins") from None
    return sorted(edges, key=lambda edge: edge.t)


def aligned(trials: Iterable[Trial], edges: Sequence[Edge]) -> Iterator[tuple[Trial, list[Edge]]]:
    """Yield each trial with its recorded edges, converted to the script's clock.

    The playing machine had another clock, with another origin and a slightly different rate. So each trial
    is aligned with its first hand's edge, searched near the instant predicted from the trial before.
    """
    instants = [edge.t for edge in edges]
    offset: int | None = None
    for trial in trials:
        hand = min(trial.hands, key=lambda struck: struck.edge)
        if offset is None and edges:
            offset = edges[0].t - trial.pulses[0].t
        if offset is None:
            yield trial, []
            continue
        wanted = hand.edge + offset
        near = edges[bisect_left(instants, wanted - NEAR) : bisect_left(instants, wanted + NEAR)]
        found = [edge.t for edge in near if edge.pressed and edge.seat == hand.seat]
        if found:
            offset += min(found, key=lambda t: abs(t - wanted)) - wanted
        part = edges[bisect_left(instants, trial.start + offset) : bisect_left(instants, trial.end + offset)]
        yield trial, [Edge(edge.seat, edge.t - offset, edge.pressed, edge.t_error) for edge in part]
