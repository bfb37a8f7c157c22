"""The whole page with a real dispatcher behind it, tested against its own description by schemathesis.

``python -m tools.measure.page_fuzz --examples 2000`` generates requests from ``/api/openapi.json``, fitting and
unfitting, for a paired device and for an unpaired one, of a page open to all and of one behind
a proxy for paired devices only; ``make page-fuzz`` calls it. Exit status 1 where an answer is a 5xx or none of
those described. A seed makes a run reproducible.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.request import Request, urlopen

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from referee.control.commands import Command
from referee.control.pairing_code import Pairing
from referee.control.socket import CommandDispatcher, make_handler
from referee.engine.log import from_fields, parse_object
from referee.engine.observations import Observation
from referee.record.export import import_game
from referee.record.store import Record
from referee.web.api import Control
from referee.web.board import Board
from referee.web.events import Hub
from referee.web.games_cache import GameCache
from referee.web.security.guard import Guard
from referee.web.security.hosts import Hosts
from referee.web.security.limits import HeadTimeoutProtocol
from referee.web.security.sessions import csrf_of
from referee.web.server import build
from referee.web.site import Site
from tests.web.browser import LIMITLESS
from tests.web.table import DEMO, demo_lines
from tests.web.tables import Table

PAIRED: Final = "x-paired"
"""A request with this header comes from a newly paired device."""
CHECKS: Final = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance",
    "response_headers_conformance",
)  # fmt: skip
UNUSED: Final = (
    "positive_data_acceptance", "missing_required_header", "unsupported_method", "allow_header_conformance",
    "use_after_free", "ensure_resource_availability", "ignored_auth", "object_level_authorization",
)  # fmt: skip
"""Left out: `tests.web.test_access` checks these for every route, method and origin."""
PAIRED_TOO: Final = """
[generation]
with-security-parameters = false
[checks.negative_data_rejection]
enabled = true
expected-statuses = ["4xx"]
[[operations]]
include-method = "GET"
[operations.checks.negative_data_rejection]
enabled = false
"""
"""For a paired device, whose cookie schemathesis must not generate: unfitting requests are refused besides.

