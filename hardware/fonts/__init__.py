"""The typefaces that ship: subsets of Roboto, Source Serif Pro and Fredoka One, made by `tools/fonts.py`."""

from __future__ import annotations

from pathlib import Path


def font_file(name: str) -> str:
    """Return the path of a typeface such as ``Roboto-Bold``."""
    return str(Path(__file__).with_name(f"{name}.ttf"))
