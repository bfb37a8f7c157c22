"""The layout that lets a stranger find things: names that mean one thing, folders with an end, one map of them."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
PRODUCT: Final = ("referee", "hardware", "models")
FILES: Final = [file for folder in PRODUCT for file in sorted((ROOT / folder).rglob("*.py"))]
FOLDERS: Final = sorted({file.parent for file in FILES})
SAME_STEMS: Final = {"__init__"}
"""Stems that several folders share, since the folder tells the difference; ten at most."""
IN_ING: Final = {"training", "wiring"}
FULL: Final = 24
"""Modules in a folder, at most."""
LONGEST: Final = 500
"""Lines of a file, at most."""


def test_no_stem_stands_twice() -> None:
    places = defaultdict(list)
    for file in FILES:
        places[file.stem].append(str(file.relative_to(ROOT)))
    assert {stem: found for stem, found in places.items() if len(found) > 1 and stem not in SAME_STEMS} == {}
    assert len(SAME_STEMS) <= 10


def test_no_public_class_stands_twice() -> None:
    places = defaultdict(list)
    for file in FILES:
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(file.relative_to(ROOT)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_names_are_nouns() -> None:
    stems = {file.stem for file in FILES} | {folder.name for folder in FOLDERS}
    assert {stem for stem in stems if stem.endswith("ing")} <= IN_ING


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_a_folder_can_be_overlooked(folder: Path) -> None:
    assert len(list(folder.glob("*.py"))) <= FULL


def test_no_file_is_too_long() -> None:
    lengths = {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8").count("\n") for file in FILES}
    assert {file: lines for file, lines in lengths.items() if lines > LONGEST} == {}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_a_folder_says_what_it_is(folder: Path) -> None:
    """In one sentence at its top, and in the map."""
    said = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    assert said
    assert said.split("\n\n")[0].rstrip().endswith(".")
    assert f"`{folder.relative_to(ROOT)}/`" in (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")


def _loaded_after(words: str) -> set[str]:
    code = f"import sys\n{words}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


def test_the_table_runs_without_extras() -> None:
    """Whoever removes `referee/extras` still has an appliance."""
    hide = "sys.modules['referee.extras'] = None\n"
    imports = "\n".join(
        f"import {'.'.join(file.with_suffix('').relative_to(ROOT).parts)}"
        for file in sorted((ROOT / "referee" / "table").glob("[a-z]*.py"))
    )
    assert "referee.table.session" in _loaded_after(hide + imports)


def test_a_demo_brings_nobodys_data_in() -> None:
    loaded = _loaded_after("import referee.demo.simulated_game")
    assert loaded.isdisjoint(
        f"referee.{name}"
        for name in (
            "record.people",
            "record.erasure",
            "record.consent",
            "record.backup",
            "record.restore",
            "table.power_off",
        )
    )
