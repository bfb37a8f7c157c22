"""House rules as a file, and `referee rules`: every error with its place, and the active rules in plain words."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.cli import main
from referee.demo.simulated_game import DemoOptions, script_of
from referee.errors import UserError
from referee.rules.house import read_house_rules
from referee.rules.presets import PRESETS
from referee.rules.rows import BY_NAME, ROWS
from referee.settings.house_rules import (
    HouseFileError,
    Place,
    example_house_rules,
    find_places,
    load_house_rules,
    parse_house_rules,
    resolve_rules,
)
from referee.settings.model import parse_settings
from referee.text.rules import rows_by_group, sentence


def test_the_example_is_read_and_says_what_it_switches_on(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "house.toml"
    assert main(["rules", "example"]) == 0
    file.write_text(capsys.readouterr().out)
    assert main(["rules", "check", str(file)]) == 0
    assert "no mistakes" in capsys.readouterr().out
    assert main(["rules", str(file)]) == 0
    told = capsys.readouterr().out
    assert "Marriage: a king and a queen together. (P6)" in told
    assert "A false slap costs 2 cards: face up under the pile. (F1)" in told
    assert "seven-together" in told
    assert "Sandwich" not in told


@pytest.mark.parametrize(
    ("preset", "words"),
    [
        ("classroom", "The game ends after 20 minutes. The player with the most cards then has won. (E7)"),
        ("slapjack", "A false slap costs 1 card, paid to the player who laid the top card. (F12)"),
    ],
)
def test_what_goes_well_with_a_preset_is_told(preset: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Off by default; others have none."""
    assert main(["rules", preset]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert words in told.partition("Goes well with it")[2]
    assert main(["rules", "classic"]) == 0
    assert "Goes well" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("row", "value", "words"),
    [
        ("E7", {"piles": 1}, "The game ends after 1 pile."),
        ("E8", "others", "the cards are dealt out to the others."),
        ("F12", 2, "A false slap costs 2 cards, paid"),
        ("M6", 300, "Touch your forehead before you slap. A slap faster than 300 ms"),
        ("M6", "convicted", "Once you have slapped falsely, touch your forehead before you slap."),
        ("M6", [250, "convicted"], "faster than 250 ms"),
    ],
)
def test_a_row_is_told_with_its_value(row: str, value: object, words: str) -> None:
    assert words in sentence(row, read_house_rules({"on": [row], "set": {row: value}}))


def test_names_and_ids_mean_the_same() -> None:
    by_name = parse_house_rules('on = ["marriage", "P7 divorce"]\noff = ["sandwich"]\n[set]\nburn = 2\n')
    by_id = parse_house_rules('on = ["P6", "P7"]\noff = ["P2"]\n[set]\nF1 = 2\n')
    assert by_name.record == by_id.record == {"base": "classic", "on": ["P6", "P7"], "off": ["P2"], "set": {"F1": 2}}
    assert read_house_rules({"on": ["marriage"]}).has("P6")


def test_patterns_of_ones_own_switch_p19_on() -> None:
    house = parse_house_rules('[patterns]\ntwins = "rank(1) = rank(2)"\n')
    assert house.rules.has("P19")
    assert house.record["set"]["P19"] == {"twins": "rank(1) = rank(2)"}


WRONG = """\
base = "clasic"
on = ["doubel", "P1",
  "C6a", "C6b", 3]   # a comment with "quotes"
off = ["P1", "P1 sandwich"]
of = []
marriage = true

[set]
F1 = 99
P1 = 3
"C1" = { A = 4 }
zzz = 1

[patterns]
mine = "rank(1) = rank(2) annd rank(3)"
"""


def test_every_mistake_is_told_with_its_place_and_what_to_do() -> None:
    with pytest.raises(HouseFileError) as refusal:
        parse_house_rules(WRONG, "house.toml")
    told = [mistake.as_line("house.toml") for mistake in refusal.value.mistakes]
    expected = [
        ("1:1", 'did you mean "classic"?'),
        ("2:7", 'did you mean "double"?'),
        (
            "3:10",
            "rows C6a (next-pays-on) and C6b (empty-ends-challenge) exclude each other; switch only one of them on",
        ),
        ("3:17", 'there is no row "3"'),
        ("4:8", "row P1 is switched on and off at once"),
        ("4:14", 'row P1 is "double", not "sandwich"'),
        ("5:1", 'did you mean "off"?'),
        ("6:1", 'P6 is a row: write on = ["marriage"]'),
        ("9:1", "a whole number from 0 to 52"),
        ("10:1", "has no value to set"),
        ("11:1", "chances from 1 to 13"),
        ("12:1", 'there is no row "zzz"'),
        ("15:27", 'expected "and", "or", or the end'),
    ]
    assert len(told) == len(expected)
    for line, (place, words) in zip(told, expected, strict=True):
        assert line.startswith(f"house.toml:{place}: ")
        assert words in line
    assert "and 12 more" in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("on = [P1]", "1:7: not TOML: no TOML value; names and ids stand in quotes"),
        ("a = 1\nbase", "2:1: not TOML"),
        ("on = 7", '1:1: "on" is a list of rows'),
        ("set = 7", "1:1: [set] gives rows their values"),
        ("patterns = []", "1:1: [patterns] names patterns"),
        ('[patterns]\na = """rank(1)\n = 3 3"""', "2:"),
        ("[patterns]\na = 3", 'pattern "a": a pattern is a text'),
        ("title = 3", "the title is a text"),
        ("base = " + "9" * 5000, "not TOML"),
        ("on = " + "[" * 5000, "nested too deep"),
    ],
)
def test_other_mistakes(text: str, words: str) -> None:
    with pytest.raises(HouseFileError) as refusal:
        parse_house_rules(text, "f")
    assert words in refusal.value.mistakes[0].as_line("f")


