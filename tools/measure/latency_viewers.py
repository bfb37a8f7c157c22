"""`make latency VIEWERS=40`: whether viewers of the page delay a hand's light or a verdict's sound; with
``--replays`` each of them also loads each slap's replay, from pictures that the eye keeps all the while.

One game goes on in real time. Blocks of slaps without a page alternate with blocks with the page's process and its
viewers, so that a drift of the machine affects both alike. Viewers, page and referee share this machine's
processors; at a table the viewers are telephones elsewhere.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from referee.share import percentile
from referee.table.page_link import PAGE_SOCKET, PageLink
from tests.support.sound_card import SYSTEM, Card
from tests.web.served import Served
from tests.web.viewers import Viewers
from tools.measure.latency import Measured, Row, Running, Stopwatch, _light, _sound, rows, script, table

MATTERS: Final = 0.05
"""A difference below this share of the limit is imperceptible."""
RESAMPLED: Final = 2000
SURE: Final = 0.95


@dataclass
class Block:
    """Slaps that fell under one condition."""

    watched: bool
    began: int
    ended: int = 0
    out: Measured = field(default_factory=Measured)
    events: int = 0
    """Smallest number of events sent to a viewer."""
    replays: int = 0
    """Number of replays that viewers loaded."""


@contextmanager
def _viewers(running: Running, folder: Path, count: int, block: Block, replays: bool) -> Iterator[None]:
    """Run a page and its viewers, while the table goes on."""
    made: list[tuple[Served, Viewers]] = []

    def begin() -> None:
        run = folder / "run"
        page = Served(folder / "record.db", "--listen", str(run / PAGE_SOCKET), "--runtime", str(run))
        made.append((page, Viewers(page.port, count, replays=replays).wait()))

    def end() -> None:
        page, viewers = made[0]
        block.events = viewers.close()
        block.replays = viewers.replays
        page.stop()

    _beside(running, begin)
    if not made:
        raise RuntimeError("the page or its viewers did not start")
    yield
    _beside(running, end)


def _beside(running: Running, do: Callable[[], None]) -> None:
    thread = threading.Thread(target=do)
    thread.start()
    running.go_on(until=lambda: not thread.is_alive())
    thread.join()


def measure(slaps: int, blocks: int, viewers: int, *, wanted_sound: bool = True, replays: bool = False) -> list[Block]:
    """Play all blocks.

    Args:
        slaps: in each block.
        blocks: how many, half of them with viewers.
        viewers: of the page.
        wanted_sound: whether the voice is measured, too.
        replays: keep pictures, and let the viewers load each slap's replay.
    """
    watch, out = Stopwatch(), list[Block]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        card = Card(folder) if wanted_sound and SYSTEM.exists() else None
        try:
            with table(folder, card, watch, PageLink(folder / "run"), pictures=replays) as running:
                for number in range(blocks):
                    out.append(_block(running, folder, number, slaps, viewers, replays))
                    _tell(number + 1, blocks)
                delay, urgency = running.card_delay, running.urgency
            for block in out:
                block.out.card, block.out.urgency = delay, urgency
                _read(block, watch, running, card)
        finally:
            if card is not None:
                card.close()
    return out


def _tell(done: int, of: int) -> None:
    print(f"\r{done} of {of} blocks", end="" if done < of else "\n", file=sys.stderr, flush=True)


def _block(running: Running, folder: Path, number: int, slaps: int, viewers: int, replays: bool) -> Block:
    """Play one block; the second, fourth ... with viewers."""
    block = Block(watched=number % 2 == 1, began=0)

    def play() -> None:
        block.began = time.monotonic_ns()
        running.play(script(slaps, seed=1 + number // 2), block.out)
        running.go_on(1.5)
        block.ended = time.monotonic_ns()

    if block.watched:
        with _viewers(running, folder, viewers, block, replays):
            play()
    else:
        play()
    block.out.load = os.getloadavg()
    return block


def _read(block: Block, watch: Stopwatch, running: Running, card: Card | None) -> None:
    """Fill in a block's figures from the instants of the whole game."""
    within = [slap for slap in running.slaps if block.began <= slap[0] < block.ended]
    verdicts = [told for told in watch.verdicts if block.began <= told[1] < block.ended]
    _light(watch, running.lights, within, block.out)
    _sound(Stopwatch(verdicts=verdicts), card.onsets if card is not None else [], running.asked, block.out)


