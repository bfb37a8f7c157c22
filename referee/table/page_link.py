"""The referee's side of its page: keeps the page's process alive, wakes it, and does what people ask through it.

Called by the table's loop, in the main process. The page is a process of its own (`referee.web`) that reads the record.
Nothing here waits for it, and nothing that it does can stop the referee: a byte without content says that there is
something new, and what the page asks comes over a socket that is looked at once a turn.
"""

from __future__ import annotations

import select
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from hardware.clock import Clock, monotonic, wall_now
from referee.announce.phrases import NoWords
from referee.announce.sinks import Notice
from referee.announce.voice import announce, tell
from referee.control.commands import Command
from referee.control.corrections import Facts
from referee.control.pad_words import PAUSING, PadWords, Word, command_of, is_paused, mode_in
from referee.control.pairing_code import Pairing
from referee.control.socket import BridgeError, Desk, Inlet, obeying, private_folder
from referee.engine.observations import Observation
from referee.engine.rulings import Ruling
from referee.record.pictures import FRAMES_FILE
from referee.record.store import GameWriter, Record
from referee.table.game import Conductor
from referee.table.orders import Orders
from referee.text.answers import in_language
from referee.text.catalogue import texts
from referee.text.sentence import Sentence
from referee.units import MS, SECOND

if TYPE_CHECKING:
    from hardware.ports import Edge

PAGE_SOCKET: Final = "page.sock"
_WAIT: Final = 3.0
"""Seconds that the process is given to end."""
WELL_AFTER: Final = 30 * SECOND
"""A process that lived so long had started well, ns."""
RESTARTS: Final = (1, 5, 15)
"""Seconds before the first, second ... restart in a row; after the last one that fails nobody tries any more."""


class PageProcess:
    """The page's process, started with the referee and started again where it has died.

    Implements `referee.table.loop.FirstHand`, to be turned with the loop of the game that it follows.
    """

    def __init__(
        self, record: Path, folder: Path, *, host: str, port: int, pictures: Path | None = None,
        start: Callable[[Sequence[str]], subprocess.Popen[bytes]] | None = None, clock: Clock = monotonic,
    ) -> None:  # fmt: skip
        """Start it; its address is printed by itself once it can be reached.

        Args:
            record: the games.
            folder: of this boot, with the sockets.
            host: address to listen at.
            port: 0 for any free one.
            pictures: the file of frames, where pictures are switched on.
            start: starts a process; None: as a child of this one.
            clock: the present instant, ns.
        """
        self._command = [
            sys.executable, "-m", "referee", "page", "--record", str(record), "--host", host,
            "--port", str(port), "--listen", str(folder / PAGE_SOCKET), "--runtime", str(folder),
        ]  # fmt: skip
        if pictures is not None:
            self._command += ["--pictures", str(pictures)]
        self._start = start or (lambda command: subprocess.Popen(command, stdin=subprocess.DEVNULL))
        self._clock = clock
        self._falls = 0
        self._due: int | None = None
        """When it is started again; None while it lives, and once nobody tries any more."""
        self._trouble = ""
        """Why there is no page; empty while there is one."""
        self._conductor: Conductor | None = None
        self._told, self._looked = "", 0
        self._began = clock()
        self._process = self._start(self._command)

    def follow(self, conductor: Conductor) -> None:
        """This is the game, on whose log troubles with the page are put from now on."""
        self._conductor, self._told, self._looked = conductor, "", 0

    def touch(self, touched: tuple[int, ...], now: int) -> None:
        """Once a second: is it there? The game is told what has changed."""
        del touched
        if now - self._looked < SECOND:
            return
        self._looked = now
        self._keep_alive()
        if self._trouble != self._told and self._conductor is not None:
            self._told = self._trouble
            if self._told:
                self._conductor.trouble("page", self._told)
            else:
                self._conductor.mended("page")

    def _keep_alive(self) -> None:
        now = self._clock()
        if self._due is not None:
            if now >= self._due:
                self._due, self._began = None, now
                self._process = self._start(self._command)
            return
        code = self._process.poll()
        if code is None:
            if now - self._began >= WELL_AFTER:
                self._falls, self._trouble = 0, ""
        elif self._falls <= len(RESTARTS):
            what = "it does not live; see what it printed, and start the referee again"
            if self._falls < len(RESTARTS):
                self._due = now + RESTARTS[self._falls] * SECOND
                what = "it is started again"
            self._falls += 1
            self._trouble = f"the page has ended (status {code}); {what}"

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_WAIT)
            return
        self._process.kill()
        self._process.wait()


