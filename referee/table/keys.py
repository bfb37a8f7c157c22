"""Commands typed at the running program, handled as if the page had sent them; a `TableService` of the referee."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Final

from referee.announce import terminal_keys
from referee.announce.sinks import Notice
from referee.control.commands import Command, CommandError
from referee.control.facts import Outcome, Refused
from referee.control.page_address import open_browser
from referee.control.socket import make_handler
from referee.control.typed_words import CODE, QUIT, read_typed
from referee.engine.shadow_marks import FALSE, GOOD, is_shadowed
from referee.sentence import Sentence
from referee.table.loop import Answers
from referee.table.services import GameContext, TableService
from referee.text.catalogue import Texts

_MARKS: Final = {terminal_keys.GOOD_MARK: GOOD, terminal_keys.FALSE_MARK: FALSE}
KEYS: Final = "keys"
"""Name of the part that reports a refused command."""


class Keys(TableService):
    """Handles typed commands; the reason for a refusal stays below the display until a command is accepted."""

    name = KEYS
    needs_record = False

    def __init__(self, typed: Answers, show_code: Callable[[], None] = lambda: None, *, page: str = "") -> None:
        """Begin with no key pressed.

        Args:
            typed: source of lines and keys.
            show_code: shows a code to pair a device.
            page: its address; empty if there is none.
        """
        self._typed, self._show_code, self._page = typed, show_code, page
        self._left = self._asks = self._helps = self._is_full = self._shows_page = False
        self._game: GameContext | None = None
        self._texts = Texts("en")

    def begin_game(self, game: GameContext) -> None:
        """Follow this game from now on."""
        self._game = game
        self._texts = Texts(game.settings.voice.language)

    @property
    def leaves(self) -> bool:
        """Whether the user has typed a command to quit."""
        return self._left

    @property
    def fills_screen(self) -> bool:
        """Whether the scoreboard alone is to fill the screen."""
        return self._is_full

    @property
    def standing(self) -> str:
        """The line being typed, else the prompt that a key has opened, else the hint about keys."""
        if self._typed.line is not None:
            return f"> {self._typed.line}"
        if self._asks:
            return self._texts("terminal.quit")
        if self._helps:
            return self._texts("terminal.help")
        if self._shows_page:
            return self._texts("terminal.page", address=self._page) if self._page else self._texts("terminal.no_page")
        return self._texts("terminal.keys") if self._typed.hears_keys else ""

    def beat(self, now: int) -> None:
        """See `TableService`."""
        for key in self._typed.pressed():
            self._press(key, now)
        for line in self._typed.commands():
            word = line.strip().casefold()
            if word == QUIT:
                self._left = True
            elif word == CODE:
                self._show_code()
            else:
                self._obey(line, now)

    def _press(self, key: str, now: int) -> None:
        """Handle one key; quitting takes two presses."""
        asked, self._asks = self._asks, key == terminal_keys.QUIT
        self._helps = key == terminal_keys.HELP and not self._helps
        self._shows_page = key == terminal_keys.PAGE and not self._shows_page
        if key == terminal_keys.QUIT:
            self._left = asked
        elif key == terminal_keys.FULL:
            self._is_full = not self._is_full
        elif key == terminal_keys.CODE:
            self._show_code()
        elif key == terminal_keys.PAUSE and self._game is not None:
            self._obey("resume" if self._game.facts().log.pause.by_people else "pause", now)
        elif key in _MARKS and self._game is not None and is_shadowed(self._game.conductor.observations):
            self._tell(self._meet(Command("mark", {"verdict": _MARKS[key]}), self._game), now)
        elif key == terminal_keys.PAGE and self._page and self._shows_page:
            open_in_browser(self._page)

    def _obey(self, line: str, now: int) -> None:
        if self._game is None:
            return
        try:
            self._tell(self._meet(read_typed(line), self._game), now)
        except CommandError as error:
            self._tell(Refused(error.sentence), now)

    def _tell(self, done: Outcome, now: int) -> None:
        assert self._game is not None
        conductor = self._game.conductor
        if isinstance(done, Refused):
            conductor.trouble(KEYS, done.words)
        else:
            conductor.troubles.pop(KEYS, None)
            conductor.tell(Notice("", now, done.words))

    def _meet(self, command: Command, game: GameContext) -> Outcome:
        obey = make_handler(game.facts, game.conductor.new_id, game.conductor.said, _no_orders)
        return obey(command)


def open_in_browser(address: str) -> None:
    """Open a page if there is a desktop; a text browser would draw over the table."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return
    open_browser(address)


def _no_orders(order: Command) -> str:
    return Sentence("this table cannot do that ({command})", command=order.do)
