"""A painted table for tests of the watcher: plain cards, arms and cloth, and an eye that knows the contents.

Cards are white quads with their own dark patterns; arms are bars from the picture's edge. Realistic pictures are
left to the simulated table and photographs. Here each picture holds just the subject of one test.
"""

from __future__ import annotations

import math
import zlib
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.eye import CardSeen

WIDTH, HEIGHT = 960, 720
CARD = (107.0, 150.0)
SPACING = 66_666_667
CLOTH, SKIN = (52, 74, 40), (120, 160, 205)


@dataclass(frozen=True, slots=True)
class Painted:
    """A card on the painted table: its middle (px), its turn (degrees) and its visibility."""

    card: str
    x: float
    y: float
    turn: float = 0.0
    read: bool = True
    """Whether the eye finds it."""
    says: str | None = None
    """The eye's reading instead of ``card``."""
    confidence: float = 0.97
    candidates: tuple[tuple[str, float], ...] = ()
    """The eye's other candidates, if it reports any."""
    bare: float | None = None
    """The eye's probability that it is uncovered, if that differs from the truth."""
    half_hidden: bool = False
    """Whether a hand hides one of its ends."""
    one_index: bool = False
    """Whether the eye finds only one of its indices, though both show."""

    @property
    def quad(self) -> NDArray[np.float64]:
        a = math.radians(self.turn)
        right = np.array([math.cos(a), math.sin(a)]) * CARD[0] / 2
        down = np.array([-math.sin(a), math.cos(a)]) * CARD[1] / 2
        middle = np.array([self.x, self.y])
        return np.array([middle - right - down, middle + right - down, middle + right + down, middle - right + down])

    def moved(self, x: float, y: float, turn: float = 0.0) -> Painted:
        return replace(self, x=self.x + x, y=self.y + y, turn=self.turn + turn)


@dataclass(slots=True)
class ToldEye:
    """Finds the painted cards in its list: those of a frame that it was shown, else the present ones."""

    cards: Sequence[Painted] = ()
    shown: deque[tuple[NDArray[np.uint8], Sequence[Painted]]] = field(default_factory=lambda: deque(maxlen=64))
    calls: int = 0
    regions: list[tuple[int, int, int, int]] = field(default_factory=list)

    def show(self, image: NDArray[np.uint8], cards: Sequence[Painted]) -> None:
        """Remember a frame's contents, because it may be read later on."""
        self.cards = cards
        self.shown.append((image, cards))

    def recognise(self, image: NDArray[np.uint8]) -> list[CardSeen]:
        return self.read_at(image, (0, 0, WIDTH, HEIGHT))

    def read_at(
        self, image: NDArray[np.uint8], region: tuple[int, int, int, int], card_height: float | None = None
    ) -> list[CardSeen]:
        self.calls += 1
        self.regions.append(region)
        out = []
        cards = next((cards for shown, cards in self.shown if shown is image), self.cards)
        for k, card in enumerate(cards):
            if card.read and region[0] <= card.x < region[2] and region[1] <= card.y < region[3]:
                bare, shown = 0.02 if _covered(cards, k) else 0.98, _indices(cards, k)
                bare = bare if card.bare is None else card.bare
                if card.half_hidden:
                    bare, shown = min(bare, 0.3), shown[:1]
                if card.one_index:
                    shown = shown[:1]
                top = bare > 0.5
                out.append(
                    CardSeen(card.says or card.card, card.confidence, card.quad, top, bare, shown, card.candidates)
                )
        return out


def _indices(cards: Sequence[Painted], k: int) -> NDArray[np.float64]:
    """Return the indices that no later card hides; at least one, because the card was read by one."""
    quad = cards[k].quad
    middle = quad.mean(0)
    both = [middle + (quad[corner] - middle) * 0.8 for corner in (0, 2)]
    above = [card.quad.astype(np.float32) for card in cards[k + 1 :]]
    free = [p for p in both if not any(cv2.pointPolygonTest(o, (float(p[0]), float(p[1])), False) > 0 for o in above)]
    return np.array(free or both[:1])


def _covered(cards: Sequence[Painted], k: int) -> bool:
    mine = cards[k].quad.astype(np.float32)
    above = (card.quad.astype(np.float32) for card in cards[k + 1 :])
    return any(cv2.intersectConvexConvex(mine, other)[0] > 50 for other in above)


def picture(
    cards: Sequence[Painted] = (), *arms: tuple[float, float, float] | None, noise: int = 0
) -> NDArray[np.uint8]:
    """Return the table with cards, lowest first, and arms: the bearing in degrees and the fingertip's place of each."""
    image = cloth().copy()
    for card in cards:
        face = drawn_face(card.card)
        source = np.array([[0, 0], [107, 0], [107, 150], [0, 150]], np.float32)
        matrix = cv2.getPerspectiveTransform(source, card.quad.astype(np.float32))
        cv2.warpPerspective(face, matrix, (WIDTH, HEIGHT), dst=image, borderMode=cv2.BORDER_TRANSPARENT)
    for bearing, x, y in (arm for arm in arms if arm is not None):
        far = (x + 900 * math.cos(math.radians(bearing)), y - 900 * math.sin(math.radians(bearing)))
        cv2.line(image, (int(x), int(y)), (int(far[0]), int(far[1])), SKIN, 56, cv2.LINE_AA)
    return cv2.add(image, grain(noise)) if noise else image


@cache
def cloth() -> NDArray[np.uint8]:
    """Return the bare table."""
    return np.full((HEIGHT, WIDTH, 3), CLOTH, np.uint8)


@cache
def drawn_face(card: str) -> NDArray[np.uint8]:
    """Return a card's own pattern of dark dots."""
    chance = np.random.default_rng(zlib.crc32(card.encode()))
    face = np.full((150, 107, 3), 238, np.uint8)
    for x, y in chance.uniform((18, 18), (89, 132), (9, 2)):
        cv2.circle(face, (int(x), int(y)), 9, (30, 30, 40), -1)
    return face


@lru_cache(maxsize=8)
def grain(seed: int) -> NDArray[np.uint8]:
    """Return sensor noise, 0 to 4 levels."""
    return np.random.default_rng(seed).integers(0, 5, (HEIGHT, WIDTH, 3), np.uint8)
