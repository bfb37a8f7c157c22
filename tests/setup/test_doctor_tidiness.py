"""The doctor looks, and leaves nothing behind: neither in the current folder, nor in the home."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.patience import PATIENCE


def test_no_file_is_left_where_the_doctor_was(tmp_path: Path) -> None:
    (tmp_path / "table").mkdir()
    where = os.environ | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "referee", "doctor"]
    done = subprocess.run(command, cwd=tmp_path / "table", env=where, capture_output=True, text=True, timeout=PATIENCE)
    assert "ncnn" in done.stdout and "gpiod" in done.stdout
    assert [path.name for path in tmp_path.rglob("*")] == ["table"]
