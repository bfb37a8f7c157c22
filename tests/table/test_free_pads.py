"""A bystander at a free pad slaps in (M11): the pad is active without a player, and the slap makes one."""

from __future__ import annotations

from hardware.pads.slaps import PadFilter
from hardware.ports import Edge
from referee.announce.sinks import Notice
from referee.engine.observations import Card, Observation, Table
from referee.engine.rulings import Ruling
from referee.settings.model import parse_settings
from referee.table.game import Conductor
from referee.table.seats import GameSetup, seated, with_free_seats
from referee.units import MS, SECOND
from referee.vision.sight import Sight

PADS = 4


class Bench:
    """Three people at a table with four pads; the test advances the time."""

    def __init__(self, *on: str) -> None:
        self.now = 0
        self.ruled: list[Ruling] = []
        self.told: list[Notice] = []
        self.conductor = Conductor(
            Table(t=0, id="table", seats=("Ana", "Ben", "Cho"), dealer=3, rules={"base": "classic", "on": list(on)}),
            outlets={"ruled": self.ruled.extend}, tellers={"told": self.told.append}, pads=PadFilter(PADS),
        )  # fmt: skip

    def go(self, *seen: Observation, slaps: int | None = None) -> None:
        """Let a second pass; this card came at its beginning, and this seat's hand 300 ms later."""
        at, self.now = self.now, self.now + SECOND
        for pressed, t in ((True, at + 300 * MS), (False, at + 400 * MS)) if slaps is not None else ():
            self.conductor.on_edge(Edge(seat=slaps or 0, t=t, pressed=pressed, t_error=20_000))
        self.conductor.on_sight(Sight(self.now - MS, MS, seen, self.now - MS))
        self.conductor.advance(self.now, self.now)

    def lay(self, card: str, seat: int, slaps: int | None = None) -> None:
        self.go(Card(t=self.now + MS, card=card, seat=seat), slaps=slaps)

    def kinds(self) -> list[str]:
        return [line.kind for line in self.conductor.observations]


def test_a_hand_on_a_free_pad_joins_and_wins() -> None:
    bench = Bench("M11")
    bench.lay("7h", 1)
    bench.lay("7c", 2, slaps=4)
    bench.go()
    assert bench.kinds() == ["table", "card", "card", "join", "slap", "lift"] or bench.kinds()[3:5] == ["join", "slap"]
    assert [ruling["seat"] for ruling in bench.ruled if ruling.kind == "slap_won"] == [4]
    assert [(notice.what, notice.fields) for notice in bench.told if notice.what == "joined"] == [
        ("joined", {"seat": 4})
    ]
    assert bench.conductor.view.names == ("Ana", "Ben", "Cho", "Seat 4")
    bench.lay("8c", 4, slaps=4)
    assert bench.kinds().count("join") == 1


def test_a_hand_that_its_device_told_too_late_is_named_and_wins_nothing() -> None:
    """It adds no player, and no light shows it."""
    bench = Bench("M11")
    bench.lay("7h", 1)
    bench.lay("7c", 2)
    for seat in (3, 4):
        edge = Edge(seat, bench.now - 300 * MS, pressed=True, t_error=100 * MS, late=True)
        bench.conductor.on_edge(edge)
        assert bench.conductor.pads.touched == ()
        bench.conductor.on_edge(Edge(seat, bench.now - 200 * MS, pressed=False))
    bench.go()
    bench.go()
    assert {ruling.kind for ruling in bench.ruled} <= {"lead", "turn", "question"}
    assert [ruling["ask"] for ruling in bench.ruled if ruling.kind == "question"] == ["late_evidence", "late_evidence"]
    assert [(notice.what, notice.fields) for notice in bench.told] == [
        ("hand_late", {"seat": 3}),
        ("hand_late", {"seat": 4}),
    ]
    assert "seat 3's pad reported a hand too late" in bench.told[0].words
    assert not {"join", "lift"} & set(bench.kinds())


def test_where_the_house_rules_let_nobody_join_a_free_pad_is_none() -> None:
    bench = Bench()
    bench.lay("7h", 1)
    bench.lay("7c", 2, slaps=4)
    bench.go()
    assert "join" not in bench.kinds()
    assert [ruling["seat"] for ruling in bench.ruled if ruling.kind == "slap_won"] == []


def test_free_pads_are_opened_where_somebody_may_join_from_them() -> None:
    table = parse_settings("".join(f'[[seat]]\nname = "{name}"\n' for name in ("Ana", "Ben", "Cho", "Dee")))
    for rules, names in (("wikibooks", ["Eve", "Finn", "Cho", "Dee"]), ("classic", ["Eve", "Finn"])):
        settings = seated(table, GameSetup(("Eve", "Finn"), rules, 1))
        assert [seat.name for seat in with_free_seats(settings, table).seats] == names
        assert [seat.pad for seat in with_free_seats(settings, table).seats] == [
            seat.pad for seat in table.seats[: len(names)]
        ]
