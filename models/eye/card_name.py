"""Names a card: the evidence of its indices and of the whole card, and the confidence in the name.

Evidence is added as log-probabilities with weights fitted on held-out synthetic scenes (two readings of one card share
its light and blur, so together they are worth less than twice one of them). The confidence is a logistic function of
signs that separate right readings from wrong ones. Its weights are fitted there, too, and then lowered by a constant
until few readings with 0.9 or more are wrong (`models/training/confidence_fit.py` gives the limit): photographs contain
surprises that drawn scenes lack.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from models.eye.card_join import Candidate
from models.eye.classes import CARD_CLASSES, UNREAD
from models.eye.letters import NEVER
from models.eye.reader import N_SUITS, RANK_OF_CARD, SUIT_OF_CARD, CardReading, Logs, Reading, card_logs, sigmoid

#: The signs, in the order of their weights in calibration.json; the last is the constant.
SIGNS = ("odds", "weaker", "index", "height", "agreeing", "whole", "dissent", "heat", "one")
#: An index logit above this is a clear index.
_CLEAR_INDEX = 2.0
#: Log odds of the likeliest name below which a card is looked at again; above, more looks changed no count.
_OPEN_ODDS = 5.0
#: Without colour a suit's shape misleads the networks, which learned suits by colour first: this share of their suit
#: probability is divided equally among all suits.
_SUIT_UNKNOWN = 0.4
#: Least probability of an alternative name, and the greatest number of alternatives.
LEAST_SHARE, MOST_NAMES = 0.01, 5


@dataclass(frozen=True, slots=True)
class EvidenceWeights:
    """Numbers of `weights/calibration.json`; the defaults are those of an unfitted eye."""

    #: Least logit of being an index for a spot to count.
    index: float = 0.0
    #: Least logit to report a card that the finder doubts, too: cloth and print look half like an index.
    alone: float = 2.0
    #: Weight of a single index's reading, of each if two agree on the place, and of the whole card's.
    one: float = 0.9
    each: float = 0.7
    card: float = 0.5
    #: Slope and offset that calibrate the whole-card network's logit.
    bare: tuple[float, float] = (1.0, 0.0)
    #: confidence = sigmoid(these · `signs`)
    signs: tuple[float, ...] = (1.0, *(0.0 for _ in SIGNS[1:]))
    #: Below this confidence a card counts as seen but not read.
    unread: float = 0.3

    @staticmethod
    def of(data: Mapping[str, Any]) -> EvidenceWeights:
        """Return the weights in `data`, with defaults for the rest."""
        names = EvidenceWeights.__dataclass_fields__
        lists = {k: tuple(float(v) for v in data[k]) for k in ("bare", "signs") if k in data}
        plain = {k: float(v) for k, v in data.items() if k in names and k not in lists}
        return replace(EvidenceWeights(), **plain, **lists)  # type: ignore[arg-type]


def is_likely(card: Candidate, weights: EvidenceWeights) -> bool:
    """Whether the reader accepts one of its indices as an index, or the finder is sure of the place."""
    return max(r.index for r in card.readings) >= weights.alone or max(s.score for s in card.spots) > 0.6


def evidence(card: Candidate, weights: EvidenceWeights) -> Logs:
    """Weighted log-probabilities of `CARD_CLASSES`, normalised."""
    each = weights.one if len(card.readings) == 1 else weights.each
    total = np.zeros(len(CARD_CLASSES))
    for reading in card.readings:
        # A doubtful index counts less.
        total += each * sigmoid(reading.index) * card_logs(reading.rank, reading.suit)
    if card.whole is not None:
        total += weights.card * sigmoid(card.whole.bare) * card_logs(card.whole.rank, card.whole.suit)
    total -= total.max()
    return np.asarray(total - np.log(np.exp(total).sum()))


def likeliest(card: Candidate, weights: EvidenceWeights) -> str:
    """Return the name that the evidence favours, however doubtful."""
    return CARD_CLASSES[int(evidence(card, weights).argmax())]


def _log_odds(p: float) -> float:
    """Return the logit of a probability, kept finite."""
    return float(np.log(max(p, 1e-9)) - np.log(max(1 - p, 1e-9)))


def is_open(card: Candidate, weights: EvidenceWeights) -> bool:
    """Whether a probable card has an uncertain name after one look, so that more looks may help."""
    return is_likely(card, weights) and _log_odds(float(np.exp(evidence(card, weights).max()))) < _OPEN_ODDS


def signs(card: Candidate, logs: Logs) -> NDArray[np.float64]:
    """Return a number for each of `SIGNS` for the likeliest card of `logs` (log-probabilities of `CARD_CLASSES`)."""
    best = int(logs.argmax())
    rank, suit = RANK_OF_CARD[best], SUIT_OF_CARD[best]
    chances = np.exp(logs)
    marginals = [float(chances[rank == RANK_OF_CARD].sum()), float(chances[suit == SUIT_OF_CARD].sum())]
    # The probability that each clear index gives the card on its own.
    alone = [float(np.exp(r.rank[rank] + r.suit[suit])) for r in card.readings if r.index > _CLEAR_INDEX]
    whole = 0.0
    if card.whole is not None:
        by_whole = float(np.exp(card.whole.rank[rank] + card.whole.suit[suit]))
        whole = sigmoid(card.whole.bare) * float(np.clip(_log_odds(by_whole), -6, 8))
    return np.array(
        [
            np.clip(_log_odds(float(chances[best])), -4, 14),
            np.clip(min(_log_odds(p) for p in marginals), -4, 14),
            np.clip(max(r.index for r in card.readings), -6, 12),
            np.clip(np.log2(max(max(s.height for s in card.spots), 1.0)), 2.5, 6.0),
            min(max(sum(p > 0.5 for p in alone) - 1, 0), 1),
            whole,
            min(sum(p < 0.2 for p in alone), 2),
            np.clip(max(_log_odds(s.score) for s in card.spots), -3, 6),
            1.0,
        ]
    )


def _certainty(card: Candidate, logs: Logs, weights: EvidenceWeights) -> float:
    """Return the confidence in the likeliest card of `logs`, the card's `evidence`, and at most its probability there.

    The limit matters for a letter that means one of two ranks: no sign beside it can decide which.
    """
    return min(sigmoid(float(np.dot(weights.signs, signs(card, logs)))), float(np.exp(logs.max())))


def judged(card: Candidate, weights: EvidenceWeights) -> tuple[str, float]:
    """Return the card's name, or `??`, and the confidence in it (for `??`, in the refused reading)."""
    logs = evidence(card, weights)
    confidence = _certainty(card, logs, weights)
    return CARD_CLASSES[int(logs.argmax())] if confidence >= weights.unread else UNREAD, confidence


