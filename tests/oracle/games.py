"""Randomly played games: plausible logs of every preset, with every awkward thing that players do.

`play` is a function of its seed. Packs are real and dealt by S4a or S4b, so each card that is laid is the one that
lies on top of that seat's stack; the turn comes from the oracle. Most packs are small and of few ranks: there
doubles, challenges, eliminations and last chances are frequent.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from referee.engine.log import from_fields
from referee.engine.observations import Observation, Table
from tests.oracle.plain_patterns import PACK
from tests.oracle.plain_referee import CONTESTED, Line, PlainReferee, dealt, rows_of

MS = 1_000_000
APART = 30 * MS
"""Events further apart than this cannot be a dead heat, nor in doubt: errors of a log are kept below half of it."""
NAMES = ("Ana", "Ben", "Cho", "Dee", "Eli", "Fay", "Gus", "Hal")


@dataclass(frozen=True)
class Game:
    """A log in the order of event time, and the facts hidden from the table."""

    seed: int
    lines: tuple[Line, ...]
    deal: tuple[tuple[str, ...], ...]
    """Each seat's stack, its next card first; behind them the undealt cards."""

    @cached_property
    def observations(self) -> tuple[Observation, ...]:
        return tuple(from_fields(line, number + 1) for number, line in enumerate(self.lines))

    @property
    def table(self) -> Table:
        table = self.observations[0]
        assert isinstance(table, Table)
        return table


@dataclass
class _Habits:
    """The character of a table; drawn once a game."""

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
    pause: float

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
            pause=rng.choice((0.0, 0.0, 0.03)),
        )


