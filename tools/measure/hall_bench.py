"""Number of tables that one broker and one hall can carry: ``python -m tools.measure.hall_bench``.

Simulated tables play a recorded game at its real pace on the bench's own Mosquitto; viewers hold the hall's
stream open. The time of a ruling runs from when its table hands it to the connection until a viewer has the last byte
of its event. Exit status 1 where a limit is missed at the required number of tables.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from asyncio.subprocess import Process
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hardware.clock import monotonic
from tests.options.hall.broker import MISSING, PROGRAM, Mosquitto
from tests.options.hall.served import ServedHall
from tests.options.hall.traffic import traffic
from tests.web.served import ROOT

LEVELS: Final = (25, 50, 100, 200, 400, 800, 1600)
REQUIRED_TABLES: Final = 200
REQUIRED_MS: Final = 500.0
"""Limit on the 99th percentile, from ruling to viewer."""
VIEWERS: Final = 8
READING: Final = 2
"""Viewers that take the time; the others only read, as a remote browser would."""
SETTINGS: Final = ("message_size_limit 32768", "max_queued_messages 100000")
"""The broker's settings, as in docs/club.md,"""
AHEAD: Final = 1000
"""and the number of messages that it may be ahead of the hall's receipts."""
BEHIND: Final = 0.05
"""A table that lags the game's pace by this share does not keep up."""
_EACH: Final = 4
"""Viewers from one address, below the guard's limit."""
CROWD: Final = 400
"""Tables that one process plays."""
_WARM: Final = 6.0
"""Warm-up seconds: all clients connect, and the first whole states go out."""
PATIENCE: Final = 20
"""Seconds that pending messages may take when the tables have stopped."""
_TICK: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Use:
    """Resources used by processes."""

    cpu: float
    """Seconds."""
    memory: int
    """Resident bytes."""

    @classmethod
    def of(cls, *pids: int) -> Use:
        """Read the kernel's counts."""
        all_fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
        cpu = sum(int(fields[11]) + int(fields[12]) for fields in all_fields) / _TICK
        return cls(cpu, sum(int(fields[21]) for fields in all_fields) * os.sysconf("SC_PAGE_SIZE"))


@dataclass(frozen=True)
class Level:
    """The results with one number of tables."""

    tables: int
    rulings: int
    rate: float
    """Rulings a second."""
    messages: float
    """Messages a second that the hall took."""
    bytes: float
    """Bytes a second to each viewer."""
    times: list[float]
    """Latency of each ruling at each viewer that takes the time, ms."""
    lost: int
    late: float
    """Lag of the generator at the end, as a share of the rulings due."""
    cpu: dict[str, float]
    """By process, the share of one core."""
    memory: dict[str, int]
    load: float

    @property
    def p99(self) -> float:
        """Milliseconds."""
        return _percentile(self.times, 0.99)


def _percentile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * share))] if times else math.inf


class Viewer:
    """One stream; notes when it first had each table at each number or beyond."""

    def __init__(self, port: int, place: int) -> None:
        self._port, self._place = port, place
        self.bytes = 0
        self.seen: list[tuple[str, int, int]] = []
        """Table, number, when (ns)."""

    async def watch(self) -> None:
        """Read until cancelled."""
        own = f"127.0.0.{2 + self._place // _EACH}"
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, local_addr=(own, 0), limit=1 << 24)
        language = ("en", "de", "es", "fr")[self._place % 4 // 2]
        writer.write(
            f"GET /events?lang={language} HTTP/1.1\r\nHost: localhost:{self._port}\r\n"
            "Accept: text/event-stream\r\n\r\n".encode()
        )
        try:
            while line := await reader.readline():
                self.bytes += len(line)
                if self._place < READING and line.startswith(b"data: "):
                    self._note(json.loads(line[6:]), monotonic())
        finally:
            writer.close()

    def _note(self, event: dict[str, Any], now: int) -> None:
        self.seen += [(name, facts["n"], now) for name, facts in event["tables"].items() if "n" in facts]


def _times(viewer: Viewer, sent: dict[str, list[int]], since: int, until: int) -> list[float]:
    """Return the latency of every ruling sent in the window, infinite where this viewer never had it."""
    first: dict[str, list[int | None]] = {name: [None] * len(when) for name, when in sent.items()}
    reached = dict.fromkeys(sent, 0)
    for name, number, now in viewer.seen:
        for place in range(reached[name], min(number, len(first[name]))):
            first[name][place] = now
        reached[name] = max(reached[name], number)
    return [
        (came - began) / 1e6 if came is not None else math.inf
        for name, when in sent.items()
        for began, came in zip(when, first[name], strict=True)
        if since <= began < until
    ]


async def _crowd(port: int, count: int, first: int) -> Process:
    """Run a number of playing tables."""
    crowd = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.options.hall.generator", str(port), str(count), str(first), cwd=ROOT,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, limit=1 << 28,
    )  # fmt: skip
    assert crowd.stdout is not None
    await crowd.stdout.readline()
    return crowd


