"""Pictures round slaps: the requests, their owners, and that none of it delays a game."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from hardware.ports import Frame
from hardware.simulated.devices.silent_speaker import RecordingSpeaker
from referee.demo.simulated_game import DemoOptions, script_of
from referee.engine.observations import Table
from referee.engine.rulings import Ruling
from referee.record.pictures import AFTER, BEFORE, FRAMES_FILE, Picture, PictureStore
from referee.record.store import Record
from referee.settings.model import parse_settings
from referee.table.devices import Openers, open_parts
from referee.table.game import Conductor
from referee.table.loop import NoPads
from referee.table.services import GameContext
from referee.table.slap_pictures import (
    LEAST_ROOM,
    WAITING,
    Album,
    PictureKeeper,
    Take,
    asks,
    open_album,
)
from referee.table.timeline import Timeline
from referee.vision.cameras import work_of
from referee.vision.eye_client import SightProcess
from referee.vision.picture_buffer import PictureRing, Span
from referee.web import finish_page as page
from referee.web.board import Board
from referee.web.events import Hub
from referee.web.games_cache import GameCache
from referee.web.site import Site
from tests.faults.rig import Rig
from tests.faults.told import kill
from tests.support.patience import PATIENCE
from tests.support.scripted_watcher import ScriptedWatcher, as_seen, blank_frames
from tests.support.stepped_demo import play

MS = 1_000_000
SECOND = 1_000_000_000
SEATS = '[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n'
ON = "[record]\npictures = true\n"


def ruling(kind: str, t: int, **fields: object) -> Ruling:
    return Ruling(kind, f"{kind}@s{t}", t, (), (), fields)


def picture(t: int, data: bytes = b"jpeg") -> Picture:
    return Picture(t, 4 * MS, data)


class Asked:
    """A frame memory, as a list of requests."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.give: Take = lambda _: None

    def want(self, span: Span) -> None:
        self.spans.append(span)

    def hand_to(self, take: Take) -> None:
        self.give = take


class Desk:
    """An album, its frame memory, and its stored pictures."""

    def __init__(self) -> None:
        self.source = Asked()
        self.kept: list[tuple[int, int]] = []
        self.album = Album(self.source, lambda game, some: self.kept.extend((game, shot.t) for shot in some))


# Which rulings, and whose pictures


@pytest.mark.parametrize(
    ("one", "wanted"),
    [
        (ruling("slap_won", 0), True), (ruling("slap_false", 0, reason="no_pattern"), True),
        (ruling("dead_heat", 0), True), (ruling("question", 0, ask="who_was_first"), True),
        (ruling("slap_void", 0, reason="late"), True), (ruling("slap_void", 0, reason="covered"), True),
        (ruling("slap_void", 0, reason="not_playing"), False), (ruling("slap_void", 0, reason="paused"), False),
        (ruling("question", 0, ask="unreadable_card"), False), (ruling("turn", 0), False),
        (ruling("burn", 0), False), (replace(ruling("slap_won", 0), window="closed"), False),
    ],
)  # fmt: skip
def test_pictures_are_asked_for_where_one_may_want_to_see(one: Ruling, wanted: bool) -> None:
    assert asks(one) == wanted
    desk = Desk()
    desk.album.take_rulings([one])
    assert len(desk.source.spans) == wanted


def test_one_instant_is_asked_for_once_on_the_machines_time_and_kept_on_the_games() -> None:
    desk = Desk()
    desk.album.follow(lambda: 7, Timeline(5 * SECOND))
    desk.album.take_rulings([ruling("dead_heat", 9 * SECOND), ruling("slap_won", 9 * SECOND)])
    assert desk.source.spans == [Span(4 * SECOND - BEFORE, 4 * SECOND + AFTER)]
    desk.source.give([picture(4 * SECOND - 1)])
    assert desk.kept == [(7, 9 * SECOND - 1)]


def test_a_picture_that_was_not_asked_for_is_not_kept() -> None:
    desk = Desk()
    desk.album.follow(lambda: 7, Timeline())
    desk.source.give([picture(SECOND)])
    desk.album.take_rulings([ruling("slap_won", SECOND)])
    desk.source.give([picture(SECOND + AFTER + 1)])
    assert desk.kept == []


def test_pictures_that_come_after_the_next_game_began_are_the_last_ones() -> None:
    desk = Desk()
    desk.album.follow(lambda: 1, Timeline())
    desk.album.take_rulings([ruling("slap_won", 2 * SECOND)])
    desk.album.follow(lambda: 2, Timeline(100 * SECOND))
    desk.album.take_rulings([ruling("slap_false", 105 * SECOND)])
    desk.source.give([picture(2 * SECOND), picture(5 * SECOND)])
    assert desk.kept == [(1, 2 * SECOND), (2, 105 * SECOND)]


