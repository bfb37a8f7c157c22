"""Writes a short stretch of play, act by act: the cards laid, their places, and the reports of ideal sensors."""

from __future__ import annotations

import math
from random import Random
from typing import Final

from hardware.simulated.decks.families import FAMILIES
from hardware.simulated.decks.packs import all_cards
from hardware.simulated.table.acts import Act, Burn, CardPose, Lay, Take
from hardware.simulated.table.players import NAMES, seat_people
from hardware.simulated.table.script import Script
from models.eye.classes import UNREAD
from referee.engine.observations import Card, Foul, Observation, Placed, Table, Taken
from referee.units import MS, SECOND
from tests.support.awkward import Pair
from tests.support.effects import Effect
from tests.support.odd_faces import ODD_FACES
from tests.support.spoilt import Situation

SEATS: Final = 4
GAP_NS: Final = (260 * MS, 420 * MS)
"""Interval between cards."""


class Story:
    """Writes a stretch of play, act by act."""

    def __init__(self, name: str, seed: int) -> None:
        self.name, self.seed = name, seed
        self.chance = Random(f"{name} {seed}")
        self.people = seat_people(tuple(NAMES[:SEATS]), self.chance)
        self.cards = list(all_cards())
        self.chance.shuffle(self.cards)
        self.now = 1_000 * MS
        self.seat = self.chance.randint(1, SEATS)
        self.acts: list[Act] = []
        self.truth: list[Observation] = []
        self.effects: list[Effect] = []
        self.bent: dict[str, float] = {}
        self.trouble = ""
        self.moments: list[int] = []
        self.cloth: tuple[int, int, int] | None = None
        self.printed = False

    def lay(self, count: int = 1, pose: CardPose | None = None, gap: int | None = None, card: str = "") -> Lay:
        """Let the next players lay cards, the pack's next ones or ``card``; return the last act."""
        for _ in range(count):
            face, sideways = card or self.cards.pop(), self.people[self.seat - 1].sideways
            act = Lay(self.now, self.seat, face, pose or self.pose(), sideways)
            self._laid(act, UNREAD if face in ODD_FACES else face, gap)
        assert isinstance(act, Lay)
        return act

    def lie(self, count: int) -> None:
        """Put cards in the first picture; their arrival is unknown, so the truth leaves them out."""
        for k in range(count):
            self.acts.append(Lay((k - 2 * count) * SECOND, self.seat, self.cards.pop(), self.pose()))
            self.seat = self.seat % SEATS + 1

    def pair(self) -> Pair:
        """Let the next player lay two cards at once, the lower one fanned out a little."""
        upper = self.pose()
        way, far = self.chance.uniform(0, 2 * math.pi), self.chance.uniform(16, 26)
        lower = CardPose(
            upper.x + far * math.cos(way), upper.y + far * math.sin(way), upper.turn + self.chance.uniform(-14, 14)
        )
        act = Pair(self.now, self.seat, self.cards.pop(), upper, under=self.cards.pop(), beneath=lower)
        self.truth.append(Card(t=self.now, id=f"c{len(self.truth)}", card=act.under, seat=self.seat))
        self.truth.append(Foul(t=self.now + 2, id=f"f{len(self.truth)}", seat=self.seat, foul="double_draw"))
        self._laid(act, act.card, None)
        return act

    def _laid(self, act: Lay, card: str, gap: int | None) -> None:
        self.acts.append(act)
        # Of two cards at one instant the lower is the first.
        at = act.t + 1 if isinstance(act, Pair) else act.t
        self.truth.append(Card(t=at, id=f"c{len(self.truth)}", card=card, seat=act.seat))
        self.now += self.chance.randrange(*GAP_NS) if gap is None else gap
        self.seat = self.seat % SEATS + 1

    def pose(self, far: float | None = None) -> CardPose:
        """Return the resting place of the next player's card; ``far`` mm from the middle if given."""
        pose = self.people[self.seat - 1].pose(SEATS, self.chance)
        if far is None:
            return pose
        way = self.chance.uniform(0, 2 * math.pi)
        return CardPose(far * math.cos(way), far * math.sin(way), pose.turn)

    def wait(self, ns: int) -> None:
        """Let time pass."""
        self.now += ns

    def burn(self, count: int = 1) -> None:
        """Let a player slide penalty cards under the pile."""
        seat = self.chance.randint(1, SEATS)
        cards = tuple(self.cards.pop() for _ in range(count))
        self.wait(900 * MS)
        poses = tuple(self.people[seat - 1].tucked(SEATS, self.chance) for _ in cards)
        self.acts.append(Burn(self.now, seat, cards, poses))
        self.truth.append(Placed(t=self.now, id=f"p{len(self.truth)}", seat=seat, count=count, cards=cards[::-1]))
        self.wait(1_100 * MS)

    def take(self) -> None:
        """Let a player take the pile."""
        self.wait(900 * MS)
        seat = self.chance.randint(1, SEATS)
        self.acts.append(Take(self.now, seat))
        self.truth.append(Taken(t=self.now, id=f"t{len(self.truth)}", seat=seat))
        self.wait(1_000 * MS)

    def told(self) -> Situation:
        """Return the whole stretch."""
        table = Table(t=0, id="table", seats=tuple(NAMES[:SEATS]), dealer=SEATS)
        script = Script(
            self.seed, table, self.people, tuple(sorted(self.acts, key=lambda act: act.t)), (),
            (table, *sorted(self.truth, key=lambda o: o.t)), (), self.now + 1_600 * MS, False,
        )  # fmt: skip
        family = sorted(FAMILIES)[self.seed % len(FAMILIES)]
        return Situation(
            self.name, script, family, tuple(self.effects), self.bent, self.trouble, tuple(self.moments), self.cloth,
            self.printed,
        )  # fmt: skip
