"""Technical drawings as SVG, for wiring and build guide: one ink, three line weights, three text sizes.

The background is drawn white, so that a drawing looks the same on a dark page and in print. Lengths are pixels of the
drawing, y downwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from referee.web.markup import Markup, tag

INK: Final = "#1b1b1b"
PAPER: Final = "#ffffff"
FAINT: Final = "#5c5c5c"
"""Colour of dimensions and free pins."""
SHADE: Final = "#efefef"
THIN: Final = 1.0
EDGE: Final = 1.5
WIRE: Final = 2.5
HEAD: Final = 20
BODY: Final = 14
LABEL: Final = 15
"""Text size of part names."""
SMALL: Final = 12
STROKES: Final = {
    "pad": ("#0b5cad", ""), "light": ("#b35900", "9 4"), "colour": ("#7a1fa2", "2 4"), "force": ("#00695c", "10 3 2 3"),
}  # fmt: skip
"""Colour and dashes of each kind of wire."""
_ARROW: Final = 8


class Blueprint:
    """A drawing sheet; `svg` returns the drawing."""

    def __init__(self, width: float, height: float, title: str, subtitle: str = "") -> None:
        self.width, self.height = width, height
        self._title = title
        self._drawn: list[Markup] = []
        self.rect(0, 0, width, height, stroke="none")
        self.head(0, title, subtitle)

    def head(self, top: float, title: str, subtitle: str = "") -> None:
        """Draw a title and a subtitle, centred on the sheet."""
        self.text(self.width / 2, top + 32, title, "middle", HEAD)
        if subtitle:
            self.text(self.width / 2, top + 54, subtitle, "middle")

    def svg(self) -> str:
        """Return the sheet as a file's text."""
        head = tag("title", self._title)
        return tag(
            "svg", "\n", head, "\n", [(markup, "\n") for markup in self._drawn], xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {self.width:g} {self.height:g}", width=f"{self.width:g}", height=f"{self.height:g}",
            font_family="DejaVu Sans, Verdana, sans-serif", font_size=BODY, fill=INK,
        ) + "\n"  # fmt: skip

    @contextmanager
    def group(self, **data: str | int) -> Iterator[None]:
        """Group the shapes drawn inside, with data attributes."""
        outside, self._drawn = self._drawn, []
        try:
            yield
        finally:
            self._drawn = [*outside, tag("g", self._drawn, **data)]

    def line(
        self, *points: tuple[float, float], stroke: str = INK, width: float = EDGE, dashes: str = "",
        close: bool = False, fill: str = "none",
    ) -> None:  # fmt: skip
        """Draw a line through points, or with ``close`` an outline."""
        if len(points) == 2:
            (x1, y1), (x2, y2) = points
            self._add("line", x1=_n(x1), y1=_n(y1), x2=_n(x2), y2=_n(y2), **_stroke(stroke, width, dashes))
            return
        places = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        shape = "polygon" if close else "polyline"
        self._add(shape, points=places, fill=fill, stroke_linejoin="round", **_stroke(stroke, width, dashes))

    def rect(
        self, x: float, y: float, width: float, height: float, fill: str = PAPER, radius: float = 0, stroke: str = INK,
        weight: float = EDGE, dashes: str = "",
    ) -> None:  # fmt: skip
        """Draw a rectangle from its top left corner."""
        self._add(
            "rect", x=_n(x), y=_n(y), width=_n(width), height=_n(height), rx=_n(radius) if radius else None, fill=fill,
            **_stroke(stroke, weight, dashes),
        )  # fmt: skip

    def circle(
        self, x: float, y: float, radius: float, fill: str = PAPER, stroke: str = INK, weight: float = EDGE
    ) -> None:
        """Draw a circle around its centre."""
        self._add("circle", cx=_n(x), cy=_n(y), r=_n(radius), fill=fill, **_stroke(stroke, weight))

    def ellipse(self, x: float, y: float, across: float, down: float, fill: str = PAPER, stroke: str = INK) -> None:
        """Draw an ellipse from its half width and half height."""
        self._add("ellipse", cx=_n(x), cy=_n(y), rx=_n(across), ry=_n(down), fill=fill, **_stroke(stroke, EDGE))

    def path(self, d: str, fill: str = "none", stroke: str = INK, weight: float = EDGE, dashes: str = "") -> None:
        """Draw any outline, given as SVG path data."""
        self._add("path", d=d, fill=fill, **_stroke(stroke, weight, dashes))

    def text(
        self, x: float, y: float, words: str, anchor: str = "start", size: float = BODY, fill: str = INK, turn: int = 0
    ) -> None:
        """Draw text on a baseline, rotated about its origin by ``turn`` degrees."""
        self._add(
            "text", words, x=_n(x), y=_n(y), text_anchor=anchor, font_size=_n(size), fill=fill,
            transform=f"rotate({turn} {_n(x)} {_n(y)})" if turn else None,
        )  # fmt: skip

    def lines(self, x: float, y: float, words: Sequence[str], anchor: str = "start", size: float = BODY) -> None:
        """Draw lines of text, one below the other."""
        for row, line in enumerate(words):
            self.text(x, y + row * size * 1.4, line, anchor, size)

    def arrow(self, x: float, y: float, angle: float, stroke: str = FAINT) -> None:
        """Draw an arrowhead with its tip here, in direction ``angle`` (radians)."""
        wings = [(x - _ARROW * math.cos(angle + a), y - _ARROW * math.sin(angle + a)) for a in (-0.35, 0.35)]
        self.line((x, y), *wings, stroke=stroke, width=THIN, close=True, fill=stroke)

    def measure(self, x1: float, y1: float, x2: float, y2: float, words: str, off: float = 0) -> None:
        """Draw a vertical or horizontal dimension between two points, offset by ``off``, with arrows and a label.

        If the arrows do not fit between the ends, they point inwards from outside, with the label behind them.
        """
        upright = abs(x1 - x2) < abs(y1 - y2)
        if upright:
            a, b, room = (x1 + off, min(y1, y2)), (x1 + off, max(y1, y2)), abs(y1 - y2)
            ends = [((x, y), (a[0] + math.copysign(5, off), y)) for x, y in ((x1, y1), (x2, y2))]
        else:
            a, b, room = (min(x1, x2), y1 + off), (max(x1, x2), y1 + off), abs(x1 - x2)
            ends = [((x, y), (x, a[1] + math.copysign(5, off))) for x, y in ((x1, y1), (x2, y2))]
        if off:
            for end in ends:
                self.line(*end, stroke=FAINT, width=THIN)
        turn = math.pi / 2 if upright else 0.0
        wide = room > 3 * _ARROW
        if wide:
            self.line(a, b, stroke=FAINT, width=THIN)
        else:
            for place, way in ((a, -1), (b, 1)):
                out = (place[0], place[1] + way * 16) if upright else (place[0] + way * 16, place[1])
                self.line(place, out, stroke=FAINT, width=THIN)
        self.arrow(*a, turn + (math.pi if wide else 0))
        self.arrow(*b, turn + (0 if wide else math.pi))
        if upright:
            self.text(
                a[0] + (7 if off >= 0 else -7), (a[1] + b[1]) / 2 + 4, words, "start" if off >= 0 else "end", SMALL
            )
        elif wide:
            self.text((a[0] + b[0]) / 2, a[1] - 5, words, "middle", SMALL)
        else:
            self.text(b[0] + 20, a[1] + 4, words, "start", SMALL)

    def callout(self, x: float, y: float, to_x: float, to_y: float, words: str, size: float = BODY) -> None:
        """Draw a label at (x, y), and a thin line with a dot from it to the labelled point."""
        right = to_x > x
        self.line((x, y), (to_x, to_y), stroke=FAINT, width=THIN)
        self.circle(to_x, to_y, 2.5, FAINT, FAINT, THIN)
        self.text(x - 6 if right else x + 6, y + 5, words, "end" if right else "start", size)

    def resistor(self, x: float, y: float, words: str, *, upright: bool = False, fill: str = PAPER) -> None:
        """Draw a resistor's box around its centre, 54 by 18."""
        width, height = (18, 54) if upright else (54, 18)
        self.rect(x - width / 2, y - height / 2, width, height, fill)
        self.text(
            x + (4.5 if upright else 0), y + (0 if upright else 4.5), words, "middle", SMALL, turn=-90 if upright else 0
        )

    def ground(self, x: float, y: float) -> None:
        """Draw ground: three shrinking bars below this point."""
        self.line((x, y), (x, y + 5), width=2)
        for row, half in enumerate((9, 6, 3)):
            self.line((x - half, y + 5 + 3 * row), (x + half, y + 5 + 3 * row), width=2)

    def supply(self, x: float, y: float) -> None:
        """Draw a supply: an arrow that points up from here."""
        self.path(f"M{_n(x)} {_n(y)} v-10 m-5 5 l5 -5 l5 5", weight=2)

    def gate(self, x: float, y: float, way: int = 1) -> None:
        """Draw a Schmitt-trigger inverter around its centre; its output (with the ring) is on side ``way``."""
        back, tip = x - way * 15, x + way * 11
        self.line((back, y - 15), (back, y + 15), (tip, y), close=True, fill=PAPER)
        self.circle(tip + way * 4, y, 4)
        # The hysteresis symbol.
        x -= way * 5
        self.path(f"M{_n(x - 6)} {_n(y + 3)} h8 v-6 M{_n(x - 2)} {_n(y + 3)} v-6 h8", weight=THIN)

    def _add(self, name: str, *children: str, **attributes: str | int | float | None) -> None:
        self._drawn.append(tag(name, *children, **attributes))


def _stroke(stroke: str, width: float, dashes: str = "") -> dict[str, str]:
    if stroke == "none":
        return {}
    return {"stroke": stroke, "stroke_width": _n(width)} | ({"stroke_dasharray": dashes} if dashes else {})


def _n(value: float) -> str:
    """Return a coordinate, to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")
