"""A table whose games are recorded: after a break it resumes its position and its time line."""

from __future__ import annotations

import asyncio
import socket
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hardware.ports import Edge
from hardware.simulated.devices.simulated_pads import SimulatedPads
from referee.announce.sinks import Notice
from referee.control.socket import SOCKET_NAME, ask_referee
from referee.engine.observations import Card, Observation, Table
from referee.record.erasure import settle_noted
from referee.record.journal import LATEST_COMMIT, LogWriter
from referee.record.people import People
from referee.record.store import Record
from referee.settings.model import parse_settings
from referee.table.assembly import table_of
from referee.table.broken_off import Both, RecordedGame, find_broken_off, open_game
from referee.table.game import Conductor
from referee.table.loop import Loop
from referee.table.names import NameService
from referee.table.page_link import PAGE_SOCKET, PAIRING_CODE_NOTICE, PageLink
from referee.table.services import GameContext
from referee.table.session import find_left_games
from referee.vision.sight import News, Recall, Sight
from tests.table.test_loop import MS

SETTINGS = parse_settings('[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n')


class Told:
    """Sights injected by a test; implements `referee.vision.sight.Sights`."""

    def __init__(self) -> None:
        self.waiting: list[News] = []

    def start(self, ring: object) -> None: ...

    def waitables(self) -> tuple[()]:
        return ()

    def news(self, recall: Recall) -> Iterator[News]:
        told, self.waiting = self.waiting, []
        yield from told

    def finish(self) -> tuple[Observation, ...]:
        return ()

    def close(self) -> None: ...


class Desk:
    """A table that writes into a record; the machine's clock is the pads' own."""

    def __init__(self, path: Path, start: int = 0, paging: Path | None = None) -> None:
        self.record = Record(path)
        self.pads = SimulatedPads(2, start=start)
        left = find_broken_off(self.record, table_of(SETTINGS, 0))
        self.opened: RecordedGame = open_game(self.record, left, start)
        past, self.timeline = self.opened.past, self.opened.timeline
        began = self.timeline.now(start)
        self.notices: list[Notice] = []
        self.paging = PageLink(paging) if paging is not None else None
        self.conductor = Conductor(
            past.table if past else table_of(SETTINGS, began), past=past, journal=self.opened.keeper,
            outlets={"page": self.paging.take_rulings} if self.paging is not None else {},
            tellers={"page": self.paging.take_notice, "test": self.notices.append} if self.paging is not None else {},
        )  # fmt: skip
        self.game = GameContext(
            self.conductor, SETTINGS, self.timeline, lambda: self.pads.now, self.opened.keeper, self.record, None
        )
        services = [self.paging] if self.paging is not None else []
        for service in services:
            service.begin_game(self.game)
        if past is not None:
            self.conductor.begin_again(began)
        self.sights = Told()
        self.loop = Loop(
            self.conductor, self.sights, self.pads.pads, clock=lambda: self.pads.now, timeline=self.timeline,
            services=services,
        )  # fmt: skip

    def see(self, t: int, *cards: tuple[str, int | None], first: bool = False) -> None:
        """Look at a frame at the machine's instant, in which these cards came."""
        self.pads.run_to(t)
        seen = tuple(Card(t=t, card=card, seat=seat) for card, seat in cards)
        self.sights.waiting.append(Sight(t, 2 * MS, seen, t, state="quiet", first=first))
        self.loop.turn(seconds=0)

    def slap(self, seat: int, t: int) -> None:
        self.pads.advance(seat, True, t)
        self.pads.advance(seat, False, t + 80 * MS)

    def unplug(self) -> None:
        """Drop everything unfinished and unclosed."""
        self.record.close()
        if self.paging is not None:
            self.paging.close()


def served(desk: Desk, path: Path) -> list[RecordedGame | NameService]:
    """Return the services that end a game."""
    names = NameService(path)
    names.begin_game(desk.game)
    return [desk.opened, names]


def can_foresee(desk: Desk) -> bool:
    return desk.conductor.foresight is not None


def is_paused(desk: Desk) -> bool:
    return desk.conductor.paused


