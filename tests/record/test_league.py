"""The league: its counts, its ranking, and the quality of a rating."""

from __future__ import annotations

import argparse
import csv
import random
import statistics
import urllib.request
from io import StringIO
from pathlib import Path

import pytest

from referee.cli.parser import Parser
from referee.cli.records import add_league
from referee.errors import UserError
from referee.record.league import (
    LEAGUE_COLUMNS,
    LEAST_GAMES,
    MIDDLE_RATING,
    UNKNOWN_PLAYER,
    Game,
    Ratings,
    make_league,
    median,
    write_league_csv,
    write_league_text,
)
from referee.record.people import People
from referee.record.statistics import GameResult, Season, list_results
from referee.record.store import Record
from referee.web.games_cache import GameCache
from referee.web.league_page import latest_season
from tests.record.playing import add_game
from tests.support.patience import PATIENCE
from tests.web.served import Served
from tools.measure.seasons import tally

AT = "2026-05-01T20:00:00+00:00"
MS = 1_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Ana wins 8 games of 12 against Ben; Cho, who declined, once sat with them."""
    record = tmp_path / "record.db"
    Record(record).close()
    with People(record) as people:
        for name in ("Ana", "Ben"):
            people.answer(name, True, AT)
        people.answer("Cho", False, AT)
        for day in range(1, 13):
            winner = 1 if day <= 8 else 2
            people.tie(add_game(record, ["Ana", "Ben"], f"2026-05-{day:02}T20:00:00", winner=winner,
                                reaction=(240 + day) * MS))  # fmt: skip
        people.tie(add_game(record, ["Cho", "Ana"], "2026-06-01T20:00:00", winner=1))
    return record


def _table(path: Path, season: Season | None = None) -> list[dict[str, str]]:
    with People(path, read_only=True) as people:
        names = {person.id: person.name for person in people.people() if person.agreed}
        return list(csv.DictReader(StringIO(write_league_csv(make_league(list_results(people, season), names)))))


def test_what_is_counted(path: Path) -> None:
    ana, ben = _table(path)
    assert (ana["player"], ana["rank"], ana["games"], ana["games_won"], ana["slaps_won"]) == (
        "Ana",
        "1",
        "13",
        "8",
        "8",
    )
    assert (ben["player"], ben["rank"], ben["games"], ben["games_won"]) == ("Ben", "2", "12", "4")
    # Her hands on the piles that Ben and Cho won came 50 ms later: with her last card on top she was still in (M12).
    times = [*(240 + day for day in range(1, 9)), *(290 + day for day in range(9, 13)), 300]
    assert ana["reactions"] == str(len(times))
    assert float(ana["reaction_median_ms"]) == statistics.median(times)
    assert float(ana["reaction_low_ms"]) < float(ana["reaction_median_ms"]) < float(ana["reaction_high_ms"])
    assert ana["like_the_one_above"] == ""
    assert ben["like_the_one_above"] == "yes", "12 games do not tell 8 wins from 4"


def test_a_season_is_its_days_both_included(path: Path) -> None:
    from datetime import date

    (ana, ben) = _table(path, Season(date(2026, 5, 3), date(2026, 5, 12)))
    assert (ana["games"], ben["games"]) == ("10", "10")
    assert "Cho" not in {row["player"] for row in _table(path)}


def test_nobody_is_ranked_from_too_few_games(path: Path) -> None:
    from datetime import date

    rows = _table(path, Season(date(2026, 5, 1), date(2026, 5, LEAST_GAMES - 1)))
    assert {row["rank"] for row in rows} == {""}
    assert {row["games"] for row in rows} == {str(LEAST_GAMES - 1)}


def test_as_it_is_typed(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def typed(*words: str) -> str:
        top = Parser(prog="referee")
        add_league(top.add_subparsers(parser_class=Parser))
        args: argparse.Namespace = top.parse_args(["league", "--record", str(path), *words])
        assert args.run(args) == 0
        return capsys.readouterr().out

    before = path.read_bytes()
    assert "=2" in typed()
    assert typed("--csv").splitlines()[0] == ",".join(LEAGUE_COLUMNS)
    assert "no game" in typed("--from", "2027-01-01")
    assert path.read_bytes() == before
    with pytest.raises(UserError, match="cannot end"):
        typed("--from", "2027-01-01", "--to", "2026-01-01")
    with pytest.raises(SystemExit):
        typed("--from", "yesterday")


def test_a_name_is_no_formula() -> None:
    row = make_league([GameResult(1, AT, 2, 1, True, {1: "a"})], {"a": "=HYPERLINK(1)"})
    assert "'=HYPERLINK" in write_league_csv(row)
    assert "=HYPERLINK" in write_league_text(row)


def test_who_won_is_above_and_the_others_are_alike() -> None:
    found = Ratings(4, [((0, 1, 2, 3), 2)])
    assert found[2].value > MIDDLE_RATING
    assert found[0] == found[1] == found[3]
    assert found[0].value < MIDDLE_RATING
    assert sum(found[person].value for person in range(4)) == pytest.approx(4 * MIDDLE_RATING)


def test_the_order_of_the_games_does_not_matter() -> None:
    won: Game = ((0, 1), 0)
    lost: Game = ((0, 1), 1)
    games = [won] * 8 + [lost] * 4
    one, other = Ratings(2, games), Ratings(2, games[::-1])
    assert one[0].value > MIDDLE_RATING > one[1].value
    assert one[0].value == pytest.approx(other[0].value)
    assert not one.apart(0, 1)
    assert Ratings(2, games * 10).apart(0, 1)


def test_with_many_games_the_rating_is_what_the_results_say() -> None:
    found = Ratings(2, [((0, 1), 0)] * 3000 + [((0, 1), 1)] * 1000)
    # Three won for one lost: 400 · log10(3) points.
    assert found[0].value - found[1].value == pytest.approx(190.8, abs=1)


def test_one_who_never_lost_has_a_rating_and_a_wide_error() -> None:
    found, none = Ratings(2, [((0, 1), 0)] * 30), Ratings(2, [])
    assert found[0].value < MIDDLE_RATING + 500
    assert found[0].error < none[0].error
    assert none[0].value == MIDDLE_RATING


def test_somebody_unknown_counts_as_middling() -> None:
    found = Ratings(1, [((0, UNKNOWN_PLAYER, UNKNOWN_PLAYER), 0)])
    lost = Ratings(1, [((UNKNOWN_PLAYER, 0, UNKNOWN_PLAYER), 0)])
    assert found[0].value > MIDDLE_RATING > lost[0].value


def test_ratings_of_known_players_hold_what_they_state() -> None:
    few = tally(40, games=30, table=2, spread=1.0)
    many = tally(40, games=200, table=4, spread=1.0)
    assert few.covered > 0.9
    assert many.covered > 0.9
    assert many.ordered > few.ordered > 0.7
    assert many.told > 0.2
    assert many.told_wrong < 0.03


def test_limits_of_a_median() -> None:
    assert median([]) is None
    few = median([1.0, 2.0, 9.0])
    assert few is not None
    assert (few.value, few.low, few.count) == (2.0, None, 3)
    # Conover's table: of 10 values the 2nd and the 9th, of 20 the 6th and the 15th.
    for n, rank in ((5, None), (6, 1), (10, 2), (20, 6), (1000, 469), (1001, 469), (40_000, 19_804)):
        found = median([float(value) for value in range(1, n + 1)])
        assert found is not None
        assert (found.low, found.high) == ((rank, n + 1 - rank) if rank is not None else (None, None))
    chance, held = random.Random(3), 0
    for _ in range(400):
        found = median([chance.expovariate(1) for _ in range(15)])
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.6931 <= found.high
    assert held > 370


def test_the_page_counts_as_the_command_does(path: Path) -> None:
    shelf = GameCache(path)
    with People(path, read_only=True) as people:
        names = {person.id: person.name for person in people.people() if person.agreed}
        season = latest_season(shelf)
        assert (season.rows, season.left) == (make_league(list_results(people), names), 0)
    assert season.rows[0].name == "Ana"
    shelf.close()


def test_the_page_shows_the_league_without_people_who_did_not_agree(path: Path) -> None:
    with Served(path) as served:
        shown = urllib.request.urlopen(f"{served.address}/league?lang=de", timeout=PATIENCE).read().decode()
        taken = urllib.request.urlopen(f"{served.address}/league.csv", timeout=PATIENCE).read().decode()
    assert "Liga" in shown
    assert "Ana" in shown
    assert "Cho" not in shown + taken
    assert [row["player"] for row in csv.DictReader(StringIO(taken))] == ["Ana", "Ben"]


def test_a_page_without_people_has_an_empty_league(tmp_path: Path) -> None:
    assert latest_season(GameCache(tmp_path / "none.db")).rows == []
    Record(tmp_path / "record.db").close()
    assert latest_season(GameCache(tmp_path / "record.db")).rows == [], "no person was ever asked"
