"""What a command meets, and what it can come to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from referee.adjudication.observations import Observation
from referee.adjudication.rulings import Ruling
from referee.adjudication.view import View
from referee.app.amended import Amended
from referee.app.commands import Command
from referee.app.sentences import Spoken


@dataclass(frozen=True)
class Facts:
    """A game as it stands."""

    observations: Sequence[Observation]
    """In the order in which they became known, the table first."""
    rulings: Sequence[Ruling]
    view: View
    now: int
    """ns"""
    watermark: int
    """Everything up to here has been told, ns."""
    game: int | None = None
    """Its number in the record."""

    @property
    def t(self) -> int:
        """The instant of what is said now: no sensor has told beyond it."""
        return max(self.now, self.watermark + 1)


Namer = Callable[[str], str]
"""Gives a new line of a kind an id that the log does not have yet."""


def seats(facts: Facts, log: Amended) -> int:
    """How many sit there, those who joined included; before anything was judged, as the first line says."""
    return len(facts.view.names) or (len(log.table.seats) if log.table is not None else 0)


def a_seat(seat: int, facts: Facts, log: Amended) -> int:
    """A seat of this table.

    Raises:
        No: there is none of that number.
    """
    there_are = seats(facts, log)
    if not 1 <= seat <= there_are:
        raise No("there is no seat {number}; this table has {places}", number=seat, places=there_are)
    return seat


@dataclass(frozen=True)
class Accepted:
    """It is done: by these lines of the log, in this order, or by an order to the main process."""

    words: str
    """A `referee.app.sentences.Sentence`, so that the page can say it in other languages; as is every refusal's."""
    observations: tuple[Observation, ...] = ()
    order: Command | None = None


@dataclass(frozen=True)
class Refused:
    """It is not done, and nothing has changed."""

    words: str


Outcome = Accepted | Refused


class No(Spoken):
    """Why a command cannot be met."""
