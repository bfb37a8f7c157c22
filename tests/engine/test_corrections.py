"""Corrections of lines and of verdicts, and how they are taken back (K6)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from referee.engine.adjudicator import Adjudicator
from referee.engine.log import find_replacements
from referee.engine.observations import Correct, Count, Foul, Leave, Tick
from tests.play import MS, brief, everything, in_force, log, rule

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
    """Return the rulings in force, without correction numbers in their ids."""
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
    """Card, instant and seat: the result is that of a log without the mistake."""
    amended = ruled(WON + f"5000 {correction}", *SLAPS)
    right = ruled(WON.replace("2000 2:7c", instead), *SLAPS)
    swapped = [line.replace("c1", "C").replace("c2", "c1").replace("C", "c2") for line in right]
    assert amended in (right, swapped)


@pytest.mark.parametrize("doubt", ["slapper", "question"])
def test_a_slap_corrected_to_right_before_a_card_is_ruled_alike_in_any_order_of_arrival(doubt: str) -> None:
    """The order of slap and card is open (K9), even if the correction is reported before the card."""
    play = (
        '1000 1:7h\n2000 2:7c\n4000 slap 3 ±5\n7001 correct s1 {"fields": {"t": 7000000000}}\n7003 3:9c\n9000 taken 3'
    )
    *before, correction, card, taken = log(play, rules={"set": {"K9": doubt}})
    made = everything([*before, correction, card, taken])
    assert everything([*before, card, correction, taken]) == made
    assert everything([*before, correction, Tick(t=7002 * MS, id="seen"), card, taken]) == made
    assert any(ruling.doubt for ruling in in_force(made) if ruling.because[0] == "s1")


def test_a_correction_taken_back_right_before_a_card_is_ruled_alike_in_any_order_of_arrival() -> None:
    """The first correction's instant holds again, and nothing had been judged there before (K1)."""
    play = "1000 1:7h\n2000 2:7c\n3000 slap 3 ±5\n"
    play += '3500 correct s1 {"fields": {"t": 7000000000}}\n3600 correct s1 {"fields": {"t": 3000000000}}\n'
    *before, back, card, taken = log(play + '7001 correct c4 {"void": true}\n7003 3:9c\n9000 taken 3')
    made = everything([*before, back, card, taken])
    assert everything([*before, back, Tick(t=7002 * MS, id="seen"), card, taken]) == made


def test_a_ruling_that_stands_is_printed_where_its_line_is_judged_now() -> None:
    """The corrected card makes the second hand win before the 5 (K9); the burn that stands is behind its verdict."""
    play = "1000 1:7h\n2000 2:8c\n3000 3:5d\n3100 2:2s\n3400 slap 1\n3500 slap 2 ±1000\n"
    amended = ruled(play + '6000 correct c2 {"card": "7c"}')
    assert amended.index("slap_false@s1 seat=1 reason=no_pattern") < amended.index("burn@s1 seat=1 count=1")
    assert amended == ruled(play.replace("2:8c", "2:7c"))


def test_a_pile_is_taken_up_behind_the_hand_that_won_it_in_a_dead_heat() -> None:
    """Two hands are put before a card (K9), and the later has more force: its win stands before what the card did."""
    hands = "3000.000001 slap 2 ±1.5 !0.5\n3000.000002 slap 3 ±1.5 !1.0"
    rulings = everything(log(f"1000 1:Kc\n2000 2:Kd\n3000 3:3h\n{hands}"))
    names = [ruling.id for ruling in rulings if ruling.kind in ("dead_heat", "slap_won", "pile")]
    assert names == ["dead_heat@s1", "slap_won@s2", "pile@c3"]


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
    """The other hand wins the pile, and the first one is void."""
    rulings = ruled(WON + '5000 correct slap_won@s1 {"seat": 1}', *SLAPS)
    assert "slap_won@s2 seat=1 decided_by=people" in rulings
    assert "slap_void@s1 seat=3 reason=overruled" in rulings


