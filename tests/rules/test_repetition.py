"""A position that comes back is noticed, however late the cycle is entered, and reported once (reading 12)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from referee.rules.house import read_house_rules
from referee.rules.phase import Turn
from referee.rules.pickup import watch_for_repetition
from referee.rules.position import Position
from referee.rules.step import Step


def repeats(stacks: Sequence[str], counts: Sequence[int] | None = None) -> list[tuple[int, int]]:
    """Return the leads at which a repetition was reported, and how many cards ago the position was.

    Args:
        stacks: the first seat's stack at each lead; five cards are laid between two of them.
        counts: its believed number of cards, where that differs from the known ones.
    """
    position = Position(read_house_rules("classic"), ("Ana", "Ben"), (0, 0), ((), ()), strikes=(0, 0), phase=Turn(1))
    said = []
    for number, stack in enumerate(stacks):
        known = tuple(stack.split())
        held = len(known) if counts is None else counts[number]
        step = Step(position, number, "c")
        step.set(known=(known, ()), counts=(held, 0), laid=5 * number)
        watch_for_repetition(step)
        said += [(number, int(draft.fields["cards"])) for draft in step.drafts]
        position = step.position
    return said


@pytest.mark.parametrize("lead_in", [0, 1, 2, 5, 11])
@pytest.mark.parametrize("period", [1, 2, 3, 7])
def test_a_cycle_is_noticed_within_three_rounds_of_it(lead_in: int, period: int) -> None:
    """Its length in cards is exact."""
    ranks = "23456789T"
    before = [f"Kh {ranks[n % 9]}s {ranks[n // 9]}s" for n in range(lead_in)]
    cycle = [f"Qh {ranks[n]}d" for n in range(period)]
    found = repeats(before + cycle * 20)
    assert [cards for _, cards in found] == [5 * period]
    assert found[0][0] <= 3 * (lead_in + period) + 1


def test_positions_that_differ_in_a_card_do_not_come_back() -> None:
    """Suits are all alike where no row looks at them; ranks are not."""
    assert repeats(["2h 3h", "2h 3s"]) == [(1, 5)]
    assert repeats(["2h 3h", "2h 4h"]) == []
    assert repeats(["2h 3h", "3h 2h"]) == []


def test_only_what_is_known_card_by_card_can_come_back() -> None:
    assert repeats(["2h 3h"] * 4, counts=[3, 3, 3, 3]) == []
    assert repeats(["2h 3h"] * 4, counts=[3, 2, 3, 2]) == [(3, 10)]
