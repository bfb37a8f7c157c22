"""What deck memory adds to what the eye saw: a prior over the names of the next card, and who has the last word.

The prior is a mixture with what holds where memory has slipped: a hand dealt from the wrong pack, a burned card
missed, a stack shuffled. Where one name is certain (the next of a stack that is known), a slip leaves every name
alike; one in ten is assumed to begin with, far more than any table should have. Where names are only excluded (cards
that lie in the pile, or deeper in a stack), each stands for one place that is known, and one such place in fifty is
taken to be wrong. Both shares grow where sure readings have lately spoken against memory (`Trust`). So the odds
between two names move by 500 at most, 50 by exclusion: a reading of 0.998 or more is never reversed, and what is
certain by memory alone has 0.902.

Odds alone would still let memory win over a reading of 0.9. So the eye has the last word where it is sure: such a
reading stands, and if memory says otherwise the card is told with both, for people to decide (`NamedCard.candidates`).
Memory decides only between names that an unsure eye itself holds likely.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.eye.card_name import LEAST_SHARE, MOST_NAMES
from models.eye.classes import CARD_CLASSES, SURE_READING, UNREAD
from referee.engine.foresight import Foresight

LEAST_SLIP: Final = 0.1
"""Least share of cards for which memory is taken to be wrong."""
_MISPLACED: Final = 0.2
"""The share of slips for which one excluded card, chosen before, is not where it is known to be."""
_PREDICTIONS: Final = 20
"""So many of memory's latest predictions say how far it is to be trusted."""
MOST_CONFIDENCE: Final = 0.999
"""No confidence is higher than this."""
ECHO: Final = (1.0, 0.5, 0.25, 0.25, 0.25)
"""What the looks at one card count for, the clearest first: they share its light and blur, so they are no independent
witnesses."""
DOUBT: Final = 0.015
"""Share of every look that is spread over all names: one look may weigh as much as confidence 0.985."""

Candidates = tuple[tuple[str, float], ...]
"""Names and their probabilities, the likeliest first; what they lack to 1 belongs to no name in particular."""
Chances = NDArray[np.float64]
"""One number for each of `CARD_CLASSES`, (54,)."""

_PLACE: Final = {card: place for place, card in enumerate(CARD_CLASSES)}


@dataclass(frozen=True, slots=True)
class NamedCard:
    """What a card is told as."""

    card: str
    confidence: float
    candidates: Candidates = ()
    """What the eye alone made of it, where that did not settle the card or memory speaks against it."""


@dataclass(frozen=True, slots=True)
class Prior:
    """Deck memory's word on one card: which names may come."""

    may_come: NDArray[np.bool_]
    """For each of `CARD_CLASSES`, (54,)."""
    slip: float = LEAST_SLIP
    """How likely it is that memory is wrong."""

    @classmethod
    def of(cls, foresight: Foresight, seat: int | None, slip: float = LEAST_SLIP) -> Prior:
        """For the next card of a seat; None where nobody saw whose hand it was."""
        return cls(np.array([foresight.may_come(card, seat) for card in CARD_CLASSES]), slip)

    @property
    def chances(self) -> Chances:
        """Probability of each name; they sum to 1."""
        alike = np.full(len(CARD_CLASSES), 1 / len(CARD_CLASSES))
        if not self.may_come.any():
            return alike
        if self.certain:
            return np.asarray((1 - self.slip) * self.may_come + self.slip * alike)
        weights = np.where(self.may_come, 1.0, _MISPLACED * self.slip)
        return np.asarray(weights / weights.sum())

    @property
    def certain(self) -> bool:
        """Whether only one name may come."""
        return int(self.may_come.sum()) == 1

    def allows(self, card: str) -> bool:
        """Whether memory has nothing against this name."""
        return bool(self.may_come[_PLACE[card]]) or not self.may_come.any()


