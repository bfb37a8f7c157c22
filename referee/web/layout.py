"""The frame of every page: head, navigation, language and theme; also static files, playing cards and shared parts.

Static files are a fixed list, each with an ETag for the browser's cache. Used by the page and by the hall.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from hardware.fonts import font_file
from referee.text.catalogue import LANGUAGES, Texts, chosen, texts
from referee.web.markup import Child, Markup, stylesheet, suit_path, tag

_FOLDER: Final = Path(__file__).parent / "static"
_KINDS: Final = {
    ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
    ".ttf": "font/ttf", ".webp": "image/webp",
}  # fmt: skip
_LASTING: Final = (".ttf", ".webp")
"""Kinds of files that browsers may keep for a month without asking."""
_FONTS: Final = ("Roboto-Regular.ttf", "Roboto-Medium.ttf", "Roboto-Bold.ttf", "Roboto-Black.ttf")


async def send_static(request: Request, folders: Sequence[Path] = ()) -> Response:
    """Send one file; ``folders`` hold further ones."""
    name = request.path_params["name"]
    try:
        data, mark = _content(name, tuple(folders))
    except KeyError:
        raise HTTPException(404) from None
    headers = {"Cache-Control": "no-cache", "ETag": mark}
    if name.endswith(_LASTING):
        headers["Cache-Control"] = "max-age=2592000"
    if request.headers.get("if-none-match") == mark:
        return Response(status_code=304, headers=headers)
    return Response(data, media_type=_KINDS[Path(name).suffix], headers=headers)


async def send_card(request: Request) -> Response:
    """The picture of a card."""
    return await send_static(request, [_FOLDER / "cards"])


@cache
def _content(name: str, folders: tuple[Path, ...]) -> tuple[bytes, str]:
    """Return a file's bytes and its ETag; raises `KeyError` for an unknown file."""
    if name == "palette.css":
        data = stylesheet().encode()
    elif name in _FONTS:
        data = Path(font_file(name.removesuffix(".ttf"))).read_bytes()
    else:
        there = {file.name: file for place in (_FOLDER, *folders) for file in place.iterdir() if file.suffix in _KINDS}
        data = there[name].read_bytes()
    return data, f'"{hashlib.sha256(data).hexdigest()[:20]}"'


_RANKS: Final = {"A": "ace", "K": "king", "Q": "queen", "J": "jack"}
_SUITS: Final = {"s": "spades", "h": "hearts", "d": "diamonds", "c": "clubs"}


def spoken_card(name: str, texts: Texts) -> str:
    """Return a card as people say it: seven of hearts."""
    rank, suit = name[0].replace("T", "10"), name[1]
    if name == "??":
        return texts("card.unread")
    if rank == "X":
        return texts("control.joker_red" if suit == "r" else "control.joker_black")
    said = texts(f"card.{_RANKS[rank]}") if rank in _RANKS else rank
    return texts("card.of", rank=said, suit=texts(f"control.{_SUITS[suit]}"))


def face(name: str, texts: Texts, *, key: str | None = None, class_: str = "", line: str = "") -> Markup:
    """Return a large card as it is printed: pips and courts of our own deck (`tools.page_cards`).

    ``line`` is the line of the log that brought it, if people may correct it.
    """
    picture = f"/static/cards/{'back' if name == '??' else name}.webp"
    return tag(
        "img", src=picture, alt=spoken_card(name, texts), class_=f"card face {class_}".strip(), data_key=key,
        data_line=line or None,
    )  # fmt: skip


def card(name: str, texts: Texts, *, key: str | None = None, class_: str = "") -> Markup:
    """Return a small card: a written rank, a drawn suit, a name for screen readers."""
    drawn, kind, hidden = None, "back", None
    rank = {"T": "10", "X": ""}.get(name[0], name[0])
    if name != "??":
        suit = name[1]
        outline = tag("path", d=suit_path(suit))
        drawn = tag("svg", outline, viewBox="0 0 100 100", aria_hidden="true", class_="suit", focusable="false")
        kind, hidden = "red" if suit in "hdr" else "black", "true"
    return tag(
        "span", tag("span", rank, class_="rank", aria_hidden=hidden), drawn, role="img",
        aria_label=spoken_card(name, texts), class_=f"card {kind} {class_}".strip(), data_key=key,
    )  # fmt: skip


def seat_dot(seat: int) -> Markup:
    """Return a dot in a seat's colour."""
    return tag("span", "", class_=f"dot bg-seat{(seat - 1) % 8 + 1}")