async def _over(crowd: Process) -> dict[str, list[int]]:
    """Stop the tables; return when each sent its rulings."""
    assert crowd.stdin is not None and crowd.stdout is not None
    crowd.stdin.close()
    sent: dict[str, list[int]] = json.loads(await crowd.stdout.readline())
    await crowd.wait()
    return sent


async def _arrived(viewers: list[Viewer], sent: dict[str, list[int]]) -> None:
    """Wait until the timing viewers have everything, or `PATIENCE` is over: anything later is lost."""
    until = monotonic() + PATIENCE * 1_000_000_000
    for viewer in viewers[:READING]:
        while monotonic() < until and not _has_all(viewer, sent):
            await asyncio.sleep(0.5)


def _has_all(viewer: Viewer, sent: dict[str, list[int]]) -> bool:
    reached = {name: number for name, number, _ in viewer.seen}
    return all(reached.get(name, 0) >= len(when) for name, when in sent.items())


async def _measure(broker: Mosquitto, count: int, seconds: float, watching: int) -> Level:
    with ServedHall(broker.port) as hall:
        crowds = [await _crowd(broker.port, min(CROWD, count - first), first) for first in range(0, count, CROWD)]
        viewers = [Viewer(hall.port, place) for place in range(watching)]
        tasks = [asyncio.create_task(viewer.watch()) for viewer in viewers]
        await asyncio.sleep(_WARM)
        pids = {"broker": [broker.pid], "hall": [hall.pid], "generator": [crowd.pid for crowd in crowds]}
        before, began = {name: Use.of(*many) for name, many in pids.items()}, monotonic()
        messages, bytes_ = (await asyncio.to_thread(hall.health))["messages"], viewers[-1].bytes
        await asyncio.sleep(seconds)
        after, ended = {name: Use.of(*many) for name, many in pids.items()}, monotonic()
        health = await asyncio.to_thread(hall.health)
        took, read = (ended - began) / 1e9, viewers[-1].bytes - bytes_
        sent = {name: when for told in await asyncio.gather(*map(_over, crowds)) for name, when in told.items()}
        await _arrived(viewers, sent)
        last = await asyncio.to_thread(hall.health)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    times = [time for viewer in viewers[:READING] for time in _times(viewer, sent, began, ended)]
    rulings = sum(began <= when < ended for many in sent.values() for when in many)
    return Level(
        tables=count, rulings=rulings, rate=rulings / took, messages=(health["messages"] - messages) / took,
        bytes=read / took, times=times, lost=last["missed"] + last["lost"] + sum(math.isinf(time) for time in times),
        late=1 - rulings / took / (count * _pace()),
        cpu={name: (after[name].cpu - before[name].cpu) / took for name in pids},
        memory={name: after[name].memory for name in pids}, load=os.getloadavg()[0],
    )  # fmt: skip


def _pace() -> float:
    """Return rulings a second of one table, lulls included."""
    from tests.options.hall.generator import LULL
    from tests.options.hall.performance import performance

    play = performance()
    return play.rulings / ((play.length + LULL) / 1e9)


_HEAD: Final = (
    f"{'':7}{'rulings':>9}{'to the':>9}{'to each':>9}{'median':>9}{'99 of':>9}{'':>6}  "
    f"{'CPU, % of a core':^26}  {'memory, MB':^20}\n"
    f"{'tables':7}{'/s':>9}{'hall /s':>9}{'kB/s':>9}{'ms':>9}{'100, ms':>9}{'lost':>6}  "
    f"{'broker':>8}{'hall':>8}{'tables':>9}   {'broker':>7}{'hall':>6}{'tables':>7}{'behind':>8}{'load':>6}"
)


