"""Reports without a sensor: contests, fouls, calls, joining and leaving, a missed card or slap, late evidence."""

from __future__ import annotations

from typing import Any

import pytest

from referee.control.facts import Accepted, Refused
from referee.engine.log import encode_observation
from referee.engine.observations import Card, Lift, Slap
from tests.play import log
from tests.web.tables import SECOND, Table

PAIR = "1000 1:7h\n2000 2:7c\n2300 slap 3\n"


def table_of(text: str = PAIR, *on: str, **set_: Any) -> Table:
    table = Table(log(text, rules={"base": "classic", "on": list(on), "set": set_}))
    table.settle()
    return table


def accepted(table: Table, do: str, **fields: Any) -> list[str]:
    """Return the resulting lines, as they stand in the log."""
    done = table.command(do, **fields)
    assert isinstance(done, Accepted), done
    table.settle()
    return [encode_observation(line) for line in done.observations]


def ruled(table: Table, kind: str) -> list[dict[str, Any]]:
    return [dict(ruling.fields) for ruling in table.in_force() if ruling.kind == kind]


def test_a_contest_is_settled_from_the_record_and_undone() -> None:
    """F5: each of two who contest a good slap gives a card."""
    table = table_of(PAIR + "3000 taken 3\n", "F5")
    (line,) = accepted(table, "contest", by=[1, 2], against=3)
    assert '"kind":"contest"' in line
    assert '"by":[1,2],"against":3' in line
    assert ruled(table, "contested") == [{"against": 3, "by": [1, 2], "upheld": True}]
    assert [give["seat"] for give in ruled(table, "give")] == [1, 2]
    accepted(table, "undo")
    assert ruled(table, "contested") == ruled(table, "give") == []


def test_a_contest_may_name_its_ruling() -> None:
    table = table_of("1000 1:7h\n2000 2:8c\n2300 slap 3\n", "F5")
    (line,) = accepted(table, "contest", by=[1], ruling="slap_false@s1")
    assert '"against":3,"ruling":"slap_false@s1"' in line
    assert ruled(table, "contested")[0]["upheld"] is False


@pytest.mark.parametrize(
    ("foul", "row"),
    [("peek", "S6"), ("hover", "F10"), ("snap", "S8"), ("out_of_turn", "F7"), ("double_draw", "F9"), ("ring", "S7")],
)
def test_a_foul_is_reported_where_a_row_makes_something_of_it(foul: str, row: str) -> None:
    table = table_of("1000 1:7h\n", row)
    (line,) = accepted(table, "foul", seat=1, foul=foul)
    assert '"by":"people"' in line
    assert ruled(table, "foul") == [{"seat": 1, "foul": foul}]
    accepted(table, "undo")
    assert ruled(table, "foul") == []


def test_a_card_that_was_reported_out_of_turn_was_in_turn_after_all() -> None:
    """F7: overruling a report takes it back, and undoing that restores it."""
    table = table_of("1000 1:7h\n2000 2:Kc\n", "F7")
    accepted(table, "foul", seat=2, foul="out_of_turn")
    (dead,) = (ruling for ruling in table.rulings if ruling.kind == "dead_card")
    assert (dead["card"], table.view.turn, table.view.challenge) == ("Kc", 2, None)
    accepted(table, "overrule", ruling=dead.id, verdict="in_turn")
    assert ruled(table, "foul") == ruled(table, "dead_card") == []
    assert table.view.challenge is not None
    accepted(table, "undo")
    assert ruled(table, "dead_card") == [{"seat": 2, "card": "Kc", "reason": "out_of_turn"}]


