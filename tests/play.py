"""Small logs in short notation: the language in which tests tell their games.

A line is ``INSTANT WHAT``: the instant in milliseconds, then ``1:7h`` (seat 1 lays), ``?:7h`` (seat unknown), ``slap
2``, ``slap 2 ±0.02`` (error in ms), ``slap 2 !0.7`` (force), ``1:7h known@2300``, ``lift 2``, ``taken 2``, ``taken``,
``gap UNTIL 9s``, ``answer ID VALUE``, ``correct LINE {"card": "7c"}``, ``tick``. Ids are the kind's letter and a
number: c1, s1, l1, t1, a1; ``slap 2 #s7`` names another.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from referee.engine.adjudicator import Adjudicator
from referee.engine.log import from_fields
from referee.engine.observations import Observation
from referee.engine.rulings import Ruling
from tests.support.log_format import problems

MS = 1_000_000


def log(text: str, *, seats: int = 3, rules: Any = "classic", **table: Any) -> list[Observation]:
    """Return the observations of a small log, its table line first; the last seat deals."""
    fields = [_table(seats, rules=rules, **table), *_lines(text)]
    return [from_fields(line, number) for number, line in enumerate(fields, start=1)]


def file_lines(*texts: str) -> tuple[str, ...]:
    """Return lines as a log's file holds them: each text in the notation, or JSON that stands as it is."""
    numbers: Counter[str] = Counter()
    return tuple(text if text.startswith("{") else _json(next(_lines(text, numbers))) for text in texts)


def _json(fields: dict[str, Any]) -> str:
    # A tick needs no id, so that lines of several calls can make one log.
    left_out = "id" if fields["kind"] == "tick" else ""
    return json.dumps({key: value for key, value in fields.items() if key != left_out}, separators=(",", ":"))


def _table(seats: int, **table: Any) -> dict[str, Any]:
    names = ["Ana", "Ben", "Cho", "Dee", "Eli", "Fay", "Gus", "Hal"][:seats]
    return {"kind": "table", "t": 0, "id": "table", "seats": names, "dealer": seats, "rules": "classic", **table}


TABLE = _json(_table(3))
"""A table of three as a log's file holds it."""


def _lines(text: str, numbers: Counter[str] | None = None) -> Iterator[dict[str, Any]]:
    numbers = Counter() if numbers is None else numbers
    for line in (line for line in text.splitlines() if line.strip()):
        instant, *words = line.split()
        fields = _fields(words)
        letter = "k" if fields["kind"] == "tick" else fields["kind"][0]
        numbers[letter] += 1
        yield {"kind": fields["kind"], "t": round(float(instant) * MS), "id": f"{letter}{numbers[letter]}", **fields}


def _fields(words: list[str]) -> dict[str, Any]:
    what, *rest = words
    if ":" in what:
        seat, card = what.split(":")
        return {"kind": "card", "card": card, "seat": None if seat == "?" else int(seat), **_marks(rest)}
    if what in ("slap", "lift"):
        return {"kind": what, "seat": int(rest[0]), **_marks(rest[1:])}
    if what == "taken":
        taker = int(rest.pop(0)) if rest and rest[0].isdecimal() else None
        return {"kind": "taken", "seat": taker, **_marks(rest)}
    if what == "gap":
        return {"kind": "gap", "until": round(float(rest[0]) * MS), "lying": rest[1:]}
    if what == "answer":
        return {"kind": "answer", "to": rest[0], "value": json.loads(" ".join(rest[1:]))}
    if what == "correct":
        return {"kind": "correct", "line": rest[0], **json.loads(" ".join(rest[1:]))}
    return {"kind": what}


def _marks(words: list[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for word in words:
        if word[0] == "±":
            fields["t_error"] = round(float(word[1:]) * MS)
        elif word[0] == "#":
            fields["id"] = word[1:]
        elif word.startswith("known@"):
            fields["known_at"] = round(float(word[6:]) * MS)
        else:
            fields["force"] = float(word[1:])
    return fields


def rule(observations: list[Observation]) -> list[Ruling]:
    """Return all rulings in force at the end of a log."""
    return in_force(everything(observations))


def everything(observations: list[Observation]) -> list[Ruling]:
    """Return all rulings of a log, the replaced ones included, as printed.

    Raises:
        AssertionError: a ruling does not have the log's format.
    """
    referee = Adjudicator(stream=False)
    for observation in observations:
        referee.observe(observation)
    rulings = referee.finish()
    assert not (wrong := problems(rulings, observations)), wrong
    return rulings


def in_force(rulings: list[Ruling]) -> list[Ruling]:
    """Return the rulings that are not replaced by another."""
    replaced = {name for ruling in rulings for name in ruling.supersedes}
    return [ruling for ruling in rulings if ruling.id not in replaced]


def brief(rulings: list[Ruling], *kinds: str) -> list[str]:
    """Return rulings of some kinds as short texts: the id, and seat, reason, count or other deciding fields."""
    shown = ("seat", "challenged", "reason", "count", "left", "strikes", "until", "ask", "decided_by", "seats", "what")
    out = []
    for ruling in rulings:
        if not kinds or ruling.kind in kinds:
            words = [ruling.id, *(f"{name}={ruling[name]}" for name in shown if name in ruling.fields)]
            out.append(" ".join(words))
    return out
