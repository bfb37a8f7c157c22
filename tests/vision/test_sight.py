"""Looking in another process gives the same results as here, and survives the faults of that process."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hardware.ports import Frame
from referee.engine.observations import Table
from referee.record.pictures import Picture
from referee.table.game import Conductor
from referee.table.loop import Alarm
from referee.table.timeline import Timeline
from referee.vision.eye_client import SightProcess
from referee.vision.picture_buffer import Span
from referee.vision.process import NO_MORE, PICTURES, ForesightAnswer, Work
from referee.vision.sight import Blind, Looker, News, Sight, Sights, Watching
from referee.vision.videos import new_watcher, seat_bearings
from tests.support.local_sights import LocalSights
from tests.support.patience import PATIENCE
from tests.support.seeing import MS, Believing, Hanging, Recorded, Rendered, Script, Switched, no_camera
from tests.support.text_journal import TextJournal
from tests.vision.early_camera import await_camera, fail, miss_weights, open_early

TABLE = Table(t=0, id="table", seats=("Ana", "Ben", "Cho", "Dan"), dealer=4, rules="classic")
WEIGHTS = Path(__file__).parents[2] / "models" / "weights"


@contextmanager
def watched(work: Work, clock: Callable[[], float] = time.monotonic) -> Iterator[SightProcess]:
    sights = SightProcess(work, clock)
    sights.start(lambda: None)
    try:
        yield sights
    finally:
        sights.close()


def news_of(sights: Sights, until: Callable[[News], bool], recall: Callable[[], None] = lambda: None) -> list[News]:
    """Return all news up to the first wanted one."""
    alarm, end, out = Alarm(), time.monotonic() + PATIENCE, list[News]()
    while time.monotonic() < end:
        alarm.wait(0.05, sights.waitables())
        for news in sights.news(recall):
            out.append(news)
            if until(news):
                return out
    raise AssertionError(f"waited in vain; there came {out[-3:]}")


def there(work: Work) -> tuple[str, list[Sight]]:
    """Return the log of a recording looked at in another process, and the sights."""
    log, seen = StringIO(), list[Sight]()
    conductor = Conductor(TABLE, journal=TextJournal(log))
    alarm = Alarm()
    with watched(work) as sights:
        blind = False
        while not blind:
            alarm.wait(1.0, sights.waitables())
            for news in sights.news(lambda: conductor.foresight):
                if isinstance(news, Blind):
                    assert news.words == NO_MORE
                    blind = True
                    conductor.finish(news.seen)
                else:
                    seen.append(news)
                    conductor.on_sight(news)
                    conductor.advance(news.t, news.t)
    return log.getvalue(), seen


def here(work: Work, watcher: Watching) -> str:
    """Return the same, here."""
    log = StringIO()
    conductor, looker = Conductor(TABLE, journal=TextJournal(log)), Looker(watcher)
    for frame in work.camera(print).frames():
        conductor.on_sight(looker.look(frame, conductor.foresight))
        conductor.advance(frame.t, frame.t)
    conductor.finish(looker.finish())
    return log.getvalue()


def test_what_can_come_is_known_before_each_frame_as_if_it_were_looked_at_here() -> None:
    work = Work(Recorded(60), Believing(), live=False)
    log, seen = there(work)
    assert log == here(work, work.watcher())
    assert len(seen) == 60, "of a recording no frame is thrown away"
    assert len({line for line in log.splitlines() if '"kind":"card"' in line}) == 15
    assert '"card":"??"' not in log, "each frame was looked at with an answer, and none in doubt"


@pytest.mark.skipif(not (WEIGHTS / "finder.ncnn").exists(), reason="the eye's weights are not here")
def test_the_real_eye_gives_the_same_log_byte_for_byte() -> None:
    work = Work(Rendered(seed=4, frames=45), partial(new_watcher, seat_bearings(4), None), live=False)
    log, seen = there(work)
    assert '"kind":"card"' in log
    assert log == here(work, work.watcher())
    assert seen[0].first
    assert not any(sight.first for sight in seen[1:])


def pictured(work: Work) -> tuple[list[Picture], list[int]]:
    """Return all pictures of a recording's first 400 ms, requested after its second sight, and their batches."""
    taken, batches = list[Picture](), list[int]()

    def take(pictures: Sequence[Picture]) -> None:
        taken.extend(pictures)
        batches.append(len(pictures))

    with watched(work) as sights:
        sights.hand_to(take)
        news_of(sights, lambda news: isinstance(news, Sight) and not news.first)
        sights.want(Span(0, 400 * MS))
        sights.want(Span(200 * MS, 400 * MS))
        news_of(sights, lambda news: isinstance(news, Blind))
        sights.finish()
    return taken, batches


