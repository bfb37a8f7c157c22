"""Commands and settings as one page: `make reference` writes docs/reference.md.

Commands come from the command line's own help, settings from `referee/settings/example.toml` (defaults and meaning)
and the models of `referee.settings.model` (allowed values).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from referee.cli import build_parser
from referee.settings.model import SeatSettings, Settings, example_settings

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference.md"
_HEAD: Final = """# Reference: commands and settings

Written by `make reference`. [Rules](rules.md) and [log format](log.md) have pages of their own.

## Commands

`referee COMMAND --help` lists each command's options, with examples. Every command takes `--language` (`en`, `de`,
`es`, `fr`). Exit status: 0 success; 1 a demo that missed its targets, or a broken part; 2 a mistake in the input, with
one line on standard error.
"""
_SETTINGS: Final = """## Settings

One TOML file describes a table. `referee run --example > table.toml` begins it with every key and its default,
`referee setup` writes it question by question, and `referee run --settings table.toml` plays by it. Only the seats and
their names are required. `referee calibrate` writes `[calibration]`, and `referee calibrate pads` writes
`[pads_measured]`.
"""
_PLAIN: Final = {
    'a text in quotes, such as "USB Audio"': "text", "a name in quotes": "text, not empty",
    "true or false": "",
}  # fmt: skip
"""Shorter words for the allowed values; none where the default shows them."""
_BOUNDS: Final = re.compile(r"^a (?:whole )?number from (?=\d+ to \d+(?: \w|$))")
"""Said of a value whose default shows that it is a number."""
_RULES: Final = "a preset, a house-rules file, or a section"
_TITLES: Final = {"": "Before any section", "seat": "`[[seat]]`, one for each, clockwise as seen from above"}
_KEY: Final = re.compile(r"(?P<left_out># )?(?P<key>\w+) = (?P<value>.+?)(?:\s+# (?P<meaning>.+))?")


def page() -> str:
    """Return the whole page."""
    return "\n".join((_HEAD, *_command_tables(), _SETTINGS, *_setting_tables()))


def _command_tables() -> list[str]:
    """A table for each purpose, as `referee --help` groups them."""
    listed = str(build_parser().epilog).split("\nexamples:")[0]
    tables = []
    for group in listed.strip().split("\n\n"):
        purpose, _, lines = group.partition(":\n")
        commands: list[tuple[str, str]] = re.findall(r"^  ([\w-]+) +(.+(?:\n {10,}.+)*)", lines, re.MULTILINE)
        rows = [[f"`referee {name}`", " ".join(line.split())] for name, line in commands]
        tables.append(f"### {purpose.capitalize()}\n\n{_table(['command', 'purpose'], rows)}\n")
    return tables


def _setting_tables() -> list[str]:
    """A table for each section of the example; comment lines above a key belong to it."""
    tables: dict[str, dict[str, list[str]]] = {"": {}}
    section, above = "", ""
    for line in example_settings().splitlines():
        found = _KEY.fullmatch(line)
        if begun := re.fullmatch(r"\[+(\w+)\]+", line):
            section = begun[1]
            tables.setdefault(section, {})
        elif found and (allowed := _allowed(section, found["key"])) is not None:
            default = "" if found["left_out"] or section == "seat" else f"`{found['value']}`"
            row = [f"`{found['key']}`", default, allowed, _without_repeats(found["meaning"] or above, allowed)]
            tables[section].setdefault(found["key"], row)
        above = f"{above} {line[2:]}".strip() if line.startswith("# ") and not found else ""
    head = ["key", "default", "value", "meaning"]
    return [
        f"### {_TITLES.get(name, f'`[{name}]`')}\n\n{_table(head, list(rows.values()))}\n"
        for name, rows in tables.items()
    ]


def _without_repeats(meaning: str, allowed: str) -> str:
    """Return the meaning without the bounds and the unit at its beginning, which the allowed values state."""
    part, _, rest = re.sub("[;,] ", "\n", meaning, count=1).partition("\n")
    is_bound = part == allowed or (part in allowed and any(sign.isdigit() for sign in part))
    return _without_repeats(rest, allowed) if part and (is_bound or allowed.endswith(part)) else meaning


def _allowed(section: str, key: str) -> str | None:
    """Return the allowed values of a key; `None` for a word that is no key of this section."""
    model: Any = Settings
    if section:
        model = SeatSettings if section == "seat" else Settings.model_fields[section].annotation
    field = model.model_fields.get(key)
    if field is None:
        return None
    words = str(field.description or _RULES)
    return _BOUNDS.sub("", _PLAIN.get(words, words))


def _table(titles: list[str], rows: list[list[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
