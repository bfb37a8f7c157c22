"""The referee's side of its page: supervises the page's process, wakes it, and carries out its requests.

Both classes are services of the table (`referee.table.services`), in the main process. The page is a separate process
(`referee.web`) that reads the record. Nothing here waits for it, and nothing that it does can stop the referee: an
empty datagram wakes the page, and its requests come over a socket that is read once a turn.
"""

from __future__ import annotations

import socket
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hardware.child import BackOff, start_python
from hardware.clock import Clock, monotonic
from referee.announce.phrases import NoWords
from referee.announce.sinks import Notice
from referee.announce.spoken_names import names_to_call
from referee.announce.voice import announce, tell
from referee.control.commands import Command
from referee.control.facts import Facts
from referee.control.pad_words import NEXT, PAUSING, PadWords, Word, command_of, read_mode
from referee.control.page_address import address_of
from referee.control.pairing_code import Pairing
from referee.control.socket import CommandDispatcher, ControlError, ControlServer, make_handler, private_folder
from referee.control.spoken_choices import ReadingOut, list_choices
from referee.control.typed_words import CODE
from referee.engine.observations import Observation
from referee.engine.rulings import Ruling
from referee.sentence import Sentence, to_json
from referee.table.seats import table_facts
from referee.table.services import GameContext, TableService
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
"""Seconds that the process has to end by itself."""
WELL_AFTER: Final = 30 * SECOND
"""A process that has run this long is considered healthy, ns."""
HUNG_AFTER: Final = 20
"""Seconds without a request after which a page that is being woken is considered hung; a live one asks at each wake."""


