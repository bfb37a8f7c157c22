"""Simulated seasons of players of known strength, by the rating's own model; and the quality of their rating.

``python -m tools.measure.seasons`` prints the table of `make league-figures`.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from itertools import combinations

from referee.record.league import MIDDLE_RATING, POINTS_PER_UNIT, PRIOR_SPREAD, Ratings


@dataclass(frozen=True, slots=True)
class Tally:
    """Shares over all players, or pairs of players, of many seasons."""

    covered: float
    """Of players: the true strength lies within the stated 95 % limits."""
    ordered: float
    """Of pairs: the better one is rated higher."""
    told: float
    """Of pairs: reported as different."""
    told_wrong: float
    """Of pairs reported as different: the wrong way round."""


def season(seed: int, *, players: int, games: int, table: int, spread: float) -> tuple[list[float], Ratings]:
    """Return true strengths in points, and ratings; ``spread`` of the strengths in parts of the rating's assumption."""
    chance = random.Random(seed)
    strengths = [chance.gauss(0, PRIOR_SPREAD * spread) for _ in range(players)]
    played = []
    for _ in range(games):
        who = tuple(chance.sample(range(players), table))
        winner = chance.choices(range(table), [math.exp(strengths[player]) for player in who])[0]
        played.append((who, winner))
    return [MIDDLE_RATING + POINTS_PER_UNIT * strength for strength in strengths], Ratings(players, played)


def tally(seasons: int, *, games: int, table: int, spread: float, players: int = 6) -> Tally:
    """Tally the quality of a rating."""
    covered = ordered = told = wrong = pairs = 0
    for seed in range(seasons):
        strengths, ratings = season(seed, players=players, games=games, table=table, spread=spread)
        covered += sum(abs(true - ratings[one].value) <= ratings[one].error for one, true in enumerate(strengths))
        for one, other in combinations(range(players), 2):
            pairs += 1
            right = (strengths[one] - strengths[other]) * (ratings[one].value - ratings[other].value) > 0
            ordered += right
            if ratings.apart(one, other):
                told += 1
                wrong += not right
    return Tally(covered / (seasons * players), ordered / pairs, told / pairs, wrong / max(1, told))


def main() -> None:
    """Print the table."""
    print("| at a table | games of each | spread | within ± | better one above | told apart | of these wrong |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for table in (2, 4):
        for each in (5, 10, 20, 50, 200):
            for spread in (0.5, 1.0, 1.5):
                found = tally(100, games=each * 6 // table, table=table, spread=spread)
                shares = (found.covered, found.ordered, found.told, found.told_wrong)
                print(f"| {table} | {each} | {spread} | " + " | ".join(f"{share:.1%}" for share in shares) + " |")


if __name__ == "__main__":
    main()
