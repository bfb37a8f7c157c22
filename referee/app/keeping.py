"""What a table keeps and tells beside the game itself: the record, the page, the broker. Each may be missing."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hardware.clock import monotonic
from referee.adjudication.observations import Table
from referee.app.archive import Archive, Both, Opened, RecordError
from referee.app.brokering import Brokering
from referee.app.conductor import Conductor
from referee.app.games import now as wall_now
from referee.app.handing import Outlet, Teller
from referee.app.journal import Journal
from referee.app.loop import FirstHand
from referee.app.notices import Notice
from referee.app.page.bridge import BridgeError, runtime_folder
from referee.app.paging import SECRET, PageProcess, Paging
from referee.app.people.erasing import enforce, scrub_waiting, settle
from referee.app.people.store import People
from referee.app.picturing import Album
from referee.app.record_frames import FRAMES
from referee.app.resuming import Past, Timeline
from referee.app.settings import Settings

if TYPE_CHECKING:
    from hardware.ports import Edge
    from referee.app.mqtt.publisher import TablePublisher


@dataclass(slots=True)
class Kept:
    """What there is of it."""

    opened: Opened | None = None
    """The game in the record, new or broken off."""
    paging: Paging | None = None
    """The page's news and commands."""
    broker: TablePublisher | None = None
    """Tells the game to other machines."""
    record: Path | None = None
    album: Album | None = None
    """Asks for pictures round slaps, and has them kept."""

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

    def follow(self, conductor: Conductor, now: Callable[[], int], *, aloud: bool) -> dict[str, FirstHand]:
        """This is the game; returns who is turned with the loop.

        Args:
            conductor: conducts it.
            now: answers the present instant on its line of time, ns.
            aloud: whether there is a voice to say a pairing code.
        """
        turned: dict[str, FirstHand] = {}
        if self.paging is not None:
            self.paging.follow(conductor, now, lambda digits: tell_code(conductor, digits, aloud=aloud))
            turned["page"] = self.paging
        if self.album is not None and self.opened is not None:
            keeper = self.opened.keeper
            self.album.follow(lambda: keeper.game, self.timeline)
        if self.broker is not None and self.opened is not None:
            turned["mqtt"] = Brokering(self.broker, conductor, self.opened.keeper)
        return turned

    def end(self) -> None:
        """The game is over: it is not gone on with the next time, and who did not agree is not named in it any more."""
        if self.opened is None or self.record is None:
            return
        with suppress(RecordError):
            self.opened.keeper.end(wall_now())
            if self.opened.keeper.game is not None:
                with People(self.record) as people:
                    settle(people, self.opened.keeper.game)


def tell_code(conductor: Conductor, digits: str, *, aloud: bool) -> None:
    """Say a pairing code at the table, or show it where there is no voice; the page and the log never have it."""
    words = "the code to pair a device is spoken" if aloud else f"code to pair a device: {digits} (two minutes)"
    conductor.tell(Notice(SECRET, conductor.watermark, words, {"digits": digits}))


def open_kept(
    settings: Settings, table: Table, stack: ExitStack, missing: dict[str, str], *, new: bool = False
) -> Kept:  # fmt: skip
    """Open what the settings name; whatever cannot be had is told in ``missing``, by part, and left out.

    Args:
        settings: the table's.
        table: who sits where and by which rules: a game of another table does not go on.
        stack: closes everything.
        missing: takes words of what is not there.
        new: begin a new game, whatever was broken off.
    """
    archive = _archive(settings, stack, missing)
    if archive is None:
        return Kept()
    try:
        _tidy(archive.path, table.seats)
        opened = archive.game(table, monotonic(), new=new)
    except RecordError as bad:
        missing["record"] = str(bad)
        return Kept()
    if opened.words:
        print(opened.words)
    paging = _paging(settings, opened, archive, stack, missing)
    return Kept(opened, paging, _broker(settings, archive, stack), archive.path)


def _tidy(path: Path, names: Sequence[str]) -> None:
    """Before a game: what waits to be forgotten is, what is overdue goes, and who was never asked is told of."""
    with People(path) as people:
        scrub_waiting(people)
        _, words = enforce(people, datetime.now().astimezone())
        strangers = people.to_ask(names)
    if words:
        print(words)
    if strangers:
        print(f"{', '.join(strangers)}: named while the game is on, not afterwards; `referee people --ask NAME` asks")


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


def _paging(
    settings: Settings, opened: Opened, archive: Archive, stack: ExitStack, missing: dict[str, str]
) -> Paging | None:  # fmt: skip
    if not settings.page.enabled:
        return None
    folder = runtime_folder(os.environ)
    try:
        paging = Paging(folder, opened.keeper, language=settings.voice.language)
    except (BridgeError, OSError) as bad:
        missing["page"] = str(bad)
        return None
    stack.callback(paging.close)
    # A service has its page as a service of its own (appliance/table-referee-page.service).
    if "NOTIFY_SOCKET" not in os.environ:
        page = PageProcess(
            archive.path, folder, host=settings.page.host, port=settings.page.port,
            pictures=archive.path.with_name(FRAMES),
        )  # fmt: skip
        stack.callback(page.close)
    return paging


def _broker(settings: Settings, archive: Archive, stack: ExitStack) -> TablePublisher | None:
    if not settings.mqtt.enabled:
        return None
    from referee.app.mqtt.publisher import TablePublisher
    from referee.app.mqtt.today import tally_of

    broker = TablePublisher(settings.mqtt, tally=tally_of(archive.record, wall_now()[:10]))
    stack.callback(broker.close)
    broker.start()
    return broker
