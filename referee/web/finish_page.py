"""The photo-finish page: the drawing, its figures as tables, the rule in words, pictures; and the drawing as a file.

Routes of the page's process.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from referee.engine.observations import LogError
from referee.engine.rulings import cause_of
from referee.record.pictures import AFTER, BEFORE, Picture
from referee.record.seals import show_seal
from referee.record.stored_lines import read_ruling
from referee.text.catalogue import Texts
from referee.text.ruling_lines import RulingWords
from referee.web.board import disputed_at
from referee.web.board_view import shown_at
from referee.web.game_end import record_notes
from referee.web.games import explained
from referee.web.games_cache import GameCache, LoadedGame
from referee.web.layout import address, card, download, page, page_texts, seat_dot
from referee.web.markup import PALETTES, Child, Drawing, Markup, button_link, data_table, panel, svg, tag
from referee.web.photo_finish.finish_svg import NARROW, WIDE, draw_finish
from referee.web.photo_finish.glance_svg import draw_shared
from referee.web.photo_finish.instant_replay import pack_replay, replay_button, replay_player
from referee.web.photo_finish.moment import Finish, finish, headline, offset, verdict
from referee.web.site import Site, game_of, parse_int
from referee.web.winner_view import first_view, why_line

MOST_PICTURES: Final = 12


def found(folded: LoadedGame, slap: str) -> Finish | None:
    """Return the photo-finish of a hand; None if the game has no such hand."""
    lines, asked = folded.lines(), folded.line(slap)
    if asked is not None and asked not in lines:
        # People struck it out; its page still exists.
        lines.append(asked)
    return finish(lines, folded.rulings, slap, folded.replaced_by, len(folded.table.seats))


def finish_figure(folded: LoadedGame, seen: Finish, texts: Texts, *, id: str | None = None) -> Markup:  # noqa: A002
    """Return the drawing in two widths, for wide and for narrow screens."""
    return tag(
        "figure",
        svg(_drawn(folded, seen, texts, WIDE), class_="print wide"),
        svg(_drawn(folded, seen, texts, NARROW), class_="print narrow"),
        class_="photofinish",
        id=id,
    )


def _drawn(folded: LoadedGame, seen: Finish, texts: Texts, width: int) -> Drawing:
    words = RulingWords(folded.table.seats, texts)
    title = finish_title(folded, seen, texts)
    rows = f"{seen.ruling.id} · {' '.join(seen.ruling.rule)}" if seen.ruling is not None else seen.slap
    if (sealed := _sealed(folded, seen, texts)) is not None:
        rows += f" · {sealed}"
    after = texts("finish.at", time=texts.seconds(seen.zero - folded.table.t))
    return draw_finish(seen, words, title, f"{rows} · {after}", width)


def finish_title(folded: LoadedGame, seen: Finish, texts: Texts) -> str:
    """Return the title of a slap's photo-finish: the game, and the slap's instant in it."""
    return texts("finish.of", game=folded.info.id, time=texts.seconds(seen.zero - folded.table.t))


def _sealed(folded: LoadedGame, seen: Finish, texts: Texts) -> str | None:
    """Return the ruling's line number and seal; None if it has none, or is not on record yet."""
    found = None if seen.ruling is None else folded.seals.by_ruling.get(seen.ruling.id)
    return None if found is None else texts("finish.seal", line=found[0], seal=show_seal(found[1]))


