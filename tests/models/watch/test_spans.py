"""The span in which a face came up, from frames that surely show none, surely one, or neither surely."""

from __future__ import annotations

import numpy as np
import pytest

from models.eye.geometry import Quad
from models.watch.faces import WhitePatches, first_perhaps, first_signs, first_suspected, reveal, unread_reveal
from models.watch.motion import Glance, Motion
from models.watch.occasion import Occasions
from models.watch.stream import Patch, SeenFrame, Stream
from models.watch.tracks import Pile, Sighting, Track
from referee.units import MS

SPACING = 33 * MS
EXPOSED = 8 * MS
"""A row's exposure and the readout together."""
CARD: Quad = np.array([[100, 100], [180, 100], [180, 220], [100, 220]], np.float32)


def frames(shown: str) -> Stream:
    """Return a stream of frames: ``.`` surely shows no face, ``W`` surely one, ``w`` perhaps one, ``?`` is unknown."""
    stream = Stream()
    for k, face in enumerate(shown):
        # Noise matches nothing, least of all itself in another frame.
        half = np.random.default_rng(k).integers(0, 255, (160, 160, 3), np.uint8)
        stream.advance(k * SPACING, (320, 320))
        moment = stream.keep(half, k * SPACING, EXPOSED, half, Glance(k * SPACING, half, *(half[..., 0],) * 3))
        moment.bare = face == "."
        if face in "wW":
            moment.suspects.append(Patch(CARD + k, face == "W"))
    return stream


def span(shown: str) -> tuple[int, int]:
    """Return first and last frame of the span for a card that is read in the newest; it begins as the one's exposure
    does and ends as the other's does.
    """
    stream = frames(shown)
    low, high, _ = reveal(CARD, stream.moments[-1], stream, Pile(card_height=120.0))
    assert low % SPACING == 0 and (high - EXPOSED) % SPACING == 0
    return low // SPACING, high // SPACING


@pytest.mark.parametrize(
    ("shown", "first", "last"),
    [
        ("....WW?", 3, 4),
        ("....wW?", 3, 5),
        ("....wwW", 3, 6),
        ("......?", 5, 6),
        ("...??W?", 2, 5),
        ("...?WWW", 2, 4),
        ("...?W?W", 2, 6),
        ("..W.WW?", 3, 4),
    ],
)
def test_a_span_reaches_from_the_last_frame_that_shows_no_face_to_the_first_that_shows_one(
    shown: str, first: int, last: int
) -> None:
    assert span(shown) == (first, last)


def test_a_frame_in_which_a_card_is_read_shows_it_whatever_was_thought_of_it_before() -> None:
    stream = frames("...WW.")
    signs = first_signs(CARD, stream.moments[-1], stream, Pile(card_height=120.0))
    assert (signs.sure, signs.maybe) == (3, 3)


