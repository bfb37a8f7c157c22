"""A main process for the page's tests: observations in, rulings into the record, a wake-up to the page."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from referee.engine.adjudicator import Adjudicator
from referee.engine.log import from_fields, parse_object
from referee.engine.rulings import Ruling, encode_ruling
from referee.engine.view import View
from referee.record.store import Record

DEMO = Path(__file__).parent / "demo.jsonl"
BEGAN = "2026-03-14T18:05:00+00:00"


def demo_lines() -> list[str]:
    """Return the observations of a whole game at the simulated table, ticks included."""
    lines = DEMO.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith('{"ruling"')]


class Link:
    """Wakes a page, and holds the answers to its questions about the table: `tests.web.listening` answers."""

    def __init__(self, path: Path) -> None:
        """``path`` is the page's socket."""
        self._path = str(path)
        self._bell = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._bell.setblocking(False)
        self._captioned = 0
        self.state: dict[str, Any] = {"troubles": {}, "paused": False, "captions": [], "language": "en", "about": None}

    def tell(self, *said: str, verdict: bool = False, **state: Any) -> bool:
        """Wake the page, with these phrases spoken since, verdicts or not; return whether its socket took the byte."""
        captions = list(self.state["captions"])
        for text in said:
            self._captioned += 1
            captions.append((self._captioned, text, verdict))
        self.state = {**self.state, **state, "captions": captions[-5:]}
        with suppress(OSError):
            return bool(self._bell.sendto(b"\0", self._path))
        return False

    def close(self) -> None:
        """Close the socket."""
        self._bell.close()


class Table:
    """Keeps one game as the referee does: a line is in the record before the page is woken."""

    def __init__(self, record: Record, first: str, link: Link | None = None, *, at_once: bool = False) -> None:
        """``at_once``: write nothing to the record before `finish`, for a game without viewers."""
        self._at_once = at_once
        self.keeper = record.begin(BEGAN)
        self._link = link
        self._adjudicator = Adjudicator(lookahead_ns=200_000_000)
        self._number = 0
        self.rulings: list[Ruling] = []
        self.now = 0
        self.observe(first)

    @property
    def game(self) -> int:
        """Return its number in the record."""
        number = self.keeper.game
        assert number is not None
        return number

    def observe(self, line: str, *said: str) -> list[Ruling]:
        """Process one line of the log, with its consequences."""
        self._write(line)
        observation = from_fields(parse_object(line, self._number), self._number)
        self.now = max(self.now, observation.t)
        made = self._adjudicator.observe(observation)
        return self._ruled(made, *said)

    def rule(self, ruling: Ruling, *said: str) -> None:
        """Record a given ruling, whatever the game says."""
        self._ruled([ruling], *said)

    def join(self, link: Link) -> None:
        """Wake the page from now on; everything so far is in the record."""
        self._at_once, self._link = False, link
        self.keeper.commit()

    def finish(self) -> list[Ruling]:
        """End the game."""
        self._at_once = False
        return self._ruled(self._adjudicator.finish())

    def _ruled(self, made: list[Ruling], *said: str) -> list[Ruling]:
        for ruling in made:
            self._write(encode_ruling(ruling))
        self.rulings += made
        if not self._at_once:
            self.keeper.commit()
        self.tell(*said)
        return made

    def _write(self, line: str) -> None:
        self.keeper.write(line)
        self._number += 1

    def tell(self, *said: str, **state: Any) -> bool:
        """Wake the page, as `Link.tell`."""
        return self._link is not None and self._link.tell(*said, **state)

    @property
    def view(self) -> View:
        """Return the believed position."""
        return self._adjudicator.view

    def in_force(self) -> Iterator[Ruling]:
        """Return the rulings that were not replaced."""
        gone = {old for ruling in self.rulings for old in ruling.supersedes}
        return (ruling for ruling in self.rulings if ruling.id not in gone)
