"""Edits a settings file: comments and all other keys stay, and the old file is kept.

A text is changed in memory (`SettingsText`) and checked before anything is written. Files are replaced atomically, so
that a power cut leaves either the old or the new one. Called by `referee setup` and `referee calibrate`.
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
from tomlkit.items import Table

from referee.errors import UserError
from referee.settings.model import Settings, example_settings, is_typed_key, load_settings, parse_settings


@dataclass(frozen=True, slots=True)
class SettingsText:
    """The text of a settings file that is always valid."""

    text: str
    folder: Path | None = None
    """Folder in which to find a house-rules file."""
    is_new: bool = False
    """Whether the seats have no names yet."""

    @property
    def settings(self) -> Settings:
        """The settings that the text holds; raises `SettingsError`."""
        return parse_settings(self.text, self.folder)

    def changed(self, values: Mapping[str, Any]) -> SettingsText:
        """Return a text with other values, by key (``rules``) or section and key (``voice.volume``); None removes a
        key.

        Raises:
            SettingsError: the new settings would be invalid.
        """
        document = tomlkit.parse(self.text)
        for key, value in values.items():
            section, _, name = key.rpartition(".")
            if section and section not in document:
                document[section] = tomlkit.table()
            _put(document[section] if section else document, name, value)
        return self._checked(document)

    def with_seats(self, seats: Sequence[Mapping[str, Any]]) -> SettingsText:
        """Return a text with these seats; fields not given for an existing seat stay.

        Raises:
            SettingsError: the new settings would be invalid.
        """
        document = tomlkit.parse(self.text)
        rows = document.setdefault("seat", tomlkit.aot())
        while len(rows) > len(seats):
            del rows[-1]
        while len(rows) < len(seats):
            rows.append(tomlkit.table())
        for row, fields in zip(rows, seats, strict=True):
            for key, value in fields.items():
                _put(row, key, value)
        before = self.settings.seats
        if document.get("dealer", 1) > len(seats):
            _put(document, "dealer", 1)
        moved = [seat.get("pad", old.pad) != old.pad for seat, old in zip(seats, before, strict=False)]
        if len(seats) != len(before) or any(moved):
            # The measurements of the seats' pads no longer match the pads.
            document.pop("pads_measured", None)
        return self._checked(document)

    def with_measured(self, section: str, fields: Mapping[str, Any], command: str) -> SettingsText:
        """Return a text with a command's section rewritten; comments behind its keys stay.

        Args:
            section: its name.
            fields: its whole content.
            command: the command that owns it, for the note at its head.

        Raises:
            SettingsError: the text was invalid, or would be afterwards.
        """
        parse_settings(self.text, self.folder)
        document = tomlkit.parse(self.text)
        table = document.get(section)
        if not isinstance(table, Table):
            table = tomlkit.table()
            table.add(tomlkit.comment(f"What `{command}` measured; it writes this section anew each time."))
            document[section] = table
            table = document[section]
        for key in {*table, *fields}:
            if key not in fields:
                table.remove(key)
        for key, value in fields.items():
            _put(table, key, value)
        return self._checked(document)

    def _checked(self, document: tomlkit.TOMLDocument) -> SettingsText:
        text = tomlkit.dumps(document)
        parse_settings(text, self.folder)
        return replace(self, text=text, is_new=False)


def _put(section: Any, key: str, value: Any) -> None:
    """Set a key, or remove it; the comment behind it stays. A list of lists has one inner list a line, as matrices
    do.
    """
    if value is None:
        section.pop(key, None)
        return
    item = tomlkit.item(list(value) if isinstance(value, tuple) else value)
    if isinstance(value, list | tuple) and value and isinstance(value[0], list | tuple):
        item = tomlkit.array("[\n" + "".join(f"    {list(row)},\n" for row in value) + "]")
    old = section.get(key)
    if old is not None and hasattr(old, "trivia") and not isinstance(old, Table):
        item.trivia.comment_ws, item.trivia.comment = old.trivia.comment_ws, old.trivia.comment
    section[key] = item


def new_settings(folder: Path | None = None, language: str = "en") -> SettingsText:
    """Return the first settings of a new table: the commented example, in this language."""
    return replace(SettingsText(example_settings(), folder).changed({"voice.language": language}), is_new=True)


def read_settings(path: Path) -> SettingsText:
    """Read the text of a settings file.

    Raises:
        UserError: it cannot be read, or is not a settings file.
    """
    load_settings(path)
    return SettingsText(path.read_bytes().decode("utf-8"), path.parent)


def backup_of(path: Path) -> Path:
    """Return the path of the backup."""
    return path.with_name(path.name + ".bak")


def save_with_backup(path: Path, text: str) -> Path:
    """Write a settings file and keep its old state; return the backup's path. Raises `UserError` on failure."""
    try:
        before = path.read_bytes()
    except OSError as error:
        raise UserError("{path} cannot be read: {why}", path=path, why=error) from None
    replace_file(backup_of(path), before)
    replace_file(path, text.encode("utf-8"))
    return backup_of(path)


def undo_change(path: Path) -> None:
    """Restore the state before the last change; a second call undoes this.

    Raises:
        UserError: there is no earlier state.
    """
    kept = backup_of(path)
    try:
        before, now = kept.read_bytes(), path.read_bytes()
    except OSError:
        raise UserError("there is nothing to undo: {path} and {kept} are not both here", path=path, kept=kept) from None
    replace_file(kept, now)
    replace_file(path, before)


def set_values(path: Path, pairs: Sequence[str]) -> int:
    """Write single values into the settings, all or none; return the exit status. For ``referee setup --set``.

    Args:
        path: the settings, which must exist.
        pairs: ``section.key=value``; a value that is not TOML is a text.

    Raises:
        UserError: a pair is malformed, or the settings would be invalid; names the key.
    """
    before = read_settings(path)
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not is_typed_key(key):
            raise UserError("--set {pair}: write a key and its value, as in camera.gain=9 or dealer=2", pair=pair)
        try:
            values[key] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            values[key] = value
    replace_file(path, before.changed(values).text.encode("utf-8"))
    print(f"{path}: " + ", ".join(f"{key} = {value!r}" for key, value in values.items()))
    return 0


def replace_file(path: Path, data: bytes) -> None:
    """Write a file atomically: at any instant either the old or the new one exists.

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
        # The rename survives a power cut only once the folder is synced, too.
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise UserError("{path} cannot be written: {why}", path=path, why=error.strerror) from None