def download(data: str | bytes, name: str, kind: str) -> Response:
    """Return a file to download, under a name."""
    return Response(data, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def qr_code(address: str) -> Response:
    """Return an address as a QR code."""
    import segno

    out = BytesIO()
    segno.make(address, error="m").save(out, kind="svg", border=3, dark="#000", light="#fff", xmldecl=False, scale=6)
    return Response(out.getvalue(), media_type="image/svg+xml", headers={"Cache-Control": "no-store"})


def print_button(texts: Texts) -> Markup:
    """Return the button that prints the page; its script shows it."""
    return tag("button", texts("figures.print"), type="button", id="print", class_="button", hidden=True)


CSV: Final = "text/csv; charset=utf-8"
LANGUAGE_COOKIE: Final = "lang"
_YEAR: Final = 365 * 24 * 3600
_PAGES: Final = (
    ("/", "nav.board"), ("/finish", "nav.finish"), ("/games", "nav.games"), ("/figures", "nav.figures"),
    ("/rules", "nav.rules"), ("/control", "nav.control"),
)  # fmt: skip
"""Addresses in the navigation, and the keys of their words."""


def page_texts(request: Request) -> Texts:
    """Return the texts in the language of the answer to this request."""
    accepted = request.headers.get("accept-language", "")
    return texts(chosen(request.query_params.get("lang"), request.cookies.get(LANGUAGE_COOKIE), accepted))


def page(
    request: Request,
    title: str,
    *content: Child,
    scripts: Sequence[str] = (),
    body: str = "",
    here: str = "",
    status: int = 200,
    pages: Sequence[tuple[str, str]] = _PAGES,
    brand: str = "title",
    styles: Sequence[str] = (),
) -> HTMLResponse:
    """Return a whole page.

    Args:
        request: the request to answer.
        title: of the window.
        content: of ``main``.
        scripts: names of files in ``static``.
        body: classes of ``body``.
        here: address of the current entry in the navigation.
        status: of the answer.
        pages: the navigation's entries: addresses, and the keys of their words.
        brand: the key of the name in front of them.
        styles: names of further files in ``static``.
    """
    words = page_texts(request)
    name = words("title")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} · {name}" if title != name else title),
        tag("link", rel="icon", href="/static/icon.svg", type="image/svg+xml"),
        [tag("link", rel="stylesheet", href=f"/static/{file}") for file in ("palette.css", "page.css", *styles)],
        tag("script", "", src="/static/theme.js"),
        [tag("script", "", src=f"/static/{file}", defer=True) for file in scripts],
    )
    links = [tag("a", words(entry), href=href, aria_current="page" if href == here else None) for href, entry in pages]
    header = tag(
        "header",
        tag("a", tag("span", "", class_="mark", aria_hidden="true"), words(brand), href="/", class_="brand"),
        tag("nav", links, aria_label=words("nav.label")),
        tag("div", languages(request, words), theme_button(words), class_="tools"),
        class_="top",
    )
    skip = tag("a", words("skip"), href="#main", class_="skip")
    frame = tag("body", skip, header, tag("main", content, id="main", tabindex="-1"), class_=body or None)
    html = Markup("<!doctype html>") + tag("html", head, frame, lang=words.language)
    answer = HTMLResponse(html, status)
    if request.query_params.get("lang") in LANGUAGES:
        answer.set_cookie(LANGUAGE_COOKIE, words.language, max_age=_YEAR, samesite="lax", httponly=True)
    return answer


def languages(request: Request, words: Texts) -> Markup:
    """Return links to the same page in each language."""
    kept = {key: value for key, value in request.query_params.items() if key != "lang"}
    links = []
    for code, name in LANGUAGES.items():
        href, here = address(request.url.path, {**kept, "lang": code}), "true" if code == words.language else None
        links.append(
            tag("a", code, href=href, lang=code, hreflang=code, title=name, aria_label=name, aria_current=here)
        )
    return tag("nav", links, class_="languages", aria_label=words("nav.language"))


def theme_button(words: Texts) -> Markup:
    """Return the button for light, dark or the device's theme; its script shows it."""
    return tag(
        "button", tag("span", "◐", aria_hidden="true"), type="button", id="theme", hidden=True,
        aria_label=words("nav.theme"), title=words("nav.theme"), data_auto=words("nav.theme_auto"),
        data_light=words("nav.theme_light"), data_dark=words("nav.theme_dark"),
    )  # fmt: skip


def address(path: str, query: Mapping[str, object]) -> str:
    """Return a path with its query."""
    said = urlencode({key: value for key, value in query.items() if value is not None})
    return f"{path}?{said}" if said else path
