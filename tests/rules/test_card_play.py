"""Cards laid, challenges paid, piles won and picked up, step by step on a position."""

from __future__ import annotations

from typing import Any

import pytest

from referee.rules.card_play import DRAWN_AT_ONCE_NS, lay, leave, settle
from referee.rules.house import read_house_rules
from referee.rules.penalties import contest, false_slap, foul
from referee.rules.phase import Challenge, Claim, DeadHeat, LastChance, OpenLead, Over, Player, Turn, War
from referee.rules.pickup import claim_by_slap, give_pile, hold_provisionally, pick_up
from referee.rules.position import Drift, Laid, Lock, Position, SeatVerdict
from referee.rules.stacks import burn
from referee.rules.step import Step

S = 1_000_000_000


def table(
    counts: tuple[int | None, ...] = (5, 5, 5), on: str = "", off: str = "", values: dict[str, Any] | None = None,
    base: str = "classic", cards: str = "", **more: Any,
) -> Step:  # fmt: skip
    """Return a step at 100 s on a table whose pile was laid round the table, a card a second."""
    seats = len(counts)
    rules = read_house_rules({"base": base, "on": on.split(), "off": off.split(), "set": values or {}})
    pile = tuple(
        Laid(face, f"c{n}", n * S, (n - 1) % seats + 1, "played") for n, face in enumerate(cards.split(), start=1)
    )
    made = Position(
        rules, ("Ana", "Ben", "Cho", "Dee")[:seats], counts, ((),) * seats, pile=pile, laid=len(pile), phase=Turn(1),
        strikes=(0,) * seats, debts=(0,) * seats, locks=(None,) * seats, presses=((),) * seats,
        latest=pile[-1].ref if pile else "",
    )  # fmt: skip
    return Step(made.replace(**more), 100 * S, "now")


def ruled(step: Step) -> list[str]:
    """Return the rulings: kind, and the deciding fields."""
    shown = (
        "seat",
        "to",
        "challenged",
        "chances",
        "left",
        "count",
        "reason",
        "ask",
        "what",
        "strikes",
        "until",
        "where",
    )
    return [
        " ".join([draft.kind, *(f"{name}={draft.fields[name]}" for name in shown if name in draft.fields)])
        for draft in step.drafts
    ]


def rows(step: Step) -> list[tuple[str, tuple[str, ...]]]:
    return [(draft.kind, draft.rule) for draft in step.drafts]


# Cards


def test_a_card_in_turn_passes_the_turn_on_and_is_remembered() -> None:
    step = table(cards="2s 3s")
    lay(step, "9h", 1)
    after = step.position
    assert (after.counts, after.laid, after.turn, after.paid, after.latest) == ((4, 5, 5), 3, 2, 0, "now")
    assert after.pile[-1] == Laid("9h", "now", 100 * S, 1, "played")
    assert ruled(step) == ["turn seat=2"]


def test_a_card_out_of_turn_is_dead_and_lies_where_the_rules_say() -> None:
    for word, place in (("stays", -1), ("bottom", 0)):
        step = table(cards="2s 3s", values={"F7": word})
        lay(step, "9h", 2)
        assert step.position.pile[place] == Laid("9h", "now", 100 * S, 2, "dead")
        assert step.position.turn == 1
        assert (ruled(step), rows(step)) == (["dead_card seat=2 reason=out_of_turn"], [("dead_card", ("F7",))])
    free = table(off="F7")
    lay(free, "9h", 2)
    assert free.position.pile[-1].state == "played" and free.position.turn == 1
    unseen = table(off="K4")
    lay(unseen, "9h", 2)
    assert unseen.position.pile[-1].seat == 1, "no player is seen out of turn"


@pytest.mark.parametrize(("apart", "at_once"), [(DRAWN_AT_ONCE_NS - 1, True), (DRAWN_AT_ONCE_NS, False)])
def test_two_cards_of_a_seat_within_a_tenth_of_a_second_were_drawn_at_once(apart: int, at_once: bool) -> None:
    step = table((5, 5), on="F9", off="", phase=Turn(2))
    step.position = step.position.replace(pile=(Laid("2s", "c1", 100 * S - apart, 1, "played"),))
    lay(step, "9h", 1)
    reason = "double_draw" if at_once else "out_of_turn"
    assert ruled(step) == [f"dead_card seat=1 reason={reason}"]
    assert rows(step) == [("dead_card", ("F9", "F7") if at_once else ("F7",))]


