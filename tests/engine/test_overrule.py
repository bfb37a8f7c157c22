"""The verdicts that people may substitute for a ruling, before any correction (K6)."""

from __future__ import annotations

from typing import Any

import pytest

from referee.engine.amendments import AmendmentError
from referee.engine.observations import Card, Correct, Slap, Table
from referee.engine.overrule import allows_corrections, apply_overrule, find_overrulable, read_overrule
from referee.engine.rulings import Ruling
from referee.rules.slap_verdict import Verdict

SECOND = 1_000_000_000
WON = Ruling("slap_won", "slap_won@s1", SECOND, ("s1", "c2"), ("P1",), {"seat": 3})
HANDS = (
    Slap(t=SECOND, id="s1", seat=3),
    Slap(t=11 * SECOND, id="s2", seat=1),
    Slap(t=11 * SECOND + 1, id="s3", seat=2),
    Slap(t=-9 * SECOND, id="s0", seat=4),
)


def test_of_a_slap_that_won_another_verdict_or_another_hand_on_that_pile() -> None:
    """Ten seconds before or after, to the nanosecond, it is the same pile."""
    may = find_overrulable(WON, HANDS, owner=None, is_on_record=True)
    assert may is not None
    assert may.verdicts == ("slap_false", "slap_void")
    assert may.seats == (1, 4)


@pytest.mark.parametrize(
    ("kind", "verdicts"),
    [("slap_false", ("slap_won", "slap_void")), ("slap_void", ("slap_won", "slap_false")), ("dead_card", ("in_turn",))],
)
def test_other_rulings_have_no_other_hand(kind: str, verdicts: tuple[str, ...]) -> None:
    may = find_overrulable(
        Ruling(kind, f"{kind}@s1", SECOND, ("s1",), (), {"seat": 3}), HANDS, owner=3, is_on_record=True
    )
    assert may == (verdicts, ())


def test_a_hand_on_an_empty_pile_cannot_be_said_to_have_won() -> None:
    """There is nothing to win."""
    for reason, verdicts in (("empty_pile", ("slap_false",)), ("late", ("slap_won", "slap_false"))):
        void = Ruling("slap_void", "slap_void@s1", SECOND, ("s1",), (), {"seat": 3, "reason": reason})
        assert find_overrulable(void, HANDS, owner=None, is_on_record=True) == (verdicts, ())


def test_no_other_kind_of_ruling_is_put_in_question() -> None:
    burn = Ruling("burn", "burn@s1", SECOND, ("s1",), (), {"seat": 3})
    assert find_overrulable(burn, HANDS, owner=3, is_on_record=True) is None


@pytest.mark.parametrize(
    ("kind", "owner", "may"), [("slap_won", 3, True), ("slap_won", 1, False), ("slap_false", 3, False)]
)
def test_before_it_is_on_record_only_the_slap_whose_pile_lies_there(kind: str, owner: int, may: bool) -> None:
    made = Ruling(kind, f"{kind}@s1", SECOND, ("s1",), (), {"seat": 3})
    assert (find_overrulable(made, HANDS, owner=owner, is_on_record=False) is not None) == may


def test_a_win_whose_hand_is_gone_has_no_other_hand() -> None:
    may = find_overrulable(WON, HANDS[1:], owner=None, is_on_record=True)
    assert may is not None and may.seats == ()


@pytest.mark.parametrize(
    ("rules", "allowed"),
    [("classic", True), ({"base": "classic", "off": ["K6"]}, False), ("nonsense", True), (7, True)],
)
def test_people_may_correct_unless_the_rules_forbid_it(rules: Any, allowed: bool) -> None:
    """Rules that cannot be read forbid nothing."""
    assert allows_corrections(Table(t=0, seats=("Ana", "Ben"), rules=rules)) is allowed


def test_what_people_say_stands_in_the_verdict() -> None:
    judged = Verdict("false", "no_pattern", ("F1",), because=("c2",))
    assert apply_overrule(judged, "false") is judged
    assert apply_overrule(judged, "won") == Verdict("won", "", ("K6",), because=("c2",))
    assert apply_overrule(judged, "void") == Verdict("void", "overruled", ("K6",), because=("c2",))


def said(made: Ruling, in_force: tuple[Ruling, ...] = (), **word: Any) -> dict[str, str]:
    void = bool(word.pop("void", False))
    by = Correct(t=30 * SECOND, id="x1", line=made.id, void=void, extra=word)
    return read_overrule(made, by, [*HANDS, Card(t=0, id="c1", card="7h")], in_force)


