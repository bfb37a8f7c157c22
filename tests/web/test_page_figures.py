"""Figures: the counts, the distinctions by timing, and that a game is ruled again as it was."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from referee.engine import replay
from referee.engine.observations import LogError
from referee.engine.replay import TooLong, replay_log
from referee.record.statistics import HandFigure, list_margins, make_figures, summarise_players
from referee.text.catalogue import texts
from referee.web import figures as charts
from referee.web.board import Board
from referee.web.figures import _COLUMNS, slaps_table
from referee.web.games_cache import LoadedGame
from referee.web.markup import svg
from tests.play import TABLE, file_lines
from tests.web.table import DEMO
from tests.web.test_page_finish import INFO, SEVENS, folded

MS = 1_000_000


@pytest.fixture(scope="module")
def demo() -> LoadedGame:
    return LoadedGame(INFO, list(enumerate(DEMO.read_text(encoding="utf-8").splitlines(), start=1)))


def kind(since_ms: float, *, valid: bool = False, card_error_ms: float = 1.0) -> str:
    """Return how a hand this long after a card is classified."""
    cards = (f"1000 1:7h ±{card_error_ms}", f"2000 2:7c ±{card_error_ms} known@2300")[: 1 + valid]
    made = make_figures(folded(*cards, f"{1000 * len(cards) + since_ms} slap 3 ±1"), 1)
    assert len(made) == 1
    return made[0].kind


@pytest.mark.parametrize(
    "since, expected",
    [(40, "risk"), (97, "risk"), (99, "open"), (101, "open"), (103, "mistaken"), (400, "mistaken"), (997, "mistaken"),
     (999, "open"), (1001, "open"), (1003, "fake"), (2500, "fake")],
)  # fmt: skip
def test_a_false_slap_is_told_apart_by_its_time_alone(since: float, expected: str) -> None:
    assert kind(since) == expected


@pytest.mark.parametrize("since, expected", [(60, "risk"), (101, "open"), (300, "reaction"), (1800, "reaction")])
def test_a_valid_hand_is_a_reaction_or_a_risk(since: float, expected: str) -> None:
    assert kind(since, valid=True) == expected


def test_an_error_that_reaches_over_the_limit_leaves_it_open() -> None:
    assert kind(120, valid=True, card_error_ms=45) == "open"
    assert kind(160, valid=True, card_error_ms=45) == "reaction"


def test_late_hands_on_a_valid_pattern_count_and_others_do_not() -> None:
    made = make_figures(
        folded(
            *SEVENS,
            "2241.3 slap 3",
            "2291.3 slap 1",
            "3000 taken 3",
            "4000 slap 2",
        ),
        1,
    )
    assert [(figure.slap, figure.outcome, figure.counts) for figure in made] == [
        ("s1", "won", True), ("s2", "late", True), ("s3", "void", False),
    ]  # fmt: skip
    assert [figure.since for figure in made] == [241_300_000, 291_300_000, None]
    assert list_margins(made) == [50_000_000]


@pytest.mark.parametrize("told", ["card", "slap"])
def test_what_people_told_afterwards_is_no_reaction(told: str) -> None:
    """Its instant is halfway between two lines, and belongs to no player."""
    lines = list(file_lines(*SEVENS, "2241.3 slap 3", "2291.3 slap 1"))
    late = 1 if told == "card" else 2
    lines[late] = json.dumps(json.loads(lines[late]) | {"by": "people"})
    made = make_figures(folded(*lines), 1)
    assert [figure.outcome for figure in made] == ["won", "late"]
    assert not made[0].counts
    assert made[0].since is None
    assert list_margins(made) == ([50_000_000] if told == "card" else [])


def test_the_demos_figures_are_those_of_its_log(demo: LoadedGame) -> None:
    made = make_figures(demo, 1)
    won = [json.loads(line) for line in DEMO.read_text().splitlines() if line.startswith('{"ruling":"slap_won"')]
    assert sum(player.won for player in summarise_players(made)) == len(won)
    assert list_margins(made) == sorted(line["margin"] for line in won if line["margin"] is not None)
    for player in summarise_players(made):
        assert player.median is None or player.reactions[0] <= player.median <= player.reactions[-1]
        assert list(player.reactions) == sorted(player.reactions)


def test_the_csv_holds_every_hand_and_no_formula(demo: LoadedGame) -> None:
    made = make_figures(demo, 1)
    rows = list(csv.DictReader(io.StringIO(slaps_table(made))))
    assert tuple(rows[0]) == _COLUMNS and len(rows) == len(made)
    assert [int(row["slap_ns"]) for row in rows] == [figure.t for figure in made]
    evil = HandFigure(1, "r", "s", 1, "=1+1", "won", "", 0, None, 0, "", None, None, ())
    assert "'=1+1" in slaps_table([evil])


def test_charts_of_nothing_and_of_much_are_drawn(demo: LoadedGame) -> None:
    for made in ([], make_figures(demo, 1), make_figures(demo, 1) * 30):
        assert svg(charts.draw_reactions(summarise_players(made), 47 * MS, texts("en"))).startswith("<svg")
        assert svg(charts.draw_margins(list_margins(made), 3 * MS, texts("de"))).startswith("<svg")


def test_a_game_is_ruled_again_as_replay_rules_it(demo: LoadedGame) -> None:
    with DEMO.open("rb") as stream:
        assert list(demo.rulings) == list(replay_log(stream, everything=True))
    same, others = demo.agrees
    assert same > 100 and others == 0


def test_a_log_that_was_ruled_otherwise_is_told() -> None:
    wrong = '{"ruling":"slap_false","id":"slap_false@s1","t":1,"seat":1,"reason":"late","because":["s1"],"rule":["M1"]}'
    game = folded(*SEVENS, "2241.3 slap 3", wrong)
    assert game.agrees == (0, 1)


def test_every_step_shows_the_position_after_it(demo: LoadedGame) -> None:
    held = 52
    for place, step in enumerate(demo.steps):
        view = demo.view(place)
        counts = [count for count in view.counts if count is not None]
        if len(counts) == len(view.counts):
            assert sum(counts) + len(view.pile) == held
        if step.observation.kind == "card":
            assert view.pile[-1:] == (step.observation.card,) or not view.pile  # type: ignore[attr-defined]


def test_a_correction_is_a_step_of_its_own() -> None:
    game = folded(
        SEVENS[0], SEVENS[1].replace("7c", "8c"), "2300 slap 3", '9000 correct c2 {"card": "7c"}',
    )  # fmt: skip
    kinds = [step.observation.kind for step in game.steps]
    assert kinds == ["table", "card", "card", "slap", "correct"]
    assert game.view(2).pile == ("7h", "8c")
    assert any(name.startswith("slap_false@s1") for name in game.steps[3].rulings)
    line = game.line("c2")
    assert line is not None and line.card == "7c"  # type: ignore[attr-defined]


def test_late_evidence_is_not_judged_silently() -> None:
    """Ticks are kept: a slap that its sensor reported after promising past it must not be ruled as if in time."""
    game = folded(*SEVENS, "5000 tick", "2241.3 slap 3")
    assert [ruling["ask"] for ruling in game.rulings if ruling.kind == "question"] == ["late_evidence"]
    assert not [ruling for ruling in game.rulings if ruling.kind == "slap_won"]


def test_a_damaged_line_is_left_out_and_a_game_without_a_table_is_told() -> None:
    assert LoadedGame(INFO, [(1, TABLE), (2, '{"kind":"card","t":"soon"}')]).odd[0].number == 2
    with pytest.raises(LogError):
        LoadedGame(INFO, [])


def test_a_game_too_long_to_be_kept_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "LONGEST_GAME", 2)
    with pytest.raises(TooLong):
        folded(*SEVENS)


def test_corrections_of_recent_lines_hold_until_they_are_taken_back() -> None:
    board = Board()
    lines = file_lines(
        *SEVENS,
        '8000 correct c2 {"card": "8c"}',
        '9000 correct c1 {"void": true}',
        '9100 correct c2 {"card": "no card"}',
    )
    board.add_lines(list(enumerate((TABLE, *lines), start=1)))
    assert [card.card for card in board.cards()][-1] == "8c"
    board.add_lines([(20, file_lines('9500 correct c3 {"void": true, "id": "x1"}')[0])])
    assert [card.card for card in board.cards()][-1] == "7c"
    assert folded(*lines).steps


def test_the_demo_file_has_no_path_of_anybodys_machine() -> None:
    assert "/" not in Path(DEMO).read_text().replace("m/s", "")
