"""The players of a demo: they play the script, answer the referee truthfully, and stop when a spectator intervenes.

A spectator may pause a demo and correct the referee (on the page, by typed words, on the pads). The players stand still
while the game is paused, and for a moment after each intervention; then they go on from the referee's position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from hardware.simulated.table.course import ScriptError
from hardware.simulated.table.interruption import REACH, go_on, stand_still
from referee.announce.sinks import Notice
from referee.demo.score import on_script_time
from referee.engine.amended_log import is_said
from referee.engine.observations import Answer, Correct, Observation, Slap
from referee.sentence import Sentence
from referee.table.services import GameContext, TableService
from referee.units import MS, SECOND

if TYPE_CHECKING:
    from referee.demo.demo_table import DemoTable
    from referee.engine.rulings import Ruling

_SLOW: Final = 0.9
"""Pace below which a table is called slower than real time; a busy moment costs less."""
_ANSWER_AFTER: Final = 1200 * MS
"""Time that the players take to answer a question, ns."""
_LISTEN: Final = 1_500 * MS
"""Time after a spectator's word until the players go on, ns."""
_UNANSWERED: Final = 10 * SECOND
"""Time that an unanswered question keeps the players waiting, ns."""
_SOON: Final = 200 * MS
"""Time from the decision to go on until hands may move, in which the camera gets the new script, ns."""
_REST: Final = 4 * SECOND
"""Time before the end in which the players no longer stop, ns: frames are drawn ahead."""


@dataclass(slots=True)
class PaceTeller(TableService):
    """Tells people that the simulated table is slower than real time, because it waits for the eye."""

    name = "pace"
    needs_record = False
    table: DemoTable
    _game: GameContext | None = None
    _has_told: bool = False

    @property
    def standing(self) -> str:
        """See `TableService`."""
        pace = self.table.pace
        return Sentence("slower than real time ({pace} ×)", pace=f"{pace:.1f}") if pace < _SLOW else ""

    def begin_game(self, game: GameContext) -> None:
        """See `TableService`."""
        self._game, self._has_told = game, False

    def beat(self, now: int) -> None:
        """See `TableService`."""
        if self._game is not None and not self._has_told and (words := self.standing):
            self._has_told = True
            self._game.conductor.tell(Notice("", now, words))


@dataclass(slots=True)
class Players(TableService):
    """Players who answer questions truthfully, and leave when the script is over."""

    name = "players"
    needs_record = False
    stays = True
    table: DemoTable
    max_cards: int
    """Maximum number of cards laid."""
    answers: bool = True
    """Whether they answer; a silent referee asks no questions."""
    _game: GameContext | None = None
    _waiting: list[tuple[int, Ruling]] = field(default_factory=list)
    _now: int = 0
    leaves: bool = False
    _read: int = 0
    """Number of lines of the log that they have read."""
    _answered: set[str] = field(default_factory=set)
    _still_since: int | None = None
    """Start of the current standstill, ns; `None`: they are playing."""
    _last_word: int = 0

    def begin_game(self, game: GameContext) -> None:
        """See `TableService`."""
        self._game = game

    def take_rulings(self, rulings: Sequence[Ruling]) -> None:
        """Schedule an answer to each question."""
        if not self.answers:
            return
        self._waiting += [(self._now + _ANSWER_AFTER, ruling) for ruling in rulings if ruling.kind == "question"]

    def beat(self, now: int) -> None:
        """Give the answers that are due, and react to spectators."""
        assert self._game is not None
        conductor, began = self._game.conductor, self.table.pads.began or 0
        is_lost = "camera" in conductor.troubles and not self.table.comes_back
        self.leaves = self.table.is_over(conductor.camera_watermark()) or is_lost
        if self.leaves:
            return
        self._now = now
        ready = [ruling for t, ruling in self._waiting if t <= now]
        self._waiting = [(t, ruling) for t, ruling in self._waiting if t > now]
        for ruling in ready:
            about = ruling.get("about", ())
            seats = {line.seat for line in conductor.observations if isinstance(line, Slap) and line.id in about}
            value = self.truth_of(on_script_time(ruling, began), seats)
            if value is not None:
                self._answered.add(ruling.id)
                conductor.answer(ruling.id, value, now)
        if self.table.pads.began is not None:
            self._heed_people(now, began)

    def truth_of(self, asked: Ruling, seats: set[int]) -> Any:
        """Return the answer to a question, whose times are script time; `None`: the players cannot tell.

        ``seats``: the seats whose hands it concerns.
        """
        return self.table.script.answer(str(asked["ask"]), asked.t, seats)

    def _heed_people(self, now: int, began: int) -> None:
        """Stand still while the game is paused or after a correction; go on afterwards."""
        assert self._game is not None
        conductor, script = self._game.conductor, self.table.script
        news, self._read = conductor.observations[self._read :], len(conductor.observations)
        if conductor.paused or any(map(self._is_word, news)):
            self._last_word = now
            if self._still_since is None and now - began < script.duration - _REST:
                at = max(0, now - began)
                self._still_since = now + REACH
                self.table.follow(stand_still(script, at), at)
        elif self._still_since is not None and now >= self._last_word + _LISTEN:
            # Before that the camera may still report cards from before the standstill.
            is_heard = conductor.watermark > self._still_since
            if is_heard and (not conductor.view.questions or now > self._last_word + _UNANSWERED):
                self._go_on(now - began, conductor.observations[1:])

    def _is_word(self, line: Observation) -> bool:
        """Return whether a spectator said this."""
        if isinstance(line, Answer):
            return self.answers and line.to not in self._answered
        return isinstance(line, Correct) or is_said(line)

    def _go_on(self, t: int, told: Sequence[Observation]) -> None:
        began, at = self.table.pads.began or 0, t + _SOON
        try:
            script = go_on(self.table.script, at, [on_script_time(line, began) for line in told], self.max_cards)
        except ScriptError:
            # The referee waits for people, and so do the players.
            self._last_word = self._now
            return
        self._still_since = None
        self.table.follow(script, at)
