"""The scoreboard: notices and records become regions, and replaced rulings stay visible as such."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from referee.control.facts import Refused
from referee.control.pairing_code import Pairing
from referee.control.socket import CommandDispatcher, ControlServer
from referee.engine.adjudicator import LIVE_LOOKAHEAD, Adjudicator
from referee.engine.log import decode_line
from referee.engine.rulings import encode_ruling
from referee.engine.view import ChallengeView, View
from referee.record.store import Record
from referee.sentence import Sentence, to_json
from referee.text.catalogue import LANGUAGES, texts
from referee.text.ruling_lines import RulingWords
from referee.web.board import RULINGS_SHOWN, Board
from referee.web.board_view import regions
from referee.web.events import Hub
from referee.web.games_cache import GameCache
from referee.web.scoreboard import LOOKS_UNTIL_SILENT, Follower
from referee.web.site import Site
from tests.play import TABLE, file_lines
from tests.support.patience import PATIENCE
from tests.web.table import Link, Table, demo_lines

VIEW = View(names=("Ana", "Ben", "Cho"), counts=(18, 17, 17), pile=("7h", "7c"), turn=3)
EIGHT = file_lines("1000 1:7h", "2000 2:8c", "2300 slap 3", "4000 tick")
SLAPPED = file_lines(
    TABLE, "1000 1:7h", "2000 2:7c", "2300 slap 3 ±0.02", "2312 tick", "2314.5 slap 1 ±0.02", "2400 tick",
    "4000 taken 3", "5000 tick",
)  # fmt: skip
(CORRECTION,) = file_lines('9000 correct c2 {"card": "7c", "id": "x1"}')


def board() -> Board:
    return Board(1, ("Ana", "Ben", "Cho"))


def played(tmp_path: Path, *lines: str) -> tuple[Board, Table, Record]:
    record = Record(tmp_path / "games.sqlite")
    table = Table(record, TABLE)
    for line in lines:
        table.observe(line)
    made = board()
    made.add_lines(list(record.lines(table.game)))
    return made, table, record


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


def test_a_ruling_is_here_as_soon_as_it_is_decided_and_makes_way_for_the_logs() -> None:
    """The lines of a live game are judged as they come: a slap's ruling is in the log only when its pile is taken."""
    made, judge, number = Board(1, ("Ana", "Ben", "Cho"), live=True), Adjudicator(lookahead_ns=LIVE_LOOKAHEAD), 0
    seen = []
    for line in SLAPPED:
        rows = [(number := number + 1, line)]
        rows += [(number := number + 1, encode_ruling(ruling)) for ruling in judge.observe(decode_line(line, number))]
        made.add_lines(rows)
        assert made.view == judge.view
        seen.append((made.has_logged("slap_won@s1"), regions(made, texts("en"))["rulings"]))
    known = ["Cho wins the slap" in html for _, html in seen]
    assert known == [False] * 4 + [True] * 5, "with the tick that makes it certain"
    assert [logged for logged, _ in seen] == [False] * 8 + [True], "when its pile is taken"
    assert "Cho wins the slap, double<" in seen[4][1], "and nothing about other hands"
    assert "by 14.50\u00a0±\u00a00.04\u00a0ms" in seen[-1][1]
    assert seen[-1][1].count("Cho wins the slap") == 1
    assert made.early() == []


def test_another_game_begins_with_an_empty_list(tmp_path: Path) -> None:
    async def run() -> None:
        _, _, record = played(tmp_path, *EIGHT)
        site = Site(GameCache(record.path), Hub(Board()))
        follower = Follower(site)
        await follower.wake()
        assert "Cho" in regions(site.hub.board, texts("en"))["rulings"]
        other = Table(record, TABLE.replace('["Ana","Ben","Cho"],"dealer":3', '["Dan","Eve"],"dealer":1'))
        await follower.wake()
        html = regions(site.hub.board, texts("en"))
        assert site.hub.board.game == other.game and "Cho" not in "".join(html.values()) and "Dan" in html["seats"]
        site.close()
        record.close()

    asyncio.run(run())


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
        made.view = view
        made.set_state({"troubles": {"camera": "the camera fell silent"}, "captions": [[1, "seat two wins", True]]})
        html = regions(made, texts(language))
        assert all("{" not in part for part in html.values())
        assert "the camera fell silent" in html["troubles"]
        shown.add(html["state"] + html["seats"])
    assert len(shown) == len(states)


