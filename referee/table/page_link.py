"""The referee's side of its page: keeps the page's process alive, wakes it, and does what people ask through it.

Both are services of the table (`referee.table.services`), in the main process. The page is a process of its own
(`referee.web`) that reads the record. Nothing here waits for it, and nothing that it does can stop the referee: a byte
without content says that there is something new, and what the page asks comes over a socket that is looked at once a
turn.
"""

from __future__ import annotations

import socket
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hardware.child import BackOff, child_environment, python_command
from hardware.clock import Clock, monotonic
from referee.announce.called import names_to_call
from referee.announce.phrases import NoWords
from referee.announce.sinks import Notice
from referee.announce.voice import announce, tell
from referee.control.commands import Command
from referee.control.facts import Facts
from referee.control.pad_words import NEXT, PAUSING, PadWords, Word, command_of, read_mode
from referee.control.page_address import page_address
from referee.control.pairing_code import Pairing
from referee.control.socket import ControlError, Desk, Inlet, obeying, private_folder
from referee.control.spoken_choices import ReadingOut, list_choices
from referee.control.typed_words import CODE
from referee.engine.observations import Observation
from referee.engine.rulings import Ruling
from referee.sentence import Sentence, told
from referee.table.seats import table_facts
from referee.table.services import ServedGame, TableService
from referee.text.answers import in_language
from referee.text.catalogue import texts
from referee.units import MS, SECOND

if TYPE_CHECKING:
    from hardware.ports import Edge
    from referee.settings.model import PageSettings, Settings
    from referee.table.game import Conductor
    from referee.table.orders import Orders

PAGE_SOCKET: Final = "page.sock"
_WAIT: Final = 3.0
"""Seconds that the process is given to end."""
WELL_AFTER: Final = 30 * SECOND
"""A process that lived so long had started well, ns."""
HUNG_AFTER: Final = 20
"""A page that was called for so many seconds, and has asked nothing, hangs; one that lives asks at each call."""


