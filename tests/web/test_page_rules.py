"""The editor of house rules: every row in every language, and fields that allow exactly the rules' values."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from referee.rules.frozen import thaw
from referee.rules.house import RulesError, checked_value, read_house_rules
from referee.rules.presets import PRESETS
from referee.rules.rows import ROWS
from referee.text.catalogue import LANGUAGES, table, texts
from referee.text.rules import row_words
from referee.web.board import Board
from referee.web.events import Hub
from referee.web.games_cache import GameCache
from referee.web.rules_editor import catalogue, choices_of, kind_of, row_fields
from referee.web.server import build
from referee.web.site import Site
from tests.web.browser import HOST, request

STATIC = Path(__file__).parents[2] / "referee" / "web" / "static"
VALUED = [row for row, entry in ROWS.items() if entry.check is not None]


def shown(tmp_path: Path, query: bytes = b"") -> str:
    site = Site(GameCache(tmp_path / "none.sqlite"), Hub(Board()), controlled=True)
    try:
        return asyncio.run(request(build(site), "GET", "/rules", [("host", HOST)], query=query)).body.decode()
    finally:
        site.close()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_row_stands_in_the_form_once_with_words_of_its_language(tmp_path: Path, language: str) -> None:
    html = shown(tmp_path, f"lang={language}".encode())
    assert sorted(re.findall(r'data-switch="(\w+)"', html)) == sorted(ROWS)
    assert sorted(re.findall(r'data-value="(\w+)"', html)) == sorted(VALUED)
    said = {row_words(row, texts(language)) for row in ROWS}
    assert len(said) == len(ROWS)
    assert not [words for words in said if "{" in words]
    if language != "en":
        assert not said & {row_words(row, texts("en")) for row in ROWS}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_fills_the_form_in(tmp_path: Path, preset: str) -> None:
    html = shown(tmp_path, f"preset={preset}".encode())
    boxes = re.findall(r'<input type="checkbox" data-switch="(\w+)"( checked)?>', html)
    assert {row for row, checked in boxes if checked} == read_house_rules(preset).on
    hidden = set(re.findall(r'data-value="(\w+)" data-kind="\w+" hidden', html))
    assert hidden == {row for row in VALUED if row not in read_house_rules(preset).on}


def test_an_unknown_preset_is_the_usual_one(tmp_path: Path) -> None:
    assert 'value="classic" selected' in shown(tmp_path, b"preset=%3Cscript%3E")


@pytest.mark.parametrize("row", [row for row in VALUED if kind_of(row) == "number"])
def test_a_numbers_bounds_are_those_of_the_rules(row: str) -> None:
    html = "".join(row_fields(read_house_rules("classic"), texts("en")))
    found = re.search(rf'data-value="{row}".*?min="(\d+)" max="(\d+)" step="1" value="(\d+)"', html)
    assert found is not None
    low, high, value = map(int, found.groups())
    assert [checked_value(row, number) for number in (low, high, value)] == [low, high, value]
    assert value == read_house_rules("classic").value(row)
    for beyond in (low - 1, high + 1):
        with pytest.raises(RulesError):
            checked_value(row, beyond)


@pytest.mark.parametrize("row", [row for row in VALUED if kind_of(row) == "choice"])
def test_choices_are_those_of_the_rules(row: str) -> None:
    choices = choices_of(ROWS[row])
    assert len(choices) > 1
    assert [checked_value(row, choice) for choice in choices] == list(choices)
    html = "".join(row_fields(read_house_rules("classic"), texts("en")))
    values = [json.dumps(choice).replace('"', "&quot;") for choice in choices]
    assert all(f'value="{value}"' in html for value in values)


def test_the_script_is_told_what_the_rules_are() -> None:
    """It switches rows exactly as the rules do."""
    said = catalogue()
    assert set(said["presets"]) == set(PRESETS)
    for name, preset in said["presets"].items():
        rules = read_house_rules({"base": name, "set": preset["set"]})
        assert frozenset(preset["on"]) == rules.on
        assert rules.values == read_house_rules(name).values
        assert tuple(preset["options"]) == PRESETS[name].options
        assert rules.on.isdisjoint(preset["options"])
    for row, rivals in said["rivals"].items():
        on = read_house_rules({"base": "classic", "on": [row]}).on
        assert on.isdisjoint(rivals)
    assert json.loads(json.dumps(said))["defaults"] == {row: thaw(ROWS[row].default) for row in VALUED}


@pytest.mark.parametrize("language", LANGUAGES)
def test_presets_have_words(language: str) -> None:
    assert {name for name in PRESETS if f"preset.{name}" not in table(language)} == set()
    if language == "en":
        assert all(table("en")[f"preset.{name}"] == preset.title for name, preset in PRESETS.items())


def said_by(script: Path) -> set[str]:
    """Return the keys that a script uses; the prefix that `say` adds depends on their source."""
    code = script.read_text(encoding="utf-8")
    own = "rules." if "text(`rules." in code else "control."
    keys = {own + key for key in re.findall(r'\bsay\("([a-z_.]+)"', code)}
    keys |= {own + key for pair in re.findall(r'\bsay\([^"()]+\? "([a-z_.]+)" : "([a-z_.]+)"', code) for key in pair}
    return keys | set(re.findall(r'\btext\("([a-z_.]+)"', code))


def test_whatever_the_scripts_say_has_words() -> None:
    asked: dict[str, set[str]] = {script.name: said_by(script) for script in STATIC.glob("*.js")}
    assert sum(map(len, asked.values())) > 70
    missing: dict[str, Any] = {name: keys - set(table("en")) for name, keys in asked.items()}
    assert {name: keys for name, keys in missing.items() if keys} == {}
