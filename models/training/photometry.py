"""Effects of lens, light and sensor on a scene: shade, glare, colour, blur, noise, compression."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.geometry import Image

Field = NDArray[np.float32]

#: Sensor noise, drawn once and cut from a random place: mean 128, deviation 40.
_GRAIN: Image = np.clip(np.random.default_rng(3).normal(128, 40, (576, 576, 3)), 0, 255).astype(np.uint8)


def _shade(rng: np.random.Generator, size: int) -> Field:
    """Return uneven light: a smooth field, sometimes with the edge of a shadow."""
    depth = rng.uniform(0.05, 0.35)
    field = rng.normal(1, depth, (3, 3)).astype(np.float32)
    shade = cv2.resize(field, (size // 4, size // 4), interpolation=cv2.INTER_CUBIC)
    if rng.random() < 0.35:
        mask = np.zeros((size // 4, size // 4), np.float32)
        points = rng.normal(size / 8, size / 6, (int(rng.integers(3, 6)), 2)).astype(np.int32)
        cv2.fillPoly(mask, [points], float(rng.uniform(0.2, 0.6)))
        soft = float(rng.uniform(0.6, 8))
        shade = shade * (1 - cv2.GaussianBlur(mask, (0, 0), soft))
    return np.asarray(cv2.resize(np.clip(shade, 0.25, 1.7), (size, size), interpolation=cv2.INTER_LINEAR), np.float32)


def _glare(image: Image, rng: np.random.Generator) -> Image:
    """Add a lamp mirrored in a glossy card: a soft bright spot."""
    size = image.shape[0]
    spot = np.zeros((size // 4, size // 4), np.uint8)
    for _ in range(int(rng.integers(1, 4))):
        centre = tuple(int(v) for v in rng.integers(0, size // 4, 2))
        axes = tuple(int(v) for v in rng.integers(2, size // 16, 2))
        cv2.ellipse(spot, centre, axes, float(rng.uniform(0, 180)), 0, 360, float(rng.uniform(40, 230)), -1)
    spot = cv2.GaussianBlur(spot, (0, 0), float(rng.uniform(1.5, 9)))
    spot = cv2.resize(spot, (size, size), interpolation=cv2.INTER_LINEAR)
    return np.asarray(cv2.add(image, cv2.merge([spot, spot, spot])), np.uint8)


def _curve(rng: np.random.Generator) -> Image:
    """Return a lookup table per channel: white balance, exposure, gamma, contrast."""
    cast = rng.normal(1, 0.09, 3)
    if rng.random() < 0.15:  # a coloured lamp: candle, dusk, a screen
        warmth = rng.uniform(-0.45, 0.45)
        cast *= np.array([1 - warmth, 1 - abs(warmth) * 0.3, 1 + warmth])
    light = np.arange(256, dtype=np.float64)[:, None] * cast * rng.uniform(0.5, 1.35)
    if rng.random() < 0.6:
        light = 255 * np.power(np.clip(light, 0, 255) / 255, rng.uniform(0.65, 1.5))
    if rng.random() < 0.4:
        light = (light - 128) * rng.uniform(0.6, 1.15) + 128 + rng.uniform(-25, 25)
    return np.clip(light, 0, 255).astype(np.uint8)[:, None, :]


def _motion(image: Image, rng: np.random.Generator) -> Image:
    length = int(rng.integers(3, 8) if rng.random() < 0.7 else rng.integers(7, 15))
    kernel = np.zeros((length, length), np.float32)
    angle = rng.uniform(0, np.pi)
    half = (length - 1) / 2
    reach = np.array([np.cos(angle), np.sin(angle)]) * half
    a, b = half - reach, half + reach
    cv2.line(kernel, (round(a[0]), round(a[1])), (round(b[0]), round(b[1])), 1.0)
    return np.asarray(cv2.filter2D(image, -1, kernel / kernel.sum()), np.uint8)


def _defocus(image: Image, radius: float) -> Image:
    """Spread each point to a disc, as a lens out of focus does, with a sharper rim than a Gaussian."""
    side = 2 * int(np.ceil(radius)) + 1
    axis = np.arange(side) - side // 2
    disc = np.clip(radius + 0.5 - np.hypot(*np.meshgrid(axis, axis)), 0, 1).astype(np.float32)
    return np.asarray(cv2.filter2D(image, -1, disc / disc.sum()), np.uint8)


def _optics(image: Image, rng: np.random.Generator, hard: float) -> Image:
    size = image.shape[0]
    if rng.random() < 0.3 * hard:
        small = round(size / rng.uniform(1.05, 1.1 + 1.1 * hard))
        image = cv2.resize(image, (small, small), interpolation=cv2.INTER_AREA)
        way = cv2.INTER_CUBIC if rng.random() < 0.5 else cv2.INTER_LINEAR
        image = cv2.resize(image, (size, size), interpolation=way)
    blur = rng.random()
    if blur < 0.42:
        image = cv2.GaussianBlur(image, (0, 0), float(rng.uniform(0.4, 0.7 + 1.3 * hard)))
    elif blur < 0.55:
        image = _defocus(np.asarray(image, np.uint8), float(rng.uniform(0.8, 1.2 + 2.6 * hard)))
    if rng.random() < 0.2:
        image = _motion(image, rng)
    if rng.random() < 0.2:
        soft = cv2.GaussianBlur(image, (0, 0), 1.2)
        image = cv2.addWeighted(image, 1.8, soft, -0.8, 0)
    return np.asarray(image, np.uint8)


def photograph(image: Image, rng: np.random.Generator, worst: float = 1.25) -> Image:
    """Return the square scene as a camera would; `worst` limits defocus, noise and compression."""
    size = image.shape[0]
    # Bad light tends to come with bad focus: one number makes a picture easy or hard.
    hard = float(rng.beta(1.2, 1.6)) * worst
    light = image
    if rng.random() < 0.8:
        shade = _shade(rng, size)
        light = np.asarray(cv2.multiply(light, cv2.merge([shade, shade, shade]), dtype=cv2.CV_8U), np.uint8)
    if rng.random() < 0.05:
        # Flickering lamps seen through a rolling shutter: bands across the picture.
        rows = np.arange(size, dtype=np.float32)
        wave = 1 + rng.uniform(0.03, 0.16) * np.sin(2 * np.pi * (rows / rng.uniform(60, 400) + rng.random()))
        band = np.repeat(wave.astype(np.float32)[:, None], size, 1)
        band = band if rng.random() < 0.5 else band.T.copy()
        light = np.asarray(cv2.multiply(light, cv2.merge([band, band, band]), dtype=cv2.CV_8U), np.uint8)
    if rng.random() < 0.28:
        light = _glare(light, rng)
    picture = _optics(np.asarray(cv2.LUT(light, _curve(rng)), np.uint8), rng, hard)
    if rng.random() < 0.75:
        gain = float(rng.uniform(1, 3 + 11 * hard)) / 40
        x, y = (int(v) for v in rng.integers(0, 64, 2))
        grain = _GRAIN[y : y + size, x : x + size]
        picture = np.asarray(cv2.addWeighted(picture, 1, grain, gain, -128 * gain), np.uint8)
    if rng.random() < 0.5:
        quality = int(rng.uniform(95 - 65 * min(1.0, hard), 96))
        packed = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])[1]
        picture = np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), np.uint8)
    return np.asarray(picture, np.uint8)