@pytest.mark.parametrize(
    ("card", "on", "row", "chances"),
    [
        ("Ah", "", "C1", 4), ("Kh", "", "C1", 3), ("Qh", "", "C1", 2), ("Jh", "", "C1", 1), ("Ah", "C2a", "C2a", 1),
        ("Jh", "C2b", "C2b", 3), ("Xr", "C3a", "C3a", 5), ("Xb", "C3b", "C3b", 13),
    ],
)  # fmt: skip
def test_a_face_card_challenges_the_next_seat(card: str, on: str, row: str, chances: int) -> None:
    step = table((5, 0, 5), on=on, jokers=2)
    lay(step, card, 1)
    assert step.position.phase == Challenge(1, 3, card, "now", chances)
    assert ruled(step)[0] == f"challenge seat=1 challenged=3 chances={chances}"
    assert rows(step)[0] == ("challenge", (row,))


def test_a_chance_is_paid_counted_and_the_last_one_wins_the_pile() -> None:
    step = table(cards="Qh", phase=Challenge(1, 2, "Qh", "c1", 2))
    lay(step, "9h", 2)
    assert step.position.phase == Challenge(1, 2, "Qh", "c1", 1)
    assert (step.position.paid, step.position.final) == (1, False)
    assert ruled(step) == ["chance seat=2 left=1"]
    last = Step(step.position, 101 * S, "next")
    lay(last, "8h", 2)
    assert last.position.phase == Claim(1, "challenge", "next", 1)
    assert (last.position.paid, last.position.final) == (2, True)
    assert ruled(last)[0] == "challenge_won seat=1"
    assert last.position.verdicts == (SeatVerdict(1, "take", True, "next"),)


def test_what_else_may_come_of_a_challenge() -> None:
    king = Challenge(1, 2, "Kh", "c1", 3)
    answered = table(cards="Kh", phase=king)
    lay(answered, "Jh", 2)
    assert rows(answered)[0] == ("challenge", ("C1", "C4"))
    assert answered.position.phase == Challenge(2, 3, "Jh", "now", 1)
    stopped = table(cards="Kh", on="N5", phase=king)
    lay(stopped, "Th", 2)
    assert (ruled(stopped)[0], stopped.position.phase) == ("challenge_off seat=2", Turn(3))
    round_ = table(cards="Kh", on="C10", phase=king)
    lay(round_, "9h", 2)
    assert round_.position.phase == Challenge(1, 3, "Kh", "c1", 2)
    back = table(cards="Kh 9h", on="C10", phase=Challenge(1, 3, "Kh", "c1", 2))
    lay(back, "8h", 3)
    assert back.position.phase == Challenge(1, 2, "Kh", "c1", 1), "never to the challenger"
    unread = table(cards="Kh", phase=king._replace(left=1))
    lay(unread, "??", 2)
    assert unread.position.phase == Claim(1, "unread", "now", 1)
    assert set(unread.position.unread) == {"now"} and unread.position.paid == 3
    alone = table((1, 0, 0), cards="2s", on="P1")
    lay(alone, "Kh", 1)
    assert alone.position.claim is not None and alone.position.claim.seat == 1


def test_a_player_without_cards_pays_no_more() -> None:
    king = Challenge(1, 2, "Kh", "c1", 3)
    moved = table((5, 1, 5), cards="Kh", phase=king)
    lay(moved, "9h", 2)
    assert moved.position.phase == Challenge(1, 3, "Kh", "c1", 2)
    assert ruled(moved) == ["chance seat=2 left=2", "challenge_moves seat=3 left=2", "turn seat=3"]
    lay(moved, "8h", 3)
    assert "out seat=2" in ruled(moved), "not before the next card lies"
    ended = table((5, 1, 5), cards="Kh", on="C6b", phase=king)
    lay(ended, "9h", 2)
    assert ended.position.phase == Claim(1, "challenge", "now", 1)
    assert ("challenge_won", ("C5", "C6b")) in rows(ended)
    nobody = table((5, 1, 0), cards="Kh", phase=king)
    lay(nobody, "9h", 2)
    assert nobody.position.claim is not None


def test_a_seat_that_there_is_not_and_a_game_that_is_over() -> None:
    step = table()
    lay(step, "9h", 4)
    assert ruled(step) == ["question ask=who_played"] and step.position.pile == ()
    for more in ({"phase": Over(1)}, {"closed": True}):
        over = table(**more)
        lay(over, "9h", 1)
        assert (over.drafts, over.position.pile) == ([], ())


def test_a_seat_that_is_believed_to_be_empty_is_asked_about() -> None:
    step = table((0, 5, 5))
    lay(step, "9h", 1)
    assert "question ask=recount" in ruled(step)
    unsure = table((0, 5, 5), unsure=frozenset({1}), in_limbo=3)
    lay(unsure, "9h", 1)
    assert unsure.position.in_limbo == 2 and "question ask=recount" not in ruled(unsure)


