"""What outlives a game: the page and who has paired with it, the broker, and what was ordered for the next game."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from referee.app.archive import Archive, RecordError
from referee.app.games import now as wall_now
from referee.app.ordering import Orders
from referee.app.page.bridge import BridgeError, runtime_folder
from referee.app.page_process import PageProcess
from referee.app.paging import Paging
from referee.app.record_frames import FRAMES
from referee.app.settings import Settings
from referee.app.voice_choice import FILE, VoiceChoice

if TYPE_CHECKING:
    from referee.app.mqtt.publisher import TablePublisher


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
            record, folder, host=settings.page.host, port=settings.page.port, pictures=record.with_name(FRAMES)
        )
        stack.callback(lasting.page.close)


def _broker(settings: Settings, archive: Archive, stack: ExitStack) -> TablePublisher | None:
    if not settings.mqtt.enabled:
        return None
    from referee.app.mqtt.publisher import TablePublisher
    from referee.app.mqtt.today import tally_of

    broker = TablePublisher(settings.mqtt, tally=tally_of(archive.record, wall_now()[:10]))
    stack.callback(broker.close)
    broker.start()
    return broker
