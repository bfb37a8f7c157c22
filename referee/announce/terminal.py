"""The table live in the terminal: pile, counts, turn, challenge, the last rulings with their margins, questions.

If standard output is no terminal, each ruling is one plain line instead. `Display` draws; a table's loop draws through
`Screen`, on a separate thread, since drawing takes tens of milliseconds and a hand must not wait for it.
"""

from __future__ import annotations

import logging
import queue
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from referee.announce.phrases import NoWords
from referee.announce.sinks import Notice
from referee.announce.voice import tell
from referee.engine.rulings import GAME_ENDS, SHOWN_BY_POSITION, Ruling
from referee.text.escapes import escape_controls
from referee.text.ruling_lines import RulingWords, pretty, suit_sign
from referee.text.terminal_language import here, say_among

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from referee.engine.view import View

_log = logging.getLogger(__name__)
_RED: Final = frozenset("hdr")
_LARGE: Final = 5
"""Number of cards at the top of the pile that are drawn large."""
_SMALL: Final = 24
_RULINGS: Final = 9
_COLOURS: Final = {
    "slap_won": "bold green", "slap_false": "bold red", "slap_void": "yellow", "dead_heat": "bold yellow",
    "question": "bold yellow", "dead_card": "red", "burn": "red", "won": "bold green", "challenge_won": "cyan",
    "challenge": "cyan", "challenge_moves": "cyan", "out": "magenta", "slapped_in": "magenta",
}  # fmt: skip


@dataclass(slots=True)
class Gauge:
    """The figures that a display shows about the run itself."""

    title: str = ""
    t: int = 0
    """The table's time, ns."""
    cards: int = 0
    fps: float = 0.0
    lag_ms: float = 0.0
    notes: tuple[str, ...] = ()
    """Current problems, in words."""
    standing: tuple[str, ...] = ()
    """Lines that are always shown, such as the page's address."""
    paused: bool = False
    full: bool = False
    """Whether the scoreboard alone fills the terminal."""