class PageProcess(TableService):
    """The page's process: started with the referee, and restarted if it dies or hangs."""

    name = "page process"

    def __init__(
        self, record: Path, folder: Path, listening: socket.socket, *, pictures: Path | None = None,
        start: Callable[[Sequence[str]], subprocess.Popen[bytes]] | None = None, clock: Clock = monotonic,
        is_unanswered: Callable[[], bool] = lambda: False, settings: PageSettings | None = None,
        settings_file: Path | None = None,
    ) -> None:  # fmt: skip
        """Start it; if no process can be had, that is reported and tried again.

        Args:
            record: the games.
            folder: of this boot, with the sockets.
            listening: the page's listening socket, inherited by each process in turn; closed together with this
                service.
            pictures: the file of frames, if pictures are switched on.
            start: starts a process with arguments, and raises `OSError` if it cannot; None: as a child of this one.
            clock: returns the present instant, ns.
            is_unanswered: whether the page was woken in vain (`PageLink.is_unanswered`).
            settings: who may view, and through which proxies; None: anyone, without proxies.
            settings_file: the table's, for a backup; None: those that commands find.
        """
        self._arguments = [
            "page", "--record", str(record), "--handed", str(listening.fileno()), "--listen", str(folder / PAGE_SOCKET),
            "--runtime", str(folder),
        ]  # fmt: skip
        if pictures is not None:
            self._arguments += ["--pictures", str(pictures)]
        if settings_file is not None:
            self._arguments += ["--settings", str(settings_file)]
        if settings is not None:
            self._arguments += ["--https"] * settings.https + ["--only-paired"] * settings.only_paired
            self._arguments += ["--no-replays"] * (not settings.replays)
            self._arguments += [part for proxy in settings.proxies for part in ("--proxy", proxy)]
        self._listening = listening
        self.address = address_of(listening)
        self._start = start or self._spawn
        self._clock, self._is_unanswered = clock, is_unanswered
        self._back_off, self._unanswered = BackOff(steady=WELL_AFTER), 0
        self._trouble = ""
        """Why there is no page; empty while there is one."""
        self._conductor: Conductor | None = None
        self._told, self._looked = "", 0
        self._began = clock()
        self._process: subprocess.Popen[bytes] | None = None
        self._begin(self._began)

    def _spawn(self, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        return start_python("referee", *arguments, files=(self._listening.fileno(),))

    @property
    def standing(self) -> str:
        """The page's address, or why there is no page."""
        return self._trouble or Sentence("page: {address}", address=self.address.words)

    @property
    def pid(self) -> int | None:
        """Id of the serving process, or of the last one; None if none could be started."""
        return None if self._process is None else self._process.pid

    def begin_game(self, game: GameContext) -> None:
        """Log troubles with the page in this game from now on."""
        self._conductor, self._told, self._looked = game.conductor, "", 0

    def beat(self, now: int) -> None:
        """Check the process once a second, and report any change to the game."""
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
        self._began, self._unanswered = now, 0
        self._back_off.begin()
        try:
            self._process = self._start(self._arguments)
        except OSError as error:
            self._process = None
            self._back_off.fall(now)
            self._trouble = Sentence(
                "the page cannot be started ({why}); it is tried again", why=error.strerror or error
            )

    def _keep_alive(self, now: int) -> None:
        if self._back_off.due is not None:
            if self._back_off.is_due(now):
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
                # A stopped process ignores any signal but this one.
                self._process.kill()
                self._fall(Sentence("the page did not answer"), now)

    def _fall(self, words: str, now: int) -> None:
        self._back_off.fall(now)
        self._trouble = Sentence("{what}; it is started again", what=words)

    def close(self) -> None:
        """End the process."""
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
"""Longest time between two wakes of the page, ns: it takes them as the sign that the game is live."""
_HEARD: Final = 100 * MS
"""Age at which edges are sure to have arrived, ns: hands that say words are not urgent."""
PAIRING_CODE_NOTICE: Final = "pair_code"
"""The notice that only the table may see."""
_CAPTIONS: Final = 5


class PageLink(TableService):
    """Wakes the page and carries out its requests, game after game."""

    name = "page"

    def __init__(self, folder: Path, *, language: str = "en", orders: Orders | None = None) -> None:
        """Listen.

        Args:
            folder: holds the sockets.
            language: of the captions.
            orders: carries out requests that do not concern the log; None: this table takes no orders.

        Raises:
            ControlError: the folder belongs to another user, or another referee listens there.
        """
        self._language, self._orders = language, orders
        self._page = str(private_folder(folder) / PAGE_SOCKET)
        self._bell = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._bell.setblocking(False)
        self._game: GameContext | None = None
        self._alone: dict[str, Any] = {}
        """The table's facts if it takes no orders, computed once: this loop must stay quick."""
        self.stays = orders is not None
        if orders is not None:
            orders.pause = self.pause
        self._captions: deque[tuple[int, str, bool]] = deque(maxlen=_CAPTIONS)
        self._captioned = 0
        self._woken = 0
        self._fresh = False
        self._calls = 0
        """Number of wakes since the page last asked for the state; a live one asks at once."""
        self._words: PadWords | None = None
        self._reading = ReadingOut()
        self._seen = 0
        self._paused = False
        self.pairing = Pairing()
        obey = make_handler(self._facts, self._name, self._observe, orders or _no_orders)
        self._desk = CommandDispatcher(self.pairing, obey, state=self.state)
        self._inlet: ControlServer | None = ControlServer(folder, self._desk, waits=self._is_saving)

    def begin_game(self, game: GameContext) -> None:
        """Follow this game from now on, and drop everything of the previous one."""
        self._game, self._calls = game, 0
        self._words, self._reading = PadWords(game.conductor.seats), ReadingOut()
        self._woken, self._fresh, self._seen, self._paused = game.now() - _WAKE_EVERY, True, 0, False
        self._alone = table_facts(game.settings) if self._orders is None else {}

    @property
    def is_unanswered(self) -> bool:
        """Whether the page was woken again without having asked for anything."""
        return self._calls > 1

    def state(self) -> dict[str, Any]:
        """Return what the page shows but the record does not hold; the page asks for it over the control socket.

        ``troubles``: problems by part, in the form of `referee.sentence.to_json`; ``paused``: whether the game is
        paused; ``captions``: the latest spoken phrases, each with its number and whether it is a verdict, in
        ``language``;
        ``about``: the table itself, so that the page offers only what the table can do
        (`referee.table.orders.Orders.about`, or only its facts if it takes no orders); None without a game.
        """
        game, self._calls = self._game, 0
        return {
            "troubles": {}
            if game is None
            else {part: to_json(words) for part, words in game.conductor.troubles.items()},
            "paused": game is not None and game.conductor.paused,
            "captions": list(self._captions),
            "language": self._language,
            "about": None if game is None else self._about(game.settings),
        }

    def _about(self, settings: Settings) -> dict[str, Any]:
        return self._alone if self._orders is None else self._orders.about(settings)

    def pause(self) -> None:
        """Pause the game as if people had asked for it; a no-op if it is paused already."""
        self._desk({"do": "pause"})

    def take_rulings(self, rulings: Sequence[Ruling]) -> None:
        """Caption rulings as soon as they are decided."""
        self._caption(*((phrase.text, phrase.urgent) for phrase in announce(rulings, self._language, self._called())))

    def take_notice(self, notice: Notice) -> None:
        """Caption the appliance's own notices."""
        if notice.what == PAIRING_CODE_NOTICE:
            return
        try:
            # Caption what the voice says, for those who do not hear; the details are listed among the troubles.
            said = tell(notice.what, notice.t, self._language, names=self._called(), **notice.fields)
        except NoWords:
            self._caption((in_language(to_json(notice.words), texts(self._language))["words"], False))
        else:
            self._caption((said.text, said.urgent))

    def _called(self) -> Mapping[int, str]:
        """Return the names by which the voice may call the people at this table."""
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
            # A missing or slow page reads the record when it can.
            with suppress(OSError):
                self._bell.sendto(b"\0", self._page)

    def take_edge(self, edge: Edge) -> None:
        """Take a raw edge of a pad: hands can say words, too. Edges that come too late for an answer are ignored."""
        if self._words is not None and not edge.late:
            self._heed(self._words.feed(edge))

    def code(self) -> str:
        """Return a pairing code, which only the table may show."""
        return self.pairing.show(monotonic())

    @property
    def standing(self) -> str:
        """The valid pairing code, if there is one, for those who see this terminal, and how to get another."""
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
        """Read out the next option on a tap; yes chooses it, no skips it. Return whether the word was for this."""
        if self._game is None or word.word not in (NEXT, "yes", "no"):
            return False
        if word.word != NEXT and not self._reading.is_open(word.since):
            return False
        chosen = self._reading.say_yes(word.since) if word.word == "yes" else None
        if chosen is not None and chosen.ask is not None:
            if self._obey_word(dict(chosen.ask), facts) and chosen.ask["do"] in ("answer", "settings"):
                # A correction or another game is announced by its own notice.
                self._tell("done")
            return True
        about = None if self._orders is None else self._orders.about(self._game.settings)["voice"]
        choices = list_choices(facts, self._game.conductor.foresight, about)
        if (said := self._reading.move_on(choices, word.t)) is not None:
            self._tell(said.what, said.fields)
        return True

    def _obey_word(self, asked: Mapping[str, Any] | None, facts: Facts) -> bool:
        """Carry out what the pads ask for; return whether it was done. A refusal is announced."""
        if asked is None:
            return False
        done = self._desk(asked)
        self._caption((in_language(done, texts(self._language), facts.view.names)["words"], False))
        if not done["accepted"]:
            self._tell("refused")
        return bool(done["accepted"])

    def _tell(self, spoken: str, fields: Mapping[str, Any] | None = None) -> None:
        """Announce something at the table, if there are words for it."""
        game = self._game
        if game is None:
            return
        with suppress(NoWords):
            now, shown = game.conductor.watermark, fields or {}
            said = tell(spoken, now, names=self._called(), **shown).text
            game.conductor.tell(Notice(spoken, now, said, shown))

    def show_code(self) -> None:
        """Say a pairing code at the table, or show it if there is no voice; page and log never receive it."""
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
            # Look only at new lines: this loop must stay quick however long the log is.
            new, self._seen = log[self._seen :], len(log)
            facts = self._facts()
            if facts is not None and any(isinstance(line, PAUSING) for line in new):
                self._paused = facts.log.pause.is_stopped
            game = self._game.conductor
            self._words.change(read_mode(game.view, game.rulings, paused=self._paused))
        self._heed(self._words.advance(now))

    def close(self) -> None:
        """Stop listening."""
        if self._inlet is not None:
            self._inlet.close()
            self._inlet = None
        self._bell.close()

    def _is_saving(self) -> bool:
        return self._game is not None and self._game.conductor.is_saving

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
