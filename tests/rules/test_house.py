"""House rules: a preset with changes, mutually exclusive groups, and errors that name their row."""

from __future__ import annotations

import copy
import pickle
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from referee.rules.house import RulesError, in_direction, read_house_rules
from referee.rules.presets import PRESETS
from referee.rules.rows import RIVALS, ROWS

WRITTEN = Path(__file__).parents[2] / "docs" / "rules.md"


def test_a_preset_is_named_by_its_name() -> None:
    """The default preset is the most common game, and every table's default."""
    rules = read_house_rules("classic")
    assert {"P1", "P2", "M9", "M12", "F6a", "E2", "C6a"} <= rules.on
    assert {"S5", "C4", "F7", "E4"} <= rules.on
    assert rules.number("F1") == 1
    assert rules.number("M9") == 150


def test_a_preset_is_changed_by_on_off_and_set() -> None:
    """The table's settings override the preset."""
    rules = read_house_rules(
        {"base": "classic", "off": ["P2", "M9"], "set": {"F1": 2, "C1": {"A": 1, "K": 2, "Q": 3, "J": 4}}}
    )
    assert not rules.has("P2")
    assert not rules.has("M9")
    assert rules.has("P1")
    assert rules.number("F1") == 2
    assert rules.value("C1")["J"] == 4


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("clasic", 'did you mean "classic"'),
        ({"base": "nowhere"}, 'no preset "nowhere"'),
        ({"on": ["P99"]}, 'no row "P99"'),
        ({"on": ["p1"]}, 'did you mean "P1"'),
        ({"on": ["x" * 50]}, f'no row "{"x" * 40}" in the rules'),
        ({"of": ["P1"]}, 'did you mean "off"'),
        ({"on": "P1"}, "list of row ids"),
        ({"on": ["P1"], "off": ["P1"]}, "on and off at once"),
        ({"set": {"F1": 99}}, "F1: 99 is not allowed"),
        ({"set": {"F1": True}}, "F1: True is not allowed"),
        ({"set": {"P1": 2}}, "has no value"),
        ({"set": {"K9": "maybe"}}, "'slapper', 'question'"),
        ({"set": []}, '"set" maps'),
        (7, "a preset's name"),
    ],
)
def test_a_mistake_is_named(said: Any, words: str) -> None:
    """Each refusal names the row or key and says what is allowed."""
    with pytest.raises(RulesError) as refusal:
        read_house_rules(said)
    assert words in str(refusal.value)


def test_nobody_changes_rules_that_were_made() -> None:
    """Neither through their source nor through their values: all tables share the presets."""
    said = {"set": {"C1": {"A": 4, "K": 3, "Q": 2, "J": 1}, "S4d": [2], "P19": {"twins": "rank(1) = rank(2)"}}}
    rules = read_house_rules(said)
    said["set"]["C1"]["A"] = 9  # type: ignore[index]
    said["set"]["S4d"].append(3)  # type: ignore[attr-defined]
    assert (rules.chances("As"), rules.seats_without_cards) == (4, (2,))
    for values in (
        rules.values,
        rules.value("C1"),
        rules.own_patterns,
        rules.alike,
        PRESETS["short"].values,
        PRESETS,
        ROWS,
    ):
        with pytest.raises(TypeError):
            values["F1"] = 1  # type: ignore[index]
    for preset in PRESETS.values():
        with pytest.raises(AttributeError):
            preset.title = ""  # type: ignore[misc]
    assert read_house_rules("classic").value("C1") == {"A": 4, "K": 3, "Q": 2, "J": 1}


def test_rules_travel_and_are_copied() -> None:
    """To another process, and with their containers."""
    rules = read_house_rules(
        {"base": "suck-the-well", "set": {"N12": [80, "false"], "P19": {"twins": "rank(1) = rank(2)"}}}
    )
    assert copy.deepcopy(rules) is rules
    assert pickle.loads(pickle.dumps(rules)) == rules


def test_a_value_is_read_as_what_it_is() -> None:
    rules = read_house_rules({"set": {"P4a": "low", "P4b": {"n": 5, "wrap": True}, "P8": False, "N12": [80, "false"]}})
    assert rules.run("P4a") == (3, "low", False)
    assert rules.run("P4b") == (5, "both", True)
    assert (rules.ace_is_one, rules.anticipation) == (False, (80, "false"))
    assert (rules.word("K9"), rules.word("P14"), rules.number("M9")) == ("slapper", "", 150)
    for row, reading in (("K9", rules.number), ("N12", rules.number), ("P8", rules.number), ("F1", rules.word)):
        with pytest.raises(TypeError, match=f"the value of row {row} is"):
            reading(row)