def test_pictures_of_a_stretch_come_each_once_and_few_at_a_time() -> None:
    camera = Rendered(seed=4, frames=14)
    taken, batches = pictured(Work(camera, Script(), live=False, pictures=True))
    table = camera.table()
    at = [table.frame_time(n) for n in range(14)]
    assert [picture.t for picture in taken] == [t for t in at if t <= 400 * MS], (
        "those before it was asked, and those to come"
    )
    assert max(batches) <= PICTURES
    import cv2

    for picture in taken:
        image = cv2.imdecode(np.frombuffer(picture.jpeg, np.uint8), cv2.IMREAD_COLOR)
        assert image is not None and image.shape == (240, 320, 3)
        assert picture.exposure == table.render(0).exposure


@pytest.mark.parametrize("switched_on", [True, False])
def test_where_pictures_are_off_none_is_sent_whatever_is_asked(switched_on: bool) -> None:
    with watched(Work(Recorded(4), Script(), live=False, pictures=switched_on)) as sights:
        (pipe,) = sights.waitables()
        # Past `want`, which would not even ask.
        pipe.send(Span(0, 2**62))
        sent: list[str] = []
        while "Blind" not in sent:
            assert pipe.poll(PATIENCE)
            sent.append(type(pipe.recv()).__name__)
            if sent[-1] == "Sight":
                pipe.send(ForesightAnswer(sent.count("Sight"), None))
    assert sent.count("Sight") == 4
    assert set(sent) - {"str"} == {"Sight", "Blind"} | ({"PicturesTaken"} if switched_on else set())


class Spied:
    """The referee's end of the pipe, and the messages through it."""

    def __init__(self, pipe: Any) -> None:
        self._pipe, self.sent = pipe, list[str]()

    def send(self, message: object) -> None:
        self.sent.append(type(message).__name__)
        self._pipe.send(message)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pipe, name)


@pytest.mark.parametrize("switched_on", [True, False])
def test_where_pictures_are_off_nobody_is_asked_for_any(switched_on: bool) -> None:
    with watched(Work(Recorded(3), Script(), live=False, pictures=switched_on)) as sights:
        spied = Spied(sights._pipe)
        sights._pipe = spied  # type: ignore[assignment]
        sights.want(Span(0, 2**62))
        news_of(sights, lambda news: isinstance(news, Blind))
    assert ("Span" in spied.sent) == switched_on
    assert spied.sent.count("ForesightAnswer") == 3


def test_what_was_asked_last_comes_before_the_end() -> None:
    camera, taken = Rendered(seed=4, frames=14), list[Picture]()
    with watched(Work(camera, Script(), live=False, pictures=True)) as sights:
        sights.hand_to(taken.extend)
        news_of(sights, lambda news: isinstance(news, Blind))
        assert taken == []
        sights.want(Span(0, 2**62))
        sights.finish()
    assert len(taken) == 14


def test_whoever_takes_pictures_and_fails_stops_nothing() -> None:
    def fail(_: Sequence[Picture]) -> None:
        raise RuntimeError("no room in the album")

    with watched(Work(Recorded(8), Script(), live=False, pictures=True)) as sights:
        sights.hand_to(fail)
        news_of(sights, lambda news: isinstance(news, Sight))
        sights.want(Span(0, 2**62))
        told = news_of(sights, lambda news: isinstance(news, Blind))
    assert len([news for news in told if isinstance(news, Sight)]) == 7


def test_a_process_that_is_killed_is_told_and_started_again(tmp_path: Path) -> None:
    switch = Switched(tmp_path / "camera")
    with watched(Work(switch, Script())) as sights:
        first = news_of(sights, lambda news: isinstance(news, Sight))[-1]
        assert isinstance(first, Sight)
        assert first.first
        assert sights.pid is not None
        os.kill(sights.pid, signal.SIGKILL)
        fell = news_of(sights, lambda news: isinstance(news, Blind))[-1]
        assert isinstance(fell, Blind)
        assert "started again" in fell.words
        again = news_of(sights, lambda news: isinstance(news, Sight))[-1]
        assert isinstance(again, Sight)
        assert again.first, "a new watcher knows nothing of what lay there"
        assert again.t > first.t
        assert sights.restarts == 1


def test_a_process_that_is_slow_to_wake_is_given_time_to_look(tmp_path: Path) -> None:
    work = Work(Switched(tmp_path / "camera"), Script())
    ahead = [0.0]
    with watched(work, lambda: time.monotonic() + ahead[0]) as sights:
        ahead[0] = 40.0
        sight = news_of(sights, lambda news: isinstance(news, Sight))[-1]
        assert isinstance(sight, Sight)
        assert 80 <= sights.patience < 120
        ahead[0] += 80
        assert not any(isinstance(news, Blind) for news in sights.news(lambda: None))