def test_by_counts_that_are_not_sure_a_later_seat_may_be_the_next() -> None:
    step = table((0, 0, 5), unsure=frozenset({1, 2}), in_limbo=4)
    lay(step, "9h", 3)
    assert ruled(step)[0] == "question ask=who_played"
    assert step.position.pile[-1].state == "played"
    sure = table((5, 0, 5), unsure=frozenset({2}))
    lay(sure, "9h", 3)
    assert sure.position.pile[-1].state == "dead"
    king = table((5, 0, 5), unsure=frozenset({2}), cards="Kh", phase=Challenge(1, 2, "Kh", "c1", 3))
    lay(king, "9h", 3)
    assert king.position.challenge == Challenge(1, 3, "Kh", "c1", 2)


def test_a_lead_shows_that_the_last_pile_is_gone() -> None:
    """Reading 3; after a dead heat people may say later whose it was."""
    won = table(cards="7h 7c", phase=Claim(3, "slap", "s1", 3))
    lay(won, "9h", 3)
    assert ruled(won)[:2] == ["pile seat=3 count=2", "lead seat=3"]
    assert [laid.card for laid in won.position.pile] == ["9h"]
    other = table(cards="7h 7c", phase=Claim(3, "slap", "s1", 3))
    lay(other, "9h", 1)
    assert ruled(other) == ["dead_card seat=1 reason=out_of_turn"]
    tied = table(cards="7h 7c", phase=DeadHeat((1, 3)))
    lay(tied, "9h", 3)
    assert ruled(tied)[0] == "lead seat=3"
    assert (tied.position.in_limbo, set(tied.position.unsure), tied.position.turn) == (2, {1, 3}, 1)
    open_ = table(cards="7h 7c", phase=OpenLead((1, 3)))
    lay(open_, "9h", 1)
    assert (open_.position.in_limbo, open_.position.turn) == (2, 2)


def test_a_lead_that_may_be_several_seats_comes_from_the_cards_without_a_holder() -> None:
    """K3: it is no player's, so that no card is counted twice, and no seat is paid for it."""
    tied = table(cards="7h 7c", phase=DeadHeat((1, 3)), known=(("2h",) * 5, (), ("3h",) * 5))
    lay(tied, "Kh", None)
    assert ruled(tied) == ["question ask=who_played"]
    after = tied.position
    assert (after.counts, after.in_limbo, len(after.pile), set(after.unsure)) == ((5, 5, 5), 1, 1, {1, 3})
    assert (after.turn, after.challenge, after.known) == (None, None, ((), (), ()))
    lay(tied, "4h", 2)
    assert (tied.position.turn, tied.position.challenge, tied.position.counts) == (None, None, (5, 4, 5))
    lay(tied, "Qh", 1)
    assert tied.position.challenge == Challenge(1, 2, "Qh", "now", 2)
    for row in ("F3", "F12"):
        unpaid = table(cards="7h 7c", phase=DeadHeat((1, 3)), on=row)
        lay(unpaid, "9h", None)
        false_slap(unpaid, 2)
        assert ruled(unpaid) == ["question ask=who_played"]
    reported = table(cards="7h 7c", phase=DeadHeat((1, 3)))
    lay(reported, "9h", None)
    foul(reported, 2, "out_of_turn")
    assert (reported.position.counts, reported.position.in_limbo) == ((5, 4, 5), 2)
    counted = table(cards="", phase=OpenLead((1, 3)))
    lay(counted, "9h", None)
    assert ruled(counted)[0] == "lead seat=1"


def test_the_last_chance_counts_the_cards_and_the_clock_runs_after_the_last() -> None:
    step = table((3, 0, 0), phase=LastChance(1, 2))
    lay(step, "Kh", 1)
    assert step.position.phase == LastChance(1, 1, None, "now")
    last = Step(step.position, 101 * S, "next")
    lay(last, "9h", 1)
    assert last.position.phase == LastChance(1, 0, 103 * S, "next")
    empty = table((1, 0, 0), phase=LastChance(1, 2))
    lay(empty, "9h", 1)
    assert empty.position.phase == LastChance(1, 0, 102 * S, "now")


# Piles


def test_a_pile_goes_under_its_winners_cards_and_is_remembered_in_order() -> None:
    step = table((2, 5, 5), cards="7h 7c 7d", phase=Claim(1, "slap", "s1", 1), unread=frozenset({"c9"}), paid=2)
    pick_up(step)
    after = step.position
    assert (after.counts, after.known[0], after.pile) == ((5, 5, 5), ("7h", "7c", "7d"), ())
    assert (after.paid, set(after.unread)) == (0, set())
    assert rows(step) == [("pile", ("C8",)), ("lead", ("M1",))]
    shuffled = table((2, 5, 5), cards="7h 7c", off="C8", phase=Claim(1, "challenge", "c2", 1))
    pick_up(shuffled)
    assert shuffled.position.known[0] in ((), ("", "")), "its order is not known where it may change"
    assert rows(shuffled)[-1] == ("lead", ("C5",))


