"""The contents of an explanation: the pile, the instants around it, and the other facts considered (K5)."""

from __future__ import annotations

from typing import Any

import pytest

from referee.engine.adjudicator import Adjudicator
from referee.engine.explanation import Explanation, WitnessedLog, notation
from referee.engine.log import from_fields
from referee.engine.observations import Foul, Observation, Table
from referee.engine.rulings import Ruling
from referee.rules.position import Laid
from referee.text.explanation_lines import explanation_fields
from tests.play import MS, log

DOUBLE = "1000 1:7h\n2000 2:7c ±2\n2300 slap 3 ±0.5\n2340 slap 1 ±0.7\n2400 lift 3\n3500 taken 3\n4000 3:9c\n"


def explained(text: str, name: str, *more: Observation, **table: Any) -> Explanation:
    """Return the explanation of a log's ruling, once all of the log is known."""
    lines = [*log(text, **table), *more]
    assert isinstance(lines[0], Table)
    record = WitnessedLog(lines[0])
    referee = Adjudicator(stream=False, witness=record)
    for line in lines:
        referee.observe(line)
    return record.explain(next(ruling for ruling in referee.finish() if ruling.id == name))


def why(text: str, name: str, row: str, **table: Any) -> list[tuple[bool, str]]:
    """Return the facts considered by one row."""
    told = explanation_fields(explained(text, name, **table))["considered"]
    return [(entry["held"], entry["why"]) for entry in told if entry["row"] == row]


def test_the_moments_around_a_ruling_are_told_from_its_own_instant() -> None:
    """Cards and hands within a second and a half, and its causes at any distance; ticks are left out."""
    moments = explained("500 3:2c\n" + DOUBLE + "3800 tick", "slap_won@s1").moments
    assert [(m.id, m.kind, m.seat, m.card, m.offset / MS, m.error / MS) for m in moments] == [
        ("c2", "card", 1, "7h", -1300, 0),
        ("c3", "card", 2, "7c", -300, 2),
        ("s1", "slap", 3, "", 0, 0.5),
        ("s2", "slap", 1, "", 40, 0.7),
        ("l1", "lift", 3, "", 100, 0),
        ("t1", "taken", 3, "", 1200, 0),
    ]


def test_lines_at_the_very_edge_are_told_and_those_beyond_it_are_not() -> None:
    text = "799.999999 3:2c\n800 1:7h\n2000 2:7c\n2300 slap 3\n3800 lift 3\n3800.000001 taken\n"
    assert [moment.id for moment in explained(text, "slap_won@s1").moments] == ["c2", "c3", "s1", "l1"]


def test_what_it_rests_on_is_told_from_however_far() -> None:
    """The card of the double lay there for a minute."""
    moments = explained("1000 1:7h\n61000 2:7c\n61300 slap 3\n", "slap_won@s1").moments
    assert (moments[0].id, moments[0].offset) == ("c1", -60_300 * MS)


def test_the_pile_is_as_it_lay_then() -> None:
    text = "1000 1:7h\n1300 slap 2\n1400 lift 2\n2000 2:9c\n2500 1:5d\n2600 slap 3\n"
    said = explained(text, "slap_false@s2")
    assert notation(said.pile) == "[??] 7h 9c (5d)"
    assert said.counts == (16, 15, 17)
    assert said.turn == 3
    assert [row for row, _ in said.rules] == ["F8"]
    facts = explanation_fields(said)
    assert facts["pile"][0] == {"card": "??", "seat": 2, "state": "burned"}
    assert facts["turn"] == 3
    assert facts["supersedes"] == []
    assert set(facts) == {
        "ruling", "notation", "pile", "below", "counts", "turn", "moments", "left_out", "rules", "considered",
        "supersedes", "words",
    }  # fmt: skip
    assert facts["rules"] == [{"id": "F8", "name": "slap-on-dead-card", "title": "a slap over a dead card is false"}]
    assert facts["ruling"]["id"] == "slap_false@s2"
    assert facts["counts"] == [16, 15, 17]


