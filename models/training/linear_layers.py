"""Teach a shipped classifier more classes: its linear layers go on learning, its convolutions stay as they are.

What the convolutions see tells apart letters that they were never shown (a deck is enrolled by it), so a quarter of an
hour is enough where the whole training takes hours. Each batch is seen once by the convolutions and gone over several
times, mixed with earlier ones. `make train` needs none of this: it trains all layers on all classes from nothing.
"""

from __future__ import annotations

import argparse
import copy
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from models.eye.classes import RANK_CLASSES
from models.eye.letters import GLYPHS
from models.eye.networks import GLYPHS_KEY, Network
from models.training.train import LOSSES, augment, batches, floats, words

#: Logit with which a glyph begins that the weights so far do not know.
_UNLIKELY = -4.0
#: How often a batch is gone over, among how many samples, and how many of them at once.
_TIMES, _POOL, _BATCH = 8, 30_000, 256
_RATE, _DECAY = 1e-3, 0.02
#: Share by which the averaged layers, which are used, follow those that learn.
_FOLLOW = 0.005


def linear_layers(model: onnx.ModelProto, known: Sequence[str]) -> nn.Sequential:
    """The layers after the features, as the file has them, with a row for each of `GLYPHS`."""
    stored = {w.name: torch.from_numpy(onnx.numpy_helper.to_array(w).copy()) for w in model.graph.initializer}
    (weight, bias), (rows, offsets) = ([stored[name] for name in node.input[1:]] for node in _linear_nodes(model))
    # Earlier weights name the ranks themselves.
    places = [GLYPHS.index("10" if name == "T" and tuple(known) == RANK_CLASSES else name) for name in known]
    others = len(rows) - len(known)
    hidden, last = nn.Linear(weight.shape[1], weight.shape[0]), nn.Linear(rows.shape[1], len(GLYPHS) + others)
    places += range(len(GLYPHS), len(GLYPHS) + others)
    with torch.no_grad():
        hidden.weight.copy_(weight)
        hidden.bias.copy_(bias)
        last.weight.zero_()
        last.bias.fill_(_UNLIKELY)
        last.weight[places], last.bias[places] = rows, offsets
    return nn.Sequential(nn.Dropout(0.2), hidden, nn.ReLU(), last)


def _linear_nodes(model: onnx.ModelProto) -> list[onnx.NodeProto]:
    return [node for node in model.graph.node if node.op_type == "Gemm"]


@torch.no_grad()  # type: ignore[untyped-decorator]
def with_layers(model: onnx.ModelProto, before: nn.Sequential, layers: nn.Sequential) -> onnx.ModelProto:
    """The model with the linear layers of before and those that learned side by side, and the names of `GLYPHS`.

    What is printed is answered by those that learned, all else by those of before, to the last bit.
    """
    changed = copy.deepcopy(model)
    n, width = len(GLYPHS), layers[3].out_features
    last = torch.block_diag(before[3].weight[n:], layers[3].weight[:n]).roll(n, 0)
    merged = (
        torch.cat([before[1].weight, layers[1].weight]), torch.cat([before[1].bias, layers[1].bias]),
        last, torch.cat([layers[3].bias[:n], before[3].bias[n:]]),
    )  # fmt: skip
    names = [name for node in _linear_nodes(changed) for name in node.input[1:]]
    for name, values in zip(names, merged, strict=True):
        initializer = next(w for w in changed.graph.initializer if w.name == name)
        initializer.CopyFrom(onnx.numpy_helper.from_array(values.numpy(), name))
    changed.graph.output[0].type.tensor_type.shape.dim[1].dim_value = width
    onnx.helper.set_model_props(changed, {GLYPHS_KEY: " ".join(GLYPHS)})
    onnx.checker.check_model(changed)
    return changed