class Display:
    """Takes rulings as an outlet, and the position whenever it is to be drawn.

    Args:
        names: the players.
        live: draw on the whole terminal; otherwise print lines.
    """

    def __init__(self, names: Sequence[str], *, live: bool | None = None) -> None:
        self.names = tuple(map(escape_controls, names))
        self._words = RulingWords(self.names, here())
        self._rulings: deque[Ruling] = deque(maxlen=_RULINGS)
        self._asked: dict[str, Ruling] = {}
        """Questions by id."""
        self._end: Ruling | None = None
        """The latest ruling that ended the game; a correction may have reopened it."""
        self._live_wanted = sys.stdout.isatty() if live is None else live
        self._live: Live | None = None
        self._is_full = self._is_terminal = False
        self.gauge = Gauge()
        self.began = 0
        """Start of the game, ns: times are shown relative to it."""

    def since_began(self, t: int) -> str:
        """Return the game's clock at an instant."""
        return self._words.texts.seconds(t - self.began)

    def __enter__(self) -> Display:
        if self._live_wanted:
            self._go_live()
        return self

    def _go_live(self) -> None:
        """Draw at the cursor, or on the terminal's alternate screen, which leaves nothing behind."""
        from rich.live import Live

        self._is_full = self.gauge.full
        self._live = Live(auto_refresh=False, screen=self._is_full, transient=True)
        self._is_terminal = self._live.console.file.isatty()
        self._live.start()

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def __call__(self, rulings: Sequence[Ruling]) -> None:
        """Show rulings that were just decided."""
        for ruling in rulings:
            if ruling.kind in SHOWN_BY_POSITION:
                continue
            self._remember(ruling)
            if self._live is None:
                print(f"{self.since_began(ruling.t):>9}  {escape_controls(self._words(ruling))}")

    def _remember(self, ruling: Ruling) -> None:
        """Append a ruling to the list, or replace the one that it amends: "alone" becomes a margin."""
        if ruling.kind == "question":
            self._asked[ruling.id] = ruling
        if ruling.kind in GAME_ENDS:
            self._end = ruling
        for place, old in enumerate(self._rulings):
            if old.kind == ruling.kind and (old.id == ruling.id or old.id in ruling.supersedes):
                self._rulings[place] = ruling
                return
        self._rulings.append(ruling)

    def draw(self, view: View) -> None:
        """Draw the position; a no-op where lines are printed."""
        if self._live is None:
            return
        if self._is_terminal and not self._live.console.file.isatty():
            # The window was closed: drawing there would only cost time.
            self.__exit__()
            return
        if self.gauge.full != self._is_full:
            self._live.stop()
            self._go_live()
        self._live.update(self.render_full(view) if self._is_full else self.render(view), refresh=True)

    def render(self, view: View) -> RenderableType:
        """Return the whole picture of the table, as rich draws it."""
        from rich.columns import Columns
        from rich.console import Group
        from rich.panel import Panel
        from rich.text import Text

        gauge = self.gauge
        texts = self._words.texts
        status = texts(
            "terminal.status", time=texts.seconds(gauge.t), cards=texts.count("cards", gauge.cards),
            fps=texts.number(gauge.fps, 1), lag=texts.number(gauge.lag_ms, 0),
        )  # fmt: skip
        parts = Group(
            # At the top: a low terminal cuts off the bottom.
            *[Text(escape_controls(line), style="bold cyan") for line in gauge.standing],
            Columns([self._players(view), self._pile(view)], padding=(0, 3)),
            self._state(view),
            self._list(),
            *[Text(escape_controls(note), style="yellow") for note in gauge.notes],
        )
        title = Text(f"{texts('title')} · {escape_controls(gauge.title)}")
        return Panel(parts, title=title, subtitle=status, title_align="left", padding=(0, 1))

    def render_full(self, view: View) -> RenderableType:
        """Return the scoreboard alone, in the middle of the terminal, and the prompt that waits for a key."""
        from rich.align import Align
        from rich.console import Group
        from rich.panel import Panel
        from rich.text import Text

        asked = [Text(escape_controls(line), style="bold cyan") for line in self.gauge.standing[-1:]]
        parts = Group(self._players(view), Text(), self._pile(view), Text(), self._state(view), Text(), *asked)
        title = Text(f"{self._words.texts('title')} · {escape_controls(self.gauge.title)}")
        return Panel(Align.center(parts, vertical="middle"), title=title, title_align="left")

    def _players(self, view: View) -> RenderableType:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, padding=(0, 1), show_header=False)
        for seat, name in enumerate(self.names, start=1):
            count = view.counts[seat - 1] if seat <= len(view.counts) else None
            marks = "▶" if view.turn == seat else "★" if view.owner == seat else " "
            style = "bold" if view.turn == seat else "dim" if count == 0 else ""
            note = self._words.texts("board.locked") if seat in view.locked_out else ""
            table.add_row(
                f"[green]{marks}[/]", str(seat), Text(name), "?" if count is None else str(count), note, style=style
            )
        return table

    def _pile(self, view: View) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        large, small = view.pile[-_LARGE:], view.pile[-_SMALL - _LARGE : -_LARGE]
        older = Text(" ".join(pretty(card) for card in small), style="dim")
        hidden = len(view.pile) - len(large) - len(small)
        if hidden > 0:
            more = self._words.texts.count("explain.more_below", hidden)
            older = Text(f"… {more}, ", style="dim").append_text(older)
        return Group(*[_row(large, line) for line in range(5)], older)

    def _state(self, view: View) -> RenderableType:
        from rich.text import Text

        name, texts = self._words.name, self._words.texts
        if view.game_over:
            return Text(escape_controls(self._words.outcome(self._end)), style="bold green")
        if self.gauge.paused:
            return Text(texts("board.paused"), style="bold yellow")
        if (challenge := view.challenge) is not None:
            left, by = texts.count("chances", challenge.left), name(challenge.challenger)
            words = texts("board.challenge_of", name=name(challenge.challenged), count=left, challenger=by)
            state = Text(words, style="cyan")
        else:
            state = Text(texts.count("cards", len(view.pile)))
        if view.questions:
            state.append(f"\n{self._question(view.questions)}", style="bold yellow")
        return state

    def _question(self, open_questions: Sequence[str]) -> str:
        """Return the oldest open question, and the number of those after it."""
        texts = self._words.texts
        asked = self._asked.get(open_questions[0])
        words = escape_controls(self._words(asked)) if asked is not None else texts("board.questions")
        more = len(open_questions) - 1
        return f"{words} ({texts('board.more_questions', count=more)})" if more else words

    def _list(self) -> RenderableType:
        from rich.text import Text

        lines = Text()
        for ruling in self._rulings:
            lines.append(f"\n{self.since_began(ruling.t):>8}  ", style="dim")
            lines.append(escape_controls(self._words(ruling)), style=_COLOURS.get(ruling.kind, ""))
        lines.append("\n" * (_RULINGS - len(self._rulings)))
        return lines


