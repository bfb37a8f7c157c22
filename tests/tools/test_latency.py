"""The measurement of `make latency` itself, on a few slaps: its limits are for a machine with nothing else to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.share import percentile
from tools.measure.histogram import draw_histograms
from tools.measure.latency import Measured, Row, measure, rows

WEIGHTS = Path(__file__).parents[2] / "models" / "weights"


@pytest.mark.slow
@pytest.mark.skipif(not (WEIGHTS / "finder.ncnn").exists(), reason="the eye's weights are not here")
def test_every_first_hand_is_lit_long_before_its_verdict() -> None:
    # How many hands fall on one pile is chance: five hands sometimes make only two first hands.
    out = measure(8, wanted_sound=False)
    assert len(out.light) >= 3
    # A busy machine wakes a bare loop as late.
    assert max(out.light) < 250 + max(out.control), "a frame's look, a drawing or a verdict was waited for"
    assert len(out.control) >= 5, "the control was woken by each hand"
    # A busy machine looks at fewer.
    assert out.frames >= 1
    assert out.busy > 0.01


def test_a_missed_limit_is_told(tmp_path: Path) -> None:
    values = [1.0] * 98 + [30.0, 40.0]
    assert percentile(values, 0.5) == 1.0
    assert percentile(values, 0.99) == 30.0
    assert not Row("late", values, 10.0).kept
    assert "MISSED" in Row("late", values, 10.0).text()
    assert Row("well", values, 30.0).kept
    assert not Row("never", [], 10.0).kept
    assert Row("late", values, 10.0, control=[21.0]).kept, "this machine wakes no program sooner"
    assert not Row("late", values, 10.0, control=[19.0]).kept
    assert [row.limit for row in rows(Measured(), with_sound=True)] == [None, 5.0, 5.0, 30.0, None]
    draw_histograms(tmp_path / "a.png", [("late", values, 10.0)])
    assert (tmp_path / "a.png").stat().st_size > 500
