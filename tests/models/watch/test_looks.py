"""When the eye looks, and the later reading of frames that it had skipped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from models.eye.eye import CardSeen
from models.watch.decision import is_laid
from models.watch.motion import Glance
from models.watch.stream import SeenFrame
from models.watch.tracks import Pile, Sighting, Track
from tests.models.watch.painted import SPACING, Painted
from tests.models.watch.test_watcher import KING, SEVEN, TWO, settled


def test_a_card_costs_a_few_looks_and_a_hand_that_passes_one_where_it_rests() -> None:
    stream = settled()
    stream.show([SEVEN, KING], frames=6)
    calls = stream.eye.calls
    stream.lay([SEVEN, KING], TWO, 0)
    stream.show([SEVEN, KING, TWO], frames=10)
    assert stream.names == ["7h", "Ks", "2c"]
    assert stream.eye.calls - calls <= 3
    calls = stream.eye.calls
    for y in (650, 600, 560, 560, 600, 650):
        stream.show([SEVEN, KING, TWO], (270, 470, y))
    assert stream.eye.calls - calls <= 1


def test_a_card_that_a_hand_covers_before_the_eye_comes_round_is_read_from_the_frame_that_shows_it() -> None:
    stream = settled()
    stream.show([SEVEN, KING], frames=6)
    hidden = replace(TWO, read=False)
    stream.show([SEVEN, KING], (0, TWO.x + 330, TWO.y))
    stream.show([SEVEN, KING], (0, TWO.x + 230, TWO.y))
    shown, calls = stream.t, stream.eye.calls
    stream.show([SEVEN, KING, TWO], (0, TWO.x + 70, TWO.y))
    assert stream.eye.calls == calls, "the eye has not come round yet"
    for x in (60, 20, -20, -20, -20, 20, 60, 200, 330):
        stream.show([SEVEN, KING, hidden], (0, TWO.x + x, TWO.y))
    stream.seen += stream.watcher.finish()
    assert stream.names == ["7h", "Ks", "2c"]
    card = stream.cards[-1]
    assert card.t - card.t_error <= shown and shown - SPACING <= card.t + card.t_error


def test_the_first_frame_that_shows_a_card_is_found_among_those_that_were_passed_by() -> None:
    stream = settled()
    stream.show([SEVEN, KING], frames=6)
    shown = stream.lay([SEVEN, KING], TWO, 0)
    stream.show([SEVEN, KING, TWO], frames=10)
    card = stream.cards[-1]
    assert card.t - card.t_error <= shown and shown - SPACING <= card.t + card.t_error
    assert card.t_error <= 0.7 * SPACING


def test_what_cannot_be_read_beneath_a_hand_is_read_again_when_the_hand_is_gone() -> None:
    stream = settled()
    unread = replace(TWO, says="??", confidence=0.2)
    stream.lay([SEVEN, KING], unread, 0)
    stream.show([SEVEN, KING, TWO], frames=10)
    assert stream.names == ["7h", "Ks", "2c"]


def test_the_first_card_counts_as_laid_once_another_lies_on_it_though_it_was_only_seen_to_move() -> None:
    def came(card: Painted, *frames: int) -> Track:
        track = Track(card.quad.astype(np.float32), frames[0], high=frames[0] * SPACING)
        for k in frames:
            # 30 px further in each frame.
            quad = card.moved(30 * (k - frames[-1]), 0).quad.astype(np.float32)
            track.add(Sighting(k, k * SPACING, card.card, 0.99, quad, top=True, on_pile=True, under=False))
        return track

    picture = np.zeros((8, 8, 3), np.uint8)
    now = SeenFrame(6, 6 * SPACING, 6 * SPACING, None, None, Glance(6 * SPACING, *(picture,) * 4))
    first = came(SEVEN, 2, 3)
    pile = Pile(open=[first])
    assert not is_laid(first, pile, now, over=False)
    pile.open.append(came(KING, 5))
    assert is_laid(first, pile, now, over=False) and not is_laid(pile.open[1], pile, now, over=False)


@pytest.mark.parametrize(("bare", "known"), [(0.05, False), (0.4, True)])
def test_a_frame_in_which_something_lies_on_the_top_does_not_show_what_is_known(bare: float, known: bool) -> None:
    """It may be a hand, or the next card: an unsure reading contradicts no other frame."""
    watcher = settled().watcher
    gaze, now = watcher._gaze, watcher._stream.moments[-1]
    gaze._known = None
    seen = CardSeen("Ks", 0.95, KING.quad, False, bare, KING.quad[::2])
    gaze.note_known([(seen, KING.quad.astype(np.float32))], now)
    assert (gaze._known is not None) == known


@pytest.mark.parametrize(("place", "bare"), [(KING, True), (TWO.moved(90, 90), False)])
def test_a_frame_in_which_another_card_is_hardly_read_may_show_its_face(place: Painted, bare: bool) -> None:
    """In an old card's place the reading is of that card's corner; elsewhere it may be the next card, on its way."""
    watcher = settled().watcher
    gaze, now = watcher._gaze, watcher._stream.moments[-1]
    top = CardSeen("Ks", 0.99, KING.quad, True, 0.95, KING.quad[::2])
    hardly = CardSeen("2c", 0.33, place.quad, False, 0.05, place.quad[::2])
    gaze.note_known([(seen, seen.corners.astype(np.float32)) for seen in (top, hardly)], now)
    gaze._recall_known()
    assert now.bare == bare
