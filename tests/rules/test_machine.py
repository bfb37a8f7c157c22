"""Random games under random house rules, against a plain model of the physical cards.

``GAMES`` raises their number.
"""

from __future__ import annotations

import os
import random

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from referee.engine.adjudicator import Adjudicator
from referee.engine.observations import Observation, Tick
from referee.engine.rulings import encode_ruling
from tests.rules.plain_table import PlainTable, one_move, play_randomly, random_rules
from tests.support.strategies import told_late, with_ticks

GAMES = int(os.environ.get("GAMES", "100"))
STEPS = 30
_PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
_how = settings(
    max_examples=GAMES, stateful_step_count=STEPS, deadline=None, derandomize=GAMES <= 100, print_blob=False,
    suppress_health_check=list(HealthCheck), phases=_PHASES,
)  # fmt: skip


class Games(RuleBasedStateMachine):
    """Players lay, slap, take, report and contest at random; the table and the referee must agree."""

    table: PlainTable

    @initialize(seed=st.integers(0, 2**32), seats=st.integers(2, 8), few=st.booleans())
    def sit_down(self, seed: int, seats: int, few: bool) -> None:
        rng = random.Random(seed)
        self.table = PlainTable(random_rules(rng), seats, rng, few=few)

    @rule(cards=st.integers(1, 5))
    def cards_are_laid(self, cards: int) -> None:
        for _ in range(cards):
            self.table.lay()

    @rule(seat=st.integers(1, 8), after=st.sampled_from((30, 120, 250, 400)))
    def a_hand_comes_down(self, seat: int, after: int) -> None:
        self.table.slap(seat, after)

    @rule(seat=st.integers(1, 8))
    def a_card_comes_out_of_turn(self, seat: int) -> None:
        if seat <= len(self.table.stacks) and self.table.stacks[seat - 1]:
            self.table.lay(seat)

    @rule()
    def the_pile_is_taken(self) -> None:
        self.table.take()

    @rule()
    def something_happens(self) -> None:
        one_move(self.table)

    @invariant()
    def nothing_is_lost(self) -> None:
        if hasattr(self, "table"):
            self.table.check()

    def teardown(self) -> None:
        if hasattr(self, "table"):
            self.table.close()


TestGames = Games.TestCase
TestGames.settings = _how


def _replayed(lines: list[Observation]) -> list[str]:
    referee = Adjudicator()
    made = [ruling for line in lines for ruling in referee.observe(line)]
    return [encode_ruling(ruling) for ruling in [*made, *referee.finish()]]


@settings(
    max_examples=max(GAMES // 5, 10), deadline=None, derandomize=GAMES <= 100, print_blob=False,
    suppress_health_check=list(HealthCheck), phases=_PHASES,
)  # fmt: skip
@given(st.integers(0, 2**32))
def test_under_any_house_rules_the_order_of_arrival_changes_nothing(seed: int) -> None:
    """The second law: shuffled lines, with ticks that keep their promise, give the same rulings."""
    game = play_randomly(seed, 40)
    rng = random.Random(seed)
    table, *rest = game.lines
    lines = [line for line in rest if not isinstance(line, Tick)]
    shuffled = with_ticks(rng, told_late(rng, lines), sensors=False)
    assert _replayed([table, *shuffled]) == _replayed([table, *lines])
