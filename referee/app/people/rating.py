"""How strong the players of a season are, as numbers with their uncertainty. Pure.

The model is that of R. D. Luce, "Individual Choice Behavior" (1959), with two players that of Bradley and Terry, and of
Elo: at a table each wins with a chance in proportion to the exponential of its strength. It takes tables of any size as
they are, where Elo and Glicko know two players only: a table of five taken as ten games of two would count one game ten
times. Of a game of this kind only the winner is known (who is out early may slap in again, so the order of the others
means nothing), and "this one of all" is just what the model speaks of.

All games of the season are weighed together: strengths that are the most likely after the season where before it they
were thought to be spread normally (maximum a posteriori, by Newton's method), and how sure that is from the curvature
there (Laplace's approximation). Ratings that move from game to game, such as Elo's, Glicko's and OpenSkill's, were
tried and left: in a short season who won eight games and then lost four stood below who lost eight and then won four.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MIDDLE: Final = 1500.0
POINTS: Final = 400.0 / math.log(10)
"""Of one unit of strength: 400 points between two players are ten games won for one lost, as people know it of Elo."""
SPREAD: Final = 1.0
"""Standard deviation of strengths before anything is known, in units: of two players drawn so, the better one wins some
70 of 100."""
SURE: Final = 1.96
"""Standard deviations of the limits that are shown: 95 %."""
_STEPS: Final = 50
_CLOSE: Final = 1e-9
_MANY: Final = 1000

UNKNOWN: Final = -1
"""Somebody at the table of whom nothing is kept: taken as of middling strength."""
Game = tuple[tuple[int, ...], int]
"""Who sat there, by number or `UNKNOWN`, and the place of the winner among them."""


@dataclass(frozen=True, slots=True)
class Rating:
    """What is believed of one strength, in points."""

    value: float
    error: float
    """Half the interval that holds the strength in 95 of 100 cases, if the model does."""


class Ratings:
    """The strengths of a season's players.

    Args:
        players: how many, numbered from 0.
        games: those that somebody won.
    """

    def __init__(self, players: int, games: Sequence[Game]) -> None:
        import numpy as np

        self._strengths = np.zeros(players)
        for _ in range(_STEPS):
            slope, curve = _derivatives(self._strengths, games)
            step = np.linalg.solve(curve, slope)
            # Far from the top a whole step may overshoot; the function is concave, so shorter ones arrive.
            self._strengths = self._strengths + step / max(1.0, float(np.abs(step).max(initial=0.0)))
            if np.abs(step).max(initial=0.0) < _CLOSE:
                break
        self._covariance = np.linalg.inv(_derivatives(self._strengths, games)[1])

    def __getitem__(self, player: int) -> Rating:
        """One player's."""
        deviation = math.sqrt(self._covariance[player, player])
        return Rating(MIDDLE + POINTS * float(self._strengths[player]), SURE * POINTS * deviation)

    def apart(self, one: int, other: int) -> bool:
        """Whether two can be told apart: their difference is more than its own 95 % limit."""
        cov = self._covariance
        variance = cov[one, one] + cov[other, other] - 2 * cov[one, other]
        return bool(abs(self._strengths[one] - self._strengths[other]) > SURE * math.sqrt(max(variance, 0.0)))


def _derivatives(
    strengths: NDArray[np.float64], games: Sequence[Game]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Slope of the log posterior, and its curvature with the sign turned: positive definite."""
    import numpy as np

    slope = -strengths / SPREAD**2
    curve = np.eye(len(strengths)) / SPREAD**2
    for seats, winner in games:
        weights = np.array([math.exp(strengths[one]) if one != UNKNOWN else 1.0 for one in seats])
        chances = weights / weights.sum()
        for place, one in enumerate(seats):
            if one == UNKNOWN:
                continue
            slope[one] += (place == winner) - chances[place]
            for beside, other in enumerate(seats):
                if other != UNKNOWN:
                    curve[one, other] += chances[place] * ((place == beside) - chances[beside])
    return slope, curve


@dataclass(frozen=True, slots=True)
class Median:
    """A median and, where there are enough values, limits that hold the true one in 95 of 100 cases at least."""

    value: float
    low: float | None
    high: float | None
    count: int


def median(values: Sequence[float]) -> Median | None:
    """The median with limits by order statistics, which suppose nothing of the distribution; None of no values.

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
    """How many values at either end lie outside the limits of the median of ``n``; 0 where there are no limits."""
    if n > _MANY:
        # Conover's own approximation for large samples, rounded outwards.
        return math.floor((n - SURE * math.sqrt(n)) / 2)
    # The widest tail that holds no more than a fortieth of the binomial distribution; in whole numbers, exactly.
    ways, tail, rank = 1, 1, 0
    while tail * 40 <= 1 << n:
        rank += 1
        ways = ways * (n - rank + 1) // rank
        tail += ways
    return rank
