"""A log after its amendments: the lines in force, the ones taken back, and the players who stopped the table."""

from __future__ import annotations

from typing import Any

import pytest

from referee.engine.amended_log import BECAUSE, RELEASED, AmendedLog, as_released, is_said, is_stopping, read_pause
from referee.engine.observations import (
    Answer,
    Card,
    Correct,
    Count,
    Observation,
    Other,
    Pause,
    Resume,
    Slap,
    Table,
    Tick,
)
from referee.engine.rulings import Ruling

TABLE = Table(t=0, id="table", seats=("Ana", "Ben", "Cho"), dealer=3)
FIRST = Card(t=10, id="c1", card="7h", seat=1)
SECOND = Card(t=20, id="c2", card="7c", seat=2)


def amended(*lines: Observation, rulings: tuple[Ruling, ...] = ()) -> AmendedLog:
    return AmendedLog([TABLE, FIRST, SECOND, *lines], rulings)


def ruling(kind: str, cause: str, *, supersedes: tuple[str, ...] = (), name: str = "", **fields: Any) -> Ruling:
    return Ruling(kind, name or f"{kind}@{cause}", 20, (cause,), (), fields, supersedes)


def struck(name: str, line: str) -> Correct:
    return Correct(t=90, id=name, line=line, void=True)


@pytest.mark.parametrize(
    ("line", "said", "stopping"),
    [
        (Pause(t=1, id="p"), True, True),
        (Resume(t=1, id="r"), True, True),
        (Count(t=1, id="n", seat=1, cards=5), True, False),
        (Pause(t=1, id="p", extra={BECAUSE: "dark"}), False, True),
        (Other(t=1, id="o", name=RELEASED), True, True),
        (Other(t=1, id="o", name="sneeze"), False, False),
        (as_released(Resume(t=1, id="r")), True, True),
        (FIRST, False, False),
    ],
)
def test_what_only_people_say_is_told_from_what_was_sensed(line: Observation, said: bool, stopping: bool) -> None:
    assert (is_said(line), is_stopping(line)) == (said, stopping)
    assert not is_said(None)


def test_a_released_table_keeps_the_instant_and_the_id_of_the_wish() -> None:
    assert as_released(Resume(t=7, id="r")) == Other(t=7, id="r", name="released")


def test_a_line_stands_as_the_last_correction_has_it() -> None:
    log = amended(
        Correct(t=50, id="x1", line="c2", extra={"card": "8c"}),
        Correct(t=51, id="x2", line="c2", extra={"seat": 3}),
    )
    assert log.now("c2") == Card(t=20, id="c2", card="8c", seat=3)
    assert log.now("c1") == FIRST
    assert log.known("c2") and not log.known("c9")


def test_a_line_that_was_struck_out_is_none_until_that_is_taken_back() -> None:
    assert amended(struck("x1", "c2")).now("c2") is None
    log = amended(struck("x1", "c2"), struck("x2", "x1"))
    assert log.now("c2") == SECOND
    assert log.taken_back == {"x1", "x2"}


def test_a_correction_that_does_not_fit_is_passed_over_and_the_next_one_counts() -> None:
    """The adjudicator asks what such a line should have been."""
    log = amended(
        Correct(t=50, id="x1", line="c2", extra={"card": "no card"}),
        Correct(t=51, id="x2", line="c2", extra={"card": "8c"}),
    )
    assert log.now("c2") == Card(t=20, id="c2", card="8c", seat=2)


def test_only_what_people_said_is_taken_back() -> None:
    """A card that is struck out is not taken back: it never existed."""
    log = amended(Pause(t=30, id="p"), struck("x1", "c2"), struck("x2", "p"))
    assert log.taken_back == {"p", "x2"}
    assert log.now("p") is None
    assert log.pause.is_stopped is False


def test_what_was_taken_back_takes_nothing_back() -> None:
    """An undo that was undone: the pause stands."""
    log = amended(Pause(t=30, id="p"), struck("x1", "p"), struck("x2", "x1"))
    assert log.taken_back == {"x1", "x2"}
    assert log.pause.by_people


