"""How well the watcher's spans hold the instants at which faces came up, as a table in Markdown.

``python -m tools.measure.spans [--seeds N …] [--fps N …] [--exposure MS …]`` runs the shipped eye and watcher on
simulated games. The truth is the instant from which a face shows. For each camera the table says how many spans hold
it, how wide they are, how far from their middle it lies, and how much of them was spare at each end.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import cv2
import numpy as np

from hardware.simulated.decks.families import FAMILIES
from hardware.simulated.table.script import play_game
from hardware.simulated.table.simulated_table import SimulatedTable
from referee.demo.score import align
from referee.engine.observations import Card
from referee.units import MS
from referee.vision.videos import new_watcher

HEADINGS: Final = (
    "frames/s", "exposure, ms", "reveals", "hold the truth", "half-width, ms: median; 90 of 100",
    "off, of the half-width: median; 95, 99 of 100; most", "spare before; after, ms: least; 5 of 100",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Span:
    """A reveal as stated, ``t ± t_error``, beside its true instant, ns."""

    truth: int
    t: int
    t_error: int

    @property
    def error(self) -> int:
        """Distance of the truth from the span's middle."""
        return abs(self.truth - self.t)

    @property
    def holds(self) -> bool:
        """Whether the truth lies in the span."""
        return self.error <= self.t_error


@dataclass(frozen=True, slots=True)
class Reveal(Span):
    """A span in a simulated game."""

    fps: float
    exposure: float
    seed: int
    card: str

    @property
    def off(self) -> float:
        """Distance of the truth from the span's middle, as a share of its half-width."""
        return self.error / self.t_error

    @property
    def before(self) -> float:
        """Time from the span's start to the truth, ms; negative if the truth lies outside."""
        return (self.truth - self.t + self.t_error) / MS

    @property
    def after(self) -> float:
        """Time from the truth to the span's end, ms; negative if the truth lies outside."""
        return (self.t + self.t_error - self.truth) / MS


def reveals(seed: int, cards: int, fps: float, exposure: float) -> list[Reveal]:
    """Watch a game; return its rightly read cards. The seed also gives the number of players and the pack."""
    script = play_game(seed=seed, seats=2 + seed % 4, max_cards=cards)
    packs = sorted(FAMILIES)
    table = SimulatedTable(script, fps, deck_family=packs[seed % len(packs)], exposure_ns=round(exposure * MS))
    watcher = new_watcher(dict(enumerate(table.seat_bearings, start=1)))
    seen = [line for frame in table.frames() for line in watcher.feed(frame.image, frame.t, frame.exposure)]
    seen += watcher.finish()
    laid, read = (
        sorted((line for line in lines if isinstance(line, Card)), key=lambda card: card.t)
        for lines in (script.truth, seen)
    )
    pairs = ((truth, told) for truth, told in align(laid, read) if truth is not None and told is not None)
    return [
        Reveal(truth.t, told.t, told.t_error, fps, exposure, seed, truth.card)
        for truth, told in pairs
        if truth.card == told.card and told.t_error > 0
    ]


def row(those: Sequence[Reveal]) -> str:
    """Return one camera's row."""
    half, off = [reveal.t_error / MS for reveal in those], [reveal.off for reveal in those]
    before, after = [reveal.before for reveal in those], [reveal.after for reveal in those]
    cells = (
        f"{those[0].fps:g}", f"{those[0].exposure:g}", len(those), sum(reveal.holds for reveal in those),
        f"{np.median(half):.1f}; {np.quantile(half, 0.9):.1f}",
        f"{np.median(off):.2f}; {np.quantile(off, 0.95):.2f}, {np.quantile(off, 0.99):.2f}; {max(off):.2f}",
        f"{min(before):.1f}, {np.quantile(before, 0.05):.1f}; {min(after):.1f}, {np.quantile(after, 0.05):.1f}",
    )  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


def _rows(options: argparse.Namespace, kept: list[Reveal]) -> Iterator[str]:
    yield "| " + " | ".join(HEADINGS) + " |"
    yield "| " + " | ".join("---:" for _ in HEADINGS) + " |"
    for fps in options.fps:
        for exposure in options.exposure:
            found = [reveal for seed in options.seeds for reveal in reveals(seed, options.cards, fps, exposure)]
            kept += found
            if found:
                yield row(found)


def main() -> None:
    """Print the table, row by row."""
    parser = argparse.ArgumentParser(prog="python -m tools.measure.spans", description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(9301, 9309)), help="games of each row")
    parser.add_argument("--cards", type=int, default=40, help="cards that are laid in each game (default 40)")
    parser.add_argument("--fps", type=float, nargs="+", default=[15, 25, 30, 50], help="frames a second")
    parser.add_argument("--exposure", type=float, nargs="+", default=[4, 15], help="of each frame, ms")
    parser.add_argument("--json", type=Path, help="where to write each reveal")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    kept: list[Reveal] = []
    for line in _rows(options, kept):
        print(line, flush=True)
    if options.json:
        options.json.write_text(json.dumps([asdict(reveal) for reveal in kept], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
