"""The settings while they are being made: TOML text in, TOML text out, with every comment and other key left alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.items import Table

from referee.app.settings import Settings, example, parse


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