def test_what_each_word_says_of_each_slap() -> None:
    false = Ruling("slap_false", "slap_false@s1", SECOND, ("s1",), (), {"seat": 3})
    assert said(WON, void=True) == {"overrule@s1": "void"}
    assert said(false, void=True) == {"overrule@s1": "void"}
    assert said(WON, ruling="slap_false") == {"overrule@s1": "false"}
    assert said(false, ruling="slap_void") == {"overrule@s1": "void"}
    assert said(false, ruling="slap_won") == {"overrule@s1": "won"}
    assert said(WON, (WON,), seat=1) == {"overrule@s1": "void", "overrule@s2": "won"}
    assert said(WON, seat=4) == {"overrule@s0": "won"}


def test_hands_at_the_instant_of_the_one_that_was_first_are_void_too() -> None:
    hands = [Slap(t=SECOND, id="s1", seat=3), Slap(t=2 * SECOND, id="s2", seat=1), Slap(t=2 * SECOND, id="s3", seat=2)]
    by = Correct(t=30 * SECOND, id="x1", line=WON.id, extra={"seat": 1})
    assert read_overrule(WON, by, hands, (WON,)) == {
        "overrule@s1": "void",
        "overrule@s3": "void",
        "overrule@s2": "won",
    }


def test_a_pile_that_went_to_somebody_in_between_ends_what_is_ruled_anew() -> None:
    """Only hands since then were on the pile that the later hand wins."""
    pile = Ruling("pile", "pile@t1", 5 * SECOND, ("t1",), (), {"seat": 3})
    assert said(WON, (pile, WON), seat=1) == {"overrule@s2": "won"}
    later = Ruling("pile", "pile@t2", 12 * SECOND, ("t2",), (), {"seat": 1})
    assert said(WON, (later, WON), seat=1) == {"overrule@s1": "void", "overrule@s2": "won"}


@pytest.mark.parametrize(
    ("kind", "word", "words"),
    [
        ("slap_won", {}, 'the correction of "slap_won@s1" must say "void", "seat" or "ruling"'),
        ("slap_won", {"ruling": "burn"}, 'the correction of "slap_won@s1" must say "void", "seat" or "ruling"'),
        ("slap_won", {"seat": 2}, 'seat 2 did not slap near "s1"'),
        ("slap_void", {"void": True}, 'the correction of "slap_void@s1" must say "void", "seat" or "ruling"'),
        ("slap_void", {"seat": 1}, 'the correction of "slap_void@s1" must say "void", "seat" or "ruling"'),
        ("burn", {"void": True}, '"burn@s1" is no verdict on a slap; correct a line that it rests on'),
    ],
)
def test_a_word_that_says_nothing_about_a_slap_is_refused_in_words(kind: str, word: dict[str, Any], words: str) -> None:
    made = Ruling(kind, f"{kind}@s1", SECOND, ("s1",), (), {"seat": 3})
    with pytest.raises(AmendmentError) as refusal:
        said(made, **word)
    assert str(refusal.value) == words


def test_a_verdict_whose_slap_is_gone_is_refused() -> None:
    with pytest.raises(AmendmentError, match="is no verdict on a slap"):
        said(Ruling("slap_won", "slap_won@s9", SECOND, ("s9",), (), {"seat": 3}), void=True)


def test_a_second_hand_of_the_seat_that_won_takes_the_place_of_its_first() -> None:
    """One pile is won by one hand, even where people name the later of two by the same seat."""
    hands = [Slap(t=SECOND, id="s1", seat=3), Slap(t=2 * SECOND, id="s2", seat=3)]
    late = Ruling("slap_void", "slap_void@s2", 2 * SECOND, ("s2",), (), {"seat": 3, "reason": "late"})
    by = Correct(t=30 * SECOND, id="x1", line=late.id, extra={"ruling": "slap_won"})
    assert read_overrule(late, by, hands, (WON, late)) == {"overrule@s1": "void", "overrule@s2": "won"}


def test_a_pile_taken_at_the_instant_of_a_hand_was_taken_after_it() -> None:
    """So the hand was on that pile, and the one before it on it does not count."""
    hands = [Slap(t=SECOND, id="s1", seat=3), Slap(t=2 * SECOND, id="s2", seat=3)]
    late = Ruling("slap_void", "slap_void@s2", 2 * SECOND, ("s2",), (), {"seat": 3, "reason": "late"})
    pile = Ruling("pile", "pile@t1", 2 * SECOND, ("t1",), (), {"seat": 3})
    by = Correct(t=30 * SECOND, id="x1", line=late.id, extra={"ruling": "slap_won"})
    assert read_overrule(late, by, hands, (WON, late, pile)) == {"overrule@s1": "void", "overrule@s2": "won"}
