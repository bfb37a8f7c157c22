"""Routes of the photo-finish: the page, its drawing as a file, and the pictures round it."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from referee.adjudication.rulings import Ruling
from referee.app.page.disputes import disputed_at
from referee.app.page.finishviews import AROUND, drawn, finish_page, found
from referee.app.page.folding import Folded, slap_of
from referee.app.page.markup import tag
from referee.app.page.measures import WIDE
from referee.app.page.palette import PALETTES
from referee.app.page.raster import png
from referee.app.page.scene import Palette, svg
from referee.app.page.shelf import Shelf
from referee.app.page.shell import address, page, spoken
from referee.app.page.site import Site, game_of, whole
from referee.app.page.texts import Texts


async def latest(site: Site, request: Request) -> Response:
    """Straight to the photo-finish of the last slap."""
    board = site.hub.board
    ruling = board.last_slap()
    if board.game is not None and ruling is not None:
        return RedirectResponse(address(f"/games/{board.game}/finish", {"slap": slap_of(ruling)}), 303)
    found_in = await site.aside(_last_with_slap, site.shelf)
    if found_in is not None:
        return RedirectResponse(address(f"/games/{found_in[0]}/finish", {"slap": found_in[1]}), 303)
    texts = spoken(request)
    empty = tag("section", tag("h1", texts("finish.none")), tag("p", texts("finish.none_long")), class_="panel empty")
    return page(request, texts("finish.title"), empty, here="/finish")


def _last_with_slap(shelf: Shelf) -> tuple[int, str] | None:
    for info in shelf.games()[:5]:
        for _, text in reversed(shelf.lines(info.id)):
            if text.startswith('{"ruling":"slap_') and '"id":"' in text:
                name = text.partition('"id":"')[2].partition('"')[0]
                return info.id, name.partition("@")[2].partition("~")[0].partition("/")[0]
    return None


async def finish(site: Site, request: Request) -> Response:
    """The page of one hand."""
    texts, slap = spoken(request), request.query_params.get("slap", "")
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
    data = await site.aside(_bytes, folded, slap, width, spoken(request), palette, kind)
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
