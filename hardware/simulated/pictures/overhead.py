"""A simulated camera over a simulated table top with known parameters: tilt, lens, focus, light and noise.

The table top (`Top`) is a flat picture in millimetres, on which paper and cards lie and hands reach; the camera
(`Overhead`) views it through a lens. `hardware.simulated.pictures.scene` draws games; this module serves the
calibration before a game.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.ports import Frame
from hardware.simulated.decks.packs import PrintedDeck
from hardware.simulated.pictures.ambient import cloth, light
from hardware.simulated.pictures.canvas import Bytes
from hardware.simulated.pictures.hands import draw_hand, look
from hardware.simulated.pictures.layers import moved_by, stamp
from referee.units import SECOND

Floats = NDArray[np.float64]

_SCALE: Final = 3.0
"""Pixels per millimetre of the table top's picture."""
_GAMMA: Final = 2.2
_NOMINAL: Final = 4000 * 4.0
"""Exposure (microseconds) times gain at which a `light` of 1 shows the table as drawn."""


class Top:
    """A table top, ``width`` x ``height`` mm; places on it are mm from its middle, x right and y down."""

    def __init__(self, width: float = 820.0, height: float = 640.0, *, seed: int = 0) -> None:
        self.size = (width, height)
        columns, rows = round(width * _SCALE), round(height * _SCALE)
        bare = cloth(columns, rows, _SCALE, seed) * light(columns, rows, seed)[..., None]
        self.image: Bytes = np.clip(bare, 0, 255).astype(np.uint8)
        self.seed = seed

    def _at(self, x: float, y: float, turn: float) -> Floats:
        c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
        # Half a pixel, since whole numbers are pixel centres.
        u, v = (x + self.size[0] / 2) * _SCALE - 0.5, (y + self.size[1] / 2) * _SCALE - 0.5
        return np.array([[c, -s, u], [s, c, v], [0, 0, 1.0]])

    def lay_paper(self, picture: Bytes, scale: float, x: float, y: float, turn: float = 0.0) -> None:
        """Lay a printed sheet (H x W, or H x W x 3, at ``scale`` px/mm) with its middle at (x, y)."""
        colour = cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR) if picture.ndim == 2 else picture
        size = (round(colour.shape[1] / scale * _SCALE), round(colour.shape[0] / scale * _SCALE))
        small = cv2.resize(colour, size, interpolation=cv2.INTER_AREA)
        # Paper is less white than a screen, and ink less black.
        toned = np.rint(18 + small.astype(np.float32) * (228 - 18) / 255).astype(np.uint8)
        self._lay(np.dstack([toned, np.full(toned.shape[:2], 255, np.uint8)]), x, y, turn)

    def lay_card(self, card: str, x: float, y: float, turn: float = 0.0, family: str = "harbour") -> None:
        """Lay a card with its middle at (x, y)."""
        picture = PrintedDeck(family, _SCALE, self.seed).picture(card)
        toned = cv2.convertScaleAbs(picture, alpha=0.93)
        toned[..., 3] = picture[..., 3]
        self._lay(toned, x, y, turn)

    def _lay(self, picture: Bytes, x: float, y: float, turn: float) -> None:
        rows, columns = picture.shape[:2]
        stamp(self.image, picture, self._at(x, y, turn) @ moved_by((1 - columns) / 2, (1 - rows) / 2))

    def with_hand(self, bearing: float, seat: int, far: float = 0.0) -> Bytes:
        """Return the table top with a hand reaching from a bearing to ``far`` mm short of its middle."""
        hand = draw_hand("flat", look(self.seed, seat), _SCALE)
        way = (math.cos(math.radians(bearing)), -math.sin(math.radians(bearing)))
        matrix = self._at(way[0] * far, way[1] * far, math.degrees(math.atan2(-way[0], way[1])))
        matrix = matrix @ moved_by(-hand.tip[0], -hand.tip[1])
        out = self.image.copy()
        stamp(out, hand.shadow, moved_by(7 * _SCALE, 9 * _SCALE) @ matrix)
        stamp(out, hand.image, matrix)
        return out


