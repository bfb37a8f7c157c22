"""The recorded games: the list, a game's rulings, a ruling's reasons, files to download, and the step-by-step replay.

Routes of the page's process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from referee.engine.explanation import Explanation
from referee.engine.near_misses import Considered
from referee.engine.observations import Answer, Card, Correct, Count, Day, Draw, Observation, Other, Placed, Say
from referee.engine.replay import TooLong
from referee.engine.rulings import SHOWN_BY_POSITION, SLAP_KINDS, Ruling, cause_of, end_of
from referee.engine.shadow_marks import is_shadowed
from referee.record.export import write_rulings_csv
from referee.record.pictures import BEFORE
from referee.record.store import GameInfo
from referee.rules.rows import ROWS
from referee.text.catalogue import Texts, with_nbsp
from referee.text.explanation_lines import moment_words, offset_of, why
from referee.text.rules import sentence
from referee.text.ruling_lines import RulingWords, pretty
from referee.web.board import disputed_at
from referee.web.board_view import pile, replaced_badge, ruling_address, seats, shown_at
from referee.web.control_page import keeping
from referee.web.game_end import record_notes, show_summary
from referee.web.games_cache import GameCache, LoadedGame, LoggedGame
from referee.web.layout import CSV, address, card, download, page, page_texts
from referee.web.markup import Child, Markup, button_link, data_table, join, panel, svg, tag
from referee.web.photo_finish.finish_svg import ROOM_SIZES
from referee.web.photo_finish.glance_svg import PHONE_WIDTH, draw_unnamed_finish
from referee.web.photo_finish.instant_replay import replay_button, replay_player
from referee.web.photo_finish.moment import Finish
from referee.web.photo_finish.questions import ClassQuestion, answer_of, find_questions
from referee.web.site import Site, game_of, parse_int
from referee.web.winner_view import first_view, why_line

_GAMES_A_PAGE: Final = 25
_RULINGS_A_PAGE: Final = 50
_STEPS_AT_ONCE: Final = 30
"""Number of steps sent with one answer."""


async def show_games(site: Site, request: Request) -> Response:
    """The list of games, latest first."""
    texts = page_texts(request)
    first = parse_int(request.query_params.get("from"), 0)
    every = await site.run_in_worker(site.shelf.games)
    rows = await site.run_in_worker(
        lambda: [game_row(info, site.shelf, texts) for info in every[first : first + _GAMES_A_PAGE]]
    )
    title = texts("games.title")
    table = data_table(game_heads(texts), rows, title, class_="games", around="panel scroll")
    none = tag("p", texts("games.none"), class_="panel none")
    own, scripts = keeping(site, texts)
    links = _turning("/games", first, _GAMES_A_PAGE, len(every), texts, {})
    return page(request, title, tag("h1", title), own, table if rows else none, links, scripts=scripts, here="/games")


def _turning(path: str, first: int, step: int, count: int, texts: Texts, query: Mapping[str, object]) -> Markup:
    """Return links to the previous and next part, if there is more than is shown at once."""
    links = []
    if first:
        back = address(path, {**query, "from": max(0, first - step)})
        links.append(button_link(f"← {texts('replay.previous')}", back))
    if first + step < count:
        links.append(button_link(f"{texts('replay.next')} →", address(path, {**query, "from": first + step})))
    return tag("p", links, class_="buttons")


def game_heads(texts: Texts) -> list[Child]:
    """Return the heads of a table of games."""
    return [*(texts(f"games.{name}") for name in ("began", "players", "rules", "outcome")), ""]


def game_row(info: GameInfo, shelf: GameCache, texts: Texts) -> Markup:
    """Return a game's row in a table of games."""
    at, end = f"/games/{info.id}", shelf.end_ruling(info.id)
    pages = [("end", f"{at}/end")] * (end is not None)
    pages += [("rulings", at), ("replay", f"{at}/replay"), ("figures", f"{at}/figures")]
    links = [
        tag("a", texts(f"games.{name}"), href=href, aria_label=f"{texts(f'games.{name}')}, {info.id}")
        for name, href in pages
    ]
    if end is None:
        outcome = texts("games.unfinished")
    elif end.kind == "drawn" or "seat" not in end.fields:
        outcome = texts("games.drawn")
    else:
        outcome = texts(f"games.{end.kind}", name=RulingWords(info.seats, texts).name(end["seat"]))
    kept = tag("span", texts("games.kept"), class_="badge") if info.keep else ""
    name = tag("a", texts("games.game", game=info.id), href=at)
    return tag(
        "tr",
        tag("th", name, " ", kept, tag("small", _date_and_time(info.began)), scope="row"),
        [tag("td", text) for text in (", ".join(info.seats), rules_name(info.rules, texts), outcome)],
        tag("td", links, class_="links"),
        data_game=info.id,
        data_kept=info.keep,
    )