def test_paper_that_is_hardly_seen_before_it_is_surely_seen_belongs_to_the_same_card() -> None:
    stream = frames("..wwW?")
    assert first_perhaps(4, stream) == 2
    low, high = unread_reveal(stream.moments[-1], stream, Pile(card_height=120.0))
    assert (low // SPACING, (high - EXPOSED) // SPACING) == (1, 4)


@pytest.mark.parametrize(("shown", "first"), [("..ww??", 2), ("..w?w?", 2), (".ww..w", 5), ("......", None)])
def test_paper_that_is_hardly_seen_may_yet_be_a_card_until_nothing_is_there(shown: str, first: int | None) -> None:
    suspected = first_suspected(frames(shown), Pile(card_height=120.0))
    assert (None if suspected is None else suspected.index) == first


@pytest.mark.parametrize(("under", "first"), [(True, 2), (False, 4)])
def test_a_scrap_under_the_pile_that_is_read_late_explains_no_white_paper(under: bool, first: int) -> None:
    stream, track = frames("..wwww"), Track(CARD, 0, high=3 * SPACING)
    track.add(Sighting(3, 3 * SPACING, "2s", 0.58, CARD, top=False, on_pile=not under, under=under))
    suspected = first_suspected(stream, Pile(card_height=120.0, open=[track]))
    assert suspected is not None and suspected.index == first


def paper_of(stream: Stream) -> WhitePatches:
    return WhitePatches(Motion(), stream, Pile(card_height=120.0))


def test_two_halves_of_a_card_under_a_finger_are_explained_together() -> None:
    stream = frames("...?WW")
    stream.moments[4].suspects.append(Patch(CARD + 60, True))
    stream.moments[4].suspects.append(Patch(CARD + 190, True))
    paper_of(stream).explain_way(CARD, 3 * SPACING, 4 * SPACING)
    assert [float(s.place[0, 0]) for s in stream.moments[4].suspects] == [290.0]


def test_white_paper_somewhere_else_is_another_card() -> None:
    stream = frames(".....?")
    stream.moments[4].bare = False
    stream.moments[4].suspects.append(Patch(CARD + 900, True))
    assert not first_signs(CARD, stream.moments[-1], stream, Pile(card_height=120.0)).white


def test_white_paper_that_was_gone_in_between_is_no_sure_sign_of_a_card_nor_of_its_way() -> None:
    stream = frames("..W??WW")
    signs = first_signs(CARD, stream.moments[-1], stream, Pile(card_height=120.0))
    assert (signs.sure, signs.maybe, sorted(signs.way)) == (5, 2, [5])


def test_white_paper_that_then_lies_still_elsewhere_is_no_sure_sign_of_a_card() -> None:
    """A hand goes, and uncovers a card of the pile; then another card comes."""
    stream = frames("...WWW?")
    stream.moments[4].still = list(stream.moments[3].suspects)
    signs = first_signs(CARD, stream.moments[-1], stream, Pile(card_height=120.0))
    assert (signs.sure, signs.maybe) == (4, 3)


def test_white_paper_that_lies_still_while_the_card_is_read_elsewhere_is_no_sure_sign_of_it() -> None:
    stream = frames("....??")
    stream.moments[4].suspects = stream.moments[5].still = [Patch(CARD + 70, True)]
    signs = first_signs(CARD, stream.moments[-1], stream, Pile(card_height=120.0))
    assert (signs.sure, signs.likely, signs.maybe) == (5, 5, 4)


@pytest.mark.parametrize(("uncovered", "sure"), [(CARD + 10, 5), (CARD + 45, 4)])
def test_white_paper_on_a_card_known_before_is_no_sure_sign_of_another(uncovered: Quad, sure: int) -> None:
    """A hand goes, and uncovers a part of the last card; then the next card covers that part."""
    stream, known = frames("....??"), Track(CARD + 10, 1, name="7c")
    known.add(Sighting(1, SPACING, "7c", 0.99, known.quad, top=True, on_pile=True, under=False))
    stream.moments[4].suspects = [Patch(uncovered, True)]
    signs = first_signs(CARD, stream.moments[-1], stream, Pile(card_height=120.0, laid=[known]))
    assert (signs.sure, signs.likely, signs.maybe) == (sure, 4, 4)


def test_a_card_that_looked_the_same_before_had_come_up_by_then_unless_the_eye_had_read_that_frame() -> None:
    stream, pile = frames("..???"), Pile(card_height=120.0)
    now: SeenFrame = stream.moments[-1]
    stream.moments[3].half = now.half
    assert first_signs(CARD, now, stream, pile).sure == 3
    stream.moments[3].looked = True
    signs = first_signs(CARD, now, stream, pile)
    assert (signs.sure, signs.maybe) == (4, 2)


def test_white_paper_on_a_known_cards_way_is_no_sure_sign_of_another() -> None:
    stream = frames("...WWW")
    paper_of(stream).doubt_way(CARD, 3 * SPACING, 4 * SPACING)
    assert [s.sure for moment in stream.moments for s in moment.suspects] == [False, False, True]
    paper_of(stream).explain_way(CARD, 3 * SPACING, 4 * SPACING)
    assert [len(moment.suspects) for moment in stream.moments] == [0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize(("shown", "moving", "bare"), [("..?", True, True), (".w?", True, False), (".w?", False, True)])
def test_white_that_goes_while_a_hand_moves_may_lie_in_its_shadow(shown: str, moving: bool, bare: bool) -> None:
    """A queen was carried in for half a second, and the frame in which a shadow fell on it counted as bare."""
    stream = frames(shown)
    now = stream.moments[-1]
    now.glance.moving = np.full((8, 8), 255 if moving else 0, np.uint8)
    Occasions(Motion(), stream, Pile(card_height=120.0)).arises(now, (0, 0, 320, 320), None)
    assert now.bare == bare
