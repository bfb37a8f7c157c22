"""Unresponsive processes and disks: none available, stopped, hung, left behind, or slow."""

from __future__ import annotations

import errno
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hardware.camera.camera_process import CameraProcess
from hardware.camera.remote import RemoteCamera
from hardware.camera.spec import CameraSpec
from hardware.child import RESTS
from hardware.orphans import MARK, end_orphans, mark, marked
from referee.announce.sinks import GONE_NOTICES
from referee.announce.voice import tell
from referee.record.journal import FileJournal
from referee.table.page_link import HUNG_AFTER, WELL_AFTER
from referee.text.catalogue import LANGUAGES
from referee.units import SECOND
from referee.vision.eye_client import SightProcess, start_child
from referee.vision.process import Work
from tests.faults.conftest import Row
from tests.faults.rig import Rig
from tests.hardware.camera.test_remote_order import NOW, Scripted
from tests.support.patience import PATIENCE
from tests.table.test_page_process import World

NO_FILE = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
NO_PROCESS = BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
BOTH = pytest.mark.parametrize("bad", [NO_FILE, NO_PROCESS], ids=["EMFILE", "EAGAIN"])


class Refusing:
    """Starts of the looking process: some fail, and then they succeed."""

    def __init__(self, bad: OSError, times: int) -> None:
        self._bad, self.left = bad, times

    def __call__(self, work: Work, link: socket.socket) -> Any:
        if self.left:
            self.left -= 1
            raise self._bad
        return start_child(work, link)


def hurry(sights: SightProcess) -> Callable[[float], None]:
    """Advance the time by which the process is judged."""
    ahead = [0.0]
    sights._clock = lambda: time.monotonic() + ahead[0]

    def go(seconds: float) -> None:
        ahead[0] += seconds

    return go


def open_files() -> int:
    """Return this process's number of open files."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def kill_the_eye(rig: Rig) -> None:
    assert rig.sights.pid is not None
    os.kill(rig.sights.pid, signal.SIGKILL)


@BOTH
def test_eye_cannot_be_started(rig: Rig, row: Row, bad: OSError) -> None:
    """The process that looks dies, and the machine has no process to give"""
    row.fault += f" ({errno.errorcode[bad.errno or 0]})"
    rig.see()
    rig.pair()
    go, starts = hurry(rig.sights), Refusing(bad, 3)
    rig.sights._start = starts
    kill_the_eye(rig)
    rig.until(lambda: "cannot be started" in rig.conductor.troubles.get("camera", ""), "for the fault")
    assert (bad.strerror or "") in rig.conductor.troubles["camera"]
    assert rig.told().count("camera_gone") == 1
    assert any("the camera is gone" in said for said in rig.said())
    row.shows("told")
    rig.slap(2)
    rig.until(lambda: "first_hand" in rig.told(), "for the first hand")
    row.shows("goes on", "paused, hands named")
    while starts.left:
        go(60)
        rig.run(30)
    go(60)
    rig.until(lambda: "camera" not in rig.conductor.troubles, "for the camera")
    rig.until(lambda: not rig.conductor.paused, "for the game")
    rig.double("8")
    row.shows("recovers")
    assert rig.replays()
    row.shows("on the log", "and replays")


def test_an_eye_that_cannot_be_started_at_first_is_tried_again() -> None:
    now = [0.0]
    starts = Refusing(NO_PROCESS, 10**9)
    sights = SightProcess(Work(print, print), lambda: now[0], starts)  # type: ignore[arg-type]
    sights.start(lambda: None)
    told = []
    for _ in range(40):
        told += list(sights.news(lambda: None))
        now[0] += 1.0
    assert len(told) >= 5
    assert sights.pid is None and sights.waitables() == ()
    before = open_files()
    for _ in range(40):
        list(sights.news(lambda: None))
        now[0] += 10.0
    assert open_files() == before, "no file is left open by what failed"
    assert sights.finish() == ()
    sights.close()


@BOTH
def test_camera_cannot_be_started(row: Row, bad: OSError) -> None:
    """The camera's process dies, and the machine has no process to give"""
    row.fault += f" ({errno.errorcode[bad.errno or 0]})"
    now, told, starts = [NOW], list[str](), 0

    def process(_: CameraSpec) -> CameraProcess:
        nonlocal starts
        starts += 1
        if 2 <= starts <= 9:
            raise bad
        # Another one's frames are younger.
        return Scripted([10 * starts, 10 * starts + 5], "unknown")

    camera = RemoteCamera(CameraSpec("scripted:camera"), told=told.append, clock=lambda: now[0], process=process)
    frames = 0
    for _ in range(200):
        frames += camera.next(0) is not None
        now[0] += SECOND // 2
    assert starts >= 10
    assert sum("cannot be started" in words and (bad.strerror or "") in words for words in told) == 1, "once, not anew"
    row.shows("told", "once")
    assert "the camera is back" in told[told.index(next(words for words in told if "cannot be" in words)) :]
    assert frames >= 4
    row.shows("goes on", "without a camera")
    row.shows("recovers", "is tried for ever")
    camera.close()


