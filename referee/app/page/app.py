"""The page as an ASGI application: routes, and what becomes of mistakes.

Nothing here writes to the record, and every route of this file is a GET. What may be changed from a page, and by whom,
is the business of `referee.app.page.guard` and `referee.app.page.control`, whose routes are handed in.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from referee.adjudication.observations import LogError
from referee.app.page import (
    boardpage,
    controlpage,
    figurepage,
    finishpage,
    gamepage,
    leaguepage,
    replaypage,
    rulespage,
    staticfiles,
    tablepage,
)
from referee.app.page.folding import TooLong
from referee.app.page.markup import tag
from referee.app.page.shell import page, spoken
from referee.app.page.site import Site
from referee.app.record import RecordError

_GAME: Final = "/games/{game:int}"
_TABLE: Final = {
    "/": boardpage.board,
    "/projector": boardpage.projector,
    "/events": boardpage.events,
    "/qr.svg": boardpage.code,
    "/healthz": boardpage.health,
    "/control": controlpage.control,
    "/recent.json": controlpage.recent,
    "/rules": rulespage.rules,
    "/finish": finishpage.latest,
    f"{_GAME}/finish": finishpage.finish,
    f"{_GAME}/finish.svg": finishpage.as_svg,
    f"{_GAME}/finish.png": finishpage.as_png,
    f"{_GAME}/pictures/{{t:int}}.jpg": finishpage.picture,
    "/games": gamepage.games,
    _GAME: gamepage.game,
    f"{_GAME}/ruling": gamepage.ruling,
    f"{_GAME}/log.jsonl": gamepage.log,
    f"{_GAME}/rulings.csv": gamepage.rulings_csv,
    f"{_GAME}/replay": replaypage.replay,
    f"{_GAME}/steps": replaypage.steps,
    "/figures": figurepage.all_games,
    "/figures.csv": figurepage.all_games_csv,
    "/table": tablepage.table,
    "/league": leaguepage.league,
    "/league.csv": leaguepage.league_csv,
    f"{_GAME}/figures": figurepage.one_game,
    f"{_GAME}/figures.csv": figurepage.one_game_csv,
}
"""Every route that shows something, and who makes it."""


def build(site: Site, extra: Sequence[BaseRoute] = ()) -> Starlette:
    """The application.

    Args:
        site: the record and the viewers.
        extra: further routes, such as those of control.
    """
    routes: list[BaseRoute] = [
        Route(path, functools.partial(handler, site), methods=["GET"]) for path, handler in _TABLE.items()
    ]
    routes.append(Route("/static/{name}", staticfiles.static, methods=["GET"]))
    return Starlette(
        routes=[*routes, *extra],
        exception_handlers={
            404: _not_found,
            RecordError: _unreadable,
            LogError: _damaged,
            TooLong: _too_long,
        },
    )


async def _not_found(request: Request, _bad: Exception) -> Response:
    if isinstance(_bad, HTTPException) and request.url.path.startswith("/api/"):
        return Response(status_code=404)
    return _told(request, "error.not_found", "error.not_found_long", 404)


async def _unreadable(request: Request, bad: Exception) -> Response:
    if "there is no game" in str(bad):
        return await _not_found(request, bad)
    return _words(request, spoken(request)("error.no_record"), str(bad), 503)


async def _damaged(request: Request, bad: Exception) -> Response:
    return _words(request, spoken(request)("games.damaged", words=str(bad)), "", 422)


async def _too_long(request: Request, _bad: Exception) -> Response:
    return _words(request, spoken(request)("games.too_long"), "", 422)


def _told(request: Request, head: str, text: str, status: int) -> Response:
    texts = spoken(request)
    return _words(request, texts(head), texts(text), status)


def _words(request: Request, head: str, text: str, status: int) -> Response:
    content = tag("section", tag("h1", head), tag("p", text) if text else None, class_="panel empty")
    return page(request, head, content, status=status)
