"""The broker as a service of a table: what is ruled and how the game stands is told to MQTT, where that is wanted.

The command line hands `open_broker` to `referee run`; all of it happens in the referee's own process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

from hardware.clock import wall_now
from referee.engine.rulings import Ruling
from referee.engine.view import View
from referee.table.services import ServedGame, TableService
from referee.units import MS, SECOND

if TYPE_CHECKING:
    from referee.record.store import Record
    from referee.settings.model import Settings

EVERY: Final = SECOND
"""The broker is told at least so often, ns."""
AT_MOST: Final = 100 * MS
"""And not again before, ns."""


class BrokerService(TableService):
    """Tells one game after another to a publisher (`referee.extras.broker.publisher.TablePublisher`)."""

    name = "mqtt"

    def __init__(self, publisher: Any) -> None:
        self._publisher = publisher
        self._game: ServedGame | None = None
        self._is_begun = False
        self._told = -EVERY
        self._view: View | None = None

    def begin_game(self, game: ServedGame) -> None:
        """See `TableService`; the broker is told of it once it has a number."""
        self._game, self._is_begun, self._told, self._view = game, False, -EVERY, None

    def take_rulings(self, rulings: Sequence[Ruling]) -> None:
        """See `TableService`."""
        self._publisher.rulings(rulings)

    def beat(self, now: int) -> None:
        """Tell what has changed, or that all is as it was; never waits."""
        game = self._game
        if game is None or (number := game.number()) is None:
            return
        conductor = game.conductor
        if not self._is_begun:
            self._is_begun = True
            self._publisher.begin(number, conductor.view.names)
        view, since = conductor.view, now - self._told
        if since < AT_MOST or (view == self._view and since < EVERY):
            return
        self._told, self._view = now, view
        troubles: Mapping[str, str] = conductor.troubles
        self._publisher.tell(view, paused=conductor.paused, troubles=troubles)
        words = self._publisher.trouble
        if words:
            conductor.trouble(self.name, words)
        else:
            conductor.mended(self.name)


def open_broker(settings: Settings, record: Record, stack: ExitStack) -> TableService | None:
    """The broker that the settings name (a `referee.table.services.Hook`); None where they name none."""
    if not settings.mqtt.enabled:
        return None
    from referee.extras.broker.publisher import TablePublisher, tally_of

    publisher = TablePublisher(settings.mqtt, tally=tally_of(record, wall_now()[:10]))
    stack.callback(publisher.close)
    publisher.start()
    return BrokerService(publisher)
