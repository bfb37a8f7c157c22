"""The lower part of a photo-finish: the whole moment, from the pattern's first card to the last hand's lift."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from referee.app.page.axis import Axis
from referee.app.page.drawnparts import CARD_RATIO, card_face, distance, grid, shortened
from referee.app.page.finish import Finish
from referee.app.page.measures import MS, Measures
from referee.app.page.palette import seat_role
from referee.app.page.rulingwords import RulingWords
from referee.app.page.scene import Line, Polygon, Rect, Shape, Text, hatch
from referee.app.page.texts import Texts

_LEGEND: Final = (
    ("edge_at", "finish"), ("band", "seat1"), ("contact", "seat1"), ("zone", "warn"), ("revealed", "good"),
    ("known", "good"),
)  # fmt: skip


class Moment:
    """The cards and hands of a slap on one axis of time."""

    def __init__(self, finish: Finish, words: RulingWords, sizes: Measures) -> None:
        self.finish, self.words, self.texts, self.m = finish, words, words.texts, sizes
        low, high = _span(finish)
        self.axis = Axis(low, high, sizes.left, sizes.width - sizes.margin - 14)

    def draw(self, near: Axis, top: float, lanes: float, bottom: float) -> Iterator[Shape]:
        """Cards from ``top``, a row for each seat from ``lanes``, down to ``bottom``; ``near`` is what is magnified."""
        m, axis, finish = self.m, self.axis, self.finish
        yield from grid(axis, top, bottom, m.ticks, self.texts, m.size * 0.8)
        low, high = axis.inside(near.start), axis.inside(near.stop)
        yield Rect(low, top - 4, max(high - low, 3), bottom - top + 4, "finish", 0.14)
        yield Text(m.margin + 4, top + m.size * 2.6, self.texts("finish.cards_lane"), "soft", m.size * 0.9)
        yield from self._cards(top, bottom)
        for seat in range(1, finish.seats + 1):
            y = lanes + (seat - 1) * m.row
            yield Line(m.margin, y, m.width - m.margin, y, "rule", 1.0)
            name = shortened(self.words.name(seat), m.letters)
            yield Text(m.margin + 4, y + m.row * 0.65, name, seat_role(seat), m.size * 0.9, weight=700)
        for hand in finish.hands:
            y = lanes + (hand.seat - 1) * m.row
            at, role = hand.t - finish.zero, seat_role(hand.seat)
            if not axis.holds(at):
                continue
            x, end = axis.x(at), axis.right if hand.lift is None else axis.inside(hand.lift - finish.zero)
            yield Rect(x, y + 9, max(end - x, 0), m.row - 18, role, 0.4)
            yield Line(x, y + 4, x, y + m.row - 4, role, 3.0)
        yield from self._reaction(bottom)

    def _cards(self, top: float, bottom: float) -> Iterator[Shape]:
        m, axis, finish = self.m, self.axis, self.finish
        width = m.size * 2.1
        for mark in finish.cards:
            at = mark.t - finish.zero
            if not axis.holds(at):
                continue
            x, role = axis.x(at), "good" if mark.part else "soft"
            low, high = axis.inside(at - mark.error), axis.inside(at + mark.error)
            yield Rect(low, top, high - low, bottom - top, role, 0.13)
            yield Line(x, top, x, bottom, role, 1.5, 6.0)
            yield from card_face(mark.card, x - width / 2, top + 2, width)
            known = None if mark.known_at is None else mark.known_at - finish.zero
            if known is not None and axis.holds(known):
                y, k = top + width * CARD_RATIO / 2, axis.x(known)
                yield Line(x + width / 2, y, k, y, role, 1.5, 3.0)
                yield Polygon(((k, y - 7), (k + 7, y), (k, y + 7), (k - 7, y)), role)

    def _reaction(self, bottom: float) -> Iterator[Shape]:
        """From the card that made the pattern to the first hand."""
        m, axis, finish = self.m, self.axis, self.finish
        cards = [mark for mark in finish.cards if mark.part and mark.t <= finish.zero]
        first = next((hand for hand in finish.hands if hand.t == finish.zero), None)
        if not cards or first is None or not axis.holds(cards[-1].t - finish.zero):
            return
        card = cards[-1]
        text = f"{self.texts.ms(first.t - card.t, 1)} ± {self.texts.ms(first.error + card.error, 1)}"
        y = bottom - m.row * 0.5 if first.seat != finish.seats else bottom - m.row * 1.5
        yield from distance(axis.x(card.t - finish.zero), axis.x(0), y, text, "ink", m.size * 0.8, axis.right)


def legend(finish: Finish, texts: Texts, m: Measures, y: float) -> Iterator[Shape]:
    """What the signs mean."""
    x, size = m.margin, m.size * 0.8
    signs = (*_LEGEND, ("edge_mark", "ink")) if finish.edges else _LEGEND
    for place, (key, role) in enumerate(signs):
        text = texts(f"finish.{key}")
        wide = 38 + len(text) * size * 0.56 + 26
        if x + wide > m.width - m.margin and place:
            x, y = m.margin, y + size * 1.9
        yield from _sign(key, role, x, y - size * 0.35)
        yield Text(x + 38, y, text, "soft", size)
        x += wide


def _sign(key: str, role: str, x: float, y: float) -> Iterator[Shape]:
    if key == "edge_mark":
        yield Line(x + 14, y - 5, x + 14, y + 5, role, 1.5)
    elif key == "edge_at":
        yield Line(x + 14, y - 11, x + 14, y + 11, role, 3.5)
    elif key == "zone":
        yield from hatch(x, y - 9, 28, 18, 8, role, 0.8)
    elif key == "revealed":
        yield Line(x + 14, y - 11, x + 14, y + 11, role, 1.5, 4.0)
    elif key == "known":
        yield Polygon(((x + 14, y - 7), (x + 21, y), (x + 14, y + 7), (x + 7, y)), role)
    else:
        yield Rect(x, y - 9, 28, 18, role, 0.28 if key == "band" else 0.16)


def _span(finish: Finish) -> tuple[float, float]:
    """The span from the pattern's first card to the last lift, ns after the zero."""
    parts = [mark.t - mark.error for mark in finish.cards if mark.part and mark.t <= finish.zero]
    start = min([*parts, finish.zero - 400 * MS]) - 60 * MS
    lifts = [hand.lift for hand in finish.hands if hand.lift is not None]
    ends = [hand.t for hand in finish.hands] + lifts + [finish.zero + 250 * MS]
    stop = min(max(ends) + 60 * MS, finish.zero + 1000 * MS)
    return max(start - finish.zero, -2500 * MS), stop - finish.zero
