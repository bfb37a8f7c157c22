"""The check of a slap's moment finds what contradicts the final ruling, and passes what does not."""

from __future__ import annotations

from typing import Any

import pytest

from referee.units import MS
from tests.play import TABLE, file_lines
from tools.measure.moments import Check, Recording

ROWS = file_lines(TABLE, "1000 1:7h", "2000 2:7c", "2300 slap 3 ±0.02", "2700 slap 1 ±0.02", "4000 taken 3")
SKEW = 5_000 * MS


def check(page: dict[str, Any], line: str, said: str) -> Check:
    """Check one reading of a page, a line of the terminal and a phrase, all 100 ms after the hand."""
    at = (2_400 * MS + SKEW) // MS
    pages = {"board": [{"at": at, "list": [], **page}]}
    return Check(Recording(list(enumerate(ROWS, start=1)), pages, [(at, f"    2.3 s  {line}")], [(at, said)], SKEW))


def test_what_is_known_at_the_instant_and_the_final_ruling_are_true() -> None:
    opened = {"winner": ["slap_won@s1", "Cho", "double", ""], "last": ["?slap=s1", "Cho first", "double"]}
    first = check(opened, "Cho wins the slap, double", "seat three wins the slap")
    assert len(first.said) == 4 and first.contradictions == 0
    assert {change.after for changes in first.said.values() for change in changes} == {100}
    final = {
        "winner": ["slap_won@s1", "Cho", "400.00 ms ahead", "give or take 0.04 ms"],
        "list": [["slap_won@s1", "Cho wins the slap, double, by 400.00\xa0±\xa00.04\xa0ms"]],
    }
    last = check(final, "Cho wins the slap, double, by 400.00 ± 0.04 ms", "seat three by four hundred milliseconds")
    assert len(last.said) == 4 and last.contradictions == 0


@pytest.mark.parametrize(
    ("page", "line", "said"),
    [
        ({"winner": ["slap_won@s1", "Cho", "no other hand", "double"]}, "Ana picks up", "pause"),
        ({"last": ["?slap=s1", "Cho, alone", "double"]}, "Ana picks up", "pause"),
        ({"list": [["slap_won@s1", "Cho wins the slap, double, alone"]]}, "Ana picks up", "pause"),
        ({}, "Cho wins the slap, double, by 300.00 ± 0.04 ms", "pause"),
        ({}, "Ana picks up", "seat one wins the slap"),
    ],
)
def test_a_text_that_the_final_ruling_contradicts_is_found(page: dict[str, Any], line: str, said: str) -> None:
    assert check(page, line, said).contradictions == 1