def _date_and_time(iso: str) -> str:
    """Return wall-clock time as people write it: ``2026-03-14 18:05``."""
    return iso[:16].replace("T", " ")


def rules_name(rules: Any, texts: Texts) -> str:
    """Return a preset's name; for changed rules the base's."""
    if isinstance(rules, str):
        return rules
    base = rules.get("base", "") if isinstance(rules, dict) else ""
    return f"{texts('games.own_rules')} ({base})" if base else texts("games.own_rules")


def _disputed_at(site: Site, folded: LoadedGame | LoggedGame, ruling: Ruling) -> str:
    """Return the address where people may dispute a ruling of this game; empty if they may not."""
    return disputed_at(site.hub.board, folded.info.id, ruling) if site.controlled else ""


async def show_game(site: Site, request: Request) -> Response:
    """One game: every ruling with a link to its reasons; a game too long for that, as its log has it."""
    texts, every = page_texts(request), request.query_params.get("all") == "1"
    first = parse_int(request.query_params.get("from"), 0)
    try:
        folded: LoadedGame | LoggedGame = await site.folded(request)
    except TooLong:
        folded = await site.run_exclusively(site.shelf.logged, game_of(request))
    if isinstance(folded, LoggedGame):
        numbers = folded.every if every else folded.listed
        count, shadowed = len(numbers), folded.is_shadowed
        part = await site.run_in_worker(site.shelf.rulings, folded.info.id, numbers[first : first + _RULINGS_A_PAGE])
        names: tuple[str, ...] = ()
        summary = Markup()
        again = tag("p", texts("games.too_long"), class_="note")
    else:
        listed = [ruling for ruling in folded.rulings if every or ruling.kind not in SHOWN_BY_POSITION]
        count, part, shadowed = len(listed), listed[first : first + _RULINGS_A_PAGE], is_shadowed(folded.lines())
        names = (*("end",) * (end_of(folded.rulings) is not None), "replay", "figures")
        again = _ruled_again(folded, texts)
        summary = Markup() if first else await site.run_in_worker(show_summary, site.shelf, folded, texts)
    info, words, at = folded.info, RulingWords(folded.table.seats, texts), f"/games/{folded.info.id}"
    title = texts("games.game", game=info.id)
    under = f"{_date_and_time(info.began)} · {', '.join(info.seats)} · {rules_name(info.rules, texts)}"
    files = (*((name, name) for name in names), ("rulings_csv", "rulings.csv"), ("log", "log.jsonl"))
    links = [button_link(texts(f"games.{name}"), f"{at}/{file}") for name, file in files]
    if shadowed and names:
        links.append(button_link(texts("shadow.link"), f"{at}/shadow"))
    rows = await site.run_in_worker(lambda: [_ruling_row(site, folded, ruling, words) for ruling in part])
    heads = [texts(f"games.{name}") for name in ("when", "what", "why")]
    own, scripts = keeping(site, texts)
    fewer = texts("games.show_few" if every else "games.show_all")
    content = (
        tag("h1", title),
        own,
        tag("p", under, class_="crumb"),
        tag("p", links, class_="buttons", data_game=info.id, data_kept=info.keep, data_after="/games"),
        summary,
        again,
        record_notes(folded, texts),
        data_table(heads, rows, texts("games.rulings"), class_="rulings", around="panel scroll"),
        _turning(at, first, _RULINGS_A_PAGE, count, texts, {"all": 1 if every else None}),
        tag("p", tag("a", fewer, href=address(at, {"all": None if every else 1}))),
    )  # fmt: skip
    return page(request, title, *content, scripts=scripts, here="/games")