def finish_page(
    folded: LoadedGame, seen: Finish, texts: Texts, pictures: Sequence[Picture] | None, wrong: str = ""
) -> Iterator[Child]:
    """Yield the content of the page.

    Args:
        folded: the game.
        seen: the photo-finish.
        texts: of the page's language.
        pictures: None if they are switched off.
        wrong: the address where people may dispute the ruling; empty if they may not.
    """
    words = RulingWords(folded.table.seats, texts)
    head = headline(seen, words)
    yield tag("h1", f"{head.text}{', ' if head.under else ''}{head.under}", class_="unseen")
    yield _buttons(folded, seen, texts, wrong, pictures)
    yield first_view(seen, words, why_line(seen, words))
    if seen.ruling is not None and seen.ruling.supersedes:
        old = [folded.by_id[name] for name in seen.ruling.supersedes if name in folded.by_id]
        lines = [tag("li", tag("s", words(ruling))) for ruling in old]
        yield tag("div", tag("p", texts("finish.replaces")), tag("ul", lines), class_="notice")
    around = panel(texts("finish.pictures"), _pictures(folded.info.id, seen, words, pictures))
    # People look before they read; the note that there are no pictures comes last.
    if pictures:
        yield around
    drawing = [finish_figure(folded, seen, texts, id="print"), _downloads(folded, seen, texts)]
    yield tag("details", tag("summary", texts("finish.drawing")), drawing)
    yield panel(texts("finish.hands"), _hands(seen, words))
    yield panel(texts("finish.cards"), _cards(seen, words))
    if seen.ruling is not None:
        yield explained(folded.explain(seen.ruling), folded, words)
    if not pictures:
        yield around
    yield tag("p", texts("finish.give_or_take"), class_="note")
    yield _details(seen, words)
    yield record_notes(folded, texts)


def _buttons(folded: LoadedGame, seen: Finish, texts: Texts, wrong: str, pictures: Sequence[Picture] | None) -> Markup:
    game, slaps = folded.info.id, list(dict.fromkeys(cause_of(ruling) for ruling in folded.slaps()))
    at = slaps.index(seen.slap) if seen.slap in slaps else -1
    path = f"/games/{game}/finish"
    links: list[Child] = [replay_button(game, seen.slap, texts)] if pictures else []
    if at > 0:
        links.append(button_link(f"← {texts('finish.previous')}", address(path, {"slap": slaps[at - 1]}), rel="prev"))
    if 0 <= at < len(slaps) - 1:
        links.append(button_link(f"{texts('finish.next')} →", address(path, {"slap": slaps[at + 1]}), rel="next"))
    links.append(button_link(texts("what_if.title"), address(f"/games/{game}/what-if", {"slap": seen.slap})))
    if wrong:
        links.append(button_link(texts("board.wrong"), wrong))
    shared = address(f"{path}.svg", {"slap": seen.slap, "shared": 1})
    name = _picture_name(game, seen.slap)
    links.append(
        button_link(
            texts("finish.share"), shared, strong=True, data_themed=True, data_png=name, data_share=True, hidden=True
        )
    )
    title = f"{texts('games.game', game=game)} · {texts('finish.at', time=texts.seconds(seen.zero - folded.table.t))}"
    return tag("div", tag("p", title, class_="crumb"), tag("div", links, class_="buttons"), class_="bar")


def _downloads(folded: LoadedGame, seen: Finish, texts: Texts) -> Markup:
    """Return the links to the whole drawing; the browser's script makes the PNG from the SVG."""
    game, label = folded.info.id, texts("finish.download")
    link = address(f"/games/{game}/finish.svg", {"slap": seen.slap})
    png = button_link(f"{label} PNG", link, data_themed=True, data_png=_picture_name(game, seen.slap), hidden=True)
    return tag("p", png, button_link(f"{label} SVG", link, data_themed=True, download=True), class_="buttons")


def _picture_name(game: int, slap: str) -> str:
    return f"{_file_name(game, slap)}.png"


def _hands(seen: Finish, words: RulingWords) -> Markup:
    texts = words.texts
    heads = ("player", "behind", "lifted", "strength", "verdict")
    rows = []
    for hand in seen.hands:
        lifted = "–" if hand.lift is None else offset(hand.lift, hand.error, seen, texts)
        row = tag(
            "tr",
            tag("th", seat_dot(hand.seat), words.name(hand.seat), scope="row"),
            tag("td", offset(hand.t, hand.error, seen, texts), data_behind=hand.behind, data_error=hand.behind_error),
            tag("td", lifted),
            tag("td", "–" if hand.force is None else texts.number(hand.force, 2)),
            tag("td", verdict(hand, seen, words) or "–"),
            data_hand=hand.id,
            class_="asked" if hand.id == seen.slap else None,
        )
        rows.append(row)
    return data_table([texts(f"finish.{name}") for name in heads], rows, texts("finish.hands"))