@pytest.mark.parametrize(
    ("value", "forehead"),
    [
        (300, (300, "all")),
        ("all", (400, "all")),
        ("convicted", (400, "convicted")),
        ([250, "convicted"], (250, "convicted")),
    ],
)
def test_who_touches_the_forehead_and_how_long_that_takes(value: Any, forehead: tuple[int, str]) -> None:
    """M6."""
    assert read_house_rules({"set": {"M6": value}}).forehead == forehead


def test_the_end_is_agreed_in_minutes_or_piles() -> None:
    """E7."""
    assert read_house_rules("classic").agreed_end == (20, None)
    assert read_house_rules({"set": {"E7": {"piles": 30}}}).agreed_end == (None, 30)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"set": {"P1": 2}}, 'row P1 ("double") has no value to set'),
        ({"set": {"F1": 99}}, "row F1: 99 is not allowed; it must be a whole number from 0 to 52 (cards)"),
        (
            {"set": {"P19": {"": "joker(1)"}}},
            "row P19: {'': 'joker(1)'} is not allowed; it must be patterns by name, such as "
            '{"twins": "rank(1) = rank(2)"}',
        ),
        (
            {"set": {"P19": {"twins": "rank(1)"}}},
            "row P19: {'twins': 'rank(1)'} is not allowed; it must be patterns by name, such as "
            '{"twins": "rank(1) = rank(2)"}; twins: expected =, !=, <, <=, >, >= or in, at character 8: rank(1)>>>',
        ),
        ({"on": ["F1", "F3"]}, "rows F1 (burn) and F3 (pile-to-latest-layer) exclude each other; "
         "switch only one of them on"),
        ({"set": {"F1": 2, "burn": 3}}, "row F1 is set twice; keep one of them"),
        ({"on": ["P1 sandwich"]}, 'row P1 is "double", not "sandwich"; keep one of them'),
        ({"on": ["P1 of it"]}, 'there is no row "P1 of it" in the rules'),
        ({"nothing": 1}, 'house rules have no "nothing"; they have base, on, off, set'),
        ({"set": "F1"}, '"set" maps row ids to values, such as {"F1": 2}'),
        ({"off": "P1"}, '"off" is a list of row ids, such as ["P1"]'),
        ({"base": 3}, 'there is no preset "3"; the presets are ' + ", ".join(PRESETS)),
    ],
)  # fmt: skip
def test_a_refusal_says_what_is_allowed_and_not_a_word_more(said: Any, words: str) -> None:
    with pytest.raises(RulesError) as refusal:
        read_house_rules(said)
    assert str(refusal.value) == words


@pytest.mark.parametrize("row", ["P5c", "P10a", "P10b", "N4", "P19"])
def test_suits_tell_cards_apart_only_where_a_row_looks_at_them(row: str) -> None:
    """Where nothing is slapped, number cards are all alike."""
    values = {"P19": {"flush": "suit(1) = suit(2)"}} if row == "P19" else {}
    rules = read_house_rules({"base": "classic", "on": [row], "set": values})
    assert rules.alike["7h"] != rules.alike["7s"]
    plain = read_house_rules("classic").alike
    assert plain["7h"] == plain["7s"] != plain["8h"]
    nothing = read_house_rules("beggar-my-neighbour").alike
    assert nothing["7h"] == nothing["8s"] != nothing["Kh"] == nothing["Ks"] != nothing["Qs"]


def test_a_preset_plays_clockwise_unless_its_source_says_otherwise() -> None:
    other = {name for name in PRESETS if read_house_rules(name).word("S5") != "clockwise"}
    assert other == {"suck-the-well"}
    assert read_house_rules("suck-the-well").word("S5") == "counter-clockwise"
    assert read_house_rules({"base": "suck-the-well", "on": ["P1"]}).word("S5") == "counter-clockwise"


GROUPS = (
    ("C1", "C2a", "C2b"), ("C6a", "C6b"), ("S4a", "S4b", "S4c"), ("P5a", "P5b"), ("P13a", "P13b", "P13c"),
    ("F1", "F3", "N8", "N9", "F12"), ("F6a", "F6b", "F6c", "F6d", "F6e", "F6f"), ("E5a", "E5b"),
)  # fmt: skip
"""Rows of which one at most can hold, as the written rules group them."""
CONTRARY = (("C3a", "C3b"), ("C3b", "P13b"), ("E5a", "E6"), ("E5b", "E6"), ("M8", "N15"))
"""Pairs outside the groups that contradict each other."""
EXCLUSIVE = [pair for group in GROUPS for pair in combinations(group, 2)] + list(CONTRARY)