def _ruled_again(folded: LoadedGame, texts: Texts) -> Markup:
    """Return whether the log's rulings come out the same today."""
    same, others = folded.agrees
    again = "games.again_none" if not folded.logged else "games.again_differs" if others else "games.again_equal"
    said = texts(again, n=others or same)
    return tag(
        "p", tag("b", texts("games.again"), texts("word.colon")), said, class_="note bad" if others else "note good"
    )


def _ruling_row(site: Site, folded: LoadedGame | LoggedGame, ruling: Ruling, words: RulingWords) -> Markup:
    texts, gone, game = words.texts, ruling.id in folded.replaced_by, folded.info.id
    said: Child = with_nbsp(words(ruling))
    if gone:
        said = [tag("s", said), " ", replaced_badge(texts)]
    targets = []
    if isinstance(folded, LoadedGame):
        targets.append((texts("games.why"), texts("games.why"), ruling_address(game, ruling)))
    else:
        # Its reasons would require ruling the whole game again.
        said = [said, " ", tag("small", " ".join(ruling.rule))]
    if ruling.kind in SLAP_KINDS and isinstance(folded, LoadedGame):
        targets.append((texts("nav.finish"), texts("nav.finish"), shown_at(game, ruling)))
    wrong = _disputed_at(site, folded, ruling)
    if wrong:
        targets.append((texts("board.wrong_short"), texts("board.wrong"), wrong))
    links = [
        tag("a", text, href=href, aria_label=f"{label}{texts('word.colon')}{words(ruling)}")
        for text, label, href in targets
    ]
    return tag(
        "tr",
        tag("td", texts.seconds(ruling.t - folded.table.t), class_="number"),
        tag("td", said),
        tag("td", links, class_="links"),
        class_=f"k-{ruling.kind}" + (" replaced" if gone else ""),
        data_id=ruling.id,
    )


async def show_ruling(site: Site, request: Request) -> Response:
    """Why one ruling came out as it did."""
    texts, folded = page_texts(request), await site.folded(request)
    found = folded.by_id.get(request.query_params.get("id", ""))
    if found is None:
        raise HTTPException(404)
    words, game = RulingWords(folded.table.seats, texts), texts("games.game", game=folded.info.id)
    sections = await site.run_in_worker(lambda: explained(folded.explain(found), folded, words))
    after = texts("finish.at", time=texts.seconds(found.t - folded.table.t))
    newer = folded.by_id.get(folded.replaced_by.get(found.id, ""))
    notice = None
    if newer is not None:
        link = tag("a", words(newer), href=ruling_address(folded.info.id, newer))
        notice = tag("div", tag("p", texts("finish.replaced_by")), link, class_="notice")
    href = _disputed_at(site, folded, found)
    wrong = button_link(texts("board.wrong"), href) if href else None
    content = (
        tag("p", f"{game} · {after}", class_="crumb"),
        tag("h1", words(found)),
        notice,
        sections,
        tag("p", button_link(f"← {game}", f"/games/{folded.info.id}"), wrong, class_="buttons"),
    )
    return page(request, words(found), *content, here="/games")


