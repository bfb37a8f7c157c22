"""Where a person's, an appliance's and the program's files are: one folder for games, settings and learned decks.

The folder is ``table-referee`` under ``XDG_DATA_HOME``, or ``~/.local/share``; the appliance's services set it to
``/var/lib``. Only paths are made here, so that help and parsers import nothing else.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

RECORD: Final = "games/record.db"
"""The record, in the folder of data, unless the settings or ``--record`` name another."""
SHOWN_FOLDER: Final = "~/.local/share/table-referee"
"""The folder of data in help texts."""
_APPLIANCE: Final = Path("/etc/table-referee/table.toml")
"""The settings of the appliance."""
_SETTINGS: Final = "table.toml"
_EARLIER: Final = "games.db"
"""The record beside its settings, where `referee play` wrote before there was one place for all commands."""


def data_folder() -> Path:
    """Return the folder of all data, which need not exist."""
    base = os.environ.get("XDG_DATA_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".local" / "share") / "table-referee"


def record_at(file: str = RECORD) -> Path:
    """Return the path of a record as settings name it: a relative one lies in the folder of data."""
    return data_folder() / Path(file).expanduser()


def own_settings() -> Path:
    """Return the path of the settings of `referee play`, which need not exist."""
    return data_folder() / _SETTINGS


def find_settings() -> Path:
    """Return the settings that a command uses if none are named: this folder's, else those of `referee play`, else the
    appliance's; those of `referee play` if there are none."""
    places = (Path(_SETTINGS), own_settings(), _APPLIANCE)
    return next((path for path in places if path.exists()), own_settings())


def install_command() -> str:
    """Return the command that installs the program's libraries anew: in its repository, or as a program of its own."""
    return "make install" if (Path(__file__).parents[2] / "Makefile").exists() else "pipx reinstall table-referee"


def earlier_record(settings: Path) -> Path:
    """Return the path of the record that an earlier version named in the settings of `referee play`."""
    return settings.with_name(_EARLIER)


def earlier_records(file: str = RECORD) -> list[Path]:
    """Return the existing records at places that earlier versions used: the current folder, and beside the settings of
    `referee play`."""
    now = record_at(file)
    places = (Path(file).expanduser().absolute(), earlier_record(own_settings()))
    return [path for path in places if path.exists() and not (now.exists() and path.samefile(now)) and path != now]
