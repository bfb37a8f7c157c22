"""Demo players who referee themselves: they mark each slap, and a chosen number of their marks are wrong."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING, Final

from hardware.simulated.table.script import Script
from referee.control.commands import Command
from referee.control.socket import make_handler
from referee.engine.adjudicator import Adjudicator
from referee.engine.shadow_marks import FALSE, GOOD
from referee.options.shadow.comparison import JudgedSlap, judge_slaps
from referee.table.services import GameContext, TableService
from referee.units import MS

if TYPE_CHECKING:
    from referee.demo.demo_table import DemoTable

_THINK: Final = 1_500 * MS
"""Time from a slap to its mark, unless the next slap comes sooner, ns."""


def true_slaps(script: Script) -> list[JudgedSlap]:
    """Return the slaps of a script as an ideal referee rules them."""
    adjudicator = Adjudicator(stream=False)
    made = [ruling for line in script.truth for ruling in adjudicator.observe(line)]
    made += adjudicator.finish()
    gone = {old for ruling in made for old in ruling.supersedes}
    return judge_slaps(script.truth, [ruling for ruling in made if ruling.id not in gone])


class MarkingPlayers(TableService):
    """Players who mark each slap; a slap that cannot be decided is marked good."""

    name = "marks"

    def __init__(self, table: DemoTable, wrong: int) -> None:
        """``wrong``: number of wrong verdicts, chosen by the script's seed; at most as many as there are decidable
        slaps.
        """
        self._table = table
        self._game: GameContext | None = None
        slaps = true_slaps(table.script)
        self.wrong = self.choose(slaps, wrong, table.script.seed)
        """Indices of these slaps, from 0."""
        ends = [*(slap.t for slap in slaps[1:]), table.script.duration]
        self._marks = deque(
            (min(slap.last + _THINK, (slap.last + end) // 2), self._verdict(place, slap))
            for place, (slap, end) in enumerate(zip(slaps, ends, strict=False))
        )

    @staticmethod
    def choose(slaps: Sequence[JudgedSlap], wrong: int, seed: int) -> frozenset[int]:
        """Return the indices, from 0, of the slaps to mark wrongly, a random choice of ``wrong`` decidable ones."""
        sure = [place for place, slap in enumerate(slaps) if slap.verdict]
        return frozenset(Random(f"wrong {seed}").sample(sure, min(wrong, len(sure))))

    def _verdict(self, place: int, slap: JudgedSlap) -> str:
        other = {GOOD: FALSE, FALSE: GOOD}
        return other[slap.verdict] if place in self.wrong else slap.verdict or GOOD

    def begin_game(self, game: GameContext) -> None:
        """See `TableService`."""
        self._game = game

    def beat(self, now: int) -> None:
        """Enter the marks that are due."""
        began, game = self._table.pads.began, self._game
        if began is None or game is None:
            return
        obey = make_handler(game.facts, game.conductor.new_id, game.conductor.said, lambda order: order.do)
        while self._marks and self._marks[0][0] + began <= now:
            obey(Command("mark", {"verdict": self._marks.popleft()[1]}))
