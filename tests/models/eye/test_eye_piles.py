"""The top card of messy piles, in decks never trained on: the live game depends on it."""

from dataclasses import dataclass

import cv2
import numpy as np
import pytest

from hardware.simulated.decks.families import FAMILIES
from hardware.simulated.decks.packs import PrintedDeck, all_cards
from models.eye.eye import Eye

SIZE, MIDDLE, PILES = 420, 210, 15


@dataclass(slots=True)
class Score:
    """Counts over the piles of one family."""

    read: int = 0
    sure: int = 0
    top: int = 0
    false_sure: int = 0


def lay(image: np.ndarray, picture: np.ndarray, x: float, y: float, angle: float) -> None:
    """Lay a BGRA picture (premultiplied) on the image, its middle at x, y."""
    h, w = picture.shape[:2]
    turn = cv2.getRotationMatrix2D((w / 2, h / 2), angle, 1)
    turn[:, 2] += [x - w / 2, y - h / 2]
    laid = cv2.warpAffine(picture, turn, (SIZE, SIZE))
    bare = 1 - laid[..., 3:].astype(np.float32) / 255
    image[:] = (image * bare + laid[..., :3]).clip(0, 255).astype(np.uint8)


def pile(deck: PrintedDeck, rng: np.random.Generator) -> tuple[np.ndarray, list[str]]:
    """Return one to seven cards up to 25 mm off the middle at any angle, and their names, oldest first."""
    image = np.clip(np.array([70, 95, 60]) + rng.normal(0, 5, (SIZE, SIZE, 3)), 0, 255).astype(np.uint8)
    names = [str(c) for c in rng.choice(all_cards(), int(rng.integers(1, 8)), replace=False)]
    for name in names:
        x, y = MIDDLE + np.clip(rng.normal(0, 14, 2), -42, 42)
        lay(image, deck.picture(name), float(x), float(y), float(rng.uniform(0, 360)))
    return np.asarray(cv2.GaussianBlur(image, (0, 0), 0.6), np.uint8), names


def score(eye: Eye, family: str, piles: int, seed: int = 5) -> Score:
    """Read seeded piles of a family."""
    deck, rng, out = PrintedDeck(family, 1.7), np.random.default_rng(seed), Score()
    for _ in range(piles):
        image, names = pile(deck, rng)
        seen = eye.read_at(image, (0, 0, SIZE, SIZE))
        mine = [s for s in seen if s.card == names[-1]]
        out.read += bool(mine)
        out.sure += bool(mine and mine[0].confidence >= 0.9)
        out.top += bool(mine and mine[0].top)
        out.false_sure += sum(s.confidence >= 0.9 and s.card not in names for s in seen)
    return out


@pytest.mark.parametrize("family", FAMILIES)
def test_the_top_card_is_read_and_known_for_the_top(family: str) -> None:
    got = score(Eye.load(), family, PILES)
    assert got.read == PILES
    assert got.sure >= PILES - 1
    assert got.top >= PILES - 1
    assert got.false_sure == 0
