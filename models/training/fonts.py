"""Fonts for generated decks: the installed ones that can print an index, split for training and validation.

Four families belong to the simulated table and are never used here, so that its decks stay unseen: Roboto, Source
Serif, Source Sans and Fredoka.
"""

from __future__ import annotations

import subprocess
import zlib
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from models.eye.letters import GLYPHS

Ink = NDArray[np.uint8]
"""Amount of ink in each pixel, 0 to 255."""

#: Families of the simulated table's decks.
_HELD_OUT = "roboto, source serif, source sans, fredoka"
#: Families whose digits or letters are unfamiliar on a card (seen on a contact sheet), or that print no text.
_UNFIT = """isabella, emoji, symbol, braille, ocr, standardsymbols, d050000l, dingbats, esint, wasy, noto sans math,
mathjax, caliban, staveless, circos, blackletter, gotico, chancery, semafor, keyb, wargames, unifur, breip,
lobster"""
_STYLES = """regular, bold, book, medium, black, semibold, roman, condensed, light, extrabold, heavy, bold condensed,
condensed bold, demibold, normal"""
_NOTO = "noto sans, noto serif, noto sans mono, noto sans display, noto serif display"
_TEXTS = tuple(text for text in GLYPHS if text not in ("X", "Д"))


@dataclass(frozen=True, slots=True)
class Font:
    """A font file and its family."""

    path: str
    family: str
    cyrillic: bool = False
    """Whether it prints the one Russian letter without a Latin look-alike."""

    @property
    def held_out(self) -> bool:
        """True for the eighth of the families kept for validation (by a stable hash of the name)."""
        return zlib.crc32(self.family.encode()) % 8 == 0


def installed() -> list[Font]:
    """Return the system's fonts that print every rank legibly, sorted by path; at most three per family."""
    out = subprocess.run(
        ["fc-list", "--format", "%{file}|%{family[0]}|%{style[0]}\n"], capture_output=True, text=True, check=True
    )
    found: list[Font] = []
    count: dict[str, int] = {}
    for line in sorted(set(out.stdout.splitlines())):
        path, family, style = (*line.split("|"), "", "")[:3]
        if not _wanted(path, family, style) or count.get(family, 0) >= 3:
            continue
        if _prints_ranks(path):
            count[family] = count.get(family, 0) + 1
            found.append(Font(path, family, _has_ink(path, "Д")))
    return found


def listed(names: str) -> list[str]:
    """Return the names in a comma-separated list, which may span lines."""
    return [" ".join(name.split()) for name in names.split(",")]


def _wanted(path: str, family: str, style: str) -> bool:
    name = family.lower()
    unwanted = listed(_HELD_OUT) + listed(_UNFIT)
    if any(word in name or word.replace(" ", "") in name.replace(" ", "") for word in unwanted):
        return False
    # Noto's hundreds of scripts share the Latin letters: keep the plain ones.
    if name.startswith("noto") and name not in listed(_NOTO):
        return False
    return style.lower() in listed(_STYLES) and path.lower().endswith((".ttf", ".otf"))


def glyph(path: str, text: str, size: int = 150) -> Ink | None:
    """Return the ink of `text` as a tight uint8 mask; None if the font cannot print it."""
    try:
        font = ImageFont.truetype(path, size)
        box = font.getbbox(text)
        image = Image.new("L", (int(box[2] - box[0]) + 8, int(box[3] - box[1]) + 8))
        ImageDraw.Draw(image).text((4 - box[0], 4 - box[1]), text, font=font, fill=255)
    except (OSError, ValueError):
        return None
    mask = np.asarray(image, np.uint8)
    ys, xs = np.nonzero(mask > 60)
    if len(ys) < 50:
        return None
    return np.ascontiguousarray(mask[ys.min() : ys.max() + 1, xs.min() : xs.max() + 1])


def _has_ink(path: str, letter: str) -> bool:
    """Whether the font has the letter; a font draws all missing characters alike."""
    ink, none = glyph(path, letter, 60), glyph(path, "\U0010fffd", 60)
    return ink is not None and (none is None or not np.array_equal(ink, none))


def _prints_ranks(path: str) -> bool:
    """Whether every rank has ink and no two look alike (a missing glyph draws the same box each time)."""
    seen: list[Ink] = []
    for text in _TEXTS:
        mask = glyph(path, text, 60)
        if mask is None or not 0.15 < mask.shape[1] / mask.shape[0] < 3.0:
            return False
        small = cv2.resize(mask, (16, 16), interpolation=cv2.INTER_AREA)
        if any(float(np.abs(small.astype(int) - other.astype(int)).mean()) < 6 for other in seen):
            return False
        seen.append(small)
    return True
