"""The loop of a real table, with a fake camera and clock and the real pad shell."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from io import StringIO

import numpy as np
import pytest

from hardware.ports import Frame, HardwareMissing
from hardware.simulated.devices.simulated_pads import SimulatedPads
from referee.announce.sinks import Notice
from referee.engine.foresight import Foresight
from referee.engine.observations import Card, Observation, Pause, Resume
from referee.engine.rulings import Ruling
from referee.record.journal import JournalThread
from referee.settings.model import parse_settings
from referee.table.assembly import table_of
from referee.table.game import Conductor
from referee.table.loop import Alarm, Answers, Loop, NoPads
from referee.table.session import log_path
from referee.vision.message_pipe import MessagePipe
from referee.vision.process import NO_FRAME
from referee.vision.sight import News, Recall, Sight
from tests.support.local_sights import LocalSights
from tests.support.patience import PATIENCE
from tests.support.scripted_watcher import ScriptedWatcher
from tests.support.text_journal import TextJournal

MS = 1_000_000
SETTINGS = parse_settings('[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n')
PAIR = (Card(t=1000 * MS, card="7h", seat=2), Card(t=2000 * MS, card="7c", seat=1))


class FakeCamera:
    """Frames at given instants, the next one on request; then it fails, if a failure is set."""

    def __init__(self, instants: range, failure: str = "") -> None:
        self._instants, self._failure = instants, failure
        self.more = threading.Semaphore(0)

    def frames(self) -> Iterator[Frame]:
        for index, t in enumerate(self._instants):
            self.more.acquire()
            yield Frame(np.zeros((1, 1, 3), np.uint8), t, 2 * MS, index)
        self.more.acquire()
        if self._failure:
            raise HardwareMissing(self._failure)

    def close(self) -> None: ...


class Desk:
    """All parts of a table: the clock is the pads' own."""

    def __init__(self, failure: str = "", until: int = 4000 * MS) -> None:
        self.instants = range(0, until, 50 * MS)
        self.camera = FakeCamera(self.instants, failure)
        self.pads = SimulatedPads(2)
        self.log = StringIO()
        self.watchers = 0
        self.answers = Answers()
        self.conductor = Conductor(table_of(SETTINGS, 0), journal=TextJournal(self.log), outlets={"a": self.answers})
        self.sights = LocalSights(self.camera, self.watcher, clock=lambda: self.pads.now)
        self.loop = Loop(self.conductor, self.sights, self.pads.pads, answers=self.answers, clock=lambda: self.pads.now)

    def watcher(self) -> ScriptedWatcher:
        """Make a watcher; the second one begins anew, as a real one does: nothing lies there."""
        self.watchers += 1
        return ScriptedWatcher(PAIR if self.watchers == 1 else (), delay=100 * MS)

    def frame(self) -> None:
        """Look at one more frame."""
        self.camera.more.release()
        before = self.loop.frames
        while self.loop.frames == before:
            self.loop.turn(seconds=5)

    def play(self) -> None:
        slaps = {2250 * MS: (1, True), 2400 * MS: (1, False)}
        for t in self.instants:
            self.pads.run_to(t)
            if t in slaps:
                self.pads.advance(*slaps[t], t)
            self.frame()
        for later in range(1, 10):
            self.pads.run_to(self.instants[-1] + later * 50 * MS)
            self.loop.turn(seconds=0)


def test_a_game_is_refereed_through_the_queues() -> None:
    desk = Desk()
    desk.play()
    desk.conductor.finish()
    assert any(r.kind == "slap_won" and r["seat"] == 1 for r in desk.conductor.rulings)
    assert desk.loop.frames == len(desk.instants)


def test_a_camera_that_fails_is_on_record_and_the_pads_go_on() -> None:
    desk = Desk(failure="the camera's cable is loose", until=1000 * MS)
    desk.play()
    desk.camera.more.release()
    while "camera" not in desk.conductor.troubles:
        desk.loop.turn(seconds=5)
    assert "cable is loose" in desk.conductor.troubles["camera"]
    desk.pads.run_to(3000 * MS)
    desk.loop.turn(seconds=0)
    assert desk.conductor.watermark > 2000 * MS


def test_a_camera_that_falls_silent_is_lost_and_comes_back() -> None:
    desk = Desk()
    desk.frame()
    desk.pads.run_to(NO_FRAME + 100 * MS)
    desk.loop.turn(seconds=0)
    assert "no pictures" in desk.conductor.troubles["camera"]
    for _ in range(4):
        desk.frame()
    assert "camera" not in desk.conductor.troubles


