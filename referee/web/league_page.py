"""The league of those who agreed to be remembered, and the page of each of them.

Routes of the page's process. Both count the latest games alone; `referee league` counts all games.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from referee.record.league import LEAST_GAMES, LeagueRow, make_league, write_league_csv
from referee.record.people import People
from referee.record.statistics import GameResult, HandFigure, summarise_players, typical_error
from referee.text.catalogue import Texts
from referee.web.figures import looking_again, reaction_chart, still_counting, waiting_note
from referee.web.games import game_heads, game_row
from referee.web.games_cache import GAMES_REMEMBERED, GameCache
from referee.web.layout import CSV, download, page, page_texts, print_button
from referee.web.markup import Child, Markup, button_link, data_table, tag
from referee.web.site import Site

_LATEST: Final = GAMES_REMEMBERED
"""Number of games counted here: their results are computed once, and remembered."""
_COLUMNS: Final = ("rank", "rating", "games", "won", "slaps", "false", "reaction")
"""In order of importance: a phone shows only the first ones without scrolling."""


@dataclass(frozen=True, slots=True)
class LatestSeason:
    """The latest games of those who agreed."""

    names: Mapping[str, str]
    """The names of those who agreed, by id."""
    results: Sequence[GameResult] = ()
    """Oldest first."""
    left: int = 0
    """Number of games that are not counted yet."""

    @property
    def rows(self) -> list[LeagueRow]:
        """The league's rows."""
        return make_league(self.results, self.names)


def latest_season(shelf: GameCache) -> LatestSeason:
    """Return the latest games; raises `RecordError`: the record cannot be read."""
    if not shelf.path.exists():
        return LatestSeason({})
    with People(shelf.path, read_only=True) as people:
        names = {person.id: person.name for person in people.people() if person.agreed}
        ties = people.ties()
    games = {game for game, _ in ties}
    made, left = shelf.count([info.id for info in shelf.games() if info.id in games][:_LATEST][::-1])
    results = [
        replace(result, people={seat: who for (game, seat), who in ties.items() if game == result.game})
        for result in made
    ]
    return LatestSeason(names, results, left)


def _league_row(row: LeagueRow, texts: Texts) -> Markup:
    rank = "–" if row.rank is None else f"{'=' if row.like_above else ''}{row.rank}"
    reaction = "–"
    if row.reaction is not None:
        reaction = f"{texts.ms(round(row.reaction.value), round(row.error))} (n = {row.reaction.count})"
    rating = f"{row.rating.value:.0f} ± {row.rating.error:.0f}" if row.games else "–"
    cells = (rating, row.games, row.won, row.slaps["won"], row.slaps["false"], reaction)
    name = tag("th", tag("a", row.name, href=f"/people/{row.person}"), scope="row")
    return tag("tr", tag("td", rank), name, [tag("td", cell) for cell in cells])


def _league_table(rows: Sequence[LeagueRow], title: str, texts: Texts) -> Markup:
    heads = [texts("figures.false") if name == "false" else texts(f"league.{name}") for name in _COLUMNS]
    heads.insert(1, texts("figures.player"))
    return tag("section", data_table(heads, [_league_row(row, texts) for row in rows], title), class_="panel")


def _league_note(texts: Texts) -> Markup:
    return tag("p", texts("league.what", least=LEAST_GAMES, games=_LATEST), class_="note")


async def show_league(site: Site, request: Request) -> Response:
    """The league of those who agreed to be remembered."""
    texts, season = page_texts(request), await site.run_in_worker(latest_season, site.shelf)
    title = texts("league.title")
    if season.left:
        # A rating of only some games would look like one of all.
        content: tuple[Child, ...] = (waiting_note(texts, season.left),)
    elif not (rows := season.rows):
        content = (tag("p", texts("league.none"), class_="panel none"),)
    else:
        content = (
            tag("p", button_link(texts("league.csv"), "/league.csv"), print_button(texts), class_="buttons"),
            _league_table(rows, title, texts),
            _league_note(texts),
        )
    shown = page(request, title, tag("h1", title), content, scripts=("print.js",), body="figures", here="/figures")
    return looking_again(shown, season.left)


async def send_league(site: Site, request: Request) -> Response:
    """The league for a spreadsheet."""
    season = await site.run_in_worker(latest_season, site.shelf)
    if season.left:
        return still_counting(request, season.left)
    return download(write_league_csv(season.rows), "league.csv", CSV)


async def show_person(site: Site, request: Request) -> Response:
    """A person who agreed to be remembered: place in the league, reaction times, games."""
    texts, season = page_texts(request), await site.run_in_worker(latest_season, site.shelf)
    person = request.path_params["person"]
    name = season.names.get(person)
    if name is None:
        raise HTTPException(404)
    if season.left:
        content: tuple[Child, ...] = (waiting_note(texts, season.left),)
    else:
        content = await site.run_in_worker(_person_content, site.shelf, season, person, texts)
    title, back = tag("h1", name), tag("p", button_link(f"← {texts('league.title')}", "/league"), class_="buttons")
    return looking_again(page(request, name, title, back, content, body="figures", here="/figures"), season.left)


def _person_content(shelf: GameCache, season: LatestSeason, person: str, texts: Texts) -> tuple[Child, ...]:
    rows = [row for row in season.rows if row.person == person]
    played = [result for result in season.results if person in result.people.values()]
    hands = [
        # Earlier games may show an earlier spelling, and other seats.
        replace(hand, player=season.names[person], seat=0)
        for result in played
        for hand in result.hands
        if result.people.get(hand.seat) == person
    ]
    if not rows:
        return (tag("p", texts("league.no_games"), class_="panel none"),)
    games = [game_row(shelf.game(result.game), shelf, texts) for result in reversed(played)]
    return (
        _league_table(rows, texts("league.title"), texts),
        _reaction_panel(hands, texts),
        data_table(game_heads(texts), games, texts("games.title"), class_="games", around="panel scroll"),
        _league_note(texts),
    )


def _reaction_panel(hands: Sequence[HandFigure], texts: Texts) -> Markup | None:
    if not any(hand.counts for hand in hands):
        return None
    return reaction_chart(summarise_players(hands), typical_error(hands), texts)
