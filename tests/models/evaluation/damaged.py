"""Synthetic photographs of cards: the simulated table's packs, which no network was trained on, under damage.

Cards lie in heaps, fans and rows on a table seen by a camera that leans by up to 35°: 40 to 1000 px high, partly
covered, out of focus, moved, noisy, badly lit and badly compressed. Every scene is a function of its seed. The visible
part of each card is known, so that every reading can be judged.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.simulated.decks.families import FAMILIES, Family
from hardware.simulated.decks.packs import PrintedDeck, all_cards
from tests.support.odd_faces import ODD_FACES, odd_deck
from tests.support.unusual_packs import with_four_indices

Image = NDArray[np.uint8]
Points = NDArray[np.float64]

HEIGHTS: Final = (40.0, 1000.0)
"""Smallest and greatest height of the cards, px."""
LEAN: Final = 35.0
"""Degrees by which the camera may lean."""
HEAP_HEIGHTS: Final = (80.0, 400.0)
"""Heights of the cards of a `heap`, px."""
PRINTS: Final = (0.6, 1.2, 2.4, 4.8, 9.0)
"""Pixels a millimetre at which packs are printed; a card is taken from the next larger print."""
THUMB: Final = 98
"""The owner of a pixel that is covered by no card."""


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """One card of a scene: its corners in px, clockwise from an index's top left, and its visible part."""

    card: str
    quad: Points
    index: float
    """The largest visible share of one of its indices, 0 to 1."""
    bare: bool
    """Whether it lies uncovered."""


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A picture, its cards from the lowest to the uppermost, the cards' height in px, and the pack's family."""

    image: Image
    cards: list[Shown]
    height: float
    family: str


def scenes(count: int, seed: int) -> Iterator[Scene]:
    """Yield seeded scenes, the four families in turn."""
    for number in range(count):
        yield scene(sorted(FAMILIES)[number % len(FAMILIES)], (seed, number))


def scene(family: str, seed: tuple[int, ...]) -> Scene:
    """Return one scene of a family's cards."""
    rng = np.random.default_rng(seed)
    height = float(np.exp(rng.uniform(*np.log(HEIGHTS))))
    side = int(np.clip(height * rng.uniform(1.4, 5.0), 320, 1280))
    width, rows = (side, int(side * 0.75)) if rng.random() < 0.6 else (side, side)
    table = _Table(rng, family, height, (width, rows))
    names = [str(c) for c in rng.permutation(all_cards())]
    for place, name in zip(_layout(rng, width / height * pack_of(family).size[1]), names, strict=False):
        table.lay(name, place)
    if rng.random() < 0.2:
        _thumb(table.image, table.owner, rng, height)
    return table.photographed(rng)


def heap(family: str, seed: tuple[int, ...], odd: str | None, above: int = 0) -> Scene:
    """Return one heap of two to six cards; one of `ODD_FACES` lies in it, under a number of the others."""
    rng = np.random.default_rng(seed)
    height = float(np.exp(rng.uniform(*np.log(HEAP_HEIGHTS))))
    side = int(height * rng.uniform(2.2, 4.0))
    table = _Table(rng, family, height, (side, int(side * rng.uniform(0.75, 1.0))))
    names = [str(c) for c in rng.permutation(all_cards())[: int(rng.integers(2, 7))]]
    if odd is not None:
        names[len(names) - 1 - min(above, len(names) - 1)] = odd
    for name in names:
        x, y = np.clip(rng.normal(0, 12, 2), -30, 30)
        table.lay(name, _pose(x, y, rng.uniform(0, 360)))
    return table.photographed(rng)


def glared(family: str, seed: tuple[int, ...]) -> Scene:
    """Return one card; a light shines back from one of its indices, so that a part of it is washed out."""
    rng = np.random.default_rng(seed)
    height = float(np.exp(rng.uniform(*np.log(HEAP_HEIGHTS))))
    side = int(height * rng.uniform(1.6, 3.0))
    table = _Table(rng, family, height, (side, side))
    x, y = rng.normal(0, 6, 2)
    table.lay(str(rng.choice(all_cards())), _pose(x, y, rng.uniform(0, 360)))
    table.shine(rng)
    return table.photographed(rng)


def single(family: str, seed: tuple[int, ...]) -> Scene:
    """Return a scene of one card."""
    rng = np.random.default_rng(seed)
    height = float(np.exp(rng.uniform(*np.log(HEAP_HEIGHTS))))
    side = int(height * rng.uniform(1.6, 3.0))
    table = _Table(rng, family, height, (side, side))
    x, y = rng.normal(0, 6, 2)
    table.lay(str(rng.choice(all_cards())), _pose(x, y, rng.uniform(0, 360)))
    return table.photographed(rng)


