"""The core inside a simulated game: it is told the exact truth, and says at once what the players have to do."""

from __future__ import annotations

from copy import deepcopy

from referee.engine.adjudicator import Adjudicator
from referee.engine.observations import Answer, Observation, Slap, Table, Tick
from referee.engine.rulings import Ruling
from referee.engine.view import View
from referee.rules.house import HouseRules


class Judge:
    """An `Adjudicator` that hears the truth as it happens, and can be asked what it would say to a slap."""

    def __init__(self, table: Table, rules: HouseRules) -> None:
        # Answers need the core's memory, and copying that to ask "what if" is slow: then a second core forgets.
        self._core = Adjudicator(lookahead_ns=0, history=rules.has("S4b"))
        self._forgetful = Adjudicator(lookahead_ns=0, history=False) if rules.has("S4b") else self._core
        self.observe(table)

    @property
    def view(self) -> View:
        """The game as the core sees it."""
        return self._core.view

    def observe(self, observation: Observation) -> list[Ruling]:
        """Tell the core one more thing; gives the rulings that it is sure of."""
        if self._forgetful is not self._core and not isinstance(observation, Answer):
            self._forgetful.observe(observation)
            self._forgetful.take_early()
        return self._core.observe(observation)

    def tick(self, t: int) -> list[Ruling]:
        """Tell the core that nothing else happened up to ``t``."""
        return self.observe(Tick(t=t))

    def take_early(self) -> list[Ruling]:
        """What the referee says at once."""
        return self._core.take_early()

    def would_win(self, seat: int, t: int) -> bool:
        """Whether a hand of ``seat`` at ``t`` would win the pile: asked of a copy of the core."""
        twin = deepcopy(self._forgetful)
        twin.observe(Slap(t=t, id="probe", seat=seat, t_error=0))
        twin.observe(Tick(t=t))
        return any(r.kind == "slap_won" and r.t == t for r in twin.take_early())
