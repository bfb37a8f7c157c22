"""Whole scenes: cards laid on a table in heaps, fans and rows, hands over them, seen by a camera.

A scene is drawn in pixels of the full picture (`SIZE` square) on a plane measured in millimetres. `DrawnScene` keeps
the truth for the three networks: every index with its visible share, every card's corners and whether anything lies on
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye.classes import HEIGHT_MM, RANK_CLASSES, WIDTH_MM
from models.eye.geometry import Image, Points
from models.eye.reader import RANK_OF_CARD, SUIT_OF_CARD
from models.training import backgrounds, clutter, odd_faces
from models.training.art import FACE_H, FACE_W
from models.training.clutter import HAND
from models.training.library import Library
from models.training.photometry import photograph

SIZE = 512
#: Heights of cards in px of the full picture, and the most cards in it.
_SMALLEST, _LARGEST, _MOST_CARDS = 50, 420, 60
#: Most cards of a heap that matter: deeper cards are buried.
_TALLEST = 30
_COURTS = tuple(RANK_CLASSES.index(rank) for rank in "JQK")


@dataclass(frozen=True, slots=True)
class Index:
    """One printed index: its letter in `GLYPHS` and its suit, centre and up-vector (centre to top edge), px; shares of
    it that show."""

    rank: int
    suit: int
    centre: Points
    up: Points
    card: int
    rank_seen: float
    suit_seen: float


@dataclass(frozen=True, slots=True)
class DrawnCard:
    """One card: its place in `CARD_CLASSES`, rank or court's letter in `GLYPHS`, suit (all -1 for a back), corners
    clockwise from an index's top left, px."""

    card: int
    rank: int
    suit: int
    quad: Points
    covered: float  # share hidden by other cards
    seen: float  # share that shows: neither covered by card or hand nor out of the picture


@dataclass(frozen=True, slots=True)
class DrawnScene:
    """The picture and its truth."""

    image: Image
    indices: list[Index]
    cards: list[DrawnCard]


class Bend:
    """A distortion that keeps no line straight: a lens that bows lines, cards that curl.

    It is one smooth field of displacements, px: the bent picture at p shows the flat one at p + field(p).
    """

    def __init__(self, field: NDArray[np.float32]) -> None:
        self.field = field
        self.size = field.shape[0]

    @staticmethod
    def drawn(rng: np.random.Generator, size: int) -> Bend:
        """Draw barrel or pincushion distortion with waves that curl straight edges; small relative to a card."""
        axis = (np.arange(size, dtype=np.float32) - size / 2) / (size / 2)
        x, y = np.meshgrid(axis, axis)
        bow = float(rng.normal(0, 0.05)) * (x * x + y * y) * (size / 2)
        field = np.dstack([x * bow, y * bow])
        waves = rng.normal(0, rng.uniform(0, 0.009) * size, (6, 6, 2)).astype(np.float32)
        return Bend((field + cv2.resize(waves, (size, size), interpolation=cv2.INTER_CUBIC)).astype(np.float32))

    def picture(self, image: Image) -> Image:
        """The bent picture."""
        grid = np.arange(self.size, dtype=np.float32)
        x, y = np.meshgrid(grid, grid)
        x, y = x + self.field[..., 0], y + self.field[..., 1]
        return np.asarray(cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT), np.uint8)

    def points(self, flat: Points) -> Points:
        """Return where points (n, 2) of the flat picture appear in the bent one: p = flat − field(p), by iteration."""
        p = flat.astype(np.float64)
        for _ in range(6):
            i = np.clip(np.round(p).astype(int), 0, self.size - 1)
            p = flat - self.field[i[:, 1], i[:, 0]]
        return p

    def indices(self, found: Sequence[Index]) -> list[Index]:
        """Return the indices with their places in the bent picture."""
        if not found:
            return []
        ends = self.points(np.array([p for i in found for p in (i.centre, i.centre + i.up)]))
        return [replace(i, centre=ends[2 * k], up=ends[2 * k + 1] - ends[2 * k]) for k, i in enumerate(found)]

    def cards(self, laid: Sequence[DrawnCard]) -> list[DrawnCard]:
        """Return the cards with their corners in the bent picture."""
        return [replace(card, quad=self.points(card.quad)) for card in laid]