def _details(seen: Finish, words: RulingWords) -> Markup:
    """Return the log's own nanoseconds, for calculations."""
    texts = words.texts
    hands = [(hand.t, hand.error, hand.id, hand.seat) for hand in seen.hands]
    cards = [(mark.t, mark.t_error, mark.id, mark.seat) for mark in seen.cards]
    rows = [
        tag(
            "tr",
            tag("th", tag("code", line), scope="row"),
            tag("td", words.name(seat)),
            tag("td", t, data_ns=t),
            tag("td", error, data_ns=error),
            data_line=line,
        )
        for t, error, line, seat in sorted([*hands, *cards], key=lambda row: row[0])
    ]
    heads = [texts(f"finish.{name}") for name in ("line", "player", "instant", "error")]
    table = data_table(heads, rows, texts("finish.details"))
    note = tag("p", texts("finish.exact"), class_="note")
    return tag("details", tag("summary", texts("finish.details")), note, table, class_="panel")


def _cards(seen: Finish, words: RulingWords) -> Markup:
    texts, pattern = words.texts, seen.pattern
    heads = ("card", "by_player", "reveal", "read", "part")
    rows = [
        tag(
            "tr",
            tag("th", card(mark.card, texts), scope="row"),
            tag("td", words.name(mark.seat)),
            tag("td", offset(mark.t, mark.t_error, seen, texts)),
            tag("td", "–" if mark.known_at is None else offset(mark.known_at, 0, seen, texts)),
            tag("td", texts("word.yes") if mark in pattern else "–"),
            data_card=mark.id,
        )
        for mark in seen.cards
    ]
    return data_table([texts(f"finish.{name}") for name in heads], rows, texts("finish.cards"))


def _pictures(game: int, seen: Finish, words: RulingWords, pictures: Sequence[Picture] | None) -> Markup:
    texts = words.texts
    if not pictures:
        return tag("p", texts("finish.pictures_off" if pictures is None else "finish.pictures_none"), class_="none")
    return tag("div", picture_row(game, seen, words, pictures), class_="pictures") + replay_player(texts)


def _chosen(pictures: Sequence[Picture]) -> Sequence[Picture]:
    """Return a limited number of pictures, evenly spaced."""
    if len(pictures) <= MOST_PICTURES:
        return pictures
    last = len(pictures) - 1
    return [pictures[round(place * last / (MOST_PICTURES - 1))] for place in range(MOST_PICTURES)]


def picture_row(game: int, seen: Finish, words: RulingWords, pictures: Sequence[Picture]) -> list[Markup]:
    """Return the pictures around a slap, each with its instant; each opens on its own."""
    texts, shown = words.texts, []
    pictures = _chosen(pictures)
    for picture in pictures:
        margin = offset(picture.t, picture.exposure, seen, texts, alone=True)
        said = texts("finish.picture_at", margin=margin, exposure=texts.ms(picture.exposure, picture.exposure))
        source = f"/games/{game}/pictures/{picture.t}.jpg"
        image = tag("img", src=source, alt=said, loading="lazy")
        # Without the script, the picture opens as a page.
        link = tag("a", image, href=source, data_frame=picture.t - seen.zero)
        shown.append(tag("figure", link, tag("figcaption", said)))
    return shown


async def show_latest_finish(site: Site, request: Request) -> Response:
    """Redirect to the photo-finish of the last slap."""
    board = site.hub.board
    ruling = board.last_slap()
    at = None if board.game is None or ruling is None else shown_at(board.game, ruling)
    at = at or await site.run_in_worker(_last_with_slap, site.shelf)
    if at is not None:
        return RedirectResponse(at, 303)
    texts = page_texts(request)
    empty = tag("section", tag("h1", texts("finish.none")), tag("p", texts("finish.none_long")), class_="panel empty")
    return page(request, texts("finish.title"), empty, here="/finish")


