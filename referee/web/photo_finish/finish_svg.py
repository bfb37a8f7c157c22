"""The photo-finish as a drawing: the finish under a magnifier, and below it the whole moment. Pure.

Also the parts that charts share: a time axis with round ticks, and shortened names.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from referee.text.catalogue import Texts
from referee.text.ruling_lines import RulingWords
from referee.units import MS
from referee.web.markup import Drawing, Line, Polygon, Rect, Shape, SuitMark, Text, hatch, seat_role
from referee.web.photo_finish.moment import (
    Finish,
    FinishHand,
    description,
    headline,
    offset,
    verdict,
)

WIDE: Final = 1600
NARROW: Final = 720


@dataclass(frozen=True, slots=True)
class Measures:
    """Sizes of a drawing of one width, px."""

    width: int
    margin: float
    left: float
    """Left end of the time axes."""
    right: float
    size: float
    """Size of ordinary text."""
    lane: float
    row: float
    """Height of a lane of the whole moment."""
    ticks: int
    letters: int
    """Most letters of a name."""


WIDE_SIZES: Final = Measures(WIDE, 40, 230, 1290, 20, 84, 40, 9, 15)
ROOM_SIZES: Final = Measures(1280, 16, 330, 1040, 40, 84, 40, 5, 12)
"""Readable from six metres away: names and margins only."""
NARROW_SIZES: Final = Measures(NARROW, 20, 150, 520, 22, 92, 40, 6, 9)


@dataclass(frozen=True, slots=True)
class Axis:
    """Maps instants from ``start`` to ``stop`` (ns, after the zero) to pixels from ``left`` to ``right``."""

    start: float
    stop: float
    left: float
    right: float

    def x(self, t: float) -> float:
        """Return the pixel of an instant, even outside the axis."""
        return self.left + (t - self.start) / (self.stop - self.start) * (self.right - self.left)

    def inside(self, t: float) -> float:
        """Return the same, clamped to the axis."""
        return min(max(self.x(t), self.left), self.right)

    def holds(self, t: float) -> bool:
        """Return whether an instant is on the axis."""
        return self.start <= t <= self.stop

    def ticks(self, about: int) -> tuple[list[int], int]:
        """Return round instants, about this many, ns, and the decimals that they need in milliseconds."""
        rough = (self.stop - self.start) / about
        power = 10.0 ** math.floor(math.log10(rough))
        # The tolerance keeps a step that is exactly right in spite of rounding.
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
        places = range(math.ceil(self.start / step), math.floor(self.stop / step) + 1)
        return [round(place * step) for place in places], max(0, -math.floor(math.log10(step / 1e6) + 1e-9))


_CARD_RATIO = 1.42


def card_face(card: str, x: float, y: float, width: float) -> Iterator[Shape]:
    """Yield a small card with its upper left corner at ``x``, ``y``."""
    height = width * _CARD_RATIO
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
    yield SuitMark(x + (width - size) / 2, top, size, suit, role)


def grid(
    axis: Axis, top: float, bottom: float, about: int, texts: Texts, size: float, plus: str = "+"
) -> Iterator[Shape]:
    """Yield vertical lines at round instants, with their milliseconds below; ``plus`` precedes those after the zero."""
    instants, digits = axis.ticks(about)
    for t in instants:
        x = axis.x(t)
        yield Line(x, top, x, bottom, "rule", 1.0)
        yield Line(x, bottom, x, bottom + size * 0.4, "rule2", 1.5)
        sign = plus if t > 0 else ""
        yield Text(x, bottom + size * 1.5, f"{sign}{texts.number(t / 1e6, digits)}", "soft", size, "middle")


def _distance(x1: float, x2: float, y: float, text: str, role: str, size: float, right: float) -> Iterator[Shape]:
    """Yield a line between two instants with its length beside it; ``right`` is the limit of the text."""
    low, high = min(x1, x2), max(x1, x2)
    yield Line(low, y, high, y, role, 2.0)
    for x in (low, high):
        yield Line(x, y - size * 0.4, x, y + size * 0.4, role, 2.0)
    # Roboto's digits and letters are about 0.56 of their size wide.
    wide = len(text) * size * 0.56
    if wide < high - low:
        yield Text((low + high) / 2, y - size * 0.45, text, role, size, "middle", 700)
    elif high + wide + size < right:
        yield Text(high + size * 0.5, y + size * 0.35, text, role, size, "start", 700)
    else:
        yield Text(low - size * 0.5, y + size * 0.35, text, role, size, "end", 700)


def shortened(name: str, most: int) -> str:
    """Return a name shortened to fit."""
    return name if len(name) <= most else name[: most - 1] + "…"


_LEGEND: Final = (
    ("edge_at", "finish"), ("band", "seat1"), ("contact", "seat1"), ("zone", "warn"), ("revealed", "good"),
    ("known", "good"),
)  # fmt: skip


def draw_finish(finish: Finish, words: RulingWords, title: str, foot: str, width: int = WIDE) -> Drawing:
    """Draw a photo-finish.

    Args:
        finish: what it shows.
        words: the table's players and a language.
        title: which game and slap.
        foot: the ruling's id and its rules.
        width: `WIDE`, or `NARROW` for telephones.
    """
    return FinishDrawing(finish, words, NARROW_SIZES if width == NARROW else WIDE_SIZES).scene(title, foot)


_TOGETHER: Final = 60 * MS
"""Hands within this of one that is not compared with any are magnified with it, ns."""


def draw_mini_finish(finish: Finish, words: RulingWords) -> Drawing:
    """Draw only the magnified part, small."""
    # On the scoreboard only lanes with hands are worth their room.
    lanes = sorted({hand.seat for hand in finish.hands})
    return draw_lanes_alone(finish, words, NARROW_SIZES, lanes, 60, 1.8)


def draw_lanes_alone(
    finish: Finish, words: RulingWords, m: Measures, lanes: list[int], top: float, below: float
) -> Drawing:
    """Draw lanes from ``top`` on, with ``below`` lines of text under them."""
    drawing = FinishDrawing(finish, words, m)
    drawing.lanes = lanes
    bottom = top + len(lanes) * m.lane
    shapes, text = tuple(drawing.draw_lanes(top, bottom)), description(finish, words)
    return Drawing(m.width, round(bottom + m.size * below), shapes, headline(finish, words).text, text)


class FinishDrawing:
    def __init__(self, finish: Finish, words: RulingWords, sizes: Measures) -> None:
        self.finish, self.words, self.texts, self.m = finish, words, words.texts, sizes
        low, high = _window(finish)
        self.near = Axis(low, high, sizes.left, sizes.right)
        # From the pattern's first card to the last lift.
        parts = [card.t - card.t_error for card in finish.pattern if card.t <= finish.zero]
        start = min([*parts, finish.zero - 400 * MS]) - 60 * MS
        ends = [hand.t for hand in finish.hands] + [hand.lift for hand in finish.hands if hand.lift is not None]
        stop = min(max([*ends, finish.zero + 250 * MS]) + 60 * MS, finish.zero + 1000 * MS)
        low, high = max(start - finish.zero, -2500 * MS), stop - finish.zero
        self.far = Axis(low, high, sizes.left, sizes.width - sizes.margin - 14)
        self.lanes = list(range(1, finish.seats + 1))

    def scene(self, title: str, foot: str) -> Drawing:
        m, finish = self.m, self.finish
        shapes: list[Shape] = []
        top = m.size * 10.2 if m is NARROW_SIZES else 214.0
        near_bottom = top + 50 + finish.seats * m.lane
        far_top = near_bottom + m.size * 6.4
        cards = m.size * 4.2
        far_bottom = far_top + cards + finish.seats * m.row
        height = far_bottom + m.size * 8.2
        shapes.append(Rect(0, 0, m.width, height, "ground"))
        shapes += self._head(title)
        # The lens: it joins the magnified part of the whole moment to the magnifier.
        low, high = self.far.inside(self.near.start), self.far.inside(self.near.stop)
        above, below = near_bottom + m.size * 2.2, far_top - m.size * 2.2
        points = ((self.near.left, above), (self.near.right, above), (high, below), (low, below))
        shapes.append(Polygon(points, "lane"))
        shapes += self._panel(top - m.size * 1.4, near_bottom + m.size * 2.2, self.texts("finish.the_finish"))
        shapes += self.draw_lanes(top + 50, near_bottom)
        shapes += self._panel(far_top - m.size * 2.2, far_bottom + m.size * 2.2, self.texts("finish.the_moment"))
        shapes += self._the_moment(far_top, far_top + cards, far_bottom)
        shapes += self._legend(far_bottom + m.size * 4.2)
        text = shortened(foot, 62 if m is NARROW_SIZES else 150)
        shapes.append(Text(m.margin, height - m.size, text, "soft", m.size * 0.75))
        shapes.append(Text(m.width - m.margin, height - m.size, self.texts("title"), "soft", m.size * 0.75, "end", 700))
        return Drawing(m.width, round(height), tuple(shapes), title, description(finish, self.words))

    def _panel(self, top: float, bottom: float, title: str) -> Iterator[Shape]:
        m = self.m
        yield Rect(m.margin - 12, top, m.width - 2 * m.margin + 24, bottom - top, "panel", radius=12)
        yield Text(m.margin + 4, top + m.size * 1.5, title, "soft", m.size * 0.7, weight=700)
        yield Text(m.width - m.margin - 4, top + m.size * 1.5, self.texts("finish.axis"), "soft", m.size * 0.7, "end")

    def _head(self, title: str) -> Iterator[Shape]:
        m, head = self.m, headline(self.finish, self.words)
        yield Text(m.margin, m.size * 1.7, title.upper(), "soft", m.size * 0.75, weight=700)
        narrow = m is NARROW_SIZES
        size = (42 if narrow else 60) * min(1.0, (19 if narrow else 26) / max(1, len(head.text)))
        role = "warn" if head.seat is None else seat_role(head.seat)
        yield Text(m.margin, m.size * 2.2 + size, head.text, role, size, weight=700)
        under = (28 if narrow else 34) * min(1.0, (38 if narrow else 50) / max(1, len(head.under)))
        yield Text(m.margin, m.size * 3.2 + size + under, head.under, "ink", under)
        cards = [card.card for card in self.finish.pattern[-6:]]
        width = 46.0 if narrow else 84.0
        x = m.width - m.margin - len(cards) * (width + 8) + 8
        y = m.size * 5.4 if narrow else 34.0
        for place, card in enumerate(cards):
            yield from card_face(card, x + place * (width + 8), y, width)

    def draw_lanes(self, top: float, bottom: float) -> Iterator[Shape]:
        m, axis, finish = self.m, self.near, self.finish
        if m is not ROOM_SIZES:
            yield from grid(axis, top, bottom, m.ticks, self.texts, m.size * 0.8)
        for place, seat in enumerate(self.lanes):
            y = top + place * m.lane
            yield Rect(axis.left, y + 3, axis.right - axis.left, m.lane - 6, "lane", 0.55)
            yield Line(m.margin, y, m.width - m.margin, y, "rule", 1.0)
            yield from self._lane(seat, y, [hand for hand in finish.hands if hand.seat == seat])
        x = axis.x(0)
        yield Line(x, top - 12, x, bottom, "finish", 1.6)
        others = [hand for hand in finish.hands if hand.behind is not None and hand.t > finish.zero]
        second = min(others, key=lambda hand: hand.t, default=None)
        if second is not None:
            after, error = second.t - finish.zero, finish.zero_error + second.error
            said = self.texts.measured(after, error)
            yield from _distance(x, axis.inside(after), top - 14, said, "finish", m.size, axis.right)
            # The error bar at its end.
            low, high = axis.inside(after - error), axis.inside(after + error)
            yield Rect(low, top - 14 - m.size * 0.3, high - low, m.size * 0.6, "finish", 0.3)

    def _lane(self, seat: int, y: float, hands: list[FinishHand]) -> Iterator[Shape]:
        m, role = self.m, seat_role(seat)
        yield Rect(m.margin - 12, y + 6, 6, m.lane - 12, role)
        name = shortened(self.words.name(seat), m.letters)
        room = m is ROOM_SIZES
        line, size = (0.66, m.size) if room else (0.48, m.size * 1.15)
        yield Text(m.margin + 4, y + m.lane * line, name, "ink" if hands else "soft", size, weight=700)
        if not hands:
            yield Text(m.margin + 4, y + m.lane * 0.8, self.texts("finish.no_hand"), "soft", m.size * 0.8)
            return
        # The lane shows the hand that counted, else the first one that was ruled on.
        counted = [hand for hand in hands if hand.behind is not None]
        chief = (counted or [hand for hand in hands if hand.ruling is not None] or hands)[0]
        said = shortened(verdict(chief, self.finish, self.words), 15 if m is NARROW_SIZES else 24)
        if not room:
            yield Text(m.margin + 4, y + m.lane * 0.8, said, "soft", m.size * 0.8)
        yield from self._result(chief, y)
        first = next((hand for hand in self.finish.hands if hand.t == self.finish.zero), None)
        if chief.behind is not None and chief.t != self.finish.zero and first is not None:
            # Within this distance of the first hand it is a dead heat: the sum of both errors (reading 2).
            low, high = self.near.inside(0), self.near.inside(first.error + chief.error)
            yield from hatch(low, y + 4, high - low, m.lane - 8, 12, "warn", 0.55)
            yield Line(high, y + 4, high, y + m.lane - 4, "warn", 1.5, 5.0)
        for hand in hands:
            yield from self.draw_hand(hand, y, role)
        for edge_seat, t, pressed in self.finish.edges:
            if edge_seat == seat and self.near.holds(t - self.finish.zero):
                x = self.near.x(t - self.finish.zero)
                yield Line(x, y + m.lane - 14, x, y + m.lane - 4, "ink" if pressed else "soft", 1.5)

    def draw_hand(self, hand: FinishHand, y: float, role: str) -> Iterator[Shape]:
        m, axis, at = self.m, self.near, hand.t - self.finish.zero
        if not axis.holds(at):
            # An arrow that points to a hand outside the drawing.
            x, back = (axis.right - 4, axis.right - 18) if at > 0 else (axis.left + 4, axis.left + 18)
            middle = y + m.lane / 2
            yield Polygon(((x, middle), (back, middle - 9.8), (back, middle + 9.8)), role)
            return
        x = axis.x(at)
        low, high = axis.inside(at - hand.error), axis.inside(at + hand.error)
        thick = (m.lane - 30) * (1.0 if hand.force is None else 0.25 + 0.75 * hand.force)
        end = axis.inside(hand.lift - self.finish.zero) if hand.lift is not None else axis.right
        yield Rect(x, y + (m.lane - thick) / 2, max(end - x, 0), thick, role, 0.16)
        yield Rect(low, y + 5, high - low, m.lane - 10, role, 0.28)
        for side in (low, high):
            yield Line(side, y + 5, side, y + m.lane - 5, role, 1.0, 4.0)
        yield Line(x, y + 3, x, y + m.lane - 3, role, 3.5)
        yield Polygon(((x - 8, y + 3), (x + 8, y + 3), (x, y + 15)), role)

    def _result(self, hand: FinishHand, y: float) -> Iterator[Shape]:
        m, texts = self.m, self.texts
        x = m.width - m.margin - 4
        after, _, error = offset(hand.t, hand.error, self.finish, texts).partition(" ± ")
        first = f"{after} ms" if error else after
        if m is ROOM_SIZES:
            first = texts("finish.won") if hand.behind == 0 and self.finish.heat is None else first
            yield Text(x, y + m.lane * 0.66, first, seat_role(hand.seat), m.size, "end", 700)
            return
        yield Text(x, y + m.lane * 0.48, first, seat_role(hand.seat), m.size * 1.2, "end", 700)
        second = f"± {error}" if error else ""
        # A narrow drawing has no room for the force; the table below has.
        if hand.force is not None and m is not NARROW_SIZES:
            second += f"{' · ' if second else ''}{texts('finish.force', force=texts.number(hand.force, 2))}"
        yield Text(x, y + m.lane * 0.8, second, "soft", m.size * 0.8, "end")

    def _the_moment(self, top: float, lanes: float, bottom: float) -> Iterator[Shape]:
        """Yield cards from ``top``, a row for each seat from ``lanes``, down to ``bottom``."""
        m, axis, near, finish = self.m, self.far, self.near, self.finish
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
        # From the card that made the pattern to the first hand.
        cards = [card for card in finish.pattern if card.t <= finish.zero]
        first = next((hand for hand in finish.hands if hand.t == finish.zero), None)
        if cards and first is not None and axis.holds(cards[-1].t - finish.zero):
            card = cards[-1]
            text = self.texts.measured(first.t - card.t, first.error + card.t_error)
            y = bottom - m.row * 0.5 if first.seat != finish.seats else bottom - m.row * 1.5
            yield from _distance(axis.x(card.t - finish.zero), axis.x(0), y, text, "ink", m.size * 0.8, axis.right)

    def _cards(self, top: float, bottom: float) -> Iterator[Shape]:
        m, axis, finish = self.m, self.far, self.finish
        width = m.size * 2.1
        for mark in finish.cards:
            at = mark.t - finish.zero
            if not axis.holds(at):
                continue
            x, role = axis.x(at), "good" if mark in finish.pattern else "soft"
            low, high = axis.inside(at - mark.t_error), axis.inside(at + mark.t_error)
            yield Rect(low, top, high - low, bottom - top, role, 0.13)
            yield Line(x, top, x, bottom, role, 1.5, 6.0)
            yield from card_face(mark.card, x - width / 2, top + 2, width)
            known = None if mark.known_at is None else mark.known_at - finish.zero
            if known is not None and axis.holds(known):
                y, k = top + width * _CARD_RATIO / 2, axis.x(known)
                yield Line(x + width / 2, y, k, y, role, 1.5, 3.0)
                yield Polygon(((k, y - 7), (k + 7, y), (k, y + 7), (k - 7, y)), role)

    def _legend(self, y: float) -> Iterator[Shape]:
        """Yield the legend of the signs."""
        m = self.m
        x, size = m.margin, m.size * 0.8
        for place, (key, role) in enumerate((*_LEGEND, ("edge_mark", "ink")) if self.finish.edges else _LEGEND):
            text = self.texts(f"finish.{key}")
            wide = 38 + len(text) * size * 0.56 + 26
            if x + wide > m.width - m.margin and place:
                x, y = m.margin, y + size * 1.9
            at = y - size * 0.35
            if key == "edge_mark":
                yield Line(x + 14, at - 5, x + 14, at + 5, role, 1.5)
            elif key == "edge_at":
                yield Line(x + 14, at - 11, x + 14, at + 11, role, 3.5)
            elif key == "zone":
                yield from hatch(x, at - 9, 28, 18, 8, role, 0.8)
            elif key == "revealed":
                yield Line(x + 14, at - 11, x + 14, at + 11, role, 1.5, 4.0)
            elif key == "known":
                yield Polygon(((x + 14, at - 7), (x + 21, at), (x + 14, at + 7), (x + 7, at)), role)
            else:
                yield Rect(x, at - 9, 28, 18, role, 0.28 if key == "band" else 0.16)
            yield Text(x + 38, y, text, "soft", size)
            x += wide


def _window(finish: Finish) -> tuple[float, float]:
    """Return the magnified span, ns after the zero: the first two hands and those not much later."""
    counted = sorted(hand.t - finish.zero for hand in finish.hands if hand.behind is not None)
    errors = max((hand.error for hand in finish.hands), default=0)
    least = max(4.0 * errors, 2.0 * MS)
    if len(counted) < 2:
        near = [hand.t - finish.zero for hand in finish.hands if abs(hand.t - finish.zero) <= _TOGETHER]
        return min(-least, min(near) * 1.12 - errors), max(least * 2, max(near) * 1.12 + errors)
    high = max(counted[1] * 1.5, least)
    for after in counted[2:]:
        if after <= high * 1.6:
            high = max(high, after * 1.12 + errors)
    return -max(high * 0.16, errors * 1.6), high