def test_people_say_that_a_false_slap_was_good() -> None:
    """Whatever the pile shows, the slap wins it."""
    rulings = ruled('1000 1:7h\n2000 2:8c\n2300 slap 3\n5000 correct slap_false@s1 {"ruling": "slap_won"}', *SLAPS)
    assert rulings == ["slap_won@s1 seat=3 decided_by=people", "pile@s1 seat=3 count=2"]


def test_people_say_that_a_card_was_in_turn() -> None:
    """A dead card that was none was laid by the seat in turn."""
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
        'correct table {"fields": {"t": 1500000000}}',
        'correct c9 {"take": true}',
    ],
)
def test_a_word_that_settles_nothing_changes_nothing_and_is_told(correction: str) -> None:
    """A seat that did not slap, a ruling that is no verdict, the correction itself, the table taken away."""
    rulings = ruled(WON + f"5000 {correction}", *SLAPS)
    assert rulings == [*ruled(WON, *SLAPS), "question@c4 ask=mend_amendment"]


def test_a_line_that_came_in_time_is_taken_up_already() -> None:
    assert ruled(WON + '5000 correct c2 {"take": true}', *SLAPS) == ruled(WON, *SLAPS)


def test_late_evidence_that_was_taken_up_is_put_back() -> None:
    """Reading 20: until it is taken up, and once that is taken back, it judges nothing."""
    table, *lines = log("1000 1:7h\n2300 slap 3\n2400 lift 3\n4000 tick\n2000 2:7c #late\n")
    late = lines.pop()
    take = Correct(t=5000 * MS, id="x1", line="late", take=True)
    back, again = Correct(t=6000 * MS, id="x2", line="x1", void=True), replace(take, t=7000 * MS, id="x3")
    before = {"slap_false@s1", "burn@s1"}
    for amendments, won in (((), False), ((take,), True), ((take, back), False), ((take, back, again), True)):
        referee = Adjudicator(lookahead_ns=0)
        made = [ruling for line in (table, *lines, late, *amendments) for ruling in referee.observe(line)]
        made += referee.finish()
        names = {ruling.id.partition("~")[0] for ruling in in_force(made)}
        assert ("slap_won@s1" in names) is won
        assert before.issubset(names) is not won
        if not amendments:
            assert "question@late" in names


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
    """Undo: all is as before the correction."""
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


FALSE = "1000 1:7h\n2000 2:8c\n2300 slap 3\n2400 lift 3\n"
LEAVING = {"base": "classic", "on": ["E8"]}


@pytest.mark.parametrize(
    ("word", "kinds"),
    [("slap_void", {"slap_void"}), ("slap_false", {"slap_false", "burn"}), ("slap_won", {"slap_won", "pile"})],
)
def test_people_give_a_slap_any_verdict(word: str, kinds: set[str]) -> None:
    """Void costs nothing, false burns, won takes the pile; confirming the ruling changes nothing."""
    said = FALSE + f'5000 correct slap_false@s1 {{"ruling": "{word}"}}'
    assert {line.split("@")[0] for line in ruled(said, *SLAPS)} == kinds
    if word != "slap_false":
        reasons = [ruling.get("reason") for ruling in rule(log(said)) if ruling.kind == "slap_void"]
        assert reasons == (["overruled"] if word == "slap_void" else [])


def test_a_hand_on_no_pile_may_be_false_and_cannot_have_won() -> None:
    for word, kinds in (("slap_false", {"slap_false", "burn"}), ("slap_won", {"slap_void", "question"})):
        text = f'500 slap 3\n600 lift 3\n5000 correct slap_void@s1 {{"ruling": "{word}"}}'
        assert {line.split("@")[0] for line in ruled(text, *SLAPS)} == kinds


def test_after_the_end_no_hand_wins_or_is_false() -> None:
    end = Leave(t=2000 * MS, id="l9", seat=2)
    for word in ("slap_false", "slap_won"):
        lines = log(f'3000 slap 1\n5000 correct slap_void@s1 {{"ruling": "{word}"}}', seats=2, rules=LEAVING)
        made = in_force(everything([lines[0], end, *lines[1:]]))
        ruled_on = brief(made, "slap_void", "slap_false", "slap_won", "question")
        assert ruled_on == ["slap_void@s1 seat=1 reason=not_playing", "question@s1 ask=mend_amendment"]


