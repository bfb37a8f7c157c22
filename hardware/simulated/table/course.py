"""The course of a simulated game: what its players do next, and what the core makes of it.

Between two instants nothing happens. Each step takes whatever comes first: a hand that hits or leaves its pad, a card
that is laid, a pile that is taken, a penalty card that goes under the pile.
"""

from __future__ import annotations

from collections import deque
from random import Random
from typing import Any

from hardware.simulated.decks.packs import all_cards
from hardware.simulated.table.acts import MS, Cover
from hardware.simulated.table.close_calls import Called, dead_heats
from hardware.simulated.table.holdings import Holdings
from hardware.simulated.table.judge import Judge
from hardware.simulated.table.players import Habits, seat_people, seconds
from hardware.simulated.table.slapping_hands import SlappingHands
from referee.engine.observations import Answer, Card, Draw, Lift, Observation, Placed, Slap, Table, Taken
from referee.engine.rulings import Ruling
from referee.engine.view import View
from referee.rules.house import house_rules

SECOND = 1_000_000_000
_GUESS_NS = (125 * MS, 180 * MS)
"""When a guessing hand falls after the card it guessed about."""
_PROBE_NS = 500 * MS
"""How long after a card the players ask themselves whether a hand would win."""
_SAME_HAND_NS = 340 * MS
"""The least time between two cards of one player."""
_START_NS = SECOND
_PATIENCE_NS = 6 * SECOND


class ScriptError(RuntimeError):
    """The players do not know what to do: the core names nobody to play and nobody to take the pile."""


