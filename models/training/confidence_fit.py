"""Fit what turns readings into one honest confidence, end to end on held-out synthetic scenes.

The scenes are of decks and fonts that no network was trained on. Fitted: the weights of the evidence (least negative
log-likelihood of the true card), then a logistic calibration of "this reading is right". Real photographs play no part.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye import card_join, card_name, heaps
from models.eye.card_name import SIGNS, signs
from models.eye.classes import CARD_CLASSES, RANK_CLASSES, SUIT_CLASSES
from models.eye.eye import Eye
from models.training.library import Library
from models.training.scene_truth import Scene
from models.training.scenes import Painter

#: Share of wrong ones that is borne among the cards said with 0.9 or more, on the scenes fitted on. Half of these are
#: blurred, dark or tiny beyond what people would play with; at a table it comes to less than one in a thousand
#: (`python -m tools.measure.held_back`, which this number was chosen by).
WRONG = 0.0075


@dataclass(slots=True)
class Match:
    """A candidate of a scene and the true card in its place (None where there is none)."""

    candidate: card_join.Candidate
    truth: str | None
    top_said: bool
    top_true: bool | None
    corner_error: float


def true_card(scene: Scene, k: int) -> str | None:
    """The name of card k, None for a back."""
    card = scene.cards[k]
    return None if card.rank < 0 else RANK_CLASSES[card.rank] + SUIT_CLASSES[card.suit]


def match(scene: Scene, found: list[card_join.Candidate]) -> list[Match]:
    """Each candidate with the card whose index it stands on."""
    out = []
    tops = heaps.tops(found)
    for i, candidate in enumerate(found):
        spot = candidate.spots[0]
        best, owner = 0.4 * spot.height, None
        for index in scene.indices:
            distance = float(np.linalg.norm(index.centre - spot.centre))
            if distance < best and float(index.up @ spot.up) > 0 and max(index.rank_seen, index.suit_seen) > 0.1:
                best, owner = distance, index.card
        if owner is None:
            out.append(Match(candidate, None, i in tops, None, 0.0))
            continue
        card = scene.cards[owner]
        side = float(np.linalg.norm(card.quad[0] - card.quad[3]))
        turned = min(
            float(np.linalg.norm(card.quad - q, axis=1).max()) for q in (candidate.quad, candidate.quad[[2, 3, 0, 1]])
        )
        bare = True if card.covered < 0.004 else (False if card.covered > 0.02 else None)
        out.append(Match(candidate, true_card(scene, owner), i in tops, bare, turned / side))
    return out


def _nll(matches: list[Match], weights: card_name.EvidenceWeights) -> float:
    named = [(card_name.evidence(m.candidate, weights), m.truth) for m in matches if m.truth is not None]
    total = [float(logs[CARD_CLASSES.index(truth)]) for logs, truth in named]
    return -float(np.mean(np.maximum(total, -12)))


def _with(weights: card_name.EvidenceWeights, name: str, value: float) -> card_name.EvidenceWeights:
    return card_name.EvidenceWeights.of({**asdict(weights), name: value})


def fit_evidence(matches: list[Match], weights: card_name.EvidenceWeights) -> card_name.EvidenceWeights:
    """Coordinate search over the three weights of the evidence."""
    grid = np.array([0.15, 0.25, 0.35, 0.5, 0.65, 0.8, 1.0, 1.2, 1.4, 1.7, 2.0])
    for _ in range(2):
        for name in ("one", "each", "card"):
            tried = [(_nll(matches, _with(weights, name, float(v))), float(v)) for v in grid]
            weights = _with(weights, name, min(tried)[1])
    return weights


def fit_confidence(matches: list[Match], weights: card_name.EvidenceWeights) -> card_name.EvidenceWeights:
    """Logistic regression of "right" on the signs, by Newton's method with a little ridge."""
    logs = [card_name.evidence(m.candidate, weights) for m in matches]
    x = np.array([signs(m.candidate, one) for m, one in zip(matches, logs, strict=True)])
    y = np.array([float(m.truth == CARD_CLASSES[int(one.argmax())]) for m, one in zip(matches, logs, strict=True)])
    beta = np.zeros(len(SIGNS))
    beta[0] = 0.8
    for _ in range(40):
        p = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
        gradient = x.T @ (p - y) + 0.5 * beta
        hessian = (x * (p * (1 - p))[:, None]).T @ x + 0.5 * np.eye(len(beta))
        beta -= np.linalg.solve(hessian, gradient)
    beta[-1] -= caution(x @ beta, y)
    return replace(weights, signs=tuple(round(float(b), 4) for b in beta))


def caution(logits: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    """How far all logits must sink until of those said with 0.9 or more at most `WRONG` were wrong; 0 if they are."""
    order = np.argsort(-logits)
    wrong = np.cumsum(1 - right[order]) / np.arange(1, len(order) + 1)
    fine = np.flatnonzero(wrong <= WRONG)
    least = float(logits[order[fine[-1]]]) if len(fine) else float(logits.max())
    return max(0.0, least - float(np.log(9)))


def report(matches: list[Match], weights: card_name.EvidenceWeights, wanted: int) -> dict[str, float]:
    """Figures on matched scenes; `wanted` is how many cards could be read at all."""
    said = [(m, *card_name.judged(m.candidate, weights)) for m in matches]
    right = [m.truth == card for m, card, _ in said]
    sure = [c >= 0.9 for _, _, c in said]
    false_sure = sum(s and not r for s, r in zip(sure, right, strict=True))
    tops = [m for m in matches if m.top_said and m.top_true is not None]
    return {
        "cards": wanted,
        "right": sum(right) / max(1, wanted),
        "right_sure": sum(r and s for r, s in zip(right, sure, strict=True)) / max(1, wanted),
        "false_sure": false_sure / max(1, sum(sure)),
        "tops_bare": float(np.mean([m.top_true for m in tops])) if tops else 0.0,
        "corners": float(np.median([m.corner_error for m in matches if m.truth is not None])),
    }


def readable(scene: Scene) -> int:
    """Cards with an index that shows whole."""
    return len({i.card for i in scene.indices if min(i.rank_seen, i.suit_seen) > 0.85})


def main() -> None:
    """Fit and write calibration.json from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/eye"))
    parser.add_argument("--weights", type=Path, default=Path("models/weights"))
    parser.add_argument("--scenes", type=int, default=400)
    args = parser.parse_args()
    cv2.setNumThreads(1)
    target = args.weights / "calibration.json"
    if not target.exists():
        target.write_text("{}\n")
    eye = Eye.load(args.weights)
    painter = Painter(Library.open(args.out / "library", 1))
    matches: list[Match] = []
    wanted = [0, 0]
    for i in range(args.scenes):
        scene = painter.scene((4001, i))
        matches += match(scene, eye.candidates(scene.image))
        wanted[i * 2 // args.scenes] += readable(scene)
        if i == args.scenes // 2 - 1:
            half = len(matches)
    first, second = matches[:half], matches[half:]
    weights = fit_confidence(first, fit_evidence(first, card_name.EvidenceWeights()))
    print("fitted on", report(first, weights, wanted[0]))
    print("checked on", report(second, weights, wanted[1]))
    target.write_text(json.dumps(asdict(weights), indent=1) + "\n")
    print(target.read_text())


if __name__ == "__main__":
    main()
