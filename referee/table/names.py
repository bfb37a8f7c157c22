"""The names of a table's people: overdue ones are erased before a game, and those without consent after it.

A service of the loop's process (`referee.table.services`); the rules are in `referee.record.people`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from referee.announce.sinks import Notice
from referee.record.database import RecordError
from referee.record.erasure import erase_overdue, note_unsettled, scrub_noted, settle_names, settle_noted
from referee.record.people import People
from referee.sentence import Sentence
from referee.settings.model import Settings
from referee.table.services import GameContext, TableService
from referee.text.escapes import escape_controls
from referee.text.terminal_language import translate


class NameService(TableService):
    """Erases names before and after each game. Comes after the record in the list of services."""

    name = "names"

    def __init__(self, record: Path) -> None:
        self._record = record
        self._number: Callable[[], int | None] = lambda: None
        self._words: list[str] = []

    def prepare_record(self, settings: Settings) -> None:
        """Erase the names that wait for it and those that are overdue; the notices follow when the game begins."""
        with People(self._record) as people:
            settle_noted(people)
            scrub_noted(people)
            _, words = erase_overdue(people, datetime.now().astimezone())
            strangers = people.to_ask([seat.name for seat in settings.seats])
        self._words = [words] if words else []
        if strangers:
            names = ", ".join(strangers)
            self._words.append(Sentence("{names}: named while the game is on, not afterwards", names=names))
        if sys.stdout.isatty():
            # A drawn display shows no notices; elsewhere they are printed.
            print("".join(f"{escape_controls(translate(words))}\n" for words in self._words), end="")

    def begin_game(self, game: GameContext) -> None:
        """See `TableService`."""
        self._number = game.number
        for words in self._words:
            game.conductor.tell(Notice("", game.now(), words))

    def note_over(self) -> None:
        """Mark the names as unsettled; they stay for now, since the page still shows who has won."""
        number = self._number()
        with suppress(RecordError), People(self._record) as people:
            if number is not None:
                note_unsettled(people, number)

    def note_reopened(self) -> None:
        """See `TableService`."""
        with suppress(RecordError), People(self._record) as people:
            note_unsettled(people, None)

    def end_game(self) -> None:
        """Settle the names."""
        self.note_over()
        number = self._number()
        with suppress(RecordError), People(self._record) as people:
            if number is not None:
                settle_names(people, number)
