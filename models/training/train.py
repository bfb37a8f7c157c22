"""Trains one of the networks on the shards on disk; can stop and resume at any checkpoint.

The schedule counts steps and the seed determines the order of samples, so a run is repeatable as long as the shards on
disk are the same (except for the last bits of multi-threaded arithmetic).
"""

from __future__ import annotations

import argparse
import copy
import math
import queue
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from models.eye.finder import STRIDE, VECTOR_UNIT
from models.eye.letters import GLYPHS
from models.eye.networks import SUFFIX
from models.eye.reader import N_SUITS
from models.training.ncnn_import import load_shipped
from models.training.nets import NETS
from models.training.samples import FINDER
from models.training.table_views import relit, surface_loss, varied

_MAP = FINDER // STRIDE
#: Slices of the classifiers' outputs: the rank's glyph, suits, and the answer to a yes-no question.
_ANSWER = len(GLYPHS) + N_SUITS
_RANKS, _SUITS = slice(0, len(GLYPHS)), slice(len(GLYPHS), _ANSWER)
_KEYS = {
    "finder": ("pictures", "targets"), "reader": ("patches", "patch_values"), "card": ("crops", "crop_values"),
    "surfaces": ("tables", "surfaces"),
}  # fmt: skip
_BATCH = {"finder": 32, "reader": 256, "card": 192, "surfaces": 64}
#: Number of shards mixed at a time.
_MIX = {"finder": 4, "reader": 12, "card": 16, "surfaces": 12}
#: Folders of further shards, each used twice as often, for the hardest cases: the finder's false alarms for the reader,
#: cards under one without an index for the card network, and path-traced hands, more realistic than drawn ones.
_TWICE = {"reader": "mined", "card": "covers", "surfaces": "stills"}
_RATE = {"finder": 2.5e-3, "reader": 2.5e-3, "card": 2e-3, "surfaces": 3e-3}

#: Noise, sampled at many offsets: drawing a normal number for every pixel would take longer than the training step.
_GRAIN = torch.randn(3, 320, 320, generator=torch.Generator().manual_seed(7))

#: Share of the learning rate used for weights that were trained before.
_GENTLER = 0.3

#: Share of the indices that are partly hidden.
_COVERED = 0.15

#: Reduction factors for some samples, and the range of each sample's random number (0 to 1) that selects them.
_COARSER = ((1.5, 0.0, 0.1), (2.0, 0.1, 0.2), (3.0, 0.2, 0.26))


Batch = tuple[NDArray[np.uint8], NDArray[Any]]
"""Pictures and their targets."""


def batches(folder: Path, net: str, rng: np.random.Generator) -> Iterator[Batch]:
    """Yield endless shuffled batches; shards that appear during training are included."""
    queue: list[Path] = []
    while True:
        if len(queue) < _MIX[net]:
            fresh = sorted(folder.glob("*.npz"))
            if net in _TWICE:
                fresh += 2 * sorted((folder.parent / _TWICE[net]).glob("*.npz"))
            if not fresh:
                raise FileNotFoundError(f"no shards in {folder}: run python -m models.training.samples first")
            rng.shuffle(fresh)
            queue += fresh
        taken, queue = queue[: _MIX[net]], queue[_MIX[net] :]
        loaded = [np.load(path) for path in taken]
        x, y = (np.concatenate([part[key] for part in loaded]) for key in _KEYS[net])
        order = rng.permutation(len(x))
        size = _BATCH[net]
        for i in range(0, len(order) - size + 1, size):
            chosen = order[i : i + size]
            picked, wanted = x[chosen], y[chosen]
            if net == "finder":
                picked, wanted = turned(picked, wanted, int(rng.integers(4)))
            elif net == "reader":
                hide_parts(picked, wanted, rng)
            elif net == "surfaces":
                wanted = wanted[:, ::2, ::2]
            yield picked, wanted


