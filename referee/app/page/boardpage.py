"""The scoreboard's page, its stream of events, its projector mode and the code that phones scan."""

from __future__ import annotations

from io import BytesIO

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from referee.app.page.boardviews import REGIONS
from referee.app.page.markup import Child, Markup, tag
from referee.app.page.shell import address, language, page, spoken
from referee.app.page.site import Site
from referee.app.page.texts import Texts

_LISTS = frozenset(("seats", "rulings", "said", "troubles", "questions"))
_LABELS = {
    "seats": "players", "pile": "pile", "last": "last_slap", "rulings": "rulings", "said": "said",
    "troubles": "troubles", "questions": "questions",
}  # fmt: skip


async def board(site: Site, request: Request) -> HTMLResponse:
    """The scoreboard, as it is now; its script keeps it so."""
    return _board(site, request, projector=False)


async def projector(site: Site, request: Request) -> HTMLResponse:
    """The scoreboard in huge type, for the whole room."""
    return _board(site, request, projector=True)


def _board(site: Site, request: Request, *, projector: bool) -> HTMLResponse:
    texts = spoken(request)
    present = site.hub.present(texts.language)
    parts = {name: _region(name, present[name], texts) for name in REGIONS}
    mode = tag(
        "a", texts("nav.projector_leave" if projector else "nav.projector"), class_="button",
        href="/" if projector else "/projector",
    )  # fmt: skip
    scan = tag(
        "figure",
        tag("img", src="/qr.svg", alt=texts("board.scan"), width=180, height=180),
        tag("figcaption", texts("board.scan"), tag("br"), tag("b", request.url.netloc)),
        class_="scan",
    )
    content: list[Child] = [
        tag("h1", texts("nav.board"), class_="unseen"),
        tag("p", texts("board.connection_lost"), id="lost", role="status", hidden=True),
        tag(
            "div",
            tag("div", parts["state"], parts["questions"], parts["troubles"], parts["seats"], parts["pile"],
                tag("div", parts["said"], tag("div", scan, mode, class_="panel share"), class_="talk"),
                class_="main-column"),
            tag("div", parts["last"], parts["rulings"], class_="side-column"),
            class_="board",
            id="board",
            data_events=address("/events", {"lang": texts.language}),
        ),
    ]  # fmt: skip
    here = "" if projector else "/"
    return page(
        request,
        texts("title"),
        *content,
        scripts=("regions.js", "live.js"),
        body="projector" if projector else "",
        here=here,
    )


def _region(name: str, html: Markup, texts: Texts) -> Markup:
    """One region. Captions and verdicts are read out as they come; the rest changes silently."""
    live = {"said": "polite", "questions": "assertive", "troubles": "polite", "state": None}.get(name)
    inner = tag(
        "ul" if name in _LISTS else "div", html, id=name, data_keyed=True, aria_live=live,
        aria_relevant="additions" if live else None, class_=f"r-{name}",
    )  # fmt: skip
    if name == "state":
        return tag("div", inner, class_="panel state")
    heading = tag("h2", texts(f"board.{_LABELS[name]}"), id=f"h-{name}")
    return tag("section", heading, inner, class_=f"panel p-{name}", aria_labelledby=f"h-{name}")


async def events(site: Site, request: Request) -> StreamingResponse:
    """The stream that keeps a scoreboard up to date."""
    return StreamingResponse(
        site.hub.stream(language(request)),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def code(site: Site, request: Request) -> Response:
    """The page's address as a QR code."""
    import segno

    out = BytesIO()
    home = f"{request.url.scheme}://{request.url.netloc}/"
    segno.make(home, error="m").save(out, kind="svg", border=3, dark="#000", light="#fff", xmldecl=False, scale=6)
    return Response(out.getvalue(), media_type="image/svg+xml", headers={"Cache-Control": "no-store"})


async def health(site: Site, request: Request) -> JSONResponse:
    """Whether the page lives, and how many watch it."""
    return JSONResponse({"well": True, "viewers": site.hub.viewers, "game": site.hub.board.game})
