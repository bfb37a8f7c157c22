"""The players, rules and dealer of a game, as the settings or the people at the table chose them. Pure.

Also the table's set-up for its page: the seats, the calibration and the certificate. No picture of the camera.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from referee.control.commands import Command
from referee.engine.observations import Table
from referee.record.certificates import find_standing, standing_facts
from referee.rules.house import read_house_rules
from referee.settings.model import PadsMeasured, Settings

CHOSEN: Final = "chosen"
"""A field of the ``table`` line: its people and rules were chosen at the table, not taken from the settings."""


@dataclass(frozen=True, slots=True)
class GameSetup:
    """The people, rules and dealer chosen for one game."""

    names: tuple[str, ...]
    """Names by seat; no more than there are pads."""
    rules: Any
    """A preset's name, or a changed preset."""
    dealer: int

    @staticmethod
    def asked(command: Command) -> GameSetup:
        """Return the choice that a checked ``begin`` command names."""
        return GameSetup(tuple(command.get("seats")), command.get("rules"), command.get("dealer", 1))

    @staticmethod
    def at(table: Table) -> GameSetup | None:
        """Return the choice that the game began with; None if it began from the settings."""
        return GameSetup(table.seats, table.rules, table.dealer) if table.extra.get(CHOSEN) else None


def seated(settings: Settings, sitting: GameSetup | None) -> Settings:
    """Return the settings with the chosen people at the first seats; unchanged if there is no choice.

    Raises:
        ValueError: there are fewer pads than people.
    """
    if sitting is None:
        return settings
    many = len(sitting.names)
    if many > len(settings.seats):
        raise ValueError(f"{many} people do not fit at {len(settings.seats)} pads")
    seats = tuple(
        seat.model_copy(update={"name": name}) for seat, name in zip(settings.seats, sitting.names, strict=False)
    )
    measured = settings.pads_measured
    if measured is not None:
        measured = PadsMeasured(
            t_error_us=measured.t_error_us[:many],
            bounce_us=measured.bounce_us[:many],
            crosstalk_us=tuple(row[:many] for row in measured.crosstalk_us[:many]),
        )
    # The direction belongs to the chosen rules, too.
    chosen = {"seats": seats, "rules": sitting.rules, "direction": None, "dealer": sitting.dealer}
    return settings.model_copy(update=chosen | {"pads_measured": measured})


def with_free_seats(settings: Settings, table: Settings) -> Settings:
    """Return the game's settings plus the free seats, if bystanders may join from them (M11).

    Args:
        settings: the game's, with the players at the first seats.
        table: the table's, with every seat.
    """
    if not read_house_rules(settings.rules).has("M11"):
        return settings
    free = table.seats[len(settings.seats) :]
    return settings.model_copy(update={"seats": (*settings.seats, *free), "pads_measured": table.pads_measured})


_HALF_MM: Final = (31.75, 44.45)
"""Half a card's width and height."""


def table_facts(settings: Settings) -> dict[str, Any]:
    """Return ``seats`` (name and bearing, degrees), ``camera`` (its source), ``calibration`` (None if there is none)
    and the state of the table's ``certificate``.

    The calibration holds the measured figures, and the corners of the playing area and of a card in its middle, in
    picture px. The corners ignore the lens: it bends them by less than the width of a drawn line, and the code that
    knows lenses is not loaded in the referee's process.
    """
    facts: dict[str, Any] = {
        "seats": [{"name": seat.name, "bearing": seat.bearing} for seat in settings.seats],
        "camera": settings.camera.source,
        "calibration": None,
        "certificate": standing_facts(find_standing(settings)),
    }
    stored = settings.calibration
    if stored is None:
        return facts
    x, y = (sum(corner[axis] for corner in stored.area) / len(stored.area) for axis in (0, 1))
    wide, high = _HALF_MM
    card = ((x - wide, y - high), (x + wide, y - high), (x + wide, y + high), (x - wide, y + high))
    facts["calibration"] = {
        **{name: getattr(stored, name) for name in
           ("source", "width", "height", "card_height_px", "tilt_deg", "error_px", "edge_px")},
        "area": [_in_picture(stored.homography, corner) for corner in stored.area],
        "card": [_in_picture(stored.homography, corner) for corner in card],
    }  # fmt: skip
    return facts


def _in_picture(homography: Sequence[Sequence[float]], mm: Sequence[float]) -> list[float]:
    x, y, w = (row[0] * mm[0] + row[1] * mm[1] + row[2] for row in homography)
    return [round(x / w, 1), round(y / w, 1)]
