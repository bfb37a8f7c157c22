"""Accuracy on decks with the letters of other languages, never enrolled: `make letters-check`.

The simulated packs of every family with every language's letters, in heaps of one to five cards as in
`make enrol-check`. The pictures of one deck are read in order, as in a game: the letters in one tell the eye how
to read the next. ``--alone`` reads each picture by itself.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import cv2

from hardware.simulated.decks.packs import PrintedDeck
from models.eye.eye import Eye
from tests.support.unusual_packs import foreign_packs
from tools.measure.enrol_check import SCALE, Score, score

_SEED = 41


def measure(pictures: int, weights: Path | None = None, one_deck: bool = True) -> dict[str, tuple[Score, list[str]]]:
    """Return by language the counts over all its packs, ``pictures`` of each, and the language found for each pack."""
    found: dict[str, tuple[Score, list[str]]] = defaultdict(lambda: (Score(), []))
    for number, (language, family) in enumerate(foreign_packs()):
        eye = Eye.load(weights, one_deck=one_deck)
        got = score(eye, PrintedDeck(family, SCALE), pictures, seed=_SEED + number)
        total, told = found[language]
        total.add(got)
        told.append(eye.language or "-")
    return dict(found)


def lines(found: dict[str, tuple[Score, list[str]]]) -> list[str]:
    """Return the table, with a last row of sums."""
    out = ["| letters | pictures | right % | said >= 0.9 % | wrong >= 0.9 | told of each pack |", "| --- " * 6 + "|"]
    everything = Score()
    for language, (got, told) in found.items():
        everything.add(got)
        out.append(f"| {language} | {_figures(got)} | {', '.join(told)} |")
    out.append(f"| all | {_figures(everything)} | |")
    return out + [f"  wrong: {which}" for which in everything.which]


def _figures(got: Score) -> str:
    shares = (f"{100 * part / max(1, got.pictures):.1f}" for part in (got.right, got.sure))
    return f"{got.pictures} | {' | '.join(shares)} | {got.wrong}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tools.measure.letters_check", description=__doc__)
    parser.add_argument("--pictures", type=int, default=20, help="pictures to read of each of the 27 packs")
    parser.add_argument("--weights", type=Path, help="a folder of weights (default: the package's)")
    parser.add_argument("--alone", action="store_true", help="each picture by itself")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    print("\n".join(lines(measure(args.pictures, args.weights, not args.alone))), flush=True)


if __name__ == "__main__":
    main()