def explained(explanation: Explanation, folded: LoadedGame, words: RulingWords) -> Markup:
    """Return a ruling's explanation: the rule in words, the pile then, rejected alternatives, nearby instants."""
    texts, on = words.texts, folded.table.house
    items = []
    for row in explanation.ruling.rule:
        if row in ROWS:
            own = "" if texts.language == "en" else texts.get(f"rule.{row}", "")
            lang = None if own or texts.language == "en" else "en"
            items.append(tag("li", tag("span", own or sentence(row, on), lang=lang)))
    parts = [panel(texts("finish.rule"), tag("ul", items, class_="rows"), class_="panel rules")]
    if explanation.pile:
        cards = [card(laid.card, texts, class_=laid.state) for laid in explanation.pile]
        parts.append(panel(texts("finish.pile_then"), tag("div", cards, class_="cards wrap")))
    if explanation.considered:
        items = [_considered(considered, words) for considered in explanation.considered]
        parts.append(panel(texts("finish.considered"), tag("ul", items, class_="considered")))
    if explanation.moments:
        because = frozenset(explanation.ruling.because)
        rows = []
        for moment in explanation.moments:
            rests = moment.id in because
            said = moment.kind in ("answer", "correct")
            cells: tuple[Child, ...] = (
                offset_of(moment, explanation, texts),
                moment_words(moment, words) if said else texts.get(f"moment.{moment.kind}", moment.kind),
                words.name(moment.seat) if moment.seat is not None else "",
                card(moment.card, texts) if moment.card else "",
                tag("code", moment.id),
                texts("finish.rests") if rests else "",
            )
            rows.append(tag("tr", [tag("td", cell) for cell in cells], class_="rests" if rests else None))
        table = [data_table((), rows, texts("finish.moments"))]
        if explanation.left_out:
            table.append(tag("p", texts.count("explain.left_out", explanation.left_out), class_="note"))
        parts.append(tag("details", tag("summary", texts("finish.moments")), table, class_="panel"))
    return join(parts)


def _considered(one: Considered, words: RulingWords) -> Markup:
    """Return a rule that was considered: a pattern by its name, any other by its reason alone."""
    texts = words.texts
    row, _, own = one.row.partition(":")
    pattern = own or texts.get(f"pattern.{row}", "")
    which = tag("b", texts("finish.held" if one.held else "finish.failed", which=pattern)) if pattern else None
    return tag("li", which, " ", tag("span", why(one, words)), class_="yes" if one.held else "no")


async def _lines(site: Site, game: int) -> list[str]:
    """Return a game's lines; raises `RecordError` if there is no such game."""
    await site.run_in_worker(site.shelf.game, game)
    return [text for _, text in await site.run_in_worker(site.shelf.lines, game)]


async def send_log(site: Site, request: Request) -> Response:
    """The game as a file in the public format."""
    game = game_of(request)
    text = await site.run_in_worker(lambda: "".join(site.shelf.exported(game)))
    return download(text, f"game-{game}.jsonl", "application/jsonl")


async def send_rulings(site: Site, request: Request) -> Response:
    """The rulings in the log as a table."""
    game = game_of(request)
    return download(await site.run_in_worker(write_rulings_csv, await _lines(site, game)), f"rulings-{game}.csv", CSV)


def _known_steps(folded: LoadedGame) -> list[int]:
    """Return the indexes of the lines that the referee knows; the replay steps through these."""
    return [place for place, step in enumerate(folded.steps) if not isinstance(step.observation, Other)]


def _step_fields(
    folded: LoadedGame, place: int, texts: Texts, questions: Mapping[str, ClassQuestion], shelf: GameCache
) -> dict[str, Any]:
    """Return one step for the script: what happened, what was ruled then, and the regions after it.

    At a question, the regions are those before it, so that they do not show the answer. ``shelf`` knows whether
    pictures of its slap are kept.
    """
    words, step, view = RulingWords(folded.table.seats, texts), folded.steps[place], folded.view(place)
    question = questions.get(step.observation.id)
    if question is not None:
        before = folded.view(place - 1)
        return {
            "clock": texts.seconds(step.observation.t - folded.table.t),
            "what": texts("lesson.slap"),
            "id": step.observation.id,
            "seats": seats(before, words, len(folded.table.seats)),
            "pile": pile(before.pile, texts),
            "ruled": Markup(),
            "ask": _asked(folded, question, words, shelf),
        }
    ruled = []
    for ruling in (folded.by_id[name] for name in step.rulings):
        if ruling.kind != "turn":
            link = tag("a", words(ruling), href=shown_at(folded.info.id, ruling))
            gone = replaced_badge(texts) if ruling.id in folded.replaced_by else ""
            asked = None
            if ruling.kind in SLAP_KINDS:
                href = address(f"/games/{folded.info.id}/what-if", {"slap": cause_of(ruling)})
                asked = tag("a", texts("what_if.title"), href=href, class_="button small")
            ruled.append(tag("li", link, " ", gone, " ", asked, class_=f"k-{ruling.kind}"))
    return {
        "clock": texts.seconds(step.observation.t - folded.table.t),
        "what": _line_in_words(step.observation, words),
        "id": step.observation.id,
        "seats": seats(view, words, len(folded.table.seats)),
        "pile": pile(view.pile, texts),
        "ruled": join(ruled),
        "ask": Markup(),
    }


