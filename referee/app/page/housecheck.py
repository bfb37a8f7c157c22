"""The live check of the house-rules editor: a text in, its mistakes or its rules in words out. It touches no game."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from referee.app.housefile import HouseFileError, Mistake, parse
from referee.app.rulewords import rows_by_group, sentence
from referee.rules.catalogue import ROWS

LONGEST_LINE: Final = 1000
"""Characters; keys nested deeper than that in one line cost time without being house rules."""
MOST: Final = 50
"""Mistakes that are told at once."""


def house_check(text: str) -> dict[str, Any]:
    """Check a house-rules text.

    Args:
        text: TOML, of a length that the caller has bounded.

    Returns:
        ``accepted``, ``words``, and ``mistakes`` by line and column; where there are none also ``title``, ``rules``
        (as a log's first line says them), ``notes``, and ``rows``: what is on, each with its sentence.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) > LONGEST_LINE:
            words = f"more than {LONGEST_LINE} characters; break the line"
            mistake = {"line": number, "column": LONGEST_LINE, "words": words}
            return {"accepted": False, "words": "one mistake", "mistakes": [mistake]}
    try:
        house = parse(text.replace("\r\n", "\n"))
    except HouseFileError as bad:
        many = "one mistake" if len(bad.mistakes) == 1 else f"{len(bad.mistakes)} mistakes"
        return {"accepted": False, "words": many, "mistakes": _told(bad.mistakes[:MOST])}
    rows = [
        {"group": title, "row": row, "name": ROWS[row].name, "words": sentence(row, house.rules)}
        for title, ids in rows_by_group().items()
        for row in ids
        if row in house.rules.on
    ]
    return {
        "accepted": True,
        "words": "no mistakes",
        "mistakes": [],
        "title": house.title,
        "rules": house.said,
        "notes": _told(house.notes),
        "rows": rows,
    }


def _told(mistakes: Iterable[Mistake]) -> list[dict[str, Any]]:
    return [
        {
            "line": mistake.place.line if mistake.place is not None else None,
            "column": mistake.place.column if mistake.place is not None else None,
            "words": mistake.problem,
        }
        for mistake in mistakes
    ]
