"""An eye that knows the truth: the readings of a perfect reader in a frame of the simulated table.

It receives each frame's instant instead of reading pixels, so a test of the watcher can tell the watcher's mistakes
from an eye's. It respects visibility: an index under a hand, under another card or seen too steeply is not
found, and a card of which no index is free is not found at all.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.simulated.pictures.scene import Scene
from hardware.simulated.table.acts import Burn, CardPose, Lay, Take
from hardware.simulated.table.paths import HandPlace, swing_angle, swung
from hardware.simulated.table.simulated_table import SimulatedTable
from models.eye.eye import CardSeen

Quad = NDArray[np.float64]
_REMEMBERED = 64
"""Number of past frames that may be read."""


class TruthEye:
    """Show it every frame before reading. ``slips`` is the share of sightings that it misses or misreads."""

    def __init__(self, table: SimulatedTable, slips: float = 0.0, seed: int = 1) -> None:
        self.scene: Scene = table.scene
        self._shown: deque[tuple[NDArray[np.uint8], int]] = deque(maxlen=_REMEMBERED)
        self.calls = 0
        self._slips, self._chance = slips, Random(seed)

    def show(self, image: NDArray[np.uint8], t: int) -> None:
        """Remember the instant of a frame, because it may be read later on."""
        self._shown.append((image, t))

    def recognise(self, image: NDArray[np.uint8]) -> Sequence[CardSeen]:
        self.calls += 1
        return self._noisy(self._visible(next(t for shown, t in self._shown if shown is image)))

    def read_at(
        self, image: NDArray[np.uint8], region: tuple[int, int, int, int], card_height: float | None = None
    ) -> Sequence[CardSeen]:
        x0, y0, x1, y1 = region
        middle = [(seen, seen.corners.mean(0)) for seen in self.recognise(image)]
        return [seen for seen, (x, y) in middle if x0 <= x < x1 and y0 <= y < y1]

    def _noisy(self, seen: list[CardSeen]) -> list[CardSeen]:
        kept = []
        for reading in seen:
            roll = self._chance.random()
            if roll < self._slips / 2:
                continue
            wrong = roll < self._slips
            card = self._chance.choice("23456789TJQKA") + self._chance.choice("shdc") if wrong else reading.card
            confidence = self._chance.uniform(0.4, 0.93) if wrong else reading.confidence
            kept.append(replace(reading, card=card, confidence=confidence))
        return kept

    def _visible(self, t: int) -> list[CardSeen]:
        scene = self.scene
        layers: list[tuple[str, Quad]] = []
        places = [p for player in scene.players if (p := player.at(t)) is not None]
        for place in places:
            if isinstance(place.act, Burn) and not place.act.top and t < place.act.t:
                layers += self._tucked(place, place.act)
        layers += [("" if card == "back" else card, self._flat(pose)) for card, pose in scene.pile.cards]
        layers += self._swept(t)
        for place in places:
            if not isinstance(place.act, Lay) or t >= place.act.rest:
                continue
            if (quad := self._carried(place, place.act, t)) is not None:
                layers.append((place.act.card if t >= place.act.t else "", quad))
        arms = [self._arm(place) for place in places]
        found = (self._seen(card, quad, layers[k + 1 :], arms) for k, (card, quad) in enumerate(layers) if card)
        return [seen for seen in found if seen is not None]

    def _flat(self, pose: CardPose, dx: float = 0.0, dy: float = 0.0) -> Quad:
        height, width = self.scene.deck.picture("back").shape[:2]
        corners = np.array([[0, 0, 1], [width, 0, 1], [width, height, 1], [0, height, 1.0]])
        placed = self.scene.flat(CardPose(pose.x + dx, pose.y + dy, pose.turn)) @ corners.T
        return np.asarray(placed.T[:, :2], np.float64)

    def _tucked(self, place: HandPlace, act: Burn) -> list[tuple[str, Quad]]:
        at = next(v for v in self.scene.players[place.seat - 1].visits if v.act is act).at
        dx, dy = place.tip[0] - at[0], place.tip[1] - at[1]
        tucked = list(zip(act.cards, act.poses, strict=True))
        return [(card, self._flat(pose, dx, dy)) for card, pose in reversed(tucked)]

    def _swept(self, t: int) -> list[tuple[str, Quad]]:
        take = next((a for a in self.scene.acts_near(t) if isinstance(a, Take) and a.starts <= t < a.ends), None)
        gone = self.scene._gone
        if take is None or gone is None:
            return []
        player = self.scene.players[take.seat - 1]
        drawn = next(v for v in player.visits if v.act is take).drawn(t)
        x, y = player.outward
        return [(card, self._flat(pose, x * drawn, y * drawn)) for card, pose in gone.cards]

    def _carried(self, place: HandPlace, lay: Lay, t: int) -> Quad | None:
        angle = swing_angle(lay, t)
        if abs(math.cos(math.radians(angle))) < 0.6:
            return None
        return np.array([self.scene.px(*corner) for corner in swung(lay, place.tip, angle, self.scene.deck.size)])

    def _arm(self, place: HandPlace) -> NDArray[np.float32]:
        tip, elbow = np.array(self.scene.px(*place.tip)), np.array(self.scene.px(*place.elbow))
        along = (elbow - tip) / np.linalg.norm(elbow - tip)
        across = np.array([-along[1], along[0]]) * 26 * self.scene.scale
        return np.array([tip - across, tip + across, elbow + across, elbow - across], np.float32)

    def _seen(
        self, card: str, quad: Quad, above: Sequence[tuple[str, Quad]], arms: Sequence[NDArray[np.float32]]
    ) -> CardSeen | None:
        covers = [q.astype(np.float32) for _, q in above] + list(arms)
        right, down = quad[1] - quad[0], quad[3] - quad[0]
        free = []
        for u, v in ((0.09, 0.11), (0.91, 0.89)):
            ends = [quad[0] + right * (u + du) + down * (v + dv) for du in (-0.04, 0.04) for dv in (-0.07, 0.07)]
            if not any(_inside(cover, point) for cover in covers for point in ends):
                free.append(quad[0] + right * u + down * v)
        if not free:
            return None
        mine = quad.astype(np.float32)
        least = 0.03 * cv2.contourArea(mine)
        beneath = any(cv2.intersectConvexConvex(mine, q.astype(np.float32))[0] > least for _, q in above)
        return CardSeen(card, 0.97, quad, not beneath, 0.02 if beneath else 0.98, np.array(free))


def _inside(polygon: NDArray[np.float32], point: NDArray[np.float64]) -> bool:
    return cv2.pointPolygonTest(polygon.reshape(-1, 1, 2), (float(point[0]), float(point[1])), False) >= 0