def test_a_correction_that_changes_and_does_not_strike_takes_nothing_back() -> None:
    log = amended(Pause(t=30, id="p"), Correct(t=40, id="x1", line="p", extra={"fields": {"t": 25}}))
    assert log.taken_back == set()
    assert log.pause.last_pause == 25


def test_what_the_adjudicator_could_not_use_is_not_known() -> None:
    """Late evidence, and a correction of a missing line."""
    late = Card(t=15, id="c3", card="2d", seat=3)
    vain = Correct(t=50, id="x1", line="c2", void=True)
    asked = (
        ruling("question", "c3", ask="late_evidence", about=["c3"]),
        ruling("question", "x1", ask="mend_amendment", about=["x1"]),
        ruling("question", "c1", ask="unreadable_card", about=["c1"]),
    )
    log = amended(late, vain, rulings=asked)
    assert not log.known("c3") and not log.known("x1") and log.known("c1")
    assert log.now("c2") == SECOND
    assert log.last_act == []


def test_what_came_too_late_is_known_once_it_was_taken_up_and_until_that_is_taken_back() -> None:
    """Law 2's exception: late evidence is on record and judges nothing until people take it up."""
    late = Card(t=15, id="c3", card="2d", seat=3)
    asked = (ruling("question", "c3", ask="late_evidence", about=["c3"]),)
    up = Correct(t=60, id="x1", line="c3", take=True)
    assert not amended(late, rulings=asked).known("c3")
    assert amended(late, up, rulings=asked).known("c3")
    assert amended(late, up, rulings=asked).now("c3") == late
    back = amended(late, up, struck("x2", "x1"), rulings=asked)
    assert not back.known("c3")
    assert back.taken_back == {"x1", "x2"}
    other = (*asked, ruling("question", "x9", ask="mend_amendment", about=["x9"]))
    assert not amended(late, Correct(t=60, id="x9", line="c3", take=True), rulings=other).known("c3")


def test_a_pause_that_was_told_too_late_taken_up_and_taken_back_stops_nobody() -> None:
    """Taking the pause back also takes back its taking up."""
    asked = (ruling("question", "p", ask="late_evidence", about=["p"]),)
    late, up = Pause(t=15, id="p"), Correct(t=60, id="x1", line="p", take=True)
    assert amended(late, up, rulings=asked).pause.by_people
    assert not amended(late, rulings=asked).pause.by_people
    back = amended(late, up, struck("x2", "p"), rulings=asked)
    assert back.taken_back == {"p", "x1", "x2"}
    assert not back.pause.by_people
    card_of = amended(Card(t=15, id="c3", card="2d"), Correct(t=60, id="x1", line="c3", take=True))
    assert card_of.taken_back == set()


def test_all_lines_that_hold_stand_by_instant_without_ticks_answers_and_corrections() -> None:
    log = amended(
        Tick(t=40, id="k"),
        Slap(t=15, id="s1", seat=3),
        Answer(t=50, id="a1", to="question@c1", value="7d"),
        Correct(t=60, id="x1", line="c1", extra={"fields": {"t": 30}}),
        struck("x2", "c2"),
    )
    assert [(line.id, line.t) for line in log.all_now()] == [("table", 0), ("s1", 15), ("c1", 30)]
    assert not log.known("k")


def test_a_ruling_is_found_by_the_id_that_it_had_before_it_was_renamed() -> None:
    old = ruling("slap_won", "s1", seat=3)
    new = ruling("slap_won", "s1", name="slap_won@s1~x1", supersedes=("slap_won@s1",), seat=1)
    log = amended(rulings=(old, new))
    assert set(log.rulings) == {"slap_won@s1~x1"}
    assert log.ruling("slap_won@s1") is new
    assert log.ruling("slap_won@s1~x1") is new
    assert log.ruling("slap_won@s1~x7") is new
    assert log.ruling("slap_won@s2") is None


def test_a_dead_card_that_was_none_is_laid_by_the_player_in_turn() -> None:
    """People strike out the ruling, not the line: the card stands, and its seat is open."""
    dead = ruling("dead_card", "c2", seat=2, reason="out_of_turn")
    other = ruling("turn", "c2", seat=3)
    lone = amended(struck("x1", "dead_card@c2"), rulings=(other, dead))
    assert lone.now("c2") == Card(t=20, id="c2", card="7c", seat=None)
    assert lone.now("c1") == FIRST
    renamed = ruling("dead_card", "c2", name="dead_card@c2~x0", seat=2, reason="out_of_turn")
    assert amended(struck("x1", "dead_card@c2"), rulings=(renamed,)).now("c2") != SECOND
    won = ruling("slap_won", "s1", seat=2)
    for rulings in ((won, dead), (dead, won)):
        assert amended(struck("x1", "slap_won@s1"), rulings=rulings).now("c2") == SECOND