def test_before_the_first_card_there_is_nothing_but_the_table() -> None:
    said = explained(DOUBLE, "lead@table", counts=[3, 4, 5])
    assert (said.pile, said.counts, said.turn, said.considered) == ((), (3, 4, 5), 1, ())
    assert explained(DOUBLE, "lead@table").counts == (18, 17, 17)


def test_a_late_hand_is_told_by_how_much() -> None:
    """The lateness comes with both errors together."""
    assert why(DOUBLE, "slap_void@s2", "M1") == [(False, "seat 3 was first: this hand came 40.0 ± 1.2 ms later")]
    assert why(DOUBLE, "slap_void@s2", "P1") == []


def test_a_won_slap_is_told_with_its_margins() -> None:
    text = DOUBLE.replace("2400 lift 3", "2350 slap 2")
    assert why(text, "slap_won@s1", "K3") == [
        (False, "seat 1 was 40.0 ± 1.2 ms later"),
        (False, "seat 2 was 50 ± 2 ms later"),
    ]
    assert why(text, "slap_won@s1", "P1") == [(True, "it holds")]
    assert why(text, "slap_won@s1", "M9") == []
    alone = why("1000 1:7h\n2000 2:7c\n2300 slap 3\n", "slap_won@s1", "K3")
    assert alone == [(True, "no other hand that counted came down on this pile")]


def test_a_held_pad_is_told_since_when() -> None:
    """Since its last press, before a lift or not; other pads do not count."""
    text = "500 slap 1\n600 slap 2\n700 lift 2\n1000 1:7h\n2000 2:7c\n2300 slap 1\n"
    assert why(text, "slap_void@s3", "M5") == [
        (False, "this pad has been down for 1800 ± 3 ms, since s1, without a lift")
    ]


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (3148, (True, "9d came 148.0 ± 1.5 ms before, less than 150 ms; it covered P1")),
        (3152, (False, "9d came 152.0 ± 1.5 ms before, not less than 150 ms; it covered P1")),
    ],
)
def test_a_cover_is_told_by_how_long(at: int, words: tuple[bool, str]) -> None:
    name = "slap_void@s1" if words[0] else "slap_false@s1"
    assert why(f"1000 1:7h\n2000 2:7c\n3000 3:9d\n{at} slap 1\n", name, "M9") == [words]


def test_a_cover_of_no_pattern_is_told_and_without_the_row_nothing_is() -> None:
    text = "1000 1:7h\n2000 2:8c\n3000 3:9d\n3100 slap 1\n"
    assert why(text, "slap_false@s1", "M9") == [
        (False, "9d came 100.0 ± 1.5 ms before, less than 150 ms; it covered no pattern")
    ]
    assert why(text, "slap_false@s1", "M9", rules={"off": ["M9"]}) == []


def test_both_readings_of_a_doubtful_slap_are_told() -> None:
    """K9: in whatever order; a card that surely came first or last is no doubt."""
    text = "1000 1:7h\n1999 slap 3\n2000 2:7c\n"
    assert why(text, "slap_won@s1", "K9") == [
        (
            True,
            "slap and 7c lie -1.0 ± 1.5 ms apart: slap first it is false (nothing to slap), card first it is won (P1)",
        )
    ]
    assert why(text.replace("1999", "1998"), "slap_false@s1", "K9") == []
    covered = "1000 1:7h\n2000 2:7c\n3000 3:9d\n3001 slap 1\n"
    assert why(covered, "slap_won@s1", "K9") == [
        (
            True,
            "slap and 9d lie +1.0 ± 1.5 ms apart: "
            "slap first it is won (P1), card first it is void (the pattern was covered)",
        )
    ]


def test_readings_that_come_to_the_same_are_told_to_be_no_matter() -> None:
    held = why("1000 1:7h\n2000 2:8c\n3000 3:9d\n3001 slap 1\n", "slap_false@s1", "K9")
    assert [matters for matters, _ in held] == [False]


