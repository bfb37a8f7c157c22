"""Copies of what was seen of a deck, as a network sees them: some to learn from, and worse ones to test on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.decks.discriminant import Floats, Ints
from models.decks.looks import varied
from models.eye.classes import CARDS, RANKS, SUITS
from models.eye.geometry import Image
from models.eye.networks import Network
from models.eye.reader import R, S, log_softmax

#: Worse copies of each patch, and how much worse they are; they tell how sure a reading may be.
TESTS, HARD = 4, 1.5


@dataclass(frozen=True, slots=True)
class Batch:
    """Features, ordinary log-probabilities of rank and suit, and the cards they are of."""

    features: NDArray[np.float32]
    ordinary: tuple[Floats, Floats]
    index: Floats
    cards: Ints
    labels: tuple[Ints, Ints]

    @staticmethod
    def read(patches: Image, cards: Sequence[str], network: Network) -> Batch:
        """Show a network patches of the cards named."""
        out, features = network.with_features(patches)
        logs = out.astype(np.float64)
        return Batch(
            features,
            (log_softmax(logs[:, :R]), log_softmax(logs[:, R : R + S])),
            logs[:, R + S],
            np.array([CARDS.index(c) for c in cards], np.int64),
            (
                np.array([RANKS.index(c[0]) for c in cards], np.int64),
                np.array([SUITS.index(c[1]) for c in cards], np.int64),
            ),
        )

    def where(self, kept: NDArray[np.bool_]) -> Batch:
        """Some of the rows."""
        ranks, suits = self.ordinary
        return Batch(
            self.features[kept], (ranks[kept], suits[kept]), self.index[kept], self.cards[kept],
            (self.labels[0][kept], self.labels[1][kept]),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Samples:
    """Copies to learn from, and worse ones to test on."""

    learn: Batch
    test: Batch

    @staticmethod
    def of(
        patches: Sequence[tuple[Image, str]],
        network: Network,
        size: tuple[int, int],
        copies: int,
        rng: np.random.Generator,
    ) -> Samples:
        """Make so many copies of each patch, ``size`` (width, height) px, and show them to the network."""
        stack, names = np.stack([p for p, _ in patches]), [c for _, c in patches]
        near = Batch.read(varied(stack, size, copies, rng), [c for c in names for _ in range(copies)], network)
        far = varied(stack, size, TESTS, rng, HARD)
        return Samples(near, Batch.read(far, [c for c in names for _ in range(TESTS)], network))

    def where(self, kept: NDArray[np.bool_]) -> Samples:
        """The copies of some of the patches, (N,)."""
        copies = len(self.learn.cards) // len(kept)
        return Samples(self.learn.where(np.repeat(kept, copies)), self.test.where(np.repeat(kept, TESTS)))