def deal(family: str, seed: tuple[int, ...]) -> Scene:
    """Return a whole pack in four fans, one below the other."""
    rng = np.random.default_rng(seed)
    height = float(rng.uniform(110, 190))
    table = _Table(rng, family, height, (int(height * 9.5), int(height * 7.5)), lean=0.3)
    names = [str(c) for c in rng.permutation(all_cards())]
    for row in range(4):
        bow, gap = rng.uniform(-1.5, 1.5), rng.uniform(13, 20)
        for k in range(13):
            x, y = (k - 6) * gap + rng.normal(0, 1), (row - 1.5) * 104 + 0.12 * bow * (k - 6) ** 2 + rng.normal(0, 1)
            table.lay(names[13 * row + k], _pose(x, y, bow * (k - 6) + rng.normal(0, 1.5)))
    return table.photographed(rng)


def two_heaps(family: str, seed: tuple[int, ...]) -> Scene:
    """Return two heaps of three cards side by side, a joker without an index on top of the second."""
    rng = np.random.default_rng(seed)
    table = _Table(rng, family, 150.0, (560, 352), lean=0.3)
    names = [str(c) for c in rng.permutation(all_cards())[:5]]
    for k, name in enumerate([*names, "edge"]):
        x, y = rng.normal(0, 10, 2)
        table.lay(name, _pose(x + (-70 if k < 3 else 70), y, rng.uniform(0, 360)))
    return table.photographed(rng)


class _Table:
    """A table under a camera, on which cards are laid one after another."""

    def __init__(
        self, rng: np.random.Generator, family: str, height: float, size: tuple[int, int], lean: float = 1.0
    ) -> None:
        self._family, self._height = family, height
        self._scale = height / pack_of(family).size[1]
        self._camera = _camera(rng, self._scale, size, lean)
        self.image: Image = _ground(rng, size[1], size[0])
        self.owner: NDArray[np.int16] = np.full(size[::-1], -1, np.int16)
        self._laid: list[tuple[str, Points]] = []

    def lay(self, name: str, place: Points) -> None:
        """Lay a card of the family, or one of `ODD_FACES`, at a place in mm."""
        matrix = self._camera @ place
        _lay(self.image, self.owner, self._family, name, matrix, self._scale, len(self._laid))
        self._laid.append((name, matrix))

    def shine(self, rng: np.random.Generator) -> None:
        """Shine a round light on an index of the card laid last."""
        pack = pack_of(self._family)
        column, (rank, suit) = pack.index[2], pack.index[:2]
        at = np.array([column - pack.size[0] / 2, pack.top + (rank + suit) / 2 - pack.size[1] / 2])
        spot = _project(self._laid[-1][1], (at + rng.normal(0, 4, 2))[None])[0]
        radius = rng.uniform(5, 16) * self._scale
        y, x = np.mgrid[: self.image.shape[0], : self.image.shape[1]]
        far = np.hypot((x - spot[0]) / rng.uniform(0.6, 1.6), y - spot[1]) / radius
        light = np.clip(rng.uniform(1.0, 1.6) * np.exp(-(far**2)), 0, 1)[..., None]
        self.image[:] = (self.image * (1 - light) + 255 * light).astype(np.uint8)

    def photographed(self, rng: np.random.Generator) -> Scene:
        """Return the picture, and the visible part of each card."""
        pack = pack_of(self._family)
        shown = [_shown(k, name, matrix, pack, self.owner) for k, (name, matrix) in enumerate(self._laid)]
        return Scene(_photographed(self.image, rng, self._height), shown, self._height, self._family)


@cache
def pack_of(family: str) -> Family:
    """Return the pack of a family; after a name with ``+`` one with indices in all four corners."""
    return with_four_indices(FAMILIES[family[:-1]]) if family.endswith("+") else FAMILIES[family]


@cache
def _picture(family: str, scale: float, name: str) -> Image:
    if name in ODD_FACES:
        return odd_deck(pack_of(family), name, scale).picture("back")
    return PrintedDeck(pack_of(family), scale).picture(name)


