"""Latency of a ruling to the viewers' screens, and the page process's resources: `make page-bench`.

Forty viewers hold real streams of server-sent events open. A main process writes rulings into the record, commits them
to the disk, wakes the page and answers its requests, while another client opens photo-finishes. The time runs from
before the commit to the last byte of the event at each viewer. Then one address requests uncached drawings of
photo-finishes at its rate limit, while another one opens photo-finishes: its waiting time is measured.
Exit status 1 where a limit is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from referee.engine.rulings import Ruling
from referee.record.store import Record
from tests.web.listening import listening
from tests.web.served import House, Served
from tests.web.table import Link, Table, demo_lines

VIEWERS = 40
LATENCY_MS = 100.0
"""Limit of the 99th percentile."""
MEMORY = 80 * 1024 * 1024
"""Limit of the resident memory, bytes."""
_EACH = 5
"""Streams from one address, below the guard's limit."""
WAIT_MS = 300.0
"""Limit of the 95th percentile of another address' photo-finishes while one requests them at its limit."""
_GREEDY = 12
"""Open requests of the greedy address."""
_OPENED = 100
"""Photo-finishes that the other one opens ..."""
_LOOKS = 0.15
"""... each so many seconds after the one before."""
_PAUSE = 0.05
"""Seconds between rulings: a table makes a few in a second."""


class Viewer:
    """One stream; notes when each mark arrived."""

    def __init__(self, port: int, place: int) -> None:
        self._port, self._place = port, place
        self.arrived: dict[str, float] = {}
        self.whole = asyncio.Event()

    async def watch(self, marks: list[str]) -> None:
        """Read until cancelled."""
        own = f"127.0.0.{2 + self._place // _EACH}"
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, local_addr=(own, 0), limit=1 << 22)
        language = ("en", "es", "de", "fr")[self._place % 4]
        writer.write(
            f"GET /events?lang={language} HTTP/1.1\r\nHost: localhost:{self._port}\r\n"
            "Accept: text/event-stream\r\n\r\n".encode()
        )
        try:
            while line := await reader.readline():
                if not line.startswith(b"data: "):
                    continue
                now = time.perf_counter()
                self.whole.set()
                for mark in marks:
                    if mark not in self.arrived and mark.encode() in line:
                        self.arrived[mark] = now
        finally:
            writer.close()


async def _finishes(port: int, game: int, slaps: list[str]) -> int:
    """Open one photo-finish after the other; return how many."""
    opened = 0
    while True:
        for slap in slaps:
            for kind in ("", ".svg"):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(
                    f"GET /games/{game}/finish{kind}?slap={slap} HTTP/1.1\r\nHost: localhost:{port}\r\n"
                    "Connection: close\r\n\r\n".encode()
                )
                await reader.read(-1)
                writer.close()
                opened += 1
                await asyncio.sleep(0.4)


async def _get(port: int, own: str, path: str) -> tuple[int, float]:
    """Return the status of an answer, and the ms to its last byte."""
    began = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(own, 0), limit=1 << 22)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n".encode())
    answer = await reader.read(-1)
    writer.close()
    return int(answer.split(b" ", 2)[1]), (time.perf_counter() - began) * 1000


async def measure_waits(port: int, game: int, slaps: list[str]) -> tuple[list[float], int, int]:
    """Return the waits for photo-finishes beside a greedy address, ms, in order; and its answers and refusals."""
    got = {True: 0, False: 0}
    width = 320

    async def ask_always() -> None:
        nonlocal width
        while True:
            width += 1
            slap = slaps[width % len(slaps)]
            status, _ = await _get(port, "127.0.0.200", f"/games/{game}/finish.svg?slap={slap}&width={width}")
            got[status == 200] += 1
            if status != 200:
                await asyncio.sleep(0.02)

    greedy = [asyncio.create_task(ask_always()) for _ in range(_GREEDY)]
    await asyncio.sleep(0.5)
    waits = []
    for number in range(_OPENED):
        kind = ("", ".svg")[number % 2]
        # Each look comes from another address, so that none meets its own limit.
        own = f"127.0.1.{number % 20 + 1}"
        status, took = await _get(port, own, f"/games/{game}/finish{kind}?slap={slaps[number % len(slaps)]}")
        waits.append(took if status == 200 else float("inf"))
        await asyncio.sleep(_LOOKS)
    for task in greedy:
        task.cancel()
    await asyncio.gather(*greedy, return_exceptions=True)
    return sorted(waits), got[True], got[False]


