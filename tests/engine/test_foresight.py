"""The predictions of deck memory, and cards that it says cannot be there (K2, K7)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from referee.engine.adjudicator import Adjudicator
from referee.engine.foresight import Foresight
from referee.engine.log import decode_line, encode_observation
from referee.engine.observations import Card, LogError, Observation, Taken, Tick
from referee.rules.cards import JOKERS, PACK
from tests.play import MS, brief, everything, log, rule

WON = """
    1000 1:7h
    2000 2:7c
    2300 slap 3
    3000 taken 3
"""
"""Cho, who had no cards, now holds the seven of hearts and under it that of clubs."""
COUNTS: dict[str, Any] = {"counts": [5, 5, 0]}


def told(text: str, upto: int | None = None, **table: Any) -> Adjudicator:
    """Return a referee with a log and a tick up to ``upto`` (ms)."""
    referee = Adjudicator(lookahead_ns=10 * MS)
    for line in log(text, **table):
        referee.observe(line)
    if upto is not None:
        referee.observe(Tick(t=upto * MS))
    return referee


def foreseen(text: str, upto: int | None = None, **table: Any) -> Foresight:
    foresight = told(text, upto, **table).foresight
    assert foresight is not None
    return foresight


def test_a_stack_that_was_won_is_foreseen_card_by_card() -> None:
    foresight = foreseen(WON, 9000, **COUNTS)
    assert foresight.stacks == ((), (), ("7h", "7c"))
    assert foresight.may_come("7h", 3) and not foresight.may_come("7c", 3) and not foresight.may_come("Kd", 3)


def test_a_card_whose_place_is_known_can_come_from_nowhere_else() -> None:
    foresight = foreseen(WON, 9000, **COUNTS)
    assert not foresight.may_come("7h", 1) and foresight.may_come("Kd", 1)
    assert foresight.may_come("7h", None), "the hand is unknown: it may be Cho's"
    assert not foresight.may_come("7c", None)
    assert not foreseen("1000 1:7h", 9000).may_come("7h", 2)


def test_two_packs_have_two_of_each_and_none_has_a_joker_unless_it_was_said() -> None:
    assert foreseen("1000 1:7h", 9000, packs=2).may_come("7h", 2)
    assert not foreseen("1000 1:7h\n2000 2:7h", 9000, packs=2).may_come("7h", 3)
    assert not foreseen("1000 1:7h", 9000).may_come("Xr", 2)
    assert foreseen("1000 1:7h", 9000, jokers=1).may_come("Xr", 2)
    assert not foreseen("1000 1:Xb", 9000, jokers=1).may_come("Xr", 2)
    assert not foreseen("1000 1:Xr", 9000, jokers=1).may_come("Xb", 2)
    assert foreseen("1000 1:Xr", 9000, jokers=2).may_come("Xb", 2)
    assert foreseen("1000 1:Xr", 9000, jokers=2).may_come("Xr", 2), "which of them is which colour was not said"
    assert not foreseen("1000 1:Xr\n2000 2:Xb", 9000, jokers=2).may_come("Xr", 3)
    assert foreseen("1000 1:7h", 9000).pack == PACK
    assert foreseen("1000 1:7h", 9000, jokers=1).pack == (*PACK, *JOKERS)


def test_a_card_that_still_waits_to_be_judged_is_not_foreseen_again() -> None:
    """The watermark stands before Cho's seven of hearts: Cho's next card is still the other seven."""
    referee = told(WON + "4000 3:7h", 3999, **COUNTS)
    assert referee.view.expected[2] == "7h"
    assert referee.foresight is not None and referee.foresight.expected(3) == "7c"


@pytest.mark.parametrize("waiting", ["4000 ?:9d", "4000 taken 3", "4000 correct c1 {}", "4000 answer question@c1 1"])
def test_nothing_is_foreseen_while_it_is_not_sure_what_happened(waiting: str) -> None:
    assert told(WON + waiting, 3999, **COUNTS).foresight is None


def test_a_pile_that_was_won_may_be_picked_up_unseen() -> None:
    """Cho has no other cards, so Cho's next card is the pile's first."""
    foresight = foreseen("1000 1:7h\n2000 2:7c\n2300 slap 3", 9000, **COUNTS)
    assert foresight.expected(3) == "7h" and not foresight.may_come("7h", 1)


def test_foresight_goes_on_with_a_card_that_was_just_told() -> None:
    foresight = foreseen(WON, 9000, **COUNTS)
    later = foresight.after(3, "7h")
    assert later is not None and later.expected(3) == "7c" and not later.may_come("7h", 1)
    unread = foresight.after(3, "??")
    assert unread is not None and unread.expected(3) == "7c"
    other = foresight.after(1, "Kd")
    assert other is not None and not other.may_come("Kd", 2)
    assert foresight.after(None, "Kd") is None
    assert foresight.after(3, "Kd") is None, "memory was wrong: nothing is sure"


def test_a_seat_that_there_is_not_leaves_open_what_can_come() -> None:
    foresight = foreseen(WON, 9000, **COUNTS)
    assert foresight.expected(0) is foresight.expected(4) is foresight.expected(None) is None
    assert foresight.expected(3) == "7h"
    assert foresight.after(0, "Kd") is foresight.after(4, "Kd") is None
    assert foresight.after(1, "??") is foresight


def test_a_seat_whose_next_card_is_known_is_reckoned_with_where_nobody_saw_the_seat() -> None:
    """Two packs: one seven of hearts lies on the pile's way, the other may come from anywhere."""
    one = Foresight(stacks=((), ("7h",)), placed=("7h",))
    assert one.may_come("7h", None) and not one.may_come("7h", 1)
    both = Foresight(stacks=(("7h",), ("7h",)), placed=("7h", "7h"), packs=2)
    assert both.may_come("7h", None) and both.may_come("7h", 1) and not both.may_come("7c", 2)
    assert not Foresight(placed=("7h",)).may_come("7h", None)
    assert Foresight(placed=("7h",), packs=2).may_come("7h", None)
    assert Foresight() == Foresight((), (), 1, 0)