def _last_with_slap(shelf: GameCache) -> str | None:
    for info in shelf.games()[:5]:
        for _, text in reversed(shelf.lines(info.id)):
            if not text.startswith('{"ruling":"slap_'):
                continue
            # Skip a line that is no ruling of the referee.
            with suppress(LogError):
                return address(f"/games/{info.id}/finish", {"slap": cause_of(read_ruling(text))})
    return None


async def show_finish(site: Site, request: Request) -> Response:
    """The photo-finish page of one hand."""
    texts, slap = page_texts(request), request.query_params.get("slap", "")
    folded = await site.folded(request)
    game = folded.info.id

    def write() -> tuple[str, str | None] | None:
        seen = found(folded, slap)
        if seen is None:
            return None
        pictures = None
        if site.shelf.has_pictures:
            pictures = site.shelf.pictures(game, seen.zero - BEFORE, seen.zero + AFTER)
        wrong = ""
        if site.controlled and seen.ruling is not None:
            wrong = disputed_at(site.hub.board, game, seen.ruling)
        shown = None if pictures is None else tuple((picture.t, picture.exposure) for picture in pictures)
        return finish_title(folded, seen, texts), site.shelf.drawn(
            folded, ("page", slap, texts.language, wrong, shown),
            lambda: tag("div", list(finish_page(folded, seen, texts, pictures, wrong)), class_="finish"),
        )  # fmt: skip

    written = await site.run_in_worker(write)
    if written is None:
        raise HTTPException(404)
    title, content = written[0], Markup(written[1] or "")
    return page(request, title, content, scripts=("instant_replay.js", "finish.js"), here="/finish")


async def send_finish(site: Site, request: Request) -> Response:
    """The drawing as a self-contained SVG file."""
    asked, texts = request.query_params, page_texts(request)
    slap, width = asked.get("slap", ""), parse_int(asked.get("width"), WIDE)
    palette = PALETTES.get(asked.get("theme", "light"), PALETTES["light"])
    folded = await site.folded(request)

    def draw() -> str | None:
        seen = found(folded, slap)
        if seen is None:
            return None
        if "shared" in asked:
            title = finish_title(folded, seen, texts)
            return svg(draw_shared(seen, RulingWords(folded.table.seats, texts), title), palette)
        return svg(_drawn(folded, seen, texts, width), palette)

    what = ("svg", slap, width, asked.get("theme") if asked.get("theme") in PALETTES else "", "shared" in asked)
    drawn = await site.run_in_worker(site.shelf.drawn, folded, (*what, texts.language), draw)
    if drawn is None:
        raise HTTPException(404)
    return download(drawn, f"{_file_name(folded.info.id, slap)}.svg", "image/svg+xml")


def _file_name(game: int, slap: str) -> str:
    plain = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in slap)
    return f"photo-finish-{game}-{plain}"


async def send_picture(site: Site, request: Request) -> Response:
    """One kept frame."""
    t = int(request.path_params["t"])
    kept = await site.run_in_worker(site.shelf.pictures, game_of(request), t, t) if t < 2**63 else []
    if not kept:
        raise HTTPException(404)
    return Response(kept[0].jpeg, media_type="image/jpeg")


async def send_replay(site: Site, request: Request) -> Response:
    """The replay of one slap: its frames, and what is drawn with them."""
    texts, slap, game = page_texts(request), request.query_params.get("slap", ""), game_of(request)
    board = site.hub.board
    # A game that is on is not ruled again for each slap: its board knows the latest ones.
    seen = board.finish_of(slap) if board.game == game else None
    names = board.names
    if seen is None:
        folded = await site.folded(request)
        names, seen = folded.table.seats, await site.run_in_worker(found, folded, slap)
    if seen is None:
        raise HTTPException(404)
    pictures = await site.run_in_worker(site.shelf.pictures, game, seen.zero - BEFORE, seen.zero + AFTER)
    if not pictures:
        raise HTTPException(404)
    data = await site.run_in_worker(pack_replay, game, seen, names, texts, pictures)
    return Response(data, media_type="application/octet-stream")
