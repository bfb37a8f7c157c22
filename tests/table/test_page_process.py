"""The page's process: restarted after each death, without end, and reported."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from hardware.child import RESTS
from referee.cli import build_parser
from referee.control.page_address import listen_at
from referee.table.page_link import WELL_AFTER, PageProcess
from referee.table.services import GameContext
from referee.table.timeline import Timeline
from referee.units import SECOND


class Child:
    """A process that dies on request."""

    def __init__(self) -> None:
        self.code: int | None = None

    def poll(self) -> int | None:
        return self.code

    def terminate(self) -> None:
        self.code = -15

    def kill(self) -> None:
        self.code = -9

    def wait(self, timeout: float | None = None) -> int:
        assert self.code is not None
        return self.code


class World:
    """Time, and every process that was started."""

    def __init__(self, refuses: OSError | None = None) -> None:
        self.now = 0
        self.refuses, self.hangs = refuses, False
        self.children: list[Child] = []
        self.told: list[str] = []
        self.page = PageProcess(
            Path("r.db"), Path("run"), listen_at("127.0.0.1", 0), start=self.start, clock=lambda: self.now,
            is_unanswered=lambda: self.hangs, settings_file=Path("table.toml"),
        )  # fmt: skip
        self.page.begin_game(GameContext(cast(Any, self), cast(Any, None), Timeline(), lambda: 0, None, None, None))

    def start(self, arguments: Sequence[str]) -> Any:
        options = build_parser().parse_args(arguments)
        assert (options.record, options.settings) == (Path("r.db"), Path("table.toml")), "a backup holds both"
        if self.refuses is not None:
            raise self.refuses
        self.children.append(Child())
        return self.children[-1]

    def works(self) -> None:
        """Let processes start again from now on."""
        self.refuses = None

    def trouble(self, part: str, words: str) -> None:
        self.told.append(f"{part}: {words}")

    def mended(self, part: str) -> None:
        self.told.append(f"{part} works")

    def go(self, seconds: int) -> None:
        for _ in range(seconds):
            self.now += SECOND
            self.page.beat(self.now)


def test_a_page_that_dies_is_started_again_and_both_is_told() -> None:
    world = World()
    world.go(100)
    assert world.told == []
    world.children[0].code = 1
    world.go(1)
    assert "status 1" in world.told[0]
    world.go(1)
    assert len(world.children) == 2
    world.go(WELL_AFTER // SECOND)
    assert world.told[1:] == ["page works"]


def test_a_page_that_dies_at_each_start_is_tried_again_less_and_less_often_and_without_end() -> None:
    world = World()
    for _ in range(600):
        world.children[-1].code = 2
        world.go(1)
    assert 600 / (RESTS[-1] / SECOND + 1) - 2 < len(world.children) < 600 / (RESTS[-1] / SECOND) + len(RESTS)
    assert world.told == ["page: the page has ended (status 2); it is started again"], "once, not with each start"
    world.go(RESTS[-1] // SECOND + WELL_AFTER // SECOND + 2)
    assert world.told[-1] == "page works"
    world.page.close()


def test_a_page_that_is_killed_twenty_times_in_a_minute_is_back() -> None:
    world, kills = World(), 0
    for second in range(60):
        if second % 3 == 0:
            world.children[-1].code = -9
            kills += 1
        world.go(1)
    assert kills == 20
    world.go(RESTS[-1] // SECOND + WELL_AFTER // SECOND + 2)
    assert (world.children[-1].code, world.told[-1]) == (None, "page works")
    world.page.close()
