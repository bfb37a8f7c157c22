"""Stills for training the network that separates arms, cards, shadows and cloth: `make second-world-stills`.

Each still is a picture, its mask (the class of each pixel, see `CLASSES`), the same table bare, and how bright each
pixel is against the bare table (128: as bright). Rooms, cards and poses come from the seed; none serves for judging.
"""

from __future__ import annotations

import argparse
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.training import backgrounds, fonts, generated_decks
from tools.second_world.hand_model import POSES, Points, turn
from tools.second_world.room import Picture, Room, draw_camera, draw_light, draw_person
from tools.second_world.set_up import ARM_IDS, CARD_IDS, STACK_IDS, TABLE_ID, THING_IDS, BuiltRoom
from tools.second_world.things import CARD_MM, PALM, block, cup, placed

_SIZE: Final = (320, 240)
_SHADED: Final = 0.88
"""Table with at most this share of the bare table's light lies in shadow."""
_LONGEST_S: Final = 600
"""Blender hangs now and then when one scene follows another in a process (once in 90 stills): it is killed then."""
_POSES: Final = ("loose", "pinch", "flat", "gather", "open")


def _training_room(seed: int, known: list[fonts.Font]) -> Room:
    chance = np.random.default_rng((seed, 81))
    cloth = backgrounds.draw(100_000 + seed, [font.path for font in known])
    people = {}
    for seat in range(int(chance.integers(1, 4))):
        person = draw_person(float(chance.uniform(0, 360)), cloth, chance, 0.85)
        # Most cuffs lie in the picture: a sleeve whose edge is outside teaches nothing.
        people[seat] = replace(person, cuff=float(chance.uniform(-5, 50))) if chance.random() < 0.6 else person
    style = generated_decks.DeckStyle(500_000 + seed, known, [])
    back = generated_decks.back(style)

    def draw(card: str) -> Picture:
        return back if card == "back" else generated_decks.face(style, card).image

    light = draw_light(chance)
    if seed % 3 == 0:
        light = replace(light, level=light.level * 0.5)
    gloss = float(chance.uniform(0, 1)) if chance.random() < 0.3 else 0.05
    size = (63.0, 88.0) if chance.random() < 0.7 else (57.0, 88.0)
    return Room(seed, cloth, gloss, light, draw_camera(chance), people, size, draw)


