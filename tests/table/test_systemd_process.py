"""The referee as a separate process, as systemd runs it: ready, fed, terminated, and its log complete."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from referee.setup.calibration.report import write_picture
from tests.support.patience import PATIENCE


def write_table(path: Path) -> None:
    """Write settings whose camera is a folder of frames, without lights and voice; pads as on this machine."""
    frames = path.with_name("frames")
    frames.mkdir()
    for number in range(30):
        write_picture(frames / f"f{number:03}.jpg", np.full((240, 320, 3), 60, np.uint8))
    path.write_text(
        f'[camera]\nsource = "{frames}"\nwidth = 320\nheight = 240\n[lights]\nenabled = false\n'
        '[voice]\nenabled = false\n[pads]\nroll_call = false\n[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n'
    )


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """See `write_table`."""
    path = tmp_path / "table.toml"
    write_table(path)
    return path


class Listener:
    """systemd's end of the socket, for one process."""

    def __init__(self, inbox: socket.socket, process: subprocess.Popen[bytes]) -> None:
        self._inbox, self._process = inbox, process
        self.heard: list[str] = []
        """Every line."""

    def until(self, key: str) -> str:
        """Read datagrams until one holds this; return its last line."""
        for _ in range(PATIENCE):
            try:
                lines = self._inbox.recv(4096).decode().splitlines()
            except TimeoutError:
                assert self._process.poll() is None, f"it has ended, with {self._process.returncode}"
                continue
            self.heard += lines
            if key in lines:
                return lines[-1]
        raise AssertionError(f"no {key} among {self.heard[-20:]}")


def test_ready_fed_stopped_and_the_log_is_whole(table: Path, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as inbox:
        inbox.bind(str(tmp_path / "notify"))
        inbox.settimeout(1)
        environ = {
            **os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "3000000",
            "XDG_CACHE_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "OMP_NUM_THREADS": "1",
        }  # fmt: skip
        command = [sys.executable, "-m", "referee", "run", "--settings", str(table), "--log"]
        log = tmp_path / "game.jsonl"
        with subprocess.Popen(
            [*command, str(log)], env=environ, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        ) as process:
            systemd = Listener(inbox, process)
            try:
                assert systemd.until("READY=1").startswith("STATUS=")
                systemd.until("WATCHDOG=1")
                systemd.until("WATCHDOG=1")
                process.send_signal(signal.SIGTERM)
                systemd.until("STOPPING=1")
                assert process.wait(PATIENCE) == 0
            finally:
                process.kill()
    text = log.read_text(encoding="utf-8")
    assert text.endswith("\n")
    lines = [json.loads(line) for line in text.splitlines()]
    assert lines[0]["kind"] == "table"
