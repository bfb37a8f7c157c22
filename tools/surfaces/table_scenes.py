"""The table, the surface of each of its pixels, and the bare table beside it: the training data of the surface network.

A scene is drawn at the size of `models.training.scenes` and reduced to the watcher's size. Things that stay on the
table (prints on the cloth, things put down before the game) are in both pictures and count as table; cards,
hands, shadows and later things are only in the second.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.simulated.pictures.hands import ArmLook, HandPicture, draw_hand, look
from hardware.simulated.pictures.layers import moved_by, stamp
from models.eye.classes import HEIGHT_MM
from models.eye.geometry import Image, Points
from models.training import clutter
from models.training.library import Library
from models.training.photometry import photograph
from models.training.samples import write_shards
from models.training.scenes import SIZE, Painter, Pose, camera_over, card_matrix, heap, project
from models.watch.surfaces import ROWS, Kinds, Surface

Ids = NDArray[np.int16]
Sample = tuple[Image, Image, Kinds]
"""A picture, the bare table, and the surface of each pixel of the picture."""
COLUMNS: Final = 160
"""Width of the network's training pictures, in columns."""


_TALL: Final = SIZE * ROWS // COLUMNS
"""Rows of the drawn square that the picture keeps."""
_HALF: Final = (SIZE // 2, SIZE // 2)
_HEIGHTS: Final = (46.0, 170.0)
"""Heights of cards, px of the drawn square; a table's camera shows about 100."""
_VISIBLE_SHADE: Final = 0.05
"""A shadow takes away at least this share of the light."""
_HAND_SCALE: Final = 0.6
"""Pixels a millimetre at which hands are drawn before they are placed."""


@dataclass(slots=True)
class _Table:
    """A scene while it is drawn."""

    image: Image
    """The picture so far ..."""
    bare: Image
    """... and the picture without everything that does not belong to the table."""
    unit: float
    """Pixels a millimetre."""
    surface: NDArray[np.uint8]
    shade: NDArray[np.float32]
    """Share of the cloth's light that shadows take."""
    cards: Ids = field(default_factory=lambda: np.full((SIZE, SIZE), -1, np.int16))


def _soft_blob(rng: np.random.Generator) -> NDArray[np.float32]:
    """Return a head's, a shoulder's or a window frame's shadow: 0 to 1, from outside into the picture."""
    quarter = SIZE // 4
    mask = np.zeros((quarter, quarter), np.float32)
    way = rng.uniform(0, 2 * np.pi)
    far = rng.uniform(0.25, 0.75) * quarter
    centre = (int(quarter / 2 + math.cos(way) * far), int(quarter / 2 + math.sin(way) * far))
    if rng.random() < 0.7:
        axes = (int(rng.uniform(0.08, 0.5) * quarter), int(rng.uniform(0.08, 0.35) * quarter))
        cv2.ellipse(mask, centre, axes, float(rng.uniform(0, 180)), 0, 360, 1.0, -1)
    else:
        box = (rng.uniform(0.06, 0.4) * quarter, rng.uniform(0.3, 1.8) * quarter)
        corners = cv2.boxPoints((centre, box, math.degrees(way) + 90 + float(rng.normal(0, 25))))
        cv2.fillPoly(mask, [corners.astype(np.int32)], 1.0)
    mask = cv2.GaussianBlur(mask, (0, 0), float(np.exp(rng.uniform(np.log(0.4), np.log(14)))))
    return np.asarray(cv2.resize(mask, (SIZE, SIZE), interpolation=cv2.INTER_LINEAR), np.float32)


def _darkness(rng: np.random.Generator) -> float:
    """Return how much light a shadow takes: soft ones some per cent, hard ones more than half."""
    return float(rng.uniform(0.05, 0.32) if rng.random() < 0.6 else rng.uniform(0.2, 0.65))


class TablePainter(Painter):
    """Draws tables from one library; every table is a function of its seed."""

    def __init__(self, library: Library) -> None:
        super().__init__(library, _HEIGHTS)

    def sample(self, seed: tuple[int, ...]) -> Sample:
        """Return the picture, the bare table (rows x columns x 3) and the map of `Surface` of a seed."""
        rng = np.random.default_rng(seed)
        table = self._bare_table(rng)
        if rng.random() < 0.45:
            self._cast_shadows(table, rng)
        if rng.random() < 0.15:
            self._put_things(table, rng)
        if rng.random() < 0.8:
            self._lay_cards(table, rng, _some(rng, (0.75, 0.2, 0.05)) + 1)
        if rng.random() < 0.08:
            # The table was learned while an arm lay there that has left since: its place is table.
            ghost = replace(table, image=table.bare.copy(), surface=table.surface.copy())
            self._reach(ghost, rng)
            table.bare = ghost.image
        known = rng.random() < 0.05
        for _ in range(_some(rng, (0.25, 0.5, 0.19, 0.06))):
            self._reach(table, rng)
        if known:
            # The arm still lies there: it counts as an arm all the same.
            table.bare = np.where((table.surface == Surface.ARM)[..., None], table.image, table.bare)
        return self._seen(table, rng)

    # Things that belong to the table

    def _bare_table(self, rng: np.random.Generator) -> _Table:
        image = self._background(rng)
        if rng.random() < 0.6:
            # Most tables are calmer than a library of patterns.
            calm = float(rng.uniform(0.3, 0.97))
            image = cv2.addWeighted(image, 1 - calm, np.full_like(image, image.mean((0, 1))), calm, 0)
        card_px = float(np.exp(rng.uniform(*np.log(self.heights))))
        table = _Table(
            np.asarray(image, np.uint8), image, card_px / HEIGHT_MM, np.zeros((SIZE, SIZE), np.uint8),
            np.zeros((SIZE, SIZE), np.float32),
        )  # fmt: skip
        if rng.random() < 0.2:
            self._lay_cards(table, rng, 1)
            if rng.random() < 0.5:
                # Printed, not laid: worn and coloured like the cloth.
                fade = float(rng.uniform(0.3, 1.0))
                table.image = np.asarray(cv2.addWeighted(table.image, fade, image, 1 - fade, 0), np.uint8)
            table.cards[:] = -1
        if rng.random() < 0.25:
            clutter.things(table.image, table.cards.copy(), rng, card_px, 4)
        table.surface[:] = Surface.TABLE
        table.shade[:] = 0
        table.bare = table.image.copy()
        return table

    # Things that come and go

    def _cast_shadows(self, table: _Table, rng: np.random.Generator) -> None:
        for _ in range(_some(rng, (0.7, 0.3)) + 1):
            blob, depth = _soft_blob(rng), _darkness(rng)
            if rng.random() < 0.3:
                # It came in slowly: the part that had come in when the table was learned is in the table, too.
                y, x = np.unravel_index(int(blob.argmax()), blob.shape)
                out = (np.array([x, y]) - SIZE / 2) / SIZE * float(rng.uniform(0.05, 0.6)) * SIZE
                learned = cv2.warpAffine(blob, moved_by(*out)[:2], blob.shape[::-1], borderMode=cv2.BORDER_REPLICATE)
                learned = 1 - learned * depth * float(rng.uniform(0.5, 1.0))
                table.bare = np.asarray(cv2.multiply(table.bare, cv2.merge([learned] * 3), dtype=cv2.CV_8U), np.uint8)
            self._darken(table, blob * depth)

    def _darken(self, table: _Table, shade: NDArray[np.float32]) -> None:
        table.image = np.asarray(cv2.multiply(table.image, cv2.merge([1 - shade] * 3), dtype=cv2.CV_8U), np.uint8)
        table.shade = np.asarray(1 - (1 - table.shade) * (1 - shade), np.float32)

    def _put_things(self, table: _Table, rng: np.random.Generator) -> None:
        ids = np.full((SIZE, SIZE), -1, np.int16)
        clutter.things(table.image, ids, rng, table.unit * HEIGHT_MM, 2)
        table.surface[ids == clutter.HAND] = Surface.OTHER

    def _lay_cards(self, table: _Table, rng: np.random.Generator, heaps: int) -> None:
        """Draw heaps as in the eye's own scenes, most of them near the middle, a few all backs."""
        ids, card_px = np.full((SIZE, SIZE), -1, np.int16), table.unit * HEIGHT_MM
        camera = moved_by(0, (_TALL - SIZE) / 2) @ camera_over(rng, card_px, SIZE)
        extent = SIZE / 2 / card_px * HEIGHT_MM * float(rng.choice([0.15, 0.5, 1.0]))
        deck = self.library.by_deck[int(rng.choice(self.decks, p=self.weights))]
        shadow, light = rng.uniform(0, 0.5), rng.normal(0, 1.6, 2)
        backs = deck[self.library.meta["card"][deck] < 0]
        laid: list[Any] = []
        for _ in range(heaps):
            turned = rng.random() < 0.3
            for pose in heap(rng, extent):
                row = int(rng.choice(backs)) if turned and len(backs) else self._choose(rng, deck)
                self._lay(table.image, ids, laid, row, camera @ card_matrix(pose), rng, shadow, light)
        self._note_cards(table, ids, laid)

    def _note_cards(self, table: _Table, ids: Ids, laid: list[Any]) -> None:
        for k, item in enumerate(laid):
            face = int(self.library.meta["card"][item.row]) >= 0
            table.surface[ids == k] = Surface.FACE if face else Surface.BACK

    def _reach(self, table: _Table, rng: np.random.Generator) -> None:
        """Draw one arm, with its shadow and sometimes a card in its hand."""
        if rng.random() < 0.25:
            self._plain_arm(table, rng)
            return
        arm, pose = _arm_look(rng), "flat" if rng.random() < 0.5 else "pinch"
        hand = self._dressed(draw_hand(pose, arm, _HAND_SCALE), arm, table, rng)
        matrix, way = _arm_place(table, rng, hand)
        motion = tuple(float(v) for v in rng.normal(0, 18, 2)) if rng.random() < 0.25 else (0.0, 0.0)
        shift = rng.normal(0, 1, 2) * float(rng.choice([5.0, 15.0, 45.0])) * table.unit
        shadow = np.zeros((SIZE, SIZE, 3), np.uint8) + 255
        soft = cv2.convertScaleAbs(hand.shadow, alpha=float(rng.uniform(0.0, 1.7)))
        stamp(shadow, soft, moved_by(*shift) @ matrix)
        shade = 1 - shadow[..., 0].astype(np.float32) / 255
        if (blur := rng.uniform(-4, 8)) > 0.3:
            shade = cv2.GaussianBlur(shade, (0, 0), blur)
        self._darken(table, np.asarray(shade, np.float32))
        if rng.random() < 0.12:
            return  # the arm itself is outside: only its shadow is seen
        carried = rng.random()
        if carried < 0.35:
            self._carry(table, rng, matrix, hand, way)
        self._stamp_arm(table, hand.image, matrix, (motion[0], motion[1]))
        if 0.35 <= carried < 0.5:
            self._carry(table, rng, matrix, hand, way)

    def _stamp_arm(self, table: _Table, image: Image, matrix: Points, motion: tuple[float, float]) -> None:
        cover = np.zeros((SIZE, SIZE, 3), np.uint8)
        solid = np.dstack([image[..., 3]] * 4)
        stamp(cover, solid, matrix, motion)
        stamp(table.image, image, matrix, motion)
        table.surface[cover[..., 0] > 127] = Surface.ARM

    def _dressed(self, hand: HandPicture, arm: ArmLook, table: _Table, rng: np.random.Generator) -> HandPicture:
        """Choose the sleeve: some have the cloth's colour, some a pattern, and some arms are bare."""
        kind = rng.random()
        if kind > 0.35:
            return hand
        rows = np.arange(hand.image.shape[0])[:, None]
        worn = (rows > hand.tip[1] + arm.cuff * arm.size * _HAND_SCALE) & (hand.image[..., 3] > 0)
        cover = hand.image[..., 3:].astype(np.float32) / 255
        bright = hand.image[..., :3].mean(2, keepdims=True) / max(1.0, float(hand.image[worn][:, :3].mean()))
        if kind < 0.15:
            y, x = rng.integers(0, SIZE, 2)
            cloth = table.bare[y, x].astype(np.float32) * rng.uniform(0.8, 1.15)
            stuff = np.broadcast_to(cloth, hand.image[..., :3].shape)
        else:
            stuff = cv2.resize(self._background(rng), hand.image.shape[1::-1]).astype(np.float32)
        image = hand.image.copy()
        dressed = np.clip(stuff * np.clip(bright, 0.4, 1.3), 0, 255) * cover
        image[..., :3] = np.where(worn[..., None], dressed, image[..., :3])
        return replace(hand, image=image)

    def _plain_arm(self, table: _Table, rng: np.random.Generator) -> None:
        ids = np.full((SIZE, SIZE), -1, np.int16)
        arm = table.image.copy()
        if rng.random() < 0.25:
            _draw_bar(arm, ids, rng, table.unit)
        else:
            clutter.hands(arm, ids, rng, table.unit * HEIGHT_MM, self._background(rng))
        there = (ids == clutter.HAND).astype(np.float32)
        cast = moved_by(*(rng.normal(0, 12, 2) * table.unit))[:2]
        shade = cv2.GaussianBlur(cv2.warpAffine(there, cast, (SIZE, SIZE)), (0, 0), float(rng.uniform(1, 10)))
        self._darken(table, np.asarray(shade * rng.uniform(0, 0.6), np.float32))
        soft = cv2.GaussianBlur(there, (5, 5), 0.8)
        table.image = np.asarray(cv2.blendLinear(arm, table.image, soft, 1 - soft), np.uint8)
        table.surface[there > 0] = Surface.ARM

    def _carry(self, table: _Table, rng: np.random.Generator, matrix: Points, hand: HandPicture, way: Points) -> None:
        """Draw a card at the fingertips, face or back up, flat or being turned over."""
        tip = project(matrix, np.array([hand.tip]))[0]
        centre = tip + way * float(rng.uniform(-30, 45)) * table.unit
        turn = math.degrees(math.atan2(way[1], way[0])) + 90 + float(rng.normal(0, 30))
        lean = float(rng.uniform(0.15, 1.0)) if rng.random() < 0.5 else 1.0
        narrow = np.diag([lean, 1.0, 1.0]) if rng.random() < 0.5 else np.diag([1.0, lean, 1.0])
        c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
        onto = np.array([[c, -s, centre[0]], [s, c, centre[1]], [0, 0, 1.0]]) @ np.diag([table.unit, table.unit, 1.0])
        deck = self.library.by_deck[int(rng.choice(self.decks, p=self.weights))]
        ids, laid = np.full((SIZE, SIZE), -1, np.int16), list[Any]()
        backs = deck[self.library.meta["card"][deck] < 0]
        row = int(rng.choice(backs)) if rng.random() < 0.4 and len(backs) else self._choose(rng, deck)
        placed = onto @ narrow @ card_matrix(Pose(0.0, 0.0, 0.0))
        self._lay(table.image, ids, laid, row, placed, rng, float(rng.uniform(0, 0.4)), rng.normal(0, 8, 2))
        self._note_cards(table, ids, laid)

    def _seen(self, table: _Table, rng: np.random.Generator) -> Sample:
        """Return the picture and the bare table through one camera, at different instants."""
        surface = table.surface.copy()
        surface[(surface == Surface.TABLE) & (table.shade > _VISIBLE_SHADE)] = Surface.SHADOW
        # Lens and sensor are simulated at half size: in so small a picture the effect is the same.
        image, bare = (cv2.resize(view, _HALF, interpolation=cv2.INTER_AREA) for view in (table.image, table.bare))
        return _photographed(image, bare, surface[:_TALL], rng, _TALL // 2)


# The camera


def _photographed(image: Image, bare: Image, surface: Kinds, rng: np.random.Generator, rows: int) -> Sample:
    """Return one camera's pictures of a square and of the bare table at another instant; ``rows`` of it are kept."""
    if rng.random() < 0.12:
        # The learned table may hold a shadow that has left.
        shade = cv2.resize(1 - _soft_blob(rng) * _darkness(rng), _HALF, interpolation=cv2.INTER_AREA)
        bare = np.asarray(cv2.multiply(bare, cv2.merge([shade] * 3), dtype=cv2.CV_8U), np.uint8)
    if rng.random() < 0.3:
        image = _in_other_light(image, rng)
    seed = int(rng.integers(1 << 60))
    pictures = [_reduced(photograph(view, np.random.default_rng(seed), 0.8)[:rows]) for view in (image, bare)]
    nudge = rng.normal(0, 0.25 if rng.random() < 0.9 else 1.0, 2)
    moved = moved_by(*nudge)[:2]
    pictures[1] = cv2.warpAffine(pictures[1], moved, (COLUMNS, ROWS), borderMode=cv2.BORDER_REPLICATE)
    for picture in pictures:
        grain = rng.standard_normal(picture.shape, np.float32) * np.float32(rng.uniform(0, 2.5))
        picture[:] = np.clip(picture + grain, 0, 255).astype(np.uint8)
    if rng.random() < 0.15:
        pictures[0] = _banded(pictures[0], rng)
    shares = [_reduced((surface == kind).astype(np.uint8) * 255) for kind in Surface]
    flipped = slice(None, None, -1 if rng.random() < 0.5 else 1)
    truth = np.argmax(shares, axis=0).astype(np.uint8)
    return pictures[0][:, flipped], pictures[1][:, flipped], truth[:, flipped]


def still_sample(stem: Path, rng: np.random.Generator) -> Sample:
    """Return a sample of a path-traced still: ``stem``.png, ``stem``_bare.png and ``stem``_mask.png."""
    image, bare = (np.array(cv2.imread(f"{stem}{end}"), np.uint8) for end in (".png", "_bare.png"))
    image, bare = (
        np.asarray(cv2.resize(view, _HALF, interpolation=cv2.INTER_AREA), np.uint8) for view in (image, bare)
    )
    surface = np.array(cv2.imread(f"{stem}_mask.png", cv2.IMREAD_GRAYSCALE), np.uint8)
    # Things that lie on the bare table, too, belong to it.
    surface[surface == Surface.OTHER] = Surface.TABLE
    return _photographed(image, bare, surface, rng, _HALF[1])


def _some(rng: np.random.Generator, odds: tuple[float, ...]) -> int:
    return int(rng.choice(len(odds), p=odds))


def _arm_look(rng: np.random.Generator) -> ArmLook:
    """Draw an arm of any skin and any sleeve, or bare."""
    drawn = look(int(rng.integers(1 << 30)), int(rng.integers(1, 9)))
    skin = tuple(int(np.clip(c * rng.uniform(0.85, 1.15), 0, 255)) for c in drawn.skin)
    sleeve = tuple(int(v) for v in rng.uniform(8, 245) * np.clip(rng.normal(1, 0.35, 3), 0.05, 1.0))
    if rng.random() < 0.2:
        # Most people wear black and dark blue; on a dark cloth these are as dark as a shadow.
        sleeve = tuple(int(v) for v in rng.uniform(4, 50) * np.clip(rng.normal(1, 0.15, 3), 0.5, 1.5))
    cuff = float(rng.uniform(150, 300))
    if rng.random() < 0.3:
        sleeve, cuff = skin, 310.0
    return replace(
        drawn, skin=(skin[0], skin[1], skin[2]), sleeve=(sleeve[0], sleeve[1], sleeve[2]), cuff=cuff,
        left_handed=bool(rng.random() < 0.5), size=float(rng.uniform(0.8, 1.12)),
    )  # fmt: skip


def _arm_place(table: _Table, rng: np.random.Generator, hand: HandPicture) -> tuple[Points, Points]:
    """Return the map from a hand's pixels to the scene's, such that the arm comes from outside; and the arm's
    direction.
    """
    way_in = rng.uniform(0, 2 * np.pi)
    kind = rng.random()
    middle = np.array([SIZE / 2, _TALL / 2])
    half = np.array([SIZE / 2, _TALL / 2])
    outward = np.array([math.cos(way_in), math.sin(way_in)])
    edge = 1.0 / max(abs(outward[0]) / half[0], abs(outward[1]) / half[1])
    lean = float(rng.normal(0, 0.2))
    if kind < 0.6:
        tip = middle + rng.normal(0, 30, 2) * table.unit + outward * rng.uniform(-20, 60) * table.unit
    elif kind < 0.85:
        tip = middle + outward * edge * rng.uniform(0.3, 1.0)
    else:
        # An arm that rests along the picture's edge.
        tip = middle + outward * edge * rng.uniform(0.55, 0.95)
        lean = float(rng.choice([-1, 1])) * rng.uniform(0.5, 1.4)
    turn = way_in + lean
    c, s = math.cos(turn - np.pi / 2), math.sin(turn - np.pi / 2)
    size = table.unit / _HAND_SCALE
    bend = np.array([[1, rng.normal(0, 0.12), 0], [0, rng.uniform(0.9, 1.25), 0], [0, 0, 1.0]])
    matrix = np.array([[c, -s, tip[0]], [s, c, tip[1]], [0, 0, 1.0]]) @ np.diag([size, size, 1.0]) @ bend
    return matrix @ moved_by(-hand.tip[0], -hand.tip[1]), -np.array([math.cos(turn), math.sin(turn)])


def _draw_bar(image: Image, ids: Ids, rng: np.random.Generator, unit: float) -> None:
    """Draw a bare sleeve or fist: one colour, from outside to some place."""
    way, wide = rng.uniform(0, 2 * np.pi), max(3, int(rng.uniform(35, 90) * unit))
    tip = np.array([SIZE / 2, _TALL / 2]) + rng.normal(0, SIZE / 8, 2)
    far = tip + np.array([math.cos(way), math.sin(way)]) * 2 * SIZE
    begin, end = ((int(p[0]), int(p[1])) for p in (tip, far))
    colour = rng.uniform(10, 245) * np.clip(rng.normal(1, 0.3, 3), 0.1, 1.0)
    if rng.random() < 0.5:
        colour = np.array(look(int(rng.integers(1 << 30)), 1).skin, np.float64)
    cv2.line(image, begin, end, tuple(float(c) for c in colour), wide, cv2.LINE_AA)
    there = np.zeros(ids.shape, np.uint8)
    cv2.line(there, begin, end, 255, wide)
    ids[there > 0] = clutter.HAND


def _in_other_light(image: Image, rng: np.random.Generator) -> Image:
    """Change the light: another lamp, another hour, a person before the window."""
    gain = rng.uniform(0.65, 1.45) * np.clip(rng.normal(1, 0.06, 3), 0.8, 1.2)
    corners = rng.normal(1, 0.05, (2, 2)).astype(np.float32)
    slope = cv2.resize(corners, image.shape[1::-1], interpolation=cv2.INTER_LINEAR)
    lit = image.astype(np.float32) * gain.astype(np.float32) * slope[..., None]
    return np.asarray(np.clip(lit, 0, 255), np.uint8)


def _banded(image: Image, rng: np.random.Generator) -> Image:
    """Draw the bands of a flickering lamp through a rolling shutter."""
    rows = np.arange(ROWS, dtype=np.float32)[:, None, None]
    wave = 1 + rng.uniform(0.02, 0.12) * np.sin(2 * np.pi * (rows / rng.uniform(30, 200) + rng.random()))
    return np.asarray(np.clip(image * wave, 0, 255), np.uint8)


def _reduced(picture: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(cv2.resize(picture, (COLUMNS, ROWS), interpolation=cv2.INTER_AREA))


def shard(samples: Iterable[Sample]) -> dict[str, NDArray[Any]]:
    """Return a shard: pictures with the bare table as channels 3 to 5, and their maps."""
    drawn = list(samples)
    return {
        "tables": np.stack([np.concatenate(scene[:2], axis=2) for scene in drawn]),
        "surfaces": np.stack([scene[2] for scene in drawn]),
    }


def main() -> None:
    """Write shards from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/eye"))
    parser.add_argument("--split", choices=["train", "held-out"], default="train")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--count", type=int, default=32, help="shards in all")
    parser.add_argument("--scenes", type=int, default=256, help="scenes a shard")
    parser.add_argument("--stills", type=Path, help="folder of path-traced stills: these instead of drawn scenes")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    held_out = args.split == "held-out"
    seed = 2001 + 1000 * held_out
    numbers = range(args.first, args.count, args.step)
    folder = args.out / "surfaces" / args.split
    if args.stills:
        # One still in eight is kept for judging.
        if not held_out:
            folder = args.out / "surfaces" / "stills"
        stems = [path.with_suffix("") for path in sorted(args.stills.glob("[0-9]*[0-9].png"))]
        mine = [stem for stem in stems if (int(stem.name) % 8 == 0) == held_out]

        def seen(number: int) -> dict[str, NDArray[Any]]:
            rng = np.random.default_rng((seed, number, 7))
            return shard(still_sample(mine[int(k)], rng) for k in rng.integers(0, len(mine), args.scenes))

        write_shards(folder, numbers, seen)
        return
    painter = TablePainter(Library.open(args.out / "library", int(held_out)))
    write_shards(folder, numbers, lambda number: shard(painter.sample((seed, number, i)) for i in range(args.scenes)))


if __name__ == "__main__":
    main()