def _asked(folded: LoadedGame, question: ClassQuestion, words: RulingWords, shelf: GameCache) -> Markup:
    """Return a question to a class, which opens to show its answer, and the hands that it is about."""
    texts, seen, game = words.texts, answer_of(folded, question), folded.info.id
    href = address(f"/games/{game}/what-if", {"slap": question.slap})
    kept = shelf.picture_instants(game, seen.zero - BEFORE, seen.zero)
    again = (replay_button(game, seen.slap, texts), " ") if kept else None
    asked = tag(
        "details",
        tag("summary", texts(question.text), tag("small", texts("lesson.answer"))),
        first_view(seen, words, why_line(seen, words)),
        tag("p", again, button_link(texts("what_if.title"), href), class_="buttons"),
        class_="panel finish",
        data_question=question.slap,
    )
    return join((asked, unnamed_hands(seen, words)))


def unnamed_hands(seen: Finish, words: RulingWords) -> Markup:
    """Return the hands of a slap without its players and its verdict, for wide and for narrow screens."""
    wide, narrow = (draw_unnamed_finish(seen, words, width) for width in (ROOM_SIZES.width, PHONE_WIDTH))
    drawn = svg(wide, class_="chart wide"), svg(narrow, class_="chart narrow")
    return tag("figure", drawn, class_="panel unnamed")


def _questions(site: Site, request: Request, folded: LoadedGame) -> dict[str, ClassQuestion]:
    """Return the questions by line, if the address asks for a lesson."""
    return site.shelf.remembered(folded.info.id, find_questions) if request.query_params.get("lesson") == "1" else {}


def _line_in_words(line: Observation, words: RulingWords) -> str:
    """Return a line of the log in words."""
    texts = words.texts
    fields = {"name": words.name(getattr(line, "seat", None)), "card": "", "count": "", "value": ""}
    match line:
        case Card():
            fields["card"] = pretty(line.card)
        case Placed(count=many) | Count(cards=many):
            fields["count"] = texts.count("cards", many)
        case Say(rank=value) | Draw(rank=value) | Day(date=value) | Answer(value=value) | Correct(line=value):
            fields["value"] = str(value)
    known = texts.get(f"replay.kind_{line.kind}", "")
    return known.format_map(fields) if known else line.kind


async def send_steps(site: Site, request: Request) -> JSONResponse:
    """Some steps of a game, from a place on."""
    folded = await site.folded(request)
    texts, first = page_texts(request), parse_int(request.query_params.get("from"), 0)

    def some() -> dict[str, Any]:
        places, asked = _known_steps(folded), _questions(site, request, folded)
        steps = [
            _step_fields(folded, place, texts, asked, site.shelf) for place in places[first : first + _STEPS_AT_ONCE]
        ]
        return {"from": first, "all": len(places), "steps": steps}

    return JSONResponse(await site.run_in_worker(some))


async def show_replay(site: Site, request: Request) -> Response:
    """The replay of a game; shows the step in the address, and its script the others."""
    return await draw_replay(site, request)


