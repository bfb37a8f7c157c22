"""Read indices and whole cards: small classifiers on upright patches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.eye.classes import RANKS, SUITS
from models.eye.finder import Spot
from models.eye.geometry import CROP_H, CROP_W, Image, Points, card_frame, cut_card, cut_patch
from models.eye.networks import Network

Logs = NDArray[np.float64]
R, S = len(RANKS), len(SUITS)


def log_softmax(x: Logs) -> Logs:
    """Logarithms of the probabilities of logits, along the last axis."""
    shifted = x - x.max(-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(-1, keepdims=True)))


def sigmoid(x: float) -> float:
    """Probability of a logit."""
    return float(1 / (1 + np.exp(-np.clip(x, -40, 40))))


@dataclass(frozen=True, slots=True)
class Reading:
    """What one index says: log-probabilities of rank and suit, and the logit of being an upright index at all."""

    rank: Logs
    suit: Logs
    index: float


@dataclass(frozen=True, slots=True)
class CardReading:
    """What the rectified card says: log-probabilities, the logit that nothing lies on it, and its corners (px)."""

    rank: Logs
    suit: Logs
    bare: float
    quad: Points


class Reader:
    """The index reader."""

    def __init__(self, network: Network) -> None:
        self._network = network

    def read(self, levels: Sequence[Image], spots: Sequence[Spot]) -> list[Reading]:
        """Read each spot; `levels` from `geometry.pyramid`."""
        if not spots:
            return []
        out = self._network(np.stack([cut_patch(levels, s.centre, s.up) for s in spots])).astype(np.float64)
        rank, suit = log_softmax(out[:, :R]), log_softmax(out[:, R : R + S])
        return [Reading(rank[i], suit[i], float(out[i, R + S])) for i in range(len(spots))]


class CardReader:
    """The reader of whole cards: pips and picture, cover and corners."""

    def __init__(self, network: Network) -> None:
        self._network = network

    def read(self, levels: Sequence[Image], frames: Sequence[tuple[Points, Points, Points]]) -> list[CardReading]:
        """Read each card given by centre and half axes (up, right)."""
        if not frames:
            return []
        out = self._network(np.stack([cut_card(levels, *f) for f in frames])).astype(np.float64)
        rank, suit = log_softmax(out[:, :R]), log_softmax(out[:, R : R + S])
        return [CardReading(rank[i], suit[i], bare, quad) for i, (bare, quad) in enumerate(self._cover(out, frames))]

    @staticmethod
    def _cover(out: Logs, frames: Sequence[tuple[Points, Points, Points]]) -> list[tuple[float, Points]]:
        """Of each card the logit that nothing lies on it, and its corners."""
        half, middle = np.array([CROP_W / 2, CROP_H / 2]), np.array([(CROP_W - 1) / 2, (CROP_H - 1) / 2])
        told = []
        for i, frame in enumerate(frames):
            m = card_frame(*frame)
            local = out[i, R + S + 1 :].reshape(4, 2) * half + middle
            told.append((float(out[i, R + S]), local @ m[:, :2].T + m[:, 2]))
        return told
