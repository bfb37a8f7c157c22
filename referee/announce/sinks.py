"""Rulings and notices handed to whoever speaks, shows or lights; one that fails is named, and stops nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from referee.adjudication.rulings import Ruling
from referee.app.notices import Notice

Outlet = Callable[[Sequence[Ruling]], None]
"""Takes rulings as soon as they are decided, those that came together at once: the voice, the lights, the display."""
Teller = Callable[[Notice], None]
"""Takes what the appliance itself has to say."""

_News = TypeVar("_News")
_log = logging.getLogger(__name__)


class Handing:
    """The outlets and tellers of a table, by name. What they answer: each part that failed now, with what it threw, and
    each that works again, with no words.
    """

    def __init__(self, outlets: Mapping[str, Outlet], tellers: Mapping[str, Teller]) -> None:
        self._outlets, self._tellers = dict(outlets), dict(tellers)
        self._failing: set[str] = set()

    def rulings(self, rulings: Sequence[Ruling]) -> list[tuple[str, str]]:
        """Hand out rulings."""
        return self._hand(self._outlets, rulings)

    def notice(self, notice: Notice) -> list[tuple[str, str]]:
        """Hand out a notice."""
        return self._hand(self._tellers, notice)

    def _hand(self, takers: Mapping[str, Callable[[_News], None]], news: _News) -> list[tuple[str, str]]:
        changed: list[tuple[str, str]] = []
        for name, take in takers.items():
            try:
                take(news)
            except Exception as bad:  # whatever a device's library throws, the game must go on
                if name not in self._failing:
                    _log.exception("%s failed", name)
                self._failing.add(name)
                changed.append((name, f"{type(bad).__name__}: {bad}"))
            else:
                if name in self._failing:
                    self._failing.discard(name)
                    changed.append((name, ""))
        return changed
