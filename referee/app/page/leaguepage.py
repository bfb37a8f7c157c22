"""The league of those who agreed to be remembered, from the latest games; `referee league` counts all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from referee.adjudication.observations import LogError
from referee.app.page.figurepage import table_of
from referee.app.page.folding import TooLong
from referee.app.page.markup import Child, Markup, tag
from referee.app.page.shelf import REMEMBERED, Shelf
from referee.app.page.shell import page, spoken
from referee.app.page.site import Site
from referee.app.page.texts import Texts
from referee.app.people.league import LEAST, Row, as_csv, table
from referee.app.people.results import Result, outcome
from referee.app.people.store import People

LATEST: Final = REMEMBERED
"""Games that are counted here: what they came to is worked out once, and remembered."""


def rows(shelf: Shelf) -> list[Row]:
    """The table; empty where nobody agreed, or there is no record yet. Raises `RecordError`."""
    if not shelf.path.exists():
        return []
    with People(shelf.path, read_only=True) as people:
        names = {person.id: person.name for person in people.people() if person.agreed}
        ties = people.ties()
    return table(_results(shelf, ties), names)


def _results(shelf: Shelf, ties: dict[tuple[int, int], str]) -> Iterator[Result]:
    games = {game for game, _ in ties}
    for info in reversed([info for info in shelf.games() if info.id in games][:LATEST]):
        seated = {seat: who for (game, seat), who in ties.items() if game == info.id}
        try:
            winner, over, hands = shelf.remembered(info.id, outcome)
        except (LogError, TooLong):
            winner, over, hands = None, False, ()
        yield Result(info.id, info.began, len(info.seats), winner, over, seated, hands)


async def league(site: Site, request: Request) -> Response:
    """The page."""
    texts = spoken(request)
    made = await site.aside(rows, site.shelf)
    content: list[Child] = [tag("h1", texts("league.title"))]
    if not made:
        content.append(tag("p", texts("league.none"), class_="panel none"))
    else:
        csv = tag("a", texts("league.csv"), href="/league.csv", class_="button")
        button = tag("button", texts("figures.print"), type="button", id="print", class_="button", hidden=True)
        content += [
            tag("p", csv, button, class_="buttons"),
            tag("section", _table(made, texts), class_="panel"),
            tag("p", texts("league.what", least=LEAST, games=LATEST), class_="note"),
        ]
    return page(request, texts("league.title"), *content, scripts=("print.js",), body="figures", here="/figures")


async def league_csv(site: Site, request: Request) -> Response:
    """The same for a spreadsheet."""
    del request
    made = await site.aside(rows, site.shelf)
    headers = {"Content-Disposition": 'attachment; filename="league.csv"'}
    return PlainTextResponse(as_csv(made), media_type="text/csv; charset=utf-8", headers=headers)


def _table(made: Sequence[Row], texts: Texts) -> Markup:
    heads = [texts(f"league.{name}") for name in ("rank", "games", "won", "slaps", "reaction", "rating")]
    heads.insert(1, texts("figures.player"))
    heads.insert(5, texts("figures.false"))
    return table_of(heads, [_row(one, texts) for one in made], texts("league.title"))


def _row(one: Row, texts: Texts) -> Markup:
    rank = "–" if one.rank is None else f"{'=' if one.like_above else ''}{one.rank}"
    reaction = "–"
    if one.reaction is not None:
        reaction = f"{texts.ms(round(one.reaction.value), 0)} (n = {one.reaction.count})"
    rating = f"{one.rating.value:.0f} ± {one.rating.error:.0f}" if one.games else "–"
    cells = (
        str(one.games), str(one.won), str(one.slaps["won"]), str(one.slaps["false"]), reaction, rating,
    )  # fmt: skip
    return tag("tr", tag("td", rank), tag("th", one.name, scope="row"), [tag("td", cell) for cell in cells])
