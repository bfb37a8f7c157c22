"""The scoreboard: its page, its stream of events, its projector mode, and the follower that keeps it up to date.

Runs in the page's process.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from referee.control.page_address import PageAddress
from referee.control.socket import ControlError, ask_referee, let_in
from referee.engine.observations import LogError
from referee.engine.replay import TooLong
from referee.engine.rulings import cause_of
from referee.record.database import RecordError
from referee.record.pictures import AFTER, BEFORE
from referee.sentence import to_json
from referee.text.answers import in_language
from referee.text.catalogue import Texts
from referee.web import pad_pages
from referee.web.board import Board
from referee.web.board_view import STATE_REGIONS
from referee.web.control_page import mending, said_to_scripts
from referee.web.layout import address, page, page_texts, qr_code
from referee.web.markup import Markup, button_link, tag
from referee.web.photo_finish.instant_replay import is_whole, replay_player
from referee.web.serving import send_events
from referee.web.site import Site

_LOOK: Final = 2.0
"""Seconds between two looks into the record when no wake comes."""
LOOKS_UNTIL_SILENT: Final = 3
"""Number of such looks after which the game counts as not live: the main process wakes the page twice a second."""
_LOOK_FOR_PICTURES: Final = 0.1
"""Seconds between two looks for the pictures of a slap."""
_LOOKS_FOR_PICTURES: Final = 15
"""Number of such looks, after which a replay is offered with the pictures there are."""
_LOG = logging.getLogger(__name__)


class Follower:
    """Keeps the board up to date with the record. Lives in one event loop with the `Hub`."""

    def __init__(self, site: Site, wakes: Path | None = None, control: Path | None = None) -> None:
        """Listen for the main process.

        Args:
            site: the record and the viewers.
            wakes: path of the socket to which the main process sends a byte when there is something new, taken over
                from a page that died; None: only look into the record now and then.
            control: the main process' socket (`referee.control.socket`); None: there is none.

        Raises:
            OSError: no socket can be made there.
        """
        self._site, self._hub, self._shelf = site, site.hub, site.shelf
        self._wakes, self._control = wakes, control
        self._socket: socket.socket | None = None
        if wakes is not None:
            wakes.parent.mkdir(parents=True, exist_ok=True)
            wakes.unlink(missing_ok=True)
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self._socket.bind(str(wakes))
            let_in(wakes)
            self._socket.setblocking(False)
        self._woken, self._silent = asyncio.Event(), 0
        self._state: Mapping[str, Any] = {}
        """The main process' last answer."""
        self._unasked = False
        """Whether the page was woken since it last asked."""
        self._asking: asyncio.Task[None] | None = None
        self._sought: tuple[int | None, str] = (None, "")
        """The game and the slap whose pictures were looked for last."""
        self._seeking: asyncio.Task[None] | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Show the present state, and begin to follow."""
        await self.look()
        if self._socket is not None:
            asyncio.get_running_loop().add_reader(self._socket.fileno(), self._hear)
        self._task = asyncio.create_task(self._forever())

    async def stop(self) -> None:
        """Stop following, and remove the socket and its file."""
        if self._socket is not None and self._wakes is not None:
            asyncio.get_running_loop().remove_reader(self._socket.fileno())
            self._socket.close()
            with contextlib.suppress(OSError):
                self._wakes.unlink()
        for task in (self._task, self._asking, self._seeking):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    def _hear(self) -> None:
        assert self._socket is not None
        with contextlib.suppress(BlockingIOError, InterruptedError):
            while True:
                self._socket.recv(1)
                self._woken.set()

    async def _forever(self) -> None:
        while True:
            try:
                try:
                    async with asyncio.timeout(_LOOK):
                        await self._woken.wait()
                except TimeoutError:
                    await self.look()
                    continue
                self._woken.clear()
                await self.wake()
            except Exception:
                # A page that stops following would show a frozen game; log the fault and go on.
                _LOG.exception("looking into the record")

    async def wake(self) -> None:
        """Take a wake of the main process: there is something new, and the game that began last is live."""
        self._silent = 0
        self._unasked = True
        if self._control is not None and (self._asking is None or self._asking.done()):
            self._asking = asyncio.create_task(self._ask(self._control))
        try:
            info, board = self._shelf.latest(), self._hub.board
            if info is None:
                return
            if info.id != board.game or not board.live:
                if self._is_veiled():
                    return
                await self._show(Board(info.id, info.seats, live=True))
                return
            # A few lines, read and judged on this thread: a worker thread would add latency.
            rows = self._shelf.lines(info.id, board.line)
            if rows:
                board.add_lines(rows)
                self._hub.wake()
                self._seek_pictures(board)
        except (RecordError, LogError) as error:
            _LOG.warning("the record: %s", error)

    def _seek_pictures(self, board: Board) -> None:
        """Look for the pictures of a slap that has just been decided."""
        ruling = board.last_decided() if self._shelf.has_pictures else None
        if ruling is None or self._sought == (board.game, cause_of(ruling)):
            return
        self._sought = (board.game, cause_of(ruling))
        if self._seeking is not None:
            self._seeking.cancel()
        self._seeking = asyncio.create_task(self._find_pictures(board, cause_of(ruling)))

    async def _find_pictures(self, board: Board, slap: str) -> None:
        """Offer the replay of a slap once its pictures are kept up to the hand; those after it come while it plays."""
        kept: list[int] = []
        for _ in range(_LOOKS_FOR_PICTURES):
            await asyncio.sleep(_LOOK_FOR_PICTURES)
            seen = board.finish_of(slap)
            if seen is None or board.game is None or board is not self._hub.board:
                return
            kept = await self._site.run_in_worker(
                self._shelf.picture_instants, board.game, seen.zero - BEFORE, seen.zero + AFTER
            )
            if is_whole(kept, seen.zero):
                break
        if kept:
            board.pictured = slap
            self._hub.wake(("winner", "last"))

    async def _ask(self, control: Path) -> None:
        """Ask for what the page shows but the record does not hold."""
        while self._unasked:
            self._unasked = False
            try:
                state = await ask_referee(control, {"do": "state"})
            except ControlError:
                return
            if self._hub.board.game is None and self._is_veiled():
                return
            if state != self._state:
                self._state = state
                self._hub.board.set_state(state)
                self._hub.wake(STATE_REGIONS)

    async def look(self) -> None:
        """Look into the record although no wake came."""
        self._silent += 1
        board = self._hub.board
        if board.live and self._silent <= LOOKS_UNTIL_SILENT:
            return
        try:
            info = await self._site.run_in_worker(self._shelf.latest)
            if info is None or (info.id != board.game and self._is_veiled()):
                return
            if info.id == board.game and not board.live:
                rows = await self._site.run_in_worker(self._shelf.lines, info.id, board.line)
                if not rows:
                    return
            await self._show(Board(info.id, info.seats))
        except RecordError as error:
            _LOG.warning("the record: %s", error)

    def _is_veiled(self) -> bool:
        """Whether the game that is on is shadowed; the scoreboard then shows nothing of it, nor of the one before."""
        if self._shelf.shadowed() is None:
            return False
        if self._hub.board.game is not None:
            self._hub.show(Board())
        return True

    async def _show(self, board: Board) -> None:
        """Put a recorded game on the scoreboard."""
        try:
            await self._site.run_in_worker(self._read, board)
        except (RecordError, LogError, TooLong) as error:
            _LOG.warning("game %s: %s", board.game, error)
        board.set_state(self._state)
        self._hub.show(board)

    def _read(self, board: Board) -> None:
        assert board.game is not None
        ends = None if board.live else self._shelf.last_lines(board.game)
        board.add_lines(self._shelf.lines(board.game) if ends is None else ends)
        if not board.live and ends is None:
            folded = self._shelf.folded(board.game)
            if folded.steps:
                board.view = folded.view(len(folded.steps) - 1)
            if not folded.logged:
                board.add_rulings(folded.rulings)


_LISTS: Final = frozenset(("seats", "rulings", "said", "troubles", "questions"))
_LABELS: Final = {"seats": "players", "last": "last_slap"}
"""Keys of headings that differ from the names of their regions."""
_READ_OUT: Final = {"said": "polite", "questions": "assertive", "troubles": "polite"}
"""Regions that screen readers read out as they change; the others change silently."""


async def show_board(site: Site, request: Request) -> HTMLResponse:
    """The scoreboard, kept up to date by its script; at ``/projector`` in huge type, for the whole room."""
    projector = request.url.path == "/projector"
    texts = page_texts(request)
    present = site.hub.present(texts.language)
    parts = {name: _region(name, html, texts) for name, html in present.items() if name != "winner"}
    mode = button_link(
        texts("nav.projector_leave" if projector else "nav.projector"), "/" if projector else "/projector"
    )
    sound = tag("button", type="button", id="sound", class_="button", hidden=True,
                data_on=texts("board.sound_on"), data_off=texts("board.sound_off"))  # fmt: skip
    replays = None
    if site.replays:
        replays = tag("button", type="button", id="replays", class_="button", hidden=True,
                      data_on=texts("instant_replay.on"), data_off=texts("instant_replay.off"))  # fmt: skip
    mend = None
    if site.controlled and not projector:
        mend = tag("button", texts("control.what_is_wrong"), type="button", id="mend", class_="button")
    league = None if projector else button_link(texts("league.title"), "/league")
    share = tag(
        "div", _qr_code(site.shared_address(request), texts), mode, league, sound, replays, mend, class_="panel share"
    )
    main = [parts[name] for name in ("state", "questions", "troubles", "seats", "pile")]
    board = tag(
        "div",
        tag("div", main, tag("div", parts["said"], share, class_="talk"), class_="main-column"),
        tag("div", parts["last"], parts["rulings"], class_="side-column"),
        class_="board",
        id="board",
        data_events=address("/events", {"lang": texts.language}),
    )
    # Hidden from screen readers: its words are on the board, too, and are spoken.
    winner = tag("div", present["winner"], id="winner", class_="moment", aria_hidden="true", hidden=True)
    heading = tag("h1", texts("nav.board"), class_="unseen")
    lost = tag("p", texts("board.connection_lost"), id="lost", role="status", hidden=True)
    body, here = ("projector", "") if projector else ("", "/")
    scripts: tuple[str, ...] = ("regions.js", "winner.js", "instant_replay.js", "sound.js", "live.js")
    pads, mended = None, None
    if mend is not None:
        mended, touch = mending(texts)
        scripts += touch
    if (keys := pad_pages.key_pads(site, request)) is not None:
        # A player who slaps by a key of this machine sees the game, too.
        words = None if mended else said_to_scripts(texts, "pad.", "control.")
        pads = tag("section", words, keys, class_="panel strip")
        scripts = tuple(dict.fromkeys((*scripts, *pad_pages.SCRIPTS)))
    content = (heading, lost, pads, board, mended, winner, replay_player(texts))
    return page(request, texts("title"), *content, scripts=scripts, body=body, here=here, styles=("mend.css",))


def _qr_code(address: PageAddress, texts: Texts) -> Markup:
    """Return the code for phones to scan, with the address below it, or why there is none."""
    if not address.room:
        said = in_language(to_json(address.why), texts)
        return tag("p", said["words"], lang=said.get("lang"), class_="scan")
    shown = address.room.partition("://")[2].rstrip("/")
    caption = tag("figcaption", texts("board.scan"), tag("br"), tag("b", shown))
    image = tag("img", src="/qr.svg", alt=texts("board.scan"), width=180, height=180)
    return tag("figure", image, caption, class_="scan")


def _region(name: str, html: Markup, texts: Texts) -> Markup:
    live = _READ_OUT.get(name)
    inner = tag(
        "ul" if name in _LISTS else "div", html, id=name, data_keyed=True, aria_live=live,
        aria_relevant="additions" if live else None, class_=f"r-{name}",
    )  # fmt: skip
    if name == "state":
        return tag("div", inner, class_="panel state")
    heading = tag("h2", texts(f"board.{_LABELS.get(name, name)}"), id=f"h-{name}")
    return tag("section", heading, inner, class_=f"panel p-{name}", aria_labelledby=f"h-{name}")


async def stream_events(site: Site, request: Request) -> StreamingResponse:
    """The stream that keeps a scoreboard up to date."""
    return send_events(site.hub.stream(page_texts(request).language))


async def send_qr_code(site: Site, request: Request) -> Response:
    """The page's address as a QR code."""
    address = site.shared_address(request)
    return qr_code(address.room or address.here)


async def send_health(site: Site, request: Request) -> JSONResponse:
    """Whether the page is alive, and the number of its viewers."""
    return JSONResponse({"well": True, "viewers": site.hub.viewers, "game": site.hub.board.game})