def test_who_leaves_takes_back_the_challenge_alone() -> None:
    """E8: of the card's rulings the challenge is off, and the turn that followed is history."""
    lines = [*log("1000 1:Kh", rules=LEAVING), Leave(t=2000 * MS, id="l9", seat=1)]
    (gone,) = (ruling for ruling in everything(lines) if ruling.id == "out@l9")
    assert gone.supersedes == ("challenge@c1",)


def test_a_slap_that_won_was_false() -> None:
    """It burns then, and the next hand on the pile wins it."""
    rulings = ruled(WON + '5000 correct slap_won@s1 {"ruling": "slap_false"}', "slap_false", "burn", "slap_won")
    assert rulings == [
        "slap_false@s1 seat=3 reason=overruled",
        "burn@s1 seat=3 count=1",
        "slap_won@s2 seat=1 decided_by=time",
    ]


def test_a_void_slap_was_good() -> None:
    """The former winner on that pile is void; hands on other piles stay as they were."""
    rulings = ruled(
        WON + "4300 slap 2\n" + '5000 correct slap_void@s2 {"ruling": "slap_won"}',
        "slap_won",
        "slap_void",
        "slap_false",
    )
    assert rulings == [
        "slap_void@s1 seat=3 reason=overruled",
        "slap_won@s2 seat=1 decided_by=people",
        "slap_false@s3 seat=2 reason=no_pattern",
    ]


def test_of_two_hands_of_a_seat_the_nearer_is_meant() -> None:
    """Seat 1 slapped before and after seat 3 did; a hand more than ten seconds off is on another pile."""
    game = (
        "1000 1:7h\n1100 slap 1\n1150 lift 1\n2000 2:7c\n2300 slap 3\n2500 slap 1\n2600 lift 1\n12300.000001 slap 2\n"
    )
    first = ruled(game + '14000 correct slap_won@s2 {"seat": 1}', "slap_won")
    assert first == ["slap_won@s3 seat=1 decided_by=people"]
    asked = ruled(game + '14000 correct slap_won@s2 {"seat": 2}', "slap_won", "question")
    assert asked == ["slap_won@s2 seat=3 decided_by=time", "question@c3 ask=mend_amendment"]
    on_time = game.replace("12300.000001", "12300")
    assert ruled(on_time + '14000 correct slap_won@s2 {"seat": 2}', "slap_won") == [
        "slap_won@s4 seat=2 decided_by=people"
    ]


def test_hands_between_are_void_when_a_later_one_was_first() -> None:
    """Three hands on a pile: the third was first, so the first two are void."""
    game = "1000 1:7h\n2000 2:7c\n2300 slap 3\n2400 slap 2\n2500 slap 1\n2600 lift 3\n3500 taken 1\n"
    rulings = ruled(game + '5000 correct slap_won@s1 {"seat": 1}', "slap_won", "slap_void", "pile")
    assert rulings == [
        "slap_void@s1 seat=3 reason=overruled",
        "slap_void@s2 seat=2 reason=overruled",
        "slap_won@s3 seat=1 decided_by=people",
        "pile@t1 seat=1 count=2",
    ]


def test_hands_on_the_pile_before_stay_as_they_were() -> None:
    """Only the pile in question is ruled anew."""
    game = (
        "1000 1:7h\n2000 2:7c\n2300 slap 3\n2400 lift 3\n3000 taken 3\n"
        "4000 3:9c\n5000 1:9d\n5300 slap 2\n5400 slap 1\n5500 lift 2\n6000 taken 1\n"
    )
    rulings = ruled(game + '9000 correct slap_won@s2 {"seat": 1}', "slap_won", "slap_void")
    assert rulings == [
        "slap_won@s1 seat=3 decided_by=time",
        "slap_void@s2 seat=2 reason=overruled",
        "slap_won@s3 seat=1 decided_by=people",
    ]


