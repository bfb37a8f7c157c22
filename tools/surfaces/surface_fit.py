"""Fit the network of surfaces to drawn tables and write it as ONNX: `python -m tools.surfaces.surface_fit`.

A pixel is told from its own colour and the bare table's, from the same over ever larger neighbourhoods, and from
whether the cloth's pattern goes on: under a shadow it does, under a sleeve of the cloth's colour it does not. That is
fixed; what is learned is a network of two hidden layers over these numbers, on some hundred pixels of each table, since
neighbours say much the same. It takes less than a minute of one core.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from tools.surfaces.table_scenes import COLUMNS, FILE, ROWS, Surface

_WIDE: Final = (2, 4, 8, 16, 32)
"""Sides of the neighbourhoods, px."""
_WOVEN: Final = (5, 11)
"""Sides of the windows in which patterns are compared, px."""
_HIDDEN: Final = 48
_PIXELS: Final = 180
"""Pixels of each table that are learned from, and how much likelier those are that show no bare table."""
_RARE: Final = 3.0
_BATCH: Final = 2048
_PASSES: Final = 14
_RATE: Final = 8e-3


class SurfaceNet(nn.Module):  # type: ignore[misc]
    """Pictures with the bare table as channels 3 to 5 (N×6×H×W, 0 to 1) to a logit a place and surface."""

    def __init__(self) -> None:
        super().__init__()
        count = 12 + 6 * len(_WIDE) + 3 * len(_WOVEN)
        self.register_buffer("mean", torch.zeros(count))
        self.register_buffer("spread", torch.ones(count))
        self.layers = nn.Sequential(
            nn.Linear(count, _HIDDEN), nn.ReLU(), nn.Linear(_HIDDEN, _HIDDEN), nn.ReLU(),
            nn.Linear(_HIDDEN, len(Surface)),
        )  # fmt: skip

    def features(self, x: Tensor) -> Tensor:
        """What is known of each four pixels, N×K×H/2×W/2: at the full size it would cost four times as much."""
        size = (x.shape[2] // 2, x.shape[3] // 2)
        now, bare = x[:, :3], x[:, 3:]
        change = torch.log((now + 0.04) / (bare + 0.04))
        # What the whole picture has changed by is the lamp's doing.
        out = [now * 2 - 1, bare * 2 - 1, change * 2, (change - change.mean((2, 3), keepdim=True)) * 2]
        around = torch.cat([out[0], out[2]], 1)
        out = [functional.avg_pool2d(torch.cat(out, 1), 2)]
        for side in _WIDE:
            pooled = functional.avg_pool2d(around, side, side, ceil_mode=True, count_include_pad=False)
            out.append(functional.interpolate(pooled, size=size, mode="bilinear", align_corners=False))
        grey, cloth = now.mean(1, keepdim=True), bare.mean(1, keepdim=True)
        for side in _WOVEN:
            powers = torch.cat([grey, cloth, grey * grey, cloth * cloth, grey * cloth], 1)
            m = functional.avg_pool2d(powers, side, 2, side // 2, count_include_pad=False)
            one = (m[:, 2:3] - m[:, 0:1] ** 2).clamp_min(0) + 2e-5
            two = (m[:, 3:4] - m[:, 1:2] ** 2).clamp_min(0) + 2e-5
            alike = (m[:, 4:5] - m[:, 0:1] * m[:, 1:2]) / torch.sqrt(one * two)
            woven = torch.cat([alike, torch.log(one) / 4 + 1, torch.log(two) / 4 + 1], 1)
            out.append(functional.interpolate(woven, size=size, mode="bilinear", align_corners=False))
        return torch.cat(out, 1)

    def judged(self, features: Tensor) -> Tensor:
        """Logits of rows of features."""
        out: Tensor = self.layers((features - self.mean) / self.spread)
        return out

    def forward(self, x: Tensor) -> Tensor:
        """Of pictures as cameras give them (N×H×W×6, uint8) the likeliest surface of each four pixels."""
        features = self.features(x.permute(0, 3, 1, 2).to(torch.float32) / 255)
        return self.judged(features.permute(0, 2, 3, 1)).argmax(3).to(torch.float32)


def _relit(x: Tensor) -> Tensor:
    """Another camera: its colours and exposure, the same for the picture and the bare table."""
    n = len(x)
    gain = (1 + 0.1 * torch.randn(n, 3, 1, 1)) * (1 + 0.12 * torch.randn(n, 1, 1, 1))
    return (x * gain.repeat(1, 2, 1, 1) + 0.03 * torch.randn(n, 3, 1, 1).repeat(1, 2, 1, 1)).clamp(0, 1)


@torch.no_grad()  # type: ignore[untyped-decorator]
def gather(net: SurfaceNet, shards: Path, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Features and surfaces of some pixels of every table; rare surfaces are taken oftener than bare table."""
    rows, kinds = [], []
    paths = sorted(shards.glob("*.npz"))
    if not paths:
        raise FileNotFoundError(f"no shards in {shards}: run python -m tools.surfaces.table_scenes first")
    for path in paths:
        data = np.load(path)
        tables, maps = data["tables"], data["surfaces"][:, ::2, ::2].reshape(len(data["tables"]), -1)
        for i in range(0, len(tables), 16):
            x = torch.from_numpy(tables[i : i + 16]).permute(0, 3, 1, 2).float() / 255
            seen = net.features(_relit(x)).flatten(2).transpose(1, 2)
            for features, true in zip(seen, maps[i : i + 16], strict=True):
                odds = np.where(true == Surface.TABLE, 1.0, _RARE)
                chosen = rng.choice(len(true), _PIXELS, replace=False, p=odds / odds.sum())
                rows.append(features[chosen].clone())
                kinds.append(torch.from_numpy(true[chosen].astype(np.int64)))
    return torch.cat(rows), torch.cat(kinds)