def test_odd_cards_of_a_pile_that_is_shared_go_to_the_earlier_hands() -> None:
    step = table(cards="7h 7c 7d 7s 2h", phase=Claim(3, "slap", "s1", 3, (3, 1)))
    pick_up(step)
    assert ruled(step)[:2] == ["pile seat=3 count=3", "pile seat=1 count=2"]
    assert step.position.counts == (7, 5, 8)


def test_debts_are_paid_clockwise_from_whatever_pile_is_won() -> None:
    """F6d; a seat that pays out all of it is out again."""
    step = table((0, 5, 5), cards="7h 7c 7d", on="F6d", phase=Claim(1, "slap", "s1", 1), debts=(2, 0, 1))
    pick_up(step)
    assert ruled(step)[1:3] == ["give seat=1 to=2 count=1", "give seat=1 to=3 count=1"]
    assert (step.position.counts, step.position.debts) == ((1, 6, 6), (0, 0, 1))
    poor = table((0, 5, 5), cards="7h 7c 7d", on="F6d", phase=Claim(1, "slap", "s1", 1), debts=(5, 0, 0))
    pick_up(poor)
    assert poor.position.debts == (2, 0, 0)
    assert "out seat=1" in ruled(poor) and "lead seat=2" in ruled(poor)
    challenged = table(
        (0, 5, 5), cards="7h 7c", on="F6d", phase=Claim(1, "challenge", "c2", 1), debts=(1, 0, 0), false_run=3
    )
    pick_up(challenged)
    assert challenged.position.debts == (0, 0, 0), "what was won by a challenge pays, too"
    assert challenged.position.false_run == 0, "and yet false slaps count from one again (F2)"


def test_the_turn_goes_on_after_a_slap_where_that_is_agreed() -> None:
    """N2."""
    for on, leads in (("", 3), ("N2", 1)):
        step = table(cards="7h 7c", on=on)
        claim_by_slap(step, 3, "s1")
        assert step.position.phase == Claim(3, "slap", "s1", leads)
        pick_up(step)
        assert ruled(step)[-1] == f"lead seat={leads}"
    empty = table((0, 5, 5), cards="7h 7c", on="N2")
    claim_by_slap(empty, 3, "s1")
    assert empty.position.turn == 3
    emptied = table((0, 5, 5), cards="7h 7c", on="N2", phase=Claim(3, "slap", "s1", 1))
    pick_up(emptied)
    assert ruled(emptied)[-1] == "lead seat=2"


def test_a_pile_that_nobody_knows_the_owner_of_is_in_limbo() -> None:
    step = table(cards="7h 7c 7d", phase=DeadHeat((1, 3)), unread=frozenset({"c1"}), paid=1)
    hold_provisionally(step, 3)
    after = step.position
    assert (after.pile, after.in_limbo, set(after.unsure), set(after.unread), after.paid) == ((), 3, {1, 3}, set(), 0)
    assert after.phase == Turn(3)
    claimed = table(cards="7h", phase=Claim(2, "unread", "c1", 2), absent=frozenset({3}), in_limbo=2)
    hold_provisionally(claimed, 1)
    assert (set(claimed.position.unsure), claimed.position.in_limbo) == ({1, 2}, 3)


# Faults


@pytest.mark.parametrize(
    ("on", "values", "wanted", "counts"),
    [
        ("", {}, ["burn seat=2 count=1 where=bottom"], (5, 4, 5)),
        ("", {"F1": 3}, ["burn seat=2 count=3 where=bottom"], (5, 2, 5)),
        ("F4", {}, ["burn seat=2 count=1 where=top"], (5, 4, 5)),
        ("F3", {}, ["pile seat=3 count=3", "lead seat=3"], (5, 5, 8)),
        ("N9", {}, ["pile seat=3 count=3", "lead seat=3"], (5, 5, 8)),
        ("N8", {}, ["locked_out seat=2 until=cards"], (5, 5, 5)),
        ("F12", {"F12": 2}, ["give seat=2 to=3 count=2"], (5, 3, 7)),
    ],
)
def test_what_a_false_slap_costs(on: str, values: dict[str, Any], wanted: list[str], counts: tuple[int, ...]) -> None:
    step = table(cards="2s 3s 4s", on=on, values=values)
    false_slap(step, 2)
    assert [line for line in ruled(step) if not line.startswith("turn")] == wanted
    assert step.position.counts == counts
    assert (step.position.false_run, set(step.position.convicted)) == (1, {2})
    assert step.position.verdicts == (SeatVerdict(2, "slap", False, "now"),)


