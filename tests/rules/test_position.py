"""Positions are copied with changes; no check at run time says that a changed field is one, so the source is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import referee
from referee.rules.house import read_house_rules
from referee.rules.phase import Turn
from referee.rules.position import Position

FIELDS = {one.name for one in fields(Position)}
SOURCES = sorted(Path(referee.__file__).parent.rglob("*.py"))


def changes(source: str) -> Iterator[tuple[int, str]]:
    """Line and name of every field that this code changes, by ``set`` of a step or ``but`` of a position."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("set", "but"):
            yield from ((node.lineno, word.arg) for word in node.keywords if word.arg is not None)


def test_only_fields_of_a_position_are_changed() -> None:
    said = [(path.name, line, name) for path in SOURCES for line, name in changes(path.read_text(encoding="utf-8"))]
    assert len(said) > 50
    assert [one for one in said if one[2] not in FIELDS] == []


def test_the_reader_of_sources_sees_a_wrong_name() -> None:
    assert list(changes("step.set(paid=1,\n piad=2)\nposition.but(pile=())")) == [(1, "paid"), (1, "piad"), (3, "pile")]


def test_a_changed_position_is_another_one() -> None:
    before = Position(read_house_rules("classic"), ("Ana", "Ben"), (26, 26), ((), ()))
    after = before.but(phase=Turn(2), paid=1)
    assert (after.turn, after.paid, after.names) == (2, 1, before.names)
    assert (before.turn, before.paid) == (None, 0)
    assert after != before
    assert after.but(phase=Turn(None), paid=0) == before
