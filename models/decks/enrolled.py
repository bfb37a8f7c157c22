"""Readers of a learned deck: they take the place of the ordinary ones while that deck is on the table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.decks.enrolment import Knowledge
from models.eye.finder import Spot
from models.eye.geometry import Image, Points, cut_card, cut_patch
from models.eye.networks import Network
from models.eye.reader import CardReader, CardReading, R, Reader, Reading, S, log_softmax


class DeckReader(Reader):
    """Reads the indices of a learned deck."""

    def __init__(self, network: Network, deck: Knowledge) -> None:
        super().__init__(network)
        self._deck = deck

    def read(self, levels: Sequence[Image], spots: Sequence[Spot]) -> list[Reading]:
        """Read each spot; `levels` from `geometry.pyramid`."""
        if not spots:
            return []
        out, features = self._network.with_features(np.stack([cut_patch(levels, s.centre, s.up) for s in spots]))
        logs = out.astype(np.float64)
        rank = self._deck.rank.logs(features, log_softmax(logs[:, :R]))
        suit = self._deck.suit.logs(features, log_softmax(logs[:, R : R + S]))
        index = self._deck.index(features, logs[:, R + S])
        return [Reading(rank[i], suit[i], float(index[i])) for i in range(len(spots))]


class DeckCardReader(CardReader):
    """Reads pips and picture of a learned deck; cover and corners are told as of any deck."""

    def __init__(self, network: Network, deck: Knowledge) -> None:
        super().__init__(network)
        self._deck = deck

    def read(self, levels: Sequence[Image], frames: Sequence[tuple[Points, Points, Points]]) -> list[CardReading]:
        """Read each card given by centre and half axes (up, right)."""
        if not frames:
            return []
        out, features = self._network.with_features(np.stack([cut_card(levels, *f) for f in frames]))
        logs = out.astype(np.float64)
        rank = self._deck.whole_rank.logs(features, log_softmax(logs[:, :R]))
        suit = self._deck.whole_suit.logs(features, log_softmax(logs[:, R : R + S]))
        return [CardReading(rank[i], suit[i], bare, quad) for i, (bare, quad) in enumerate(self._cover(logs, frames))]
