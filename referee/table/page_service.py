"""The page as a service of the table: commands and captions, and its process where that is this program's child."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from referee.announce.sinks import Notice
from referee.table.page_link import SECRET, PageProcess, Paging
from referee.table.services import ServedGame, TableService

if TYPE_CHECKING:
    from hardware.ports import Edge
    from referee.engine.rulings import Ruling
    from referee.table.orders import Orders


class PageService(TableService):
    """The page: its commands and captions, and its process where that is this program's child."""

    name = "page"

    def __init__(self, paging: Paging, orders: Orders | None = None, process: PageProcess | None = None) -> None:
        """``orders``: what the page may order; None: nothing."""
        self._paging, self._orders, self._process = paging, orders, process
        self.stays = orders is not None

    def begin_game(self, game: ServedGame) -> None:
        """See `TableService`."""
        assert game.keeper is not None
        conductor, orders = game.conductor, self._orders

        def show_code(digits: str) -> None:
            # Said at the table, or shown where there is no voice; the page and the log never have it.
            spoken = "the code to pair a device is spoken"
            words = spoken if game.speaker is not None else f"code to pair a device: {digits} (two minutes)"
            conductor.tell(Notice(SECRET, conductor.watermark, words, {"digits": digits}))

        self._paging.follow(
            conductor, game.keeper, game.now, show_code=show_code,
            about=None if orders is None else lambda: orders.about(game.settings),
        )  # fmt: skip
        if orders is not None:
            orders.follow(self._paging, game.record, game.speaker)
        if self._process is not None:
            self._process.follow(conductor)

    def take_rulings(self, rulings: Sequence[Ruling]) -> None:
        """See `TableService`."""
        self._paging(rulings)

    def take_notice(self, notice: Notice) -> None:
        """See `TableService`."""
        self._paging.tell(notice)

    def take_edge(self, edge: Edge) -> None:
        """See `TableService`: hands can say words, too."""
        self._paging.hear(edge)

    def beat(self, now: int) -> None:
        """See `TableService`."""
        self._paging.turn(now)
        if self._process is not None:
            self._process.touch((), now)
