"""The page of a hypothetical ruling, with a hand or a card at another instant, beside the real one, each drawn.

A route of the page's process. It only reads, and keeps nothing except the drawing, for a while.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from referee.engine.observations import Card, Observation, Slap
from referee.engine.rulings import Ruling
from referee.options.what_if.moved_lines import line_words, moved_words, plain_ms
from referee.options.what_if.moves import MOST_MOVED, Change, Move, MoveError, move_line
from referee.text.catalogue import with_nbsp
from referee.text.ruling_lines import RulingWords
from referee.units import MS
from referee.web.finish_page import finish_title, found
from referee.web.games_cache import LoadedGame
from referee.web.layout import address, page, page_texts
from referee.web.markup import Child, Markup, button_link, join, svg, tag
from referee.web.photo_finish.finish_svg import draw_mini_finish
from referee.web.photo_finish.moment import Finish, finish, headline
from referee.web.site import PageOption, Site
from referee.web.winner_view import why_line

LONGEST_MOVED: Final = 3_000
"""Maximum number of lines, without ticks, of a game that is ruled once more on request."""
_NUMBER: Final = re.compile(r"[+-]?\d{1,4}(?:\.\d{1,6})?", re.ASCII)
_CARDS: Final = 4
"""Number of cards of the moment, the newest ones, that can be moved."""


async def show_what_if(site: Site, request: Request) -> Response:
    """Show the form, the ruling, and the hypothetical one."""
    texts, asked = page_texts(request), request.query_params
    folded = await site.folded(request)
    slap = asked.get("slap", "")
    seen = await site.run_in_worker(found, folded, slap)
    if seen is None:
        raise HTTPException(404)
    words, line = RulingWords(folded.table.seats, texts), asked.get("line", slap)
    status, outcome = 200, Markup()
    try:
        by, error = _read_ms(asked.get("by") or "0"), _read_ms(asked.get("error") or "")
        move = Move(line, by or 0, error)
        if sum(numbered.kind != "tick" for _, numbered in folded.numbered) > LONGEST_MOVED:
            raise MoveError("long")
        what = ("what-if", slap, move, texts.language)
        draw = lambda: join(_outcome(folded, seen, move, words))  # noqa: E731 - drawn only where it is not kept yet
        outcome = Markup(await site.run_exclusively(site.shelf.drawn, folded, what, draw) or "")
    except MoveError as error:
        said = texts(f"what_if.bad_{error.problem}", most=f"{MOST_MOVED // MS} ms")
        status, outcome = 400, tag("p", said, class_="note bad", role="alert")
    title = texts("what_if.title")
    content = (
        tag("p", finish_title(folded, seen, texts), class_="crumb"),
        tag("h1", title),
        tag("p", texts("what_if.about"), class_="note"),
        _form(folded, seen, line, asked.get("by") or "0", asked.get("error") or "", words),
        tag("div", outcome, id="outcome", aria_live="polite"),
        tag("p", button_link(f"← {texts('finish.title')}", address(f"/games/{folded.info.id}/finish", {"slap": slap})),
            class_="buttons"),
    )  # fmt: skip
    return page(request, title, *content, scripts=("whatif.js",), here="/games", status=status)


def _read_ms(text: str) -> int | None:
    """Return typed milliseconds in ns; `None`: the text is empty."""
    plain = text.strip().replace(",", ".").replace("−", "-")
    if not plain:
        return None
    if not _NUMBER.fullmatch(plain):
        raise MoveError("number")
    return round(float(plain) * MS)


def _form(folded: LoadedGame, seen: Finish, line: str, by: str, error: str, words: RulingWords) -> Markup:
    texts = words.texts
    lines: list[Observation | None] = [folded.line(hand.id) for hand in seen.hands]
    near: list[Slap | Card] = [line for line in lines if isinstance(line, Slap)]
    near += seen.cards[-_CARDS:]
    options = [
        tag("option", f"{line_words(other, words)}{_known(other, words)}", value=other.id, selected=other.id == line)
        for other in near
    ]
    most = MOST_MOVED // MS
    back, on = (
        tag("button", f"{sign}5 ms", type="button", class_="button", data_step=step, hidden=True)
        for sign, step in (("−", -5), ("+", 5))
    )
    written: dict[str, str] = {"type": "text", "autocomplete": "off", "class_": "count"}
    number = tag("input", **written, name="by", id="by", value=by)
    known = tag("input", **written, name="error", value=error, placeholder=_error_of(near, line, words))
    slider = tag(
        "input", type="range", id="slide", min=-most, max=most, step="0.5", value=0, hidden=True,
        aria_label=texts("what_if.by"),
    )  # fmt: skip
    return tag(
        "form",
        tag("input", type="hidden", name="slap", value=seen.slap),
        tag("label", texts("what_if.which"), tag("select", options, name="line")),
        tag("label", texts("what_if.by"), number),
        tag("div", back, slider, on, class_="nudge"),
        tag("label", texts("what_if.error"), known),
        tag("button", texts("what_if.show"), class_="button strong"),
        id="what-if",
        method="get",
        class_="panel",
    )


def _known(line: Slap | Card, words: RulingWords) -> str:
    """Return the error of a line's instant in words."""
    return f" (± {words.texts.ms(line.t_error, line.t_error)})" if line.t_error else ""