def test_a_game_goes_on_after_the_machine_was_started_anew(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    first = Desk(path, start=900_000 * MS)
    first.see(901_000 * MS, ("7h", 2))
    first.see(902_000 * MS, ("7c", 1))
    first.see(902_100 * MS)
    stood = first.conductor.view
    assert stood.pile == ("7h", "7c")
    first.unplug()

    again = Desk(path, start=5 * MS)
    assert again.opened.past is not None
    assert again.opened.began
    assert is_paused(again)
    assert not can_foresee(again), "what lies there is not the next card"
    again.see(1_000 * MS, ("7c", None), first=True)
    for t in range(1_100, 1_800, 100):
        again.see(t * MS)
    assert not is_paused(again)
    assert can_foresee(again)
    assert (again.conductor.view.pile, again.conductor.view.turn) == (stood.pile, stood.turn)
    again.slap(2, 1_900 * MS)
    for t in range(2_000, 3_500, 100):
        again.see(t * MS)
    again.conductor.finish()
    won = next(ruling for ruling in again.conductor.rulings if ruling.kind == "slap_won")
    assert won["seat"] == 2
    assert won.t == again.timeline.now(1_900 * MS) > 902_100 * MS
    names = [seen.id for seen in again.conductor.observations if seen.id]
    assert len(names) == len(set(names)), "no id is given twice"
    again.unplug()


@pytest.mark.parametrize(("lying", "slapped"), [((), False), ((), True), (("5c",), True), (("5c", "Ac"), True)])
def test_play_before_the_camera_looked_is_asked_about_once_and_leaves_nothing_sure(
    tmp_path: Path, lying: tuple[str, ...], slapped: bool
) -> None:
    """At an empty table only a hand tells of it: no player was called to lead."""
    desk = Desk(tmp_path / "record.db")
    if slapped:
        desk.slap(1, 3_000 * MS)
    desk.pads.run_to(6_900 * MS)
    desk.loop.turn(seconds=0)
    assert desk.conductor.view.turn is None, "the player who leads is called once the camera has reported"
    desk.see(7_000 * MS, *((card, None) for card in lying), first=True)
    desk.see(7_100 * MS)
    desk.see(8_000 * MS, ("2h", 2))
    desk.see(9_000 * MS, ("9d", 2))
    for t in range(9_100, 10_500, 100):
        desk.see(t * MS)
    desk.conductor.finish()
    rulings = desk.conductor.rulings
    asked = [ruling for ruling in rulings if ruling.kind == "question" and not ruling.doubt]
    assert [(ruling["ask"], ruling.t > 0) for ruling in asked] == [("unseen_gap", True)] * slapped
    sure = {ruling.kind for ruling in rulings if ruling.t > 1_000 * MS and not ruling.doubt and ruling not in asked}
    assert sure == (set() if slapped else {"turn", "dead_card"})
    desk.unplug()


def test_a_game_of_other_people_does_not_go_on(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    first = Desk(path)
    first.see(1_000 * MS, ("7h", 2))
    first.unplug()
    record = Record(path)
    left = find_broken_off(record, Table(t=0, id="table", seats=("Cho", "Dan"), dealer=1, rules="classic"))
    opened = open_game(record, left, 0)
    assert opened.past is None
    assert "other people played it" in opened.left_behind
    assert record.games()[0].ended is None, "it has not been ended"
    again = find_broken_off(record, table_of(SETTINGS, 0))
    assert open_game(record, again, 0).past is not None, "its own people go on with it"
    assert open_game(record, again, 0, new=True).left_behind == ""
    assert record.games()[0].ended is not None, "people have"
    record.close()


def test_a_broken_off_game_that_cannot_be_read_is_told_and_not_ended(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "record.db")
    desk.see(1_000 * MS, ("7h", 2))
    desk.unplug()
    with closing(sqlite3.connect(tmp_path / "record.db")) as raw:
        raw.executescript("DROP TRIGGER line_stays; UPDATE line SET text='{' WHERE number=1;")
    again = Desk(tmp_path / "record.db")
    assert "cannot be read" in again.opened.left_behind
    again.see(1_000 * MS, ("8h", 2))
    again.opened.begin_game(again.game)
    assert [info.ended for info in again.record.games()] == [None, None]
    again.unplug()


def test_a_broken_off_game_with_odd_lines_goes_on_and_they_are_told(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    desk = Desk(path)
    desk.see(1_000 * MS, ("7h", 2))
    stood = desk.conductor.view
    odd = ('{"kind":"card"', '{"kind":"pause","t":4e99}')
    desk.record.add(1, [(99 + number, text) for number, text in enumerate(odd)])
    desk.unplug()
    again = Desk(path, paging=tmp_path)
    assert again.opened.left_behind == "" and again.opened.past is not None
    assert (again.conductor.view.pile, again.conductor.view.turn) == (stood.pile, stood.turn)
    again.opened.begin_game(again.game)
    assert again.notices[-1].words.startswith("2 lines of the game cannot be used and are left out: line ")
    again.unplug()


def test_one_journal_that_fails_does_not_keep_the_other_from_writing() -> None:
    class Broken:
        def write(self, line: str, sensor: str | None = None) -> None:
            raise OSError("no room")

        def commit(self) -> None: ...

    class Kept(Broken):
        def __init__(self) -> None:
            self.lines: list[str] = []

        def write(self, line: str, sensor: str | None = None) -> None:
            self.lines.append(line)

    kept = Kept()
    with pytest.raises(OSError, match="no room"):
        Both(Broken(), kept).write("x")
    assert kept.lines == ["x"]


def _ask(folder: Path, desk: Desk, asked: dict[str, Any]) -> dict[str, Any]:
    """Ask over the socket as the page does, while the loop turns."""
    with ThreadPoolExecutor(1) as page:
        answer = page.submit(lambda: asyncio.run(ask_referee(folder / SOCKET_NAME, asked)))
        while not answer.done():
            desk.loop.turn(seconds=0.01)
        return answer.result()


def test_the_page_is_woken_and_its_commands_are_done(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    desk = Desk(tmp_path / "record.db", paging=folder)
    desk.see(500 * MS)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as page:
        page.bind(str(folder / PAGE_SOCKET))
        page.setblocking(False)
        for t, cards in ((1_000, [("7h", 2)]), (2_000, [("8c", 1)]), (2_600, [])):
            desk.see(t * MS, *cards)
            assert page.recv(100) == b"\0", "a byte without content: it only wakes"
        many = 0
        while many < 10_000:
            desk.see((3_000 + many) * MS)
            many += 1000
    assert [card for _, text in desk.record.lines(1) for card in ("7h", "8c") if f'"card":"{card}"' in text]
    done = _ask(folder, desk, {"do": "correct", "line": "c2", "card": "7c"})
    assert done["accepted"], done
    desk.see(13_000 * MS)
    assert desk.conductor.view.pile == ("7h", "7c")
    assert not _ask(folder, desk, {"do": "correct", "line": "c99", "card": "7c"})["accepted"]
    desk.unplug()


STATE = {"do": "state"}


def test_what_people_paused_is_shown_and_outlasts_a_power_cut(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    first = Desk(tmp_path / "record.db", start=900_000 * MS, paging=folder)
    first.see(901_000 * MS, ("7h", 2))
    assert not _ask(folder, first, STATE)["paused"]
    assert _ask(folder, first, {"do": "pause"})["accepted"]
    first.see(902_000 * MS)
    assert _ask(folder, first, STATE)["paused"]
    first.unplug()

    again = Desk(tmp_path / "record.db", start=5 * MS, paging=folder)
    again.see(1_000 * MS, ("7h", None), first=True)
    for t in range(1_100, 1_800, 100):
        again.see(t * MS)
    state = _ask(folder, again, STATE)
    assert "The game was broken off: it goes on where it stood." in [words for _, words, _ in state["captions"]]
    assert state["paused"]
    assert is_paused(again)
    assert _ask(folder, again, {"do": "resume"})["accepted"]
    again.see(2_500 * MS)
    assert not _ask(folder, again, STATE)["paused"]
    again.unplug()


def test_hands_ask_for_a_code_and_the_page_never_hears_it(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    desk = Desk(tmp_path / "record.db", paging=folder)
    assert desk.paging is not None
    desk.see(1_000 * MS)
    desk.paging.take_notice(Notice(PAIRING_CODE_NOTICE, 0, "123456"))
    desk.conductor.lose("camera", "gone")
    desk.loop.turn(seconds=0)
    for at, held in ((2_000, 100), (2_300, 100), (2_600, 2_500)):
        for pressed, t in ((True, at), (False, at + held)):
            desk.pads.advance(1, pressed, t * MS)
            desk.loop.turn(seconds=0)
    desk.pads.run_to(7_000 * MS)
    desk.loop.turn(seconds=0)
    codes = [str(notice.fields["digits"]) for notice in desk.notices if notice.what == PAIRING_CODE_NOTICE]
    assert len(codes) == 1
    assert codes[0].isdecimal()
    assert len(codes[0]) == 6
    state = str(_ask(folder, desk, STATE))
    assert codes[0] not in state and "123456" not in state
    desk.unplug()


def test_the_walk_is_shown_the_game_that_was_broken_off_and_may_end_it(tmp_path: Path) -> None:
    file, record = tmp_path / "table.toml", tmp_path / "record.db"
    text = f'[record]\nfile = "{record}"\n[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n'
    file.write_text(text, encoding="utf-8")
    assert find_left_games(file) is None, "no game was ever played"
    desk = Desk(record)
    desk.see(1_000 * MS, ("7h", 2))
    desk.see(2_000 * MS, ("7c", 1))
    desk.see(2_100 * MS)
    desk.unplug()
    games = find_left_games(file)
    assert games is not None
    left = games.find(text)
    assert left is not None and left.players == [("Ana", 25), ("Ben", 25)] and left.pile == ("7h", "7c")
    assert left.day == "today" or left.day == "yesterday", "midnight may pass meanwhile"
    assert games.find(text.replace("Ben", "Cho")) is None, "other people cannot go on with it"
    games.end()
    assert find_left_games(file) is None
    with Record(record, read_only=True) as kept:
        assert kept.unfinished() is None and len(kept.games()) == 1


@pytest.mark.parametrize("agreed", [True, False])
def test_who_did_not_agree_is_not_named_once_the_game_is_over(tmp_path: Path, agreed: bool) -> None:
    path = tmp_path / "record.db"
    if agreed:
        Record(path).close()
        with People(path) as people:
            for name in ("Ana", "Ben"):
                people.answer(name, agreed=True, at="2026-01-02T00:00:00+00:00")
    desk = Desk(path)
    desk.see(1_000 * MS, ("7h", 2))
    for service in served(desk, path):
        service.end_game()
    desk.unplug()
    with Record(path, read_only=True) as record:
        assert record.games()[0].seats == (("Ana", "Ben") if agreed else ("Seat 1", "Seat 2"))
        assert record.unfinished() is None


def test_the_light_of_a_hand_does_not_wait_for_the_disk(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "record.db")
    desk.see(1_000 * MS, ("7h", 2))
    before = desk.opened.keeper.written
    desk.conductor.on_edge(Edge(1, desk.timeline.now(1_100 * MS), pressed=True))
    assert desk.conductor.pads.touched == (1,)
    assert desk.opened.keeper.written == before
    for later in (1_300, 1_300 + LATEST_COMMIT // MS):
        desk.pads.run_to(later * MS)
        desk.loop.turn(seconds=0)
    assert desk.opened.keeper.written > before
    desk.unplug()


def test_only_what_people_are_told_is_committed_at_once(tmp_path: Path) -> None:
    with Record(tmp_path / "record.db") as record:
        keeper = record.begin("2026-01-02T00:00:00+00:00")
        log = LogWriter(keeper)
        log.write('{"kind":"table","t":0,"id":"table","seats":["Ana","Ben"],"dealer":1,"rules":"classic"}')
        assert log.save(now=0) == "", "a game is there from its first line"
        log.write('{"kind":"slap","t":1,"id":"s1","seat":1}')
        assert log.save(now=1) is None
        assert log.save(now=LATEST_COMMIT) is None
        assert keeper.written == 1
        assert log.save(now=LATEST_COMMIT + 1) == ""
        log.write('{"kind":"slap","t":2,"id":"s2","seat":2}')
        assert log.save(now=LATEST_COMMIT + 2) is None, "the waiting begins anew"
        assert log.save(now=LATEST_COMMIT + 2, announcing=True) == ""
        log.write('{"kind":"slap","t":3,"id":"s3","seat":2}')
        assert log.save() == "", "what has no instant does not wait"
        assert keeper.written == 4


def test_names_are_settled_after_a_power_cut_too_but_not_of_a_game_that_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    desk = Desk(path)
    desk.see(1_000 * MS, ("7h", 2))
    services = served(desk, path)
    for service in services:
        service.note_over()
    for service in services:
        service.note_reopened()
    assert desk.record.unfinished() is not None
    with People(path) as people:
        settle_noted(people)
        assert desk.record.games()[0].seats == ("Ana", "Ben")
        for service in services:
            service.note_over()
        assert desk.record.unfinished() is None
        assert desk.record.games()[0].seats == ("Ana", "Ben"), "the page still shows who has won"
        settle_noted(people)
    assert desk.record.games()[0].seats == ("Seat 1", "Seat 2")
    desk.unplug()
