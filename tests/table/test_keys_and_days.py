"""Typed commands, and the date: both come to the log as lines, with or without a page."""

from __future__ import annotations

from io import StringIO
from typing import Any

from referee.announce.sinks import Notice
from referee.engine.observations import Card, Table
from referee.engine.rulings import Ruling
from referee.settings.model import parse_settings
from referee.table.days import DateService
from referee.table.game import Conductor
from referee.table.keys import KEYS, Keys
from referee.table.loop import Answers
from referee.table.services import GameContext
from referee.table.timeline import Timeline
from referee.units import MS, SECOND
from referee.vision.sight import Sight
from tests.support.patience import PATIENCE

SETTINGS = parse_settings("".join(f'[[seat]]\nname = "{name}"\n' for name in ("Ana", "Ben", "Cho")))


class Bench:
    """A game without devices; the test advances the time."""

    def __init__(self, *on: str) -> None:
        self.now = 0
        self.ruled: list[Ruling] = []
        self.told: list[Notice] = []
        self.answers = Answers()
        rules = {"base": "classic", "on": list(on)}
        self.conductor = Conductor(
            Table(t=0, id="table", seats=("Ana", "Ben", "Cho"), dealer=3, rules=rules),
            outlets={"ruled": self.ruled.extend, "answers": self.answers}, tellers={"told": self.told.append},
        )  # fmt: skip
        self.game = GameContext(self.conductor, SETTINGS, Timeline(), lambda: self.now, None, None, None)

    def go(self, *seen: Any) -> None:
        """Let a second pass; these came just at its end."""
        self.now += SECOND
        self.conductor.on_sight(Sight(self.now - MS, MS, seen, self.now - MS))
        self.conductor.advance(self.now, self.now)

    def lay(self, card: str, seat: int | None) -> None:
        self.go(Card(t=self.now + SECOND - 2 * MS, card=card, seat=seat))

    def kinds(self) -> list[str]:
        return [line.kind for line in self.conductor.observations]


def test_typed_commands_are_met() -> None:
    bench = Bench("F10")
    keys = Keys(bench.answers)
    keys.begin_game(bench.game)
    bench.lay("7h", 1)
    bench.go()
    bench.answers.type("foul 2 peek\n")
    keys.beat(bench.now)
    bench.go()
    assert bench.kinds() == ["table", "card", "foul"]
    assert [ruling["foul"] for ruling in bench.ruled if ruling.kind == "foul"] == ["peek"]
    assert bench.told[-1].words == "foul of seat 2 reported"


def test_a_typed_command_that_is_refused_stands_there_until_one_is_accepted() -> None:
    bench = Bench()
    keys = Keys(bench.answers)
    keys.begin_game(bench.game)
    bench.lay("7h", 1)
    bench.answers.type("contest 3 by 1")
    keys.beat(bench.now)
    assert "do not allow contests" in bench.conductor.troubles[KEYS]
    bench.answers.type("contest")
    keys.beat(bench.now)
    assert "contest SEAT by SEAT" in bench.conductor.troubles[KEYS]
    bench.answers.type("pause")
    keys.beat(bench.now)
    assert KEYS not in bench.conductor.troubles
    assert bench.conductor.paused


def test_words_for_the_program_itself_are_no_lines_of_the_log() -> None:
    bench, shown = Bench(), list[int]()
    keys = Keys(bench.answers, lambda: shown.append(bench.now))
    bench.answers.type("Code\n")
    keys.beat(bench.now)
    assert shown == [bench.now], "before a game, too"
    keys.begin_game(bench.game)
    bench.answers.type("quit\n")
    keys.beat(bench.now)
    assert keys.leaves
    assert bench.kinds() == ["table"]
    assert KEYS not in bench.conductor.troubles


def test_a_line_is_waited_for_and_forgotten_until_there_is_no_more() -> None:
    bench = Bench()
    assert not bench.answers.wait(0)
    bench.answers.type("7\n")
    assert bench.answers.wait(0)
    bench.answers.forget()
    assert not bench.answers.wait(0)
    bench.answers.listen(StringIO(""))
    assert bench.answers.wait(PATIENCE), "the terminal is gone"


def test_a_typed_answer_to_the_wild_rank_is_a_rank() -> None:
    """P14: 7 is no seat there."""
    bench = Bench("P14")
    bench.go()
    bench.answers.type("10")
    ((question, value),) = bench.answers.given(bench.conductor.view.questions)
    assert value == "T"
    bench.conductor.answer(question, "7", bench.now)
    bench.go()
    assert not bench.conductor.view.questions


def test_the_date_is_told_at_the_beginning_and_when_the_day_changes() -> None:
    """P16b: three sixes close the table, and the next day opens it."""
    bench, wall = Bench("P16b"), ["2026-03-14T23:59:00+01:00"]
    days = DateService(lambda: wall[0])
    days.begin_game(bench.game)
    for seat, card in enumerate(("6h", "6c", "6d"), start=1):
        bench.lay(card, seat)
        days.beat(bench.now)
    bench.go()
    assert [ruling["what"] for ruling in bench.ruled if ruling.kind == "remind"] == ["closed"]
    wall[0] = "2026-03-15T00:00:00+01:00"
    bench.go()
    days.beat(bench.now)
    bench.go()
    assert [ruling["what"] for ruling in bench.ruled if ruling.kind == "remind"] == ["closed", "open"]
    assert [line.date for line in bench.conductor.observations if line.kind == "day"] == [  # type: ignore[attr-defined]
        "2026-03-14", "2026-03-15"
    ]  # fmt: skip


def test_without_that_row_no_date_is_told() -> None:
    bench = Bench()
    days = DateService(lambda: "2026-03-14T23:59:00+01:00")
    days.begin_game(bench.game)
    bench.go()
    days.beat(bench.now)
    assert bench.kinds() == ["table"]
