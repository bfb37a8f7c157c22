"""A main process for the page's tests: observations in, rulings into the record, news to the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from referee.engine.adjudicator import Adjudicator
from referee.engine.log import from_fields, parse_object
from referee.engine.rulings import Ruling, encode_ruling
from referee.engine.view import View
from referee.record.store import Record
from referee.web.news import Publisher, news

DEMO = Path(__file__).parent / "demo.jsonl"
BEGAN = "2026-03-14T18:05:00+00:00"


def demo_lines() -> list[str]:
    """The observations of a whole game at the simulated table, ticks included."""
    lines = DEMO.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith('{"ruling"')]


class Table:
    """Keeps one game as the referee does: a line is in the record before the page is told."""

    def __init__(
        self, record: Record, first: str, publisher: Publisher | None = None, *, at_once: bool = False
    ) -> None:
        """``at_once``: nothing is in the record before `finish`, for a game that nobody watches."""
        self._at_once = at_once
        self.keeper = record.begin(BEGAN)
        self._publisher = publisher
        self._adjudicator = Adjudicator(lookahead_ns=200_000_000)
        self._number = 0
        self.rulings: list[Ruling] = []
        self.now = 0
        self.observe(first)

    @property
    def game(self) -> int:
        """Its number in the record."""
        number = self.keeper.game
        assert number is not None
        return number

    def observe(self, line: str, *, said: Iterable[str] = ()) -> list[Ruling]:
        """One line of the log, and what it leads to."""
        self._write(line)
        observation = from_fields(parse_object(line, self._number), self._number)
        self.now = max(self.now, observation.t)
        made = self._adjudicator.observe(observation)
        return self._ruled(made, said)

    def rule(self, ruling: Ruling) -> None:
        """A ruling as it is given, whatever the game says."""
        self._ruled([ruling], ())

    def join(self, publisher: Publisher) -> None:
        """From now on the page is told; what there is so far is in the record."""
        self._at_once, self._publisher = False, publisher
        self.keeper.commit()

    def finish(self) -> list[Ruling]:
        """The end of the game."""
        self._at_once = False
        return self._ruled(self._adjudicator.finish(), ())

    def _ruled(self, made: list[Ruling], said: Iterable[str]) -> list[Ruling]:
        for ruling in made:
            self._write(encode_ruling(ruling))
        self.rulings += made
        if not self._at_once:
            self.keeper.commit()
        self.tell(said=said)
        return made

    def _write(self, line: str) -> None:
        self.keeper.write(line)
        self._number += 1

    def tell(self, **more: Any) -> bool:
        """The present, to the page."""
        if self._publisher is None:
            return False
        more["said"] = list(more.get("said", ()))
        return self._publisher.tell(news(self.game, self._number, self._adjudicator.view, now=self.now, **more))

    @property
    def view(self) -> View:
        """The position as it is believed."""
        return self._adjudicator.view

    def in_force(self) -> Iterator[Ruling]:
        """Rulings that nothing replaced."""
        gone = {old for ruling in self.rulings for old in ruling.supersedes}
        return (ruling for ruling in self.rulings if ruling.id not in gone)
