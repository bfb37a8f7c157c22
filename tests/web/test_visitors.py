"""Access and identity of visitors: paired devices, proxies, and work queued by address."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from referee.cli import main
from referee.record.export import import_game
from referee.record.store import Record
from referee.settings.model import SettingsError, parse_settings
from referee.web.games_cache import GameCache
from referee.web.security.fair_turns import ASKER, WORKERS, Turns
from referee.web.security.hosts import find_visitor
from referee.web.security.limits import Limits
from referee.web.server import _ROUTES
from tests.support.patience import PATIENCE
from tests.web.browser import APPLIANCE, House, whole_page

PROXY, PHONE, TABLET = "192.168.1.3", "192.168.1.50", "fd00::7"


async def _client(asked: Request) -> PlainTextResponse:
    return PlainTextResponse(asked.client.host if asked.client is not None else "")


def echo() -> Starlette:
    """Return the client's identity."""
    return Starlette(routes=[Route("/", _client), Route("/games/1/finish", _client)])


def forwarded(*hops: str) -> list[tuple[str, str]]:
    return [("x-forwarded-for", hop) for hop in hops]


# Proxies


@pytest.mark.parametrize(
    ("client", "hops", "who"),
    [
        (PROXY, [PHONE], PHONE),
        (PROXY, [f"203.0.113.9, {PHONE}"], PHONE),
        (PROXY, ["203.0.113.9", PHONE], PHONE),
        (PROXY, [f"127.0.0.1, {PHONE},  {PROXY} "], PHONE),
        (PROXY, [TABLET.upper()], TABLET),
        (PROXY, ["::ffff:192.168.1.50"], PHONE),
        ("::ffff:" + PROXY, [PHONE], PHONE),
        (PROXY, [], PROXY),
        (PROXY, [PROXY], PROXY),
        (PROXY, [f"{PHONE}, unknown"], PROXY),
        (PROXY, [f"{PHONE},"], PROXY),
        (PROXY, ["127.0.0.1"], "127.0.0.1"),
        (PHONE, ["203.0.113.9"], PHONE),
        (PHONE, [PROXY], PHONE),
    ],
)
def test_who_asks_is_the_last_whom_a_trusted_proxy_has_seen(
    tmp_path: Path, client: str, hops: list[str], who: str
) -> None:
    house = House(tmp_path, echo(), proxies=[PROXY], secure=True)
    told = house.get("/", forwarded(*hops), client=client).body.decode()
    assert told.removeprefix("::ffff:") == who


def test_without_a_trusted_proxy_nobody_is_believed(tmp_path: Path) -> None:
    assert House(tmp_path, echo()).get("/", forwarded(PHONE), client=PROXY).body.decode() == PROXY


@given(st.lists(st.text(st.characters(codec="latin-1", exclude_characters="\r\n"), max_size=60), max_size=12))
@settings(max_examples=300, deadline=None)
def test_whatever_a_visitor_writes_the_last_hop_decides(written: list[str]) -> None:
    hops = [(b"x-forwarded-for", header.encode("latin-1")) for header in written]
    real = (b"x-forwarded-for", PHONE.encode())
    seen = find_visitor({"client": (PROXY, 1), "headers": [*hops, real]}, {PROXY})
    assert seen is not None and seen[0] == PHONE
    outside = {"client": (TABLET, 1), "headers": [*hops, real]}
    assert find_visitor(outside, {PROXY}) == (TABLET, 1)


def test_visitors_behind_a_proxy_have_limits_of_their_own(tmp_path: Path) -> None:
    house = House(tmp_path, echo(), limits=Limits(reads=5), proxies=[PROXY], secure=True)
    for number in range(5):
        # An entry that the visitor put before it does not change the identity.
        hops = forwarded(f"203.0.113.{number}, {PHONE}")
        assert house.get("/", hops, client=PROXY).status == 200
    assert house.get("/", forwarded(PHONE), client=PROXY).status == 429
    assert house.get("/", forwarded(TABLET), client=PROXY).status == 200


