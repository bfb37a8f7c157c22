"""What every page has: head, navigation, language and theme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse

from referee.app.page.markup import Child, Markup, tag
from referee.app.page.texts import LANGUAGES, Texts, chosen, texts

COOKIE: Final = "lang"
_YEAR: Final = 365 * 24 * 3600
_PAGES: Final = (
    ("/", "board"), ("/finish", "finish"), ("/games", "games"), ("/figures", "figures"), ("/rules", "rules"),
    ("/control", "control"),
)  # fmt: skip


def language(request: Request) -> str:
    """The language that this request is answered in."""
    accepted = request.headers.get("accept-language", "")
    return chosen(request.query_params.get("lang"), request.cookies.get(COOKIE), accepted)


def spoken(request: Request) -> Texts:
    """The words of that language."""
    return texts(language(request))


def page(
    request: Request,
    title: str,
    *content: Child,
    scripts: Sequence[str] = (),
    body: str = "",
    here: str = "",
    status: int = 200,
) -> HTMLResponse:
    """A whole page.

    Args:
        request: what is answered.
        title: of the window.
        content: of ``main``.
        scripts: names of files in ``static``.
        body: classes of ``body``.
        here: the address of the navigation's entry that is shown.
        status: of the answer.
    """
    words = spoken(request)
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} · {words('title')}" if title != words("title") else title),
        tag("link", rel="icon", href="/static/icon.svg", type="image/svg+xml"),
        tag("link", rel="stylesheet", href="/static/palette.css"),
        tag("link", rel="stylesheet", href="/static/page.css"),
        tag("script", "", src="/static/theme.js"),
        [tag("script", "", src=f"/static/{name}", defer=True) for name in scripts],
    )
    frame = tag(
        "body",
        tag("a", words("skip"), href="#main", class_="skip"),
        _header(request, words, here),
        tag("main", content, id="main", tabindex="-1"),
        class_=body or None,
    )
    html = Markup("<!doctype html>") + tag("html", head, frame, lang=words.language)
    answer = HTMLResponse(html, status)
    if request.query_params.get("lang") in LANGUAGES:
        answer.set_cookie(COOKIE, words.language, max_age=_YEAR, samesite="lax", httponly=True)
    return answer


def _header(request: Request, words: Texts, here: str) -> Markup:
    links = [
        tag("a", words(f"nav.{name}"), href=href, aria_current="page" if href == here else None)
        for href, name in _PAGES
    ]
    return tag(
        "header",
        tag("a", tag("span", "", class_="mark", aria_hidden="true"), words("title"), href="/", class_="brand"),
        tag("nav", links, aria_label=words("nav.label")),
        tag("div", languages(request, words), theme_button(words), class_="tools"),
        class_="top",
    )


def languages(request: Request, words: Texts) -> Markup:
    """Links to the same page in each language."""
    kept = {key: value for key, value in request.query_params.items() if key != "lang"}
    return tag(
        "nav",
        [
            tag(
                "a",
                code,
                href=address(request.url.path, {**kept, "lang": code}),
                lang=code,
                hreflang=code,
                title=name,
                aria_label=name,
                aria_current="true" if code == words.language else None,
            )
            for code, name in LANGUAGES.items()
        ],
        class_="languages",
        aria_label=words("nav.language"),
    )


def theme_button(words: Texts) -> Markup:
    """Light, dark or as the device; its script shows it."""
    return tag(
        "button", tag("span", "◐", aria_hidden="true"), type="button", id="theme", hidden=True,
        aria_label=words("nav.theme"), title=words("nav.theme"), data_auto=words("nav.theme_auto"),
        data_light=words("nav.theme_light"), data_dark=words("nav.theme_dark"),
    )  # fmt: skip


def address(path: str, query: Mapping[str, object]) -> str:
    """A path with its query."""
    said = urlencode({key: value for key, value in query.items() if value is not None})
    return f"{path}?{said}" if said else path
