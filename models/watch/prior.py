"""Adds deck memory to what the eye saw: a prior over the names of the next card, and rules for which one decides.

The prior is a mixture that allows for errors of memory: a hand dealt from the wrong pack, a missed burned card, a
shuffled stack. Where one name is certain (the next card of a known stack), an error makes all names equally likely; its
initial probability is one in ten, far more than any table should have. Where names are only excluded (cards in the
pile, or deeper in a stack), each exclusion rests on one known place, and one such place in fifty is assumed wrong. Both
shares grow when sure readings have lately contradicted memory (`Trust`). So the odds between two names change by a
factor of at most 500, or 50 by exclusion: a reading of 0.998 or more is never reversed, and a card certain by memory
alone has confidence 0.902.

By odds alone, memory would still overrule a reading of 0.9. So a sure reading stands, and if memory contradicts it the
card is reported with both names, for players to decide (`NamedCard.candidates`). Memory decides only between names that
an unsure eye itself considers likely.
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
"""Least share of cards for which memory is assumed wrong."""
_MISPLACED: Final = 0.2
"""Share of slips in which one given excluded card is not where it is known to be."""
_PREDICTIONS: Final = 20
"""Number of memory's latest predictions that determine how far it is trusted."""
MOST_CONFIDENCE: Final = 0.999
"""Upper limit of every confidence."""
ECHO: Final = (1.0, 0.5, 0.25, 0.25, 0.25)
"""Weights of the looks at one card, the clearest first: they share its light and blur, so they are not independent."""
DOUBT: Final = 0.015
"""Share of every look that is spread over all names: one look may weigh as much as confidence 0.985."""

Candidates = tuple[tuple[str, float], ...]
"""Names and their probabilities, the likeliest first; the remainder to 1 belongs to no particular name."""
Chances = NDArray[np.float64]
"""One number for each of `CARD_CLASSES`, (54,)."""

_PLACE: Final = {card: place for place, card in enumerate(CARD_CLASSES)}


@dataclass(frozen=True, slots=True)
class NamedCard:
    """The name under which a card is reported."""

    card: str
    confidence: float
    candidates: Candidates = ()
    """The eye's own candidates, if the eye did not settle the card or memory contradicts it."""


@dataclass(frozen=True, slots=True)
class Prior:
    """Deck memory's prediction for one card: which names may come."""

    may_come: NDArray[np.bool_]
    """For each of `CARD_CLASSES`, (54,)."""
    slip: float = LEAST_SLIP
    """Probability that memory is wrong."""

    @classmethod
    def of(cls, foresight: Foresight, seat: int | None, slip: float = LEAST_SLIP) -> Prior:
        """Return the prior for a seat's next card; ``seat`` None: unknown hand."""
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
        """Whether memory does not rule out this name."""
        return bool(self.may_come[_PLACE[card]]) or not self.may_come.any()


class Trust:
    """Share of recent cards on which memory was right, judged by readings that needed no help."""

    def __init__(self) -> None:
        self._latest: deque[bool] = deque(maxlen=_PREDICTIONS)

    def note(self, told: NamedCard, prior: Prior | None) -> None:
        """Compare a reported card with memory's prediction; a name that memory chose itself proves nothing."""
        if prior is None or told.confidence < SURE_READING or (told.candidates and prior.allows(told.card)):
            return
        if prior.certain or not prior.allows(told.card):
            self._latest.append(prior.allows(told.card))

    @property
    def slip(self) -> float:
        """Probability that memory is wrong about the next card."""
        # Start as if one in ten earlier predictions had been wrong.
        return max(LEAST_SLIP, (1 + self._latest.count(False)) / (10 + len(self._latest)))


def spread(candidates: Candidates) -> Chances:
    """Return one look as probabilities of all names; the share it leaves over is divided equally."""
    chances = np.zeros(len(CARD_CLASSES))
    for name, p in candidates:
        chances[_PLACE[name]] = p
    chances += max(0.0, 1 - float(chances.sum())) / len(CARD_CLASSES)
    return np.asarray((1 - DOUBT) * chances / chances.sum() + DOUBT / len(CARD_CLASSES))


def seen(looks: Sequence[Candidates]) -> Chances:
    """Return all looks at one card as probabilities of all names, by the eye alone; uniform without looks."""
    clear = sorted((spread(look) for look in looks), key=lambda chances: -float(chances.max()))
    logs = np.zeros(len(CARD_CLASSES))
    for weight, chances in zip(ECHO, clear, strict=False):
        logs += weight * np.log(chances)
    return _normal(logs)


def weighed(chances: Chances, prior: Prior) -> Chances:
    """Return the eye's probabilities times memory's (Bayes); they sum to 1."""
    return _normal(np.log(chances) + np.log(prior.chances))


def judge(name: str, sure: float, looks: Sequence[Candidates], prior: Prior | None) -> NamedCard:
    """Return the name and confidence to report for a card.

    Args:
        name: the eye's name, ``??`` if it has none.
        sure: its confidence in that name.
        looks: the candidates of each look at the card.
        prior: memory's prediction; None if there is none.
    """
    if sure >= SURE_READING and name != UNREAD:
        if prior is None:
            return NamedCard(name, sure)
        # Combine the looks, but keep the eye's own confidence in the name.
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
    """Return the names worth reporting, the likeliest first, including one that memory is certain of."""
    order = [int(place) for place in np.argsort(-chances, kind="stable")[:MOST_NAMES] if chances[place] >= LEAST_SHARE]
    if prior is not None and prior.certain:
        certain = int(prior.may_come.argmax())
        if certain not in order:
            order.append(certain)
    return tuple((CARD_CLASSES[place], round(float(chances[place]), 3)) for place in order)


def _normal(logs: Chances) -> Chances:
    chances = np.exp(logs - logs.max())
    return np.asarray(chances / chances.sum())
