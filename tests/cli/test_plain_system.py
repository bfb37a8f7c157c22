"""The commands that need no Linux, on a system without Linux's own modules (`tests.support.plain_system`)."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from hardware.bell import Waker
from tests.support.patience import PATIENCE

PLAIN = Path(__file__).parents[1] / "support" / "plain_system"


def plain_environment() -> dict[str, str]:
    """Return an environment that turns an interpreter, and its children, into one of such a system."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(PLAIN), str(Path(__file__).parents[2])))}


def plainly(*command: str, folder: Path) -> str:
    """Return a command's output there; it must succeed."""
    done = subprocess.run(
        [sys.executable, *command], env=plain_environment(), cwd=folder, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert "Traceback" not in done.stderr, done.stderr[-4000:]
    return done.stdout + done.stderr


def test_nothing_is_there_that_only_linux_has(tmp_path: Path) -> None:
    ask = (
        "import os, select, multiprocessing as m\n"
        "assert not any(hasattr(os, n) for n in ('eventfd', 'memfd_create', 'pidfd_open'))\n"
        "assert not hasattr(select, 'epoll') and m.get_start_method() == 'spawn'\n"
        "for name in ('fcntl', 'termios', 'evdev', 'gpiod', 'resource'):\n"
        "    try:\n        __import__(name)\n"
        "    except ImportError:\n        print('no', name)\n"
    )
    expected = [f"no {name}" for name in ("fcntl", "termios", "evdev", "gpiod", "resource")]
    assert plainly("-c", ask, folder=tmp_path).splitlines() == expected


def test_a_game_is_played_as_fast_as_can_be_and_replayed(tmp_path: Path) -> None:
    options = ["--no-pace", "--max-cards", "12", "--seed", "7", "--log", "game.jsonl"]
    assert "All targets met" in plainly("-m", "referee", "demo", *options, folder=tmp_path)
    assert '"ruling"' in plainly("-m", "referee", "replay", "game.jsonl", folder=tmp_path)


def test_a_game_in_real_time_has_its_page_and_its_record(tmp_path: Path) -> None:
    options = ["--max-cards", "2", "--seed", "7", "--record", "games.db", "--port", "18460"]
    told = plainly("-m", "referee", "demo", *options, folder=tmp_path)
    assert "All targets met" in told and "http://" in told, told
    page = subprocess.Popen(
        [sys.executable, "-m", "referee", "page", "--record", "games.db", "--port", "0"], env=plain_environment(),
        cwd=tmp_path, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert page.stdout is not None
        with urllib.request.urlopen(page.stdout.readline().strip(), timeout=PATIENCE) as answer:
            assert b"Table Referee" in answer.read()
    finally:
        page.terminate()
        assert page.wait(PATIENCE) == 0


@pytest.mark.parametrize("command", ["review", "play", "replay", "explain", "demo"])
def test_each_command_says_how_it_is_used(tmp_path: Path, command: str) -> None:
    assert "usage: referee" in plainly("-m", "referee", command, "--help", folder=tmp_path)


def test_the_wizard_of_play_begins(tmp_path: Path) -> None:
    begin = "import referee.setup.wizard_site, referee.table.session, referee.vision.process\n"
    begin += "import referee.options.video_review.dispute_server"
    assert plainly("-c", begin, folder=tmp_path) == ""


@pytest.mark.parametrize("kind", ["the kernel's", "two sockets"])
def test_a_bell_of_either_kind_rings_once_for_many(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    import select

    if kind == "two sockets":
        monkeypatch.delattr(os, "eventfd")
    bell = Waker()
    assert select.select([bell.waitable], [], [], 0)[0] == []
    for _ in range(100_000):
        bell.ring()
    assert select.select([bell.waitable], [], [], 0)[0] == [bell.waitable]
    bell.hush()
    assert select.select([bell.waitable], [], [], 0)[0] == []
    bell.close()
    bell.ring()
    bell.close()
