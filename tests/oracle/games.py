"""Games played by chance: plausible logs of ``classic``, with every awkward thing that players do.

`play` is a function of its seed. Packs are real and dealt by S4a, so each card that is laid is the one that lies on top
of that seat's stack; whose turn it is comes from the oracle. Most packs are small and of few ranks: there doubles,
challenges, eliminations and last chances come thick.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from referee.engine.observations import Card, Lift, Observation, Placed, Slap, Table, Taken, Tick
from referee.rules.cards import PACK
from tests.oracle.classic import Classic, dealt, pattern

MS = 1_000_000
APART = 30 * MS
"""Things further apart than this cannot be a dead heat, nor in doubt: errors of a log are kept below half of it."""
NAMES = ("Ana", "Ben", "Cho", "Dee", "Eli", "Fay", "Gus", "Hal")


@dataclass(frozen=True)
class Game:
    """A log in the order of event time, and what nobody at the table knows."""

    seed: int
    observations: tuple[Observation, ...]
    deal: tuple[tuple[str, ...], ...]
    """Each seat's stack, its next card first."""

    @property
    def table(self) -> Table:
        table = self.observations[0]
        assert isinstance(table, Table)
        return table


@dataclass
class _Habits:
    """What kind of table this is; drawn once a game."""

    slap_errors: tuple[int, ...]
    card_error: int
    force: float
    eager: float
    wrong: float
    cover: float
    near: float
    doubt: float
    astray: float
    fast: bool
    lift: float

    @classmethod
    def draw(cls, rng: random.Random) -> _Habits:
        return cls(
            slap_errors=rng.choice(((1_500_000,), (20_000,), (20_000, 1_500_000), (1_500_000, 5 * MS), (0, 20_000))),
            card_error=rng.choice((0, 0, 2 * MS, 8 * MS)),
            force=rng.choice((0.0, 0.5, 1.0, 1.0)),
            eager=rng.uniform(0.1, 0.9),
            wrong=rng.choice((0.0, 0.02, 0.05, 0.15)),
            cover=rng.uniform(0.0, 0.8),
            near=rng.uniform(0.0, 0.5),
            doubt=rng.choice((0.0, 0.0, 0.03, 0.1)),
            astray=rng.choice((0.0, 0.01, 0.05)),
            fast=rng.random() < 0.4,
            lift=rng.choice((1.0, 0.95, 0.7)),
        )


