"""Stacks in memory: taken from the top, put under the bottom, learned, questioned; and their deal."""

from __future__ import annotations

from typing import Any

import pytest

from referee.rules.deal import dealt, draw_wild_rank, opening
from referee.rules.elimination import end_by_most_cards, settle_owed
from referee.rules.house import RulesError, read_house_rules
from referee.rules.locks import card_was_laid, lock, pile_was_won, somebody_slapped
from referee.rules.phase import Claim, DeadHeat, Over, Player, Turn
from referee.rules.pickup import signature, watch_for_repetition
from referee.rules.position import Laid, Lock, Memory, Position
from referee.rules.stacks import (
    check_card,
    copies,
    from_limbo,
    hand_over,
    learn_count,
    may_be_there,
    put_under,
    take_top,
)
from referee.rules.step import Step
from referee.units import MINUTE


def table(
    counts: tuple[int | None, ...] = (5, 5, 5), known: tuple[tuple[str, ...], ...] = (), on: str = "", off: str = "",
    values: dict[str, Any] | None = None, **more: Any,
) -> Step:  # fmt: skip
    seats = len(counts)
    rules = read_house_rules({"base": "classic", "on": on.split(), "off": off.split(), "set": values or {}})
    made = Position(rules, ("Ana", "Ben", "Cho", "Dee")[:seats], counts, known or ((),) * seats, phase=Turn(1))
    more = {"locks": (None,) * seats, "strikes": (0,) * seats, "debts": (0,) * seats, **more}
    return Step(made.replace(**more), 100, "now")


def asked(step: Step) -> list[tuple[Any, ...]]:
    return [(draft.fields["ask"], draft.rule, draft.fields.get("cards")) for draft in step.drafts]


STACKS = (("7h", "7c"), (), ())


@pytest.mark.parametrize(
    ("held", "count", "names", "left", "known"),
    [
        (5, 1, ("",), 4, ("7h", "7c")),
        (5, 3, ("", "", ""), 2, ("7h", "7c")),
        (5, 4, ("", "", "", "7h"), 1, ("7c",)),
        (2, 1, ("7h",), 1, ("7c",)),
        (2, 2, ("7h", "7c"), 0, ()),
        (2, 5, ("7h", "7c"), 0, ()),
        (None, 3, ("", "", ""), None, ("7h", "7c")),
    ],
)
def test_cards_are_taken_from_the_top_with_the_names_that_memory_has(
    held: int | None, count: int, names: tuple[str, ...], left: int | None, known: tuple[str, ...]
) -> None:
    step = table((held, 5, 5), STACKS)
    assert take_top(step, 1, count) == names
    assert (step.position.counts, step.position.known) == ((left, 5, 5), (known, (), ()))


def test_cards_beyond_those_counted_come_out_of_limbo_where_a_pile_may_be_that_seats() -> None:
    step = table((1, 5, 5), unsure=frozenset({1}), in_limbo=2)
    assert take_top(step, 1, 5) == ("", "", "")
    assert step.position.in_limbo == 0
    many = table((1, 5, 5), unsure=frozenset({1}), in_limbo=9)
    assert (len(take_top(many, 1, 3)), many.position.in_limbo) == (3, 7), "one from the stack, two from limbo"
    sure = table((1, 5, 5), in_limbo=2)
    assert take_top(sure, 1, 5) == ("",)
    assert (sure.position.in_limbo, from_limbo(sure, 1, 1)) == (2, 0)
    one = table((1, 5, 5), unsure=frozenset({1}), in_limbo=2)
    assert (from_limbo(one, 1, 1), one.position.in_limbo) == (1, 1)


def test_cards_are_put_under_the_bottom_and_remembered_where_they_are_known() -> None:
    step = table((2, 0, None), STACKS)
    put_under(step, Player(1), ["Kd", "??"])
    put_under(step, Player(2), ["??", "??"])
    put_under(step, Player(3), ["2c"])
    assert list(step.position.known) == [("7h", "7c", "Kd", ""), (), ("2c",)]
    assert step.position.counts == (4, 2, None)
    forgetful = table((2, 0, 5), off="K2")
    put_under(forgetful, Player(1), ["Kd"])
    assert (forgetful.position.known[0], forgetful.position.counts[0]) == ((), 3)
    unsure = table((2, 0, 5), STACKS, unsure=frozenset({1}))
    put_under(unsure, Player(1), ["Kd"])
    assert (unsure.position.known[0], unsure.position.counts[0]) == ((), 3)
    hand_over(step, 1, Player(2), 1)
    assert list(step.position.known[:2]) == [("7c", "Kd", ""), ("7h",)]
    assert step.position.counts == (3, 3, None)


