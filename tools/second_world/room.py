"""A room: the cloth on its table, its light, its camera, its people and its cards, all from a seed.

Rooms for training and rooms for judging share only the code that lights them: cloths for training are
`models.training.backgrounds`' and their cards `models.training.generated_decks`'; the cloths for judging are drawn
here, and their cards are those of the simulated table, whose fonts and art are in no training data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.simulated.decks.packs import PrintedDeck, all_cards
from tools.second_world.hand_model import turn
from tools.second_world.things import Arm, View

Picture = NDArray[np.uint8]
Colour = tuple[float, float, float]
"""Red, green, blue, linear, 0 to 1."""
SKINS: Final[tuple[Colour, ...]] = (
    (0.80, 0.55, 0.43), (0.72, 0.46, 0.34), (0.60, 0.37, 0.25), (0.47, 0.27, 0.17), (0.33, 0.18, 0.11),
    (0.20, 0.10, 0.06), (0.11, 0.055, 0.035), (0.06, 0.032, 0.022),
)  # fmt: skip
TABLE_MM: Final = 1400.0
_CLOTH_PX: Final = 1400


@dataclass(frozen=True, slots=True)
class Light:
    """The light's direction and kind; the three shares sum to 1, ``level`` is the light that white paper reflects
    (linear).
    """

    level: float
    sky: float
    sun: float
    lamp: float
    sun_height: float
    sun_bearing: float
    sun_size: float
    lamp_place: tuple[float, float, float]
    lamp_size: float
    warmth: float
    """0 for daylight, 1 for a bulb."""


@dataclass(frozen=True, slots=True)
class Person:
    """A person at the table: the arm, its skin, and the sleeve (its colour, how far behind the wrist), if any."""

    arm: Arm
    skin: Colour
    sleeve: Colour | None
    cuff: float
    loose: float


@dataclass(frozen=True, slots=True)
class Room:
    """All that stays constant in a room."""

    seed: int
    cloth: Picture
    gloss: float
    light: Light
    camera: tuple[float, float, float, float, float]
    """Height over the table (mm), tilts about x and y, turn (degrees), and the width of the visible table (mm)."""
    people: dict[int, Person]
    """By seat."""
    card_size: tuple[float, float]
    faces: Callable[[str], Picture]
    """Return the face of a card by its name, or ``back``."""
    cards: list[str] = field(default_factory=list)
    """Return the pack, shuffled."""

    def view(self, width: int, height: int) -> View:
        """Return the camera for a picture's size, px."""
        high, about_x, about_y, about_z, wide = self.camera
        axes = turn(0, about_x) @ turn(1, about_y) @ turn(2, about_z)
        # Tilted about the table's middle, so that the pile stays near the middle of the picture.
        return View(axes[:, 2] * high, axes, high / wide, width, height)


def draw_light(chance: np.random.Generator, kind: str | None = None) -> Light:
    """Draw a ``window`` with sun, a ``lamp`` over the table, both (``mixed``), or a ``dull`` day; None: at random."""
    kind = kind or str(chance.choice(["window", "lamp", "mixed", "dull"], p=[0.35, 0.35, 0.2, 0.1]))
    sun = {"window": chance.uniform(0.35, 0.65), "mixed": chance.uniform(0.2, 0.4)}.get(kind, 0.0)
    lamp = {"lamp": chance.uniform(0.45, 0.8), "mixed": chance.uniform(0.2, 0.4)}.get(kind, 0.0)
    lamp = float(chance.uniform(0.1, 0.3)) if kind == "dull" else lamp
    angle, far = chance.uniform(0, 2 * np.pi), chance.uniform(50, 650)
    return Light(
        level=float(chance.uniform(0.4, 0.9)),
        sky=float(1 - sun - lamp),
        sun=float(sun),
        lamp=float(lamp),
        sun_height=float(chance.uniform(28, 65)),
        sun_bearing=float(chance.uniform(0, 360)),
        sun_size=float(chance.uniform(0.5, 2.0)),
        lamp_place=(float(far * np.cos(angle)), float(far * np.sin(angle)), float(chance.uniform(950, 1700))),
        lamp_size=float(chance.uniform(60, 380)),
        warmth=float(chance.uniform(0, 1)),
    )


