"""HTML and SVG as Python calls: everything that is not `Markup` already is escaped.

`tag` makes an element, `svg` a picture from a list of simple shapes; beside them are the suits of the cards and the
colours of page and drawings. Colours are roles; a palette gives their values. Coordinates are in pixels of the drawing,
y downwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Final, TypeAlias

_VOID: Final = frozenset(("meta", "link", "input", "img", "br", "hr"))


class Markup(str):
    """Text that is markup already, and is not escaped again."""

    __slots__ = ()

    def __add__(self, other: str) -> Markup:
        """Append markup; other text is escaped."""
        return Markup(super().__add__(join(other)))


Child: TypeAlias = "str | int | Iterable[Child] | None"
Attribute: TypeAlias = "str | int | float | bool | None"


def tag(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """Return one element. The attribute ``aria_label`` becomes ``aria-label``, ``class_`` ``class``; None is
    omitted."""
    head = name + "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{head}>")
    return Markup(f"<{head}>{join(children)}</{name}>")


def panel(title: str, *children: Child, class_: str = "panel") -> Markup:
    """Return a section with a heading."""
    return tag("section", tag("h2", title), children, class_=class_)


def button_link(text: str, href: str, *, strong: bool = False, **attributes: Attribute) -> Markup:
    """Return a link that looks like a button."""
    return tag("a", text, href=href, class_="button strong" if strong else "button", **attributes)


def data_table(
    heads: Sequence[Child], rows: Sequence[Markup], label: str, *, class_: str | None = None, around: str = "scroll"
) -> Markup:
    """Return a table that scrolls sideways on a narrow screen, also by keyboard.

    Args:
        heads: of the columns; none for a table without a head.
        rows: each a ``tr``.
        label: describes the table to screen readers.
        class_: of the table.
        around: classes of the scrolling element.
    """
    head = tag("thead", tag("tr", [tag("th", head, scope="col") if head else tag("td", "") for head in heads]))
    table = tag("table", head if heads else None, tag("tbody", rows), class_=class_)
    return tag("div", table, class_=around, tabindex=0, role="region", aria_label=label)


def join(children: Child) -> Markup:
    """Return the children one after another."""
    if children is None:
        return Markup()
    if isinstance(children, Markup):
        return children
    if isinstance(children, str):
        return Markup(escape(children))
    if isinstance(children, int):
        return Markup(children)
    return Markup("".join(join(child) for child in children))


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'


_STEM: Final = "M50 58 C50 78 44 90 32 95 L68 95 C56 90 50 78 50 58 Z"
_PATHS: Final = {
    "h": ("M50 93 C22 66 6 49 6 30 C6 16 17 7 29 7 C39 7 46 13 50 22 C54 13 61 7 71 7 C83 7 94 16 94 30 "
          "C94 49 78 66 50 93 Z",),
    "d": ("M50 3 C60 20 72 36 86 50 C72 64 60 80 50 97 C40 80 28 64 14 50 C28 36 40 20 50 3 Z",),
    "s": ("M50 4 C70 30 94 42 94 62 C94 75 84 82 74 82 C63 82 55 76 50 66 C45 76 37 82 26 82 C16 82 6 75 6 62 "
          "C6 42 30 30 50 4 Z", _STEM),
    "c": ("M72 26 C72 38 62 48 50 48 C38 48 28 38 28 26 C28 14 38 4 50 4 C62 4 72 14 72 26 Z",
          "M48 60 C48 72 38 82 26 82 C14 82 4 72 4 60 C4 48 14 38 26 38 C38 38 48 48 48 60 Z",
          "M96 60 C96 72 86 82 74 82 C62 82 52 72 52 60 C52 48 62 38 74 38 C86 38 96 48 96 60 Z",
          "M42 40 L58 40 L58 64 L42 64 Z", _STEM),
}  # fmt: skip


@cache
def suit_path(suit: str) -> str:
    """Return the outline of a suit in a square of 100 by 100, as the data of an SVG path; a star for jokers."""
    if suit in _PATHS:
        return " ".join(_PATHS[suit])
    corners = []
    for place in range(10):
        radius, angle = 48.0 if place % 2 == 0 else 20.0, math.pi * place / 5
        corners.append(f"{50 + radius * math.sin(angle):.1f} {52 - radius * math.cos(angle):.1f}")
    return "M" + " L".join(corners) + " Z"


_FONT: Final = "Roboto, 'Helvetica Neue', Arial, sans-serif"


@dataclass(frozen=True, slots=True)
class Rect:
    """A filled rectangle; ``alpha`` from 0 to 1, ``radius`` of its corners."""

    x: float
    y: float
    width: float
    height: float
    role: str
    alpha: float = 1.0
    radius: float = 0.0


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line; ``dash`` is the length of dashes and of gaps."""

    x1: float
    y1: float
    x2: float
    y2: float
    role: str
    width: float = 1.0
    dash: float = 0.0
    alpha: float = 1.0