def test_own_patterns_are_told_by_name() -> None:
    rules = {"on": ["P19"], "set": {"P19": {"five": "size > 4 and rank(5) = 7", "twins": "rank(1) = rank(2)"}}}
    text = "1000 1:7h\n2000 2:8c\n2300 slap 3\n"
    assert why(text, "slap_false@s1", "P19:five", rules=rules) == [(False, "it looks at 5 cards, and 2 count")]
    assert why(text, "slap_false@s1", "P19:twins", rules=rules) == [(False, "its condition does not hold")]
    won = "1000 1:7h\n2000 2:7c\n2300 slap 3\n"
    assert why(won, "slap_won@s1", "P19:twins", rules=rules) == [(True, "it holds")]
    assert why(won, "slap_won@s1", "P19:five", rules=rules) == []


def test_other_rulings_are_told_what_they_hang_on() -> None:
    """The turn, the number of cards held, and whether a won challenge may still be slapped away."""
    assert why("1000 1:7h\n2000 3:8c\n", "dead_card@c2", "S5") == [(False, "it was the turn of seat 2")]
    false = "1000 1:7h\n1300 slap 2\n"
    assert why(false, "burn@s1", "E1") == [(True, "seat 2 held 17 cards before")]
    assert why(false, "burn@s1", "E1", counts=[5, None, 5]) == [
        (True, "it is not known how many cards seat 2 held before")
    ]
    assert why(false, "strike@s1", "E1", counts=[5, 0, 5]) == [(False, "seat 2 held 0 cards before")]
    assert why("1000 1:Jh\n2000 2:8c\n", "challenge_won@c2", "C9") == [
        (True, "until it is picked up, a valid slap still takes this pile")
    ]
    assert why("1000 1:Jh\n2000 2:8c\n", "challenge_won@c2", "C9", rules="beggar-my-neighbour") == []


CORRECTED = """
    1000 1:7h
    2000 2:8c
    2300 slap 3
    2400 lift 3
    3500 taken 3
    5000 correct c2 {"card": "7c"}
    6000 correct c2 {"card": "7d"}
    7000 correct c2 {"card": "9s"}
    8000 correct c5 {"void": true}
"""


def test_a_ruling_is_told_by_what_its_cause_met_while_it_stood() -> None:
    """K6: the card was an eight when the slap was ruled false, then a seven, and a seven of another suit."""
    met = {
        "slap_false@s1": "7h 8c",
        "slap_won@s1": "7h 7c",
        "slap_won@s1~c4": "7h 7d",
        "slap_false@s1~c5": "7h 9s",
        "slap_won@s1~c6": "7h 7d",
    }
    assert {name: notation(explained(CORRECTED, name).pile) for name in met} == met
    for name in met:
        held = {row for row in ("P1",) for yes, _ in why(CORRECTED, name, row) if yes}
        assert held == ({"P1"} if name.startswith("slap_won") else set())


def test_the_lines_around_it_are_as_they_were_then() -> None:
    """A replaced ruling shows the card as first seen, its successor the corrected card."""

    def cards(name: str) -> list[str]:
        return [moment.card for moment in explained(CORRECTED, name).moments if moment.kind == "card"]

    assert cards("slap_false@s1") == ["7h", "8c"]
    assert cards("slap_won@s1~c6") == ["7h", "7d"]


def test_a_line_that_was_struck_out_is_not_told_any_more() -> None:
    text = '1000 1:7h\n2000 2:7c\n2300 slap 3\n2340 slap 1\n2400 lift 3\n5000 correct s2 {"void": true}\n'
    moments = explained(text, "slap_won@s1").moments
    assert [moment.id for moment in moments] == ["c1", "c2", "s1", "l1"]


def test_what_people_said_is_told_with_what_they_were_asked() -> None:
    text = "1000 1:7h\n2000 2:7c\n2300 slap 1\n2301 slap 3\n3000 answer question@s1 3\n"
    answer = explained(text, "question@s1").moments[-1]
    assert (answer.kind, answer.about, answer.value) == ("answer", "who_was_first", 3)
    facts = explanation_fields(explained(text, "question@s1"))["moments"]
    assert [("about" in moment) for moment in facts] == [False, False, False, False, True]


