"""The moment of a decided slap for the whole room: who won, by how much, with which cards, and the lanes."""

from __future__ import annotations

from referee.engine.rulings import cause_of
from referee.text.catalogue import with_nbsp
from referee.text.ruling_lines import RulingWords
from referee.web.board import Board
from referee.web.layout import face, spoken_card
from referee.web.markup import Child, Markup, svg, tag
from referee.web.photo_finish.glance_svg import draw_room_finish
from referee.web.photo_finish.instant_replay import replay_address
from referee.web.photo_finish.moment import Finish, read_verdict, tell_why

_CARDS = 4
"""Number of the pattern's newest cards that are shown."""


def winner_view(board: Board, words: RulingWords) -> Markup:
    """Return the end of the game, else the latest decided slap, for a script to show large for a while; else empty."""
    if board.live and (end := board.end) is not None:
        seat = end.get("seat") if end.kind == "won" else None
        said = tag("p", words.outcome(end), class_="who")
        return tag("div", said, class_=_coloured("verdict over", seat), data_t=end.t, data_ruling=end.id)
    ruling = board.last_decided() if board.live else None
    seen = None if ruling is None else board.finish_of(cause_of(ruling))
    if ruling is None or seen is None:
        return Markup()
    # The slapped card: a dead heat rests on no cards, and an uncertain instant of a card may lie after the hand.
    on = next((card for card in reversed(seen.cards) if card.t <= seen.zero or card in seen.pattern), None)
    replay: dict[str, str | int] = {}
    if on is not None:
        replay |= {"data_on": spoken_card(on.card, words.texts), "data_card": on.id}
    if board.pictured == seen.slap and board.game is not None:
        replay["data_film"] = replay_address(board.game, seen.slap, words.texts)
    return first_view(seen, words, data_t=ruling.t, data_ruling=ruling.id, **replay)


def why_line(seen: Finish, words: RulingWords) -> Markup | None:
    """Return why it was decided so, for below a slap at a glance; None if the verdict itself says it."""
    why = tell_why(seen, words)
    return tag("p", with_nbsp(why), class_="why") if why else None


def first_view(seen: Finish, words: RulingWords, said: Child = None, **data: str | int) -> Markup:
    """Return a slap at a glance, in words that a child knows; ``said`` goes below the cards."""
    verdict = read_verdict(seen, words)
    cards = [face(laid.card, words.texts, key=laid.id) for laid in seen.pattern[-_CARDS:]]
    return tag(
        "div",
        tag("p", verdict.who, class_="who"),
        tag("p", with_nbsp(verdict.how), class_="how"),
        tag("p", with_nbsp(verdict.under), class_="under"),
        tag("div", cards, class_="hand"),
        said,
        svg(draw_room_finish(seen, words), class_="lanes"),
        class_=_coloured("verdict", verdict.seat),
        **data,
    )


def _coloured(class_: str, seat: int | None) -> str:
    return f"{class_} ink-seat{(seat - 1) % 8 + 1}" if seat else class_
