"""Orders that people give to the appliance itself: another game, the record, the voice, the power.

`referee.control.corrections` has checked that an order fits the moment; it is carried out here, between two turns of
the loop. A new game and switching off do not happen at once: the loop is asked to leave (`Orders.leaves`), everything
is closed in order, and `referee.table.session` goes on from there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hardware.clock import wall_now
from hardware.sound.volume import VolumeError
from referee.announce.sinks import ANOTHER_GAME, Notice
from referee.announce.volume_choice import VOICE_FIELDS, VoiceChoice, chosen_fields, volume_in
from referee.control.commands import Command
from referee.control.seat_codes import call_in
from referee.record.database import RecordError
from referee.record.erasure import erase_game
from referee.record.people import People, PeopleError
from referee.record.store import Record
from referee.sentence import Sentence
from referee.settings.model import Settings, VoiceSettings
from referee.table.power_off import PowerOff, PowerOrder, PowerState, PowerStep
from referee.table.seats import GameSetup, table_facts
from referee.table.services import GameContext, TableService

OFF_ASK: Final = "off_ask"
OFF_STAYS: Final = "off_stays"
OFF: Final = "off"
SPOKEN: Final[Mapping[PowerStep, str]] = {
    PowerStep.ASK: OFF_ASK,
    PowerStep.STAY: OFF_STAYS,
    PowerStep.SWITCH_OFF: OFF,
    PowerStep.CLOSE: OFF,
}
"""The notice that announces a step towards switching off."""
_JOIN: Final = 60.0
"""Longest time that the next game waits for the removal of another, s."""


class Orders(TableService):
    """Takes orders for as long as the program runs, game after game."""

    name = "orders"
    needs_record = False

    def __init__(
        self, settings: Settings, *, chosen: VoiceChoice | None = None, may_switch_off: bool = False,
        folder: Path | None = None,
    ) -> None:  # fmt: skip
        """Begin with no order.

        Args:
            settings: the table's, as in its file.
            chosen: keeps what people choose for the voice; None: it is not kept.
            may_switch_off: whether this machine is the table's own, not a person's computer.
            folder: of this boot, with the seats' codes; None: no pad is a page.
        """
        self._settings, self._chosen, self._folder = settings, chosen, folder
        self.may_switch_off = may_switch_off
        self.next: GameSetup | None = None
        """Players and rules of the next game; None until one is ordered."""
        self._power = PowerOff()
        self._game: GameContext | None = None
        self.pause: Callable[[], None] | None = None
        """Pauses the game as people do; set by the page's link. None if no orders can be given."""
        self.voice: VoiceSettings = chosen.applied_to(settings.voice) if chosen is not None else settings.voice
        """The voice's present settings."""
        self._removing: threading.Thread | None = None
        self._facts_of: tuple[Settings, dict[str, Any]] | None = None
        self.switches_off = False
        """Whether to close everything and switch the machine off."""
        self.removal = ""
        """Why the last removal of a game failed; empty if it did not."""

    @property
    def leaves(self) -> bool:
        """Whether the loop is to leave this game."""
        return self.next is not None or self.switches_off

    def prepare(self, settings: Settings) -> Settings:
        """Wait for a running removal, since the next game must find the record free; apply the chosen voice."""
        if self._removing is not None:
            self._removing.join(_JOIN)
        return settings.model_copy(update={"voice": self.voice})

    def note_over(self) -> None:
        """See `TableService`."""
        if self._game is not None and self.pause is not None:
            words = "another game: two taps on a pad, or from the page"
            self._game.conductor.tell(Notice(ANOTHER_GAME, self._game.now(), words))

    def begin_game(self, game: GameContext) -> None:
        """Follow this game from now on; its record is used on this thread."""
        self._game = game
        self.next, self.switches_off = None, False

    @property
    def _record(self) -> Record | None:
        return self._game.record if self._game is not None else None

    @property
    def _is_playing(self) -> bool:
        return self._game is not None and not self._game.conductor.view.game_over

    def about(self, present: Settings) -> dict[str, Any]:
        """Return what the page needs to offer orders.

        Args:
            present: the settings of the game that is on.
        """
        # Cached: they stay the same all through a game, and are asked for several times a second.
        if self._facts_of is None or self._facts_of[0] is not present:
            self._facts_of = present, table_facts(present)
        return {
            "pads": len(self._settings.seats),
            "names": [seat.name for seat in present.seats],
            "rules": present.played_rules,
            "voice": chosen_fields(self.voice) if self._game is not None and self._game.speaker is not None else None,
            "power_off": self.may_switch_off,
            **self._facts_of[1],
        }

    def __call__(self, order: Command) -> str:
        """Carry out an order; return why it cannot be done, empty if it is."""
        return _DO[order.do](self, order)

    def begin(self, order: Command) -> str:
        """Order another game."""
        many = len(order.get("seats"))
        if many > len(self._settings.seats):
            return Sentence(
                "{many} cannot play here: there are {pads} pads; referee setup adds more",
                many=many, pads=len(self._settings.seats),
            )  # fmt: skip
        self.next = GameSetup.asked(order)
        return ""

    def keep(self, order: Command) -> str:
        """Set whether a game may be removed to make room."""
        try:
            unknown = self._unknown(order.get("game"))
            if self._record is not None and not unknown:
                self._record.keep(order.get("game"), order.get("keep"))
        except RecordError as error:
            return str(error)
        return unknown

    def _unknown(self, game: int) -> str:
        """Return why a game cannot be handled; empty if it can. Raises `RecordError`."""
        if self._record is None:
            return Sentence("no games are recorded at this table")
        there = any(info.id == game for info in self._record.games())
        return "" if there else Sentence("there is no game {game}", game=game)

    def remove(self, order: Command) -> str:
        """Remove a game in a thread: overwriting its bytes takes a while and would delay rulings."""
        if self._is_playing:
            return Sentence(
                "a game is being played, and its rulings would have to wait: remove the other one when it is over"
            )
        if self._removing is not None and self._removing.is_alive():
            return Sentence("another game is being removed; try again in a moment")
        try:
            unknown = self._unknown(order.get("game"))
        except RecordError as error:
            return str(error)
        if self._record is None or unknown:
            return unknown
        self._removing = threading.Thread(
            target=self._remove, args=(self._record.path, order.get("game")), name="removing", daemon=True
        )
        self._removing.start()
        return ""

    def _remove(self, path: Any, game: int) -> None:
        self.removal = ""
        try:
            with People(path) as people:
                erase_game(people, game, wall_now())
        except (RecordError, PeopleError) as error:
            self.removal = str(error)

    def set_voice(self, order: Command) -> str:
        """Set the voice's volume and quiet hours."""
        speaker = self._game.speaker if self._game is not None else None
        if speaker is None:
            return Sentence("there is no voice at this table")
        voice = self.voice.model_copy(
            update={field: order.get(field) for field in VOICE_FIELDS if field in order.fields}
        )
        try:
            speaker.set_volume(volume_in(voice))
        except VolumeError as error:
            return str(error)
        self.voice = voice
        try:
            if self._chosen is not None:
                self._chosen.keep(self._settings.voice, voice)
        except OSError as error:
            return Sentence("set, but only until the next start: it could not be kept ({why})", why=str(error.strerror))
        return ""

    def call_in_code(self, order: Command) -> str:
        """Replace a seat's code with a new one."""
        if self._folder is None:
            return Sentence("no pad of this table is a page")
        return call_in(self._folder, order.get("seat"), order.get("phones"))

    def power_off(self, order: Command) -> str:
        """Finish, and switch the machine off; the page has already asked for confirmation."""
        del order
        if not self.may_switch_off:
            return Sentence("the referee does not run as this machine's service, so it does not switch the machine off")
        self._step(confirmed=True)
        return ""

    def hear(self, word: str) -> bool:
        """Take a word of the pads (`referee.control.pad_words`); return whether it was for the appliance itself."""
        if self._game is None:
            return False
        if word == "off" and self.may_switch_off:
            self._step(confirmed=False)
        elif word in ("yes", "no") and self._power.state is PowerState.ASKED:
            self._do(self._power.answer(self._game.now(), word == "yes", playing=self._is_playing))
        else:
            return False
        return True

    def beat(self, now: int) -> None:
        """See `TableService`."""
        self._do(self._power.advance(now))
        if self.removal and self._game is not None:
            words, self.removal = self.removal, ""
            self._game.conductor.tell(Notice("", now, f"a game could not be removed: {words}"))

    def _step(self, *, confirmed: bool) -> None:
        if self._game is not None:
            self._do(self._power.ask(self._game.now(), confirmed=confirmed, playing=self._is_playing))

    def _do(self, steps: Sequence[PowerOrder]) -> None:
        game = self._game
        if game is None:
            return
        for said in steps:
            if said.do in SPOKEN:
                game.conductor.tell(Notice(SPOKEN[said.do], game.now(), said.words))
            if said.do is PowerStep.PAUSE:
                if self.pause is not None:
                    self.pause()
                self._do(self._power.paused(game.now()))
            elif said.do is PowerStep.CLOSE:
                self.switches_off = True

    def closed(self, t: int, command: Callable[[], str]) -> str:
        """Switch off; everything is closed.

        Args:
            t: now, ns.
            command: switches the machine off; returns why it could not.

        Returns:
            Why the machine stays on; empty if it goes off.
        """
        self._power.closed(t)
        words = command()
        return " ".join(said.words for said in self._power.failed(t, words)) if words else ""


_DO: Final[Mapping[str, Callable[[Orders, Command], str]]] = {
    "begin": Orders.begin,
    "keep": Orders.keep,
    "remove": Orders.remove,
    "seat_code": Orders.call_in_code,
    "settings": Orders.set_voice,
    "power_off": Orders.power_off,
}
