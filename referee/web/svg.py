"""A drawing as a list of simple shapes, so that SVG and PNG show the same thing to the last digit.

Colours are roles; a palette says what they are. Coordinates are in pixels of the drawing, y downwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from referee.app.page.markup import Markup, tag

FONT: Final = "Roboto, 'Helvetica Neue', Arial, sans-serif"


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
    """Writing on a baseline; ``anchor`` is start, middle or end, ``weight`` 400 or 700."""

    x: float
    y: float
    text: str
    role: str
    size: float
    anchor: str = "start"
    weight: int = 400


@dataclass(frozen=True, slots=True)
class Polygon:
    """A filled outline."""

    points: tuple[tuple[float, float], ...]
    role: str
    alpha: float = 1.0


Shape: TypeAlias = Rect | Line | Text | Polygon


@dataclass(frozen=True, slots=True)
class Scene:
    """A drawing; ``title`` and ``description`` are for those who do not see it."""

    width: int
    height: int
    shapes: tuple[Shape, ...]
    title: str
    description: str


Palette: TypeAlias = Mapping[str, str]


def svg(scene: Scene, palette: Palette | None = None, class_: str | None = None) -> Markup:
    """The drawing as SVG.

    Args:
        scene: what to draw.
        palette: colours by role, for a file that stands by itself; None for one whose colours the page's CSS gives.
        class_: of the ``svg`` element.
    """
    shapes = [_shape(shape, palette) for shape in scene.shapes]
    return tag(
        "svg",
        tag("title", scene.title),
        tag("desc", scene.description),
        shapes,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {scene.width} {scene.height}",
        role="img",
        width=scene.width if palette else None,
        height=scene.height if palette else None,
        font_family=FONT,
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
    """A coordinate, to a hundredth of a pixel."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def hatch(x: float, y: float, width: float, height: float, step: float, role: str, alpha: float) -> Sequence[Line]:
    """Slanted lines across a rectangle, cut off at its edges."""
    lines = []
    count = int((width + height) / step) + 1
    for place in range(1, count + 1):
        d = place * step
        x1, y1 = (x + d, y) if d <= width else (x + width, y + d - width)
        x2, y2 = (x, y + d) if d <= height else (x + d - height, y + height)
        if x1 > x2:
            lines.append(Line(x1, y1, x2, y2, role, 1.0, alpha=alpha))
    return lines
