"""The settings while they are being made: TOML text in, TOML text out, with every comment and other key left alone.

Changing a settings file as a careful hand would: comments and all other keys stay, and the old file is kept.

The new text is read and checked before anything is written; files are replaced whole, so that a power cut leaves either
the old or the new one.

`referee setup --set`: single values of the settings, by name.
"""

from __future__ import annotations

import os
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import AoT, Table

from referee.errors import UserError
from referee.settings.model import SECTIONS, Settings, SettingsError, example, load, parse


@dataclass(frozen=True, slots=True)
class Draft:
    """Settings as text; always such that they could be run."""

    text: str
    folder: Path | None = None
    """Where a file of house rules is looked for."""
    is_new: bool = False
    """Nobody has named the seats yet."""

    @property
    def settings(self) -> Settings:
        """The settings that the text holds; raises `SettingsError`."""
        return parse(self.text, self.folder)

    def changed(self, values: Mapping[str, Any]) -> Draft:
        """Other values, by key (``rules``) or section and key (``voice.volume``); None takes a key out.

        Raises:
            SettingsError: the settings would not hold any more.
        """
        document = tomlkit.parse(self.text)
        for key, value in values.items():
            section, _, name = key.rpartition(".")
            if section and section not in document:
                document[section] = tomlkit.table()
            _put(document[section] if section else document, name, value)
        return self._checked(document)

    def seated(self, seats: Sequence[Mapping[str, Any]]) -> Draft:
        """These seats; what they do not say of a seat that was there stays.

        Raises:
            SettingsError: the settings would not hold any more.
        """
        document = tomlkit.parse(self.text)
        rows = document.get("seat")
        if rows is None:
            rows = tomlkit.aot()
            document["seat"] = rows
        while len(rows) > len(seats):
            del rows[-1]
        while len(rows) < len(seats):
            rows.append(tomlkit.table())
        for row, fields in zip(rows, seats, strict=True):
            for key, value in fields.items():
                _put(row, key, value)
        before = self.settings
        if document.get("dealer", 1) > len(seats):
            _put(document, "dealer", 1)
        moved = [seat.get("pad", old.pad) != old.pad for seat, old in zip(seats, before.seats, strict=False)]
        if len(seats) != len(before.seats) or any(moved):
            # What was measured of each seat's pad was measured of another pad.
            document.pop("pads_measured", None)
        return self._checked(document)

    def _checked(self, document: tomlkit.TOMLDocument) -> Draft:
        text = tomlkit.dumps(document)
        parse(text, self.folder)
        return replace(self, text=text, is_new=False)


def new_draft(folder: Path | None = None) -> Draft:
    """Where a table begins that has no settings yet: the commented example."""
    return Draft(example(), folder, is_new=True)


def _put(section: Any, key: str, value: Any) -> None:
    """Set a key, or take it out; the comment behind it stays."""
    if value is None:
        section.pop(key, None)
        return
    old = section.get(key)
    item = tomlkit.item(value)
    if old is not None and hasattr(old, "trivia") and not isinstance(old, Table):
        item.trivia.comment_ws, item.trivia.comment = old.trivia.comment_ws, old.trivia.comment
    section[key] = item


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
            _set_value(seat, "bearing", round(bearing, 1))
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
        _set_value(old, key, value)


def _set_value(section: Table, key: str, value: Any) -> None:
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


def set_values(path: Path, pairs: Sequence[str]) -> int:
    """Write single values into the settings, all or none; returns the exit status.

    Args:
        path: the settings, which must be there.
        pairs: ``section.key=value``; a value that is no TOML is a text.

    Raises:
        UserError: a pair is none, or the settings would not hold; names the key.
    """
    load(path)
    values = dict(_pair(pair) for pair in pairs)
    draft = Draft(path.read_text(encoding="utf-8"), path.parent).changed(values)
    replace_file(path, draft.text.encode("utf-8"))
    print(f"{path}: " + ", ".join(f"{key} = {value!r}" for key, value in values.items()))
    return 0


def _pair(text: str) -> tuple[str, object]:
    key, equals, value = (part.strip() for part in text.partition("="))
    section, _, name = key.rpartition(".")
    if not equals or (section not in SECTIONS and key not in ("rules", "dealer", "deck")) or not name:
        raise UserError(f"--set {text}: write a key and its value, as in camera.gain=9 or dealer=2")
    try:
        return key, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key, value
