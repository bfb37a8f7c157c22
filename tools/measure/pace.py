"""The cost of a frame, and the looks per card: the watcher on the simulated table, one thread: part of `make bench`.

A frame is *read* by the eye, *glanced* at while something moves or reaches in, or *quiet*. Times are CPU time of this
process, since other programs may be running. The parts are measured separately; "deciding and the rest" is the
remainder. The multiplications of the eye's networks are counted, so they compare across machines.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import cv2

import models.eye.reader
from hardware.ports import Frame
from hardware.simulated.table.script import play_game
from hardware.simulated.table.simulated_table import SimulatedTable
from models.eye.eye import Eye
from models.eye.geometry import CROP_H, CROP_W, PATCH_H, PATCH_W
from models.eye.networks import INPUT, SUFFIX, WEIGHTS, Network, read_parts
from models.watch.watcher import Watcher
from referee.engine.observations import Card

SIZE: Final = (1280, 960)
FPS: Final = 15.0
FRAMES: Final = 420
SEED: Final = 11
WANTED: Final = {"read": 25.0, "glanced": 6.0, "quiet": 3.0}
"""Milliseconds, medians."""
PARTS: Final = (
    "motion", "finding", "patches", "reader", "card reader", "networks", "grouping", "deciding and the rest",
)  # fmt: skip
NETWORKS: Final = {"finder": (64, 64), "reader": (PATCH_H, PATCH_W), "card": (CROP_H, CROP_W)}
"""The eye's networks, and a picture's height and width, px, for each."""
PATCHES: Final = "cut_patch"
"""Name of the reader's function that cuts an index's patch out of the picture."""


@dataclass(slots=True)
class Stopwatch:
    """Adds up CPU time by part; time inside an inner part is not counted for the outer one."""

    clock: Callable[[], float] = time.process_time
    spent: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    running: list[float] = field(default_factory=list)

    def timed(self, part: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function so that its time counts for a part."""

        def run(*args: Any, **named: Any) -> Any:
            begin = self.clock()
            self.running.append(0.0)
            try:
                return work(*args, **named)
            finally:
                took = self.clock() - begin
                self.spent[part] += took - self.running.pop()
                if self.running:
                    self.running[-1] += took

        return run

    def take(self) -> dict[str, float]:
        """Return the times since the last call, s."""
        out, self.spent = dict(self.spent), defaultdict(float)
        return out


def multiplications(path: Path, height: int, width: int) -> float:
    """Return a network's multiplications for each pixel of its picture, from the sizes of its layers and their maps."""
    import ncnn

    network = Network(path)
    run = network._net.create_extractor()
    run.input(INPUT, ncnn.Mat(width, height, 3))
    count = 0
    for line in read_parts(path).layers.splitlines()[2:]:
        kind, _, given, _, *words = line.split()
        parameters = dict(word.split("=") for word in words if "=" in word)
        if kind == "InnerProduct":
            count += int(parameters["2"])
        elif kind == "Convolution":
            made = run.extract(words[int(given)])[1]
            count += int(parameters["6"]) * made.w * made.h
    return count / (height * width)


@dataclass(slots=True)
class CountedNetwork:
    """A network of the eye that adds up the pixels it is shown."""

    network: Any
    pixels: int = 0

    def __call__(self, batch: Any) -> Any:
        """See `models.eye.networks.Network`."""
        self.pixels += batch[..., 0].size
        return self.network(batch)


@dataclass(slots=True)
class Pace:
    """Costs of frames by kind: times, whole and by part, ms, and multiplications by network."""

    whole: list[float] = field(default_factory=list)
    parts: dict[str, list[float]] = field(default_factory=lambda: {part: [] for part in PARTS})
    multiplied: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in NETWORKS})

    def add(self, took: float, spent: dict[str, float], multiplied: dict[str, float]) -> None:
        """Add a frame; times in s."""
        self.whole.append(1000 * took)
        for name, counts in self.multiplied.items():
            counts.append(multiplied.get(name, 0.0))
        told = {part: 1000 * spent.get(part, 0.0) for part in PARTS[:-1]}
        told[PARTS[-1]] = 1000 * took - sum(told.values())
        for part, ms in told.items():
            self.parts[part].append(ms)


def table_of(fps: float, size: tuple[int, int]) -> SimulatedTable:
    """Return the table at which the game is played."""
    return SimulatedTable(play_game(seed=SEED, seats=4, max_cards=60), fps=fps, size=size)


def rendered(table: SimulatedTable, frames: int) -> Iterator[Frame]:
    """Yield a table's first frames."""
    for index in range(min(frames, table.frame_count)):
        yield table.render(table.frame_time(index))


