"""Gaps between frames: the observations after one, on painted frames with a known truth."""

from __future__ import annotations

import pytest

from referee.engine.observations import Card, Gap, Observation, Taken
from referee.units import MS
from tests.models.watch.painted import SPACING, Painted
from tests.models.watch.test_watcher import KING, SEVEN, TWO, Stream, settled

NINE = Painted("9d", 480, 365, 12)


def gaps(seen: list[Observation]) -> list[Gap]:
    return [line for line in seen if isinstance(line, Gap)]


def after_gap(lasts: int) -> tuple[Stream, int]:
    """Show a seven and a king, and then no frame for a while; return the last frame's instant."""
    stream = settled()
    stream.show([SEVEN, KING], frames=8)
    last = stream.t - SPACING
    stream.t += lasts
    return stream, last


@pytest.mark.parametrize("lasts", [100 * MS, 400 * MS, 1800 * MS])
def test_where_nothing_happened_nothing_is_told(lasts: int) -> None:
    stream, _ = after_gap(lasts)
    stream.show([SEVEN, KING], frames=20)
    assert stream.names == ["7h", "Ks"]
    assert gaps(stream.seen) == []
    assert stream.t - stream.watcher.watermark < 300 * MS, "nothing waits for it any more"


def test_a_hand_at_the_end_of_the_gap_hides_the_pile_for_a_while_and_nothing_is_told() -> None:
    stream, _ = after_gap(1000 * MS)
    stream.show([SEVEN, KING], (90, 480, 350), frames=6)
    stream.show([SEVEN, KING], frames=20)
    assert gaps(stream.seen) == []
    assert stream.names == ["7h", "Ks"]


@pytest.mark.parametrize("lasts", [400 * MS, 1800 * MS])
@pytest.mark.parametrize("unseen", [[], [NINE]])
def test_of_cards_that_came_in_it_the_one_on_top_is_told_behind_the_gap(lasts: int, unseen: list[Painted]) -> None:
    stream, last = after_gap(lasts)
    until = stream.t
    stream.show([SEVEN, KING, *unseen, TWO], frames=30)
    (gap,) = gaps(stream.seen)
    assert (gap.lying, gap.until) == (("2c",), until)
    assert last < gap.t <= last + 1 * MS
    assert stream.names == ["7h", "Ks", "2c"]
    card = stream.cards[-1]
    assert card.seat is None and card.bearing is None, "the hand was not seen"
    assert card.t - card.t_error <= last + SPACING and until <= card.t + card.t_error
    assert stream.seen.index(gap) < stream.seen.index(card)


def test_a_pile_that_went_in_it_is_told_gone_at_no_surer_an_instant() -> None:
    stream, last = after_gap(900 * MS)
    until = stream.t
    stream.show([], frames=30)
    (gap,) = gaps(stream.seen)
    assert gap.lying == ()
    (taken,) = [line for line in stream.seen if isinstance(line, Taken)]
    assert taken.seat is None
    assert taken.t - taken.t_error <= last + SPACING and until <= taken.t + taken.t_error


def test_a_card_that_lies_there_by_the_last_frame_before_it_is_told_at_its_own_instant() -> None:
    stream = settled()
    shown = stream.lay([SEVEN, KING], TWO, 90)
    stream.t += 1500 * MS
    stream.show([SEVEN, KING, TWO], frames=20)
    assert gaps(stream.seen) == []
    card = stream.cards[-1]
    assert (card.card, card.seat) == ("2c", 3)
    assert card.t_error <= SPACING and abs(card.t - shown) <= card.t_error


def test_a_slow_but_steady_camera_has_no_gaps_and_says_once_that_it_is_slow() -> None:
    stream = Stream()
    troubles = set()
    for _ in range(12):
        stream.show([SEVEN])
        stream.t += 500 * MS - SPACING
        troubles.add(stream.watcher.trouble)
    stream.show([SEVEN, KING], frames=1)
    stream.t += 500 * MS - SPACING
    for _ in range(6):
        stream.show([SEVEN, KING])
        stream.t += 500 * MS - SPACING
    assert gaps(stream.seen) == []
    assert stream.names == ["7h", "Ks"]
    assert "slow" in troubles


def test_the_distances_of_a_camera_of_ten_frames_a_second_are_none() -> None:
    stream = Stream()
    for number in range(20):
        stream.show([SEVEN] if number > 3 else [])
        stream.t += (100 if number % 3 else 200) * MS - SPACING
    assert gaps(stream.seen) == []
    assert isinstance(stream.seen[0], Card)


def test_a_pile_that_lay_under_hands_when_the_gap_was_over_and_was_taken_is_told_gone() -> None:
    """The table is empty before and after, and the cards in between were never seen."""
    stream = Stream()
    stream.show(frames=8)
    stream.t += 800 * MS
    stream.show([], (90, 480, 350), frames=1 + 1000 * MS // SPACING)
    stream.show(frames=20)
    (gap,) = gaps(stream.seen)
    assert gap.lying == ()
    (taken,) = [line for line in stream.seen if isinstance(line, Taken)]
    assert taken.seat is None
    assert gap.t < taken.t


def test_an_empty_table_on_both_sides_is_nothing_where_no_pile_can_have_come_and_gone() -> None:
    stream = Stream()
    stream.show(frames=8)
    stream.t += 800 * MS
    stream.show(frames=20)
    assert not stream.seen
    stream.t += 1500 * MS
    stream.show(frames=20)
    (gap,) = stream.seen
    assert isinstance(gap, Gap) and gap.lying == ()
