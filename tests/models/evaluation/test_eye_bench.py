"""The tools of `make bench`: damaged scenes with a known truth, scoring, stopwatches; and the weights' size."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from models.eye.eye import CardSeen
from models.eye.networks import WEIGHTS
from tests.models.evaluation.damaged import HEIGHTS, Scene, Shown, scene, scenes
from tools.measure import instructions, pace
from tools.measure.held_back import Figures, lines, take_in, together

MOST_BYTES = 10_000_000


def test_the_weights_stay_small() -> None:
    sizes = {path.suffix: path.stat().st_size for path in WEIGHTS.iterdir()}
    assert ".ncnn" in sizes
    assert sum(path.stat().st_size for path in WEIGHTS.iterdir()) <= MOST_BYTES


def test_a_scene_is_a_function_of_its_seed() -> None:
    one, same, other = scene("harbour", (5, 1)), scene("harbour", (5, 1)), scene("harbour", (5, 2))
    assert np.array_equal(one.image, same.image)
    assert [c.card for c in one.cards] == [c.card for c in same.cards]
    assert one.image.shape != other.image.shape or not np.array_equal(one.image, other.image)


def test_what_is_said_of_the_cards_fits_the_picture() -> None:
    shown = list(scenes(40, 9))
    assert {s.family for s in shown} == {"archive", "carnival", "harbour", "meadow"}
    for drawn in shown:
        assert HEIGHTS[0] <= drawn.height <= HEIGHTS[1]
        assert len({c.card for c in drawn.cards}) == len(drawn.cards) > 0
        upper = drawn.cards[-1]
        h, w = drawn.image.shape[:2]
        assert upper.bare or bool(((upper.quad < 0) | (upper.quad > [w, h])).any())
        for lower in drawn.cards[:-1]:
            shared, _ = cv2.intersectConvexConvex(lower.quad.astype(np.float32), upper.quad.astype(np.float32))
            if shared > 0.1 * abs(cv2.contourArea(upper.quad.astype(np.float32))) and (upper.quad > 0).all():
                assert not lower.bare or bool((upper.quad > [w, h]).any())


def reading(card: Shown, name: str, confidence: float, shift: float = 0.0) -> CardSeen:
    quad = card.quad + shift
    return CardSeen(name, confidence, quad, True, 0.9, np.array([quad.mean(0)]))


def told(*readings: tuple[str, float, float]) -> Figures:
    """Return figures of a scene of one card, the seven of hearts, with this reading."""
    quad = np.array([[100, 100], [240, 100], [240, 300], [100, 300]], np.float64)
    card = Shown("7h", quad, 1.0, True)
    one = Scene(np.zeros((400, 400, 3), np.uint8), [card], 200.0, "harbour")
    figures = Figures()
    take_in(figures, one, [reading(card, *r) for r in readings])
    return figures


@pytest.mark.parametrize(
    ("readings", "right", "sure", "wrong_sure"),
    [
        ([], 0, 0, 0),
        ([("7h", 0.95, 0.0)], 1, 1, 0),
        ([("7h", 0.7, 0.0)], 1, 0, 0),
        ([("9h", 0.95, 0.0)], 0, 0, 1),
        ([("7h", 0.95, 250.0)], 0, 0, 1),
        ([("??", 0.2, 0.0)], 0, 0, 0),
        ([("7h", 0.95, 0.0), ("7h", 0.92, 250.0)], 1, 1, 1),
    ],
)
def test_a_reading_is_right_where_a_card_of_its_name_lies(
    readings: list[tuple[str, float, float]], right: int, sure: int, wrong_sure: int
) -> None:
    got = told(*readings)
    assert (got.cards, got.right, got.sure, got.wrong_sure) == (1, right, sure, wrong_sure)
    assert (got.tops, got.tops_right, got.tops_sure) == (1, right, sure)


def test_the_table_adds_up_the_bands() -> None:
    parts = {"low": told(("7h", 0.95, 0.0)), "high": told(("9h", 0.95, 0.0))}
    assert together(parts.values()).cards == 2
    assert lines(parts).splitlines()[-1].startswith("| all | 2 | 2 | 50.0 | 50.0 | 2 | 1 |")


def test_an_inner_part_is_not_counted_for_the_outer_one() -> None:
    now = [0.0]
    watch = pace.Stopwatch(clock=lambda: now[0])

    def inner() -> None:
        now[0] += 3.0

    def outer() -> None:
        now[0] += 1.0
        inside()
        now[0] += 0.5

    inside = watch.timed("inner", inner)
    watch.timed("outer", outer)()
    assert watch.take() == {"outer": 1.5, "inner": 3.0}
    assert watch.take() == {}


def test_a_network_s_multiplications_are_those_of_its_layers() -> None:
    # Of the finder's first layers: 5 x 5 of 3 channels for 16 at half the size; the 14 others are as plain.
    per_pixel = pace.multiplications(WEIGHTS / "finder.ncnn", 64, 96)
    assert per_pixel == pace.multiplications(WEIGHTS / "finder.ncnn", 32, 32) == 4617.0


def test_a_missed_target_is_called_missed() -> None:
    slow, quick = pace.Pace(), pace.Pace()
    for _ in range(3):
        slow.add(0.040, {"finding": 0.030}, {"finder": 0.5e9, "reader": 0.25e9})
    quick.add(0.002, {"motion": 0.001}, {})
    text = pace.lines({"read": slow, "quiet": quick}, 2)
    assert "read: 40.0 ms, 95 % within 40.0 ms; wanted 25 ms: MISSED" in text
    assert "| read | 3 | 40.0 | 0.0 | 30.0 | 0.0 | 0.0 | 0.0 | 0.0 | 0.0 | 10.0 |" in text
    assert "wanted 3 ms: met" in text
    assert "that is read, median: 0.75 G; finder 0.50, reader 0.25, card 0.00" in text
    assert "3 looks for 2 cards: 1.5 a card" in text


def test_a_look_s_networks_alone_gain_from_threads() -> None:
    kinds = {
        "read": {"whole": [300.0, 330.0, 340.0], "networks": [200.0, 220.0, 230.0]},
        "glanced": {"whole": [12.0], "networks": [0.0]},
    }
    text = instructions.report({"kinds": kinds, "cards": [700.0, 800.0]}, 20.0, (640, 480))
    four = instructions.BOARDS["Pi 4"]
    assert "| read | 3 | 330 | 220 | " in text
    assert f"| {220 / four.rate / instructions.SPEED_UP + 110 / four.rate:.0f} |" in text
    assert "2 cards, 1.5 looks each; from the first look to the report, median: 750 M instructions" in text


def test_a_replayed_network_costs_what_its_pixels_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = tmp_path / "count"
    count.write_bytes(bytes(4096))
    monkeypatch.setenv(instructions.COUNTER, str(count))
    clock = instructions.InstructionClock()

    def network(batch: np.ndarray) -> str:
        clock.charged += 0.5 * batch[..., 0].size
        return "computed"

    replayed = instructions.ReplayedNetwork(network, clock, (1, 4, 4))
    begin, shape = clock(), (2, 8, 8, 3)
    replayed.answers = [(shape, "recorded")]
    assert replayed(np.zeros(shape, np.uint8)) == "recorded"
    assert clock() - begin == 0.5 * 128
    assert replayed(np.zeros(shape, np.uint8)) == "computed"
