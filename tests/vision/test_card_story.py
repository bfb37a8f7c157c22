"""The story of a reported card: it is the record of the run, and its drawing shows all of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from hardware.ports import Frame
from referee.cli import main
from referee.errors import UserError
from referee.text.catalogue import LANGUAGES, texts
from referee.units import MS
from referee.vision.card_story import CardStory, StoryTeller, read_as
from referee.web.card_story_svg import story_svg, write_story
from tests.models.watch.painted import SPACING, Painted
from tests.models.watch.test_watcher import KING, SEVEN, TWO, Stream

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "vision-card.svg"
SCRAP = replace(TWO, says="Jd", confidence=0.4)
"""A doubtful reading of the card that is being laid."""


class ToldStream(Stream):
    """Painted frames whose stories are told."""

    def __init__(self, truth: Sequence[tuple[int, str]] = ()) -> None:
        super().__init__()
        self.teller, self.stories = StoryTeller(truth), list[CardStory]()

    def show(
        self, cards: Sequence[Painted] = (), arm: tuple[float, float, float] | None = None, frames: int = 1
    ) -> None:
        for _ in range(frames):
            super().show(cards, arm)
            frame = Frame(self.eye.shown[-1][0], self.t - SPACING, 4 * MS, self.t // SPACING)
            self.stories += self.teller.note(frame, self.watcher)

    def end(self) -> dict[str, CardStory]:
        """End the stream; return the stories by the cards' names."""
        self.why += [] if self.watcher.finish() else self.watcher.evidence
        self.stories += self.teller.finish(self.watcher)
        return {story.card.card: story for story in self.stories}


def three_cards() -> ToldStream:
    """Lay three cards; the eye misreads the last one at first."""
    stream = ToldStream([(700 * MS, "7h"), (60_000 * MS, "Ks")])
    stream.show(frames=4)
    stream.lay([], SEVEN, 270)
    stream.lay([SEVEN], KING, 180)
    stream.show([SEVEN, KING], frames=2)
    stream.show([SEVEN, KING, SCRAP], (270, 480, 560), frames=2)
    stream.show([SEVEN, KING, TWO], (270, 480, 560), frames=3)
    stream.show([SEVEN, KING, TWO], frames=12)
    return stream


def test_each_reported_card_has_its_story_and_all_of_it_comes_from_the_record() -> None:
    stream = three_cards()
    stories = stream.end()
    assert list(stories) == stream.names == ["7h", "Ks", "2c"]
    for story in stories.values():
        assert story.evidence in stream.why and story.evidence.observation == story.card
        assert all(rival in stream.why and rival.observation is None for rival in story.rivals)
        looks = {look.t for look in story.evidence.looks}
        instants = looks | {frame.t for frame in story.evidence.frames} | {story.evidence.t}
        assert story.start < min(instants) <= max(instants) < story.end
        assert 2 <= len(story.photos) <= 5 and {photo.t for photo in story.photos} <= instants
        assert {photo.t for photo in story.photos if photo.outlines} & looks
        assert story.promised < story.card.t - story.card.t_error
    assert [story.truth for story in stories.values()] == [700 * MS, None, None]


def test_a_dropped_reading_is_in_the_story_of_the_card_that_it_was_read_beside() -> None:
    stories = three_cards().end()
    assert "Jd" in [read_as(rival) for rival in stories["2c"].rivals]
    assert not stories["7h"].rivals


def test_a_photo_shows_the_card_where_it_was_read_even_if_large_frames_are_kept_reduced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = three_cards().end()["2c"].photos
    monkeypatch.setattr("referee.vision.card_story._ROWS", 360)
    half = three_cards().end()["2c"].photos
    assert [photo.outlines for photo in half] == [photo.outlines for photo in whole]
    assert abs(bright(half[-1].webp) - bright(whole[-1].webp)) < 4


def bright(webp: bytes) -> float:
    import cv2
    import numpy as np

    return float(np.asarray(cv2.imdecode(np.frombuffer(webp, np.uint8), cv2.IMREAD_COLOR)).mean())


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_drawing_names_each_reading_and_each_reason(language: str) -> None:
    words, story = texts(language), three_cards().end()["2c"]
    drawn = unescape(story_svg(story, words))
    said = " ".join(re.findall(r"<text[^>]*>([^<]*)", drawn))
    assert drawn.count("<image") == len(story.photos)
    for evidence in (story.evidence, *story.rivals):
        assert " ".join(words(f"watch.reason.{evidence.reason}").split()) in said
    assert words.number(story.evidence.looks[0].confidence, 2) in said
    assert words("watch.drawn.told") in said and words("watch.drawn.truth") not in said


def test_a_folder_that_cannot_be_written_is_the_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="cannot be written"):
        write_story(three_cards().end()["7h"], tmp_path / "file", texts("en"))


@pytest.mark.skipif(not (ROOT / "models" / "weights" / "finder.ncnn").exists(), reason="the eye's weights are not here")
def test_the_documents_drawing_is_of_this_run_and_its_span_holds_the_truth() -> None:
    """Where this fails, draw it anew: make pictures."""
    from tools.eye_stages import told_card

    story = told_card()
    assert story.truth is not None and abs(story.truth - story.card.t) <= story.card.t_error
    assert story.rivals
    assert described(story_svg(story, texts("en"))) == described(PICTURE.read_text(encoding="utf-8"))


def described(drawn: str) -> list[str]:
    """Return all words of a drawing but the confidences, which the processor rounds in its own way."""
    return re.findall(r"<(?:text|desc)[^>]*>([^<]*)", re.sub(r" [01]\.\d\d\b", "", drawn))


@pytest.mark.skipif(not (ROOT / "models" / "weights" / "finder.ncnn").exists(), reason="the eye's weights are not here")
def test_the_command_draws_each_card(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frames, drawn = str(tmp_path / "frames"), tmp_path / "drawn"
    main(["demo", "--no-pace", "--seed", "3", "--max-cards", "2", "--frames", frames])
    capsys.readouterr()
    assert main(["watch", "--draw", str(drawn), frames]) == 0
    told = [line for line in capsys.readouterr().out.splitlines() if '"card"' in line]
    assert sorted(file.name for file in drawn.iterdir()) == ["c1.svg", "c2.svg"] and len(told) == 2
    assert texts("en")("watch.drawn.truth") in (drawn / "c1.svg").read_text(encoding="utf-8")
