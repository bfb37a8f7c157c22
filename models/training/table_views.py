"""Training samples for the surface network: a table varied each time, with what the watcher may have learned of it.

A sample is a picture with the bare table as channels 3 to 5, and the `Surface` of each of its pixels at half the size.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from models.watch.surfaces import Surface

_LEARNED: Final = 0.06
"""Share of the tables that were learned with an arm on them that still lies there; from as many it has gone."""
_CLOSEST: Final = 1.4
"""Greatest enlargement of a table; every second one is enlarged."""
_WEIGHTS: Final = (0.6, 1.6, 1.0, 1.0, 0.8, 0.4)
"""Weight of a pixel of each `Surface`: greatest for an arm, least for another thing."""


def varied(x: Tensor, kinds: Tensor) -> tuple[Tensor, Tensor]:
    """Return samples mirrored, enlarged, and with tables that were learned while something lay on them.

    Args:
        x: N×6×H×W, 0 to 1.
        kinds: the `Surface` of each pixel at half the size.
    """
    n, there = len(x), x.device
    # The visible part: its reduction, whether it is mirrored, and its middle.
    size = 1 / (1 + (_CLOSEST - 1) * torch.rand(n) * (torch.rand(n) < 0.5))
    part = torch.zeros(n, 2, 3)
    part[:, 0, 0], part[:, 1, 1] = (size * torch.where(torch.rand(n) < 0.5, -1.0, 1.0) for _ in range(2))
    part[:, :, 2] = (1 - size)[:, None] * (2 * torch.rand(n, 2) - 1)
    x = _shown(x, part.to(there), "bilinear")
    kinds = _shown(kinds[:, None].float(), part.to(there), "nearest")[:, 0].long()
    fate, cards_too = torch.rand(n).to(there), (torch.rand(n) < 0.5).to(there)
    stays, gone = (fate < _LEARNED)[:, None, None], (fate > 1 - _LEARNED)[:, None, None]
    lay = kinds == int(Surface.ARM)
    cards = (kinds == int(Surface.FACE)) | (kinds == int(Surface.BACK))
    lay = (lay | (cards & gone & cards_too[:, None, None])) & (stays | gone) & _parts(kinds.shape).to(there)
    lay = nn.functional.interpolate(lay[:, None].float(), size=x.shape[2:], mode="nearest") > 0
    now, bare = x[:, :3], x[:, 3:]
    x = torch.cat([torch.where(gone[:, None], bare, now), torch.where(lay, now, bare)], 1)
    return x, torch.where(gone, int(Surface.TABLE), kinds)


def _parts(shape: torch.Size) -> Tensor:
    """Return the part of a thing that was learned: all for half of the tables, else the part beyond a random line."""
    n, rows, columns = shape
    turn, off = 2 * math.pi * torch.rand(n, 1, 1), torch.rand(n, 1, 1) - 0.5
    y, x = torch.linspace(-1, 1, rows)[None, :, None], torch.linspace(-1, 1, columns)[None, None, :]
    return (torch.cos(turn) * x + torch.sin(turn) * y > off) | (torch.rand(n, 1, 1) < 0.5)


def _shown(x: Tensor, part: Tensor, mode: str) -> Tensor:
    grid = nn.functional.affine_grid(part, [len(x), 1, *x.shape[2:]], align_corners=False)
    return nn.functional.grid_sample(x, grid, mode=mode, padding_mode="border", align_corners=False)


def relit(x: Tensor) -> Tensor:
    """Vary camera and lamp: colours and exposure, alike for the picture and the bare table.

    ``x`` is N×6×H×W, 0 to 1. Colours are mixed, too, so that no skin or cloth is learned by heart; in two of five
    samples the lamp has changed a little since the table was learned.
    """
    n = len(x)
    mix = torch.eye(3) + 0.12 * torch.randn(n, 3, 3) * (torch.rand(n, 1, 1) < 0.5)
    mix = mix / mix.sum(2, keepdim=True)
    gain = (1 + 0.1 * torch.randn(n, 3, 1, 1)) * (1 + 0.15 * torch.randn(n, 1, 1, 1))
    offset, gamma = 0.03 * torch.randn(n, 3, 1, 1), torch.exp(0.2 * torch.randn(n, 1, 1, 1))
    lamp = 1 + 0.04 * torch.randn(n, 3, 1, 1) * (torch.rand(n, 1, 1, 1) < 0.4)
    mix, gain, offset, gamma, lamp = (drawn.to(x.device) for drawn in (mix, gain, offset, gamma, lamp))
    seen = []
    for part, light in ((x[:, :3], lamp), (x[:, 3:], torch.ones_like(lamp))):
        mixed = torch.einsum("nij,njhw->nihw", mix, part)
        seen.append((mixed * gain + offset).clamp_(1e-3, 1).pow(gamma) * light)
    return torch.cat(seen, 1)


def surface_loss(out: Tensor, kinds: NDArray[np.uint8] | Tensor) -> tuple[Tensor, dict[str, float]]:
    """Return the cross entropy over all pixels, and the arms' intersection over union of prediction and truth."""
    true = torch.as_tensor(kinds).to(out.device).long()
    weights = torch.tensor(_WEIGHTS, device=out.device)
    loss = nn.functional.cross_entropy(out, true, weight=weights, label_smoothing=0.02)
    told, arms = out.argmax(1) == int(Surface.ARM), true == int(Surface.ARM)
    share = (told & arms).sum() / (told | arms).sum().clamp_min(1)
    return loss, {"loss": float(loss.detach()), "arms": float(share)}
