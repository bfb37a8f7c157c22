"""The scoring of `make kills`; the evening itself takes half an hour."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hardware.simulated.table.interruption import go_on, stand_still
from hardware.simulated.table.script import Script, play_game
from referee.demo.score import true_rulings
from referee.engine.observations import Card, Pause
from referee.units import SECOND
from tools.measure.kills import Score, Watch, flatness, score, table_of, true_stretches
from tools.measure.kills_table import Game

FLAT = [(50_000_000, 12, 3)] * 60


def known(script: Script, *, resumed: tuple[int, ...] = ()) -> Game:
    """Return a game whose referee received the truth, and ruled by it."""
    return Game(script, 5 * SECOND, script.truth, tuple(true_rulings(script.truth, script.duration)), resumed, {})


@pytest.fixture(scope="module")
def script() -> Script:
    return play_game(7, 4, "classic", 40)


def test_a_referee_who_was_told_the_truth_is_never_wrong(script: Script) -> None:
    found = score([known(script)], [])
    assert (found.wrong, found.lost, found.open) == ([], [], 0)
    assert (found.equal, found.seen) == (found.rulings, found.cards)
    assert found.rulings > 40


def test_a_ruling_that_the_truth_has_not_is_wrong_and_told_with_the_kill_before_it(script: Script) -> None:
    game = known(script)
    won = next(ruling for ruling in game.rulings if ruling.kind == "slap_won")
    other = replace(won, fields={**won.fields, "seat": won["seat"] % 4 + 1})
    kills = [("eye", (game.began + won.t) / SECOND - 2, 1.0), ("page", (game.began + won.t) / SECOND + 2, 1.0)]
    (words,) = score(
        [replace(game, rulings=tuple(other if ruling is won else ruling for ruling in game.rulings))], kills
    ).wrong
    assert "slap_won" in words and "(2.0 s after the eye's end)" in words


def test_a_card_that_is_not_on_the_log_is_lost_unless_people_were_told(script: Script) -> None:
    game = known(script)
    card = [line for line in game.lines if isinstance(line, Card)][9]
    lines = tuple(line for line in game.lines if line is not card)
    assert len(score([replace(game, lines=lines)], []).lost) == 1
    paused = Pause(t=card.t - SECOND, id="p1")
    assert score([replace(game, lines=(lines[0], paused, *lines[1:]))], []).lost == []


def test_a_trouble_at_a_games_end_counts_unless_its_part_was_just_killed(script: Script) -> None:
    game = replace(known(script), troubles={"page": "gone"})
    end = (game.began + max(line.t for line in game.lines)) / SECOND
    assert score([game], [("page", end - 10, 1.0)]).troubles == []
    assert score([game], [("page", end - 100, 1.0), ("eye", end - 10, 1.0)]).troubles == [
        "game 0, at its end: page: gone"
    ]


def test_people_who_went_on_as_the_referee_had_the_game_are_judged_from_there_on(script: Script) -> None:
    at = 6 * SECOND
    still = stand_still(script, at)
    more = go_on(still, at + 4 * SECOND, still.truth[1:], 40)
    stretches = list(true_stretches(known(more, resumed=(at + 4 * SECOND,))))
    assert [(since, until) for since, until, _ in stretches] == [
        (-1, at + 4 * SECOND), (at + 4 * SECOND, max(line.t for line in more.truth)),
    ]  # fmt: skip
    assert score([known(more, resumed=(at + 4 * SECOND,))], []).wrong == []


@pytest.mark.parametrize(("place", "what"), [(0, "memory"), (1, "descriptors"), (2, "threads")])
def test_what_grows_is_found(place: int, what: str) -> None:
    assert all(kept for *_, kept in flatness("eye", FLAT))
    growing = [
        tuple(held + held * n // 50 * (at == place) for at, held in enumerate(row)) for n, row in enumerate(FLAT)
    ]
    missed = [name for name, _, _, kept in flatness("eye", [(m, d, t) for m, d, t in growing]) if not kept]
    assert len(missed) == 1 and missed[0].startswith(what)


def test_a_child_that_never_came_back_is_missed() -> None:
    rows = {what: (said, kept) for what, _, said, kept in table_of(Watch(kills=[("page", 1.0, 2.0)]), Score())}
    assert rows["children killed and there again"] == ("1 of 1 (page 1), after 2.0 s, at most 2.0 s", True)
    rows = {what: (said, kept) for what, _, said, kept in table_of(Watch(kills=[("page", 1.0, -1.0)]), Score())}
    assert not rows["children killed and there again"][1]
    assert not next(kept for what, _, _, kept in table_of(Watch(left=1), Score()) if "left behind" in what)
