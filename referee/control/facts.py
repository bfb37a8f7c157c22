"""The game as commands see it, and the outcome of a command: lines, an order, or a refusal in words. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from referee.control.commands import Command
from referee.control.offers import Offers, read_offers
from referee.engine.amended_log import AmendedLog
from referee.engine.observations import Answer, Correct, Observation, Slap
from referee.engine.rulings import Ruling, is_caused_by
from referee.engine.view import View
from referee.rules.house import HouseRules, read_house_rules
from referee.sentence import Spoken

Namer = Callable[[str], str]
"""Makes an unused id for a new line of a kind."""


@dataclass(frozen=True)
class Facts:
    """The present state of a game."""

    observations: Sequence[Observation]
    """In the order in which they became known, the table first."""
    rulings: Sequence[Ruling]
    view: View
    now: int
    """ns"""
    watermark: int
    """Instant up to which everything has been reported, ns."""
    game: int | None = None
    """Its number in the record."""

    @property
    def t(self) -> int:
        """The instant of what people say now: no sensor has reported beyond it."""
        return max(self.now, self.watermark + 1)

    @cached_property
    def log(self) -> AmendedLog:
        """The log with people's corrections applied."""
        return AmendedLog(self.observations, self.rulings)

    @cached_property
    def rules(self) -> HouseRules:
        """The house rules in force."""
        table = self.log.table
        return table.house if table is not None else read_house_rules("classic")

    @cached_property
    def offers(self) -> Offers:
        """The reports that people may make now."""
        return read_offers(self.rules, self.view, self.log.all_now())


@dataclass(frozen=True)
class Accepted:
    """The command is accepted: it adds these lines to the log, in this order, or gives an order to the main process."""

    words: str
    """A `referee.sentence.Sentence`, like every refusal, so that the page can translate it."""
    observations: tuple[Observation, ...] = ()
    order: Command | None = None


@dataclass(frozen=True)
class Refused:
    """The command is refused, and nothing has changed."""

    words: str


Outcome = Accepted | Refused


class Denied(Spoken):
    """Raised when a command is refused; the message gives the reason."""


class MetCommand:
    """One command and its game: base class of all handlers. Raises `Denied`."""

    def __init__(self, command: Command, facts: Facts | None, name: Namer) -> None:
        self._command, self._get, self._known, self._name = command, command.get, facts, name

    @property
    def _facts(self) -> Facts:
        if self._known is None:
            raise Denied("no game is being played")
        return self._known

    @property
    def _log(self) -> AmendedLog:
        return self._facts.log

    @property
    def _seats(self) -> int:
        """Number of seats, including people who joined; before the first ruling, the table line's."""
        return len(self._facts.view.names) or (len(self._log.table.seats) if self._log.table is not None else 0)

    @property
    def _is_playing(self) -> bool:
        return self._known is not None and not self._known.view.game_over

    def _checked_seat(self, seat: int) -> int:
        """Return the seat if it exists at this table."""
        if not 1 <= seat <= self._seats:
            raise Denied("there is no seat {number}; this table has {places}", number=seat, places=self._seats)
        return seat

    def _find_verdict(self, id_: str) -> Ruling:
        """Return a ruling in force; before its pile is picked up, a won slap's ruling is made from its hand."""
        if (ruling := self._log.ruling(id_)) is not None:
            return ruling
        hands = [line for line in self._log.all_now() if isinstance(line, Slap) and is_caused_by(id_, line.id)]
        slap = max(hands, key=lambda hand: len(hand.id), default=None) if id_.startswith("slap_won@") else None
        if slap is None:
            raise Denied('there is no ruling "{name}" in force', name=id_)
        return Ruling("slap_won", id_, slap.t, (slap.id,), (), {"seat": slap.seat})

    def _correction(self, line: str, **fields: Any) -> Correct:
        return Correct(t=self._facts.t, id=self._name("correct"), line=line, **fields)

    def _answer_to(self, question: str, value: Any) -> Answer:
        return Answer(t=self._facts.t, id=self._name("answer"), to=question, value=value)

    def _refuse_without_corrections(self) -> None:
        if not self._facts.rules.has("K6"):
            raise Denied("your house rules do not allow corrections")

    def _refuse_after_the_end(self) -> None:
        if self._facts.view.game_over:
            raise Denied("the game is over")
