"""Real photographs: the published figures, on every third of them.

Most readings scored as false name the right card: the label's box is around the visible part, the reading's corners
are the whole card's, hidden parts included.
"""

from pathlib import Path

import pytest

from models.evaluation.photo_match import PhotoTally, by_folder
from models.evaluation.photo_score import judge
from models.eye.eye import Eye

PHOTOS = Path(__file__).parents[3].parent / "shared" / "photos"

pytestmark = pytest.mark.skipif(
    not (PHOTOS / "labels.csv").exists(), reason="no ../shared/photos: real photographs are not part of the project"
)


@pytest.fixture(scope="module")
def tallies() -> dict[str, PhotoTally]:
    return by_folder(judge(Eye.load(), PHOTOS, every=3))


def test_rank_and_suit_are_right_on_most_cards(tallies: dict[str, PhotoTally]) -> None:
    shares = [t.right / t.cards for t in tallies.values()]
    assert sum(shares) / len(shares) >= 0.92


def test_confident_readings_are_hardly_ever_false(tallies: dict[str, PhotoTally]) -> None:
    shares = [t.false_sure / t.cards for t in tallies.values()]
    assert sum(shares) / len(shares) <= 0.01


def test_most_right_readings_are_said_with_confidence(tallies: dict[str, PhotoTally]) -> None:
    assert sum(t.right_sure for t in tallies.values()) >= 0.8 * sum(t.right for t in tallies.values())
