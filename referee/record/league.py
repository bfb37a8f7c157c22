"""The league: results, slaps, reaction times and ratings of those who agreed, for a season. Pure except for its input.

A rating is a player's strength in the season, as a number with its uncertainty.

The model is that of R. D. Luce, "Individual Choice Behavior" (1959), with two players that of Bradley and Terry, and of
Elo: each player at a table wins with a chance in proportion to the exponential of their strength. It takes tables of
any size, while Elo and Glicko know two players only: a table of five taken as ten games of two would count one game ten
times. Only the winner of such a game is known (a player who is out early may slap in again, so the order of the others
means nothing), and that is exactly what the model describes: one of all.

All games of the season are weighed together: the most likely strengths after the season, given a normal distribution
before it (maximum a posteriori, by Newton's method), with their uncertainty from the curvature there (Laplace's
approximation). Ratings that move from game to game, such as Elo's, Glicko's and OpenSkill's, were tried and rejected:
in a short season, a player who won eight games and then lost four ranked below one who lost eight and then won four.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from typing import TYPE_CHECKING, Final

from referee.record.statistics import GameResult
from referee.text.escapes import quote_formula
from referee.units import whole_ms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MIDDLE_RATING: Final = 1500.0
POINTS_PER_UNIT: Final = 400.0 / math.log(10)
"""Points for one unit of strength: 400 points between two players are ten games won for one lost, as with Elo."""
PRIOR_SPREAD: Final = 1.0
"""Standard deviation of strengths before anything is known, in units: of two players drawn at random, the better one
wins some 70 of 100."""
_SURE: Final = 1.96
"""Standard deviations of the limits that are shown: 95 %."""
_STEPS: Final = 50
_CLOSE: Final = 1e-9
_MANY: Final = 1000

UNKNOWN_PLAYER: Final = -1
"""A player of whom nothing is kept: counts as of middling strength."""
Game = tuple[tuple[int, ...], int]
"""The players, by number or `UNKNOWN_PLAYER`, and the winner's index among them."""


@dataclass(frozen=True, slots=True)
class Rating:
    """The estimate of one strength, in points."""

    value: float
    error: float
    """Half the interval that holds the strength in 95 of 100 cases, if the model is right."""


class Ratings:
    """The strengths of a season's players.

    Args:
        players: their number; they are numbered from 0.
        games: those with a winner.
    """

    def __init__(self, players: int, games: Sequence[Game]) -> None:
        import numpy as np

        self._strengths = np.zeros(players)
        for _ in range(_STEPS):
            slope, curve = _derivatives(self._strengths, games)
            step = np.linalg.solve(curve, slope)
            # Far from the maximum a whole step may overshoot; the function is concave, so shorter ones arrive.
            self._strengths = self._strengths + step / max(1.0, float(np.abs(step).max(initial=0.0)))
            if np.abs(step).max(initial=0.0) < _CLOSE:
                break
        self._covariance = np.linalg.inv(_derivatives(self._strengths, games)[1])

    def __getitem__(self, player: int) -> Rating:
        """Return one player's rating."""
        deviation = math.sqrt(self._covariance[player, player])
        return Rating(
            MIDDLE_RATING + POINTS_PER_UNIT * float(self._strengths[player]), _SURE * POINTS_PER_UNIT * deviation
        )

    def apart(self, one: int, other: int) -> bool:
        """Return whether two players can be told apart: their difference exceeds its own 95 % limit."""
        cov = self._covariance
        variance = cov[one, one] + cov[other, other] - 2 * cov[one, other]
        return bool(abs(self._strengths[one] - self._strengths[other]) > _SURE * math.sqrt(max(variance, 0.0)))