def turned(
    x: NDArray[np.uint8], rows: NDArray[np.float32], quarters: int
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Return the finder's pictures (n, s, s, 3) and target rows, turned left by ``quarters`` quarter turns."""
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


def hide_parts(x: NDArray[np.uint8], values: NDArray[np.float32], rng: np.random.Generator) -> None:
    """Cover a part of some of the reader's patches (n, h, w, 3) with paper or another patch, in place.

    This imitates another card's edge over a suit or half a rank. A rank whose suit is hidden then fills some patches,
    since the finder takes it for the whole index.
    """
    height, width = x.shape[1:3]
    rows, columns = np.mgrid[0:height, 0:width]
    for i in np.flatnonzero((values[:, 2] == 1) & (rng.random(len(x)) < _COVERED)):
        paper = np.percentile(x[i], rng.uniform(70, 95), (0, 1)).astype(np.uint8)
        over = x[rng.integers(len(x))] if rng.random() < 0.3 else np.broadcast_to(paper, x[i].shape)
        edge = height * rng.uniform(0.47, 0.56)
        if rng.random() < 0.5:
            hidden = rows >= edge
        else:
            angle, reach = rng.uniform(0, 2 * np.pi), rng.uniform(0.0, 0.3) * height
            hidden = np.cos(angle) * (columns - width / 2) + np.sin(angle) * (rows - height / 2) > reach
        x[i] = np.where(hidden[..., None], over, x[i])
        if hidden[-1].all() and rng.random() < 0.5:
            low, left = round(edge * rng.uniform(1.05, 1.3)), round(width * rng.uniform(0.0, 0.25))
            part = np.ascontiguousarray(x[i, :low, left : left + width * low // height])
            x[i] = cv2.resize(part, (width, height), interpolation=cv2.INTER_LINEAR)
        values[i, 2], values[i, 3], values[i, 4] = -1, 0, 0


def floats(pictures: NDArray[np.uint8], device: str = "cpu") -> Tensor:
    """Return pictures (N, H, W, 3) as network input: (N, 3, H, W), 0 to 1."""
    return torch.from_numpy(pictures).to(device).permute(0, 3, 1, 2).float().div_(255)


def augment(x: Tensor, net: str) -> Tensor:
    """Vary colour, exposure and noise each time; sometimes show patches and crops as of a small card."""
    n, there = len(x), x.device
    if net == "surfaces":
        x = relit(x)
    else:
        x = x * (1 + 0.1 * _normal(n, 3, there)) * (1 + 0.12 * _normal(n, 1, there)) + 0.05 * _normal(n, 3, there)
    if net in ("reader", "card"):
        chance = torch.rand(n, 1, 1, 1).to(there)
        for factor, first, last in _COARSER:
            size = [round(side / factor) for side in x.shape[2:]]
            coarse = nn.functional.interpolate(
                nn.functional.interpolate(x, size, mode="area"), x.shape[2:], mode="bilinear"
            )
            x = torch.where((chance >= first) & (chance < last), coarse, x)
    h, w = x.shape[2:]
    places = torch.randint(0, _GRAIN.shape[1] - max(h, w) + 1, (n * (x.shape[1] // 3), 2)).tolist()
    all_grain = _GRAIN.to(there)
    grain = torch.stack([all_grain[:, a : a + h, b : b + w] for a, b in places]).reshape(x.shape)
    # A reduced picture has less grain.
    most = 0.012 if net == "surfaces" else 0.03
    return x.addcmul_(grain, torch.rand(n, 1, 1, 1).to(there) * most).clamp_(0, 1)


def _normal(n: int, channels: int, there: torch.device) -> Tensor:
    """Return a normal number for each sample and channel; drawn on the CPU, so that every device gets the same."""
    return torch.randn(n, channels, 1, 1).to(there)


# Targets and losses of each network

Loss = Callable[[Tensor, Any], tuple[Tensor, dict[str, float]]]

#: Visible shares of an index: below the first the finder may miss it, above the second it must find it.
_FAINT, _CLEAR = 0.25, 0.6

#: Weight of a rank or a suit that is mostly hidden, relative to a visible one.
_HIDDEN = 0.5


def finder_maps(rows: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Return heat (side, side), its weight, and (k, 13) rows (cell y, cell x, ten values, size px) of target rows."""
    heat, weight = np.zeros((_MAP, _MAP), np.float32), np.ones((_MAP, _MAP), np.float32)
    points = []
    for row in rows:
        share = row[10]
        if share <= 0:
            break
        x, y = (row[:2] + 0.5) / STRIDE - 0.5
        ix, iy = round(float(x)), round(float(y))
        if not (0 <= ix < _MAP and 0 <= iy < _MAP):
            continue
        size = 2 * float(np.hypot(row[2], row[3]))
        sigma = float(np.clip(size / STRIDE * 0.13, 0.65, 2.5))
        reach = int(np.ceil(3 * sigma))
        x0, x1, y0, y1 = max(0, ix - reach), min(_MAP, ix + reach + 1), max(0, iy - reach), min(_MAP, iy + reach + 1)
        gy, gx = np.mgrid[y0:y1, x0:x1]
        blob = np.exp(-((gx - x) ** 2 + (gy - y) ** 2) / (2 * sigma**2)).astype(np.float32)
        if share < _CLEAR or size < 6:
            if share > _FAINT:
                weight[y0:y1, x0:x1] = np.minimum(weight[y0:y1, x0:x1], (blob < 0.2).astype(np.float32))
            continue
        heat[y0:y1, x0:x1] = np.maximum(heat[y0:y1, x0:x1], blob)
        heat[iy, ix] = 1.0
        for dy, dx in ((0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)):
            cy, cx = iy + dy, ix + dx
            if 0 <= cy < _MAP and 0 <= cx < _MAP:
                points.append([cy, cx, x - cx, y - cy, *(row[2:10] / VECTOR_UNIT), size])
    weight[heat == 1.0] = 1.0
    return heat, weight, np.array(points, np.float32).reshape(-1, 13)


def finder_loss(out: Tensor, rows: NDArray[np.float32]) -> tuple[Tensor, dict[str, float]]:
    """Return penalty-reduced focal loss on the heat (Zhou et al. 2019, "Objects as points") plus size-relative L1."""
    maps = [finder_maps(r) for r in rows]
    heat, weight = (torch.from_numpy(np.stack([m[k] for m in maps])).to(out.device) for k in (0, 1))
    logit = out[:, 0].float()
    p = torch.sigmoid(logit).clamp(1e-5, 1 - 1e-5)
    hit = heat == 1.0
    gain = torch.where(hit, (1 - p) ** 2 * torch.log(p), (1 - heat) ** 4 * p**2 * torch.log(1 - p)) * weight
    heat_loss = -gain.sum() / max(1, int(hit.sum()))
    index = [np.full(len(m[2]), i) for i, m in enumerate(maps)]
    points = np.concatenate([m[2] for m in maps])
    if len(points) == 0:
        return heat_loss, _figures(heat=heat_loss)
    b = torch.from_numpy(np.concatenate(index)).to(out.device).long()
    found = torch.from_numpy(points).to(out.device)
    yx = found[:, :2].long()
    said = out[b, 1:, yx[:, 0], yx[:, 1]].float()
    true, size = found[:, 2:12], found[:, 12:] / VECTOR_UNIT
    error = (said - true).abs()
    # Centre in cells, the rest relative to the index's height: a large miss on a large card is no worse.
    scaled = torch.cat([error[:, :2] * 0.6, error[:, 2:4] / size * 2.0, error[:, 4:] / size * 0.35], 1)
    place = scaled.mean()
    return heat_loss + 2.0 * place, _figures(heat=heat_loss, place=place)


def _figures(**parts: Tensor) -> dict[str, float]:
    return {name: float(value.detach()) for name, value in parts.items()}


def _mean(loss: Tensor, known: Tensor) -> Tensor:
    """Return the mean over the known ones (1: known, 0: not)."""
    return (loss * known).sum() / known.sum().clamp_min(1)


def _named(out: Tensor, classes: slice, target: Tensor, known: Tensor) -> Tensor:
    loss = nn.functional.cross_entropy(out[:, classes], target.clamp_min(0), reduction="none")
    return _mean(loss, known)


def _yes_or_no(out: Tensor, true: Tensor) -> tuple[Tensor, Tensor]:
    """Return the loss of the answer to yes (1), no (0) or unknown (-1), and a mask of the known ones."""
    known = (true >= 0).float()
    loss = nn.functional.binary_cross_entropy_with_logits(out[:, _ANSWER], true.clamp_min(0), reduction="none")
    return _mean(loss, known), known


def _both_right(out: Tensor, ranks: Tensor, suits: Tensor) -> Tensor:
    return ((out[:, _RANKS].argmax(1) == ranks) & (out[:, _SUITS].argmax(1) == suits)).float()


def reader_loss(out: Tensor, values: NDArray[np.float32]) -> tuple[Tensor, dict[str, float]]:
    """Return the loss of rank and suit, and of whether the patch is an index at all.

    A hidden rank or suit counts, too, with less weight: so the network learns to be unsure of it.
    """
    v = torch.from_numpy(values).to(out.device)
    out = out.float()
    ranks, suits = v[:, 0].long(), v[:, 1].long()
    sees_rank, sees_suit = ((v[:, 3] > 0.7) & (ranks >= 0)).float(), ((v[:, 4] > 0.65) & (suits >= 0)).float()
    rank = _named(out, _RANKS, ranks, torch.where(ranks >= 0, sees_rank.clamp_min(_HIDDEN), 0.0))
    suit = _named(out, _SUITS, suits, torch.where(suits >= 0, sees_suit.clamp_min(_HIDDEN), 0.0))
    index, _ = _yes_or_no(out, v[:, 2])
    right = _mean(_both_right(out, ranks, suits), sees_rank * sees_suit)
    return rank + suit + 1.5 * index, _figures(rank=rank, suit=suit, index=index, right=right)


def card_loss(out: Tensor, values: NDArray[np.float32]) -> tuple[Tensor, dict[str, float]]:
    """Return the loss of rank and suit of a mostly visible card, of its bareness, and of its corners."""
    v = torch.from_numpy(values).to(out.device)
    out = out.float()
    ranks, suits, bare, share = v[:, 0].long(), v[:, 1].long(), v[:, 2], v[:, 3]
    known = ((share > 0.7) & (ranks >= 0)).float()
    rank, suit = _named(out, _RANKS, ranks, known), _named(out, _SUITS, suits, known)
    top, judged = _yes_or_no(out, bare)
    miss = (out[:, _ANSWER + 1 :] - v[:, 4:12]).abs().mean(1)
    # A visible strip says less about the card's far corners.
    clear = (share > 0.4).float() + 0.5 * ((share > 0.08) & (share <= 0.4)).float()
    corners = _mean(miss, clear)
    right = _mean(_both_right(out, ranks, suits), known)
    top_right = _mean(((out[:, _ANSWER] > 0) == (bare > 0)).float(), judged)
    figures = _figures(rank=rank, suit=suit, bare=top_right, corners=corners, right=right)
    return rank + suit + 1.5 * top + 6.0 * corners, figures


LOSSES: dict[str, Loss] = {"finder": finder_loss, "reader": reader_loss, "card": card_loss, "surfaces": surface_loss}


# The run


class TrainingRun:
    """A training run: the network, its moving average (the one in use), the optimiser and the step."""

    def __init__(
        self, net: str, steps: int, folder: Path, seed: int, shipped: Path | None = None, device: str = "cpu"
    ) -> None:
        """``shipped``: a folder of initial weights, used without a checkpoint; None: start from scratch."""
        torch.manual_seed(seed)
        self.net, self.steps, self.folder, self.step = net, steps, folder, 0
        self.rate = _RATE[net] if shipped is None else _RATE[net] * _GENTLER
        # bfloat16 at least halves the time if the processor supports it; otherwise it would be slower.
        self.short = device != "cpu" or bool(torch.cpu._is_avx512_bf16_supported())
        self.device = device
        self.path = folder / f"{net}.pt"
        self.model = NETS[net]().to(memory_format=torch.channels_last)
        if shipped is not None and not self.path.exists():
            pictures, _ = next(batches(folder / "train", net, np.random.default_rng(seed)))
            load_shipped(self.model, shipped / f"{net}{SUFFIX}", augment(floats(pictures), net))
        self.model.to(device)
        self.average = copy.deepcopy(self.model)
        self.optimiser = torch.optim.AdamW(self.model.parameters(), lr=self.rate, weight_decay=0.02)
        if self.path.exists():
            saved = torch.load(self.path, weights_only=True, map_location=device)
            self.model.load_state_dict(saved["model"])
            self.average.load_state_dict(saved["average"])
            self.optimiser.load_state_dict(saved["optimiser"])
            self.step = int(saved["step"])

    def save(self) -> None:
        """Write the checkpoint; a failed write keeps the earlier one."""
        parts = {"model": self.model, "average": self.average, "optimiser": self.optimiser}
        state: dict[str, Any] = {name: part.state_dict() for name, part in parts.items()}
        state["step"] = self.step
        partial = self.path.with_suffix(".tmp")
        torch.save(state, partial)
        partial.rename(self.path)

    def learn(self, x: NDArray[np.uint8], y: NDArray[np.float32]) -> dict[str, float]:
        """Take one training step on a batch."""
        # A short warm-up, then half a cosine down to almost zero at the last step.
        warm = min(1.0, (self.step + 1) / 150)
        cosine = 0.5 * (1 + math.cos(math.pi * min(1.0, self.step / self.steps))) + 0.005
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate * warm * cosine
        self.model.train()
        picture, true = floats(x, self.device), y
        if self.net == "surfaces":
            picture, true = varied(picture, torch.from_numpy(y).to(self.device))
        picture = augment(picture, self.net).contiguous(memory_format=torch.channels_last)
        with torch.autocast(self.device, dtype=torch.bfloat16, enabled=self.short):
            out = self.model(picture)
        loss, parts = LOSSES[self.net](out.float(), true)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self.optimiser.step()
        self.step += 1
        keep = min(0.998, 1 - 1 / (1 + self.step / 4))
        with torch.no_grad():
            for slow, fast in zip(self.average.state_dict().values(), self.model.state_dict().values(), strict=True):
                if slow.dtype.is_floating_point:
                    slow.lerp_(fast, 1 - keep)
                else:
                    slow.copy_(fast)
        return parts


@torch.no_grad()  # type: ignore[untyped-decorator]
def check(run: TrainingRun, folder: Path) -> dict[str, float]:
    """Return the averaged network's figures on a held-out shard (decks and fonts never trained on)."""
    run.average.eval()
    sums: dict[str, list[float]] = {}
    for path in sorted(folder.glob("*.npz"))[:1]:
        data = np.load(path)
        size = _BATCH[run.net]
        x, y = (data[key][: 20 * size] for key in _KEYS[run.net])
        if run.net == "surfaces":
            y = y[:, ::2, ::2]
        for i in range(0, len(x), size):
            picture = floats(x[i : i + size], run.device).contiguous(memory_format=torch.channels_last)
            _, parts = LOSSES[run.net](run.average(picture), y[i : i + size])
            for name, value in parts.items():
                sums.setdefault(name, []).append(value)
    return {name: float(np.mean(values)) for name, values in sums.items()}


def words(parts: dict[str, Any]) -> str:
    """Return the figures on one line."""
    return " ".join(f"{name} {value:.4f}" for name, value in parts.items())


# Load batches in a thread: for a graphics card the disk is slow.
def prepared(feed: Iterator[Batch]) -> Iterator[Batch]:
    """Yield the same batches, prefetched by a thread."""
    ready: queue.Queue[Batch] = queue.Queue(8)

    def prepare() -> None:
        for batch in feed:
            ready.put(batch)

    threading.Thread(target=prepare, daemon=True).start()
    while True:
        yield ready.get()


def main() -> None:
    """Train (command line)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("net", choices=sorted(NETS))
    parser.add_argument("--out", type=Path, default=Path("out/eye"))
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu", help="cpu or cuda: a graphics card is faster, and never needed")
    parser.add_argument("--shipped", type=Path, help="go on from the weights in this folder, at a lower rate")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    run = TrainingRun(args.net, args.steps, args.out, args.seed, args.shipped, args.device)
    shards = args.out / "surfaces" if args.net == "surfaces" else args.out
    feed = prepared(batches(shards / "train", args.net, np.random.default_rng((args.seed, run.step))))
    start, first = time.perf_counter(), run.step
    recent: dict[str, list[float]] = {}
    while run.step < args.steps:
        for name, value in run.learn(*next(feed)).items():
            recent.setdefault(name, []).append(value)
        if run.step % 100 == 0:
            rate = (run.step - first) * _BATCH[args.net] / (time.perf_counter() - start)
            means = {name: float(np.mean(values)) for name, values in recent.items()}
            print(f"{args.net} {run.step}/{args.steps} {words(means)} {rate:.0f}/s", flush=True)
            recent = {}
        if run.step % 200 == 0 or run.step == args.steps:
            run.save()
        if run.step % 600 == 0 or run.step == args.steps:
            print(f"{args.net} {run.step} held out: {words(check(run, shards / 'held-out'))}", flush=True)


if __name__ == "__main__":
    main()
