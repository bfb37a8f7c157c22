"""Stepping through a game: the position after each line of its log, and what was ruled then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from referee.adjudication.observations import (
    Answer,
    Card,
    Correct,
    Count,
    Day,
    Draw,
    Observation,
    Other,
    Placed,
    Say,
)
from referee.app.page.boardviews import pile, seats
from referee.app.page.folding import Folded, slap_of
from referee.app.page.gamepage import ruling_address
from referee.app.page.markup import Child, Markup, join, tag
from referee.app.page.rulingwords import RulingWords
from referee.app.page.shell import address, page, spoken
from referee.app.page.site import Site, whole
from referee.app.page.texts import Texts
from referee.app.wording import pretty

AT_ONCE: Final = 30
"""Steps sent with one answer."""


def shown(folded: Folded) -> list[int]:
    """Places of the steps that are stepped through: lines that the referee knows."""
    return [place for place, step in enumerate(folded.steps) if not isinstance(step.observation, Other)]


def what(line: Observation, words: RulingWords) -> str:
    """A line of the log in words."""
    texts = words.texts
    fields = {"name": words.name(getattr(line, "seat", None)), "card": "", "count": "", "value": ""}
    if isinstance(line, Card):
        fields["card"] = pretty(line.card)
    elif isinstance(line, Placed):
        fields["count"] = texts.count("cards", line.count)
    elif isinstance(line, Count):
        fields["count"] = texts.count("cards", line.cards)
    elif isinstance(line, Say | Draw):
        fields["value"] = line.rank
    elif isinstance(line, Day):
        fields["value"] = line.date
    elif isinstance(line, Answer):
        fields["value"] = str(line.value)
    elif isinstance(line, Correct):
        fields["value"] = line.line
    known = texts.get(f"replay.kind_{line.kind}", "")
    return known.format_map(fields) if known else line.kind


def step_fields(folded: Folded, places: Sequence[int], at: int, words: RulingWords) -> dict[str, Any]:
    """One step for the script: what happened, and the regions after it."""
    place = places[at]
    step, view = folded.steps[place], folded.view(place)
    line = step.observation
    return {
        "clock": words.texts.seconds(line.t - folded.table.t),
        "what": what(line, words),
        "id": line.id,
        "seats": seats(view, words, len(folded.table.seats)),
        "pile": pile(view.pile, words.texts),
        "ruled": _ruled(folded, step.rulings, words),
    }


def _ruled(folded: Folded, names: Sequence[str], words: RulingWords) -> Markup:
    items: list[Child] = []
    for name in names:
        ruling = folded.by_id[name]
        if ruling.kind == "turn":
            continue
        slap = ruling.kind in ("slap_won", "slap_false", "slap_void")
        href = ruling_address(folded.info.id, ruling)
        if slap:
            href = address(f"/games/{folded.info.id}/finish", {"slap": slap_of(ruling)})
        gone = tag("span", words.texts("board.replaced"), class_="badge") if name in folded.replaced_by else ""
        items.append(tag("li", tag("a", words(ruling), href=href), " ", gone, class_=f"k-{ruling.kind}"))
    return join(items)


async def steps(site: Site, request: Request) -> JSONResponse:
    """Some steps of a game, from a place on."""
    folded = await site.folded(request)
    texts, first = spoken(request), whole(request.query_params.get("from"), 0)

    def some() -> dict[str, Any]:
        places, words = shown(folded), RulingWords(folded.table.seats, texts)
        last = min(first + AT_ONCE, len(places))
        return {
            "from": first,
            "all": len(places),
            "steps": [step_fields(folded, places, at, words) for at in range(first, last)],
        }

    return JSONResponse(await site.aside(some))


async def replay(site: Site, request: Request) -> Response:
    """The page; shows the step that the address asks for, and its script the others."""
    texts = spoken(request)
    folded = await site.folded(request)
    places, words = shown(folded), RulingWords(folded.table.seats, texts)
    at = min(whole(request.query_params.get("at"), 0), len(places) - 1)
    now = step_fields(folded, places, at, words)
    title = texts("replay.title", game=folded.info.id)
    content = [
        tag("h1", title),
        _controls(folded, texts, at, len(places)),
        tag(
            "div",
            tag("p", f"{now['clock']} · {now['what']}", id="what", class_="headline", aria_live="polite"),
            tag("ul", now["seats"], id="seats", class_="r-seats", data_keyed=True, aria_label=texts("board.players")),
            tag("div", now["pile"], id="pile", class_="r-pile panel", data_keyed=True),
            tag("section", tag("h2", texts("replay.ruled")), tag("ul", now["ruled"], id="ruled"), class_="panel"),
            class_="replay",
        ),
    ]
    return page(request, title, *content, scripts=("regions.js", "replay.js"), here="/games")


def _controls(folded: Folded, texts: Texts, at: int, count: int) -> Markup:
    path = f"/games/{folded.info.id}/replay"
    moves = (("first", 0, "⏮"), ("previous", at - 1, "◀"), ("next", at + 1, "▶"), ("last", count - 1, "⏭"))
    links = []
    for name, to, sign in moves:
        href = address(path, {"at": min(max(to, 0), count - 1)})
        mark = tag("span", sign, aria_hidden="true")
        label = texts(f"replay.{name}")
        word = tag("span", label, class_="word")
        links.append(tag("a", mark, word, href=href, class_="button", data_move=name, aria_label=label))
    play = tag(
        "button", texts("replay.play"), type="button", id="play", class_="button", hidden=True,
        data_stop=texts("replay.stop"), data_play=texts("replay.play"),
    )  # fmt: skip
    slider = tag(
        "input", type="range", id="slider", min=0, max=count - 1, value=at, aria_label=texts("replay.step"),
        data_steps=address(f"/games/{folded.info.id}/steps", {"lang": texts.language}), data_path=path,
        data_of=texts("replay.of", at="{at}", all="{all}"),
    )  # fmt: skip
    label = tag("output", texts("replay.of", at=at + 1, all=count), id="where", for_="slider")
    return tag(
        "div",
        slider,
        tag("div", label, links, play, class_="buttons"),
        tag("p", texts("replay.keys"), class_="note"),
        class_="panel controls",
    )
