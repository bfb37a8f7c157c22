"""Drawings of a slap to take in at a glance: the lanes for a whole room, one picture to share, a time strip. Pure."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import Final

from referee.text.ruling_lines import RulingWords
from referee.web.markup import Drawing, Line, Rect, Shape, Text, seat_role
from referee.web.photo_finish.finish_svg import (
    NARROW,
    NARROW_SIZES,
    ROOM_SIZES,
    Axis,
    FinishDrawing,
    card_face,
    draw_lanes_alone,
    grid,
    shortened,
)
from referee.web.photo_finish.moment import Finish, description, read_verdict, tell_why
from referee.web.photo_finish.questions import name_lanes

PHONE_WIDTH: Final = 620
"""Width of a drawing in the type of a room's that can be read on a phone."""
_ROOM_LANES: Final = 4
"""Number of lanes that can be taken in at a glance."""


def draw_room_finish(finish: Finish, words: RulingWords) -> Drawing:
    """Draw the lanes of the first hands in type that is readable across a room, the winner's on top."""
    return draw_lanes_alone(finish, words, ROOM_SIZES, _room_lanes(finish), 70, 0.2)


def draw_unnamed_finish(finish: Finish, words: RulingWords, width: int) -> Drawing:
    """Draw the hands as a question to a class: a letter for each player, and nothing of the verdict.

    ``width`` is that of `ROOM_SIZES`, or `PHONE_WIDTH`.
    """
    m, texts = replace(ROOM_SIZES, width=width, left=90, right=width - 30), words.texts
    drawing, lanes = FinishDrawing(finish, words, m), name_lanes(finish)
    # Counted from the left edge: a zero at one of the hands would say that it was first.
    start, height = drawing.near.start, len(lanes) * m.lane
    scale = Axis(0, drawing.near.stop - start, m.left, m.right)
    shapes: list[Shape] = list(grid(scale, 0, height, m.ticks, texts, 28, ""))
    said = []
    for place, (letter, seat) in enumerate(lanes.items()):
        y = place * m.lane
        shapes.append(Rect(m.left, y + 3, m.right - m.left, m.lane - 6, "lane", 0.55))
        shapes.append(Text(m.margin + 14, y + m.lane * 0.68, letter, "ink", m.size * 1.2, weight=700))
        for hand in finish.hands:
            if hand.seat == seat:
                shapes += drawing.draw_hand(hand, y, "ink")
                said.append(f"{letter}: {texts.measured(round(hand.t - finish.zero - start), hand.error)}")
    shapes.append(Text(m.right, height + 84, texts("figures.ms_axis"), "soft", 28, "end"))
    return Drawing(m.width, round(height + 96), tuple(shapes), texts("lesson.lanes"), ". ".join(said))


def draw_shared(finish: Finish, words: RulingWords, title: str) -> Drawing:
    """Draw one picture of a slap to send to friends: who won, by how much, the cards, the lanes, and why."""
    verdict, m, texts = read_verdict(finish, words), ROOM_SIZES, words.texts
    drawing = FinishDrawing(finish, words, m)
    drawing.lanes = _room_lanes(finish)
    cards = [card.card for card in finish.pattern[-4:]]
    width, top = 150.0, 380.0
    bottom = top + len(drawing.lanes) * m.lane
    height = bottom + 170
    role = "warn" if verdict.seat is None else seat_role(verdict.seat)
    room = m.width - 80 - len(cards) * (width + 14)
    shapes: list[Shape] = [Rect(0, 0, m.width, height, "ground")]
    for line, (text, own, size) in enumerate(((verdict.who, role, 104.0), (verdict.how, "ink", 84.0))):
        fitted = min(size, room / max(1, len(text)) / 0.56)
        shapes.append(Text(36, 120 + line * 100, text, own, fitted, weight=700))
    shapes.append(Text(36, 286, verdict.under, "ink", 44))
    for place, card in enumerate(cards):
        shapes += card_face(card, m.width - 40 - (len(cards) - place) * (width + 14) + 14, 40, width)
    shapes += drawing.draw_lanes(top, bottom)
    for line, text in enumerate(textwrap.wrap(tell_why(finish, words), 72)[:3]):
        shapes.append(Text(36, bottom + 48 + line * 38, text, "ink", 29))
    shapes.append(Text(m.width - 36, height - 18, f"{title} · {texts('title')}", "soft", 22, "end"))
    return Drawing(m.width, round(height), tuple(shapes), title, description(finish, words))


def draw_strip(finish: Finish, words: RulingWords, start: int, stop: int) -> tuple[Drawing, Axis]:
    """Draw the cards and hands from ``start`` to ``stop`` (ns after the zero) on a time axis; return that axis, too."""
    m, axis = NARROW_SIZES, Axis(start, stop, 30, NARROW - 30)
    shapes: list[Shape] = list(grid(axis, 30, 110, m.ticks, words.texts, m.size))
    for card in finish.cards:
        if axis.holds(card.t - finish.zero):
            x = axis.x(card.t - finish.zero)
            shapes.append(Line(x, 30, x, 110, "good", 2.0, 6.0))
            shapes += card_face(card.card, x - 20, 40, 40)
    for hand in finish.hands:
        at = hand.t - finish.zero
        if axis.holds(at):
            low, high = axis.inside(at - hand.error), axis.inside(at + hand.error)
            shapes.append(Rect(low, 30, high - low, 80, seat_role(hand.seat), 0.4))
            shapes.append(Line(axis.x(at), 24, axis.x(at), 110, seat_role(hand.seat), 4.0))
            name = shortened(words.name(hand.seat), m.letters)
            shapes.append(Text(axis.x(at), 20, name, seat_role(hand.seat), m.size, "middle", 700))
    return Drawing(NARROW, 150, tuple(shapes), words.texts("finish.the_moment"), description(finish, words)), axis


def _room_lanes(finish: Finish) -> list[int]:
    """Return the seats whose lanes a room is shown, the first hand's on top."""
    compared = sorted(finish.hands, key=lambda hand: (hand.behind is None, hand.t))
    return list(dict.fromkeys(hand.seat for hand in compared))[:_ROOM_LANES]
