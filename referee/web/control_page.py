"""The page for people at the table: pairing, and what a paired device may do. Its script builds the controls.

What lets paired devices keep games for good, and remove them, on the pages that show them.
"""

from __future__ import annotations

import json
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse

from referee.engine.observations import Slap
from referee.engine.rulings import Ruling
from referee.rules.presets import PRESETS
from referee.text.catalogue import Texts, table
from referee.text.ruling_lines import RulingWords, pretty
from referee.web.board import Board, DisputedRuling, disputes
from referee.web.html import Markup, tag
from referee.web.layout import page, page_texts
from referee.web.site import Site

WORDS: Final = ("control.", "ask.", "word.", "preset.", "games.own_rules")
"""Beginnings of the keys of what its scripts say."""
SCRIPTS: Final = ("words.js", "make.js", "asking.js", "correcting.js", "beginning.js", "tablewide.js", "control.js")
HANDS: Final = 8
"""Hands that are offered for correction."""


async def show_control(site: Site, request: Request) -> HTMLResponse:
    """The page; everything on it is done by requests that the guard allows or not."""
    texts = page_texts(request)
    holder = tag(
        "div",
        tag("noscript", tag("p", texts("word.loading"))),
        said_to_scripts(texts, *WORDS),
        id="control",
        class_="forms",
        data_language=texts.language,
        data_presets=" ".join(PRESETS),
        data_controlled=site.controlled,
    )
    return page(
        request,
        texts("control.title"),
        tag("h1", texts("control.title")),
        tag("p", texts("control.what"), " ", tag("a", texts("table.link"), href="/table"), class_="crumb"),
        answer_line(),
        holder,
        scripts=SCRIPTS,
        here="/control",
    )


def answer_line() -> Markup:
    """Where scripts say what became of a wish."""
    return tag("p", "", id="answer", role="status", aria_live="polite", class_="note")


def said_to_scripts(texts: Texts, *beginnings: str) -> Markup:
    """The texts that a page's scripts say, by their keys."""
    words = {key: text for key, text in table(texts.language).items() if key.startswith(beginnings)}
    return tag("template", "", id="words", data_words=json.dumps(words, ensure_ascii=False))


async def send_recent(site: Site, request: Request) -> JSONResponse:
    """What can be answered and corrected now; no more than the scoreboard shows anyway, and what the table is."""
    board, texts = site.hub.board, page_texts(request)
    words = RulingWords(board.names, texts)
    return JSONResponse(
        {
            "game": board.game,
            "playing": board.playing,
            "paused": board.paused,
            "correctable": board.correctable,
            "about": board.about,
            "seats": [words.name(seat) for seat in range(1, len(board.names) + 1)],
            "questions": [_question(ruling, words) for ruling in board.questions()],
            "cards": [
                {
                    "id": card.id,
                    "card": card.card,
                    "seat": card.seat,
                    "words": f"{pretty(card.card)} · {words.name(card.seat)}",
                }
                for card in board.cards()
            ],
            "hands": [_hand(hand, board, words) for hand in board.hands()[:HANDS]],
            "rulings": [_dispute(one, board, words) for one in disputes(board, request.query_params.get("ruling", ""))],
        }
    )


def _question(ruling: Ruling, words: RulingWords) -> dict[str, Any]:
    cards = list(ruling.get("cards", ()))
    return {"id": ruling.id, "ask": ruling.get("ask"), "words": words(ruling), "cards": cards}


def _hand(hand: Slap, board: Board, words: RulingWords) -> dict[str, Any]:
    text = words.texts("control.hand", name=words.name(hand.seat), time=words.texts.seconds(hand.t - board.began, 1))
    return {"id": hand.id, "seat": hand.seat, "words": text}


def _dispute(one: DisputedRuling, board: Board, words: RulingWords) -> dict[str, Any]:
    clock = words.texts.seconds(one.ruling.t - board.began, 1)
    return {
        "id": one.ruling.id, "words": f"{clock} · {words(one.ruling)}", **one.instead._asdict(),
    }  # fmt: skip


def keeping(site: Site, texts: Texts) -> tuple[list[Markup], tuple[str, ...]]:
    """What lets paired devices keep and remove games, and its scripts; nothing where nobody can pair."""
    if not site.controlled:
        return [], ()
    board = site.hub.board
    on = tag("template", "", id="on", data_game=board.game if board.playing else None)
    scripts = ("words.js", "make.js", "asking.js", "keeping.js")
    return [answer_line(), said_to_scripts(texts, "control.", "games."), on], scripts