@BOTH
def test_page_cannot_be_started(row: Row, bad: OSError) -> None:
    """The page dies, and the machine has no process to give"""
    row.fault += f" ({errno.errorcode[bad.errno or 0]})"
    world = World()
    world.go(100)
    world.refuses = bad
    world.children[0].code = 1
    world.go(60)
    assert "cannot be started" in world.told[-1] and (bad.strerror or "") in world.told[-1]
    assert len(world.children) == 1
    row.shows("told", "shown")
    row.shows("goes on")
    row.shows("on the log", "trouble, mended")
    world.go(600)
    world.works()
    world.go((RESTS[-1] + WELL_AFTER) // SECOND + 2)
    assert len(world.children) == 2
    assert world.told[-1] == "page works"
    row.shows("recovers", "is tried for ever")


def test_a_page_that_cannot_be_started_at_first_keeps_no_game_from_beginning() -> None:
    world = World(refuses=NO_FILE)
    world.go(2)
    assert "cannot be started" in world.told[0]
    assert "cannot be started" in world.page.standing
    world.works()
    world.go((RESTS[-1] + WELL_AFTER) // SECOND + 2)
    assert (len(world.children), world.told[-1]) == (1, "page works")
    world.page.close()


def test_page_hangs(row: Row) -> None:
    """The page hangs, and answers no more"""
    world = World()
    world.go(100)
    world.hangs = True
    world.go(HUNG_AFTER - 1)
    assert [child.code for child in world.children] == [None] and world.told == []
    world.go(1)
    assert [child.code for child in world.children] == [-9], "who is stopped heeds no other signal"
    assert "did not answer" in world.told[-1]
    row.shows("told", "shown")
    row.shows("goes on")
    row.shows("on the log", "trouble, mended")
    world.hangs = False
    world.go((RESTS[0] + WELL_AFTER) // SECOND + 2)
    assert (len(world.children), world.told[-1]) == (2, "page works")
    row.shows("recovers")


def test_a_page_that_answers_now_and_then_is_left_alone() -> None:
    world = World()
    for _ in range(20):
        world.hangs = True
        world.go(HUNG_AFTER - 1)
        world.hangs = False
        world.go(1)
    assert (len(world.children), world.told) == (1, [])


def test_again(rig: Rig, row: Row) -> None:
    """The same outage a second time"""
    rig.see()
    rig.pair()
    go = hurry(rig.sights)
    heard = []
    for _ in range(2):
        told, said, lines = len(rig.told()), len(rig.said()), len(rig.lines("trouble"))
        kill_the_eye(rig)
        rig.until(lambda: "camera" in rig.conductor.troubles, "for the fault")
        go(60)
        rig.until(lambda: "camera" not in rig.conductor.troubles and not rig.conductor.paused, "for the camera")
        assert any("the camera is gone" in words for words in rig.said()[said:])
        assert any("the camera is back" in words for words in rig.said()[said:])
        assert len(rig.lines("trouble")) > lines
        heard.append(rig.told()[told:])
    assert heard[0] == heard[1] and "camera_gone" in heard[0] and "camera_back" in heard[0]
    row.shows("told", "as the first time")
    rig.double("8")
    row.shows("goes on", "paused")
    row.shows("recovers")
    assert rig.replays()
    row.shows("on the log", "and replays")


def test_stopped_in_a_message(rig: Rig, row: Row) -> None:
    """The process that looks is stopped in the middle of a message"""
    ends: list[socket.socket] = []

    def start(work: Work, link: socket.socket) -> Any:
        ends.append(link.dup())
        return start_child(work, link)

    rig.see()
    rig.pair()
    go = hurry(rig.sights)
    rig.sights._start = start
    kill_the_eye(rig)
    rig.until(lambda: bool(ends), "for another one")
    rig.until(lambda: "camera" not in rig.conductor.troubles and not rig.conductor.paused, "for the camera")
    assert rig.sights.pid is not None
    os.kill(rig.sights.pid, signal.SIGSTOP)
    rig.run(20)
    ends[0].send(struct.pack("!Q", 1 << 20) + b"the rest never comes")
    ends[0].close()
    rig.slap(2)
    assert any(change.light == "seat 2" and change.level for change in rig.lights.changes)
    row.shows("goes on", "lights; then paused")
    go(rig.sights.patience + 1)
    rig.until(lambda: "does not answer" in rig.conductor.troubles.get("camera", ""), "for the fault")
    row.shows("told")
    go(60)
    rig.until(lambda: "camera" not in rig.conductor.troubles and not rig.conductor.paused, "for the camera")
    rig.double("8")
    row.shows("recovers")
    assert rig.replays()
    row.shows("on the log", "and replays")


class Stalling(FileJournal):
    """A log whose disk blocks once until an action has finished, when it has a line with these words."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._words, self._begun = "", False
        self._meanwhile: Callable[[], object] = dict

    def stall(self, words: str, meanwhile: Callable[[], None]) -> None:
        """Block at the commit of the next line with these words."""
        self._words, self._meanwhile = words, meanwhile

    def write(self, line: str, sensor: str | None = None) -> None:
        if self._words and self._words in line:
            self._words, self._begun = "", True
        super().write(line, sensor)

    def commit(self) -> None:
        if self._begun:
            self._begun = False
            self._meanwhile()
        super().commit()


def test_disk_stalls(tmp_path: Path, row: Row) -> None:
    """The log's disk neither takes nor refuses a line for a while"""
    journal = Stalling(tmp_path / "game.jsonl")
    rig = Rig(tmp_path, journal=journal)
    lit: list[bool] = []
    announced: list[tuple[int, int]] = []

    def press(seat: int) -> None:
        """On the disk's thread: bring a hand down, and wait for its light, three seconds by the disk's clock."""
        announced.append((len(rig.shown), len(rig.said())))
        rig.lit.on.clear()
        rig.press(seat)
        lit.append(rig.lit.on.wait(PATIENCE))
        rig.disk_clock.pass_on(3)
        announced.append((len(rig.shown), len(rig.said())))

    try:
        rig.see()
        rig.lay("7h", 1)
        rig.lay("7c", 2)
        journal.stall('"kind":"waits"', lambda: press(3))
        rig.conductor.note("waits", {})
        rig.until(lambda: lit, "for the disk to stall")
        assert lit == [True], "the light does not wait for the disk"
        assert any(change.light == "seat 3" and change.level for change in rig.lights.changes)
        assert not rig.rulings("slap_won"), "a light is no verdict"
        row.shows("goes on", "lights; verdicts wait")
        rig.run(30)
        rig.lift(3)
        rig.until(lambda: rig.rulings("slap_won"), "for the verdict")
        rig.take(3)
        rig.until(lambda: not rig.conductor.view.pile, "for the pile to go")
        rig.lay("9h", 3)
        rig.lay("9c", 1)
        # The verdict's cause stalls: it must be on the disk before the verdict is announced.
        journal.stall('"kind":"slap"', lambda: press(1))
        rig.slap(2)
        rig.until(lambda: len(rig.rulings("slap_won")) == 2, "for the verdict")
        assert lit == [True, True]
        assert announced[0] == announced[1] and announced[2] == announced[3], "nothing is announced meanwhile"
        assert [ruling["seat"] for ruling in rig.rulings("slap_won")] == [3, 2]
        assert "more than two seconds" in rig.conductor.troubles["disk"]
        row.shows("told", "screen, page: the disk is slow")
        rig.lift(1)
        rig.disk_clock.pass_on(90)
        rig.conductor.note("later", {})
        rig.until(lambda: "disk" not in rig.conductor.troubles, "for a quick disk")
        assert rig.replays()
        assert sum('"pressed":true' in line for line in rig.lines("edge")) == 3
        row.shows("recovers", "in order, none lost")
        row.shows("on the log", "and replays")
    finally:
        rig.close()


def test_orphan(row: Row) -> None:
    """A referee is killed, and a child of its that is stopped stays"""
    # Its parent has ended, and was recorded: no process has that number and that start time any more.
    parent = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    child = {**os.environ, **mark(parent.pid)}
    parent.communicate()
    left = subprocess.Popen([sys.executable, "-c", STOPPED], env=child, stdout=subprocess.PIPE)
    with marked():
        own = subprocess.Popen([sys.executable, "-c", STOPPED], stdout=subprocess.PIPE)
    assert MARK not in os.environ
    for process in (left, own):
        assert process.stdout is not None
        process.stdout.readline()
    try:
        assert left.pid in end_orphans()
        assert left.wait(PATIENCE) == -signal.SIGKILL
        row.shows("recovers", "at the next start")
        assert own.poll() is None, "a child whose parent lives is no orphan"
        assert end_orphans() == []
    finally:
        own.kill()
        own.wait()
        for process in (left, own):
            assert process.stdout is not None
            process.stdout.close()
    row.shows("told", "on standard error")
    row.shows("goes on")


STOPPED = "import os, signal; print('here', flush=True); os.kill(os.getpid(), signal.SIGSTOP)"


def test_lines_missing(rig: Rig, row: Row) -> None:
    """Lines of recorded games are missing, or not what was written"""
    rig.see()
    words = "the record is not what was written: game 3, line 12 is missing"
    rig.conductor.trouble("rescue", words)
    assert any("the recorded games have a fault" in said for said in rig.said())
    assert any(words in notice.words for notice in rig.notices)
    said = {tell(GONE_NOTICES["rescue"], 0, code).text for code in LANGUAGES}
    assert len(said) == len(LANGUAGES)
    row.shows("told", "and the page")
    rig.pair()
    row.shows("goes on")
    assert any(words in line for line in rig.lines("trouble"))
    assert rig.replays()
    row.shows("on the log", "and replays")