def test_a_card_known_to_lie_in_a_stack_teaches_how_much_lay_above_it() -> None:
    """S4c."""
    for card, count in (("7h", 2), ("7c", None), ("Kd", None)):
        step = table((None, 5, 5), STACKS)
        learn_count(step, card, 1)
        assert step.position.counts[0] == count
    two = table((None, 5, 5), STACKS, packs=2)
    learn_count(two, "7h", 1)
    assert two.position.counts[0] is None, "the other pack's may have lain on top"


@pytest.mark.parametrize(
    ("card", "expected", "off", "wanted"),
    [
        ("7h", "7h", "", []),
        ("??", "7h", "", []),
        ("7c", "7h", "", [("order_changed", ("K7",), ["7c", "7h"])]),
        ("Kd", "7h", "", [("impossible_card", ("K2",), ["Kd", "7h"])]),
        ("7c", "7h", "K7", []),
        ("Kd", "7h", "K7", [("impossible_card", ("K2",), ["Kd", "7h"])]),
        ("Kd", "", "", []),
        ("7c", "", "", [("impossible_card", ("K2", "S2"), ["7c"])]),
        ("7c", "", "S2", []),
    ],
)
def test_a_card_that_cannot_be_there_is_asked_about(card: str, expected: str, off: str, wanted: list[Any]) -> None:
    step = table((2, 5, 5), STACKS, off=off)
    check_card(step, card, 1, expected)
    assert asked(step) == wanted
    forgotten = bool(expected) and card not in (expected, "??")
    assert step.position.known[0] == (() if forgotten else ("7h", "7c"))
    assert step.position.counts == (2, 5, 5)


def test_how_many_of_a_card_are_known_to_be_somewhere() -> None:
    lying = (Laid("7h", "c1", 1, 1, "played"), Laid("Xr", "c2", 2, 2, "dead"))
    position = table((2, 5, 5), (("7h", "7c"), ("Xb",), ()), pile=lying, packs=2, jokers=3).position
    assert [copies(position, card) for card in ("7h", "7c", "Kd", "Xr", "Xb")] == [2, 1, 0, 2, 2]
    assert [may_be_there(position, card) for card in ("7h", "7c", "Kd", "Xr", "Xb")] == [False, True, True, True, True]
    assert not may_be_there(position.replace(jokers=2), "Xb")


# Locks


def locks(step: Step) -> list[Lock | None]:
    return list(step.position.locks)


def test_locks_count_down_by_cards_rounds_piles_and_slaps() -> None:
    step = table()
    lock(step, 1, "cards", "N8", 2)
    lock(step, 2, "slap", "F6f")
    assert [draft.fields["until"] for draft in step.drafts] == ["cards", "pile"]
    card_was_laid(step)
    assert locks(step) == [Lock("cards", "N8", 1), Lock("slap", "F6f"), None]
    card_was_laid(step)
    assert locks(step) == [None, Lock("slap", "F6f"), None]
    somebody_slapped(step, 2)
    assert set(step.position.locked_out) == {2}, "its own hand frees no player"
    somebody_slapped(step, 3)
    assert set(step.position.locked_out) == set()
    paused = table(paused_at=5, locks=(Lock("cards", "N8", 1), None, None))
    card_was_laid(paused)
    assert set(paused.position.locked_out) == {1}


def test_a_pile_that_was_won_frees_and_shortens() -> None:
    step = table(locks=(Lock("pile", "F6b"), Lock("rounds", "F6e", 2), Lock("game", "F6c")), false_run=3)
    pile_was_won(step)
    assert locks(step) == [None, Lock("rounds", "F6e", 1), Lock("game", "F6c")]
    assert step.position.false_run == 0
    pile_was_won(step)
    assert set(step.position.locked_out) == {3}
    burned = table(locks=(Lock("slap", "F6f"), None, Lock("cards", "N8", 2)))
    pile_was_won(burned)
    assert locks(burned) == [None, None, Lock("cards", "N8", 2)]


