"""Two cards drawn at once that were both seen by the camera and reported as a foul are judged once (F9)."""

from __future__ import annotations

import pytest

from referee.engine.adjudicator import Adjudicator
from referee.engine.observations import Card, Foul, Observation, Table, Tick

MS = 1_000_000


@pytest.mark.parametrize("reported", [False, True])
def test_only_the_second_card_is_dead_whether_or_not_the_foul_is_told_as_well(reported: bool) -> None:
    rules = {"base": "classic", "on": ["F9"]}
    told: list[Observation] = [
        Table(t=0, id="table", seats=("Ana", "Ben", "Cho"), dealer=3, rules=rules),
        Card(t=1_000 * MS, id="c1", card="7h", seat=1),
        Card(t=1_000 * MS + 1, id="c2", card="9c", seat=1),
    ]
    if reported:
        told.append(Foul(t=1_000 * MS + 2, id="f1", seat=1, foul="double_draw"))
    adjudicator = Adjudicator()
    rulings = [ruling for line in [*told, Tick(t=2_000 * MS)] for ruling in adjudicator.observe(line)]
    rulings += adjudicator.finish()
    dead = [(ruling.fields["card"], ruling.fields["reason"]) for ruling in rulings if ruling.kind == "dead_card"]
    assert dead == [("9c", "double_draw")]
    assert sum(ruling.kind == "foul" for ruling in rulings) == reported
