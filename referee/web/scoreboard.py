"""Keeps the board up to date: reads the record's new lines, and listens to what the main process tells.

The scoreboard's page, its stream of events, its projector mode and the code that phones scan.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from io import BytesIO
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from referee.engine.observations import LogError
from referee.engine.replay import TooLong
from referee.record.store import GameInfo, RecordError
from referee.text.catalogue import Texts
from referee.web.board_view import REGIONS
from referee.web.events import Hub
from referee.web.games_cache import Folded, Shelf
from referee.web.html import Child, Markup, tag
from referee.web.layout import address, language, page, page_texts
from referee.web.news import News, Receiver
from referee.web.site import Site

LOOK: Final = 2.0
"""Seconds between looks into the record for what nobody told."""
SILENCE: Final = 3
"""Looks without news after which the game counts as not live: the main process tells at least once a second."""
_LOG = logging.getLogger(__name__)


class Follower:
    """The page's own task. Lives in one event loop with the `Hub`."""

    def __init__(self, site: Site, receiver: Receiver | None) -> None:
        self._site, self._receiver = site, receiver
        self._shelf: Shelf = site.shelf
        self._hub: Hub = site.hub
        self._heard = 0
        """Looks since the last news."""
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Show what is there, and begin to listen."""
        await self.look()
        if self._receiver is not None:
            asyncio.get_running_loop().add_reader(self._receiver.socket.fileno(), self._listen)
        self._task = asyncio.create_task(self._forever())

    async def stop(self) -> None:
        """Stop listening."""
        if self._receiver is not None:
            asyncio.get_running_loop().remove_reader(self._receiver.socket.fileno())
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def _listen(self) -> None:
        assert self._receiver is not None
        told = self._receiver.take()
        for news in told:
            self.hear(news)
        if told:
            self._hub.wake()

    def hear(self, news: News) -> None:
        """Take up what was told, and the lines that it speaks of."""
        board = self._hub.board
        if news.game is None:
            # Between games the record alone says what is on the board.
            board.hear(news)
            return
        try:
            if news.game != board.game:
                self._begin(self._shelf.game(news.game))
            board.add_lines(self._shelf.lines(news.game, board.line))
        except (RecordError, LogError) as bad:
            # What was told still holds; the lines come with the next look.
            _LOG.warning("the record: %s", bad)
        board.hear(news)
        self._heard = 0

    def _begin(self, info: GameInfo) -> None:
        self._hub.board.begin(info.id, info.seats)

    async def _forever(self) -> None:
        while True:
            await asyncio.sleep(LOOK)
            try:
                await self.look()
            except Exception:
                # A page that stops following shows a game that stands still; better to say so and go on.
                _LOG.exception("looking into the record")

    async def look(self) -> None:
        """Take up what the record holds and nobody told."""
        board = self._hub.board
        self._heard += 1
        if board.live and self._heard <= SILENCE:
            return
        was_live, board.live = board.live, False
        info = await self._site.aside(_latest, self._shelf)
        if info is None:
            return
        new = info.id != board.game
        if new:
            self._begin(info)
        try:
            rows = await self._site.aside(self._shelf.lines, info.id, board.line)
            if rows:
                board.add_lines(rows)
            if rows or new:
                await self._fold(info.id)
        except (RecordError, LogError, TooLong) as bad:
            _LOG.warning("game %s: %s", info.id, bad)
        if rows or new or was_live:
            self._hub.wake()

    async def _fold(self, game: int) -> None:
        """Where nobody tells the position, it is what the lines lead to."""
        board = self._hub.board
        folded: Folded = await self._site.aside(self._shelf.folded, game)
        if folded.steps:
            board.view = folded.view(len(folded.steps) - 1)
        if not folded.logged:
            board.add_rulings(folded.rulings)


def _latest(shelf: Shelf) -> GameInfo | None:
    try:
        return next(iter(shelf.games()), None)
    except RecordError as bad:
        _LOG.warning("the record: %s", bad)
        return None


_LISTS = frozenset(("seats", "rulings", "said", "troubles", "questions"))
_LABELS = {
    "seats": "players", "pile": "pile", "last": "last_slap", "rulings": "rulings", "said": "said",
    "troubles": "troubles", "questions": "questions",
}  # fmt: skip


async def board(site: Site, request: Request) -> HTMLResponse:
    """The scoreboard, as it is now; its script keeps it so."""
    return _board(site, request, projector=False)


async def projector(site: Site, request: Request) -> HTMLResponse:
    """The scoreboard in huge type, for the whole room."""
    return _board(site, request, projector=True)


def _board(site: Site, request: Request, *, projector: bool) -> HTMLResponse:
    texts = page_texts(request)
    present = site.hub.present(texts.language)
    parts = {name: _region(name, present[name], texts) for name in REGIONS}
    mode = tag(
        "a", texts("nav.projector_leave" if projector else "nav.projector"), class_="button",
        href="/" if projector else "/projector",
    )  # fmt: skip
    scan = tag(
        "figure",
        tag("img", src="/qr.svg", alt=texts("board.scan"), width=180, height=180),
        tag("figcaption", texts("board.scan"), tag("br"), tag("b", request.url.netloc)),
        class_="scan",
    )
    content: list[Child] = [
        tag("h1", texts("nav.board"), class_="unseen"),
        tag("p", texts("board.connection_lost"), id="lost", role="status", hidden=True),
        tag(
            "div",
            tag("div", parts["state"], parts["questions"], parts["troubles"], parts["seats"], parts["pile"],
                tag("div", parts["said"], tag("div", scan, mode, class_="panel share"), class_="talk"),
                class_="main-column"),
            tag("div", parts["last"], parts["rulings"], class_="side-column"),
            class_="board",
            id="board",
            data_events=address("/events", {"lang": texts.language}),
        ),
    ]  # fmt: skip
    here = "" if projector else "/"
    return page(
        request,
        texts("title"),
        *content,
        scripts=("regions.js", "live.js"),
        body="projector" if projector else "",
        here=here,
    )


def _region(name: str, html: Markup, texts: Texts) -> Markup:
    """One region. Captions and verdicts are read out as they come; the rest changes silently."""
    live = {"said": "polite", "questions": "assertive", "troubles": "polite", "state": None}.get(name)
    inner = tag(
        "ul" if name in _LISTS else "div", html, id=name, data_keyed=True, aria_live=live,
        aria_relevant="additions" if live else None, class_=f"r-{name}",
    )  # fmt: skip
    if name == "state":
        return tag("div", inner, class_="panel state")
    heading = tag("h2", texts(f"board.{_LABELS[name]}"), id=f"h-{name}")
    return tag("section", heading, inner, class_=f"panel p-{name}", aria_labelledby=f"h-{name}")


async def events(site: Site, request: Request) -> StreamingResponse:
    """The stream that keeps a scoreboard up to date."""
    return StreamingResponse(
        site.hub.stream(language(request)),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def code(site: Site, request: Request) -> Response:
    """The page's address as a QR code."""
    import segno

    out = BytesIO()
    home = f"{request.url.scheme}://{request.url.netloc}/"
    segno.make(home, error="m").save(out, kind="svg", border=3, dark="#000", light="#fff", xmldecl=False, scale=6)
    return Response(out.getvalue(), media_type="image/svg+xml", headers={"Cache-Control": "no-store"})


async def health(site: Site, request: Request) -> JSONResponse:
    """Whether the page lives, and how many watch it."""
    return JSONResponse({"well": True, "viewers": site.hub.viewers, "game": site.hub.board.game})