def test_two_words_on_a_slap_and_the_later_is_taken_back() -> None:
    """The earlier stands again."""
    said = FALSE + '5000 correct slap_false@s1 {"void": true}\n6000 correct slap_void@s1 {"ruling": "slap_won"}\n'
    assert ruled(said, "slap_won", "slap_void", "slap_false") == ["slap_won@s1 seat=3 decided_by=people"]
    undone = ruled(said + '7000 correct c4 {"void": true}', "slap_won", "slap_void", "slap_false")
    assert undone == ["slap_void@s1 seat=3 reason=overruled"]
    both = ruled(said + '7000 correct c4 {"void": true}\n8000 correct c3 {"void": true}', "slap_void", "slap_false")
    assert both == ["slap_false@s1 seat=3 reason=no_pattern"]


def test_an_answer_given_twice_and_the_second_taken_back() -> None:
    """The first holds again; only a new answer changes an answer."""
    heat = "1000 1:7h\n2000 2:7c\n2300 slap 1\n2301 slap 3\n"
    said = heat + "5000 answer question@s1 1\n6000 answer question@s1 3\n"
    assert ruled(said, "slap_won") == ["slap_won@s2 seat=3 decided_by=people"]
    assert ruled(said + '7000 correct a2 {"void": true}', "slap_won") == ["slap_won@s1 seat=1 decided_by=people"]
    changed = ruled(said + '7000 correct a2 {"value": 1}', "slap_won", "question")
    assert changed == [
        "question@s1 ask=who_was_first",
        "slap_won@s2 seat=3 decided_by=people",
        "question@c3 ask=mend_amendment",
    ]


def test_without_corrections_in_the_rules_nobody_corrects() -> None:
    """K6 off: the record stays, and an attempt is refused with a notice."""
    said = FALSE + '5000 correct c2 {"card": "7c"}\n6000 3:9c\n'
    assert brief(rule(log(said, rules={"off": ["K6"]})), "slap_won", "slap_false", "question", "turn")[-4:] == [
        "turn@c2 seat=3",
        "slap_false@s1 seat=3 reason=no_pattern",
        "question@c3 ask=mend_amendment",
        "turn@c4 seat=1",
    ]


def test_a_correction_made_while_later_lines_already_wait() -> None:
    """It is judged at its own instant: lines before it and after it are ruled with it."""
    text = '1000 1:7h\n2000 2:8c\n2300 slap 3\n2400 lift 3\n2500 correct c2 {"card": "7c"}\n3500 taken 3\n4000 3:9c\n'
    assert ruled(text, "slap_won", "slap_false", "pile", "dead_card") == [
        "slap_won@s1 seat=3 decided_by=time",
        "pile@t1 seat=3 count=2",
    ]


def test_a_false_slap_that_was_good_leaves_the_pile_before_alone() -> None:
    """This pile had no slap before: the last one's winner keeps it."""
    game = WON + "4300 slap 2\n"
    rulings = ruled(game + '5000 correct slap_false@s3 {"ruling": "slap_won"}', "slap_won", "slap_void", "slap_false")
    assert rulings == [
        "slap_won@s1 seat=3 decided_by=time",
        "slap_void@s2 seat=1 reason=late",
        "slap_won@s3 seat=2 decided_by=people",
    ]


def test_who_counts_what_the_referee_asked_for_has_answered() -> None:
    """Ana lays a card more than she had: the question for her cards waits until they are counted, and hers alone."""
    referee = Adjudicator(lookahead_ns=0)
    for line in log("1000 1:7h\n2000 2:8c\n3000 3:9d\n4000 1:2s", counts=[1, 5, 5]):
        referee.observe(line)
    referee.promise(4000 * MS)
    asked = [name for name in referee.view.questions if name == "question@c4"]
    assert asked == ["question@c4"]
    referee.observe(Count(t=5000 * MS, id="n1", seat=2, cards=4))
    referee.promise(5000 * MS)
    assert "question@c4" in referee.view.questions
    referee.observe(Count(t=6000 * MS, id="n2", seat=1, cards=2))
    referee.promise(6000 * MS)
    assert "question@c4" not in referee.view.questions


