"""Train one of the three networks on the shards on disk; stops and goes on at any checkpoint.

The schedule is in steps and the order of samples follows from the seed, so a run is repeatable as far as the shards on
disk are the same (the arithmetic of several threads is not, to the last bit).
"""

from __future__ import annotations

import argparse
import copy
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from models.training.losses import LOSSES
from models.training.nets import NETS

KEYS = {"finder": ("pictures", "targets"), "reader": ("patches", "patch_values"), "card": ("crops", "crop_values")}
BATCH = {"finder": 16, "reader": 96, "card": 64}
#: Shards mixed at a time.
MIX = {"finder": 4, "reader": 12, "card": 16}
RATE = {"finder": 2.5e-3, "reader": 2.5e-3, "card": 2e-3}


def batches(
    folder: Path, net: str, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.float32]]]:
    """Endless shuffled batches; shards that appear while training are taken up."""
    queue: list[Path] = []
    while True:
        if len(queue) < MIX[net]:
            fresh = sorted(folder.glob("*.npz"))
            if net == "reader":  # twice: what the finder mistakes for an index is what matters most
                fresh += 2 * sorted((folder.parent / "mined").glob("*.npz"))
            if not fresh:
                raise FileNotFoundError(f"no shards in {folder}: run python -m models.training.samples first")
            rng.shuffle(fresh)
            queue += fresh
        taken, queue = queue[: MIX[net]], queue[MIX[net] :]
        loaded = [np.load(path) for path in taken]
        x, y = (np.concatenate([part[key] for part in loaded]) for key in KEYS[net])
        order = rng.permutation(len(x))
        size = BATCH[net]
        for i in range(0, len(order) - size + 1, size):
            chosen = order[i : i + size]
            picked, wanted = x[chosen], y[chosen]
            yield turned(picked, wanted, int(rng.integers(4))) if net == "finder" else (picked, wanted)


_GRAIN = torch.randn(3, 320, 320, generator=torch.Generator().manual_seed(7))


def turned(
    x: NDArray[np.uint8], rows: NDArray[np.float32], quarters: int
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """The finder's pictures (n, s, s, 3) and target rows turned left by so many quarters."""
    for _ in range(quarters):
        side = x.shape[2]
        x = np.rot90(x, 1, (1, 2))
        there = rows[..., 10] > 0
        rows = rows.copy()
        # x → y, y → side − 1 − x; vectors likewise without the shift.
        for i in range(0, 10, 2):
            rows[..., i], rows[..., i + 1] = rows[..., i + 1].copy(), -rows[..., i].copy()
        rows[..., 1] = np.where(there, rows[..., 1] + side - 1, 0)
    return np.ascontiguousarray(x), rows


def _augment(x: torch.Tensor, net: str) -> torch.Tensor:
    """Colour, exposure and noise anew each time a sample is seen; softness for small crops."""
    n = len(x)
    x = x * (1 + 0.1 * torch.randn(n, 3, 1, 1)) * (1 + 0.12 * torch.randn(n, 1, 1, 1)) + 0.05 * torch.randn(n, 3, 1, 1)
    if net != "finder":
        soft = torch.nn.functional.interpolate(torch.nn.functional.avg_pool2d(x, 2), scale_factor=2.0, mode="bilinear")
        pick = (torch.rand(n, 1, 1, 1) < 0.15).float()
        x = x * (1 - pick) + soft * pick
    h, w = x.shape[2:]
    # Drawing a normal number for every pixel takes longer than learning from it: look at one grain from many places.
    places = torch.randint(0, _GRAIN.shape[1] - max(h, w) + 1, (n, 2)).tolist()
    grain = torch.stack([_GRAIN[:, a : a + h, b : b + w] for a, b in places])
    return x.addcmul_(grain, torch.rand(n, 1, 1, 1) * 0.03).clamp_(0, 1)


class Run:
    """A training run: the network, its moving average (the one that is used), the optimiser and the step."""

    def __init__(self, net: str, steps: int, folder: Path, seed: int) -> None:
        torch.manual_seed(seed)
        self.net, self.steps, self.folder, self.step = net, steps, folder, 0
        # bfloat16 halves the time and more, where the processor has it; elsewhere it would be slower.
        self.short = bool(torch.cpu._is_avx512_bf16_supported())
        self.model = NETS[net]().to(memory_format=torch.channels_last)
        self.average = copy.deepcopy(self.model)
        self.optimiser = torch.optim.AdamW(self.model.parameters(), lr=RATE[net], weight_decay=0.02)
        self.path = folder / f"{net}.pt"
        if self.path.exists():
            saved = torch.load(self.path, weights_only=True)
            self.model.load_state_dict(saved["model"])
            self.average.load_state_dict(saved["average"])
            self.optimiser.load_state_dict(saved["optimiser"])
            self.step = int(saved["step"])

    def save(self) -> None:
        """Write the checkpoint; a broken write leaves the earlier one."""
        state = {
            "model": self.model.state_dict(),
            "average": self.average.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "step": self.step,
        }
        partial = self.path.with_suffix(".tmp")
        torch.save(state, partial)
        partial.rename(self.path)

    def rate(self) -> float:
        """Learning rate: a short warm-up, then half a cosine to nothing at the last step."""
        return (
            RATE[self.net]
            * min(1.0, (self.step + 1) / 150)
            * (0.5 * (1 + math.cos(math.pi * min(1.0, self.step / self.steps))) + 0.005)
        )

    def learn(self, x: NDArray[np.uint8], y: NDArray[np.float32]) -> dict[str, float]:
        """One step on a batch."""
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate()
        self.model.train()
        picture = torch.from_numpy(x).permute(0, 3, 1, 2).float().div_(255)
        picture = _augment(picture, self.net).contiguous(memory_format=torch.channels_last)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.short):
            out = self.model(picture)
        loss, parts = LOSSES[self.net](out.float(), y)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self.optimiser.step()
        self.step += 1
        self._follow()
        return parts

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def _follow(self) -> None:
        keep = min(0.998, 1 - 1 / (1 + self.step / 4))
        for slow, fast in zip(self.average.state_dict().values(), self.model.state_dict().values(), strict=True):
            if slow.dtype.is_floating_point:
                slow.lerp_(fast, 1 - keep)
            else:
                slow.copy_(fast)