def test_pictures_wait_until_their_game_has_a_number() -> None:
    desk, numbers = Desk(), [None, 3]
    desk.album.follow(lambda: numbers[0], Timeline())
    desk.album.take_rulings([ruling("slap_won", SECOND)])
    desk.source.give([picture(SECOND), picture(SECOND + 1)])
    assert desk.kept == []
    numbers.pop(0)
    desk.album.flush()
    desk.album.flush()
    assert desk.kept == [(3, SECOND), (3, SECOND + 1)]


# The writing thread


class Disk:
    """A picture store that can be inspected, and the reports about it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FRAMES_FILE
        self.said: queue.Queue[str] = queue.Queue()
        self.store: PictureStore | None = None
        self.room = LEAST_ROOM
        self.full = False
        """Whether the file may not grow."""

    def open(self) -> PictureStore:
        self.store = PictureStore(self.path)
        return self.store

    def storing(self, open_store: Callable[[], PictureStore] | None = None) -> PictureKeeper:
        return PictureKeeper(open_store or self.open, self.said.put, self._room)

    def _room(self) -> int:
        """Answer in the writing thread, which owns the file."""
        if self.store is not None:
            pages = self.store._db.execute("PRAGMA page_count").fetchone()[0]
            self.store._db.execute(f"PRAGMA max_page_count={pages if self.full else 1_000_000}")
        return self.room

    def heard(self) -> str:
        return self.said.get(timeout=PATIENCE)

    def kept(self) -> list[int]:
        again = PictureStore(self.path, read_only=True)
        try:
            return [shot.t for shot in again.near(1, 0, 2**62)]
        finally:
            again.close()


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path)


def test_what_was_handed_over_is_on_the_disk_when_it_is_closed(disk: Disk) -> None:
    storing = disk.storing()
    for t in range(50):
        storing.keep(1, [picture(t), picture(100 + t)])
    storing.close()
    assert len(disk.kept()) == 100
    assert disk.said.empty()


def test_a_full_disk_is_told_once_and_recovers(disk: Disk) -> None:
    storing = disk.storing()
    storing.keep(1, [picture(1)])
    while disk.store is None or not disk.kept():
        time.sleep(0)
    disk.full = True
    for t in range(2, 6):
        storing.keep(1, [picture(t, bytes(100_000))])
    words = disk.heard()
    assert "disk is full, so pictures are not kept, and the game goes on" in words
    storing.keep(1, [picture(8, bytes(100_000))])
    disk.full = False
    storing.keep(1, [picture(9)])
    assert disk.heard() == ""
    storing.close()
    assert disk.said.empty(), "told once, however many were given up"
    assert disk.kept()[0] == 1
    assert disk.kept()[-1] == 9


def test_the_last_room_on_the_disk_is_left_to_the_games(disk: Disk) -> None:
    disk.room = LEAST_ROOM - 1
    storing = disk.storing()
    storing.keep(1, [picture(1)])
    assert "nearly full" in disk.heard()
    disk.room = LEAST_ROOM
    storing.keep(1, [picture(2)])
    assert disk.heard() == ""
    storing.close()
    assert disk.kept() == [2]


def test_a_folder_that_cannot_be_written_is_told_and_tried_again(disk: Disk) -> None:
    disk.path = disk.path.parent / "card" / FRAMES_FILE
    storing = disk.storing()
    assert "cannot be opened" in disk.heard()
    storing.keep(1, [picture(1)])
    disk.path.parent.mkdir()
    storing.keep(1, [picture(2)])
    assert disk.heard() == ""
    storing.close()
    assert 2 in disk.kept()


def test_a_disk_that_hangs_holds_up_nobody(disk: Disk) -> None:
    goes_on, began = threading.Event(), threading.Event()

    def hang() -> PictureStore:
        began.set()
        goes_on.wait()
        return disk.open()

    storing = disk.storing(hang)
    began.wait(PATIENCE)
    before = time.monotonic()
    for t in range(WAITING + 5):
        storing.keep(1, [picture(t)])
    took = time.monotonic() - before
    assert "does not keep up" in disk.heard()
    goes_on.set()
    assert disk.heard() == ""
    storing.close()
    assert disk.kept() == list(range(WAITING)), "what found no room was given up"
    assert took < 1, "never waits"


# The settings


def test_without_the_setting_nothing_is_asked_remembered_or_written(tmp_path: Path) -> None:
    settings = parse_settings(SEATS)
    assert not settings.record.pictures
    assert not work_of(settings).pictures
    eye = SightProcess(work_of(settings))
    openers = Openers(
        pads=lambda _: NoPads(), eye=lambda _: eye, lights=lambda *_: None, voice=lambda *_: RecordingSpeaker()
    )
    assert open_parts(settings, openers).pictures is None
    assert open_parts(parse_settings(ON + SEATS), openers).pictures is eye
    assert list(tmp_path.iterdir()) == []


def test_with_the_setting_there_is_an_album_beside_the_record(tmp_path: Path) -> None:
    settings = parse_settings(f"{ON}pictures_cap_mb = 1\n{SEATS}")
    assert work_of(settings).pictures
    said: list[str] = []
    with ExitStack() as stack:
        source = Asked()
        album = open_album(
            source, tmp_path / FRAMES_FILE, said.append, stack, cap=settings.record.pictures_cap_mb << 20
        )
        album.follow(lambda: 1, Timeline())
        album.take_rulings([ruling("slap_won", SECOND)])
        source.give([picture(SECOND + n, bytes(400_000)) for n in range(3)])
    kept = PictureStore(tmp_path / "frames.db", read_only=True)
    assert [shot.t for shot in kept.near(1, 0, 2 * SECOND)] == [SECOND + 1, SECOND + 2], (
        "as many as the cap has room for"
    )
    kept.close()
    assert said == []


def test_a_tables_album_hears_its_rulings_and_follows_its_game(tmp_path: Path) -> None:
    desk = Desk()
    with Record(tmp_path / "record.db") as record:
        keeper = record.begin("2026-03-14T18:05:00+00:00")
        keeper.write('{"kind":"table","t":0,"id":"table","seats":["Ana","Ben"],"dealer":1,"rules":"classic"}')
        keeper.commit()
        table = Table(t=0, id="table", seats=("Ana", "Ben"), dealer=1, rules="classic")
        conductor = Conductor(table)
        game = GameContext(conductor, parse_settings(SEATS), Timeline(SECOND), lambda: 0, keeper, record, None)
        desk.album.begin_game(game)
        desk.album.take_rulings([ruling("slap_won", 3 * SECOND)])
        desk.source.give([picture(2 * SECOND)])
    assert desk.kept == [(1, 3 * SECOND)]


def test_no_record_no_pictures() -> None:
    assert not work_of(parse_settings('[record]\nfile = ""\npictures = true\n' + SEATS)).pictures


# The whole way: the real child process, loop and disk


class Beside:
    """A rig whose pictures have a time line that is ahead, in a game that gets its number later."""

    def __init__(self, folder: Path, ahead: int) -> None:
        self.path, self.timeline = folder / FRAMES_FILE, Timeline(ahead)
        self.number: int | None = None
        self.batches: list[int] = []
        self.times: list[int] = []
        self.storing = PictureKeeper(lambda: PictureStore(self.path), self.say)
        self.rig = Rig(folder, timeline=self.timeline, pictures=self._album)

    def _album(self, source: object) -> Album:
        self.album = Album(source, self.keep)  # type: ignore[arg-type]
        self.album.follow(lambda: self.number, self.timeline)
        return self.album

    def say(self, words: str) -> None:
        self.rig.loop.post("pictures", words)

    def keep(self, game: int, pictures: Sequence[Picture]) -> None:
        self.batches.append(len(pictures))
        self.times += [picture.t for picture in pictures]
        self.storing.keep(game, pictures)

    def next_pair(self) -> None:
        """Play another slap after `Rig.pair`: its winner leads."""
        self.rig.lay("9h", 3)
        self.rig.lay("9c", 1)
        self.rig.slap(2)
        self.rig.until(lambda: len(self.rig.rulings("slap_won")) == 2, "for the second verdict")

    def pictured(self, won: Ruling) -> None:
        """Wait for the pictures after a slap, too."""
        self.rig.until(lambda: max(self.times, default=0) > won.t, "for pictures")

    def close(self) -> None:
        self.rig.close()
        self.storing.close()


@pytest.fixture
def beside(tmp_path: Path) -> Iterator[Beside]:
    made = Beside(tmp_path, ahead=3600 * SECOND)
    yield made
    made.close()


def test_a_slap_at_a_table_has_its_pictures(beside: Beside) -> None:
    rig = beside.rig
    rig.see()
    rig.run(BEFORE / MS)
    rig.lay("7h", 1)
    rig.lay("7c", 2)
    rig.slap(3, 1)
    rig.until(lambda: rig.rulings("slap_won") and rig.rulings("slap_void"), "for verdicts")
    beside.number = 5
    (won,) = rig.rulings("slap_won")
    (late,) = rig.rulings("slap_void")
    beside.pictured(late)
    assert len(set(beside.times)) == len(beside.times), "no frame twice, though the late hand asks for the same ones"
    beside.close()
    store = PictureStore(beside.path, read_only=True)
    kept = list(store.near(5, 0, 2**62))
    store.close()
    assert [shot.t for shot in kept] == sorted(beside.times)
    assert all(won.t - BEFORE <= shot.t <= late.t + AFTER for shot in kept), "on the game's line of time, an hour ahead"
    assert kept[0].t < won.t, "a frame from before anybody had asked"
    assert kept[-1].t > late.t
    assert kept[0].jpeg.startswith(b"\xff\xd8")


def test_pictures_go_on_after_the_child_fell(beside: Beside) -> None:
    rig = beside.rig
    beside.number = 1
    rig.see()
    rig.pair()
    beside.pictured(rig.rulings("slap_won")[0])
    kill(rig.sights.pid)
    rig.until(lambda: rig.sights.restarts == 1, "for the child")
    rig.until(lambda: not rig.conductor.paused, "for the game to go on")
    beside.next_pair()
    beside.pictured(rig.rulings("slap_won")[1])
    assert "pictures" not in rig.conductor.troubles


def test_where_pictures_cannot_be_kept_the_game_goes_on(tmp_path: Path) -> None:
    beside = Beside(tmp_path, ahead=0)
    rig = beside.rig
    try:
        beside.number = 1
        beside.path = tmp_path / "no such folder" / FRAMES_FILE
        rig.see()
        beside.storing.close()
        beside.storing = PictureKeeper(lambda: PictureStore(beside.path), beside.say)
        rig.pair()
        rig.until(lambda: "pictures" in rig.conductor.troubles, "for words")
        assert "cannot be opened" in rig.conductor.troubles["pictures"]
        beside.path.parent.mkdir()
        beside.next_pair()
        rig.until(lambda: "pictures" not in rig.conductor.troubles, "for the end of the trouble")
        assert len(rig.rulings("slap_won")) == 2
    finally:
        beside.close()


# The simulated table


class Pictured:
    """Remembered frames that are looked at here; implements `PictureSource`."""

    def __init__(self, frames: Iterator[Frame]) -> None:
        self._frames, self._ring = frames, PictureRing()
        self._take: Take = lambda _: None

    def want(self, span: Span) -> None:
        self._ring.want(span)

    def hand_to(self, take: Take) -> None:
        self._take = take

    def frames(self) -> Iterator[Frame]:
        """Yield the frames; each is remembered when it has been looked at."""
        for frame in self._frames:
            yield frame
            self._ring.add(frame.image, frame.t, frame.exposure)
            self.give()

    def give(self) -> None:
        """Hand on every picture that is ready."""
        self._take(self._ring.take(32))


def test_a_slap_at_the_simulated_table_is_shown_with_its_pictures(tmp_path: Path) -> None:
    options = DemoOptions(seed=6, pace=False, live=False, max_cards=40)
    script = script_of(options)
    eye = ScriptedWatcher(as_seen(script.truth, round(1e9 / 15)), delay=250 * MS)
    said: list[str] = []
    with ExitStack() as stack:
        pictured = Pictured(blank_frames(15, script.duration))
        album = open_album(pictured, tmp_path / FRAMES_FILE, said.append, stack)
        record = tmp_path / "record.db"
        _, conductor = play(options, script, eye, frames=pictured.frames(), services=[album], record=record)
        pictured.give()
    won = [ruling for ruling in conductor.rulings if ruling.kind == "slap_won"]
    assert won
    assert said == []
    site = Site(GameCache(tmp_path / "record.db", tmp_path / FRAMES_FILE), Hub(Board()))
    try:
        for slap_won in won:
            near = site.shelf.pictures(1, slap_won.t - BEFORE, slap_won.t + AFTER)
            # 15 frames a second for a second.
            assert len(near) in (14, 15, 16)
            html = _finish(site, slap_won.id.partition("@")[2])
            assert html.count('loading="lazy"') == min(len(near), page.MOST_PICTURES)
            assert f"/games/1/pictures/{near[0].t}.jpg" in html
    finally:
        site.close()


def _finish(site: Site, slap: str) -> str:
    import asyncio

    from referee.web.server import build
    from tests.web.browser import request

    path = "/games/1/finish"
    reply = asyncio.run(request(build(site), "GET", path, [("host", "localhost")], query=f"slap={slap}".encode()))
    assert reply.status == 200
    return reply.body.decode()