def test_a_rank_is_called_and_the_call_taken_back() -> None:
    """N14: Ben calls eight and lays it."""
    table = table_of("1000 1:7h\n", "N14")
    (line,) = accepted(table, "say", seat=2, rank="8")
    assert '"kind":"say"' in line
    t = table.now + SECOND
    table.observe(Card(t=t, id="c9", card="8c", seat=2), Slap(t=t + SECOND // 3, id="s9", seat=3))
    table.settle()
    assert ruled(table, "slap_won") == [] or ruled(table, "slap_won")[0]["patterns"] == ["N14"]
    assert table.view.owner == 3
    accepted(table, "undo")
    assert table.view.owner is None


def test_ranks_are_offered_in_their_order() -> None:
    table = table_of("1000 1:7h\n", "N14")
    assert table.facts().offers.call == (2, "A")
    accepted(table, "say", seat=2, rank="K")
    accepted(table, "say", seat=3, rank="A")
    assert table.facts().offers.call == (2, "2")


def test_the_wild_rank_is_drawn() -> None:
    """P14"""
    table = table_of("1000 1:2h\n", "P14")
    (line,) = accepted(table, "draw", rank="5")
    assert '"kind":"draw"' in line
    t = table.now + SECOND
    table.observe(Card(t=t, id="c9", card="5c", seat=2), Slap(t=t + SECOND // 3, id="s9", seat=3))
    table.settle()
    assert table.view.owner == 3


def test_a_bystander_joins() -> None:
    """M11"""
    table = table_of("1000 1:7h\n", "M11")
    assert table.facts().offers.joins == (4, 5, 6, 7, 8)
    accepted(table, "join", seat=4)
    assert len(table.view.names) == 4
    accepted(table, "undo")
    assert len(table.view.names) == 3


OFFERED = {"contests": "F5", "call": "N14", "joins": "M11", "leaves": "E8"}


@pytest.mark.parametrize("offer", OFFERED)
def test_what_the_house_rules_do_not_know_is_not_offered(offer: str) -> None:
    assert not getattr(table_of().facts().offers, offer)
    assert getattr(table_of(PAIR, OFFERED[offer]).facts().offers, offer)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ({"do": "contest", "by": [1], "against": 3}, "do not allow contests"),
        ({"do": "foul", "seat": 1, "foul": "peek"}, "do not punish that foul"),
        ({"do": "foul", "seat": 1, "foul": "snap"}, "do not punish that foul"),
        ({"do": "foul", "seat": 1, "foul": "sneeze"}, '"foul" must be'),
        ({"do": "foul", "seat": 4, "foul": "hover"}, "no seat 4"),
        ({"do": "say", "seat": 1, "rank": "7"}, "do not have players call ranks"),
        ({"do": "say", "seat": 1, "rank": "10"}, '"rank" must be'),
        ({"do": "draw", "rank": "7"}, "have no wild rank"),
        ({"do": "draw", "rank": "K"}, '"rank" must be'),
        ({"do": "join", "seat": 4}, "do not let a new player join"),
        ({"do": "leave", "seat": 1}, "do not say where"),
        ({"do": "missed_card", "seat": 1, "card": "7h", "after": "c9"}, "this cannot have followed"),
        ({"do": "missed_slap", "seat": 1, "on": "s1"}, "this cannot have followed"),
        ({"do": "missed_slap", "seat": 4}, "no seat 4"),
        ({"do": "take_up", "line": "c1"}, "did not come too late"),
    ],
)
def test_what_does_not_fit_is_refused(command: dict[str, Any], words: str) -> None:
    refused = table_of().command(**command)
    assert isinstance(refused, Refused)
    assert words in refused.words


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"by": [1]}, "say against or ruling"),
        ({"by": [], "against": 3}, '"by" must be'),
        ({"by": [3, 1], "against": 3}, "their own"),
        ({"by": [1], "against": 2}, "neither slapped nor taken"),
        ({"by": [1], "ruling": "lead@table"}, "no slap and no take"),
        ({"by": [1], "against": 2, "ruling": "slap_won@s1"}, "that ruling is about seat 3"),
    ],
)
def test_a_contest_of_nothing_is_refused(fields: dict[str, Any], words: str) -> None:
    table = table_of(PAIR + "3000 taken 3\n", "F5")
    refused = table.command("contest", **fields)
    assert isinstance(refused, Refused)
    assert words in refused.words


