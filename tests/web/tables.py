"""A table without devices: log lines and commands in, rulings out; joined as in the conductor."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from referee.control.commands import CommandError, parse_command
from referee.control.corrections import meet_command
from referee.control.facts import Accepted, Facts, Outcome, Refused
from referee.engine.adjudicator import Adjudicator
from referee.engine.observations import MAX_ERROR, Answer, Correct, Observation, Tick
from referee.engine.rulings import Ruling, cause_of, ruling_fields, unamended

SECOND = 1_000_000_000


class Table:
    """Judges at once; every line and every ruling is kept."""

    def __init__(self, lines: Iterable[Observation], lookahead: int = 2 * MAX_ERROR) -> None:
        self._adjudicator = Adjudicator(lookahead_ns=lookahead)
        self.observations: list[Observation] = []
        self.log: list[Observation] = []
        """The same with the ticks between."""
        self.rulings: list[Ruling] = []
        self.now = 0
        self._names: Counter[str] = Counter()
        for line in lines:
            self.observe(line)

    @property
    def view(self) -> Any:
        return self._adjudicator.view

    def observe(self, *lines: Observation) -> None:
        """Add lines."""
        for line in lines:
            self.rulings += self._adjudicator.observe(line)
            self.now = max(self.now, line.t)
            self.log.append(line)
            if not isinstance(line, Tick):
                self.observations.append(line)

    def settle(self, until: int | None = None) -> None:
        """Let time pass without events until this instant (ns), or for five seconds; every sensor covers it."""
        self.now = self.now + 5 * SECOND if until is None else until
        self.observe(Tick(t=self.now))

    def facts(self) -> Facts:
        return Facts(tuple(self.observations), tuple(self.rulings), self.view, self.now, self._adjudicator.watermark, 7)

    def command(self, do: str, **fields: Any) -> Outcome:
        """Send a command; an accepted one is observed and judged."""
        try:
            done = meet_command(parse_command({"do": do, **fields}), self.facts(), self.name)
        except CommandError as error:
            return Refused(error.sentence)
        if isinstance(done, Accepted):
            for line in done.observations:
                self.observe(line)
        return done

    def name(self, kind: str) -> str:
        self._names[kind] += 1
        return f"{kind}-{self._names[kind]}"

    def finish(self) -> Table:
        """End the log."""
        self.rulings += self._adjudicator.finish()
        return self

    def in_force(self) -> list[Ruling]:
        replaced = {name for ruling in self.rulings for name in ruling.supersedes}
        return [ruling for ruling in self.rulings if ruling.id not in replaced]

    def standing(self, *, questions: bool = True) -> list[str]:
        """Return the final rulings, without correction numbers in their names."""
        shown = []
        for ruling in self.in_force():
            if ruling.kind == "corrected" or (not questions and ruling.kind == "question"):
                continue
            fields = ruling_fields(unamended(ruling))
            shown.append(json.dumps(fields, sort_keys=True))
        return sorted(shown)

    def asked(self, ask: str) -> list[Ruling]:
        return [ruling for ruling in self.rulings if ruling.kind == "question" and ruling["ask"] == ask]

    def misfits(self) -> list[Ruling]:
        """Return answers and corrections that fitted nothing when they were given."""
        said = {line.id for line in self.observations if isinstance(line, Answer | Correct)}
        return [ruling for ruling in self.asked("mend_amendment") if cause_of(ruling) in said]
