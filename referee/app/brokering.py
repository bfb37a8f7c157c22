"""The table and its broker: what is ruled and how the game stands is told to MQTT, as long as there is one to tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from referee.adjudication.view import View
from referee.app.conductor import Conductor

EVERY: Final = 1_000_000_000
"""The broker is told at least so often, ns."""
AT_MOST: Final = 100_000_000
"""And not again before, ns."""
PART: Final = "mqtt"


class Teller(Protocol):
    """What is needed of `referee.app.mqtt.publisher.TablePublisher`."""

    @property
    def trouble(self) -> str: ...

    def begin(self, game: int, names: Sequence[str]) -> None: ...

    def tell(self, view: View, *, paused: bool = False, troubles: Mapping[str, str] | None = None) -> None: ...


class Numbered(Protocol):
    """Whoever writes a game: its number, once it has one."""

    @property
    def game(self) -> int | None: ...


class Brokering:
    """One game's news for the broker; implements `referee.app.loop.FirstHand`, to be turned with the loop."""

    def __init__(self, publisher: Teller, conductor: Conductor, keeper: Numbered) -> None:
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
