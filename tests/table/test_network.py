"""The table's own network, opened in another one's place, is a trouble for as long as it is open."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from referee.table.network import NETWORK, OwnNetwork
from referee.table.services import GameContext
from referee.units import MS, SECOND


class Told:
    """Takes what a conductor takes."""

    def __init__(self) -> None:
        self.troubles: dict[str, str] = {}

    def trouble(self, part: str, words: str) -> None:
        """Note a trouble."""
        self.troubles[part] = words

    def mended(self, part: str) -> None:
        """Note that it is over."""
        self.troubles.pop(part, None)


def begin_game(service: OwnNetwork) -> Told:
    """Begin a game; return what it reports."""
    told = Told()
    service.begin_game(cast("GameContext", SimpleNamespace(conductor=cast("Any", told))))
    return told


def test_the_own_network_is_told_while_it_is_open_and_in_the_next_game_too(tmp_path: Path) -> None:
    service = OwnNetwork(tmp_path / "fallback")
    service.beat(9 * SECOND)
    told = begin_game(service)
    service.beat(10 * SECOND)
    assert told.troubles == {}
    file = tmp_path / "fallback" / "wlan1" / "open"
    file.parent.mkdir(parents=True)
    service.beat(11 * SECOND)
    assert told.troubles == {}
    file.touch()
    service.beat(11 * SECOND + 999 * MS)
    assert told.troubles == {}, "it looks once a second"
    service.beat(12 * SECOND)
    assert "has opened its own" in told.troubles[NETWORK]
    told = begin_game(service)
    service.beat(SECOND)
    assert NETWORK in told.troubles
    file.unlink()
    service.beat(2 * SECOND)
    assert told.troubles == {}
