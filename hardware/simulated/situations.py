"""Hard situations at the simulated table: short stretches of play in which one thing goes wrong, and how they look.

Each is made from a seed: who lays what where, in which deck, cloth and light, and the size of what goes wrong.
`SITUATIONS` names them all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final

from hardware.ports import Frame
from hardware.simulated.acts import MS, Act, Burn, Lay, Pose, Push, Take, Touch, bearing, towards
from hardware.simulated.awkward import AwkwardScene, Pair
from hardware.simulated.decks import all_cards
from hardware.simulated.effects import Bump, Covered, Effect, Glare, Lamp, LampOff, Shade, Soft
from hardware.simulated.families import FAMILIES
from hardware.simulated.players import NAMES, seat_people
from hardware.simulated.script import Script
from hardware.simulated.table import SimulatedTable
from referee.adjudication.observations import Card, Foul, Observation, Placed, Table, Taken

SEATS: Final = 4
SECOND: Final = 1_000 * MS
GAP_NS: Final = (260 * MS, 420 * MS)
"""From one card to the next."""
INDEX_AT: Final = (-25.0, -34.0)
"""Where an index stands on a card, mm from its middle."""


@dataclass(frozen=True, slots=True)
class Situation:
    """One stretch of play and what spoils the pictures of it."""

    name: str
    script: Script
    family: str
    effects: tuple[Effect, ...] = ()
    bent: Mapping[str, float] = field(default_factory=dict)
    trouble: str = ""
    """What somebody at the table should be told of the camera: ``dark``, ``blocked`` or ``moved``."""
    moments: tuple[int, ...] = ()
    """Instants worth looking at."""


class SpoiltTable(SimulatedTable):
    """The simulated table of a situation."""

    def __init__(self, situation: Situation, fps: float = 15.0, size: tuple[int, int] = (960, 720)) -> None:
        super().__init__(situation.script, fps, size, situation.family, scene=AwkwardScene)
        self._effects = situation.effects
        assert isinstance(self.scene, AwkwardScene)
        self.scene.bent = situation.bent

    def render(self, t: int) -> Frame:
        frame = super().render(t)
        image = frame.image
        for effect in self._effects:
            image = effect(image, t, self.scene)
        return Frame(image, frame.t, frame.exposure, frame.index)

    def frames(self) -> Iterator[Frame]:
        for index in range(self.frame_count):
            yield self.render(self.frame_time(index))


class Story:
    """Writes a stretch of play, act after act."""

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

    def lay(self, count: int = 1, pose: Pose | None = None, gap: int | None = None) -> Lay:
        """The next players lay cards; gives the last act."""
        for _ in range(count):
            act = Lay(self.now, self.seat, self.cards.pop(), pose or self.pose(), self.people[self.seat - 1].sideways)
            self._laid(act, act.card, gap)
        assert isinstance(act, Lay)
        return act

    def pair(self) -> Pair:
        """The next player lays two cards at once, the lower one fanned out a little."""
        upper = self.pose()
        way, far = self.chance.uniform(0, 2 * math.pi), self.chance.uniform(16, 26)
        lower = Pose(
            upper.x + far * math.cos(way), upper.y + far * math.sin(way), upper.turn + self.chance.uniform(-14, 14)
        )
        act = Pair(self.now, self.seat, self.cards.pop(), upper, under=self.cards.pop(), beneath=lower)
        self.truth.append(Card(t=self.now, id=f"c{len(self.truth)}", card=act.under, seat=self.seat))
        self.truth.append(Foul(t=self.now + 2, id=f"f{len(self.truth)}", seat=self.seat, foul="double_draw"))
        self._laid(act, act.card, None)
        return act

    def _laid(self, act: Lay, card: str, gap: int | None) -> None:
        self.acts.append(act)
        # Of two that come at one instant the lower is the first.
        at = act.t + 1 if isinstance(act, Pair) else act.t
        self.truth.append(Card(t=at, id=f"c{len(self.truth)}", card=card, seat=act.seat))
        self.now += self.chance.randrange(*GAP_NS) if gap is None else gap
        self.seat = self.seat % SEATS + 1

    def pose(self, far: float | None = None) -> Pose:
        """Where the next player's card comes to lie; ``far`` mm from the middle if given."""
        pose = self.people[self.seat - 1].pose(SEATS, self.chance)
        if far is None:
            return pose
        way = self.chance.uniform(0, 2 * math.pi)
        return Pose(far * math.cos(way), far * math.sin(way), pose.turn)

    def wait(self, ns: int) -> None:
        """Nothing happens for a while."""
        self.now += ns

    def burn(self, count: int = 1) -> None:
        """Somebody slides penalty cards under the pile."""
        seat = self.chance.randint(1, SEATS)
        cards = tuple(self.cards.pop() for _ in range(count))
        self.wait(900 * MS)
        poses = tuple(self.people[seat - 1].tucked(SEATS, self.chance) for _ in cards)
        self.acts.append(Burn(self.now, seat, cards, poses))
        self.truth.append(Placed(t=self.now, id=f"p{len(self.truth)}", seat=seat, count=count, cards=cards[::-1]))
        self.wait(1_100 * MS)

    def take(self) -> None:
        """Somebody takes the pile."""
        self.wait(900 * MS)
        seat = self.chance.randint(1, SEATS)
        self.acts.append(Take(self.now, seat))
        self.truth.append(Taken(t=self.now, id=f"t{len(self.truth)}", seat=seat))
        self.wait(1_000 * MS)

    def told(self) -> Situation:
        """The whole stretch."""
        table = Table(t=0, id="table", seats=tuple(NAMES[:SEATS]), dealer=SEATS)
        script = Script(
            self.seed, table, self.people, tuple(sorted(self.acts, key=lambda act: act.t)), (),
            (table, *sorted(self.truth, key=lambda o: o.t)), (), self.now + 1_600 * MS, False,
        )  # fmt: skip
        family = sorted(FAMILIES)[self.seed % len(FAMILIES)]
        return Situation(self.name, script, family, tuple(self.effects), self.bent, self.trouble, tuple(self.moments))