def test_a_burn_grows_and_takes_what_is_left_and_is_free_after_a_last_chance() -> None:
    grown = table((5, 2, 5), cards="2s", on="F2", false_run=2)
    false_slap(grown, 2)
    assert (ruled(grown)[0], rows(grown)[0]) == ("burn seat=2 count=2 where=bottom", ("burn", ("F2",)))
    free = table(cards="2s", on="M13", final=True)
    false_slap(free, 2)
    assert (free.drafts, free.position.counts, set(free.position.convicted)) == ([], (5, 5, 5), {2})
    once = table(cards="2s", on="N7")
    false_slap(once, 2)
    false_slap(once, 2)
    assert once.position.counts == (5, 4, 5) and set(once.position.penalised) == {2}
    nothing = table(cards="2s")
    burn(nothing, 2, 0, "F10")
    assert nothing.drafts == []


@pytest.mark.parametrize(
    ("on", "off", "wanted"),
    [
        ("", "", ["strike seat=2 strikes=1"]),
        ("F6b", "", ["locked_out seat=2 until=pile"]),
        ("F6c", "", ["locked_out seat=2 until=game"]),
        ("F6d", "", []),
        ("F6e", "", ["locked_out seat=2 until=rounds"]),
        ("F6f", "", ["locked_out seat=2 until=pile"]),
        ("F11", "F6a", ["remind what=heckle"]),
    ],
)
def test_what_a_false_slap_costs_a_player_without_cards(on: str, off: str, wanted: list[str]) -> None:
    step = table((5, 0, 5), cards="2s 3s 4s", on=on, off=off)
    false_slap(step, 2)
    assert ruled(step) == wanted
    assert step.position.debts == ((0, 1, 0) if on == "F6d" else (0, 0, 0))
    assert step.position.strikes == ((0, 1, 0) if not on else (0, 0, 0))


def test_after_the_last_strike_and_beyond_the_limit_of_debts_there_are_no_more_slaps() -> None:
    for strikes, locked in ((1, False), (2, True)):
        step = table((5, 0, 5), cards="2s", strikes=(0, strikes, 0))
        false_slap(step, 2)
        assert (2 in step.position.locked_out) == locked
    for debt, locked in ((4, False), (5, True)):
        step = table((5, 0, 5), cards="2s", on="F6d", debts=(0, debt, 0))
        false_slap(step, 2)
        assert (2 in step.position.locked_out) == locked


@pytest.mark.parametrize(
    ("name", "on", "wanted"),
    [
        ("peek", "S6", ["foul seat=2", "burn seat=2 count=1 where=bottom"]),
        ("peek", "", ["foul seat=2"]),
        ("peek", "F10", ["foul seat=2", "burn seat=2 count=1 where=bottom"]),
        ("snap", "F10 S8", ["foul seat=2"]),
        ("shove", "F10", ["foul seat=2", "burn seat=2 count=1 where=bottom"]),
        ("watch", "S7", ["foul seat=2", "remind what=rings"]),
        ("watch", "", ["foul seat=2"]),
        ("slapped_pile", "F10", ["remind what=slap_your_pad"]),
        ("hover", "", ["foul seat=2"]),
    ],
)
def test_what_a_reported_foul_costs(name: str, on: str, wanted: list[str]) -> None:
    step = table(cards="2s", on=on)
    foul(step, 2, name)
    assert ruled(step) == wanted
    assert set(step.position.hovering) == ({(2, 1)} if name == "hover" else set())


def test_the_second_of_two_cards_drawn_at_once_is_dead_and_what_it_did_is_undone() -> None:
    step = table(on="F9", cards="2s", phase=Turn(2))
    lay(step, "Kh", 2)
    reported = Step(step.position, 101 * S, "f1")
    foul(reported, 2, "double_draw")
    assert ruled(reported)[:2] == ["foul seat=2", "dead_card seat=2 reason=double_draw"]
    assert reported.position.phase == Turn(2)
    assert reported.position.pile[-1].state == "dead"
    again = Step(reported.position, 102 * S, "f2")
    foul(again, 2, "double_draw")
    assert ruled(again) == ["foul seat=2"], "it is dead already"
    nobodys = table(on="F9", cards="2s")
    foul(nobodys, 3, "double_draw")
    assert ruled(nobodys) == ["foul seat=3"]
    burned = table(on="F9", cards="2s 3s", values={"F9": "burn", "F1": 2})
    foul(burned, 2, "double_draw")
    assert ruled(burned) == ["foul seat=2", "burn seat=2 count=2 where=bottom"]
    played_on = table(on="F9", cards="2s Kh 9h", phase=Challenge(2, 3, "Kh", "c2", 2))
    foul(played_on, 2, "double_draw")
    assert ruled(played_on)[-1] == "question ask=who_played"
    slapped = table(on="F9", cards="2s 2h", phase=War((1, 3)))
    foul(slapped, 2, "double_draw")
    assert slapped.position.war == War((1, 3))


