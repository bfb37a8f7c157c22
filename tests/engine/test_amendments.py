"""Answers and corrections: all later lines are ruled again, and replaced rulings are named (K6, readings 10, 13)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.engine.adjudicator import Adjudicator
from referee.engine.observations import Answer, Card
from tests.play import MS, brief, everything, log, rule

HEAT = """
    1000 1:7h
    2000 2:7c
    2300 slap 1
    2301 slap 3
    3500 taken
"""


def test_a_dead_heat_waits_for_people_and_their_word_decides_it() -> None:
    """M2: nearer than the errors, no force: a question; the answer gives the pile as if it had been known at once."""
    open_ = rule(log(HEAT))
    assert brief(open_, "dead_heat", "question", "slap_won", "pile") == [
        "dead_heat@s1 seats=[1, 3]",
        "question@s1 ask=who_was_first",
    ]
    settled = rule(log(HEAT + "5000 answer question@s1 3\n6000 3:9c"))
    assert brief(settled, "dead_heat", "question", "slap_won", "slap_void", "pile", "dead_card") == [
        "dead_heat@s1 seats=[1, 3]",
        "slap_void@s1 seat=1 reason=late",
        "question@s1 ask=who_was_first",
        "slap_won@s2 seat=3 decided_by=people",
        "pile@t1 seat=3 count=2",
    ]


def test_an_answer_that_names_no_tied_hand_decides_nothing() -> None:
    """Never a guess: seat 2 did not slap, so its name settles nothing."""
    assert not brief(rule(log(HEAT + "5000 answer question@s1 2")), "slap_won")


def test_an_answer_to_no_question_is_told() -> None:
    """An answer that fits nothing changes nothing and is asked about."""
    rulings = rule(log("1000 1:7h\n2000 answer question@c9 3"))
    assert brief(rulings, "question") == ["question@a1 ask=mend_amendment"]


UNREAD = """
    1000 1:??
    2000 2:9c
    3000 3:4d
"""


def test_an_unread_card_is_asked_about_and_stands_for_a_number_card() -> None:
    """Reading 10: play goes on."""
    rulings = rule(log(UNREAD))
    assert brief(rulings, "question", "turn", "challenge") == [
        "turn@table seat=1",
        "turn@c1 seat=2",
        "question@c1 ask=unreadable_card",
        "turn@c2 seat=3",
        "turn@c3 seat=1",
    ]


def test_the_name_of_an_unread_card_rules_all_that_followed_again() -> None:
    """It was a jack: seat 2 paid its one chance, the pile was seat 1's, and seat 3 played out of turn."""
    rulings = everything(log(UNREAD + '4000 answer question@c1 "Jh"'))
    new = {ruling.id: ruling for ruling in rulings if "~" in ruling.id or ruling.kind in ("challenge", "dead_card")}
    assert new["turn@c2~a1"].supersedes == ("turn@c2",)
    assert new["turn@c2~a1"]["seat"] == 1
    assert new["challenge@c1"]["challenged"] == 2
    assert new["dead_card@c3"]["seat"] == 3
    replaced = {name for ruling in rulings for name in ruling.supersedes}
    assert {"turn@c2", "turn@c3"} <= replaced


def test_a_verdict_that_depends_on_an_unread_card_is_a_question() -> None:
    """Reading 10: were it a nine, the slap would be good."""
    text = "1000 1:9h\n2000 2:??\n2300 slap 3\n"
    assert brief(rule(log(text)), "question", "slap_won", "slap_false") == [
        "question@c2 ask=unreadable_card",
        "question@s1 ask=unreadable_card",
    ]
    named = rule(log(text + '4000 answer question@c2 "9d"'))
    assert brief(named, "slap_won", "slap_false") == ["slap_won@s1 seat=3 decided_by=time"]
    other = rule(log(text + '4000 answer question@c2 "Kd"'))
    assert brief(other, "slap_won", "slap_false") == ["slap_false@s1 seat=3 reason=no_pattern"]


def test_a_verdict_that_does_not_depend_on_it_stands() -> None:
    """Two nines on top of an unread card are two nines."""
    text = "1000 1:??\n2000 2:9d\n3000 3:9h\n3300 slap 1\n"
    assert brief(rule(log(text)), "slap_won") == ["slap_won@s1 seat=1 decided_by=time"]


def test_while_a_card_is_unread_another_seats_card_is_a_question_not_dead() -> None:
    """Reading 10: it may have been an ace, and then seat 3 was not out of turn."""
    rulings = rule(log("1000 1:??\n2000 3:9c"))
    assert brief(rulings, "question", "dead_card") == [
        "question@c1 ask=unreadable_card",
        "question@c2 ask=who_played",
    ]


def test_a_corrected_card_replaces_the_rulings_that_change() -> None:
    """K6: the false slap becomes a good one, and the burn is taken back."""
    text = "1000 1:7h\n2000 2:8c\n2300 slap 3\n2900 lift 3\n3500 taken\n"
    rulings = everything(log(text + '5000 correct c2 {"card": "7c"}'))
    won = next(ruling for ruling in rulings if ruling.kind == "slap_won")
    replaced = {name for ruling in rulings for name in ruling.supersedes}
    assert {"slap_false@s1", "burn@s1"} <= replaced
    assert won["seat"] == 3
    assert "pile@t1" in {ruling.id for ruling in rulings} - replaced


