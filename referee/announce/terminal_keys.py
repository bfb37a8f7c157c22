"""Keys of the referee's terminal: a single letter acts at once, and a line is typed as usual.

`KeyLine` tells the two apart; `hear_keys` reads a terminal key by key and restores its mode. Where there is no
terminal, or it cannot be read key by key, lines are read as they come (`referee.table.loop.Answers.listen`).
"""

from __future__ import annotations

import codecs
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TextIO

PAUSE: Final = "p"
CODE: Final = "c"
PAGE: Final = "o"
FULL: Final = "f"
QUIT: Final = "q"
HELP: Final = "?"
GOOD_MARK: Final = "+"
FALSE_MARK: Final = "-"
KEYS: Final = frozenset((PAUSE, CODE, PAGE, FULL, QUIT, HELP, GOOD_MARK, FALSE_MARK))
"""Keys that act at once on an empty line."""
_OPENING: Final = ": "
"""Begins a line whose first letter would otherwise be a key."""
_ESCAPE: Final = "\x1b"
_RUBOUT: Final = "\x7f\b"
_CLEAR: Final = "\x15"


class KeyLine:
    """Turns typed characters into keys and whole lines. Pure.

    Args:
        press: receives each key of `KEYS`.
        enter: receives each line.
    """

    def __init__(self, press: Callable[[str], None], enter: Callable[[str], None]) -> None:
        self._press, self._enter = press, enter
        self._in_escape = False
        self.line: str | None = None
        """The line typed so far; `None`: none was begun."""

    def feed(self, text: str) -> None:
        """Process typed text."""
        for sign in text:
            if self._in_escape:
                # Arrow keys and the like: ESC [ A
                self._in_escape = not (sign.isalpha() or sign == "~")
            elif sign == _ESCAPE:
                self._in_escape, self.line = True, None
            elif sign in "\r\n":
                line, self.line = self.line or "", None
                self._enter(line)
            elif self.line is None:
                self._begin(sign)
            elif sign in _RUBOUT:
                self.line = self.line[:-1] or None
            elif sign == _CLEAR:
                self.line = None
            elif sign.isprintable():
                self.line += sign

    def _begin(self, sign: str) -> None:
        if sign.lower() in KEYS:
            self._press(sign.lower())
        elif sign in _OPENING:
            self.line = ""
        elif sign.isprintable():
            self.line = sign


def hear_keys(
    stream: TextIO, keys: KeyLine, ended: Callable[[], None] = lambda: None
) -> Callable[[], None] | None:  # fmt: skip
    """Read a terminal key by key on a separate thread; return a callback that restores the terminal.

    ``ended`` is called on that thread once the terminal yields no more input, as when its window was closed.

    None if this is no terminal or it cannot be read key by key: then nothing has changed.
    """
    if not stream.isatty():
        return None
    try:
        import termios
        import tty
    except ImportError:
        return None
    file = stream.fileno()
    before = termios.tcgetattr(file)
    tty.setcbreak(file)

    def read() -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        with suppress(OSError):
            while typed := os.read(file, 64):
                keys.feed(decoder.decode(typed))
        ended()

    def restore() -> None:
        with suppress(termios.error):
            termios.tcsetattr(file, termios.TCSADRAIN, before)

    threading.Thread(target=read, name="keys", daemon=True).start()
    return restore
