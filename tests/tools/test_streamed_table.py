"""The evening that the play test simulates: what is on the table never jumps, and close hands are not compared."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from referee.engine.observations import Slap
from referee.units import MS, SECOND
from tools.measure.play_test import StreamedTable, find_close_hands

_FRAME = SECOND // 15


@pytest.fixture
def table() -> Iterator[StreamedTable]:
    with closing(StreamedTable([b""] * 60, 20)) as shown:
        yield shown


@pytest.mark.parametrize("rest", [0, 30])
def test_the_table_is_seen_as_it_rests_until_the_game_goes_on(table: StreamedTable, rest: int) -> None:
    table.pause(rest * _FRAME)
    assert table.picture_at(0) == (rest, True)
    origin = table.begin()
    goes_on = origin + rest * _FRAME
    before = {table.picture_at(t) for t in range(goes_on - SECOND, goes_on - _FRAME, _FRAME)}
    assert before == {(rest, True)}, "no earlier picture, and none twice: still pictures have ever new noise"
    after = [table.picture_at(goes_on + n * _FRAME) for n in range(60 - rest)]
    assert after == [(number, False) for number in range(rest, 60)]
    assert table.picture_at(goes_on + 60 * _FRAME) == (59, True)


def test_a_part_of_the_game_ends_by_itself(table: StreamedTable) -> None:
    """However long the evening takes to see to it, no card of the next part is laid."""
    origin = table.begin(30 * _FRAME)
    assert [table.picture_at(origin + n * _FRAME)[0] for n in (29, 30, 31, 50)] == [29, 30, 30, 30]
    table.pause(30 * _FRAME)
    origin = table.begin()
    assert [table.picture_at(origin + n * _FRAME)[0] for n in (29, 30, 31, 50)] == [30, 30, 31, 50]


def test_a_look_before_the_game_shows_a_card(table: StreamedTable) -> None:
    table.show_game = True
    assert table.picture_at(0) == (20, True)
    table.begin()
    assert table.picture_at(0) == (0, True)


def test_a_hand_is_close_to_others_as_it_fell_or_as_it_was_reported() -> None:
    fell = [Slap(t=SECOND + after * MS, seat=seat) for seat, after in ((1, 0), (2, 10), (3, 48), (4, 90))]
    heard = [Slap(t=SECOND + after * MS, seat=seat) for seat, after in ((1, 0), (2, 10), (3, 66), (4, 60))]
    close = {(t - SECOND) // MS for t in find_close_hands([], fell, heard)}
    assert {48, 66, 60, 90} <= close, "the same hands are left out on both sides"
    assert find_close_hands([], fell[:1], heard[:1]) == []
