"""The figures of a slow eye are those of the played game, and the same on any machine."""

from __future__ import annotations

import pytest

from tools.measure.slow_eye import HEADINGS, Played, play, row


@pytest.fixture(scope="module")
def games() -> list[Played]:
    from referee.errors import UserError

    try:
        return [play(5, 4.0, ms, 3, real_time=False) for ms in (16, 150)]
    except UserError as error:
        pytest.skip(f"the eye has no weights here: {error}")


def test_a_slow_eye_is_behind_and_a_quick_one_is_not(games: list[Played]) -> None:
    quick, slow = games
    assert quick.summary.cards.right == quick.summary.cards.laid == 3
    assert quick.summary.lag_ms < 150 <= slow.summary.lag_ms
    assert len(quick.looks) == 3 and sum(quick.looks) > 0


def test_a_game_is_held_against_the_quickest_eyes(games: list[Played]) -> None:
    quick, _ = games
    cells = row(4.0, 16, 5, quick, quick).strip("| ").split(" | ")
    assert len(cells) == len(HEADINGS)
    assert cells[HEADINGS.index("not as the quickest eye's")] == "0"
    other = Played(quick.summary, quick.rulings + quick.rulings)
    assert row(4.0, 16, 5, other, quick) != row(4.0, 16, 5, quick, quick)
