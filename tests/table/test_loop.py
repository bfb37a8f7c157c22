"""The loop of a real table, with a camera and a clock that are fakes and pads that are the real shell."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from io import StringIO

import numpy as np
import pytest

from hardware.ports import Frame, HardwareMissing
from hardware.simulated.devices.simulated_pads import SimulatedPads
from referee.engine.observations import Card
from referee.engine.rulings import Ruling
from referee.settings.model import parse_settings
from referee.table.assembly import table_of
from referee.table.game import Conductor
from referee.table.loop import Answers, Loop
from referee.table.session import log_path
from referee.vision.process import NO_FRAME
from tests.support.local_sights import LocalSights
from tests.support.scripted_watcher import ScriptedWatcher
from tests.support.text_journal import TextJournal

MS = 1_000_000
SETTINGS = parse_settings('[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n')
PAIR = (Card(t=1000 * MS, card="7h", seat=2), Card(t=2000 * MS, card="7c", seat=1))


class FakeCamera:
    """Frames at given instants, the next one when it is asked for; then it fails, if told how."""

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
    """Everything at hand: the clock is the pads' own."""

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
        """The second one that is asked for begins anew, as a real one does: nothing lies there."""
        self.watchers += 1
        return ScriptedWatcher(PAIR if self.watchers == 1 else (), delay=100 * MS)

    def frame(self) -> None:
        """One more frame, looked at."""
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


@pytest.mark.parametrize("folder", ["", "games"])
def test_where_the_log_goes(folder: str) -> None:
    settings = parse_settings(f'[log]\nfolder = "{folder}"\n[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n')
    path = log_path(settings, None)
    assert (path is None) == (folder == "")
    assert path is None or (path.parent.name, path.suffix) == ("games", ".jsonl")
