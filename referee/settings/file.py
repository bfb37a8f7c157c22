"""Changing a settings file as a careful hand would: comments and all other keys stay, and the old file is kept.

The new text is read and checked before anything is written; files are replaced whole, so that a power cut leaves either
the old or the new one.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import AoT, Table

from referee.app.problems import UserError
from referee.app.settings import SettingsError, parse

NOTE = "What `referee calibrate` measured; it writes this section anew each time."


def backup_of(path: Path) -> Path:
    """Where the file's last state is kept."""
    return path.with_name(path.name + ".bak")


def edited(
    text: str, calibration: Mapping[str, Any], bearings: Sequence[float] | None, folder: Path | None = None
) -> str:
    """A settings text with another ``[calibration]`` and, if given, other bearings, seat by seat.

    Its house rules, where they are a file, are looked for in ``folder``.

    Raises:
        SettingsError: the text was no settings, or would be none afterwards.
    """
    parse(text, folder)
    document = tomlkit.parse(text)
    _section(document, calibration)
    seats = document.get("seat")
    if bearings is not None and isinstance(seats, AoT):
        for seat, bearing in zip(seats, bearings, strict=True):
            _put(seat, "bearing", round(bearing, 1))
    out = tomlkit.dumps(document)
    parse(out, folder)
    return out


def _section(document: tomlkit.TOMLDocument, fields: Mapping[str, Any]) -> None:
    old = document.get("calibration")
    if not isinstance(old, Table):
        section = tomlkit.table()
        section.add(tomlkit.comment(NOTE))
        for key, value in fields.items():
            section.add(key, _value(value))
        document["calibration"] = section
        return
    for key in [key for key in old if key not in fields]:
        del old[key]
    for key, value in fields.items():
        _put(old, key, value)


def _put(section: Table, key: str, value: Any) -> None:
    """Set a key; the comment behind it stays."""
    old = section.get(key)
    item = _value(value)
    if old is not None and hasattr(old, "trivia"):
        item.trivia.comment_ws, item.trivia.comment = old.trivia.comment_ws, old.trivia.comment
    section[key] = item


def _value(value: Any) -> Any:
    """A list of lists stands one a line, as people write matrices."""
    item = tomlkit.item(value)
    if isinstance(value, list | tuple) and value and isinstance(value[0], list | tuple):
        rows = ", \n    ".join("[" + ", ".join(repr(float(v)) for v in row) + "]" for row in value)
        item = tomlkit.array(f"[\n    {rows},\n]".replace(", \n", ",\n"))
    return item


def replace_file(path: Path, data: bytes) -> None:
    """Write a file so that at any instant either the old or the new one is there.

    Raises:
        UserError: it cannot be written.
    """
    target = path.resolve()
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(target.stat().st_mode & 0o777 if target.exists() else 0o644)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as bad:
        raise UserError(f"{path} cannot be written: {bad.strerror}") from None


def store(path: Path, calibration: Mapping[str, Any], bearings: Sequence[float] | None) -> Path:
    """Write what was measured into a settings file; gives where its old state is kept.

    Raises:
        UserError: it cannot be read or written, or is no settings file.
    """
    try:
        data = path.read_bytes()
        text = edited(data.decode("utf-8"), calibration, bearings, path.parent)
    except SettingsError as bad:
        raise SettingsError(f"{path}: {bad}") from None
    except (OSError, UnicodeDecodeError) as bad:
        raise UserError(f"{path} cannot be read: {bad}") from None
    replace_file(backup_of(path), data)
    replace_file(path, text.encode("utf-8"))
    return backup_of(path)


def undo(path: Path) -> None:
    """Put the state before the last change back; doing so twice puts the change back.

    Raises:
        UserError: there is no earlier state.
    """
    kept = backup_of(path)
    try:
        before, now = kept.read_bytes(), path.read_bytes()
    except OSError:
        raise UserError(f"there is nothing to undo: {path} and {kept} are not both here") from None
    replace_file(kept, now)
    replace_file(path, before)