def test_a_missed_card_between_two_lines_of_one_instant_is_refused() -> None:
    table = table_of("1000 1:7h\n1000 slap 3\n")
    refused = table.command("missed_card", seat=2, card="7c", after="c1")
    assert isinstance(refused, Accepted)
    table = Table(log("1000 1:7h\n1000.000001 slap 3\n"))
    table.settle()
    refused = table.command("missed_card", seat=2, card="7c", after="c1")
    assert isinstance(refused, Refused)
    assert "nothing can have come between" in refused.words


MISSED = "1000 1:7h\n2300 slap 3\n"


def test_a_card_that_the_camera_missed_makes_the_slap_good() -> None:
    """Ben's seven was not seen, so Cho's slap was false; it lay before the hand came."""
    table = table_of(MISSED)
    assert ruled(table, "slap_false")
    line, take = accepted(table, "missed_card", seat=2, card="7c")
    assert '"by":"people"' in line
    assert '"t":1650000000' in line
    assert '"take":true' in take
    assert table.view.owner == 3
    assert ruled(table, "slap_false") == []
    assert not table.view.questions
    accepted(table, "undo")
    assert ruled(table, "slap_false")
    assert table.view.owner is None
    assert isinstance(table.command("undo"), Refused)


def test_where_a_missed_card_lay_is_what_people_say() -> None:
    """After the hand it makes no slap good, however near."""
    table = table_of(MISSED)
    accepted(table, "missed_card", seat=2, card="7c", after="s1")
    assert ruled(table, "slap_false")
    assert table.view.pile == ("??", "7h", "7c") or table.view.pile[-2:] == ("7h", "7c")
    assert not any(ruling.doubt for ruling in table.in_force())


def test_a_slap_that_its_pad_missed_wins() -> None:
    table = table_of("1000 1:7h\n2000 2:7c\n")
    line, take = accepted(table, "missed_slap", seat=3)
    assert '"kind":"slap"' in line
    assert '"t":3000000000' in line
    assert '"take":true' in take
    assert table.view.owner == 3
    accepted(table, "undo")
    assert table.view.owner is None


def test_a_missed_slap_near_another_hand_is_asked_about() -> None:
    """Its instant is unknown, so it is unknown whether it came first."""
    table = table_of("1000 1:7h\n2000 2:7c\n2500 slap 1\n")
    accepted(table, "missed_slap", seat=3)
    (question,) = [ruling for ruling in table.in_force() if ruling.kind == "question"]
    assert question["ask"] == "who_was_first"
    accepted(table, "answer", question=question.id, value=3)
    assert table.view.owner == 3


def test_late_evidence_is_taken_up_and_left_again() -> None:
    """Reading 20: it judges nothing until people take it up."""
    table = table_of("1000 1:7h\n2300 slap 3\n")
    table.observe(Card(t=2 * SECOND, id="late", card="7c", seat=2))
    table.settle()
    assert ruled(table, "slap_false")
    assert "question@late" in table.view.questions
    assert isinstance(table.command("answer", question="question@late", value=2), Refused)
    (take,) = accepted(table, "take_up", line="late")
    assert '"line":"late","take":true' in take
    assert table.view.owner == 3
    assert "question@late" not in table.view.questions
    accepted(table, "undo")
    assert ruled(table, "slap_false")


def test_a_player_leaves() -> None:
    """E8"""
    table = table_of("1000 1:7h\n", "E8")
    (line,) = accepted(table, "leave", seat=2)
    assert '"kind":"leave"' in line
    assert ruled(table, "out") == [{"seat": 2}]
    assert table.facts().offers.leaves == (1, 3)
    assert isinstance(table.command("leave", seat=2), Refused)
    accepted(table, "undo")
    assert ruled(table, "out") == []