def on_card(pose: Pose, x: float, y: float) -> tuple[float, float]:
    """Where a place on a card (mm from its middle) lies on the table."""
    a = math.radians(pose.turn)
    return pose.x + x * math.cos(a) - y * math.sin(a), pose.y + x * math.sin(a) + y * math.cos(a)


def _glare(story: Story) -> None:
    story.lay(2)
    act = story.lay(gap=420 * MS)
    for side in (1, -1) if story.chance.random() < 0.3 else (1,):
        x, y = on_card(act.pose, side * INDEX_AT[0], side * INDEX_AT[1])
        story.effects.append(
            Glare(x, y, story.chance.uniform(12, 22), story.chance.uniform(9, 14), story.chance.uniform(0, 180))
        )
    story.moments.append(act.rest + 150 * MS)
    story.lay(3)


def _finger(story: Story) -> None:
    story.lay(2)
    act = story.lay(gap=0)
    # The hand that laid it keeps a finger on the index that is nearest to it.
    home = towards(bearing(act.seat, SEATS))
    corners = [on_card(act.pose, side * INDEX_AT[0], side * INDEX_AT[1]) for side in (1, -1)]
    near = max(corners, key=lambda c: c[0] * home[0] + c[1] * home[1])
    at = (near[0] - home[0] * 8, near[1] - home[1] * 8)
    stays = act.t + story.chance.randrange(700 * MS, 1_300 * MS)
    story.acts.append(Touch(act.t + 330 * MS, stays, act.seat, at))
    story.moments.append(act.t + 450 * MS)
    story.wait(stays - act.t + 250 * MS)
    story.lay(3)


def _half_off(story: Story) -> None:
    story.lay(3)
    act = story.lay(pose=story.pose(story.chance.uniform(42, 58)))
    story.moments.append(act.rest + 120 * MS)
    story.lay(3)


def _bent(story: Story) -> None:
    story.lay(2)
    for _ in range(2):
        act = story.lay()
        story.bent[act.card] = story.chance.uniform(0.45, 0.8) * story.chance.choice((1, -1))
    story.moments.append(act.rest + 100 * MS)
    story.lay(2)


def _two_at_once(story: Story) -> None:
    story.lay(3)
    story.wait(200 * MS)
    act = story.pair()
    story.moments += [act.t + 20 * MS, act.rest + 150 * MS]
    story.wait(500 * MS)
    story.lay(2)


def _sleeve_shadow(story: Story) -> None:
    story.lay(2)
    start = story.now - 150 * MS
    act = story.lay(3)
    story.moments.append(act.rest + 50 * MS)
    turn, x, y = story.chance.uniform(0, 180), story.chance.uniform(-25, 25), story.chance.uniform(-25, 25)
    story.effects.append(Shade(start, story.now + 300 * MS, x, y, turn, story.chance.uniform(0.35, 0.6)))
    story.lay(2)


def _lamp_off(story: Story) -> None:
    story.lay(4)
    story.wait(500 * MS)
    start, until = story.now, story.now + story.chance.randrange(1_500 * MS, 3_500 * MS)
    story.effects.append(LampOff(start, until, story.chance.uniform(0.03, 0.09)))
    story.trouble = "dark"
    story.moments.append(start + 700 * MS)
    story.now = until + 500 * MS
    story.lay(3)
    story.take()


def _laid_in_the_dark(story: Story) -> None:
    story.lay(4)
    story.wait(500 * MS)
    start = story.now
    story.wait(700 * MS)
    story.lay(story.chance.randint(1, 2))
    until = story.now + story.chance.randrange(500 * MS, 1_200 * MS)
    story.effects.append(LampOff(start, until, story.chance.uniform(0.02, 0.05)))
    story.trouble = "dark"
    story.moments += [start + 900 * MS, until + 200 * MS]
    story.now = until + 700 * MS
    story.lay(2)


