"""Pages that are pads: one large button on a phone, or keys in a browser; and the page that shows the way to them.

Routes of the page's process. Touches are reported to `referee.web.api`, which passes them on to the referee. A page
needs its seat's code; the codes are shown to this machine, and to paired devices.
"""

from __future__ import annotations

import json
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from referee.control.page_address import is_loopback
from referee.control.seat_codes import SeatCode, read_seat_codes
from referee.web.control_page import said_to_scripts
from referee.web.layout import page, page_texts, qr_code
from referee.web.markup import Markup, tag
from referee.web.site import Site

SCRIPTS: Final = ("forms.js", "pad.js")
"""The scripts of a page with pads."""


async def show_pad(_site: Site, request: Request) -> HTMLResponse:
    """One seat's pad for a phone."""
    return draw_pad(request)


def draw_pad(request: Request) -> HTMLResponse:
    """Return the page of a pad: its code is in the address' fragment, which no log ever contains."""
    texts = page_texts(request)
    words = said_to_scripts(texts, "pad.", "control.")
    return page(request, texts("pad.title"), words, tag("div", "", id="pads"), scripts=SCRIPTS, body="padpage")


async def show_pads(site: Site, request: Request) -> HTMLResponse:
    """Every pad that is a page: codes for phones to scan, and the keys for this browser."""
    texts = page_texts(request)
    title = texts("pad.pads")
    if not is_trusted(request, secure=site.secure):
        return page(request, title, tag("section", tag("p", texts("pad.here_only")), class_="panel empty"))
    codes = _codes(site)
    shown = [_invitation(site, request, code) for code in codes if not code.key]
    content = [
        tag("h1", title),
        tag("p", texts("pad.none"), class_="note") if not codes else None,
        tag("p", texts("pad.scan"), class_="note") if shown else None,
        tag("div", shown, class_="invitations"),
        tag("p", texts("pad.changed"), " ", tag("a", texts("control.title"), href="/control"), class_="note")
        if shown and site.controlled
        else None,
        key_pads(site, request),
    ]
    words = said_to_scripts(texts, "pad.", "control.")
    return page(request, title, words, *content, scripts=SCRIPTS)


def key_pads(site: Site, request: Request) -> Markup | None:
    """Return the element for pads on this machine's keyboard; None without such keys or the right to see them."""
    keys = (
        [{"code": code.code, "key": code.key} for code in _codes(site) if code.key]
        if is_trusted(request, secure=site.secure)
        else []
    )
    return tag("div", "", id="pads", data_keys=json.dumps(keys)) if keys else None


async def send_pad_code(site: Site, request: Request) -> Response:
    """A seat's pad as a QR code."""
    one = next((code for code in _codes(site) if code.seat == request.path_params["seat"] and not code.key), None)
    if one is None or not is_trusted(request, secure=site.secure):
        raise HTTPException(404)
    return qr_code(_address(site, request, one))


def _codes(site: Site) -> list[SeatCode]:
    return [] if site.folder is None else read_seat_codes(site.folder)


def _invitation(site: Site, request: Request, one: SeatCode) -> Markup:
    texts, names = page_texts(request), site.hub.board.names
    name = names[one.seat - 1] if one.seat <= len(names) else texts("pad.seat", seat=one.seat)
    image = tag("img", src=f"/pads/{one.seat}.svg", alt=texts("pad.scan"), width=220, height=220)
    link = tag("a", name, href=_address(site, request, one))
    return tag("figure", image, tag("figcaption", link), class_="panel scan")


def _address(site: Site, request: Request, one: SeatCode) -> str:
    address = site.shared_address(request)
    return f"{address.room or address.here}pad#{one.code}"


def is_trusted(request: Request, *, secure: bool) -> bool:
    """Return whether the request comes from this machine or a paired device; ``secure``: all come by a local proxy."""
    client = request.client.host if request.client is not None else ""
    return request.scope.get("referee.device") is not None or (is_loopback(client) and not secure)