@pytest.mark.parametrize("rules", [{"off": ["K2"]}, {"off": ["S2"]}])
def test_without_deck_memory_nothing_is_foreseen(rules: dict[str, Any]) -> None:
    assert told(WON, 9000, rules={"base": "classic", **rules}, **COUNTS).foresight is None


# Contradictions

REORDERED = WON + "4000 3:7c\n5000 1:2d"


def test_the_question_names_both_possibilities() -> None:
    assert [r["cards"] for r in rule(log(REORDERED, **COUNTS)) if r.kind == "question"] == [["7c", "7h"]]
    impossible = rule(log(WON + "4000 3:Kd", **COUNTS))
    assert [(r["ask"], r["cards"]) for r in impossible if r.kind == "question"] == [("impossible_card", ["Kd", "7h"])]


def seen_as(lines: list[Observation], name: str, *candidates: tuple[str, float]) -> list[Observation]:
    return [
        replace(line, candidates=candidates) if isinstance(line, Card) and line.id == name else line for line in lines
    ]


def test_what_else_the_eye_took_it_for_is_named_unless_it_cannot_be_either() -> None:
    lines = seen_as(log("1000 1:7h\n2000 2:9c\n3000 3:7h"), "c3", ("7h", 0.93), ("9c", 0.04), ("7d", 0.02))
    (question,) = (r for r in rule(lines) if r.kind == "question")
    assert (question["ask"], question["cards"]) == ("impossible_card", ["7h", "7d"])


UNREAD = WON + "4000 3:??\n5000 1:2d"
IDEAS = (("Qs", 0.5), ("7c", 0.3), ("2c", 0.1))


def test_an_unread_card_is_asked_about_with_what_is_expected_and_what_it_may_be() -> None:
    """The seven of clubs is known to lie deeper in that stack."""
    (question,) = (r for r in rule(seen_as(log(UNREAD, **COUNTS), "c3", *IDEAS)) if r.kind == "question")
    assert (question["ask"], question["cards"]) == ("unreadable_card", ["7h", "Qs", "2c"])
    (bare,) = (r for r in rule(log(UNREAD, **COUNTS)) if r.kind == "question")
    assert "cards" not in bare.fields, "the eye had no idea"


def test_a_card_is_named_once_and_what_nobody_can_read_is_no_name() -> None:
    """Even where the eye, too, held memory's prediction likely."""
    lines = seen_as(log(UNREAD, **COUNTS), "c3", ("7h", 0.5), ("??", 0.3), ("Qs", 0.1))
    (question,) = (r for r in rule(lines) if r.kind == "question")
    assert question["cards"] == ["7h", "Qs"]


def test_the_answer_leaves_that_question_as_it_was() -> None:
    lines = log(UNREAD + '\n6000 answer question@c3 "7h"\n7000 2:3s\n8000 3:7c', **COUNTS)
    rulings = rule(seen_as(lines, "c3", *IDEAS))
    assert brief(rulings, "question") == ["question@c3 ask=unreadable_card"]
    assert next(r for r in rulings if r.kind == "question")["cards"] == ["7h", "Qs", "2c"]