class _Still:
    """One still: its cards, things and arms, drawn from the seed."""

    def __init__(self, room: Room, samples: int) -> None:
        self._chance = np.random.default_rng((room.seed, 82))
        self._built = BuiltRoom(room, _SIZE, samples)
        self._room = room
        self._count = 0

    def render(self, scratch: Path) -> tuple[Picture, Picture, Picture, NDArray[np.uint8]]:
        """Picture, bare table, mask, and light against the bare table."""
        chance, studio = self._chance, self._built.studio
        if chance.random() < 0.35:
            self._add_things()
        bare = studio.picture(scratch)
        self._add_cards()
        for seat in self._room.people:
            if chance.random() < 0.9:
                self._reach(seat)
        if chance.random() < 0.25:
            self._add_head()
        picture, ids = studio.picture(scratch), studio.ids(scratch)
        return picture, bare, *self._mask(picture, bare, ids)

    def _spot(self, spread: float) -> tuple[float, float]:
        x, y = self._chance.normal(0, spread, 2)
        return float(x), float(y)

    def _card(self, at: Points, frame: NDArray[np.float64], bend: float) -> None:
        """Add one slightly bent card at a random place."""
        card = str(self._chance.choice([r + s for r in "A23456789TJQK" for s in "shdc"]))
        name = f"card {self._count}"
        self._built.add_card(name, card, self._count)
        along, across = self._chance.normal(0, bend, 2)
        self._built.studio.move(name, self._built.sheet.bent(float(along), float(across)) @ frame.T + at)
        self._count += 1

    def _add_cards(self) -> None:
        chance = self._chance
        if chance.random() < 0.1:
            return
        spread = float(chance.choice([12.0, 30.0, 110.0]))
        middle = np.array(self._spot(30.0))
        for k in range(int(chance.integers(1, 9))):
            turned = 180.0 if chance.random() < 0.25 else 0.0
            frame = turn(2, float(chance.uniform(0, 360))) @ turn(1, turned)
            at = np.array([*(middle + self._spot(spread)), CARD_MM * (k + 1) + 0.4])
            self._card(at, frame, 0.3)
        if chance.random() < 0.3:
            self._stack(float(chance.uniform(4, 16)))

    def _stack(self, height: float) -> None:
        """Add a player's stack, face down."""
        angle, far = self._chance.uniform(0, 2 * np.pi), self._chance.uniform(140, 230)
        at = (float(far * np.cos(angle)), float(far * 0.75 * np.sin(angle)), 0.0)
        points, faces = block(*self._room.card_size, height)
        paper = self._built.studio.material((0.8, 0.8, 0.78), rough=0.8)
        where = placed(points, at, float(self._chance.uniform(0, 360)))
        self._built.studio.add_mesh("stack", where, faces, paper, STACK_IDS, smooth=False)
        self._card_back(where[4:].mean(axis=0) + np.array([0, 0, 0.4]), float(self._chance.uniform(-4, 4)), where)

    def _card_back(self, at: Points, off: float, where: Points) -> None:
        side = where[5] - where[4]
        frame = turn(2, float(np.degrees(np.arctan2(side[1], side[0]))) + off) @ turn(1, 180.0)
        self._card(at, frame, 0.2)

    def _reach(self, seat: int) -> None:
        """Add an arm that reaches in, rests, or holds a card."""
        chance, arm = self._chance, self._room.people[seat].arm
        name = str(chance.choice(_POSES))
        pose = POSES[name] + np.concatenate([chance.normal(0, 5, 20), chance.normal(0, 6, 2)])
        out = turn(2, arm.bearing)[:2, 0]
        holds = name == "pinch" and chance.random() < 0.8
        far = float(chance.choice([chance.uniform(0, 60), chance.uniform(40, 260)]))
        at = np.array([*(out * far + self._spot(25.0)), float(chance.choice([3.0, chance.uniform(5, 110)]))])
        roll = float(chance.uniform(0, 180)) if holds and chance.random() < 0.7 else float(chance.normal(0, 10))
        pitch = float(chance.uniform(4, 22))
        at[2] += 45.0 * np.sin(np.radians(min(180.0, abs(roll))))
        frame = arm.frame(at, pitch if abs(roll) < 60 else 0.0, roll, float(chance.normal(0, 12)))
        hold = None if name != "flat" else PALM
        skin, sleeve = self._built.arms[seat].posed(pose)
        placed_skin = arm.reach(skin, pose, at, frame, hold)
        low = float(placed_skin[:, 2].min())
        lift = np.array([0.0, 0.0, max(0.0, -low - 4.0)])
        self._built.move_arm(
            seat, (placed_skin + lift, None if sleeve is None else arm.reach(sleeve, pose, at, frame, hold) + lift)
        )
        if holds:
            held = frame @ turn(2, 90.0 + float(chance.normal(0, 12)))
            middle = at + lift + frame @ np.array([self._room.card_size[1] / 2 - 22.0, 0.0, 0.0])
            self._card(middle, held @ turn(2, 180.0), 1.5)

    def _add_things(self) -> None:
        """Add cups, phones and coins near the table's edge."""
        chance = self._chance
        for k in range(int(chance.integers(1, 4))):
            angle, far = chance.uniform(0, 2 * np.pi), chance.uniform(120, 260)
            at = (float(far * np.cos(angle)), float(0.8 * far * np.sin(angle)), 0.0)
            kind = chance.integers(3)
            mesh = (cup(float(chance.uniform(28, 45)), float(chance.uniform(50, 110))), block(74, 152, 8), cup(14, 4))
            points, faces = mesh[int(kind)]
            grey = chance.uniform(0.01, 0.8)
            colour = np.clip(grey * chance.uniform(0.3, 1.4, 3), 0.005, 0.9)
            where = placed(points, at, float(chance.uniform(0, 360)))
            tint = (float(colour[0]), float(colour[1]), float(colour[2]))
            self._built.add_thing(f"thing {k}", (where, faces), tint, k, float(chance.uniform(0, 1)))

    def _add_head(self) -> None:
        """Add a head over the table's edge: only its shadow is seen."""
        chance = self._chance
        angle, far = chance.uniform(0, 2 * np.pi), chance.uniform(200, 420)
        at = np.array([far * np.cos(angle), far * np.sin(angle), chance.uniform(350, 700)])
        a, b = np.meshgrid(np.linspace(-np.pi / 2, np.pi / 2, 13), np.arange(24) * np.pi / 12, indexing="ij")
        ball = np.stack([np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), 1.2 * np.sin(a)], axis=-1).reshape(-1, 3)
        faces = [(i * 24 + j, i * 24 + (j + 1) % 24, (i + 1) * 24 + (j + 1) % 24, (i + 1) * 24 + j)
                 for i in range(12) for j in range(24)]  # fmt: skip
        hair = self._built.studio.material((0.05, 0.04, 0.03))
        self._built.studio.add_mesh("head", ball * 105.0 + at, faces, hair, 0, unseen=True)

    @staticmethod
    def _mask(picture: Picture, bare: Picture, ids: Picture) -> tuple[Picture, NDArray[np.uint8]]:
        """Return the class of each pixel, and its light against the bare table's (128: as bright, 255: twice)."""
        linear = [(p.astype(np.float32) / 255) ** 2.2 for p in (picture, bare)]
        lights = [cv2.GaussianBlur(p.sum(axis=2), (0, 0), 1.0) + 0.004 for p in linear]
        ratio = lights[0] / lights[1]
        index, behind = ids[..., 0].astype(int), ids[..., 1] > 127
        out = np.zeros(index.shape, np.uint8)
        out[(index <= TABLE_ID) & (ratio < _SHADED)] = 4
        out[(index >= CARD_IDS) & (index < ARM_IDS)] = 2
        out[(index >= CARD_IDS) & (index < ARM_IDS) & behind] = 3
        out[(index >= ARM_IDS) & (index < STACK_IDS)] = 1
        out[(index >= STACK_IDS) & (index < THING_IDS)] = 3
        out[index >= THING_IDS] = 5
        return out, np.clip(ratio * 128, 0, 255).astype(np.uint8)