def test_the_lowest_card_is_as_people_named_it() -> None:
    """P5b: the burned card was unseen; people named it."""
    text = "1000 1:7h\n1300 slap 2\n1400 lift 2\n2000 2:9c\n2500 slap 3\n4000 answer question@s2 "
    rules = {"on": ["P5b"]}
    assert notation(explained(text + '"9d"', "slap_won@s2", rules=rules).pile) == "[9d] 7h 9c"
    missed = why(text + '"8d"', "slap_false@s2", "P5b", rules=rules)
    assert missed == [(False, "9c does not have the rank of 8d, the lowest card")]


def test_a_corrected_table_is_told_as_it_stands() -> None:
    text = '1000 1:7h\n2000 correct table {"dealer": 1}\n'
    lines = log(text)
    assert isinstance(lines[0], Table)
    record = WitnessedLog(lines[0])
    referee = Adjudicator(stream=False, witness=record)
    for line in lines:
        referee.observe(line)
    lead = next(ruling for ruling in referee.finish() if ruling.kind == "lead" and "~" in ruling.id)
    assert record.table.dealer == 1
    assert record.explain(lead).turn == lead["seat"] == 2


def test_piles_are_written_on_one_line() -> None:
    pile = (Laid("??", "s", 0, 1, "burned"), Laid("7h", "c", 1, 2, "played"), Laid("9d", "d", 2, 3, "dead"))
    assert notation(pile) == "[??] 7h (9d)"
    assert notation(()) == ""


def test_a_record_explains_what_is_known_so_far() -> None:
    """Asked in the middle of a game and again later, the record includes the lines in between."""
    lines = log("1000 1:7h\n2000 2:7c\n2300 slap 3\n2400 slap 1\n3500 taken 3\n4000 3:9c\n")
    assert isinstance(lines[0], Table)
    record = WitnessedLog(lines[0])
    referee = Adjudicator(lookahead_ns=10 * MS, witness=record)
    for line in lines[:3]:
        referee.observe(line)
    referee.promise(2_100 * MS)
    won = Ruling(
        "slap_won",
        "slap_won@s1",
        2300 * MS,
        ("s1", "c1", "c2"),
        ("M1",),
        {"seat": 3, "patterns": ["P1"], "cards": ["7h", "7c"], "runners_up": []},
    )
    assert [moment.id for moment in record.explain(won).moments] == ["c1", "c2"]
    for line in lines[3:]:
        referee.observe(line)
    referee.finish()
    assert [moment.id for moment in record.explain(won).moments] == ["c1", "c2", "s1", "s2", "t1"]


def test_the_pile_of_a_war_is_told() -> None:
    """M4: three cards down and one up of each, those down unseen, those up dead."""
    table: dict[str, Any] = {"rules": {"on": ["M4"]}}
    lines = log("1000 1:7h\n2000 2:7c\n2300 slap 1\n2301 slap 3\n", **table)
    shown = [
        from_fields({"kind": "card", "t": at * MS, "id": f"w{at}", "card": card, "seat": seat, "zone": "seat"}, 1)
        for at, seat, card in ((5000, 1, "Kd"), (5400, 3, "9c"))
    ]
    assert isinstance(lines[0], Table)
    record = WitnessedLog(lines[0])
    referee = Adjudicator(stream=False, witness=record)
    for line in (*lines, *shown, *log("7000 taken 1")[1:]):
        referee.observe(line)
    pile = next(ruling for ruling in referee.finish() if ruling.kind == "pile")
    assert notation(record.explain(pile).pile) == "7h 7c [??] [??] [??] (Kd) [??] [??] [??] (9c)"


