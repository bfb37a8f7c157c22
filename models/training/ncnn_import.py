"""Loads a shipped network's weights back into a trainable network, to continue training from them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from models.eye.classes import RANK_CLASSES
from models.eye.letters import GLYPHS
from models.eye.networks import Parts, read_parts

_COUNTS: Final = {"Convolution": "6", "InnerProduct": "2"}
"""The parameter that counts a layer's weights, by its kind (NCNN's documentation of its operators)."""
#: Initial logit of a glyph that the shipped weights do not know.
_UNLIKELY = -4.0


@torch.no_grad()  # type: ignore[untyped-decorator]
def load_shipped(net: nn.Module, path: Path, pictures: Tensor) -> None:
    """Load a file's weights into a new network; a classifier's rows that the file lacks start as unlikely.

    In the file the batch norms are folded into the convolutions. They are restored with the statistics of ``pictures``
    (N, 3, H, W), a few hundred as in training, so that training finds the statistics it expects.
    """
    parts = read_parts(path)
    layers = _layers_of(parts)
    mine = [layer for layer in net.modules() if isinstance(layer, nn.Conv2d | nn.Linear)]
    names = parts.glyphs.split() or list(RANK_CLASSES)
    norms = [layer for layer in net.modules() if isinstance(layer, nn.BatchNorm2d)]
    folded = iter(norms)
    for layer, (weight, bias) in zip(mine, layers, strict=True):
        weight = weight.reshape(len(bias), *layer.weight.shape[1:])
        if layer.weight.shape != weight.shape:
            weight, bias = _with_rows(weight, bias, names, len(layer.weight))
        layer.weight.copy_(weight)
        if layer.bias is not None:
            layer.bias.copy_(bias)
        else:
            norm = next(folded)
            norm.running_mean.zero_()
            norm.running_var.fill_(1 - norm.eps)
            norm.bias.copy_(bias)
    _unfold(net, norms, pictures)


def _layers_of(parts: Parts) -> list[tuple[Tensor, Tensor]]:
    """Return weights (flat) and biases of the convolutions and linear layers.

    In the file each layer's weights follow four bytes that name their type, which is 0: single precision.
    """
    numbers = torch.from_numpy(np.frombuffer(parts.numbers, np.float32).copy())
    found, at = [], 0
    for line in parts.layers.splitlines()[2:]:
        kind, *words = line.split()
        if kind in _COUNTS:
            told = dict(word.split("=") for word in words if "=" in word)
            weights, biases = int(told[_COUNTS[kind]]), int(told["0"])
            found.append((numbers[at + 1 : at + 1 + weights], numbers[at + 1 + weights : at + 1 + weights + biases]))
            at += 1 + weights + biases
    return found


def _with_rows(weight: Tensor, bias: Tensor, names: list[str], rows: int) -> tuple[Tensor, Tensor]:
    """Return the last layer with a row for each of `GLYPHS`, from a file's rows for ``names``."""
    ranks = tuple(names) == RANK_CLASSES
    places = [GLYPHS.index("10" if ranks and name == "T" else name) for name in names]
    places += range(len(GLYPHS), len(GLYPHS) + len(weight) - len(names))
    wide, offsets = weight.new_zeros(rows, weight.shape[1]), bias.new_full((rows,), _UNLIKELY)
    wide[places], offsets[places] = weight, bias
    return wide, offsets


def _unfold(net: nn.Module, norms: list[nn.BatchNorm2d], pictures: Tensor) -> None:
    """Set each norm's statistics to those of ``pictures``, and its scale and shift so that the output is unchanged."""
    seen: dict[nn.Module, tuple[Tensor, Tensor]] = {}

    def note(norm: nn.Module, given: tuple[Tensor, ...]) -> None:
        variance, mean = torch.var_mean(given[0], dim=(0, 2, 3))
        seen[norm] = (mean, variance)

    hooks = [norm.register_forward_pre_hook(note) for norm in norms]
    net.eval()
    net(pictures)
    for hook in hooks:
        hook.remove()
    for norm in norms:
        mean, variance = seen[norm]
        norm.running_mean.copy_(mean)
        norm.running_var.copy_(variance)
        norm.weight.copy_((variance + norm.eps).sqrt())
        norm.bias.add_(mean)
