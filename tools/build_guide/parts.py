"""The shopping lists, from ``parts.toml``: tables for four and for eight seats, and their sums."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.build_guide.board import SEATS

LIST: Final = Path(__file__).with_name("parts.toml")
TABLES: Final = (4, 8)
"""Numbers of seats for which sums are given."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A part: its number for a table, for each board, for each seat."""

    name: str
    table: float = 0
    board: float = 0
    seat: float = 0
    euros: float = 0.0
    use: str = ""
    instead: str = ""
    extra: bool = False

    def count(self, seats: int) -> float:
        """Return the quantity for a number of seats."""
        return self.table + self.board * math.ceil(seats / SEATS) + self.seat * seats


def entries(kind: str) -> list[Entry]:
    """Return all entries of a kind: ``part`` or ``button_part``."""
    return [Entry(**fields) for fields in tomllib.loads(LIST.read_text(encoding="utf-8"))[kind]]


def cost(seats: int, kind: str = "part") -> float:
    """Return the cost in euros of everything but the extras."""
    return sum(part.count(seats) * part.euros for part in entries(kind) if not part.extra)


def parts_table(kind: str = "part") -> Iterator[str]:
    """Markdown: each part, its number for four and eight seats, and its approximate price; a sum above 100 € in whole
    tens.
    """
    yield f"| part | for | {' | '.join(f'{seats} seats' for seats in TABLES)} | one, about | instead |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for extra in (False, True):
        for part in entries(kind):
            if part.extra == extra:
                counts = " | ".join("extra" if extra else f"{part.count(seats):g}" for seats in TABLES)
                yield f"| {part.name} | {part.use} | {counts} | {_price(part.euros)} | {part.instead} |"
        if not extra:
            costs = [cost(seats, kind) for seats in TABLES]
            sums = " | ".join(f"**{round(euros, -1 if euros > 100 else 0):.0f} €**" for euros in costs)
            yield f"| **all of it, about** | | {sums} | | |"


def _price(euros: float) -> str:
    return f"{euros:g} €" if euros == int(euros) else f"{euros:.2f} €"
