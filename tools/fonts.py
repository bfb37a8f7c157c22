"""`python -m tools.fonts FOLDER`: write subsets of the shipped typefaces into hardware/fonts.

FOLDER holds the originals: Roboto (Apache-2.0), Source Serif Pro and Fredoka One (SIL Open Font License), as TTF files
under their own names. The Open Font License reserves the original names, so changed files get new names.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from fontTools.subset import Options, Subsetter, load_font, save_font

TO: Final = Path(__file__).parents[1] / "hardware" / "fonts"
_LATIN: Final = [*range(0x20, 0x7F), *range(0xA0, 0x250), *range(0x2C6, 0x2DE), *range(0x300, 0x370)]
_MARKS: Final = [*range(0x2000, 0x2070), *range(0x20A0, 0x20D0), *range(0x2100, 0x27C0)]
_CYRILLIC: Final = range(0x410, 0x430)
"""Capitals alone: the letters of Russian cards."""
_CHARACTERS: Final = [*_LATIN, *_CYRILLIC, *_MARKS]
_NAMES: Final = {
    "Roboto-Regular": "", "Roboto-Medium": "", "Roboto-Bold": "", "Roboto-Black": "",
    "SourceSerifPro-Semibold": "RefereeSerif-Semibold", "SourceSerifPro-Bold": "RefereeSerif-Bold",
    "FredokaOne-Regular": "RefereeRound-Regular",
}  # fmt: skip
"""Each original, and the name of its subset; empty where the licence lets it keep its own."""


def make_subset(original: Path, name: str) -> Path:
    """Write the subset of one typeface, with the original's hinting and spacing; return its file."""
    options = Options()
    options.hinting, options.layout_features, options.notdef_outline = True, ["*"], True
    font = load_font(str(original), options)
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=_CHARACTERS)
    subsetter.subset(font)
    if name:
        family, _, style = name.partition("-")
        for record in font["name"].names:
            said = {1: family, 3: name, 4: f"{family} {style}", 6: name, 16: family}.get(record.nameID)
            if said is not None:
                record.string = said
    to = TO / f"{name or original.stem}.ttf"
    save_font(font, str(to), options)
    return to


if __name__ == "__main__":
    for stem, renamed in _NAMES.items():
        made = make_subset(Path(sys.argv[1]) / f"{stem}.ttf", renamed)
        print(f"{made.name}: {made.stat().st_size} bytes")
