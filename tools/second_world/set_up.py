"""A room built in Blender: table, light, camera, people's arms and cards, each by its name."""

from __future__ import annotations

from typing import Final

import numpy as np

from tools.second_world.blender import Studio, grow_skin
from tools.second_world.hand_model import POSES, Points, Skin, bones, sleeve
from tools.second_world.room import TABLE_MM, Room
from tools.second_world.things import ArmMesh, CardSheet, Mesh

TABLE_ID: Final = 1
CARD_IDS: Final = 20
ARM_IDS: Final = 120
STACK_IDS: Final = 170
THING_IDS: Final = 200
CLASSES: Final = ("cloth", "arm", "face", "back", "shadow", "other")
"""The classes of pixels; a class's number in a mask is its index here."""
_GRAIN_MM: Final = 4.5


def _warm(warmth: float) -> tuple[float, float, float]:
    return (1.0, 1.0 - 0.18 * warmth, 1.0 - 0.42 * warmth)


class BuiltRoom:
    """The room in Blender. Arms and cards are added once and moved from frame to frame.

    Args:
        room: what to build.
        size: width and height of its pictures, px.
        samples: light paths a pixel.
    """

    def __init__(self, room: Room, size: tuple[int, int], samples: int) -> None:
        self.room = room
        self.view = room.view(*size)
        self.studio = Studio(self.view, samples)
        self.sheet = CardSheet.cut(*room.card_size)
        self._light()
        half = TABLE_MM / 2
        corners = np.array([[-half, -half, 0], [half, -half, 0], [half, half, 0], [-half, half, 0.0]])
        cloth = self.studio.material(room.cloth, rough=0.9 - 0.6 * room.gloss, gloss=0.5 * room.gloss)
        uv = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])
        self.studio.add_mesh("table", corners, [(0, 1, 2, 3)], cloth, TABLE_ID, uv=uv, smooth=False)
        still = bones(POSES["rest"])
        points, faces = grow_skin([(b.start, b.end, *b.radii) for b in still], _GRAIN_MM)
        self._skin = Skin.fit(points, faces)
        self.arms: dict[int, ArmMesh] = {}
        for seat in room.people:
            self._add_arm(seat)

    def _light(self) -> None:
        light, studio = self.room.light, self.studio
        level, warm = light.level, _warm(light.warmth)
        sky = np.array([0.96, 0.98, 1.06]) * level * light.sky
        bright, dark = (tuple(float(v) for v in sky * k) for k in (1.7, 0.7))
        studio.set_sky(bright, dark, light.sun_bearing)  # type: ignore[arg-type]
        if light.sun > 0:
            strength = np.pi * level * light.sun / np.sin(np.radians(light.sun_height))
            studio.add_sun(light.sun_height, light.sun_bearing, float(strength), _warm(0.3), light.sun_size)
        if light.lamp > 0:
            far = float(np.linalg.norm(light.lamp_place))
            power = np.pi**2 * (far / 100) ** 2 * level * light.lamp * far / light.lamp_place[2]
            studio.add_lamp(light.lamp_place, light.lamp_size, float(power), warm)

    def _add_arm(self, seat: int) -> None:
        person = self.room.people[seat]
        index = ARM_IDS + 2 * (seat % 20)
        flesh = self.studio.material(person.skin, rough=0.5, gloss=0.35, mottle=0.25)
        self.studio.add_mesh(f"arm {seat}", self._skin.points, self._skin.faces, flesh, index)
        cloth = None
        if person.sleeve is not None:
            chance = np.random.default_rng((self.room.seed, 73, seat))
            points, faces = sleeve(person.cuff, person.loose, chance)
            # It moves with the forearm alone.
            weights = np.zeros((len(points), self._skin.weights.shape[1]))
            weights[:, 0] = 1.0
            cloth = Skin(points, faces, weights)
            stuff = self.studio.material(person.sleeve, rough=0.95, gloss=0.1, mottle=0.15)
            self.studio.add_mesh(f"sleeve {seat}", points, faces, stuff, index + 1)
        self.arms[seat] = ArmMesh(self._skin, cloth)
        self.move_arm(seat, None)

    def move_arm(
        self,
        seat: int,
        opened: tuple[Points, Points | None] | None,
        closed: tuple[Points, Points | None] | None = None,
    ) -> None:
        """Set a seat's arm (skin and sleeve) as the shutter opens and closes; None takes it away."""
        names = [f"arm {seat}"] + ([f"sleeve {seat}"] if self.room.people[seat].sleeve is not None else [])
        for k, name in enumerate(names):
            points = None if opened is None else opened[k]
            if points is None:
                self.studio.hide(name)
            else:
                self.studio.move(name, points, None if closed is None else closed[k])

    def add_card(self, name: str, card: str, number: int) -> None:
        """Put a card into the room; ``number`` identifies it in the picture of ids."""
        faces = self.room.faces
        paper = self.studio.material(faces(card), back=faces("back"), rough=0.42, gloss=0.35)
        flat = self.sheet.bent(0, 0)
        self.studio.add_mesh(name, flat, self.sheet.faces, paper, CARD_IDS + number, uv=self.sheet.uv)

    def add_thing(self, name: str, mesh: Mesh, colour: tuple[float, float, float], number: int, coat: float) -> None:
        """Put a cup, a phone or the like on the table."""
        surface = self.studio.material(colour, rough=0.35, coat=coat)
        self.studio.add_mesh(name, mesh[0], mesh[1], surface, THING_IDS + number, smooth=False)
