"""Patches from the finder's own output: its false alarms as negatives, its true indices as positives.

One picture in nine shows printed boxes and no card, since print on boxes and labels resembles an index most.

Run once after a first finder is exported; the reader's training uses the folder `mined` beside `train`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from models.eye import geometry
from models.eye.finder import Finder, Spot
from models.eye.networks import Network
from models.training import fonts
from models.training.library import Library
from models.training.samples import seen, write_shards
from models.training.scenes import DrawnScene, Painter

Row = tuple[float, ...]
_NOTHING: Row = (-1.0, -1.0, 0.0, 0.0, 0.0)
#: Number of scenes with cards for each picture of printed boxes.
_SCENES_A_PRINT = 8


def judged(scene: DrawnScene, spot: Spot) -> Row | None:
    """Return the target row of a spot (as in samples.patches, without the height); None if neither hit nor miss."""
    best: tuple[float, Row] | None = None
    for index in scene.indices:
        height = 2 * float(np.linalg.norm(index.up))
        off = float(np.linalg.norm(index.centre - spot.centre)) / height
        if off > 0.6 or max(index.rank_seen, index.suit_seen) < 0.05:
            continue
        turn = float(index.up @ spot.up) / max(1e-6, float(np.linalg.norm(index.up) * np.linalg.norm(spot.up)))
        size = spot.height / height
        if off < 0.2 and turn > 0.9 and 0.7 < size < 1.4:
            share = seen(index)
            real = 1.0 if share > 0.6 else -1.0
            row: Row = (index.rank, index.suit, real, index.rank_seen, index.suit_seen)
        elif turn < 0.3 or off > 0.45:
            row = _NOTHING
        else:
            return None
        if best is None or off < best[0]:
            best = (off, row)
    return best[1] if best else _NOTHING


def mine(
    painter: Painter, finder: Finder, words: list[str], seed: int, number: int, scenes: int
) -> dict[str, NDArray[Any]]:
    """Return a shard of patches from `scenes` scenes, and from pictures of boxes printed in the fonts `words`."""
    rng = np.random.default_rng((seed, number, 9))
    patches: list[NDArray[np.uint8]] = []
    rows: list[Row] = []
    prints = scenes // _SCENES_A_PRINT
    for i in range(scenes + prints):
        scene = painter.scene((seed, number, i)) if i < scenes else painter.print_alone((seed, number, i), words)
        levels = geometry.pyramid(scene.image, 4)
        for spot in finder.find(scene.image)[:30]:
            row = judged(scene, spot)
            if row is None or (row[2] == 1.0 and rng.random() < 0.4):
                continue
            patches.append(geometry.cut_patch(levels, spot.centre, spot.up))
            rows.append((*row, spot.height))
    return {"patches": np.stack(patches), "patch_values": np.array(rows, np.float32)}


def main() -> None:
    """Write mined shards (command line)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/eye"))
    parser.add_argument("--weights", type=Path, default=Path("models/weights"))
    parser.add_argument("--seed", type=int, default=501)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--count", type=int, default=40, help="shards in all")
    parser.add_argument("--scenes", type=int, default=256, help="scenes with cards a shard")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    painter = Painter(Library.open(args.out / "library", 0))
    finder = Finder(Network(args.weights / "finder.ncnn"))
    words = [font.path for font in fonts.installed() if not font.held_out]
    numbers = range(args.first, args.count, args.step)
    write_shards(
        args.out / "mined", numbers, lambda number: mine(painter, finder, words, args.seed, number, args.scenes)
    )


if __name__ == "__main__":
    main()