def _bump(story: Story) -> None:
    story.lay(4)
    story.wait(400 * MS)
    way, far = story.chance.uniform(0, 2 * math.pi), story.chance.uniform(5, 60)
    story.effects.append(Bump(story.now, far * math.cos(way), far * math.sin(way), story.chance.uniform(-4, 4)))
    story.trouble = "moved"
    story.moments += [story.now - 50 * MS, story.now + 900 * MS]
    story.wait(1_300 * MS)
    story.lay(3)
    story.take()


def _bumped_while_laying(story: Story) -> None:
    story.lay(4)
    way, far = story.chance.uniform(0, 2 * math.pi), story.chance.uniform(5, 40)
    at = story.now + story.chance.randrange(-100 * MS, 150 * MS)
    story.effects.append(Bump(at, far * math.cos(way), far * math.sin(way), story.chance.uniform(-3, 3)))
    story.trouble = "moved"
    story.lay(1, gap=700 * MS)
    story.moments.append(at + 120 * MS)
    story.lay(3)


def _hover(story: Story) -> None:
    story.lay(6)
    story.wait(600 * MS)
    # Neither the hand that lays next nor the one that then waits for its turn.
    seat = (story.seat - 1 + story.chance.choice((2, 3))) % SEATS + 1
    home = towards(bearing(seat, SEATS))
    back = story.chance.uniform(25, 45)
    start = story.now
    story.wait(story.chance.randrange(700 * MS, 1_000 * MS))
    act = story.lay(gap=0)
    story.acts.append(Touch(start, act.t + 900 * MS, seat, (home[0] * back, home[1] * back), flat=True))
    story.truth.append(Foul(t=act.t - 1, id=f"f{len(story.truth)}", seat=seat, foul="hover"))
    story.moments.append(act.rest + 20 * MS)
    story.now = act.t + 1_700 * MS
    story.lay(2)


def _covered(story: Story) -> None:
    story.lay(4)
    story.wait(400 * MS)
    start, until = story.now, story.now + story.chance.randrange(2_000 * MS, 3_500 * MS)
    colour = story.chance.choice(((60, 84, 150), (30, 40, 70), (210, 214, 216), (70, 60, 52)))
    free = story.chance.choice((0.0, 0.0, 0.08, 0.2))
    story.effects.append(Covered(start, until, colour, story.chance.uniform(0, 360), free))
    story.trouble = "blocked"
    story.moments += [start + 120 * MS, start + 900 * MS]
    story.now = until + 500 * MS
    story.lay(3)
    story.take()


def _burn(story: Story) -> None:
    story.lay(4)
    story.burn(story.chance.choice((1, 1, 1, 2)))
    story.moments.append(story.now - 1_150 * MS)
    story.lay(2)
    story.take()


def _far_and_pushed(story: Story) -> None:
    story.lay(3)
    pose = story.pose(story.chance.uniform(95, 120))
    act = story.lay(pose=pose, gap=0)
    story.moments.append(act.rest + 60 * MS)
    story.wait(900 * MS)
    end = Pose(story.chance.uniform(-14, 14), story.chance.uniform(-14, 14), pose.turn)
    story.acts.append(Push(story.now, act.seat, act.card, pose, end))
    story.moments.append(story.now - 150 * MS)
    story.wait(600 * MS)
    story.lay(3)


def _defocus(story: Story) -> None:
    story.lay(2)
    start = story.now - 400 * MS
    act = story.lay(3)
    story.moments.append(act.rest)
    story.effects.append(Soft(start, story.now + 200 * MS, story.chance.uniform(1.2, 2.6)))
    story.wait(500 * MS)
    story.lay(2)


def _coloured_lamp(story: Story) -> None:
    gains = story.chance.choice(((0.45, 0.78, 1.05), (1.1, 0.85, 0.55), (0.6, 0.6, 1.1), (0.7, 1.05, 0.75)))
    switched = story.chance.random() < 0.5
    if switched:
        story.lay(3)
        story.wait(600 * MS)
    story.effects.append(Lamp(gains, story.now if switched else 0))
    story.wait(900 * MS)
    act = story.lay(5)
    story.moments.append(act.rest)
    story.take()


SITUATIONS: Final[Mapping[str, Callable[[Story], None]]] = {
    "glare on an index": _glare,
    "a finger over an index": _finger,
    "a card half off the pile": _half_off,
    "a bent card": _bent,
    "two cards at once": _two_at_once,
    "a sleeve's shadow": _sleeve_shadow,
    "the lamp off and on again": _lamp_off,
    "cards laid in the dark": _laid_in_the_dark,
    "the camera bumped": _bump,
    "bumped while a card is laid": _bumped_while_laying,
    "a hand hovering": _hover,
    "the lens covered": _covered,
    "cards slid under": _burn,
    "laid far off and pushed on": _far_and_pushed,
    "out of focus": _defocus,
    "a coloured lamp": _coloured_lamp,
}


def situation(name: str, seed: int) -> Situation:
    """One stretch of play; the same arguments give the same pictures.

    Raises:
        KeyError: there is no such situation.
    """
    story = Story(name, seed)
    SITUATIONS[name](story)
    return story.told()