def _row(level: Level) -> str:
    cpu = "".join(f"{100 * level.cpu[name]:{w}.0f}" for name, w in (("broker", 8), ("hall", 8), ("generator", 9)))
    memory = "".join(f"{level.memory[n] / 2**20:{w}.0f}" for n, w in (("broker", 7), ("hall", 6), ("generator", 7)))
    return (
        f"{level.tables:<7}{level.rate:9.0f}{level.messages:9.0f}{level.bytes / 1000:9.0f}"
        f"{statistics.median(level.times):9.0f}{level.p99:9.0f}{level.lost:6}  {cpu}   {memory}"
        f"{100 * max(0, level.late):7.0f}%{level.load:6.1f}"
    )


def _per_table(levels: list[Level]) -> str:
    """Return the cost of one more table, by the line through the smallest and the largest number that kept up."""
    kept = [level for level in levels if level.late < BEHIND]
    if len(kept) < 2:
        return "what one more table costs: not enough levels kept up"
    low, high = kept[0], kept[-1]
    more = high.tables - low.tables
    parts = [
        f"{name} {100 * (high.cpu[name] - low.cpu[name]) / more:.2f} % of a core, "
        f"{(high.memory[name] - low.memory[name]) / more / 1024:.0f} kB"
        for name in high.cpu
    ]
    return f"one more table costs ({low.tables} to {high.tables}): " + "; ".join(parts)


def _bend(levels: list[Level]) -> str:
    """Describe up to how many tables all viewers are served in time, and the figures beyond."""
    served = [lv for lv in levels if lv.p99 <= REQUIRED_MS and not lv.lost and lv.late < BEHIND]
    most = max((level.tables for level in served), default=0)
    beyond = min((lv for lv in levels if lv.tables > most), key=lambda lv: lv.tables, default=None)
    if beyond is None:
        return f"where it bends: not up to {most} tables"
    return (
        f"where it bends: between {most} and {beyond.tables} tables; there 99 of 100 come within {beyond.p99:.0f} ms "
        f"({REQUIRED_MS:.0f} at most), {beyond.lost} are lost, the tables lag {100 * max(0, beyond.late):.0f} % behind"
    )


def main() -> int:
    """Measure, and print required against measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--tables", type=int, nargs="+", default=LEVELS, metavar="N", help="how many, one after the other"
    )
    parser.add_argument("--seconds", type=float, default=15.0, help="measured of each")
    parser.add_argument("--viewers", type=int, default=VIEWERS, help="who hold the hall's stream open")
    parser.add_argument("--ahead", type=int, default=AHEAD, help="messages that the broker sends before receipts come")
    args = parser.parse_args()
    if PROGRAM is None:
        print(f"{MISSING}: apt-get install mosquitto", file=sys.stderr)
        return 2
    print(
        f"{args.viewers} viewers, {os.cpu_count()} cores, load before it {os.getloadavg()[0]:.1f}\n{_HEAD}", flush=True
    )
    levels, settings = [], (*SETTINGS, f"max_inflight_messages {args.ahead}")
    for count in args.tables:
        with tempfile.TemporaryDirectory() as folder, Mosquitto(Path(folder), lines=settings) as broker:
            levels.append(asyncio.run(_measure(broker, count, args.seconds, args.viewers)))
        print(_row(levels[-1]), flush=True)
    print(_per_table(levels))
    print(_bend(levels))
    print(traffic().words)
    return _verdict(levels)


def _verdict(levels: list[Level]) -> int:
    judged = [level for level in levels if level.tables <= REQUIRED_TABLES]
    if not judged:
        return 0
    level = judged[-1]
    rows = [
        (f"99 of 100 within, ms, {level.tables} tables", f"{REQUIRED_MS:.0f}", f"{level.p99:.0f}"),
        ("messages lost", "0", str(level.lost)),
    ]
    print(f"{'':40}{'required':>10}{'measured':>10}")
    for what, required, measured in rows:
        print(f"{what:40}{required:>10}{measured:>10}")
    good = level.p99 <= REQUIRED_MS and level.lost == 0
    print("within the limits" if good else "NOT within the limits")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