WAKE_EVERY: Final = 500 * MS
"""The page is woken at least so often, ns: by that it knows that the game is live."""
_HEARD: Final = 100 * MS
"""Edges are here by then, ns: hands that say words have time."""
SECRET: Final = "pair_code"
"""The notice that is for the table alone."""
_CAPTIONS: Final = 5


class Paging:
    """Wakes the page and does what it asks, game after game: `follow` names the one that is on."""

    def __init__(self, folder: Path, *, language: str = "en", orders: Orders | None = None) -> None:
        """Listen.

        Args:
            folder: holds the sockets.
            language: of the captions.
            orders: does what is no matter of the log; None: this table takes no orders.

        Raises:
            BridgeError: the folder is somebody else's, or another referee listens there.
        """
        self._language, self._orders = language, orders
        self._page = str(private_folder(folder) / PAGE_SOCKET)
        self._bell = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._bell.setblocking(False)
        self._keeper: GameWriter | None = None
        self._conductor: Conductor | None = None
        self._about: Callable[[], Mapping[str, Any] | None] = lambda: None
        self._now: Callable[[], int] = lambda: 0
        self._show_code: Callable[[str], None] = lambda digits: None
        self._captions: deque[tuple[int, str]] = deque(maxlen=_CAPTIONS)
        self._captioned = 0
        self._woken = 0
        self._fresh = False
        self._words: PadWords | None = None
        self._seen = 0
        self._paused = False
        self.pairing = Pairing()
        obey = obeying(self._facts, self._name, self._observe, orders or _no_orders)
        self._desk = Desk(self.pairing, obey, state=self.state)
        self._inlet: Inlet | None = Inlet(folder, self._desk)

    def follow(
        self, conductor: Conductor, keeper: GameWriter, now: Callable[[], int],
        show_code: Callable[[str], None] | None = None, about: Callable[[], Mapping[str, Any] | None] | None = None,
    ) -> None:  # fmt: skip
        """This is the game from now on, and nothing of another one is told any more.

        Args:
            conductor: conducts it.
            keeper: writes it.
            now: answers the present instant on its line of time, ns.
            show_code: shows or speaks the digits of a pairing code at the table, and nowhere else.
            about: answers what the page must know to offer orders.
        """
        self._show_code, self._about = show_code or self._show_code, about or self._about
        self._conductor, self._keeper, self._now = conductor, keeper, now
        self._words = PadWords(conductor.seats)
        self._woken, self._fresh, self._seen, self._paused = now() - WAKE_EVERY, True, 0, False

    @property
    def playing(self) -> bool:
        """Whether a game is on."""
        return self._conductor is not None and not self._conductor.view.game_over

    @property
    def now(self) -> int:
        """The present instant on the game's line of time, ns."""
        return self._now()

    def state(self) -> dict[str, Any]:
        """What the page shows and the record does not hold, as it asks for it over the control socket.

        ``troubles``: what is not well, by part, in words; ``paused``: whether the game is; ``captions``: the latest
        phrases as they were spoken, each with its number; ``about``: the table itself, so that the page offers what it
        can do (`referee.table.orders.Orders.about`), or None.
        """
        game = self._conductor
        return {
            "troubles": dict(game.troubles) if game is not None else {},
            "paused": game is not None and game.paused,
            "captions": list(self._captions),
            "about": self._about(),
        }

    def pause(self) -> None:
        """As if people had asked for it; nothing where the game is paused already."""
        self._desk({"do": "pause"})

    def tell_table(self, notice: Notice) -> None:
        """Have something told at the table."""
        if self._conductor is not None:
            self._conductor.tell(notice)

    def __call__(self, rulings: Sequence[Ruling]) -> None:
        """Outlet: rulings as soon as they are decided."""
        self._caption(*(phrase.text for phrase in announce(rulings, self._language)))

    def tell(self, notice: Notice) -> None:
        """Teller: what the appliance itself has to say."""
        if notice.what == SECRET:
            return
        try:
            # What the voice says, for those who do not hear; what is amiss in detail stands among the troubles.
            self._caption(tell(notice.what, notice.t, self._language, **notice.fields).text)
        except NoWords:
            self._caption(notice.words)

    def _caption(self, *spoken: str) -> None:
        for text in spoken:
            self._captioned += 1
            self._captions.append((self._captioned, text))
        self._fresh = True

    def turn(self, now: int) -> None:
        """Once in each turn of the loop; ``now`` on the game's line of time, ns. Never waits, never raises."""
        if self._inlet is not None:
            self._inlet.turn()
        self._listen_to_hands(now - _HEARD)
        if self._orders is not None:
            self._orders.turn(now)
        if (self._fresh or now - self._woken >= WAKE_EVERY) and self._keeper is not None and self._keeper.game:
            self._woken, self._fresh = now, False
            # A page that is not there, or is slow, looks into the record when it can.
            with suppress(OSError):
                self._bell.sendto(b"\0", self._page)

    def touch(self, touched: tuple[int, ...], now: int) -> None:
        """Once in each turn of the loop; implements `referee.table.loop.FirstHand`."""
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
            if self._orders is not None and self._orders.hear(word.word):
                continue
            facts = self._facts()
            asked = command_of(word, facts) if facts is not None else None
            if asked is not None:
                done = self._desk(asked)
                names = self._conductor.view.names if self._conductor is not None else ()
                self._caption(in_language(done, texts(self._language), names)["words"])

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
        self._bell.close()

    def _facts(self) -> Facts | None:
        game = self._conductor
        if game is None:
            return None
        number = self._keeper.game if self._keeper is not None else None
        return Facts(game.observations, game.rulings, game.view, self._now(), game.watermark, number)

    def _name(self, kind: str) -> str:
        if self._conductor is None:
            raise BridgeError("no game is being played")
        return self._conductor.new_id(kind)

    def _observe(self, line: Observation) -> None:
        if self._conductor is not None:
            self._conductor.said(line)
            self._fresh = True


