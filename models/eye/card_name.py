"""What a card is: the evidence of its indices and of the whole card, and the confidence in a name.

Evidence is added as log-probabilities with weights fitted on held-out synthetic scenes (two readings of one card share
its light and blur, so together they are worth less than twice one of them), and the result is turned into a confidence
by a calibration fitted there too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.eye.card_join import Candidate, joint
from models.eye.classes import CARDS, UNREAD
from models.eye.confidence import SIGNS, signs
from models.eye.reader import sigmoid

NAMED = 0.01
"""Names less likely than this are left out of a card's alternatives ..."""
MOST_NAMED = 5
"""... and so are all after so many."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Numbers of `weights/calibration.json`; the defaults are what an unfitted eye would use."""

    #: Least logit of being an index for a spot to count.
    index: float = 0.0
    #: Least logit for one to be told as a card when the finder has doubts too: cloth and print look like half an index.
    alone: float = 2.0
    #: Weight of one index's reading, of each where two agree on the place, and of the whole card's.
    one: float = 0.9
    each: float = 0.7
    card: float = 0.5
    #: confidence = sigmoid(these · `confidence.signs`)
    signs: tuple[float, ...] = (1.0, *(0.0 for _ in SIGNS[1:]))
    #: Below this confidence the card is seen but not read.
    unread: float = 0.3

    @staticmethod
    def of(data: Mapping[str, Any]) -> Weights:
        """Those of the fields that `data` has."""
        names = Weights.__dataclass_fields__
        plain = {k: float(v) for k, v in data.items() if k in names and k != "signs"}
        fitted = replace(Weights(), **plain)  # type: ignore[arg-type]
        return replace(fitted, signs=tuple(float(v) for v in data["signs"])) if "signs" in data else fitted


def likely(card: Candidate, weights: Weights) -> bool:
    """The reader holds one of its indices for one, or the finder is sure of the place."""
    return max(r.index for r in card.readings) >= weights.alone or max(s.score for s in card.spots) > 0.6


def evidence(card: Candidate, weights: Weights) -> NDArray[np.float64]:
    """Weighted log-probabilities of `CARDS`, normalised."""
    each = weights.one if len(card.readings) == 1 else weights.each
    total = np.zeros(len(CARDS))
    for reading in card.readings:
        # An index that may be none says less.
        total += each * sigmoid(reading.index) * joint(reading.rank, reading.suit)
    if card.whole is not None:
        total += weights.card * sigmoid(card.whole.bare) * joint(card.whole.rank, card.whole.suit)
    total -= total.max()
    return np.asarray(total - np.log(np.exp(total).sum()))


def certainty(card: Candidate, logs: NDArray[np.float64], weights: Weights) -> float:
    """The confidence in the likeliest card of `logs`, which is the card's `evidence`."""
    return sigmoid(float(np.dot(weights.signs, signs(card, logs))))


def judged(card: Candidate, weights: Weights) -> tuple[str, float]:
    """The card's name, or `??`, and the confidence in it (of a refused reading, where it is not read)."""
    logs = evidence(card, weights)
    return told(CARDS[int(logs.argmax())], certainty(card, logs, weights), weights)


def told(name: str, confidence: float, weights: Weights) -> tuple[str, float]:
    """The name with its confidence, or `??` where that is too little to count as read."""
    return (name, confidence) if confidence >= weights.unread else (UNREAD, confidence)


def alternatives(card: Candidate, weights: Weights) -> tuple[tuple[str, float], ...]:
    """The names that the card may have and their probabilities, the likeliest first, whether it counts as read or not.

    The first has the calibrated confidence; the others are to it as the evidence says, as far as the rest of 1 reaches.
    """
    logs = evidence(card, weights)
    best, confidence = int(logs.argmax()), certainty(card, logs, weights)
    shares = confidence * np.exp(logs - logs[best])
    shares[best] = 0.0
    shares *= min(1.0, (1 - confidence) / max(float(shares.sum()), 1e-9))
    shares[best] = confidence
    order = [best, *(int(i) for i in np.argsort(-shares, kind="stable") if i != best and shares[i] >= NAMED)]
    return tuple((CARDS[i], float(shares[i])) for i in order[:MOST_NAMED])
