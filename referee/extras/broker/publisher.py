"""What the conductor's owner holds: a table that is told on a broker. No method waits, none raises.

Joined to the referee as an outlet (`TablePublisher.rulings`) and by telling it the position (`TablePublisher.tell`)
at least once a second; `trouble` goes to `Conductor.trouble` or `Conductor.mended` as the part ``mqtt``.
"""

from __future__ import annotations

import functools
import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Final, ParamSpec, Protocol

from hardware.clock import Clock, monotonic
from referee.adjudication.rulings import Ruling
from referee.adjudication.view import View
from referee.app.mqtt.client import Broker
from referee.app.mqtt.shell import Shell, wall_time
from referee.app.mqtt.tally import Tally
from referee.app.mqtt.telling import Telling
from referee.app.mqtt.topics import Topics

_LOG: Final = logging.getLogger(__name__)
_Given = ParamSpec("_Given")


class MqttSettings(Protocol):
    """The section ``[mqtt]`` of a table's settings."""

    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def user(self) -> str: ...
    @property
    def password_file(self) -> str: ...
    @property
    def tls(self) -> bool: ...
    @property
    def table(self) -> str: ...
    @property
    def prefix(self) -> str: ...


def _harmless(method: Callable[_Given, None]) -> Callable[_Given, None]:
    """Whatever goes wrong in telling others, the game goes on."""

    @functools.wraps(method)
    def run(*args: _Given.args, **kwargs: _Given.kwargs) -> None:
        try:
            method(*args, **kwargs)
        except Exception:
            _LOG.exception("%s failed", method.__name__)

    return run


class TablePublisher:
    """See above.

    Args:
        settings: the section ``[mqtt]``.
        tally: what the day came to so far (`today.tally_of`).
        wall: the present wall time, ISO 8601; its date is the day that games count for.
        session: a name for this run; made up where none is given.

    Raises:
        ValueError: the table's name or the prefix cannot stand in a topic; the settings' checks let none such pass.
    """

    def __init__(
        self,
        settings: MqttSettings,
        *,
        tally: Tally | None = None,
        clock: Clock = monotonic,
        wall: Callable[[], str] = wall_time,
        session: str = "",
    ) -> None:
        self._topics = Topics(settings.prefix, settings.table)
        self._tally = tally or Tally()
        self._telling = Telling(session or secrets.token_hex(4))
        self._wall = wall
        broker = Broker(settings.host, settings.port, settings.user, settings.password_file, settings.tls)
        self._shell = Shell(broker, self._topics, clock=clock, wall=wall)

    @property
    def trouble(self) -> str:
        """What is amiss with the broker, in words that say what to do; empty while all is well."""
        return self._shell.trouble

    @property
    def outbox(self) -> int:
        """Rulings that wait for the broker."""
        return len(self._shell.outbox)

    @_harmless
    def start(self) -> None:
        """Begin to connect."""
        self._shell.start()

    @_harmless
    def begin(self, game: int, names: Sequence[str]) -> None:
        """A game begins, or one that was broken off goes on."""
        self._telling.begin(game, names)
        self._tally.begin(self._wall()[:10], game, names)
        self._keep_day()

    @_harmless
    def rulings(self, rulings: Sequence[Ruling]) -> None:
        """These were decided; an outlet of the conductor."""
        for ruling in rulings:
            self._shell.outbox.put(self._topics.of("ruling"), self._telling.ruling(ruling))
        if self._tally.take(rulings):
            self._keep_day()

    @_harmless
    def tell(self, view: View, *, paused: bool = False, troubles: Mapping[str, str] | None = None) -> None:
        """The position is this; to be told after every change and at least once a second."""
        self._shell.outbox.keep(self._topics.of("state"), self._telling.state(view, paused=paused, troubles=troubles))

    @_harmless
    def close(self) -> None:
        """The table is switched off. Takes some seconds at most; nothing else here waits."""
        self._shell.stop()

    def _keep_day(self) -> None:
        self._shell.outbox.keep(self._topics.of("day"), self._tally.payload())