def test_what_is_not_well_is_said_in_the_pages_language_and_by_name() -> None:
    made = board()
    made.names = ("Ana", "Ben", "Cho")
    quiet = Sentence("{seat}'s pad is quiet again: its slaps count", seat=2)
    made.set_state(
        {"troubles": {"camera": to_json(Sentence("the camera fell silent; starting it anew")), "pad": to_json(quiet)}}
    )
    assert "starting it anew" in regions(made, texts("en"))["troubles"]
    german = regions(made, texts("de"))["troubles"]
    assert "die Kamera liefert keine Bilder mehr" in german and "das Feld von Ben" in german and "lang=" not in german
    # A library's message stays unchanged, and names its language.
    made.set_state({"troubles": {"voice": "no such device"}})
    assert 'lang="en"' in regions(made, texts("de"))["troubles"]


def test_names_and_captions_cannot_carry_markup() -> None:
    made = board()
    evil = "<img src=x onerror=alert(1)>"
    view = View(names=(evil, "Ben", "Cho"), counts=(1, 2, 3), turn=1, owner=1)
    made.names, made.view = view.names, view
    made.set_state({"captions": [[1, evil, False]], "troubles": {evil: evil}})
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
    assert regions(made, texts("en"))["rulings"].count("<li") == RULINGS_SHOWN
    last = made.last_slap()
    assert last is not None and last in list(table.in_force())
    record.close()


def test_a_line_that_is_none_stops_no_board(tmp_path: Path) -> None:
    with Record(tmp_path / "record.db") as record:
        table = Table(record, demo_lines()[0])
        table.observe(demo_lines()[5])
        rows = list(record.lines(table.game))
    whole, odd = Board(1, live=True), Board(1, live=True)
    whole.add_lines(rows)
    odd.add_lines([*rows[:2], (98, "{no line"), (99, '{"ruling":"won","id":"won@x","t":1}'), *rows[2:]])
    assert odd.view == whole.view and odd.rulings == whole.rulings


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
        hub.board.set_state({"captions": [[1, "seat two wins", True]]})
        hub.wake()
        hub.board.set_state({"captions": [[1, "seat two wins", True], [2, "five cards", False]]})
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


def test_a_record_alone_is_followed_without_a_wake(tmp_path: Path) -> None:
    async def run() -> None:
        record = Record(tmp_path / "games.sqlite")
        hub = Hub(Board())
        site = Site(GameCache(record.path), hub)
        follower = Follower(site)
        await follower.look()
        assert _game(hub) is None
        table = Table(record, TABLE)
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
        table = Table(record, TABLE)
        table.observe(EIGHT[0])
        hub = Hub(Board())
        site = Site(GameCache(record.path), hub)
        follower = Follower(site)
        await follower.wake()
        assert _live(hub)
        for _ in range(LOOKS_UNTIL_SILENT + 1):
            await follower.look()
        assert not _live(hub)
        record.close()
        site.close()

    asyncio.run(run())