def test_every_kind_of_line_that_tells_of_the_table_is_among_the_moments() -> None:
    lines = log("1000 1:7h\n1100 slap 2\n1200 lift 2\n2000 taken 1\n")
    more: tuple[dict[str, Any], ...] = (
        {"kind": "placed", "seat": 2},
        {"kind": "foul", "seat": 2, "foul": "peek"},
        {"kind": "count", "seat": 2, "cards": 9},
        {"kind": "answer", "to": "question@t1", "value": 1},
        {"kind": "correct", "line": "c1", "card": "8h"},
        {"kind": "pause"},
        {"kind": "resume"},
        {"kind": "say", "seat": 1, "rank": "7"},
        {"kind": "day", "date": "today"},
    )
    lines += [from_fields({"t": (2100 + n) * MS, "id": f"x{n}", **fields}, 1) for n, fields in enumerate(more)]
    assert isinstance(lines[0], Table)
    record = WitnessedLog(lines[0])
    referee = Adjudicator(stream=False, witness=record)
    for line in lines:
        referee.observe(line)
    false = next(ruling for ruling in referee.finish() if ruling.kind == "slap_false")
    told = [moment.kind for moment in record.explain(false).moments]
    assert told == ["card", "slap", "lift", "taken", "placed", "foul", "count", "answer", "correct"]


def test_a_card_that_was_burned_since_covers_nothing() -> None:
    """M9 looks at the newest laid card, and names it."""
    text = "1000 1:7h\n2000 2:7c\n3000 3:9d\n3050 slap 2\n3120 slap 1\n"
    rules = {"set": {"M9": 40}}
    assert why(text, "slap_false@s2", "M9", rules=rules) == [
        (False, "9d came 120.0 ± 1.5 ms before, not less than 40 ms; it covered P1")
    ]


def test_a_card_out_of_turn_when_it_is_nobodys_turn() -> None:
    """The tied must say who was first: a third seat's card is dead."""
    text = "1000 1:7h\n2000 2:7c\n2300 slap 1\n2301 slap 3\n4000 2:9d\n"
    assert why(text, "dead_card@c3", "S5") == [(False, "it was the turn of nobody")]


def test_what_lies_near_is_told_of_every_ruling_on_a_hand_and_of_no_other() -> None:
    heat = "1000 1:7h\n2000 2:7c\n2300 slap 3 ±1\n2300.5 slap 1 ±1\n2400 lift 3\n"
    for name in ("dead_heat@s1", "question@s1"):
        assert [moment.id for moment in explained(heat, name).moments] == ["c1", "c2", "s1", "s2", "l1"]
    false = "1000 1:7h\n1900 lift 3\n2000 2:8c\n2300 slap 3\n"
    assert [moment.id for moment in explained(false, "slap_false@s1").moments] == ["c1", "l1", "c2", "s1"]
    assert [moment.id for moment in explained(false, "burn@s1").moments] == ["s1"]
    assert [moment.id for moment in explained(false, "turn@c2").moments] == ["c2"]


PAIR = "1000 1:7h\n2000 2:7c\n"
TIED = PAIR + "2300 slap 1\n2301 slap 3\n"
ANSWERED = TIED + "3000 answer question@s1 3\n"
HARDER = PAIR + "2300 slap 1 !0.3\n2301 slap 3 !0.9\n"
NEAR = ("K3", False, "nearer_than_errors", {"seats": [1, 3], "ms": MS, "ms_error": 3 * MS})
HELD: tuple[Any, ...] = ("P1", True, "holds", {})


