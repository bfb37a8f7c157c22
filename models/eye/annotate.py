"""The lines and labels that show what was read and how sure it is: whole and thick, dashed, or dotted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from models.cards import UNREAD
from models.geometry import Image, Points

SURE: Final = 0.9
LIKELY: Final = 0.5
FONT: Final = cv2.FONT_HERSHEY_SIMPLEX
WHITE, BLACK, RED = (255, 255, 255), (25, 25, 25), (40, 30, 200)
_Box = tuple[float, float, float, float]
Colour = tuple[int, int, int]


class Drawable(Protocol):
    """What is drawn of a reading; `models.eye.CardSeen` is one."""

    @property
    def card(self) -> str: ...
    @property
    def confidence(self) -> float: ...
    @property
    def corners(self) -> NDArray[np.float64]: ...
    @property
    def top(self) -> bool: ...
    @property
    def indices(self) -> NDArray[np.float64]: ...


@dataclass(frozen=True, slots=True)
class Style:
    """How readings of one degree of confidence are drawn."""

    words: str
    colour: Colour
    dash: tuple[float, float]
    """Lengths drawn and left out, in line widths; (1, 0) is a whole line."""
    width: float


STYLES: Final = (
    Style(f"{SURE:g} or more", (70, 160, 30), (1, 0), 2.0),
    Style(f"{LIKELY:g} to {SURE:g}", (20, 130, 235), (7, 4), 1.6),
    Style(f"under {LIKELY:g}", (150, 50, 190), (3, 3), 1.3),
    Style("seen, not read", (60, 60, 60), (0.5, 3.2), 1.3),
)


def style(reading: Drawable) -> Style:
    """The style of a reading."""
    if reading.card == UNREAD:
        return STYLES[3]
    return STYLES[0 if reading.confidence >= SURE else 1 if reading.confidence >= LIKELY else 2]


def said(confidence: float) -> str:
    """A confidence in figures that never round it up to certainty."""
    if confidence < 0.99:
        return f"{confidence:.2f}"
    return f"{confidence:.3f}" if confidence < 0.9995 else ">.999"


def place(point: Points) -> tuple[int, int]:
    """A point in whole pixels, kept within what OpenCV draws."""
    x, y = np.clip(np.round(point), -30000, 30000)
    return int(x), int(y)


class Labels:
    """Puts labels where they hide neither each other nor, if it can be helped, an index."""

    def __init__(self, canvas: Image, unit: float, spots: Sequence[Points], scale: float = 1.0) -> None:
        """``unit`` is a thousandth of the canvas's longer side, ``scale`` its px for one of the picture."""
        self._canvas, self._unit, self._scale = canvas, unit, scale
        self.placed: list[_Box] = []
        self._spots = [(float(s[0]) - 9 * unit, float(s[1]) - 9 * unit, 18 * unit, 18 * unit) for s in spots]

    def _share(self, reading: Drawable) -> float:
        """How large a label is: smaller than usual on a card that is small in its picture."""
        high = float(np.linalg.norm(reading.corners[3] - reading.corners[0])) * self._scale
        return float(np.clip(high / (200 * self._unit), 0.85 if reading.card == UNREAD else 0.62, 1.0))

    def put(self, reading: Drawable, anchor: Points) -> None:
        """Write a reading's card and confidence as near to `anchor` as can be, with a line to it if that is far."""
        how, unit = style(reading), self._unit * self._share(reading)
        small = reading.card == UNREAD
        size = (0.42 if small else 0.62) * unit
        name, told = reading.card, said(reading.confidence) + ("  TOP" if reading.top and not small else "")
        pieces = [(name[0] if not small else name, size * 1.15, 2), (told, size, 1)]
        sizes = [cv2.getTextSize(words, FONT, s, max(1, round(w * unit)))[0] for words, s, w in pieces]
        pip = 0.0 if small else 17 * unit
        pad = 5 * unit
        width = sum(s[0] for s in sizes) + pip + 3.2 * pad
        height = max(s[1] for s in sizes) + 2 * pad
        middle = np.clip(anchor, 0, [self._canvas.shape[1], self._canvas.shape[0]])
        x, y = self._place(middle, width, height)
        self.placed.append((x, y, width, height))
        centre = np.array([x + width / 2, y + height / 2])
        if float(np.linalg.norm(centre - middle)) > height:
            cv2.line(self._canvas, place(middle), place(centre), how.colour, max(1, round(1.2 * unit)), cv2.LINE_AA)
            cv2.circle(self._canvas, place(middle), round(3.5 * unit), how.colour, -1, cv2.LINE_AA)
        box = (place(np.array([x, y])), place(np.array([x + width, y + height])))
        cv2.rectangle(self._canvas, *box, WHITE, -1)
        cv2.rectangle(self._canvas, *box, how.colour, max(1, round((2.4 if reading.top else 1.4) * unit)), cv2.LINE_AA)
        foot = y + height - pad
        ink = RED if name[1] in "dhr" else BLACK
        left = x + pad
        words, text, weight = pieces[0]
        cv2.putText(self._canvas, words, place(np.array([left, foot])), FONT, text, ink, max(1, round(weight * unit)))
        left += sizes[0][0] + 0.3 * pad
        if not small:
            suit(self._canvas, name[1], (left + pip / 2, y + height / 2), pip * 0.42, ink)
            left += pip
        words, text, weight = pieces[1]
        at = place(np.array([left + 0.6 * pad, foot]))
        cv2.putText(self._canvas, words, at, FONT, text, BLACK, max(1, round(weight * unit)), cv2.LINE_AA)

    def _place(self, middle: Points, width: float, height: float) -> tuple[float, float]:
        """The top left of the best of some places round a card's middle."""
        best, least = (0.0, 0.0), float("inf")
        rows, columns = self._canvas.shape[:2]
        for radius in (0.0, 1.3, 2.6, 4.0, 5.5, 7.0):
            for angle in np.linspace(0, 2 * np.pi, 12, endpoint=False) if radius else (0.0,):
                x = float(middle[0] + radius * 1.5 * height * np.cos(angle) - width / 2)
                y = float(middle[1] + radius * height * np.sin(angle) - height / 2)
                x, y = max(0.0, min(columns - width, x)), max(0.0, min(rows - height, y))
                box = (x, y, width, height)
                cost = radius * 0.2 + 20 * _shared(box, self.placed, height / 4) + 3 * _shared(box, self._spots, 0)
                if cost < least:
                    best, least = (x, y), cost
        return best