Names = tuple[tuple[str, float], ...]
"""Names of a card and their probabilities, the likeliest first."""


def alternatives(card: Candidate, weights: EvidenceWeights, grey: bool = False) -> Names:
    """Return the card's possible names with probabilities, the likeliest first, whether or not it counts as read.

    The first has the calibrated confidence; the others share the rest of 1 in proportion to the evidence. In a ``grey``
    picture the suit is open, and no name is sure.
    """
    if grey:
        return _colourless_names(card, weights)
    logs = evidence(card, weights)
    best, confidence = int(logs.argmax()), _certainty(card, logs, weights)
    shares = confidence * np.exp(logs - logs[best])
    shares[best] = 0.0
    shares *= min(1.0, (1 - confidence) / max(float(shares.sum()), 1e-9))
    shares[best] = confidence
    order = [best, *(int(i) for i in np.argsort(-shares, kind="stable") if i != best and shares[i] >= LEAST_SHARE)]
    return tuple((CARD_CLASSES[i], float(shares[i])) for i in order[:MOST_NAMES])


def _colourless_names(card: Candidate, weights: EvidenceWeights) -> Names:
    """Return the names for a picture without colour: the rank as certain as ever, the suit guessed by its shape."""
    chances = np.exp(evidence(card, weights))
    suit = int(SUIT_OF_CARD[int(chances.argmax())])
    whole = None if card.whole is None else _in_suit(card.whole, suit)
    ranks = alternatives(replace(card, readings=[_in_suit(r, suit) for r in card.readings], whole=whole), weights)
    names: list[tuple[str, float]] = []
    for rank, share in ranks:
        alike = [i for i, name in enumerate(CARD_CLASSES) if name[0] == rank[0]]
        shapes = chances[alike] / max(float(chances[alike].sum()), 1e-12)
        shapes = (1 - _SUIT_UNKNOWN) * shapes + _SUIT_UNKNOWN / len(alike)
        names += [(CARD_CLASSES[i], float(share * shape)) for i, shape in zip(alike, shapes, strict=True)]
    names.sort(key=lambda named: -named[1])
    return (names[0], *((name, share) for name, share in names[1:MOST_NAMES] if share >= LEAST_SHARE))


_Read = TypeVar("_Read", Reading, CardReading)


def _in_suit(reading: _Read, suit: int) -> _Read:
    """Return the reading as if its suit were known."""
    known = np.full(N_SUITS, NEVER)
    known[suit] = 0.0
    return replace(reading, suit=known)
