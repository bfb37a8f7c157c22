"""The hall's pages: a grid of tables, one table in large, the league. Frames only; the stream fills them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse

from referee.options.hall.tables import PlayerDay
from referee.text.catalogue import Texts
from referee.web.layout import address, page, page_texts
from referee.web.markup import Child, Markup, tag

_NAV: Final = (("/", "hall.tables"), ("/league", "hall.league"), ("/projector", "hall.projector"))
_SHOWN: Final = ("all", "live", "help", "silent")
_SORTS: Final = ("by_help", "by_name", "by_pile", "by_recent")
_SCRIPT_WORDS: Final = (
    "condition_live", "condition_paused", "condition_waiting", "condition_over", "condition_silent", "silent_for",
    "seconds", "minutes", "hours", "no_pile", "turn", "owner", "winner", "pays", "locked", "out", "needs_help",
    "nothing", "counted", "none", "no_match", "gone", "table",
)  # fmt: skip
_page: Final = partial(page, pages=_NAV, brand="hall.title", styles=("hall.css",))
COLUMNS: Final = ("place", "player", "games", "won", "slaps", "false", "cards", "at_tables")


def draw_grid(request: Request, *, projector: bool) -> HTMLResponse:
    """Draw the grid of all tables."""
    texts = page_texts(request)
    field = tag("input", type="search", id="find", autocomplete="off", maxlength=60)
    find = tag("label", tag("span", texts("hall.find")), field)
    content: list[Child] = [
        tag("h1", texts("hall.tables"), class_="unseen" if projector else None),
        _banners(texts),
        tag("p", id="counted", class_="counted"),
        tag("form", find, _choice(texts, "show", _SHOWN), _choice(texts, "sort", _SORTS), id="choose",
            role="search", class_="panel choose"),
        tag("p", texts("hall.none"), id="none", class_="none"),
        tag("ul", id="tables", class_="tables"),
    ]  # fmt: skip
    return _live(request, texts, content, "/projector" if projector else "/", "projector hall" if projector else "hall")


def draw_table(request: Request, name: str) -> HTMLResponse:
    """Draw one table for the whole room."""
    texts = page_texts(request)
    content: list[Child] = [
        tag("p", tag("a", "← ", texts("hall.back"), href="/")),
        tag("h1", texts("hall.table").format(name=name), class_="unseen"),
        _banners(texts),
        tag("p", texts("hall.none"), id="none", class_="none"),
        tag("ul", id="tables", class_="tables one"),
        tag("section", tag("h2", texts("hall.rulings"), id="h-recent"), tag("ol", id="recent", class_="recent"),
            class_="panel", aria_labelledby="h-recent"),
    ]  # fmt: skip
    return _live(request, texts, content, "", "hall large", only=name)


def draw_league(request: Request, day: str, rows: Sequence[PlayerDay]) -> HTMLResponse:
    """Draw the day's league as it is now; its script updates it."""
    texts = page_texts(request)
    head = tag("tr", [tag("th", texts(f"hall.{column}"), scope="col") for column in COLUMNS])
    body = [
        tag("tr", tag("td", place), tag("th", row.name, scope="row"),
            [tag("td", count) for count in (row.games, row.won, row.slaps, row.false, row.cards, row.tables)])
        for place, row in enumerate(rows, 1)
    ]  # fmt: skip
    content: list[Child] = [
        tag("h1", texts("hall.day").format(day=day)),
        _banners(texts),
        tag("p", texts("hall.league_none"), id="none", class_="none", hidden=bool(rows)),
        tag("div", tag("table", tag("thead", head), tag("tbody", body, id="league")), class_="panel scroll",
            tabindex="0", role="region", aria_label=texts("hall.league")),
        tag("p", texts("hall.league_what"), class_="note"),
    ]  # fmt: skip
    return _live(request, texts, content, "/league", "hall", path="/league/events")


def draw_message(request: Request, words: str, status: int) -> HTMLResponse:
    """Draw a page with a message only."""
    said = tag("section", tag("h1", words), class_="panel empty")
    return _page(request, page_texts(request)("hall.title"), said, body="hall", status=status)


def _live(
    request: Request, texts: Texts, content: Sequence[Child], here: str, body: str, *, only: str | None = None,
    path: str = "/events",
) -> HTMLResponse:  # fmt: skip
    wire = tag(
        "div", id="hall", hidden=True, data_only=only,
        data_events=address(path, {"lang": texts.language, "table": only}),
        data_words=json.dumps({key: texts(f"hall.{key}") for key in _SCRIPT_WORDS}),
    )  # fmt: skip
    script = "league.js" if path != "/events" else "hall.js"
    content = [wire, tag("noscript", tag("p", texts("hall.script"), class_="notice")), *content, _tile(texts)]
    return _page(request, texts("hall.title"), *content, here=here, body=body, scripts=(script,))


def _banners(texts: Texts) -> list[Child]:
    """Return the connection's faults, and an invisible line that reads out a table's new need for help."""
    return [
        tag("p", texts("hall.lost"), id="lost", class_="lost", role="status", hidden=True),
        tag("p", texts("hall.broker_lost"), id="broker", class_="lost", role="status", hidden=True),
        tag("p", id="news", class_="unseen", aria_live="polite"),
    ]


def _choice(texts: Texts, name: str, options: Sequence[str]) -> Markup:
    shown = [tag("option", texts(f"hall.{option}"), value=option) for option in options]
    return tag("label", tag("span", texts(f"hall.{name}")), tag("select", shown, id=name))


def _tile(texts: Texts) -> Markup:
    """Return the template of a table for the script, which inserts text only, never markup."""
    return tag(
        "template",
        tag(
            "li",
            tag("div", tag("h2", tag("a", class_="name")), tag("span", class_="condition"), class_="tile-head"),
            tag("p", class_="help", hidden=True),
            tag("ul", class_="players"),
            tag(
                "p",
                tag("span", texts("hall.pile"), class_="label"),
                tag("span", class_="topcard"),
                tag("span", class_="under"),
                class_="heap",
            ),
            tag("p", class_="said"),
            class_="tile",
        ),
        id="tile",
    )