def test_what_a_second_card_paid_and_whether_it_was_the_last_chance_is_undone() -> None:
    """Reading 16."""
    before = Challenge(1, 2, "Jh", "c1", 1)
    step = table(on="F9", cards="Jh", phase=before, said="3", calling="4")
    lay(step, "9h", 2)
    assert (step.position.paid, step.position.said, step.position.final) == (1, "4", True)
    reported = Step(step.position, 101 * S, "f1")
    foul(reported, 2, "double_draw")
    assert (reported.position.paid, reported.position.said, reported.position.final) == (0, "3", False)
    assert reported.position.phase == before


def test_three_of_a_kind_end_the_game_however_much_lies_under_them() -> None:
    """P16."""
    for under in ("7h 7c", "2s 7h 7c", "2s 3d 4c 7h 7c"):
        step = table(cards=under, on="P16", values={"P16": "ends_game"})
        lay(step, "7d", 1)
        assert step.position.over
    other = table(cards="7h 7c", on="P16", values={"P16": "slap"})
    lay(other, "7d", 1)
    assert not other.position.over


def test_a_card_that_comes_in_a_pause_begins_its_time_anew() -> None:
    """Reading 17."""
    step = table(cards="2s", paused_at=50 * S, still=7)
    lay(step, "9h", 1)
    assert (step.position.paused_at, step.position.still) == (100 * S, 0)


def test_a_player_who_cannot_be_the_one_to_pay_leads_though_the_last_chance_was_not_read() -> None:
    """Reading 10."""
    unread = Claim(1, "unread", "c2", 1)
    lead = table(cards="Jh ??", phase=unread, unread=frozenset({"c2"}))
    lay(lead, "9h", 1)
    assert (lead.position.in_limbo, [laid.card for laid in lead.position.pile]) == (2, ["9h"])
    may_pay = table(cards="Jh ??", phase=unread, unread=frozenset({"c2"}))
    lay(may_pay, "9h", 3)
    assert (may_pay.position.in_limbo, ruled(may_pay)[0]) == (0, "question ask=who_played")
    either = table((5, 5), cards="Jh ??", phase=unread, unread=frozenset({"c2"}))
    lay(either, "9h", 1)
    assert (len(either.position.pile), ruled(either)[0]) == (3, "question ask=who_played")
    assert either.position.phase == unread, "it may pay a face card's challenge, or lead"


def test_a_card_that_nobody_was_seen_to_lay_while_war_is_played_is_asked_about() -> None:
    """M4: any of those who play may have laid it."""
    step = table(cards="7h 7c", phase=War((1, 3)))
    lay(step, "9h", None)
    assert ruled(step) == ["question ask=who_played"]
    assert step.position.pile[-1].state == "dead"


def test_each_card_begins_anew_what_lasts_until_the_next() -> None:
    step = table(cards="2s", penalised=frozenset({2}), still=5, on="N7")
    lay(step, "9h", 1)
    assert (set(step.position.penalised), step.position.still, step.position.final) == (set(), 0, False)


def test_a_contest_is_settled_from_the_record() -> None:
    right, wrong = SeatVerdict(2, "slap", True, "s1"), SeatVerdict(2, "take", False, "t1")
    step = table(on="F5", verdicts=(wrong, right))
    contest(step, (1, 3, 1, 9, 2), 2, None)
    assert step.drafts[0].fields == {"against": 2, "by": [1, 3], "upheld": True}
    assert ruled(step)[1:3] == ["give seat=1 to=2 count=1", "give seat=3 to=2 count=1"]
    named = table((5, 1, 5), on="F5", verdicts=(wrong, right))
    contest(named, (1, 3), 2, "t1")
    assert named.drafts[0].fields["upheld"] is False
    assert [line for line in ruled(named) if "give" in line] == ["give seat=2 to=1 count=1"], "it has no more"
    nothing = table(on="F5", verdicts=(right,))
    contest(nothing, (1,), 2, "s7")
    assert ruled(nothing) == ["question ask=nothing_to_contest"]
    off = table(verdicts=(right,))
    contest(off, (1,), 2, None)
    assert off.drafts == []


def test_a_penalty_gives_the_pile_away_at_once() -> None:
    step = table(cards="2s 3s", false_run=3)
    give_pile(step, Player(3), "F3")
    assert ruled(step) == ["pile seat=3 count=2", "lead seat=3"]
    assert (step.position.turn, step.position.false_run, step.position.pile) == (3, 0, ())


# Leaving