Read-only routes ignore unknown fields.
"""
NOT_PAIRED: Final = """
[checks.negative_data_rejection]
enabled = false
"""
ROUND: Final = 150
"""Commands until the game is begun anew: each new statement makes all earlier ones be judged again."""


class Main:
    """The referee's own process: its dispatcher, and a game in its middle that takes every command seriously."""

    def __init__(self) -> None:
        lines = demo_lines()
        self._lines = [from_fields(parse_object(line, n), n) for n, line in enumerate(lines[: len(lines) // 3])]
        self.ordered = self.accepted = self._done = 0
        self._table = self._begun()
        self._desk = CommandDispatcher(
            Pairing(), make_handler(lambda: self._table.facts(), self._name, self._observe, self._order)
        )

    def _begun(self) -> Table:
        table = Table(self._lines)
        table.settle()
        return table

    def _name(self, kind: str) -> str:
        return self._table.name(kind)

    def _observe(self, *lines: Observation) -> None:
        self._table.observe(*lines)

    def _order(self, command: Command) -> str:
        self.ordered += 1
        return "" if self.ordered % 2 else f"not now ({command.do})"

    async def ask(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Handle a command as over the socket: JSON in, JSON out."""
        answer = self._desk(json.loads(json.dumps(dict(record))))
        self.accepted += answer["accepted"] is True
        self._done += 1
        if self._done % ROUND == 0:
            self._table = self._begun()
        return dict(json.loads(json.dumps(dict(answer))))

    def ids(self) -> list[str]:
        """Return known ids: lines, rulings, questions."""
        facts = self._table.facts()
        said: list[Any] = [*facts.observations, *facts.rulings]
        return sorted({str(line.id) for line in said if getattr(line, "id", "")})


_VISITOR: Final = b"203.0.113.7"


class _Pairs:
    """Gives each request with the paired header its own session, so that signing out ends no run.

    Stands for the proxy, too, where there is one: sets the client's address, whatever the request said.
    """

    def __init__(self, app: ASGIApp, control: Control, *, is_proxy: bool) -> None:
        self._app, self._control, self._is_proxy = app, control, is_proxy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = PAIRED.encode()
        if any(key == name for key, _ in scope["headers"]):
            token = self._control.sessions.begin("made up", 1)
            ours = [(b"cookie", f"referee={token}".encode()), (b"x-csrf-token", csrf_of(token).encode())]
            kept = [pair for pair in scope["headers"] if pair[0] not in (name, b"cookie", b"x-csrf-token")]
            scope = {**scope, "headers": [*kept, *ours]}
        if self._is_proxy and "headers" in scope:
            scope = {**scope, "headers": [*scope["headers"], (b"x-forwarded-for", _VISITOR)]}
        await self._app(scope, receive, send)


def house(folder: Path, main: Main, *, shut: bool = False) -> ASGIApp:
    """Serve the page unchanged, with a game in its record; only the rate limits are lifted.

    ``shut``: behind a proxy, and only paired devices may look.
    """
    path = folder / "games.sqlite"
    with Record(path) as record:
        import_game(record, DEMO, "2026-01-01T20:00")
    site = Site(GameCache(path), Hub(Board()), controlled=True)
    # Streams end after the available events.
    site.hub.close()
    control = Control(folder / "run", ask=main.ask, clock=lambda: 1)
    hosts = Hosts.of_this_machine(())
    return _Pairs(
        Guard(
            build(site, control.routes()), control.sessions, hosts=hosts, limits=LIMITLESS, clock=lambda: 1,
            only_paired=shut, proxies=["127.0.0.1"] if shut else [],
        ),
        control,
        is_proxy=shut,
    )  # fmt: skip


@contextmanager
def served(app: ASGIApp) -> Iterator[str]:
    """Serve it as the appliance does; yield its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(app, http=HeadTimeoutProtocol, ws="none", lifespan="off", log_level="critical", access_log=False,
                       loop="asyncio", h11_max_incomplete_event_size=16384)
    )  # fmt: skip
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


def told(description: dict[str, Any], ids: list[str]) -> dict[str, Any]:
    """Return the description with existing ids, which random examples would never hit."""
    known: dict[str, list[Any]] = {key: list(ids) for key in ("line", "ruling", "question", "of", "id")}
    known["slap"] = sorted({name.partition("@")[2] for name in ids if name.startswith("slap_")})
    known["game"], known["name"] = [1], ["page.css", "board.js"]

    def widened(name: str, schema: dict[str, Any]) -> dict[str, Any]:
        return {"anyOf": [{"enum": known[name]}, schema]} if known.get(name) else schema

    for path, methods in description["paths"].items():
        for asked in methods.get("get", {}).get("parameters", ()):
            asked["schema"] = widened(asked["name"], asked["schema"])
        if "post" in methods:
            fields = methods["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"]
            for name in fields if path.startswith("/api/control/") else ():
                fields[name] = widened(name, fields[name])
    return description


def _schemathesis(folder: Path, address: str, paired: bool, *options: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("schemathesis", path=str(Path(sys.executable).parent))
    if program is None:
        raise RuntimeError("schemathesis is not here: make install")
    checks = "".join(f"[checks.{name}]\nenabled = {str(name in CHECKS).lower()}\n" for name in (*CHECKS, *UNUSED))
    (folder / "schemathesis.toml").write_text((PAIRED_TOO if paired else NOT_PAIRED) + checks)
    command = [
        program, "run", str(folder / "openapi.json"), "--url", address, "--mode", "all",
        "--phases", "examples,coverage,fuzzing",
        "-H", f"Origin: {address}", "--warnings", "off", "--no-color", "--workers", "1", "--max-redirects", "0",
        "--generation-database", "none", "--continue-on-failure", *options,
    ]  # fmt: skip
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def tried(
    folder: Path, *options: str, paired: bool, examples: int, seed: int = 1, shut: bool = False
) -> tuple[subprocess.CompletedProcess[str], Main]:
    """Run schemathesis for one device; return the run, and the main process that it met.

    Args:
        folder: takes the record and the description.
        options: of ``schemathesis run``.
        paired: whether the device has paired.
        examples: of each route, beside the bounds of each field.
        seed: of the examples.
        shut: behind a proxy, and only paired devices may look.
    """
    folder.mkdir(parents=True, exist_ok=True)
    desk = Main()
    given = ("--max-examples", str(examples), "--seed", str(seed), *(("-H", f"{PAIRED}: yes") if paired else ()))
    with served(house(folder, desk, shut=shut)) as address:
        with urlopen(Request(f"{address}/api/openapi.json", headers={PAIRED: "yes"})) as answer:
            description = json.load(answer)
        (folder / "openapi.json").write_text(json.dumps(told(description, desk.ids())))
        return _schemathesis(folder, address, paired, *given, *options), desk


def main() -> int:
    """Run it for both, print schemathesis' report; return 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=1000, help="of each route, for each of the two devices")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    bad = False
    with tempfile.TemporaryDirectory() as name:
        for shut, paired in itertools.product((False, True), (True, False)):
            folder = Path(name) / f"{shut}-{paired}"
            done, desk = tried(folder, paired=paired, examples=args.examples, seed=args.seed, shut=shut)
            who = (
                f"{'paired' if paired else 'not paired'}{', behind a proxy, for paired devices alone' if shut else ''}"
            )
            print(f"{who}: {desk.accepted} commands accepted by the table")
            print(done.stdout + done.stderr)
            bad |= done.returncode != 0 or (desk.accepted > 0) is not paired
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
