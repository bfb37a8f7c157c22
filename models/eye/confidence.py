"""What tells a right reading from a wrong one: the signs that the confidence of a card is made of.

The confidence is a logistic function of these signs. Its weights are fitted on held-out synthetic scenes, and then
lowered by a constant until little of what is said with 0.9 or more was wrong there (`models/training/confidence_fit.py` says
how little): photographs hold surprises that drawn scenes do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from models.eye.classes import CARDS, RANKS, SUITS
from models.eye.reader import Reading, sigmoid

if TYPE_CHECKING:
    from models.eye.card_join import Candidate

_RANK = np.array([RANKS.index(c[0]) for c in CARDS])
_SUIT = np.array([SUITS.index(c[1]) for c in CARDS])
#: The signs, in the order of their weights in calibration.json; the last is the constant.
SIGNS = ("odds", "weaker", "index", "height", "agreeing", "whole", "dissent", "heat", "one")
#: An index logit above this is a clear index.
CLEAR = 2.0


def log_odds(p: float) -> float:
    """Logit of a probability, kept from infinity."""
    return float(np.log(max(p, 1e-9)) - np.log(max(1 - p, 1e-9)))


def _marginal(chances: NDArray[np.float64], group: NDArray[np.intp], best: int) -> float:
    return float(chances[group == group[best]].sum())


def _own(reading: Reading, best: int) -> float:
    """The probability that one index alone gives to the card."""
    return float(np.exp(reading.rank[_RANK[best]] + reading.suit[_SUIT[best]]))


def signs(card: Candidate, logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """The signs of the likeliest card of `logs` (log-probabilities of `CARDS`, (54,)): a number for each of `SIGNS`."""
    best = int(logs.argmax())
    chances = np.exp(logs)
    clear = [r for r in card.readings if r.index > CLEAR]
    agreeing = sum(_own(r, best) > 0.5 for r in clear)
    whole = 0.0
    if card.whole is not None:
        said = float(np.exp(card.whole.rank[_RANK[best]] + card.whole.suit[_SUIT[best]]))
        whole = sigmoid(card.whole.bare) * float(np.clip(log_odds(said), -6, 8))
    return np.array(
        [
            np.clip(log_odds(float(chances[best])), -4, 14),
            np.clip(min(log_odds(_marginal(chances, g, best)) for g in (_RANK, _SUIT)), -4, 14),
            np.clip(max(r.index for r in card.readings), -6, 12),
            np.clip(np.log2(max(max(s.height for s in card.spots), 1.0)), 2.5, 6.0),
            min(max(agreeing - 1, 0), 1),
            whole,
            min(sum(_own(r, best) < 0.2 for r in clear), 2),
            np.clip(max(log_odds(s.score) for s in card.spots), -3, 6),
            1.0,
        ]
    )
