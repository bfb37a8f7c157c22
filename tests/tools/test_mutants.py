"""Mutants of the core: the listed equivalent ones exist, and a mutant is one change."""

from __future__ import annotations

import ast
import tomllib

from tools.mutants import EQUIVALENT, ROOT
from tools.mutations import mutants_of, mutated

SOURCE = '''
def grow(n: int, by: int = 1) -> int:
    """Not this text."""
    return n + by if n >= 2 else 0
'''


def test_every_mutant_that_is_said_to_change_nothing_is_one() -> None:
    """A rewritten line invalidates its entry."""
    said = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["mutant"]
    assert said
    for path in {entry["path"] for entry in said}:
        there = {
            (mutant.scope, mutant.what, mutant.text)
            for mutant in mutants_of(path, (ROOT / path).read_text(encoding="utf-8"))
        }
        assert {(entry["scope"], entry["what"], entry["text"]) for entry in said if entry["path"] == path} <= there
    assert all(entry["why"] for entry in said)


def test_each_mutant_is_one_change_and_none_is_the_source() -> None:
    mutants = mutants_of("grow.py", SOURCE)
    assert [mutant.what for mutant in mutants] == ["1 -> 2", "+ -> -", "0 -> 1", "2 -> 3", ">= -> >", "returns None"]
    assert [mutant.scope for mutant in mutants] == ["", *["grow"] * 5]
    texts = {ast.unparse(mutated(SOURCE, mutant.number)) for mutant in mutants}
    assert len(texts) == len(mutants)
    assert ast.unparse(ast.parse(SOURCE)) not in texts
    assert all("Not this text." in text for text in texts)
