"""The people of a demo: they play the script, answer the referee with the truth, and stop where somebody stops them.

Whoever watches a demo may pause it, and may correct the referee (on the page, by typed words, on the pads). The players
stand still as long as the game is paused, and for a moment after each such word; then they go on as the referee has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from hardware.simulated.table.course import ScriptError
from hardware.simulated.table.interruption import REACH, go_on, stand_still
from referee.demo.score import on_script_time
from referee.engine.amended_log import is_said
from referee.engine.observations import Answer, Correct, Observation, Slap
from referee.table.services import ServedGame, TableService
from referee.units import MS, SECOND

if TYPE_CHECKING:
    from referee.demo.demo_table import DemoTable
    from referee.engine.rulings import Ruling

_ANSWER_AFTER: Final = 1200 * MS
"""How long the players take to answer a question, ns."""
_LISTEN: Final = 1_500 * MS
"""How long after somebody's word the players go on, ns."""
_UNANSWERED: Final = 10 * SECOND
"""For how long a question that nobody answers keeps them, ns."""
_SOON: Final = 200 * MS
"""From the thought to go on until hands may move: the camera is told in between, ns."""
_REST: Final = 4 * SECOND
"""So near the end nobody stops any more, ns: frames are drawn ahead."""


@dataclass(slots=True)
class Players(TableService):
    """The players: they answer with the truth when they are asked, and leave when the script is over."""

    name = "players"
    needs_record = False
    stays = True
    table: DemoTable
    max_cards: int
    """So many cards are laid at most."""
    answers: bool = True
    """Whether they answer; where nothing is shown, nobody is asked."""
    _game: ServedGame | None = None
    _waiting: list[tuple[int, Ruling]] = field(default_factory=list)
    _now: int = 0
    leaves: bool = False
    _read: int = 0
    """How many lines of the log they have heard."""
    _answered: set[str] = field(default_factory=set)
    _still_since: int | None = None
    """Since when nobody moves; None while they play."""
    _last_word: int = 0

    def begin_game(self, game: ServedGame) -> None:
        """See `TableService`."""
        self._game = game

    def take_rulings(self, rulings: Sequence[Ruling]) -> None:
        """Think about each question."""
        if not self.answers:
            return
        self._waiting += [(self._now + _ANSWER_AFTER, ruling) for ruling in rulings if ruling.kind == "question"]

    def beat(self, now: int) -> None:
        """Answer what was thought about for long enough; heed whoever stops the game."""
        assert self._game is not None
        conductor, began = self._game.conductor, self.table.pads.began or 0
        is_lost = "camera" in conductor.troubles and not self.table.comes_back
        self.leaves = self.table.is_over(conductor.vouched()) or is_lost
        if self.leaves:
            return
        self._now = now
        ready = [ruling for t, ruling in self._waiting if t <= now]
        self._waiting = [(t, ruling) for t, ruling in self._waiting if t > now]
        for ruling in ready:
            about = ruling.get("about", ())
            seats = {one.seat for one in conductor.observations if isinstance(one, Slap) and one.id in about}
            value = self.truth_of(on_script_time(ruling, began), seats)
            if value is not None:
                self._answered.add(ruling.id)
                conductor.answer(ruling.id, value, now)
        if self.table.pads.began is not None:
            self._heed_people(now, began)

    def truth_of(self, asked: Ruling, seats: set[int]) -> Any:
        """The answer to a question, which is on the script's line of time; None: they cannot tell.

        ``seats``: whose hands it is about.
        """
        return self.table.script.answer(str(asked["ask"]), asked.t, seats)

    def _heed_people(self, now: int, began: int) -> None:
        """Stand still while the game is paused, and when somebody has corrected it; go on afterwards."""
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
            is_heard = conductor.watermark > self._still_since
            if is_heard and (not conductor.view.questions or now > self._last_word + _UNANSWERED):
                self._go_on(now - began, conductor.observations[1:])

    def _is_word(self, line: Observation) -> bool:
        """Whether somebody who watches has said this."""
        if isinstance(line, Answer):
            return self.answers and line.to not in self._answered
        return isinstance(line, Correct) or is_said(line)

    def _go_on(self, t: int, told: Sequence[Observation]) -> None:
        began, at = self.table.pads.began or 0, t + _SOON
        try:
            script = go_on(self.table.script, at, [on_script_time(line, began) for line in told], self.max_cards)
        except ScriptError:
            # The referee waits for people; so do the players.
            self._last_word = self._now
            return
        self._still_since = None
        self.table.follow(script, at)
