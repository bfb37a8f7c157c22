"""What the table of spans counts, on reveals made up here."""

from __future__ import annotations

from referee.units import MS
from tools.measure.spans import Reveal, row


def reveal(truth: float) -> Reveal:
    """Return a span of 100 ± 20 ms beside its truth, ms."""
    return Reveal(round(truth * MS), 100 * MS, 20 * MS, 25, 4, 1, "7h")


def test_a_truth_outside_its_span_is_counted_on_either_side() -> None:
    spans = [reveal(truth) for truth in (79, 80, 100, 110, 120, 121)]
    assert [span.holds for span in spans] == [False, True, True, True, True, False]
    assert [span.before < 0 for span in spans] == [True] + [False] * 5
    assert [span.after < 0 for span in spans] == [False] * 5 + [True]
    assert row(spans).startswith("| 25 | 4 | 6 | 4 | 20.0; 20.0 | 1.00; ")
