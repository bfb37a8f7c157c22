"""The rows of the rules for people: their names, values, and defaults."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest

from referee.rules.cards import CARDS
from referee.rules.frozen import freeze
from referee.rules.house import RulesError, read_house_rules
from referee.rules.presets import PRESETS
from referee.rules.rows import ALWAYS_ON, BY_NAME, ROWS

NAMES: Final = """
    S1=seats S2=packs S3=jokers S4a=deal S4b=even-deal S4c=cut S4d=handicap S5=direction S6=turn-away S7=no-rings
    S8=open-palm C1=chances C2a=chances-reversed C2b=king-jack-swapped C3a=joker-challenge C3b=black-joker-thirteen
    C4=answered-challenge C5=challenger-takes C6a=next-pays-on C6b=empty-ends-challenge C7=challenger-stays-in
    C8=face-down-under C9=open-until-picked-up C10=chances-go-round P1=double P2=sandwich P3a=hoagie P3b=big-mac
    P4a=run-of-three P4b=run-of-four P5a=top-bottom P5b=top-lowest P5c=top-bottom-in-kind P6=marriage P7=divorce
    P8=tens P9=add-up-sandwich P10a=flush P10b=colour-run P11=ratscrew P12=jack-ten P13a=any-joker P13b=dead-joker
    P13c=wild-joker P14=wild-rank P15=count-match P16=three-of-a-kind P16b=triple-sixes P17=any-ten P18=any-jack
    P19=own-patterns M1=first-hand M2=most-contact M3=split M4=war M5=hands-off M6=forehead M7=any-time
    M8=covered-is-lost M9=just-covered M10=slap-in M11=bystanders M12=slap-in-needs-two M13=risk-slap M14=one-motion
    M15=other-hand F1=burn F2=growing-burn F3=pile-to-latest-layer F4=burn-on-top F5=contest F6a=strikes
    F6b=one-wrong-a-hand F6c=wrong-and-gone F6d=debts F6e=locked-for-rounds F6f=burned-hand F7=dead-card
    F8=slap-on-dead-card F9=double-draw F10=foul-penalty F11=heckling F12=pay-the-layer E1=out E2=last-chance
    E3=play-on E4=all-in-the-pile E5a=hold-everything E5b=last-with-cards E6=first-out-loses E7=agreed-end E8=leaving
    N1=late-slap N2=turn-goes-on N3=burned-never-counts N4=royal-pairs N5=ten-stops N6=slap-to-collect
    N7=one-penalty-a-card N8=barred-for-cards N9=pile-to-next N10=early-slap N11=completing-card N12=anticipation
    N13=mashing N14=calling-out N15=anywhere K1=event-time K2=deck-memory K3=margins K4=seen-out-of-turn K5=replay
    K6=corrections K7=stack-order K8=risk-statistics K9=doubt
"""
"""House-rules files on people's disks hold these names: a changed name breaks them."""

DEFAULTS: Final[dict[str, Any]] = {
    "F1": 1, "C1": {"A": 4, "K": 3, "Q": 2, "J": 1}, "P4a": {"n": 3, "ace": "both", "wrap": False},
    "P4b": {"n": 4, "ace": "both", "wrap": False}, "P8": True, "P10a": 3, "P10b": 4, "P16": "ends_game", "F6a": 3,
    "F6d": 5, "F6e": 1, "N8": 5, "M6": 400, "M9": 150, "M15": 300, "N12": (100, "void"), "N13": 6, "E2": 3, "S3": 0,
    "S2": 1, "F7": "stays", "N1": "void", "N10": "void", "C3a": 5, "P5c": "suit", "F9": "dead", "F10": 1, "S4d": (),
    "K9": "slapper", "N11": "slap", "P14": None, "P19": {}, "F12": 1, "E7": {"minutes": 20},
    "E8": "pile", "S5": "clockwise", "S8": "recorded", "P16b": "laid", "M4": "ace",
}  # fmt: skip

NUMBERS: Final = {
    "S2": (1, 8, ""), "S3": (0, 32, ""), "C3a": (1, 13, "chances"), "P10a": (2, 13, "cards"), "P10b": (2, 13, "cards"),
    "M9": (1, 1000, "ms after the cover"),
    "M15": (1, 2000, "ms after the reveal"), "F1": (0, 52, "cards"), "F6a": (1, 20, "strikes"),
    "F6d": (1, 52, "cards"), "F6e": (1, 20, "rounds"), "F10": (0, 52, "cards"), "E2": (1, 10, "cards"),
    "N8": (1, 52, "cards"), "N13": (1, 50, "presses a second"), "F12": (1, 52, "cards"),
}  # fmt: skip

