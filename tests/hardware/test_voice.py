"""What is said of each ruling."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.adjudication.rulings import LIFE, Ruling
from referee.app.voice import VOCABULARY, Priority, announce, margin, number, pad_stuck, phrase, seat


def ruled(kind: str, *, supersedes: tuple[str, ...] = (), **fields: Any) -> Ruling:
    return Ruling(kind, f"{kind}@1", 1_000, ("1",), ("M1",), fields, supersedes)


SAID = [
    (ruled("slap_won", seat=3, margin=14_500_000), "seat three wins the slap by fourteen milliseconds"),
    (ruled("slap_won", seat=3, margin=1_000_000), "seat three wins the slap by one millisecond"),
    (ruled("slap_won", seat=3, margin=900_000), "seat three wins the slap by less than one millisecond"),
    (ruled("slap_won", seat=3, margin=1_000_000_000), "seat three wins the slap by more than one second"),
    (ruled("slap_won", seat=3, margin=None), "seat three wins the slap"),
    (ruled("slap_false", seat=2, reason="no_pattern"), "seat two false slap"),
    (ruled("slap_false", seat=2, reason="dead_card"), "seat two false slap on a dead card"),
    (ruled("slap_void", seat=2, reason="locked_out"), "seat two is locked out"),
    (ruled("slap_void", seat=2, reason="late"), None),
    (ruled("burn", seat=2, count=1, where="bottom"), "seat two burns one card"),
    (ruled("burn", seat=2, count=2, where="bottom"), "seat two burns two cards"),
    (ruled("challenge", seat=1, challenged=2, card="Ah", chances=4), "seat two has four chances"),
    (ruled("chance", seat=2, left=3), "three chances left"),
    (ruled("chance", seat=2, left=1), "one chance left"),
    (ruled("challenge_moves", seat=3, left=2), "seat three goes on with two chances"),
    (ruled("challenge_won", seat=1), "seat one takes the pile"),
    (ruled("challenge_off"), "the challenge is off"),
    (ruled("pile", seat=1, count=27), "seat one picks up twenty seven cards"),
    (ruled("dead_heat", seats=[1, 4], margin=1, error=2), "tie between seat one and seat four"),
    (ruled("dead_heat", seats=[1, 2, 4]), "tie between seat one seat two and seat four"),
    (ruled("question", ask="who_was_first", about=["s1"]), "who was first"),
    (ruled("question", ask="something_new", about=[]), "please look at the screen"),
    (ruled("out", seat=4), "seat four is out"),
    (ruled("slapped_in", seat=4), "seat four is back in the game"),
    (ruled("won", seat=8), "seat eight wins the game"),
    (ruled("lost", seat=2), "seat two loses the game"),
    (ruled("drawn"), "the game is a draw"),
    (ruled("dead_card", seat=2, card="7h", reason="out_of_turn"), "seat two played out of turn dead card"),
    (ruled("dead_card", seat=2, card="7h", reason="double_draw"), "seat two drew two cards dead card"),
    (ruled("strike", seat=2, strikes=2), "seat two strike two"),
    (ruled("locked_out", seat=2, until="game"), "seat two no more slaps this game"),
    (ruled("locked_out", seat=2, until="pile"), "seat two no slaps until the pile is won"),
    (ruled("remind", what="slap_your_pad"), "slap your pad and not the pile"),
    (ruled("remind", what="rings"), "please take off rings and watches"),
    (ruled("give", seat=1, to=2, count=1), "seat one gives one card to seat two"),
    (ruled("foul", seat=1, foul="peek"), "seat one foul"),
    (ruled("contested", against=1, by=[2], upheld=True), "the contest against seat one is upheld"),
    (ruled("repeated", cards=12), "this position was here before"),
    (ruled("lead", seat=1), None),
    (ruled("turn", seat=1), None),
]


@pytest.mark.parametrize(("ruling", "said"), SAID, ids=[f"{ruling.kind}-{said}" for ruling, said in SAID])
def test_a_ruling_is_said_as_people_say_it(ruling: Ruling, said: str | None) -> None:
    found = phrase(ruling)
    assert (None if found is None else found.text) == said
    assert found is None or set(found.clips) <= set(VOCABULARY)


def test_every_kind_of_ruling_is_tried() -> None:
    assert {ruling.kind for ruling, _ in SAID} >= set(LIFE) - {"corrected"}


def test_a_penalty_follows_its_false_slap_in_one_breath() -> None:
    rulings = [
        ruled("slap_false", seat=2, reason="no_pattern"),
        ruled("burn", seat=2, count=1),
        ruled("slap_false", seat=3, reason="no_pattern"),
        ruled("strike", seat=3, strikes=3),
        ruled("locked_out", seat=3, until="game"),
        ruled("out", seat=2),
        ruled("turn", seat=1),
    ]
    assert [one.text for one in announce(rulings)] == [
        "seat two false slap burn one card",
        "seat three false slap strike three no more slaps this game",
        "seat two is out",
    ]


def test_verdicts_interrupt_and_counts_do_not() -> None:
    won, count = phrase(ruled("slap_won", seat=1)), phrase(ruled("chance", left=2))
    assert won is not None
    assert count is not None
    assert (won.urgent, won.priority, count.urgent) == (True, Priority.VERDICT, False)


def test_a_changed_ruling_is_spoken_as_a_correction() -> None:
    changed = phrase(ruled("slap_won", seat=1, supersedes=("slap_won@s1",)))
    assert changed is not None
    assert changed.text == "correction seat one wins the slap"


@settings(deadline=None)
@given(st.integers(0, 999))
def test_every_number_has_words_that_are_rendered(value: int) -> None:
    assert set(number(value)) <= set(VOCABULARY)


def test_numbers_sound_right_and_differ() -> None:
    assert " ".join(number(0)) == "zero"
    assert " ".join(number(120)) == "one hundred and twenty"
    assert " ".join(number(999)) == "nine hundred and ninety nine"
    assert len({number(value) for value in range(1000)}) == 1000
    with pytest.raises(ValueError, match="only 0 to 999"):
        number(1000)
    with pytest.raises(ValueError, match="seats are 1 to 8"):
        seat(9)


@settings(deadline=None)
@given(st.integers(0, 10**12))
def test_every_margin_can_be_said(ns: int) -> None:
    assert set(margin(ns)) <= set(VOCABULARY)


def test_a_stuck_pad_is_announced() -> None:
    assert pad_stuck(2, 5).text == "seat two your pad is stuck"
    assert set(pad_stuck(2, 5).clips) <= set(VOCABULARY)
