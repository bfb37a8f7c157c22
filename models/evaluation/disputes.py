"""Labels that can be shown to be mistaken: `disputes.csv`, for figures with and without them.

A label is disputed only where the photograph itself shows that no right answer could meet it: its card is not the one
that lies there, or its box holds only the part that shows of a card whose centre lies outside the box and its margin.
What the eye makes of the photograph plays no part.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Final

DISPUTES: Final = Path(__file__).parent / "disputes.csv"
KINDS: Final = {
    "covered": "the box holds what shows of a card that is partly covered; the whole card's centre lies outside",
    "cut": "the box holds what shows of a card that the picture's edge cuts off; the whole card's centre lies outside",
    "card": "another card than the label's lies there",
}


@dataclass(frozen=True, slots=True)
class Dispute:
    """A disputed label: the photograph, the label's card and box (px), and why."""

    photo: str
    card: str
    box: tuple[float, float, float, float]
    kind: str
    """One of `KINDS`."""
    centre: tuple[float, float] | None
    """Where the whole card's centre lies, px; None for a label that names another card."""
    reason: str


def disputes(path: Path = DISPUTES) -> list[Dispute]:
    """All disputed labels.

    Raises:
        ValueError: a line is no dispute; says which.
    """
    out = []
    with path.open(newline="", encoding="utf-8") as file:
        for number, row in enumerate(csv.DictReader(file), 2):
            try:
                x0, y0, x1, y1 = (float(row[k]) for k in ("x0", "y0", "x1", "y1"))
                centre = (float(row["centre_x"]), float(row["centre_y"])) if row["centre_x"] else None
                if row["kind"] not in KINDS:
                    raise ValueError(f"kind {row['kind']!r} is none of {', '.join(KINDS)}")
                out.append(Dispute(row["photo"], row["card"], (x0, y0, x1, y1), row["kind"], centre, row["reason"]))
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{path} line {number}: {error}") from error
    return out