def card_lines(card: str) -> tuple[str, ...]:
    """Return a card drawn in five lines of seven characters."""
    rank = {"T": "10", "?": "?", "X": "★"}.get(card[0], card[0])
    suit = suit_sign(card)
    return ("╭─────╮", f"│{rank:<5}│", f"│  {suit}  │", f"│{rank:>5}│", "╰─────╯")


def _row(cards: Sequence[str], line: int) -> Any:
    from rich.text import Text

    text = Text()
    for card in cards:
        style = "bold red" if card[1] in _RED else "bold yellow" if card == "??" else "bold"
        text.append(card_lines(card)[line] + " ", style=style)
    if not cards:
        text.append(" " * 8)
    return text


class Screen:
    """Takes what a `Display` takes, without ever blocking."""

    def __init__(self, display: Display, *, live: bool = True) -> None:
        """``live``: whether the display draws rather than prints lines."""
        self._display, self._live = display, live
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._next: tuple[View, Gauge] | None = None
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._go_on, name="display", daemon=True)
        self._thread.start()

    def __call__(self, rulings: Sequence[Ruling]) -> None:
        """`RulingListener`: show rulings that were just decided."""
        shown = tuple(rulings)
        self._work.put(lambda: self._display(shown))

    def tell(self, notice: Notice) -> None:
        """`NoticeListener`: print a line where lines are printed; a live display shows the problem below the table."""
        if not self._live and notice.words:
            words = escape_controls(self._in_words(notice))
            self._work.put(lambda: print(f"{self._display.since_began(notice.t):>9}  {words}"))

    def _in_words(self, notice: Notice) -> str:
        """Return a notice in the terminal's language: its translated words, or the spoken phrase if they are
        untranslated.
        """
        names, language = self._display.names, here().language
        words = say_among(names, notice.words)
        if language == "en" or words != str(notice.words):
            return words
        called = {seat: name for seat, name in enumerate(names, start=1) if name}
        try:
            return tell(notice.what, notice.t, language, names=called, **notice.fields).text
        except NoWords:
            return words

    def draw(self, view: View, gauge: Gauge) -> None:
        """Draw this position; if several wait, only the last is drawn."""
        with self._lock:
            waits, self._next = self._next is not None, (view, gauge)
        if not waits:
            self._work.put(self._draw)

    def _draw(self) -> None:
        with self._lock:
            draw, self._next = self._next, None
        if draw is not None:
            view, self._display.gauge = draw
            self._display.draw(view)

    def _go_on(self) -> None:
        while (do := self._work.get()) is not None:
            try:
                do()
            except Exception:  # a closed terminal must not stop the next line
                _log.exception("the display failed; it goes on")

    def close(self) -> None:
        """Show pending output, within two seconds, and end."""
        self._work.put(None)
        self._thread.join(timeout=2.0)
