"""Time the eye: each network in ONNX Runtime and in OpenCV's dnn, then whole frames; one thread."""

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
from models.eye.networks import WEIGHTS, Network

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


def with_opencv(path: Path, batch: np.ndarray) -> Callable[[], object]:
    """Return the same network in cv2.dnn, if it loads."""
    net = cv2.dnn.readNetFromONNX(str(path))

    def run() -> object:
        net.setInput(batch)
        return net.forward()

    run()
    return run


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tools.measure.eye_bench", description=__doc__)
    parser.add_argument("--image", type=Path, help="a picture to time whole frames on; a blank one if left out")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    for name, shape in _SHAPES.items():
        batch = np.random.default_rng(1).integers(0, 255, shape, dtype=np.uint8)
        net = Network(WEIGHTS / f"{name}.onnx")
        line = f"{name} {shape}: ONNX Runtime {median_ms(lambda net=net, batch=batch: net(batch)):.1f} ms"  # type: ignore[misc]
        try:
            line += f", OpenCV dnn {median_ms(with_opencv(WEIGHTS / f'{name}.onnx', batch)):.1f} ms"
        except cv2.error as error:
            line += f", OpenCV dnn cannot load it ({str(error).splitlines()[0][:60]})"
        print(line)
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