@torch.no_grad()  # type: ignore[untyped-decorator]
def check(run: Run, folder: Path, most: int = 1) -> dict[str, float]:
    """The averaged network on some held-out shards (decks and fonts never trained on)."""
    run.average.eval()
    sums: dict[str, list[float]] = {}
    for path in sorted(folder.glob("*.npz"))[:most]:
        data = np.load(path)
        x, y = data[KEYS[run.net][0]], data[KEYS[run.net][1]]
        x, y = x[: 20 * BATCH[run.net]], y[: 20 * BATCH[run.net]]
        for i in range(0, len(x), BATCH[run.net]):
            picture = torch.from_numpy(x[i : i + BATCH[run.net]]).permute(0, 3, 1, 2).float().div_(255)
            _, parts = LOSSES[run.net](
                run.average(picture.contiguous(memory_format=torch.channels_last)), y[i : i + BATCH[run.net]]
            )
            for name, value in parts.items():
                sums.setdefault(name, []).append(value)
    return {name: float(np.mean(values)) for name, values in sums.items()}


def words(parts: dict[str, Any]) -> str:
    """Figures on one line."""
    return " ".join(f"{name} {value:.4f}" for name, value in parts.items())


def main() -> None:
    """Train from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("net", choices=sorted(NETS))
    parser.add_argument("--out", type=Path, default=Path("out/eye"))
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    run = Run(args.net, args.steps, args.out, args.seed)
    feed = batches(args.out / "train", args.net, np.random.default_rng((args.seed, run.step)))
    start, first = time.perf_counter(), run.step
    recent: dict[str, list[float]] = {}
    while run.step < args.steps:
        for name, value in run.learn(*next(feed)).items():
            recent.setdefault(name, []).append(value)
        if run.step % 100 == 0:
            rate = (run.step - first) * BATCH[args.net] / (time.perf_counter() - start)
            means = {name: float(np.mean(values)) for name, values in recent.items()}
            print(f"{args.net} {run.step}/{args.steps} {words(means)} {rate:.0f}/s", flush=True)
            recent = {}
        if run.step % 200 == 0 or run.step == args.steps:
            run.save()
        if run.step % 600 == 0 or run.step == args.steps:
            print(f"{args.net} {run.step} held out: {words(check(run, args.out / 'held-out'))}", flush=True)


if __name__ == "__main__":
    main()
