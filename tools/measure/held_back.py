"""Reliability of the eye on packs no network was trained on, under damage: part of `make bench`.

A card is to be read if 95 % of one of its indices shows. A reading is right if a card of its name lies where its index
was seen. Writes the reliability plot to ``out/bench/reliability.png``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final

import cv2
import numpy as np

from models.evaluation.reliability import ScoredReading, reliability_table, save_chart, summary
from models.eye.classes import SURE_READING, UNREAD
from models.eye.eye import CardSeen, Eye
from referee.share import wilson
from tests.models.evaluation.damaged import Scene, Shown, scenes

SHOWS: Final = 0.95
"""Visible share of an index from which the card is to be read."""
SEED: Final = 77
SCENES: Final = 700
BANDS: Final = (40, 80, 150, 400, 1001)
"""Heights of cards, px, that separate the bands of the figures."""


@dataclass(slots=True)
class Figures:
    """Counts over scenes; of the uppermost cards, those that are to be read."""

    scenes: int = 0
    cards: int = 0
    right: int = 0
    sure: int = 0
    tops: int = 0
    tops_right: int = 0
    tops_sure: int = 0
    heaps: int = 0
    """Uppermost cards that are the only bare one of their scene, so that nothing else could be the top ..."""
    marked: int = 0
    """... and how many of them are read and marked as top."""
    said: list[ScoredReading] = field(default_factory=list)
    off: list[float] = field(default_factory=list)
    """Error of a right reading's worst corner, in heights of the card; covered cards only."""

    @property
    def wrong_sure(self) -> int:
        """Wrong readings said with 0.9 or more."""
        return sum(s.confidence >= SURE_READING and not s.right for s in self.said)


def lies_there(card: Shown, reading: CardSeen) -> bool:
    """Whether one of the indices of a reading was seen on the card."""
    quad = card.quad.astype(np.float32)
    return any(cv2.pointPolygonTest(quad, (float(x), float(y)), False) >= 0 for x, y in reading.indices)


def corners_off(card: Shown, reading: CardSeen) -> float:
    """Return the error of the worst corner, in heights of the card, with the equivalent half turn allowed."""
    high = float(np.linalg.norm(card.quad[3] - card.quad[0]))
    turned = (reading.corners, reading.corners[[2, 3, 0, 1]])
    return min(float(np.linalg.norm(card.quad - q, axis=1).max()) for q in turned) / high


def take_in(figures: Figures, scene: Scene, seen: Sequence[CardSeen]) -> None:
    """Add the readings of one scene."""
    figures.scenes += 1
    by_name = {card.card: card for card in scene.cards}
    named = [s for s in seen if s.card != UNREAD]
    hits: dict[str, CardSeen] = {}
    for reading in sorted(named, key=lambda s: -s.confidence):
        card = by_name.get(reading.card)
        right = card is not None and lies_there(card, reading)
        figures.said.append(ScoredReading(reading.confidence, right))
        if card is not None and right and reading.card not in hits:
            hits[reading.card] = reading
            if not card.bare:
                figures.off.append(corners_off(card, reading))
    for card in scene.cards:
        if card.index >= SHOWS:
            hit = hits.get(card.card)
            figures.cards += 1
            figures.right += hit is not None
            figures.sure += hit is not None and hit.confidence >= SURE_READING
    upper = scene.cards[-1]
    if upper.bare and upper.index >= SHOWS:
        hit = hits.get(upper.card)
        figures.tops += 1
        figures.tops_right += hit is not None
        figures.tops_sure += hit is not None and hit.confidence >= SURE_READING
        if sum(card.bare for card in scene.cards) == 1:
            figures.heaps += 1
            figures.marked += hit is not None and hit.top


def measure(eye: Eye, shown: Iterable[Scene]) -> dict[str, Figures]:
    """Return figures by bands of the cards' height."""
    out = {f"{low} – {high - high % 10}": Figures() for low, high in pairwise(BANDS)}
    for scene in shown:
        band = next(k for k, high in enumerate(BANDS[1:]) if scene.height < high)
        take_in(list(out.values())[band], scene, eye.recognise(scene.image))
    return out


def together(parts: Iterable[Figures]) -> Figures:
    """Return the sum of figures."""
    whole = Figures()
    for part in parts:
        for name in Figures.__slots__:
            setattr(whole, name, getattr(whole, name) + getattr(part, name))
    return whole


def lines(figures: dict[str, Figures]) -> str:
    """Return the figures as a Markdown table."""
    out = [
        "| height, px | scenes | cards to be read | right % | said ≥ 0.9 % | readings ≥ 0.9 | wrong of those "
        "| 95 % interval, % | uppermost right % | said ≥ 0.9 % | of heaps: marked top % |",
        "| --- " * 11 + "|",
    ]
    for name, f in [*figures.items(), ("all", together(figures.values()))]:
        sure = sum(s.confidence >= SURE_READING for s in f.said)
        low, high = wilson(f.wrong_sure, sure)
        cards, tops, heaps = max(1, f.cards), max(1, f.tops), max(1, f.heaps)
        out.append(
            f"| {name} | {f.scenes} | {f.cards} | {100 * f.right / cards:.1f} | {100 * f.sure / cards:.1f} | {sure} "
            f"| {f.wrong_sure} | {100 * low:.2f} – {100 * high:.2f} | {100 * f.tops_right / tops:.1f} "
            f"| {100 * f.tops_sure / tops:.1f} | {100 * f.marked / heaps:.1f} |"
        )
    return "\n".join(out)


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables and write the plot."""
    parser = argparse.ArgumentParser(prog="python -m tools.measure.held_back", description=__doc__)
    parser.add_argument("--scenes", type=int, default=SCENES)
    parser.add_argument("--seed", type=int, default=SEED, help="other scenes")
    parser.add_argument("--weights", type=Path, default=None)
    parser.add_argument("--out", type=Path, default=Path("out/bench"))
    args = parser.parse_args(argv)
    cv2.setNumThreads(1)
    begin = time.process_time()
    figures = measure(Eye.load(args.weights), scenes(args.scenes, args.seed))
    whole = together(figures.values())
    print(lines(figures))
    print("\n" + reliability_table(whole.said))
    print("\n" + summary(whole.said))
    off = f"{np.median(whole.off):.3f}, nine in ten within {np.quantile(whole.off, 0.9):.3f}" if whole.off else "–"
    print(f"worst corner of a covered card, in heights of the card: median {off}")
    args.out.mkdir(parents=True, exist_ok=True)
    plot = args.out / "reliability.png"
    title = "Reliability on packs never trained on, under damage"
    save_chart(whole.said, title, plot)
    print(f"{plot}; {time.process_time() - begin:.0f} s of CPU time")


if __name__ == "__main__":
    main()
