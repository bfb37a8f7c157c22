"""Every row of the rules is proved by a scenario where it applies and one where it just does not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from referee.rules.presets import PRESETS
from referee.rules.rows import ROWS
from tests.rules.scenes import FOLDER, Scene, Sheet, failures, read, sheets, switched_off, told
from tools.rules_coverage import GAMES, page

MATTERS_OF_READING = ("C9", "N3")
"""Rows that have no negative case."""

NOT_TO_BE_SWITCHED_OFF = {"S1", "K1", "K5", "K8"}
"""Rows without which there is no table, no order of events, no record, or no visible ruling."""

WRITTEN = Path(__file__).parents[2] / "docs" / "rules.md"
SHEETS = sheets()
PRESET_SHEETS = sheets(FOLDER / "presets")
TABLE_SHEETS = sheets(FOLDER / "tables")
READING_SHEETS = sheets(FOLDER / "readings")


def _scenes(part: str, among: list[Sheet]) -> list[tuple[Sheet, Scene]]:
    return [(sheet, scene) for sheet in among for scene in getattr(sheet, part)]


def _names(cases: list[tuple[Sheet, Scene]]) -> list[str]:
    return [f"{sheet.row}: {scene.title}" for sheet, scene in cases]


APPLIES = _scenes("applies", SHEETS)
JUST_NOT = _scenes("just_not", SHEETS)
OTHERS = [*PRESET_SHEETS, *TABLE_SHEETS, *READING_SHEETS]
PLAYED = [*APPLIES, *JUST_NOT, *_scenes("applies", OTHERS), *_scenes("just_not", OTHERS)]
CAN_BE_OFF = [(sheet, scene) for sheet, scene in APPLIES if not sheet.cannot_be_off]


def test_every_row_has_a_scenario_where_it_applies_and_one_where_it_just_does_not() -> None:
    """No file is named after a missing row."""
    rows = {*ROWS, *GAMES}
    assert {sheet.row for sheet in SHEETS} == rows
    assert [sheet.row for sheet in SHEETS if not sheet.applies] == []
    assert [sheet.row for sheet in SHEETS if not sheet.just_not and sheet.row not in MATTERS_OF_READING] == []


def test_every_preset_has_scenarios() -> None:
    """One file each, named after the preset, and each scenario under the unchanged preset."""
    assert {sheet.row for sheet in PRESET_SHEETS} == set(PRESETS)
    assert [scene.where for _, scene in _scenes("applies", PRESET_SHEETS) if scene.rules not in PRESETS] == []
    assert [sheet.row for sheet in PRESET_SHEETS if not sheet.applies] == []


def test_tables_of_every_size_have_scenarios() -> None:
    """Two players, eight, and three packs with six jokers."""
    assert {sheet.row for sheet in TABLE_SHEETS} == {"two-players", "eight-players", "three-packs-six-jokers"}


@pytest.mark.parametrize(("sheet", "scene"), PLAYED, ids=_names(PLAYED))
def test_a_scenario_is_ruled_as_it_says(sheet: Sheet, scene: Scene) -> None:
    """All rulings that it names come, in its order, and no forbidden one."""
    assert not failures(scene), told(scene)


def test_scenarios_are_ruled_as_they_say_from_a_state_kept_after_each_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """A correction in a long game resumes from a kept state, which short games have not (K6)."""
    monkeypatch.setattr("referee.engine.history._KEEP_EVERY", 1)
    assert not [told(scene) for _, scene in PLAYED if failures(scene)]


@pytest.mark.parametrize(("sheet", "scene"), CAN_BE_OFF, ids=_names(CAN_BE_OFF))
def test_a_scenario_fails_once_its_row_is_switched_off(sheet: Sheet, scene: Scene) -> None:
    """So this row alone brings these rulings about."""
    rules = sheet.instead if sheet.instead is not None else switched_off(scene.rules, sheet.row)
    off = scene.with_rules(rules)
    assert failures(off), told(off)


@pytest.mark.parametrize(("sheet", "scene"), JUST_NOT, ids=_names(JUST_NOT))
def test_a_scenario_where_a_row_just_does_not_apply_hangs_on_one_fact(sheet: Sheet, scene: Scene) -> None:
    """With that fact changed the result differs."""
    changed = scene.with_deciding_fact_changed()
    assert failures(changed), told(changed)


def test_few_rows_cannot_be_switched_off() -> None:
    """They are these, each with a reason in its file."""
    assert {sheet.row for sheet in SHEETS if sheet.cannot_be_off} == NOT_TO_BE_SWITCHED_OFF


def test_the_rows_are_those_of_the_written_rules() -> None:
    """Every row of the rules' tables has its file, with the sources that the table names."""
    said: dict[str, str] = {}
    for line in WRITTEN.read_text(encoding="utf-8").split("## House rules")[0].splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and re.fullmatch(r"[SCPMFEGNK]\d+[a-f]?", cells[0]):
            said[cells[0]] = cells[-1] if cells[0][0] not in "NK" else ""
    assert {sheet.row: sheet.sources for sheet in SHEETS} == said


def test_a_file_with_an_unknown_key_is_refused(tmp_path: Path) -> None:
    """A typing error must not switch a scenario off silently."""
    path = tmp_path / "P1.toml"
    path.write_text('[[aplies]]\ntitle = "twins"\nplay = "1.0 Ana lays 7h"\nrulings = "turn Ben"\n', encoding="utf-8")
    with pytest.raises(ValueError, match="no key aplies"):
        read(path)


def test_the_coverage_page_lists_every_row_preset_and_file() -> None:
    """`make rules-coverage` writes it."""
    text = page()
    listed = set(re.findall(r"^\| (\w+) \|", text, re.MULTILINE)) - {"row"}
    assert listed == {sheet.row for sheet in SHEETS}
    assert listed >= set(ROWS)
    every = [*SHEETS, *PRESET_SHEETS, *TABLE_SHEETS, *READING_SHEETS]
    linked = re.findall(r"\(\.\./tests/scenarios/([\w./-]+)\)", text)
    assert sorted(linked) == sorted(str(sheet.path.relative_to(FOLDER)) for sheet in every)
    assert all(f"- {row}: " in text for row in NOT_TO_BE_SWITCHED_OFF)
