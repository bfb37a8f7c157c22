"""Corrections of lines and of verdicts, and how they are taken back (K6)."""

from __future__ import annotations

import pytest

from tests.adjudication.playing import brief, everything, log, rule

WON = """
    1000 1:7h
    2000 2:7c
    2300 slap 3
    2340 slap 1
    2400 lift 3
    2410 lift 1
    3500 taken 3
    4000 3:9c
"""
SLAPS = ("slap_won", "slap_false", "slap_void", "burn", "pile", "dead_card", "question")


def ruled(text: str, *kinds: str) -> list[str]:
    """Rulings in force, without what their ids carry of corrections."""
    return [line.partition("~")[0].split()[0] + " " + line.partition(" ")[2] for line in brief(rule(log(text)), *kinds)]


@pytest.mark.parametrize(
    ("correction", "instead"),
    [
        ('correct c2 {"card": "8c"}', "2000 2:8c"),
        ('correct c2 {"fields": {"t": 2320000000}}', "2320 2:7c"),
        ('correct c2 {"fields": {"t": 900000000}}', "900 2:7c"),
        ('correct c2 {"seat": 3}', "2000 3:7c"),
    ],
)
def test_a_corrected_line_is_ruled_as_if_it_had_been_told_right(correction: str, instead: str) -> None:
    """Card, instant and seat: what follows is what a log without the mistake gives."""
    amended = ruled(WON + f"5000 {correction}", *SLAPS)
    right = ruled(WON.replace("2000 2:7c", instead), *SLAPS)
    swapped = [line.replace("c1", "C").replace("c2", "c1").replace("C", "c2") for line in right]
    assert amended in (right, swapped)


def test_a_slaps_seat_is_corrected() -> None:
    """The wrong pad was read: the pile goes to the other."""
    rulings = ruled(WON + '5000 correct s1 {"seat": 2}', "slap_won")
    assert rulings == ["slap_won@s1 seat=2 decided_by=time"]


def test_people_overrule_a_false_slap() -> None:
    """The slap is void then, and its burn is taken back."""
    text = "1000 1:7h\n2000 2:8c\n2300 slap 3\n"
    rulings = everything(log(text + '5000 correct slap_false@s1 {"void": true}'))
    replaced = {name for ruling in rulings for name in ruling.supersedes}
    assert {"slap_false@s1", "burn@s1"} <= replaced
    void = next(ruling for ruling in rulings if ruling.kind == "slap_void")
    assert (void["seat"], void["reason"], void.rule) == (3, "overruled", ("K6",))


def test_people_say_who_was_first() -> None:
    """The pile is the other hand's, and the first one is void."""
    rulings = ruled(WON + '5000 correct slap_won@s1 {"seat": 1}', *SLAPS)
    assert "slap_won@s2 seat=1 decided_by=time" in rulings
    assert "slap_void@s1 seat=3 reason=overruled" in rulings


def test_people_say_that_a_false_slap_was_good() -> None:
    """Whatever the pile shows: the slap wins it."""
    rulings = ruled('1000 1:7h\n2000 2:8c\n2300 slap 3\n5000 correct slap_false@s1 {"ruling": "slap_won"}', *SLAPS)
    assert rulings == ["slap_won@s1 seat=3 decided_by=time", "pile@s1 seat=3 count=2"]


def test_people_say_that_a_card_was_in_turn() -> None:
    """A dead card that was none: the seat whose turn it was laid it."""
    text = "1000 1:7h\n2000 3:8c\n"
    assert ruled(text, "dead_card", "turn")[-1] == "dead_card@c2 seat=3 reason=out_of_turn"
    rulings = ruled(text + '5000 correct dead_card@c2 {"void": true}', "dead_card", "turn")
    assert rulings[-1] == "turn@c2 seat=3"


@pytest.mark.parametrize(
    "correction",
    [
        'correct slap_won@s1 {"seat": 2}',
        'correct slap_void@s2 {"void": true}',
        'correct turn@c1 {"seat": 2}',
        "correct slap_won@s1 {}",
        'correct c4 {"void": true}',
        'correct table {"void": true}',
        'correct table {"rules": "nonsense"}',
        'correct table {"seats": ["Ana", "Ben"], "dealer": 1}',
    ],
)
def test_a_word_that_settles_nothing_changes_nothing_and_is_told(correction: str) -> None:
    """A seat that did not slap, a ruling that is no verdict, the correction itself, the table taken away."""
    rulings = ruled(WON + f"5000 {correction}", *SLAPS)
    assert rulings == [*ruled(WON, *SLAPS), "question@c4 ask=mend_amendment"]


@pytest.mark.parametrize(
    "correction",
    [
        'correct c2 {"card": "8c"}',
        'correct c2 {"void": true}',
        'correct c2 {"fields": {"t": 2320000000}}',
        'correct slap_won@s1 {"seat": 1}',
        'correct slap_won@s1 {"void": true}',
    ],
)
def test_a_correction_is_taken_back(correction: str) -> None:
    """Undo: all is as if nothing had been said."""
    assert ruled(WON + f'5000 {correction}\n6000 correct c4 {{"void": true}}', *SLAPS) == ruled(WON, *SLAPS)


def test_of_two_corrections_of_a_line_the_one_taken_back_goes() -> None:
    """The other stands."""
    text = WON + '5000 correct c2 {"card": "8c"}\n5500 correct c2 {"seat": 3}\n6000 correct c4 {"void": true}'
    assert ruled(text, *SLAPS) == ruled(WON + '5500 correct c2 {"seat": 3}', *SLAPS)


def test_an_answer_is_taken_back() -> None:
    """The question is open again."""
    heat = "1000 1:7h\n2000 2:7c\n2300 slap 1\n2301 slap 3\n"
    answered = heat + "5000 answer question@s1 3\n"
    assert ruled(answered, "slap_won") == ["slap_won@s2 seat=3 decided_by=people"]
    assert ruled(answered + '6000 correct a1 {"void": true}', *SLAPS) == ruled(heat, *SLAPS)