OTHERS: Final[dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]]] = {
    "C1": (
        ({"A": 1, "K": 1, "Q": 1, "J": 1}, {"A": 13, "K": 13, "Q": 13, "J": 13}),
        ({"A": 4, "K": 3, "Q": 2}, {"A": 4, "K": 3, "Q": 2, "J": 0}, {"A": 14, "K": 3, "Q": 2, "J": 1}, 4,
         {"A": 4, "K": 3, "Q": 2, "J": 1, "T": 1}, {"A": "4", "K": 3, "Q": 2, "J": 1}),
    ),
    "P4a": (
        ("low", "high", "both", {}, {"n": 3}, {"n": 13}, {"ace": "low"}, {"wrap": True}, {"n": 4, "wrap": False}),
        ("middle", {"n": 2}, {"n": 14}, {"n": "3"}, {"ace": "none"}, {"wrap": 1}, {"length": 3}, 3, True),
    ),
    "P5c": (("suit", "colour"), ("color", "rank", True)),
    "P8": ((True, False), (1, 0, "true")),
    "P14": (tuple("23456789T"), ("A", "J", "Q", "K", "1", "10", 5, "", "23")),
    "P16": (("ends_game", "no_winner", "slap"), ("ends-game", True)),
    "P16b": (("laid", "slapped"), ("slap",)),
    "M4": (("ace", "jack"), ("king", "J")),
    "S5": (("clockwise", "counter-clockwise"), ("left", True)),
    "S8": (("recorded", "false"), (False,)),
    "P19": (
        ({"twins": "rank(1) = rank(2)"}, {"a": "joker(1)", "b": "size > 3"}),
        ({}, {"twins": "rank(1) ="}, {"": "joker(1)"}, {"twins": 3}, "joker(1)", ["joker(1)"]),
    ),
    "S4d": (([1], [1, 8]), ([], [0], [9], 1, ["1"], [True])),
    "F7": (("stays", "bottom", "burn"), ("top", True)),
    "F9": (("dead", "burn"), ("burned",)),
    "N1": (("void", "false"), (False, "late")),
    "N10": (("void", "false"), (False,)),
    "N11": (("slap", "challenger", "first"), ("last",)),
    "N12": (
        ([1, "void"], [1000, "false"]),
        ([0, "void"], [1001, "void"], [100, "late"], [100], ["void", 100], 100, [100, "void", 1]),
    ),
    "K9": (("slapper", "question"), ("ask",)),
    "M6": (
        (1, 2000, "all", "convicted", [1, "all"], [2000, "convicted"]),
        (0, 2001, "some", True, None, [400], ["all", 400], [0, "all"], [2001, "convicted"], [400, "all", 1], {}),
    ),
    "E7": (
        ({"minutes": 1}, {"minutes": 600}, {"piles": 1}, {"piles": 1000}),
        ({"minutes": 0}, {"minutes": 601}, {"piles": 0}, {"piles": 1001}, {"minutes": 20, "piles": 30}, {}, 20,
         {"minutes": "20"}, {"hours": 1}, {"piles": True}, ["minutes", 20]),
    ),
    "E8": (("pile", "others"), ("bottom", True)),
}  # fmt: skip

ALWAYS: Final = "S1 S2 S5 C4 C5 C8 C9 M1 M5 M7 M8 F7 F8 E1 E4 N3 K1 K2 K3 K4 K5 K6 K7 K8 K9 N1 N10 N11"
"""The written rules' list, and the three rows that every preset has at their defaults."""

WRITTEN: Final = Path(__file__).parents[2] / "docs" / "rules.md"


def test_rows_keep_their_names() -> None:
    said = dict(entry.split("=") for entry in NAMES.split())
    assert {row: entry.name for row, entry in ROWS.items()} == said
    assert {name: row for row, name in said.items()} == BY_NAME


def test_every_value_has_the_default_that_is_written_down() -> None:
    """No row has an undocumented value."""
    rules = read_house_rules("classic")
    assert {row: rules.value(row) for row, entry in ROWS.items() if entry.check is not None} == DEFAULTS
    assert set(NUMBERS) | set(OTHERS) | {"P4b"} == set(DEFAULTS)


@pytest.mark.parametrize("row", NUMBERS)
def test_a_number_may_be_anything_in_its_range(row: str) -> None:
    """Both ends, and nothing beyond; no fraction, no text."""
    low, high, unit = NUMBERS[row]
    for value in (low, high):
        assert read_house_rules({"set": {row: value}}).value(row) == value
    for other in (low - 1, high + 1, float(low), str(low), True, None):
        with pytest.raises(RulesError) as refusal:
            read_house_rules({"set": {row: other}})
        words = f"a whole number from {low} to {high}" + (f" ({unit})" if unit else "")
        assert str(refusal.value) == f"row {row}: {other!r} is not allowed; it must be {words}"


