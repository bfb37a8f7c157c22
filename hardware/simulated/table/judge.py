"""The simulated players' knowledge of the rules: a referee that gets the truth as it happens."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from referee.engine.adjudicator import Adjudicator
from referee.engine.observations import Answer, Observation, Slap, Table, Tick
from referee.engine.rulings import Ruling
from referee.rules.house import HouseRules


class Judge:
    """An `Adjudicator` that gets the truth as it happens, and can be queried about a hypothetical slap."""

    def __init__(self, table: Table, rules: HouseRules, told: Sequence[Observation] = ()) -> None:
        """``told``: a referee's whole input so far, including people's words; its rulings on that hold here, too."""
        self.rulings: list[Ruling] = []
        """The rulings on the table and on ``told``."""
        self.core = self._told_all((table, *told), history=bool(told) or rules.has("S4b"))
        self._forgetful = self.core
        # Answers need the core's memory, which is slow to copy for "what if" queries: then a second core forgets.
        if rules.has("S4b"):
            self._forgetful = self._told_all((table, *told), history=bool(told))
        self._forgetful.forget()

    def _told_all(self, lines: Sequence[Observation], *, history: bool) -> Adjudicator:
        core = Adjudicator(lookahead_ns=0, history=history)
        self.rulings = [ruling for line in lines for ruling in core.observe(line)]
        if len(lines) > 1:
            self.rulings += core.observe(Tick(t=max(line.t for line in lines)))
            core.take_early()
        return core

    def observe(self, observation: Observation) -> list[Ruling]:
        """Pass one more observation to the core; return its certain rulings."""
        if self._forgetful is not self.core and not isinstance(observation, Answer):
            self._forgetful.observe(observation)
            self._forgetful.take_early()
        return self.core.observe(observation)

    def tick(self, t: int) -> list[Ruling]:
        """Tell the core that nothing else happened up to ``t``."""
        return self.observe(Tick(t=t))

    def would_win(self, seat: int, t: int) -> bool:
        """Whether a hand of ``seat`` at ``t`` would win the pile, by a copy of the core."""
        twin = deepcopy(self._forgetful)
        twin.observe(Slap(t=t, id="probe", seat=seat, t_error=0))
        twin.observe(Tick(t=t))
        return any(r.kind == "slap_won" and r.t == t for r in twin.take_early())
