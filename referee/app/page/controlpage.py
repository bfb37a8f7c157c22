"""The page for people at the table: pairing, and what a paired device may do. Its script builds the controls."""

from __future__ import annotations

import json

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse

from referee.app.page.markup import tag
from referee.app.page.rulingwords import RulingWords
from referee.app.page.shell import page, spoken
from referee.app.page.site import Site
from referee.app.page.texts import table
from referee.app.wording import pretty


async def control(site: Site, request: Request) -> HTMLResponse:
    """The page; everything on it is done by requests that the guard allows or not."""
    texts = spoken(request)
    words = {key: text for key, text in table(texts.language).items() if key.startswith(("control.", "ask.", "word."))}
    noscript = tag("noscript", tag("p", texts("word.loading")))
    holder = tag(
        "div",
        noscript,
        id="control",
        data_words=json.dumps(words, ensure_ascii=False),
        data_language=texts.language,
        data_controlled=site.controlled,
    )
    return page(
        request,
        texts("control.title"),
        tag("h1", texts("control.title")),
        tag("p", texts("control.what"), class_="crumb"),
        tag("p", "", id="answer", role="status", aria_live="polite", class_="note"),
        holder,
        scripts=("control.js",),
        here="/control",
    )


async def recent(site: Site, request: Request) -> JSONResponse:
    """What can be answered and corrected now; no more than the scoreboard shows anyway."""
    board, texts = site.hub.board, spoken(request)
    words = RulingWords(board.names, texts)
    return JSONResponse(
        {
            "game": board.game,
            "paused": board.paused,
            "seats": [words.name(seat) for seat in range(1, len(board.names) + 1)],
            "questions": [
                {
                    "id": ruling.id,
                    "ask": ruling.get("ask"),
                    "words": words(ruling),
                    "cards": list(ruling.get("cards", ())),
                }
                for ruling in board.questions()
            ],
            "cards": [
                {"id": card.id, "card": card.card, "words": f"{pretty(card.card)} · {words.name(card.seat)}"}
                for card in board.cards()
            ],
        }
    )
