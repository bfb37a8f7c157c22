"""Reads indices and whole cards: small classifiers on upright patches.

For a learned deck (`models.decks`), its knowledge is applied to the networks' features in place of their own last
layers; cover and corners of a card are read as for any deck.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from models.eye.classes import CARD_CLASSES, RANK_CLASSES, SUIT_CLASSES
from models.eye.finder import Spot
from models.eye.geometry import CROP_H, CROP_W, Image, Points, card_frame, cut_card, cut_patch
from models.eye.letters import GLYPHS, Letters
from models.eye.networks import Network

if TYPE_CHECKING:
    from models.decks.enrolment import Knowledge

Logs = NDArray[np.float64]
N_RANKS, N_SUITS = len(RANK_CLASSES), len(SUIT_CLASSES)
#: Position of the rank and of the suit of each of `CARD_CLASSES` in their lists, (54,).
RANK_OF_CARD = np.array([RANK_CLASSES.index(c[0]) for c in CARD_CLASSES])
SUIT_OF_CARD = np.array([SUIT_CLASSES.index(c[1]) for c in CARD_CLASSES])


def log_softmax(x: Logs) -> Logs:
    """Return log-probabilities from logits, along the last axis."""
    shifted = x - x.max(-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(-1, keepdims=True)))


@dataclass(frozen=True, slots=True)
class ClassScores:
    """A classifier's output for N pictures: log-probabilities of the glyph (N, glyphs) and of the suit (N, 6), and its
    other answers (N, ...) as logits."""

    glyph: Logs
    suit: Logs
    rest: Logs

    @staticmethod
    def of(out: NDArray[np.float32]) -> ClassScores:
        """Return the scores in a classifier's output."""
        logits, n = out.astype(np.float64), len(GLYPHS)
        glyph = log_softmax(logits[:, :n])
        suit, rest = log_softmax(logits[:, n : n + N_SUITS]), logits[:, n + N_SUITS :]
        return ClassScores(glyph, suit, rest)

    def ranks(self, letters: Letters | None = None, by_pips: bool = False) -> Logs:
        """Return log-probabilities of ranks (N, 14), given what is known of the deck's language (None: nothing).

        ``by_pips``: for whole cards, see `Letters.ranks`.
        """
        return (letters or Letters()).ranks(self.glyph, by_pips)


def card_logs(rank: Logs, suit: Logs) -> Logs:
    """Return log-probabilities of `CARD_CLASSES` (…, 54) from those of rank and suit."""
    return np.asarray(rank[..., RANK_OF_CARD] + suit[..., SUIT_OF_CARD])


def sigmoid(x: float) -> float:
    """Return the probability of a logit."""
    return float(1 / (1 + np.exp(-np.clip(x, -40, 40))))


@dataclass(frozen=True, slots=True)
class Reading:
    """One index's reading: log-probabilities of rank and suit, and the logit of being an upright index."""

    rank: Logs
    suit: Logs
    index: float


@dataclass(frozen=True, slots=True)
class CardReading:
    """The rectified card's reading: log-probabilities, the logit that nothing lies on it, and its corners (px)."""

    rank: Logs
    suit: Logs
    bare: float
    quad: Points


def _mean_logs(logs: Sequence[Logs]) -> Logs:
    """The normalised mean of log-probabilities."""
    return log_softmax(np.mean(logs, 0))


def mean_reading(views: Sequence[Reading]) -> Reading:
    """Return the combined reading of several looks at one index."""
    ranks, suits = _mean_logs([view.rank for view in views]), _mean_logs([view.suit for view in views])
    return Reading(ranks, suits, float(np.mean([view.index for view in views])))


def mean_names(views: Sequence[CardReading]) -> CardReading:
    """Return the first look at a card, with the combined name of all looks."""
    ranks, suits = _mean_logs([view.rank for view in views]), _mean_logs([view.suit for view in views])
    return replace(views[0], rank=ranks, suit=suits)


class Reader:
    """The index reader, for any deck or for a learned one."""

    def __init__(self, network: Network, deck: Knowledge | None = None) -> None:
        self._network, self._deck = network, deck

    def read(self, levels: Sequence[Image], spots: Sequence[Spot], letters: Letters | None = None) -> list[Reading]:
        """Read each spot; `levels` from `geometry.pyramid`.

        ``letters`` holds what is known of the deck's language, and records these readings.
        """
        if not spots:
            return []
        patches = np.stack([cut_patch(levels, s.centre, s.up) for s in spots])
        letters = Letters() if letters is None else letters
        if self._deck is None:
            scores = ClassScores.of(self._network(patches))
            letters.see(scores.glyph, scores.suit, scores.rest[:, 0])
            rank, suit, index = scores.ranks(letters), scores.suit, scores.rest[:, 0]
        else:
            found, features = self._network.with_features(patches)
            scores = ClassScores.of(found)
            rank = self._deck.rank.logs(features, scores.ranks())
            suit = self._deck.suit.logs(features, scores.suit)
            index = self._deck.index(features, scores.rest[:, 0])
        return [Reading(rank[i], suit[i], float(index[i])) for i in range(len(spots))]


class CardReader:
    """The reader of whole cards: pips and picture, cover and corners."""

    def __init__(self, network: Network, deck: Knowledge | None = None, bare: tuple[float, float] = (1.0, 0.0)) -> None:
        """``bare``: slope and offset that correct the network's bareness logit."""
        self._network, self._deck, self._bare = network, deck, bare

    def read(
        self,
        levels: Sequence[Image],
        frames: Sequence[tuple[Points, Points, Points]],
        letters: Letters | None = None,
    ) -> list[CardReading]:
        """Read each card given by centre and half axes (up, right), with what is known of the deck's language."""
        if not frames:
            return []
        crops = np.stack([cut_card(levels, *f) for f in frames])
        if self._deck is None:
            scores = ClassScores.of(self._network(crops))
            rank, suit = scores.ranks(letters, by_pips=True), scores.suit
        else:
            found, features = self._network.with_features(crops)
            scores = ClassScores.of(found)
            rank = self._deck.whole_rank.logs(features, scores.ranks(by_pips=True))
            suit = self._deck.whole_suit.logs(features, scores.suit)
        half, middle = np.array([CROP_W / 2, CROP_H / 2]), np.array([(CROP_W - 1) / 2, (CROP_H - 1) / 2])
        readings = []
        for i, frame in enumerate(frames):
            m = card_frame(*frame)
            corners = scores.rest[i, 1:].reshape(4, 2) * half + middle
            bare = self._bare[0] * float(scores.rest[i, 0]) + self._bare[1]
            readings.append(CardReading(rank[i], suit[i], bare, corners @ m[:, :2].T + m[:, 2]))
        return readings