def test_an_answer_puts_the_card_right_and_memory_holds() -> None:
    """The sevens were in order after all: Cho's next card is predicted again, and laid without a question."""
    text = REORDERED + '\n6000 answer question@c3 "7h"\n7000 2:3s\n8000 3:7c'
    rulings = rule(log(text, **COUNTS))
    assert brief(rulings, "question") == ["question@c3 ask=order_changed"]
    assert told(text.rsplit("\n", 1)[0], 9000, **COUNTS).view.expected[2] == "7c"


def test_an_answer_that_the_eye_was_right_stands_too() -> None:
    """The stack had been reordered: nothing is predicted of it, and the question is not repeated."""
    text = REORDERED + '\n6000 answer question@c3 "7c"\n7000 2:3s\n8000 3:7h'
    assert brief(rule(log(text, **COUNTS)), "question") == ["question@c3 ask=order_changed"]


def test_an_answer_may_name_a_third_card() -> None:
    text = REORDERED + '\n6000 answer question@c3 "Kd"'
    assert brief(rule(log(text, **COUNTS)), "question", "challenge") == [
        "challenge@c3 seat=3 challenged=1",
        "question@c3 ask=order_changed",
    ]


def test_a_second_answer_replaces_the_first_and_it_can_be_taken_back() -> None:
    twice = REORDERED + '\n6000 answer question@c3 "Kd"\n6500 answer question@c3 "7h"'
    assert not brief(rule(log(twice, **COUNTS)), "challenge")
    back = REORDERED + '\n6000 answer question@c3 "Kd"\n6500 correct a1 {"void": true}'
    assert not brief(rule(log(back, **COUNTS)), "challenge")


def test_an_answered_question_waits_no_more() -> None:
    assert told(REORDERED, 9000, **COUNTS).view.questions == ("question@c3",)
    assert not told(REORDERED + '\n6000 answer question@c3 "7h"', 9000, **COUNTS).view.questions


def test_rulings_are_the_same_in_every_order_of_arrival() -> None:
    lines = seen_as(log(REORDERED + '\n6000 answer question@c3 "7h"', **COUNTS), "c3", ("7c", 0.95), ("7h", 0.04))
    expected = everything(lines)
    assert len([ruling for ruling in expected if ruling.kind == "question"]) == 1
    assert everything([lines[0], *reversed(lines[1:])]) == expected


# The log


def test_candidates_are_kept_by_the_log() -> None:
    card = Card(t=1, id="c1", card="Qs", seat=2, confidence=0.93, candidates=(("Qs", 0.93), ("Qc", 0.05)))
    line = encode_observation(card)
    assert '"candidates":[["Qs",0.93],["Qc",0.05]]' in line
    assert decode_line(line, 1) == card
    assert "candidates" not in encode_observation(replace(card, candidates=()))


@pytest.mark.parametrize("value", ['"Qs"', '["Qs"]', '[["Qs"]]', '[["Qz",0.5]]', '[["Qs",2]]', "null"])
def test_candidates_that_are_none_are_refused(value: str) -> None:
    with pytest.raises(LogError, match="candidates"):
        decode_line(f'{{"kind":"card","t":1,"card":"Qs","candidates":{value}}}', 4)


def test_a_taken_pile_that_was_judged_is_no_reason_to_forget() -> None:
    referee = told(WON, 9000, **COUNTS)
    referee.observe(Taken(t=9_500 * MS, id="t9", seat=3))
    assert referee.foresight is None
    referee.observe(Tick(t=12_000 * MS))
    assert referee.foresight is not None


def test_which_cards_have_a_place_is_known_whatever_the_game_waits_for() -> None:
    """Even while the next card is open: two hands came down at once."""
    referee = told("1000 1:7h\n2000 2:7c\n2300 slap 3\n2300 slap 1", 4000)
    assert referee.foresight is None
    places = referee.places
    assert places is not None and sorted(places.placed) == ["7c", "7h"] and places.stacks == ()
    taken = told(WON, 9000, **COUNTS).places
    assert taken is not None and sorted(taken.placed) == ["7c", "7h"], "a pile that was taken lies in a stack"
    assert not taken.may_come("7h", None) and taken.may_come("8h", None)


def test_no_card_has_a_place_where_memory_is_off() -> None:
    assert Adjudicator().places is None
    assert told("1000 1:7h", 4000, rules={"base": "classic", "off": ["K2"]}).places is None