class PageProcess(TableService):
    """The page's process, started with the referee and started again where it has died or hangs."""

    name = "page process"

    def __init__(
        self, record: Path, folder: Path, listening: socket.socket, *, pictures: Path | None = None,
        start: Callable[[Sequence[str]], subprocess.Popen[bytes]] | None = None, clock: Clock = monotonic,
        is_unanswered: Callable[[], bool] = lambda: False, settings: PageSettings | None = None,
    ) -> None:  # fmt: skip
        """Start it; where the machine has no process to give, that is told and tried again.

        Args:
            record: the games.
            folder: of this boot, with the sockets.
            listening: the socket at which it is reached, by each process in its turn; closed with this.
            pictures: the file of frames, where pictures are switched on.
            start: starts a process, and raises `OSError` where none can be had; None: as a child of this one.
            clock: the present instant, ns.
            is_unanswered: whether the page was called in vain (`PageLink.is_unanswered`).
            settings: who may look, and by which proxies; None: everybody, by none.
        """
        self._command = [
            *python_command("referee"), "page", "--record", str(record), "--handed", str(listening.fileno()),
            "--listen", str(folder / PAGE_SOCKET), "--runtime", str(folder),
        ]  # fmt: skip
        if pictures is not None:
            self._command += ["--pictures", str(pictures)]
        if settings is not None:
            self._command += ["--https"] * settings.https + ["--only-paired"] * settings.only_paired
            self._command += [part for one in settings.proxies for part in ("--proxy", one)]
        self._listening = listening
        self.address = page_address(*listening.getsockname()[:2])
        self._start = start or self._spawn
        self._clock, self._is_unanswered = clock, is_unanswered
        self._back_off, self._unanswered = BackOff(steady=WELL_AFTER), 0
        self._due: int | None = None
        """When it is started again; None while it lives."""
        self._trouble = ""
        """Why there is no page; empty while there is one."""
        self._conductor: Conductor | None = None
        self._told, self._looked = "", 0
        self._began = clock()
        self._process: subprocess.Popen[bytes] | None = None
        self._begin(self._began)

    def _spawn(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, pass_fds=(self._listening.fileno(),), env=child_environment()
        )

    @property
    def standing(self) -> str:
        """The page's address, or why there is no page."""
        return self._trouble or Sentence("page: {address}", address=self.address.words)

    @property
    def pid(self) -> int | None:
        """The process that serves, or the last one that did; None where none could be started."""
        return None if self._process is None else self._process.pid

    def begin_game(self, game: ServedGame) -> None:
        """This is the game, on whose log troubles with the page are put from now on."""
        self._conductor, self._told, self._looked = game.conductor, "", 0

    def beat(self, now: int) -> None:
        """Once a second: is it there? The game is told what has changed."""
        if now - self._looked < SECOND:
            return
        self._looked = now
        self._keep_alive(self._clock())
        if self._trouble != self._told and self._conductor is not None:
            self._told = self._trouble
            if self._told:
                self._conductor.trouble("page", self._told)
            else:
                self._conductor.mended("page")

    def _begin(self, now: int) -> None:
        self._due, self._began, self._unanswered = None, now, 0
        try:
            self._process = self._start(self._command)
        except OSError as bad:
            self._process, self._due = None, self._back_off.fall(now)
            self._trouble = Sentence("the page cannot be started ({why}); it is tried again", why=bad.strerror or bad)

    def _keep_alive(self, now: int) -> None:
        if self._due is not None:
            if now >= self._due:
                self._begin(now)
            return
        if self._process is None:
            return
        code = self._process.poll()
        if code is not None:
            self._fall(Sentence("the page has ended (status {code})", code=code), now)
            return
        self._back_off.works(now)
        if now - self._began >= WELL_AFTER:
            self._trouble = ""
            self._unanswered = self._unanswered + 1 if self._is_unanswered() else 0
            if self._unanswered >= HUNG_AFTER:
                # One that is stopped heeds nothing else.
                self._process.kill()
                self._fall(Sentence("the page did not answer"), now)

    def _fall(self, words: str, now: int) -> None:
        self._due = self._back_off.fall(now)
        self._trouble = Sentence("{what}; it is started again", what=words)

    def close(self) -> None:
        """End it."""
        self._listening.close()
        if self._process is None:
            return
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_WAIT)
            return
        self._process.kill()
        self._process.wait()


_WAKE_EVERY: Final = 500 * MS
"""The page is woken at least so often, ns: by that it knows that the game is live."""
_HEARD: Final = 100 * MS
"""Edges are here by then, ns: hands that say words have time."""
PAIRING_CODE_NOTICE: Final = "pair_code"
"""The notice that is for the table alone."""
_CAPTIONS: Final = 5


