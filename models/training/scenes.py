"""Whole scenes: cards laid on a table in heaps, fans and rows, hands over them, seen by a camera.

A scene is drawn in pixels of the full picture (`SIZE` square) on a plane measured in millimetres; `Scene` keeps what
the three networks learn: every index with how much of it shows, every card's corners and whether anything lies on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from models.cards import CARDS, HEIGHT_MM, RANKS, SUITS, WIDTH_MM
from models.training.art import FACE_H, FACE_W
from models.training.library import Library
from models.training.photometry import photograph

Image = NDArray[np.uint8]
Points = NDArray[np.float64]
SIZE = 512
HAND = -2


@dataclass(frozen=True, slots=True)
class Index:
    """One printed index: class numbers, centre and up-vector (centre to top edge), px; shares of it that show."""

    rank: int
    suit: int
    centre: Points
    up: Points
    card: int
    rank_seen: float
    suit_seen: float


@dataclass(frozen=True, slots=True)
class Card:
    """One card: class numbers (-1 for a back), corners clockwise from an index's top left, px."""

    rank: int
    suit: int
    quad: Points
    covered: float  # share hidden by other cards
    seen: float  # share that shows: neither covered by card or hand nor out of the picture


@dataclass(frozen=True, slots=True)
class Scene:
    """The picture and its truth."""

    image: Image
    indices: list[Index]
    cards: list[Card]


@dataclass(slots=True)
class _Pose:
    x: float
    y: float
    angle: float


def _project(matrix: Points, points: Points) -> Points:
    return np.asarray(cv2.perspectiveTransform(points.reshape(-1, 1, 2).astype(np.float64), matrix).reshape(-1, 2))


def _camera(rng: np.random.Generator, card_px: float) -> Points:
    """Homography from the table (mm, origin at the picture's centre) to pixels."""
    scale = card_px / HEIGHT_MM
    turn = rng.uniform(0, 2 * np.pi)
    c, s = np.cos(turn) * scale, np.sin(turn) * scale
    flat = np.array([[c, -s, SIZE / 2], [s, c, SIZE / 2], [0, 0, 1]])
    kind = rng.random()
    tilt = 0.012 if kind < 0.45 else (0.05 if kind < 0.75 else (0.12 if kind < 0.85 else 0.05))
    corners = np.array([[0, 0], [SIZE, 0], [SIZE, SIZE], [0, SIZE]], np.float32)
    moved = corners + rng.normal(0, tilt, (4, 2)).astype(np.float32) * SIZE
    if kind > 0.85:  # seen from low down: foreshortened
        moved[:, 1] = SIZE / 2 + (moved[:, 1] - SIZE / 2) * rng.uniform(0.45, 0.9)
    return np.asarray(cv2.getPerspectiveTransform(corners, moved.astype(np.float32)) @ flat)


def _heap(rng: np.random.Generator, extent: float) -> list[_Pose]:
    """Poses of one heap, lowest first; `extent` is half the picture in mm."""
    kind = rng.choice(["pile", "loose", "fan", "row", "single"], p=[0.42, 0.14, 0.16, 0.12, 0.16])
    cx, cy = rng.uniform(-extent, extent, 2) * 0.75
    base = rng.uniform(0, 360)
    n = int(rng.integers(1, 12))
    if kind == "single":
        return [_Pose(cx, cy, base)]
    if kind == "pile":
        sigma, wild = rng.uniform(2, 14), rng.random() < 0.5
        off = np.clip(rng.normal(0, sigma, (n, 2)), -25, 25)
        return [_Pose(cx + dx, cy + dy, float(rng.uniform(0, 360) if wild else rng.normal(base, 22))) for dx, dy in off]
    if kind == "loose":
        off = rng.uniform(-110, 110, (n, 2))
        return [_Pose(cx + dx, cy + dy, float(rng.uniform(0, 360))) for dx, dy in off]
    step = rng.uniform(8, 24) if kind == "fan" else rng.uniform(10, 75)
    poses = []
    for i in range(min(n, 9)):
        if kind == "fan":
            angle = base + (i - n / 2) * step * 0.55
            pivot = np.radians(angle)
            poses.append(_Pose(cx + 90 * np.sin(pivot), cy - 90 * np.cos(pivot), float(angle)))
        else:
            along = np.radians(base)
            d = (i - n / 2) * step
            poses.append(_Pose(cx + d * np.cos(along), cy + d * np.sin(along), float(base + rng.normal(0, 5))))
    return poses


