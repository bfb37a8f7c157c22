"""Clutter on the table and hands reaching in: sleeves, coins, cups, phones, pens, chips."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.classes import HEIGHT_MM
from models.eye.geometry import Image, Points

#: Value for things that hide a card, in the map of the topmost object.
HAND = -2

_SKIN = ([120, 150, 200], [90, 120, 180], [60, 85, 130], [150, 180, 230], [40, 55, 85], [75, 105, 160], [130, 165, 225])


def _tube(layer: Image, a: Points, b: Points, width: float, value: int) -> None:
    p, q = (tuple(int(v) for v in np.clip(x, -4000, 4000)) for x in (a, b))
    cv2.line(layer, p, q, value, max(2, round(width)))


def _arm(layer: Image, rng: np.random.Generator, unit: float) -> None:
    size = layer.shape[0]
    angle = rng.uniform(0, 2 * np.pi)
    way = np.array([np.cos(angle), np.sin(angle)])
    across = np.array([-way[1], way[0]])
    palm = size / 2 + rng.normal(0, size / 5, 2)
    wrist = palm + way * 70 * unit
    elbow = wrist + way * 400 * unit
    sleeve = rng.random() < 0.7
    _tube(layer, palm, wrist, 62 * unit, 1)
    _tube(layer, wrist, elbow, rng.uniform(60, 95) * unit if sleeve else 66 * unit, 2 if sleeve else 1)
    for i in range(int(rng.integers(1, 6))):
        spread = (i - 2) * 17
        root = palm + across * spread * unit - way * 20 * unit
        tip = root - way * rng.uniform(25, 75) * unit + across * spread * rng.uniform(-0.2, 0.7) * unit
        _tube(layer, root, tip, rng.uniform(13, 19) * unit, 1)


def _rounded(mask: Image, unit: float, rng: np.random.Generator) -> Image:
    """Return the shading of a round object at a quarter of the size, which suffices as it is smooth."""
    q = mask.shape[0] // 4
    depth = cv2.distanceTransform(cv2.resize(mask, (q, q), interpolation=cv2.INTER_NEAREST), cv2.DIST_L2, 3)
    shade = 0.6 + 0.4 * np.sqrt(np.clip(depth / (2.2 * unit), 0, 1))
    return np.asarray(shade * cv2.resize(rng.normal(1, 0.07, (40, 40)).astype(np.float32), (q, q)))


def hands(image: Image, ids: NDArray[np.int16], rng: np.random.Generator, card_px: float, stuff: Image) -> None:
    """Draw one or two hands reaching in from the edge; `stuff` is a picture of cloth for the sleeve."""
    size = image.shape[0]
    layer = np.zeros((size, size), np.uint8)
    unit = card_px / HEIGHT_MM
    for _ in range(int(rng.integers(1, 3))):
        _arm(layer, rng, unit)
    tone = np.array(_SKIN[int(rng.integers(len(_SKIN)))], np.float32) * np.float32(rng.uniform(0.85, 1.1))
    plain = rng.uniform(10, 240, 3).astype(np.float32)
    for value, colour in ((2, plain), (1, tone)):
        mask = (layer == value).astype(np.uint8)
        if not mask.any():
            continue
        shade = _rounded(mask, unit, rng)
        if value == 2 and rng.random() < 0.4:
            cloth = cv2.resize(stuff, (size, size)).astype(np.float32)
            filled = np.clip(cloth * cv2.resize(shade, (size, size))[..., None], 0, 255).astype(np.uint8)
        else:
            filled = cv2.resize(np.clip(colour * shade[..., None], 0, 255).astype(np.uint8), (size, size))
        soft = cv2.GaussianBlur(mask.astype(np.float32), (5, 5), 0.8)
        image[:] = cv2.blendLinear(filled, image, soft, 1 - soft)
    ids[layer > 0] = HAND


def _coin(image: Image, layer: Image, rng: np.random.Generator, at: tuple[int, int], unit: float) -> None:
    r = max(3, round(rng.uniform(8, 14) * unit))
    metal = np.array([[150, 190, 210], [170, 170, 175], [80, 110, 170]])[int(rng.integers(3))] * rng.uniform(0.6, 1.15)
    cv2.circle(image, at, r, tuple(float(v) for v in metal * 0.6), -1, cv2.LINE_AA)
    cv2.circle(image, at, max(1, r - 2), tuple(float(min(255, v)) for v in metal), -1, cv2.LINE_AA)
    value, foot = str(int(rng.integers(1, 60))), (at[0] - r // 2, at[1] + r // 3)
    cv2.putText(image, value, foot, 1, r / 14, tuple(metal * 0.5), 1)
    cv2.circle(layer, at, r, 255, -1)


def _chip(image: Image, layer: Image, rng: np.random.Generator, at: tuple[int, int], unit: float) -> None:
    r = max(4, round(20 * unit))
    colour = tuple(float(v) for v in rng.uniform(10, 230, 3))
    cv2.circle(image, at, r, colour, -1, cv2.LINE_AA)
    for k in range(6):
        cv2.ellipse(image, at, (r, r), 0, k * 60, k * 60 + 22, (235, 235, 235), max(1, r // 5))
    cv2.circle(image, at, max(2, int(r * 0.62)), tuple(0.7 * v for v in colour), 1, cv2.LINE_AA)
    cv2.circle(layer, at, r, 255, -1)


def _cup(image: Image, layer: Image, rng: np.random.Generator, at: tuple[int, int], unit: float) -> None:
    r = max(6, round(rng.uniform(32, 48) * unit))
    china = tuple(float(v) for v in rng.uniform(60, 250, 3))
    cv2.ellipse(image, (at[0] + r, at[1]), (r // 2, r // 3), 0, 0, 360, china, max(2, r // 6), cv2.LINE_AA)
    cv2.circle(image, at, r, china, -1, cv2.LINE_AA)
    cv2.circle(image, at, int(r * 0.88), tuple(0.75 * v for v in china), -1, cv2.LINE_AA)
    drink = tuple(float(v) for v in rng.uniform(5, 110, 3))
    cv2.circle(image, at, int(r * 0.8), drink, -1, cv2.LINE_AA)
    cv2.ellipse(image, at, (int(r * 0.6), int(r * 0.5)), 0, 200, 260, (220, 220, 220), max(1, r // 20), cv2.LINE_AA)
    cv2.circle(layer, at, r, 255, -1)


def _slab(image: Image, layer: Image, rng: np.random.Generator, at: tuple[int, int], unit: float) -> None:
    """Draw something flat and straight: a phone, a pen, a box of cards."""
    w, h = [(72, 148), (9, 140), (66, 93), (85, 54)][int(rng.integers(4))]
    box = cv2.boxPoints((at, (w * unit, h * unit), float(rng.uniform(0, 180)))).astype(np.int32)
    colour = rng.uniform(5, 70, 3) if rng.random() < 0.5 else rng.uniform(20, 240, 3)
    cv2.fillPoly(image, [box], tuple(float(v) for v in colour), cv2.LINE_AA)
    cv2.polylines(image, [box], True, tuple(float(v * 0.6) for v in colour), max(1, round(unit)), cv2.LINE_AA)
    cv2.fillPoly(layer, [box], 255)


_Thing = Callable[[Image, Image, np.random.Generator, tuple[int, int], float], None]
#: Draws a thing into the picture and its outline into the layer, at a place, px; the last argument is px per mm.
_THINGS: tuple[_Thing, ...] = (_coin, _coin, _chip, _cup, _slab)


def things(image: Image, ids: NDArray[np.int16], rng: np.random.Generator, card_px: float, most: int) -> None:
    """Put down up to `most` things, each with its shadow."""
    size = image.shape[0]
    unit = card_px / HEIGHT_MM
    for _ in range(int(rng.integers(1, most + 1))):
        at = (int(rng.integers(0, size)), int(rng.integers(0, size)))
        layer = np.zeros((size, size), np.uint8)
        thing = image.copy()
        _THINGS[int(rng.integers(len(_THINGS)))](thing, layer, rng, at, unit)
        shift = np.array([[1, 0, rng.uniform(-6, 6) * unit], [0, 1, rng.uniform(-6, 6) * unit]])
        dark = cv2.warpAffine(cv2.resize(layer, (size // 4, size // 4)), shift / [[1, 1, 4]], (size // 4, size // 4))
        dark = cv2.resize(cv2.GaussianBlur(dark, (0, 0), max(0.5, unit)), (size, size)).astype(np.float32)
        dark *= np.float32(rng.uniform(0.1, 0.5) / 255)
        image[:] = cv2.blendLinear(image, np.zeros_like(image), 1 - dark, dark)
        image[layer > 0] = thing[layer > 0]
        ids[layer > 0] = HAND