@dataclass(frozen=True, slots=True)
class Overhead:
    """A camera that views a `Top`.

    The camera views the point ``aim`` (mm) from ``height`` mm along its axis, leaning by ``tilt`` degrees towards a
    bearing (degrees counter-clockwise from the picture's right): that side of the table is nearer to it.
    """

    size: tuple[int, int] = (960, 720)
    focal: float = 1.1
    """Focal length as a share of the picture's width."""
    height: float = 620.0
    tilt: float = 0.0
    towards: float = 270.0
    turn: float = 0.0
    """Degrees by which the picture is turned about its middle."""
    aim: tuple[float, float] = (0.0, 0.0)
    k1: float = 0.0
    k2: float = 0.0
    blur: float = 0.55
    """Softness of the lens, px (standard deviation)."""
    noise: float = 2.0
    """Grey levels at a gain of 4; proportional to the gain's square root."""
    light: float = 1.0
    exposure_us: int = 4000
    gain: float = 4.0
    mirrored: bool = False
    seed: int = 0

    @property
    def matrix(self) -> Floats:
        """3 x 3, from directions to px."""
        focal = self.focal * self.size[0]
        return np.array([[focal, 0, (self.size[0] - 1) / 2], [0, focal, (self.size[1] - 1) / 2], [0, 0, 1.0]])

    @property
    def homography(self) -> Floats:
        """3 x 3, from mm of the table top to px, without lens distortion and mirroring."""
        away = math.radians(self.towards)
        lean = math.radians(self.tilt)
        # A turn about the axis across the bearing brings its side of the table nearer.
        axis = np.array([-math.sin(away), -math.cos(away), 0.0])
        tilted, _ = cv2.Rodrigues(axis * -lean)
        turned, _ = cv2.Rodrigues(np.array([0.0, 0.0, math.radians(self.turn)]))
        pose = tilted @ turned
        shift = np.array([0, 0, self.height]) - pose @ np.array([*self.aim, 0.0])
        return np.asarray(self.matrix @ np.c_[pose[:, :2], shift], np.float64)

    def to_px(self, mm: Floats) -> Floats:
        """Map (n, 2) mm of the table top to (n, 2) px of the picture."""
        out = np.c_[mm, np.ones(len(mm))] @ self.homography.T
        flat = (out[:, :2] / out[:, 2:] - self.matrix[:2, 2]) / self.matrix[0, 0]
        square = (flat**2).sum(axis=1, keepdims=True)
        bent = flat * (1 + self.k1 * square + self.k2 * square**2) * self.matrix[0, 0] + self.matrix[:2, 2]
        if self.mirrored:
            bent[:, 0] = self.size[0] - 1 - bent[:, 0]
        return np.asarray(bent, np.float64)

    def _seen(self, top: Top, image: Bytes, fine: int) -> Bytes:
        """Return the picture projected by the lens, with ``fine`` pixels per camera pixel."""
        if self.k1 or self.k2:
            # For each (finer) pixel of the picture, its place in the table top's picture.
            columns, rows = self.size[0] * fine, self.size[1] * fine
            xs, ys = np.meshgrid((np.arange(columns) + 0.5) / fine - 0.5, (np.arange(rows) + 0.5) / fine - 0.5)
            points = np.stack([xs.ravel(), ys.ravel()], axis=1).reshape(-1, 1, 2)
            bend = np.array([self.k1, self.k2, 0, 0, 0])
            points = cv2.undistortPoints(points, self.matrix, bend, P=self.matrix).reshape(-1, 2)
            flat = np.c_[points, np.ones(len(points))] @ np.linalg.inv(self.homography).T
            px = (flat[:, :2] / flat[:, 2:] + np.array(top.size) / 2) * _SCALE - 0.5
            xs, ys = (px[:, axis].reshape(rows, columns).astype(np.float32) for axis in (0, 1))
            return np.asarray(cv2.remap(image, xs, ys, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT), np.uint8)
        half = 0.5 / fine - 0.5
        coarse = np.array([[1 / fine, 0, half], [0, 1 / fine, half], [0, 0, 1.0]])
        width, height = top.size
        onto = np.array([[_SCALE, 0, width / 2 * _SCALE - 0.5], [0, _SCALE, height / 2 * _SCALE - 0.5], [0, 0, 1.0]])
        seen = cv2.warpPerspective(
            image, onto @ np.linalg.inv(self.homography) @ coarse, (self.size[0] * fine, self.size[1] * fine),
            flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REFLECT,
        )  # fmt: skip
        return np.asarray(seen, np.uint8)

    def exposed(self, top: Top, image: Bytes | None = None) -> NDArray[np.float32]:
        """Return the light on the sensor, as unclipped grey levels; ``image`` replaces the top's own."""
        seen = self._seen(top, top.image if image is None else image, 2)
        small = cv2.resize(seen, self.size, interpolation=cv2.INTER_AREA).astype(np.float32)
        if self.mirrored:
            small = np.ascontiguousarray(small[:, ::-1])
        if self.blur > 0:
            small = cv2.GaussianBlur(small, (0, 0), self.blur)
        share = self.light * self.exposure_us * self.gain / _NOMINAL
        return np.asarray(small * share ** (1 / _GAMMA), np.float32)

    def developed(self, exposed: NDArray[np.float32], index: int = 0) -> Bytes:
        """Return the picture with one frame's noise, selected by ``index``."""
        chance = np.random.default_rng((self.seed, 61, index))
        sigma = self.noise * math.sqrt(self.gain / 4.0)
        grain = chance.standard_normal(exposed.shape, dtype=np.float32) * sigma
        return np.asarray(np.clip(np.rint(exposed + grain), 0, 255), np.uint8)

    def picture(self, top: Top, index: int = 0, image: Bytes | None = None) -> Bytes:
        """Return one frame: H x W x 3 uint8, blue first."""
        return self.developed(self.exposed(top, image), index)


