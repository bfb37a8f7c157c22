"""Backgrounds for cards: cloth, wood, carpet, print, tiles, all from noise and a few colours; and printed boxes."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.geometry import Image
from models.training.fonts import glyph

Field = NDArray[np.float32]
_SIZE = 640


def _noise(rng: np.random.Generator, fx: int, fy: int) -> Field:
    small = rng.normal(0, 1, (max(2, fy), max(2, fx))).astype(np.float32)
    return np.asarray(cv2.resize(small, (_SIZE, _SIZE), interpolation=cv2.INTER_CUBIC), np.float32)


def _octaves(rng: np.random.Generator, start: int, stretch: float = 1.0) -> Field:
    total = np.zeros((_SIZE, _SIZE), np.float32)
    gain, f = 1.0, start
    while f < _SIZE // 2:
        total += gain * _noise(rng, f, max(2, int(f * stretch)))
        gain *= float(rng.uniform(0.45, 0.9))
        f *= 2
    return np.asarray(total / (total.std() + 1e-6), np.float32)


def _colour(rng: np.random.Generator) -> Field:
    hsv = np.array([[[rng.integers(0, 180), rng.integers(0, 200), rng.integers(20, 245)]]], np.uint8)
    return np.asarray(cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR)[0, 0], np.float32)


def _mix(field: Field, a: Field, b: Field) -> Field:
    t = np.clip(field * 0.25 + 0.5, 0, 1)[..., None]
    return np.asarray(a * (1 - t) + b * t, np.float32)


def _wood(rng: np.random.Generator) -> Field:
    hue = np.array([rng.uniform(10, 70), rng.uniform(40, 110), rng.uniform(70, 190)], np.float32)
    grain = _octaves(rng, 3, float(rng.uniform(8, 20)))
    rings = np.asarray(np.sin(grain * rng.uniform(1, 5)) * 1.6, np.float32)
    image = _mix(rings, hue * rng.uniform(0.4, 0.8), hue * 1.1)
    for x in range(0, _SIZE, int(rng.integers(70, 400))):
        cv2.line(image, (0, x), (_SIZE, x), (hue * 0.3).tolist(), int(rng.integers(1, 4)))
    return image


def _tiles(rng: np.random.Generator) -> Field:
    a, b, step = _colour(rng), _colour(rng), int(rng.integers(8, 120))
    y, x = np.mgrid[0:_SIZE, 0:_SIZE]
    kind = rng.integers(3)
    cell = ((x // step + y // step) % 2) if kind == 0 else ((x // step) % 2 if kind == 1 else ((x + y) // step) % 2)
    return _mix(np.asarray(cell * 4 - 2 + _octaves(rng, 30) * 0.3, np.float32), a, b)


def _plaid(rng: np.random.Generator) -> Field:
    """Draw a table cloth: crossing stripes with the grain of the weave, or sprigs in rows."""
    base = np.full((_SIZE, _SIZE, 3), _colour(rng), np.float32)
    if rng.random() < 0.6:
        for axis in (0, 1):
            at = 0
            while at < _SIZE:
                wide, gap = int(rng.integers(3, 50)), int(rng.integers(6, 80))
                colour, much = _colour(rng), float(rng.uniform(0.2, 0.8))
                band = base[at : at + wide] if axis == 0 else base[:, at : at + wide]
                band[:] = band * (1 - much) + colour * much
                at += wide + gap
    else:
        step, petals = int(rng.integers(26, 90)), int(rng.integers(3, 8))
        a, b = _colour(rng).tolist(), _colour(rng).tolist()
        for i, y in enumerate(range(0, _SIZE + step, step)):
            for x in range((i % 2) * step // 2, _SIZE + step, step):
                for k in range(petals):
                    turn = 2 * np.pi * k / petals
                    at_petal = (int(x + step * 0.18 * np.cos(turn)), int(y + step * 0.18 * np.sin(turn)))
                    cv2.circle(base, at_petal, max(2, step // 9), a, -1, cv2.LINE_AA)
                cv2.circle(base, (x, y), max(1, step // 12), b, -1, cv2.LINE_AA)
    return base * (1 + 0.06 * _octaves(rng, 90)[..., None]) + _octaves(rng, 3)[..., None] * 4


def _shapes(rng: np.random.Generator) -> Field:
    image = np.full((_SIZE, _SIZE, 3), _colour(rng), np.float32)
    for _ in range(int(rng.integers(10, 120))):
        p = tuple(int(v) for v in rng.integers(0, _SIZE, 2))
        size = int(rng.integers(3, 70))
        if rng.random() < 0.5:
            cv2.circle(image, p, size, _colour(rng).tolist(), -1, cv2.LINE_AA)
        else:
            box = cv2.boxPoints((p, (size * 2, size * float(rng.uniform(0.2, 2))), float(rng.uniform(0, 180))))
            cv2.fillPoly(image, [box.astype(np.int32)], _colour(rng).tolist(), cv2.LINE_AA)
    return image


def _print(rng: np.random.Generator, words: list[str]) -> Field:
    """Draw a page: lines of print in several sizes; digits and letters that are no index."""
    paper = _colour(rng) * 0.2 + 190
    image = np.full((_SIZE, _SIZE, 3), np.clip(paper, 0, 255), np.float32)
    alphabet = list("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789AAJQK  ")
    y = 4
    while y < _SIZE - 60:
        height = int(rng.choice([8, 10, 12, 16, 24, 44]))
        font = words[int(rng.integers(len(words)))]
        x = int(rng.integers(0, 60))
        ink = _colour(rng) * 0.4 if rng.random() < 0.5 else np.zeros(3, np.float32)
        while x < _SIZE - 20:
            mask = glyph(font, "".join(rng.choice(alphabet, int(rng.integers(1, 10)))), 60)
            if mask is not None:
                width = min(_SIZE - x, max(3, round(mask.shape[1] * height / mask.shape[0])))
                small = cv2.resize(mask, (width, height), interpolation=cv2.INTER_AREA).astype(np.float32)
                small = small[..., None] / 255
                region = image[y : y + height, x : x + width]
                region[:] = region * (1 - small) + ink * small
                x += width
            x += height // 2
        y += int(height * rng.uniform(1.2, 2.2))
    return image


#: Heights of the letters on boxes. The smallest, set vertically, resemble a joker's column.
_LETTER_PX = (4, 5, 6, 8, 10, 14, 20, 30, 44)


def _word(rng: np.random.Generator, font: str, height: int) -> Image | None:
    """Draw three or more letters, `height` px high, in a row or a column; None if the font lacks one."""
    letters = rng.choice(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789AJQK"), int(rng.integers(3, 10)))
    row = rng.random() < 0.6
    parts = ["".join(letters)] if row else list(letters)
    masks = [mask for mask in (glyph(font, part, 60) for part in parts) if mask is not None]
    if len(masks) < len(parts):
        return None
    sized = [
        cv2.resize(m, (max(2, round(m.shape[1] * height / m.shape[0])), height), None, 0, 0, cv2.INTER_AREA)
        for m in masks
    ]
    wide, gap = max(m.shape[1] for m in sized), max(1, round(height * rng.uniform(0.05, 0.5)))
    lines = []
    for m in sized:
        left = (wide - m.shape[1]) // 2
        lines.append(cv2.copyMakeBorder(m, 0, gap, left, wide - m.shape[1] - left, cv2.BORDER_CONSTANT, value=0))
    return np.asarray(np.vstack(lines), np.uint8)


def _label(rng: np.random.Generator, words: list[str], wide: int, high: int) -> Image:
    """Draw the printed side of a box, (high, wide, 3): words in both directions, light on dark or dark on light."""
    paper, ink = _colour(rng), _colour(rng)
    if abs(float((paper - ink).mean())) < 60:
        ink = np.full(3, 245.0 if paper.mean() < 128 else 15.0, np.float32)
    label = np.full((high, wide, 3), paper, np.float32)
    for _ in range(int(rng.integers(4, 16))):
        word = _word(rng, words[int(rng.integers(len(words)))], int(rng.choice(_LETTER_PX)))
        if word is None or word.shape[0] >= high or word.shape[1] >= wide:
            continue
        y, x = int(rng.integers(high - word.shape[0])), int(rng.integers(wide - word.shape[1]))
        part = label[y : y + word.shape[0], x : x + word.shape[1]]
        # Erase older print there: halves of two words might form an index.
        part[:] = paper + (ink - paper) * (word.astype(np.float32)[..., None] / 255)
    return np.asarray(label, np.uint8)


def put_boxes(image: Image, rng: np.random.Generator, words: list[str]) -> None:
    """Put overlapping printed boxes on a picture, in place; none of them is a card."""
    for _ in range(int(rng.integers(3, 9))):
        wide, high = int(rng.integers(70, 320)), int(rng.integers(70, 320))
        label = _label(rng, words, wide, high)
        middle = rng.uniform(0, image.shape[0], 2)
        box = cv2.boxPoints((middle.tolist(), (wide, high), float(rng.uniform(0, 360))))
        box = (box + rng.normal(0, 0.04 * min(wide, high), (4, 2))).astype(np.float32)
        corners = np.array([[0, high], [0, 0], [wide, 0], [wide, high]], np.float32)
        to_px = cv2.getPerspectiveTransform(corners, box)
        size = (image.shape[1], image.shape[0])
        cv2.warpPerspective(label, to_px, size, image, cv2.INTER_LINEAR, cv2.BORDER_TRANSPARENT)


def draw(seed: int, words: list[str]) -> Image:
    """Draw background `seed`, _SIZE×_SIZE; `words` are font files for printed matter."""
    rng = np.random.default_rng((11, seed))
    kind = rng.choice(8, p=[0.22, 0.14, 0.17, 0.08, 0.07, 0.12, 0.08, 0.12])
    if kind == 0:  # cloth
        base = _colour(rng)
        image = _mix(_octaves(rng, 3), base * 0.8, np.clip(base * 1.15 + 8, 0, 255))
        image = image + rng.normal(0, rng.uniform(1, 14), (_SIZE, _SIZE, 1)).astype(np.float32)
    elif kind == 1:  # carpet
        pile = _octaves(rng, 80) * rng.uniform(0.6, 1.6) + _octaves(rng, 4) * 0.3
        image = _mix(pile, _colour(rng), _colour(rng))
    elif kind == 5:
        image = _print(rng, words)
    elif kind == 6:
        image = np.full((_SIZE, _SIZE, 3), _colour(rng), np.float32) + _octaves(rng, 2)[..., None] * 5
    elif kind == 7:
        image = _plaid(rng)
    else:
        image = (_wood, _tiles, _shapes)[int(kind) - 2](rng)
    return np.clip(image, 0, 255).astype(np.uint8)
