"""The page's process: its routes, and the handling of errors.

Nothing here writes to the record, and every route of this file is a GET. `referee.web.security.guard` and
`referee.web.api`, whose routes are passed in, decide which changes a device may make.
"""

from __future__ import annotations

import asyncio
import functools
import os
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from hardware.service_manager import feeding_interval, sender, watched_for
from referee.control.page_address import address_of
from referee.control.socket import SOCKET_NAME as CONTROL_SOCKET
from referee.engine.observations import LogError
from referee.engine.replay import TooLong
from referee.errors import UserError
from referee.record.database import RecordError
from referee.sentence import to_json, words_of
from referee.text.answers import in_language
from referee.units import SECOND
from referee.web import (
    control_page,
    figures,
    finish_page,
    game_end,
    games,
    layout,
    league_page,
    pad_pages,
    rules_editor,
    scoreboard,
    table_page,
)
from referee.web.api import Control
from referee.web.board import Board
from referee.web.events import Hub
from referee.web.games_cache import GameCache
from referee.web.layout import page, page_texts
from referee.web.markup import tag
from referee.web.scoreboard import Follower
from referee.web.security.guard import OPEN_CHANGES, Guard
from referee.web.security.hosts import Hosts
from referee.web.security.limits import USUAL_LIMITS, Limits
from referee.web.security.sessions import Sessions
from referee.web.serving import SiteServer, make_get_routes
from referee.web.site import Handler, PageOption, Site

_GAME: Final = "/games/{game:int}"
_ROUTES: Final[Mapping[str, Handler]] = {
    "/": scoreboard.show_board,
    "/projector": scoreboard.show_board,
    "/events": scoreboard.stream_events,
    "/qr.svg": scoreboard.send_qr_code,
    "/healthz": scoreboard.send_health,
    "/control": control_page.show_control,
    "/recent.json": control_page.send_recent,
    "/touched.json": control_page.send_touched,
    "/rules": rules_editor.show_rules,
    "/pad": pad_pages.show_pad,
    "/pads": pad_pages.show_pads,
    "/pads/{seat:int}.svg": pad_pages.send_pad_code,
    "/finish": finish_page.show_latest_finish,
    f"{_GAME}/finish": finish_page.show_finish,
    f"{_GAME}/finish.svg": finish_page.send_finish,
    f"{_GAME}/instant-replay": finish_page.send_replay,
    f"{_GAME}/pictures/{{t:int}}.jpg": finish_page.send_picture,
    "/games": games.show_games,
    _GAME: games.show_game,
    f"{_GAME}/ruling": games.show_ruling,
    f"{_GAME}/end": game_end.show_end,
    f"{_GAME}/log.jsonl": games.send_log,
    f"{_GAME}/rulings.csv": games.send_rulings,
    f"{_GAME}/replay": games.show_replay,
    f"{_GAME}/steps": games.send_steps,
    "/figures": figures.show_figures,
    "/figures.csv": figures.send_figures,
    "/table": table_page.show_table,
    "/league": league_page.show_league,
    "/league.csv": league_page.send_league,
    "/people/{person}": league_page.show_person,
    "/backup.zip": control_page.send_backup,
    f"{_GAME}/figures": figures.show_game_figures,
    f"{_GAME}/figures.csv": figures.send_game_figures,
}
"""Every route that shows something, and its handler."""


def build(site: Site, extra: Sequence[BaseRoute] = (), options: Sequence[PageOption] = ()) -> Starlette:
    """Build the application.

    Args:
        site: the record and the viewers.
        extra: further routes, such as those of control.
        options: pages that an evening does without.
    """
    handlers = dict(_ROUTES)
    for option in options:
        handlers.update(option.routes)
    for around in (option.around for option in options if option.around is not None):
        handlers = {path: around(handler) for path, handler in handlers.items()}
    folders = tuple(option.static for option in options if option.static is not None)
    changes = [
        Route(path, functools.partial(handler, site), methods=["POST"])
        for option in options
        for path, handler in option.open_changes.items()
    ]
    routes = make_get_routes(
        {path: functools.partial(handler, site) for path, handler in handlers.items()}
        | {
            "/static/{name}": functools.partial(layout.send_static, folders=folders),
            "/static/cards/{name}": layout.send_card,
        }
    )
    faults = dict.fromkeys((404, RecordError, LogError, TooLong), _show_fault)
    return Starlette(routes=[*routes, *changes, *extra], exception_handlers=faults)