def test_the_answer_that_holds_is_the_last_one_that_was_not_taken_back() -> None:
    first = Answer(t=50, id="a1", to="question@c1", value="7d")
    again = Answer(t=60, id="a2", to="question@c1~x9", value="8d")
    other = Answer(t=70, id="a3", to="question@c2", value="9d")
    assert amended(first, again, other).answer("question@c1") == again
    assert amended(first, again, struck("x1", "a2")).answer("question@c1") == first
    assert amended(other).answer("question@c1") is None


def test_stacks_that_were_counted_in_one_breath_are_taken_back_together() -> None:
    one, two = Count(t=50, id="n1", seat=1, cards=5), Count(t=50, id="n2", seat=2, cards=6)
    before = Count(t=40, id="n0", seat=3, cards=7)
    assert amended(before, one, two).last_act == [one, two]
    assert amended(one, Pause(t=50, id="p")).last_act == [Pause(t=50, id="p")]
    assert amended(before, one, struck("x1", "n1")).last_act == [before]
    assert amended().last_act == []


def test_the_table_stands_as_it_was_corrected() -> None:
    changed = amended(Correct(t=50, id="x1", line="table", extra={"seats": ["Ana", "Ben", "Dee"]})).table
    assert changed is not None and changed.seats == ("Ana", "Ben", "Dee")
    assert AmendedLog([FIRST], ()).table is None


def people(t: int, *, stop: bool) -> Observation:
    return Pause(t=t, id=f"p{t}") if stop else Resume(t=t, id=f"r{t}")


def camera(t: int, *, stop: bool, because: str = "dark") -> Observation:
    kind = Pause if stop else Resume
    return kind(t=t, id=f"{because}{t}", extra={BECAUSE: because})


@pytest.mark.parametrize(
    ("lines", "by_people", "by_camera", "stopped"),
    [
        ((), False, False, False),
        ((people(30, stop=True),), True, False, True),
        ((people(30, stop=True), people(40, stop=False)), False, False, False),
        ((people(30, stop=True), people(30, stop=False)), False, False, True),
        ((camera(30, stop=True),), False, True, True),
        ((camera(30, stop=True), camera(40, stop=False)), False, False, False),
        ((camera(30, stop=True), people(35, stop=True), camera(40, stop=False, because="people")), True, True, False),
        ((camera(30, stop=True), people(35, stop=True), as_released(Resume(t=40, id="r"))), False, True, True),
    ],
)
def test_who_has_stopped_the_table(
    lines: tuple[Observation, ...], by_people: bool, by_camera: bool, stopped: bool
) -> None:
    """At one instant a pause comes after a resume; the appliance's own actions are no player's wish."""
    for state in (amended(*lines).pause, read_pause([TABLE, *lines], ())):
        assert (state.by_people, state.by_camera, state.is_stopped) == (by_people, by_camera, stopped)


def test_instants_of_pause_and_resume_are_the_latest_however_they_were_told() -> None:
    state = amended(people(60, stop=True), people(30, stop=True), people(50, stop=False), people(40, stop=False)).pause
    assert (state.last_pause, state.last_resume) == (60, 50)
    none = amended().pause
    assert none.last_pause == none.last_resume == -(2**63)


def test_a_pause_that_came_too_late_to_be_judged_stops_nobody() -> None:
    late = ruling("question", "p30", ask="late_evidence", about=["p30"])
    other = ruling("question", "p30", ask="recount", about=["p30"])
    lead = ruling("lead", "p30", seat=1)
    assert not read_pause([TABLE, people(30, stop=True)], [lead, late]).by_people
    assert read_pause([TABLE, people(30, stop=True)], [lead, other]).by_people
    assert not read_pause([TABLE, people(30, stop=True), struck("x1", "p30")], []).by_people
