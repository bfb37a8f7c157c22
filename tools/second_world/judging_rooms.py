"""The rooms and sequences for judging: none of their cloths, cards or seeds serves for training."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tools.second_world.gestures import USUAL, Handling
from tools.second_world.room import (
    Room,
    draw_camera,
    draw_cloth,
    draw_light,
    draw_person,
    judging_faces,
    print_faces,
    shuffled,
)
from tools.second_world.sequence import Score

Rgb = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Setting:
    """One sequence's room, camera and play.

    ``play`` is words: ``1f`` seat 1 lays a card turned over on its way, ``l`` turned over the pile, ``s`` slid in face
    up; ``t`` takes, ``h`` slaps, ``H`` slaps just after, ``r`` lays an arm down to stay, ``w`` holds a hand over the
    table. ``pace``: seconds between two cards.
    """

    name: str
    seed: int
    cloth: str
    colours: tuple[Rgb, ...]
    light: str
    pack: str
    seats: int
    play: str
    pace: float
    fps: int
    exposure_ms: float
    readout_ms: float
    lead: float = 0.9
    """Seconds of bare table before the first card lands."""
    handling: Handling = USUAL
    tilt: float = 2.5
    """Degrees by which the camera does not look straight down (standard deviation) ..."""
    wide: tuple[float, float] = (440.0, 560.0)
    """... and the width of table that it sees, mm."""


SETTINGS: Final = (
    # These two are stored in the repository, for the tests.
    Setting("short-window", 9113, "planks", ((152, 112, 70), (110, 74, 44)), "window", "harbour", 4,
            "1f 3l 2t", 0.7, 25, 6.0, 14.0),
    Setting("short-lamp", 9114, "damask", ((52, 96, 92), (66, 112, 106)), "lamp", "meadow", 3,
            "2s 3f 1t", 0.7, 25, 8.0, 14.0),
    Setting("felt-window", 9101, "felt", ((36, 92, 58),), "window", "harbour", 4,
            "1f 2f 3l 4f 1s 2f 2t", 0.8, 30, 5.0, 14.0),
    Setting("gingham-lamp", 9102, "gingham", ((232, 228, 218), (172, 44, 48)), "lamp", "meadow", 3,
            "1f 2s 3f 1l 2f 3t", 0.7, 25, 9.0, 14.0),
    Setting("planks-mixed", 9103, "planks", ((140, 96, 58), (92, 58, 32)), "mixed", "harbour", 2,
            "1f 2f 1f 2l 1f 2f 1t", 0.6, 30, 6.0, 18.0),
    Setting("damask-dull", 9104, "damask", ((226, 222, 210), (202, 198, 184)), "dull", "meadow", 4,
            "1s 2s 3s 4s 1f 3t", 0.8, 25, 10.0, 20.0),
    Setting("ticking-window", 9105, "ticking", ((218, 220, 222), (48, 66, 116)), "window", "harbour", 3,
            "1l 2f 3f 1f 2h 2t", 0.7, 30, 4.0, 10.0),
    Setting("marble-lamp", 9106, "marble", ((196, 194, 190), (120, 118, 122)), "lamp", "meadow", 5,
            "4r 1f 2f 3f 5f 1f 2t", 0.8, 25, 8.0, 16.0),
    Setting("jute-window", 9107, "jute", ((168, 142, 104), (112, 88, 58)), "window", "harbour", 4,
            "1f 2f 3f 4f 1f 2f 3t", 0.42, 30, 5.0, 12.0),
    Setting("dots-mixed", 9108, "dots", ((58, 62, 70), (202, 160, 60)), "mixed", "meadow", 2,
            "1f 2l 1l 2f 1t", 0.9, 25, 9.0, 18.0),
    Setting("felt-lamp", 9109, "felt", ((112, 28, 40),), "lamp", "harbour", 6,
            "1f 2f 3s 4f 5f 6f 3t", 0.6, 30, 8.0, 14.0),
    Setting("planks-window", 9110, "planks", ((74, 50, 38), (44, 28, 22)), "window", "meadow", 3,
            "3r 1f 2f 1l 2s 1f 2t", 0.7, 30, 5.0, 10.0),
    Setting("gingham-dull", 9111, "gingham", ((230, 230, 226), (60, 104, 84)), "dull", "harbour", 4,
            "1f 2f 3f 4l 4h 1h 1t", 0.6, 25, 10.0, 18.0),
    Setting("felt-mixed", 9112, "felt", ((34, 48, 84),), "mixed", "meadow", 4,
            "1f 2f 3f 4f 1s 2l 3t", 0.5, 30, 5.0, 14.0),
    # Four faces are printed on this cloth.
    Setting("mat-lamp", 9115, "mat", ((30, 84, 60),), "lamp", "meadow", 4,
            "1f 2f 3l 4f 2t", 0.7, 25, 8.0, 14.0),
)  # fmt: skip
_PRINTED: Final = ("As", "Kh", "Qd", "Jc")
_CLOTHS: Final = ("felt", "planks", "damask", "gingham", "ticking", "jute", "marble", "dots")
_DRAWN_SEED: Final = 20_000
_UNRULY_FIRST: Final = 10_000
"""From this number on, randomly drawn rooms are those of careless people."""
_MANNERS: Final = {"f": "flip", "l": "late", "s": "slide"}
_AFTER: Final = {"rest": 0.9, "wait": 0.9, "take": 1.7}
"""Seconds before a card, whatever the pace."""
_DEEDS: Final = {"t": "take", "h": "slap", "H": "slap", "r": "rest", "w": "wait"}


def rooms(text: str) -> range:
    """Parse the numbers of drawn rooms: ``24`` are the first 24, ``200-219`` these twenty.

    Raises `argparse.ArgumentTypeError`.
    """
    first, dash, last = text.partition("-")
    try:
        return range(int(first), int(last) + 1) if dash else range(int(first))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a count nor FIRST-LAST, as 200-219") from None


def draw_setting(number: int) -> Setting:
    """Draw a sequence's room, camera and play from a number; its people are careful."""
    seed = _DRAWN_SEED + number
    chance = np.random.default_rng((seed, 73))

    def colour() -> Rgb:
        red, green, blue = (int(v) for v in chance.integers(20, 236, 3))
        return red, green, blue

    seats = int(chance.integers(2, 7))
    seat = int(chance.integers(seats))
    words = [f"{int(chance.integers(1, seats + 1))}r"] if seats > 2 and chance.random() < 0.2 else []
    players = [place for place in range(1, seats + 1) if f"{place}r" not in words]
    for count in (int(chance.integers(3, 7)), int(chance.integers(0, 4))):
        laid = []
        for manner in chance.choice(["f", "l", "s"], count, p=[0.6, 0.2, 0.2]):
            seat = seat % seats + 1
            laid += [f"{seat}{manner}"] if seat in players else []
        if laid:
            # A seat whose arm is not still on its way back.
            taker = int(chance.choice([player for player in players if str(player) != laid[-1][0]]))
            words += [*laid, f"{taker}t"]
    fps = int(chance.choice([25, 30]))
    return Setting(
        f"drawn-{number:04d}", seed, str(chance.choice(_CLOTHS)), (colour(), colour()),
        str(chance.choice(["window", "lamp", "mixed", "dull"])), str(chance.choice(["harbour", "meadow"])), seats,
        " ".join(words), float(chance.uniform(0.4 if seats > 2 else 0.6, 1.0)), fps, float(chance.uniform(3, 12)),
        float(chance.uniform(8, 20)),
    )  # fmt: skip