def _derivatives(
    strengths: NDArray[np.float64], games: Sequence[Game]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the slope of the log posterior, and its negated curvature, which is positive definite."""
    import numpy as np

    slope = -strengths / PRIOR_SPREAD**2
    curve = np.eye(len(strengths)) / PRIOR_SPREAD**2
    for seats, winner in games:
        weights = np.array([math.exp(strengths[seat]) if seat != UNKNOWN_PLAYER else 1.0 for seat in seats])
        chances = weights / weights.sum()
        for place, player in enumerate(seats):
            if player == UNKNOWN_PLAYER:
                continue
            slope[player] += (place == winner) - chances[place]
            for beside, other in enumerate(seats):
                if other != UNKNOWN_PLAYER:
                    curve[player, other] += chances[place] * ((place == beside) - chances[beside])
    return slope, curve


@dataclass(frozen=True, slots=True)
class Median:
    """A median and, if there are enough values, limits that hold the true one in at least 95 of 100 cases."""

    value: float
    low: float | None
    high: float | None
    count: int


def median(values: Sequence[float]) -> Median | None:
    """Return the median with limits by order statistics, which assume no distribution; None without values.

    W. J. Conover, "Practical Nonparametric Statistics", 3rd ed. (1999), 3.2. Fewer than six values have no such limits.
    """
    ordered = sorted(values)
    n = len(ordered)
    if n == 0:
        return None
    middle = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
    rank = _rank(n)
    if rank == 0:
        return Median(middle, None, None, n)
    return Median(middle, ordered[rank - 1], ordered[n - rank], n)


def _rank(n: int) -> int:
    """Return how many values at either end lie outside the limits of the median of ``n``; 0 if there are no limits."""
    if n > _MANY:
        # Conover's own approximation for large samples, rounded outwards.
        return math.floor((n - _SURE * math.sqrt(n)) / 2)
    # The widest tail that holds at most a fortieth of the binomial distribution; exact, in integers.
    ways, tail, rank = 1, 1, 0
    while tail * 40 <= 1 << n:
        rank += 1
        ways = ways * (n - rank + 1) // rank
        tail += ways
    return rank


LEAST_GAMES: Final = 10
"""Finished games that a player needs to be ranked: after so few, the better of two players ranks above the worse in
some four of five cases (`make league-figures`)."""
LEAGUE_COLUMNS: Final = (
    "rank", "player", "games", "games_won", "slaps_won", "slaps_late", "slaps_false", "reaction_median_ms",
    "reaction_low_ms", "reaction_high_ms", "reactions", "reaction_error_ms", "rating", "rating_error",
    "like_the_one_above",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LeagueRow:
    """One person's season."""

    person: str
    """The person's id."""
    name: str
    games: int
    """Games that ended with a winner."""
    others: int
    """Further games: drawn, broken off, unreadable."""
    won: int
    slaps: Mapping[str, int]
    """Hands by outcome: ``won``, ``late``, ``false``, ``void``."""
    reaction: Median | None
    """Median time from reveal to hand, ns."""
    error: float
    """Median error of the reaction times, from camera and pad, ns."""
    rating: Rating
    rank: int | None
    """None below `LEAST_GAMES` games."""
    like_above: bool
    """Whether the rating cannot be told from that of the player ranked above."""


def make_league(results: Iterable[GameResult], names: Mapping[str, str]) -> list[LeagueRow]:
    """Return the rows of all who played: the ranked first, by rating; then the others by name.

    Args:
        results: games, oldest first.
        names: of the people, by id. Other players at a table count as of middling strength.
    """
    games = list(results)
    number = {who: place for place, who in enumerate(names)}
    ratings = Ratings(len(number), [_game(game, number) for game in games if game.winner is not None])
    rows = {who: _row(who, name, games, ratings[number[who]]) for who, name in names.items()}
    ranked = sorted((who for who in rows if rows[who].games >= LEAST_GAMES), key=lambda who: -rows[who].rating.value)
    out = []
    for place, who in enumerate(ranked, start=1):
        like = place > 1 and not ratings.apart(number[ranked[place - 2]], number[who])
        out.append(replace(rows[who], rank=place, like_above=like))
    few = [row for row in rows.values() if row.games < LEAST_GAMES and (row.games or row.others)]
    return out + sorted(few, key=lambda row: row.name.casefold())


def _game(game: GameResult, number: Mapping[str, int]) -> Game:
    who = (game.people.get(seat, "") for seat in range(1, game.seats + 1))
    assert game.winner is not None
    return tuple(number.get(person, UNKNOWN_PLAYER) for person in who), game.winner - 1


def _row(who: str, name: str, games: Sequence[GameResult], rating: Rating) -> LeagueRow:
    seats = [(game, seat) for game in games for seat, person in game.people.items() if person == who]
    ended = [(game, seat) for game, seat in seats if game.winner is not None]
    hands = [hand for game, seat in seats for hand in game.hands if hand.seat == seat]
    slaps = {kind: sum(hand.outcome == kind for hand in hands) for kind in ("won", "late", "false", "void")}
    counted = [hand for hand in hands if hand.counts]
    error = median([float(hand.error) for hand in counted])
    return LeagueRow(
        who, name, len(ended), len(seats) - len(ended), sum(game.winner == seat for game, seat in ended), slaps,
        median([float(hand.since) for hand in counted if hand.since is not None]),
        0.0 if error is None else error.value, rating, None, False,
    )  # fmt: skip


def write_league_csv(rows: Sequence[LeagueRow]) -> str:
    """Return the table for a spreadsheet; unknown cells stay empty."""
    out = StringIO()
    writer = csv.writer(out)
    writer.writerow(LEAGUE_COLUMNS)
    for row in rows:
        low, high = (None, None) if row.reaction is None else (row.reaction.low, row.reaction.high)
        writer.writerow((
            "" if row.rank is None else row.rank, quote_formula(row.name), row.games, row.won, row.slaps["won"],
            row.slaps["late"], row.slaps["false"], _ms(None if row.reaction is None else row.reaction.value),
            _ms(low), _ms(high), 0 if row.reaction is None else row.reaction.count,
            _ms(row.error if row.reaction is not None else None),
            f"{row.rating.value:.0f}" if row.games else "", f"{row.rating.error:.0f}" if row.games else "",
            "yes" if row.like_above else "",
        ))  # fmt: skip
    return out.getvalue()


def _ms(ns: float | None) -> str:
    return "" if ns is None else f"{ns / 1e6:.1f}"


def write_league_text(rows: Sequence[LeagueRow]) -> str:
    """Return the table for a terminal, with what its figures rest on."""
    if not rows:
        return "no game of anybody who agreed to be remembered, in these days (`referee people`)"
    heads = ("", "player", "games", "won", "slaps won", "false", "reaction, ms", "rating")
    body = []
    for row in rows:
        rank = "" if row.rank is None else f"{'=' if row.like_above else ''}{row.rank}"
        reaction = ""
        if row.reaction is not None:
            middle, low, high = (_whole(ns, row) for ns in (row.reaction.value, row.reaction.low, row.reaction.high))
            reaction = f"{middle}{f' ({low} to {high})' if low else ''}, n = {row.reaction.count}"
        rating = f"{row.rating.value:.0f} ± {row.rating.error:.0f}" if row.games else ""
        counts = (str(row.games), str(row.won), str(row.slaps["won"]), str(row.slaps["false"]))
        body.append((rank, row.name, *counts, reaction, rating))
    widths = [max(len(line[place]) for line in (heads, *body)) for place in range(len(heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
             for line in (heads, *body)]  # fmt: skip
    error = max(row.error for row in rows) / 1e6
    lines += [
        "",
        f"Ranked are those with {LEAST_GAMES} games or more with a winner. = stands where a rating cannot be told from",
        "the one above. After ± stand limits of 95 %; for reaction times the median, its limits, and their",
        f"number. The error of camera and pads, {error:.1f} ms, comes on top.",
    ]
    return "\n".join(lines)


def _whole(ns: float | None, row: LeagueRow) -> str:
    return "" if ns is None else str(whole_ms(round(ns), round(row.error)))