def test_a_value_of_a_row_that_is_off_is_noted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "house.toml"
    file.write_text("[set]\nflush = 4\n")
    assert main(["rules", "check", str(file)]) == 0
    out, err = capsys.readouterr()
    assert "no mistakes" in out
    assert f"{file}:2:1: row P10a is off" in err


def test_check_lists_all_mistakes_and_fails(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "house.toml"
    file.write_text(WRONG)
    assert main(["rules", "check", str(file)]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert len(err.splitlines()) == 13


def test_places_of_keys_and_items() -> None:
    text = 'a = ["x", # y\n  "z"]\n[b.c]\nd = { e = 1, f = ["g"] }\n"h.i" = """1\n2"""\nj.k = 3\n'
    found = find_places(text)
    assert found["a", 1] == Place(2, 3)
    assert found["b", "c", "d", "f", 0] == Place(4, 19)
    assert found["b", "c", "h.i"] == Place(5, 1)
    assert found["b", "c", "j", "k"] == Place(7, 1)


def test_every_row_has_a_name_and_a_sentence_under_some_title() -> None:
    assert len(BY_NAME) == len(ROWS)
    assert sorted(row for rows in rows_by_group().values() for row in rows) == sorted(ROWS)
    for name in PRESETS:
        rules = read_house_rules(name)
        assert all(sentence(row, rules).strip() for row in ROWS)
    assert all("{" not in sentence(row, read_house_rules("classic")).replace("{J", "") for row in ROWS)


def test_presets_and_rows_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed and preset.title in listed for name, preset in PRESETS.items())
    assert main(["rules", "--rows"]) == 0
    table = capsys.readouterr().out
    assert all(f"  {id_:<4} {row.name}" in table for id_, row in ROWS.items())
    assert main(["rules", "beggar-my-neighbour"]) == 0
    assert "Nothing may be slapped in this game." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["clasic"], 'did you mean "classic"?'),
        (["nowhere.toml"], "there is no such file"),
        (["check"], "check needs a file"),
        (["classic", "short"], "one set of rules at a time"),
    ],
)
def test_what_is_no_set_of_rules_is_refused(args: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", *args]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert len(err.splitlines()) == 1


def test_demo_and_settings_take_a_file(tmp_path: Path) -> None:
    file = tmp_path / "house.toml"
    file.write_text('base = "slapjack"\n')
    assert script_of(DemoOptions(rules=str(file), max_cards=5)).table.rules["base"] == "slapjack"
    seats = '[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n'
    assert parse_settings('rules = "house.toml"\n' + seats, tmp_path).rules["base"] == "slapjack"
    with pytest.raises(UserError, match="no such file"):
        resolve_rules("other.toml", tmp_path)
    assert load_house_rules(file).rules.has("P18")
    assert parse_house_rules(example_house_rules()).notes == ()


def test_rows_that_exclude_each_other_are_refused_at_their_place(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """By the file's checker with line and column, by a replay with the log's line; both name both rows."""
    file = tmp_path / "house.toml"
    file.write_text('on = [\n  "joker-challenge",\n  "C3b",\n]\n')
    log = tmp_path / "game.jsonl"
    log.write_text('{"kind":"table","t":0,"seats":["Ana","Ben"],"dealer":1,"rules":{"on":["C3b","P13b"]}}\n')
    assert main(["rules", "check", str(file)]) == 2
    assert capsys.readouterr().err.startswith(
        f"{file}:3:3: rows C3a (joker-challenge) and C3b (black-joker-thirteen) exclude each other: "
    )
    assert main(["replay", str(log)]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert "line 1: rows C3b (black-joker-thirteen) and P13b (dead-joker) exclude each other: " in err
    assert err.endswith("switch only one of them on\n")
    assert len(err.splitlines()) == 1


def test_jokers_with_a_number_and_switched_off_are_noted() -> None:
    """A number of jokers switches the row on by itself; switching it off as well leaves no joker."""
    assert parse_house_rules("[set]\njokers = 2\n").notes == ()
    house = parse_house_rules('off = ["jokers"]\n[set]\njokers = 2\n')
    assert not house.rules.has("S3")
    assert [note.problem.partition(",")[0] for note in house.notes] == ["row S3 is off"]
