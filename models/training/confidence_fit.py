"""Fits the confidence of readings, end to end on held-out synthetic scenes.

The scenes are of decks and fonts that no network was trained on. Three parts are fitted in turn: the whole-card
network's bareness, the weights of the evidence (least negative log-likelihood of the true card), and a logistic
calibration of "this reading is right". Real photographs play no part.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye import card_name, heaps
from models.eye.card_name import SIGNS, signs
from models.eye.classes import CARD_CLASSES
from models.eye.eye import Eye
from models.eye.finder import Finder
from models.eye.networks import open_networks
from models.eye.reader import CardReader, Reader
from models.training.heldout import HeldOutFigures, SceneMatch, match
from models.training.library import Library
from models.training.scenes import Painter

#: Accepted share of wrong cards among those with 0.9 or more, on the scenes fitted on. Half of these are blurred, dark
#: or tiny beyond ordinary play; at a table it comes to less than one in a thousand. The number was chosen by
#: `python -m tools.measure.held_back`.
_WRONG = 0.0075
#: Share of a card that may be hidden while it counts as bare, and from which it counts as covered (as in training).
_BARELY, _COVERED = 0.004, 0.02
#: Share of heaps topped by a card without an index, and share of the scenes, in the fit of "bare".
_ODD_TOPS, _FOR_BARE = 0.5, 0.5


def fit_evidence(matches: list[SceneMatch], weights: card_name.EvidenceWeights) -> card_name.EvidenceWeights:
    """Fit the three weights of the evidence by coordinate search, by the likelihood of the true card."""
    named = [(m.candidate, CARD_CLASSES.index(m.truth)) for m in matches if m.truth is not None]
    for _ in range(2):
        for name in ("one", "each", "card"):
            tried = []
            for value in (0.15, 0.25, 0.35, 0.5, 0.65, 0.8, 1.0, 1.2, 1.4, 1.7, 2.0):
                changed = card_name.EvidenceWeights.of({**asdict(weights), name: value})
                logs = [float(card_name.evidence(candidate, changed)[true]) for candidate, true in named]
                tried.append((-float(np.mean(np.maximum(logs, -12))), value, changed))
            weights = min(tried, key=lambda trial: trial[:2])[2]
    return weights


def fit_confidence(matches: list[SceneMatch], weights: card_name.EvidenceWeights) -> card_name.EvidenceWeights:
    """Fit a logistic regression of "right" on the signs."""
    logs = [card_name.evidence(m.candidate, weights) for m in matches]
    x = np.array([signs(m.candidate, log) for m, log in zip(matches, logs, strict=True)])
    y = np.array([float(m.truth == CARD_CLASSES[int(log.argmax())]) for m, log in zip(matches, logs, strict=True)])
    beta = regress(x, y, np.array([0.8] + [0.0] * (len(SIGNS) - 1)))
    beta[-1] -= caution(x @ beta, y)
    return replace(weights, signs=tuple(round(float(b), 4) for b in beta))


def unfitted_eye(folder: Path, bare: tuple[float, float]) -> Eye:
    """Return the eye with the networks in a folder, with only "bare" fitted."""
    finder, reader, card = open_networks(folder, threads=1)
    weights = card_name.EvidenceWeights(bare=bare)
    return Eye(Finder(finder), Reader(reader), CardReader(card, bare=bare), weights)


def fit_bare(painter: Painter, eye: Eye, scenes: int) -> tuple[float, float]:
    """Calibrate the whole-card network's logit for "nothing lies on this card"; return slope and offset.

    The data are the uppermost cards with both ends in sight, from which a heap's top is reported. ``painter`` must lay
    a card without an index on every second heap, and ``eye`` must be uncorrected.
    """
    logits, bare = [], []
    for i in range(scenes):
        scene = painter.scene((4002, i))
        found = eye.candidates(scene.image)
        matches = match(scene, found)
        for k, _ in heaps.uppermost(found):
            known = matches[k].truth is not None and not _BARELY < matches[k].covered < _COVERED
            if known and heaps.shows_both_ends(found[k]):
                logits.append(found[k].bare)
                bare.append(float(matches[k].covered <= _BARELY))
    slope, offset = regress(np.column_stack([logits, np.ones(len(logits))]), np.array(bare), np.array([1.0, 0.0]))
    return round(float(slope), 3), round(float(offset), 3)


def regress(x: NDArray[np.float64], y: NDArray[np.float64], begin: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights (k,) of a logistic regression of y (n,), 0 or 1, on x (n, k): Newton with slight ridge."""
    beta = begin.copy()
    for _ in range(40):
        p = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
        gradient = x.T @ (p - y) + 0.5 * beta
        hessian = (x * (p * (1 - p))[:, None]).T @ x + 0.5 * np.eye(len(beta))
        beta -= np.linalg.solve(hessian, gradient)
    return beta


def caution(logits: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    """Return by how much to lower all logits so that at most `_WRONG` of those at 0.9 or more are wrong; at least 0."""
    order = np.argsort(-logits)
    wrong = np.cumsum(1 - right[order]) / np.arange(1, len(order) + 1)
    fine = np.flatnonzero(wrong <= _WRONG)
    least = float(logits[order[fine[-1]]]) if len(fine) else float(logits.max())
    return max(0.0, least - float(np.log(9)))


def main() -> None:
    """Fit and write calibration.json (command line)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/eye"))
    parser.add_argument("--weights", type=Path, default=Path("models/weights"))
    parser.add_argument("--scenes", type=int, default=400)
    args = parser.parse_args()
    cv2.setNumThreads(1)
    target = args.weights / "calibration.json"
    if not target.exists():
        target.write_text("{}\n")  # weights cannot be opened without it
    library = Library.open(args.out / "library", 1)
    odd, begin = Painter(library, odd_tops=_ODD_TOPS), unfitted_eye(args.weights, (1.0, 0.0))
    bare = fit_bare(odd, begin, round(args.scenes * _FOR_BARE))
    eye, painter = unfitted_eye(args.weights, bare), Painter(library)
    scenes, matches = [], []
    for i in range(args.scenes):
        scene = painter.scene((4001, i))
        matches.append(match(scene, eye.candidates(scene.image)))
        scenes.append(replace(scene, image=np.zeros((0, 0, 3), np.uint8)))  # keeping all pictures would fill the memory
    half = args.scenes // 2
    first = [m for each in matches[:half] for m in each]
    if not first:
        raise SystemExit(f"no card was found in {half} scenes: train the networks for more steps, then fit")
    weights = fit_confidence(first, fit_evidence(first, card_name.EvidenceWeights(bare=bare)))
    for title, part in (("fitted on", slice(0, half)), ("checked on", slice(half, None))):
        figures = HeldOutFigures()
        for scene, found in zip(scenes[part], matches[part], strict=True):
            figures.add(scene, found, weights)
        print(f"{title}\n{figures.lines()}\n")
    target.write_text(json.dumps(asdict(weights), indent=1) + "\n")
    print(target.read_text())


if __name__ == "__main__":
    main()
