"""The hard set in small: when something goes wrong, nothing wrong is said with confidence, and nothing invented.

`make hard-set` plays all situations with many seeds; here each of the gravest is played once, with the shipped eye.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest

from referee.engine.observations import Card, Foul, Observation, Placed, Taken
from tests.support.situations import SITUATIONS, situation
from tests.support.spoilt import SpoiltTable
from tools.hard_set import Outcome, compare, play, table_of

GRAVEST = (
    "two cards at once", "the lamp off and on again", "the camera bumped", "a hand hovering", "the lens covered",
    "a coloured lamp", "a cloud before the sun",
)  # fmt: skip


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    from referee.errors import UserError

    try:
        return {name: play(name, 1) for name in GRAVEST}
    except UserError as error:
        pytest.skip(f"the eye has no weights here: {error}")


@pytest.mark.parametrize("name", GRAVEST)
def test_nothing_is_invented(outcomes: dict[str, Outcome], name: str) -> None:
    one = outcomes[name]
    assert one.good, one.faults
    assert one.cards.right >= one.cards.laid - 1, one.faults
    assert one.wanted > 0 and one.seen == one.wanted, one.faults


@pytest.mark.parametrize("seed", [5, 7])
def test_a_cover_over_a_dark_table_is_no_table(seed: int) -> None:
    one = _played("the lens covered", seed)
    assert one.good and one.cards.right == one.cards.laid, one.faults


# In the last it had lit so much of the table that the view passed for blocked when it went.
SUNS = (("a patch of sun", 21), ("a patch of sun goes", 9), ("a patch of sun goes", 34))


@pytest.mark.parametrize(("name", "seed"), SUNS)
def test_a_pile_is_seen_to_go_though_the_sun_came_or_went_meanwhile(name: str, seed: int) -> None:
    one = _played(name, seed)
    assert one.good and one.cards.right == one.cards.laid, one.faults
    assert one.seen == one.wanted == 1, one.faults


# On the pale cloth, the red one, and prints.
@pytest.mark.parametrize("seed", [4, 6, 7])
def test_a_pile_that_lay_there_at_the_first_picture_is_seen_to_go(seed: int) -> None:
    one = _played("a pile at the first picture", seed)
    assert one.good and one.cards.right == one.cards.laid, one.faults
    assert one.seen == one.wanted == 1, one.faults


# Before the first card, before and after it on prints, and on a dark cloth whose blue is lost.
@pytest.mark.parametrize("seed", [8, 35, 121])
def test_a_step_of_white_balance_hides_neither_cards_nor_a_take(seed: int) -> None:
    one = _played("a step of white balance", seed)
    assert one.good and one.cards.right == one.cards.laid and not one.blocked, one.faults
    assert one.seen == one.wanted == 1, one.faults


def test_a_cover_before_the_first_card_is_told() -> None:
    one = _played("the lens covered at first", 3)
    assert one.good and one.seen == one.wanted, one.faults


def _played(name: str, seed: int, printed: bool = False) -> Outcome:
    from referee.errors import UserError

    try:
        return play(name, seed, printed=printed)
    except UserError as error:
        pytest.skip(f"the eye has no weights here: {error}")


def test_prints_on_the_cloth_are_not_told_after_a_knock_either() -> None:
    one = _played("bumped while a card is laid", 1, printed=True)
    assert one.good and one.cards.right == one.cards.laid, one.faults
    assert one.wanted > 0 and one.seen == one.wanted, one.faults


def test_a_pile_on_a_print_is_not_gone_when_a_card_beside_it_is_pushed_on() -> None:
    one = _played("laid far off and pushed on", 10, printed=True)
    assert one.good and one.cards.right == one.cards.laid, one.faults


def test_the_table_sums_up(outcomes: dict[str, Outcome]) -> None:
    lines = list(table_of(list(outcomes.values())))
    assert len(lines) == 2 + len(GRAVEST) + 1
    cells = [cell.strip() for cell in lines[-1].strip("|").split("|")]
    assert cells[1] == str(len(GRAVEST))
    assert int(cells[2]) == sum(outcome.cards.laid for outcome in outcomes.values())


@pytest.mark.parametrize("name", SITUATIONS)
def test_a_situation_is_the_same_for_the_same_seed_and_another_for_another(name: str) -> None:
    one, again, other = situation(name, 1), situation(name, 1), situation(name, 2)
    assert one.script.acts == again.script.acts and one.effects == again.effects
    assert one.script.acts != other.script.acts
    laid = [o for o in one.script.truth if isinstance(o, Card)]
    assert len({card.card for card in laid}) == len(laid) >= 4
    assert [card.t for card in laid] == sorted(card.t for card in laid)


@pytest.mark.parametrize("name", ["glare on an index", "a sleeve's shadow", "out of focus", "a coloured lamp"])
def test_what_spoils_a_picture_shows_in_it(name: str) -> None:
    shown = situation(name, 1)
    table = SpoiltTable(shown)
    t = table.frame_time(round(shown.moments[-1] * table.fps / 1e9))
    spoilt = table.render(t).image
    plain = super(SpoiltTable, table).render(t).image
    assert np.abs(spoilt.astype(int) - plain).max() > 40
    again = SpoiltTable(shown).render(t).image
    assert np.array_equal(spoilt, again)


def test_whatever_is_told_and_did_not_happen_counts_as_invented() -> None:
    shown = situation("cards slid under", 1)
    truth = list(shown.script.truth[1:])
    ideal = compare(shown, truth, set())
    assert ideal.good and ideal.wanted == ideal.seen and ideal.cards.right == ideal.cards.laid
    end = shown.script.duration
    for extra in (
        Card(t=end, id="x", card=spare(truth), confidence=0.99),
        Card(t=end, id="x", card="??", confidence=0.0),
        Taken(t=end - 10**10, id="x", seat=1),
        Placed(t=end, id="x", seat=1, cards=(spare(truth),)),
        Foul(t=end, id="x", seat=2, foul="hover"),
    ):
        assert not compare(shown, [*truth, extra], set()).good
    assert not compare(shown, truth, {"dark"}).good
    wrong = [*truth]
    first = next(k for k, line in enumerate(wrong) if isinstance(line, Card))
    wrong[first] = Card(t=truth[first].t, id="w", card=spare(truth), seat=1, confidence=0.95)
    outcome = compare(shown, wrong, set())
    assert outcome.cards.wrong_sure == 1 and not outcome.good
    fewer = compare(shown, [line for line in truth if not isinstance(line, Placed)], set())
    assert fewer.good and fewer.seen < fewer.wanted and any(re.search("placed.*not seen", f) for f in fewer.faults)


def spare(truth: Sequence[Observation]) -> str:
    """A card that is in none of these."""
    named = {line.card for line in truth if isinstance(line, Card)}
    named |= {card for line in truth if isinstance(line, Placed) for card in line.cards}
    return next(rank + "s" for rank in "A23456789TJQK" if rank + "s" not in named)
