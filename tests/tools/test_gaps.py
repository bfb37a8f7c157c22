"""The scoring of gaps: on known games, and with true answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from referee.demo.score import true_rulings
from referee.engine.observations import Card, Gap, Observation, Other, Placed, Taken
from referee.engine.rulings import Ruling
from referee.units import MS, SECOND
from tests.support.scripted_watcher import as_seen
from tools.measure.gaps import KINDS, Plan, Refereed, Row, answered, missed, plan, score, true_answer, what_happens

_FRAME = round(SECOND / 15)


@pytest.fixture(scope="module")
def planned() -> Plan:
    """A game in whose gap cards were laid."""
    return plan(12, 3)


def _hidden(one: Plan) -> list[Card]:
    since, until = one.blind
    return [line for line in one.script.truth if isinstance(line, Card) and since < line.t <= until]


def _refereed(one: Plan, lines: list[Observation]) -> Refereed:
    return Refereed(tuple(lines), tuple(true_rulings(lines, one.script.duration)))


def _all_seen(one: Plan) -> list[Observation]:
    rest = [line for line in one.script.truth if not isinstance(line, Card | Placed | Taken)]
    return [rest[0], *as_seen(one.script.truth, _FRAME), *rest[1:]]


def test_a_set_has_every_kind_of_gap_and_of_happening_and_the_same_seed_gives_the_same() -> None:
    plans = [plan(number, 3) for number in (*range(10), 13, 26, 48)]
    assert {plan.kind for plan in plans} == set(KINDS)
    assert {plan.happening for plan in plans} == {"nothing", "laid", "slapped", "taken"}
    assert all(what_happens(plan.script, plan.blind) == plan.happening for plan in plans)
    assert all(plan.script.duration > plan.fault.until + SECOND for plan in plans)
    assert plan(13, 3) == plans[10] != plan(13, 4)


def test_a_game_that_was_seen_whole_has_no_faults(planned: Plan) -> None:
    found = score(planned, _refereed(planned, _all_seen(planned)))
    assert (found.lost, found.wrong, found.before, found.outside, found.questions) == ([], [], [], [], [])
    assert found.cards == len(_hidden(planned)) and found.instants > 4


def test_a_card_that_nobody_told_is_lost_unless_somebody_was_asked(planned: Plan) -> None:
    gone = _hidden(planned)[0]
    lines = [line for line in _all_seen(planned) if line.id != gone.id]
    found = score(planned, _refereed(planned, lines))
    assert [words.split()[-1] for words in found.lost] == [gone.card]
    told = Other(t=planned.fault.until, id="x1", name="reconciled", extra={"verdict": "more"})
    assert score(planned, _refereed(planned, [*lines, told])).lost == []


def test_a_ruling_that_the_truth_has_not_is_wrong_unless_it_says_that_it_is_in_doubt(planned: Plan) -> None:
    right = _refereed(planned, _all_seen(planned))
    fields = {"seat": 1, "reason": "no_pattern"}
    wrong = Ruling("slap_false", "slap_false@x", planned.fault.until, ("x",), ("F1",), fields)
    for ruling, count in (
        (wrong, 1), (replace(wrong, doubt=True), 0),
        (replace(wrong, kind="slap_void", fields={"seat": 1, "reason": "paused"}), 0),
        (replace(wrong, kind="question", fields={"ask": "unseen_gap", "about": ["g1", "x"]}), 0),
    ):  # fmt: skip
        assert len(score(planned, replace(right, rulings=(*right.rulings, ruling))).wrong) == count
    early = replace(wrong, t=SECOND)
    assert [len(score(planned, replace(right, rulings=(*right.rulings, early))).before)] == [1]


def test_an_instant_further_from_the_truth_than_is_stated_is_told(planned: Plan) -> None:
    lines = [
        replace(line, t=line.t + 200 * MS, t_error=100 * MS)
        if isinstance(line, Card) and line.id == _hidden(planned)[0].id
        else line
        for line in _all_seen(planned)
    ]
    assert len(score(planned, _refereed(planned, lines)).outside) == 1


def test_what_is_asked_of_one_gap_counts_once_and_what_a_hand_waits_for_does_not(planned: Plan) -> None:
    right = _refereed(planned, _all_seen(planned))
    asked = Ruling(
        "question", "question@g1", planned.fault.since, ("g1",), ("K2",), {"ask": "unseen_gap", "about": ["g1"]}
    )
    hand = replace(asked, id="question@s1", fields={"ask": "unseen_gap", "about": ["g1", "s1"]})
    found = score(planned, replace(right, rulings=(*right.rulings, asked, hand)))
    assert len(found.questions) == 1 and found.is_told


def test_people_answer_with_the_truth(planned: Plan) -> None:
    hidden = [card.card for card in _hidden(planned)]
    since, until = planned.blind
    fields = {"ask": "unseen_gap", "about": ["g1"], "lasted": until - since}
    asked = Ruling("question", "question@g1", since, ("g1",), ("K2",), fields)

    lines = [Gap(t=since, id="g1", until=until)]

    def answer(*seen: str) -> object:
        return true_answer(planned, replace(asked, fields={**fields, "cards": list(seen)}), lines)

    assert answer(*hidden) == "nothing"
    assert answer("??", *hidden[1:]) == "nothing", "an unread card is the one that was laid"
    assert answer(*hidden[:-1], "Xr") == "unknown", "what is seen is not what was laid"
    assert answer("Xr", *hidden) == "unknown"
    assert 2 <= len(hidden) <= 4 and answer(hidden[-1]) == " ".join(hidden[:-1])
    assert true_answer(planned, replace(asked, fields={**fields, "about": ["g1", "s1"]}), lines) is None


def test_people_also_name_a_card_that_was_on_its_way_when_the_gap_began(planned: Plan) -> None:
    first, *rest = _hidden(planned)
    lines: list[Observation] = [Gap(t=first.t + 1, id="g1", until=planned.blind[1])]
    fields = {"ask": "unseen_gap", "about": ["g1"], "lasted": 1, "cards": [rest[-1].card]}
    asked = Ruling("question", "question@g1", first.t + 1, ("g1",), ("K2",), fields)
    between = [card.card for card in rest[:-1]]
    assert true_answer(planned, asked, lines) == " ".join([first.card, *between])
    assert true_answer(planned, asked, [first, *lines]) == (" ".join(between) or "nothing"), "the eye has told it"
    assert true_answer(planned, asked, [*lines, first]) == " ".join([first.card, *between]), "it has told it later"


def test_who_took_the_pile_is_an_answer_too() -> None:
    taken = plan(42, 3)
    since, until = taken.blind
    (take, *_) = [line for line in taken.script.truth if isinstance(line, Taken) and since < line.t <= until]
    after = [line.card for line in _hidden(taken) if line.t > take.t]
    fields = {"ask": "unseen_gap", "about": ["g1"], "lasted": until - since, "cards": after}
    asked = Ruling("question", "question@g1", since, ("g1",), ("K2",), fields)
    lines = [Gap(t=since, id="g1", until=until)]
    assert true_answer(taken, asked, lines) == take.seat
    assert true_answer(taken, replace(asked, fields={**fields, "cards": [*after, "Xr"]}), lines) == "unknown"


def test_a_log_that_was_kept_is_scored_as_before(planned: Plan, tmp_path: Path) -> None:
    lines = [line for line in _all_seen(planned) if line.id != _hidden(planned)[0].id]
    refereed = _refereed(planned, lines)
    refereed.write(tmp_path / "log.jsonl")
    again = Refereed.read(tmp_path / "log.jsonl")
    assert score(planned, again) == score(planned, refereed)
    assert score(planned, answered(planned, again)).wrong == score(planned, answered(planned, refereed)).wrong


def test_whatever_is_required_and_not_reached_is_said() -> None:
    good = Row(gaps=20, cards=30, instants=1000, outside=5, most_questions=1, idle=20, idle_asked=1)
    assert missed(good) == []
    bad = Row(gaps=20, lost=1, wrong=1, instants=1000, outside=6, most_questions=2, idle=20, idle_asked=2)
    assert len(missed(bad)) == 5
    assert len(missed(Row(wrong_answered=1))) == 1