def _camera(rng: np.random.Generator, scale: float, size: tuple[int, int], lean: float = 1.0) -> Points:
    """Return the map from mm on the table, (0, 0) in the picture's middle, to px; ``lean`` is a share of `LEAN`."""
    lean, way = math.radians(rng.uniform(0, LEAN * lean)), rng.uniform(0, 2 * math.pi)
    far = 1.3 * max(size)
    turn = np.array([[math.cos(way), -math.sin(way), 0], [math.sin(way), math.cos(way), 0], [0, 0, 1]])
    tilt = np.array([[1, 0, 0], [0, math.cos(lean), 0], [0, math.sin(lean) * scale / far, 1]])
    to_px = np.array([[scale, 0, size[0] / 2], [0, scale, size[1] / 2], [0, 0, 1]])
    return np.asarray(to_px @ turn @ tilt @ turn.T)


def _layout(rng: np.random.Generator, extent: float) -> Iterator[Points]:
    """Yield the cards' places: 3 x 3 from a card's mm (0, 0 in its middle) to the table's; it shows ``extent`` mm."""
    kind = rng.random()
    if kind < 0.4:
        for _ in range(int(rng.integers(1, 7))):
            x, y = np.clip(rng.normal(0, 9, 2), -25, 25)
            yield _pose(x, y, rng.uniform(0, 360))
    elif kind < 0.6:
        first, step = rng.uniform(0, 360), rng.uniform(9, 24)
        for k in range(int(rng.integers(2, 7))):
            angle = math.radians(first + k * step)
            yield _pose(38 * math.sin(angle), -38 * math.cos(angle), math.degrees(angle))
    else:
        turn, gap = rng.uniform(0, 360), rng.uniform(0.25, 1.4) * 62
        reach = max(1, int(extent * 0.42 / max(gap, 30)))
        for row in range(-min(reach // 2, 1), min(reach // 2, 1) + 1):
            for column in range(-min(reach, 2), min(reach, 2) + 1):
                x, y = column * gap + rng.normal(0, 3), row * 96 + rng.normal(0, 3)
                a = math.radians(turn)
                at = (x * math.cos(a) - y * math.sin(a), x * math.sin(a) + y * math.cos(a))
                yield _pose(*at, turn + rng.normal(0, 6))


def _pose(x: float, y: float, turn: float) -> Points:
    a = math.radians(turn)
    return np.array([[math.cos(a), -math.sin(a), x], [math.sin(a), math.cos(a), y], [0, 0, 1]])


def _ground(rng: np.random.Generator, rows: int, columns: int) -> Image:
    """Draw cloth, wood or clutter of two tones."""
    one, other = rng.uniform(15, 215, (2, 3))
    grain = rng.normal(0, 1, (rows // int(rng.integers(2, 24)) + 2, columns // int(rng.integers(2, 90)) + 2))
    share = cv2.resize(grain.astype(np.float32), (columns, rows), interpolation=cv2.INTER_CUBIC)
    share = 1 / (1 + np.exp(-share * rng.uniform(0.3, 3.0)))
    mixed = one + (other - one) * share[..., None] * rng.uniform(0.1, 1)
    return np.asarray(np.clip(mixed, 0, 255), np.uint8)


def _lay(image: Image, owner: NDArray[np.int16], family: str, name: str, matrix: Points, scale: float, k: int) -> None:
    size = pack_of(family).size
    quad = _project(matrix, _corners(size))
    x0, y0 = np.maximum(np.floor(quad.min(0)).astype(int) - 2, 0)
    x1, y1 = np.minimum(np.ceil(quad.max(0)).astype(int) + 3, image.shape[1::-1])
    if x1 - x0 < 2 or y1 - y0 < 2:
        return
    printed = next((s for s in PRINTS if s >= scale), PRINTS[-1])
    picture = _picture(family, printed, name)
    to_mm = np.array([[1 / printed, 0, -size[0] / 2], [0, 1 / printed, -size[1] / 2], [0, 0, 1]])
    move = np.array([[1, 0, -x0], [0, 1, -y0], [0, 0, 1]], np.float64)
    laid = cv2.warpPerspective(picture, move @ matrix @ to_mm, (int(x1 - x0), int(y1 - y0)), flags=cv2.INTER_LINEAR)
    part = image[y0:y1, x0:x1]
    part[:] = np.clip(part * (1 - laid[..., 3:].astype(np.float32) / 255) + laid[..., :3], 0, 255).astype(np.uint8)
    owner[y0:y1, x0:x1][laid[..., 3] > 127] = k


def _thumb(image: Image, owner: NDArray[np.int16], rng: np.random.Generator, height: float) -> None:
    """Draw a skin-coloured shape over the picture's middle: a finger, or a sleeve."""
    h, w = image.shape[:2]
    a = rng.uniform(0, 2 * math.pi)
    tip = np.array([w / 2, h / 2]) + rng.normal(0, 0.35 * height, 2)
    end = tip + 2 * max(h, w) * np.array([math.cos(a), math.sin(a)])
    width = max(2, int(height * rng.uniform(0.1, 0.45)))
    mask = np.zeros((h, w), np.uint8)
    cv2.line(mask, tuple(tip.astype(int).tolist()), tuple(end.astype(int).tolist()), 255, width, cv2.LINE_AA)
    colour = rng.uniform((60, 80, 110), (190, 210, 240))
    share = mask[..., None].astype(np.float32) / 255
    image[:] = (image * (1 - share) + colour * share).astype(np.uint8)
    owner[mask > 127] = THUMB


def _shown(k: int, name: str, matrix: Points, pack: Family, owner: NDArray[np.int16]) -> Shown:
    quad = _project(matrix, _corners(pack.size))
    rank, suit, column = pack.index
    x, y = np.meshgrid(np.linspace(-3.4, 3.4, 6) + column, np.linspace(0, rank + suit + 1.2, 12) + pack.top)
    spot = np.stack([x.ravel() - pack.size[0] / 2, y.ravel() - pack.size[1] / 2], 1)
    index = max(_share(k, _project(matrix, s), owner) for s in (spot, -spot))
    grid = np.stack(np.meshgrid(np.linspace(-0.47, 0.47, 24), np.linspace(-0.47, 0.47, 32)), -1).reshape(-1, 2)
    p = np.round(_project(matrix, grid * pack.size)).astype(int)
    p = p[(p >= 0).all(1) & (p < owner.shape[::-1]).all(1)]
    over = owner[p[:, 1], p[:, 0]] if len(p) else np.zeros(0)
    return Shown(name, quad, index, bool(len(p)) and not bool(((over != k) & (over != THUMB)).any()))


def _share(k: int, points: Points, owner: NDArray[np.int16]) -> float:
    p = np.round(points).astype(int)
    p = p[(p >= 0).all(1) & (p < owner.shape[::-1]).all(1)]
    return float((owner[p[:, 1], p[:, 0]] == k).sum() / len(points))


def _corners(size: tuple[float, float]) -> Points:
    w, h = size[0] / 2, size[1] / 2
    return np.array([[-w, -h], [w, -h], [w, h], [-w, h]], np.float64)


def _project(matrix: Points, points: Points) -> Points:
    return np.asarray(cv2.perspectiveTransform(points.reshape(-1, 1, 2), matrix).reshape(-1, 2))


def _photographed(image: Image, rng: np.random.Generator, height: float) -> Image:
    """Apply light, focus, motion, noise and compression; softness grows with the cards, as a nearer card's does."""
    h, w = image.shape[:2]
    light = cv2.resize(rng.uniform(0.55, 1.1, (2, 3)).astype(np.float32), (w, h), interpolation=cv2.INTER_CUBIC)
    cast = rng.uniform(0.8, 1.2, 3) * rng.uniform(0.5, 1.35)
    lit = image.astype(np.float32) * light[..., None] * cast.astype(np.float32)
    lit = np.clip(lit, 0, 255) ** np.float32(g := rng.uniform(0.8, 1.3)) * np.float32(255 ** (1 - g))
    soft = height / 150 * abs(rng.normal(0, 0.7)) + 0.3
    lit = cv2.GaussianBlur(lit, (0, 0), min(soft, height / 45))
    if rng.random() < 0.3:
        length = max(2, int(height * rng.uniform(0.008, 0.04)))
        kernel = np.zeros((length, length), np.float32)
        end = np.array([math.cos(a := rng.uniform(0, math.pi)), math.sin(a)]) * length / 2
        middle = np.array([length / 2, length / 2])
        ends = [tuple((middle + s * end).astype(int).tolist()) for s in (-1, 1)]
        cv2.line(kernel, ends[0], ends[1], 1.0, 1)
        lit = cv2.filter2D(lit, -1, kernel / max(float(kernel.sum()), 1.0))
    lit += rng.standard_normal((h, w, 3), np.float32) * np.float32(abs(rng.normal(0, 6)))
    shot = np.clip(lit, 0, 255).astype(np.uint8)
    ok, data = cv2.imencode(".jpg", shot, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(30, 97))])
    assert ok
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)