def fit(net: SurfaceNet, features: Tensor, kinds: Tensor) -> None:
    """Learn from rows of features, with one cycle of the rate; progress goes to the terminal."""
    net.mean.copy_(features.mean(0))
    net.spread.copy_(features.std(0) + 1e-3)
    batches = len(features) // _BATCH
    optimiser = torch.optim.AdamW(net.parameters(), _RATE, weight_decay=1e-3)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimiser, _RATE, total_steps=_PASSES * batches)
    for number in range(_PASSES):
        order, total = torch.randperm(len(features)), 0.0
        for k in range(batches):
            chosen = order[k * _BATCH : (k + 1) * _BATCH]
            loss = functional.cross_entropy(net.judged(features[chosen]), kinds[chosen], label_smoothing=0.02)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            rate.step()
            total += float(loss.detach())
        print(f"surfaces {number + 1}/{_PASSES} loss {total / batches:.4f}", flush=True)


def export(net: SurfaceNet, target: Path) -> None:
    """Write the network; it takes pictures of any size."""
    axes = {0: "n", 1: "h", 2: "w"}
    torch.onnx.export(
        net.eval(), (torch.zeros(1, ROWS, COLUMNS, 6, dtype=torch.uint8),), str(target), opset_version=17, dynamo=False,
        input_names=["pictures"], output_names=["out"], dynamic_axes={"pictures": axes, "out": axes},
    )  # fmt: skip


def main() -> None:
    """Fit and export from the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.surfaces.surface_fit", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/eye"))
    parser.add_argument("--weights", type=Path, default=Path("out/eye"))
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    begin = time.process_time()
    net = SurfaceNet()
    features, kinds = gather(net, args.out / "surfaces" / "train", np.random.default_rng(args.seed))
    print(f"{len(kinds)} pixels, of which {np.bincount(kinds.numpy(), minlength=len(Surface)).tolist()}", flush=True)
    fit(net, features, kinds)
    export(net, args.weights / FILE)
    print(f"{args.weights / FILE}: {sum(p.numel() for p in net.parameters())} parameters")
    print(f"{time.process_time() - begin:.0f} s of processor time")


if __name__ == "__main__":
    main()
