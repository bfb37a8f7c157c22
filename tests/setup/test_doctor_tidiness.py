"""The doctor looks, and leaves nothing behind: neither in the current folder, nor in the home."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hardware.pads.pinout import import_tidily
from tests.support.patience import PATIENCE


def test_no_file_is_left_where_the_doctor_was(tmp_path: Path) -> None:
    (tmp_path / "table").mkdir()
    where = os.environ | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "referee", "doctor"]
    done = subprocess.run(command, cwd=tmp_path / "table", env=where, capture_output=True, text=True, timeout=PATIENCE)
    assert "onnxruntime" in done.stdout and "lgpio" in done.stdout
    assert [path.name for path in tmp_path.rglob("*")] == ["table"]


def test_a_library_leaves_nothing_where_it_is_imported_and_takes_nobody_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "untidy_library.py").write_text("open('left behind', 'w').close()")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "table").mkdir()
    monkeypatch.chdir(tmp_path / "table")
    assert import_tidily("untidy_library").__name__ == "untidy_library"
    assert Path.cwd() == tmp_path / "table" and not list(Path.cwd().iterdir())


@pytest.mark.parametrize("told", [None, "/proc"])
def test_lgpio_is_brought_in_where_nobody_can_write(told: str | None) -> None:
    """It leaves a pipe in the current folder, or in that of LG_WD, and fails where it cannot."""
    pytest.importorskip("lgpio", reason="lgpio is not installed")
    code = (
        "import os; from hardware.pads.pinout import import_tidily; import_tidily('lgpio')\n"
        "print(os.getcwd(), os.environ.get('LG_WD'))"
    )
    where = {name: value for name, value in os.environ.items() if name != "LG_WD"}
    where |= {"PYTHONPATH": str(Path(__file__).parents[2])} | ({"LG_WD": told} if told else {})
    done = subprocess.run([sys.executable, "-c", code], cwd="/proc", env=where, capture_output=True, text=True)
    assert done.stdout.split() == ["/proc", str(told)], done.stderr
