"""The photo-finish page: the drawing, the same figures as a table, the rule in words, what else was considered.

Routes of the photo-finish: the page, its drawing as a file, and the pictures round it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from referee.engine.rulings import Ruling, cause_of
from referee.record.pictures import Picture
from referee.text.catalogue import Texts
from referee.text.ruling_lines import RulingWords
from referee.web.board import disputed_at
from referee.web.games import explained
from referee.web.games_cache import Folded, Shelf
from referee.web.html import Child, Markup, tag
from referee.web.layout import address, card, page, page_texts
from referee.web.photo_finish.finish_svg import NARROW, WIDE, draw
from referee.web.photo_finish.moment import Finish, behind, finish, headline, verdict
from referee.web.raster import png
from referee.web.site import Site, game_of, whole
from referee.web.svg import PALETTES, Palette, Scene, svg

AROUND: Final = 400_000_000
"""How far before and after the first hand pictures are shown, ns."""
MOST_PICTURES: Final = 12


def found(folded: Folded, slap: str) -> Finish | None:
    """The photo-finish of a hand; None where the game has no such hand."""
    return finish(folded.lines(), folded.rulings, slap, folded.replaced_by, len(folded.table.seats))


def drawn(folded: Folded, seen: Finish, texts: Texts, width: int) -> Scene:
    """Its drawing, `WIDE` or `NARROW`."""
    words = RulingWords(folded.table.seats, texts)
    title = texts("finish.of", game=folded.info.id, slap=seen.slap)
    rows = f"{seen.ruling.id} · {' '.join(seen.ruling.rule)}" if seen.ruling is not None else seen.slap
    after = texts("finish.at", time=texts.seconds(seen.zero - folded.table.t))
    return draw(seen, words, title, f"{rows} · {after}", WIDE if width != NARROW else NARROW)


def finish_page(
    folded: Folded, seen: Finish, texts: Texts, pictures: Sequence[Picture] | None, wrong: str = ""
) -> Iterator[Child]:
    """The content of the page.

    Args:
        folded: the game.
        seen: the photo-finish.
        texts: of the page's language.
        pictures: None where they are switched off.
        wrong: where people may say that the ruling is wrong; empty where they may not.
    """
    words = RulingWords(folded.table.seats, texts)
    head = headline(seen, words)
    game = folded.info.id
    yield tag("h1", f"{head.text}{', ' if head.under else ''}{head.under}", class_="unseen")
    yield _buttons(folded, seen, texts, wrong)
    if seen.ruling is not None:
        yield _replaced(folded, seen.ruling, words)
    yield tag(
        "figure",
        svg(drawn(folded, seen, texts, WIDE), class_="print wide"),
        svg(drawn(folded, seen, texts, NARROW), class_="print narrow"),
        class_="photofinish",
        id="print",
    )
    around = tag("section", tag("h2", texts("finish.pictures")), _pictures(game, seen, texts, pictures), class_="panel")
    # People look before they read; that there are no pictures can wait.
    if pictures:
        yield around
    yield tag("section", tag("h2", texts("finish.hands")), _hands(seen, words), class_="panel")
    yield tag("section", tag("h2", texts("finish.cards")), _cards(seen, words), class_="panel")
    if seen.ruling is not None:
        yield explained(folded.explain(seen.ruling), folded, words)
    if not pictures:
        yield around
    yield tag("p", texts("finish.exact"), class_="note")


def _buttons(folded: Folded, seen: Finish, texts: Texts, wrong: str) -> Markup:
    game, slaps = folded.info.id, list(dict.fromkeys(cause_of(ruling.id) for ruling in folded.slaps()))
    at = slaps.index(seen.slap) if seen.slap in slaps else -1
    path = f"/games/{game}/finish"
    links: list[Child] = []
    if at > 0:
        link = address(path, {"slap": slaps[at - 1]})
        links.append(tag("a", f"← {texts('finish.previous')}", href=link, class_="button", rel="prev"))
    if 0 <= at < len(slaps) - 1:
        link = address(path, {"slap": slaps[at + 1]})
        links.append(tag("a", f"{texts('finish.next')} →", href=link, class_="button", rel="next"))
    if wrong:
        links.append(tag("a", texts("board.wrong"), href=wrong, class_="button"))
    kinds = []
    for kind in ("png", "svg"):
        link = address(f"{path}.{kind}", {"slap": seen.slap})
        label = f"{texts('finish.download')} {kind.upper()}"
        kinds.append(tag("a", label, href=link, class_="button strong", download=True, data_themed=True))
    title = texts("finish.of", game=game, slap=seen.slap)
    return tag("div", tag("p", title, class_="crumb"), tag("div", links, kinds, class_="buttons"), class_="bar")


def _replaced(folded: Folded, ruling: Ruling, words: RulingWords) -> Markup:
    texts, parts = words.texts, []
    if ruling.supersedes:
        old = [folded.by_id[name] for name in ruling.supersedes if name in folded.by_id]
        lines = [tag("li", tag("s", words(one))) for one in old]
        parts.append(tag("div", tag("p", texts("finish.replaces")), tag("ul", lines), class_="notice"))
    return Markup("".join(parts))


def _hands(seen: Finish, words: RulingWords) -> Markup:
    texts = words.texts
    heads = ("player", "instant", "error", "behind", "lifted", "strength", "verdict")
    rows = []
    for hand in seen.hands:
        lifted = "" if hand.lift is None else texts.ms(hand.lift - seen.zero, sign=True)
        rows.append(
            tag(
                "tr",
                tag("th", tag("span", "", class_=f"dot bg-seat{(hand.seat - 1) % 8 + 1}"), words.name(hand.seat),
                    scope="row"),
                tag("td", texts.ms(hand.t - seen.zero, sign=True), tag("small", f"{hand.t} ns"), data_ns=hand.t),
                tag("td", f"± {texts.ms(hand.error)}", data_ns=hand.error),
                tag("td", behind(hand, texts) or "–", data_behind=hand.behind, data_error=hand.behind_error),
                tag("td", lifted or "–"),
                tag("td", "–" if hand.force is None else texts.number(hand.force, 2)),
                tag("td", verdict(hand, seen, words) or "–"),
                data_hand=hand.id,
                class_="asked" if hand.id == seen.slap else None,
            )
        )  # fmt: skip
    return _table(texts, heads, rows, texts("finish.hands"))


def _cards(seen: Finish, words: RulingWords) -> Markup:
    texts = words.texts
    heads = ("card", "by_player", "reveal", "error", "read", "part")
    rows = []
    for mark in seen.cards:
        read = "–" if mark.known_at is None else texts.ms(mark.known_at - seen.zero, sign=True)
        rows.append(
            tag(
                "tr",
                tag("th", card(mark.card, texts), scope="row"),
                tag("td", words.name(mark.seat)),
                tag("td", texts.ms(mark.t - seen.zero, sign=True), tag("small", f"{mark.t} ns"), data_ns=mark.t),
                tag("td", f"± {texts.ms(mark.error)}", data_ns=mark.error),
                tag("td", read),
                tag("td", texts("word.yes") if mark.part else "–"),
                data_card=mark.id,
            )
        )
    return _table(texts, heads, rows, texts("finish.cards"))


def _table(texts: Texts, heads: Sequence[str], rows: Sequence[Markup], label: str) -> Markup:
    head = tag("thead", tag("tr", [tag("th", texts(f"finish.{name}"), scope="col") for name in heads]))
    # A table that scrolls sideways must be reachable by keys.
    return tag("div", tag("table", head, tag("tbody", rows)), class_="scroll", tabindex=0, role="region",
               aria_label=label)  # fmt: skip


def _pictures(game: int, seen: Finish, texts: Texts, pictures: Sequence[Picture] | None) -> Markup:
    if pictures is None:
        return tag("p", texts("finish.pictures_off"), class_="none")
    if not pictures:
        return tag("p", texts("finish.pictures_none"), class_="none")
    shown = []
    for picture in _spread(pictures):
        margin = texts.ms(picture.t - seen.zero, 1, sign=True)
        said = texts("finish.picture_at", margin=margin, exposure=texts.ms(picture.exposure, 1))
        image = tag("img", src=f"/games/{game}/pictures/{picture.t}.jpg", alt=said, loading="lazy")
        shown.append(tag("figure", image, tag("figcaption", said)))
    return tag("div", shown, class_="pictures")


def _spread(pictures: Sequence[Picture]) -> Sequence[Picture]:
    """No more than can be looked at, evenly chosen."""
    if len(pictures) <= MOST_PICTURES:
        return pictures
    last = len(pictures) - 1
    return [pictures[round(place * last / (MOST_PICTURES - 1))] for place in range(MOST_PICTURES)]


async def latest(site: Site, request: Request) -> Response:
    """Straight to the photo-finish of the last slap."""
    board = site.hub.board
    ruling = board.last_slap()
    if board.game is not None and ruling is not None:
        return RedirectResponse(address(f"/games/{board.game}/finish", {"slap": cause_of(ruling.id)}), 303)
    found_in = await site.aside(_last_with_slap, site.shelf)
    if found_in is not None:
        return RedirectResponse(address(f"/games/{found_in[0]}/finish", {"slap": found_in[1]}), 303)
    texts = page_texts(request)
    empty = tag("section", tag("h1", texts("finish.none")), tag("p", texts("finish.none_long")), class_="panel empty")
    return page(request, texts("finish.title"), empty, here="/finish")


def _last_with_slap(shelf: Shelf) -> tuple[int, str] | None:
    for info in shelf.games()[:5]:
        for _, text in reversed(shelf.lines(info.id)):
            if text.startswith('{"ruling":"slap_') and '"id":"' in text:
                name = text.partition('"id":"')[2].partition('"')[0]
                return info.id, cause_of(name)
    return None


async def show_finish(site: Site, request: Request) -> Response:
    """The page of one hand."""
    texts, slap = page_texts(request), request.query_params.get("slap", "")
    folded = await site.folded(request)

    def wrong(ruling: Ruling | None) -> str:
        return disputed_at(site.hub.board, folded.info.id, ruling) if site.controlled and ruling is not None else ""

    def write() -> str | None:
        seen = found(folded, slap)
        if seen is None:
            return None
        pictures = None
        if site.shelf.has_pictures:
            pictures = site.shelf.pictures(folded.info.id, seen.zero - AROUND, seen.zero + AROUND)
        return tag("div", list(finish_page(folded, seen, texts, pictures, wrong(seen.ruling))), class_="finish")

    content = await site.aside(write)
    if content is None:
        raise HTTPException(404)
    title = texts("finish.of", game=folded.info.id, slap=slap)
    return page(request, title, content, scripts=("finish.js",), here="/finish")


async def as_svg(site: Site, request: Request) -> Response:
    """The drawing as an SVG file that stands by itself."""
    return await _file(site, request, "svg")


async def as_png(site: Site, request: Request) -> Response:
    """The drawing as a PNG file."""
    return await _file(site, request, "png")


async def _file(site: Site, request: Request, kind: str) -> Response:
    asked = request.query_params
    slap, width = asked.get("slap", ""), whole(asked.get("width"), WIDE)
    palette = PALETTES.get(asked.get("theme", "light"), PALETTES["light"])
    folded = await site.folded(request)
    data = await site.aside(_bytes, folded, slap, width, page_texts(request), palette, kind)
    if data is None:
        raise HTTPException(404)
    plain = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in slap)
    return Response(
        data,
        media_type="image/svg+xml" if kind == "svg" else "image/png",
        headers={"Content-Disposition": f'attachment; filename="photo-finish-{folded.info.id}-{plain}.{kind}"'},
    )


def _bytes(folded: Folded, slap: str, width: int, texts: Texts, palette: Palette, kind: str) -> bytes | None:
    seen = found(folded, slap)
    if seen is None:
        return None
    scene = drawn(folded, seen, texts, width)
    return png(scene, palette) if kind == "png" else svg(scene, palette).encode()


async def picture(site: Site, request: Request) -> Response:
    """One kept frame."""
    t = int(request.path_params["t"])
    kept = await site.aside(site.shelf.pictures, game_of(request), t, t) if t < 2**63 else []
    if not kept:
        raise HTTPException(404)
    return Response(kept[0].jpeg, media_type="image/jpeg")
