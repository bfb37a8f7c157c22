"""How far the eye can be relied on, on held-out scenes: `make eval-held-back`.

The scenes are of decks and fonts that no network was trained on (split 1 of the library), drawn by the training's own
painter from seeds that neither training nor calibration uses. `make bench` does the like without the training packages.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np

from models.evaluation.reliability import ScoredReading, reliability_table, save_chart, summary, wilson
from models.eye import card_name
from models.eye.classes import SURE_READING, UNREAD
from models.eye.eye import Eye
from models.eye.networks import WEIGHTS, calibration
from models.training.confidence_fit import match, true_card
from models.training.library import Library
from models.training.scene_truth import Scene
from models.training.scenes import Painter

#: First number of the scenes' seeds; calibration draws its own from 4001.
SEED = 9001
#: Heights of cards, px, and how bad a photograph may be, where people have hung the camera with some care.
TABLE = ((90.0, 400.0), 0.4)
#: An index is to be read if so much of it shows.
SHOWS = 0.95


@dataclass(slots=True)
class Held:
    """Counts over scenes. A card is to be read if an index of it shows; a bare one of those is a top."""

    cards: int = 0
    right: int = 0
    sure: int = 0
    tops: int = 0
    tops_right: int = 0
    tops_sure: int = 0
    said: list[ScoredReading] = field(default_factory=list)
    corners: list[float] = field(default_factory=list)


def take_in(held: Held, eye: Eye, scene: Scene, weights: card_name.EvidenceWeights) -> None:
    """Read one scene and add what became of its cards."""
    found = [(m, *card_name.judged(m.candidate, weights)) for m in match(scene, eye.candidates(scene.image))]
    named = [(m, name, confidence) for m, name, confidence in found if name != UNREAD]
    held.said += [ScoredReading(confidence, m.truth == name) for m, name, confidence in named]
    held.corners += [m.corner_error for m, name, _ in named if m.truth == name]
    best: dict[str, float] = {}
    for m, name, confidence in named:
        if m.truth == name:
            best[name] = max(best.get(name, 0.0), confidence)
    for card, bare in readable(scene):
        confidence = best.get(card, 0.0)
        held.cards += 1
        held.right += confidence > 0
        held.sure += confidence >= SURE_READING
        if bare:
            held.tops += 1
            held.tops_right += confidence > 0
            held.tops_sure += confidence >= SURE_READING


def readable(scene: Scene) -> Iterator[tuple[str, bool]]:
    """The cards with an index that shows, and whether nothing lies on them."""
    for k in sorted({i.card for i in scene.indices if min(i.rank_seen, i.suit_seen) > SHOWS}):
        name = true_card(scene, k)
        if name is not None:
            yield name, scene.cards[k].covered < 0.004


def lines(held: Held) -> str:
    """The figures in words."""
    firm = [s for s in held.said if s.confidence >= SURE_READING]
    wrong, sure = sum(not s.right for s in firm), len(firm)
    low, high = wilson(wrong, sure)
    return "\n".join(
        [
            _share("cards with an index in sight: read rightly", held.right, held.cards),
            _share("said with 0.9 or more", held.sure, held.cards),
            _share("bare ones of them: read rightly", held.tops_right, held.tops),
            _share("said with 0.9 or more", held.tops_sure, held.tops),
            _share("wrong among all readings said with 0.9 or more", wrong, sure)
            + f", 95 %: {100 * low:.2f} to {100 * high:.2f} %",
            f"worst corner, in heights of the card: median {np.median(held.corners or [0]):.3f}",
        ]
    )


def _share(what: str, part: int, whole: int) -> str:
    return f"{what}: {part} of {whole} = {100 * part / max(1, whole):.2f} %"


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
    for title, painter in (("All that training draws", Painter(library)), ("As at a table", Painter(library, *TABLE))):
        held = Held()
        for number in range(args.scenes):
            take_in(held, eye, painter.scene((SEED, number)), weights)
        print(f"{title}\n{lines(held)}\n\n{reliability_table(held.said)}\n\n{summary(held.said)}\n")
    args.out.mkdir(parents=True, exist_ok=True)
    plot = args.out / "reliability.png"
    save_chart(held.said, "Reliability on held-out decks, fonts and scenes", plot)
    print(f"{plot}; {time.process_time() - begin:.0f} s of CPU time")


if __name__ == "__main__":
    main()
