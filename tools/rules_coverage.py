"""The table of the scenarios that prove each row: `make rules-coverage` writes it to out/rules-coverage.md."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from referee.rules.presets import PRESETS
from referee.rules.rows import ROWS
from tests.rules.scenes import FOLDER, Sheet, sheets

OUT: Final = Path(__file__).parents[1] / "out"
GAMES: Final = {
    "G1": "Egyptian Ratscrew, by each of the five sources",
    "G2": "Beggar-My-Neighbour",
    "G3": "Suck the Well",
    "G4": "Slapjack",
}

_HEAD: Final = """# Which scenario proves which rule

Written by `make rules-coverage` from `tests/scenarios/`. `applies` counts the small
games in which the rule decides (each fails with the rule switched off), `just not` those that one fact keeps from it
(each fails once that fact is changed). The speaker's words are not listed here.

| row | rule | sources | file | applies | just not |
| --- | --- | --- | --- | ---: | ---: |
"""


def page() -> str:
    """Return the whole page."""
    by_row = {sheet.row: sheet for sheet in sheets()}
    titles = {**{row: ROWS[row].title for row in ROWS}, **GAMES}
    rows = (_line(row, titles[row], by_row[row]) for row in sorted(titles, key=_order) if row in by_row)
    fixed = (f"- {sheet.row}: {sheet.cannot_be_off}" for sheet in by_row.values() if sheet.cannot_be_off)
    parts = [
        _HEAD + "\n".join(rows),
        "## Rows that cannot be switched off",
        "\n".join(fixed),
        "C9 and N3 are matters of reading and have no negative case.",
        "## Presets",
        _others("presets"),
        "## Tables",
        _others("tables"),
        "## Readings",
        _others("readings"),
    ]
    return "\n\n".join(parts) + "\n"


def _order(row: str) -> tuple[int, int, str]:
    letters = "SCPMFEGNK"
    digits = "".join(char for char in row if char.isdigit())
    return letters.index(row[0]), int(digits), row


def _line(row: str, title: str, sheet: Sheet) -> str:
    file = f"[{sheet.path.name}](../tests/scenarios/{sheet.path.name})"
    return (
        f"| {row} | {title} | {sheet.sources or '—'} | {file} | {len(sheet.applies)} | {len(sheet.just_not) or '—'} |"
    )


def _others(folder: str) -> str:
    return "\n".join(
        f"- [{sheet.row}](../tests/scenarios/{folder}/{sheet.path.name}): {_title(sheet)} ({len(sheet.applies)})"
        for sheet in sheets(FOLDER / folder)
    )


def _title(sheet: Sheet) -> str:
    return PRESETS[sheet.row].title if sheet.row in PRESETS else sheet.row.lstrip("0123456789-").replace("-", " ")


if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    (OUT / "rules-coverage.md").write_text(page(), encoding="utf-8")
    print(OUT / "rules-coverage.md")
