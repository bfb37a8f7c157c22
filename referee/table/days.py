"""Puts the calendar date on the log if a house rule needs it (P16b): the core itself has no clock."""

from __future__ import annotations

from collections.abc import Callable

from hardware.clock import wall_now
from referee.engine.observations import Day
from referee.table.services import GameContext, TableService
from referee.units import SECOND


class DateService(TableService):
    """Logs the date when a game begins or resumes, and whenever the day changes."""

    name = "date"
    needs_record = False

    def __init__(self, wall: Callable[[], str] = wall_now) -> None:
        """``wall``: returns the wall-clock time, ISO 8601."""
        self._wall = wall
        self._game: GameContext | None = None
        self._logged_date, self._checked_at = "", 0

    def begin_game(self, game: GameContext) -> None:
        """See `TableService`."""
        self._game = game if game.facts().rules.has("P16b") else None
        self._logged_date = ""
        self._tell(game.now())

    def beat(self, now: int) -> None:
        """Check once a second whether the day has changed."""
        if now - self._checked_at >= SECOND:
            self._tell(now)

    def _tell(self, now: int) -> None:
        self._checked_at = now
        date = self._wall()[:10]
        if self._game is not None and date != self._logged_date:
            self._logged_date = date
            conductor = self._game.conductor
            conductor.put(Day(t=max(now, conductor.watermark + 1), date=date))
