"""Small charts of the figures: reaction times by player, margins."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import Final

from referee.app.page.axis import Axis
from referee.app.page.drawnparts import grid, shortened
from referee.app.page.palette import seat_role
from referee.app.page.scene import Line, Rect, Scene, Shape, Text
from referee.app.page.stats import MS, SOONEST, Summary
from referee.app.page.texts import Texts

WIDE: Final = 760
NARROW: Final = 420
_DOT = 9.0


def reactions(of: Sequence[Summary], texts: Texts, width: int = WIDE) -> Scene:
    """A row of dots for each player, one for each hand, with the median and the middle half."""
    times = [time for one in of for time in one.reactions]
    axis = Axis(0, max([*times, 600 * MS]) * 1.06, 150 if width == WIDE else 92, width - 24)
    lane = 78.0
    bottom = 16 + lane * len(of)
    shapes: list[Shape] = list(grid(axis, 10, bottom, 7 if width == WIDE else 4, texts, 15, ""))
    too_soon = axis.x(SOONEST)
    shapes.append(Rect(axis.left, 10, too_soon - axis.left, bottom - 10, "warn", 0.12))
    said = []
    for place, one in enumerate(of):
        shapes += _player(one, 16 + place * lane, lane, axis)
        median = "–" if one.median is None else texts.ms(one.median, 0)
        said.append(texts("figures.chart_of", name=one.player, n=len(one.reactions), median=median))
    shapes.append(Text(axis.right, bottom + 44, texts("figures.ms_axis"), "soft", 15, "end"))
    return Scene(width, round(bottom + 54), tuple(shapes), texts("figures.reactions"), ". ".join(said))


def _player(one: Summary, top: float, lane: float, axis: Axis) -> Iterator[Shape]:
    role, base = seat_role(one.seat), top + lane - 16
    yield Text(8, top + lane * 0.62, shortened(one.player, 8 if axis.left < 100 else 11), role, 20, weight=700)
    yield Line(axis.left, base, axis.right, base, "rule2", 1.0)
    if one.quartiles is not None:
        low, high = (axis.x(time) for time in one.quartiles)
        yield Rect(low, top + 6, high - low, lane - 22, role, 0.16, 4)
    piles: dict[int, int] = {}
    for time in one.reactions:
        x = axis.x(time)
        column = round((x - axis.left) / (_DOT + 1))
        height = piles.get(column, 0)
        piles[column] = height + 1
        step = min(_DOT + 1, (lane - 30) / max(1, height + 1) if height > 4 else _DOT + 1)
        yield Rect(x - _DOT / 2, base - 4 - _DOT - height * step, _DOT, _DOT, role, 0.85, _DOT / 2)
    if one.median is not None:
        yield Line(axis.x(one.median), top + 4, axis.x(one.median), base, role, 3.0)


def margins(of: Sequence[int], error: int, texts: Texts, width: int = WIDE) -> Scene:
    """How many second hands were how far behind, and within which distance it would have been a dead heat."""
    axis = Axis(0, max([*of, 20 * MS]) * 1.04, 24, width - 24)
    bins, height, bottom = 24 if width == WIDE else 14, 130.0, 160.0
    wide = axis.stop / bins
    counts = [0] * bins
    for margin in of:
        counts[min(int(margin / wide), bins - 1)] += 1
    tallest = max([*counts, 1])
    shapes: list[Shape] = list(grid(axis, 20, bottom, 8 if width == WIDE else 4, texts, 15, ""))
    for place, count in enumerate(counts):
        left, right = axis.x(place * wide), axis.x((place + 1) * wide)
        tall = height * count / tallest
        if count:
            shapes.append(Rect(left + 1, bottom - tall, right - left - 2, tall, "accent", 0.9, 2))
            shapes.append(Text((left + right) / 2, bottom - tall - 5, str(count), "soft", 13, "middle"))
    shapes.append(Line(axis.x(error), 14, axis.x(error), bottom, "finish", 2.0, 5.0))
    shapes.append(Text(axis.x(error) + 6, 24, f"{texts('finish.zone')} {texts.ms(error, 1)}", "finish", 14))
    shapes.append(Line(axis.left, bottom, axis.right, bottom, "rule2", 1.0))
    shapes.append(Text(axis.right, bottom + 44, texts("figures.ms_axis"), "soft", 15, "end"))
    median = texts.ms(round(statistics.median(of)), 1) if of else "–"
    said = texts("figures.margins_chart", n=texts.count("slaps", len(of)), median=median)
    return Scene(width, round(bottom + 54), tuple(shapes), texts("figures.margins"), said)
