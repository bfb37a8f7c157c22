"""A table tells its broker: once a game is on record, when something changed, and once a second anyway."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from referee.engine.view import View
from referee.extras.broker.service import AT_MOST, EVERY, BrokerService
from tests.table.test_loop import MS
from tests.table.test_resume import Desk


class Heard:
    """What a broker's publisher was told."""

    def __init__(self) -> None:
        self.amiss = ""
        self.games: list[tuple[int, tuple[str, ...]]] = []
        self.views: list[View] = []

    @property
    def trouble(self) -> str:
        return self.amiss

    def begin(self, game: int, names: Sequence[str]) -> None:
        self.games.append((game, tuple(names)))

    def tell(self, view: View, *, paused: bool = False, troubles: Mapping[str, str] | None = None) -> None:
        self.views.append(view)


def test_the_broker_hears_of_the_game_and_its_trouble_is_told(tmp_path: Path) -> None:
    desk, heard = Desk(tmp_path / "record.db"), Heard()
    telling = BrokerService(heard)
    telling.begin_game(desk.game)
    telling.beat(0)
    assert heard.games == [], "nothing is on record yet"
    desk.see(1_000 * MS, ("7h", 2))
    desk.see(1_500 * MS)
    telling.beat(1_500 * MS)
    telling.beat(1_500 * MS + 1)
    telling.beat(1_500 * MS + AT_MOST)
    assert heard.games == [(1, ("Ana", "Ben"))]
    assert [view.pile for view in heard.views] == [("7h",)]
    heard.amiss = "the broker is gone"
    telling.beat(1_500 * MS + EVERY)
    assert len(heard.views) == 2
    assert desk.conductor.troubles["mqtt"] == "the broker is gone"
    heard.amiss = ""
    telling.beat(1_500 * MS + 2 * EVERY)
    assert "mqtt" not in desk.conductor.troubles
    desk.unplug()
