"""A table whose frames fail to come: the product's own child looks, and its time is the table's."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from hardware.ports import Frame
from hardware.simulated.table.script import Script, play_game
from referee.engine.observations import Card, Observation
from referee.units import MS, SECOND
from referee.vision.sight import Blind, News, Sight
from tests.support.scripted_watcher import ScriptedWatcher
from tools.measure.gap_table import Fault, GappedTable, Slot, come

_FRAME = 100 * MS
_EXPOSURE = 4 * MS


def _draw(t: int) -> Frame:
    return Frame(np.full((1, 1, 3), t // _FRAME % 200, np.uint8), t, _EXPOSURE, t // _FRAME)


def _slots(end: int) -> Iterator[Slot]:
    return ((t, partial(_draw, t)) for t in range(0, end, _FRAME))


def _script() -> Script:
    return play_game(5, 3, max_cards=6)


def _news(fault: Fault | None, end: int, seen: tuple[Observation, ...] = ()) -> list[tuple[int, News]]:
    """Return the reports with their times, ns."""
    table = GappedTable(_script(), _slots(end), lambda: ScriptedWatcher(seen), fault)
    out = []
    while table.now < end - _FRAME:
        table.step()
        out += [(table.now, item) for item in table.news(lambda: None)]
    table.close()
    return out


def _looked_at(told: list[tuple[int, News]]) -> list[int]:
    return [news.t for _, news in told if isinstance(news, Sight)]


def test_frames_that_do_not_come_are_not_drawn_and_a_repeated_picture_has_a_new_stamp() -> None:
    silent = list(come(_slots(SECOND), Fault(250 * MS, 500 * MS)))
    assert [t for t, frame in silent if frame is None] == [300 * MS, 400 * MS]
    again = list(come(_slots(SECOND), Fault(250 * MS, 500 * MS, repeats=True)))
    assert [frame.t for _, frame in again if frame is not None] == list(range(0, SECOND, _FRAME))
    assert [int(frame.image[0, 0, 0]) for _, frame in again if frame is not None] == [0, 1, 2, 2, 2, 5, 6, 7, 8, 9]


def test_every_frame_is_looked_at_in_its_time_and_its_cards_are_told_once() -> None:
    card = Card(t=450 * MS, card="7h", seat=1)
    told = _news(None, SECOND, (card,))
    assert _looked_at(told) == list(range(0, SECOND, _FRAME))
    assert all(now == news.t + _EXPOSURE for now, news in told if isinstance(news, Sight))
    assert [(news.t, news.seen) for _, news in told if isinstance(news, Sight) and news.seen] == [(500 * MS, (card,))]


def test_two_seconds_without_a_frame_are_told_when_they_are_over_and_another_watcher_begins() -> None:
    told = _news(Fault(SECOND, 4 * SECOND), 5 * SECOND)
    ((when, _),) = [(now, news) for now, news in told if isinstance(news, Blind)]
    waited = when - 900 * MS
    assert 2 * SECOND < waited <= 2_600 * MS, "the child looks twice a second how long it has waited"
    assert [news.t for _, news in told if isinstance(news, Sight) and news.first] == [0, 4 * SECOND]


def test_an_eye_that_is_behind_uses_the_backlog_up_though_the_camera_is_gone() -> None:
    told = _news(Fault(2 * SECOND, 4 * SECOND, behind=SECOND), 5 * SECOND)
    assert _looked_at(told) == [t for t in range(0, 5 * SECOND, _FRAME) if not 2 * SECOND <= t < 4 * SECOND]
    late = [now - news.t for now, news in told if isinstance(news, Sight) and SECOND <= news.t < 2 * SECOND]
    assert late[0] > SECOND > late[-1], "what waited is looked at once the eye goes on, quicker than it came"


def test_an_eye_that_dies_loses_what_waited_and_says_so_at_once() -> None:
    told = _news(Fault(2 * SECOND, 3 * SECOND, behind=500 * MS, kills_eye=True), 4 * SECOND)
    assert [t for t in _looked_at(told) if t >= 1500 * MS] == list(range(3 * SECOND, 4 * SECOND, _FRAME))
    ((when, blind),) = [(now, news) for now, news in told if isinstance(news, Blind)]
    assert when == 2 * SECOND + _EXPOSURE and isinstance(blind, Blind) and not blind.seen
    assert [news.t for _, news in told if isinstance(news, Sight) and news.first] == [0, 3 * SECOND]
