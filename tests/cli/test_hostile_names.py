"""Names that would be interpreted: by a terminal, by its drawing library, by a browser, by a spreadsheet."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from referee.cli import main
from referee.record.store import Record

NAMES = ("A\x1b]0;taken\x07na", "[blink]Ben[/]", "\x9b2JC\u202eho", '<img src=x onerror="x()">')
RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
AT = "2026-01-01T20:00:00+00:00"


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Return a finished game of four such people; one line is invalid, and has such words, too."""
    path = tmp_path / "record.db"
    table = {"kind": "table", "t": 0, "id": "table", "seats": NAMES, "dealer": 4, "rules": "classic"}
    with Record(path) as kept:
        keeper = kept.begin(AT)
        keeper.write(json.dumps(table, separators=(",", ":")))
        keeper.write('{"kind":"card","t":1000000000,"id":"c1\\u001b[2J","card":"Kd","seat":1}')
        keeper.write('{"kind":"slap","t":2000000000,"id":"s1","seat":9}\x1b[31m')
        keeper.end(AT)
    return path


@pytest.mark.parametrize(
    "asked",
    [
        "games", "games --check", "games --export 1", "games --csv 1", "league", "league --csv", "people",
        "people --tidy",
    ],
)  # fmt: skip
def test_no_name_of_a_record_reaches_a_terminal_raw(
    record: Path, asked: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command, *options = asked.split()
    assert main([command, "--record", str(record), *options]) in (0, 1)
    told = capsys.readouterr()
    # Lines of CSV end as in the standard.
    assert not RAW.search((told.out + told.err).replace("\r\n", "\n"))
    if asked in ("games", "games --export 1"):
        assert "\\u001b]0;taken" in told.out and "[blink]Ben[/]" in told.out


@pytest.mark.parametrize("option", ["--ask", "--agrees", "--declines", "--forget", "--export"])
@pytest.mark.parametrize("name", NAMES)
def test_no_name_that_is_typed_comes_back_raw(
    record: Path, option: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["people", "--record", str(record), option, name]) in (0, 1, 2)
    told = capsys.readouterr()
    assert told.out or told.err
    assert not RAW.search(told.out + told.err)


def test_no_damage_is_told_with_a_raw_name(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(record.with_name(NAMES[0]))]) == 2
    assert main(["games", "--record", str(record), "--import", str(record.with_name(NAMES[2]))]) == 2
    assert main(["run", "--settings", str(record.with_name(NAMES[2]))]) == 2
    assert not RAW.search(capsys.readouterr().err)
