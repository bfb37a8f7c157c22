"""The score of the surface network, and its training data from path-traced stills."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from models.watch.surfaces import ROWS, Surface
from tools.surfaces.surface_score import confusion, shares
from tools.surfaces.table_scenes import COLUMNS, still_sample


def test_a_share_is_what_was_told_rightly_of_all_that_was_told_or_true() -> None:
    true = np.zeros((1, 4, 4), np.uint8)
    true[0, :, 2:] = Surface.ARM
    told = np.array([[Surface.TABLE, Surface.ARM], [Surface.ARM, Surface.ARM]])
    scores = np.stack([told == kind for kind in Surface]).astype(np.float32)
    counts = confusion(lambda batch: scores[None], np.zeros((1, 4, 4, 6), np.uint8), true)
    assert counts.sum() == 4
    table, arm, *others = shares(counts)
    assert (table, arm) == (1 / 2, 2 / 3)
    assert not any(others)


def test_a_still_is_learned_from_with_its_bare_table_beside_it(tmp_path: Path) -> None:
    stem, kinds = tmp_path / "00001", np.zeros((240, 320), np.uint8)
    kinds[60:180, 80:240] = Surface.FACE
    picture = np.full((240, 320, 3), 90, np.uint8)
    picture[kinds > 0] = 240
    bare = np.full((240, 320, 3), 90, np.uint8)
    for part, image in (
        ("", picture),
        ("_mask", kinds),
        ("_bare", bare),
        ("_light", np.full((240, 320), 255, np.uint8)),
    ):
        cv2.imwrite(f"{stem}{part}.png", image)
    now, before, told = still_sample(stem, np.random.default_rng(1))
    assert now.shape == before.shape == (ROWS, COLUMNS, 3)
    assert set(np.unique(told)) == {Surface.TABLE, Surface.FACE}
    assert now[told == Surface.FACE].mean() > before[told == Surface.FACE].mean() + 50