@dataclass
class _Player:
    """Plays one game: `waiting` holds what is bound to happen, `done` the log so far."""

    rng: random.Random
    habits: _Habits
    oracle: Classic
    done: list[Observation] = field(default_factory=list)
    waiting: list[Observation] = field(default_factory=list)
    now: int = 0
    numbers: int = 0
    seen_rulings: int = 0

    def name(self, letter: str) -> str:
        self.numbers += 1
        return f"{letter}{self.numbers}"

    # -- what happens -------------------------------------------------------------------------------------------

    def feed(self, stretch: list[Observation]) -> None:
        stretch.sort(key=lambda one: one.t)
        self.done += stretch
        self.oracle.feed(stretch)
        self.now = max(self.now, *(one.t for one in stretch))
        for row in self.oracle.rulings[self.seen_rulings :]:
            if row["kind"] == "burn" and self.rng.random() < 0.5:
                self.waiting.append(
                    Placed(t=self.now + self.rng.randint(200 * MS, 500 * MS), id=self.name("p"), seat=row["seat"])
                )
        self.seen_rulings = len(self.oracle.rulings)

    def let_pass(self, until: int) -> bool:
        """Let what waits happen up to ``until``; stop, and say so, when that changes who plays."""
        while True:
            stretch = self.stretch_from(min((one.t for one in self.waiting), default=until), until)
            if not stretch:
                return True
            before = (self.oracle.turn, self.oracle.owner, self.oracle.over, self.oracle.heat_open)
            self.feed(stretch)
            if before != (self.oracle.turn, self.oracle.owner, self.oracle.over, self.oracle.heat_open):
                return False

    def stretch_from(self, start: int, until: int) -> list[Observation]:
        """Everything that waits from ``start`` on with no pause between; nothing of it after ``until``."""
        taken: list[Observation] = []
        end = start
        for one in sorted(self.waiting, key=lambda one: one.t):
            if one.t > end + APART or one.t >= until:
                break
            taken.append(one)
            end = max(end, one.t)
        self.waiting = [one for one in self.waiting if all(one is not other for other in taken)]
        return taken

    def around(self, t: int) -> list[Observation]:
        """What waits so near ``t`` that it must be judged together with what happens then."""
        chosen = [one for one in self.waiting if one.t < t]
        self.waiting = [one for one in self.waiting if one.t >= t]
        return chosen + self.stretch_from(t, t + 10_000 * MS)

    def clear(self, start: int, end: int, seat: int | None = None) -> None:
        """Nobody (or not that seat) slaps in this time."""
        self.waiting = [
            one
            for one in self.waiting
            if not (isinstance(one, Slap) and start <= one.t <= end and seat in (None, one.seat))
        ]

    # -- hands --------------------------------------------------------------------------------------------------

    def hand(self, seat: int, t: int) -> Slap:
        force = round(self.rng.random(), 2) if self.rng.random() < self.habits.force else None
        slap = Slap(
            t=t, id=self.name("s"), seat=seat, force=force, t_error=self.rng.choice(self.habits.slap_errors)
        )  # fmt: skip
        self.waiting.append(slap)
        if self.rng.random() < self.habits.lift:
            self.lift(seat, t + self.rng.randint(40 * MS, 260 * MS))
        elif self.rng.random() < 0.8:
            self.lift(seat, t + self.rng.randint(1000 * MS, 5000 * MS))
        return slap

    def lift(self, seat: int, t: int) -> None:
        self.waiting.append(Lift(t=t, id=self.name("l"), seat=seat))

    def reaction(self) -> int:
        """A reaction time, ns: mostly 200 to 600 ms, seldom far too early."""
        if self.rng.random() < 0.05:
            return self.rng.randint(0, 160 * MS)
        return round(max(120.0, self.rng.gauss(250, 45) + self.rng.expovariate(1 / 90)) * MS)

    def react(self, t: int, oracle: Classic) -> None:
        """Hands after something was laid at ``t``; ``oracle`` is the table with that card."""
        rng, habits = self.rng, self.habits
        live = oracle.live()
        good = bool(oracle.pile) and not oracle.pile[-1][1] and pattern(live) is not None
        covered = len(oracle.pile) > 1 and not good and pattern(live[:-1]) is not None
        chance = habits.eager if good else habits.cover / 2 if covered else habits.wrong
        for seat in range(1, oracle.seats + 1):
            if rng.random() >= chance:
                continue
            slap = self.hand(seat, t + (rng.randint(0, 400 * MS) if covered else self.reaction()))
            if good and rng.random() < habits.near:
                self.rival(slap)
        if rng.random() < habits.doubt:
            for seat in rng.sample(range(1, oracle.seats + 1), k=rng.randint(1, 2)):
                self.hand(seat, t + rng.randint(0, 2 * habits.card_error + 3 * MS))

    def rival(self, slap: Slap) -> None:
        """Another hand about as far from this one as their errors reach."""
        seats = [seat for seat in range(1, self.oracle.seats + 1) if seat != slap.seat]
        other = self.hand(self.rng.choice(seats), slap.t)
        reach = slap.t_error + other.t_error
        far = self.rng.choice((0, reach - 1, reach, reach + 1, self.rng.randint(0, 2 * reach + 1)))
        self.waiting[:] = [replace(one, t=max(slap.t, slap.t + far)) if one is other else one for one in self.waiting]

    # -- turns --------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """The next thing that somebody does on purpose: take the pile, or lay a card."""
        oracle, rng = self.oracle, self.rng
        if oracle.last_chance and oracle.turned == 3 and oracle.owner is None:
            self.end_of_last_chance()
            return
        low, high = (60, 300) if self.habits.fast else (250, 900)
        when = self.now + rng.randint(low * MS, high * MS)
        if oracle.owner is not None and rng.random() < 0.8:
            when += rng.randint(0, 600 * MS)
            self.clear(when - 2 * APART, when + APART) if oracle.won_by == "challenge" else None
            if self.let_pass(when - APART):
                self.take(when, oracle.owner)
            return
        if oracle.owner is None and not oracle.pile and rng.random() < 0.03:
            self.hand(rng.randint(1, oracle.seats), self.now + rng.randint(1, 200 * MS))
        if rng.random() < self.habits.doubt and not oracle.last_chance:
            self.hand(rng.randint(1, oracle.seats), when - rng.randint(0, 2 * self.habits.card_error + 3 * MS))
        if self.let_pass(when - APART):
            self.lay(when)

    def end_of_last_chance(self) -> None:
        oracle, rng = self.oracle, self.rng
        assert oracle.deadline is not None
        end = oracle.deadline if rng.random() < 0.5 else self.now + rng.randint(300 * MS, 900 * MS)
        self.clear(end - 2 * APART, end + APART)
        if not self.let_pass(end - APART):
            return
        if end < oracle.deadline:
            self.take(end, oracle.last_chance_of)
        else:
            self.feed([Tick(t=oracle.deadline + rng.randint(1, 50 * MS), id=self.name("k"))])

    def take(self, when: int, owner: int) -> None:
        taken = Taken(t=when, id=self.name("t"), seat=owner if self.rng.random() < 0.7 else None)
        stretch = [*self.around(when), taken]
        self.feed(stretch)

    def lay(self, when: int) -> None:
        oracle, rng = self.oracle, self.rng
        seat = oracle.turn
        assert seat is not None
        others = [other for other in oracle.holders() if other != seat]
        if others and rng.random() < self.habits.astray:
            seat = rng.choice(others)
        stack = oracle.stacks[seat]
        if not stack:  # only the owner of a pile can be in turn without cards: its pile comes first
            self.clear(when - 2 * APART, when + APART)
            stack = oracle.burned + [card for card, _ in oracle.pile]
        self.clear(when - 2 * APART, when + APART, seat)
        card = Card(
            t=when, id=self.name("c"), card=stack[0], seat=seat, t_error=self.habits.card_error,
            known_at=when + rng.randint(0, 600 * MS),
        )  # fmt: skip
        ahead = oracle.ahead(card)
        if not ahead.over:
            self.react(when, ahead)
            self.clear(when, when + APART, seat)
        stretch = self.around(when)
        unsure = any(isinstance(one, Slap) and one.t < when + APART for one in stretch)
        if seat == oracle.turn and not unsure and rng.random() < 0.1:
            card = replace(card, seat=None)
        self.feed([*stretch, card])