def test_wrong_codes_are_counted_by_visitor_and_not_by_proxy(tmp_path: Path) -> None:
    house = House(tmp_path, proxies=[PROXY], secure=True)
    code = house.main.code()
    wrong = "000000" if code != "000000" else "111111"
    for number in range(3):
        house.clock[0] += 20 * 10**9 * (number > 0)
        assert house.post("/api/pair", {"code": wrong}, forwarded(PHONE), client=PROXY).status != 200
    house.clock[0] += 20 * 10**9
    assert house.post("/api/pair", {"code": code}, forwarded(PHONE), client=PROXY).status != 200
    assert house.post("/api/pair", {"code": code}, forwarded(TABLET), client=PROXY).status == 200


def test_a_proxy_that_can_be_passed_by_is_no_setting() -> None:
    seats = '[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n'
    told = parse_settings(f'{seats}[page]\nhttps = true\nproxies = ["127.0.0.1", "::1"]\n').page
    assert told.proxies == ("127.0.0.1", "::1")
    for wrong in ('proxies = ["127.0.0.1"]', 'https = true\nproxies = ["localhost"]', 'https = true\nproxies = "::1"'):
        with pytest.raises(SettingsError, match="proxies"):
            parse_settings(f"{seats}[page]\n{wrong}\n")