@dataclass(frozen=True, slots=True)
class Text:
    """Text on a baseline; ``anchor`` is start, middle or end, ``weight`` 400 or 700."""

    x: float
    y: float
    text: str
    role: str
    size: float
    anchor: str = "start"
    weight: int = 400


@dataclass(frozen=True, slots=True)
class Polyline:
    """A line through points, ``width`` thick."""

    points: tuple[tuple[float, float], ...]
    role: str
    width: float


@dataclass(frozen=True, slots=True)
class Polygon:
    """A filled outline."""

    points: tuple[tuple[float, float], ...]
    role: str
    alpha: float = 1.0


@dataclass(frozen=True, slots=True)
class SuitMark:
    """A card's suit, ``size`` wide and high."""

    x: float
    y: float
    size: float
    suit: str
    role: str


@dataclass(frozen=True, slots=True)
class Photo:
    """A square picture, ``size`` wide and high; ``href`` is its address, or itself as a data URL."""

    x: float
    y: float
    size: float
    href: str


Shape: TypeAlias = Rect | Line | Text | Polyline | Polygon | SuitMark | Photo


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing; ``title`` and ``description`` are for screen readers."""

    width: int
    height: int
    shapes: tuple[Shape, ...]
    title: str
    description: str


Palette: TypeAlias = Mapping[str, str]


def svg(drawing: Drawing, palette: Palette | None = None, class_: str | None = None) -> Markup:
    """Return the drawing as SVG.

    Args:
        drawing: what to draw.
        palette: colours by role, for a self-contained file; None: the page's CSS gives the colours.
        class_: of the ``svg`` element.
    """
    shapes = [_shape(shape, palette) for shape in drawing.shapes]
    return tag(
        "svg",
        tag("title", drawing.title),
        tag("desc", drawing.description),
        shapes,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {drawing.width} {drawing.height}",
        role="img",
        width=drawing.width if palette else None,
        height=drawing.height if palette else None,
        font_family=_FONT,
        class_=class_,
    )


def _shape(shape: Shape, palette: Palette | None) -> Markup:
    if isinstance(shape, Rect):
        return tag(
            "rect", x=_n(shape.x), y=_n(shape.y), width=_n(shape.width), height=_n(shape.height),
            rx=_n(shape.radius) if shape.radius else None, **_fill(shape.role, shape.alpha, palette),
        )  # fmt: skip
    if isinstance(shape, Polygon):
        points = " ".join(f"{_n(x)},{_n(y)}" for x, y in shape.points)
        return tag("polygon", points=points, **_fill(shape.role, shape.alpha, palette))
    if isinstance(shape, Polyline):
        points = " ".join(f"{_n(x)},{_n(y)}" for x, y in shape.points)
        colour = {"class_": f"s-{shape.role}"} if palette is None else {"stroke": palette[shape.role]}
        return tag(
            "polyline", points=points, fill="none", stroke_width=_n(shape.width), stroke_linejoin="round", **colour
        )
    if isinstance(shape, Photo):
        return tag("image", x=_n(shape.x), y=_n(shape.y), width=_n(shape.size), height=_n(shape.size), href=shape.href)
    if isinstance(shape, SuitMark):
        place = f"translate({_n(shape.x)} {_n(shape.y)}) scale({shape.size / 100:.4f})"
        return tag("path", d=suit_path(shape.suit), transform=place, **_fill(shape.role, 1.0, palette))
    if isinstance(shape, Line):
        colour = {"class_": f"s-{shape.role}"} if palette is None else {"stroke": palette[shape.role]}
        return tag(
            "line", x1=_n(shape.x1), y1=_n(shape.y1), x2=_n(shape.x2), y2=_n(shape.y2), stroke_width=_n(shape.width),
            stroke_dasharray=_n(shape.dash) if shape.dash else None,
            stroke_opacity=_n(shape.alpha) if shape.alpha < 1 else None, **colour,
        )  # fmt: skip
    return tag(
        "text", shape.text, x=_n(shape.x), y=_n(shape.y), font_size=_n(shape.size),
        text_anchor=shape.anchor if shape.anchor != "start" else None,
        font_weight=shape.weight if shape.weight != 400 else None, **_fill(shape.role, 1.0, palette),
    )  # fmt: skip


def _fill(role: str, alpha: float, palette: Palette | None) -> dict[str, str]:
    out = {"class_": f"f-{role}"} if palette is None else {"fill": palette[role]}
    if alpha < 1:
        out["fill_opacity"] = _n(alpha)
    return out


def _n(value: float) -> str:
    """Format a coordinate, to a hundredth of a pixel."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def hatch(x: float, y: float, width: float, height: float, step: float, role: str, alpha: float) -> Sequence[Line]:
    """Return slanted lines across a rectangle, clipped at its edges."""
    lines = []
    for place in range(1, int((width + height) / step) + 2):
        d = place * step
        x1, y1 = (x + d, y) if d <= width else (x + width, y + d - width)
        x2, y2 = (x, y + d) if d <= height else (x + d - height, y + height)
        if x1 > x2:
            lines.append(Line(x1, y1, x2, y2, role, 1.0, alpha=alpha))
    return lines