def play(seed: int, cards: int = 150) -> Game:
    """One game to its end, to a dead heat that only people can settle, or to about ``cards`` cards."""
    rng = random.Random(seed)
    seats = rng.choice((2, 2, 3, 3, 4, 4, 5, 6, 7, 8))
    dealer = rng.randint(1, seats)
    backwards = rng.random() < 0.15
    packs = 2 if rng.random() < 0.1 else 1
    ranks = rng.sample("A23456789TJQK", k=rng.choice((4, 5, 6, 8, 13, 13)))
    pack = [card for card in PACK if card[0] in ranks] * packs
    rng.shuffle(pack)
    if rng.random() < 0.6:
        pack = pack[: rng.randint(2 * seats + 4, 40)]
    deal: list[list[str]] = [[] for _ in range(seats)]
    counts = dealt(seats, dealer, len(pack), -1 if backwards else 1)
    for seat, count in enumerate(counts):
        deal[seat], pack = pack[:count], pack[count:]
    table = Table(
        t=0, id="table", seats=NAMES[:seats], dealer=dealer, packs=packs if packs > 1 else None,
        counts=None if sum(counts) == 52 * packs else tuple(counts),
        direction="counter-clockwise" if backwards else None,
    )  # fmt: skip
    player = _Player(rng, _Habits.draw(rng), Classic(table, deal), done=[table])
    for _ in range(8 * cards):
        if player.oracle.over or player.oracle.heat_open:
            break
        if sum(isinstance(one, Card) for one in player.done) >= cards:
            break
        player.step()
    player.let_pass(player.now + 400 * MS)
    player.done.append(Tick(t=player.now + rng.randint(0, 100 * MS), id="end"))
    return Game(seed, tuple(player.done), tuple(tuple(stack) for stack in deal))
