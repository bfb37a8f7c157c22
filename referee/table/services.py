"""What a table keeps and tells of one game beside the game itself: record, page, broker. Each may be missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardware.clock import monotonic
from hardware.ports import Speaker
from referee.adjudication.observations import Table
from referee.app.archive import Archive, Both, Opened, RecordError
from referee.app.brokering import Brokering
from referee.app.conductor import Conductor
from referee.app.games import now as wall_now
from referee.app.handing import Outlet, Teller
from referee.app.journal import Journal
from referee.app.lasting import Lasting
from referee.app.loop import FirstHand
from referee.app.notices import Notice
from referee.app.ordering import Orders
from referee.app.page_process import PageWatch
from referee.app.paging import SECRET, Paging
from referee.app.people.erasing import enforce, scrub_waiting, settle, settle_waiting, will_settle
from referee.app.people.store import People
from referee.app.picturing import Album
from referee.app.resuming import Past, Timeline
from referee.app.settings import Settings
from referee.app.sitting import Sitting, seated

if TYPE_CHECKING:
    from hardware.ports import Edge
    from referee.app.mqtt.publisher import TablePublisher


@dataclass(slots=True)
class Kept:
    """What there is of it."""

    opened: Opened | None = None
    """The game in the record, new or broken off."""
    lasting: Lasting | None = None
    """What outlives the game."""
    archive: Archive | None = None
    sitting: Sitting | None = None
    """Who sits there, where people chose that at the table."""
    words: tuple[str, ...] = ()
    """What people should know before the game: what was removed, who is not remembered."""
    is_over: bool = False
    """Whether the game is over, as far as was noted."""
    album: Album | None = None
    """Asks for pictures round slaps, and has them kept."""

    @property
    def paging(self) -> Paging | None:
        """The page's news and commands, of a game that is recorded."""
        return self.lasting.paging if self.lasting is not None and self.opened is not None else None

    @property
    def broker(self) -> TablePublisher | None:
        """Tells the game to other machines."""
        return self.lasting.broker if self.lasting is not None and self.opened is not None else None

    @property
    def mark(self) -> Mapping[str, Any] | None:
        """What the game's first line says besides."""
        return None if self.sitting is None else self.sitting.mark

    @property
    def waits(self) -> bool:
        """Whether people can order another game when this one is over."""
        return self.paging is not None

    @property
    def leaves(self) -> bool:
        """Whether people ordered something for which this game is left."""
        return self.lasting is not None and self.lasting.orders.leaves

    @property
    def past(self) -> Past | None:
        """What was recorded of the game before it was broken off."""
        return None if self.opened is None else self.opened.past

    @property
    def timeline(self) -> Timeline:
        """Where the machine's instants lie on the game's."""
        return Timeline() if self.opened is None else self.opened.timeline

    @property
    def outlets(self) -> dict[str, Outlet]:
        """Who hears of rulings."""
        out: dict[str, Outlet] = {}
        if self.paging is not None:
            out["page"] = self.paging
        if self.broker is not None:
            out["mqtt"] = self.broker.rulings
        if self.album is not None:
            out["pictures"] = self.album
        return out

    @property
    def tellers(self) -> dict[str, Teller]:
        """Who hears what the appliance itself has to say."""
        return {} if self.paging is None else {"page": self.paging.tell}

    @property
    def hear(self) -> Callable[[Edge], None] | None:
        """Who hears each edge of the pads."""
        return None if self.paging is None else self.paging.hear

    def journal(self, log: Journal | None) -> Journal | None:
        """The record, and a log beside it where there is one."""
        if self.opened is None:
            return log
        return self.opened.keeper if log is None else Both(self.opened.keeper, log)

    def follow(
        self, conductor: Conductor, now: Callable[[], int], settings: Settings, speaker: Speaker | None
    ) -> dict[str, FirstHand]:  # fmt: skip
        """This is the game; returns who is turned with the loop.

        Args:
            conductor: conducts it.
            now: answers the present instant on its line of time, ns.
            settings: the table's, with who sits there.
            speaker: the voice; None where there is none.
        """
        turned: dict[str, FirstHand] = {}
        if self.opened is None:
            return turned
        keeper = self.opened.keeper
        for words in self.words:
            conductor.tell(Notice("", now(), words))
        if self.album is not None:
            self.album.follow(lambda: keeper.game, self.timeline)
        if self.paging is not None and self.lasting is not None:
            self._follow_page(self.lasting.orders, self.paging, conductor, now, settings, speaker)
            turned["page"] = self.paging
        if self.lasting is not None and self.lasting.page is not None:
            turned["page watch"] = PageWatch(self.lasting.page, conductor)
        if self.broker is not None:
            turned["mqtt"] = Brokering(self.broker, conductor, keeper)
        return turned

    def _follow_page(
        self, orders: Orders, paging: Paging, conductor: Conductor, now: Callable[[], int], settings: Settings,
        speaker: Speaker | None,
    ) -> None:  # fmt: skip
        assert self.opened is not None
        paging.follow(
            conductor, self.opened.keeper, now,
            show_code=lambda digits: tell_code(conductor, digits, aloud=speaker is not None),
            about=lambda: orders.about(settings),
        )  # fmt: skip
        orders.follow(paging, self.archive.record if self.archive is not None else None, speaker)

    def over(self) -> None:
        """The game is over: it is not gone on with after a power cut."""
        self.is_over = True
        if self.opened is None or self.archive is None:
            return
        with suppress(RecordError), People(self.archive.path) as people:
            self.opened.keeper.end(wall_now())
            if self.opened.keeper.game is not None:
                will_settle(people, self.opened.keeper.game)

    def go_on(self) -> None:
        """The game is not over after all: something was corrected."""
        self.is_over = False
        if self.opened is None or self.archive is None:
            return
        with suppress(RecordError), People(self.archive.path) as people:
            self.opened.keeper.reopen()
            will_settle(people, None)

    def end(self) -> None:
        """A game that is over is left: who did not agree is not named in it any more."""
        self.over()
        if self.opened is None or self.archive is None or self.opened.keeper.game is None:
            return
        with suppress(RecordError), People(self.archive.path) as people:
            settle(people, self.opened.keeper.game)