# The camera's pose and the cards' arrangement in natural heaps, in millimetres


@dataclass(slots=True)
class Pose:
    """A card's centre on the table, mm, and its turn, degrees."""

    x: float
    y: float
    angle: float


def _tilt(rng: np.random.Generator) -> float:
    """Return radians off the vertical: most cameras hang nearly straight, hand-held ones do not."""
    kind = rng.random()
    if kind < 0.45:
        return float(np.radians(abs(rng.normal(0, 4))))
    return float(np.radians(rng.uniform(0, 25) if kind < 0.8 else rng.uniform(15, 50)))


def camera_over(rng: np.random.Generator, card_px: float, size: int) -> Points:
    """Return a homography from the table (mm, origin at the picture's middle) to pixels: a tilted, turned pinhole."""
    focal = size / 2 / np.tan(np.radians(rng.uniform(30, 72)) / 2)
    distance = focal * HEIGHT_MM / card_px
    tilt, azimuth, turn = _tilt(rng), rng.uniform(0, 2 * np.pi), rng.uniform(0, 2 * np.pi)
    axis = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    lean = np.eye(3) + np.sin(tilt) * cross + (1 - np.cos(tilt)) * cross @ cross  # Rodrigues' formula
    spin = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1.0]])
    rotation = lean @ spin
    lens = np.array([[focal, 0, size / 2], [0, focal, size / 2], [0, 0, 1.0]])
    return np.asarray(lens @ np.column_stack([rotation[:, 0], rotation[:, 1], [0, 0, distance]]))


def _pile(rng: np.random.Generator, cx: float, cy: float, base: float) -> list[Pose]:
    n = int(rng.integers(1, 12) if rng.random() < 0.7 else rng.integers(10, _TALLEST + 1))
    sigma, wild = rng.uniform(2, 14), rng.random() < 0.5
    off = np.clip(rng.normal(0, sigma, (n, 2)), -25, 25)
    return [Pose(cx + dx, cy + dy, float(rng.uniform(0, 360) if wild else rng.normal(base, 22))) for dx, dy in off]


def _spread(rng: np.random.Generator, cx: float, cy: float, base: float, kind: str) -> list[Pose]:
    step = rng.uniform(8, 24) if kind == "fan" else rng.uniform(10, 75)
    n = int(rng.integers(1, 10))
    poses = []
    for i in range(n):
        if kind == "fan":
            angle = base + (i - n / 2) * step * 0.55
            pivot = np.radians(angle)
            poses.append(Pose(cx + 90 * np.sin(pivot), cy - 90 * np.cos(pivot), float(angle)))
        else:
            along = np.radians(base)
            d = (i - n / 2) * step
            poses.append(Pose(cx + d * np.cos(along), cy + d * np.sin(along), float(base + rng.normal(0, 5))))
    return poses


def heap(rng: np.random.Generator, extent: float) -> list[Pose]:
    """Return the poses of one heap, lowest first; `extent` is half the picture in mm."""
    kind = str(rng.choice(["pile", "loose", "fan", "row", "single"], p=[0.42, 0.14, 0.16, 0.12, 0.16]))
    cx, cy = rng.uniform(-extent, extent, 2) * 0.75
    base = float(rng.uniform(0, 360))
    if kind == "single":
        return [Pose(cx, cy, base)]
    if kind == "pile":
        return _pile(rng, cx, cy, base)
    if kind == "loose":
        off = rng.uniform(-110, 110, (int(rng.integers(1, 12)), 2))
        return [Pose(cx + dx, cy + dy, float(rng.uniform(0, 360))) for dx, dy in off]
    return _spread(rng, cx, cy, base, kind)


def card_matrix(pose: Pose) -> Points:
    """Return the map from card pixels (FACE_W×FACE_H) to the table in mm."""
    a = np.radians(pose.angle)
    c, s = np.cos(a), np.sin(a)
    kx, ky = WIDTH_MM / FACE_W, HEIGHT_MM / FACE_H
    left = [c * kx, -s * ky, pose.x - c * WIDTH_MM / 2 + s * HEIGHT_MM / 2]
    return np.array([left, [s * kx, c * ky, pose.y - s * WIDTH_MM / 2 - c * HEIGHT_MM / 2], [0, 0, 1]])


