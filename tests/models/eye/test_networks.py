"""The networks' runtime does not communicate."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_LOAD = "from models.eye.networks import WEIGHTS, Network; Network(WEIGHTS / 'finder.onnx')"


def test_the_networks_tell_nobody_and_leave_nothing_at_home(tmp_path: Path) -> None:
    """ONNX Runtime would send usage data to its makers, from a database in the home; it is switched off before."""
    told = {name: value for name, value in os.environ.items() if not name.startswith(("HOME", "XDG_", "ORT_"))}
    subprocess.run([sys.executable, "-c", _LOAD], env={**told, "HOME": str(tmp_path)}, check=True)
    assert list(tmp_path.iterdir()) == []
