"""Keys of the terminal: letters that act at once, lines that are typed as usual, and a terminal restored at the end."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import termios

import pytest

from referee.announce.terminal_keys import KeyLine
from referee.table.keys import Keys
from tests.support.patience import PATIENCE
from tests.table.test_keys_and_days import Bench


class Typed:
    """The results of typed keys."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.lines: list[str] = []
        self.line = KeyLine(self.keys.append, self.lines.append)


@pytest.mark.parametrize(
    ("typed", "keys", "lines"),
    [
        ("p", ["p"], []),
        ("pP?f", ["p", "p", "?", "f"], []),
        ("7h\n", [], ["7h"]),
        ("undo\r", [], ["undo"]),
        (":contest 3 by 1\n", [], ["contest 3 by 1"]),
        (" foul 2 peek\n", [], ["foul 2 peek"]),
        ("\n", [], [""]),
        ("7x\x7fh\n", [], ["7h"]),
        ("7\x7fp", ["p"], []),
        ("missed\x15q", ["q"], []),
        ("\x1b[A\x1b[6~p", ["p"], []),
        ("2\x1b[D\n", [], [""]),
        ("é1\x07\n", [], ["é1"]),
    ],
)
def test_letters_act_at_once_and_lines_wait_for_their_end(typed: str, keys: list[str], lines: list[str]) -> None:
    heard = Typed()
    heard.line.feed(typed)
    assert (heard.keys, heard.lines, heard.line.line) == (keys, lines, None)


def test_a_line_may_come_in_pieces_and_is_shown_meanwhile() -> None:
    bench = Bench()
    keys = Keys(bench.answers, page="http://table:8080")
    bench.answers._keys.feed("mis")
    assert keys.standing == "> mis"
    bench.answers._keys.feed("sed")
    assert keys.standing == "> missed"


def pressed(bench: Bench, keys: Keys, typed: str) -> None:
    bench.answers._keys.feed(typed)
    keys.beat(bench.now)


def test_p_pauses_and_lets_the_game_go_on() -> None:
    bench = Bench()
    keys = Keys(bench.answers)
    keys.begin_game(bench.game)
    bench.go()
    pressed(bench, keys, "p")
    assert bench.conductor.paused
    bench.go()
    pressed(bench, keys, "p")
    assert not bench.conductor.paused


def test_q_asks_once_and_any_other_key_stays() -> None:
    bench = Bench()
    keys = Keys(bench.answers)
    keys.begin_game(bench.game)
    pressed(bench, keys, "q")
    assert "q once more" in keys.standing and not keys.leaves
    pressed(bench, keys, "f")
    assert keys.fills_screen and "q once more" not in keys.standing
    pressed(bench, keys, "q")
    assert not keys.leaves
    pressed(bench, keys, "q")
    assert keys.leaves


def test_a_code_help_and_the_address() -> None:
    bench, codes = Bench(), list[int]()
    keys = Keys(bench.answers, lambda: codes.append(1), page="http://192.0.2.7:8080/")
    keys.begin_game(bench.game)
    pressed(bench, keys, "c")
    assert codes == [1]
    pressed(bench, keys, "?")
    assert "full screen" in keys.standing
    pressed(bench, keys, "?")
    assert keys.standing == ""


class InTerminal:
    """A program in its own terminal."""

    def __init__(self, *command: str) -> None:
        self._ours, self.theirs = pty.openpty()
        self.before = termios.tcgetattr(self.theirs)
        environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"}
        self.process = subprocess.Popen(
            command, stdin=self.theirs, stdout=self.theirs, stderr=self.theirs, env=environment
        )
        self._shown = ""

    def type(self, keys: str) -> None:
        """Press these keys; `wait` looks at the output from now on."""
        self._shown = ""
        os.write(self._ours, keys.encode())

    def wait(self, for_: str) -> None:
        """Read until this is shown; give up when no output comes any more."""
        while for_ not in self._shown and select.select([self._ours], [], [], PATIENCE)[0]:
            self._shown += os.read(self._ours, 1 << 16).decode(errors="replace")
        assert for_ in self._shown, self._shown[-2000:]

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)
        os.close(self.theirs)


def test_a_demo_in_a_terminal_is_led_by_its_keys_and_leaves_it_as_it_was() -> None:
    demo = (sys.executable, "-m", "referee", "demo", "--no-pace", "--no-page", "--seed", "6")
    terminal = InTerminal(*demo)
    try:
        terminal.wait("? shows the keys")
        assert not termios.tcgetattr(terminal.theirs)[3] & termios.ICANON
        terminal.type("?")
        terminal.wait("full screen")
        terminal.type("p")
        terminal.wait("Paused")
        terminal.type("f")
        terminal.wait("\x1b[?1049h")
        terminal.wait("Paused")
        terminal.type("f")
        terminal.wait("\x1b[?1049l")
        terminal.type("q")
        terminal.wait("q once more")
        terminal.type("q")
        terminal.wait("not compared")
        assert terminal.process.wait(PATIENCE) in (0, 1)
        assert termios.tcgetattr(terminal.theirs) == terminal.before
    finally:
        terminal.close()


def test_without_a_terminal_lines_are_read_as_they_come() -> None:
    demo = (sys.executable, "-m", "referee", "demo", "--no-pace", "--no-page", "--max-cards", "2")
    done = subprocess.run(demo, input="q\np\n", capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0 and "shows the keys" not in done.stdout, done.stdout + done.stderr
