"""The cards at rest, kept as one picture so that they need not be drawn again for each frame."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import cv2
import numpy as np

from hardware.simulated.pictures.canvas import Bytes
from hardware.simulated.pictures.layers import Matrix, darken, moved_by, over, smear
from hardware.simulated.table.acts import CardPose

if TYPE_CHECKING:
    from hardware.simulated.pictures.scene import Scene

PILE_MM = 112.0
"""Half the width of the square for the cards, unless a scene needs more."""


class PileLayer:
    """The cards at rest: their colours, coverage, and the shadow on the cloth."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.side = int(2 * scene.reach_mm * scene.scale)
        self.cards: list[tuple[str, CardPose]] = []
        self.clear()

    def clear(self) -> None:
        self.cards = []
        self.image = np.zeros((self.side, self.side, 4), np.uint8)
        self.shade = np.zeros((self.side, self.side), np.uint8)

    def add(self, card: str, pose: CardPose) -> None:
        """Lay one more card on top."""
        scene = self.scene
        # Update only the window within reach of the card and its shadow.
        half = math.hypot(*scene.deck.size) / 2 + 9 + 0.12 * len(self.cards)
        middle = self.side / scene.scale / 2
        x0, y0, x1, y1 = (
            min(max(0, round((middle + at + way * half) * scene.scale)), self.side)
            for way in (-1, 1)
            for at in (pose.x, pose.y)
        )
        if x0 >= x1 or y0 >= y1:
            raise ValueError(f"a card at {pose.x:.0f}, {pose.y:.0f} mm lies outside the pile's {scene.reach_mm:.0f} mm")
        window, size = np.s_[y0:y1, x0:x1], (x1 - x0, y1 - y0)
        corner = (self.side / 2 - scene.width / 2 - x0, self.side / 2 - scene.height / 2 - y0)
        matrix = moved_by(*corner) @ scene.flat(pose)
        spot = self.image[window]
        if self.cards:
            darken(spot[..., :3], self._shadow_of(matrix, size, 0.9, 0.34))
        fallen = self._shadow_of(matrix, size, 1.6 + 0.10 * len(self.cards), 0.42)
        self.shade[window] = cv2.max(self.shade[window], fallen)
        picture = cv2.warpAffine(scene.lit(card, pose), matrix[:2], size, flags=cv2.INTER_LINEAR)
        clear = cv2.bitwise_not(picture[..., 3])
        spot[:] = cv2.add(cv2.multiply(spot, cv2.merge((clear,) * 4), scale=1 / 255), picture)
        self.cards.append((card, pose))

    def _shadow_of(self, matrix: Matrix, size: tuple[int, int], offset: float, depth: float) -> Bytes:
        shadow, margin = self.scene.card_shadow
        fall = offset * self.scene.scale
        moved = moved_by(fall, fall * 1.2) @ matrix @ moved_by(-margin, -margin)
        warped = cv2.warpAffine(shadow, moved[:2], size, flags=cv2.INTER_LINEAR)
        return np.asarray(cv2.convertScaleAbs(warped, alpha=depth), dtype=np.uint8)

    def slip_under(self, cards: Sequence[tuple[str, CardPose]]) -> None:
        """Put cards below the others; the last one lies lowest."""
        lying = [*reversed(cards), *self.cards]
        self.clear()
        for card, pose in lying:
            self.add(card, pose)

    def draw(self, ground: Bytes, dx: float = 0.0, dy: float = 0.0, motion: tuple[float, float] = (0.0, 0.0)) -> None:
        """Draw the pile on a whole picture, moved by (dx, dy) px."""
        x, y = round(self.scene.width / 2 - self.side / 2 + dx), round(self.scene.height / 2 - self.side / 2 + dy)
        x0, y0 = max(0, x), max(0, y)
        x1, y1 = min(self.scene.width, x + self.side), min(self.scene.height, y + self.side)
        if x0 >= x1 or y0 >= y1:
            return
        part = np.s_[y0 - y : y1 - y, x0 - x : x1 - x]
        spot = ground[y0:y1, x0:x1]
        darken(spot, smear(self.shade, *motion)[part])
        over(spot, smear(self.image, *motion)[part])
