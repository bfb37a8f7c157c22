"""The page for people at the table: pairing, and what a paired device may do. Its scripts build the controls.

Routes of the page's process; and what other pages need to let paired devices keep games for good, and remove them.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse

from referee.control.corrections import SEAT_QUESTIONS, takes_count
from referee.control.offers import likely_cards
from referee.engine.observations import Slap
from referee.engine.rulings import Ruling
from referee.rules.presets import PRESETS
from referee.text.catalogue import Texts, table
from referee.text.ruling_lines import RulingWords, pretty
from referee.web.board import disputes
from referee.web.layout import page, page_texts
from referee.web.markup import Markup, tag
from referee.web.site import Site

_HANDS_OFFERED: Final = 8
"""For correction."""


async def show_control(site: Site, request: Request) -> HTMLResponse:
    """The page; everything on it is done by requests that the guard allows or not."""
    texts = page_texts(request)
    holder = tag(
        "div",
        tag("noscript", tag("p", texts("word.loading"))),
        said_to_scripts(texts, "control.", "ask.", "foul.", "word.", "preset.", "games.own_rules"),
        id="control",
        class_="forms",
        data_language=texts.language,
        data_presets=" ".join(PRESETS),
        data_controlled=site.controlled,
    )
    title = texts("control.title")
    what = tag("p", texts("control.what"), " ", tag("a", texts("table.link"), href="/table"), class_="crumb")
    scripts = ("forms.js", "corrections.js", "reports.js", "new_game.js", "appliance.js", "control.js")
    return page(request, title, tag("h1", title), what, answer_line(), holder, scripts=scripts, here="/control")


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

    def clock(line: Ruling | Slap) -> str:
        return texts.seconds(line.t - board.began)

    questions = [
        {
            "id": one.id, "ask": one.get("ask"), "words": words(one), "cards": list(one.get("cards", ())),
            "about": list(one.get("about", ())), "by_seat": one.get("ask") in SEAT_QUESTIONS or takes_count(one),
        }
        for one in board.questions()
    ]  # fmt: skip
    cards: list[dict[str, Any]] = [
        {
            "id": one.id, "card": one.card, "seat": one.seat, "words": f"{pretty(one.card)} · {words.name(one.seat)}",
            "likely": likely_cards(one, board.view.pile),
            "picture": f"/games/{board.game}/pictures/{one.t}.jpg?from" if site.shelf.has_pictures else None,
        }
        for one in board.cards()
    ]  # fmt: skip
    hands: list[dict[str, Any]] = [
        {"id": one.id, "seat": one.seat, "words": texts("control.hand", name=words.name(one.seat), time=clock(one))}
        for one in board.hands()[:_HANDS_OFFERED]
    ]
    times = {one.id: one.t for one in (*board.cards(), *board.hands())}
    moments = [one["id"] for one in sorted((*cards, *hands), key=lambda one: times[one["id"]], reverse=True)]
    offers = board.offers()
    rulings = [
        {"id": ruling.id, "words": f"{clock(ruling)} · {words(ruling)}", **instead._asdict()}
        for ruling, instead in disputes(board, request.query_params.get("ruling", ""))
    ]
    return JSONResponse(
        {
            "game": board.game, "playing": board.playing, "paused": board.paused, "correctable": board.correctable,
            "about": board.about, "seats": [words.name(seat) for seat in range(1, len(board.names) + 1)],
            "questions": questions, "cards": cards, "hands": hands, "moments": moments, "rulings": rulings,
            "offers": None if offers is None else asdict(offers),
        }
    )  # fmt: skip


def keeping(site: Site, texts: Texts) -> tuple[list[Markup], tuple[str, ...]]:
    """What lets paired devices keep and remove games, and its scripts; nothing where nobody can pair."""
    if not site.controlled:
        return [], ()
    board = site.hub.board
    on = tag("template", "", id="on", data_game=board.game if board.playing else None)
    scripts = ("forms.js", "kept_games.js")
    return [answer_line(), said_to_scripts(texts, "control.", "games."), on], scripts


def mending(texts: Texts) -> tuple[Markup, tuple[str, ...]]:
    """What lets paired devices mend the board by touch, and its scripts; the last one goes behind the board's own."""
    undo = tag("button", texts("control.undo"), type="button", class_="button")
    words = said_to_scripts(texts, "control.", "ask.", "word.", "board.no_rulings", "pad.")
    return tag("div", answer_line(), undo, id="mended") + words, ("forms.js", "corrections.js", "mend.js")