@pytest.mark.parametrize(
    ("word", "wanted", "counts"),
    [
        ("pile", ["out seat=2", "burn seat=2 count=5 where=bottom"], (5, 0, 5)),
        ("others", ["out seat=2", "give seat=2 to=3 count=3", "give seat=2 to=1 count=2"], (7, 0, 8)),
    ],
)
def test_a_player_who_leaves_leaves_the_cards_there(word: str, wanted: list[str], counts: tuple[int, ...]) -> None:
    step = table(on="E8", values={"E8": word}, cards="2s 3s 4s")
    leave(step, 2)
    assert ruled(step) == wanted
    assert (step.position.counts, set(step.position.absent)) == (counts, {2})
    again = Step(step.position, 101 * S, "again")
    leave(again, 2)
    assert again.drafts == [], "once"
    for seat, more in ((4, {}), (2, {"phase": Over(1)})):
        nobody = table(on="E8", **more)  # type: ignore[arg-type]
        leave(nobody, seat)
        assert nobody.drafts == []


def test_cards_of_who_leaves_go_to_those_who_are_there_and_unknown_ones_are_asked_about() -> None:
    one = table((5, 5, 0), on="E8", values={"E8": "others"}, absent=frozenset({3}), cards="2s")
    leave(one, 2)
    assert ruled(one)[:2] == ["out seat=2", "give seat=2 to=1 count=5"]
    assert one.position.counts == (10, 0, 0)
    for word in ("others", "pile"):
        unknown = table((5, None, 5), on="E8", values={"E8": word})
        leave(unknown, 2)
        assert ruled(unknown)[:2] == ["out seat=2", "question ask=recount"]
        assert unknown.position.counts == (5, 0, 5)


@pytest.mark.parametrize(
    ("counted", "asked"), [({}, True), ({"is_counted": False}, True), ({"is_counted": True}, False)]
)
def test_who_leaves_may_hold_a_pile_that_is_not_awarded_yet(counted: dict[str, bool], asked: bool) -> None:
    """E8: the others are counted then, unless the player's own count is certain all the same."""
    step = table(on="E8", unsure=frozenset({2}))
    leave(step, 2, **counted)
    assert ("question ask=recount" in ruled(step)) is asked


@pytest.mark.parametrize(
    ("phase", "after"),
    [
        (Turn(2), Turn(3)),
        (Turn(1), Turn(1)),
        (Claim(3, "slap", "s1", 3), Claim(3, "slap", "s1", 3)),
        (Claim(1, "slap", "s1", 2), Claim(1, "slap", "s1", 3)),
        (OpenLead((1, 2, 3), 3), OpenLead((1, 3), 3)),
        (OpenLead((1, 2, 3), 2), OpenLead((1, 3), 1)),
    ],
)
def test_whose_turn_it_is_when_somebody_has_left(phase: Any, after: Any) -> None:
    step = table(on="E8", cards="2s", phase=phase)
    leave(step, 2)
    assert step.position.phase == after


def test_the_last_one_left_at_the_table_has_won() -> None:
    step = table((5, 5), on="E8")
    leave(step, 2)
    assert step.drafts[-1].kind == "won" and step.drafts[-1].rule == ("E8",)
    assert step.position.phase == Over(1)


def test_when_nobody_lost_a_card_nobody_is_out() -> None:
    step = table((5, 0, 5))
    settle(step)
    assert ruled(step) == []


def test_in_an_open_turn_only_played_cards_may_have_challenged() -> None:
    """A face card that is dead in the pile asks for nothing."""
    dead = table(cards="7h", phase=Turn(None))
    dead.set(pile=(dead.position.pile[0]._replace(card="Kh", state="dead"),))
    lay(dead, "5c", 2)
    assert dead.position.turn == 3
    played = table(cards="Kh", phase=Turn(None))
    lay(played, "5c", 2)
    assert played.position.turn is None


def after_gap(card: str, cards: str = "7h 7c", **more: Any) -> Step:
    """Return the table once a card was laid after a gap, by the second seat."""
    drift = Drift("gap", 9 * S, 99 * S, asked=False)
    step = table(cards=cards, phase=Turn(None), drift=drift, laid=5, **more)
    lay(step, card, 2)
    return step


def test_a_card_after_a_gap_counts_as_laid() -> None:
    after = after_gap("5c", paid=2, said="7", penalised=frozenset({2}), still=5, final=True).position
    assert (after.laid, after.counts, after.latest, after.emptied) == (6, (5, 4, 5), "now", 0)
    assert after.pile[-1] == Laid("5c", "now", 100 * S, 2, "played")
    assert (after.paid, after.said, set(after.penalised), after.still, after.final) == (0, "", set(), 0, False)
    assert (after.covered.paid, after.covered.said, after.phase) == (2, "7", Turn(None))
    assert after_gap("5c", counts=(5, 1, 5)).position.emptied == 2


