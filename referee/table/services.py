"""What outlives a game: the page and who has paired with it, the broker, and what was ordered for the next game.

The table and its broker: what is ruled and how the game stands is told to MQTT, as long as there is one to tell.

What a table keeps and tells of one game beside the game itself: record, page, broker. Each may be missing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from hardware.clock import monotonic, wall_now
from hardware.ports import Speaker
from referee.announce.sinks import Notice, Outlet, Teller
from referee.announce.volume_choice import FILE, VoiceChoice
from referee.control.socket import BridgeError, runtime_folder
from referee.engine.observations import Table
from referee.engine.view import View
from referee.record.erasure import enforce, scrub_waiting, settle, settle_waiting, will_settle
from referee.record.journal import Journal
from referee.record.people import People
from referee.record.pictures import FRAMES_FILE
from referee.settings.model import Settings
from referee.table.game import Conductor
from referee.table.loop import FirstHand
from referee.table.orders import Orders
from referee.table.page_link import SECRET, PageProcess, Paging
from referee.table.resume import Archive, Both, Opened, RecordError
from referee.table.seats import Sitting, seated
from referee.table.slap_pictures import Album
from referee.table.timeline import Past, Timeline

if TYPE_CHECKING:
    from hardware.ports import Edge
    from referee.extras.broker.publisher import TablePublisher


@dataclass(slots=True)
class Lasting:
    """What there is of it."""

    orders: Orders
    record: Path | None = None
    """Where games are recorded."""
    paging: Paging | None = None
    """The page's news and commands."""
    page: PageProcess | None = None
    """The page itself, where it is this program's child."""
    broker: TablePublisher | None = None
    """Tells the games to other machines."""


def open_lasting(settings: Settings, stack: ExitStack, missing: dict[str, str]) -> Lasting:
    """Open what the settings name; whatever cannot be had is told in ``missing``, by part, and left out.

    Args:
        settings: the table's, as its file has them.
        stack: closes everything.
        missing: takes words of what is not there.
    """
    # As a service the machine is the table's own; otherwise it is somebody's computer.
    service = "NOTIFY_SOCKET" in os.environ
    record = Path(settings.record.file).expanduser() if settings.record.file else None
    chosen = VoiceChoice(record.with_name(FILE)) if record is not None else None
    lasting = Lasting(Orders(settings, chosen=chosen, may_switch_off=service), record)
    if record is None:
        return lasting
    try:
        # The page reads the record from its first moment.
        archive = Archive(record)
    except RecordError as bad:
        missing["record"] = str(bad)
        return lasting
    try:
        lasting.broker = _broker(settings, archive, stack)
    finally:
        archive.close()
    if settings.page.enabled:
        _open_page(lasting, settings, record, stack, missing, service=service)
    return lasting


def _open_page(
    lasting: Lasting, settings: Settings, record: Path, stack: ExitStack, missing: dict[str, str], *, service: bool
) -> None:
    folder = runtime_folder(os.environ)
    try:
        lasting.paging = Paging(folder, language=settings.voice.language, orders=lasting.orders)
    except (BridgeError, OSError) as bad:
        missing["page"] = str(bad)
        return
    stack.callback(lasting.paging.close)
    # A service has its page as a service of its own (appliance/table-referee-page.service).
    if not service:
        lasting.page = PageProcess(
            record, folder, host=settings.page.host, port=settings.page.port, pictures=record.with_name(FRAMES_FILE)
        )
        stack.callback(lasting.page.close)


def _broker(settings: Settings, archive: Archive, stack: ExitStack) -> TablePublisher | None:
    if not settings.mqtt.enabled:
        return None
    from referee.extras.broker.publisher import TablePublisher, tally_of

    broker = TablePublisher(settings.mqtt, tally=tally_of(archive.record, wall_now()[:10]))
    stack.callback(broker.close)
    broker.start()
    return broker


EVERY: Final = 1_000_000_000
"""The broker is told at least so often, ns."""
AT_MOST: Final = 100_000_000
"""And not again before, ns."""
PART: Final = "mqtt"


class BrokerTeller(Protocol):
    """What is needed of `referee.extras.broker.publisher.TablePublisher`."""

    @property
    def trouble(self) -> str: ...

    def begin(self, game: int, names: Sequence[str]) -> None: ...

    def tell(self, view: View, *, paused: bool = False, troubles: Mapping[str, str] | None = None) -> None: ...


class Numbered(Protocol):
    """Whoever writes a game: its number, once it has one."""

    @property
    def game(self) -> int | None: ...


class Brokering:
    """One game's news for the broker; implements `referee.table.loop.FirstHand`, to be turned with the loop."""

    def __init__(self, publisher: BrokerTeller, conductor: Conductor, keeper: Numbered) -> None:
        self._publisher, self._conductor, self._keeper = publisher, conductor, keeper
        self._begun = False
        self._told = -EVERY
        self._view: View | None = None

    def touch(self, touched: tuple[int, ...], now: int) -> None:
        """Tell what has changed, or that all is as it was; never waits."""
        del touched
        if not self._begun:
            if self._keeper.game is None:
                return
            self._begun = True
            self._publisher.begin(self._keeper.game, self._conductor.view.names)
        if now - self._told < AT_MOST:
            return
        view = self._conductor.view
        if view == self._view and now - self._told < EVERY:
            return
        self._told, self._view = now, view
        self._publisher.tell(view, paused=self._conductor.paused, troubles=self._conductor.troubles)
        self._heed()

    def _heed(self) -> None:
        words = self._publisher.trouble
        if words:
            self._conductor.trouble(PART, words)
        else:
            self._conductor.mended(PART)


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
            self.lasting.page.follow(conductor)
            turned["page watch"] = self.lasting.page
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
