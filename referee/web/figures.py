"""Figures for a class: reaction times and margins of one game or of the latest ones, with charts and as a file.

Routes of the page's process.
"""

from __future__ import annotations

import csv
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from referee.record.statistics import (
    HAND_KINDS,
    SOONEST_REACTION,
    HandFigure,
    PlayerSummary,
    list_margins,
    make_figures,
    summarise_players,
    typical_error,
)
from referee.text.catalogue import Texts
from referee.text.escapes import quote_formula
from referee.units import MS
from referee.web.games_cache import GameCache, LoadedGame
from referee.web.layout import CSV, download, page, page_texts, print_button, seat_dot
from referee.web.markup import (
    Child,
    Drawing,
    Line,
    Markup,
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
from referee.web.photo_finish.finish_svg import Axis, grid, shortened
from referee.web.site import Site, game_of

_WIDE: Final = 760
_NARROW: Final = 420
_DOT: Final = 9.0
_LANE: Final = 78.0
"""Height of a player's row."""
_LATEST_GAMES: Final = 20
_AGAIN: Final = 3
"""Seconds until a page is reloaded whose games are still being counted."""
_COLUMNS: Final = (
    "game", "ruling", "slap", "seat", "player", "outcome", "reason", "patterns", "slap_ns", "reveal_ns",
    "since_reveal_ms", "since_reveal_error_ms", "kind", "counted_as_reaction", "margin_ms", "margin_error_ms",
)  # fmt: skip


def _figures(folded: LoadedGame) -> list[HandFigure]:
    return make_figures(folded, folded.info.id)


def _latest_figures(shelf: GameCache) -> tuple[int, list[HandFigure], int]:
    """Return the number of the latest games, their figures (without unreadable ones), and the number still being
    counted."""
    games = [info.id for info in shelf.games()[:_LATEST_GAMES]][::-1]
    results, left = shelf.count(games)
    return len(games), [hand for result in results for hand in result.hands], left


async def show_game_figures(site: Site, request: Request) -> Response:
    """Figures of one game."""
    game = game_of(request)
    made = await site.run_in_worker(site.shelf.remembered, game, _figures)
    return _page(request, made, page_texts(request)("figures.of_game", game=game), f"/games/{game}/figures.csv", 1, 0)


async def show_figures(site: Site, request: Request) -> Response:
    """Figures of the latest games together, with the players' names."""
    games, made, left = await site.run_in_worker(_latest_figures, site.shelf)
    return _page(request, made, page_texts(request).count("figures.of_all", games), "/figures.csv", games, left)


async def send_game_figures(site: Site, request: Request) -> Response:
    """The figures of one game as a table, a row for each hand."""
    game = game_of(request)
    made = await site.run_in_worker(site.shelf.remembered, game, _figures)
    return download(slaps_table(made), f"slaps-{game}.csv", CSV)


async def send_figures(site: Site, request: Request) -> Response:
    """The figures of the latest games as a table."""
    _, made, left = await site.run_in_worker(_latest_figures, site.shelf)
    return still_counting(request, left) if left else download(slaps_table(made), "slaps.csv", CSV)


def still_counting(request: Request, left: int) -> Response:
    """Return the answer for a file that is not complete yet: when to ask again."""
    text = page_texts(request).count("figures.counting", left)
    return Response(text, 503, {"Retry-After": str(_AGAIN)}, "text/plain")


def waiting_note(texts: Texts, left: int) -> Markup | None:
    """Return the note that this many games are still being counted; None for none."""
    return tag("p", texts.count("figures.counting", left), class_="note", role="status") if left else None


def looking_again(response: Response, left: int) -> Response:
    """Let a page reload itself for as long as games are being counted."""
    if left:
        response.headers["Refresh"] = str(_AGAIN)
    return response


def _page(
    request: Request, of: Sequence[HandFigure], title: str, csv_at: str, games: int, left: int
) -> Response:  # fmt: skip
    texts = page_texts(request)
    none = tag("p", texts("figures.none"), class_="panel none") if not left else None
    content = list(write_figures(of, texts, csv_at, games)) if of else none
    head = (tag("h1", title), waiting_note(texts, left))
    return looking_again(
        page(request, title, *head, content, scripts=("print.js",), body="figures", here="/figures"), left
    )


def write_figures(of: Sequence[HandFigure], texts: Texts, csv_at: str, games: int) -> Iterator[Child]:
    """Yield the page's tables and charts of these hands, of which there is at least one."""
    made, gaps, typical = summarise_players(of), list_margins(of), typical_error(of)
    yield tag(
        "p",
        button_link(texts("figures.csv"), csv_at),
        print_button(texts),
        button_link(texts("figures.all_games"), "/figures"),
        button_link(texts("league.title"), "/league"),
        class_="buttons",
    )
    if games > 1:
        yield tag("p", texts("figures.which_games", n=games), class_="note")
    yield panel(texts("figures.summary"), _summary(made, typical, texts))
    yield reaction_chart(made, typical, texts)
    if gaps:
        errors = sorted(figure.margin_error for figure in of if figure.margin_error is not None)
        zone = errors[len(errors) // 2]
        wide, narrow = (draw_margins(gaps, zone, texts, width) for width in (_WIDE, _NARROW))
        nearest = (" ", texts("figures.nearest"), texts("word.colon"), tag("b", texts.ms(gaps[0], zone)))
        note = tag("p", texts("figures.margins_what"), nearest, class_="note")
        yield panel(texts("figures.margins"), note, svg(wide, class_="chart wide"), svg(narrow, class_="chart narrow"))
    note = tag("p", texts("figures.kinds_what"), class_="note")
    kinds = [_row(summary, [str(summary.kinds[kind]) for kind in HAND_KINDS]) for summary in made]
    yield panel(texts("figures.kinds"), note, _table(("player", *HAND_KINDS), kinds, texts, "figures.kinds"))


def reaction_chart(made: Sequence[PlayerSummary], typical: int, texts: Texts) -> Markup:
    """Return the panel with these players' reaction times, which are known to ``typical`` ns."""
    note = tag("p", texts("figures.reactions_what", error=texts.ms(typical, typical)), class_="note")
    wide, narrow = (draw_reactions(made, typical, texts, width) for width in (_WIDE, _NARROW))
    return panel(texts("figures.reactions"), note, svg(wide, class_="chart wide"), svg(narrow, class_="chart narrow"))


def _summary(made: Sequence[PlayerSummary], error: int, texts: Texts) -> Markup:
    def ms(ns: int | None) -> str:
        return "–" if ns is None else texts.ms(ns, error)

    heads = ("player", "hands", "wins", "false", "void", "median", "middle_half", "fastest")
    rows = []
    for summary in made:
        half = summary.quartiles
        middle = "–" if half is None else texts("figures.range", low=ms(half[0]), high=ms(half[1]))
        counts = [str(count) for count in (len(summary.reactions), summary.won, summary.false, summary.void)]
        fastest = ms(summary.reactions[0] if summary.reactions else None)
        rows.append(_row(summary, [*counts, tag("b", ms(summary.median)), middle, fastest]))
    return _table(heads, rows, texts, "figures.summary")


def _row(one: PlayerSummary, cells: Sequence[Child]) -> Markup:
    return tag("tr", tag("th", seat_dot(one.seat), one.player, scope="row"), [tag("td", cell) for cell in cells])


def _table(heads: Sequence[str], rows: Sequence[Markup], texts: Texts, label: str) -> Markup:
    return data_table([texts(f"figures.{name}") for name in heads], rows, texts(label))


def draw_reactions(
    of: Sequence[PlayerSummary], error: int, texts: Texts, width: int = _WIDE, lane: float = _LANE
) -> Drawing:
    """Draw a row of dots for each player, one for each hand, with the median and the middle half.

    ``error`` is the error of a hand's time, ns; ``lane`` is a row's height.
    """
    times = [time for summary in of for time in summary.reactions]
    narrow = width == _NARROW
    axis = Axis(0, max([*times, 600 * MS]) * 1.06, 92 if narrow else 150, width - 24)
    letters, scale = 8 if narrow else 11, lane / _LANE
    dot = max(_DOT * scale, min(_DOT, 5.0))
    bottom = 16 + lane * len(of)
    shapes: list[Shape] = list(grid(axis, 10, bottom, 4 if narrow else 7, texts, 15, ""))
    too_soon = axis.x(SOONEST_REACTION)
    shapes.append(Rect(axis.left, 10, too_soon - axis.left, bottom - 10, "warn", 0.12))
    said = []
    for place, summary in enumerate(of):
        top, role = 16 + place * lane, seat_role(summary.seat or None)
        base = top + lane - 16 * scale
        size = min(20.0, lane * 0.7)
        shapes.append(Text(8, top + lane * 0.62, shortened(summary.player, letters), role, size, weight=700))
        shapes.append(Line(axis.left, base, axis.right, base, "rule2", 1.0))
        if summary.quartiles is not None:
            low, high = (axis.x(time) for time in summary.quartiles)
            shapes.append(Rect(low, top + 6 * scale, high - low, lane - 22 * scale, role, 0.16, 4))
        piles: Counter[int] = Counter()
        for time in summary.reactions:
            x = axis.x(time)
            column = round((x - axis.left) / (dot + 1))
            height = piles[column]
            piles[column] += 1
            step = min(dot + 1, (lane - 30 * scale) / (height + 1) if height > 4 * scale else dot + 1)
            shapes.append(Rect(x - dot / 2, base - 4 * scale - dot - height * step, dot, dot, role, 0.85, dot / 2))
        if summary.median is not None:
            shapes.append(Line(axis.x(summary.median), top + 4 * scale, axis.x(summary.median), base, role, 3.0))
        median = "–" if summary.median is None else texts.ms(summary.median, error)
        said.append(texts("figures.chart_of", name=summary.player, n=len(summary.reactions), median=median))
    shapes.append(Text(axis.right, bottom + 44, texts("figures.ms_axis"), "soft", 15, "end"))
    return Drawing(width, round(bottom + 54), tuple(shapes), texts("figures.reactions"), ". ".join(said))


def draw_margins(of: Sequence[int], error: int, texts: Texts, width: int = _WIDE) -> Drawing:
    """Draw the distribution of second hands' margins, and the distance within which it would be a dead heat."""
    axis = Axis(0, max([*of, 20 * MS]) * 1.04, 24, width - 24)
    bins, height, bottom = 24 if width == _WIDE else 14, 130.0, 160.0
    wide = axis.stop / bins
    counts = [0] * bins
    for margin in of:
        counts[min(int(margin / wide), bins - 1)] += 1
    tallest = max([*counts, 1])
    shapes: list[Shape] = list(grid(axis, 20, bottom, 8 if width == _WIDE else 4, texts, 15, ""))
    for place, count in enumerate(counts):
        left, right = axis.x(place * wide), axis.x((place + 1) * wide)
        tall = height * count / tallest
        if count:
            shapes.append(Rect(left + 1, bottom - tall, right - left - 2, tall, "accent", 0.9, 2))
            shapes.append(Text((left + right) / 2, bottom - tall - 5, str(count), "soft", 13, "middle"))
    shapes.append(Line(axis.x(error), 14, axis.x(error), bottom, "finish", 2.0, 5.0))
    shapes.append(Text(axis.x(error) + 6, 24, f"{texts('finish.zone')} {texts.ms(error, error)}", "finish", 14))
    shapes.append(Line(axis.left, bottom, axis.right, bottom, "rule2", 1.0))
    shapes.append(Text(axis.right, bottom + 44, texts("figures.ms_axis"), "soft", 15, "end"))
    median = texts.ms(round(statistics.median(of)), error) if of else "–"
    said = texts("figures.margins_chart", n=texts.count("slaps", len(of)), median=median)
    return Drawing(width, round(bottom + 54), tuple(shapes), texts("figures.margins"), said)


def slaps_table(of: Sequence[HandFigure]) -> str:
    """Return CSV with `_COLUMNS`: instants as in the log, the rest in milliseconds."""
    out = StringIO()
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    for figure in of:
        writer.writerow(
            quote_formula(cell) for cell in (
                figure.game, figure.ruling, figure.slap, figure.seat, figure.player, figure.outcome, figure.reason,
                " ".join(figure.patterns), figure.t, "" if figure.reveal is None else figure.reveal,
                _csv_ms(figure.since), _csv_ms(figure.error if figure.since is not None else None), figure.kind,
                "yes" if figure.counts else "no", _csv_ms(figure.margin), _csv_ms(figure.margin_error),
            )
        )  # fmt: skip
    return out.getvalue()


def _csv_ms(ns: int | None) -> str:
    return "" if ns is None else f"{ns / 1e6:.6f}"