def test_a_voided_line_falls_away() -> None:
    """K6: the card was none; the double goes with it."""
    text = "1000 1:7h\n2000 2:7c\n2300 slap 3\n"
    rulings = rule(log(text + '5000 correct c2 {"void": true}'))
    assert brief(rulings, "slap_won", "slap_false") == ["slap_false@s1 seat=3 reason=no_pattern"]


def test_a_correction_of_nothing_or_to_nonsense_changes_nothing_and_is_told() -> None:
    """The record stays whole; people are asked to mend the correction."""
    for line in ('correct c9 {"card": "7c"}', 'correct c1 {"card": "17"}'):
        rulings = rule(log(f"1000 1:7h\n2000 {line}"))
        assert brief(rulings, "question") == ["question@c2 ask=mend_amendment"]


def test_a_long_game_is_ruled_again_from_a_kept_state() -> None:
    """A correction late in a game gives the same result as a log without the mistake."""
    faces = "23456789T"
    cards = [f"{faces[n * 5 % 9]}{'shdc'[n % 4]}" for n in range(44)]
    lines = [f"{1000 * (n + 1)} {n % 3 + 1}:{card}" for n, card in enumerate(cards)]
    slap = ["44300 slap 1", "44900 lift 1"]
    double = f"{cards[43][0]}h"
    right = [*lines[:42], f"43000 1:{double}", lines[43], *slap]
    amended = [*lines, *slap, f'50000 correct c43 {{"card": "{double}"}}']
    ruled = rule(log("\n".join(amended)))
    assert {r.id.partition("~")[0] for r in ruled} == {r.id for r in rule(log("\n".join(right)))}
    assert "slap_won@s1" in {r.id for r in ruled}


def test_late_evidence_is_recorded_and_not_judged() -> None:
    """K1: a slap that comes after its watermark changes nothing by itself."""
    lines = log("1000 1:7h\n2000 2:7c\n2300 slap 3\n4000 tick\n4200 slap 1")
    late = lines[-1].__class__(t=2_200 * MS, id="s2", seat=1)  # type: ignore[call-arg]
    rulings = rule([*lines[:-1], late])
    assert brief(rulings, "slap_won", "question") == [
        "slap_won@s1 seat=3 decided_by=time",
        "question@s2 ask=late_evidence",
    ]


def test_a_live_referee_says_the_winner_before_its_runners_up_are_known() -> None:
    """Voice and lights do not wait for the pick-up, but only then is it known that the hand was alone (same id)."""
    referee = Adjudicator(lookahead_ns=10 * MS)
    for line in log("1000 1:7h\n2000 2:7c\n2300 slap 3\n2400 tick"):
        referee.observe(line)
    early = [(ruling.id, ruling.window) for ruling in referee.take_early() if ruling.kind == "slap_won"]
    assert early == [("slap_won@s1", "open")]
    assert referee.view.owner == 3
    final = referee.finish()
    assert [ruling.window for ruling in final if ruling.id == "slap_won@s1"] == [""]
    again = [(ruling.window, ruling["margin"]) for ruling in referee.take_early() if ruling.id == "slap_won@s1"]
    assert again == [("closed", None)]
    assert referee.take_early() == []


def test_an_answer_waits_until_the_cards_near_it_are_known() -> None:
    """By the first answer, doubt puts the hand behind the card; by the second it does not, but another hand before it.

    Ruled again before that other hand was reported, the card had come first for good (K1, K9).
    """
    lines = log(
        """
        1000 1:??
        2000 2:8d
        2500 tick
        3000 slap 3
        3120 answer question@c1 "5d"
        3130 3:5s
        3150 answer question@c1 "Ad"
        3330 tick
        3331 slap 1
        """,
        rules={"base": "classic", "on": ["F3"]},
    )
    lines = [replace(line, t_error=300 * MS) if isinstance(line, Card) and line.id == "c3" else line for line in lines]
    referee = Adjudicator(lookahead_ns=300 * MS)
    live = [ruling for line in lines for ruling in referee.observe(line)] + referee.finish()
    replayed = everything(lines)
    assert brief(replayed, "slap_false", "slap_void") == [
        "slap_false@s1 seat=3 reason=no_pattern",
        "slap_void@s2 seat=1 reason=empty_pile",
    ]
    assert {ruling.id for ruling in live} == {ruling.id for ruling in replayed}


def test_late_evidence_can_be_ignored_right_after_a_state_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is judged again then but the answer itself."""
    monkeypatch.setattr("referee.engine.history._KEEP_EVERY", 1)
    rulings = rule(log('1000 1:7h\n2000 2:7c\n2500 tick\n2300 slap 3\n5000 answer question@s1 "ignore"\n6000 3:9c'))
    assert brief(rulings, "slap_won", "question", "dead_card") == ["question@s1 ask=late_evidence"]


def test_an_answer_in_a_game_that_was_broken_off_finds_its_line() -> None:
    """Ids from after the break have a numbered prefix: ``1/c1``."""
    table, *cards = log(UNREAD)
    moved = [table, *(replace(line, id=f"1/{line.id}") for line in cards)]
    said = Answer(t=9_000_000_000, id="2/a1", to="question@1/c1", value="Jh")
    rulings = brief(everything([*moved, said]), "question", "challenge_won", "dead_card")
    plain = brief(
        everything([table, *cards, replace(said, to="question@c1")]), "question", "challenge_won", "dead_card"
    )
    assert "mend_amendment" not in "".join(rulings)
    assert [line.replace("1/c", "c") for line in rulings] == plain
