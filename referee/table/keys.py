"""What people type at the running program, met as if the page had asked; a `TableService` in the referee's process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from referee.announce.sinks import Notice
from referee.control.commands import Command, CommandError
from referee.control.facts import Outcome, Refused
from referee.control.socket import obeying
from referee.control.typed_words import CODE, QUIT, read_typed
from referee.table.loop import Answers
from referee.table.services import ServedGame, TableService
from referee.text.sentence import Sentence

KEYS: Final = "keys"
"""The part that is told of where what was typed is refused."""


class Keys(TableService):
    """Meets typed commands; why one is refused stands below the display until another is accepted."""

    name = KEYS
    needs_record = False

    def __init__(self, typed: Answers, show_code: Callable[[], None] = lambda: None) -> None:
        """``typed``: where the lines come from; ``show_code`` shows a code to pair a device."""
        self._typed, self._show_code = typed, show_code
        self._left = False
        self._game: ServedGame | None = None

    def begin_game(self, game: ServedGame) -> None:
        """This is the game from now on."""
        self._game = game

    @property
    def leaves(self) -> bool:
        """Whether somebody has typed that it is enough."""
        return self._left

    def beat(self, now: int) -> None:
        """See `TableService`."""
        for line in self._typed.commands():
            word = line.strip().casefold()
            if word == QUIT:
                self._left = True
            elif word == CODE:
                self._show_code()
            if self._game is None or word in (QUIT, CODE):
                continue
            done = self._meet(line, self._game)
            conductor = self._game.conductor
            if isinstance(done, Refused):
                conductor.trouble(KEYS, done.words)
            else:
                conductor.troubles.pop(KEYS, None)
                conductor.tell(Notice("", now, done.words))

    def _meet(self, line: str, game: ServedGame) -> Outcome:
        obey = obeying(game.facts, game.conductor.new_id, game.conductor.said, _no_orders)
        try:
            asked = read_typed(line)
        except CommandError as bad:
            return Refused(bad.sentence)
        return obey(Command(asked.pop("do"), asked))


def _no_orders(order: Command) -> str:
    return Sentence("this table cannot do that ({command})", command=order.do)