def watched(
    frames: Iterable[Frame], bearings: Sequence[float], eye: Eye, clock: Callable[[], float] = time.process_time
) -> tuple[dict[str, Pace], list[float]]:
    """Watch a table whose seats have these bearings: return the cost of each kind of frame, and of each reported card
    from its first look on.
    """
    watch = Stopwatch(clock)
    watcher = Watcher(eye, seat_bearings=dict(enumerate(bearings, 1)))
    reading, networks = _instrumented(watch, eye, watcher), _counted(watch, eye)
    each = {name: multiplications(WEIGHTS / f"{name}{SUFFIX}", *size) for name, size in NETWORKS.items()}
    patch, out = getattr(models.eye.reader, PATCHES), {kind: Pace() for kind in WANTED}
    cards: list[float] = []
    since = 0.0
    setattr(models.eye.reader, PATCHES, watch.timed("patches", patch))
    try:
        for frame in frames:
            watch.take()
            reading.clear()
            before = {name: network.pixels for name, network in networks.items()}
            begin = clock()
            seen = watcher.feed(frame.image, frame.t)
            took = clock() - begin
            since += took if reading or since else 0.0
            if reported := sum(isinstance(line, Card) for line in seen):
                cards += [since / reported] * reported
                since = 0.0
            still = watcher.state == "quiet"
            multiplied = {name: each[name] * (network.pixels - before[name]) for name, network in networks.items()}
            out["read" if reading else "quiet" if still else "glanced"].add(took, watch.take(), multiplied)
    finally:
        setattr(models.eye.reader, PATCHES, patch)
    return out, cards


def _instrumented(watch: Stopwatch, eye: Any, watcher: Any) -> list[bool]:
    """Put stopwatches round the parts; the list fills when the eye reads."""
    reading: list[bool] = []
    look = watch.timed("grouping", eye.candidates)

    def candidates(*args: Any, **named: Any) -> Any:
        reading.append(True)
        return look(*args, **named)

    eye.candidates = candidates
    eye._judged = watch.timed("grouping", eye._judged)
    eye._finder.find = watch.timed("finding", eye._finder.find)
    eye._reader.read = watch.timed("reader", eye._reader.read)
    eye._cards.read = watch.timed("card reader", eye._cards.read)
    watcher._motion.look = watch.timed("motion", watcher._motion.look)
    return reading


def parts_of(eye: Any) -> dict[str, Any]:
    """Return the parts of an eye that have a network each, by its name."""
    return {"finder": eye._finder, "reader": eye._reader, "card": eye._cards}


def _counted(watch: Stopwatch, eye: Any) -> dict[str, CountedNetwork]:
    """Put counters and a stopwatch round the networks of an eye."""
    counted = {}
    for name, part in parts_of(eye).items():
        part._network = counted[name] = CountedNetwork(watch.timed("networks", part._network))
    return counted


def lines(paces: dict[str, Pace], cards: int) -> str:
    """Return the medians as a Markdown table, the looks per card, and multiplications."""
    out = ["| CPU ms, median | frames | all | " + " | ".join(PARTS) + " |", "| --- " * (len(PARTS) + 3) + "|"]
    for kind, pace in paces.items():
        told = [statistics.median(pace.whole or [0.0]), *(statistics.median(ms or [0.0]) for ms in pace.parts.values())]
        out.append(f"| {kind} | {len(pace.whole)} | " + " | ".join(f"{ms:.1f}" for ms in told) + " |")
    looks = len(paces["read"].whole)
    out += ["", f"{looks} looks for {cards} cards: {looks / max(1, cards):.1f} a card"]
    by_network = paces["read"].multiplied
    share = ", ".join(f"{name} {statistics.median(counts or [0.0]) / 1e9:.2f}" for name, counts in by_network.items())
    whole = statistics.median([sum(counts) for counts in zip(*by_network.values(), strict=True)] or [0.0])
    out.append(f"multiplications of a frame that is read, median: {whole / 1e9:.2f} G; {share}")
    for kind, pace in paces.items():
        ms = statistics.median(pace.whole or [0.0])
        worst = sorted(pace.whole or [0.0])[int(0.95 * max(0, len(pace.whole) - 1))]
        word = "met" if ms <= WANTED[kind] else "MISSED"
        out.append(f"{kind}: {ms:.1f} ms, 95 % within {worst:.1f} ms; wanted {WANTED[kind]:g} ms: {word}")
    return "\n".join(out)


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tools.measure.pace", description=__doc__)
    parser.add_argument("--frames", type=int, default=FRAMES)
    parser.add_argument("--fps", type=float, default=FPS)
    parser.add_argument("--size", type=int, nargs=2, default=SIZE, metavar=("WIDTH", "HEIGHT"))
    parser.add_argument("--weights", type=Path, default=None)
    args = parser.parse_args(argv)
    cv2.setNumThreads(1)
    print(f"{args.size[0]} x {args.size[1]}, {args.fps:g} frames a second, one thread")
    table = table_of(args.fps, tuple(args.size))
    paces, cards = watched(rendered(table, args.frames), table.seat_bearings, Eye.load(args.weights))
    print(lines(paces, len(cards)))


if __name__ == "__main__":
    main()
