"""The table's set-up: seats around the camera's picture, and results of the calibration.

Routes of the page's process.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from referee.record.certificates import standing_words
from referee.text.catalogue import Texts
from referee.web.board import Board
from referee.web.board_view import trouble_words
from referee.web.layout import page, page_texts
from referee.web.markup import (
    Child,
    Drawing,
    Line,
    Polygon,
    Rect,
    Shape,
    Text,
    button_link,
    data_table,
    panel,
    seat_role,
    svg,
    tag,
)
from referee.web.site import Site

PICTURE_WIDTH: Final = 420.0
"""Width of the camera's picture in the drawing."""
SEAT_ROOM: Final = 120.0
"""Room beside it for the seats."""
_SHAPE: Final = (4, 3)
"""Shape of an unmeasured picture."""


async def show_table(site: Site, request: Request) -> Response:
    """The table's set-up, and its problems."""
    texts, about = page_texts(request), site.hub.board.about
    if about is None or not about.get("seats"):
        content: Child = tag("p", texts("table.unknown"), class_="panel none")
    else:
        content = list(_content(about, site.hub.board, texts))
    return page(request, texts("table.title"), tag("h1", texts("table.title")), content, here="/control")


def _content(about: Mapping[str, Any], board: Board, texts: Texts) -> Iterator[Child]:
    found = about.get("calibration")
    note = tag("p", texts("table.drawn" if found else "table.not_calibrated"), class_="note")
    yield panel(texts("table.seats"), svg(drawing(about["seats"], found, texts), class_="chart"), note)
    if found:
        values = {
            "picture": f"{found['width']} × {found['height']} px",
            "card": f"{texts.number(found['card_height_px'], 0)} px",
            "tilt": f"{texts.number(found['tilt_deg'], 1)}°",
            "error": f"{texts.number(found['error_px'], 2)} px",
            "edge": f"{texts.number(found['edge_px'], 1)} px",
        }
        rows = [
            tag("tr", tag("th", texts(f"table.{name}"), scope="row"), tag("td", value),
                tag("td", texts(f"table.{name}_means")))
            for name, value in values.items()
        ]  # fmt: skip
        heads = [texts(f"table.{name}") for name in ("measured", "value", "meaning")]
        yield panel(texts("table.calibration"), data_table(heads, rows, texts("table.calibration")))
    standing = about.get("certificate")
    if standing is not None:
        words = tag("p", standing_words(standing, texts), class_="note" if standing["word"] == "passed" else "note bad")
        link = button_link(texts("certificate.link"), "/certificate") if standing["word"] != "none" else None
        yield panel(texts("certificate.title"), words, link)
    if board.troubles:
        told = [tag("li", trouble_words(said, texts, board.names)) for said in board.troubles.values()]
        yield panel(texts("table.troubles"), tag("ul", told))


def drawing(seats: Sequence[Mapping[str, Any]], found: Mapping[str, Any] | None, texts: Texts) -> Drawing:
    """Draw the camera's picture from above, with the playing area and a card as it sees them, and the seats around.

    Args:
        seats: each with ``name`` and ``bearing`` (degrees, counter-clockwise from the picture's right).
        found: ``width``, ``height``, ``area`` and ``card`` of the calibration, px; None if there is none.
        texts: of the page's language.
    """
    wide, high = (found["width"], found["height"]) if found else _SHAPE
    scale = PICTURE_WIDTH / wide
    height = high * scale
    shapes: list[Shape] = [Rect(SEAT_ROOM, SEAT_ROOM / 2, PICTURE_WIDTH, height, "rule2", 1.0, 8)]
    if found:
        for part, role, alpha in (("area", "accent", 0.25), ("card", "ink", 0.8)):
            corners = tuple((SEAT_ROOM + x * scale, SEAT_ROOM / 2 + y * scale) for x, y in found[part])
            shapes.append(Polygon(corners, role, alpha))
    middle = (SEAT_ROOM + PICTURE_WIDTH / 2, SEAT_ROOM / 2 + height / 2)
    for number, seat in enumerate(seats, start=1):
        # A line from the middle to the edge of the picture, and the name beyond it.
        bearing, role = math.radians(seat["bearing"]), seat_role(number)
        x, y = math.cos(bearing), -math.sin(bearing)
        reach = min(PICTURE_WIDTH / 2 / max(abs(x), 1e-9), height / 2 / max(abs(y), 1e-9))
        edge = (middle[0] + reach * x, middle[1] + reach * y)
        shapes.append(Line(middle[0] + 0.55 * reach * x, middle[1] + 0.55 * reach * y, *edge, role, 5.0))
        anchor = "start" if x > 0.5 else "end" if x < -0.5 else "middle"
        below = edge[1] + (26 * y if y < 0 else 34 * y) * 0.8 + 6
        shapes.append(Text(edge[0] + 12 * x, below, str(seat["name"])[:12], role, 20, anchor, 700))
    said = ", ".join(f"{seat['name']} {round(seat['bearing'])}°" for seat in seats)
    return Drawing(
        round(PICTURE_WIDTH + 2 * SEAT_ROOM), round(height + SEAT_ROOM), tuple(shapes), texts("table.seats"), said
    )
