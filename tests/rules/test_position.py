"""Positions are copied with changes; the names of changed fields are not checked at run time, so the source is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

import referee
from referee.rules.card_play import lay
from referee.rules.conditions import PileView
from referee.rules.elimination import makes_three
from referee.rules.house import read_house_rules
from referee.rules.phase import FOLLOWS, Challenge, Claim, DeadHeat, LastChance, OpenLead, Over, Phase, Turn, War
from referee.rules.position import Covered, Laid, Lock, Memory, Position, SeatVerdict
from referee.rules.slap_verdict import Verdict
from referee.rules.step import Step

FIELDS = {field.name for field in fields(Position)}
SOURCES = sorted(Path(referee.__file__).parent.rglob("*.py"))


def changes(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of every field changed by this code, by ``set`` of a step or ``but`` of a position."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("set", "but"):
            yield from ((node.lineno, word.arg) for word in node.keywords if word.arg is not None)


def test_only_fields_of_a_position_are_changed() -> None:
    said = [(path.name, line, name) for path in SOURCES for line, name in changes(path.read_text(encoding="utf-8"))]
    assert len(said) > 50
    assert [change for change in said if change[2] not in FIELDS] == []


def test_the_reader_of_sources_sees_a_wrong_name() -> None:
    assert list(changes("step.set(paid=1,\n piad=2)\nposition.but(pile=())")) == [(1, "paid"), (1, "piad"), (3, "pile")]


def test_a_changed_position_is_another_one() -> None:
    before = Position(read_house_rules("classic"), ("Ana", "Ben"), (26, 26), ((), ()))
    after = before.replace(phase=Turn(2), paid=1)
    assert (after.turn, after.paid, after.names) == (2, 1, before.names)
    assert (before.turn, before.paid) == (None, 0)
    assert after != before
    assert after.replace(phase=Turn(None), paid=0) == before


def test_burned_cards_count_only_where_the_rules_have_it_so_and_dead_ones_never() -> None:
    """N3, and F7."""
    pile = (
        Laid("2h", "b1", 1, 1, "burned"), Laid("7h", "c1", 2, 2, "played"), Laid("Kd", "c2", 3, 1, "dead"),
        Laid("9c", "c3", 4, 1, "played"),
    )  # fmt: skip
    usual = Position(read_house_rules("classic"), ("Ana", "Ben"), (24, 24), ((), ()), pile=pile)
    assert [laid.card for laid in usual.played()] == ["7h", "9c"]
    assert usual.look() == PileView(("9c", "7h"), "7h", "2h", under=True)
    other = usual.replace(rules=read_house_rules({"base": "classic", "off": ["N3"]}))
    assert [laid.card for laid in other.played()] == ["2h", "7h", "9c"]
    assert usual.replace(pile=pile[2:3]).look() == PileView((), "", "")


def test_the_next_player_has_cards_and_is_found_in_the_direction_of_play() -> None:
    rules = read_house_rules("classic")
    table = Position(rules, ("Ana", "Ben", "Cho", "Dee"), (5, 0, None, 0), ((), (), (), ()))
    assert [table.after(seat) for seat in (1, 2, 3, 4)] == [3, 3, 1, 1]
    assert [table.after(seat, never=3) for seat in (1, 2, 3, 4)] == [1, 1, 1, 1]
    assert [table.before(seat) for seat in (1, 2, 3, 4)] == [3, 1, 1, 3]
    assert table.players_after(3) == (4, 1, 2)
    back = table.replace(step=-1)
    assert [back.after(seat) for seat in (1, 2, 3, 4)] == [3, 1, 1, 3]
    assert back.players_after(3) == (2, 1, 4)
    assert table.holders() == (1, 3)
    nobody = table.replace(counts=(0, 0, 0, 0))
    assert nobody.after(1) is None
    assert nobody.before(1) == 4
    hard = nobody.replace(rules=read_house_rules({"base": "classic", "off": ["M10"]}))
    assert hard.before(1) is None, "without a card and a way back there is no player"
    assert hard.replace(counts=(0, 0, 1, 0)).players() == (3,)
    assert hard.replace(phase=Challenge(2, 3, "Kh", "c1", 2)).players() == (2,), "whose challenge may win the pile"
    left = table.replace(absent=frozenset({1, 4}))
    assert [left.player(seat) for seat in (None, 0, 1, 2, 3, 4, 5)] == [None, None, None, 2, 3, None, None]
    assert (left.players(), left.players_after(1), left.before(2)) == ((2, 3), (2, 3), 3)
    assert table.players_after(3, step=-1) == (2, 1, 4)
    loses = table.replace(rules=read_house_rules("beggar-my-neighbour"))
    assert [loses.after(seat) for seat in (1, 2, 3, 4)] == [2, 3, 4, 1], "E6 passes no player over"
    assert loses.replace(absent=frozenset({2})).after(1) == 3


def test_a_count_that_is_not_certain_is_none_and_may_be_more() -> None:
    """Readings 10 and 15."""
    table = Position(read_house_rules("classic"), ("Ana", "Ben", "Cho"), (5, 0, 0), ((), (), ()))
    unsure = table.replace(unsure=frozenset({2}))
    assert (unsure.count(1), unsure.count(2), unsure.count(3)) == (5, None, 0)
    assert unsure.holders() == (1, 2)
    tied = table.replace(phase=DeadHeat((1, 3)))
    assert tied.holders() == (1, 3) and tied.count(3) == 0
    assert tied.tied == (1, 3)
    assert table.replace(phase=War((1, 3))).tied == ()


def test_a_call_is_for_the_next_card_alone() -> None:
    """N14."""
    rules = read_house_rules({"base": "classic", "on": ["N14"]})
    step = Step(Position(rules, ("Ana", "Ben"), (5, 5), ((), ()), phase=Turn(1), calling="7"), 1, "c1")
    lay(step, "9h", 1)
    assert (step.position.said, step.position.calling) == ("7", "")
    after = Step(step.position, 2, "c2")
    lay(after, "9c", 2)
    assert (after.position.said, after.position.calling) == ("", "")
    assert after.position.without(after.position.pile[-1]).said == "7"


@pytest.mark.parametrize(
    ("top", "three"),
    [
        (("7h", "7c", "7d"), True), (("7h", "7c", "8d"), False), (("8h", "7c", "7d"), False), (("7h", "7c"), False),
        (("Xr", "Xb", "Xr"), False), (("??", "??", "??"), False), ((), False),
    ],
)  # fmt: skip
def test_three_of_a_kind_are_three_cards_of_one_rank(top: tuple[str, ...], three: bool) -> None:
    """P16."""
    assert makes_three(top) is three


def test_a_table_on_which_nothing_has_happened() -> None:
    """Everything in a position besides the seats, the rules and the cards."""
    rules = read_house_rules("classic")
    fresh = Position(rules, ("Ana", "Ben"), (26, 26), ((), ()))
    assert {field.name: getattr(fresh, field.name) for field in fields(fresh)} == {
        "rules": rules, "names": ("Ana", "Ben"), "counts": (26, 26), "known": ((), ()), "step": 1, "packs": 1,
        "jokers": 0, "phase": Turn(None), "pile": (), "laid": 0, "paid": 0, "strikes": (), "debts": (), "locks": (),
        "held": frozenset(), "hovering": frozenset(), "presses": (), "false_run": 0, "penalised": frozenset(),
        "convicted": frozenset(), "wild": "", "said": "", "calling": "", "covered": Covered(0, "", Turn(None)),
        "latest": "", "emptied": 0, "final": False,
        "day": "", "closed": False, "table": "", "ends_at": None, "piles": 0,
        "verdicts": (), "paused_at": None, "still": 0, "in_limbo": 0, "unsure": frozenset(), "absent": frozenset(),
        "unread": frozenset(), "gaps": frozenset(), "uncounted": frozenset(), "memory": Memory((), 1, 0, 0, False),
        "drift": None, "unjudged": False,
    }  # fmt: skip
    assert Lock("pile", "F6b") == Lock("pile", "F6b", 0)
    assert SeatVerdict(1, "slap", True, "s1") == SeatVerdict(1, "slap", True, "s1", "")
    assert Laid("7h", "c1", 1, 1, "played") == Laid("7h", "c1", 1, 1, "played", False)
    assert PileView(("7h",)) == PileView(("7h",), "", "", 0, "", "", False)
    assert Claim(1, "slap", "s1", 1) == Claim(1, "slap", "s1", 1, ())
    assert LastChance(1, 3) == LastChance(1, 3, None, "")
    assert (Over(), OpenLead((1,)), War((1, 2))) == (Over(None, ""), OpenLead((1,), None), War((1, 2), ()))
    assert Verdict("void") == Verdict("void", "", (), (), (), ())


@pytest.mark.parametrize(
    ("phase", "turn"),
    [
        (Turn(2), 2), (Turn(None), None), (Challenge(1, 2, "Kh", "c1", 3), 2), (Claim(1, "slap", "s1", 2), 2),
        (DeadHeat((1, 2)), None), (War((1, 2)), None), (OpenLead((1, 2), 2), 2), (OpenLead((1, 2)), None),
        (LastChance(1, 2), 1), (LastChance(1, 0), None), (Over(1), None),
    ],
)  # fmt: skip
def test_whose_turn_it_is_in_every_phase(phase: Phase, turn: int | None) -> None:
    assert phase.turn == turn


def test_a_game_that_is_over_stays_over() -> None:
    every = {Turn, Challenge, Claim, DeadHeat, War, OpenLead, LastChance, Over}
    assert set(FOLLOWS) == every == set().union(*FOLLOWS.values())
    assert FOLLOWS[Over] == {Over}