def test_when_everybody_is_barred_for_cards_all_are_released() -> None:
    """N8; a seat that has left, or could not slap for another reason, does not count."""
    step = table(locks=(Lock("cards", "N8", 3), Lock("cards", "N8", 1), None))
    lock(step, 3, "cards", "N8", 5)
    assert locks(step) == [None, None, None]
    other = table(locks=(Lock("game", "F6c"), Lock("cards", "N8", 1), None))
    lock(other, 3, "cards", "N8", 5)
    assert locks(other) == [Lock("game", "F6c"), None, None]
    away = table(locks=(None, Lock("cards", "N8", 1), None), absent=frozenset({1}))
    lock(away, 3, "cards", "N8", 5)
    assert set(away.position.locked_out) == set()


# Setting up


@pytest.mark.parametrize(
    ("cards", "seats", "dealer", "way", "without", "evenly", "counts"),
    [
        (52, 3, 3, 1, (), False, (18, 17, 17)),
        (52, 3, 1, 1, (), False, (17, 18, 17)),
        (52, 3, 1, -1, (), False, (17, 17, 18)),
        (53, 3, 3, -1, (), False, (18, 18, 17)),
        (52, 3, 3, 1, (), True, (17, 17, 17)),
        (52, 4, 4, 1, (2, 3), False, (26, 0, 0, 26)),
        (53, 4, 4, 1, (1,), False, (0, 18, 18, 17)),
    ],
)
def test_cards_are_dealt_from_the_seat_after_the_dealer(
    cards: int, seats: int, dealer: int, way: int, without: tuple[int, ...], evenly: bool, counts: tuple[int, ...]
) -> None:
    assert dealt(cards, seats, dealer, way, without, evenly=evenly) == counts


def opened(on: str = "", off: str = "", values: dict[str, Any] | None = None, seats: int = 3, **how: Any) -> Step:
    step = table((0,) * seats, on=on, off=off, values=values, phase=Turn(None))
    opening(step, how.pop("dealer", seats), **how)
    return step


def test_an_opening_deals_leads_and_reminds() -> None:
    step = opened(on="S6 S7 S8 M6 M15 S3", values={"S3": 2})
    assert step.position.counts == (18, 18, 18)
    assert (step.position.jokers, step.position.packs, step.position.turn, step.position.table) == (2, 1, 1, "now")
    told = [draft.fields.get("what") or draft.kind for draft in step.drafts]
    assert told == ["lead", "turn", "turn_away", "rings", "open_palm", "forehead", "other_hand"]
    back = opened(direction="counter-clockwise")
    assert (back.position.step, back.position.turn) == (-1, 2)
    assert opened(direction="counter-clockwise", off="S5").position.step == 1
    assert opened(off="S5").position.turn == 3, "the dealer leads"
    assert opened(off="S5", counts=(5, 5, 0)).position.turn == 1
    assert opened(packs=2, jokers=1).position.counts == (35, 35, 35)
    assert opened(counts=(0, 5, None)).position.turn == 2
    cut = opened(on="S4c S4d", values={"S4d": [2]})
    assert cut.position.counts == (None, 0, None)
    even = opened(on="S4b")
    assert even.position.counts == (17, 17, 17)
    assert [(laid.card, laid.state, laid.seat) for laid in even.position.pile] == [("??", "burned", 0)]
    assert opened(on="E7", values={"E7": {"minutes": 3}}).position.ends_at == 100 + 3 * MINUTE
    assert opened(on="E7", values={"E7": {"piles": 3}}).position.ends_at is None


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"dealer": 4}, '"dealer" must be a seat from 1 to 3'),
        ({"dealer": 0}, '"dealer" must be a seat from 1 to 3'),
        ({"counts": (5, 5)}, '"counts" must hold one number for each of the 3 seats'),
        ({"counts": (0, 0, 0)}, '"counts" leaves no seat with cards to lead'),
        ({"on": "S4d", "values": {"S4d": [4]}}, "row S4d: a handicap needs 3 or more seats"),
        ({"on": "S4d", "values": {"S4d": [1, 2, 3]}}, "row S4d: a handicap needs 3 or more seats"),
        ({"on": "S4d", "values": {"S4d": [1]}, "seats": 2}, "row S4d: a handicap needs 3 or more seats"),
    ],
)
def test_an_opening_that_cannot_be_is_refused(how: dict[str, Any], words: str) -> None:
    with pytest.raises(RulesError) as refusal:
        opened(**how)
    assert str(refusal.value).startswith(words)


