"""One folder for everything of a table, and what a command takes if nothing is named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from referee.cli import main
from referee.settings import places
from referee.settings.model import parse_settings
from referee.settings.places import (
    data_folder,
    earlier_records,
    find_settings,
    install_command,
    own_settings,
    record_at,
)
from referee.setup.doctor.probe import pip_install

SEATS = '[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n'


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "club").mkdir()
    monkeypatch.chdir(tmp_path / "club")
    return tmp_path / "data" / "table-referee"


def test_the_folder_is_the_users_unless_the_environment_names_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for base in ("", "relative/folder"):
        monkeypatch.setenv("XDG_DATA_HOME", base)
        assert data_folder() == Path.home() / ".local" / "share" / "table-referee"
    monkeypatch.setenv("XDG_DATA_HOME", "/var/lib")
    assert record_at() == Path("/var/lib/table-referee/games/record.db"), "as on the appliance"


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (None, "{data}/games/record.db"),
        ("autumn.db", "{data}/autumn.db"),
        ("/srv/club/record.db", "/srv/club/record.db"),
        ("~/record.db", "{home}/record.db"),
    ],
)
def test_the_settings_name_a_place_in_that_folder_or_any_other(data: Path, file: str | None, expected: str) -> None:
    named = "" if file is None else f'[record]\nfile = "{file}"\n'
    assert str(parse_settings(named + SEATS).record_file) == expected.format(data=data, home=Path.home())


def test_settings_may_record_nothing() -> None:
    assert parse_settings(f'[record]\nfile = ""\n{SEATS}').record_file is None


def test_settings_are_found_here_or_at_home_or_of_the_appliance(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    appliance = tmp_path / "etc.toml"
    monkeypatch.setattr(places, "_APPLIANCE", appliance)
    assert find_settings() == own_settings() == data / "table.toml"
    data.mkdir(parents=True)
    for path in (appliance, own_settings(), Path("table.toml")):
        path.write_text(SEATS)
        assert find_settings() == path


def test_commands_that_install_are_those_of_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that was installed from a wheel has no Makefile."""
    assert install_command() == "make install"
    assert pip_install("numpy") == "make install   (or: pip install numpy)"
    monkeypatch.setattr(places, "__file__", str(tmp_path / "site-packages" / "referee" / "settings" / "places.py"))
    assert install_command() == "pipx reinstall table-referee"
    assert pip_install("numpy") == f"{sys.executable} -m pip install numpy"


def test_run_names_the_settings_that_are_there(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run"]) == 2
    assert "`referee run --example > table.toml` begins a file" in capsys.readouterr().err
    data.mkdir(parents=True)
    own_settings().write_text(SEATS)
    assert main(["run"]) == 2
    assert f"`referee run --settings {own_settings()}`" in capsys.readouterr().err


def test_records_of_earlier_versions_are_found_where_those_wrote(data: Path, tmp_path: Path) -> None:
    """But not the present one, under whichever path."""
    assert earlier_records() == []
    mine, evening = tmp_path / "club" / "games" / "record.db", data / "games.db"
    for path in (mine, evening, record_at()):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(path.name.encode())
    assert earlier_records() == [mine, evening]
    mine.unlink()
    mine.symlink_to(record_at())
    assert earlier_records() == [evening]
