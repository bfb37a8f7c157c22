"""The referee's side of its page: what is new is told to it, and what is asked through it is done.

The page is a process of its own (`referee.app.page`). Nothing here waits for it, and nothing that it does can stop the
referee: news goes as one datagram, commands come over a socket that is looked at once a turn.
"""

from __future__ import annotations

import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from hardware.clock import monotonic
from referee.adjudication.observations import Observation
from referee.adjudication.rulings import Ruling, ruling_fields
from referee.app.commands import Command
from referee.app.conductor import Conductor
from referee.app.desk import Desk, obeying
from referee.app.notices import Notice
from referee.app.outcomes import Facts
from referee.app.padcommands import PAUSING, command_of, is_paused, mode_in
from referee.app.padwords import PadWords, Word
from referee.app.page.bridge import BridgeError, Inlet, private
from referee.app.page.pairing import Pairing
from referee.app.page.publishing import Publisher, news
from referee.app.record import Keeper, Record
from referee.app.record_frames import FRAMES
from referee.app.voice import announce

if TYPE_CHECKING:
    from hardware.ports import Edge

SOCKET: Final = "page.sock"
EVERY: Final = 500_000_000
"""The page is told at least so often, ns."""
HEARD: Final = 100_000_000
"""Edges are here by then, ns: hands that say words have time."""
SECRET: Final = "pair_code"
"""The notice that is for the table alone."""
WAIT: Final = 3.0
"""Seconds that the page's process is given to end."""
_KEPT: Final = 20


class Paging:
    """News out, commands in; one for each game."""

    def __init__(
        self, folder: Path, keeper: Keeper, *, language: str = "en", order: Callable[[Command], str] | None = None,
    ) -> None:  # fmt: skip
        """Listen.

        Args:
            folder: holds the sockets.
            keeper: writes the game.
            language: of the captions.
            order: does what is no matter of the log, and gives words where it cannot.

        Raises:
            BridgeError: the folder is somebody else's, or another referee listens there.
        """
        self._keeper, self._language = keeper, language
        self._order = order or (lambda command: f"this table cannot do that ({command.do})")
        self._publisher = Publisher(private(folder) / SOCKET)
        self._conductor: Conductor | None = None
        self._said: deque[str] = deque(maxlen=_KEPT)
        self._early: dict[str, Ruling] = {}
        self._told = 0
        self._fresh = False
        self.pairing = Pairing()
        self._now: Callable[[], int] = lambda: 0
        self._show_code: Callable[[str], None] = lambda digits: None
        self._words: PadWords | None = None
        self._seen = 0
        self._paused = False
        self._desk = Desk(self.pairing, obeying(self._facts, self._name, self._observe, self._order))
        self._inlet: Inlet | None = Inlet(folder, self._desk)

    def follow(
        self, conductor: Conductor, now: Callable[[], int], show_code: Callable[[str], None] | None = None
    ) -> None:
        """This is the game.

        Args:
            conductor: conducts it.
            now: answers the present instant on its line of time, ns.
            show_code: shows or speaks the digits of a pairing code at the table, and nowhere else.
        """
        self._show_code = show_code or self._show_code
        self._conductor, self._now = conductor, now
        self._words = PadWords(conductor.seats)

    def __call__(self, rulings: Sequence[Ruling]) -> None:
        """Outlet: rulings as soon as they are decided."""
        self._early.update((ruling.id, ruling) for ruling in rulings)
        self._said.extend(phrase.text for phrase in announce(rulings, self._language))
        self._fresh = True

    def tell(self, notice: Notice) -> None:
        """Teller: what the appliance itself has to say."""
        if notice.what != SECRET:
            self._said.append(notice.words)
            self._fresh = True

    def turn(self, now: int) -> None:
        """Once in each turn of the loop; ``now`` on the game's line of time, ns. Never waits, never raises."""
        if self._inlet is not None:
            self._inlet.turn()
        self._listen_to_hands(now - HEARD)
        if self._conductor is None or not (self._fresh or now - self._told >= EVERY) or self._keeper.game is None:
            return
        self._told, self._fresh = now, False
        final = {ruling.id for ruling in self._conductor.rulings[-4 * _KEPT :]}
        self._early = {name: ruling for name, ruling in self._early.items() if name not in final}
        said, self._said = list(self._said), deque(maxlen=_KEPT)
        self._publisher.tell(
            news(
                self._keeper.game, self._keeper.written, self._conductor.view, now=now, said=said,
                troubles=self._conductor.troubles, paused=self._conductor.paused,
                rulings=[ruling_fields(ruling) for ruling in self._early.values()],
            )
        )  # fmt: skip

    def touch(self, touched: tuple[int, ...], now: int) -> None:
        """Once in each turn of the loop; implements `referee.app.loop.FirstHand`."""
        del touched
        self.turn(now)

    def hear(self, edge: Edge) -> None:
        """A raw edge of a pad: hands can say words, too."""
        if self._words is not None:
            self._heed(self._words.feed(edge))

    def code(self) -> str:
        """A pairing code, for the table alone to show."""
        return self.pairing.show(monotonic())

    def _heed(self, words: Sequence[Word]) -> None:
        for word in words:
            if word.word == "code":
                self._show_code(self.code())
                continue
            facts = self._facts()
            asked = command_of(word, facts) if facts is not None else None
            if asked is not None:
                done = self._desk(asked)
                self._said.append(str(done.get("words", "")))

    def _listen_to_hands(self, now: int) -> None:
        if self._words is None or self._conductor is None:
            return
        log = self._conductor.observations
        if len(log) != self._seen:
            # A long log is not looked through for each card that is laid: this is the loop that answers hands.
            new, self._seen = log[self._seen :], len(log)
            facts = self._facts()
            if facts is not None and any(isinstance(line, PAUSING) for line in new):
                self._paused = is_paused(facts)
            self._words.change(mode_in(self._conductor.view, paused=self._paused))
        self._heed(self._words.advance(now))

    def close(self) -> None:
        """Listen no more."""
        if self._inlet is not None:
            self._inlet.close()
            self._inlet = None

    def _facts(self) -> Facts | None:
        game = self._conductor
        if game is None:
            return None
        return Facts(game.observations, game.rulings, game.view, self._now(), game.watermark, self._keeper.game)

    def _name(self, kind: str) -> str:
        if self._conductor is None:
            raise BridgeError("no game is being played")
        return self._conductor.new_id(kind)

    def _observe(self, line: Observation) -> None:
        if self._conductor is not None:
            self._conductor.said(line)
            self._fresh = True


