"""The lights of a table: rulings, notices and hands in, levels out. The patterns are in `lamp_patterns`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from referee.adjudication.rulings import Ruling
from referee.app.lamp_patterns import (
    AMBER,
    GREEN,
    OFF,
    RED,
    WHITE,
    Colour,
    LampState,
    seat_level,
    table_colour,
)
from referee.app.notices import Notice

if TYPE_CHECKING:
    from hardware.ports import Lights

COLOURS: Final = {
    "slap_won": GREEN, "slap_false": RED, "dead_card": RED, "dead_heat": AMBER, "question": AMBER, "won": WHITE,
    "drawn": WHITE, "lost": WHITE,
}  # fmt: skip
"""What the table's light shows of a ruling, until the next lead or turn."""
STEPS: Final = 32
"""Levels that are told apart: a light that breathes need not be told each time that the loop turns."""


class Lamps:
    """Shows whose hand was first, whose turn it is, how it was ruled, and what the table waits for."""

    def __init__(self, lights: Lights, seats: int, *, asks: Callable[[], bool] = lambda: False) -> None:
        """``asks``: answers whether a question is open."""
        self._lights = lights
        self._state = LampState(seats)
        self._asks = asks
        self._levels = dict.fromkeys(range(1, seats + 1), 0.0)
        self._colour: Colour = OFF
        self._now = 0
        self._stuck: set[int] = set()
        self._failed = False

    def touch(self, touched: Sequence[int], now: int = 0) -> None:
        """Pads that are down, the first hand first, at ``now`` (ns): its light goes on at once."""
        self._now = now
        self._state.first = touched[0] if touched else None
        self._show()

    def __call__(self, rulings: Sequence[Ruling]) -> None:
        """Outlet: show what was ruled."""
        for ruling in rulings:
            self._heed(ruling)
        self._show(again=self._failed)

    def tell(self, notice: Notice) -> None:
        """Teller: a pause, a pad that is stuck."""
        if notice.what in ("paused", "resumed"):
            self._state.paused = notice.what == "paused"
        elif notice.what in ("pad_stuck", "pad_chatters"):
            self._stuck.add(int(notice.fields["seat"]))
        elif notice.what == "pad_works":
            self._stuck.discard(int(notice.fields["seat"]))
        self._state.benched = tuple(sorted(self._stuck))

    def _heed(self, ruling: Ruling) -> None:
        state, seat = self._state, ruling.get("seat")
        if ruling.kind in ("lead", "turn"):
            state.turn, state.colour = seat, OFF
        elif ruling.kind == "slap_won":
            state.winner = seat
        elif ruling.kind == "pile":
            state.winner = None
        elif ruling.kind == "slap_false":
            state.false[seat] = self._now
        elif ruling.kind == "dead_heat":
            state.heat, state.heat_since = tuple(ruling["seats"]), self._now
        elif ruling.kind == "out":
            state.out.add(seat)
        elif ruling.kind == "slapped_in":
            state.out.discard(seat)
        self._heed_challenge(ruling)
        state.colour = COLOURS.get(ruling.kind, state.colour)

    def _heed_challenge(self, ruling: Ruling) -> None:
        state = self._state
        if ruling.kind == "challenge":
            state.challenged, state.chances = ruling["challenged"], ruling["chances"]
        elif ruling.kind in ("chance", "challenge_moves"):
            state.challenged, state.chances = ruling["seat"], ruling["left"]
        elif ruling.kind in ("challenge_off", "challenge_won", "slap_won", "pile"):
            state.challenged, state.chances = None, 0

    def _show(self, *, again: bool = False) -> None:
        """Tell the device what has changed; ``again``: everything, since it did not take it the last time."""
        state, now = self._state, self._now
        state.asks = self._asks()
        self._failed = True
        for seat, level in self._levels.items():
            wanted = _rounded(seat_level(state, seat, now))
            if again or wanted != level:
                self._lights.seat(seat, wanted)
                self._levels[seat] = wanted
        colour = table_colour(state, now)
        wanted_colour = (_rounded(colour[0]), _rounded(colour[1]), _rounded(colour[2]))
        if again or wanted_colour != self._colour:
            self._lights.table(*wanted_colour)
            self._colour = wanted_colour
        self._failed = False


def _rounded(level: float) -> float:
    return level if level in (0.0, 1.0) else round(round(level * STEPS) / STEPS, 4) if level > 0.25 else round(level, 2)