def draw_unruly(number: int) -> Setting:
    """Draw a sequence of careless people under a careless camera from a number.

    Cards are tossed, lie askew and apart, hands are quick or slow, wait over the table and slap together; the camera
    hangs aslant, near or far, at a low or high frame rate.
    """
    careful = draw_setting(_UNRULY_FIRST + number)
    chance = np.random.default_rng((careful.seed, 73))
    slow = float(chance.uniform(0.8, 1.8))
    tossed = chance.random() < 0.35
    words: list[str] = []
    for word in careful.play.split():
        if word[-1] == "r" and chance.random() < 0.6:
            word = f"{word[0]}w"
        if word[-1] == "t" and chance.random() < 0.5:
            # A seat whose arm is still on its way back, takes, or lies there does not slap as well.
            busy = {words[-1][0], word[0], *(other[0] for other in words if other[-1] in "rw")}
            others = [seat for seat in range(1, careful.seats + 1) if f"{seat}" not in busy]
            slaps = [f"{int(seat)}H" for seat in chance.permutation(others)[: int(chance.integers(0, 3))]]
            words += [f"{word[0]}h", *slaps]
        words.append(word)
    return replace(
        careful,
        name=f"unruly-{number:04d}",
        play=" ".join(words),
        pace=max(careful.pace, (0.75 if careful.seats == 2 else 0.45) * slow),
        fps=int(chance.choice([12, 15, 20, 24, 25, 30])),
        exposure_ms=float(chance.uniform(3, 25)),
        handling=Handling(
            scatter=float(chance.uniform(8, 32)),
            skew=float(chance.uniform(5, 45)),
            slow=slow,
            pause=1.4 * slow,
            toss=float(chance.uniform(30, 110)) if tossed else 0.0,
            spin=float(chance.uniform(0, 60)) if tossed else 0.0,
        ),
        tilt=6.0,
        wide=(380.0, 700.0),
    )


def judging_room(setting: Setting) -> Room:
    """Return the room of a setting."""
    chance = np.random.default_rng((setting.seed, 75))
    cloth = draw_cloth(setting.cloth, setting.colours, setting.seed)
    if setting.cloth == "mat":
        cloth = print_faces(cloth, "harbour", list(_PRINTED), np.random.default_rng((setting.seed, 77)))
    people = {
        seat: draw_person((270 - 360 * (seat - 1) / setting.seats + float(chance.normal(0, 4))) % 360, cloth, chance)
        for seat in range(1, setting.seats + 1)
    }
    size, faces = judging_faces(setting.pack)
    light, camera = draw_light(chance, setting.light), draw_camera(chance, setting.tilt, setting.wide)
    gloss = 0.5 if setting.cloth in ("planks", "marble") else 0.05
    return Room(setting.seed, cloth, gloss, light, camera, people, size, faces, shuffled(setting.seed))


def score_of(setting: Setting) -> Score:
    """Return the score, with the pauses between its events."""
    chance = np.random.default_rng((setting.seed, 76))
    lines: list[tuple[str, float]] = []
    for word in setting.play.split():
        seat, what = word[:-1], word[-1]
        if what in _MANNERS:
            before = lines[-1][0].partition(":")[0] if lines else ""
            wait = setting.handling.slow * _AFTER.get(before, 0.0) or setting.pace * float(chance.uniform(0.85, 1.2))
            lines.append((f"lay:{seat}:{_MANNERS[what]}", wait if lines else 0.0))
        else:
            wait = 0.0 if what in "rw" else setting.handling.pause
            lines.append((f"{_DEEDS[what]}:{seat}", float(chance.uniform(0.06, 0.25)) if what == "H" else wait))
    return Score(tuple(lines), setting.lead, handling=setting.handling)