@pytest.mark.parametrize(
    ("given_", "words"),
    [(["--proxy", "127.0.0.1"], "needs --https"), (["--only-paired"], "needs --runtime")],
)
def test_the_command_refuses_what_would_let_everybody_or_nobody_in(
    tmp_path: Path, given_: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Record(tmp_path / "games.sqlite") as record:
        import_game(record, APPLIANCE, "2026-01-01T20:00")
    assert main(["page", "--record", str(tmp_path / "games.sqlite"), *given_]) != 0
    assert words in capsys.readouterr().err


# Only paired devices


def test_who_has_paired_sees_all_and_the_tables_own_browser_too(tmp_path: Path) -> None:
    shut, _ = whole_page(tmp_path, only_paired=True)
    assert shut.get("/games/1").status == 401
    assert "Code" in shut.get("/games/1", [("accept-language", "de")]).body.decode()
    paired = shut.pair()
    assert shut.get("/games/1", paired.headers).status == 200
    assert shut.get("/games/1", client="127.0.0.1", server="127.0.0.1").status == 200
    behind = House(
        tmp_path / "other", around=lambda routes: Starlette(routes=[*echo().routes, *routes]), secure=True,
        only_paired=True, proxies=["127.0.0.1"],
    )  # fmt: skip
    for hops in ([], forwarded(PHONE), forwarded("127.0.0.1")):
        assert behind.get("/", hops, client="127.0.0.1").status == 401, "behind a proxy no visitor sits at this machine"
    assert behind.get("/", behind.pair().headers, client="127.0.0.1").status == 200


# Costs and turns


def test_what_is_heavy_counts_for_more_and_the_rest_is_as_before(tmp_path: Path) -> None:
    house = House(tmp_path, echo(), limits=Limits(reads=12, heavy=4))
    assert [house.get("/games/1/finish").status for _ in range(4)] == [200, 200, 200, 429]
    house = House(tmp_path, echo(), limits=Limits(reads=12, heavy=4))
    assert [house.get("/").status for _ in range(13)] == [200] * 12 + [429]


@pytest.mark.parametrize("path", [path for path, show in _ROUTES.items() if "site.folded(" in inspect.getsource(show)])
def test_whatever_rules_a_game_again_is_heavy(tmp_path: Path, path: str) -> None:
    house = House(tmp_path, echo(), limits=Limits(reads=12, heavy=4))
    asked = path.replace("{game:int}", "1")
    # The actual content does not matter here.
    assert [house.get(asked).status == 429 for _ in range(4)] == [False, False, False, True]


class Work:
    """Pieces of work that end on request, with the order in which they began."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.gates: dict[str, threading.Event] = {}
        self.at_once = 0

    def piece(self, name: str) -> Callable[[], str]:
        gate = self.gates[name] = threading.Event()

        def work() -> str:
            self.began.append(name)
            self.at_once = max(self.at_once, len(self.began) - sum(event.is_set() for event in self.gates.values()))
            assert gate.wait(PATIENCE)
            return name

        return work

    def end(self, *names: str) -> None:
        for name in names:
            self.gates[name].set()


def ask(turns: Turns, who: str, work: Callable[[], Any]) -> asyncio.Task[Any]:
    """Send a request from this address."""
    context = copy_context()
    context.run(ASKER.set, who)
    return asyncio.get_running_loop().create_task(turns.do(work), context=context)


def test_one_address_waits_for_its_own_work_alone() -> None:
    async def run() -> None:
        turns, work = Turns(), Work()
        greedy = [ask(turns, "greedy", work.piece(f"greedy {number}")) for number in range(6)]
        await asyncio.sleep(0)
        other = ask(turns, "other", work.piece("other"))
        third = ask(turns, "third", work.piece("third"))
        work.end("other", "third")
        # Neither waits for a piece of the greedy one's work, the first of which has not even ended.
        assert list(await asyncio.wait_for(asyncio.gather(other, third), PATIENCE)) == ["other", "third"]
        assert [name for name in work.began if name.startswith("greedy")] == ["greedy 0"]
        work.end(*work.gates)
        assert await asyncio.gather(*greedy) == [f"greedy {number}" for number in range(6)]
        assert work.at_once <= WORKERS
        turns.close()

    asyncio.run(run())


def test_addresses_are_served_in_turn_and_what_fails_or_is_given_up_holds_nobody() -> None:
    async def run() -> None:
        turns, work = Turns(), Work()

        def fails() -> str:
            raise ValueError("no such game")

        first = [ask(turns, who, work.piece(f"{who} {number}")) for who in "abc" for number in range(2)]
        broken, gone = ask(turns, "d", fails), ask(turns, "e", work.piece("e"))
        await asyncio.sleep(0)
        gone.cancel()
        work.end(*work.gates)
        assert len(await asyncio.gather(*first)) == 6
        with pytest.raises(ValueError, match="no such game"):
            await broken
        assert "e" not in work.began
        assert sorted(work.began[:3]) == ["a 0", "b 0", "c 0"], "each one's first before anybody's second"
        turns.close()

    asyncio.run(run())


def test_what_was_drawn_is_kept_as_long_as_the_game_is_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "games.sqlite"
    with Record(path) as record:
        import_game(record, APPLIANCE, "2026-01-01T20:00")
    shelf, drawn = GameCache(path), list[int]()

    def draw() -> str:
        drawn.append(1)
        return f"drawing {len(drawn)}"

    assert [shelf.drawn(shelf.folded(1), ("svg", width), draw) for width in (1, 1, 2, 1)] == [
        "drawing 1", "drawing 1", "drawing 2", "drawing 1",
    ]  # fmt: skip
    with Record(path) as record:
        record.reopen(1)
        keeper = record.again(1)
        keeper.write('{"kind":"note","t":9,"id":"n1"}')
        keeper.commit()
    assert shelf.drawn(shelf.folded(1), ("svg", 1), draw) == "drawing 3", "a line more is another game"
    huge = "x" * (3 << 20)
    for number in range(3):
        assert shelf.drawn(shelf.folded(1), ("huge", number), lambda: huge) == huge
    assert sum(map(len, shelf._drawn.values())) <= 4 << 20
    assert shelf.drawn(shelf.folded(1), ("none",), lambda: None) is None
    shelf.close()
