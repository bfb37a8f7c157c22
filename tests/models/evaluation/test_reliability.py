"""Bins of confidence, their intervals and their sums."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from models.evaluation.reliability import (
    ScoredReading,
    bins,
    calibration_error,
    reliability_table,
    save_chart,
    summary,
)
from referee.share import wilson


def readings(confidence: float, right: int, wrong: int) -> list[ScoredReading]:
    return [ScoredReading(confidence, True)] * right + [ScoredReading(confidence, False)] * wrong


def test_wilson_agrees_with_published_values() -> None:
    # Newcombe, Two-sided confidence intervals for the single proportion, 1998, table I: 81 of 263, 0 of 20, 1 of 29.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=2e-4)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=2e-4)
    assert wilson(1, 29) == pytest.approx((0.0061, 0.1718), abs=2e-4)
    assert wilson(0, 0) == (0.0, 1.0)


def test_each_reading_with_a_name_is_in_one_bin_certainty_included() -> None:
    said = [ScoredReading(c, True) for c in (0.3, 0.5, 0.8999, 0.9, 0.999, 1.0)]
    filled = bins(said)
    assert sum(b.count for b in filled) == len(said)
    assert (filled[-1].low, filled[-1].count) == (0.999, 2)


def test_the_calibration_error_is_how_far_saying_and_being_right_lie_apart() -> None:
    assert calibration_error(readings(0.75, 75, 25)) == pytest.approx(0.0)
    assert calibration_error(readings(0.95, 85, 15)) == pytest.approx(0.1)
    assert calibration_error(readings(0.75, 100, 0) + readings(0.95, 95, 5)) == pytest.approx(0.125)
    assert calibration_error([]) == 0.0


def test_the_words_count_wrong_among_the_sure_and_sure_among_the_right() -> None:
    text = summary(readings(0.95, 98, 2) + readings(0.6, 50, 10))
    assert "wrong among those said with 0.9 or more: 2 of 100 = 2.00 %" in text
    assert "right ones said with 0.9 or more: 98 of 148" in text


def test_the_table_says_nothing_of_an_empty_bin() -> None:
    lines = reliability_table(readings(0.95, 9, 1)).splitlines()
    assert "| 0.95 – 0.98 | 10 | 95.00 | 90.00 |" in "\n".join(lines)
    assert lines[2] == "| 0.3 – 0.5 | 0 | – | – | – |"


def test_the_plot_shows_where_the_readings_lie(tmp_path: Path) -> None:
    pictures = []
    for name, shown in (("good", readings(0.85, 850, 150)), ("bad", readings(0.85, 200, 800)), ("none", [])):
        save_chart(shown, "one", tmp_path / f"{name}.png")
        pictures.append(np.asarray(cv2.imread(str(tmp_path / f"{name}.png"))))
    good, bad, none = pictures
    assert good.shape == bad.shape == none.shape and min(good.shape[:2]) > 500
    assert not np.array_equal(good, bad) and not np.array_equal(good, none)
