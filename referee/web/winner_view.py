"""The moment of a decided slap as the whole room sees it: who, by how much, with which cards, and the lanes."""

from __future__ import annotations

from typing import NamedTuple

from referee.engine.rulings import cause_of
from referee.text.catalogue import unbroken
from referee.text.ruling_lines import RulingWords
from referee.web.board import Board
from referee.web.layout import face
from referee.web.markup import Markup, svg, tag
from referee.web.photo_finish.finish_svg import draw_room_finish
from referee.web.photo_finish.moment import Finish

_CARDS = 4
"""Of the pattern, the newest ones."""


class RoomVerdict(NamedTuple):
    """Who won a slap and by how much, in a few words that can be read across a room."""

    who: str
    how: str
    """As large as a name: the margin, or what decided instead."""
    under: str
    """How far off the margin may be."""
    seat: int | None


def read_verdict(finish: Finish, words: RulingWords) -> RoomVerdict:
    """The verdict on a slap that was won, or on a dead heat that nothing has settled yet."""
    texts, ruling = words.texts, finish.ruling
    heat = finish.heat
    if ruling is None or ruling.kind != "slap_won":
        seats = [hand.seat for hand in finish.hands if heat is not None and hand.id in heat.because]
        margin, error = (heat["margin"], heat["error"]) if heat is not None else (0, 0)
        under = texts("board.apart", margin=texts.ms(margin, error), error=texts.ms(error, error))
        return RoomVerdict(texts.both(map(words.name, dict.fromkeys(seats))), texts("finish.heat"), under, None)
    name, seat = words.name(ruling["seat"]), int(ruling["seat"])
    decided = words.how(ruling)
    if decided:
        return RoomVerdict(name, decided, "", seat)
    if ruling["margin"] is None:
        return RoomVerdict(name, texts("board.only_hand"), words.patterns(ruling["patterns"]), seat)
    margin, error = ruling["margin"], ruling["error"]
    how = texts("board.ahead", margin=texts.ms(margin, error))
    return RoomVerdict(name, how, texts("board.give_or_take", error=texts.ms(error, error) if error else "0"), seat)


def winner_view(board: Board, words: RulingWords) -> Markup:
    """The latest slap that was decided, for a script to show large for a while; nothing where there was none."""
    ruling = board.last_decided() if board.live else None
    seen = None if ruling is None else board.finish_of(cause_of(ruling.id))
    if ruling is None or seen is None:
        return Markup()
    verdict = read_verdict(seen, words)
    cards = [face(laid.card, words.texts, key=laid.id) for laid in seen.pattern[-_CARDS:]]
    return tag(
        "div",
        tag("p", verdict.who, class_="who"),
        tag("p", unbroken(verdict.how), class_="how"),
        tag("p", unbroken(verdict.under), class_="under"),
        tag("div", cards, class_="hand"),
        svg(draw_room_finish(seen, words), class_="lanes"),
        class_=f"verdict ink-seat{(verdict.seat - 1) % 8 + 1}" if verdict.seat else "verdict",
        data_t=ruling.t,
        data_ruling=ruling.id,
    )