def draw_person(bearing: float, cloth: Picture, chance: np.random.Generator, sleeved: float = 0.65) -> Person:
    """Draw a person at a bearing: any skin; bare arms, sleeves of every colour, a fifth of the cloth's own.

    ``sleeved`` is the share that wears sleeves.
    """
    arm = Arm(
        bearing,
        1 if chance.random() < 0.8 else -1,
        float(chance.uniform(-30, 110)),
        float(np.clip(chance.normal(1.0, 0.07), 0.82, 1.15)),
    )
    skin = np.array(SKINS[int(chance.integers(len(SKINS)))]) * chance.uniform(0.85, 1.1, 3)
    sleeve: Colour | None = None
    kind = chance.random()
    if kind < 0.2:
        mean = cloth.reshape(-1, 3).mean(axis=0)[::-1] / 255
        red, green, blue = np.clip(mean**2.2 * chance.uniform(0.85, 1.15), 0.004, 0.9)
        sleeve = (float(red), float(green), float(blue))
    elif kind < sleeved:
        hsv = np.array([[[chance.integers(180), chance.integers(256), chance.integers(15, 250)]]], np.uint8)
        red, green, blue = (cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)[0, 0] / 255.0) ** 2.2
        sleeve = (float(red), float(green), float(blue))
    return Person(
        arm,
        (float(skin[0]), float(skin[1]), float(skin[2])),
        sleeve,
        float(chance.choice([chance.uniform(-5, 25), chance.uniform(30, 200)])),
        float(chance.uniform(6, 16)),
    )


def draw_camera(
    chance: np.random.Generator, tilt: float = 2.5, wide: tuple[float, float] = (440.0, 560.0)
) -> tuple[float, float, float, float, float]:
    """Draw a camera over the table, mounted with some care.

    Args:
        chance: draws its place.
        tilt: degrees by which it does not look straight down (standard deviation).
        wide: the narrowest and the widest visible table, mm.
    """
    tilts = chance.normal(0, tilt, 2)
    return (
        float(chance.uniform(750, 1150)),
        float(tilts[0]),
        float(tilts[1]),
        float(chance.normal(0, 2)),
        float(chance.uniform(*wide)),
    )


# Cloths for judging


def _noise(chance: np.random.Generator, cells: int, stretch: float = 1.0) -> NDArray[np.float32]:
    rows = max(2, int(cells * stretch))
    small = chance.standard_normal((rows, cells)).astype(np.float32)
    return np.asarray(cv2.resize(small, (_CLOTH_PX, _CLOTH_PX), interpolation=cv2.INTER_CUBIC), np.float32)


def _plain(chance: np.random.Generator) -> NDArray[np.float32]:
    """Return the darkness of each place of a felt: fibres and faint wear."""
    return np.asarray(0.05 * _noise(chance, 500) + 0.03 * _noise(chance, 60) + 0.03 * _noise(chance, 6))


