"""Pictures of a table top whose truth is known, and the distance of a found table from it."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hardware.simulated.pictures.overhead import Overhead, Top
from models.table_view.lens import Lens
from models.table_view.sheet import board_picture
from models.table_view.table_map import TableFound, TableView
from referee.settings.model import CalibrationSettings
from referee.setup.calibration.simulated_camera import CORNER_CARD_NAMES

Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]

PAPER_SCALE = 5
SHEET_AT = (20.0, -10.0, 14.0)
"""Position of the sheet's middle, mm, and its turn, degrees."""


@lru_cache(maxsize=1)
def bare() -> Top:
    """Return a picture of bare cloth."""
    return Top(seed=3)


def _copy() -> Top:
    top = Top.__new__(Top)
    top.size, top.seed, top.image = bare().size, bare().seed, bare().image.copy()
    return top


def sheet_picture() -> Bytes:
    """Return an A4 page with the board in its middle."""
    paper = np.full((297 * PAPER_SCALE, 210 * PAPER_SCALE), 255, np.uint8)
    board = board_picture(PAPER_SCALE)
    y, x = ((paper.shape[k] - board.shape[k]) // 2 for k in (0, 1))
    paper[y : y + board.shape[0], x : x + board.shape[1]] = board
    return paper


@lru_cache(maxsize=1)
def with_sheet() -> Top:
    """Return a picture with the sheet in the middle."""
    top = _copy()
    top.lay_paper(sheet_picture(), PAPER_SCALE, *SHEET_AT)
    return top


def with_cards(cards: tuple[tuple[str, float, float, float], ...] = CORNER_CARD_NAMES, family: str = "harbour") -> Top:
    """Return a picture with cards: name, middle (mm) and turn (degrees) of each."""
    top = _copy()
    for card, x, y, turn in cards:
        top.lay_card(card, x, y, turn, family)
    return top


def grid_mm(view: TableView, across: float = 240.0, down: float = 170.0) -> Floats:
    """Return (n, 2) mm of the top, within the picture and the playing area."""
    xs, ys = np.meshgrid(np.linspace(-across, across, 9), np.linspace(-down, down, 7))
    return np.stack([xs.ravel(), ys.ravel()], axis=1)


def worst_mm(found: TableFound, camera: Overhead) -> float:
    """Return the largest distance, mm, of the found table from the truth, over the playing area.

    The origin and the turn of its millimetres are arbitrary: they are aligned with the top's first.
    """
    truth = grid_mm(found.view)
    told = found.view.to_mm(camera.to_px(truth))
    a, b = truth - truth.mean(axis=0), told - told.mean(axis=0)
    u, _, v = np.linalg.svd(a.T @ b)
    return float(np.linalg.norm(a @ u @ v - b, axis=1).max())


def worst_px(found: TableFound, camera: Overhead) -> float:
    """Return the same in px: between the found table's and the true places."""
    truth = grid_mm(found.view)
    told = found.view.to_mm(camera.to_px(truth))
    middle, mean = told.mean(axis=0), truth.mean(axis=0)
    u, _, v = np.linalg.svd((truth - mean).T @ (told - middle))
    laid = (truth - mean) @ u @ v + middle
    return float(np.linalg.norm(found.view.to_px(laid) - camera.to_px(truth), axis=1).max())


def true_card_height(camera: Overhead, at: tuple[float, float] = (0.0, 0.0)) -> float:
    """Return the height of a card of 88.9 mm there, px: the mean of all directions."""
    x, y = at
    left, right, up, down = camera.to_px(np.array([[x - 1, y], [x + 1, y], [x, y - 1], [x, y + 1]]))
    across, along = (right - left) / 2, (down - up) / 2
    return 88.9 * math.sqrt(abs(float(across[0] * along[1] - across[1] * along[0])))


def stored_view(stored: CalibrationSettings) -> TableView:
    """Return the table as a settings file holds it."""
    lens: Lens | None = None
    if stored.lens:
        fx, fy, cx, cy, k1, k2, p1, p2, k3 = stored.lens
        lens = Lens(fx, fy, cx, cy, (k1, k2, p1, p2, k3))
    return TableView(np.array(stored.homography), (stored.width, stored.height), lens)
