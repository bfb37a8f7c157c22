"""The contact sheet shows every page that the table's own process serves."""

from __future__ import annotations

import re
from pathlib import Path

from starlette.routing import Route

from referee.cli.serve import page_options
from referee.record.store import Record
from referee.web.board import Board
from referee.web.events import Hub
from referee.web.games_cache import GameCache
from referee.web.server import build
from referee.web.site import Site

SHEET = (Path(__file__).parents[2] / "tools" / "contact_sheet.py").read_text(encoding="utf-8")
DATA = re.compile(r"\.\w+$|/steps$|/instant-replay$|^/events$|^/healthz$|^/static/")
"""Routes that serve no page: files, streams and parts of one."""


def test_no_page_is_left_out(tmp_path: Path) -> None:
    shown = [address.partition("?")[0] for address in re.findall(r'": "(/[^"]*)"', SHEET)]
    with Record(tmp_path / "games.db"):
        site = Site(GameCache(tmp_path / "games.db"), Hub(Board()))
        routes = [
            route
            for route in build(site, options=page_options()).routes
            if isinstance(route, Route) and not DATA.search(route.path)
        ]
    assert len(routes) > 15
    assert [route.path for route in routes if not any(route.path_regex.match(address) for address in shown)] == []
