"""The page offers exactly the corrections that the main process accepts."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from referee.control.commands import parse_command
from referee.control.corrections import meet_command
from referee.control.facts import Accepted
from referee.engine.log import decode_line, encode_observation
from referee.engine.observations import Slap
from referee.engine.observations import Table as FirstLine
from referee.engine.overrule import VERDICTS_INSTEAD
from referee.engine.rulings import Ruling, encode_ruling
from referee.web.board import RULINGS_OFFERED, Board, disputed_at, disputes
from referee.web.events import Hub
from referee.web.games_cache import GameCache
from referee.web.server import build
from referee.web.site import Site
from tests.web.browser import HOST, request
from tests.web.table import demo_lines
from tests.web.tables import Table

WHEN = (100, 150, 260, 420, 600)
"""Lines of the demo game after which people look."""


@cache
def at(lines: int) -> tuple[Table, Board]:
    """Return the demo game up to a line: the main process's state, and the page's."""
    table = Table(decode_line(text, number) for number, text in enumerate(demo_lines()[:lines], start=1))
    return table, board_of(table)


def board_of(table: Table, *early: Ruling) -> Board:
    """Return the page's state; with ``early``: live, and these are decided and not in the log yet."""
    board = Board(7)
    board.live = True
    texts = [encode_observation(line) for line in table.observations] + [
        encode_ruling(ruling) for ruling in table.rulings
    ]
    board.add_lines(list(enumerate(texts, start=1)))
    board.view = table.view
    board._early.update((ruling.id, ruling) for ruling in early)
    return board


def accepted(table: Table, **fields: Any) -> bool:
    """Whether the main process would accept it; nothing is changed."""
    return isinstance(meet_command(parse_command(fields), table.facts(), lambda kind: f"{kind}-x"), Accepted)


@pytest.mark.parametrize("lines", WHEN)
def test_what_is_offered_is_accepted_and_nothing_else_is(lines: int) -> None:
    table, board = at(lines)
    offered = disputes(board)
    assert offered
    for ruling in offered:
        name, (verdicts, seats) = ruling.ruling.id, ruling.instead
        for verdict in ("slap_won", "slap_false", "slap_void", "in_turn"):
            assert accepted(table, do="overrule", ruling=name, verdict=verdict) is (verdict in verdicts), name
        for seat in range(1, 5):
            assert accepted(table, do="overrule", ruling=name, seat=seat) is (seat in seats), (name, seat)


@pytest.mark.parametrize("lines", WHEN)
def test_every_latest_verdict_is_offered(lines: int) -> None:
    table, board = at(lines)
    standing = [ruling.id for ruling in table.in_force() if ruling.kind in VERDICTS_INSTEAD]
    assert [dispute.ruling.id for dispute in disputes(board)] == standing[::-1][:RULINGS_OFFERED]
    if len(standing) > RULINGS_OFFERED:
        assert disputes(board, standing[0])[-1].ruling.id == standing[0]
    assert len(disputes(board, "nothing@x")) == len(disputes(board))


def test_a_slap_that_won_is_offered_before_its_pile_is_picked_up() -> None:
    """Its ruling is not in the log yet, but already known."""
    table = Table(())
    for number, text in enumerate(demo_lines()[:600], start=1):
        table.observe(decode_line(text, number))
        hands = [line for line in table.observations if isinstance(line, Slap) and line.seat == table.view.owner]
        if hands:
            break
    owner, slap = table.view.owner, hands[-1]
    assert isinstance(owner, int)
    won = Ruling("slap_won", f"slap_won@{slap.id}", slap.t, (slap.id,), ("M1",), {"seat": owner})
    board = board_of(table, won)
    assert not board.has_logged(won.id)
    first = disputes(board)[0]
    assert first.ruling.id == won.id
    for verdict in first.instead.verdicts:
        assert accepted(table, do="overrule", ruling=won.id, verdict=verdict)
    assert disputed_at(board, 7, won)
    # A player who does not own the pile has a ruling that is still open.
    other = replace(won, fields={**won.fields, "seat": owner % 4 + 1})
    assert won.id not in [dispute.ruling.id for dispute in disputes(board_of(table, other))]


def test_a_dead_card_may_have_been_in_turn() -> None:
    table = Table(
        decode_line(text, 1)
        for text in (
            '{"kind":"table","t":0,"id":"table","seats":["Ana","Ben","Cho"],"dealer":3,"rules":"classic"}',
            '{"kind":"card","t":1000000000,"id":"c1","card":"7h","seat":1}',
            '{"kind":"card","t":2000000000,"id":"c2","card":"9c","seat":3}',
        )
    )
    table.settle()
    (one,) = disputes(board_of(table))
    assert (one.ruling.kind, one.instead.verdicts, one.instead.seats) == ("dead_card", ("in_turn",), ())
    assert accepted(table, do="overrule", ruling=one.ruling.id, verdict="in_turn")


@pytest.mark.parametrize("lines", WHEN)
def test_cards_and_hands_are_offered_with_the_seats_that_they_have(lines: int) -> None:
    table, board = at(lines)
    seen = [(card.id, card.seat) for card in board.cards()] + [(hand.id, hand.seat) for hand in board.hands()[:8]]
    assert seen
    for line, own in seen:
        for seat in range(1, 5):
            assert accepted(table, do="correct", line=line, seat=seat) is (seat != own)
        assert accepted(table, do="void", line=line)


def test_where_the_house_rules_allow_no_corrections_none_are_offered() -> None:
    first, *rest = (decode_line(text, number) for number, text in enumerate(demo_lines()[:260], start=1))
    assert isinstance(first, FirstLine)
    table = Table([replace(first, rules={"base": "classic", "off": ["K6"]}), *rest])
    board = board_of(table)
    assert not board.correctable
    assert not disputes(board)
    standing = next(ruling for ruling in table.in_force() if ruling.kind in VERDICTS_INSTEAD)
    assert not accepted(table, do="overrule", ruling=standing.id, verdict=VERDICTS_INSTEAD[standing.kind][0])
    assert disputed_at(board, 7, standing) == ""


def test_the_way_to_overrule_leads_from_standing_rulings_of_this_game_alone() -> None:
    table, board = at(260)
    standing = next(ruling for ruling in table.in_force() if ruling.kind == "slap_won")
    assert disputed_at(board, 7, standing) == f"/control?ruling=slap_won%40{standing.id.partition('@')[2]}"
    assert disputed_at(board, 6, standing) == ""
    assert disputed_at(board, 7, next(ruling for ruling in table.rulings if ruling.kind == "turn")) == ""
    assert disputed_at(board, 7, replace(standing, id="slap_won@nowhere")) == ""


def recent(tmp_path: Path, board: Board, query: bytes = b"") -> Any:
    site = Site(GameCache(tmp_path / "none.sqlite"), Hub(board))
    try:
        return asyncio.run(request(build(site), "GET", "/recent.json", [("host", HOST)], query=query)).said
    finally:
        site.close()


def test_what_the_table_is_reaches_the_script_as_it_was_told(tmp_path: Path) -> None:
    table, _ = at(420)
    board = board_of(table)
    about = {"pads": 4, "names": ["Ana"], "rules": {"base": "classic"}, "voice": None, "power_off": False}
    said = recent(tmp_path, board)
    assert said["about"] is None
    board.set_state({"about": about, "paused": True})
    said = recent(tmp_path, board)
    assert said["about"] == about
    assert said["playing"] is True and said["correctable"] is True and said["paused"] is True
    assert [ruling["id"] for ruling in said["rulings"]] == [dispute.ruling.id for dispute in disputes(board)]