def test_the_wild_rank_is_asked_for_before_the_first_card() -> None:
    table = Table(log("", rules={"base": "classic", "on": ["P14"]}))
    table.settle()
    (question,) = [ruling for ruling in table.in_force() if ruling.kind == "question"]
    assert question["ask"] == "wild_rank"
    assert isinstance(table.command("answer", question=question.id, value="K"), Refused)
    accepted(table, "answer", question=question.id, value="T")
    assert not table.view.questions
    accepted(table, "undo")
    assert table.view.questions


def test_one_act_is_contested_once_by_each_player() -> None:
    """F5: another player may still contest it, and the first one a later act."""
    table = table_of(PAIR + "3000 taken 3\n", "F5")
    accepted(table, "contest", by=[1], against=3)
    again = table.command("contest", by=[1], against=3)
    assert isinstance(again, Refused) and "has contested that already" in str(again.words)
    assert isinstance(table.command("contest", by=[1], ruling="slap_won@s1"), Refused)
    accepted(table, "contest", by=[2], against=3)
    t = table.now + SECOND
    table.observe(Lift(t=t - 1, id="l8", seat=3), Card(t=t, id="c8", card="4h", seat=3))
    table.observe(Slap(t=t + SECOND // 2, id="s8", seat=3))
    table.settle()
    accepted(table, "contest", by=[1], against=3)
    assert [ruling["upheld"] for ruling in ruled(table, "contested")] == [True, True, False]


def test_counts_settle_a_game_that_is_over_and_nothing_else() -> None:
    """E7: the stacks are unknown when the agreed pile is taken."""
    text = "1000 1:7h\n2000 2:7c\n2300 slap 3\n3000 taken 3\n"
    rules = {"base": "classic", "on": ["E7"], "set": {"E7": {"piles": 1}}}
    table = Table(log(text, rules=rules, counts=[None, None, None]))
    table.settle()
    assert table.view.game_over and len(table.view.questions) == 1
    accepted(table, "count", seat=1, cards=10)
    assert ruled(table, "won") == []
    accepted(table, "recount", cards=[10, 12, 30])
    assert table.view.winner == 3
    assert not table.view.questions
    assert isinstance(table.command("count", seat=1, cards=40), Refused)


def test_late_evidence_is_left_out_and_that_taken_back() -> None:
    """Reading 20."""
    table = table_of("1000 1:7h\n2000 2:8c\n2300 slap 3\n", "F5")
    table.observe(Card(t=2 * SECOND, id="late", card="7c", seat=2))
    table.settle()
    before = ruled(table, "slap_false")
    assert isinstance(table.command("answer", question="question@late", value="slap"), Refused)
    accepted(table, "answer", question="question@late", value="ignore")
    assert table.view.questions == ()
    assert ruled(table, "slap_false") == before
    assert not any(ruling.get("ask") == "mend_amendment" for ruling in table.in_force())
    accepted(table, "undo")
    assert table.view.questions == ("question@late",)


@pytest.mark.parametrize("first", [1, 2, 3])
def test_every_hand_of_a_heat_that_none_can_match_is_an_answer(first: int) -> None:
    """M4: none of them has a card left to play War with."""
    text = "1000 1:7h\n2000 2:7c\n2300 slap 1\n2300 slap 2\n2300 slap 3\n"
    rules = {"base": "classic", "on": ["M4"], "off": ["E4", "M12"]}
    table = Table(log(text, rules=rules, counts=[1, 1, 0]))
    table.settle()
    (asked,) = (ruling for ruling in table.in_force() if ruling.kind == "question")
    assert asked["about"] == ["s1", "s2", "s3"]
    accepted(table, "answer", question=asked.id, value=first)
    assert table.view.owner == first
    assert not table.view.questions
