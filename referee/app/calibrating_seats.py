"""Where the seats are: by the settings, spread evenly, or by where each player's hand comes from."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final

from hardware.ports import Frame
from models.crossing import apart
from models.reaching import Reaching
from referee.app.grading import Measured
from referee.app.problems import UserError
from referee.app.settings import NEAREST, Settings

REACH_PATIENCE: Final = 60_000_000_000
"""How long a player may take to reach over the table, ns."""
_HINTS: Final = {
    "two": "  more than one arm: one player at a time, please",
    "dark": "  the picture is dark: switch on the light",
    "blocked": "  something stands before the camera",
}


def even_seats(settings: Settings | None, count: int | None) -> dict[str, float]:
    """Seats' bearings by name: as the settings have them, or ``count`` of them evenly from the first one's."""
    named = [] if settings is None else [(seat.name, seat.bearing) for seat in settings.seats]
    if count is None:
        return dict(named)
    if settings is not None and len(named) != count:
        raise UserError(
            f"--seats {count}: the settings name {len(named)} seats; add or take out sections [[seat]] first"
        )
    names = [name for name, _ in named] or [f"Seat {number}" for number in range(1, count + 1)]
    first = named[0][1] if named else 270.0
    return {name: (first - 360 * k / count) % 360 for k, name in enumerate(names)}


def reached(frames: Iterator[Frame], names: Sequence[str], m: Measured) -> dict[str, float]:
    """Each seat's bearing by where its player's hand comes from, asked one after another.

    Args:
        frames: the first shows the table without a hand.
        names: the seats, in the order in which they are asked.
        m: where the playing area is.

    Raises:
        UserError: nobody reached in time, or two reached from one side.
    """
    x, y = m.found.table.view.to_px(m.found.area.mean(axis=0, keepdims=True))[0]
    reaching = Reaching((float(x), float(y)))
    told: dict[str, float] = {}
    waiting = list(names)
    asked: int | None = None
    state = ""
    _ask(waiting[0])
    for frame in frames:
        asked = frame.t if asked is None else asked
        bearing = reaching.feed(frame.image, frame.t)
        if reaching.state != state:
            state = reaching.state
            if state in _HINTS:
                say(_HINTS[state])
        if bearing is not None:
            name = waiting.pop(0)
            _refuse_near(told, name, bearing)
            told[name] = bearing
            asked = frame.t
            say(f"  {name} reaches from {bearing:.0f}°; take the hand back")
            if not waiting:
                return told
            _ask(waiting[0])
        elif frame.t - asked > REACH_PATIENCE:
            break
    raise UserError(
        f"no hand of {waiting[0]} came over the middle of the table: reach in from the picture's edge, hold the hand "
        "over the middle for a second, one player at a time; then start again"
    )


def _ask(name: str) -> None:
    say(f"{name}: reach one hand over the middle of the table and hold it there")


def say(words: str) -> None:
    """Tell the people at the table something; standard output is for what was measured."""
    print(words, file=sys.stderr, flush=True)


def _refuse_near(told: Mapping[str, float], name: str, bearing: float) -> None:
    for other, there in told.items():
        if apart(there, bearing) < NEAREST:
            raise UserError(
                f"{other} and {name} both reach from about {bearing:.0f}° ({apart(there, bearing):.0f}° apart): sit at "
                f"least {NEAREST:g}° from each other, or reach straight from your own seat; then start again"
            )


def refuse_near_seats(seats: Mapping[str, float]) -> None:
    """Raise `UserError` if two seats cannot be told apart."""
    for one, other in combinations(seats, 2):
        _refuse_near({one: seats[one]}, other, seats[other])
