"""Cards without an index, as found on heaps: blanks, pictures, lists of rules, foreign backs and jokers."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.geometry import Image
from models.training.art import FACE_H, FACE_W
from models.training.library import Library, with_alpha


def _stock(rng: np.random.Generator) -> NDArray[np.float32]:
    """Return a card's paper colour: white, cream, or any pale colour."""
    white = rng.uniform(215, 255)
    return np.asarray(np.clip(white - rng.uniform(0, 30, 3) * (rng.random() < 0.5), 0, 255), np.float32)


def _picture(rng: np.random.Generator, library: Library, width: int, height: int) -> Image:
    """Return a part of a background, a court or a back, of any size and turn."""
    if rng.random() < 0.5:
        pool = library.backgrounds
        picture = np.asarray(pool[int(rng.integers(len(pool)))])
    else:
        picture = np.asarray(library.faces[int(rng.integers(len(library.faces)))])[..., :3]
        # Only the middle: no index of the card may show.
        picture = picture[FACE_H // 4 : FACE_H * 3 // 4, FACE_W // 4 : FACE_W * 3 // 4]
    side = int(rng.integers(40, min(picture.shape[:2]) + 1))
    y, x = (int(rng.integers(0, whole - side + 1)) for whole in picture.shape[:2])
    part = np.rot90(picture[y : y + side, x : x + side], int(rng.integers(4)))
    return np.asarray(cv2.resize(np.ascontiguousarray(part), (width, height)), np.uint8)


def draw(rng: np.random.Generator, library: Library) -> Image:
    """Draw a face without an index, BGRA with rounded corners."""
    face = np.full((FACE_H, FACE_W, 3), _stock(rng), np.float32)
    kind = rng.random()
    if kind < 0.3:
        pass  # blank
    elif kind < 0.5:  # a picture or a back to the edge
        face = _picture(rng, library, FACE_W, FACE_H).astype(np.float32)
    elif kind < 0.8:  # within a border
        rim = int(rng.integers(6, 40))
        face[rim:-rim, rim:-rim] = _picture(rng, library, FACE_W - 2 * rim, FACE_H - 2 * rim)
    elif kind < 0.9:  # a few figures somewhere
        for _ in range(int(rng.integers(1, 4))):
            w, h = int(rng.integers(30, 150)), int(rng.integers(30, 150))
            y, x = int(rng.integers(20, FACE_H - h - 20)), int(rng.integers(20, FACE_W - w - 20))
            face[y : y + h, x : x + w] = _picture(rng, library, w, h)
    else:  # stripes, or lines as of print
        step, ink = int(rng.integers(6, 40)), rng.uniform(0, 200, 3)
        much = rng.uniform(0.3, 1.0)
        for y in range(step, FACE_H - step, step):
            x = int(rng.integers(0, FACE_W // 3))
            band = face[y : y + max(1, int(step * rng.uniform(0.2, 0.6))), x : FACE_W - x]
            band[:] = band * (1 - much) + ink * much
        if rng.random() < 0.5:
            face = np.ascontiguousarray(cv2.resize(np.rot90(face), (FACE_W, FACE_H)))
    return with_alpha(np.clip(face, 0, 255).astype(np.uint8), float(rng.uniform(0.025, 0.075)))
