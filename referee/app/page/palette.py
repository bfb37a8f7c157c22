"""Colours, once for all: of the page, of its drawings, and of files that are downloaded; light and dark."""

from __future__ import annotations

from typing import Final

from referee.app.page.scene import Palette

LIGHT: Final[Palette] = {
    "ground": "#f5f2ea", "panel": "#fffdf8", "lane": "#f0ece1", "rule": "#d9d2c0", "rule2": "#b9b09a",
    "ink": "#1b1a17", "soft": "#5d574a", "accent": "#0c5c4a", "finish": "#c1121f", "good": "#0c6b3d", "bad": "#b3261e",
    "warn": "#8a5a00", "felt": "#0f5a46", "felt2": "#0a4637", "onfelt": "#f4f1e6", "onaccent": "#ffffff",
    "face": "#ffffff", "edge": "#cfc8b6", "black": "#17171b", "red": "#c1121f", "back": "#274b8f",
    "seat1": "#0b63a8", "seat2": "#a85400", "seat3": "#19702d", "seat4": "#a81f66", "seat5": "#6138b8",
    "seat6": "#6f5b00", "seat7": "#006b60", "seat8": "#b2340c",
}  # fmt: skip
DARK: Final[Palette] = {
    "ground": "#0e1113", "panel": "#171b1e", "lane": "#1e2428", "rule": "#2d353a", "rule2": "#4b565d",
    "ink": "#f1f3f2", "soft": "#a9b4b8", "accent": "#5fe0b7", "finish": "#ff5a5f", "good": "#6ee7a0", "bad": "#ff8a80",
    "warn": "#ffc766", "felt": "#0d4a3b", "felt2": "#08352a", "onfelt": "#eef5f1", "onaccent": "#06251c",
    "face": "#fbfaf6", "edge": "#8d9694", "black": "#17171b", "red": "#c1121f", "back": "#35589f",
    "seat1": "#5cc8ff", "seat2": "#ffb454", "seat3": "#7ee787", "seat4": "#ff8fc0", "seat5": "#c3a6ff",
    "seat6": "#ffe066", "seat7": "#4fd6c3", "seat8": "#ff9d7a",
}  # fmt: skip
PALETTES: Final = {"light": LIGHT, "dark": DARK}
_SYSTEM_DARK: Final = "@media (prefers-color-scheme: dark)"


def seat_role(seat: int | None) -> str:
    """The colour of a seat; of nobody's things where there is none."""
    return "soft" if seat is None else f"seat{(seat - 1) % 8 + 1}"


def stylesheet() -> str:
    """The colours as CSS: variables, and a class for filling and one for stroking with each."""
    roles = "\n".join(f".f-{role}{{fill:var(--{role})}}.s-{role}{{stroke:var(--{role})}}" for role in LIGHT)
    return (
        f":root{{{_variables(LIGHT)};color-scheme:light}}\n"
        f"{_SYSTEM_DARK}{{:root:not([data-theme=light]){{{_variables(DARK)};color-scheme:dark}}}}\n"
        f":root[data-theme=dark]{{{_variables(DARK)};color-scheme:dark}}\n"
        f"@media print{{:root:root:root{{{_variables(LIGHT)};color-scheme:light}}}}\n{roles}\n"
    )


def _variables(palette: Palette) -> str:
    return ";".join(f"--{role}:{colour}" for role, colour in palette.items())
