"""The networks' weights in NCNN, in single precision, on one thread by default.

`make instructions` counts what NCNN costs on a Raspberry Pi. A file of weights is a zip with NCNN's description of the
layers, their numbers, and the names of a classifier's glyphs; `models.training.ncnn_export` writes it.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from models.eye.letters import GLYPHS

WEIGHTS = Path(__file__).parents[1] / "weights"
SUFFIX: Final = ".ncnn"
INPUT: Final = "in0"
OUTPUT: Final = "out0"
FEATURES: Final = "out1"
"""The classifiers' second output, the input of their linear layers."""
_FILES: Final = (*(f"{name}{SUFFIX}" for name in ("finder", "reader", "card")), "calibration.json")
_HALF: Final = (
    "use_bf16_packed", "use_bf16_storage", "use_fp16_arithmetic", "use_fp16_packed", "use_fp16_storage",
)  # fmt: skip
"""Options of NCNN that would make readings depend on the processor."""
_MEMORY: Final = Path("/dev/shm")
"""Where files lie in memory: a full disk must not blind the eye."""


class WeightsMissing(FileNotFoundError):  # noqa: N818 - the state of the files, not a fault of the program
    """A weights file is missing; the message says how to restore it."""


class WeightsBroken(ValueError):  # noqa: N818 - likewise
    """A weights file cannot be read; the message says how to restore it."""


class Parts(NamedTuple):
    """The contents of a file of weights."""

    layers: str
    """NCNN's description of the layers, a line each after two of its own (``*.param``)."""
    numbers: bytes
    """The layers' numbers in that order (``*.bin``)."""
    glyphs: str
    """A classifier's rank glyphs, in the order of its outputs, with spaces between."""


def read_parts(path: Path) -> Parts:
    """Read a file of weights; its checksums find any damage.

    Raises:
        WeightsBroken: it is no such file, or is damaged.
        OSError: it cannot be read.
    """
    packed = path.read_bytes()
    try:
        with zipfile.ZipFile(BytesIO(packed)) as file:
            return Parts(file.read("layers").decode(), file.read("numbers"), file.read("glyphs").decode())
    except (zipfile.BadZipFile, zlib.error, LookupError, ValueError, EOFError, RuntimeError, OSError) as error:
        raise _broken(path, error) from error


def _broken(path: Path, error: object) -> WeightsBroken:
    return WeightsBroken(
        f"{path} holds no readable weights ({error}): restore it with `git checkout -- models/weights` "
        "or make it anew with `make train`"
    )


class Network:
    """One file of weights with one input and one output; a classifier has its features as a second output."""

    def __init__(self, path: Path, threads: int = 1) -> None:
        # A spinning pool would eat the core that the pads and the voice need between frames.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        import ncnn

        self._net, self._image = ncnn.Net(), ncnn.Mat
        self._net.opt.num_threads = threads
        for option in _HALF:
            setattr(self._net.opt, option, False)
        parts = read_parts(path)
        # NCNN's binding reads numbers from files alone.
        with TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
            numbers = Path(folder, "numbers")
            numbers.write_bytes(parts.numbers)
            if self._net.load_param_mem(parts.layers) or self._net.load_model(str(numbers)):
                raise _broken(path, "NCNN does not take them")
        self._path = path
        self.glyphs: tuple[str, ...] = tuple(parts.glyphs.split())
        """A classifier's rank glyphs, in the order of its outputs."""

    def __call__(self, batch: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Run on uint8 B,G,R pictures (N, H, W, 3); return the network's output as float32."""
        return self._run(batch, OUTPUT)[0]

    def with_features(self, batch: NDArray[np.uint8]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the output and the features (N, F), the linear layers' input; raises `WeightsBroken`."""
        if FEATURES not in self._net.output_names():
            raise WeightsBroken(
                f"{self._path} has no features, so it cannot learn a deck: make it anew with `make train`"
            )
        out, features = self._run(batch, OUTPUT, FEATURES)
        return out, features

    def _run(self, batch: NDArray[np.uint8], *names: str) -> list[NDArray[np.float32]]:
        outputs: list[list[NDArray[np.float32]]] = [[] for _ in names]
        for picture in batch:
            extractor = self._net.create_extractor()
            extractor.input(INPUT, self._taken(picture))
            for name, kept in zip(names, outputs, strict=True):
                kept.append(np.array(extractor.extract(name)[1], np.float32))
        return [np.stack(kept) for kept in outputs]

    def _taken(self, picture: NDArray[np.uint8]) -> Any:
        """Return a picture as NCNN takes it: floats, channel by channel."""
        height, width, channels = picture.shape
        if channels == 3:
            kind = self._image.PixelType.PIXEL_BGR
            return self._image.from_pixels(np.ascontiguousarray(picture), kind, width, height)
        # NCNN does not copy the array, and its fast ways crash on memory that is not its own: so copy, while it lives.
        planes = np.ascontiguousarray(picture.transpose(2, 0, 1), np.float32)
        return self._image(planes).clone()


def open_networks(folder: Path, threads: int = 1) -> tuple[Network, Network, Network]:
    """Return finder, reader and card reader from a folder of weights; raises `WeightsMissing`, `WeightsBroken`."""
    for name in _FILES:
        if not (folder / name).is_file():
            raise WeightsMissing(
                f"no {folder / name}: restore it with `git checkout -- models/weights` "
                "or make it anew with `make train`"
            )
    finder, reader, card = (Network(folder / f"{name}{SUFFIX}", threads) for name in ("finder", "reader", "card"))
    for name, network in (("reader", reader), ("card", card)):
        if network.glyphs != GLYPHS:
            raise WeightsBroken(
                f"{folder / name}{SUFFIX} is of another version of the eye: restore it with "
                "`git checkout -- models/weights` or make it anew with `make train`"
            )
    return finder, reader, card


def calibration(folder: Path) -> Mapping[str, Any]:
    """Return the numbers fitted on held-out synthetic scenes; raises `WeightsBroken`."""
    path = folder / "calibration.json"
    try:
        data = json.loads(path.read_text())
        if not isinstance(data, dict):
            raise ValueError("it holds no object")
    except (OSError, ValueError) as error:
        raise WeightsBroken(
            f"{path} cannot be read ({error}): restore it with `git checkout -- models/weights`"
        ) from error
    return data
