"""Hard situations at the simulated table: short stretches of play in which one thing goes wrong, and their pictures.

Each is made from a seed: the players, places, deck, cloth and light, and the size of the trouble.
`SITUATIONS` names them all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from hardware.simulated.table.acts import CardPose, bearing, towards
from referee.engine.observations import Foul
from referee.units import MS
from tests.support.awkward import Push, Touch
from tests.support.effects import (
    Balance,
    Bump,
    Colourless,
    Covered,
    Daylight,
    Glare,
    Lamp,
    LampOff,
    Shade,
    Soft,
    SunPatch,
)
from tests.support.odd_faces import UNLETTERED
from tests.support.spoilt import Situation
from tests.support.story import SEATS, Story

INDEX_AT: Final = (-25.0, -34.0)
"""Position of an index on a card, mm from its middle."""


def on_card(pose: CardPose, x: float, y: float) -> tuple[float, float]:
    """Return a place on a card (mm from its middle) in table coordinates."""
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
    # The hand that laid it keeps a finger on its nearest index.
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
    end = CardPose(story.chance.uniform(-14, 14), story.chance.uniform(-14, 14), pose.turn)
    story.acts.append(Push(story.now - 320 * MS, story.now, act.seat, act.card, pose, end))
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


def _cloud(story: Story) -> None:
    story.lay(2)
    start, span = story.now, story.chance.randrange(1_500 * MS, 9_000 * MS)
    left, turn = story.chance.choice((0.5, 0.7, 1.4)), story.chance.uniform(0, 360)
    story.effects.append(Daylight(start, start + span, left, turn, story.chance.uniform(0, 0.5)))
    act = story.lay(4)
    story.moments.append(act.rest)
    story.take()
    story.lay(4)


def _sun_patch(story: Story, goes: bool = False) -> None:
    start, span = story.chance.randrange(500 * MS, 7_000 * MS), story.chance.randrange(300 * MS, 2_500 * MS)
    turn, off = story.chance.uniform(0, 180), story.chance.uniform(-0.6, 0.6)
    story.effects.append(SunPatch(start, start + span, turn, off, story.chance.choice((1.3, 1.6)), goes))
    act = story.lay(5)
    story.moments.append(act.rest)
    story.take()
    story.lay(4)


def _unlettered(story: Story) -> None:
    """Lay a joker without an index; the next card comes up 0.8 to 1.6 s after it."""
    story.lay(story.chance.randint(1, 4), gap=story.chance.randrange(400 * MS, 900 * MS))
    act = story.lay(card=story.chance.choice(UNLETTERED), gap=story.chance.randrange(800 * MS, 1_600 * MS))
    story.moments.append(act.rest + 150 * MS)
    story.lay(3)
    story.take()


def _colourless(story: Story) -> None:
    story.effects.append(Colourless(story.chance.choice(((1.0, 1.0, 1.0), (1.03, 0.97, 1.02)))))
    act = story.lay(5)
    story.moments.append(act.rest)
    story.take()
    story.lay(3)


ROOMS: Final = ((12, 16, 182), (54, 46, 42), (164, 184, 196), None)
"""Cloths, blue, green and red: a red one, a dark one, a pale one, and one with faces printed on it."""


def _furnish(story: Story) -> None:
    """Lay the table with one room's cloth after another's."""
    room = ROOMS[story.seed % len(ROOMS)]
    story.cloth, story.printed = room, room is None


def _lies_there(story: Story) -> None:
    _furnish(story)
    story.lie(story.chance.randint(1, 8))
    story.now = story.chance.randrange(300 * MS, 5_000 * MS)
    story.moments.append(0)
    if story.chance.random() < 0.4:
        story.lay(story.chance.randint(1, 3))
    story.take()
    story.moments.append(story.now)
    story.lay(4)


def _balance(story: Story) -> None:
    _furnish(story)
    if story.chance.random() < 0.5:
        story.lay(3)
        story.wait(story.chance.randrange(300 * MS, 900 * MS))
    levels = story.chance.choice((1, -1)) * story.chance.uniform(10, 60)
    channels = story.chance.choice(((0, 0, 1), (1, 0, 0), (1, 1, 1)))
    blue, green, red = (levels * share for share in channels)
    span = story.chance.choice((0, 500 * MS))
    # Less exposure is proportionally less light: it subtracts no levels from dark places.
    offset = story.chance.random() < 0.5 and (levels > 0 or not green)
    story.effects.append(Balance(story.now, span, (blue, green, red), offset))
    story.moments += [story.now - 70 * MS, story.now + 600 * MS]
    story.wait(story.chance.randrange(600 * MS, 4_000 * MS))
    story.lay(5)
    story.take()
    story.lay(3)


def _covered_at_first(story: Story) -> None:
    _furnish(story)
    start, until = story.now, story.now + story.chance.randrange(2_000 * MS, 3_500 * MS)
    colour = story.chance.choice(((60, 84, 150), (30, 40, 70), (210, 214, 216), (70, 60, 52)))
    story.effects.append(Covered(start, until, colour, story.chance.uniform(0, 360), story.chance.choice((0.0, 0.08))))
    story.trouble = "blocked"
    story.moments += [start + 120 * MS, start + 900 * MS]
    story.now = until + 500 * MS
    story.lay(4)
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
    "a cloud before the sun": _cloud,
    "a patch of sun": _sun_patch,
    "a patch of sun goes": partial(_sun_patch, goes=True),
    "a joker without a letter": _unlettered,
    "a camera without colour": _colourless,
    "a pile at the first picture": _lies_there,
    "a step of white balance": _balance,
    "the lens covered at first": _covered_at_first,
}


def situation(name: str, seed: int) -> Situation:
    """Return one stretch of play; the same arguments give the same pictures.

    Raises:
        KeyError: there is no such situation.
    """
    story = Story(name, seed)
    SITUATIONS[name](story)
    return story.told()
