"""The last frames, and which of them are given out: pure, with images that are only their own instant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from referee.vision.picture_buffer import APART, MOST_ASKED, REACH, WIDTH, PictureRing, Span, jpeg, shrunk

MS = 1_000_000
EXPOSURE = 4 * MS


class Shown:
    """A ring, and its input: frames of one pixel each."""

    def __init__(self) -> None:
        self.ring = PictureRing(encode=lambda image: bytes(image.tobytes()))

    def frames(self, start: int, stop: int, every: int) -> None:
        """Return frames from ``start`` to before ``stop``, ms."""
        for t in range(start, stop, every):
            self.ring.add(np.full((1, 1, 3), t % 251, np.uint8), t * MS, EXPOSURE)

    def take(self, most: int = 1000) -> list[int]:
        """Return instants of the next pictures, ms."""
        return [picture.t // MS for picture in self.ring.take(most)]


@pytest.fixture
def shown() -> Shown:
    return Shown()


def span(start: int, stop: int) -> Span:
    return Span(start * MS, stop * MS)


def test_nothing_is_given_out_unasked(shown: Shown) -> None:
    shown.frames(0, 2000, 50)
    assert shown.take() == []


def test_frames_that_are_there_come_at_once_and_the_others_when_they_are(shown: Shown) -> None:
    shown.frames(0, 1000, 50)
    shown.ring.want(span(850, 1100))
    assert shown.take() == [850, 900, 950]
    shown.frames(1000, 1050, 50)
    assert shown.take() == [1000]
    shown.frames(1050, 1500, 50)
    assert shown.take() == [1050, 1100]
    assert shown.take() == []


def test_few_at_a_time_and_each_frame_once_though_two_slaps_ask_for_it(shown: Shown) -> None:
    shown.frames(0, 500, 50)
    shown.ring.want(span(100, 300))
    shown.ring.want(span(200, 400))
    assert [shown.take(2) for _ in range(5)] == [[100, 150], [200, 250], [300, 350], [400], []]
    shown.ring.want(span(150, 450))
    assert shown.take() == [450]


def test_a_picture_is_its_frame(shown: Shown) -> None:
    shown.frames(0, 500, 50)
    shown.ring.want(span(150, 150))
    (picture,) = shown.ring.take(5)
    assert (picture.t, picture.exposure, picture.jpeg) == (150 * MS, EXPOSURE, bytes([150] * 3))


def test_what_is_older_than_the_ring_reaches_is_gone(shown: Shown) -> None:
    shown.frames(0, 4001, 100)
    shown.ring.want(span(0, 1200))
    assert shown.take() == [4000 - REACH // MS, 1100, 1200]


def test_a_gap_in_the_frames_is_a_gap_in_the_pictures(shown: Shown) -> None:
    shown.frames(0, 300, 50)
    shown.ring.want(span(200, 900))
    shown.frames(800, 1000, 50)
    assert shown.take() == [200, 250, 800, 850, 900]


def test_a_stretch_without_frames_is_done_with(shown: Shown) -> None:
    shown.ring.want(span(100, 200))
    shown.frames(300, 400, 50)
    assert shown.take() == []
    assert not shown.ring._asked


def test_a_fast_camera_fills_no_more_memory(shown: Shown) -> None:
    shown.frames(0, 5000, 5)
    assert len(shown.ring._frames) <= REACH // APART + 1
    shown.ring.want(span(4000, 4100))
    assert shown.take() == [4000, 4025, 4050, 4075, 4100]


def test_who_asks_for_ever_more_gives_up_the_oldest(shown: Shown) -> None:
    shown.frames(0, 100, 50)
    for number in range(MOST_ASKED + 1):
        shown.ring.want(span(number, number))
    assert shown.take() == [], "the one about 0 ms was given up, and no other is about a frame"


def test_a_picture_that_cannot_be_made_is_left_out() -> None:
    ring = PictureRing(encode=lambda _: None)
    ring.add(np.zeros((1, 1, 3), np.uint8), 5, 1)
    ring.want(Span(0, 9))
    assert ring.take(9) == []


@pytest.mark.parametrize(
    ("size", "small"),
    [((864, 1536), (180, 320)), ((720, 960), (240, 320)), ((480, 640), (240, 320)), ((400, 500), (256, 320)),
     ((320, 320), (320, 320)), ((90, 120), (90, 120)), ((1, 5000), (1, 320))],
)  # fmt: skip
def test_frames_are_made_small_and_are_the_rings_own(size: tuple[int, int], small: tuple[int, int]) -> None:
    image = np.full((*size, 3), 200, np.uint8)
    made: Any = shrunk(image)
    image[:] = 0
    assert made.shape == (*small, 3)
    assert made.shape[1] <= WIDTH
    assert made.min() == made.max() == 200
    data = jpeg(made)
    assert data is not None
    assert data.startswith(b"\xff\xd8")
