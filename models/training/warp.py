"""What straightens no line: a lens that bows them, cards that curl. One smooth displacement of the finished picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from models.training.scene_truth import Card, Index

Image = NDArray[np.uint8]
Field = NDArray[np.float32]
Points = NDArray[np.float64]


class Bend:
    """A field of displacements, px: the bent picture at p shows the flat one at p + field(p)."""

    def __init__(self, field: Field) -> None:
        self.field = field
        self.size = field.shape[0]

    @staticmethod
    def drawn(rng: np.random.Generator, size: int) -> Bend:
        """Barrel or pincushion, and a waviness that makes straight edges curl; small against a card."""
        axis = (np.arange(size, dtype=np.float32) - size / 2) / (size / 2)
        x, y = np.meshgrid(axis, axis)
        bow = float(rng.normal(0, 0.05)) * (x * x + y * y) * (size / 2)
        field = np.dstack([x * bow, y * bow])
        waves = rng.normal(0, rng.uniform(0, 0.009) * size, (6, 6, 2)).astype(np.float32)
        return Bend((field + cv2.resize(waves, (size, size), interpolation=cv2.INTER_CUBIC)).astype(np.float32))

    def picture(self, image: Image) -> Image:
        """The bent picture."""
        grid = np.arange(self.size, dtype=np.float32)
        x, y = np.meshgrid(grid, grid)
        return np.asarray(
            cv2.remap(
                image,
                x + self.field[..., 0],
                y + self.field[..., 1],
                cv2.INTER_LINEAR,
                borderMode=cv2.BORDER_REFLECT,
            ),
            np.uint8,
        )

    def points(self, flat: Points) -> Points:
        """Where points (n, 2) of the flat picture show in the bent one: p = flat − field(p), by iteration."""
        p = flat.astype(np.float64)
        for _ in range(6):
            i = np.clip(np.round(p).astype(int), 0, self.size - 1)
            p = flat - self.field[i[:, 1], i[:, 0]]
        return p

    def indices(self, found: Sequence[Index]) -> list[Index]:
        """The same indices where they show."""
        if not found:
            return []
        ends = self.points(np.array([p for i in found for p in (i.centre, i.centre + i.up)]))
        return [replace(i, centre=ends[2 * k], up=ends[2 * k + 1] - ends[2 * k]) for k, i in enumerate(found)]

    def cards(self, laid: Sequence[Card]) -> list[Card]:
        """The same cards with their corners where they show."""
        return [replace(card, quad=self.points(card.quad)) for card in laid]