@dataclass
class _Player:
    """Plays one game: `waiting` holds the pending events, `done` the log so far."""

    rng: random.Random
    habits: _Habits
    oracle: PlainReferee
    done: list[Line] = field(default_factory=list)
    waiting: list[Line] = field(default_factory=list)
    now: int = 0
    numbers: int = 0
    seen_rulings: int = 0
    left: list[int] = field(default_factory=list)
    """Seats whose players have left (E8)."""
    unseen: set[int] = field(default_factory=set)
    """Seats whose burned cards went in unseen."""

    def line(self, kind: str, t: int, **fields: Any) -> Line:
        self.numbers += 1
        return {"kind": kind, "t": t, "id": f"{kind[0]}{self.numbers}", **fields}

    # -- events --------------------------------------------------------------------------------------------------

    def feed(self, stretch: list[Line]) -> None:
        stretch.sort(key=lambda line: line["t"])
        self.done += stretch
        self.oracle.feed(stretch)
        self.now = max(self.now, *(line["t"] for line in stretch))
        for row in self.oracle.rulings[self.seen_rulings :]:
            if row["kind"] == "burn" and row["seat"] in self.oracle.stacks:
                self.see_burned(row)
            elif row["kind"] == "pile":
                self.waiting = [line for line in self.waiting if line["kind"] != "placed"]
                self.unseen.clear()
        self.seen_rulings = len(self.oracle.rulings)

    def see_burned(self, row: dict[str, Any]) -> None:
        """Let penalty cards be seen going in, often; where they count (P5b) mostly at once, and by name."""
        counts, seat = "P5b" in self.oracle.rows, row["seat"]
        for line in self.waiting:
            if line["kind"] == "placed" and line["seat"] == seat:
                line.pop("cards", None)  # the two cannot be told apart
        if self.rng.random() >= (0.95 if counts else 0.5):
            self.unseen.add(seat)
            return
        after = 1 if counts else self.rng.randint(200 * MS, 500 * MS)
        earlier = [line["t"] for line in self.waiting if line["kind"] == "placed"]
        placed = self.line("placed", max([self.now + after, *earlier]), seat=seat, count=row["count"], where="bottom")
        cards = [card.name for card in self.oracle.unplaced.get(seat, ())]
        if cards and seat not in self.unseen and (counts or (not earlier and self.rng.random() < 0.3)):
            placed["cards"] = cards
        if counts:
            self.clear(self.now, placed["t"])
        self.waiting.append(placed)

    def state(self) -> tuple[Any, ...]:
        return self.oracle.turn, self.oracle.owner, self.oracle.stops()

    def let_pass(self, until: int) -> bool:
        """Play pending events up to ``until``; stop, and say so, when that changes who plays."""
        while True:
            stretch = self.stretch_from(min((line["t"] for line in self.waiting), default=until), until)
            if not stretch:
                return True
            before = self.state()
            self.feed(stretch)
            if before != self.state():
                return False

    def stretch_from(self, start: int, until: int) -> list[Line]:
        """Return all pending events from ``start`` on with no pause between; nothing of it after ``until``."""
        taken: list[Line] = []
        end = start
        for line in sorted(self.waiting, key=lambda line: line["t"]):
            if line["t"] > end + APART:
                break
            if line["t"] >= until:
                if taken:  # it cannot be judged apart from its near neighbour
                    self.clear(until, end + APART)
                break
            taken.append(line)
            end = max(end, line["t"])
        self.waiting = [line for line in self.waiting if all(line is not other for other in taken)]
        return taken

    def around(self, t: int) -> list[Line]:
        """Return the pending events so near ``t`` that they must be judged together."""
        chosen = [line for line in self.waiting if line["t"] < t]
        self.waiting = [line for line in self.waiting if line["t"] >= t]
        return chosen + self.stretch_from(t, t + 10_000 * MS)

    def clear(self, start: int, end: int, seat: int | None = None) -> None:
        """Whether there is no slap (or none by that seat) in this time."""
        self.waiting = [
            line
            for line in self.waiting
            if not (line["kind"] == "slap" and start <= line["t"] <= end and seat in (None, line["seat"]))
        ]

    # -- hands --------------------------------------------------------------------------------------------------

    def hand(self, seat: int, t: int) -> Line:
        force = round(self.rng.random(), 2) if self.rng.random() < self.habits.force else None
        slap = self.line("slap", t, seat=seat, force=force, t_error=self.rng.choice(self.habits.slap_errors))
        self.waiting.append(slap)
        if self.rng.random() < self.habits.lift or seat not in self.oracle.stacks:
            self.lift(seat, t + self.rng.randint(40 * MS, 260 * MS))
        elif self.rng.random() < 0.8:
            self.lift(seat, t + self.rng.randint(1000 * MS, 5000 * MS))
        return slap

    def lift(self, seat: int, t: int) -> None:
        self.waiting.append(self.line("lift", t, seat=seat))

    def reaction(self) -> int:
        """Return a reaction time, ns: mostly 200 to 600 ms, seldom far too early."""
        if self.rng.random() < 0.05:
            return self.rng.randint(0, 160 * MS)
        return round(max(120.0, self.rng.gauss(250, 45) + self.rng.expovariate(1 / 90)) * MS)

    def seats(self) -> list[int]:
        """Return possible seats of a hand; sometimes one that does not play, or whose player has left."""
        seats = [*self.oracle.stacks, *([8] if self.rng.random() < 0.02 and 8 not in self.oracle.stacks else [])]
        gone = [seat for seat in self.left if seat != 8]
        return [*seats, self.rng.choice(gone)] if gone and self.rng.random() < 0.1 else seats

    def react(self, t: int, oracle: PlainReferee) -> None:
        """Add hands after something was laid at ``t``; ``oracle`` is the table with that card."""
        rng, habits = self.rng, self.habits
        good = oracle.slappable() is not False
        covered = len(oracle.pile) > 1 and not good and oracle.covered() is not False
        unsure = oracle.slappable() is None or oracle.covered() is None
        if unsure and rng.random() < 0.8:
            return  # people who do not know the lowest card mostly leave it alone
        chance = habits.eager if good else habits.cover / 2 if covered else habits.wrong
        if "E6" in oracle.rows:
            chance = habits.wrong
        for seat in self.seats():
            if rng.random() >= chance:
                continue
            slap = self.hand(seat, t + (rng.randint(0, 400 * MS) if covered else self.reaction()))
            if good and rng.random() < habits.near:
                self.rival(slap)
        if rng.random() < habits.doubt:
            seats = self.seats()
            for seat in rng.sample(seats, k=min(len(seats), rng.randint(1, 2))):
                self.hand(seat, t + rng.randint(0, 2 * habits.card_error + 3 * MS))

    def rival(self, slap: Line) -> None:
        """Add another hand about as far from this one as their errors reach."""
        other = self.hand(self.rng.choice([seat for seat in self.oracle.stacks if seat != slap["seat"]]), slap["t"])
        reach = slap["t_error"] + other["t_error"]
        other["t"] += self.rng.choice((0, max(0, reach - 1), reach, reach + 1, self.rng.randint(0, 2 * reach + 1)))

    # -- turns --------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Play the next deliberate act: take the pile, or lay a card."""
        oracle, rng = self.oracle, self.rng
        if rng.random() < self.habits.pause and self.let_pass(self.now + 100 * MS):
            self.pause()
        if oracle.stops():
            return
        if "M11" in oracle.rows and len(oracle.stacks) < 8 and rng.random() < 0.02:
            free = [seat for seat in range(1, 9) if seat not in oracle.stacks and seat not in self.left] or [8]
            self.waiting.append(self.line("join", self.now + rng.randint(50 * MS, 200 * MS), seat=rng.choice(free)))
        if "F5" in oracle.rows and not oracle.last_chance and rng.random() < 0.04:
            self.contest()
            return
        if oracle.last_chance and oracle.turned == 3 and oracle.owner is None:
            self.end_of_last_chance()
            return
        if "E8" in oracle.rows and rng.random() < 0.03:
            self.leave()
            return
        low, high = (60, 300) if self.habits.fast else (250, 900)
        when = self.now + rng.randint(low * MS, high * MS)
        if oracle.owner is not None and rng.random() < 0.8:
            when += rng.randint(0, 600 * MS)
            self.clear(when - 2 * APART, when + APART) if oracle.won_by == "challenge" else None
            if self.let_pass(when - APART):
                self.take(when, rng.choice(oracle.sharers or [oracle.owner]))
            return
        if oracle.owner is None and not oracle.pile and rng.random() < 0.03:
            self.hand(rng.choice(self.seats()), self.now + rng.randint(1, 200 * MS))
        if rng.random() < self.habits.doubt and not oracle.last_chance and "P5b" not in oracle.rows:
            self.hand(rng.choice(self.seats()), when - rng.randint(0, 2 * self.habits.card_error + 3 * MS))
        if self.let_pass(when - APART):
            self.lay(when)

    def contest(self) -> None:
        """Let players with cards to spare contest the latest act."""
        rich = [seat for seat, stack in self.oracle.stacks.items() if len(stack) > 2]
        done = [row for row in self.oracle.rulings if row["kind"] in CONTESTED]
        against = done[-1]["seat"] if done else None
        before = [row["kind"] for row in done[:-1] if row["seat"] == against][-1:]
        plain = done and (done[-1]["kind"] != "pile" or before != ["slap_false"])  # else they would name its target
        if plain and against in rich and len(rich) > 1 and done[-1]["t"] > self.now - 1000 * MS:
            others = [seat for seat in rich if seat != against]
            by = self.rng.sample(others, k=self.rng.randint(1, len(others)))
            when = self.now + self.rng.randint(1, 150 * MS)
            self.clear(when - 2 * APART, when + APART)
            if self.let_pass(when - APART):
                self.feed([*self.around(when), self.line("contest", when, by=by, against=against)])

    def leave(self) -> None:
        """Let a player leave: often one that the game waits for; none that shares a pile or has the last chance."""
        oracle, rng = self.oracle, self.rng
        when = self.now + rng.randint(1, 300 * MS)
        self.clear(when - 2 * APART, when + APART)
        if not self.let_pass(when - APART) or oracle.stops() or oracle.sharers or oracle.last_chance:
            return
        waited = [seat for seat in (oracle.turn, oracle.owner, oracle.challenger) if seat is not None]
        seat = rng.choice(waited if waited and rng.random() < 0.6 else [*oracle.stacks])
        if len(oracle.stacks) == 2 and rng.random() < 0.8:
            return
        self.waiting = [line for line in self.waiting if line["kind"] != "placed" or line["seat"] != seat]
        self.left.append(seat)
        self.feed([*self.around(when), self.line("leave", when, seat=seat)])

    def pause(self) -> None:
        """Stop the table: no cards are laid meanwhile; hands may come down all the same."""
        start = self.now + self.rng.randint(1, 80 * MS)
        stop = start + self.rng.randint(50 * MS, 3000 * MS)
        self.waiting += [self.line("pause", start), self.line("resume", stop)]
        if self.rng.random() < 0.3:
            self.hand(self.rng.choice(self.seats()), self.rng.randint(start, stop))
        while self.now < stop and any(line["kind"] == "resume" for line in self.waiting):
            self.let_pass(stop + 1)

    def end_of_last_chance(self) -> None:
        oracle, rng = self.oracle, self.rng
        assert oracle.deadline is not None
        deadline = oracle.deadline + oracle.pauses
        end = deadline if rng.random() < 0.5 else self.now + rng.randint(300 * MS, 900 * MS)
        self.clear(end - 2 * APART, end + APART)
        if not self.let_pass(end - APART):
            return
        if end < deadline:
            self.take(end, oracle.last_chance_of)
        else:
            tick = self.line("tick", deadline + rng.randint(-20 * MS, 50 * MS))
            self.feed([*self.around(tick["t"]), tick])

    def take(self, when: int, owner: int) -> None:
        taken = self.line("taken", when, seat=owner if self.rng.random() < 0.7 else None)
        self.feed([*self.around(when), taken])

    def lay(self, when: int) -> None:
        oracle, rng = self.oracle, self.rng
        seat = oracle.turn
        assert seat is not None
        others = [other for other in oracle.holders() if other != seat]
        if others and rng.random() < self.habits.astray:
            seat = rng.choice(others)
        stack = oracle.stacks[seat]
        alone = None if oracle.sharers or not stack else seat
        self.clear(when - 2 * APART, when + APART, alone)
        if oracle.sharers and seat == oracle.turn:  # its card is known when the pile is shared
            self.take(when - APART // 2, seat)
            stack = oracle.stacks[seat]
        elif not stack:  # only the owner of a pile can be in turn without cards: its pile comes first
            stack = oracle.burned + oracle.pile
        card = self.line(
            "card", when, card=stack[0].name, seat=seat, t_error=self.habits.card_error,
            known_at=when + rng.randint(0, 600 * MS),
        )  # fmt: skip
        ahead = oracle.ahead(card)
        if not ahead.over:
            self.react(when, ahead)
            self.clear(when, when + APART, alone)
        stretch = self.around(when)
        unsure = any(line["kind"] == "slap" and line["t"] < when + APART for line in stretch)
        if seat == oracle.turn and not unsure and rng.random() < 0.1:
            card["seat"] = None
        self.feed([*stretch, card])


def _pack(rng: random.Random, preset: str, packs: int, jokers: int, least: int) -> list[str]:
    """Return a pack to play with, mostly a small one of few ranks."""
    ranks = rng.sample("A23456789TJQK", k=rng.choice((4, 5, 6, 8, 13, 13)))
    if preset == "slapjack" and "J" not in ranks:
        ranks[0] = "J"
    pack = [card for card in PACK if card[0] in ranks] * packs + ["Xr", "Xb"][:jokers]
    rng.shuffle(pack)
    return pack[: rng.randint(least, 40)] if rng.random() < 0.6 else pack


def _in_runs(pack: list[str]) -> list[str]:
    """Return the same cards, as many as possible followed by one of the next rank."""
    left, out, ranks = list(pack), list[str](), "A23456789TJQKA"
    while left:
        after = ranks[ranks.index(out[-1][0]) + 1] if out and out[-1][0] in ranks else ""
        out.append(next((card for card in left if card[0] == after), left[0]))
        left.remove(out[-1])
    return out


def play(seed: int, cards: int = 150, preset: str = "classic") -> Game:
    """Play one game to its end, to a question that only people can settle, or to about ``cards`` cards."""
    rng = random.Random(seed)
    seats = rng.choice((2, 2, 3, 3, 4, 4, 5, 6, 7, 8))
    dealer = rng.randint(1, seats)
    backwards = rng.random() < 0.15 or preset == "suck-the-well"
    packs = 2 if rng.random() < 0.1 else 1
    jokers = rng.choice((0, 2, 2)) if preset in ("wikipedia-2025", "wikipedia-2020") else 2 * (rng.random() < 0.05)
    pack = _pack(rng, preset, packs, jokers, 2 * seats + 4)
    full = len(pack) == 52 * packs + jokers
    counts = dealt(seats, dealer, len(pack), -1 if backwards else 1, "S4b" in rows_of(preset) and full)
    deal: list[list[str]] = [[] for _ in range(seats)]
    if rows_of(preset) & {"P4a", "P4b"} and rng.random() < 0.35:  # runs are too rare otherwise: cards in order of play
        pack = _in_runs(pack)
        for number in range(sum(counts)):
            deal[(dealer - 1 + (-1 if backwards else 1) * (number + 1)) % seats].append(pack[number])
    else:
        for seat, count in enumerate(counts):
            deal[seat] = pack[sum(counts[:seat]) :][:count]
    pack = pack[sum(counts) :]
    table: Line = {"kind": "table", "t": 0, "id": "table", "seats": list(NAMES[:seats]), "dealer": dealer}
    table["rules"] = preset
    if backwards and preset != "suck-the-well":
        table["direction"] = "counter-clockwise"
    table |= {"packs": packs} if packs > 1 else {}
    table |= {"jokers": jokers} if jokers else {}
    table |= {} if full else {"counts": counts}
    drawn = rng.choice("23456789T")
    said: dict[str, Any] = {}
    if preset == "wikipedia-2009" and rng.random() < 0.5:
        said = {"set": {"P14": drawn}}
    draws_late = preset == "wikipedia-2009" and not said
    # Players leave in games of their own: the others remain as they were.
    leaving = random.Random(f"{seed} E8")
    if "E6" not in rows_of(preset) and leaving.random() < 0.3:
        said |= {"on": ["E8"], "set": {**said.get("set", {}), "E8": leaving.choice(("pile", "others"))}}
    if said:
        table["rules"] = {"base": preset, **said}
    player = _Player(rng, _Habits.draw(rng), PlainReferee(table, [*deal, pack]), done=[table])
    if draws_late:
        player.feed([player.line("draw", rng.randint(1, 200 * MS), rank=drawn)])
    for _ in range(8 * cards):
        if player.oracle.stops() or sum(line["kind"] == "card" for line in player.done) >= cards:
            break
        player.step()
    player.let_pass(player.now + 400 * MS)
    player.done.append({"kind": "tick", "t": player.now + rng.randint(0, 100 * MS), "id": "end"})
    return Game(seed, tuple(player.done), tuple(tuple(stack) for stack in [*deal, pack]))
