"""`make vm-smoke` as a test: the pads on a real kernel, in a virtual machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CANNOT = 77
"""The exit status of `tools/vm/setup` where packages cannot be had."""


def run(command: Sequence[str], seconds: float, **environment: str) -> tuple[int, str]:
    """Return exit status and output; at the time limit every started process is killed."""
    process = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **environment}, start_new_session=True, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return 124, f"{output}\nkilled after {seconds:.0f} s"
    return process.returncode, output


@pytest.mark.slow
def test_the_pads_on_a_real_kernel() -> None:
    if not (ROOT / "build/vm/ready").exists() and os.geteuid() != 0:
        pytest.skip("no virtual machine: make vm-setup makes one, with packages that root installs")
    code, output = run(["tools/vm/setup"], 600)
    if code == CANNOT:
        pytest.skip(f"no virtual machine: {output.strip().splitlines()[-1]}")
    assert code == 0, output
    # 25 seconds on two idle cores. The limit stops a guest that hangs; a busy machine must not reach it.
    code, output = run(["tools/vm/boot", sys.executable, "-m", "tests.vm", "smoke"], 640, VM_TIMEOUT="600")
    assert code == 0, output
    assert "0 missed" in output