def draw_cloth(kind: str, colours: tuple[tuple[int, int, int], ...], seed: int) -> Picture:
    """A table's surface for judging.

    Args:
        kind: ``felt``, ``planks``, ``damask``, ``gingham``, ``ticking``, ``jute``, ``marble`` or ``dots``.
        colours: red, green, blue; the ground first.
        seed: draws all the rest.
    """
    chance = np.random.default_rng((seed, 71))
    ys, xs = np.mgrid[0:_CLOTH_PX, 0:_CLOTH_PX].astype(np.float32)
    ground = np.array(colours[0][::-1], np.float32)
    other = np.array(colours[-1][::-1], np.float32)
    pattern = np.zeros((_CLOTH_PX, _CLOTH_PX), np.float32)
    grain = _plain(chance)
    if kind == "planks":
        rings = np.sin(18 * (_noise(chance, 3, 12) * 0.5 + ys / 260) + 2 * _noise(chance, 4, 40))
        pattern = np.clip(0.35 + 0.3 * rings + 0.2 * _noise(chance, 8, 60), 0, 1)
        pattern[(ys % 190) < 3] = 1.4
    elif kind == "damask":
        curl = np.sin(xs / 29 + 1.6 * np.sin(ys / 37)) * np.sin(ys / 31 + 1.6 * np.sin(xs / 41))
        pattern = np.clip(curl * 5, 0, 1) * 0.8
    elif kind == "gingham":
        pattern = 0.45 * ((xs % 84) < 42) + 0.45 * ((ys % 84) < 42)
    elif kind == "ticking":
        pattern = np.isin((xs // 9) % 9, (0, 2, 3, 5)).astype(np.float32) * 0.85
    elif kind == "jute":
        pattern = 0.5 + 0.5 * np.sin(xs / 1.9) * np.sin(ys / 1.9 + np.pi * (xs // 6 % 2))
        grain = grain * 2.5
    elif kind == "marble":
        veins = np.abs(np.sin(xs / 150 + ys / 210 + 1.5 * _noise(chance, 5) + 0.4 * _noise(chance, 22)))
        pattern = np.clip(1 - veins * 5, 0, 1)
    elif kind == "dots":
        pattern = ((((xs + 37 * (ys // 74 % 2)) % 74 - 37) ** 2 + (ys % 74 - 37) ** 2) < 200).astype(np.float32)
    pattern = cv2.GaussianBlur(np.asarray(pattern, np.float32), (0, 0), 0.8)[..., None]
    cloth = (ground * (1 - pattern) + other * pattern) * (1 + grain[..., None])
    return np.asarray(np.clip(cloth, 0, 255), np.uint8)


def print_faces(cloth: Picture, pack: str, cards: list[str], chance: np.random.Generator) -> Picture:
    """Return a table's surface with faces printed on it round its middle, as on a casino's cloth; twice as fine."""
    out = cv2.resize(cloth, None, fx=2, fy=2, interpolation=cv2.INTER_LINEAR)
    scale, (_, draw) = 2 * _CLOTH_PX / TABLE_MM, judging_faces(pack)
    first = float(chance.uniform(0, 360))
    for k, card in enumerate(cards):
        face = draw(card)
        angle, far = np.radians(first + 360 * k / len(cards)), float(chance.uniform(120, 165))
        turned = cv2.getRotationMatrix2D(
            (face.shape[1] / 2, face.shape[0] / 2), float(chance.uniform(0, 360)), scale / 6
        )
        turned[:, 2] += out.shape[0] / 2 + far * scale * np.array([np.cos(angle), 0.8 * np.sin(angle)])
        turned[:, 2] -= np.array(face.shape[1::-1]) / 2
        size = (out.shape[1], out.shape[0])
        printed = cv2.warpAffine(face, turned, size, flags=cv2.INTER_AREA)
        where = cv2.warpAffine(np.full(face.shape[:2], 255, np.uint8), turned, size)[..., None] / 255.0
        # Ink on cloth: its grain shows through.
        out = np.asarray(
            out * (1 - where) + printed * (0.92 + 0.25 * (out / 255.0 - out.mean() / 255)) * where, np.float64
        )
    return np.asarray(np.clip(out, 0, 255), np.uint8)


def judging_faces(family: str) -> tuple[tuple[float, float], Callable[[str], Picture]]:
    """Return size and faces of a pack of the simulated table."""
    deck = PrintedDeck(family, scale=6.0)

    def draw(card: str) -> Picture:
        return np.ascontiguousarray(deck.picture(card)[..., :3])

    return deck.size, draw


def shuffled(seed: int) -> list[str]:
    """Return the 52 cards in a random order."""
    cards = all_cards()
    np.random.default_rng((seed, 72)).shuffle(cards)
    return cards
