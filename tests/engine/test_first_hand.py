"""The first hand, to the nanosecond and to the tenth of a force; and lines that change a position without a verdict."""

from __future__ import annotations

from typing import Any

import pytest

from referee.engine.doubt import better_order, order_is_open, position_after
from referee.engine.first_hand import as_hand, by_force, dead_heat_hands, finish, is_rival_hand, run_up, won_ruling
from referee.engine.observations import (
    Card,
    Contest,
    Count,
    Day,
    Foul,
    Join,
    Lift,
    Observation,
    Pause,
    Placed,
    Resume,
    Say,
    Slap,
    Taken,
)
from referee.engine.position_changes import CHANGES
from referee.engine.rulings import RULING_ORDER
from referee.engine.state import PendingWin, RunnerUp, State
from referee.engine.unclaimed_piles import lead_stands, picked_up, unexplained
from referee.rules.house import read_house_rules
from referee.rules.phase import Claim, DeadHeat, LastChance, OpenLead, Over, Turn
from referee.rules.position import Drift, Laid, Position
from referee.rules.step import Step

S = 1_000_000_000


def table(cards: str = "7h 7c", on: str = "", off: str = "", **more: Any) -> Position:
    rules = read_house_rules({"base": "classic", "on": on.split(), "off": off.split()})
    pile = tuple(Laid(face, f"c{n}", n * S, n, "played") for n, face in enumerate(cards.split(), start=1))
    made = Position(
        rules, ("Ana", "Ben", "Cho"), (5, 5, 5), ((), (), ()), pile=pile, laid=len(pile), phase=Turn(3),
        locks=(None,) * 3, strikes=(0,) * 3, debts=(0,) * 3, presses=((),) * 3, latest=pile[-1].ref if pile else "",
    )  # fmt: skip
    return made.replace(**more)


def hand(t: int, seat: int, error: int = 10, force: float | None = None) -> Slap:
    return Slap(t=5 * S + t, id=f"s{seat}", seat=seat, t_error=error, force=force)


# Dead heats


@pytest.mark.parametrize(("apart", "tied"), [(0, True), (19, True), (20, False), (21, False)])
def test_hands_nearer_than_the_sum_of_their_errors_are_a_dead_heat(apart: int, tied: bool) -> None:
    first, other = hand(0, 1), hand(apart, 3)
    assert dead_heat_hands(table(), first, [other]) == ((first, other) if tied else (first,))
    assert dead_heat_hands(table(off="K3"), first, [other]) == (first,)


def test_hands_at_one_instant_are_a_dead_heat_though_no_pad_has_an_error() -> None:
    first, other = hand(0, 1, 0), hand(0, 3, 0)
    assert dead_heat_hands(table(), first, [other]) == (first, other)
    assert dead_heat_hands(table(), first, [hand(1, 3, 0)]) == (first,)


def test_a_hand_on_the_next_pile_ties_with_none_on_this_one() -> None:
    """The card before it leads: it shows that the challenge's pile is gone."""
    won = table("Kh Kc", phase=Claim(2, "challenge", "c2", 2))
    first, later = hand(0, 1, S), hand(8, 3, S)
    pair = [Card(t=5 * S + 4, id="c8", card="9d", seat=2), Card(t=5 * S + 5, id="c9", card="9h", seat=3)]
    assert dead_heat_hands(won, first, [later]) == (first, later)
    # Both cards certainly came before this hand, which slaps the nines.
    sure = hand(3_000, 3, 10)
    assert dead_heat_hands(won, hand(0, 1, 10_000), [*pair, sure])[1:] == ()


def test_a_seat_counts_once_and_only_where_its_hand_is_valid() -> None:
    first = hand(0, 1)
    again, other = hand(5, 1), hand(8, 3)
    assert dead_heat_hands(table(), first, [again, other, hand(9, 3)]) == (first, other)
    assert dead_heat_hands(table(absent=frozenset({3})), first, [other]) == (first,)
    held = table(held=frozenset({3}))
    assert dead_heat_hands(held, first, [other]) == (first,)
    assert dead_heat_hands(held, first, [Lift(t=5 * S + 2, id="l", seat=3), other]) == (first, other)
    assert dead_heat_hands(held, first, [Lift(t=5 * S + 2, id="l", seat=2), other]) == (first,)
    # A seat whose hand does not count there comes down again after a lift.
    down, up, again = hand(2, 3), Lift(t=5 * S + 3, id="l", seat=3), hand(15, 3)
    assert dead_heat_hands(held, first, [down, up, again]) == (first, again)
    assert dead_heat_hands(held, first, [down, again]) == (first,)
    covering = Card(t=5 * S + 1, id="c9", card="2d", seat=3)
    assert dead_heat_hands(table(off="M9"), first, [covering, hand(15, 2)]) == (first,), "a card came surely before it"
    assert dead_heat_hands(
        table(off="M9"), first, [Card(t=5 * S + 1, id="c9", card="2d", zone="seat"), hand(15, 2)]
    ) == (
        first,
        hand(15, 2),
    )


