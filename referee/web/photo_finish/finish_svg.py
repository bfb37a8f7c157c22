"""The photo-finish as a drawing: the finish under a magnifier, and below it the whole moment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from referee.app.page.axis import Axis
from referee.app.page.drawnmoment import Moment, legend
from referee.app.page.drawnparts import arrow, card_face, distance, grid, shortened
from referee.app.page.finish import Finish, Hand
from referee.app.page.finishwords import description, headline, verdict
from referee.app.page.measures import MS, NARROW, NARROW_SIZES, WIDE, WIDE_SIZES, Measures
from referee.app.page.palette import seat_role
from referee.app.page.rulingwords import RulingWords
from referee.app.page.scene import Line, Polygon, Rect, Scene, Shape, Text, hatch


def draw(finish: Finish, words: RulingWords, title: str, foot: str, width: int = WIDE) -> Scene:
    """The drawing of a photo-finish.

    Args:
        finish: what it shows.
        words: the table's players and a language.
        title: which game and slap.
        foot: the ruling's id and its rows.
        width: `WIDE`, or `NARROW` for telephones.
    """
    return _Drawing(finish, words, NARROW_SIZES if width == NARROW else WIDE_SIZES).scene(title, foot)


_TOGETHER: Final = 60 * MS
"""Hands within this of one that is not compared with any are magnified with it, ns."""


def mini(finish: Finish, words: RulingWords) -> Scene:
    """Only what lies under the magnifier, small."""
    return _Drawing(finish, words, NARROW_SIZES).only_the_finish()


class _Drawing:
    def __init__(self, finish: Finish, words: RulingWords, sizes: Measures) -> None:
        self.finish, self.words, self.texts, self.m = finish, words, words.texts, sizes
        low, high = _window(finish)
        self.near = Axis(low, high, sizes.left, sizes.right)
        self.moment = Moment(finish, words, sizes)
        self.lanes = list(range(1, finish.seats + 1))

    def scene(self, title: str, foot: str) -> Scene:
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
        shapes += self._connection(near_bottom, far_top)
        shapes += self._panel(top - m.size * 1.4, near_bottom + m.size * 2.2, self.texts("finish.the_finish"))
        shapes += self._the_finish(top + 50, near_bottom)
        shapes += self._panel(far_top - m.size * 2.2, far_bottom + m.size * 2.2, self.texts("finish.the_moment"))
        shapes += self.moment.draw(self.near, far_top, far_top + cards, far_bottom)
        shapes += legend(finish, self.texts, m, far_bottom + m.size * 4.2)
        shapes += self._foot(foot, height - m.size)
        return Scene(m.width, round(height), tuple(shapes), title, description(finish, self.words))

    def only_the_finish(self) -> Scene:
        m = self.m
        # On the scoreboard only the lanes with hands are worth their room.
        self.lanes = sorted({hand.seat for hand in self.finish.hands})
        bottom = 60 + len(self.lanes) * m.lane
        shapes = tuple(self._the_finish(60, bottom))
        text = description(self.finish, self.words)
        return Scene(m.width, round(bottom + m.size * 1.8), shapes, headline(self.finish, self.words).text, text)

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
        cards = [mark.card for mark in self.finish.cards if mark.part][-6:]
        width = 46.0 if narrow else 84.0
        x = m.width - m.margin - len(cards) * (width + 8) + 8
        y = m.size * 5.4 if narrow else 34.0
        for place, card in enumerate(cards):
            yield from card_face(card, x + place * (width + 8), y, width)

    def _the_finish(self, top: float, bottom: float) -> Iterator[Shape]:
        m, axis, finish = self.m, self.near, self.finish
        yield from grid(axis, top, bottom, m.ticks, self.texts, m.size * 0.8)
        by_seat: dict[int, list[Hand]] = {}
        for hand in finish.hands:
            by_seat.setdefault(hand.seat, []).append(hand)
        for place, seat in enumerate(self.lanes):
            y = top + place * m.lane
            yield Rect(axis.left, y + 3, axis.right - axis.left, m.lane - 6, "lane", 0.55)
            yield Line(m.margin, y, m.width - m.margin, y, "rule", 1.0)
            yield from self._lane(seat, y, by_seat.get(seat, []))
        yield from self._finish_line(top, bottom)

    def _lane(self, seat: int, y: float, hands: list[Hand]) -> Iterator[Shape]:
        m, role = self.m, seat_role(seat)
        yield Rect(m.margin - 12, y + 6, 6, m.lane - 12, role)
        name = shortened(self.words.name(seat), m.letters)
        yield Text(m.margin + 4, y + m.lane * 0.48, name, "ink" if hands else "soft", m.size * 1.15, weight=700)
        if not hands:
            yield Text(m.margin + 4, y + m.lane * 0.8, self.texts("finish.no_hand"), "soft", m.size * 0.8)
            return
        chief = _chief(hands)
        said = shortened(verdict(chief, self.finish, self.words), 15 if m is NARROW_SIZES else 24)
        yield Text(m.margin + 4, y + m.lane * 0.8, said, "soft", m.size * 0.8)
        yield from self._result(chief, y)
        if chief.behind is not None and chief.t != self.finish.zero:
            yield from self._zone(chief, y)
        for hand in hands:
            yield from self._hand(hand, y, role)
        for edge_seat, t, pressed in self.finish.edges:
            if edge_seat == seat and self.near.holds(t - self.finish.zero):
                x = self.near.x(t - self.finish.zero)
                yield Line(x, y + m.lane - 14, x, y + m.lane - 4, "ink" if pressed else "soft", 1.5)

    def _hand(self, hand: Hand, y: float, role: str) -> Iterator[Shape]:
        m, axis, at = self.m, self.near, hand.t - self.finish.zero
        if not axis.holds(at):
            right = at > 0
            yield arrow(axis.right - 4 if right else axis.left + 4, y + m.lane / 2, 14, role, 1 if right else -1)
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

    def _zone(self, hand: Hand, y: float) -> Iterator[Shape]:
        """Within this distance of the first hand it is a dead heat: the sum of both errors (reading 2)."""
        first = next((one for one in self.finish.hands if one.t == self.finish.zero), None)
        if first is None:
            return
        low, high = self.near.inside(0), self.near.inside(first.error + hand.error)
        yield from hatch(low, y + 4, high - low, self.m.lane - 8, 12, "warn", 0.55)
        yield Line(high, y + 4, high, y + self.m.lane - 4, "warn", 1.5, 5.0)

    def _result(self, hand: Hand, y: float) -> Iterator[Shape]:
        m, texts = self.m, self.texts
        x = m.width - m.margin - 4
        if hand.behind is None or hand.behind_error is None:
            first, second = texts.ms(hand.t - self.finish.zero, sign=True), f"± {texts.ms(hand.error)}"
        elif hand.behind == 0:
            first, second = texts.ms(0), f"± {texts.ms(hand.error)}"
        else:
            first, second = texts.ms(hand.behind, sign=True), f"± {texts.ms(hand.behind_error)}"
        yield Text(x, y + m.lane * 0.48, first, seat_role(hand.seat), m.size * 1.2, "end", 700)
        force = "" if hand.force is None else f" · {texts('finish.force', force=texts.number(hand.force, 2))}"
        # A narrow drawing has no room for it; the table below has.
        force = "" if m is NARROW_SIZES else force
        yield Text(x, y + m.lane * 0.8, second + force, "soft", m.size * 0.8, "end")

    def _finish_line(self, top: float, bottom: float) -> Iterator[Shape]:
        m, axis = self.m, self.near
        x = axis.x(0)
        yield Line(x, top - 12, x, bottom, "finish", 1.6)
        after = [hand.t - self.finish.zero for hand in self.finish.hands if hand.behind is not None]
        second = min((offset for offset in after if offset > 0), default=None)
        if second is not None:
            yield from distance(x, axis.inside(second), top - 14, self.texts.ms(second), "finish", m.size, axis.right)

    def _connection(self, near_bottom: float, far_top: float) -> Iterator[Shape]:
        """What of the whole moment lies under the magnifier."""
        m = self.m
        low, high = self.moment.axis.inside(self.near.start), self.moment.axis.inside(self.near.stop)
        top, bottom = near_bottom + m.size * 2.2, far_top - m.size * 2.2
        points = ((self.near.left, top), (self.near.right, top), (high, bottom), (low, bottom))
        yield Polygon(points, "lane")

    def _foot(self, foot: str, y: float) -> Iterator[Shape]:
        m, size = self.m, self.m.size * 0.75
        text = shortened(foot, 62 if m is NARROW_SIZES else 150)
        yield Text(m.margin, y, text, "soft", size)
        yield Text(m.width - m.margin, y, self.texts("title"), "soft", size, "end", 700)


def _chief(hands: list[Hand]) -> Hand:
    """The hand of a seat that its lane speaks of: the one that counted, else the first that was ruled on."""
    counted = [hand for hand in hands if hand.behind is not None]
    ruled = [hand for hand in hands if hand.ruling is not None]
    return (counted or ruled or hands)[0]


def _window(finish: Finish) -> tuple[float, float]:
    """What lies under the magnifier, ns after the zero: the first two hands and those not much further."""
    counted = sorted(hand.t - finish.zero for hand in finish.hands if hand.behind is not None)
    errors = max((hand.error for hand in finish.hands), default=0)
    least = max(4.0 * errors, 2.0 * MS)
    if len(counted) < 2:
        near = [hand.t - finish.zero for hand in finish.hands if abs(hand.t - finish.zero) <= _TOGETHER]
        return min(-least, min(near) * 1.12 - errors), max(least * 2, max(near) * 1.12 + errors)
    high = max(counted[1] * 1.5, least)
    for offset in counted[2:]:
        if offset <= high * 1.6:
            high = max(high, offset * 1.12 + errors)
    return -max(high * 0.16, errors * 1.6), high
