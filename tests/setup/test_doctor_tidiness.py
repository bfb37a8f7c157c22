"""The doctor looks, and leaves nothing behind: neither in the folder that it is called in, nor in the home."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_no_file_is_left_where_the_doctor_was(tmp_path: Path) -> None:
    (tmp_path / "table").mkdir()
    where = os.environ | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "referee", "doctor"]
    done = subprocess.run(command, cwd=tmp_path / "table", env=where, capture_output=True, text=True, timeout=120)
    assert "onnxruntime" in done.stdout and "lgpio" in done.stdout
    assert [path.name for path in tmp_path.rglob("*")] == ["table"]
