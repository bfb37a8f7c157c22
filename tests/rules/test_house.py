"""House rules: a preset changed, groups that exclude each other, and mistakes named with their row."""

from __future__ import annotations

from typing import Any

import pytest

from referee.rules.catalogue import GROUPS, ROWS
from referee.rules.house import RulesError, house_rules
from referee.rules.presets import PRESETS


def test_a_preset_is_named_by_its_name() -> None:
    """The default preset has what most people play, and what every table has."""
    rules = house_rules("classic")
    assert {"P1", "P2", "M9", "M12", "F6a", "E2", "C6a"} <= rules.on
    assert {"S5", "C4", "F7", "E4"} <= rules.on
    assert rules.value("F1") == 1
    assert rules.value("M9") == 150


def test_a_preset_is_changed_by_on_off_and_set() -> None:
    """What the table says wins over the preset."""
    rules = house_rules(
        {"base": "classic", "off": ["P2", "M9"], "set": {"F1": 2, "C1": {"A": 1, "K": 2, "Q": 3, "J": 4}}}
    )
    assert not rules.has("P2")
    assert not rules.has("M9")
    assert rules.has("P1")
    assert rules.value("F1") == 2
    assert rules.value("C1")["J"] == 4


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("clasic", 'did you mean "classic"'),
        ({"base": "nowhere"}, 'no preset "nowhere"'),
        ({"on": ["P99"]}, 'no row "P99"'),
        ({"on": ["p1"]}, 'did you mean "P1"'),
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
        house_rules(said)
    assert words in str(refusal.value)


def test_every_row_of_a_group_excludes_the_others_of_it() -> None:
    """The groups of the rules, both ways round."""
    assert GROUPS["C6a"] == {"C6a", "C6b"}
    for row, group in GROUPS.items():
        assert row in group
        assert all(GROUPS[other] == group for other in group)
        assert group <= set(ROWS)


def test_presets_hold_only_rows_that_there_are() -> None:
    """And at most one of each group."""
    for name in PRESETS:
        on = house_rules(name).on
        assert on <= set(ROWS)
        assert all(len(group & on) <= 1 for group in GROUPS.values()), name
