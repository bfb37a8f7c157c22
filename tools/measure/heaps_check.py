"""The still eye on heaps whose top card shows no index, on cards partly in glare, and on whole deals.

The cards are of the simulated table's packs, which no network was trained on, damaged as in `held_back`. On top of a
heap lies an untrained joker, a scoring card, a blank one or a back. Cards with indices in all four corners
lie alone and in heaps.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import cv2
import numpy as np

from hardware.simulated.decks.families import FAMILIES
from models.eye.classes import SURE_READING, UNREAD
from models.eye.eye import CardSeen, Eye
from models.eye.geometry import iou, overlap
from referee.share import wilson
from tests.models.evaluation.damaged import Scene, deal, glared, heap, single
from tests.support.odd_faces import ODD_FACES
from tools.measure.held_back import lies_there

SEED: Final = 90
COUNTS: Final = {"covered": 260, "plain": 200, "glared": 1000, "deals": 12, "four": 100}


@dataclass(slots=True)
class HeapFigures:
    """Counts over heaps."""

    heaps: int = 0
    below_on_top: int = 0
    """A card that lies under another is named with 0.9 or more and reported as a top."""
    top_told: int = 0
    """The top is reported: by its name, or as an unread card where it shows no index."""
    place: list[float] = field(default_factory=list)
    """Intersection over union of an unread top's corners with the true ones."""

    def add(self, scene: Scene, seen: Sequence[CardSeen]) -> None:
        """Add the readings of a heap."""
        self.heaps += 1
        upper = scene.cards[-1]
        tops = [s for s in seen if s.top]
        self.below_on_top += any(
            s.confidence >= SURE_READING
            and any(s.card == c.card and lies_there(c, s) and not c.bare for c in scene.cards)
            for s in tops
        )
        if upper.card in ODD_FACES:
            unread = [s for s in tops if s.card == UNREAD]
            self.top_told += bool(unread)
            if unread:
                quad = upper.quad.astype(np.float32)
                self.place.append(max(iou(quad, s.corners.astype(np.float32)) for s in unread))
        else:
            self.top_told += any(s.card == upper.card and lies_there(upper, s) for s in tops)


def is_twin(seen: Sequence[CardSeen]) -> bool:
    """Whether two names were reported for one place."""
    named = [s for s in seen if s.card != UNREAD]
    return any(overlap(a.corners, b.corners) > 0.3 for i, a in enumerate(named) for b in named[:i])


def _families() -> list[str]:
    return sorted(FAMILIES)


def covered(eye: Eye, count: int, faces: Sequence[str] | None = None, seed: int = SEED) -> HeapFigures:
    """Measure heaps topped by a card without an index."""
    figures, names = HeapFigures(), list(faces or ODD_FACES)
    for k in range(count):
        scene = heap(_families()[k // len(names) % 4], (seed, 1, k), names[k % len(names)])
        figures.add(scene, eye.recognise(scene.image))
    return figures


def plain(eye: Eye, count: int, seed: int = SEED) -> HeapFigures:
    """Measure heaps of ordinary cards; in every second one a card without an index lies under the top."""
    figures, names = HeapFigures(), list(ODD_FACES)
    for k in range(count):
        scene = heap(_families()[k % 4], (seed, 2, k), names[k % len(names)] if k % 2 else None, above=1)
        figures.add(scene, eye.recognise(scene.image))
    return figures


def twins(eye: Eye, count: int) -> tuple[int, int, int]:
    """Count cards with glare over an index: how many were read, read twice, and read twice with 0.9 each."""
    read = twice = sure = 0
    for k in range(count):
        seen = eye.recognise(glared(_families()[k % 4], (SEED, 3, k)).image)
        read += any(s.card != UNREAD for s in seen)
        twice += is_twin(seen)
        sure += is_twin([s for s in seen if s.confidence >= SURE_READING])
    return read, twice, sure


def deals(eye: Eye, count: int) -> tuple[int, int, int, int, float]:
    """Count whole packs in one picture: cards to read, right, sure but wrong names, read twice; seconds at worst."""
    cards = right = wrong = doubled = 0
    worst = 0.0
    for k in range(count):
        scene = deal(_families()[k % 4], (SEED, 4, k))
        begin = time.process_time()
        seen = eye.recognise(scene.image)
        worst = max(worst, time.process_time() - begin)
        sure = [s for s in seen if s.confidence >= SURE_READING and s.card != UNREAD]
        by_name = {c.card: c for c in scene.cards}
        cards += len(by_name)
        right += len({s.card for s in seen if s.card in by_name and lies_there(by_name[s.card], s)})
        wrong += sum(not (s.card in by_name and lies_there(by_name[s.card], s)) for s in sure)
        doubled += len(sure) - len({s.card for s in sure})
    return cards, right, wrong, doubled, worst


def four_indices(eye: Eye, count: int, in_heaps: bool, seed: int = SEED) -> tuple[int, int, int]:
    """Count cards with indices in all four corners: how many there are, how many are read, and how many of them twice;
    an index belongs to the uppermost card there.
    """
    cards = read = twice = 0
    for k in range(count):
        pack = f"{_families()[k % 4]}+"
        scene = heap(pack, (seed, 6, k), None) if in_heaps else single(pack, (seed, 5, k))
        seen = [s for s in eye.recognise(scene.image) if s.card != UNREAD]
        owners = [next((c for c in reversed(scene.cards) if lies_there(c, s)), None) for s in seen]
        cards += len(scene.cards)
        read += len({c.card for c, s in zip(owners, seen, strict=True) if c is not None and c.card == s.card})
        twice += sum(sum(c is owner for owner in owners) > 1 for c in scene.cards)
    return cards, read, twice


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tools.measure.heaps_check", description=__doc__)
    for name, count in COUNTS.items():
        parser.add_argument(f"--{name}", type=int, default=count, help=f"pictures (default {count})")
    parser.add_argument("--seed", type=int, default=SEED, help=f"of the heaps (default {SEED})")
    args = parser.parse_args(argv)
    cv2.setNumThreads(1)
    eye = Eye.load()
    for title, figures in (
        ("a card without an index on top", covered(eye, args.covered, seed=args.seed)),
        ("an ordinary card on top", plain(eye, args.plain, args.seed)),
    ):
        n = max(1, figures.heaps)
        low, high = wilson(figures.below_on_top, figures.heaps)
        print(
            f"heaps, {title}: {figures.heaps}; a card below named as the top with {SURE_READING:g}: "
            f"{figures.below_on_top} (95 %: {100 * low:.1f} to {100 * high:.1f} %); "
            f"the top told: {figures.top_told} = {100 * figures.top_told / n:.1f} %"
            + (f"; its place, IoU in the median {np.median(figures.place):.2f}" if figures.place else ""),
            flush=True,
        )
    read, twice, sure = twins(eye, args.glared)
    print(
        f"cards with glare over an index: {args.glared}; named: {read}; named twice: {twice}, both sure: {sure}",
        flush=True,
    )
    for where, in_heaps in (("alone", False), ("in heaps", True)):
        cards, read, twice = four_indices(eye, args.four, in_heaps, args.seed)
        print(f"cards with four indices, {where}: {cards}; read: {read}; told twice: {twice}", flush=True)
    cards, right, wrong, doubled, worst = deals(eye, args.deals)
    print(
        f"whole deals: {args.deals} of {cards // max(1, args.deals)} cards; "
        f"right: {100 * right / max(1, cards):.1f} %; wrong with {SURE_READING:g}: {wrong}; "
        f"a sure name twice: {doubled}; slowest {worst:.2f} s"
    )


if __name__ == "__main__":
    main()
