"""Cards on cloth under changing cameras: each picture has its own pose, slant, light, focus and noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.simulated.decks.packs import PrintedDeck
from hardware.simulated.pictures.layers import stamp

Picture = NDArray[np.uint8]
WIDTH, HEIGHT = 640, 480


@dataclass(frozen=True, slots=True)
class Take:
    """The way a picture is taken."""

    scale: float = 1.0
    """Scale against the deck's own print, px a px."""
    tilt: float = 0.0
    """How much shorter the far edge is than the near one; the sign selects the far side."""
    light: float = 1.0
    warmth: float = 0.0
    shade: float = 0.0
    """How much darker the picture's left is than its right."""
    blur: float = 0.5
    noise: float = 3.0
    cloth: tuple[int, int, int] = (70, 95, 60)


def any_take(rng: np.random.Generator) -> Take:
    """Return another camera under another lamp: a deck learned in one light must still be read."""
    return Take(
        scale=float(rng.uniform(0.75, 1.2)),
        tilt=float(rng.uniform(-0.1, 0.1)),
        light=float(rng.uniform(0.6, 1.2)),
        warmth=float(rng.uniform(-0.15, 0.15)),
        shade=float(rng.uniform(-0.35, 0.35)),
        blur=float(rng.uniform(0.4, 1.5)),
        noise=float(rng.uniform(1, 8)),
        cloth=tuple(int(v) for v in rng.integers(30, 130, 3)),  # type: ignore[arg-type]
    )


@dataclass(frozen=True, slots=True)
class Laid:
    """A card's place: its middle (px), its turn (degrees)."""

    card: str
    x: float
    y: float
    turn: float


def pile(cards: Sequence[str], rng: np.random.Generator) -> list[Laid]:
    """Return the cards laid on one another, oldest first, a thumb's breadth apart at any angle."""
    middle = np.array([WIDTH, HEIGHT]) / 2 + rng.normal(0, 30, 2)
    places = middle + np.clip(rng.normal(0, 16, (len(cards), 2)), -45, 45)
    return [Laid(c, float(x), float(y), float(rng.uniform(0, 360))) for c, (x, y) in zip(cards, places, strict=True)]


def picture(deck: PrintedDeck, laid: Sequence[Laid], take: Take, rng: np.random.Generator) -> Picture:
    """Return the camera's picture of the cards, B,G,R."""
    image = np.empty((HEIGHT, WIDTH, 3), np.uint8)
    image[:] = take.cloth
    slant = _slant(take.tilt)
    for laid_card in laid:
        face = deck.picture(laid_card.card)
        h, w = face.shape[:2]
        turn = cv2.getRotationMatrix2D((w / 2, h / 2), laid_card.turn, take.scale)
        turn[:, 2] += [laid_card.x - w / 2, laid_card.y - h / 2]
        stamp(image, face, slant @ np.vstack([turn, [0, 0, 1]]))
    return _exposed(image, take, rng)


def _slant(tilt: float) -> NDArray[np.float64]:
    corners = np.array([[0, 0], [WIDTH, 0], [WIDTH, HEIGHT], [0, HEIGHT]], np.float32)
    far = corners.copy()
    inset = abs(tilt) * WIDTH / 2
    rows = (0, 1) if tilt > 0 else (3, 2)
    far[rows[0], 0] += inset
    far[rows[1], 0] -= inset
    return np.asarray(cv2.getPerspectiveTransform(corners, far), np.float64)


def _exposed(image: Picture, take: Take, rng: np.random.Generator) -> Picture:
    soft = cv2.GaussianBlur(image, (0, 0), take.blur)
    across = 1 + take.shade * np.linspace(-1, 1, WIDTH)[None, :, None]
    colour = np.array([1 - take.warmth, 1.0, 1 + take.warmth])
    lit = soft * (take.light * across * colour) + rng.normal(0, take.noise, image.shape)
    packed = cv2.imencode(".jpg", np.clip(lit, 0, 255).astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, 88])[1]
    return np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), np.uint8)