def soon(row: str, ms: int) -> tuple[Any, ...]:
    return (row, False, "soon_after", {"card": "7c", "ms": ms * MS, "ms_error": 3 * MS // 2})


@pytest.mark.parametrize(
    ("text", "name", "rules", "wanted"),
    [
        (ANSWERED, "slap_won@s2", {}, [HELD, NEAR, ("M2", True, "people_said", {})]),
        (ANSWERED, "slap_void@s1", {}, [NEAR, ("M2", False, "lost_by_people", {"seat": 3})]),
        (ANSWERED, "question@s1", {}, [NEAR]),
        (HARDER, "slap_won@s2", {}, [HELD, NEAR, ("M2", True, "harder_hand", {"force": 0.9, "second_force": 0.3})]),
        (HARDER, "slap_void@s1", {}, [NEAR, ("M2", False, "lost_by_force", {"seat": 3})]),
        (TIED, "slap_won@s1", {"on": ["M3"]}, [HELD, NEAR, ("M3", True, "decided_split", {})]),
        (
            PAIR + '2300 slap 1\n2340 slap 3\n5000 correct slap_won@s1 {"seat": 3}\n', "slap_won@s2", {},
            [("K6", True, "people_said", {}), HELD, ("K3", True, "no_other_hand", {})],
        ),
        (
            PAIR + '2300 slap 1\n2340 slap 3\n5000 correct slap_won@s1 {"seat": 3}\n', "slap_void@s1", {},
            [("K6", True, "people_said", {})],
        ),
        (PAIR + "2200 slap 1\n", "slap_void@s1", {"on": ["M6"]}, [soon("M6", 200)]),
        (PAIR + "2050 slap 1\n", "slap_void@s1", {"on": ["N12"]}, [soon("N12", 50)]),
        (PAIR + "2200 slap 2\n", "slap_void@s1", {"on": ["M15"]}, [soon("M15", 200)]),
        ("2200 slap 2\n3000 1:7h\n", "slap_false@s1", {"set": {"N10": "false"}}, []),
        ("1000 1:7h\n2000 2:??\n2300 slap 3\n", "question@s1", {}, [("K2", True, "hangs_on_unreadable_card", {})]),
        ("1000 1:7h\n2000 2:??\n2300 slap 3\n", "question@c2", {}, []),
        (
            "1000 1:7h\n2000 2:9c\n2100 gap 3900 ??\n5000 2:4d\n5300 slap 1\n", "question@s1", {},
            [("K2", True, "hangs_on_unseen_gap", {})],
        ),
        (
            "1000 1:Kh\n2000 2:5c ±20\n2080 2:6d ±20\n", "question@c3/4", {"on": ["F9"], "set": {"K9": "question"}},
            [("F9", True, "drawn_at_once", {"ms": 80 * MS, "ms_error": 40 * MS})],
        ),
        ("1000 1:7h\n2000 3:9c\n2300 slap 3\n", "slap_false@s1", {}, [("F8", False, "dead_on_top", {"card": "9c"})]),
        (
            PAIR + "2300 slap 1\n2400 slap 3\n", "slap_void@s2", {},
            [("M1", False, "came_later", {"seat": 1, "ms": 100 * MS, "ms_error": 3 * MS})],
        ),
        (
            PAIR + "2300 slap 1 !0.3\n2300.2 lift 1\n2300.5 slap 1\n2301 slap 3 !0.9\n", "slap_void@s2", {},
            [("K3", False, "came_after_heat", {"seats": [1, 3], "ms": MS // 2, "ms_error": 3 * MS})],
        ),
        (PAIR + "2300 taken 1\n2301 slap 3\n3000 answer question@t1 3\n", "slap_void@t1", {"on": ["M14"]}, []),
        (
            "1000 1:9h\n2000 2:Jc\n3000 3:9d\n3300 slap 1\n", "slap_void@s1", {"set": {"N11": "challenger"}},
            [("N11", False, "challenger_keeps", {"seat": 2})],
        ),
        (
            "1000 1:7h\n2000 2:9c\n2100 gap 3900 9s\n3000 ?:9s ±900\n5000 1:4d\n6000 2:4c\n6300 slap 3\n",
            "slap_won@s1", {}, [HELD, ("K3", True, "no_other_hand", {}), ("K2", True, "hangs_on_unseen_gap", {})],
        ),
        (
            "1000 1:7h\n1999 slap 3\n2000 2:7c\n", "question@s1", {"set": {"K9": "question"}},
            [(
                "K9", True, "either_order",
                {
                    "card": "7c", "ms": -MS, "ms_error": 3 * MS // 2,
                    "before": ("false", (), "no_pattern"), "after": ("won", ("P1",), ""),
                },
            )],
        ),
        (
            TIED + "2310 slap 2\n", "slap_void@s3", {},
            [("K3", False, "came_after_heat", {"seats": [1, 3], "ms": 10 * MS, "ms_error": 3 * MS})],
        ),
    ],
)  # fmt: skip
def test_all_that_was_looked_at_is_told_and_nothing_else(
    text: str, name: str, rules: dict[str, Any], wanted: list[tuple[Any, ...]]
) -> None:
    told = explained(text, name, rules={"base": "classic", **rules}).considered
    assert [
        (considered.row, considered.held, considered.what, dict(considered.fields)) for considered in told
    ] == wanted


def test_a_war_that_one_of_the_tied_cannot_fight_is_told_as_decided_by_it() -> None:
    """M4: Ana has laid her last card."""
    war: dict[str, Any] = {"rules": {"base": "classic", "on": ["M4"]}, "counts": [1, 5, 9]}
    won = explained(TIED, "slap_won@s2", **war).considered
    lost = explained(TIED, "slap_void@s1", **war).considered
    assert [(told.row, told.held, told.what) for told in won if told.row == "M4"] == [("M4", True, "decided_war")]
    assert [(told.row, told.held, told.what) for told in lost if told.row == "M4"] == [("M4", False, "lost_by_war")]


def test_a_question_about_the_lowest_card_is_told_to_hang_on_it() -> None:
    text = "1000 1:7h\n1300 slap 2\n1400 lift 2\n2000 2:9c\n2500 slap 3\n"
    assert [told.what for told in explained(text, "question@s2", rules={"on": ["P5b"]}).considered] == [
        "hangs_on_bottom_card"
    ]


def test_of_many_lines_around_it_the_nearest_are_told() -> None:
    """The number of the others is stated."""
    lifts = "".join(f"{2300 + 100 * n} lift {n % 3 + 1}\n" for n in range(-9, 13) if n not in (0, -3))
    said = explained(f"1000 1:7h\n2000 2:8c\n2300 slap 3\n{lifts}", "slap_false@s1")
    assert [moment.offset // MS for moment in said.moments] == [-500, -400, -300, -200, -100, 0, 100, 200, 300, 400]
    assert said.left_out == 13


def test_a_card_that_was_dead_lies_on_the_pile_that_is_told() -> None:
    assert notation(explained("1000 1:7h\n2000 3:9c\n", "dead_card@c2").pile) == "7h (9c)"
    assert notation(explained("1000 1:7h\n2000 2:9c\n", "turn@c2").pile) == "7h 9c"
    report = Foul(t=1500 * MS, id="f1", seat=1, foul="out_of_turn")
    said = explained("1000 1:7h\n", "dead_card@f1", report)
    assert notation(said.pile) == "(7h)"
    assert [(told.row, told.held, told.what) for told in said.considered] == [("F7", True, "people_said")]


def test_a_card_of_nobody_at_the_table_is_not_in_the_pile() -> None:
    """M11: its question shows the pile that it was laid on."""
    said = explained("1000 1:7h\n2000 5:9c\n", "question@c2", rules={"on": ["M11"]})
    assert notation(said.pile) == "7h"


def test_a_lead_is_told_as_it_stood_though_the_table_was_then_put_behind_every_line() -> None:
    """Two corrections of the table's instant: by the second, no line was judged again before the table."""
    lines = log('900 correct table {"fields": {"t": 700000000}}\n940 correct table {"fields": {"t": 4000000000}}')
    assert isinstance(lines[0], Table)
    record = WitnessedLog(lines[0])
    referee = Adjudicator(stream=False, witness=record)
    for line in lines:
        referee.observe(line)
    leads = [ruling for ruling in referee.finish() if ruling.kind == "lead"]
    assert [ruling.t // MS for ruling in leads] == [0, 700, 4000]
    made = [record.as_made(ruling) for ruling in leads]
    assert [ruling.t // MS for ruling in made if ruling is not None] == [0, 700, 4000]
