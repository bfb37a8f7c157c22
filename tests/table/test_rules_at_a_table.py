"""Rows that only a live table shows whole: reports of camera, pads and people are ruled, and announced."""

from __future__ import annotations

from typing import Any

import pytest

from hardware.pads.slaps import PadFilter
from hardware.ports import Edge
from referee.announce.voice import announce
from referee.control.commands import parse_command
from referee.control.corrections import meet_command
from referee.control.facts import Accepted, Facts
from referee.engine.observations import Card, Observation, Table, Taken
from referee.engine.rulings import Ruling
from referee.table.game import Conductor
from referee.units import MS, SECOND
from referee.vision.sight import Sight


class Bench:
    """Three people; the test advances the time."""

    def __init__(self, on: str, **values: Any) -> None:
        self.now = 0
        self.ruled: list[Ruling] = []
        rules = {"base": "classic", "on": [on], "set": values}
        self.conductor = Conductor(
            Table(t=0, id="table", seats=("Ana", "Ben", "Cho"), dealer=3, rules=rules),
            outlets={"ruled": self.ruled.extend}, pads=PadFilter(3),
        )  # fmt: skip

    def go(self, *seen: Observation, slaps: tuple[int, ...] = ()) -> None:
        """Let a second pass; this was seen at its beginning, and these hands came 300 ms later, all at once."""
        at, self.now = self.now, self.now + SECOND
        for seat in slaps:
            for pressed, t in ((True, at + 300 * MS), (False, at + 400 * MS)):
                self.conductor.on_edge(Edge(seat=seat, t=t + seat, pressed=pressed, t_error=20_000))
        self.conductor.on_sight(Sight(self.now - MS, MS, seen, self.now - MS))
        self.conductor.advance(self.now, self.now)

    def lay(self, card: str, seat: int, *slaps: int) -> None:
        self.go(Card(t=self.now + MS, card=card, seat=seat), slaps=slaps)

    def say(self, do: str, **fields: Any) -> None:
        game = self.conductor
        facts = Facts(game.observations, game.rulings, game.view, self.now, game.watermark)
        done = meet_command(parse_command({"do": do, **fields}), facts, game.new_id)
        assert isinstance(done, Accepted), done
        game.said(*done.observations)
        self.go()

    def heard(self) -> list[str]:
        return [phrase.text for phrase in announce(self.ruled)]


def test_a_war_is_played_with_cards_as_the_camera_sees_them() -> None:
    """M4: it cannot know that they are War cards, so they come in the pile's zone."""
    bench = Bench("M4")
    bench.lay("7h", 1)
    bench.lay("7c", 2, 1, 3)
    bench.go()
    assert "Tie between seat one and seat three." in bench.heard()
    bench.lay("Kd", 1)
    bench.lay("5c", 3)
    bench.go()
    assert bench.heard()[-1] == "Seat one wins the war."
    assert bench.conductor.view.owner == 1


@pytest.mark.parametrize("agreed, seconds", [({"minutes": 1}, 60), ({"piles": 1}, 5)])
def test_the_agreed_end_is_ruled_and_said(agreed: dict[str, int], seconds: int) -> None:
    """E7: by the clock without any further card, or with the last pile."""
    bench = Bench("E7", E7=agreed)
    bench.lay("7h", 1)
    bench.lay("7c", 2, 1)
    bench.go(Taken(t=bench.now + 5 * MS, seat=1))
    for _ in range(seconds - 4):
        bench.go()
    assert bench.conductor.view.game_over is (seconds == 5)
    bench.go()
    bench.go()
    assert bench.heard()[-1] == "Seat one wins the game."


def test_whoever_leaves_deals_the_cards_out_aloud() -> None:
    """E8"""
    bench = Bench("E8", E8="others")
    bench.lay("7h", 1)
    bench.say("leave", seat=2)
    bench.go()
    left, first, second, *_ = (text for text in bench.heard() if "seat two" in text.lower())
    assert left == "Seat two leaves the game."
    assert first.startswith("Seat two gives nine cards to") or first.startswith("Seat two gives eight cards to")
    assert second.startswith("Seat two gives")
    assert bench.conductor.view.absent == {2}


def test_a_false_slap_pays_the_layer_in_one_breath() -> None:
    """F12"""
    bench = Bench("F12")
    bench.lay("7h", 1)
    bench.lay("8c", 2, 3)
    bench.go()
    assert bench.heard() == ["Seat three, false slap. Give one card to seat two."]
