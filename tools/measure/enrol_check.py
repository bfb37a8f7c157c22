"""Accuracy on unusual decks before and after `referee enrol`, on the simulated packs: `make enrol-check`.

The deck is laid in one light, card on card, two seconds each. Then it is read in other pictures: heaps of one to five
cards, at any angle, with the camera slanted, nearer and farther, in other lights, blurs and noises.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np

from hardware.simulated.decks.families import Family
from hardware.simulated.decks.packs import PrintedDeck, all_cards
from models.decks.enrolment import Knowledge
from models.decks.lookout import Lookout
from models.eye.eye import Eye
from referee.setup.decks.contact_sheet import draw_contact_sheet
from referee.setup.decks.dialogue import ORDER, DeckDialogue, DeckNotice
from tests.models.table_view.tabletop import HEIGHT, WIDTH, Laid, Picture, Take, any_take, picture, pile
from tests.support.unusual_packs import UNUSUAL

SCALE = 1.7
PACE_NS = 2_000_000_000
"""A card every two seconds."""
FRAME_NS = 200_000_000
LAYING = Take(light=0.95, blur=0.6, noise=3.0)


def session(
    deck: PrintedDeck, cards: Sequence[str], seed: int = 1, take: Take = LAYING
) -> Iterator[tuple[Picture, int]]:
    """Yield frames and their instants (ns): the bare cloth, then card on card, each coming in from the side."""
    rng = np.random.default_rng(seed)
    heap: list[Laid] = []
    t = 0
    for _ in range(4):
        yield picture(deck, heap, take, rng), t
        t += FRAME_NS
    for card in cards:
        x, y = np.array([WIDTH, HEIGHT]) / 2 + np.clip(rng.normal(0, 6, 2), -14, 14)
        turn = float(rng.normal(0, 8))
        for k in range(PACE_NS // FRAME_NS):
            away = max(0, 4 - k) * 90.0
            yield picture(deck, [*heap[-3:], Laid(card, float(x) + away, float(y), turn)], take, rng), t
            t += FRAME_NS
        heap.append(Laid(card, float(x), float(y), turn))


def lay(
    lookout: Lookout, frames: Iterator[tuple[Picture, int]], order: Sequence[str] = ORDER
) -> tuple[DeckDialogue, list[DeckNotice]]:
    """Lay a deck; return the accepted cards and all reports. Doubtful cards are kept, because the order is right."""
    laying = DeckDialogue(lookout, order)
    told: list[DeckNotice] = []
    for image, t in frames:
        words = laying.feed(image, t)
        if any(w.kind in ("twice", "other") for w in words):
            words += laying.type_line("keep")
        told += words
    return laying, told


@dataclass(slots=True)
class Score:
    """Counts over pictures: top cards read right, those said with 0.9 or more, and errors with 0.9 or more."""

    pictures: int = 0
    right: int = 0
    sure: int = 0
    wrong: int = 0
    which: list[str] = field(default_factory=list)

    def add(self, other: Score) -> None:
        """Add the counts of other pictures."""
        for name in ("pictures", "right", "sure", "wrong"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.which += other.which


def score(eye: Eye, deck: PrintedDeck, pictures: int, seed: int = 5, most: int = 5) -> Score:
    """Read seeded heaps of the deck."""
    rng, out = np.random.default_rng(seed), Score()
    for _ in range(pictures):
        cards = [str(c) for c in rng.choice(all_cards(), int(rng.integers(1, most + 1)), replace=False)]
        seen = eye.recognise(picture(deck, pile(cards, rng), any_take(rng), rng))
        mine = [s for s in seen if s.card == cards[-1]]
        out.pictures += 1
        out.right += bool(mine)
        out.sure += bool(mine and mine[0].confidence >= 0.9)
        false = [s for s in seen if s.confidence >= 0.9 and s.card not in cards]
        out.wrong += len(false)
        out.which += [f"{s.card} {s.confidence:.2f} in {' '.join(cards)}" for s in false]
    return out


def learned(family: Family, lookout: Lookout) -> tuple[DeckDialogue, list[DeckNotice], Knowledge, float]:
    """Run the whole session: return the cards laid, reported and learned, and the computing seconds at its end."""
    laying, told = lay(lookout, session(PrintedDeck(family, SCALE), ORDER))
    began = time.process_time()
    known = lookout.learn([look for looks in laying.looks.values() for look in looks])
    return laying, told, known, time.process_time() - began


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tools.measure.enrol_check", description=__doc__)
    parser.add_argument("--pictures", type=int, default=200, help="pictures to read of each deck")
    parser.add_argument("--decks", nargs="*", default=list(UNUSUAL), choices=list(UNUSUAL), help="which decks")
    parser.add_argument("--sheets", type=Path, help="a folder for the contact sheets")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    print("| deck | before: right % | said >= 0.9 % | wrong | taken | still confused | after: right % | said >= 0.9 % "
          "| wrong | laying + computing, s |\n" + "| --- " * 10 + "|", flush=True)  # fmt: skip
    for name in args.decks:
        deck = PrintedDeck(UNUSUAL[name], SCALE)
        before = score(Eye.load(), deck, args.pictures)
        laying, told, known, seconds = learned(UNUSUAL[name], Lookout.load())
        after = score(Eye.load(deck=known), deck, args.pictures)
        doubts = sum(w.kind in ("twice", "other", "none", "blurred") for w in told)
        laid = len(ORDER) * PACE_NS / 1e9
        print(
            f"| {name} | {_percent(before)} | {before.wrong} | {len(laying.looks)} ({doubts} asked again) | "
            f"{len(known.confusions)} | {_percent(after)} | {after.wrong} | {laid:.0f} + {seconds:.0f} |",
            flush=True,
        )
        for c in known.confusions:
            print(f"  confused: {c.card} with {c.other}, {c.share:.2f}")
        for line in [f"  wrong: {w}" for w in after.which] + [
            f"  asked: {w.text}" for w in told if w.kind not in ("took", "lay")
        ]:
            print(line, flush=True)
        if args.sheets is not None:
            args.sheets.mkdir(parents=True, exist_ok=True)
            looks = [look for each in laying.looks.values() for look in each]
            cv2.imwrite(str(args.sheets / f"{name}.png"), draw_contact_sheet(looks, known, name))


def _percent(got: Score) -> str:
    return f"{100 * got.right / got.pictures:.1f} | {100 * got.sure / got.pictures:.1f}"


if __name__ == "__main__":
    main()
