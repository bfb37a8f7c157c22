"""`referee rules`: presets, rows, what a set of house rules switches on, and whether a file has mistakes."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from referee.app.housefile import SUFFIX, HouseFileError, example, load, rules_from
from referee.app.problems import UserError
from referee.app.rulewords import rows_by_group, sentence
from referee.rules.catalogue import ALWAYS_ON, RIVALS, ROWS
from referee.rules.house import HouseRules, house_rules
from referee.rules.presets import PRESETS

WIDTH: Final = 100
MISTAKE: Final = 2
_BESIDE: Final = frozenset(("S2", "S3"))
"""Rows that count by their value, whether or not they are on."""
_ON_SLAPS: Final = ("What may be slapped", "Slapping")
_OF_SLAPS: Final = frozenset(("C9", "N11", "F8"))
"""Groups and rows that say nothing where nobody slaps."""


def rules(what: list[str], *, rows: bool = False) -> int:
    """Print what was asked for; returns the exit status.

    Args:
        what: nothing (the presets), ``check FILE``, ``example``, or a preset or file.
        rows: the whole table instead.

    Raises:
        UserError: there are no such rules, or the words make no sense together.
    """
    if rows:
        _print(table())
    elif not what:
        _print(presets())
    elif what[0] == "check":
        return _check(what[1:])
    elif len(what) > 1:
        raise UserError(f"one set of rules at a time, not {len(what)}; or: referee rules check FILE")
    elif what[0] == "example":
        sys.stdout.write(example())
    else:
        _print(described(what[0]))
    return 0


def _print(lines: Iterator[str]) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)


def _check(files: list[str]) -> int:
    if not files:
        raise UserError("check needs a file: referee rules check FILE")
    status = 0
    for file in files:
        try:
            house = load(Path(file))
        except HouseFileError as bad:
            status = MISTAKE
            for mistake in bad.mistakes:
                print(mistake.told(file), file=sys.stderr)
            continue
        for note in house.notes:
            print(f"note: {note.told(file)}", file=sys.stderr)
        print(f"{file}: {house.title}: {len(house.rules.on - ALWAYS_ON)} rows are on; no mistakes")
    return status


def presets() -> Iterator[str]:
    """The presets by name."""
    yield "Presets:"
    widest = max(map(len, PRESETS))
    for name, preset in PRESETS.items():
        yield f"  {name:<{widest}}  {preset.title}"
    yield ""
    yield "referee rules PRESET       what one of them switches on, in words"
    yield "referee rules FILE.toml    the same for house rules of your own"
    yield "referee rules --rows       every row of the rules, with its values"
    yield "referee rules example      a house-rules file to begin with"


def described(word: str) -> Iterator[str]:
    """What a preset or a house-rules file switches on, in plain words.

    Raises:
        UserError: there are no such rules.
    """
    said: Any = rules_from(word)
    on = house_rules(said)
    if word.endswith(SUFFIX):
        yield f"{load(Path(word)).title} ({said['base']}, changed)"
    else:
        yield f"{word}: {PRESETS[word].title}"
    for title, rows in rows_by_group().items():
        shown = [row for row in rows if row in on.on or (row in _BESIDE and row in on.values)]
        if not on.slaps:
            shown = [row for row in shown if title not in _ON_SLAPS and row not in _OF_SLAPS]
        if shown:
            yield ""
            yield f"{title}:"
            for row in shown:
                yield from _item(row, on)
    if not on.slaps:
        yield ""
        yield "Nothing may be slapped in this game."


def _item(row: str, on: HouseRules) -> list[str]:
    return textwrap.wrap(
        f"{sentence(row, on)} ({row})", WIDTH, initial_indent="  - ", subsequent_indent="    ", break_long_words=False
    )


def table() -> Iterator[str]:
    """Every row: id, name, title, its value, and the rows that it excludes."""
    names = max(len(row.name) for row in ROWS.values())
    for title, rows in rows_by_group().items():
        yield f"{title}:"
        for id_ in rows:
            row = ROWS[id_]
            facts = [row.title]
            if row.check is not None:
                facts.append(f"value {_value(row.default)}; may be {row.allowed}")
            rivals = sorted(RIVALS.get(id_, ()))
            if rivals:
                facts.append("instead of " + ", ".join(rivals))
            if id_ in ALWAYS_ON:
                facts.append("on in every preset")
            yield f"  {id_:<4} {row.name:<{names}}  {'. '.join(facts)}"
        yield ""


def _value(value: Any) -> str:
    if value is None or value in ((), {}):
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
