"""State shared by every route of the page, and worker threads for slow tasks."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from referee.control.page_address import PageAddress, is_loopback
from referee.web.events import Hub
from referee.web.games_cache import GameCache, LoadedGame
from referee.web.security.fair_turns import Turns

T = TypeVar("T")
Handler = Callable[["Site", Request], Awaitable[Response]]
"""Answers a request for one page."""


@dataclass(frozen=True, slots=True)
class PageOption:
    """Pages that an option adds to the table's page."""

    routes: Mapping[str, Handler]
    """Handlers by path; all of them are GET. A path of the table's own page is taken over."""
    static: Path | None = None
    """The folder of its scripts and styles."""
    around: Callable[[Handler], Handler] | None = None
    """Wraps the handler of every page, for example to hide the game that is on."""
    open_changes: Mapping[str, Handler] = field(default_factory=dict)
    """Handlers of posts that need no pairing, by path: each decides itself which devices it hears."""


class Site:
    """The record and the viewers."""

    def __init__(
        self, shelf: GameCache, hub: Hub, *, controlled: bool = False, address: PageAddress | None = None,
        folder: Path | None = None, secure: bool = False, settings: Path | None = None, replays: bool = True,
    ) -> None:  # fmt: skip
        """Join them.

        Args:
            shelf: the games.
            hub: the viewers.
            controlled: whether people at the table may pair their devices and change things.
            address: of the page.
            folder: of this boot, with the seats' codes; None if nothing can be changed.
            secure: whether every visitor comes through a proxy on this machine.
            settings: the table's, for a backup; None: those that commands find.
            replays: whether the scoreboard plays decided slaps again.
        """
        self.shelf, self.hub, self.controlled, self._address = shelf, hub, controlled, address
        self.folder, self.secure, self.settings, self.replays = folder, secure, settings, replays
        # Ruling a long game again or drawing a picture must not delay the live events.
        self._turns = Turns()
        self._asked = asyncio.Semaphore(1)

    def shared_address(self, request: Request) -> PageAddress:
        """Return the address to share: the one that a visitor used, unless it is valid on this machine only."""
        url = request.url
        if self._address is not None and is_loopback(url.hostname or ""):
            return self._address
        came_by = f"{url.scheme}://{url.netloc}/"
        return PageAddress(came_by, came_by, "")

    async def run_in_worker(self, work: Callable[..., T], *args: object) -> T:
        """Run slow work in a thread, in the turn of the address that asked for it."""
        return await self._turns.do(functools.partial(work, *args))

    async def run_exclusively(self, work: Callable[..., T], *args: object) -> T:
        """Run work that costs as much as a whole game: in a thread, and for one visitor at a time."""
        async with self._asked:
            return await self.run_in_worker(work, *args)

    async def folded(self, request: Request) -> LoadedGame:
        """Return the game that an address names, ruled again; raises what `GameCache.folded` raises."""
        return await self.run_in_worker(self.shelf.folded, game_of(request))

    def close(self) -> None:
        """Close the threads and the record."""
        self._turns.close()
        self.shelf.close()


def game_of(request: Request) -> int:
    """Return the number of the game that an address names."""
    number = int(request.path_params["game"])
    if number >= 2**63:
        raise HTTPException(404)
    return number


def parse_int(text: str | None, default: int) -> int:
    """Parse a number in an address; return the default for anything else."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 19 else default
