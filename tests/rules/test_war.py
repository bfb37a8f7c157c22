"""War among the tied, card by card (M4)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from referee.rules.house import read_house_rules
from referee.rules.phase import DeadHeat, War
from referee.rules.position import Position
from referee.rules.step import Step
from referee.rules.war import begin, show

STACK = ("2s", "3s", "4s", "Kd", "5s")


def table(counts: tuple[int | None, ...], phase: Any, **more: Any) -> Step:
    rules = read_house_rules({"base": "classic", "on": ["M4"]})
    names = ("Ana", "Ben", "Cho")[: len(counts)]
    return Step(Position(rules, names, counts, ((),) * len(counts), phase=phase).replace(**more), 10, "c9")


def asked(step: Step) -> list[tuple[str, Any]]:
    return [(draft.kind, draft.fields.get("ask")) for draft in step.drafts]


def test_three_cards_go_down_and_the_fourth_is_turned_as_memory_has_it() -> None:
    step = table((5, 5), War((1, 2)), known=(STACK, ()))
    assert show(step, 1, "Kd") is None, "the other has yet to turn"
    assert asked(step) == []
    assert [(laid.card, laid.state, laid.seat) for laid in step.position.pile] == [
        ("2s", "burned", 1), ("3s", "burned", 1), ("4s", "burned", 1), ("Kd", "dead", 1),
    ]  # fmt: skip
    assert (step.position.counts, step.position.known[0]) == ((1, 5), ("5s",))
    assert step.position.war == War((1, 2), ((1, "Kd"),))
    assert show(step, 2, "Ad") == 2, "the ace is high"


def test_a_card_that_memory_has_elsewhere_is_asked_about() -> None:
    step = table((5, 5), War((1, 2)), known=(STACK, ()))
    show(step, 1, "5s")
    assert [kind for kind, _ in asked(step)] == ["question"]
    assert step.drafts[0].fields["ask"] in ("order_changed", "impossible_card")


@pytest.mark.parametrize(("held", "down"), [(5, 3), (4, 3), (3, 2), (1, 0)])
def test_too_few_cards_and_the_last_one_is_turned(held: int, down: int) -> None:
    step = table((held, 9), War((1, 2)))
    show(step, 1, "7h")
    assert [laid.card for laid in step.position.pile] == ["??"] * down + ["7h"]
    assert step.position.counts == (held - down - 1, 9)


def test_a_tie_is_fought_again_by_those_who_tied() -> None:
    step = table((20, 20, 20), War((1, 2, 3)))
    assert show(step, 1, "9h") is None
    assert show(step, 1, "9h") is None, "it has turned already"
    assert show(step, 2, "2h") is None
    assert show(step, 3, "9c") is None
    assert step.position.war == War((1, 3))
    assert show(step, 2, "Ah") is None, "who is beaten fights no more"
    assert (show(step, 3, "2c"), show(step, 1, "3c")) == (None, 1)


def test_a_card_that_nobody_could_read_decides_nothing() -> None:
    step = table((9, 9), War((1, 2)))
    assert show(step, 1, "??") is None
    assert asked(step) == [("question", "unreadable_card")]
    assert show(step, 2, "Ah") is None
    assert step.position.war == War((1, 2), ((1, "??"), (2, "Ah")))


def test_a_player_without_a_card_to_match_is_out_of_the_dispute() -> None:
    """One is left: it wins; none is: people are asked."""
    one = table((0, 9, 9), DeadHeat((1, 2)))
    one.position = one.position.replace(phase=War((1, 2)))
    assert begin(one, (1, 2)) == 2
    both = table((9, 9, 9), War((1, 2, 3)))
    assert begin(both, (1, 2)) is None and both.position.war == War((1, 2))
    nobody = table((0, 0, 9), War((1, 2)))
    assert begin(nobody, (1, 2)) is None
    assert nobody.position.phase == DeadHeat((1, 2))
    assert asked(nobody) == [("question", "who_was_first")]


@pytest.mark.parametrize(("highest", "order"), [("ace", "AKQJT98765432"), ("jack", "JQKAT98765432")])
def test_of_two_ranks_the_one_earlier_in_the_order_wins(highest: str, order: str) -> None:
    rules = read_house_rules({"base": "classic", "on": ["M4"], "set": {"M4": highest}})
    for better, worse in itertools.pairwise(order):
        step = table((9, 9), War((1, 2)), rules=rules)
        assert (show(step, 1, f"{worse}h"), show(step, 2, f"{better}c")) == (None, 2), (better, worse)
