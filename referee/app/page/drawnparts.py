"""Pieces that drawings are made of: card faces, axes with ticks, and lines that say a distance."""

from __future__ import annotations

from collections.abc import Iterator

from referee.app.page.axis import Axis
from referee.app.page.scene import Line, Polygon, Rect, Shape, Text
from referee.app.page.suits import polygons
from referee.app.page.texts import Texts

CARD_RATIO = 1.42


def card_face(card: str, x: float, y: float, width: float) -> Iterator[Shape]:
    """A small card with its upper left corner at ``x``, ``y``."""
    height = width * CARD_RATIO
    yield Rect(x - 1, y - 1, width + 2, height + 2, "edge", radius=width * 0.13)
    if card == "??":
        yield Rect(x, y, width, height, "back", radius=width * 0.12)
        yield Text(x + width / 2, y + height * 0.62, "?", "onfelt", width * 0.6, "middle", 700)
        return
    yield Rect(x, y, width, height, "face", radius=width * 0.12)
    rank, suit = card[0], card[1]
    role = "red" if suit in "hdr" else "black"
    text = {"T": "10", "X": "★"}.get(rank, rank)
    if rank != "X":
        yield Text(x + width * 0.5, y + height * 0.44, text, role, width * 0.54, "middle", 700)
        size, top = width * 0.42, y + height * 0.53
    else:
        size, top = width * 0.7, y + height * 0.25
    left = x + (width - size) / 2
    for outline in polygons(suit):
        yield Polygon(tuple((left + px * size / 100, top + py * size / 100) for px, py in outline), role)


def grid(
    axis: Axis, top: float, bottom: float, about: int, texts: Texts, size: float, plus: str = "+"
) -> Iterator[Shape]:
    """Vertical lines at round instants, with their milliseconds below; ``plus`` goes before those after the zero."""
    digits = axis.digits(about)
    for t in axis.ticks(about):
        x = axis.x(t)
        yield Line(x, top, x, bottom, "rule", 1.0)
        yield Line(x, bottom, x, bottom + size * 0.4, "rule2", 1.5)
        sign = plus if t > 0 else ""
        yield Text(x, bottom + size * 1.5, f"{sign}{texts.number(t / 1e6, digits)}", "soft", size, "middle")


def distance(x1: float, x2: float, y: float, text: str, role: str, size: float, right: float) -> Iterator[Shape]:
    """A line between two instants with its length written at it; ``right`` is how far writing may go."""
    low, high = min(x1, x2), max(x1, x2)
    yield Line(low, y, high, y, role, 2.0)
    for x in (low, high):
        yield Line(x, y - size * 0.4, x, y + size * 0.4, role, 2.0)
    wide = len(text) * size * 0.56
    if wide < high - low:
        yield Text((low + high) / 2, y - size * 0.45, text, role, size, "middle", 700)
    elif high + wide + size < right:
        yield Text(high + size * 0.5, y + size * 0.35, text, role, size, "start", 700)
    else:
        yield Text(low - size * 0.5, y + size * 0.35, text, role, size, "end", 700)


def arrow(x: float, y: float, size: float, role: str, direction: int = 1) -> Polygon:
    """A tip at ``x``, ``y`` that points right (1) or left (-1)."""
    back = x - direction * size
    return Polygon(((x, y), (back, y - size * 0.7), (back, y + size * 0.7)), role)


def shortened(name: str, most: int) -> str:
    """A name that fits."""
    return name if len(name) <= most else name[: most - 1] + "…"
