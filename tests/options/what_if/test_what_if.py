"""A hand or a card at another instant: the ruling that would follow, and that the game stays untouched."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from referee.engine.log import read_observations
from referee.engine.observations import Card, LogError, Observation, Slap
from referee.engine.replay import ReplayedGame, TooLong
from referee.options.what_if.moves import MOST_MOVED, Move, MoveError, WhatIf, move_line
from tests.play import MS, log

FROZEN = Path(__file__).parents[2] / "frozen" / "logs.tar.xz"
GAME = """
    1000 1:7h
    2000 2:7c
    2300 slap 3 ±1.5
    2304 slap 1 ±1.5
    2400 lift 3
    2410 lift 1
    3500 taken 3
    4000 3:9c
    5000 1:2d
"""


def numbered(text: str) -> list[tuple[int, Observation]]:
    return list(enumerate(log(text), start=1))


def moved(line: str, by: float, error: float | None = None, text: str = GAME) -> WhatIf:
    lines = numbered(text)
    move = Move(line, round(by * MS), None if error is None else round(error * MS))
    return move_line(lines, ReplayedGame(lines), move)


def verdict(found: WhatIf) -> tuple[str, int | None]:
    ruled = found.verdict.would_be
    assert ruled is not None
    return ruled.kind, ruled.get("seat")


@pytest.mark.parametrize(
    ("by", "ruled"),
    [
        (0, ("slap_won", 3)),
        (-1, ("slap_won", 3)),  # 3 ms behind: the errors' sum, and no nearer
        (-1.000001, ("dead_heat", None)),
        (-4, ("dead_heat", None)),
        (-6.999999, ("dead_heat", None)),
        (-7, ("slap_won", 1)),
        (50, ("slap_won", 3)),
    ],
)
def test_the_ruling_changes_just_where_the_margin_crosses_the_error(by: float, ruled: tuple[str, int | None]) -> None:
    found = moved("s2", by)
    assert verdict(found) == ruled
    assert found.is_other == (ruled != ("slap_won", 3))


@pytest.mark.parametrize(("error", "kind"), [(0, "slap_won"), (2.5, "slap_won"), (2.500001, "dead_heat")])
def test_a_worse_clock_makes_a_dead_heat(error: float, kind: str) -> None:
    """Nothing moves; the instant of one hand has a larger error."""
    assert verdict(moved("s2", 0, error))[0] == kind


def test_the_first_later_ruling_that_changes_is_told() -> None:
    found = moved("s2", -10)
    was, would_be = found.later
    assert was is not None and would_be is not None
    assert (was.id, was["seat"], would_be.id, would_be["seat"]) == ("pile@t1", 3, "pile@t1", 1)
    assert moved("s2", 10).later == (None, None)


def test_a_card_that_came_later_makes_a_slap_false() -> None:
    """A hand came down 20 ms after the card that made the pair; the card comes 30 ms later."""
    found = moved("c2", 30, text="1000 1:7h\n2000 2:7c\n2020 slap 3\n2100 lift 3\n")
    assert found.hand == "s1"
    assert found.verdict.was is not None and found.verdict.was.kind == "slap_won"
    assert verdict(found) == ("slap_false", 3)


def test_a_hand_is_not_lifted_before_it_came_down() -> None:
    """Else its pad would stay down, and the next slap of that seat would be void."""
    text = "1000 1:7h\n2000 2:7c\n2300 slap 3\n2310 lift 3\n3500 taken 3\n4000 3:9c\n5000 1:9d\n5300 slap 3\n"
    found = moved("s1", 30, text=text)
    assert next(ruling.kind for ruling in found.rulings if ruling.id.endswith("@s2")) == "slap_won"


def test_the_verdict_is_explained_as_if_nobody_had_corrected_it() -> None:
    explained = moved("s2", -10).explain()
    assert explained is not None
    assert explained.ruling.id == "slap_won@s2" and not explained.ruling.supersedes
    assert "K6" not in explained.ruling.rule
    assert [moment.kind for moment in explained.moments if moment.kind == "correct"] == []


def test_lines_and_game_stay_as_they_are() -> None:
    lines = numbered(GAME)
    game = ReplayedGame(lines)
    before = [*lines], [*game.rulings], game.lines()
    move_line(lines, game, Move("s2", -10 * MS))
    assert ([*lines], [*game.rulings], game.lines()) == before


@pytest.mark.parametrize(
    ("move", "problem"),
    [
        (Move("s9", 0), "line"),
        (Move("t1", 0), "line"),
        (Move("table", 0), "line"),
        (Move("s2", MOST_MOVED + 1), "far"),
        (Move("s2", 0, MOST_MOVED + 1), "far"),
        (Move("s2", 0, -1), "far"),
    ],
)
def test_what_cannot_be_moved_so_is_refused(move: Move, problem: str) -> None:
    lines = numbered(GAME)
    with pytest.raises(MoveError) as refused:
        move_line(lines, ReplayedGame(lines), move)
    assert refused.value.problem == problem


def test_nothing_comes_before_its_table() -> None:
    with pytest.raises(MoveError, match="order"):
        moved("c1", -20, text="10 1:7h\n2000 2:7c\n")


def test_what_was_corrected_is_moved_from_where_it_was_put() -> None:
    """People had said that the second hand came 20 ms later than its line says."""
    text = GAME + '6000 correct s2 {"fields": {"t": 2324000000}}\n'
    assert verdict(moved("s2", -7, text=text)) == ("slap_won", 3)
    assert verdict(moved("s2", -27, text=text)) == ("slap_won", 1)


def frozen_games() -> list[tuple[str, bytes]]:
    with tarfile.open(FROZEN) as stored:
        found = (
            (getmember.name, stored.extractfile(getmember)) for getmember in stored.getmembers() if getmember.isfile()
        )
        return [(name, file.read()) for name, file in found if file is not None]


def test_moved_by_nothing_every_frozen_log_is_ruled_the_very_same() -> None:
    """Every tenth of them, at their first and last slap or card."""
    tried = 0
    for name, data in frozen_games()[::10]:
        try:
            lines = list(read_observations(io.BytesIO(data)))
            game = ReplayedGame(lines)
        except (LogError, TooLong):
            continue
        known = [line for line in game.lines() if isinstance(line, Slap | Card)]
        for known_line in {line.id: line for line in (*known[:1], *known[-1:])}.values():
            found = move_line(lines, game, Move(known_line.id, 0))
            assert found.game.rulings == game.rulings, (name, known_line.id)
            assert found.later == (None, None) and not found.is_other
            tried += 1
    assert tried > 50
