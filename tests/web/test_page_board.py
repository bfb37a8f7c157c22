"""The scoreboard: what is told and what is recorded become regions, replaced rulings stay visible as such."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from referee.engine.observations import LogError
from referee.engine.rulings import Ruling, ruling_fields
from referee.engine.view import ChallengeView, View
from referee.record.store import Record
from referee.text.catalogue import LANGUAGES, texts
from referee.web.board import SHOWN, Board
from referee.web.board_view import regions
from referee.web.events import Hub
from referee.web.games_cache import Shelf
from referee.web.news import LONGEST, Publisher, Receiver, news, parsed
from referee.web.scoreboard import SILENCE, Follower
from referee.web.site import Site
from tests.web.table import Table, demo_lines

FIRST = '{"kind":"table","t":0,"id":"table","seats":["Ana","Ben","Cho"],"dealer":3,"rules":"classic"}'
VIEW = View(names=("Ana", "Ben", "Cho"), counts=(18, 17, 17), pile=("7h", "7c"), turn=3)
EIGHT = (
    '{"kind":"card","t":1000000000,"id":"c1","card":"7h","seat":1}',
    '{"kind":"card","t":2000000000,"id":"c2","card":"8c","seat":2}',
    '{"kind":"slap","t":2300000000,"id":"s1","seat":3}',
    '{"kind":"tick","t":4000000000}',
)
CORRECTION = '{"kind":"correct","t":9000000000,"id":"x1","line":"c2","card":"7c"}'


def told(**fields: Any) -> Any:
    news_ = parsed(json.dumps(news(1, 4, fields.pop("view", VIEW), now=5, **fields)).encode())
    assert news_ is not None
    return news_


def board() -> Board:
    made = Board()
    made.begin(1, ("Ana", "Ben", "Cho"))
    return made


def played(tmp_path: Path, *lines: str) -> tuple[Board, Table, Record]:
    record = Record(tmp_path / "games.sqlite")
    table = Table(record, FIRST)
    for line in lines:
        table.observe(line)
    made = board()
    made.add_lines(list(record.lines(table.game)))
    return made, table, record


def test_the_view_survives_the_way_to_the_page() -> None:
    view = View(
        names=("Ana", "Ben"), counts=(None, 3), pile=("??", "Xr"), turn=2, challenge=ChallengeView(1, 2, 3), owner=1,
        locked_out=frozenset((2,)), game_over=True, winner=1, questions=("question@s1",),
    )  # fmt: skip
    assert told(view=view).view == view


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[1]", b"null", b'{"game":1,"line":2,"now":3,"view":{"names":3}}', b"\xff\xfe", b'"x"']
)
def test_what_is_no_news_is_left_out(data: bytes) -> None:
    assert parsed(data) is None


def test_a_publisher_never_blocks_and_never_raises(tmp_path: Path) -> None:
    publisher = Publisher(tmp_path / "page.sock")
    assert not publisher.tell(news(1, 1, VIEW, now=0)), "nobody listens"
    receiver = Receiver(tmp_path / "page.sock")
    taken = 0
    while publisher.tell(news(1, taken, VIEW, now=taken)):
        taken += 1
        assert taken < 100_000, "a page that does not read must not be waited for"
    assert not publisher.tell(news(1, taken, VIEW, now=taken, said=["seat two wins"]))
    assert [one.line for one in receiver.take()] == list(range(taken))
    assert publisher.tell(news(1, 9, VIEW, now=9, said=["five cards"]))
    assert [one.said for one in receiver.take()] == [("seat two wins", "five cards")], "nothing that was said is lost"
    assert not publisher.tell({"what": object()})
    assert not publisher.tell({"much": "x" * 2 * LONGEST * 8})
    receiver.close()
    publisher.close()
    assert not publisher.tell({})


def test_a_page_takes_its_socket_over_from_one_that_died(tmp_path: Path) -> None:
    (tmp_path / "page.sock").touch()
    receiver = Receiver(tmp_path / "page.sock")
    assert Publisher(tmp_path / "page.sock").tell(news(1, 1, VIEW, now=0))
    assert len(receiver.take()) == 1
    receiver.close()
    assert not (tmp_path / "page.sock").exists()


def test_a_ruling_that_is_replaced_stays_visible_as_replaced(tmp_path: Path) -> None:
    made, table, record = played(tmp_path, *EIGHT)
    before = regions(made, texts("en"))["rulings"]
    assert "False slap by Cho" in before and "replaced" not in before
    table.observe(CORRECTION)
    table.finish()
    made.add_lines(list(record.lines(table.game, made.line)))
    after = regions(made, texts("en"))["rulings"]
    finish = made.last_finish()
    assert finish is not None and [mark.card for mark in finish.cards] == ["7h", "7c"]
    assert '<s><a href="/games/1/finish?slap=s1">False slap by Cho: nothing to slap</a></s>' in after
    assert after.index("Correction: ") < after.index("<s>"), "the new one stands above"
    record.close()


def test_a_ruling_told_early_makes_way_for_the_logs() -> None:
    made = board()
    fields = {
        "seat": 3, "patterns": ["P1"], "cards": ["7h", "7c"], "margin": None, "error": None, "runners_up": [],
        "decided_by": "time",
    }  # fmt: skip
    early = Ruling("slap_won", "slap_won@s1", 2_000_000_000, ("s1",), ("M1",), fields)
    made.hear(told(rulings=[ruling_fields(early), {"ruling": "nonsense"}]))
    assert "alone" in regions(made, texts("en"))["rulings"]
    final = {**fields, "margin": 14_500_000, "error": 40_000, "runners_up": [{"seat": 1, "margin": 14_500_000}]}
    made.add_rulings([Ruling("slap_won", "slap_won@s1", 2_000_000_000, ("s1",), ("M1",), final)])
    html = regions(made, texts("en"))["rulings"]
    assert html.count("<li") == 1 and "by 14.500\u00a0ms\u00a0±\u00a00.040\u00a0ms" in html


def test_another_game_begins_with_an_empty_list(tmp_path: Path) -> None:
    made, _, record = played(tmp_path, *EIGHT)
    made.begin(2, ("Dan", "Eve"))
    html = regions(made, texts("en"))
    assert "Cho" not in "".join(html.values())
    assert made.line == 0 and "Dan" in html["seats"]
    record.close()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_state_of_the_table_has_its_words(language: str) -> None:
    made = board()
    states = [
        VIEW, View(names=VIEW.names, counts=(1, 0, None), owner=2),
        View(names=VIEW.names, counts=(1, 2, 3), challenge=ChallengeView(1, 2, 3), turn=2),
        View(names=VIEW.names, counts=(52, 0, 0), game_over=True, winner=1),
        View(names=VIEW.names, counts=(0, 0, 0), game_over=True),
        View(names=VIEW.names, counts=(0, 0, 0), locked_out=frozenset((1, 2, 3))), View(),
    ]  # fmt: skip
    shown = set()
    for view in states:
        made.hear(told(view=view, troubles={"camera": "the camera fell silent"}, said=["seat two wins"]))
        html = regions(made, texts(language))
        assert all("{" not in part for part in html.values())
        assert "the camera fell silent" in html["troubles"]
        shown.add(html["state"] + html["seats"])
    assert len(shown) == len(states)


def test_captions_come_in_order_and_old_ones_go() -> None:
    made = board()
    for number in range(9):
        made.hear(told(said=[f"phrase {number}"]))
    html = regions(made, texts("en"))["said"]
    assert [f"phrase {number}" in html for number in range(9)] == [False] * 4 + [True] * 5


def test_names_and_captions_cannot_carry_markup() -> None:
    made = board()
    evil = "<img src=x onerror=alert(1)>"
    view = View(names=(evil, "Ben", "Cho"), counts=(1, 2, 3), turn=1, owner=1)
    made.hear(told(view=view, said=[evil], troubles={evil: evil}))
    assert "<img" not in "".join(regions(made, texts("en")).values())


def test_the_list_of_rulings_stays_short(tmp_path: Path) -> None:
    record = Record(tmp_path / "games.sqlite")
    lines = demo_lines()
    table = Table(record, lines[0], at_once=True)
    for line in lines[1:]:
        table.observe(line)
    table.finish()
    made = board()
    made.add_lines(list(record.lines(table.game)))
    assert regions(made, texts("en"))["rulings"].count("<li") == SHOWN
    last = made.last_slap()
    assert last is not None and last in list(table.in_force())
    record.close()


def test_a_line_that_is_none_is_told() -> None:
    with pytest.raises(LogError):
        board().add_lines([(1, "{no line")])


def _viewers(hub: Hub) -> int:
    return hub.viewers


def _game(hub: Hub) -> int | None:
    return hub.board.game


def _live(hub: Hub) -> bool:
    return hub.board.live


async def _some(stream: AsyncIterator[bytes], count: int) -> list[bytes]:
    return [await anext(stream) for _ in range(count)]


def _regions(event: bytes) -> dict[str, str]:
    head, _, data = event.decode().partition("\ndata: ")
    assert head == "event: regions"
    fields = json.loads(data)
    assert isinstance(fields, dict)
    return fields


def test_a_late_viewer_gets_everything_and_then_only_what_changed() -> None:
    async def run() -> None:
        hub = Hub(board())
        stream = hub.stream("en")
        retry, first = await _some(stream, 2)
        assert retry.startswith(b"retry:") and len(_regions(first)) > 6
        hub.board.hear(told(said=["seat two wins"]))
        hub.wake()
        hub.board.hear(told(said=["five cards"]))
        hub.wake()
        changed = _regions(await anext(stream))
        assert "five cards" in changed["said"] and "seat two wins" in changed["said"]
        assert "rulings" not in changed
        assert _viewers(hub) == 1
        await stream.aclose()  # type: ignore[attr-defined]
        assert _viewers(hub) == 0

    asyncio.run(run())


def test_a_silent_stream_says_that_it_is_there_and_ends_with_the_page() -> None:
    async def run() -> None:
        hub = Hub(board())
        stream = hub.stream("de", quiet=0.01)
        assert (await _some(stream, 3))[-1] == b": still here\n\n"
        hub.close()
        assert [event async for event in stream] == []

    asyncio.run(run())


def test_a_record_alone_is_followed_without_news(tmp_path: Path) -> None:
    async def run() -> None:
        record = Record(tmp_path / "games.sqlite")
        hub = Hub(Board())
        site = Site(Shelf(record.path), hub)
        follower = Follower(site, None)
        await follower.look()
        assert _game(hub) is None
        table = Table(record, FIRST)
        for line in EIGHT[:3]:
            table.observe(line)
        await follower.look()
        assert _game(hub) == table.game and hub.board.view.pile[-2:] == ("7h", "8c")
        for line in EIGHT[3:]:
            table.observe(line)
        await follower.look()
        assert "False slap by Cho" in regions(hub.board, texts("en"))["rulings"]
        record.close()
        site.close()

    asyncio.run(run())


def test_a_referee_that_fell_silent_is_not_called_live(tmp_path: Path) -> None:
    async def run() -> None:
        record = Record(tmp_path / "games.sqlite")
        table = Table(record, FIRST)
        table.observe(EIGHT[0])
        hub = Hub(Board())
        site = Site(Shelf(record.path), hub)
        follower = Follower(site, None)
        follower.hear(told(view=View(names=("Ana", "Ben", "Cho"), counts=(18, 17, 17))))
        assert _live(hub)
        for _ in range(SILENCE + 1):
            await follower.look()
        assert not _live(hub)
        record.close()
        site.close()

    asyncio.run(run())


def test_between_games_the_table_speaks_of_itself_alone(tmp_path: Path) -> None:
    """What is on the board stays, and no game counts as live."""
    made, _, record = played(tmp_path, *EIGHT)
    site = Site(Shelf(record.path), Hub(made))
    follower = Follower(site, None)
    before = (made.game, made.view, made.names, list(made.rulings))
    about = {"pads": 3}
    said = parsed(json.dumps(news(None, 0, View(), now=1, said=["ready"], about=about)).encode())
    assert said is not None
    follower.hear(said)
    assert (made.game, made.view, made.names, list(made.rulings)) == before
    assert made.about == about and made.said[-1][1] == "ready"
    assert (made.live, made.playing) == (False, False)
    follower.hear(told(about=None))
    present: Any = made
    assert present.live and present.playing and present.about is None
    site.close()
    record.close()