_LIGHT: Final[Palette] = {
    "ground": "#f5f2ea", "panel": "#fffdf8", "lane": "#f0ece1", "rule": "#d9d2c0", "rule2": "#b9b09a",
    "ink": "#1b1a17", "soft": "#5d574a", "accent": "#0c5c4a", "finish": "#c1121f", "good": "#0c6b3d", "bad": "#b3261e",
    "warn": "#8a5a00", "felt": "#0f5a46", "felt2": "#0a4637", "onfelt": "#f4f1e6", "onaccent": "#ffffff",
    "face": "#ffffff", "edge": "#cfc8b6", "black": "#17171b", "red": "#c1121f", "back": "#274b8f",
    "seat1": "#0b63a8", "seat2": "#a85400", "seat3": "#19702d", "seat4": "#a81f66", "seat5": "#6138b8",
    "seat6": "#6f5b00", "seat7": "#006b60", "seat8": "#b2340c",
}  # fmt: skip
_DARK: Final[Palette] = {
    "ground": "#0e1113", "panel": "#171b1e", "lane": "#1e2428", "rule": "#2d353a", "rule2": "#4b565d",
    "ink": "#f1f3f2", "soft": "#a9b4b8", "accent": "#5fe0b7", "finish": "#ff5a5f", "good": "#6ee7a0", "bad": "#ff8a80",
    "warn": "#ffc766", "felt": "#0d4a3b", "felt2": "#08352a", "onfelt": "#eef5f1", "onaccent": "#06251c",
    "face": "#fbfaf6", "edge": "#8d9694", "black": "#17171b", "red": "#c1121f", "back": "#35589f",
    "seat1": "#5cc8ff", "seat2": "#ffb454", "seat3": "#7ee787", "seat4": "#ff8fc0", "seat5": "#c3a6ff",
    "seat6": "#ffe066", "seat7": "#4fd6c3", "seat8": "#ff9d7a",
}  # fmt: skip
PALETTES: Final = {"light": _LIGHT, "dark": _DARK}
_SYSTEM_DARK: Final = "@media (prefers-color-scheme: dark)"


def seat_role(seat: int | None) -> str:
    """Return the colour role of a seat; a neutral one for None."""
    return "soft" if seat is None else f"seat{(seat - 1) % 8 + 1}"


def stylesheet() -> str:
    """Return the colours as CSS: variables, and for each a class for fills and one for strokes."""
    roles = "\n".join(f".f-{role}{{fill:var(--{role})}}.s-{role}{{stroke:var(--{role})}}" for role in _LIGHT)
    return (
        f":root{{{_variables(_LIGHT)};color-scheme:light}}\n"
        f"{_SYSTEM_DARK}{{:root:not([data-theme=light]){{{_variables(_DARK)};color-scheme:dark}}}}\n"
        f":root[data-theme=dark]{{{_variables(_DARK)};color-scheme:dark}}\n"
        f"@media print{{:root:root:root{{{_variables(_LIGHT)};color-scheme:light}}}}\n{roles}\n"
    )


def _variables(palette: Palette) -> str:
    return ";".join(f"--{role}:{colour}" for role, colour in palette.items())
