"""A simulated table whose cloth has four faces printed on it, one of them at the pile's place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from hardware.simulated.decks.families import FAMILIES
from hardware.simulated.decks.packs import PrintedDeck
from hardware.simulated.pictures.layers import stamp
from hardware.simulated.pictures.scene import Scene
from hardware.simulated.table.acts import Act, CardPose
from models.eye.classes import CARD_CLASSES

PRINTS: Final = 4
_INK: Final = 0.85
"""The ink's opacity on the cloth."""


class PrintedScene(Scene):
    """The seed chooses the faces, their deck and their places."""

    def __init__(self, acts: Sequence[Act], seats: int, **options: Any) -> None:
        super().__init__(acts, seats, **options)
        chance = np.random.default_rng((self.seed, 71))
        ours = self.deck.family.name
        family = str(chance.choice([name for name in FAMILIES if name != ours]))
        deck = PrintedDeck(family, self.scale, self.seed)
        self.prints = tuple(str(card) for card in chance.choice(CARD_CLASSES[:52], PRINTS, replace=False))
        """The faces' names."""
        places = [(0.0, 0.0), (-150.0, -70.0), (150.0, -80.0), (130.0, 110.0)]
        for card, (x, y) in zip(self.prints, places, strict=True):
            x, y = x + float(chance.uniform(-15, 15)), y + float(chance.uniform(-15, 15))
            face = deck.picture(card).copy()
            face[..., :3] = np.clip(face[..., :3] * (0.9 * self.brightness(x, y)), 0, 255)
            face[..., 3] = face[..., 3] * _INK
            stamp(self.bare, face, self.flat(CardPose(x, y, float(chance.uniform(-180, 180)))))
        self._base = self.bare
