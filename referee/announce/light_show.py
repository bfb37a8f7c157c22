"""The lights for rulings, notices and hands: legible without colour, by place and rhythm.

Nothing flashes more than three times a second. A higher row of this table takes precedence over a lower one.

| what | a seat's light | the table's light |
| --- | --- | --- |
| first hand | full, from the edge on, while the pad is down | |
| false slap | three quick blinks a second, for 1.5 s | blinks with it, red |
| slap won | full, until the pile is taken | steady, green |
| dead heat | its seats blink together, once a second, for 4 s | blinks with them, amber |
| told: read the line | one long flash and a short one, at the seat concerned or every one | flashes with it, white |
| stuck or chattering pad | two short blinks, then two seconds dark | |
| paused | one dim light after the other goes round the table | breathes, blue |
| question | all breathe together, once in two seconds | breathes with them, amber |
| challenge | as many blinks as chances are left, then a pause | |
| turn | steady, dim | dark |
| out | dark; a glimmer every five seconds | |
| roll-call | full, until its pad is heard | |

`seat_level` and `table_colour` are pure; the table's loop calls `Lamps`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import cos, pi
from typing import TYPE_CHECKING, Final

from referee.announce.sinks import Notice
from referee.announce.voice import phrase
from referee.engine.rulings import Ruling
from referee.units import MS, SECOND

if TYPE_CHECKING:
    from hardware.ports import Lights

GLOW: Final = 0.2
"""Level of the light of the seat whose turn it is."""
_FALSE: Final = 1500 * MS
_HEAT: Final = 4 * SECOND
_LONG, _SHORT, _GAP = 600 * MS, 200 * MS, 200 * MS
_SIGNAL: Final = _LONG + _GAP + _SHORT
"""Length of the flash for a line that no other light shows, ns."""
_ONLY_TOLD: Final = frozenset(
    ("slap_void", "burn", "strike", "give", "locked_out", "foul", "contested", "repeated", "remind", "corrected")
)
"""Kinds of rulings that the lights can show only by sending people to the line that says them."""
_SHOWN_NOTICES: Final = frozenset(
    ("paused", "resumed", "pad_stuck", "pad_chatters", "pad_works", "card_lands", "card_lands_alone")
)
"""Notices that other lights show; a card that lands changes the turn."""
_BLINK: Final = 200 * MS
"""Length of a challenge's blink, and of the gap after it, ns."""
_COUNT_PAUSE: Final = 900 * MS
_STEP: Final = 500 * MS
"""Time that the light of a pause stays at a seat, ns."""
_OFF: Final = (0.0, 0.0, 0.0)
_GREEN: Final = (0.0, 1.0, 0.0)
_RED: Final = (1.0, 0.0, 0.0)
_AMBER: Final = (1.0, 0.5, 0.0)
_BLUE: Final = (0.0, 0.0, 1.0)
_WHITE: Final = (1.0, 1.0, 1.0)

_COLOURS: Final = {
    "slap_won": _GREEN, "slap_false": _RED, "dead_card": _RED, "dead_heat": _AMBER, "question": _AMBER, "won": _WHITE,
    "drawn": _WHITE, "lost": _WHITE,
}  # fmt: skip
"""Colour of the table's light for a ruling, until the next lead or turn."""
_STEPS: Final = 32
"""Number of distinct levels: with these a breathing light needs no update in every turn of the loop."""

Colour = tuple[float, float, float]


@dataclass(slots=True)
class LampState:
    """The state that the lights show."""

    seats: int
    turn: int | None = None
    challenged: int | None = None
    chances: int = 0
    first: int | None = None
    winner: int | None = None
    false: dict[int, int] = field(default_factory=dict)
    """Start of the blinking, ns, by seat."""
    heat: tuple[int, ...] = ()
    heat_since: int = 0
    signalled: dict[int, int] = field(default_factory=dict)
    """Start of the flash for a line that no other light shows, ns, by seat; by 0, a flash at all seats."""
    out: set[int] = field(default_factory=set)
    benched: set[int] = field(default_factory=set)
    """Seats whose pad is stuck or chatters."""
    asks: bool = False
    paused: bool = False
    colour: Colour = _OFF
    """Colour of the table's light after the last ruling."""


