"""The course of a simulated game: what its players do next, and what the core makes of it.

Between two instants nothing happens. Each step takes whatever comes first: a hand that hits or leaves its pad, a card
that is laid, a pile that is taken, a penalty card that goes under the pile.
"""

from __future__ import annotations

from collections import deque
from copy import deepcopy
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from random import Random
from typing import Any

from hardware.simulated.acts import MS, Act, Burn, Cover, Lay, Start, Take
from hardware.simulated.decks import all_cards
from hardware.simulated.players import Contact, Habits, press, seat_people
from referee.adjudication.adjudicator import Adjudicator
from referee.adjudication.observations import Answer, Card, Draw, Lift, Observation, Placed, Slap, Table, Taken, Tick
from referee.adjudication.rulings import Ruling
from referee.adjudication.view import View
from referee.rules.house import house_rules

SECOND = 1_000_000_000
GUARD_NS = 80 * MS
"""How near a reveal no slap falls unless asked for."""
COVERED_NS = (105 * MS, 118 * MS)
"""When a hand meant for a covered card falls after the cover: surely after it, surely quicker than a reaction."""
GUESS_NS = (125 * MS, 180 * MS)
"""When a guessing hand falls after the card it guessed about."""
PROBE_NS = 500 * MS
"""How long after a card the players ask themselves whether a hand would win."""
HEAT_NS = 3_200_000
"""Hands nearer than this are a dead heat to pads that are known to 1.5 ms each."""
SAME_HAND_NS = 340 * MS
"""The least time between two cards of one player."""
START_NS = SECOND
END_NS = 2 * SECOND
PATIENCE_NS = 6 * SECOND


class ScriptError(RuntimeError):
    """The players do not know what to do: the core names nobody to play and nobody to take the pile."""


@dataclass(frozen=True, slots=True)
class Called:
    """A moment that the script knows to be too close for the sensors."""

    t: int
    kind: str
    """``dead_heat``, ``doubt`` (a slap next to a reveal) or ``slap_the_pile``."""
    seats: tuple[int, ...]
    margin: int
    """ns between the two."""


@dataclass(order=True)
class _Intent:
    """A hand that has begun to move towards its pad."""

    t: int
    seat: int
    held: int = field(compare=False)
    for_card: int = field(compare=False)
    """Which card, by the count of cards laid, it answers."""