@pytest.mark.parametrize(
    ("forces", "winner"),
    [
        ((0.4, 0.3), None),
        ((0.5, 0.3), 1),
        ((0.3, 0.41), 2),
        ((0.2, 0.9, 0.75), 2),
        ((0.2, 0.9, 0.8), None),
        ((0.5, None), None),
        ((0.0, 0.2), 2),
        ((0.0, 0.0), None),
        ((0.0, 0.1 + 1e-9), None),
    ],
)
def test_the_greatest_force_decides_where_it_leads_by_more_than_a_tenth(
    forces: tuple[float | None, ...], winner: int | None
) -> None:
    """M2, reading 2."""
    hands = [hand(n, seat, force=force) for n, (seat, force) in enumerate(enumerate(forces, start=1))]
    found = by_force(hands)
    assert (found.seat if found is not None else None) == winner


def pending(**more: Any) -> PendingWin:
    return PendingWin(hand(0, 1), ("P1",), ("7h", "7c"), ("M1", "P1"), ("c1", "c2"), **more)


def test_later_hands_are_runners_up_and_the_first_of_them_gives_the_margin() -> None:
    state = run_up(State(table(), pending()), hand(30, 3, 5))
    assert state.pending is not None
    assert (state.pending.margin, state.pending.error) == (30, 15)
    more = run_up(state, hand(90, 2))
    assert more.pending is not None
    assert (more.pending.margin, more.pending.error) == (30, 15)
    assert [(runner_up.seat, runner_up.margin) for runner_up in more.pending.runners_up] == [(3, 30), (2, 90)]
    assert run_up(more, hand(95, 2)) is more, "once"
    assert run_up(more, hand(95, 1)) is more, "the winner is none"
    assert run_up(State(table()), hand(95, 1)).pending is None
    heat_ = run_up(State(table(), pending(decided_by="force", margin=3, error=20)), hand(30, 3))
    assert heat_.pending is not None and (heat_.pending.margin, heat_.pending.error) == (3, 20)


def test_a_hand_that_the_stamps_have_first_leaves_no_margin() -> None:
    """Reading 19."""
    before = run_up(State(table(), pending()), hand(-4, 3)).pending
    assert before is not None
    assert (before.margin, before.error, before.decided_by) == (None, None, "doubt")
    assert before.runners_up == (RunnerUp(3, None, 10, "s3"),)
    same = run_up(State(table(), pending()), hand(0, 3)).pending
    assert same is not None and (same.margin, same.decided_by) == (0, "time")
    people = run_up(State(table(), pending(decided_by="people")), hand(-4, 3)).pending
    assert people is not None and people.decided_by == "people"


def test_a_win_is_ruled_with_all_that_counted() -> None:
    made = won_ruling(pending(margin=30, error=15, runners_up=(RunnerUp(3, 30, 5, "s3"),), doubt=True, t=7 * S))
    assert (made.id, made.kind, made.t, made.doubt) == ("slap_won@s1", "slap_won", 7 * S, True)
    assert made.rule == ("M1", "P1", "K3")
    assert made.because == ("s1", "c1", "c2", "s3")
    assert dict(made.fields) == {
        "seat": 1, "patterns": ["P1"], "cards": ["7h", "7c"], "margin": 30, "error": 15,
        "runners_up": [{"seat": 3, "margin": 30}], "decided_by": "time",
    }  # fmt: skip
    alone = won_ruling(pending())
    assert (alone.rule, alone.t, alone.doubt) == (("M1", "P1"), 5 * S, False)


# Doubt


@pytest.mark.parametrize(
    ("slap", "card", "open_"),
    [(100, 115, True), (100, 116, False), (115, 101, True), (115, 100, False), (100, 100, True), (90, 105, True)],
)
def test_an_order_is_open_where_the_errors_reach_across_or_just_meet_before(slap: int, card: int, open_: bool) -> None:
    assert order_is_open(hand(slap, 1, 10), Card(t=5 * S + card, id="c9", card="2d", t_error=5)) is open_


