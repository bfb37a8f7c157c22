"""A table publishes to its broker: first when a game is on record, then its state, five times a second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from referee.engine.view import View
from referee.options.broker.service import PACE, BrokerService
from referee.settings.model import MqttSettings
from tests.table.test_broken_off import Desk
from tests.table.test_loop import MS


class Heard(BrokerService):
    """A service that notes its messages."""

    def __init__(self) -> None:
        super().__init__(MqttSettings(host="127.0.0.1", table="t1"))
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
    heard.begin_game(desk.game)
    heard.beat(0)
    assert heard.games == [], "nothing is on record yet"
    desk.see(1_000 * MS, ("7h", 2))
    desk.see(1_500 * MS)
    heard.beat(1_500 * MS)
    heard.beat(1_500 * MS + 1)
    assert heard.games == [(1, ("Ana", "Ben"))]
    assert [view.pile for view in heard.views] == [("7h",)]
    heard.amiss = "the broker is gone"
    heard.beat(1_500 * MS + PACE)
    assert len(heard.views) == 2
    assert desk.conductor.troubles["mqtt"] == "the broker is gone"
    heard.amiss = ""
    heard.beat(1_500 * MS + 2 * PACE)
    assert "mqtt" not in desk.conductor.troubles
    desk.unplug()
