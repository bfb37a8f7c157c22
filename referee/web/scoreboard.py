"""Keeps the board up to date: reads the record's new lines, and listens to what the main process tells."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Final

from referee.adjudication.observations import LogError
from referee.app.page.events import Hub
from referee.app.page.folding import Folded, TooLong
from referee.app.page.publishing import News, Receiver
from referee.app.page.shelf import Shelf
from referee.app.page.site import Site
from referee.app.record import GameInfo, RecordError

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
