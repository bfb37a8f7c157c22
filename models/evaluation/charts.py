"""The reliability plot, drawn with OpenCV: no plotting library is needed to look at a confidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np

from models.evaluation.reliability import SURE, Bin, Said, bins, calibration_error
from models.eye.geometry import Image

WIDTH: Final = 1500
HEIGHT: Final = 860
PAPER, INK, FAINT, DIAGONAL = (255, 255, 255), (40, 40, 40), (226, 226, 226), (150, 150, 150)
BLUE, PALE = (160, 96, 30), (232, 205, 170)
COARSE: Final = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
FINE: Final = (0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 1.0)
LEAST: Final = 1e-4
"""The smallest share of wrong ones that the logarithmic panel shows."""
FONT: Final = cv2.FONT_HERSHEY_SIMPLEX
_Box = tuple[int, int, int, int]


def reliability(readings: Sequence[Said], title: str) -> Image:
    """The plot (HEIGHT, WIDTH, 3): what was said against what was right, and the sure ones again by share of wrong."""
    image = np.full((HEIGHT, WIDTH, 3), PAPER, np.uint8)
    _text(image, title, (70, 48), 0.95, 2)
    told = f"{len(readings)} readings with a name, expected calibration error {calibration_error(readings):.4f}"
    _text(image, told, (70, 84), 0.65)
    _linear(image, bins(readings, COARSE), (90, 150, 690, 620))
    _counts(image, bins(readings, COARSE), (90, 660, 690, 780))
    _sure(image, bins(readings, FINE), (850, 150, 1450, 620))
    _counts(image, bins(readings, FINE), (850, 660, 1450, 780))
    return image


def _text(
    image: Image, words: str, at: tuple[float, float], size: float, weight: int = 1, middle: bool = False
) -> None:
    (width, _), _ = cv2.getTextSize(words, FONT, size, weight)
    x = at[0] - width / 2 if middle else at[0]
    cv2.putText(image, words, (round(x), round(at[1])), FONT, size, INK, weight, cv2.LINE_AA)


def _upright(image: Image, words: str, at: tuple[float, float], size: float = 0.6) -> None:
    """Words that run upwards, their middle at `at`."""
    (width, height), below = cv2.getTextSize(words, FONT, size, 1)
    strip = np.full((height + below + 6, width + 6, 3), PAPER, np.uint8)
    cv2.putText(strip, words, (3, height + 3), FONT, size, INK, 1, cv2.LINE_AA)
    turned = cv2.rotate(strip, cv2.ROTATE_90_COUNTERCLOCKWISE)
    y, x = round(at[1] - turned.shape[0] / 2), round(at[0] - turned.shape[1] / 2)
    image[y : y + turned.shape[0], x : x + turned.shape[1]] = turned


def _linear(image: Image, filled: Sequence[Bin], box: _Box) -> None:
    x0, y0, x1, y1 = box

    def px(v: float) -> float:
        return x0 + v * (x1 - x0)

    def py(v: float) -> float:
        return y1 - v * (y1 - y0)

    for i in range(0, 11, 2):
        v = i / 10
        _line(image, (px(v), y0), (px(v), y1), FAINT)
        _line(image, (x0, py(v)), (x1, py(v)), FAINT)
        _text(image, f"{v:g}", (x0 - 40, py(v) + 6), 0.55)
        _text(image, f"{v:g}", (px(v), y1 + 26), 0.55, middle=True)
    _line(image, (px(0), py(0)), (px(1), py(1)), DIAGONAL, 2)
    for b in filled:
        if b.count:
            cv2.rectangle(image, _at(px(b.low) + 2, py(b.share)), _at(px(b.high) - 2, y1), PALE, -1)
    for b in filled:
        if b.count:
            low, high = b.interval
            _whisker(image, px(b.said), py(low), py(high))
            cv2.circle(image, _at(px(b.said), py(b.share)), 7, BLUE, -1, cv2.LINE_AA)
    cv2.rectangle(image, (x0, y0), (x1, y1), INK, 1)
    _text(image, "all readings: share that was right", ((x0 + x1) / 2, y0 - 16), 0.65, middle=True)
    _upright(image, "right", (x0 - 62, (y0 + y1) / 2))


def _sure(image: Image, filled: Sequence[Bin], box: _Box) -> None:
    """The readings said with 0.9 or more: the share of wrong ones, said and counted, on a logarithmic scale."""
    x0, y0, x1, y1 = box
    width = (x1 - x0) / len(filled)
    top = math.log10(0.2 / LEAST)

    def py(v: float) -> float:
        return y1 - (y1 - y0) * min(1.0, max(0.0, math.log10(max(v, LEAST) / LEAST) / top))

    for v in (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001):
        _line(image, (x0, py(v)), (x1, py(v)), FAINT)
        _text(image, f"{v:g}", (x0 - 66, py(v) + 6), 0.55)
    for i, b in enumerate(filled):
        middle = x0 + (i + 0.5) * width
        _text(image, f"{b.low:g}", (x0 + i * width, y1 + 26), 0.55, middle=True)
        if not b.count:
            continue
        said, wrong = 1 - b.said, 1 - b.share
        _line(image, (x0 + i * width + 8, py(said)), (x0 + (i + 1) * width - 8, py(said)), DIAGONAL, 4)
        low, high = b.interval
        _whisker(image, middle, py(1 - low), py(1 - high))
        if wrong:
            cv2.circle(image, _at(middle, py(wrong)), 7, BLUE, -1, cv2.LINE_AA)
        else:
            cv2.circle(image, _at(middle, y1 - 9), 7, BLUE, 2, cv2.LINE_AA)
    _text(image, "1", (x1, y1 + 26), 0.55, middle=True)
    cv2.rectangle(image, (x0, y0), (x1, y1), INK, 1)
    _text(image, f"said with {SURE:g} or more: share that was wrong", ((x0 + x1) / 2, y0 - 16), 0.65, middle=True)
    _upright(image, "wrong (logarithmic)", (x0 - 92, (y0 + y1) / 2))
    legend = "grey line: wrong ones to be expected by what was said; dot: counted (ring: none); whisker: 95 %"
    _text(image, legend, (x0 - 60, HEIGHT - 18), 0.5)


def _counts(image: Image, filled: Sequence[Bin], box: _Box) -> None:
    """How many readings each bin holds, as bars (by square root, so that few are seen beside many) and in figures."""
    x0, y0, x1, y1 = box
    most = math.sqrt(max([b.count for b in filled] + [1]))
    even = filled[0].low >= SURE
    for i, b in enumerate(filled):
        left = x0 + i * (x1 - x0) / len(filled) if even else x0 + b.low * (x1 - x0)
        right = x0 + (i + 1) * (x1 - x0) / len(filled) if even else x0 + b.high * (x1 - x0)
        height = (y1 - y0 - 24) * math.sqrt(b.count) / most
        cv2.rectangle(image, _at(left + 3, y1 - height), _at(right - 3, y1), PALE, -1)
        _text(image, f"{b.count}", ((left + right) / 2, y1 - height - 6), 0.5, middle=True)
    _line(image, (x0, y1), (x1, y1), INK)
    _text(
        image,
        "readings in each bin of confidence (heights by square root)",
        ((x0 + x1) / 2, y1 + 26),
        0.55,
        middle=True,
    )


def _at(x: float, y: float) -> tuple[int, int]:
    return round(x), round(y)


def _line(
    image: Image, a: tuple[float, float], b: tuple[float, float], colour: tuple[int, int, int], width: int = 1
) -> None:
    cv2.line(image, _at(*a), _at(*b), colour, width, cv2.LINE_AA)


def _whisker(image: Image, x: float, low: float, high: float) -> None:
    _line(image, (x, low), (x, high), BLUE, 2)
    for y in (low, high):
        _line(image, (x - 6, y), (x + 6, y), BLUE, 2)
