"""The scoreboard as HTML, in regions that are sent one by one when they change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from referee.engine.rulings import SLAP_KINDS, Ruling, cause_of
from referee.engine.view import View
from referee.text.answers import in_language
from referee.text.catalogue import Texts, with_nbsp
from referee.text.ruling_lines import RulingWords
from referee.web.board import Board, disputed_at
from referee.web.layout import address, card, face
from referee.web.markup import Child, Markup, join, svg, tag
from referee.web.photo_finish.finish_svg import draw_mini_finish
from referee.web.photo_finish.instant_replay import replay_button
from referee.web.photo_finish.moment import headline
from referee.web.winner_view import winner_view

_UPPERMOST: Final = 8
"""Number of the pile's cards that are drawn face up."""
_MARKS: Final = {"pays": "turn", "to_play": "turn"}
"""CSS class of a seat's mark, where it is not the key of the mark's text."""
STATE_REGIONS: Final = ("state", "said", "troubles")
"""Regions that show what `Board.set_state` sets."""
REGIONS: Final = ("state", "seats", "pile", "last", "rulings", "said", "troubles", "questions", "winner")


def regions(
    board: Board, texts: Texts, *, controlled: bool = False, names: Iterable[str] = REGIONS
) -> dict[str, Markup]:
    """Return the content of regions by their element's id; ``controlled``: with links to dispute rulings."""
    words = RulingWords(board.names, texts)
    draw = {
        "state": lambda: _state(board, words),
        "seats": lambda: seats(board.view, words, len(board.names)),
        "pile": lambda: pile(board.view.pile, texts, board.touchable() if controlled else ()),
        "last": lambda: _last(board, words, controlled),
        "winner": lambda: winner_view(board, words),
        "rulings": lambda: (
            join([_ruling(board, ruling, words, controlled) for ruling in board.listed()])
            or tag("li", texts("board.no_rulings"), class_="none", data_key="none")
        ),
        "said": lambda: (
            join(
                [
                    tag("li", text, data_key=f"said{number}", lang=board.language, data_verdict=verdict or None)
                    for number, text, verdict in board.captions
                ]
            )
            or tag("li", texts("board.nothing_said"), class_="none", data_key="none")
        ),
        "troubles": lambda: join(
            [
                tag("li", trouble_words(said, texts, board.names), data_key=f"{part}:{said['words']}")
                for part, said in sorted(board.troubles.items())
            ]
        ),
        "questions": lambda: _questions(board, words),
    }
    return {name: draw[name]() for name in names}


def trouble_words(said: Mapping[str, Any], texts: Texts, names: Sequence[str]) -> Markup:
    """Return the problem of a part of the table; text without a translation stays English."""
    told = in_language(said, texts, names)
    return tag("span", told["words"], lang=None if told.get("lang") == texts.language else "en")


def _state(board: Board, words: RulingWords) -> Markup:
    view, texts = board.view, words.texts
    if board.game is None:
        return tag("p", texts("board.waiting"), class_="headline") + tag("p", texts("board.waiting_long"))
    if board.paused:
        text = texts("board.paused")
    elif view.game_over:
        text = words.outcome(board.end)
    elif view.owner is not None:
        text = texts("board.owned_by", name=words.name(view.owner))
    elif view.challenge is not None:
        left = texts.count("chances", view.challenge.left)
        name, challenger = words.name(view.challenge.challenged), words.name(view.challenge.challenger)
        text = texts("board.challenge_of", name=name, count=left, challenger=challenger)
    elif view.turn is not None:
        text = texts("board.turn_of", name=words.name(view.turn))
    else:
        text = texts("board.in_game", game=board.game)
    label = texts("board.connected" if board.live else "board.recorded")
    game = texts("board.in_game", game=board.game)
    if view.game_over:
        text = tag("a", text, href=f"/games/{board.game}/end", data_end=True)
    return tag("p", text, class_="headline") + tag(
        "p", tag("span", label, class_="live" if board.live else "recorded"), " ", game, class_="under"
    )


def seats(view: View, words: RulingWords, count: int) -> Markup:
    """Return a tile for each of ``count`` seats, except those without a player (E8, M11)."""
    return join([_seat(view, words, seat) for seat in range(1, count + 1) if seat not in view.absent])


def _seat(view: View, words: RulingWords, seat: int) -> Markup:
    texts, challenge = words.texts, view.challenge
    count = view.counts[seat - 1] if seat <= len(view.counts) else None
    kind, key, more = "", "", Markup()
    if view.winner == seat:
        kind, key = "winner", "won"
    elif view.owner == seat:
        kind, key = "owner", "owns"
    elif challenge is not None and challenge.challenged == seat:
        kind, key = "turn", "pays"
        more = tag("span", [tag("i", "") for _ in range(min(challenge.left, 13))], class_="pips", aria_hidden="true")
    elif view.turn == seat and not view.game_over:
        kind, key = "turn", "to_play"
    elif challenge is not None and challenge.challenger == seat:
        kind, key = "challenger", "challenger"
    elif count == 0:
        kind, key = "empty", "out"
    pays = texts.count("chances", challenge.left) if challenge is not None else ""
    marks = [tag("span", texts(f"board.{key}", count=pays), class_=f"mark-{_MARKS.get(key, key)}")] if key else []
    if seat in view.locked_out:
        more += tag("span", texts("board.locked"), class_="mark-locked")
    number = texts("board.unknown_count") if count is None else str(count)
    said = texts("word.unknown") if count is None else texts.count("cards", count)
    return tag(
        "li",
        tag("span", words.name(seat), class_="name"),
        tag("span", number, class_="count", aria_hidden="true"),
        tag("span", said, class_="unseen"),
        tag("span", marks, more, class_="marks"),
        class_=f"seat seat{(seat - 1) % 8 + 1} {kind}".strip(),
        data_key=f"seat{seat}",
    )