def test_a_typed_line_answers_the_oldest_open_question() -> None:
    answers = Answers()
    answers.type("2\n")
    assert answers.given(()) == []
    asked = [Ruling("question", f"question@s{n}", n, (), (), {"ask": "who_was_first"}) for n in (1, 2, 3)]
    answers(asked)
    answers.type("2\n")
    answers.type("pause\n")
    answers.type("1\n")
    assert answers.given(("question@s2", "question@s3")) == [("question@s2", 2), ("question@s3", 1)]
    assert answers.commands() == ["pause\n"]
    answers.type("3\n")
    assert answers.given(("question@s3",)) == [("question@s3", 3)], "what was refused stays open"


class SentSights:
    """Sights that come through a pipe, as from another process; implements `referee.vision.sight.Sights`."""

    def __init__(self) -> None:
        near, far = socket.socketpair()
        self._pipe, self._eye = MessagePipe(near, patient=False), MessagePipe(far, patient=False)
        self.answered: list[Foresight | None] = []
        self.all_taken = threading.Event()
        """Set when every sent message has been taken."""

    def send(self, t: int, *seen: Card) -> None:
        """Send the result of one frame."""
        self.all_taken.clear()
        self._eye.send(Sight(t, MS, seen, t))

    def start(self, ring: Callable[[], None]) -> None: ...

    def waitables(self) -> tuple[MessagePipe, ...]:
        return (self._pipe,)

    def news(self, recall: Recall) -> Iterator[News]:
        while self._pipe.poll():
            yield self._pipe.recv()
            self.answered.append(recall())
            self.all_taken.set()

    def finish(self) -> tuple[Observation, ...]:
        return ()

    def close(self) -> None:
        self._pipe.close()
        self._eye.close()


class SlowDisk(TextJournal):
    """A log whose commits are counted; a commit may last as long as another event."""

    def __init__(self) -> None:
        self.log = StringIO()
        super().__init__(self.log)
        self.commits = 0
        self.meanwhile: list[Callable[[], object]] = []

    def commit(self) -> None:
        self.commits += 1
        while self.meanwhile:
            self.meanwhile.pop()()
        super().commit()


@dataclass
class SlowTable:
    """A table with a slow disk, and its reports with their times."""

    disk: SlowDisk = field(default_factory=SlowDisk)
    sights: SentSights = field(default_factory=SentSights)
    told: list[tuple[int, str]] = field(default_factory=list)
    """Number of commits before, and the ruling."""
    now: int = 0

    def __post_init__(self) -> None:
        alarm = Alarm()
        self.log = JournalThread(self.disk, alarm.put)
        self.conductor = Conductor(
            table_of(SETTINGS, 0), journal=self.log, outlets={"told": self._note}, tellers={"told": self._hear}
        )
        self.beats: list[str] = []
        """Signs of life, for systemd's watchdog."""
        self.loop = Loop(
            self.conductor, self.sights, NoPads(), clock=lambda: self.now, alarm=alarm, beat=self.beats.append
        )  # fmt: skip
        self.turn(0)

    def _note(self, rulings: Sequence[Ruling]) -> None:
        self.told += [(self.disk.commits, ruling.id) for ruling in rulings]

    def _hear(self, notice: Notice) -> None:
        self.told.append((self.disk.commits, notice.words))

    def turn(self, now: int) -> None:
        """Advance to a time, and process everything that has come, until it is on the disk."""
        self.now = now
        self.loop.turn(seconds=0)
        while self.conductor.is_saving:
            self.loop.turn(seconds=20)

    def close(self) -> None:
        self.log.close()
        self.sights.close()


@pytest.fixture
def slow() -> Iterator[SlowTable]:
    table = SlowTable()
    yield table
    table.close()


def test_what_came_together_waits_for_the_disk_once(slow: SlowTable) -> None:
    before = slow.disk.commits
    for t, card, seat in ((1000 * MS, "7h", 2), (2000 * MS, "9c", 1), (3000 * MS, "2d", 1)):
        slow.sights.send(t + 500 * MS, Card(t=t, card=card, seat=seat))
    slow.turn(9000 * MS)
    assert [ruling_id for _, ruling_id in slow.told[-3:]] == ["turn@c1", "turn@c2", "dead_card@c3"]
    assert {count for count, _ in slow.told[-3:]} == {before + 1}, "told after the commit, and after one"
    assert slow.disk.commits == before + 1