class Trust:
    """How often memory has been right of late, by the readings that needed no help."""

    def __init__(self) -> None:
        self._latest: deque[bool] = deque(maxlen=_PREDICTIONS)

    def note(self, told: NamedCard, prior: Prior | None) -> None:
        """Hold a card that was told against what memory had said of it; a name that it chose itself proves nothing."""
        if prior is None or told.confidence < SURE_READING or (told.candidates and prior.allows(told.card)):
            return
        if prior.certain or not prior.allows(told.card):
            self._latest.append(prior.allows(told.card))

    @property
    def slip(self) -> float:
        """How likely memory is to be wrong about the next card."""
        # As if one in ten had been wrong before the first.
        return max(LEAST_SLIP, (1 + self._latest.count(False)) / (10 + len(self._latest)))


def spread(candidates: Candidates) -> Chances:
    """One look as probabilities of all names: what it gives to some, and the rest for all alike."""
    chances = np.zeros(len(CARD_CLASSES))
    for name, p in candidates:
        chances[_PLACE[name]] = p
    chances += max(0.0, 1 - float(chances.sum())) / len(CARD_CLASSES)
    return np.asarray((1 - DOUBT) * chances / chances.sum() + DOUBT / len(CARD_CLASSES))


def seen(looks: Sequence[Candidates]) -> Chances:
    """All looks at one card as probabilities of all names, by the eye alone; even where there is none."""
    clear = sorted((spread(look) for look in looks), key=lambda chances: -float(chances.max()))
    logs = np.zeros(len(CARD_CLASSES))
    for weight, chances in zip(ECHO, clear, strict=False):
        logs += weight * np.log(chances)
    return _normal(logs)


def weighed(chances: Chances, prior: Prior) -> Chances:
    """The eye's probabilities times memory's (Bayes); they sum to 1."""
    return _normal(np.log(chances) + np.log(prior.chances))


def judge(name: str, sure: float, looks: Sequence[Candidates], prior: Prior | None) -> NamedCard:
    """What a card is to be told as.

    Args:
        name: what the eye believes, ``??`` where it believes nothing.
        sure: its confidence in that.
        looks: what each look at the card made of it.
        prior: memory's word; None where there is none.
    """
    if sure >= SURE_READING and name != UNREAD:
        if prior is None:
            return NamedCard(name, sure)
        # The looks together, but with the name believed as firmly as it is.
        place, chances = _PLACE[name], seen(looks)
        rest = np.delete(chances, place)
        chances = np.insert(rest / rest.sum() * (1 - min(sure, MOST_CONFIDENCE)), place, min(sure, MOST_CONFIDENCE))
        if not prior.allows(name):
            return NamedCard(name, sure, likeliest(chances, prior))
        return NamedCard(name, max(sure, min(MOST_CONFIDENCE, float(weighed(chances, prior)[place]))))
    chances = seen(looks)
    if prior is not None:
        after = weighed(chances, prior)
        best = int(after.argmax())
        if after[best] >= SURE_READING and chances[best] >= LEAST_SLIP and prior.allows(CARD_CLASSES[best]):
            return NamedCard(CARD_CLASSES[best], min(MOST_CONFIDENCE, float(after[best])), likeliest(chances))
    return NamedCard(name, sure, likeliest(chances) if looks else ())


def likeliest(chances: Chances, prior: Prior | None = None) -> Candidates:
    """The names worth telling, the likeliest first; the one that is certain by memory among them."""
    order = [int(place) for place in np.argsort(-chances, kind="stable")[:MOST_NAMES] if chances[place] >= LEAST_SHARE]
    if prior is not None and prior.certain:
        certain = int(prior.may_come.argmax())
        if certain not in order:
            order.append(certain)
    return tuple((CARD_CLASSES[place], round(float(chances[place]), 3)) for place in order)


def _normal(logs: Chances) -> Chances:
    chances = np.exp(logs - logs.max())
    return np.asarray(chances / chances.sum())