async def draw_replay(site: Site, request: Request, *beside: Child, scripts: Sequence[str] = (),
                      styles: Sequence[str] = ()) -> Response:  # fmt: skip
    """Draw the replay of a game; ``beside`` stands next to the question of a lesson, with its scripts and styles."""
    texts, folded = page_texts(request), await site.folded(request)
    places, asked = _known_steps(folded), await site.run_in_worker(_questions, site, request, folded)
    at = min(parse_int(request.query_params.get("at"), 0), len(places) - 1)
    now = await site.run_in_worker(_step_fields, folded, places[at], texts, asked, site.shelf)
    title = texts("replay.title", game=folded.info.id)
    stops = [step for step, place in enumerate(places) if folded.steps[place].observation.id in asked]
    lesson = request.query_params.get("lesson") == "1"
    shown_seats = tag(
        "ul", now["seats"], id="seats", class_="r-seats", data_keyed=True, aria_label=texts("board.players")
    )
    shown_pile = tag("div", now["pile"], id="pile", class_="r-pile panel", data_keyed=True)
    # In a lesson, the class looks at the pile first.
    parts: list[Child] = [shown_seats, shown_pile]
    if lesson:
        parts = [tag("div", now["ask"], id="ask"), shown_pile, *beside, shown_seats]
    position = tag(
        "div",
        tag("p", f"{now['clock']} · {now['what']}", id="what", class_="headline", aria_live="polite"),
        parts,
        panel(texts("replay.ruled"), tag("ul", now["ruled"], id="ruled")),
        class_=f"replay lesson{' voted' if beside else ''}" if lesson else "replay",
    )
    change = address(f"/games/{folded.info.id}/replay", {"lesson": None if lesson else 1, "at": at or None})
    other = button_link(texts("lesson.stop" if lesson else "lesson.start"), change)
    content = (
        tag("h1", title, class_="unseen" if beside else None),
        _controls(folded.info.id, texts, at, len(places), stops if lesson else None),
        position,
        tag("p", other, class_="buttons"),
        # A lesson answers with the moment itself where its pictures are kept.
        replay_player(texts) if lesson else None,
    )
    players = ("instant_replay.js",) if lesson else ()
    used = ("regions.js", *players, "replay.js", *scripts)
    return page(request, title, *content, scripts=used, here="/games", styles=styles)


def _controls(game: int, texts: Texts, at: int, count: int, stops: Sequence[int] | None) -> Markup:
    """Return the buttons and the slider; ``stops`` are the steps of a lesson with questions, None without a lesson."""
    path, lesson = f"/games/{game}/replay", None if stops is None else 1
    moves = [("first", 0, "|◀"), ("previous", at - 1, "◀"), ("next", at + 1, "▶"), ("last", count - 1, "▶|")]
    links = []
    for name, to, sign in moves:
        label = texts(f"replay.{name}")
        links.append(tag(
            "a", tag("span", sign, aria_hidden="true"), tag("span", label, class_="word"),
            href=address(path, {"lesson": lesson, "at": min(max(to, 0), count - 1)}), class_="button", data_move=name,
            aria_label=label,
        ))  # fmt: skip
    if stops is not None:
        to = next((stop for stop in stops if stop > at), count - 1)
        here = address(path, {"lesson": 1, "at": to})
        links.append(button_link(texts("lesson.next"), here, strong=True, data_move="question"))
    play = tag(
        "button", texts("replay.play"), type="button", id="play", class_="button", hidden=True,
        data_stop=texts("replay.stop"), data_play=texts("replay.play"),
    )  # fmt: skip
    slider = tag(
        "input", type="range", id="slider", min=0, max=count - 1, value=at, aria_label=texts("replay.step"),
        data_steps=address(f"/games/{game}/steps", {"lesson": lesson, "lang": texts.language}),
        data_path=address(path, {"lesson": lesson}), data_of=texts("replay.of", at="{at}", all="{all}"),
        data_questions=None if stops is None else " ".join(map(str, stops)),
    )  # fmt: skip
    label = tag("output", texts("replay.of", at=at + 1, all=count), id="where", for_="slider")
    buttons = tag("div", label, links, play, class_="buttons")
    return tag(
        "div", slider, buttons, tag("p", texts("replay.keys"), class_="note") if stops is None else None,
        class_="panel controls",
    )  # fmt: skip
