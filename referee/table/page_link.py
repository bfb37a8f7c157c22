"""The referee's side of its page: what is new is told to it, and what is asked through it is done.

The page is a process of its own (`referee.app.page`). Nothing here waits for it, and nothing that it does can stop the
referee: news goes as one datagram, commands come over a socket that is looked at once a turn.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from hardware.clock import monotonic
from referee.adjudication.observations import Observation
from referee.adjudication.rulings import Ruling, ruling_fields
from referee.app.commands import Command
from referee.app.conductor import Conductor
from referee.app.desk import Desk, obeying
from referee.app.notices import Notice
from referee.app.ordering import Orders
from referee.app.outcomes import Facts
from referee.app.padcommands import PAUSING, command_of, is_paused, mode_in
from referee.app.padwords import PadWords, Word
from referee.app.page.answerwords import in_language
from referee.app.page.bridge import BridgeError, Inlet, private
from referee.app.page.pairing import Pairing
from referee.app.page.publishing import Publisher, news
from referee.app.page.texts import texts
from referee.app.page_process import SOCKET, PageProcess
from referee.app.phrases.language import NoWords
from referee.app.record import Keeper, Record
from referee.app.record_frames import FRAMES
from referee.app.sentences import Sentence
from referee.app.voice import announce, tell

if TYPE_CHECKING:
    from hardware.ports import Edge

EVERY: Final = 500_000_000
"""The page is told at least so often, ns."""
HEARD: Final = 100_000_000
"""Edges are here by then, ns: hands that say words have time."""
SECRET: Final = "pair_code"
"""The notice that is for the table alone."""
_KEPT: Final = 20


class Paging:
    """News out, commands in, game after game: `follow` names the one that is on."""

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
        self._keeper: Keeper | None = None
        self._about: Callable[[], Mapping[str, Any] | None] = lambda: None
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
        self._desk = Desk(self.pairing, obeying(self._facts, self._name, self._observe, orders or _no_orders))
        self._inlet: Inlet | None = Inlet(folder, self._desk)

    def follow(
        self, conductor: Conductor, keeper: Keeper, now: Callable[[], int],
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
        self._early.clear()
        self._told, self._fresh, self._seen, self._paused = now() - EVERY, True, 0, False

    @property
    def playing(self) -> bool:
        """Whether a game is on."""
        return self._conductor is not None and not self._conductor.view.game_over

    @property
    def now(self) -> int:
        """The present instant on the game's line of time, ns."""
        return self._now()

    def pause(self) -> None:
        """As if people had asked for it; nothing where the game is paused already."""
        self._desk({"do": "pause"})

    def tell_table(self, notice: Notice) -> None:
        """Have something told at the table."""
        if self._conductor is not None:
            self._conductor.tell(notice)

    def __call__(self, rulings: Sequence[Ruling]) -> None:
        """Outlet: rulings as soon as they are decided."""
        self._early.update((ruling.id, ruling) for ruling in rulings)
        self._said.extend(phrase.text for phrase in announce(rulings, self._language))
        self._fresh = True

    def tell(self, notice: Notice) -> None:
        """Teller: what the appliance itself has to say."""
        if notice.what == SECRET:
            return
        try:
            # What the voice says, for those who do not hear; what is amiss in detail stands among the troubles.
            self._said.append(tell(notice.what, notice.t, self._language, **notice.fields).text)
        except NoWords:
            self._said.append(notice.words)
        self._fresh = True

    def turn(self, now: int) -> None:
        """Once in each turn of the loop; ``now`` on the game's line of time, ns. Never waits, never raises."""
        if self._inlet is not None:
            self._inlet.turn()
        self._listen_to_hands(now - HEARD)
        if self._orders is not None:
            self._orders.turn(now)
        if self._fresh or now - self._told >= EVERY:
            self._publish(now)

    def _publish(self, now: int) -> None:
        if self._conductor is None or self._keeper is None or self._keeper.game is None:
            return
        self._told, self._fresh = now, False
        final = {ruling.id for ruling in self._conductor.rulings[-4 * _KEPT :]}
        self._early = {name: ruling for name, ruling in self._early.items() if name not in final}
        said, self._said = list(self._said), deque(maxlen=_KEPT)
        self._publisher.tell(
            news(
                self._keeper.game, self._keeper.written, self._conductor.view, now=now, said=said,
                troubles=self._conductor.troubles, paused=self._conductor.paused,
                rulings=[ruling_fields(ruling) for ruling in self._early.values()], about=self._about(),
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
            if self._orders is not None and self._orders.hear(word.word):
                continue
            facts = self._facts()
            asked = command_of(word, facts) if facts is not None else None
            if asked is not None:
                done = self._desk(asked)
                names = self._conductor.view.names if self._conductor is not None else ()
                self._said.append(in_language(done, texts(self._language), names)["words"])

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
    keeper: Keeper
    pictures: Path
    """Where the page looks for pictures."""

    @staticmethod
    def begin(stack: ExitStack) -> Shown:
        """Record into a folder that goes with ``stack``, and serve it at any free port of this machine."""
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="referee-demo-")))
        record = stack.enter_context(Record(folder / "record.db"))
        keeper = record.begin(datetime.now().astimezone().isoformat(timespec="seconds"))
        paging = Paging(folder)
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


__all__ = ["SOCKET", "BridgeError", "Paging", "Shown"]