def _error_of(near: Sequence[Slap | Card], line: str, words: RulingWords) -> str:
    """Return the default error of the chosen line, in ms."""
    return next((plain_ms(other.t_error, words).removesuffix(" ms") for other in near if other.id == line), "")


def _outcome(folded: LoadedGame, seen: Finish, move: Move, words: RulingWords) -> Iterator[Child]:
    """Draw both verdicts side by side, and the first later ruling that would differ."""
    texts = words.texts
    # Reading the game already skipped and counted the lines that do not fit.
    moved = move_line(folded.numbered, folded, move, seen.slap, leave_out=lambda _number, _bad: None)
    new = finish(moved.game.lines(), moved.rulings, seen.slap, (), len(folded.table.seats))
    assert new is not None
    yield tag(
        "div",
        _side(texts("what_if.was"), seen, words),
        _side(moved_words(moved, words), new, words),
        class_="sides",
    )
    other = moved.is_other
    said = texts("what_if.other" if other else "what_if.same")
    yield tag("p", said, class_="headline changed" if other else "headline", data_other=other)
    if moved.later == (None, None):
        yield tag("p", texts("what_if.on_none"), class_="note")
        return
    yield tag("p", texts("what_if.on"))
    yield tag("ul", list(_later(moved.later, folded.table.t, words)), class_="rows later")


def _later(later: Change, began: int, words: RulingWords) -> Iterator[Markup]:
    def tell(ruling: Ruling | None) -> str:
        if ruling is None:
            return words.texts("what_if.nothing")
        return f"{words(ruling)} ({words.texts.seconds(ruling.t - began)})"

    for name, ruling in zip(("was", "would_be"), later, strict=True):
        yield tag("li", tag("b", words.texts(f"what_if.{name}"), ": "), with_nbsp(tell(ruling)))


def _side(title: str, seen: Finish, words: RulingWords) -> Markup:
    head = headline(seen, words)
    return tag(
        "section",
        tag("h2", with_nbsp(title)),
        tag("p", head.text, class_=f"head ink-seat{(head.seat - 1) % 8 + 1}" if head.seat else "head"),
        tag("p", with_nbsp(head.under), class_="under"),
        svg(draw_mini_finish(seen, words), class_="mini"),
        why_line(seen, words),
        class_="panel",
    )


PAGE: Final = PageOption({"/games/{game:int}/what-if": show_what_if}, Path(__file__).with_name("static"))
