"""`referee setup --set`: single values of the settings, by name."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

from referee.app.editing import replace_file
from referee.app.problems import UserError
from referee.app.settings import load
from referee.app.settings_checks import SECTIONS
from referee.app.setup_draft import Draft


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
