"""What each network is asked, and how it is told how wrong it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from models.eye.classes import RANK_CLASSES, SUIT_CLASSES
from models.training.nets import STRIDE, UNIT
from models.training.samples import FINDER

MAP = FINDER // STRIDE
R, S = len(RANK_CLASSES), len(SUIT_CLASSES)
#: An index shown by less than the first is no business of the finder, by more than the second it must be found.
FAINT, CLEAR = 0.25, 0.6


def finder_maps(rows: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Heat (MAP, MAP), its weight, and (k, 13) regression rows (cell y, cell x, ten values, size px) of target rows."""
    heat, weight = np.zeros((MAP, MAP), np.float32), np.ones((MAP, MAP), np.float32)
    points = []
    for row in rows:
        share = row[10]
        if share <= 0:
            break
        x, y = (row[:2] + 0.5) / STRIDE - 0.5
        ix, iy = round(float(x)), round(float(y))
        if not (0 <= ix < MAP and 0 <= iy < MAP):
            continue
        size = 2 * float(np.hypot(row[2], row[3]))
        sigma = float(np.clip(size / STRIDE * 0.13, 0.65, 2.5))
        reach = int(np.ceil(3 * sigma))
        x0, x1, y0, y1 = max(0, ix - reach), min(MAP, ix + reach + 1), max(0, iy - reach), min(MAP, iy + reach + 1)
        gy, gx = np.mgrid[y0:y1, x0:x1]
        blob = np.exp(-((gx - x) ** 2 + (gy - y) ** 2) / (2 * sigma**2)).astype(np.float32)
        if share < CLEAR or size < 6:
            if share > FAINT:
                weight[y0:y1, x0:x1] = np.minimum(weight[y0:y1, x0:x1], (blob < 0.2).astype(np.float32))
            continue
        heat[y0:y1, x0:x1] = np.maximum(heat[y0:y1, x0:x1], blob)
        heat[iy, ix] = 1.0
        for dy, dx in ((0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)):
            cy, cx = iy + dy, ix + dx
            if 0 <= cy < MAP and 0 <= cx < MAP:
                points.append([cy, cx, x - cx, y - cy, *(row[2:10] / UNIT), size])
    weight[heat == 1.0] = 1.0
    return heat, weight, np.array(points, np.float32).reshape(-1, 13)


def finder_loss(out: Tensor, rows: NDArray[np.float32]) -> tuple[Tensor, dict[str, float]]:
    """Penalty-reduced focal loss on the heat (Zhou et al. 2019, "Objects as points"), size-relative L1 on the rest."""
    maps = [finder_maps(r) for r in rows]
    heat = torch.from_numpy(np.stack([m[0] for m in maps]))
    weight = torch.from_numpy(np.stack([m[1] for m in maps]))
    logit = out[:, 0].float()
    p = torch.sigmoid(logit).clamp(1e-5, 1 - 1e-5)
    hit = heat == 1.0
    gain = torch.where(hit, (1 - p) ** 2 * torch.log(p), (1 - heat) ** 4 * p**2 * torch.log(1 - p)) * weight
    heat_loss = -gain.sum() / max(1, int(hit.sum()))
    index = [np.full(len(m[2]), i) for i, m in enumerate(maps)]
    points = np.concatenate([m[2] for m in maps])
    if len(points) == 0:
        return heat_loss, {"heat": float(heat_loss.detach())}
    b = torch.from_numpy(np.concatenate(index)).long()
    yx = torch.from_numpy(points[:, :2]).long()
    said = out[b, 1:, yx[:, 0], yx[:, 1]].float()
    true, size = torch.from_numpy(points[:, 2:12]), torch.from_numpy(points[:, 12:]) / UNIT
    error = (said - true).abs()
    # Centre in cells, everything else relative to the index's height: a far miss on a large card is no worse.
    scaled = torch.cat([error[:, :2] * 0.6, error[:, 2:4] / size * 2.0, error[:, 4:] / size * 0.35], 1)
    place = scaled.mean()
    return heat_loss + 2.0 * place, {"heat": float(heat_loss.detach()), "place": float(place.detach())}


def _named(logits: Tensor, target: Tensor, known: Tensor) -> Tensor:
    loss = functional.cross_entropy(logits, target.clamp_min(0), reduction="none", label_smoothing=0.02)
    return (loss * known).sum() / known.sum().clamp_min(1)


def reader_loss(out: Tensor, values: NDArray[np.float32]) -> tuple[Tensor, dict[str, float]]:
    """Rank and suit where they can be seen, and whether the patch is an index at all."""
    v = torch.from_numpy(values)
    out = out.float()
    ranks, suits, real = v[:, 0].long(), v[:, 1].long(), v[:, 2]
    sees_rank, sees_suit = ((v[:, 3] > 0.7) & (ranks >= 0)).float(), ((v[:, 4] > 0.65) & (suits >= 0)).float()
    rank, suit = _named(out[:, :R], ranks, sees_rank), _named(out[:, R : R + S], suits, sees_suit)
    known = (real >= 0).float()
    index = functional.binary_cross_entropy_with_logits(out[:, R + S], real.clamp_min(0), reduction="none")
    is_index = (index * known).sum() / known.sum().clamp_min(1)
    with torch.no_grad():
        good = ((out[:, :R].argmax(1) == ranks) & (out[:, R : R + S].argmax(1) == suits)).float()
        both = sees_rank * sees_suit
        right = float((good * both).sum() / both.sum().clamp_min(1))
    return rank + suit + 1.5 * is_index, {
        "rank": float(rank.detach()),
        "suit": float(suit.detach()),
        "index": float(is_index.detach()),
        "right": right,
    }


def card_loss(out: Tensor, values: NDArray[np.float32]) -> tuple[Tensor, dict[str, float]]:
    """Rank and suit of a card that mostly shows, whether it is uncovered, and where its corners are."""
    v = torch.from_numpy(values)
    out = out.float()
    ranks, suits, bare, share = v[:, 0].long(), v[:, 1].long(), v[:, 2], v[:, 3]
    known = ((share > 0.7) & (ranks >= 0)).float()
    rank, suit = _named(out[:, :R], ranks, known), _named(out[:, R : R + S], suits, known)
    judged = (bare >= 0).float()
    cover = functional.binary_cross_entropy_with_logits(out[:, R + S], bare.clamp_min(0), reduction="none")
    top = (cover * judged).sum() / judged.sum().clamp_min(1)
    miss = (out[:, R + S + 1 :] - v[:, 4:12]).abs().mean(1)
    # What shows of a strip says less of where its far corners are.
    clear = (share > 0.4).float() + 0.5 * ((share > 0.08) & (share <= 0.4)).float()
    corners = (miss * clear).sum() / clear.sum().clamp_min(1)
    with torch.no_grad():
        good = ((out[:, :R].argmax(1) == ranks) & (out[:, R : R + S].argmax(1) == suits)).float()
        right = float((good * known).sum() / known.sum().clamp_min(1))
        top_right = float((((out[:, R + S] > 0) == (bare > 0)).float() * judged).sum() / judged.sum().clamp_min(1))
    parts: dict[str, Any] = {
        "rank": float(rank.detach()),
        "suit": float(suit.detach()),
        "bare": top_right,
        "corners": float(corners.detach()),
        "right": right,
    }
    return rank + suit + 1.5 * top + 6.0 * corners, parts


LOSSES = {"finder": finder_loss, "reader": reader_loss, "card": card_loss}
