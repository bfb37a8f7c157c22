"""The networks' weights in ONNX Runtime, on one thread by default.

ONNX Runtime was three times as fast as OpenCV's dnn on the eye's three networks (`python -m tools.measure.eye_bench`,
figures in the model card), so OpenCV's is not used. NCNN gives the same with fewer than half the instructions on arm64
(`make ncnn-trial`); it is not used yet, since no Pi has timed it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.eye.letters import GLYPHS

WEIGHTS = Path(__file__).parents[1] / "weights"
_FILES = ("finder.onnx", "reader.onnx", "card.onnx", "calibration.json")
#: The classifiers' second output, the input of their linear layers.
FEATURES = "features"
GLYPHS_KEY = "glyphs"
"""Metadata key in a classifier's file: the names of its first outputs."""


class WeightsMissing(FileNotFoundError):  # noqa: N818 - the state of the files, not a fault of the program
    """A weights file is missing; the message says how to restore it."""


class WeightsBroken(ValueError):  # noqa: N818 - likewise
    """A weights file cannot be read; the message says how to restore it."""


class Network:
    """One ONNX file with one input and one output; a classifier has its features as a second output."""

    def __init__(self, path: Path, threads: int = 1) -> None:
        # Switch telemetry off; while loading it would also write to a home directory, which a service does not have.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import onnxruntime

        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # A spinning pool would eat the core that the pads and the voice need between frames.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(path.read_bytes(), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's own errors share no public base class but RuntimeError and Exception
            raise WeightsBroken(
                f"{path} is no readable ONNX model ({error}): restore it with `git checkout -- models/weights` "
                "or make it anew with `make train`"
            ) from error
        self._path = path
        self._input: str = self._session.get_inputs()[0].name
        self._outputs: list[str] = [output.name for output in self._session.get_outputs()]
        told = self._session.get_modelmeta().custom_metadata_map.get(GLYPHS_KEY, "")
        self.glyphs: tuple[str, ...] = tuple(told.split())
        """A classifier's rank glyphs, in the order of its outputs."""

    def __call__(self, batch: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Run on uint8 B,G,R pictures (N, H, W, 3); return the network's output as float32."""
        return np.asarray(self._session.run(self._outputs[:1], {self._input: batch})[0], np.float32)

    def with_features(self, batch: NDArray[np.uint8]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the output and the features (N, F), the linear layers' input; raises `WeightsBroken`."""
        if FEATURES not in self._outputs:
            raise WeightsBroken(
                f"{self._path} has no features, so it cannot learn a deck: make it anew with `make train`"
            )
        out, features = self._session.run([self._outputs[0], FEATURES], {self._input: batch})
        return np.asarray(out, np.float32), np.asarray(features, np.float32)


def open_networks(folder: Path, threads: int = 1) -> tuple[Network, Network, Network]:
    """Return finder, reader and card reader from a folder of weights; raises `WeightsMissing`, `WeightsBroken`."""
    for name in _FILES:
        if not (folder / name).is_file():
            raise WeightsMissing(
                f"no {folder / name}: restore it with `git checkout -- models/weights` "
                "or make it anew with `make train`"
            )
    finder, reader, card = (Network(folder / f"{name}.onnx", threads) for name in ("finder", "reader", "card"))
    for name, network in (("reader", reader), ("card", card)):
        if network.glyphs != GLYPHS:
            raise WeightsBroken(
                f"{folder / name}.onnx is of another version of the eye: restore it with "
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