def test_a_slap_and_a_card_at_one_instant_without_errors_are_in_order() -> None:
    assert not order_is_open(hand(0, 1, 0), Card(t=5 * S, id="c9", card="2d"))


def better(position: Position, reveal: Card | Taken) -> str | None:
    return better_order(hand(0, 1), position, position_after(position, reveal))


def test_the_order_that_is_better_for_the_slapper_is_told() -> None:
    """K9: a pair that is covered is better slapped before, a pair that comes is better slapped after."""
    covers, makes = Card(t=5 * S, id="c9", card="2d", seat=3), Card(t=5 * S, id="c9", card="7d", seat=3)
    assert better(table(off="M9"), covers) == "slap"
    assert better(table("2s 7c"), makes) == "card"
    assert better(table(), makes) is None, "it wins either way"
    assert better(table(), Taken(t=5 * S, id="t9")) == "slap"
    assert better(table("2s 7c"), Taken(t=5 * S, id="t9")) == "card"


def test_what_a_hand_meets_after_a_pile_was_taken() -> None:
    taken = Taken(t=5 * S, id="t9", seat=3)
    assert position_after(table(), taken).pile == ()
    won = position_after(table(phase=Claim(2, "slap", "s1", 2)), taken)
    assert (won.counts, won.turn, won.claim) == ((5, 7, 5), 2, None)
    unread = position_after(table(phase=Claim(2, "unread", "c2", 2)), taken)
    assert (unread.counts, unread.pile) == ((5, 5, 5), ())
    assert position_after(table(phase=LastChance(1, 1)), taken).phase == Over(1)
    assert position_after(table(phase=Over(1)), taken).pile != ()


# Lines that need no verdict


def after(position: Position, *lines: Observation) -> Step:
    step = Step(position, 9 * S, "now")
    for line in lines:
        CHANGES[type(line)](step, line)
    return step


def test_pads_are_held_until_they_are_let_go() -> None:
    step = after(table(held=frozenset({1, 2})), Lift(t=9 * S, seat=2), Lift(t=9 * S, seat=3))
    assert set(step.position.held) == {1}


def test_a_table_stands_still_from_its_first_pause_to_its_resume() -> None:
    step = after(table(), Pause(t=6 * S), Pause(t=7 * S))
    assert step.position.paused_at == 6 * S
    on = after(step.position, Resume(t=8 * S))
    assert (on.position.paused_at, on.position.still) == (None, 2 * S)


def test_a_pause_that_ends_at_once_takes_no_time() -> None:
    step = after(table(), Pause(t=6 * S), Resume(t=6 * S))
    assert (step.position.paused_at, step.position.still) == (None, 0)
    assert after(table(), Resume(t=6 * S)).position.still == 0


def test_a_count_that_fits_keeps_what_was_known_and_one_that_does_not_forgets() -> None:
    known = (("7h", "7c"), (), ())
    for cards, kept in ((5, known[0]), (2, known[0]), (1, ()), (0, ())):
        step = after(table(known=known, unsure=frozenset({1})), Count(t=9 * S, seat=1, cards=cards))
        assert (step.position.counts[0], step.position.known[0]) == (cards, kept)
        assert not step.position.unsure
    nobody = after(table(), Count(t=9 * S, seat=4, cards=3))
    assert nobody.position.counts == (5, 5, 5)
    owed = after(table(counts=(5, None, 5), phase=Over(owed="E7")), Count(t=9 * S, seat=2, cards=9))
    assert [(draft.kind, draft.fields["seat"]) for draft in owed.drafts] == [("won", 2)]


def test_penalty_cards_that_were_seen_get_their_names_the_earliest_first() -> None:
    burned = (Laid("??", "b2", 4 * S, 2, "burned"), Laid("??", "b1", 3 * S, 1, "burned"))
    position = table().replace(pile=(*burned, *table().pile))
    one = after(position, Placed(t=9 * S, cards=("Kd",)))
    assert [(laid.card, laid.seen) for laid in one.position.pile[:2]] == [("??", False), ("Kd", True)]
    two = after(one.position, Placed(t=9 * S, cards=("2s",)))
    assert [(laid.card, laid.seen) for laid in two.position.pile[:2]] == [("2s", True), ("Kd", True)]
    own = after(position, Placed(t=9 * S, seat=2, cards=("Qd",)))
    assert [laid.card for laid in own.position.pile[:2]] == ["Qd", "??"]
    unnamed = after(position, Placed(t=9 * S, count=2))
    assert [(laid.card, laid.seen) for laid in unnamed.position.pile[:2]] == [("??", True), ("??", True)]


