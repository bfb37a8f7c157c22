"""A log that breaks a law, reduced to the lines that still break it, and written as a scenario."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from referee.engine.log import from_fields, to_fields
from referee.engine.observations import Observation, Table

_Breaks = Callable[[Sequence[Observation]], bool]


def shrunk(lines: Sequence[Observation], breaks: _Breaks) -> list[Observation]:
    """Return the shortest log found that still breaks the law, by leaving out lines, house rules and marks.

    Args:
        lines: a log that breaks it, its table first.
        breaks: whether a log does.
    """
    now = list(lines)
    while True:
        before = now
        now = _fewer_lines(now, breaks)
        for easier in (_fewer_rules, _fewer_marks):
            now = easier(now, breaks)
        if now == before:
            return now


def _fewer_lines(lines: list[Observation], breaks: _Breaks) -> list[Observation]:
    """Leave out halves, quarters ... single lines, as long as the rest breaks the law (delta debugging)."""
    table, rest = lines[0], lines[1:]
    size = max(1, len(rest) // 2)
    while True:
        at = 0
        while at < len(rest):
            fewer = rest[:at] + rest[at + size :]
            if breaks([table, *fewer]):
                rest = fewer
            else:
                at += size
        if size == 1:
            return [table, *rest]
        size = max(1, size // 2)


def _fewer_rules(lines: list[Observation], breaks: _Breaks) -> list[Observation]:
    table = lines[0]
    assert isinstance(table, Table)
    for easier in _easier_tables(table):
        if breaks([easier, *lines[1:]]):
            return _fewer_rules([easier, *lines[1:]], breaks)
    return lines


def _easier_tables(table: Table) -> Iterator[Table]:
    """Yield the same table with one special setting less."""
    if isinstance(table.rules, Mapping):
        said = {key: table.rules[key] for key in table.rules}
        if said.get("base") != "classic":
            yield replace(table, rules={**said, "base": "classic"})
        for part in ("on", "off"):
            for row in said.get(part, []):
                yield replace(table, rules={**said, part: [other for other in said[part] if other != row]})
        for row in said.get("set", {}):
            yield replace(table, rules={**said, "set": {k: v for k, v in said["set"].items() if k != row}})
    plain = replace(table, packs=None), replace(table, direction=None), replace(table, jokers=None)
    for easier in (*plain, replace(table, counts=None)):
        if easier != table:
            yield easier


_MARKS: Final = ("t_error", "force", "candidates", "confidence", "known_at", "zone")


def _fewer_marks(lines: list[Observation], breaks: _Breaks) -> list[Observation]:
    """Remove errors, forces and candidates that do not matter."""
    for at in range(1, len(lines)):
        said = to_fields(lines[at])
        for mark in _MARKS:
            if mark in said:
                easier = from_fields({name: value for name, value in said.items() if name != mark}, at + 1)
                if breaks([*lines[:at], easier, *lines[at + 1 :]]):
                    lines, said = [*lines[:at], easier, *lines[at + 1 :]], to_fields(easier)
    return lines


def as_scenario(lines: Sequence[Observation]) -> str:
    """Return a log in the words of ``tests/scenarios``; a line without such words in the log's own format."""
    table = lines[0]
    assert isinstance(table, Table)
    names = [*table.seats, *(f"pad{seat}" for seat in range(len(table.seats) + 1, 9))]
    called: dict[str, str] = {table.id: "table"}
    for line in lines[1:]:
        name = f"{line.t / 10**9:.9f}".rstrip("0")
        name += "0" if name.endswith(".") else ""
        while name in called.values():
            name = name + "b" if not name[-1].isalpha() else name[:-1] + chr(ord(name[-1]) + 1)
        called[line.id] = name
    words = [f"{'rules = ' + json.dumps(_plain(table.rules))}", f"table = {json.dumps(_table(table))}", "play:"]
    for line in lines[1:]:
        said = _sentence(line, names, called)
        raw = json.dumps(_plain({key: value for key, value in to_fields(line).items() if key not in ("t", "id")}))
        words.append(f"  {called[line.id].rstrip('bcdefghijklmnop')} {said or raw}")
    return "\n".join(words)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _table(table: Table) -> str:
    parts = [" ".join(table.seats), f"{table.seats[table.dealer - 1]} deals"]
    if table.counts is not None:
        parts.append(" ".join("?" if count is None else str(count) for count in table.counts) + " cards")
    if table.packs:
        parts.append(f"{table.packs} packs")
    if table.jokers:
        parts.append(f"{table.jokers} jokers")
    return "; ".join([*parts, *([table.direction] if table.direction else [])])


def _sentence(line: Observation, names: Sequence[str], called: Mapping[str, str]) -> str | None:
    one = to_fields(line)
    who = "somebody" if one.get("seat") is None else names[one["seat"] - 1]
    kind = line.kind
    said: str | None = None
    if kind == "card" and not one.get("candidates"):
        said = f"{who} {'lays' if one.get('zone', 'pile') == 'pile' else 'shows'} {one['card']}"
    elif kind == "slap" and not one.get("late"):
        said = f"{who} slaps"
    elif kind == "placed" and (one.get("cards") or one.get("count")):
        said = f"{who} burned {' '.join(one.get('cards') or [str(one['count'])])} at the {one.get('where', 'bottom')}"
    elif kind == "contest":
        said = f"{' and '.join(names[seat - 1] for seat in one['by'])} contest {names[one['against'] - 1]}"
        said += f" for {_renamed(one['ruling'], called)}" if one.get("ruling") else ""
    elif kind == "answer" and isinstance(one["value"], int | str) and one["value"] is not True:
        about = _renamed(one["to"], called).partition("@")[2]
        value = names[one["value"] - 1] if isinstance(one["value"], int) and 0 < one["value"] < 9 else one["value"]
        said = f"people answer {about}: {value}"
    elif kind == "correct" and set(one) <= {"kind", "t", "id", "line", "void", "take", "card", "seat"}:
        about = _renamed(one["line"], called)
        if one.get("take"):
            said = f"people take up {about}"
        elif one.get("void"):
            said = f"people strike out {about}"
        else:
            said = f"people correct {about}: {one.get('card') or who}"
    else:
        plain = {
            "lift": f"{who} lifts", "taken": f"{who} takes the pile", "foul": f"{who} is reported: {one.get('foul')}",
            "say": f"{who} calls {one.get('rank')}", "draw": f"the wild rank is {one.get('rank')}",
            "join": f"{who} joins", "leave": f"{who} leaves", "count": f"{who} counts {one.get('cards')}",
            "day": f"the day is {one.get('date')}", "pause": "the table pauses", "resume": "the table goes on",
            "tick": "all has been reported",
        }  # fmt: skip
        said = plain.get(kind)
    if said is None:
        return None
    if "by" in one and kind != "contest":
        return f"{said}, by people"
    error = one.get("t_error")
    said += f", ±{error / 10**6:g}" if error is not None and error != _DEFAULT_ERRORS.get(kind, 0) else ""
    return said + (f", force {one['force']}" if one.get("force") is not None else "")


_DEFAULT_ERRORS = {"slap": 1_500_000}


def _renamed(name: str, called: Mapping[str, str]) -> str:
    """Return a ruling's or a line's name, with its cause named as the scenario names it."""
    kind, at, cause = name.partition("~")[0].rpartition("@")
    line, number = (cause, "") if cause in called else re.fullmatch(r"(.*?)((?:/\d+)?)", cause, re.S).groups()  # type: ignore[union-attr]
    return f"{kind}{at}{called.get(line, line)}{number}"