class PageProcess:
    """The page, started and ended with the referee."""

    def __init__(self, record: Path, folder: Path, *, host: str, port: int, pictures: Path | None = None) -> None:
        """Start it; its address is printed by itself once it can be reached."""
        command = [
            sys.executable, "-m", "referee.app.cli", "page", "--record", str(record), "--host", host,
            "--port", str(port), "--listen", str(folder / SOCKET), "--runtime", str(folder),
        ]  # fmt: skip
        if pictures is not None:
            command += ["--pictures", str(pictures)]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL)

    @property
    def trouble(self) -> str:
        """Why there is no page; empty while there is one."""
        code = self._process.poll()
        return "" if code is None else f"the page has ended (status {code}); the game goes on without it"

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(WAIT)
            return
        self._process.kill()
        self._process.wait()


@dataclass(frozen=True, slots=True)
class Shown:
    """A game that is recorded for as long as its page is looked at, as at the simulated table."""

    paging: Paging
    keeper: Keeper
    pictures: Path
    """Where the page looks for pictures."""

    @staticmethod
    def begin(stack: ExitStack) -> Shown:
        """Record into a folder that goes with ``stack``, and serve it at any free port of this machine."""
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="referee-demo-")))
        record = stack.enter_context(Record(folder / "record.db"))
        keeper = record.begin(datetime.now().astimezone().isoformat(timespec="seconds"))
        paging = Paging(folder, keeper)
        stack.callback(paging.close)
        pictures = folder / FRAMES
        page = PageProcess(record.path, folder, host="127.0.0.1", port=0, pictures=pictures)
        stack.callback(page.close)
        print(f"to correct something from the page, pair it with the code {paging.code()} (two minutes)", flush=True)
        return Shown(paging, keeper, pictures)

    @staticmethod
    def stay() -> None:
        """The game is over: keep its page until somebody says so, where there is somebody."""
        if sys.stdin.isatty():
            input("the page stays open; Enter ends it ")


__all__ = ["BridgeError", "PageProcess", "Paging", "Shown"]