def _card_matrix(pose: _Pose) -> Points:
    """Card pixels (FACE_W×FACE_H) to the table in mm."""
    a = np.radians(pose.angle)
    c, s = np.cos(a), np.sin(a)
    kx, ky = WIDTH_MM / FACE_W, HEIGHT_MM / FACE_H
    return np.array(
        [
            [c * kx, -s * ky, pose.x - c * WIDTH_MM / 2 + s * HEIGHT_MM / 2],
            [s * kx, c * ky, pose.y - s * WIDTH_MM / 2 - c * HEIGHT_MM / 2],
            [0, 0, 1],
        ]
    )


@dataclass(slots=True)
class _Laid:
    row: int
    matrix: Points
    quad: Points
    roi: tuple[int, int, int, int]
    mask: NDArray[np.bool_]


_CORNERS = np.array([[0, 0], [FACE_W, 0], [FACE_W, FACE_H], [0, FACE_H]], np.float64)
_SHADOW = cv2.GaussianBlur(
    cv2.copyMakeBorder(np.full((72, 52), 255, np.uint8), 16, 16, 16, 16, cv2.BORDER_CONSTANT), (0, 0), 4
)


class Painter:
    """Draws scenes from one library; every scene is a function of its seed."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.decks = sorted(library.by_deck)
        art = [d for d in self.decks if d < 10]
        made = [d for d in self.decks if d >= 10]
        # Art decks are few and generated ones many: give art three scenes in ten.
        self.weights = np.array([0.3 / len(art) if d in art else (0.7 if art else 1.0) / len(made) for d in self.decks])
        self.weights /= self.weights.sum()

    def scene(self, seed: tuple[int, ...]) -> Scene:
        """Scene `seed`."""
        rng = np.random.default_rng(seed)
        card_px = float(np.exp(rng.uniform(np.log(80), np.log(380))))
        image, ids = self._background(rng), np.full((SIZE, SIZE), -1, np.int16)
        camera = _camera(rng, card_px)
        extent = SIZE / 2 / card_px * HEIGHT_MM
        laid: list[_Laid] = []
        deck = self.library.by_deck[int(rng.choice(self.decks, p=self.weights))]
        shadow = rng.uniform(0, 0.5) if rng.random() < 0.8 else 0.0
        light = rng.normal(0, 1.6, 2)
        for _ in range(int(rng.integers(1, 2 + min(5, int((extent / 60) ** 2))))):
            for pose in _heap(rng, extent):
                if len(laid) < 40:
                    self._lay(
                        image, ids, laid, self._choose(rng, deck), camera @ _card_matrix(pose), rng, shadow, light
                    )
        if rng.random() < 0.22:
            _hands(image, ids, rng, card_px)
        return Scene(photograph(image, rng), self._indices(ids, laid), self._cards(ids, laid))

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
        if rng.random() < 0.04:  # now and then a stranger among the cards
            deck = self.library.by_deck[int(rng.choice(self.decks))]
        return int(deck[int(rng.integers(len(deck)))])

    def _lay(
        self,
        image: Image,
        ids: NDArray[np.int16],
        laid: list[_Laid],
        row: int,
        matrix: Points,
        rng: np.random.Generator,
        shadow: float,
        light: Points,
    ) -> None:
        quad = _project(matrix, _CORNERS)
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
        source = self.library.halves[row] if half else self.library.faces[row]
        to_px = shift @ matrix @ (np.diag([2.0, 2.0, 1.0]) if half else np.eye(3))
        warped = cv2.warpPerspective(np.asarray(source), to_px, size, flags=cv2.INTER_LINEAR)
        opaque = cv2.extractChannel(warped, 3)
        alpha = opaque.astype(np.float32) * np.float32(1 / 255)
        face = cv2.convertScaleAbs(cv2.cvtColor(warped, cv2.COLOR_BGRA2BGR), alpha=float(rng.uniform(0.88, 1.08)))
        area[:] = cv2.blendLinear(face, area, alpha, 1 - alpha)
        mask = opaque > 127
        ids[y0:y1, x0:x1][mask] = len(laid)
        laid.append(_Laid(row, matrix, quad, (int(x0), int(y0), int(x1), int(y1)), mask))

    def _cards(self, ids: NDArray[np.int16], laid: list[_Laid]) -> list[Card]:
        cards = []
        for k, item in enumerate(laid):
            x0, y0, x1, y1 = item.roi
            on = ids[y0:y1, x0:x1][item.mask]
            whole = max(1.0, abs(cv2.contourArea(item.quad.astype(np.float32))))
            covered = float(np.mean((on != k) & (on != HAND))) if on.size else 1.0
            number = int(self.library.meta["card"][item.row])
            rank, suit = (RANKS.index(CARDS[number][0]), SUITS.index(CARDS[number][1])) if number >= 0 else (-1, -1)
            cards.append(Card(rank, suit, item.quad, covered, float((on == k).sum() / whole)))
        return cards

    def _indices(self, ids: NDArray[np.int16], laid: list[_Laid]) -> list[Index]:
        found = []
        for k, item in enumerate(laid):
            meta = self.library.meta[item.row]
            if meta["card"] < 0:
                continue
            card = CARDS[int(meta["card"])]
            for boxes in _corner_boxes(meta):
                rank_box, suit_box = boxes
                seen = [_share(ids, k, _project(item.matrix, _grid(box))) for box in boxes]
                # Box ends are kept upright: `low` is the suit's far edge seen from the rank's far edge.
                top = _project(item.matrix, _middle(rank_box, rank_box[1]))[0]
                low = _project(item.matrix, _middle(suit_box, suit_box[3]))[0]
                found.append(
                    Index(
                        RANKS.index(card[0]),
                        SUITS.index(card[1]),
                        (top + low) / 2,
                        (top - low) / 2,
                        k,
                        seen[0],
                        seen[1],
                    )
                )
        return found


_Box = tuple[float, float, float, float]


def _corner_boxes(meta: np.void) -> list[tuple[_Box, _Box]]:
    """Rank and suit boxes of each corner; those of the lower corners run upside down (y0 > y1)."""
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
    """Share of the points at which card k is on top."""
    p = np.round(points).astype(int)
    inside = (p >= 0).all(1) & (p < SIZE).all(1)
    p = p[inside]
    return float((ids[p[:, 1], p[:, 0]] == k).sum() / len(points)) if len(p) else 0.0


def _hands(image: Image, ids: NDArray[np.int16], rng: np.random.Generator, card_px: float) -> None:
    """A hand or two reaching in from the edge: sleeve, back of the hand, fingers; shaded like a tube."""
    layer = np.zeros((SIZE, SIZE), np.uint8)
    unit = card_px / HEIGHT_MM
    for _ in range(int(rng.integers(1, 3))):
        angle = rng.uniform(0, 2 * np.pi)
        way = np.array([np.cos(angle), np.sin(angle)])
        across = np.array([-way[1], way[0]])
        palm = SIZE / 2 + rng.normal(0, SIZE / 5, 2)
        wrist = palm + way * 70 * unit
        elbow = wrist + way * 400 * unit
        sleeve = rng.random() < 0.7
        _tube(layer, palm, wrist, 62 * unit, 1)
        _tube(layer, wrist, elbow, 70 * unit, 2 if sleeve else 1)
        for i in range(int(rng.integers(2, 6))):
            spread = (i - 2) * 17
            root = palm + across * spread * unit - way * 20 * unit
            tip = root - way * rng.uniform(25, 75) * unit + across * spread * rng.uniform(-0.2, 0.7) * unit
            _tube(layer, root, tip, rng.uniform(14, 19) * unit, 1)
    tone = np.array([[120, 150, 200], [90, 120, 180], [60, 85, 130], [150, 180, 230], [40, 55, 85]], np.float32)[
        int(rng.integers(5))
    ]
    cloth = rng.uniform(10, 240, 3).astype(np.float32)
    q = SIZE // 4
    for value, colour in ((2, cloth), (1, tone)):
        mask = (layer == value).astype(np.uint8)
        if not mask.any():
            continue
        # Shading is smooth: a quarter of the size is enough for it.
        depth = cv2.distanceTransform(cv2.resize(mask, (q, q), interpolation=cv2.INTER_NEAREST), cv2.DIST_L2, 3)
        shade = 0.6 + 0.4 * np.sqrt(np.clip(depth / (2.2 * unit), 0, 1))
        shade *= cv2.resize(rng.normal(1, 0.07, (40, 40)).astype(np.float32), (q, q))
        small = np.clip(colour * shade[..., None], 0, 255).astype(np.uint8)
        soft = cv2.GaussianBlur(mask.astype(np.float32), (5, 5), 0.8)
        image[:] = cv2.blendLinear(cv2.resize(small, (SIZE, SIZE)), image, soft, 1 - soft)
    ids[layer > 0] = HAND


def _tube(layer: Image, a: Points, b: Points, width: float, value: int) -> None:
    p, q = (tuple(int(v) for v in np.clip(x, -4000, 4000)) for x in (a, b))
    cv2.line(layer, p, q, value, max(2, round(width)))
