"""A whole game as it physically happens, played in advance: the actions of hands, cards and pads, with their instants.

The players know the rules from the core itself: an `Adjudicator` that gets the exact truth as it happens says whose
turn it is, who takes the pile and who burns cards. So every preset plays. Nothing here reads a clock; the same
arguments give the same game, to the nanosecond.

No slap comes too close to a reveal for a camera to order the two, unless `Habits.close_call` asks for it. Such moments,
and hands closer than `HEAT_NS`, are listed in `Script.called`: there a referee may rightly hesitate.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hardware.simulated.table.acts import Act, Burn, Lay, Start, Take
from hardware.simulated.table.course import Called, Course
from hardware.simulated.table.players import NAMES, Contact, Habits, PlayerProfile
from referee.engine.observations import Card, Observation, Slap, Table
from referee.units import MS, SECOND

_END_NS: Final = 2 * SECOND
"""Time from the last event until everything is at rest."""
MOST_CARDS: Final = 1_000_000
"""An upper limit beyond any game."""
_WHICH_CARD: Final = ("unreadable_card", "impossible_card", "order_changed")
"""Questions about a card's name."""


@dataclass(frozen=True, slots=True)
class Script:
    """One game's physical truth; all lists are in order of time."""

    seed: int
    table: Table
    people: tuple[PlayerProfile, ...]
    acts: tuple[Act, ...]
    contacts: tuple[Contact, ...]
    truth: tuple[Observation, ...]
    """Reports of ideal sensors, the table first, ``t_error`` 0."""
    called: tuple[Called, ...]
    duration: int
    """The instant at which everything is at rest, ns."""
    finished: bool
    """Whether the game reached its end (and not just ``max_cards``)."""
    stacks: tuple[tuple[str, ...], ...] = ()
    """Each player's cards at the end, next card first."""
    pile: tuple[str, ...] = ()
    """Cards on the table at the end, lowest first."""
    dealt: tuple[tuple[str, ...], ...] = ()
    """Each player's cards before the first one was laid, next card first."""
    pace: float = 4.0
    """The fastest sequence of cards, cards a second."""
    habits: Habits = field(default_factory=Habits)
    interrupted: int | None = None
    """The instant at which the players were first stopped, ns; None if never."""

    @property
    def seats(self) -> int:
        return len(self.people)

    @property
    def laid(self) -> int:
        """Number of cards laid in play."""
        return sum(isinstance(act, Lay) for act in self.acts)

    def answer(
        self, ask: str, t: int, seats: Container[int] = range(1, 9), *, error: int = 20 * MS
    ) -> int | str | None:
        """Return the players' answer when the referee asks about the instant ``t``; None if they cannot tell.

        ``who_was_first`` (of these ``seats``, whose hands are told with less than ``error``, ns), ``who_played`` and
        ``mend_pile`` are answered with a seat; questions for a card (``unreadable_card``, ``impossible_card``,
        ``order_changed``, ``bottom_card``) with a card.
        """
        if ask == "bottom_card":
            pile: list[str] = []
            for act in self.acts:
                if act.t > t:
                    break
                if isinstance(act, Take):
                    pile = []
                elif isinstance(act, Burn) and not act.top:
                    pile = [*reversed(act.cards), *pile]
                elif isinstance(act, Lay):
                    pile.append(act.card)
                elif isinstance(act, Burn | Start):
                    pile.extend(act.cards)
            return pile[0] if pile else None
        if ask == "who_was_first":
            hands = [o for o in self.truth if isinstance(o, Slap) and abs(o.t - t) < error and o.seat in seats]
            return min(hands, key=lambda o: o.t).seat if hands else None
        if ask == "mend_pile":
            takes = [act for act in self.acts if isinstance(act, Take) and abs(act.t - t) < 2 * SECOND]
            return min(takes, key=lambda act: abs(act.t - t)).seat if takes else None
        cards = [o for o in self.truth if isinstance(o, Card) and abs(o.t - t) < 200 * MS]
        nearest = min(cards, key=lambda o: abs(o.t - t), default=None)
        if nearest is None or ask not in (*_WHICH_CARD, "who_played"):
            return None
        return nearest.card if ask in _WHICH_CARD else nearest.seat


def play_game(
    seed: int,
    seats: int | Sequence[str] = 4,
    rules: Any = "classic",
    max_cards: int | None = None,
    cards_per_second: float = 4.0,
    *,
    habits: Habits | None = None,
) -> Script:
    """Play one game to its end, or to ``max_cards`` cards laid.

    Args:
        seed: determines the deal, the people and all their actions.
        seats: number of players (2 to 8), or their names.
        rules: a preset's name or a changed preset.
        max_cards: stop after this many cards.
        cards_per_second: the fastest sequence of cards.
        habits: how often people err.

    Raises:
        ValueError: an impossible number of seats.
        ScriptError: the core names no seat to play.
    """
    names = tuple(NAMES[:seats]) if isinstance(seats, int) else tuple(seats)
    if not 2 <= len(names) <= 8 or (isinstance(seats, int) and len(names) != seats):
        raise ValueError("a table has 2 to 8 seats")
    if cards_per_second <= 0:
        raise ValueError("cards_per_second must be more than 0")
    course = Course.begin(seed, names, rules, cards_per_second, habits or Habits())
    dealt = tuple(tuple(stack) for stack in course.cards.stacks)
    course.play(max_cards if max_cards is not None else MOST_CARDS)
    return script_of_course(seed, course, dealt)


def script_of_course(seed: int, course: Course, dealt: tuple[tuple[str, ...], ...]) -> Script:
    """Return the game played as a script; ``dealt``: the stacks at the beginning."""
    return Script(
        seed=seed,
        table=course.table,
        people=course.people,
        acts=tuple(sorted(course.cards.acts, key=lambda a: a.t)),
        contacts=tuple(sorted(course.hands.contacts, key=lambda c: (c.t, c.seat))),
        truth=tuple(course.truth),
        called=tuple(sorted(course.called, key=lambda c: c.t)),
        duration=course.now + _END_NS,
        finished=course.view.game_over,
        stacks=tuple(tuple(stack) for stack in course.cards.stacks),
        pile=tuple(course.cards.pile),
        dealt=dealt,
        pace=course.pace,
        habits=course.habits,
    )
