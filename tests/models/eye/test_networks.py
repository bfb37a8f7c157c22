"""The files of weights and their runtime: damage is found, pictures of any number of channels are taken."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from models.eye.networks import WEIGHTS, Network, WeightsBroken, read_parts

_LOAD = "from models.eye.networks import WEIGHTS, Network; Network(WEIGHTS / 'finder.ncnn')"


def test_the_networks_leave_nothing_at_home(tmp_path: Path) -> None:
    own = {name: value for name, value in os.environ.items() if not name.startswith(("HOME", "XDG_"))}
    subprocess.run([sys.executable, "-c", _LOAD], env={**own, "HOME": str(tmp_path)}, check=True)
    assert list(tmp_path.iterdir()) == []


def test_damaged_weights_are_never_read(tmp_path: Path) -> None:
    whole, file = (WEIGHTS / "finder.ncnn").read_bytes(), tmp_path / "finder.ncnn"
    parts = read_parts(WEIGHTS / "finder.ncnn")
    draw = np.random.default_rng(1)
    for at in map(int, draw.integers(0, len(whole), 60)):
        flipped = bytearray(whole)
        flipped[at] ^= 1 << int(draw.integers(8))
        for damaged in (whole[:at], bytes(flipped)):
            file.write_bytes(damaged)
            try:
                # A byte that no checksum covers, such as a date, says nothing about the layers.
                assert read_parts(file) == parts
            except WeightsBroken as error:
                assert "git checkout -- models/weights" in str(error)


def test_a_picture_is_seen_alone_as_among_others() -> None:
    pictures = np.random.default_rng(1).integers(0, 256, (3, 120, 90, 6), dtype=np.uint8)
    network = Network(WEIGHTS / "surfaces.ncnn")
    together = network(pictures)
    assert together.shape == (3, 6, 60, 45)
    for picture, seen in zip(pictures, together, strict=True):
        assert np.array_equal(network(picture[None])[0], seen)


def test_half_precision_is_not_used() -> None:
    """Readings would depend on the processor."""
    network = Network(WEIGHTS / "card.ncnn")
    assert not any(getattr(network._net.opt, name) for name in dir(network._net.opt) if "16" in name)


@pytest.mark.parametrize("name", ["finder", "surfaces"])
def test_a_network_without_features_learns_no_deck(name: str) -> None:
    with pytest.raises(WeightsBroken, match="no features"):
        Network(WEIGHTS / f"{name}.ncnn").with_features(np.zeros((1, 64, 64, 3), np.uint8))