def test_a_call_is_for_the_top_card_where_that_seat_has_just_laid_it_uncalled() -> None:
    """N14."""
    own = after(table(), Say(t=9 * S, seat=2, rank="7"))
    assert (own.position.said, own.position.calling) == ("7", "")
    other = after(table(), Say(t=9 * S, seat=3, rank="7"))
    assert (other.position.said, other.position.calling) == ("", "7")
    called = after(table(said="9"), Say(t=9 * S, seat=2, rank="7"))
    assert (called.position.said, called.position.calling) == ("9", "7")
    first = after(table(""), Say(t=9 * S, seat=2, rank="7"))
    assert first.position.calling == "7"


def test_a_new_day_opens_a_closed_table_and_the_same_day_does_not() -> None:
    """P16b."""
    closed = table(on="P16b", closed=True, day="2026-05-01")
    same = after(closed, Day(t=9 * S, date="2026-05-01"))
    assert same.position.closed and same.drafts == []
    new = after(closed, Day(t=9 * S, date="2026-05-02"))
    assert (new.position.closed, new.position.day) == (False, "2026-05-02")
    assert [(draft.kind, draft.fields["what"]) for draft in new.drafts] == [("remind", "open")]
    assert after(table(), Day(t=9 * S, date="2026-05-02")).drafts == []


def test_a_player_who_joins_from_a_free_pad_has_no_cards_and_no_seat_between_plays() -> None:
    """M11."""
    step = after(table(on="M11"), Join(t=9 * S, seat=5))
    position = step.position
    assert (position.names[3:], position.counts[3:], position.seats) == (("Seat 4", "Seat 5"), (0, 0), 5)
    assert set(position.absent) == {4}
    assert {
        len(each) for each in (position.known, position.strikes, position.debts, position.locks, position.presses)
    } == {5}
    back = after(position.replace(absent=frozenset({1, 4})), Join(t=9 * S, seat=1))
    assert set(back.position.absent) == {4} and back.position.seats == 5
    assert after(table(), Join(t=9 * S, seat=5)).position.seats == 3


def test_fouls_and_contests_of_a_game_that_is_over_or_of_nobody_are_none() -> None:
    over = table(on="F10 F5", phase=Over(1))
    assert after(over, Foul(t=9 * S, seat=1, foul="shove"), Contest(t=9 * S, by=(1,), against=2)).drafts == []
    assert after(table(on="F10"), Foul(t=9 * S, seat=4, foul="shove")).drafts == []
    assert after(table(on="F10"), Foul(t=9 * S, seat=3, foul="shove")).drafts != []


# Piles without a winner


def ruled(step: Step) -> list[tuple[Any, ...]]:
    return [(draft.kind, draft.fields.get("seat"), draft.fields.get("ask")) for draft in step.drafts]


def test_a_pile_taken_by_another_hand_goes_to_its_winner_and_people_are_asked() -> None:
    claim = Claim(2, "slap", "s1", 2)
    for seat in (None, 2):
        step = Step(table(phase=claim), 9 * S, "t1")
        picked_up(step, Taken(t=9 * S, id="t1", seat=seat), {})
        assert "question" not in {kind for kind, *_ in ruled(step)}
    other = Step(table(phase=claim), 9 * S, "t1")
    picked_up(other, Taken(t=9 * S, id="t1", seat=3), {})
    assert other.position.counts == (5, 7, 5)
    assert ruled(other)[-1] == ("question", None, "mend_pile")
    assert other.position.phase == OpenLead((2, 3), 2)
    said = Step(table(phase=claim), 9 * S, "t1")
    picked_up(said, Taken(t=9 * S, id="t1", seat=3), {"question@t1": 3})
    assert (said.position.counts, said.position.phase) == ((5, 5, 7), Turn(3))
    shared = Step(table(phase=claim._replace(split=(2, 3))), 9 * S, "t1")
    picked_up(shared, Taken(t=9 * S, id="t1", seat=3), {})
    assert shared.position.counts == (5, 6, 6)