class OverheadFrames:
    """A stream of pictures of one top; implements `hardware.ports.Camera`.

    First come ``still`` frames of the table; then, for each of ``reaches`` (bearings in degrees, one seat after
    another), a hand is held over its middle for a while.
    """

    HELD, BETWEEN = 14, 8

    def __init__(
        self, camera: Overhead, top: Top, *, still: int = 30, reaches: Sequence[float] = (), fps: float = 15.0
    ) -> None:
        self._camera, self._top = camera, top
        self._still, self._reaches, self._fps = still, tuple(reaches), fps
        self._index = 0
        self._closed = False

    def frames(self) -> Iterator[Frame]:
        """Yield the frames, in order."""
        bare = self._camera.exposed(self._top)
        yield from self._shown(bare, self._still)
        for seat, bearing in enumerate(self._reaches, start=1):
            for far in (240.0, 120.0):
                yield from self._shown(self._camera.exposed(self._top, self._top.with_hand(bearing, seat, far)), 1)
            held = self._camera.exposed(self._top, self._top.with_hand(bearing, seat))
            yield from self._shown(held, self.HELD)
            yield from self._shown(bare, self.BETWEEN)

    def _shown(self, exposed: NDArray[np.float32], count: int) -> Iterator[Frame]:
        for _ in range(count):
            if self._closed:
                return
            t = round(self._index * SECOND / self._fps)
            image = self._camera.developed(exposed, self._index)
            yield Frame(image, t, self._camera.exposure_us * 1000, self._index)
            self._index += 1

    def close(self) -> None:
        """Stop `frames`."""
        self._closed = True