def test_the_wild_rank_is_asked_for_until_a_number_rank_was_drawn() -> None:
    """P14."""
    step = opened(on="P14")
    assert [(draft.fields["ask"], draft.rule) for draft in step.drafts if draft.kind == "question"] == [
        ("wild_rank", ("P14",))
    ]
    draw_wild_rank(step, "K")
    assert step.position.wild == "" and step.drafts[-1].fields["ask"] == "wild_rank"
    before = len(step.drafts)
    draw_wild_rank(step, "7")
    assert (step.position.wild, len(step.drafts)) == ("7", before)
    drawn = opened(on="P14", values={"P14": "T"})
    assert drawn.position.wild == "T" and "question" not in {draft.kind for draft in drawn.drafts}


# Ends


@pytest.mark.parametrize(
    ("counts", "more", "wanted"),
    [
        ((5, 9, 3), {}, ("won", 2)),
        ((9, 9, 3), {}, ("drawn", None)),
        ((0, 0, 0), {}, ("drawn", None)),
        ((5, None, 3), {}, ("question", None)),
        ((5, 9, 3), {"unsure": frozenset({3})}, ("question", None)),
        ((5, 9, 3), {"phase": DeadHeat((1, 3))}, ("question", None)),
        ((5, 9, 3), {"phase": Claim(1, "unread", "c1", 1)}, ("question", None)),
    ],
)
def test_the_player_with_the_most_cards_has_won_once_all_counts_are_certain(
    counts: tuple[int | None, ...], more: dict[str, Any], wanted: tuple[str, int | None]
) -> None:
    """P16, E7: otherwise people are asked for them."""
    step = table(counts, **more)
    end_by_most_cards(step, "E7")
    assert [(draft.kind, draft.fields.get("seat"), draft.rule) for draft in step.drafts] == [(*wanted, ("E7",))]
    assert isinstance(step.position.phase, Over)
    assert step.position.phase.owed == ("E7" if wanted[0] == "question" else "")
    assert not settle_owed(table(counts))


def test_where_no_player_is_left_the_most_cards_win_nothing() -> None:
    step = table((0, 0, 0), phase=Over(None, "E7"), absent=frozenset({1, 2, 3}))
    assert settle_owed(step)
    assert [draft.kind for draft in step.drafts] == ["drawn"]


# Positions that come back


def test_a_position_that_comes_back_is_told_once_and_found_however_long_the_way_round() -> None:
    """Brent's algorithm: the kept position is replaced at every power of two."""
    stacks = (("7h", "7c"), ("Kd",), ())
    step = table((2, 1, 0), stacks, laid=10)
    kept = []
    for laid in range(10, 26):
        step.set(laid=laid, strikes=(laid, 0, 0))
        watch_for_repetition(step)
        kept.append((step.position.memory.cards, step.position.memory.power, step.position.memory.since))
    assert [cards for cards, _, _ in kept] == [10, 11, 11, 13, 13, 13, 13] + [17] * 8 + [25]
    assert [power for _, power, _ in kept] == [1, 2, 2, 4, 4, 4, 4] + [8] * 8 + [16]
    step.set(laid=30)
    watch_for_repetition(step)
    assert [(draft.kind, draft.fields["cards"]) for draft in step.drafts] == [("repeated", 5)]
    watch_for_repetition(step)
    assert len(step.drafts) == 1, "once"
    unknown = table((3, 1, 0), stacks)
    watch_for_repetition(unknown)
    assert unknown.position.memory == Memory()


@pytest.mark.parametrize(
    "change",
    [
        {"phase": Turn(2)}, {"strikes": (1, 0, 0)}, {"debts": (1, 0, 0)}, {"locks": (Lock("game", "F6c"), None, None)},
        {"false_run": 1}, {"phase": Over(1)}, {"known": (("8h", "7c"), ("Kd",), ())},
    ],
)  # fmt: skip
def test_positions_differ_by_all_that_the_rules_can_tell_apart(change: dict[str, Any]) -> None:
    position = table((2, 1, 0), (("7h", "7c"), ("Kd",), ())).position
    assert signature(position.replace(**change)) != signature(position)
    assert signature(position.replace(laid=9, known=(("7s", "7d"), ("Kd",), ()))) == signature(position)
