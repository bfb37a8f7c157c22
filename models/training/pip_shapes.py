"""Pips: suit shapes drawn from a few parameters, so that no two generated decks share theirs."""

from __future__ import annotations

import cv2
import numpy as np

from models.eye.geometry import Points
from models.training.fonts import Ink, glyph

_SIZE = 192

#: The suits' characters, for pips from fonts.
_GLYPHS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}


def _curve(p0: Points, p1: Points, p2: Points, p3: Points) -> Points:
    t = np.linspace(0, 1, 24)[:, None]
    return np.asarray((1 - t) ** 3 * p0 + 3 * (1 - t) ** 2 * t * p1 + 3 * (1 - t) * t**2 * p2 + t**3 * p3)


def _fill(mask: Ink, half: Points) -> None:
    """Fill an outline given by its right half, mirrored about x = 0.5."""
    other = half[::-1].copy()
    other[:, 0] = 1 - other[:, 0]
    outline = np.vstack([half, other]) * _SIZE
    cv2.fillPoly(mask, [np.round(outline * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)


def _at(x: float, y: float) -> Points:
    return np.array([x, y])


def _heart_half(rng: np.random.Generator) -> Points:
    notch, shoulder, waist = rng.uniform(0.14, 0.3), rng.uniform(-0.05, 0.06), rng.uniform(0.4, 0.62)
    top = _curve(_at(0.5, notch), _at(0.56, shoulder), _at(0.95, shoulder - 0.02), _at(1.0, 0.3))
    low = _curve(_at(1.0, 0.3), _at(1.0, waist), _at(rng.uniform(0.6, 0.78), rng.uniform(0.66, 0.8)), _at(0.5, 1.0))
    return np.vstack([top, low])


def _draw_shape(mask: Ink, suit: str, rng: np.random.Generator) -> None:
    if suit == "c":
        r, spread = rng.uniform(0.2, 0.26), rng.uniform(0.22, 0.28)
        low = rng.uniform(0.52, 0.62)
        for x, y in ((0.5, r), (0.5 - spread, low), (0.5 + spread, low)):
            at = (round(x * _SIZE * 16), round(y * _SIZE * 16))
            cv2.circle(mask, at, round(r * _SIZE * 16), 255, -1, cv2.LINE_AA, 4)
        if rng.random() < 0.8:
            at = (_SIZE // 2, round((low - 0.07) * _SIZE))
            cv2.circle(mask, at, round(rng.uniform(0.06, 0.13) * _SIZE), 255, -1, cv2.LINE_AA)
    elif suit == "d":
        bend, width = rng.choice([0.0, rng.uniform(0, 0.12)]), rng.uniform(0.36, 0.5)
        q1 = _at(0.5 + width / 2 - bend, 0.25 + bend)
        q2 = _at(0.5 + width / 2 - bend, 0.75 - bend)
        right = _at(0.5 + width, 0.5)
        _fill(mask, np.vstack([_curve(_at(0.5, 0), q1, q1, right), _curve(right, q2, q2, _at(0.5, 1))]))
    else:
        half = _heart_half(rng)
        if suit == "s":
            half[:, 1] = (1 - half[:, 1]) * rng.uniform(0.84, 0.92)
            half = half[::-1]
        _fill(mask, half)
    if suit in "cs":  # the stem
        flare, neck, start = rng.uniform(0.1, 0.26), rng.uniform(0.015, 0.05), 0.5 if suit == "s" else 0.42
        waist, foot = _at(0.5 + neck, rng.uniform(0.8, 0.95)), _at(0.5 + flare * 0.6, 0.97)
        _fill(mask, _curve(_at(0.5 + neck, start), waist, foot, _at(0.5 + flare, 1.0)))


def draw(suit: str, rng: np.random.Generator, font: str | None) -> Ink:
    """Draw a tight mask of the suit's pip, from the font's glyph if there is one."""
    if font is not None:
        mask = glyph(font, _GLYPHS[suit], _SIZE)
        if mask is not None and mask.mean() > 70:
            return mask
    canvas = np.zeros((_SIZE + 8, _SIZE + 8), np.uint8)
    _draw_shape(canvas[4:-4, 4:-4], suit, rng)
    ys, xs = np.nonzero(canvas > 100)
    return np.ascontiguousarray(canvas[ys.min() : ys.max() + 1, xs.min() : xs.max() + 1])
