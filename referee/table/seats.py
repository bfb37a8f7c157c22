"""Who plays a game, by which rules, and who deals: as the settings say, or as people chose at the table. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from referee.adjudication.observations import Table
from referee.app.commands import Command
from referee.app.settings import PadsMeasured, Settings

CHOSEN: Final = "chosen"
"""A field of the ``table`` line: these people and rules were chosen at the table, whatever its settings say."""


@dataclass(frozen=True, slots=True)
class Sitting:
    """Who sits down."""

    names: tuple[str, ...]
    """By seat; no more than there are pads."""
    rules: Any
    """A preset's name, or a changed preset."""
    dealer: int

    @staticmethod
    def asked(command: Command) -> Sitting:
        """As a checked ``begin`` names it."""
        return Sitting(tuple(command.get("seats")), command.get("rules"), command.get("dealer", 1))

    @staticmethod
    def at(table: Table) -> Sitting | None:
        """Of a game that was begun so; None for one that was begun as the settings say."""
        return Sitting(table.seats, table.rules, table.dealer) if table.extra.get(CHOSEN) else None

    @property
    def mark(self) -> Mapping[str, Any]:
        """What the ``table`` line says besides."""
        return {CHOSEN: True}


def seated(settings: Settings, sitting: Sitting | None) -> Settings:
    """The settings with these people at the first seats; as they are where nobody chose.

    Raises:
        ValueError: there are fewer pads than people.
    """
    if sitting is None:
        return settings
    many = len(sitting.names)
    if many > len(settings.seats):
        raise ValueError(f"{many} people do not fit at {len(settings.seats)} pads")
    seats = tuple(replace(seat, name=name) for seat, name in zip(settings.seats, sitting.names, strict=False))
    measured = settings.pads_measured
    return replace(
        settings, seats=seats, rules=sitting.rules, dealer=sitting.dealer,
        pads_measured=None if measured is None else _of_the_first(measured, many),
    )  # fmt: skip


def _of_the_first(measured: PadsMeasured, many: int) -> PadsMeasured:
    return PadsMeasured(
        measured.t_error_us[:many], measured.bounce_us[:many],
        tuple(row[:many] for row in measured.crosstalk_us[:many]),
    )  # fmt: skip
