"""A ruling's explanation as HTML: the rule in words, the pile then, the instants around it, what else was looked at.

Why something did or did not hold is said by the core in English, and marked as such.

Routes of the recorded games: the list, one game's rulings, one ruling's reasons, and the files to take along.

Stepping through a game: the position after each line of its log, and what was ruled then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from referee.engine.explanation import Considered, Explanation, Moment
from referee.engine.observations import Answer, Card, Correct, Count, Day, Draw, Observation, Other, Placed, Say
from referee.engine.rulings import Ruling, cause_of
from referee.record.export import rulings_table
from referee.record.store import GameInfo
from referee.rules.house import house_rules
from referee.rules.rows import ROWS
from referee.text.catalogue import Texts, unbroken
from referee.text.rules import sentence
from referee.text.ruling_lines import RulingWords, pretty
from referee.web.board import disputed_at
from referee.web.board_view import pile, seats
from referee.web.control_page import KEEPING, keeping
from referee.web.games_cache import Folded, Shelf
from referee.web.html import Child, Markup, join, tag
from referee.web.layout import address, card, page, page_texts
from referee.web.site import Site, game_of, whole

_SEAT: Final = re.compile(r"\bseat (\d)\b")


def explained(explanation: Explanation, folded: Folded, words: RulingWords) -> Markup:
    """The sections of an explanation."""
    texts = words.texts
    parts: list[Child] = [
        tag("section", tag("h2", texts("finish.rule")), rules(explanation, folded, words), class_="panel rules")
    ]
    if explanation.pile:
        cards = [card(laid.card, texts, class_=laid.state) for laid in explanation.pile]
        pile = tag("div", cards, class_="cards wrap")
        parts.append(tag("section", tag("h2", texts("finish.pile_then")), pile, class_="panel"))
    if explanation.considered:
        items = [_considered(one, words) for one in explanation.considered]
        head = tag("h2", texts("finish.considered"))
        parts.append(tag("section", head, tag("ul", items, class_="considered"), class_="panel"))
    if explanation.moments:
        because = frozenset(explanation.ruling.because)
        rows = [_moment(one, one.id in because, words) for one in explanation.moments]
        table = tag("table", tag("tbody", rows))
        scroll = tag("div", table, class_="scroll", tabindex=0, role="region", aria_label=texts("finish.moments"))
        parts.append(tag("section", tag("h2", texts("finish.moments")), scroll, class_="panel"))
    return Markup("".join(str(part) for part in parts))


def rules(explanation: Explanation, folded: Folded, words: RulingWords) -> Markup:
    """Each row that the ruling rests on, in plain words."""
    on = house_rules(folded.table.rules)
    items = []
    for row in explanation.ruling.rule:
        if row not in ROWS:
            continue
        english = words.texts.language == "en"
        own = "" if english else words.texts.get(f"rule.{row}", "")
        lang = None if own or english else "en"
        items.append(tag("li", tag("b", row), " ", tag("span", own or sentence(row, on), lang=lang)))
    return tag("ul", items, class_="rows")


def _considered(one: Considered, words: RulingWords) -> Markup:
    texts = words.texts
    row, _, own = one.row.partition(":")
    name = own or texts.get(f"pattern.{row}", "") or (ROWS[row].name if row in ROWS else "")
    which = f"{name} ({row})" if name else row
    if row.startswith("P"):
        which = texts("finish.held" if one.held else "finish.failed", which=which)
    why = _SEAT.sub(lambda found: words.name(int(found.group(1))), one.why)
    return tag(
        "li", tag("b", which), " ", tag("span", why, lang=None if texts.language == "en" else "en"),
        class_="yes" if one.held else "no",
    )  # fmt: skip


def _moment(moment: Moment, rests: bool, words: RulingWords) -> Markup:
    texts = words.texts
    error = f"± {texts.ms(moment.error)}" if moment.error else ""
    what = texts.get(f"moment.{moment.kind}", moment.kind)
    return tag(
        "tr",
        tag("td", texts.ms(moment.offset, 1, sign=True)),
        tag("td", error),
        tag("td", what),
        tag("td", words.name(moment.seat) if moment.seat is not None else ""),
        tag("td", card(moment.card, texts) if moment.card else ""),
        tag("td", tag("code", moment.id)),
        tag("td", texts("finish.rests") if rests else ""),
        class_="rests" if rests else None,
    )


LISTED: Final = 25
"""Games on one page of the list."""
RULINGS: Final = 400
"""Rulings on one page of a game."""
_QUIET: Final = frozenset(("turn", "lead", "chance"))


async def games(site: Site, request: Request) -> Response:
    """The list of games, the latest first."""
    texts = page_texts(request)
    first = whole(request.query_params.get("from"), 0)
    all_ = await site.aside(site.shelf.games)
    shown = all_[first : first + LISTED]
    outcomes = await site.aside(lambda: [_outcome(site.shelf, info, texts) for info in shown])
    rows = [_game_row(info, outcome, texts) for info, outcome in zip(shown, outcomes, strict=True)]
    content: list[Child] = [tag("h1", texts("games.title"))]
    if not rows:
        content.append(tag("p", texts("games.none"), class_="panel none"))
    else:
        heads = [tag("th", texts(f"games.{name}"), scope="col") for name in ("began", "players", "rules", "outcome")]
        table = tag("table", tag("thead", tag("tr", heads, tag("td", ""))), tag("tbody", rows), class_="games")
        content.append(tag("div", table, class_="panel scroll", tabindex=0, role="region",
                           aria_label=texts("games.title")))  # fmt: skip
    links = _turning("/games", first, LISTED, len(all_), texts, {})
    own = keeping(site, texts)
    content[1:1] = own
    scripts = KEEPING if own else ()
    paging = tag("p", links, class_="buttons")
    return page(request, texts("games.title"), *content, paging, scripts=scripts, here="/games")


def _turning(path: str, first: int, step: int, count: int, texts: Texts, query: Mapping[str, object]) -> list[Markup]:
    """Links to what comes before and after, where there is more than is shown at once."""
    links = []
    if first:
        back = address(path, {**query, "from": max(0, first - step)})
        links.append(tag("a", f"← {texts('replay.previous')}", href=back, class_="button"))
    if first + step < count:
        on = address(path, {**query, "from": first + step})
        links.append(tag("a", f"{texts('replay.next')} →", href=on, class_="button"))
    return links


def _outcome(shelf: Shelf, info: GameInfo, texts: Texts) -> str:
    """How a game ended, from the rulings in its log."""
    end = shelf.end_ruling(info.id)
    if end is None:
        return texts("games.unfinished")
    if end.kind == "drawn" or "seat" not in end.fields:
        return texts("games.drawn")
    return texts(f"games.{end.kind}", name=RulingWords(info.seats, texts).name(end["seat"]))


def _game_row(info: GameInfo, outcome: str, texts: Texts) -> Markup:
    at = f"/games/{info.id}"
    links = [
        tag("a", texts("games.rulings"), href=at, aria_label=f"{texts('games.rulings')}, {info.id}"),
        tag("a", texts("games.replay"), href=f"{at}/replay", aria_label=f"{texts('games.replay')}, {info.id}"),
        tag("a", texts("games.figures"), href=f"{at}/figures", aria_label=f"{texts('games.figures')}, {info.id}"),
    ]
    kept = tag("span", texts("games.kept"), class_="badge") if info.keep else ""
    return tag(
        "tr",
        tag("th", tag("a", texts("games.game", game=info.id), href=at), " ", kept, tag("small", moment(info.began)),
            scope="row"),
        tag("td", ", ".join(info.seats)),
        tag("td", rules_name(info.rules, texts)),
        tag("td", outcome),
        tag("td", links, class_="links"),
        data_game=info.id,
        data_kept=info.keep,
    )  # fmt: skip


def moment(iso: str) -> str:
    """Wall time as people write it: ``2026-03-14 18:05``."""
    return iso[:16].replace("T", " ")


def rules_name(rules: Any, texts: Texts) -> str:
    """A preset's name; for changed ones the base's."""
    if isinstance(rules, str):
        return rules
    base = rules.get("base", "") if isinstance(rules, dict) else ""
    return f"{texts('games.own_rules')} ({base})" if base else texts("games.own_rules")


async def game(site: Site, request: Request) -> Response:
    """One game: every ruling, with a way to its reasons."""
    texts = page_texts(request)
    folded = await site.folded(request)
    every = request.query_params.get("all") == "1"
    first = whole(request.query_params.get("from"), 0)
    content = await site.aside(lambda: list(_game(folded, texts, every, first, _wrong_in(site, folded))))
    own = keeping(site, texts)
    if own:
        content[1:1] = own
    scripts = KEEPING if own else ()
    return page(request, texts("games.game", game=folded.info.id), *content, scripts=scripts, here="/games")


def _wrong_in(site: Site, folded: Folded) -> Callable[[Ruling], str]:
    """Where people may say that a ruling of this game is wrong."""
    board = site.hub.board
    return lambda ruling: disputed_at(board, folded.info.id, ruling) if site.controlled else ""


def _game(folded: Folded, texts: Texts, every: bool, first: int, wrong: Callable[[Ruling], str]) -> Iterator[Child]:
    info, words = folded.info, RulingWords(folded.table.seats, texts)
    at = f"/games/{info.id}"
    yield tag("h1", texts("games.game", game=info.id))
    under = f"{moment(info.began)} · {', '.join(info.seats)} · {rules_name(info.rules, texts)}"
    yield tag("p", under, class_="crumb")
    buttons = (
        (f"{at}/replay", "games.replay"), (f"{at}/figures", "games.figures"),
        (f"{at}/rulings.csv", "games.rulings_csv"), (f"{at}/log.jsonl", "games.log"),
    )  # fmt: skip
    links = [tag("a", texts(key), href=href, class_="button") for href, key in buttons]
    yield tag("p", links, class_="buttons", data_game=info.id, data_kept=info.keep, data_after="/games")
    same, others = folded.agrees
    key = "games.again_none" if not folded.logged else "games.again_differs" if others else "games.again_equal"
    yield tag("p", tag("b", texts("games.again"), ": "), texts(key, n=others or same),
              class_="note bad" if others else "note good")  # fmt: skip
    shown = [ruling for ruling in folded.rulings if every or ruling.kind not in _QUIET]
    rows = [_ruling_row(folded, ruling, words, wrong(ruling)) for ruling in shown[first : first + RULINGS]]
    heads = [tag("th", texts(f"games.{name}"), scope="col") for name in ("when", "what", "why")]
    table = tag("table", tag("thead", tag("tr", heads)), tag("tbody", rows), class_="rulings")
    yield tag("div", table, class_="panel scroll", tabindex=0, role="region", aria_label=texts("games.rulings"))
    yield tag("p", _turning(at, first, RULINGS, len(shown), texts, {"all": 1 if every else None}), class_="buttons")
    link = address(at, {"all": None if every else 1})
    yield tag("p", tag("a", texts("games.show_few" if every else "games.show_all"), href=link))


def _ruling_row(folded: Folded, ruling: Ruling, words: RulingWords, wrong: str) -> Markup:
    texts, gone = words.texts, ruling.id in folded.replaced_by
    said: Child = unbroken(words(ruling))
    if gone:
        said = [tag("s", said), " ", tag("span", texts("board.replaced"), class_="badge")]
    links: list[Child] = [tag("a", " ".join(ruling.rule), href=ruling_address(folded.info.id, ruling),
                 aria_label=f"{texts('games.why')}: {ruling.id}")]  # fmt: skip
    if ruling.kind in ("slap_won", "slap_false", "slap_void"):
        href = address(f"/games/{folded.info.id}/finish", {"slap": cause_of(ruling.id)})
        links.append(tag("a", texts("nav.finish"), href=href, aria_label=f"{texts('nav.finish')}: {ruling.id}"))
    if wrong:
        links.append(
            tag("a", texts("board.wrong_short"), href=wrong, aria_label=f"{texts('board.wrong')}: {ruling.id}")
        )
    return tag(
        "tr",
        tag("td", texts.seconds(ruling.t - folded.table.t), class_="number"),
        tag("td", said),
        tag("td", links, class_="links"),
        class_=f"k-{ruling.kind}" + (" replaced" if gone else ""),
        data_id=ruling.id,
    )


def ruling_address(game: int, ruling: Ruling) -> str:
    """Where a ruling is explained."""
    return address(f"/games/{game}/ruling", {"id": ruling.id})


async def ruling(site: Site, request: Request) -> Response:
    """Why one ruling came out as it did."""
    texts = page_texts(request)
    folded = await site.folded(request)
    found = folded.by_id.get(request.query_params.get("id", ""))
    if found is None:
        raise HTTPException(404)
    words = RulingWords(folded.table.seats, texts)
    sections = await site.aside(lambda: explained(folded.explain(found), folded, words))
    after = texts("finish.at", time=texts.seconds(found.t - folded.table.t))
    head = tag("p", f"{texts('games.game', game=folded.info.id)} · {found.id} · {after}", class_="crumb")
    newer = folded.replaced_by.get(found.id)
    notice = None
    if newer is not None:
        link = tag("a", words(folded.by_id[newer]), href=ruling_address(folded.info.id, folded.by_id[newer]))
        notice = tag("div", tag("p", texts("finish.replaced_by")), link, class_="notice")
    back = tag("a", f"← {texts('games.game', game=folded.info.id)}", href=f"/games/{folded.info.id}", class_="button")
    href = _wrong_in(site, folded)(found)
    wrong = tag("a", texts("board.wrong"), href=href, class_="button") if href else None
    title = words(found)
    links = tag("p", back, wrong, class_="buttons")
    return page(request, title, head, tag("h1", title), notice, sections, links, here="/games")


async def log(site: Site, request: Request) -> Response:
    """The game as a file in the public format."""
    number = game_of(request)
    await site.aside(site.shelf.game, number)
    rows = await site.aside(site.shelf.lines, number)
    return _file("".join(f"{text}\n" for _, text in rows), f"game-{number}.jsonl", "application/jsonl")


async def rulings_csv(site: Site, request: Request) -> Response:
    """The rulings in the log as a table."""
    number = game_of(request)
    await site.aside(site.shelf.game, number)
    rows = await site.aside(site.shelf.lines, number)
    text = await site.aside(lambda: rulings_table(text for _, text in rows))
    return _file(text, f"rulings-{number}.csv", "text/csv; charset=utf-8")


def _file(text: str, name: str, kind: str) -> Response:
    return PlainTextResponse(text, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


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
            href = address(f"/games/{folded.info.id}/finish", {"slap": cause_of(ruling.id)})
        gone = tag("span", words.texts("board.replaced"), class_="badge") if name in folded.replaced_by else ""
        items.append(tag("li", tag("a", words(ruling), href=href), " ", gone, class_=f"k-{ruling.kind}"))
    return join(items)


async def steps(site: Site, request: Request) -> JSONResponse:
    """Some steps of a game, from a place on."""
    folded = await site.folded(request)
    texts, first = page_texts(request), whole(request.query_params.get("from"), 0)

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
    texts = page_texts(request)
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