def test_counts_settle_what_a_player_took_away_uncounted() -> None:
    """Ben left with uncounted cards: once the others have counted theirs, no question is left (E8)."""
    referee = Adjudicator(lookahead_ns=0)
    lines = log("1000 1:7h", counts=[3, None, 3], rules={"base": "classic", "on": ["E8"]})
    for line in (*lines, Leave(t=2000 * MS, id="l1", seat=2)):
        referee.observe(line)
    referee.promise(2000 * MS)
    assert list(referee.view.questions) == ["question@l1"]
    for seat in (1, 3):
        referee.observe(Count(t=(3000 + seat) * MS, id=f"n{seat}", seat=seat, cards=2))
    referee.promise(4000 * MS)
    assert not referee.view.questions


def test_a_ruling_that_a_report_undid_is_not_replaced_again() -> None:
    """Each ruling is replaced once, so that `supersedes` is a chain: the turn, the report, the report again (K6)."""
    table, card, answer = log('400 1:??\n1700 answer question@c1 "5s"', seats=2)
    report = Foul(t=800 * MS, id="f1", seat=1, foul="out_of_turn")
    back = Correct(t=2500 * MS, id="x1", line="f1", void=True)
    made = everything([table, card, report, answer, back])
    replaced = [name for ruling in made for name in ruling.supersedes]
    assert len(replaced) == len(set(replaced))
    chain = find_replacements(made)
    assert chain["turn@c1"] == "dead_card@f1"
    assert chain["dead_card@f1"] == "dead_card@f1~a1"
    assert chain["dead_card@f1~a1"] == "turn@c1~x1"
    assert [ruling.id for ruling in in_force(made) if ruling.kind == "turn"] == ["turn@table", "turn@c1~x1"]


def test_no_line_is_moved_before_the_table_whatever_came_before_that() -> None:
    """A pad may be pressed while the table is laid."""
    moved = '1000 1:7h\n5000 correct c1 {"fields": {"t": -50000000}}\n'
    for before in ("", "-100 slap 3\n"):
        assert brief(rule(log(before + moved)), "question") == ["question@c2 ask=mend_amendment"]


WAR = {"base": "classic", "on": ["M4"]}
TIED = "1000 1:7h\n2000 2:7c\n2300 slap 1\n2301 slap 3\n"


def test_a_war_card_that_people_have_named_was_asked_about() -> None:
    text = TIED + '5000 1:??\n5400 3:9c\n9000 answer question@c3 "Kd"\n'
    said = brief(rule(log(text, rules=WAR)), "question", "slap_won")
    assert said == ["question@c3 ask=unreadable_card", "slap_won@s1 seat=1 decided_by=war"]


def test_people_end_a_war_for_which_no_seat_has_cards_left() -> None:
    for seat, slap in ((1, "s1"), (3, "s2")):
        text = TIED + f"5000 1:9d\n5400 3:9c\n9000 answer question@c4 {seat}\n"
        made = brief(rule(log(text, rules=WAR, counts=[2, 5, 1])), "question", "slap_won")
        assert sorted(made) == ["question@c4 ask=who_was_first", f"slap_won@{slap} seat={seat} decided_by=people"]


def test_an_answer_about_one_card_leaves_the_doubt_about_another() -> None:
    """F9, K9: whether two cards were drawn at once stays open whatever people have said of the one before."""
    rules = {"base": "classic", "on": ["F9"], "set": {"K9": "question"}}
    text = '1000 1:??\n1500 answer question@c1 "Kh"\n2000 2:5c ±20\n2080 2:6d ±20\n'
    asked = ["question@c1 ask=unreadable_card", "question@c3/4 ask=slap_or_limit"]
    assert brief(rule(log(text, rules=rules)), "question") == asked


def test_only_a_hand_of_the_dead_heat_can_have_been_first() -> None:
    text = "500 slap 2 #early\n1000 1:7h\n2000 2:7c\n2300 slap 1\n2301 slap 3\n3000 answer question@s2 "
    assert brief(rule(log(text + "3")), "slap_won") == ["slap_won@s3 seat=3 decided_by=people"]
    asked = ["question@s2 ask=who_was_first", "question@a1 ask=mend_amendment"]
    assert brief(rule(log(text + "2")), "slap_won", "question") == asked