def test_the_groups_are_those_of_the_written_rules() -> None:
    """Read from the sentence that lists them: ``C1/C2a/C2b; C6a/C6b; …``."""
    listed = re.search(r"group exclude each other \((.+?)\)", WRITTEN.read_text(encoding="utf-8").replace("\n", " "))
    assert listed is not None
    assert tuple(_spelled_out(group) for group in listed[1].split("; ")) == GROUPS


def _spelled_out(group: str) -> tuple[str, ...]:
    """``S4a/b/c`` and ``F6a–f`` as ids."""
    stem = group.rstrip("abcdefg/–")
    if "–" in group:
        first, last = group[len(stem) :].split("–")
        return tuple(f"{stem}{chr(letter)}" for letter in range(ord(first), ord(last) + 1))
    first, *rest = group.split("/")
    return (first, *(row if row[0].isupper() else first[:-1] + row for row in rest))


@pytest.mark.parametrize(("one", "other"), EXCLUSIVE)
def test_rows_that_exclude_each_other_are_refused_together(one: str, other: str) -> None:
    """In any order: one line names both and says how to mend it."""
    for on in ([one, other], [other, one], ["P6", other, ROWS[one].name]):
        with pytest.raises(RulesError) as refusal:
            read_house_rules({"base": "classic", "on": on})
        line = str(refusal.value)
        assert "\n" not in line
        assert {one, other} <= set(re.findall(r"[A-Z]\d+[a-f]?", line))
        assert ROWS[one].name in line and ROWS[other].name in line
        assert line.endswith("switch only one of them on")


@pytest.mark.parametrize(("one", "other"), EXCLUSIVE)
@pytest.mark.parametrize("base", PRESETS)
def test_switching_one_on_switches_the_other_off(base: str, one: str, other: str) -> None:
    """Whatever the preset has: a table names the row that it wants, and need not know which row that replaces."""
    for row, rival in ((one, other), (other, one)):
        rules = read_house_rules({"base": base, "on": [row]})
        assert rules.has(row)
        assert not rules.has(rival)


def test_no_other_rows_exclude_each_other() -> None:
    """All the rest can be on together; the last of each excluded pair stands for it."""
    excluded = {frozenset(pair) for pair in EXCLUSIVE}
    assert {frozenset((row, rival)) for row, rivals in RIVALS.items() for rival in rivals} == excluded
    free = [row for row in ROWS if not any(row in pair for pair in EXCLUSIVE)]
    assert set(free) <= read_house_rules({"on": free}).on


def test_presets_hold_only_rows_that_there_are() -> None:
    """No two of them exclude each other."""
    for name in PRESETS:
        on = read_house_rules(name).on
        assert on <= set(ROWS)
        assert [pair for pair in EXCLUSIVE if on.issuperset(pair)] == [], name


@pytest.mark.parametrize("row", [row for row in ROWS if row[0] == "P" or row in ("N4", "N14", "N15", "C3b")])
def test_where_there_is_a_pattern_there_are_slaps(row: str) -> None:
    """Beggar-My-Neighbour has none, so slaps do not exist there until a pattern is switched on."""
    assert not read_house_rules("beggar-my-neighbour").slaps
    assert read_house_rules({"base": "beggar-my-neighbour", "on": [row]}).slaps
    assert not read_house_rules({"base": "beggar-my-neighbour", "on": [row], "off": ["M1"]}).slaps


def test_a_direction_of_play_is_added_to_the_rules_unless_they_have_it() -> None:
    """S5; every other change and value of the table's stays."""
    for said in ("classic", {"base": "classic", "set": {"S5": "clockwise"}}):
        assert in_direction(said, None) is said
        assert in_direction(said, "clockwise") is said
    turned = {"base": "classic", "set": {"S5": "counter-clockwise"}}
    assert in_direction("classic", "counter-clockwise") == turned
    rules = {"base": "classic", "off": ["P2"], "set": {"F1": 2, "S5": "counter-clockwise"}}
    assert in_direction(rules, "clockwise") == {**rules, "set": {"F1": 2, "S5": "clockwise"}}
    with pytest.raises(RulesError):
        in_direction("clasic", "clockwise")
