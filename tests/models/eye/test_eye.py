"""The eye from end to end on rendered scenes of decks it never trained on, and its errors for bad inputs."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from hardware.simulated.decks.packs import PrintedDeck
from models.evaluation.photo_match import Label, match
from models.eye.eye import CardSeen, Eye, ImageError, WeightsBroken, WeightsMissing
from models.eye.networks import WEIGHTS

Pose = tuple[str, float, float, float]


@pytest.fixture(scope="module")
def eye() -> Eye:
    return Eye.load()


def table(cards: list[Pose], family: str = "harbour", size: tuple[int, int] = (1280, 960)) -> np.ndarray:
    """Return cards (name, x, y, degrees) of one of the simulated table's decks on green cloth, later ones on top."""
    rng = np.random.default_rng(7)
    noise = rng.normal(0, 5, (size[1], size[0], 3))
    image = np.clip(np.array([70, 95, 60]) + noise, 0, 255).astype(np.uint8)
    deck = PrintedDeck(family, 1.7)
    for name, x, y, angle in cards:
        picture = deck.picture(name)
        h, w = picture.shape[:2]
        turn = cv2.getRotationMatrix2D((w / 2, h / 2), angle, 1)
        turn[:, 2] += [x - w / 2, y - h / 2]
        laid = cv2.warpAffine(picture, turn, size, flags=cv2.INTER_LINEAR)
        bare = 1 - laid[..., 3:].astype(np.float32) / 255
        image = (image * bare + laid[..., :3]).clip(0, 255).astype(np.uint8)
    return np.asarray(cv2.GaussianBlur(image, (0, 0), 0.6), np.uint8)


SPREAD: list[Pose] = [("7h", 250, 250, 20), ("Ks", 640, 300, 140), ("Td", 1000, 260, -75), ("2c", 400, 680, 180)]


@pytest.mark.parametrize("family", ["harbour", "meadow"])
def test_a_spread_is_read_with_places_and_corners(eye: Eye, family: str) -> None:
    seen = eye.recognise(table(SPREAD, family))
    for name, x, y, _ in SPREAD:
        mine = [s for s in seen if s.card == name]
        assert len(mine) == 1, f"{name}: {[(s.card, round(s.confidence, 2)) for s in seen]}"
        assert np.linalg.norm(mine[0].corners.mean(0) - [x, y]) < 12
        sides = np.linalg.norm(np.roll(mine[0].corners, -1, 0) - mine[0].corners, axis=1)
        width, height = PrintedDeck(family, 1.7).picture(name).shape[1::-1]
        assert np.allclose(sides, [width, height, width, height], rtol=0.16)
        assert mine[0].top
    assert len(seen) == len(SPREAD)


def test_the_top_of_a_messy_pile(eye: Eye) -> None:
    pile: list[Pose] = [("9s", 620, 470, 10), ("4d", 655, 500, 75), ("Jc", 630, 490, 130), ("8h", 650, 475, 200)]
    tops = [s.card for s in eye.recognise(table(pile)) if s.top]
    assert tops == ["8h"]


def test_a_region_is_read_in_the_pictures_coordinates(eye: Eye) -> None:
    image = table(SPREAD)
    seen = eye.read_at(image, (480, 140, 800, 460))
    assert [s.card for s in seen] == ["Ks"]
    assert np.linalg.norm(seen[0].corners.mean(0) - [640, 300]) < 12
    assert eye.read_at(image, (-50, -50, 4, 4)) == []


def test_a_region_is_read_alike_where_the_cards_height_is_known(eye: Eye) -> None:
    region = (100, 60, 1180, 900)
    image = table(SPREAD)
    anyhow = eye.read_at(image, region)
    height = float(np.median([np.linalg.norm(s.corners[3] - s.corners[0]) for s in anyhow]))
    assert {s.card for s in eye.read_at(image, region, height)} == {s.card for s in anyhow}


def test_an_empty_table_holds_no_card(eye: Eye) -> None:
    assert eye.recognise(table([])) == []


def test_the_same_picture_is_read_the_same(eye: Eye) -> None:
    image = table(SPREAD)
    first, second = eye.recognise(image), eye.recognise(image)
    assert [(s.card, s.confidence) for s in first] == [(s.card, s.confidence) for s in second]


@pytest.mark.parametrize(
    ("image", "word"),
    [
        (None, "NoneType"),
        (np.zeros((0, 0, 3), np.uint8), "too small"),
        (np.zeros((100, 100), np.uint8), "colour"),
        (np.zeros((100, 100, 4), np.uint8), "colour"),
        (np.zeros((100, 100, 3), np.float32), "uint8"),
    ],
)
def test_what_is_no_picture_is_refused_in_words(eye: Eye, image: np.ndarray, word: str) -> None:
    with pytest.raises(ImageError, match=word):
        eye.recognise(image)
    with pytest.raises(ImageError, match=word):
        eye.read_at(image, (0, 0, 50, 50))


@pytest.mark.parametrize("shape", [(16, 16), (17, 300), (250, 31), (101, 103)])
def test_odd_sizes_are_read(eye: Eye, shape: tuple[int, int]) -> None:
    assert isinstance(eye.recognise(np.full((*shape, 3), 90, np.uint8)), list)


def test_missing_weights_say_how_to_mend(tmp_path: Path) -> None:
    with pytest.raises(WeightsMissing, match="make train"):
        Eye.load(tmp_path)


def test_broken_weights_say_how_to_mend(tmp_path: Path) -> None:
    for name in ("finder.ncnn", "reader.ncnn", "card.ncnn"):
        (tmp_path / name).write_bytes(b"no model")
    (tmp_path / "calibration.json").write_text("{}")
    with pytest.raises(WeightsBroken, match="git checkout"):
        Eye.load(tmp_path)


def test_weights_that_tell_other_letters_are_refused(tmp_path: Path) -> None:
    for name in ("finder.ncnn", "reader.ncnn", "card.ncnn", "calibration.json"):
        (tmp_path / name).write_bytes((WEIGHTS / name).read_bytes())
    # A finder reports no letters at all.
    (tmp_path / "card.ncnn").write_bytes((WEIGHTS / "finder.ncnn").read_bytes())
    with pytest.raises(WeightsBroken, match=r"card\.ncnn is of another version"):
        Eye.load(tmp_path)


def reading(card: str, confidence: float, x: float, y: float) -> CardSeen:
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * 10.0
    return CardSeen(card, confidence, square + np.array([x, y]), True, 0.9, np.array([[x, y]]))


def test_scoring_follows_the_log_formats_words() -> None:
    labels = [Label("7h", (0, 0, 100, 100)), Label("Ks", (200, 0, 300, 100)), Label("2c", None)]
    seen = [
        reading("7h", 0.99, 50, 50),
        reading("7h", 0.95, 60, 60),  # serves no second label
        reading("Ks", 0.5, 314, 50),  # within the margin of 15 %
        reading("2c", 0.91, 900, 900),  # a label without a box
        reading("9d", 0.89, 10, 10),  # wrong, but not said surely
    ]
    tally = match("", labels, seen).tally
    assert (tally.cards, tally.right, tally.right_sure, tally.false_sure) == (3, 3, 2, 1)
    assert match("", labels[1:2], [reading("Ks", 0.99, 316, 50)]).tally.right == 0
