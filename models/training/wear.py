"""Traces of use and cheap printing on a face: faded ink, dirt, scratches, creases, linen, a shifted plate."""

from __future__ import annotations

import cv2
import numpy as np

from models.eye.geometry import Image
from models.training.fonts import Ink


def _fade(face: Image, rng: np.random.Generator) -> Image:
    stock = np.full_like(face, np.median(face.reshape(-1, 3), 0).astype(np.uint8))
    keep = float(rng.uniform(0.5, 0.95))
    return np.asarray(cv2.addWeighted(face, keep, stock, 1 - keep, 0), np.uint8)


def _dirt(face: Image, rng: np.random.Generator) -> Image:
    h, w = face.shape[:2]
    cloud = cv2.resize(rng.normal(0, 1, (9, 7)).astype(np.float32), (w, h), interpolation=cv2.INTER_CUBIC)
    grime = np.clip(1 - float(rng.uniform(0.01, 0.06)) * np.abs(cloud), 0.5, 1)
    # Hands hold cards by their edges.
    y, x = np.mgrid[0:h, 0:w]
    edge = np.minimum(np.minimum(x, w - 1 - x), np.minimum(y, h - 1 - y)).astype(np.float32)
    grime *= 1 - float(rng.uniform(0, 0.35)) * np.exp(-edge / float(rng.uniform(2, 9)))
    tint = np.array([0.97, 0.99, 1.0], np.float32) ** rng.uniform(0, 3)
    return np.asarray(np.clip(face * grime[..., None] * tint, 0, 255).astype(np.uint8))


def _scratches(face: Image, rng: np.random.Generator) -> None:
    h, w = face.shape[:2]
    for _ in range(int(rng.integers(1, 14))):
        a = rng.uniform(0, [w, h])
        b = a + rng.normal(0, 40, 2)
        shade = int(rng.choice([90, 170, 235, 250]))
        cv2.line(face, tuple(int(v) for v in a), tuple(int(v) for v in b), (shade, shade, shade), 1, cv2.LINE_AA)


def _crease(face: Image, rng: np.random.Generator) -> Image:
    h, w = face.shape[:2]
    a, b = rng.uniform(0, [w, h]), rng.uniform(0, [w, h])
    line = np.zeros((h, w), np.uint8)
    cv2.line(line, tuple(int(v) for v in a), tuple(int(v) for v in b), 255, int(rng.integers(1, 3)), cv2.LINE_AA)
    soft = cv2.GaussianBlur(line, (0, 0), 1.0).astype(np.float32)[..., None] / 255
    return np.asarray(np.clip(face * (1 - 0.3 * soft) + 60 * soft * float(rng.integers(2)), 0, 255).astype(np.uint8))


def _linen(face: Image, rng: np.random.Generator) -> Image:
    h, w = face.shape[:2]
    y, x = np.mgrid[0:h, 0:w].astype(np.float32)
    step = float(rng.uniform(2.2, 4.0))
    weave = np.sin(2 * np.pi * x / step) * np.sin(2 * np.pi * y / step) * float(rng.uniform(2, 7))
    return np.asarray(np.clip(face + weave[..., None], 0, 255).astype(np.uint8))


def worn(face: Image, rng: np.random.Generator, much: float) -> Image:
    """Return a used face; `much`: 0 (new) to 1 (years of use)."""
    out = face.copy()
    if rng.random() < 0.6 * much:
        out = _fade(out, rng)
    if rng.random() < 0.8 * much:
        out = _dirt(out, rng)
    if rng.random() < 0.5 * much:
        _scratches(out, rng)
    if rng.random() < 0.25 * much:
        out = _crease(out, rng)
    if rng.random() < 0.2:
        out = _linen(out, rng)
    return out


def inked(mask: Ink, rng: np.random.Generator) -> Ink:
    """Return a printer's variant of a glyph or pip: heavier, lighter, slanted or hollow."""
    h, w = mask.shape
    reach = max(1, round(min(h, w) * float(rng.uniform(0.01, 0.035))))
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1))
    padded = cv2.copyMakeBorder(mask, 9, 9, 9, 9, cv2.BORDER_CONSTANT)
    kind = rng.random()
    if kind < 0.4:
        out = cv2.dilate(padded, kernel)
    elif kind < 0.55:
        out = cv2.erode(padded, kernel)
    elif kind < 0.85:
        lean = float(rng.uniform(-0.22, 0.22))
        out = cv2.warpAffine(padded, np.array([[1, lean, max(0.0, -lean) * h], [0, 1, 0]]), (w + 18 + h // 4, h + 18))
    else:
        out = cv2.morphologyEx(padded, cv2.MORPH_GRADIENT, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (7, 7)))
    ys, xs = np.nonzero(out > 60)
    if len(ys) < 80:
        return mask
    return np.ascontiguousarray(out[ys.min() : ys.max() + 1, xs.min() : xs.max() + 1])