def _table(record: Record, link: Link) -> Table:
    """Return a game in its middle."""
    lines = demo_lines()
    table = Table(record, lines[0], link)
    for line in lines[1 : len(lines) // 2]:
        table.observe(line)
    return table


def _ruling(place: int, t: int) -> Ruling:
    fields = {"seat": place % 4 + 1, "reason": "no_pattern"}
    return Ruling("slap_false", f"slap_false@bench{place}", t, (f"bench{place}",), ("F1",), fields)


async def measure(served: Served, table: Table, rounds: int) -> tuple[list[float], list[float], dict[str, int]]:
    """Return times in ms, those of the record's commits alone, and the page's memory with all viewers there."""
    marks: list[str] = []
    viewers = [Viewer(served.port, place) for place in range(VIEWERS)]
    tasks = [asyncio.create_task(viewer.watch(marks)) for viewer in viewers]
    await asyncio.wait_for(asyncio.gather(*(viewer.whole.wait() for viewer in viewers)), 20)
    slaps = [ruling.id.partition("@")[2] for ruling in table.in_force() if ruling.kind == "slap_won"][:6]
    other = asyncio.create_task(_finishes(served.port, table.game, slaps) if slaps else asyncio.sleep(0))
    sent: dict[str, float] = {}
    disk: list[float] = []
    for place in range(rounds):
        mark = f"{place + 1000003}.0 s"
        t = (place + 1000003) * 1_000_000_000
        marks[:] = [*marks[-20:], mark, mark.replace(".", ",")]
        sent[mark] = time.perf_counter()
        table.rule(_ruling(place, t), f"caption {place}")
        disk.append((time.perf_counter() - sent[mark]) * 1000)
        await asyncio.sleep(_PAUSE)
    await asyncio.sleep(1.0)
    memory = served.memory()
    for task in (*tasks, other):
        task.cancel()
    await asyncio.gather(*tasks, other, return_exceptions=True)
    times = []
    for mark, began in sent.items():
        for viewer in viewers:
            came = viewer.arrived.get(mark) or viewer.arrived.get(mark.replace(".", ","))
            # A ruling that never arrived counts as infinite.
            times.append((came - began) * 1000 if came is not None else float("inf"))
    return times, sorted(disk), memory


def main() -> int:
    """Measure and print required against measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200, help="rulings to send")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        house = House(Path(folder))
        table = _table(house.record, house.link)
        with listening(house), house.serve_controlled() as served:
            times, disk, memory = asyncio.run(measure(served, table, args.rounds))
            slaps = [ruling.id.partition("@")[2] for ruling in table.in_force() if ruling.kind.startswith("slap_")]
            slaps = [slap for slap in slaps if not slap.startswith("bench")]
            waits, answers, refusals = asyncio.run(measure_waits(served.port, table.game, slaps))
            most = served.memory()["VmHWM"]
        house.close()
    times.sort()
    p99 = times[int(len(times) * 0.99)]
    lost = sum(time_ == float("inf") for time_ in times)
    print(f"on {os.cpu_count()} cores with {os.getloadavg()[0]:.1f} processes wanting them")
    print(f"{len(times)} rulings at {VIEWERS} viewers, {lost} never arrived")
    print(f"{'':34}{'required':>12}{'measured':>12}")
    print(f"{'median, ms':34}{'':>12}{statistics.median(times):12.1f}")
    print(f"{'99 of 100 within, ms':34}{LATENCY_MS:12.0f}{p99:12.1f}")
    print(f"{'slowest, ms':34}{'':>12}{times[-1]:12.1f}")
    print(f"{'of it the commit, 99 of 100, ms':34}{'':>12}{disk[int(len(disk) * 0.99)]:12.1f}")
    print(f"{'resident memory, MB':34}{MEMORY / 2**20:12.0f}{memory['VmRSS'] / 2**20:12.1f}")
    print(f"{'resident memory at most, MB':34}{'':>12}{memory['VmHWM'] / 2**20:12.1f}")
    p95 = waits[int(len(waits) * 0.95)]
    print(f"a greedy address got {answers} photo-finishes and {refusals} refusals; for its own another one waited")
    print(f"{'median, ms':34}{'':>12}{statistics.median(waits):12.1f}")
    print(f"{'95 of 100 within, ms':34}{WAIT_MS:12.0f}{p95:12.1f}")
    print(f"{'resident memory at most, MB':34}{'':>12}{most / 2**20:12.1f}")
    good = p99 <= LATENCY_MS and memory["VmRSS"] <= MEMORY and not lost and p95 <= WAIT_MS
    print("within the limits" if good else "NOT within the limits")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