def test_what_is_seen_while_the_disk_is_slow_is_ruled_at_once_and_told_afterwards(slow: SlowTable) -> None:
    slow.sights.send(1500 * MS, Card(t=1000 * MS, card="7h", seat=2))
    slow.turn(1600 * MS)
    told: list[int] = []

    def see() -> None:
        """On the disk's thread: lay a card, and let the loop rule it while this commit lasts."""
        told.append(len(slow.told))
        slow.now = 3100 * MS
        slow.sights.send(2500 * MS, Card(t=2000 * MS, card="9c", seat=1))
        assert slow.sights.all_taken.wait(PATIENCE), "the eye waits for the disk"
        told.append(len(slow.told))

    slow.disk.meanwhile.append(see)
    slow.conductor.trouble("lamp", "is dark")
    for now in (2600, 3000):  # a line without listeners waits a little for its commit
        slow.turn(now * MS)
    slow.turn(3100 * MS)
    assert told[0] == told[1], "nothing is announced before it is on the disk"
    assert slow.conductor.cards == 2
    assert slow.told[-1][1] == "turn@c2"


def test_what_is_told_while_the_disk_is_slow_comes_after_the_rulings_before_it(slow: SlowTable) -> None:
    slow.sights.send(1500 * MS, Card(t=1000 * MS, card="7h", seat=2))
    slow.now = 9000 * MS
    slow.loop.turn(seconds=0)
    assert slow.conductor.is_saving
    before = len(slow.told)
    slow.conductor.tell(Notice("", slow.now, "well then"))
    assert len(slow.told) == before
    slow.turn(9000 * MS)
    assert [words for _, words in slow.told[-2:]] == ["turn@c1", "well then"]


def test_what_is_ruled_last_is_told_at_the_end(slow: SlowTable) -> None:
    slow.sights.send(1500 * MS, Card(t=1000 * MS, card="7h", seat=2))
    slow.sights.send(2500 * MS, Card(t=2000 * MS, card="9c", seat=1))
    slow.now = 2500 * MS
    slow.loop.turn(seconds=0)
    assert len(slow.told) < 4, "the end comes while the disk takes the log"
    slow.loop.finish()
    assert [words for _, words in slow.told[-2:]] == ["turn@c1", "turn@c2"]


def test_what_people_say_while_the_disk_is_slow_is_committed_at_once_afterwards(slow: SlowTable) -> None:
    slow.conductor.said(Pause(t=1000 * MS, id="q1"))
    assert slow.conductor.is_saving
    before = slow.disk.commits
    slow.conductor.said(Resume(t=1001 * MS, id="r1"))
    slow.turn(1002 * MS)
    assert slow.disk.commits == before + 2, "not only after the wait of lines that are not announced"
    assert '"kind":"resume"' in slow.disk.log.getvalue()


def test_a_disk_that_hangs_keeps_the_watchdog_waiting(slow: SlowTable) -> None:
    hangs = threading.Event()
    slow.disk.meanwhile.append(lambda: hangs.wait(20))
    slow.conductor.said(Pause(t=1000 * MS, id="q1"))
    try:
        slow.beats.clear()
        for _ in range(3):
            slow.loop.turn(seconds=0)
        assert slow.conductor.is_saving and "engine" not in slow.beats
    finally:
        hangs.set()
    slow.turn(1000 * MS)
    assert "engine" in slow.beats


class SpoilingDisk(SlowDisk):
    """A disk that once fails in a way of which no disk is known."""

    def commit(self) -> None:
        super().commit()
        if self.commits == 2:
            raise ValueError("what is this")


def test_a_fault_in_the_journal_itself_is_a_trouble_and_what_was_ruled_is_told_with_the_next_commit() -> None:
    table = SlowTable(SpoilingDisk())
    try:
        table.sights.send(1500 * MS, Card(t=1000 * MS, card="7h", seat=2))
        table.turn(9000 * MS)
        assert "what is this" in table.conductor.troubles["engine"]
        assert [(commits, words) for commits, words in table.told if "c1" in words] == [(3, "turn@c1")]
    finally:
        table.close()


@pytest.mark.parametrize("folder", ["", "games"])
def test_where_the_log_goes(folder: str) -> None:
    settings = parse_settings(f'[log]\nfolder = "{folder}"\n[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n')
    path = log_path(settings, None)
    assert (path is None) == (folder == "")
    assert path is None or (path.parent.name, path.suffix) == ("games", ".jsonl")