def tell_code(conductor: Conductor, digits: str, *, aloud: bool) -> None:
    """Say a pairing code at the table, or show it where there is no voice; the page and the log never have it."""
    words = "the code to pair a device is spoken" if aloud else f"code to pair a device: {digits} (two minutes)"
    conductor.tell(Notice(SECRET, conductor.watermark, words, {"digits": digits}))


def open_kept(
    settings: Settings, table: Callable[[Settings], Table], stack: ExitStack, missing: dict[str, str], *,
    lasting: Lasting | None = None, sitting: Sitting | None = None, new: bool = False,
) -> tuple[Kept, Settings]:  # fmt: skip
    """Open the record; returns the game to be played, and the settings with who sits there.

    Whatever cannot be had is told in ``missing``, by part, and left out.

    Args:
        settings: the table's, as its file has them.
        table: makes the first line of a game's log from settings. A game of another table does not go on.
        stack: closes everything.
        missing: takes words of what is not there.
        lasting: the page and the broker.
        sitting: who was chosen to play; None: as the settings say.
        new: begin a new game, whatever was broken off.
    """
    now = seated(settings, sitting)
    archive = _archive(settings, stack, missing)
    if archive is None:
        return Kept(lasting=lasting, sitting=sitting), now
    try:
        words = _tidy(archive, [seat.name for seat in now.seats])
        opened = archive.game(table(now), monotonic(), new=new, pads=len(settings.seats))
    except RecordError as bad:
        missing["record"] = str(bad)
        return Kept(lasting=lasting, sitting=sitting), now
    words += [opened.words] if opened.words else []
    for said in words:
        print(said)
    if opened.past is not None:
        sitting = Sitting.at(opened.past.table)
    return Kept(opened, lasting, archive, sitting, tuple(words)), seated(settings, sitting)


def _tidy(archive: Archive, names: Sequence[str]) -> list[str]:
    """Before a game: what waits to be forgotten is, what is overdue goes, and who was never asked is told of."""
    with People(archive.path) as people:
        settle_waiting(people)
        scrub_waiting(people)
        _, words = enforce(people, datetime.now().astimezone())
        strangers = people.to_ask(names)
    said = [words] if words else []
    if strangers:
        said.append(f"{', '.join(strangers)}: named while the game is on, not afterwards; referee people --ask asks")
    return said


def _archive(settings: Settings, stack: ExitStack, missing: dict[str, str]) -> Archive | None:
    if not settings.record.file:
        return None
    try:
        archive = Archive(Path(settings.record.file).expanduser())
    except RecordError as bad:
        missing["record"] = str(bad)
        return None
    stack.callback(archive.close)
    return archive
