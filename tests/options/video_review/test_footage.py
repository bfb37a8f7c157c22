"""Footage: read once for its observations, and again for pictures of the pile."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from models.eye.eye import CardSeen
from referee.engine.observations import Card, Taken
from referee.errors import UserError
from referee.options.video_review.footage import PlacedEye, cut_pictures, picture_path, watch_footage
from referee.units import MS
from referee.vision.photos import read_image
from tests.support.scripted_watcher import ScriptedWatcher
from tests.support.uneven_video import write_uneven_video

HEIGHT = 80.0


def seen_at(x: float, y: float) -> CardSeen:
    """Return a card whose middle lies there."""
    corners = np.array([(x - 28, y - 40), (x + 28, y - 40), (x + 28, y + 40), (x - 28, y + 40)], np.float64)
    return CardSeen("7h", 0.99, corners, True, 1.0, np.zeros((0, 2)))


class PresentEye:
    """Sees cards in given places."""

    def __init__(self, *places: tuple[float, float]) -> None:
        self._seen = [seen_at(*place) for place in places]

    def recognise(self, image: Any) -> Sequence[CardSeen]:
        return self._seen

    def read_at(self, image: Any, region: Any, card_height: float | None = None) -> Sequence[CardSeen]:
        return self._seen[:1]


@pytest.fixture
def frames(tmp_path: Path) -> Path:
    """Return forty frames, each of another grey, at fifteen a second."""
    folder = tmp_path / "frames"
    folder.mkdir()
    for n in range(40):
        cv2.imwrite(str(folder / f"{n:03d}.png"), np.full((300, 400, 3), 5 * n, np.uint8))
    return folder


def test_the_pile_lies_where_most_cards_were_seen() -> None:
    """One in a hand at the picture's edge moves it little."""
    eye = PlacedEye(PresentEye((300.0, 200.0), (310.0, 210.0), (900.0, 30.0), (302.0, 204.0), (304.0, 206.0)))
    assert eye.find_place(1000, 600) is None
    assert len(eye.recognise(None)) == 5
    assert len(eye.read_at(None, (0, 0, 9, 9), HEIGHT)) == 1
    place = eye.find_place(1000, 600)
    assert place is not None
    left, top, right, bottom = place
    assert abs((left + right) / 2 - 303) < 5
    assert abs((top + bottom) / 2 - 202) < 5
    # The card in the middle is shown whole, with as much again round it.
    assert right - left == pytest.approx(3 * HEIGHT, abs=1)


def test_the_place_ends_with_the_picture() -> None:
    eye = PlacedEye(PresentEye((30.0, 280.0)))
    eye.recognise(None)
    assert eye.find_place(400, 300) == (0, 160, 150, 300)


def test_every_frame_is_looked_at_and_noted(frames: Path) -> None:
    script = [Card(t=200 * MS, id="c1", card="7h"), Taken(t=2_500 * MS, id="t1", seat=2)]
    told: list[tuple[int, int]] = []
    eye = PresentEye((200.0, 150.0))

    def watcher_of(placed: Any) -> Any:
        placed.recognise(None)
        return ScriptedWatcher(script, delay=100 * MS)

    footage = watch_footage(frames, eye, watcher_of, lambda *progress: told.append(progress))
    assert footage.seen == tuple(script)
    assert [span.t for span in footage.frames] == [round(n * 1e9 / 15) for n in range(40)]
    assert {span.exposure for span in footage.frames} == {round(1e9 / 15)}
    assert footage.place == (80, 30, 320, 270)
    assert told == [(1_000 * MS, 1), (2_000 * MS, 1)]


def test_a_videos_own_stamps_tell_when_its_frames_were_taken(tmp_path: Path) -> None:
    """A telephone's frames are uneven; the last ones of this file lie beyond the length in its header."""
    stands = [40, 40, 100, 20, 33, 70, 40, 10, 40, 40, 40, 40]
    write_uneven_video(tmp_path / "uneven.mp4", stands)
    watcher: Any = ScriptedWatcher([])
    footage = watch_footage(tmp_path / "uneven.mp4", PresentEye(), lambda _: watcher, lambda *_: None)
    told = [span.t / MS for span in footage.frames]
    assert len(told) > 8
    assert told == pytest.approx([0, *accumulate(stands)][: len(told)], abs=0.1)


def test_pictures_show_the_place_in_the_wanted_frames_alone(frames: Path, tmp_path: Path) -> None:
    cut_pictures(frames, {3, 20}, (80, 30, 320, 270), tmp_path)
    assert sorted(file.name for file in tmp_path.glob("*.jpg")) == ["20.jpg", "3.jpg"]
    image = read_image(str(picture_path(tmp_path, 20)))
    assert image.shape == (240, 240, 3)
    assert abs(int(image[5, 5, 0]) - 100) < 3


def test_without_a_place_pictures_show_the_whole(frames: Path, tmp_path: Path) -> None:
    cut_pictures(frames, {0}, None, tmp_path)
    assert read_image(str(picture_path(tmp_path, 0))).shape == (300, 400, 3)


def test_pictures_are_no_larger_than_a_page_shows(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "1.png"), np.zeros((2000, 2200, 3), np.uint8))
    cut_pictures(tmp_path, {0}, (100, 100, 1900, 1900), tmp_path)
    assert read_image(str(picture_path(tmp_path, 0))).shape == (720, 720, 3)


def test_a_folder_that_cannot_be_written_is_told(frames: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be kept"):
        cut_pictures(frames, {0}, None, tmp_path / "nowhere")
