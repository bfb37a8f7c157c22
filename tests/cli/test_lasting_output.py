"""Closed, full or missing output ends nothing, and no other file takes its number."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from referee.cli import build_parser, main
from referee.cli.lasting_output import lasting_output
from tests.support.patience import PATIENCE

PROGRAM = [sys.executable, "-m", "tests.cli.lasting_program"]


@pytest.mark.parametrize("how", [">&- 2>&-", "<&- >&- 2>&-", ">/dev/full 2>/dev/full", ">&-", "2>/dev/full"])
def test_output_that_is_closed_or_full_ends_nothing(how: str, tmp_path: Path) -> None:
    said = tmp_path / "said"
    ended = subprocess.run(
        ["sh", "-c", f'exec "$@" {how}', "sh", *PROGRAM, str(said)], stdin=subprocess.DEVNULL, capture_output=True
    )
    assert ended.returncode == 0
    assert said.read_text().split() == ["True", "0", "False"]


def test_a_reader_that_goes_ends_nothing(tmp_path: Path) -> None:
    said, (reads, writes) = tmp_path / "said", os.pipe()
    process = subprocess.Popen([*PROGRAM, str(said)], stdin=subprocess.DEVNULL, stdout=writes, stderr=writes)
    os.close(writes)
    os.close(reads)
    assert process.wait(PATIENCE) == 0
    assert said.read_text().split() == ["True", "0", "False"]


def test_a_terminal_that_is_closed_ends_nothing(tmp_path: Path) -> None:
    said, (master, slave) = tmp_path / "said", os.openpty()
    process = subprocess.Popen([*PROGRAM, str(said)], stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    os.close(master)
    assert process.wait(PATIENCE) == 0
    assert said.read_text().split() == ["True", "0", "False"]


def test_what_can_be_printed_is_printed_in_its_order(capfd: pytest.CaptureFixture[str]) -> None:
    print("before")
    with lasting_output():
        print("one \udcff")
        print("two", file=sys.stderr)
    print("after")
    said = capfd.readouterr()
    assert (said.out, said.err) == ("before\none \\udcff\nafter\n", "two\n")


def test_a_line_is_read_as_soon_as_it_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    """Whether or not at a terminal: people are asked to slap by it."""
    with lasting_output():
        print("slap your pad")
        assert capfd.readouterr().out == "slap your pad\n"


def test_games_and_pages_have_lasting_output_and_what_is_piped_on_has_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A reader of `replay` that quits is meant to stop it."""
    from referee.cli import _LASTING

    commands = {
        "run": ["run"], "play": ["play"], "demo": ["demo"], "page": ["page", "--record", "r"],
        "hall": ["hall", "--broker", "b"], "replay": ["replay", "-"], "games": ["games", "--record", "r"],
    }  # fmt: skip
    lasting = {name for name, words in commands.items() if build_parser().parse_args(words).run in _LASTING}
    assert lasting == {"run", "play", "demo", "page", "hall"}
    assert main(["run"]) == 2
