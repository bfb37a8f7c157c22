"""Rulings, questions and open points after a gap in which cards may have passed unseen."""

from __future__ import annotations

from random import Random

import pytest

from referee.engine.adjudicator import Adjudicator
from referee.engine.gap import is_answer, read_cards
from referee.engine.observations import Count
from tests.play import MS, brief, everything, in_force, log, rule

PLAY = """
1000 1:7h
2000 2:9c
2100 gap 3900 9s
2200 slap 3
3000 ?:9s ±900
4200 slap 1
"""
"""Two nines: a double, if nothing lies between them."""


def kinds(text: str, *shown: str, seats: int = 3) -> list[str]:
    return brief(rule(log(text, seats=seats)), *shown)


def asked(referee: Adjudicator) -> list[str]:
    """Return the questions that people see."""
    return list(referee.view.questions)


def test_one_question_is_asked_and_nothing_that_hangs_on_it_is_ruled() -> None:
    rulings = rule(log(PLAY))
    (question,) = [ruling for ruling in rulings if ruling.get("ask") == "unseen_gap" and ruling["about"] == ["g1"]]
    assert (question["lasted"], question["cards"]) == (1800 * MS, ["9s"])
    assert brief(rulings, "question") == [
        "question@g1 ask=unseen_gap", "question@s1 ask=unseen_gap", "question@s2 ask=unseen_gap",
    ]  # fmt: skip
    hands = [ruling["about"] for ruling in rulings if ruling.id in ("question@s1", "question@s2")]
    assert hands == [["g1", "s1"], ["g1", "s2"]]
    assert brief(rulings, "turn") == ["turn@table seat=1", "turn@c1 seat=2", "turn@c2 seat=3"], "no player's after that"


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ('"nothing"', "slap_won@s1 seat=1 decided_by=time"),
        ('"5d"', "slap_won@s1 seat=1 decided_by=time"),
        ('"5d 8d"', "slap_false@s1 seat=1 reason=no_pattern"),
        ("2", "slap_false@s1 seat=1 reason=no_pattern"),
    ],
)
def test_the_answer_settles_what_hung_on_it(said: str, verdict: str) -> None:
    """One card between two nines is a sandwich, two are not; with the pile gone the nine lies alone."""
    rulings = rule(log(PLAY.replace("2200 slap 3\n", "") + f"9000 answer question@g1 {said}\n"))
    assert verdict in brief(rulings, "slap_won", "slap_false", "slap_void")


def test_a_hand_in_the_gap_is_doubtful_even_where_the_card_is_known() -> None:
    """The card may have come before that hand or after it (K9)."""
    (won,) = (ruling for ruling in rule(log(PLAY + '9000 answer question@g1 "nothing"\n')) if ruling.kind == "slap_won")
    assert (won.id, won["seat"], won.doubt) == ("slap_won@s1", 3, True)


def test_people_who_do_not_know_either_are_not_asked_again() -> None:
    lines = log(PLAY + '9000 answer question@g1 "unknown"\n')
    referee = Adjudicator(lookahead_ns=10 * MS)
    for line in lines[:-1]:
        referee.observe(line)
    referee.promise(8000 * MS)
    assert asked(referee) == ["question@g1"]
    referee.observe(lines[-1])
    referee.promise(10_000 * MS)
    assert asked(referee) == []
    assert referee.view.counts == (None, None, None)
    assert referee.view.turn is None


def test_a_pair_wholly_after_the_gap_wins_for_sure_and_is_nobodys_when_it_reaches_into_it() -> None:
    text = "1000 1:9h\n1100 gap 2900 9s\n2000 ?:9s ±900\n4000 1:4d\n5000 2:4c\n5300 slap 3\n6000 taken 3\n"
    assert "slap_won@s1 seat=3 decided_by=time" in kinds(text, "slap_won")
    again = text.replace("2:4c", "2:9c").replace("6000 taken 3\n", "")
    assert kinds(again, "slap_won", "slap_false") == ["slap_won@s1 seat=3 decided_by=time"], "a sandwich after it"
    four = "1000 1:9h\n1100 gap 2900 9s\n2000 ?:9s ±900\n4000 1:4d\n5000 2:8c\n6000 3:6c\n6300 slap 3\n"
    assert kinds(four, "slap_won", "slap_false") == ["slap_false@s1 seat=3 reason=no_pattern"], "too deep to matter"


def test_no_card_is_out_of_turn_and_a_face_card_makes_the_challenge_sure_again() -> None:
    text = "1000 1:9h\n1100 gap 2900 5s\n2000 ?:5s ±900\n4000 3:4d\n5000 2:Kc\n6000 3:2d\n6500 3:3d\n7000 3:4s\n"
    made = kinds(text, "dead_card", "challenge", "challenge_won", "question")
    assert made == ["question@g1 ask=unseen_gap", "challenge@c4 seat=2 challenged=3", "challenge_won@c7 seat=2"]


