"""The four networks, small enough for one core of a small computer. Inputs are B,G,R in 0…1, N×3×H×W."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from models.eye.letters import GLYPHS
from models.eye.reader import N_SUITS
from models.watch.surfaces import Surface

#: Finder channels: heat, then in units of `finder.VECTOR_UNIT` input px: offset of the centre (2, over 4 px), up (2),
#: vector to the card's centre (2), half axes of the card up (2) and right (2).
_FINDER_OUT = 11
#: Reader channels: glyph of the rank, suits, "an upright index".
_READER_OUT = len(GLYPHS) + N_SUITS + 1
#: Card reader channels: rank or court's letter, suits, "nothing lies on it", the four corners.
_CARD_OUT = len(GLYPHS) + N_SUITS + 1 + 8
#: Channels of the surface network at a half, a quarter, an eighth and a sixteenth of the size.
_SURFACE_WIDTHS = (16, 32, 48, 64)


def _conv(a: int, b: int, stride: int = 1, kernel: int = 3) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(a, b, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(b), nn.ReLU(inplace=True)
    )


class _Residual(nn.Module):  # type: ignore[misc]
    def __init__(self, c: int) -> None:
        super().__init__()
        self.first = _conv(c, c)
        self.second = nn.Sequential(nn.Conv2d(c, c, 3, 1, 1, bias=False), nn.BatchNorm2d(c))

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.second(self.first(x)))


class FinderNet(nn.Module):  # type: ignore[misc]
    """Maps a picture to a map of indices at a quarter of the size; sides must be multiples of 16."""

    def __init__(self) -> None:
        super().__init__()
        self.quarter = nn.Sequential(_conv(3, 16, 2, 5), _conv(16, 32, 2), _conv(32, 32))
        self.eighth = nn.Sequential(_conv(32, 48, 2), _Residual(48), _Residual(48))
        self.sixteenth = nn.Sequential(_conv(48, 64, 2), _Residual(64), _Residual(64))
        self.up16 = nn.Conv2d(64, 48, 1)
        self.up8 = nn.Sequential(_conv(48, 48), nn.Conv2d(48, 32, 1))
        self.head = nn.Sequential(_conv(32, 48), nn.Conv2d(48, _FINDER_OUT, 1))
        nn.init.constant_(self.head[-1].bias[:1], -4.0)  # most places are no index

    def forward(self, x: Tensor) -> Tensor:
        x = (x - 0.45) * 4
        q = self.quarter(x)
        e = self.eighth(q)
        s = self.sixteenth(e)
        e = e + nn.functional.interpolate(self.up16(s), scale_factor=2.0, mode="nearest")
        q = q + nn.functional.interpolate(self.up8(e), scale_factor=2.0, mode="nearest")
        out: Tensor = self.head(q)
        return out


class _Classifier(nn.Module):  # type: ignore[misc]
    """Maps patches (N, 3, H, W) to logits."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.body = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.body((x - 0.5) * 4)
        return out


def reader_net() -> nn.Module:
    """Return a network from patches 3×64×48 to logits of rank, suit and "is an upright index"."""
    return _Classifier(
        _conv(3, 24, 2, 5),
        _conv(24, 48),
        _conv(48, 64, 2),
        _Residual(64),
        _Residual(64),
        _conv(64, 128, 2),
        _Residual(128),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(128 * 12, 256),
        nn.ReLU(inplace=True),
        nn.Linear(256, _READER_OUT),
    )


def card_net() -> nn.Module:
    """Return a network from cards 3×88×64 to logits of rank, suit and "nothing lies on it", and corners (-1…1)."""
    return _Classifier(
        _conv(3, 24, 2),
        _conv(24, 32),
        _conv(32, 48, 2),
        _Residual(48),
        _conv(48, 64, 2),
        _Residual(64),
        _conv(64, 96, 2),
        _Residual(96),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(96 * 24, 128),
        nn.ReLU(inplace=True),
        nn.Linear(128, _CARD_OUT),
    )


class SurfaceNet(nn.Module):  # type: ignore[misc]
    """Maps pictures with the bare table as channels 3 to 5 (N×6×H×W) to logits per `Surface` and place, half size."""

    def __init__(self) -> None:
        super().__init__()
        a, b, c, d = _SURFACE_WIDTHS
        self.at2 = nn.Sequential(_conv(9, a, 2), _conv(a, a))
        self.at4 = nn.Sequential(_conv(a, b, 2), _Residual(b))
        self.at8 = nn.Sequential(_conv(b, c, 2), _Residual(c))
        self.at16 = nn.Sequential(_conv(c, d, 2), _Residual(d))
        self.everywhere = nn.Linear(d, d)
        self.from16, self.up8 = nn.Conv2d(d, c, 1), _conv(c, c)
        self.from8, self.up4 = nn.Conv2d(c, b, 1), _conv(b, b)
        self.from4, self.up2 = nn.Conv2d(b, a, 1), _conv(a, a)
        self.head = nn.Conv2d(a, len(Surface), 1)

    def forward(self, x: Tensor) -> Tensor:
        now, bare = x[:, :3], x[:, 3:]
        # A shadow changes all colours by the same factor, on any cloth.
        change = torch.log((now + 0.04) / (bare + 0.04))
        two = self.at2(torch.cat([now * 2 - 1, bare * 2 - 1, change], 1))
        four = self.at4(two)
        eight = self.at8(four)
        deep = self.at16(eight)
        # A change of the whole picture comes from the lamp.
        deep = deep + self.everywhere(deep.mean((2, 3)))[:, :, None, None]
        eight = self.up8(eight + _as_large(self.from16(deep), eight))
        four = self.up4(four + _as_large(self.from8(eight), four))
        out: Tensor = self.head(self.up2(two + _as_large(self.from4(four), two)))
        return out


def _as_large(x: Tensor, other: Tensor) -> Tensor:
    return nn.functional.interpolate(x, size=other.shape[2:], mode="nearest")


NETS: dict[str, Callable[[], nn.Module]] = {
    "finder": FinderNet, "reader": reader_net, "card": card_net, "surfaces": SurfaceNet,
}  # fmt: skip
INPUTS: dict[str, tuple[int, int, int]] = {
    "finder": (256, 256, 3), "reader": (64, 48, 3), "card": (88, 64, 3), "surfaces": (120, 160, 6),
}  # fmt: skip