def test_a_face_card_challenges_after_a_gap_and_a_pause_ends_with_it() -> None:
    assert after_gap("Kc").position.challenge == Challenge(2, 3, "Kc", "now", 3)
    assert after_gap("Kc", off="C4").position.phase == Turn(None), "another's challenge may stand"
    paused = after_gap("5c", paused_at=50 * S, still=7).position
    assert (paused.paused_at, paused.still) == (100 * S, 0)
    locked = after_gap("5c", on="N8", locks=(Lock("cards", "N8", 1), None, None))
    assert locked.position.locks[0] is None


def test_a_rank_that_was_called_before_a_gap_belongs_to_the_card_after_it() -> None:
    step = after_gap("5c", calling="5")
    assert (step.position.said, step.position.calling) == ("5", "")


def test_an_unread_card_after_a_gap_is_asked_about() -> None:
    assert "question ask=unreadable_card" in ruled(after_gap("??"))
    assert "question ask=unreadable_card" not in ruled(after_gap("5c"))
    assert set(after_gap("??", "7h ??", unread=frozenset({"c2"})).position.unread) == {"c2", "now"}


def test_three_of_a_kind_may_end_the_game_after_a_gap() -> None:
    ends: dict[str, Any] = {"on": "P16", "values": {"P16": "ends_game"}}
    assert isinstance(after_gap("7d", **ends).position.phase, Over)
    assert not isinstance(after_gap("7d", on="P16", values={"P16": "slap"}).position.phase, Over)
    assert after_gap("6d", "6h 6c", on="P16b").position.closed
    assert not after_gap("6d", "6h 6c", on="P16b", values={"P16b": "slapped"}).position.closed
    assert not after_gap("6d", "6h 6c").position.closed


@pytest.mark.parametrize(
    ("held", "unsure", "asked"), [(1, {3}, True), (3, {3}, True), (4, {3}, False), (1, (), False), (1, {2}, False)]
)
def test_a_card_past_a_seat_that_may_be_empty_is_asked_about(held: int, unsure: set[int], asked: bool) -> None:
    """An uncertain count of one may be none, so the next seat's card may be in turn."""
    king = Challenge(2, 3, "Kh", "c1", 3)
    step = table((5, 5, held, 5), unsure=frozenset(unsure), cards="Kh", phase=king)
    lay(step, "9c", 4)
    assert ("question ask=who_played" in ruled(step)) is asked
    assert any(draft.kind == "dead_card" for draft in step.drafts) is not asked


def test_the_agreed_number_of_piles_ends_the_game_before_a_card_that_leads_is_laid() -> None:
    """E7: the pile of the dead heat, whose owner is open, was the last."""
    step = table(cards="7h 7c", on="E7", values={"E7": {"piles": 1}}, phase=DeadHeat((1, 3)))
    lay(step, "9h", None)
    assert step.position.over and step.position.pile == ()


def test_the_last_card_to_turn_may_go_as_a_penalty() -> None:
    """E2: the two seconds begin then."""
    step = table((1, 0, 0), cards="2s", phase=LastChance(1, 2))
    false_slap(step, 1)
    assert step.position.phase == LastChance(1, 0, 102 * S, "now")


@pytest.mark.parametrize(
    ("counts", "known", "asked"),
    [
        ((5, 5, 5), ((), (), ()), []),
        ((5, 5, 0), ((), (), ()), ["question ask=recount"]),
        ((5, 5, 5), ((), (), ("9d", "", "", "", "")), ["question ask=impossible_card"]),
        ((5, 5, 5), ((), (), ("9d", "2s", "", "", "")), ["question ask=order_changed"]),
        ((5, 5, 5), ((), (), ("2s", "", "", "", "")), []),
    ],
)
def test_a_card_that_is_reported_out_of_turn_comes_from_the_stack_of_its_player(
    counts: tuple[int, ...], known: tuple[tuple[str, ...], ...], asked: list[str]
) -> None:
    """F7: its count and its known cards are held against the card."""
    step = table(counts, cards="2s", known=known, phase=Turn(2))
    step.set(pile=(step.position.pile[0]._replace(seat_seen=False),))
    foul(step, 3, "out_of_turn")
    assert [line for line in ruled(step) if line.startswith("question")] == asked
    assert step.position.counts == (6, 5, max(counts[2] - 1, 0))
    assert set(step.position.unsure) == ({3} if counts[2] == 0 else set())


def test_a_penalty_card_on_top_is_not_the_one_that_is_paid_for() -> None:
    """F12, F4."""
    step = table(cards="2s 3s 4s", on="F12")
    step.set(pile=(*step.position.pile, Laid("??", "b1", 4 * S, 1, "burned", reveal=False)))
    false_slap(step, 2)
    assert ruled(step)[0] == "give seat=2 to=3 count=1"
