"""Faces printed on the table's cloth: no cards after a look at the bare table; a card laid on them is reported."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from hardware.simulated.table.script import play_game
from hardware.simulated.table.simulated_table import SimulatedTable
from models.eye.eye import CardSeen
from models.watch.bare_table import BareTable
from models.watch.watcher import Watcher
from referee.engine.observations import Card, Observation
from tests.models.watch.painted import Painted, ToldEye, grain, picture
from tests.models.watch.test_watcher import Stream
from tests.support.printed_cloth import PRINTS, PrintedScene

PRINTED = (Painted("Ad", 480, 360, 12), Painted("Ac", 250, 250, -40), Painted("As", 720, 480, 100))
LAID = Painted("9h", 480, 366, -20)
BARE = BareTable(picture(PRINTED, noise=3))


def readings(cards: tuple[Painted, ...]) -> list[CardSeen]:
    return ToldEye(cards).recognise(picture(cards))


def test_without_a_look_at_the_bare_table_prints_are_told() -> None:
    stream = Stream()
    stream.show(PRINTED, frames=6)
    assert set(stream.names) == {"Ad", "Ac", "As"}


def test_after_it_they_are_never_told_and_a_card_laid_on_one_is() -> None:
    stream = Stream(bare=BARE)
    stream.show(PRINTED, frames=10)
    stream.lay(list(PRINTED), LAID, 270)
    stream.show([*PRINTED, LAID], frames=10)
    assert stream.names == ["9h"]
    assert stream.cards[0].seat == 1


@pytest.mark.parametrize("light", [0.45, 0.7, 1.0, 1.35])
@pytest.mark.parametrize("moved", [0, 3, 6])
def test_a_print_is_known_in_other_light_with_noise_and_where_the_camera_was_knocked(light: float, moved: int) -> None:
    image = cv2.convertScaleAbs(picture(PRINTED, noise=2), alpha=light)
    image = np.asarray(np.roll(image, (moved, -moved), axis=(0, 1)), np.uint8)
    by = np.array([-moved, moved])
    seen = [
        replace(reading, corners=reading.corners + by, indices=reading.indices + by) for reading in readings(PRINTED)
    ]
    assert BARE.without_prints(image, seen) == []


@pytest.mark.parametrize(("dx", "dy", "turn"), [(30, -40, 3.0), (-25, 10, -2.0), (0, 35, 0.0)])
def test_the_prints_are_known_after_a_hard_knock(dx: float, dy: float, turn: float) -> None:
    """The picture's shift is found by its fine detail, and given in pixels."""
    bare = BareTable(cv2.add(picture(PRINTED), grain(5)))
    assert bare.without_prints(cv2.add(picture(PRINTED), grain(6)), readings(PRINTED)) == []
    laid = (*PRINTED, Painted("9h", 500, 160, -20))
    matrix = cv2.getRotationMatrix2D((480, 360), turn, 1.0)
    matrix[:, 2] += (dx, dy)
    image = cv2.warpAffine(cv2.add(picture(laid), grain(7)), matrix, (960, 720))
    seen = [
        replace(
            reading, corners=reading.corners @ matrix[:, :2].T + matrix[:, 2], indices=moved(reading.indices, matrix)
        )
        for reading in readings(laid)
    ]
    left = bare.without_prints(np.asarray(image, np.uint8), seen)
    assert [card.card for card in left] == ["9h"]
    assert np.abs(moved(np.array([[480.0, 360.0]]), bare.shift) - moved(np.array([[480.0, 360.0]]), matrix)).max() < 4


def moved(points: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    return np.asarray(points @ matrix[:, :2].T + matrix[:, 2])


def test_a_print_half_under_a_card_or_a_shadow_is_still_a_print() -> None:
    table = (*PRINTED, Painted("9h", 480 + 60, 360 + 85, 12))
    left = BARE.without_prints(picture(table), readings(table))
    assert [seen.card for seen in left] == ["9h"]
    shaded = picture(PRINTED)
    shaded[:, 460:] = (shaded[:, 460:] * 0.6).astype(np.uint8)
    assert BARE.without_prints(shaded, readings(PRINTED)) == []


def test_a_print_half_under_a_hand_is_still_a_print_after_a_knock() -> None:
    """Its known place moves with the picture's shift."""
    bare = BareTable(cv2.add(picture(PRINTED), grain(5)))
    assert bare.without_prints(cv2.add(picture(PRINTED), grain(6)), readings(PRINTED)) == []
    hand = cv2.add(picture(PRINTED, (0, 478, 310)), grain(7))
    image = np.asarray(cv2.warpAffine(hand, np.array([[1, 0, 30], [0, 1, -40.0]]), (960, 720)), np.uint8)
    by = (30, -40)
    seen = [
        replace(reading, indices=reading.indices[:1] + by, corners=reading.corners + by)
        for reading in readings(PRINTED)
    ]
    assert bare.without_prints(image, seen) == []


def test_the_camera_may_give_another_size_by_now() -> None:
    half = cv2.resize(picture(PRINTED), None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    bare = BareTable(np.asarray(half, np.uint8))
    assert bare.without_prints(picture(PRINTED), readings(PRINTED)) == []
    assert len(bare.without_prints(picture((*PRINTED, LAID)), readings((LAID,)))) == 1


@pytest.mark.parametrize("seed", range(8))
def test_a_card_laid_anywhere_on_a_print_is_a_card(seed: int) -> None:
    """The print's own card, too, unless it matches it to a few pixels."""
    chance = np.random.default_rng(seed)
    for name in ("Ad", "7s", "Qh"):
        x, y = chance.uniform(-40, 40, 2)
        if name == "Ad" and max(abs(x), abs(y)) < 12:
            continue
        laid = Painted(name, 480 + float(x), 360 + float(y), float(chance.uniform(-180, 180)))
        image = cv2.add(picture((*PRINTED, laid)), grain(seed))
        assert len(BARE.without_prints(image, readings((laid,)))) == 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_game_on_a_cloth_with_four_printed_faces(seed: int) -> None:
    """With the shipped eye; one print lies where the pile does."""
    from models.eye.eye import Eye, WeightsMissing

    try:
        eye = Eye.load()
    except WeightsMissing as error:
        pytest.skip(f"the eye has no weights here: {error}")
    script = play_game(seed, 4, max_cards=3)
    table = SimulatedTable(script, 15, scene=PrintedScene)
    bare = cv2.add(table.scene.bare, grain(1))
    assert len(eye.recognise(bare)) == PRINTS, "the eye reads every print"
    watcher = Watcher(eye, seat_bearings=dict(enumerate(table.seat_bearings, 1)), bare=BareTable(bare))
    seen: list[Observation] = []
    for frame in table.frames():
        seen += watcher.feed(frame.image, frame.t, frame.exposure)
    seen += watcher.finish()
    laid = [line.card for line in script.truth if isinstance(line, Card)]
    assert [line.card for line in seen if isinstance(line, Card)] == laid