def test_a_challenge_that_stood_may_be_paid_or_won_unseen() -> None:
    text = "1000 1:Kh\n1500 2:5d\n1600 gap 3000 8s\n2300 ?:8s ±700\n4000 2:4d\n5000 3:2c\n6000 taken 1\n"
    made = kinds(text, "chance", "challenge_won", "dead_card", "pile", "question")
    assert made == ["chance@c2 seat=2 left=2", "question@g1 ask=unseen_gap"]
    said = kinds(text + '9000 answer question@g1 "nothing"\n', "chance", "challenge_won")
    assert said[:2] == ["chance@c2 seat=2 left=2", "chance@c3 seat=2 left=1"]
    assert "challenge_won@c4 seat=1" in said


@pytest.mark.parametrize(("said", "owner"), [(None, None), ("2", 2), ('"unknown"', None)])
def test_a_pile_that_is_gone_is_asked_for_once(said: str | None, owner: int | None) -> None:
    text = "1000 1:7h\n2000 2:9c\n2100 gap 3900\n3000 taken\n"
    rulings = rule(log(text if said is None else text + f"9000 answer question@g1 {said}\n"))
    assert brief(rulings, "question") == ["question@g1 ask=unseen_gap"]
    assert "cards" not in next(ruling for ruling in rulings if ruling.id == "question@g1").fields
    assert [ruling["seat"] for ruling in rulings if ruling.kind == "pile"] == ([] if owner is None else [owner])


def test_a_pile_that_a_slap_has_won_may_go_unseen() -> None:
    text = "1000 1:9h\n2000 2:9c\n2300 slap 3\n2400 gap 3900\n3000 taken\n"
    assert kinds(text, "question", "pile") == ["pile@t1 seat=3 count=2"]
    led = "1000 1:9h\n2000 2:9c\n2300 slap 3\n2400 gap 3900 4d\n3000 ?:4d ±600\n"
    assert kinds(led, "question", "pile") == ["pile@g1 seat=3 count=2", "question@g1 ask=unseen_gap"]


def test_the_question_is_moot_once_its_pile_is_gone_and_all_have_counted() -> None:
    referee = Adjudicator(lookahead_ns=10 * MS)
    for line in log(PLAY + "6000 taken 2\n"):
        referee.observe(line)
    referee.promise(7000 * MS)
    assert asked(referee) == ["question@g1"]
    for seat in (1, 2, 3):
        referee.observe(Count(t=8000 * MS, id=f"n{seat}", seat=seat, cards=17))
    referee.promise(9000 * MS)
    assert asked(referee) == []


def test_the_order_of_arrival_changes_nothing() -> None:
    lines = log(PLAY + "4500 3:Kd\n5000 1:2d\n" + '9000 answer question@g1 "5d"\n')
    told = sorted(str(ruling) for ruling in in_force(everything(lines)))
    for seed in range(20):
        head, *rest = lines
        Random(seed).shuffle(rest)
        referee = Adjudicator()
        for line in (head, *rest):
            referee.observe(line)
        assert sorted(str(ruling) for ruling in in_force(referee.finish())) == told


def test_answers_are_read_as_cards_seats_or_words() -> None:
    assert read_cards("7h 9c") == ("7h", "9c")
    assert read_cards("7h ??") == read_cards("") == read_cards(7) == ()
    assert is_answer("nothing", (1, 2, 3), gone=False)
    assert not is_answer("nothing", (1, 2, 3), gone=True), "the pile is gone, so something came"
    assert is_answer(3, (1, 2, 3), gone=True)
    assert not is_answer(4, (1, 2, 3), gone=True)
    assert not is_answer(True, (1, 2, 3), gone=False)
    assert is_answer("unknown", (1, 2, 3), gone=True)


def test_in_a_long_gap_a_whole_pile_may_have_passed_between_the_won_one_and_now() -> None:
    text = "1000 1:9h\n2000 2:9c\n2300 slap 3\n2400 gap 6400\n3000 taken\n"
    assert kinds(text, "question") == ["question@g1 ask=unseen_gap"]


def test_an_empty_table_before_and_after_and_a_seat_that_people_say_took_what_lay_between() -> None:
    text = "1000 1:9h\n2000 2:9c\n2300 slap 3\n3000 taken 3\n3500 gap 8000\n6000 taken\n9000 1:4d\n"
    open_ = rule(log(text))
    assert brief(open_, "question", "dead_card") == ["question@g1 ask=unseen_gap"]
    said = rule(log(text + "9500 answer question@g1 1\n"))
    assert brief(in_force(said), "question", "dead_card") == []
    assert "turn@g1 seat=1" in brief(said, "turn")