def test_people_say_on_which_side_of_a_limit_a_hand_came() -> None:
    """K9 (`question`): 150 ms after the cover it is false, a nanosecond sooner it is void (M9)."""
    text = "1000 1:7h\n2000 2:7c\n3000 3:9d\n3150 slap 1\n"
    rules = {"set": {"K9": "question"}}
    asked = brief(rule(log(text, rules=rules)), *SLAPS)
    assert asked == ["question@s1/2 ask=slap_or_limit"]
    for said, verdict in (
        ("before", "slap_void@s1 seat=1 reason=covered"),
        ("after", "slap_false@s1 seat=1 reason=no_pattern"),
    ):
        answered = text + f'9000 answer question@s1/2 "{said}"\n'
        assert verdict in brief(rule(log(answered, rules=rules)), *SLAPS)


def test_an_unread_pile_is_the_takers_until_its_card_is_named() -> None:
    """Reading 10: the one of them who takes it leads."""
    for taker, leads in (("1", 1), ("3", 3), ("", 1)):
        referee = Adjudicator(stream=False)
        for line in log(f"1000 1:Jh\n2000 2:??\n3000 taken {taker}\n"):
            referee.observe(line)
        referee.finish()
        assert (referee.view.turn, referee.view.pile) == (leads, ())


def test_of_two_hands_that_people_let_win_one_pile_the_earlier_has_it() -> None:
    """They overrule a hand, and then say that an earlier one came after the card, where it wins (K6, K9, M1)."""
    text = """
        1000 2:7c
        2000 3:7h
        3000 4:Jh
        3000 slap 5
        3900 slap 5
        6000 correct slap_void@s2 {"ruling": "slap_won"}
        9000 answer question@s1 "card"
    """
    made = rule(log(text, seats=7, dealer=1, rules={"base": "slapjack", "set": {"K9": "question"}}))
    assert [ruling.because[0] for ruling in made if ruling.kind == "slap_won"] == ["s1"]
    assert [ruling["ask"] for ruling in made if ruling.kind == "question" and "s2" in ruling.because] == [
        "mend_amendment"
    ]


def test_the_lowest_card_that_people_name_may_leave_another_to_be_named() -> None:
    """P5b, readings 7 and 10: the top card was not read either, so the hand is asked about again."""
    rules = {"base": "classic", "on": ["P5b"], "off": ["P1", "P2"]}
    text = "1000 1:7h\n1300 slap 2\n1400 lift 2\n2000 2:??\n2500 slap 3\n"
    asked = ["question@c2 ask=unreadable_card", "question@s2 ask=bottom_card"]
    assert brief(rule(log(text, rules=rules)), "question", "slap_won") == asked
    made = rule(log(text + '4000 answer question@s2 "9d"\n', rules=rules))
    assert brief(made, "question", "slap_won") == [*asked, "question@s2/2 ask=unreadable_card"]
    assert next(ruling["about"] for ruling in made if ruling.id == "question@s2/2") == ["c2", "s2"]


@pytest.mark.parametrize(
    ("play", "more", "undone"),
    [
        ("1000 1:7h", {}, ("turn@c1",)),
        ("1000 1:Kh", {}, ("challenge@c1", "turn@c1")),
        ("1000 1:Kh\n2000 2:5c", {}, ("chance@c2",)),
        ("1000 1:Kh\n2000 2:5c", {"counts": [5, 1, 5]}, ("chance@c2", "challenge_moves@c2", "turn@c2")),
        ("1000 1:Kh\n2000 2:Tc", {}, ("challenge_off@c2", "turn@c2")),
        ("1000 1:Jh\n2000 2:5c", {}, ("challenge_won@c2", "turn@c2")),
    ],
)
def test_all_that_a_second_card_did_is_replaced_by_its_report(
    play: str, more: dict[str, Any], undone: tuple[str, ...]
) -> None:
    """F9, reading 16: and nothing else is."""
    lines = log(play, rules={"base": "classic", "on": ["F9", "N5"]}, **more)
    seat = 1 if len(lines) == 2 else 2
    made = everything([*lines, Foul(t=2500 * MS, id="f1", seat=seat, foul="double_draw")])
    (dead,) = (ruling for ruling in made if ruling.kind == "dead_card")
    assert dead.supersedes == undone
