"""The layout that lets a stranger find things: each folder describes itself, and there is one map of them."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
PRODUCT: Final = ("referee", "hardware", "models")
FOLDERS: Final = sorted({file.parent for top in PRODUCT for file in (ROOT / top).rglob("*.py")})


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


def test_an_evening_runs_without_options_demo_and_certification() -> None:
    hide = "".join(f"sys.modules['referee.{name}'] = None\n" for name in ("options", "demo", "certification"))
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
            "record.backup",
            "record.restore",
            "table.power_off",
        )
    )