def pile(cards: tuple[str, ...], texts: Texts, lines: Sequence[str] = ()) -> Markup:
    """Return the uppermost cards, newest last, and the number below; ``lines``: the correctable line of each card."""
    if not cards:
        return tag("p", texts("board.pile_empty"), class_="none", data_key="none")
    first = max(0, len(cards) - _UPPERMOST)
    shown = [
        face(
            name,
            texts,
            key=f"{place}:{name}",
            class_="newest" if place == len(cards) - 1 else "",
            line=lines[place] if place < len(lines) else "",
        )
        for place, name in enumerate(cards[first:], start=first)
    ]
    below = texts("board.more_below", count=texts.count("cards", first)) if first else ""
    return tag("div", shown, class_="fan", data_keyed=True, data_key="fan") + tag(
        "p", tag("strong", texts.count("cards", len(cards))), f" · {below}" if below else "", class_="under",
        data_key=f"count{len(cards)}",
    )  # fmt: skip


def _questions(board: Board, words: RulingWords) -> Markup:
    """Return one question at a time, oldest first, and the number of further ones."""
    asked = board.questions()
    items = [
        tag("li", words(ruling), data_key=ruling.id, data_question=ruling.id, data_ask=str(ruling.get("ask", "")))
        for ruling in asked[:1]
    ]
    more = len(asked) - 1
    if more > 0:
        items.append(tag("li", words.texts("board.more_questions", count=more), class_="under", data_key=f"more{more}"))
    return join(items)


def _wrong_link(board: Board, ruling: Ruling | None, words: RulingWords) -> Markup | None:
    """Return the link to dispute a ruling; None if that is not possible. On a paired device it opens a sheet."""
    href = disputed_at(board, board.game, ruling) if ruling is not None else ""
    if ruling is None or not href:
        return None
    short = words.texts("board.wrong_short")
    label = f"{short} {words(ruling)}"
    return tag("a", short, href=href, class_="wrong", aria_label=label, data_of=ruling.id)


def _last(board: Board, words: RulingWords, controlled: bool) -> Markup:
    texts, seen = words.texts, board.last_finish()
    if seen is None or board.game is None:
        return tag("p", texts("board.no_slap"), class_="none")
    head = headline(seen, words)
    href = address(f"/games/{board.game}/finish", {"slap": seen.slap})
    drawing = svg(draw_mini_finish(seen, words), class_="mini")
    card_link = tag(
        "a",
        tag("span", head.text, class_=f"head ink-seat{head.seat}" if head.seat else "head"),
        tag("span", with_nbsp(head.under), class_="margin"),
        tag("span", [card(laid.card, texts) for laid in seen.pattern[-4:]], class_="cards"),
        drawing,
        tag("span", texts("board.see_finish"), " →", class_="more"),
        href=href,
        class_="finish-card",
    )
    wrong = _wrong_link(board, board.last_slap(), words) if controlled else None
    again = replay_button(board.game, seen.slap, texts) if board.pictured == seen.slap else None
    return join([card_link, *filter(None, (again, wrong))])


def _ruling(board: Board, ruling: Ruling, words: RulingWords, controlled: bool) -> Markup:
    texts, gone = words.texts, ruling.id in board.replaced_by
    text: Child = with_nbsp(words(ruling))
    body = text if board.game is None else tag("a", text, href=shown_at(board.game, ruling))
    if gone:
        body = tag("s", body) + replaced_badge(texts)
    wrong = _wrong_link(board, ruling, words) if controlled else None
    kind = "replaced" if gone else "correction" if ruling.is_correction else ""
    return tag(
        "li",
        tag("span", texts.seconds(ruling.t - board.began), class_="clock"),
        tag("span", body, class_="text"),
        wrong,
        class_=f"k-{ruling.kind} {kind}".strip(),
        data_key=f"{ruling.id}{'-gone' if gone else ''}",
        data_id=ruling.id,
    )


def replaced_badge(texts: Texts) -> Markup:
    """Return the mark of a ruling that another one replaced."""
    return tag("span", texts("board.replaced"), class_="badge")


def ruling_address(game: int, ruling: Ruling) -> str:
    """Return the address at which a ruling is explained."""
    return address(f"/games/{game}/ruling", {"id": ruling.id})


def shown_at(game: int, ruling: Ruling) -> str:
    """Return the address that shows a ruling best: for a slap its photo-finish."""
    if ruling.kind in SLAP_KINDS:
        return address(f"/games/{game}/finish", {"slap": cause_of(ruling)})
    return ruling_address(game, ruling)