async def _show_fault(request: Request, bad: Exception) -> Response:
    """Return the page that reports an error."""
    texts = page_texts(request)
    head, text, status = texts("error.not_found"), texts("error.not_found_long"), 404
    why = ""
    if isinstance(bad, LogError):
        head, text, status, why = texts("games.damaged"), "", 422, words_of(bad)
    elif isinstance(bad, TooLong):
        head, text, status = texts("games.too_long"), "", 422
    elif isinstance(bad, RecordError) and "there is no game" not in str(bad):
        head, text, status, why = texts("error.no_record"), texts("error.no_record_long"), 503, words_of(bad)
    elif isinstance(bad, HTTPException) and request.url.path.startswith("/api/"):
        return Response(status_code=404)
    told = in_language(to_json(why), texts)
    details = tag(
        "details", tag("summary", texts("error.details")), tag("p", told["words"], lang=told.get("lang", "en"))
    )
    content = tag(
        "section", tag("h1", head), tag("p", text) if text else None, details if why else None, class_="panel empty"
    )
    return page(request, head, content, status=status)


async def _feed(environ: Mapping[str, str]) -> None:
    """Feed systemd's watchdog from the event loop; a hung page is restarted then."""
    send, every = sender(environ), feeding_interval(environ, os.getpid()) / SECOND
    while watched_for(environ, os.getpid()):
        send("WATCHDOG=1")
        await asyncio.sleep(every)


async def serve(
    record: Path, listening: socket.socket, *, pictures: Path | None, listen: Path | None, runtime: Path | None,
    names: Sequence[str], secure: bool, proxies: Sequence[str] = (), only_paired: bool = False,
    settings: Path | None = None, options: Sequence[PageOption] = (), limits: Limits = USUAL_LIMITS,
    replays: bool = True, quiet: bool = False,
) -> int:  # fmt: skip
    """Serve until asked to stop; return the exit status.

    Args:
        record: the games.
        listening: the page's socket; closed at the end.
        pictures: the file of frames, which exists once pictures are switched on.
        listen: path of the socket by which the main process wakes the page.
        runtime: folder of the control socket and the sessions; without one the page is for watching only.
        names: further host names of the page.
        secure: whether the page is only reachable through a proxy that serves it by https.
        proxies: addresses of such proxies; their statement of the visitor's address is trusted.
        only_paired: only paired devices may view.
        settings: the table's, for a backup; None: those that commands find.
        options: pages that an evening does without.
        limits: of each visitor.
        replays: the scoreboard plays decided slaps again.
        quiet: do not print the address; it is known.

    Raises:
        UserError: a socket cannot be used.
    """
    hub = Hub(Board(), controlled=runtime is not None)
    site = Site(
        GameCache(record, pictures), hub, controlled=runtime is not None, address=address_of(listening),
        folder=runtime, secure=secure, settings=settings, replays=replays,
    )  # fmt: skip
    control_socket, routes, sessions = None, [], Sessions()
    try:
        if runtime is not None:
            control = Control(runtime, secure=secure, names=lambda: hub.board.names)
            control_socket, routes, sessions = runtime / CONTROL_SOCKET, control.routes(), control.sessions
        follower = Follower(site, listen, control_socket)
    except OSError as error:
        listening.close()
        raise UserError("{listen}: no socket can be made there ({why})", listen=listen, why=error.strerror) from None
    open_changes = [*OPEN_CHANGES, *(path for option in options for path in option.open_changes)]
    guard = Guard(
        build(site, routes, options), sessions, hosts=Hosts.of_this_machine(names), secure=secure, proxies=proxies,
        only_paired=only_paired, limits=limits, open_changes=open_changes,
    )  # fmt: skip
    await follower.start()
    feeding = asyncio.create_task(_feed(os.environ))
    try:
        await SiteServer(guard, hub.close).listen(listening, quiet=quiet)
    finally:
        feeding.cancel()
        await follower.stop()
        hub.close()
        site.close()
    return 0