def blink(t: int, period: int, on: int) -> bool:
    """Return whether a light that is on for the first ``on`` of every ``period`` (ns) is on at ``t``."""
    return t % period < on


def breathe(t: int, period: int = 2 * SECOND) -> float:
    """Return a level that rises and falls evenly, 0 to 1."""
    return 0.5 - 0.5 * cos(2 * pi * (t % period) / period)


def count(t: int, number: int) -> bool:
    """Return whether a light that blinks ``number`` times, then pauses, is on at ``t`` (ns)."""
    at = t % (number * 2 * _BLINK + _COUNT_PAUSE)
    return at < number * 2 * _BLINK and at % (2 * _BLINK) < _BLINK


def seat_level(state: LampState, seat: int, t: int) -> float:
    """Return the level of a seat's light at ``t`` (ns), 0 to 1."""
    for shown, level in _LAYERS:
        if shown(state, seat, t):
            return level(state, seat, t)
    return 0.0


def table_colour(state: LampState, t: int) -> Colour:
    """Return the colour of the table's light at ``t`` (ns)."""
    is_signalled = any(_is_signalled(state, about, t) for about in state.signalled)
    if state.paused and not is_signalled:
        return _scaled(_BLUE, breathe(t))
    if any(t - since < _FALSE for since in state.false.values()):
        return _RED if blink(t, SECOND // 3, SECOND // 6) else _OFF
    if _in_heat(state, t):
        return _AMBER if blink(t, SECOND, SECOND // 2) else _OFF
    if is_signalled:
        return _WHITE if _flash(state, t) else _OFF
    if state.asks:
        return _scaled(_AMBER, breathe(t))
    return state.colour


def _scaled(colour: Colour, level: float) -> Colour:
    red, green, blue = colour
    return red * level, green * level, blue * level


def _in_heat(state: LampState, t: int) -> bool:
    return bool(state.heat) and t - state.heat_since < _HEAT


def _is_signalled(state: LampState, about: int, t: int) -> bool:
    return 0 <= t - state.signalled.get(about, t + 1) < _SIGNAL


def _flash(state: LampState, t: int, seat: int | None = None) -> bool:
    """Return whether a long flash or the short one after it is on at ``t`` (ns), at a seat or at any."""
    abouts = state.signalled if seat is None else (seat, 0)
    since = [t - state.signalled[about] for about in abouts if _is_signalled(state, about, t)]
    return any(at < _LONG or at >= _LONG + _GAP for at in since)


_Shown = Callable[[LampState, int, int], bool]
_Level = Callable[[LampState, int, int], float]


_LAYERS: Final[tuple[tuple[_Shown, _Level], ...]] = (
    (lambda s, seat, t: seat == s.first, lambda s, seat, t: 1.0),
    (
        lambda s, seat, t: seat in s.false and t - s.false[seat] < _FALSE,
        lambda s, seat, t: float(blink(t, SECOND // 3, SECOND // 6)),
    ),
    (lambda s, seat, t: seat == s.winner, lambda s, seat, t: 1.0),
    (lambda s, seat, t: seat in s.heat and _in_heat(s, t), lambda s, seat, t: float(blink(t, SECOND, SECOND // 2))),
    (
        lambda s, seat, t: bool(s.signalled) and (_is_signalled(s, seat, t) or _is_signalled(s, 0, t)),
        lambda s, seat, t: float(_flash(s, t, seat)),
    ),
    (
        lambda s, seat, t: seat in s.benched,
        lambda s, seat, t: 0.8 * (blink(t, 2600 * MS, 150 * MS) or blink(t - 300 * MS, 2600 * MS, 150 * MS)),
    ),
    (lambda s, seat, t: s.paused, lambda s, seat, t: 0.3 * (t // _STEP % s.seats == seat - 1)),
    (lambda s, seat, t: s.asks, lambda s, seat, t: 0.6 * breathe(t)),
    (
        lambda s, seat, t: seat == s.challenged and s.chances > 0,
        lambda s, seat, t: 0.7 * count(t, s.chances),
    ),
    (lambda s, seat, t: seat == s.turn, lambda s, seat, t: GLOW),
    (lambda s, seat, t: seat in s.out, lambda s, seat, t: 0.1 * blink(t, 5 * SECOND, 100 * MS)),
)
"""Conditions and levels of a seat's light, the most important first."""


class Lamps:
    """Shows the first hand, the turn, the ruling, and what the table waits for."""

    def __init__(self, lights: Lights, seats: int, *, asks: Callable[[], bool] = lambda: False) -> None:
        """``asks``: returns whether a question is open."""
        self._lights = lights
        self._state = LampState(seats)
        self._asks = asks
        self._levels = dict.fromkeys(range(1, seats + 1), 0.0)
        self._colour: Colour = _OFF
        self._now = 0
        self._failed = False

    def touch(self, touched: Sequence[int], now: int = 0) -> None:
        """Light the seat of the first hand at once; ``touched``: pads that are down, the first hand first; ``now`` in
        ns.
        """
        self._now = now
        self._state.first = touched[0] if touched else None
        self._show()

    def __call__(self, rulings: Sequence[Ruling]) -> None:
        """`RulingListener`: show rulings."""
        for ruling in rulings:
            self._heed(ruling)
        self._show(again=self._failed)

    def tell(self, notice: Notice) -> None:
        """`NoticeListener`: show a pause or a stuck pad; any other notice flashes to send people to its line."""
        if notice.what in ("paused", "resumed"):
            self._state.paused = notice.what == "paused"
        elif notice.what in ("pad_stuck", "pad_chatters"):
            self._state.benched.add(int(notice.fields["seat"]))
        elif notice.what == "pad_works":
            self._state.benched.discard(int(notice.fields["seat"]))
        elif notice.what and notice.what not in _SHOWN_NOTICES:
            self._flash_at(notice.fields.get("seat"))

    def _heed(self, ruling: Ruling) -> None:
        if ruling.window == "closed":
            # The seat's light went on when the hand came down, and is off once the pile is gone.
            return
        state, seat = self._state, ruling.get("seat")
        if ruling.kind in ("lead", "turn"):
            state.turn, state.colour = seat, _OFF
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
        if ruling.kind == "challenge":
            state.challenged, state.chances = ruling["challenged"], ruling["chances"]
        elif ruling.kind in ("chance", "challenge_moves"):
            state.challenged, state.chances = ruling["seat"], ruling["left"]
        elif ruling.kind in ("challenge_off", "challenge_won", "slap_won", "pile"):
            state.challenged, state.chances = None, 0
        state.colour = _COLOURS.get(ruling.kind, state.colour)
        if ruling.kind in _ONLY_TOLD and phrase(ruling) is not None:
            self._flash_at(seat)

    def _flash_at(self, seat: int | None) -> None:
        """Flash for a line to read, after any blinking at that seat."""
        state = self._state
        blinks = state.false.get(seat) if seat is not None else None
        state.signalled[seat or 0] = self._now if blinks is None else max(self._now, blinks + _FALSE)

    def _show(self, *, again: bool = False) -> None:
        """Send the changes to the lights; ``again``: send everything, since the last attempt failed."""
        state, now = self._state, self._now
        state.asks = self._asks()
        # Stays set if the device raises: the next call then sends everything again.
        self._failed = True
        for seat, level in self._levels.items():
            wanted = _rounded(seat_level(state, seat, now))
            if again or wanted != level:
                self._lights.seat(seat, wanted)
                self._levels[seat] = wanted
        red, green, blue = map(_rounded, table_colour(state, now))
        wanted_colour = (red, green, blue)
        if again or wanted_colour != self._colour:
            self._lights.table(*wanted_colour)
            self._colour = wanted_colour
        self._failed = False


def _rounded(level: float) -> float:
    # Dim levels need finer steps, for the eye and for `GLOW`.
    if level <= 0.25:
        return round(level, 2)
    return level if level == 1.0 else round(round(level * _STEPS) / _STEPS, 4)