class Course:
    """The state of the table while a game is being played."""

    def __init__(self, seed: int, names: tuple[str, ...], rules: Any, pace: float, habits: Habits, dealer: int) -> None:
        self.habits = habits
        self.chance = Random(f"table {seed}")
        self.people = seat_people(names, self.chance)
        self.rules = house_rules(rules)
        self.interval = SECOND / pace
        self.table = Table(t=0, id="table", seats=names, dealer=dealer, rules=rules)
        self.judge = Judge(self.table, self.rules)
        self.hands = SlappingHands(len(names), habits, self.chance)
        self.cards = Holdings(self.people, self.chance)
        self.truth: list[Observation] = [self.table]
        self._deal()
        self.called: list[Called] = []
        self.now = 0
        self.laid = 0
        self.slaps = 0
        self.last_lay: tuple[int, int] = (0, 0)
        """When, and which seat."""
        self.lay_at = _START_NS
        self.take_at: int | None = None
        self.owner: int | None = None
        self.owed: int | None = None
        """The seat that has been given the pile at once and has yet to pick it up."""
        self.taking = False
        self.slapping = any(row.startswith("P") for row in self.rules.on)
        self.burns: deque[tuple[int, int, int, bool]] = deque()
        """When, which seat, how many, and whether on top."""
        self.final: list[Ruling] = []
        self.last_valid = -SECOND

    def _deal(self) -> None:
        """Stacks as the core believes them dealt, and the wild rank where one is drawn."""
        pack = all_cards(self.rules.value("S2"), self.rules.value("S3"))
        self.chance.shuffle(pack)
        self.judge.tick(0)
        self.cards.deal(pack, self.view.counts)
        if self.rules.has("P14") and not self.rules.value("P14"):
            self.truth.append(Draw(t=1, id="wild", rank=self.chance.choice("23456789T")))
            self.judge.observe(self.truth[-1])
            self.judge.tick(1)

    # What the core is told and says

    def _tell(self, observation: Observation) -> list[Ruling]:
        """Report the truth; give what the referee says at once."""
        self.truth.append(observation)
        self.now = observation.t
        self._heed(self.judge.observe(observation) + self.judge.tick(observation.t))
        return self.judge.take_early()

    def _heed(self, rulings: list[Ruling]) -> None:
        for ruling in rulings:
            self.final.append(ruling)
            if ruling.kind == "burn":
                self._owe_burn(ruling)
            elif ruling.kind == "pile" and not self.taking and not self.view.game_over:
                self.owed, self.take_at = ruling.fields["seat"], None
            elif ruling.kind == "question":
                self._settle_question(ruling)
        if self.view.owner != self.owner:
            self.owner = self.view.owner
            self.take_at = None

    def _owe_burn(self, ruling: Ruling) -> None:
        """Penalty cards go under the pile one after another, each in its time."""
        fields = ruling.fields
        due = max(self.now, ruling.t) + self._seconds(0.75, 1.25)
        if self.burns:
            due = max(due, self.burns[-1][0] + self._seconds(0.5, 0.7))
        self.burns.append((due, fields["seat"], fields["count"], fields.get("where") == "top"))

    def _settle_question(self, question: Ruling) -> None:
        """People look under the pile when the referee asks what lies lowest."""
        if question.fields["ask"] == "bottom_card" and self.cards.pile:
            self.now += 1
            lowest = self.cards.pile[0]
            self.truth.append(Answer(t=self.now, id=f"a{len(self.truth)}", to=question.id, value=lowest))
            self._heed(self.judge.observe(self.truth[-1]) + self.judge.tick(self.now))

    def _seconds(self, low: float, high: float) -> int:
        return seconds(low, high, self.chance)

    @property
    def view(self) -> View:
        return self.judge.view

    # The course of a game

    def play(self, max_cards: int) -> None:
        """Play until the game ends or ``max_cards`` cards are laid."""
        idle_since = 0
        while not self.view.game_over:
            action = self._next_action()
            if self._serve_hands(action[0] if action else self.now + 100 * MS):
                idle_since = self.now
                continue
            if action is None:
                self._wait(idle_since)
                continue
            if action[1] == "lay" and (self.laid >= max_cards or not self.cards.has_cards(action[2])):
                # Of a pack that was cut nobody knows who has run out (S4c): there people would count.
                break
            self._act(*action)
            idle_since = self.now
        self._finish()

    def _wait(self, idle_since: int) -> None:
        self.now += 100 * MS
        self._heed(self.judge.tick(self.now))
        if self.now - idle_since > _PATIENCE_NS:
            raise ScriptError(f"at {self.now} ns nobody is to play and nobody to take the pile")

    def _serve_hands(self, until: int) -> bool:
        """Let the next hand hit or leave its pad if that comes before ``until``."""
        soonest = self.hands.soonest
        if soonest is None or soonest > until:
            return False
        if soonest == self.hands.next_lift:
            self._lift()
        else:
            self._slap()
        return True

    def _next_action(self) -> tuple[int, str, int] | None:
        """What happens next over the table: when, what, by whom."""
        if self.burns:
            return self.burns[0][0], "burn", self.burns[0][1]
        view = self.view
        taker = self.owed if self.owed is not None else self.owner
        if taker is not None and self.cards.pile:
            if self.take_at is None:
                self.take_at = self.now + self._take_delay()
            return max(self.take_at, self.now + 30 * MS), "take", taker
        if view.turn is None:
            return None
        return self.hands.clear(max(self.lay_at, self.now + 1)), "lay", view.turn

    def _take_delay(self) -> int:
        by_slap = self.now - self.last_valid < 5 * MS
        return self._seconds(0.6, 1.5) if by_slap else self._seconds(1.15, 1.8)

    def _act(self, t: int, what: str, seat: int) -> None:
        if what == "lay":
            self._lay(t, seat)
        elif what == "take":
            self._take(t, seat)
        else:
            self._burn()

    def _lay(self, t: int, seat: int) -> None:
        if self.chance.random() < self.habits.out_of_turn:
            seat = self._somebody_else(seat)
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
        self._tell(Card(t=t, id=f"c{self.laid}", card=card, seat=seat))
        self.lay_at = t + self._pause_after(in_turn)
        self._react(t)

    def _somebody_else(self, seat: int) -> int:
        others = [p.seat for p in self.people if p.seat != seat and self.cards.has_cards(p.seat)]
        return self.chance.choice(others) if others else seat

    def _pause_after(self, in_turn: bool) -> int:
        turn = self.view.turn
        slow = self.people[turn - 1].pace if turn is not None else 1.0
        gap = self.interval * slow * (1 + abs(self.chance.gauss(0, 0.08)))
        if not in_turn:
            gap += self._seconds(0.5, 0.9)
        elif self.chance.random() < 0.03:
            gap += self._seconds(0.2, 0.8)
        return int(gap)

    def _take(self, t: int, seat: int) -> None:
        self.cards.take(t, seat)
        self.take_at = self.owner = self.owed = None
        self.taking = True
        self._tell(Taken(t=t, id=f"t{len(self.truth)}", seat=seat))
        self.taking = False
        self.lay_at = t + self._seconds(0.75, 1.3)

    def _burn(self) -> None:
        t, seat, count, top = self.burns.popleft()
        cards = self.cards.burn(t, seat, count, top)
        if not cards:
            return
        name, where = f"p{len(self.truth)}", "top" if top else "bottom"
        self._tell(Placed(t=t, id=name, seat=seat, count=len(cards), where=where, cards=cards))
        self.lay_at = max(self.lay_at, t + self._seconds(0.5, 0.8))
        if self.take_at is not None:
            self.take_at = max(self.take_at, t + self._seconds(0.8, 1.2))

    # Slaps

    def _worth_slapping(self) -> bool:
        """Whether a good hand would win the pile now."""
        pressed = self.hands.pressed
        seat = next((p.seat for p in self.people if p.seat not in pressed and self._may_slap(p.seat)), None)
        return seat is not None and self.judge.would_win(seat, self.now + _PROBE_NS)

    def _react(self, t: int) -> None:
        """Who goes for their pad because of the card that was just revealed at ``t``."""
        if self._worth_slapping():
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
            self._guess_next(seat)
        elif self.chance.random() < self.habits.slap_the_pile:
            self._slap_the_pile(seat, t)

    def _guess_next(self, seat: int) -> None:
        t = self.lay_at + self.chance.randrange(-50 * MS, 50 * MS)
        self.hands.reach(seat, t, close=True)
        self.called.append(Called(t, "doubt", (seat,), abs(t - self.lay_at)))

    def _slap_the_pile(self, seat: int, t: int) -> None:
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
        said = self._tell(Slap(t=t, id=f"s{self.slaps}", seat=seat, t_error=0))
        if any(r.kind == "slap_won" for r in said):
            self.last_valid = t
            self.take_at = None
            self.hands.inhibit(t)
        elif self.owner is None:
            self.lay_at = max(self.lay_at, t + self._seconds(0.5, 0.9))

    def _lift(self) -> None:
        t, seat = self.hands.lift()
        self._tell(Lift(t=t, id=f"l{len(self.truth)}", seat=seat))

    def _finish(self) -> None:
        self.hands.stop()
        while self.hands.next_lift is not None:
            self._lift()
        self.called.extend(dead_heats(self.final))