@pytest.mark.parametrize("row", OTHERS)
def test_any_other_value_is_one_of_those_allowed(row: str) -> None:
    good, bad = OTHERS[row]
    for value in good:
        assert read_house_rules({"set": {row: value}}).value(row) == freeze(value)
    for value in bad:
        with pytest.raises(RulesError) as refusal:
            read_house_rules({"set": {row: value}})
        told = f"row {row}: {value!r} is not allowed; it must be {ROWS[row].allowed}"
        assert str(refusal.value).startswith(told)
        assert row == "P19" or str(refusal.value) == told


def test_a_pattern_that_cannot_be_read_is_told_with_its_name() -> None:
    with pytest.raises(RulesError, match=r"; mine: expected rank\(n\).*, at character 10: "):
        read_house_rules({"set": {"P19": {"yours": "joker(1)", "mine": "rank(1) = "}}})


def test_a_run_of_four_may_be_all_that_a_run_of_three_may() -> None:
    good, bad = OTHERS["P4a"]
    assert [read_house_rules({"set": {"P4b": value}}).value("P4b") for value in good] == list(good)
    for value in bad:
        with pytest.raises(RulesError, match="row P4b"):
            read_house_rules({"set": {"P4b": value}})


@pytest.mark.parametrize("row", [row for row, entry in ROWS.items() if entry.check is None])
def test_a_row_without_a_value_is_given_none(row: str) -> None:
    with pytest.raises(RulesError, match=f"row {row} .* has no value to set"):
        read_house_rules({"set": {row: 1}})


@pytest.mark.parametrize(
    ("said", "chances"),
    [
        ("classic", {"A": 4, "K": 3, "Q": 2, "J": 1}),
        ({"on": ["C2a"]}, {"A": 1, "K": 2, "Q": 3, "J": 4}),
        ({"on": ["C2b"]}, {"A": 4, "Q": 2, "K": 1, "J": 3}),
        ({"set": {"C1": {"A": 5, "K": 6, "Q": 7, "J": 8}}}, {"A": 5, "K": 6, "Q": 7, "J": 8}),
        ({"off": ["C1"]}, {}),
        ({"on": ["C3a"]}, {"A": 4, "K": 3, "Q": 2, "J": 1, "Xr": 5, "Xb": 5}),
        ({"on": ["C3a"], "set": {"C3a": 7}}, {"A": 4, "K": 3, "Q": 2, "J": 1, "Xr": 7, "Xb": 7}),
        ({"on": ["C3b"]}, {"A": 4, "K": 3, "Q": 2, "J": 1, "Xb": 13}),
    ],
)
def test_every_card_asks_for_its_chances(said: Any, chances: dict[str, int]) -> None:
    """C1, C2a, C2b, C3a, C3b: face cards, aces and jokers; all others challenge for none."""
    rules = read_house_rules(said)
    asked = {card if card[0] == "X" else card[0]: rules.chances(card) for card in CARDS}
    assert {card: number for card, number in asked.items() if number} == chances


def test_every_preset_has_the_rows_that_are_always_on() -> None:
    assert set(ALWAYS.split()) == ALWAYS_ON
    assert all(read_house_rules(name).on.issuperset(ALWAYS_ON) for name in PRESETS)


def _table(title: str) -> list[list[str]]:
    """Return the cells of a table of the written rules, without headings."""
    text = WRITTEN.read_text(encoding="utf-8").split(title)[1]
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return [row for row in rows if not set(row[0]) <= set("-: ") and row[0] not in ("id", "preset", "")]


def test_presets_have_the_rows_that_the_written_rules_list() -> None:
    """Patterns and all other rows; ``classic`` is the base of the others."""
    listed = {re.findall(r"`([\w-]+)`", row[0])[0]: " ".join(row[1:]) for row in _table("## Presets")}
    assert set(listed) == set(PRESETS) - {"suck-the-well"}
    classic = _ids(listed["classic"])
    for name, words in listed.items():
        wanted = _ids(words) | (classic - {"P1", "P2"} if "as `classic`" in words else set())
        wanted -= {"M9"} if "M9 off" in words else set()
        on = read_house_rules(name).on - ALWAYS_ON
        # "no challenges" leaves S4a as the only unmentioned row; where C1 and C6a are not named they hold.
        assert on - {"S4a", "C1", "C6a"} == wanted - ALWAYS_ON - {"C1", "C6a"}, name


def _ids(words: str) -> set[str]:
    return set(re.findall(r"\b[SCPMFEN]\d+[a-f]?\b", words))
