"""The score of the surface network on held-out tables: a share for each surface.

``python -m tools.surfaces.surface_score [--shards FOLDER]`` counts the pixels of each shard and divides, for every
surface, the intersection of prediction and truth by their union.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.eye.networks import WEIGHTS, Network
from models.watch.surfaces import FILE, Surface


def confusion(
    network: Callable[[NDArray[np.uint8]], NDArray[np.float32]], tables: NDArray[np.uint8], kinds: NDArray[np.uint8]
) -> NDArray[np.int64]:
    """Return the confusion matrix of pixels: true surfaces in rows, predicted ones in columns."""
    counts = np.zeros((len(Surface), len(Surface)), np.int64)
    for table, true in zip(tables, kinds, strict=True):
        told = network(table[None])[0].argmax(0)
        pairs = (true[::2, ::2] * len(Surface) + told).ravel()
        counts += np.bincount(pairs, minlength=counts.size).reshape(counts.shape)
    return counts


def shares(counts: NDArray[np.int64]) -> list[float]:
    """Return intersection over union of each surface."""
    union = counts.sum(0) + counts.sum(1) - np.diag(counts)
    return [float(v) for v in np.diag(counts) / np.maximum(union, 1)]


def main() -> None:
    """Print the table, in Markdown."""
    parser = argparse.ArgumentParser(prog="python -m tools.surfaces.surface_score", description=__doc__)
    parser.add_argument("--shards", type=Path, default=Path("out/eye/surfaces/held-out"))
    parser.add_argument("--weights", type=Path, default=WEIGHTS)
    args = parser.parse_args()
    network = Network(args.weights / FILE)
    print("| shard | pictures | " + " | ".join(kind.name.lower() for kind in Surface) + " |")
    print("| --- " * (2 + len(Surface)) + "|")
    for path in sorted(args.shards.glob("*.npz")):
        data = np.load(path)
        told = shares(confusion(network, data["tables"], data["surfaces"]))
        print(f"| {path.stem} | {len(data['tables'])} | " + " | ".join(f"{100 * score:.1f}" for score in told) + " |")


if __name__ == "__main__":
    main()