@dataclass(frozen=True)
class Difference:
    """The extra delay with viewers at a quantile, ms."""

    share: float
    by: float
    low: float
    high: float
    """With ``low``, the limits of the interval of probability `SURE`."""

    def verdict(self, matters: float) -> str:
        """Return ``unmoved``, ``MOVED``, or ``unclear`` where only more slaps could tell."""
        if self.low <= 0 or self.high <= matters:
            return "unmoved"
        return "MOVED" if self.low > matters else "unclear"


def difference(
    without: Sequence[Sequence[float]], watched: Sequence[Sequence[float]], share: float, seed: int = 1
) -> Difference:
    """Compare two sets of blocks; the interval is a bootstrap within each block."""
    chance = np.random.default_rng(seed)

    def drawn(blocks: Sequence[Sequence[float]]) -> float:
        return percentile([v for block in blocks if block for v in chance.choice(block, len(block))], share)

    by = percentile([v for b in watched for v in b], share) - percentile([v for b in without for v in b], share)
    many = [drawn(watched) - drawn(without) for _ in range(RESAMPLED)]
    low, high = np.quantile(many, ((1 - SURE) / 2, (1 + SURE) / 2))
    return Difference(share, by, float(low), float(high))


def merged(blocks: Sequence[Block]) -> Measured:
    """Merge all blocks of one condition."""
    out = Measured()
    for block in blocks:
        for name in ("light", "decided", "sound", "verdict", "control"):
            getattr(out, name).extend(getattr(block.out, name))
    return out


def report(blocks: Sequence[Block], *, with_sound: bool) -> tuple[list[str], bool]:
    """Return the table's lines, and whether every limit was met with viewers and nothing was certainly moved."""
    sides = [[block for block in blocks if block.watched is watched] for watched in (False, True)]
    tables = [rows(merged(side), with_sound=with_sound) for side in sides]
    columns = [[rows(block.out, with_sound=with_sound) for block in side] for side in sides]
    lines, good = [f"{'ms':<48}{'n':>6}{'median':>9}{'p99':>9}{'worst':>9}"], True
    for place, (without, watched) in enumerate(zip(*tables, strict=True)):
        if not without.values or not watched.values:
            lines.append(f"{without.name}: not measured")
            good = False
            continue
        lines += [without.name, _line("without a page", without), _line("with the viewers", watched)]
        matters = MATTERS * (without.limit if without.limit is not None else percentile(without.values, 0.99))
        for share in (0.5, 0.99):
            values = [[column[place].values for column in side] for side in columns]
            found = difference(values[0], values[1], share)
            said = found.verdict(matters)
            good &= said != "MOVED" or without.limit is None
            lines.append(
                f"  {'median' if share == 0.5 else 'p99'} later by {found.by:+.2f} ({SURE:.0%}: {found.low:+.2f} to "
                f"{found.high:+.2f}; {matters:.2f} would matter): {said}"
            )
        good &= watched.kept
    return lines, good


def _line(what: str, row: Row) -> str:
    figures = (percentile(row.values, 0.5), percentile(row.values, 0.99), max(row.values))
    limit = "" if row.limit is None else f"  p99 <= {row.limit + row.floor:.1f}: {'kept' if row.kept else 'MISSED'}"
    return f"  {what:<46}{len(row.values):>6}" + "".join(f"{v:>9.2f}" for v in figures) + limit


def main() -> int:
    """Measure and print; return 1 where a limit was missed with viewers, or something was certainly moved."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--viewers", type=int, default=40)
    parser.add_argument("--slaps", type=int, default=60, help="in each block")
    parser.add_argument("--blocks", type=int, default=10, help="half of them with viewers")
    parser.add_argument("--no-sound", action="store_true", help="where there is no ALSA or no synthesiser")
    parser.add_argument("--replays", action="store_true", help="the viewers load each slap's replay")
    args = parser.parse_args()
    blocks = measure(
        args.slaps, args.blocks, args.viewers, wanted_sound=not args.no_sound, replays=args.replays
    )  # fmt: skip
    lines, good = report(blocks, with_sound=not args.no_sound)
    print("\n".join(lines))
    watched = [block for block in blocks if block.watched]
    load = ", ".join(f"{block.out.load[0]:.1f}" for block in blocks)
    fewest = min((block.events for block in watched), default=0)
    print(
        f"the referee runs {blocks[0].out.urgency}; {os.cpu_count()} cores, load at the end of each block: {load}; "
        f"each of {args.viewers} viewers was sent {fewest} events or more in each block"
        + (f", and they loaded {sum(block.replays for block in watched)} replays" if args.replays else "")
    )
    if args.replays and not all(block.replays for block in watched):
        good = False
    print("unmoved: every target is met" if good and fewest else "NOT unmoved")
    return 0 if good and fewest else 1


if __name__ == "__main__":
    sys.exit(main())