class Course:
    """The state of the table while a game is being played."""

    def __init__(self, seed: int, names: tuple[str, ...], rules: Any, pace: float, habits: Habits, dealer: int) -> None:
        self.seed, self.habits = seed, habits
        self.chance = Random(f"table {seed}")
        self.people = seat_people(names, self.chance)
        self.rules = house_rules(rules)
        self.interval = SECOND / pace
        packs, jokers = self.rules.value("S2"), self.rules.value("S3")
        self.table = Table(t=0, id="table", seats=names, dealer=dealer, rules=rules)
        # Answers need the core's memory, and copying that to ask "what if" is slow: then a second core forgets.
        self.core = Adjudicator(lookahead_ns=0, history=self.rules.has("S4b"))
        self.forgetful = Adjudicator(lookahead_ns=0, history=False) if self.rules.has("S4b") else self.core
        self._observe(self.table)
        self.cards = all_cards(packs, jokers)
        self.acts: list[Act] = []
        self.truth: list[Observation] = [self.table]
        self.pile: list[str] = []
        self.stacks = self._deal()
        self.contacts: list[Contact] = []
        self.called: list[Called] = []
        self.intents: list[_Intent] = []
        self.lifts: list[tuple[int, int]] = []
        self.pad_free = [0] * (len(names) + 1)
        self.now = 0
        self.laid = 0
        self.slaps = 0
        self.last_lay: tuple[int, int] = (0, 0)
        """When, and which seat."""
        self.lay_at = START_NS
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

    def _deal(self) -> list[deque[str]]:
        """Stacks as the core believes them dealt, next card first; what is over starts the pile, face down."""
        shuffled = list(self.cards)
        self.chance.shuffle(shuffled)
        self._tick(0)
        counts = [self._cut(len(shuffled)) if count is None else count for count in self.core.view.counts]
        stacks = []
        for count in counts:
            stacks.append(deque(shuffled[:count]))
            del shuffled[:count]
        if any(count is None for count in self.core.view.counts):
            stacks[-1].extend(shuffled)
        elif shuffled:
            self.pile = shuffled
            poses = tuple(self.people[0].tucked(len(self.people), self.chance) for _ in shuffled)
            self.acts.append(Start(0, tuple(shuffled), poses))
        if self.rules.has("P14") and not self.rules.value("P14"):
            self.truth.append(Draw(t=1, id="wild", rank=self.chance.choice("23456789T")))
            self._observe(self.truth[-1])
            self._tick(1)
        return stacks

    def _cut(self, cards: int) -> int:
        """A roughly equal share of a pack that is cut and not dealt."""
        return int(len(self.cards) / len(self.people) * self.chance.uniform(0.8, 1.0)) if cards else 0

    # What the core is told and says

    def _observe(self, observation: Observation) -> list[Ruling]:
        if self.forgetful is not self.core and not isinstance(observation, Answer):
            self.forgetful.observe(observation)
            self.forgetful.take_early()
        return self.core.observe(observation)

    def _tick(self, t: int) -> list[Ruling]:
        return self._observe(Tick(t=t))

    def _tell(self, observation: Observation) -> list[Ruling]:
        """Report the truth; give what the referee says at once."""
        self.truth.append(observation)
        self.now = observation.t
        self._heed(self._observe(observation) + self._tick(observation.t))
        return self.core.take_early()

    def _heed(self, rulings: list[Ruling]) -> None:
        for ruling in rulings:
            self.final.append(ruling)
            if ruling.kind == "burn":
                fields = ruling.fields
                due = max(self.now, ruling.t) + self._seconds(0.75, 1.25)
                if self.burns:
                    due = max(due, self.burns[-1][0] + self._seconds(0.5, 0.7))
                self.burns.append((due, fields["seat"], fields["count"], fields.get("where") == "top"))
            elif ruling.kind == "pile" and not self.taking and not self.view.game_over:
                self.owed, self.take_at = ruling.fields["seat"], None
            elif ruling.kind == "question":
                self._settle_question(ruling)
        owner = self.core.view.owner
        if owner != self.owner:
            self.owner = owner
            self.take_at = None

    def _settle_question(self, question: Ruling) -> None:
        """People look under the pile when the referee asks what lies lowest."""
        if question.fields["ask"] == "bottom_card" and self.pile:
            self.truth.append(Answer(t=self.now + 1, id=f"a{len(self.truth)}", to=question.id, value=self.pile[0]))
            self.now += 1
            self._heed(self._observe(self.truth[-1]) + self._tick(self.now))

    def _seconds(self, low: float, high: float) -> int:
        return int(self.chance.uniform(low, high) * SECOND)

    @property
    def view(self) -> View:
        return self.core.view

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
            if action[1] == "lay" and self.laid >= max_cards:
                break
            self._act(*action)
            idle_since = self.now
        self._finish()

    def _wait(self, idle_since: int) -> None:
        self.now += 100 * MS
        self._heed(self._tick(self.now))
        if self.now - idle_since > PATIENCE_NS:
            raise ScriptError(f"at {self.now} ns nobody is to play and nobody to take the pile")

    def _serve_hands(self, until: int) -> bool:
        """Let the next hand hit or leave its pad if that comes before ``until``."""
        slap = self.intents[0].t if self.intents else None
        lift = self.lifts[0][0] if self.lifts else None
        soonest = min((t for t in (slap, lift) if t is not None), default=None)
        if soonest is None or soonest > until:
            return False
        if soonest == lift:
            t, seat = heappop(self.lifts)
            self._tell(Lift(t=t, id=f"l{len(self.truth)}", seat=seat))
        else:
            self._slap(heappop(self.intents))
        return True

    def _next_action(self) -> tuple[int, str, int] | None:
        """What happens next over the table: when, what, by whom."""
        if self.burns:
            return self.burns[0][0], "burn", self.burns[0][1]
        view = self.view
        taker = self.owed if self.owed is not None else self.owner
        if taker is not None and self.pile:
            if self.take_at is None:
                self.take_at = self.now + self._take_delay()
            return max(self.take_at, self.now + 30 * MS), "take", taker
        if view.turn is None:
            return None
        return self._clear_of_hands(max(self.lay_at, self.now + 1)), "lay", view.turn

    def _take_delay(self) -> int:
        by_slap = self.now - self.last_valid < 5 * MS
        return self._seconds(0.6, 1.5) if by_slap else self._seconds(1.15, 1.8)

    def _clear_of_hands(self, t: int) -> int:
        """The first instant from ``t`` on at which a reveal is not next to a slap."""
        for intent in sorted(self.intents):
            if intent.t - GUARD_NS < t < intent.t + GUARD_NS and not self._wanted_close(intent):
                t = intent.t + GUARD_NS + self.chance.randrange(20 * MS)
        return t

    def _wanted_close(self, intent: _Intent) -> bool:
        return intent.for_card < 0

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
        if seat == last_seat and t < last_t + SAME_HAND_NS:
            t = self._clear_of_hands(last_t + SAME_HAND_NS)
        self._settle_intents(t)
        if self._hands_before(t):
            self.lay_at = t
            return
        person = self.people[seat - 1]
        card = self.stacks[seat - 1].popleft()
        self.laid += 1
        act = Lay(t, seat, card, person.pose(len(self.people), self.chance), person.sideways)
        self.acts.append(act)
        self.pile.append(card)
        name = f"c{self.laid}"
        in_turn = self.view.turn == seat
        self.last_lay = (t, seat)
        self._tell(Card(t=t, id=name, card=card, seat=seat))
        self.lay_at = t + self._pause_after(in_turn)
        self._react(t)

    def _hands_before(self, t: int) -> bool:
        """Whether some hand moves before ``t``, so that it must be heard first."""
        return bool((self.intents and self.intents[0].t <= t) or (self.lifts and self.lifts[0][0] <= t))

    def _somebody_else(self, seat: int) -> int:
        others = [p.seat for p in self.people if p.seat != seat and self.stacks[p.seat - 1]]
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
        self.acts.append(Take(t, seat))
        self.stacks[seat - 1].extend(self.pile)
        self.pile.clear()
        self.take_at = self.owner = self.owed = None
        self.taking = True
        self._tell(Taken(t=t, id=f"t{len(self.truth)}", seat=seat))
        self.taking = False
        self.lay_at = t + self._seconds(0.75, 1.3)

    def _burn(self) -> None:
        t, seat, count, top = self.burns.popleft()
        stack = self.stacks[seat - 1]
        cards = tuple(stack.popleft() for _ in range(min(count, len(stack))))
        if not cards:
            return
        poses = tuple(self.people[seat - 1].tucked(len(self.people), self.chance) for _ in cards)
        self.acts.append(Burn(t, seat, cards, poses, top))
        self.pile = [*self.pile, *cards] if top else [*reversed(cards), *self.pile]
        name, where = f"p{len(self.truth)}", "top" if top else "bottom"
        lowest_first = cards if top else cards[::-1]
        self._tell(Placed(t=t, id=name, seat=seat, count=len(cards), where=where, cards=lowest_first))
        self.lay_at = max(self.lay_at, t + self._seconds(0.5, 0.8))
        if self.take_at is not None:
            self.take_at = max(self.take_at, t + self._seconds(0.8, 1.2))

    # Slaps

    def _worth_slapping(self) -> bool:
        """Whether a good hand would win the pile now: asked of a copy of the core."""
        pressed = {seat for _, seat in self.lifts}
        seat = next((p.seat for p in self.people if p.seat not in pressed and self._may_slap(p.seat)), None)
        if seat is None:
            return False
        twin = deepcopy(self.forgetful)
        t = self.now + PROBE_NS
        twin.observe(Slap(t=t, id="probe", seat=seat, t_error=0))
        twin.observe(Tick(t=t))
        return any(r.kind == "slap_won" and r.t == t for r in twin.take_early())

    def _react(self, t: int) -> None:
        """Who goes for their pad because of the card that was just revealed at ``t``."""
        if self._worth_slapping():
            moved = [p for p in self.people if self._may_slap(p.seat) and self.chance.random() < self.habits.notice]
            for person in moved:
                self._reach(person.seat, t + person.reaction(self.chance))
            if moved and self.chance.random() >= self.habits.go_on:
                self.lay_at += self._seconds(0.8, 1.4)
            return
        roll = self.chance.random()
        seats = [p.seat for p in self.people if self._may_slap(p.seat)]
        if not seats:
            return
        seat = self.chance.choice(seats)
        if roll < self.habits.wrong_slap:
            self._reach(seat, t + self.people[seat - 1].reaction(self.chance))
        elif roll < self.habits.wrong_slap + self.habits.early_slap:
            self._reach(seat, t + self.chance.randrange(*GUESS_NS))
        elif roll < self.habits.wrong_slap + self.habits.early_slap + self.habits.close_call:
            self._guess_next(seat)
        elif self.chance.random() < self.habits.slap_the_pile:
            self._slap_the_pile(seat, t)

    def _guess_next(self, seat: int) -> None:
        t = self.lay_at + self.chance.randrange(-50 * MS, 50 * MS)
        self._reach(seat, t, for_card=-1)
        self.called.append(Called(t, "doubt", (seat,), abs(t - self.lay_at)))

    def _slap_the_pile(self, seat: int, t: int) -> None:
        at = t + SECOND // 2
        self.acts.append(Cover(at, at + self._seconds(0.2, 0.4), seat))
        self.called.append(Called(at, "slap_the_pile", (seat,), 0))
        self.lay_at = max(self.lay_at, at + SECOND)

    def _may_slap(self, seat: int) -> bool:
        if not self.slapping or seat in self.view.locked_out:
            return False
        return bool(self.stacks[seat - 1]) or self.rules.has("M10")

    def _reach(self, seat: int, t: int, for_card: int | None = None) -> None:
        if t < self.pad_free[seat]:
            return
        long = self.chance.random() < self.habits.long_hold
        held = self._seconds(0.8, 2.2) if long else self._seconds(0.11, 0.32)
        self.pad_free[seat] = t + held + 200 * MS
        heappush(self.intents, _Intent(t, seat, held, self.laid if for_card is None else for_card))

    def _slap(self, intent: _Intent) -> None:
        t, seat = intent.t, intent.seat
        while any(c.t == t for c in self.contacts[-12:]):
            t += 1  # two switches never close in the same nanosecond
        self.contacts.extend(press(seat, t, intent.held, self.chance))
        heappush(self.lifts, (t + intent.held, seat))
        self.slaps += 1
        said = self._tell(Slap(t=t, id=f"s{self.slaps}", seat=seat, t_error=0))
        if any(r.kind == "slap_won" for r in said):
            self.last_valid = t
            self.take_at = None
            self._inhibit(t)
        elif self.owner is None:
            self.lay_at = max(self.lay_at, t + self._seconds(0.5, 0.9))

    def _inhibit(self, t: int) -> None:
        """Hands that have not gone far stop when another has hit."""
        self.intents = sorted(
            i for i in self.intents if i.t < t + 120 * MS or (i.t < t + 300 * MS and self.chance.random() < 0.25)
        )

    def _settle_intents(self, t: int) -> None:
        """Before a card is laid at ``t`` over a pattern: which hands still come, and when."""
        kept = []
        for intent in sorted(self.intents):
            late = intent.t - t
            if late <= 0 or self._wanted_close(intent):
                kept.append(intent)
            elif late < 260 * MS:
                kept.append(replace(intent, t=t + self.chance.randrange(*COVERED_NS)))
            elif self.chance.random() < 0.1:
                kept.append(intent)
        self.intents = sorted(kept)

    def _finish(self) -> None:
        self.intents = []
        while self.lifts:
            t, seat = heappop(self.lifts)
            self._tell(Lift(t=t, id=f"l{len(self.truth)}", seat=seat))
        self._list_heats()

    def _list_heats(self) -> None:
        for ruling in self.final:
            margin = ruling.fields.get("margin") if ruling.kind == "slap_won" else None
            if margin is not None and margin < HEAT_NS:
                rivals = [r["seat"] for r in ruling.fields["runners_up"] if r["margin"] < HEAT_NS]
                self.called.append(Called(ruling.t, "dead_heat", (ruling.fields["seat"], *rivals), margin))