def test_a_process_that_hangs_is_told_and_started_again(tmp_path: Path) -> None:
    ahead = [0.0]
    with watched(Work(Switched(tmp_path / "camera"), Hanging(3)), lambda: time.monotonic() + ahead[0]) as sights:
        sight = news_of(sights, lambda news: isinstance(news, Sight))[-1]
        assert isinstance(sight, Sight)
        news_of(sights, lambda news: isinstance(news, Sight))
        ahead[0] = sights.patience + 1
        fell = news_of(sights, lambda news: isinstance(news, Blind))[-1]
        assert isinstance(fell, Blind)
        assert "does not answer" in fell.words
        assert isinstance(news_of(sights, lambda news: isinstance(news, Sight))[-1], Sight)


def test_a_recording_waits_for_a_busy_machine() -> None:
    ahead = [0.0]
    with watched(Work(Recorded(8), Script(), live=False), lambda: time.monotonic() + ahead[0]) as sights:
        news_of(sights, lambda news: isinstance(news, Sight))
        ahead[0] = 60.0
        told = news_of(sights, lambda news: isinstance(news, Blind))
    assert [type(news) for news in told] == [*[Sight] * 7, Blind]
    assert told[-1].words == NO_MORE  # type: ignore[union-attr]


def test_a_camera_that_fails_and_comes_back_needs_no_new_process(tmp_path: Path) -> None:
    switch = Switched(tmp_path / "camera")
    with watched(Work(switch, Script())) as sights:
        news_of(sights, lambda news: isinstance(news, Sight))
        pid = sights.pid
        switch.set("gone")
        lost = news_of(sights, lambda news: isinstance(news, Blind))[-1]
        assert isinstance(lost, Blind)
        assert "look at its cable" in lost.words
        assert lost.watermark is not None
        switch.set("")
        back = news_of(sights, lambda news: isinstance(news, Sight))[-1]
        assert isinstance(back, Sight)
        assert back.first
        assert (sights.pid, sights.restarts) == (pid, 0)


def test_a_camera_that_is_not_there_is_told_in_its_own_words() -> None:
    with watched(Work(no_camera, Script())) as sights:
        (blind,) = news_of(sights, lambda news: True)
        assert isinstance(blind, Blind)
        assert "plug one in" in blind.words


def test_opencv_has_loaded_before_the_camera_is_opened_on_a_thread_of_its_own() -> None:
    """Its loader changes the search path of modules, which a process started meanwhile would inherit."""
    with watched(Work(open_early, await_camera)) as sights:
        (blind,) = news_of(sights, lambda news: True)
        assert isinstance(blind, Blind)
        assert blind.words == "OpenCV is loaded"


def test_an_eye_that_fails_says_why_in_a_sentence_and_prints_its_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    with watched(Work(no_camera, fail)) as sights:
        (blind,) = news_of(sights, lambda news: True)
        assert isinstance(blind, Blind)
        assert blind.words == (
            "the part that looks at the table failed (ZeroDivisionError: of nothing); it is started again"
        )
        news_of(sights, lambda news: True)
        assert sights.restarts >= 1
    assert "in fail\n" in capfd.readouterr().err


def test_an_eye_that_has_no_weights_says_what_to_do() -> None:
    with watched(Work(no_camera, miss_weights)) as sights:
        (blind,) = news_of(sights, lambda news: True)
        assert isinstance(blind, Blind)
        assert blind.words == "the weights are not there: run `make install`"


def test_frames_that_wait_are_looked_at_here_with_what_can_come() -> None:
    sights = LocalSights(Recorded(3)(print), lambda: Believing(1)())
    sights.start(lambda: None)
    told = news_of(sights, lambda news: isinstance(news, Blind))
    assert [type(news) for news in told] == [Sight, Sight, Sight, Blind]
    sights.close()


def test_no_id_is_given_twice_though_each_watcher_counts_from_one() -> None:
    log = StringIO()
    conductor = Conductor(TABLE, journal=TextJournal(log))
    cards = []
    for ahead in (0, 60_000 * MS):
        looker, timeline = Looker(Believing()()), Timeline(ahead)
        for frame in Recorded(60)(print).frames():
            news = timeline.news(looker.look(frame, conductor.foresight))
            assert isinstance(news, Sight)
            conductor.on_sight(news)
            conductor.advance(news.t, news.t)
        conductor.on_blind(Blind("the camera is gone", timeline.news(Blind("", looker.finish())).seen))
        cards.append(log.getvalue().count('"kind":"card"'))
    ids = [line["id"] for line in map(json.loads, log.getvalue().splitlines()) if "kind" in line and "id" in line]
    assert cards[1] > cards[0] > 0
    assert len(ids) == len(set(ids))


def test_only_the_first_frame_of_a_watcher_is_its_first() -> None:
    looker = Looker(Script()())
    frames = [Frame(Recorded(1)(print).frames().__next__().image, t * MS, MS, t) for t in (0, 50)]
    assert [looker.look(frame, None).first for frame in frames] == [True, False]
