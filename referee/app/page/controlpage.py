"""The page for people at the table: pairing, and what a paired device may do. Its script builds the controls."""

from __future__ import annotations

import json

from starlette.requests import Request
from starlette.responses import HTMLResponse

from referee.app.page.markup import tag
from referee.app.page.shell import page, spoken
from referee.app.page.site import Site
from referee.app.page.texts import table


async def control(site: Site, request: Request) -> HTMLResponse:
    """The page; everything on it is done by requests that the guard allows or not."""
    texts = spoken(request)
    words = {key: text for key, text in table(texts.language).items() if key.startswith(("control.", "ask.", "word."))}
    noscript = tag("noscript", tag("p", texts("word.loading")))
    holder = tag(
        "div", noscript, id="control", data_words=json.dumps(words, ensure_ascii=False), data_language=texts.language
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