def test_a_pile_that_was_not_won_goes_to_the_player_seen_to_take_it() -> None:
    step = Step(table(), 9 * S, "t1")
    unexplained(step, Taken(t=9 * S, id="t1", seat=2), {})
    assert ruled(step) == [("question", None, "mend_pile"), ("pile", 2, None), ("lead", 2, None)]
    assert step.position.phase == OpenLead((2, 1, 3), 2)
    nobody = Step(table(), 9 * S, "t1")
    unexplained(nobody, Taken(t=9 * S, id="t1"), {})
    assert (nobody.position.pile, nobody.position.in_limbo) == ((), 2)
    assert set(nobody.position.unsure) == {1, 2, 3}
    assert nobody.position.phase == OpenLead((1, 2, 3), 3)
    tied = Step(table(phase=DeadHeat((1, 3))), 9 * S, "t1")
    unexplained(tied, Taken(t=9 * S, id="t1", seat=2), {})
    assert (ruled(tied), set(tied.position.unsure), tied.position.phase) == ([], {1, 3}, OpenLead((1, 3)))
    unread = Step(table(unread=frozenset({"c1"})), 9 * S, "t1")
    unexplained(unread, Taken(t=9 * S, id="t1", seat=2), {})
    assert set(unread.position.unsure) == {2} and not unread.position.unread
    for said, counts in ((3, (5, 5, 7)), (4, (5, 7, 5)), ("3", (5, 7, 5))):
        answered = Step(table(), 9 * S, "t1")
        unexplained(answered, Taken(t=9 * S, id="t1", seat=2), {"question@t1": said})
        assert answered.position.counts == counts


def test_a_card_that_led_when_it_was_laid_still_leads() -> None:
    """Reading 13."""
    card = Card(t=9 * S, id="c9", card="2d", seat=1)
    step = Step(table(), 9 * S, "c9")
    lead_stands(step, card, 1, {"led@c9": 1})
    assert ruled(step) == [("question", None, "mend_pile"), ("pile", 1, None), ("lead", 1, None)]
    for seat, answers, position in (
        (1, {}, table()),
        (2, {"led@c9": 1}, table()),
        (3, {"led@c9": 3}, table()),
        (1, {"led@c9": 1}, table("")),
        (1, {"led@c9": 1}, table(phase=Over(1))),
        (1, {"led@c9": 1}, table(phase=DeadHeat((1, 3)))),
        (None, {"led@c9": None}, table()),
    ):
        same = Step(position, 9 * S, "c9")
        lead_stands(same, card, seat, answers)
        assert same.drafts == []


def test_a_take_is_a_hand_unless_the_pile_is_won_by_a_slap_or_its_own() -> None:
    """M14: who has won the pile takes it, and does not slap; a pile won by a challenge may be slapped away."""
    position = table(on="M14")
    for claim, seats in ((Claim(3, "slap", "s1", 3), ()), (Claim(3, "challenge", "c1", 3), (1, 2))):
        won = position.replace(phase=claim)
        takes = [as_hand(won, Taken(t=9 * S, id="t1", seat=seat)) for seat in (1, 2, 3)]
        assert tuple(hand.seat for hand in takes if hand is not None) == seats


@pytest.mark.parametrize(
    ("on", "off", "seat", "cards", "rival"),
    [
        ("M14", "", 3, "7h 7c", True),
        ("M14", "K3", 3, "7h 7c", False),
        ("", "", 3, "7h 7c", False),
        ("M14", "", 1, "7h 7c", False),
        ("M14", "", 3, "7h 8c", False),
    ],
)
def test_a_take_rivals_another_players_hand_where_it_is_a_good_hand_itself(
    on: str, off: str, seat: int, cards: str, rival: bool
) -> None:
    """M14, K3; a card rivals none."""
    position = table(cards, on=on, off=off)
    assert is_rival_hand(position, hand(0, 1), Taken(t=5 * S, id="t1", seat=seat)) is rival
    assert not is_rival_hand(position, hand(0, 1), Card(t=5 * S, id="c9", card="7d", seat=seat))


SURE = {"question", "dead_heat", "remind", "corrected", "contested"}
ON_COUNTS = {"out", "slapped_in", "won", "lost", "drawn"}


@pytest.mark.parametrize(
    ("leaves", "doubted"),
    [
        ("all", set(RULING_ORDER) - SURE),
        ("seats", set(RULING_ORDER) - SURE),
        ("counts", ON_COUNTS),
        ("hands", set[str]()),
        (None, set[str]()),
    ],
)
def test_what_a_gap_leaves_unproved_puts_rulings_in_doubt(leaves: Any, doubted: set[str]) -> None:
    """K2: who was out and who has won depends on the counts alone; a question doubts by itself."""
    drift = None if leaves is None else Drift("g1", S, 6 * S, asked=True, leaves=leaves)
    step = Step(table(drift=drift), 9 * S, "c9")
    for kind in RULING_ORDER:
        step.rule(kind, "S5", seat=1)
    _, rulings = finish(State(step.position), step)
    assert {ruling.kind for ruling in rulings if ruling.doubt} == doubted
    assert {ruling.kind for ruling in rulings if "K2" in ruling.rule} == doubted