class PageLink(TableService):
    """Wakes the page and does what it asks, game after game."""

    name = "page"

    def __init__(self, folder: Path, *, language: str = "en", orders: Orders | None = None) -> None:
        """Listen.

        Args:
            folder: holds the sockets.
            language: of the captions.
            orders: does what is no matter of the log; None: this table takes no orders.

        Raises:
            ControlError: the folder is somebody else's, or another referee listens there.
        """
        self._language, self._orders = language, orders
        self._page = str(private_folder(folder) / PAGE_SOCKET)
        self._bell = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._bell.setblocking(False)
        self._game: ServedGame | None = None
        self._alone: dict[str, Any] = {}
        """What the table is where it takes no orders, read once: this loop answers hands."""
        self.stays = orders is not None
        if orders is not None:
            orders.pause = self.pause
        self._captions: deque[tuple[int, str, bool]] = deque(maxlen=_CAPTIONS)
        self._captioned = 0
        self._woken = 0
        self._fresh = False
        self._calls = 0
        """How often the page was woken since it asked how the table is; one that lives asks at once."""
        self._words: PadWords | None = None
        self._reading = ReadingOut()
        self._seen = 0
        self._paused = False
        self.pairing = Pairing()
        obey = obeying(self._facts, self._name, self._observe, orders or _no_orders)
        self._desk = Desk(self.pairing, obey, state=self.state)
        self._inlet: Inlet | None = Inlet(folder, self._desk)

    def begin_game(self, game: ServedGame) -> None:
        """This is the game from now on, and nothing of another one is told any more."""
        self._game, self._calls = game, 0
        self._words, self._reading = PadWords(game.conductor.seats), ReadingOut()
        self._woken, self._fresh, self._seen, self._paused = game.now() - _WAKE_EVERY, True, 0, False
        self._alone = table_facts(game.settings) if self._orders is None else {}

    @property
    def is_unanswered(self) -> bool:
        """Whether the page was woken again before it had asked anything."""
        return self._calls > 1

    def state(self) -> dict[str, Any]:
        """What the page shows and the record does not hold, as it asks for it over the control socket.

        ``troubles``: what is not well, by part, as `referee.sentence.told` tells it; ``paused``: whether the game is;
        ``captions``: the latest phrases as they were spoken, each with its number and whether it is a verdict, in
        ``language``; ``about``: the table itself, so that the page offers what it can do
        (`referee.table.orders.Orders.about`), where it takes no orders what it is alone; None without a game.
        """
        game, self._calls = self._game, 0
        return {
            "troubles": {} if game is None else {part: told(words) for part, words in game.conductor.troubles.items()},
            "paused": game is not None and game.conductor.paused,
            "captions": list(self._captions),
            "language": self._language,
            "about": None if game is None else self._about(game.settings),
        }

    def _about(self, settings: Settings) -> dict[str, Any]:
        return self._alone if self._orders is None else self._orders.about(settings)

    def pause(self) -> None:
        """As if people had asked for it; nothing where the game is paused already."""
        self._desk({"do": "pause"})

    def take_rulings(self, rulings: Sequence[Ruling]) -> None:
        """Caption rulings as soon as they are decided."""
        self._caption(*((one.text, one.urgent) for one in announce(rulings, self._language, self._called())))

    def take_notice(self, notice: Notice) -> None:
        """Caption what the appliance itself has to say."""
        if notice.what == PAIRING_CODE_NOTICE:
            return
        try:
            # What the voice says, for those who do not hear; what is amiss in detail stands among the troubles.
            said = tell(notice.what, notice.t, self._language, names=self._called(), **notice.fields)
        except NoWords:
            self._caption((notice.words, False))
        else:
            self._caption((said.text, said.urgent))

    def _called(self) -> Mapping[int, str]:
        """The names of the table's people, as far as the voice may call them by these."""
        return {} if self._game is None else names_to_call([seat.name for seat in self._game.settings.seats])

    def _caption(self, *spoken: tuple[str, bool]) -> None:
        for text, verdict in spoken:
            self._captioned += 1
            self._captions.append((self._captioned, text, verdict))
        self._fresh = True

    def beat(self, now: int) -> None:
        """See `TableService`; never raises."""
        if self._inlet is not None:
            self._inlet.turn()
        self._listen_to_hands(now - _HEARD)
        if (self._fresh or now - self._woken >= _WAKE_EVERY) and self._game is not None and self._game.number():
            self._woken, self._fresh, self._calls = now, False, self._calls + 1
            # A page that is not there, or is slow, looks into the record when it can.
            with suppress(OSError):
                self._bell.sendto(b"\0", self._page)

    def take_edge(self, edge: Edge) -> None:
        """A raw edge of a pad: hands can say words, too, but not those that come too late to be an answer."""
        if self._words is not None and not edge.late:
            self._heed(self._words.feed(edge))

    def code(self) -> str:
        """A pairing code, for the table alone to show."""
        return self.pairing.show(monotonic())

    @property
    def standing(self) -> str:
        """The pairing code while one lives, for those who see this terminal, and how to have another."""
        digits = self.pairing.shown(monotonic())
        if digits:
            return Sentence('code to pair a device: {digits} (type "{code}" for another)', digits=digits, code=CODE)
        return Sentence('type "{code}" for a code to pair a device', code=CODE)

    def _heed(self, words: Sequence[Word]) -> None:
        for word in words:
            if word.word == CODE:
                self.show_code()
            elif self._orders is None or not self._orders.hear(word.word):
                facts = self._facts()
                if facts is not None and not self._read_out(word, facts):
                    self._obey_word(command_of(word, facts), facts)

    def _read_out(self, word: Word, facts: Facts) -> bool:
        """A tap reads out the next thing that may be said; yes says it, no goes on. Whether the word was for that."""
        if self._game is None or word.word not in (NEXT, "yes", "no"):
            return False
        if word.word != NEXT and not self._reading.is_open(word.since):
            return False
        chosen = self._reading.say_yes(word.since) if word.word == "yes" else None
        if chosen is not None and chosen.ask is not None:
            if self._obey_word(dict(chosen.ask), facts) and chosen.ask["do"] in ("answer", "settings"):
                # Of a correction and of another game more is said than that.
                self._tell("done")
            return True
        about = None if self._orders is None else self._orders.about(self._game.settings)["voice"]
        choices = list_choices(facts, self._game.conductor.foresight, about)
        if (said := self._reading.move_on(choices, word.t)) is not None:
            self._tell(said.what, said.fields)
        return True

    def _obey_word(self, asked: Mapping[str, Any] | None, facts: Facts) -> bool:
        """Do what pads ask for; whether it is done. That it is not is said in a word."""
        if asked is None:
            return False
        done = self._desk(asked)
        self._caption((in_language(done, texts(self._language), facts.view.names)["words"], False))
        if not done["accepted"]:
            self._tell("refused")
        return bool(done["accepted"])

    def _tell(self, spoken: str, fields: Mapping[str, Any] | None = None) -> None:
        """Tell something at the table, where there are words for it."""
        game = self._game
        if game is None:
            return
        with suppress(NoWords):
            now, shown = game.conductor.watermark, fields or {}
            said = tell(spoken, now, names=self._called(), **shown).text
            game.conductor.tell(Notice(spoken, now, said, shown))

    def show_code(self) -> None:
        """Say a pairing code at the table, or show it where there is no voice; page and log never have it."""
        game = self._game
        if game is not None:
            digits, words = self.code(), Sentence("the code to pair a device is spoken")
            if game.speaker is None:
                words = Sentence("code to pair a device: {digits} (two minutes)", digits=digits)
            game.conductor.tell(Notice(PAIRING_CODE_NOTICE, game.conductor.watermark, words, {"digits": digits}))

    def _listen_to_hands(self, now: int) -> None:
        if self._words is None or self._game is None:
            return
        log = self._game.conductor.observations
        if len(log) != self._seen:
            # A long log is not looked through for each card that is laid: this is the loop that answers hands.
            new, self._seen = log[self._seen :], len(log)
            facts = self._facts()
            if facts is not None and any(isinstance(line, PAUSING) for line in new):
                self._paused = facts.log.pause.is_stopped
            game = self._game.conductor
            self._words.change(read_mode(game.view, game.rulings, paused=self._paused))
        self._heed(self._words.advance(now))

    def close(self) -> None:
        """Listen no more."""
        if self._inlet is not None:
            self._inlet.close()
            self._inlet = None
        self._bell.close()

    def _facts(self) -> Facts | None:
        return None if self._game is None else self._game.facts()

    def _name(self, kind: str) -> str:
        if self._game is None:
            raise ControlError("no game is being played")
        return self._game.conductor.new_id(kind)

    def _observe(self, *lines: Observation) -> None:
        if self._game is not None:
            self._game.conductor.said(*lines)
            self._fresh = True


def _no_orders(command: Command) -> str:
    return Sentence("this table cannot do that ({command})", command=command.do)