# The painter


def project(matrix: Points, points: Points) -> Points:
    return np.asarray(cv2.perspectiveTransform(points.reshape(-1, 1, 2).astype(np.float64), matrix).reshape(-1, 2))


@dataclass(slots=True)
class _Laid:
    row: int | None
    """Row of the library; None for a face that is not in it."""
    matrix: Points
    quad: Points
    roi: tuple[int, int, int, int]
    mask: NDArray[np.bool_]


_CORNERS = np.array([[0, 0], [FACE_W, 0], [FACE_W, FACE_H], [0, FACE_H]], np.float64)
_SHADOW = cv2.GaussianBlur(
    cv2.copyMakeBorder(np.full((72, 52), 255, np.uint8), 16, 16, 16, 16, cv2.BORDER_CONSTANT), (0, 0), 4
)


class Painter:
    """Draws scenes from one library; every scene is a function of its seed.

    `heights` limits the cards' heights in px of the full picture, `worst` the photograph's defects (see `photograph`);
    `odd_tops` is the share of heaps topped by a card without an index.
    """

    def __init__(
        self,
        library: Library,
        heights: tuple[float, float] = (_SMALLEST, _LARGEST),
        worst: float = 1.25,
        odd_tops: float = 0.0,
    ) -> None:
        self.library, self.heights, self.worst, self.odd_tops = library, heights, worst, odd_tops
        self.decks = sorted(library.by_deck)
        art = [d for d in self.decks if d < 10]
        made = [d for d in self.decks if d >= 10]
        # There are few art decks and many generated ones: give art three scenes in ten.
        self.weights = np.array([0.3 / len(art) if d in art else (0.7 if art else 1.0) / len(made) for d in self.decks])
        self.weights /= self.weights.sum()

    def scene(self, seed: tuple[int, ...]) -> DrawnScene:
        """Return the scene of a seed."""
        rng = np.random.default_rng(seed)
        card_px = float(np.exp(rng.uniform(*np.log(self.heights))))
        image, ids = self._background(rng), np.full((SIZE, SIZE), -1, np.int16)
        if rng.random() < 0.12:
            clutter.things(image, ids, rng, card_px, 4)
        camera = camera_over(rng, card_px, SIZE)
        laid = self._laid(rng, image, ids, camera, SIZE / 2 / card_px * HEIGHT_MM)
        if rng.random() < 0.12:
            clutter.things(image, ids, rng, card_px, 2)
        if rng.random() < 0.22:
            clutter.hands(image, ids, rng, card_px, self._background(rng))
        indices, cards = self._indices(ids, laid), self._cards(ids, laid)
        if rng.random() < 0.45:
            bend = Bend.drawn(rng, SIZE)
            image, indices, cards = bend.picture(image), bend.indices(indices), bend.cards(cards)
        return DrawnScene(photograph(image, rng, self.worst), indices, cards)

    def print_alone(self, seed: tuple[int, ...], words: list[str]) -> DrawnScene:
        """Return a picture of boxes printed in the fonts `words`, on a random background, without cards."""
        rng = np.random.default_rng(seed)
        image = self._background(rng)
        backgrounds.put_boxes(image, rng, words)
        return DrawnScene(photograph(image, rng, self.worst), [], [])

    def _laid(
        self, rng: np.random.Generator, image: Image, ids: NDArray[np.int16], camera: Points, extent: float
    ) -> list[_Laid]:
        """Lay heaps of one deck, occasionally of another; `extent` is half the picture in mm."""
        laid: list[_Laid] = []
        deck = self.library.by_deck[int(rng.choice(self.decks, p=self.weights))]
        shadow = rng.uniform(0, 0.5) if rng.random() < 0.8 else 0.0
        light = rng.normal(0, 1.6, 2)
        for _ in range(int(rng.integers(1, 2 + min(5, int((extent / 60) ** 2))))):
            poses = heap(rng, extent)
            for pose in poses:
                if len(laid) < _MOST_CARDS:
                    matrix = camera @ card_matrix(pose)
                    self._lay(image, ids, laid, self._choose(rng, deck), matrix, rng, shadow, light)
            # Draw no random number without odd tops, so that older seeds keep their scenes.
            if self.odd_tops and rng.random() < self.odd_tops:
                top = poses[-1]
                dx, dy = rng.normal(0, 25, 2)
                pose = Pose(top.x + dx, top.y + dy, float(rng.uniform(0, 360)))
                odd = odd_faces.draw(rng, self.library)
                self._lay(image, ids, laid, odd, camera @ card_matrix(pose), rng, shadow, light)
        return laid

    def _background(self, rng: np.random.Generator) -> Image:
        pool = self.library.backgrounds
        picture = np.asarray(pool[int(rng.integers(len(pool)))])
        side = int(rng.integers(200, picture.shape[0]))
        x, y = (int(v) for v in rng.integers(0, picture.shape[0] - side + 1, 2))
        part = cv2.resize(picture[y : y + side, x : x + side], (SIZE, SIZE), interpolation=cv2.INTER_LINEAR)
        if (turn := int(rng.integers(4))) < 3:
            part = cv2.rotate(part, turn)
        return np.asarray(part if rng.random() < 0.7 else cv2.cvtColor(part, cv2.COLOR_BGR2RGB), np.uint8)

    def _choose(self, rng: np.random.Generator, deck: NDArray[np.intp]) -> int:
        if rng.random() < 0.04:  # occasionally a card of another deck
            deck = self.library.by_deck[int(rng.choice(self.decks))]
        backs = deck[self.library.meta["card"][deck] < 0]
        if len(backs) and rng.random() < 0.05:
            return int(backs[0])
        return int(deck[int(rng.integers(len(deck)))])

    def _lay(
        self,
        image: Image,
        ids: NDArray[np.int16],
        laid: list[_Laid],
        face: int | Image,
        matrix: Points,
        rng: np.random.Generator,
        shadow: float,
        light: Points,
    ) -> None:
        """Lay a face: a library row, or a picture of a card without an index."""
        quad = project(matrix, _CORNERS)
        x0, y0 = np.maximum(np.floor(quad.min(0)).astype(int) - 6, 0)
        x1, y1 = np.minimum(np.ceil(quad.max(0)).astype(int) + 6, SIZE)
        if x1 - x0 < 12 or y1 - y0 < 12:
            return
        size = (int(x1 - x0), int(y1 - y0))
        shift = np.array([[1, 0, -x0], [0, 1, -y0], [0, 0, 1]], np.float64)
        area = image[y0:y1, x0:x1]
        if shadow:
            to_face = np.array([[FACE_W / 52, 0, -16 * FACE_W / 52], [0, FACE_H / 72, -16 * FACE_H / 72], [0, 0, 1]])
            cast = shift @ np.array([[1, 0, light[0]], [0, 1, light[1]], [0, 0, 1.0]]) @ matrix @ to_face
            dark = cv2.warpPerspective(_SHADOW, cast, size).astype(np.float32) * np.float32(shadow / 255)
            area[:] = cv2.blendLinear(area, np.zeros_like(area), 1 - dark, dark)
        side = float(np.linalg.norm(quad[3] - quad[0]))
        half = side < 190
        if isinstance(face, int):
            source = self.library.halves[face] if half else self.library.faces[face]
        else:
            source = cv2.resize(face, (FACE_W // 2, FACE_H // 2), interpolation=cv2.INTER_AREA) if half else face
        to_px = shift @ matrix @ (np.diag([2.0, 2.0, 1.0]) if half else np.eye(3))
        warped = cv2.warpPerspective(np.asarray(source), to_px, size, flags=cv2.INTER_LINEAR)
        opaque = cv2.extractChannel(warped, 3)
        alpha = opaque.astype(np.float32) * np.float32(1 / 255)
        shown = cv2.convertScaleAbs(cv2.cvtColor(warped, cv2.COLOR_BGRA2BGR), alpha=float(rng.uniform(0.88, 1.08)))
        if rng.random() < 0.25:  # a lifted or bent card is lit from one side
            ramp = rng.uniform(0.6, 1.15, (2, 2)).astype(np.float32)
            ramp = cv2.resize(ramp, size, interpolation=cv2.INTER_LINEAR)
            shown = cv2.multiply(shown, cv2.merge([ramp, ramp, ramp]), dtype=cv2.CV_8U)
        area[:] = cv2.blendLinear(shown, area, alpha, 1 - alpha)
        mask = opaque > 127
        ids[y0:y1, x0:x1][mask] = len(laid)
        row = face if isinstance(face, int) else None
        laid.append(_Laid(row, matrix, quad, (int(x0), int(y0), int(x1), int(y1)), mask))

    def _cards(self, ids: NDArray[np.int16], laid: list[_Laid]) -> list[DrawnCard]:
        cards = []
        for k, item in enumerate(laid):
            x0, y0, x1, y1 = item.roi
            on = ids[y0:y1, x0:x1][item.mask]
            whole = max(1.0, abs(cv2.contourArea(item.quad.astype(np.float32))))
            covered = float(np.mean((on != k) & (on != HAND))) if on.size else 1.0
            number = -1 if item.row is None else int(self.library.meta["card"][item.row])
            rank, suit = (int(RANK_OF_CARD[number]), int(SUIT_OF_CARD[number])) if number >= 0 else (-1, -1)
            # Pips identify the rank whatever is printed; a court is identified only by its letter.
            told = int(self.library.meta["letter"][item.row]) if rank in _COURTS else rank
            cards.append(DrawnCard(number, told, suit, item.quad, covered, float((on == k).sum() / whole)))
        return cards

    def _indices(self, ids: NDArray[np.int16], laid: list[_Laid]) -> list[Index]:
        found = []
        for k, item in enumerate(laid):
            if item.row is None or self.library.meta["card"][item.row] < 0:
                continue
            meta = self.library.meta[item.row]
            card = int(meta["card"])
            for boxes in _corner_boxes(meta):
                rank_box, suit_box = boxes
                seen = [_share(ids, k, project(item.matrix, _grid(box))) for box in boxes]
                # Box ends are kept upright: `low` is the suit's far edge as seen from the rank's far edge.
                top = project(item.matrix, _middle(rank_box, rank_box[1]))[0]
                low = project(item.matrix, _middle(suit_box, suit_box[3]))[0]
                letter, suit = int(meta["letter"]), int(SUIT_OF_CARD[card])
                found.append(Index(letter, suit, (top + low) / 2, (top - low) / 2, k, seen[0], seen[1]))
        return found


_Box = tuple[float, float, float, float]


def _corner_boxes(meta: np.void) -> list[tuple[_Box, _Box]]:
    """Return rank and suit boxes of each corner; those of the lower corners are upside down (y0 > y1)."""
    rank: _Box = tuple(float(v) for v in meta["rank"])  # type: ignore[assignment]
    suit: _Box = tuple(float(v) for v in meta["suit"])  # type: ignore[assignment]
    out = [(rank, suit), (_turned(rank), _turned(suit))]
    if meta["corners"] == 4:
        out += [(_mirrored(rank), _mirrored(suit)), (_turned(_mirrored(rank)), _turned(_mirrored(suit)))]
    return out


def _turned(box: _Box) -> _Box:
    return 1 - box[0], 1 - box[1], 1 - box[2], 1 - box[3]


def _mirrored(box: _Box) -> _Box:
    return 1 - box[2], box[1], 1 - box[0], box[3]


def _middle(box: _Box, y: float) -> Points:
    return np.array([[(box[0] + box[2]) / 2 * FACE_W, y * FACE_H]])


_UNIT = np.stack(np.meshgrid(np.linspace(0, 1, 5), np.linspace(0, 1, 5)), -1).reshape(-1, 2)


def _grid(box: _Box) -> Points:
    return np.asarray((_UNIT * [box[2] - box[0], box[3] - box[1]] + [box[0], box[1]]) * [FACE_W, FACE_H])


def _share(ids: NDArray[np.int16], k: int, points: Points) -> float:
    """Return the share of the points at which card k is on top."""
    p = np.round(points).astype(int)
    inside = (p >= 0).all(1) & (p < SIZE).all(1)
    p = p[inside]
    return float((ids[p[:, 1], p[:, 0]] == k).sum() / len(points)) if len(p) else 0.0
