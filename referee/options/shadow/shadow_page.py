"""Shadow mode on the page: a notice and two buttons during a game; afterwards the comparison with its pictures.

Routes of the page's process.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import wraps
from pathlib import Path
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from referee.engine.shadow_marks import VERDICTS, is_shadowed
from referee.options.shadow.comparison import Comparison, MarkedSlap, compare_game
from referee.options.shadow.shadow_lines import agreement_words, difference_words, left_over, undecided_words
from referee.record.pictures import AFTER, BEFORE
from referee.text.catalogue import Texts
from referee.text.ruling_lines import RulingWords
from referee.web.control_page import answer_line, said_to_scripts
from referee.web.finish_page import found, picture_row
from referee.web.games import explained
from referee.web.games_cache import LoadedGame
from referee.web.layout import address, page, page_texts
from referee.web.markup import Child, Markup, button_link, panel, tag
from referee.web.site import Handler, PageOption, Site
from referee.web.winner_view import first_view, why_line

_OF_THE_GAME: Final = ("/", "/projector", "/finish", "/figures", "/figures.csv", "/league", "/league.csv")
"""Pages that show something of the current game."""


def hidden_during_shadow(handler: Handler) -> Handler:
    """Wrap a handler so that it shows nothing of a game that is being shadowed: people learn the rulings at its end."""

    @wraps(handler)
    async def show(site: Site, request: Request) -> Response:
        asked = request.path_params.get("game")
        if asked is not None or request.url.path in _OF_THE_GAME:
            shadowed = await site.run_in_worker(site.shelf.shadowed)
            if shadowed is not None and asked in (None, shadowed):
                return _show_shadowing(site, request)
        return await handler(site, request)

    return show


def _show_shadowing(site: Site, request: Request) -> Response:
    """Show that the referee shadows, and on a paired device the two buttons."""
    texts = page_texts(request)
    marks: Child = None
    scripts: tuple[str, ...] = ()
    if site.controlled and request.url.path != "/projector":
        pair = tag("p", tag("a", texts("shadow.pair"), href="/control"), id="unpaired")
        places = [
            tag("button", texts(f"shadow.{verdict}"), type="button", class_="button strong", data_verdict=verdict)
            for verdict in VERDICTS
        ]
        buttons = tag("div", places, id="marks", class_="buttons", hidden=True)
        marks = [said_to_scripts(texts, "control."), buttons, answer_line(), pair]
        scripts = ("forms.js", "shadow.js")
    what = tag("section", tag("h1", texts("shadow.on")), tag("p", texts("shadow.on_long")), marks, class_="panel empty")
    return page(request, texts("shadow.title"), what, scripts=scripts, here="/")


async def show_shadow(site: Site, request: Request) -> Response:
    """Show people's rulings against the referee's."""
    texts, folded = page_texts(request), await site.folded(request)
    if not is_shadowed(folded.lines()):
        raise HTTPException(404)
    content = await site.run_in_worker(lambda: list(_report(site, folded, compare_game(folded), texts)))
    return page(request, texts("shadow.link"), content, here="/games")


def _report(site: Site, folded: LoadedGame, compared: Comparison, texts: Texts) -> Iterator[Child]:
    game, began = folded.info.id, folded.table.t
    name = texts("games.game", game=game)
    yield tag("p", tag("a", name, href=f"/games/{game}"), " · ", ", ".join(folded.info.seats), class_="crumb")
    yield tag("h1", texts("shadow.link"))
    yield tag("p", agreement_words([compared], texts), class_="lead")
    many = len(compared.differing)
    yield tag("h2", texts.count("shadow.differences", many) if many else texts("shadow.no_differences"))
    for number, difference in enumerate(compared.differing, start=1):
        yield _difference(site, folded, number, difference, texts)
    if compared.undecided:
        lines = [
            tag("li", tag("a", undecided_words(slap, began, texts), href=_finish(game, slap)))
            for slap in compared.undecided
        ]
        yield panel(texts.count("shadow.undecided", len(lines)), tag("ul", lines))
    yield [tag("p", words, class_="note") for words in left_over(compared, texts)]


def _finish(game: int, one: MarkedSlap) -> str:
    return address(f"/games/{game}/finish", {"slap": one.slap.hands[0]})


def _difference(site: Site, folded: LoadedGame, number: int, one: MarkedSlap, texts: Texts) -> Markup:
    """Draw one difference: the ruling, the drawing, the pictures, and the reason."""
    game, ruling = folded.info.id, one.slap.ruling
    words, parts = RulingWords(folded.table.seats, texts), list[Child]()
    seen = found(folded, one.slap.hands[0])
    if ruling is not None and seen is None:
        parts.append(tag("p", words(ruling), class_="why"))
    if seen is not None:
        parts.append(first_view(seen, words, why_line(seen, words)))
        pictures = site.shelf.pictures(game, seen.zero - BEFORE, seen.zero + AFTER)
        parts.append(tag("div", picture_row(game, seen, words, pictures), class_="pictures") if pictures else None)
    if ruling is not None:
        summary = tag("summary", texts("games.why"))
        parts.append(tag("details", summary, explained(folded.explain(ruling), folded, words)))
    case = tag("p", tag("code", f"referee shadow --game {game} --case {number} > case.jsonl"))
    parts.append(tag("details", tag("summary", texts("shadow.case")), case))
    parts.append(tag("p", button_link(texts("nav.finish"), _finish(game, one)), class_="buttons"))
    title = difference_words(number, one, folded.table.t, texts)
    return tag("section", tag("h3", title), parts, class_="panel", id=f"difference-{number}")


PAGE: Final = PageOption(
    {"/games/{game:int}/shadow": show_shadow}, Path(__file__).with_name("static"), around=hidden_during_shadow
)