def test_the_page_wakes_asks_and_tidies_up(tmp_path: Path) -> None:
    """Details outside the record are requested over the control socket; a new page takes over a dead page's place."""
    wakes, link = tmp_path / "page.sock", Link(tmp_path / "page.sock")
    wakes.touch()
    assert not link.tell(), "no page listens"

    async def run() -> None:
        record = Record(tmp_path / "games.sqlite")
        desk = CommandDispatcher(Pairing(), lambda _: Refused("no"), state=lambda: link.state)
        inlet = ControlServer(tmp_path / "run", desk)
        site = Site(GameCache(record.path), Hub(Board()))
        follower = Follower(site, wakes, inlet.path)
        await follower.start()

        async def until(done: Callable[[], bool]) -> None:
            for _ in range(PATIENCE * 200):
                inlet.turn()
                await asyncio.sleep(0.005)
                if done():
                    return
            raise AssertionError("it never came to the board")

        table = Table(record, TABLE, link)
        await until(lambda: site.hub.board.live)
        table.observe(EIGHT[0], "seat one")
        table.observe(EIGHT[3])
        await until(
            lambda: site.hub.board.view.pile == ("7h",) and site.hub.board.captions == ((1, "seat one", False),)
        )
        about = {"pads": 3}
        link.tell(paused=True, about=about, troubles={"camera": "is gone"})
        await until(lambda: site.hub.board.paused)
        shown = site.hub.board
        assert shown.about == about and shown.troubles["camera"] == {"words": "is gone"} and shown.playing
        # Another game is at the same table.
        again = Table(record, TABLE, link)
        await until(lambda: site.hub.board.game == again.game)
        assert site.hub.board.about == about
        inlet.close()
        link.tell()
        again.observe(EIGHT[0])
        again.observe(EIGHT[3])
        await until(lambda: site.hub.board.view.pile == ("7h",))
        await follower.stop()
        site.close()
        record.close()

    asyncio.run(run())
    assert not wakes.exists()
    link.close()


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_contradicts_the_final_ruling_while_hands_still_come(language: str) -> None:
    """A won slap is shown before the later hands are known: until then none is ruled out."""
    late = file_lines("2350 slap 2 ±0.02 #s3", "2450 tick")
    lines = (*SLAPPED[:-2], *late, *SLAPPED[-2:])
    words, made = RulingWords(("Ana", "Ben", "Cho"), texts(language)), Board(1, live=True)
    told = Adjudicator(lookahead_ns=LIVE_LOOKAHEAD)
    final: dict[str, str] = {}
    shown: list[tuple[str, str, str]] = []
    for number, line in enumerate(lines, start=1):
        made.add_lines([(number, line)])
        made.add_rulings(rulings := told.observe(decode_line(line, number)))
        final |= {ruling.id: words(ruling) for ruling in rulings}
        seen = regions(made, texts(language), names=("winner", "last", "rulings"))
        shown.append((str(seen["winner"]), str(seen["last"]), str(seen["rulings"])))
    say = words.texts
    nothing_else = [
        say("board.only_hand"), say("finish.alone", name="Cho"),
        say("ruling.slap_won_alone", seat="Cho", patterns=words.pattern("P1")),
    ]  # fmt: skip
    for moment in shown:
        assert not [text for text in nothing_else for part in moment if text in part.replace("\xa0", " ")]
    first = next(moment for moment in shown if "Cho" in moment[0])
    assert words.pattern("P1") in first[0] and say("finish.first", name="Cho") in first[1]
    by = say("board.ahead", margin=say.ms(14_500_000, 40_000))
    margins = [by in moment[0].replace("\xa0", " ") for moment in shown]
    assert margins == sorted(margins) and margins[-1], "once it is there, the margin stays as it is"
    assert final["slap_won@s1"] in shown[-1][2].replace("\xa0", " ")


def test_a_hand_that_stayed_alone_is_called_so_once_its_pile_is_gone() -> None:
    lines, made = [line for line in SLAPPED if "s2" not in line], Board(1, live=True)
    told = Adjudicator(lookahead_ns=LIVE_LOOKAHEAD)
    heads = []
    for number, line in enumerate(lines, start=1):
        made.add_lines([(number, line)])
        made.add_rulings(told.observe(decode_line(line, number)))
        heads.append("no other hand" in regions(made, texts("en"), names=("winner",))["winner"].replace("\xa0", " "))
    assert heads == [False] * (len(lines) - 1) + [True]