def _no_orders(command: Command) -> str:
    return Sentence("this table cannot do that ({command})", command=command.do)


@dataclass(frozen=True, slots=True)
class Shown:
    """A game that is recorded for as long as its page is looked at, as at the simulated table."""

    paging: Paging
    keeper: GameWriter
    pictures: Path
    """Where the page looks for pictures."""

    @staticmethod
    def begin(stack: ExitStack) -> Shown:
        """Record into a folder that goes with ``stack``, and serve it at any free port of this machine."""
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="referee-demo-")))
        record = stack.enter_context(Record(folder / "record.db"))
        keeper = record.begin(wall_now())
        paging = Paging(folder)
        stack.callback(paging.close)
        pictures = folder / FRAMES_FILE
        page = PageProcess(record.path, folder, host="127.0.0.1", port=0, pictures=pictures)
        stack.callback(page.close)
        print(f"to correct something from the page, pair it with the code {paging.code()} (two minutes)", flush=True)
        return Shown(paging, keeper, pictures)

    def stay(self) -> None:
        """The game is over: keep its page until somebody says so, where there is somebody."""
        if not sys.stdin.isatty():
            return
        print("the page stays open; Enter ends it ", end="", flush=True)
        while not select.select([sys.stdin], [], [], 0.05)[0]:
            self.paging.turn(self.paging.now)
        sys.stdin.readline()


__all__ = ["PAGE_SOCKET", "BridgeError", "Paging", "Shown"]