def main() -> None:
    """Render stills into a folder; existing ones are kept."""
    parser = argparse.ArgumentParser(prog="python -m tools.second_world.stills", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/second-world-stills"))
    parser.add_argument("--first", type=int, default=0, help="seed of the first still")
    parser.add_argument("--step", type=int, default=1, help="every so manieth: two processes share the work")
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--samples", type=int, default=5)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    known = [font for font in fonts.installed() if not font.held_out]
    begin, made = time.monotonic(), 0
    for seed in range(args.first, args.first + args.count * args.step, args.step):
        target = args.out / f"{seed:05d}.png"
        if target.exists():
            continue
        signal.alarm(_LONGEST_S)
        scratch = args.out / f".{seed}.png"
        picture, bare, mask, light = _Still(_training_room(seed, known), args.samples).render(scratch)
        scratch.unlink()
        for name, what in (("mask", mask), ("bare", bare), ("light", light)):
            cv2.imwrite(str(args.out / f"{seed:05d}_{name}.png"), what)
        cv2.imwrite(str(target), picture)
        made += 1
        left = (args.first + args.count * args.step - seed) // args.step - 1
        each = (time.monotonic() - begin) / made
        print(f"{target.name}: {each:.1f} s each, {left} left, about {left * each / 60:.0f} min", flush=True)


if __name__ == "__main__":
    main()
