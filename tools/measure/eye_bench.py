"""Time the eye: each network, then whole frames; one thread."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np

from models.eye.eye import Eye
from models.eye.geometry import CROP_H, CROP_W, PATCH_H, PATCH_W
from models.eye.networks import SUFFIX, WEIGHTS, Network

_SHAPES = {"finder": (1, 480, 640, 3), "reader": (8, PATCH_H, PATCH_W, 3), "card": (4, CROP_H, CROP_W, 3)}


def median_ms(work: Callable[[], object], repeats: int = 15) -> float:
    """Return the median time of `work` in ms, after two warm-up runs."""
    times = []
    for i in range(repeats + 2):
        start = time.perf_counter()
        work()
        if i > 1:
            times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tools.measure.eye_bench", description=__doc__)
    parser.add_argument("--image", type=Path, help="a picture to time whole frames on; a blank one if left out")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    for name, shape in _SHAPES.items():
        batch = np.random.default_rng(1).integers(0, 255, shape, dtype=np.uint8)
        net = Network(WEIGHTS / f"{name}{SUFFIX}")
        print(f"{name} {shape}: {median_ms(lambda net=net, batch=batch: net(batch)):.1f} ms")  # type: ignore[misc]
    image = cv2.imread(str(args.image)) if args.image else np.full((960, 1280, 3), 120, np.uint8)
    if image is None:
        raise SystemExit(f"{args.image} cannot be read as a picture")
    eye = Eye.load()
    h, w = image.shape[:2]
    middle = (w / 2 - 200, h / 2 - 200, w / 2 + 200, h / 2 + 200)
    print(f"recognise {w}×{h}, {len(eye.recognise(image))} cards: {median_ms(lambda: eye.recognise(image)):.1f} ms")
    print(f"read_at 400×400 px: {median_ms(lambda: eye.read_at(image, middle)):.1f} ms")


if __name__ == "__main__":
    main()
