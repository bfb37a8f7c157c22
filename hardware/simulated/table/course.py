"""The course of a simulated game: the players' next actions, and the core's rulings on them.

Each step goes straight to the next event: a hand that hits or leaves its pad, a card that is laid, a pile that is
taken, or a penalty card that goes under the pile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from hardware.simulated.decks.packs import all_cards
from hardware.simulated.table.acts import Cover
from hardware.simulated.table.holdings import Holdings
from hardware.simulated.table.judge import Judge
from hardware.simulated.table.players import Habits, PlayerProfile, seat_people, seconds
from hardware.simulated.table.slapping_hands import SlappingHands
from referee.engine.observations import Answer, Card, Draw, Lift, Observation, Placed, Slap, Table, Taken
from referee.engine.rulings import Ruling
from referee.engine.view import View
from referee.units import MS, SECOND

HEAT_NS = 3_200_000
"""Distance, ns, within which hands are a dead heat on pads with an error of 1.5 ms each."""
_GUESS_NS = (125 * MS, 180 * MS)
"""Delay of a guessing hand after the card it guessed about."""
_PROBE_NS = 500 * MS
"""Delay after a card at which the players consider whether a hand would win."""
_SAME_HAND_NS = 340 * MS
"""Least time between two cards of one player."""
_START_NS = SECOND
_PATIENCE_NS = 6 * SECOND


@dataclass(frozen=True, slots=True)
class Called:
    """A moment that the script knows to be too close for the sensors."""

    t: int
    kind: str
    """``dead_heat``, ``doubt`` (a slap next to a reveal) or ``slap_the_pile``."""
    seats: tuple[int, ...]
    margin: int
    """Time between the two events, ns."""


class ScriptError(RuntimeError):
    """The players are stuck: the core names no seat to play and none to take the pile."""


class Course:
    """The state of the table during a game."""

    def __init__(
        self, table: Table, people: tuple[PlayerProfile, ...], chance: Random, pace: float, habits: Habits,
        told: Sequence[Observation] = (),
    ) -> None:  # fmt: skip
        """``told``: see `Judge`."""
        self.habits, self.chance, self.people, self.table = habits, chance, people, table
        self.rules = table.house
        self.pace, self.interval = pace, SECOND / pace
        self.judge = Judge(table, self.rules, told)
        self.hands = SlappingHands(len(people), habits, chance)
        self.cards = Holdings(people, chance)
        self.truth: list[Observation] = [table]
        self.called: list[Called] = []
        self.now = 0
        self.laid = 0
        self.slaps = 0
        self.last_lay: tuple[int, int] = (0, 0)
        """Its instant and seat."""
        self.lay_at = _START_NS
        self.take_at: int | None = None
        self.owner: int | None = None
        self.owed: int | None = None
        """The seat that was given the pile at once and has yet to pick it up."""
        self.taking = False
        self.slapping = any(row.startswith("P") for row in self.rules.on)
        self.burns: deque[tuple[int, int, int, bool]] = deque()
        """Instant, seat, number of cards, and whether on top."""
        self.final: list[Ruling] = []
        self.last_valid = -SECOND
        self.names = ""
        """Prefix of the ids of the truth's lines."""

    @classmethod
    def begin(cls, seed: int, names: tuple[str, ...], rules: Any, pace: float, habits: Habits) -> Course:
        """Begin a new game: seat the people, and deal the pack."""
        chance = Random(f"table {seed}")
        people = seat_people(names, chance)
        table = Table(t=0, id="table", seats=names, dealer=len(names), rules=rules)
        course = cls(table, people, chance, pace, habits)
        # Stacks as the core expects them, and the wild rank if one is drawn.
        pack = all_cards(course.rules.number("S2"), course.rules.number("S3"))
        chance.shuffle(pack)
        course.judge.tick(0)
        course.cards.deal(pack, course.view.counts)
        if course.rules.has("P14") and not course.rules.word("P14"):
            course.truth.append(Draw(t=1, id="wild", rank=chance.choice("23456789T")))
            course.judge.observe(course.truth[-1])
            course.judge.tick(1)
        return course

    # Input and output of the core

    def _tell(self, observation: Observation) -> list[Ruling]:
        """Report the truth; return the referee's immediate rulings."""
        self.truth.append(observation)
        self.now = observation.t
        self._heed(self.judge.observe(observation) + self.judge.tick(observation.t))
        return self.judge.core.take_early()

    def _heed(self, rulings: list[Ruling]) -> None:
        for ruling in rulings:
            self.final.append(ruling)
            if ruling.kind == "burn":
                # Penalty cards go under the pile one after another, each at its time.
                fields = ruling.fields
                self.owe(max(self.now, ruling.t), fields["seat"], fields["count"], fields.get("where") == "top")
            elif ruling.kind == "pile" and not self.taking and not self.view.game_over:
                self.owed, self.take_at = ruling.fields["seat"], None
            elif ruling.kind == "question" and ruling.fields["ask"] == "bottom_card" and self.cards.pile:
                # Players look under the pile when the referee asks for the lowest card.
                self.now += 1
                lowest = self.cards.pile[0]
                self.truth.append(Answer(t=self.now, id=f"{self.names}a{len(self.truth)}", to=ruling.id, value=lowest))
                self._heed(self.judge.observe(self.truth[-1]) + self.judge.tick(self.now))
        if self.view.owner != self.owner:
            self.owner = self.view.owner
            self.take_at = None

    def owe(self, t: int, seat: int, count: int, top: bool) -> None:
        """Schedule a player's burning of ``count`` cards, owed since ``t``."""
        due = t + self._seconds(0.75, 1.25)
        if self.burns:
            due = max(due, self.burns[-1][0] + self._seconds(0.5, 0.7))
        self.burns.append((due, seat, count, top))

    def _seconds(self, low: float, high: float) -> int:
        return seconds(low, high, self.chance)

    @property
    def view(self) -> View:
        return self.judge.core.view

    # The course of a game

    def play(self, max_cards: int) -> None:
        """Play until the game ends or ``max_cards`` cards are laid."""
        idle_since = self.now
        while not self.view.game_over:
            action = self._next_action()
            soonest = self.hands.soonest
            if soonest is not None and soonest <= (action[0] if action else self.now + 100 * MS):
                if soonest == self.hands.next_lift:
                    self._lift()
                else:
                    self._slap()
            elif action is None:
                self.now += 100 * MS
                self._heed(self.judge.tick(self.now))
                if self.now - idle_since > _PATIENCE_NS:
                    raise ScriptError(f"at {self.now} ns no player is to play, and none to take the pile")
                continue
            else:
                t, what, seat = action
                if what == "lay" and (self.laid >= max_cards or not self.cards.has_cards(seat)):
                    # With a cut pack the core does not know who has run out (S4c): real players would count.
                    break
                if what == "lay":
                    self._lay(t, seat)
                elif what == "take":
                    self._take(t, seat)
                else:
                    self._burn()
            idle_since = self.now
        self.hands.stop()
        while self.hands.next_lift is not None:
            self._lift()
        for ruling in self.final:
            margin = ruling.fields.get("margin") if ruling.kind == "slap_won" else None
            if margin is not None and margin < HEAT_NS:
                rivals = [r["seat"] for r in ruling.fields["runners_up"] if r["margin"] < HEAT_NS]
                self.called.append(Called(ruling.t, "dead_heat", (ruling.fields["seat"], *rivals), margin))

    def _next_action(self) -> tuple[int, str, int] | None:
        """Return the next action over the table: its instant, kind and seat."""
        if self.burns:
            return self.burns[0][0], "burn", self.burns[0][1]
        view = self.view
        taker = self.owed if self.owed is not None else self.owner
        if taker is not None and self.cards.pile:
            if self.take_at is None:
                by_slap = self.now - self.last_valid < 5 * MS
                pause = self._seconds(0.6, 1.5) if by_slap else self._seconds(1.15, 1.8)
                self.take_at = self.now + int(pause * self.habits.leisure)
            return max(self.take_at, self.now + 30 * MS), "take", taker
        if view.turn is None:
            return None
        return self.hands.clear(max(self.lay_at, self.now + 1)), "lay", view.turn

    def _lay(self, t: int, seat: int) -> None:
        if self.chance.random() < self.habits.out_of_turn:
            others = [p.seat for p in self.people if p.seat != seat and self.cards.has_cards(p.seat)]
            seat = self.chance.choice(others) if others else seat
        last_t, last_seat = self.last_lay
        if seat == last_seat and t < last_t + _SAME_HAND_NS:
            t = self.hands.clear(last_t + _SAME_HAND_NS)
        self.hands.settle(t)
        soonest = self.hands.soonest
        if soonest is not None and soonest <= t:
            self.lay_at = t
            return
        card = self.cards.lay(t, seat)
        self.laid += 1
        in_turn = self.view.turn == seat
        self.last_lay = (t, seat)
        self._tell(Card(t=t, id=f"{self.names}c{self.laid}", card=card, seat=seat))
        turn = self.view.turn
        slow = self.people[turn - 1].pace if turn is not None else 1.0
        gap = self.interval * slow * (1 + abs(self.chance.gauss(0, 0.08)))
        if not in_turn:
            gap += self._seconds(0.5, 0.9)
        elif self.chance.random() < 0.03:
            gap += self._seconds(0.2, 0.8)
        self.lay_at = t + int(gap)
        self._react(t)

    def _take(self, t: int, seat: int) -> None:
        self.cards.take(t, seat)
        self.take_at = self.owner = self.owed = None
        self.taking = True
        self._tell(Taken(t=t, id=f"{self.names}t{len(self.truth)}", seat=seat))
        self.taking = False
        self.lay_at = t + int(self._seconds(0.75, 1.3) * self.habits.leisure)

    def _burn(self) -> None:
        t, seat, count, top = self.burns.popleft()
        cards = self.cards.burn(t, seat, count, top)
        if not cards:
            return
        name, where = f"{self.names}p{len(self.truth)}", "top" if top else "bottom"
        self._tell(Placed(t=t, id=name, seat=seat, count=len(cards), where=where, cards=cards))
        self.lay_at = max(self.lay_at, t + self._seconds(0.5, 0.8))
        if self.take_at is not None:
            self.take_at = max(self.take_at, t + self._seconds(0.8, 1.2))

    # Slaps

    def _react(self, t: int) -> None:
        """Start the hands that react to the card revealed at ``t``."""
        pressed = self.hands.pressed
        able = next((p.seat for p in self.people if p.seat not in pressed and self._may_slap(p.seat)), None)
        if able is not None and self.judge.would_win(able, self.now + _PROBE_NS):
            moved = [p for p in self.people if self._may_slap(p.seat) and self.chance.random() < self.habits.notice]
            for person in moved:
                self.hands.reach(person.seat, t + person.reaction(self.chance))
            if moved and self.chance.random() >= self.habits.go_on:
                self.lay_at += self._seconds(0.8, 1.4)
            return
        roll = self.chance.random()
        seats = [p.seat for p in self.people if self._may_slap(p.seat)]
        if not seats:
            return
        seat = self.chance.choice(seats)
        if roll < self.habits.wrong_slap:
            self.hands.reach(seat, t + self.people[seat - 1].reaction(self.chance))
        elif roll < self.habits.wrong_slap + self.habits.early_slap:
            self.hands.reach(seat, t + self.chance.randrange(*_GUESS_NS))
        elif roll < self.habits.wrong_slap + self.habits.early_slap + self.habits.close_call:
            at = self.lay_at + self.chance.randrange(-50 * MS, 50 * MS)
            self.hands.reach(seat, at, close=True)
            self.called.append(Called(at, "doubt", (seat,), abs(at - self.lay_at)))
        elif self.chance.random() < self.habits.slap_the_pile:
            at = t + SECOND // 2
            self.cards.acts.append(Cover(at, at + self._seconds(0.2, 0.4), seat))
            self.called.append(Called(at, "slap_the_pile", (seat,), 0))
            self.lay_at = max(self.lay_at, at + SECOND)

    def _may_slap(self, seat: int) -> bool:
        if not self.slapping or seat in self.view.locked_out:
            return False
        return self.cards.has_cards(seat) or self.rules.has("M10")

    def _slap(self) -> None:
        t, seat = self.hands.fall()
        self.slaps += 1
        said = self._tell(Slap(t=t, id=f"{self.names}s{self.slaps}", seat=seat, t_error=0))
        if any(r.kind == "slap_won" and r.window != "closed" for r in said):
            self.last_valid = t
            self.take_at = None
            self.hands.inhibit(t)
        elif self.owner is None:
            self.lay_at = max(self.lay_at, t + self._seconds(0.5, 0.9))

    def _lift(self) -> None:
        t, seat = self.hands.lift()
        self._tell(Lift(t=t, id=f"{self.names}l{len(self.truth)}", seat=seat))
