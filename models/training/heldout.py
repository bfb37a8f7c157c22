"""Measures the eye's reliability on held-out scenes: `make eval-held-back`.

The scenes are of decks and fonts that no network was trained on (split 1 of the library), drawn by the training's own
painter from seeds that neither training nor calibration uses. `make bench` is similar but needs no training packages.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np

from models.evaluation.reliability import ScoredReading, reliability_table, save_chart, summary
from models.eye import card_join, card_name
from models.eye.classes import CARD_CLASSES, SURE_READING, UNREAD
from models.eye.eye import Eye
from models.eye.networks import WEIGHTS, calibration
from models.training.library import Library
from models.training.scenes import DrawnScene, Painter
from referee.share import wilson

#: First number of the scenes' seeds; the calibration's seeds start at 4001.
_SEED = 9001
#: Heights of cards, px, and worst photograph quality with a carefully mounted camera.
_TABLE = ((90.0, 400.0), 0.4)
#: Least visible share of an index that must be read.
_SHOWS = 0.95


@dataclass(slots=True)
class SceneMatch:
    """A candidate of a scene and the true card in its place (None if there is none)."""

    candidate: card_join.Candidate
    truth: str | None
    corner_error: float
    covered: float = 0.0
    """Share of the true card that other cards hide."""


def true_card(scene: DrawnScene, k: int) -> str | None:
    """Return the name of card k, None for a back."""
    card = scene.cards[k]
    return None if card.card < 0 else CARD_CLASSES[card.card]


def match(scene: DrawnScene, found: list[card_join.Candidate]) -> list[SceneMatch]:
    """Return each candidate with the card whose index it stands on."""
    out = []
    for candidate in found:
        spot = candidate.spots[0]
        best, owner = 0.4 * spot.height, None
        for index in scene.indices:
            distance = float(np.linalg.norm(index.centre - spot.centre))
            if distance < best and float(index.up @ spot.up) > 0 and max(index.rank_seen, index.suit_seen) > 0.1:
                best, owner = distance, index.card
        if owner is None:
            out.append(SceneMatch(candidate, None, 0.0))
            continue
        card = scene.cards[owner]
        side = float(np.linalg.norm(card.quad[0] - card.quad[3]))
        turned = min(
            float(np.linalg.norm(card.quad - q, axis=1).max()) for q in (candidate.quad, candidate.quad[[2, 3, 0, 1]])
        )
        out.append(SceneMatch(candidate, true_card(scene, owner), turned / side, card.covered))
    return out


@dataclass(slots=True)
class HeldOutFigures:
    """Counts over scenes. A card must be read if one of its indices shows; a bare one of those is a top."""

    cards: int = 0
    right: int = 0
    sure: int = 0
    tops: int = 0
    tops_right: int = 0
    tops_sure: int = 0
    scored: list[ScoredReading] = field(default_factory=list)
    corners: list[float] = field(default_factory=list)

    def add(self, scene: DrawnScene, found: Sequence[SceneMatch], weights: card_name.EvidenceWeights) -> None:
        """Add the outcome for a scene's cards."""
        named = [(m, *card_name.judged(m.candidate, weights)) for m in found]
        named = [(m, name, confidence) for m, name, confidence in named if name != UNREAD]
        self.scored += [ScoredReading(confidence, m.truth == name) for m, name, confidence in named]
        self.corners += [m.corner_error for m, name, _ in named if m.truth == name]
        best: dict[str, float] = {}
        for m, name, confidence in named:
            if m.truth == name:
                best[name] = max(best.get(name, 0.0), confidence)
        for k in sorted({i.card for i in scene.indices if min(i.rank_seen, i.suit_seen) > _SHOWS}):
            card = true_card(scene, k)
            if card is None:
                continue
            confidence = best.get(card, 0.0)
            self.cards += 1
            self.right += confidence > 0
            self.sure += confidence >= SURE_READING
            if scene.cards[k].covered < 0.004:
                self.tops += 1
                self.tops_right += confidence > 0
                self.tops_sure += confidence >= SURE_READING

    def lines(self) -> str:
        """Return the figures in words."""
        firm = [s for s in self.scored if s.confidence >= SURE_READING]
        wrong, sure = sum(not s.right for s in firm), len(firm)
        low, high = wilson(wrong, sure)
        shares = (
            ("cards with an index in sight: read rightly", self.right, self.cards),
            ("said with 0.9 or more", self.sure, self.cards),
            ("bare ones of them: read rightly", self.tops_right, self.tops),
            ("said with 0.9 or more", self.tops_sure, self.tops),
            ("wrong among all readings said with 0.9 or more", wrong, sure),
        )
        told = [f"{what}: {part} of {whole} = {100 * part / max(1, whole):.2f} %" for what, part, whole in shares]
        told[-1] += f", 95 %: {100 * low:.2f} to {100 * high:.2f} %"
        told.append(f"worst corner, in heights of the card: median {np.median(self.corners or [0]):.3f}")
        return "\n".join(told)


def main() -> None:
    """Print the figures and write the plot."""
    parser = argparse.ArgumentParser(prog="python -m models.training.heldout", description=__doc__)
    parser.add_argument("--library", type=Path, default=Path("out/eye/library"))
    parser.add_argument("--weights", type=Path, default=None)
    parser.add_argument("--scenes", type=int, default=500)
    parser.add_argument("--out", type=Path, default=Path("out/held-back"))
    args = parser.parse_args()
    cv2.setNumThreads(1)
    begin = time.process_time()
    eye = Eye.load(args.weights)
    weights = card_name.EvidenceWeights.of(calibration(args.weights or WEIGHTS))
    library = Library.open(args.library, 1)
    for title, painter in (("All that training draws", Painter(library)), ("As at a table", Painter(library, *_TABLE))):
        held = HeldOutFigures()
        for number in range(args.scenes):
            scene = painter.scene((_SEED, number))
            held.add(scene, match(scene, eye.candidates(scene.image)), weights)
        print(f"{title}\n{held.lines()}\n\n{reliability_table(held.scored)}\n\n{summary(held.scored)}\n")
    args.out.mkdir(parents=True, exist_ok=True)
    plot = args.out / "reliability.png"
    save_chart(held.scored, "Reliability on held-out decks, fonts and scenes", plot)
    print(f"{plot}; {time.process_time() - begin:.0f} s of CPU time")


if __name__ == "__main__":
    main()