class LinearTuning:
    """The run: features that were seen, their truth, and the layers that learn from them."""

    def __init__(self, net: str, layers: nn.Sequential, steps: int, seed: int) -> None:
        torch.manual_seed(seed)
        self.net, self.steps, self.step = net, steps, 0
        self.layers, self.average = layers.train(), copy.deepcopy(layers).eval()
        self.optimiser = torch.optim.AdamW(layers.parameters(), lr=_RATE, weight_decay=_DECAY)
        self.rng = np.random.default_rng(seed)
        # A ring: the newest overwrite the oldest.
        self.features = np.zeros((_POOL, layers[1].in_features), np.float32)
        self.truth: NDArray[np.float32] = np.zeros((_POOL, 0), np.float32)
        self.seen = 0

    def learn(self, features: NDArray[np.float32], truth: NDArray[np.float32]) -> dict[str, float]:
        """Take in a batch and go over it and earlier ones; the figures of the last pass."""
        if self.seen == 0:
            self.truth = np.zeros((_POOL, truth.shape[1]), np.float32)
        places = np.arange(self.seen, self.seen + len(truth)) % _POOL
        self.features[places], self.truth[places] = features, truth
        self.seen += len(truth)
        rate = _RATE * (0.5 * (1 + math.cos(math.pi * self.step / self.steps)) + 0.005)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        parts: dict[str, float] = {}
        for _ in range(_TIMES):
            rows = self.rng.integers(0, min(self.seen, _POOL), _BATCH)
            loss, parts = LOSSES[self.net](self.layers(torch.from_numpy(self.features[rows])), self.truth[rows])
            self.optimiser.zero_grad(set_to_none=True)
            loss.backward()
            self.optimiser.step()
            with torch.no_grad():
                for slow, fast in zip(self.average.parameters(), self.layers.parameters(), strict=True):
                    slow.lerp_(fast, _FOLLOW)
        self.step += 1
        return parts


def _pictures(shown: Tensor) -> NDArray[np.uint8]:
    """Augmented pictures (N, 3, H, W) of 0 to 1 as cameras give them."""
    return np.ascontiguousarray((shown * 255).round().to(torch.uint8).permute(0, 2, 3, 1).numpy())


@torch.no_grad()  # type: ignore[untyped-decorator]
def _check(tuning: LinearTuning, network: Network, folder: Path) -> dict[str, float]:
    """The averaged layers on held-out samples (decks and fonts never trained on)."""
    feed, sums = batches(folder, tuning.net, np.random.default_rng(0)), []
    for _ in range(20):
        x, y = next(feed)
        sums.append(LOSSES[tuning.net](tuning.average(torch.from_numpy(network.with_features(x)[1])), y)[1])
    return {name: float(np.mean([parts[name] for parts in sums])) for name in sums[0]}


def main() -> None:
    """Teach one of the classifiers from the command line; its file is written over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("net", choices=["reader", "card"])
    parser.add_argument("--out", type=Path, default=Path("out/eye"), help="folder of the shards")
    parser.add_argument("--weights", type=Path, default=Path("models/weights"))
    parser.add_argument("--steps", type=int, default=700)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(1)
    path = args.weights / f"{args.net}.onnx"
    network, model = Network(path), onnx.load(str(path))
    before = linear_layers(model, network.glyphs).eval()
    tuning = LinearTuning(args.net, copy.deepcopy(before), args.steps, args.seed)
    feed = batches(args.out / "train", args.net, np.random.default_rng(args.seed))
    while tuning.step < args.steps:
        x, truth = next(feed)
        parts = tuning.learn(network.with_features(_pictures(augment(floats(x), args.net)))[1], truth)
        if tuning.step % 50 == 0:
            print(f"{args.net} {tuning.step}/{args.steps} {words(parts)}", flush=True)
        if tuning.step % 200 == 0 or tuning.step == args.steps:
            held_out = _check(tuning, network, args.out / "held-out")
            print(f"{args.net} {tuning.step} held out: {words(held_out)}", flush=True)
    onnx.save(with_layers(model, before, tuning.average), str(path))


if __name__ == "__main__":
    main()