CHALLENGED = "1000 1:9h\n1100 gap 2900 5s\n2000 ?:5s ±900\n4000 1:Qh\n5000 2:8h\n6000 2:8s\n"


def test_a_pair_above_the_gap_beats_a_challenge_that_was_won_there() -> None:
    assert kinds(CHALLENGED + "6300 slap 3\n7000 taken 3\n", "question", "slap_won", "pile") == [
        "question@g1 ask=unseen_gap", "slap_won@s1 seat=3 decided_by=time", "pile@t1 seat=3 count=6",
    ]  # fmt: skip


def test_a_pile_that_a_challenge_won_and_another_takes_is_not_asked_about_twice() -> None:
    text = CHALLENGED.replace("2:8s", "2:7s")
    assert kinds(text + "7000 taken 3\n8000 3:4d\n", "question", "pile", "lead") == [
        "lead@table seat=1", "question@g1 ask=unseen_gap",
    ]  # fmt: skip
    assert "pile@t1 seat=1 count=6" in kinds(text + "7000 taken 1\n", "pile")


@pytest.mark.parametrize("said", ['"nothing"', '"5d"', "2"])
def test_no_hand_in_a_gap_is_judged_for_sure_whatever_people_say(said: str) -> None:
    text = "1000 1:7h\n2000 2:9c\n2100 gap 3900 9s\n2200 slap 3\n3000 ?:9s ±900\n"
    rulings = rule(log(text + f"9000 answer question@g1 {said}\n"))
    (verdict,) = [ruling for ruling in rulings if ruling.because[0] == "s1" and ruling.kind.startswith("slap_")]
    assert verdict.doubt
    assert all(ruling.doubt for ruling in rulings if ruling.because[0] == "g1" and ruling.kind != "question"), (
        "nor is it known when that happened"
    )


def test_what_lies_under_a_card_that_nobody_can_read_does_not_say_which_that_is() -> None:
    text = '1000 1:7h\n2000 2:9c\n2100 gap 3900 ??\n5000 2:4d\n5300 slap 1\n9000 answer question@g1 "5d"\n'
    made = in_force(rule(log(text)))
    assert brief(made, "dead_card", "slap_won", "slap_false") == []
    assert brief(made, "question") == ["question@g1 ask=unseen_gap", "question@s1 ask=unseen_gap"]


def test_a_hand_in_the_pause_after_the_gap_keeps_what_follows_in_doubt() -> None:
    """Its effect is unknown, even if people name every card and a card in turn follows."""
    text = "1000 1:7h\n2000 2:9c\n2100 pause\n3900 gap 3901 Ts\n4000 ?:Ts ±90\n4050 slap 1\n4200 resume\n"
    text += "5000 2:4d\n6000 1:3d\n"
    for hand, doubt in (("4050 slap 1\n", False), ("", True)):
        rulings = rule(log(text.replace(hand or "!", "") + '9000 answer question@g1 "5d"\n'))
        assert any(ruling.kind == "dead_card" for ruling in in_force(rulings)) is not doubt


def test_a_card_that_people_have_named_is_no_news_when_the_pile_is_moved() -> None:
    text = "1000 1:7h\n2000 2:9c\n2100 gap 3900 Ts\n3000 ?:Ts ±899\n9000 1:5d\n9300 taken 1\n"
    text += '9900 answer question@g1 "5d"\n'
    (pile,) = [ruling for ruling in in_force(rule(log(text))) if ruling.kind == "pile"]
    assert pile["count"] == 4


def test_who_takes_the_next_pile_after_a_gap_leads_though_its_cards_were_not_seen() -> None:
    text = "500 gap 900 9s\n4000 taken\n5000 taken 2\n6000 ?:4d\n"
    assert brief(rule(log(text)), "lead", "turn")[2:] == ["lead@t2 seat=2", "turn@t2 seat=2", "turn@c1 seat=3"]


def test_a_pile_taken_by_its_winner_proves_the_turn_and_not_the_counts() -> None:
    """People have named the cards that came, but not the seats that laid them."""
    text = PLAY.replace("2200 slap 3\n", "") + '5000 taken 1\n9000 answer question@g1 "5d"\n'
    referee = Adjudicator(lookahead_ns=10 * MS)
    for line in log(text):
        referee.observe(line)
    referee.promise(10_000 * MS)
    assert (referee.view.turn, referee.view.counts) == (1, (None, None, None))
