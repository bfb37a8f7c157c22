"""`referee` called as a function: each command's errors, and its exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest

from referee.cli import main

Told = Callable[..., tuple[int, str, str]]


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    """Run a command; return its exit status, standard output and standard error."""

    def run(*words: object) -> tuple[int, str, str]:
        status = main([str(word) for word in words])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def test_without_settings_run_says_how_to_begin(told: Told) -> None:
    assert told("run") == (
        2,
        "",
        "referee: run needs --settings FILE: `referee play` sets up a table in a browser, "
        "`referee run --example > table.toml` begins a file\n",
    )


def test_a_mistyped_option_is_guessed_for_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in (
        ("play --no-brwser", "referee play: there is no option --no-brwser; did you mean --no-browser?"),
        ("demo --sed=3", "referee demo: there is no option --sed; did you mean --seed?"),
        ("demo --quux", "referee demo: there is no option --quux (try: referee demo --help)"),
        ("replay a.jsonl b.jsonl", "referee replay: there is one word too many: 'b.jsonl'"),
    ):
        with pytest.raises(SystemExit) as left:
            main(words.split())
        assert left.value.code == 2
        assert capsys.readouterr().err.startswith(said)


def test_the_example_of_settings_is_one(told: Told, tmp_path: Path) -> None:
    status, example, _ = told("run", "--example")
    (tmp_path / "table.toml").write_text(example)
    assert status == 0
    assert told("setup", "--settings", tmp_path / "table.toml", "--set", "voice.volume=41")[0] == 0
    assert "volume = 41" in (tmp_path / "table.toml").read_text()


def test_a_table_without_pads_and_camera_is_no_table(told: Told, tmp_path: Path) -> None:
    """Missing or wrong settings are refused as well."""
    settings = tmp_path / "table.toml"
    assert "there is no such file" in told("run", "--settings", settings)[2]
    settings.write_text("[camera]\nfps = 0\n")
    status, _, err = told("run", "--settings", settings)
    assert status == 2 and "fps" in err
    assert len(err.splitlines()) == 1, "one line"


def test_setup_without_answers_that_can_be_read_is_refused(told: Told, tmp_path: Path) -> None:
    status, _, err = told("setup", "--settings", tmp_path / "t.toml", "--answers", tmp_path / "none.txt")
    assert status == 2
    assert "--answers" in err and "cannot be read" in err
    assert not (tmp_path / "t.toml").exists()


def test_a_drawing_of_the_wires_goes_where_it_is_asked_for(told: Told, tmp_path: Path) -> None:
    assert told("wiring", "--out", tmp_path / "wires.svg", "--seats", 3)[0] == 0
    assert (tmp_path / "wires.svg").read_text().startswith("<svg")
    status, _, err = told("wiring", "--out", tmp_path / "no" / "wires.svg")
    assert status == 2 and "no" in err


def test_a_log_is_replayed_and_explained_in_this_process(told: Told, tmp_path: Path) -> None:
    log = tmp_path / "game.jsonl"
    log.write_text(
        '{"kind":"table","t":0,"id":"t","seats":["Ana","Ben"],"dealer":2,"rules":"classic"}\n'
        '{"kind":"card","t":1000000000,"id":"c1","card":"7h","seat":1}\n'
        '{"kind":"slap","t":2000000000,"id":"s1","seat":2}\n'
    )
    status, out, _ = told("replay", log, "--format", "text")
    assert status == 0 and "Ben" in out
    status, out, _ = told("explain", log, "slap_false@s1")
    assert status == 0 and "7h" in out
    status, _, err = told("explain", log, "slap_won@s9")
    assert status == 2 and "slap_won@s9" in err
    status, _, err = told("replay", tmp_path)
    assert status == 2 and "is a folder" in err


def test_a_reader_that_goes_away_is_no_mistake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As in `referee rules | head -1`: all further output is discarded."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w", buffering=1) as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        assert main(["rules"]) == 141
        print("an unread line", flush=True)


class Interrupted(StringIO):
    """Ctrl-C is pressed while this is read."""

    def read(self, _size: int | None = -1, /) -> str:
        raise KeyboardInterrupt


def test_ctrl_c_ends_a_command_without_a_word(told: Told, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "stdin", Interrupted())
    assert told("setup", "--settings", tmp_path / "t.toml", "--answers", "-") == (130, "", "")


def test_what_is_not_installed_is_named_with_what_to_do(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "referee.cli.logs", None)
    status, _, err = told("replay", "-")
    assert status == 2
    assert err == "referee: this needs referee.cli.logs: run `make install` (see `referee doctor`)\n"