def _shared(box: _Box, others: Iterable[_Box], gap: float) -> float:
    """The part of a box that others take, counting `gap` px round each of them as theirs."""
    x, y, w, h = box
    total = 0.0
    for ox, oy, ow, oh in others:
        across = min(x + w, ox + ow + gap) - max(x, ox - gap)
        down = min(y + h, oy + oh + gap) - max(y, oy - gap)
        total += max(0.0, across) * max(0.0, down)
    return total / (w * h)


def suit(canvas: Image, which: str, at: tuple[float, float], r: float, ink: Colour) -> None:
    """A small pip of a suit (c d h s; a star for jokers) of half height r about a place, px."""
    x, y = at

    def disc(dx: float, dy: float, size: float) -> None:
        cv2.circle(canvas, place(np.array([x + dx * r, y + dy * r])), max(1, round(size * r)), ink, -1, cv2.LINE_AA)

    def shape(*points: tuple[float, float]) -> None:
        outline = np.array([[x + px * r, y + py * r] for px, py in points])
        cv2.fillPoly(canvas, [np.round(outline * 16).astype(np.int32)], ink, cv2.LINE_AA, 4)

    stem = ((-0.35, 1.0), (0.35, 1.0), (0.0, 0.1))
    if which == "d":
        shape((0, -1.1), (0.8, 0), (0, 1.1), (-0.8, 0))
    elif which == "h":
        disc(-0.42, -0.35, 0.5)
        disc(0.42, -0.35, 0.5)
        shape((-0.86, -0.1), (0.86, -0.1), (0, 1.0))
    elif which == "s":
        disc(-0.42, 0.25, 0.5)
        disc(0.42, 0.25, 0.5)
        shape((-0.86, 0.05), (0.86, 0.05), (0, -1.05))
        shape(*stem)
    elif which == "c":
        disc(0, -0.5, 0.48)
        disc(-0.52, 0.25, 0.48)
        disc(0.52, 0.25, 0.48)
        shape(*stem)
    else:
        star = [(np.sin(i * np.pi / 5) * s, -np.cos(i * np.pi / 5) * s) for i, s in enumerate((1.1, 0.45) * 5)]
        shape(*star)
