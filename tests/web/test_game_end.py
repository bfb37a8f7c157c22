"""How a game ended: its own page, the links to it, the board, and the terminal's last lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.engine.log import decode_line
from referee.engine.observations import Table as TableLine
from referee.engine.rulings import end_of
from referee.record.store import Record
from referee.table.game import Conductor
from referee.table.session import summarise
from referee.text.catalogue import LANGUAGES, texts
from referee.text.ruling_lines import RulingWords
from referee.text.terminal_language import speaking
from referee.web.board import Board
from referee.web.board_view import regions
from tests.web.table import BEGAN, Table, demo_lines
from tests.web.test_page_faults import Page

NAMES = ("Ana", "Ben")
LOST = (
    '{"kind":"table","t":0,"id":"table","seats":["Ana","Ben"],"dealer":2,"rules":"beggar-my-neighbour","counts":[1,3]}',
    '{"kind":"card","t":1000000000,"id":"c1","card":"7h","seat":1}',
    '{"kind":"card","t":2000000000,"id":"c2","card":"5c","seat":2}',
    '{"kind":"tick","t":9000000000}',
)
"""Ana is to lay, and has no card."""


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    made = Page(tmp_path)
    yield made
    made.site.close()


def play(page: Page, *lines: str, ends: bool = True) -> Table:
    """Record a game of these lines."""
    with Record(page.path) as record:
        table = Table(record, lines[0], at_once=True)
        for line in lines[1:]:
            table.observe(line)
        if ends:
            table.finish()
            table.keeper.end(BEGAN)
        else:
            table.keeper.commit()
        assert table.game
    return table


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_game_that_ended_by_its_loser_says_so_and_is_linked(page: Page, language: str) -> None:
    game = play(page, *LOST).game
    lost = texts(language)("ruling.lost", seat="Ana")
    shown = page.shown(f"/games/{game}/end", f"lang={language}")
    assert f">{lost}</h1>" in shown
    # Its only pile is the largest and the last.
    assert f"<h2>{texts(language).count('end.moments', 2)}</h2>" in shown and shown.count("<li><h3>") == 2
    for at in ("/games", f"/games/{game}"):
        listed = page.shown(at, f"lang={language}")
        assert f'href="/games/{game}/end"' in listed and f">{texts(language)('games.end')}</a>" in listed


def test_a_game_without_moments_has_no_heading_and_one_that_goes_on_no_link(page: Page) -> None:
    game = play(page, *LOST[:2], ends=False).game
    shown = page.shown(f"/games/{game}/end")
    assert ">unfinished</h1>" in shown and "moments" not in shown
    for at in ("/games", f"/games/{game}"):
        assert f"/games/{game}/end" not in page.shown(at)


def test_the_heading_counts_the_moments(page: Page) -> None:
    table = play(page, *demo_lines())
    shown = page.shown(f"/games/{table.game}/end")
    winner = next(ruling["seat"] for ruling in table.in_force() if ruling.kind == "won")
    assert f">{table.view.names[winner - 1]} wins the game</h1>" in shown
    assert f"<h2>{shown.count('<li><h3>')} moments</h2>" in shown and shown.count("<li><h3>") == 5


def test_a_photo_finish_says_nothing_of_other_hands_while_its_pile_lies_there(page: Page) -> None:
    lines = (
        LOST[0].replace("beggar-my-neighbour", "classic").replace(',"counts":[1,3]', ""), LOST[1],
        LOST[2].replace("5c", "7c"),
        '{"kind":"slap","t":2300000000,"id":"s1","seat":1,"t_error":20000}', LOST[3],
    )  # fmt: skip
    shown = []
    for ends in (False, True):
        game = play(page, *lines, ends=ends).game
        finish, listed = page.shown(f"/games/{game}/finish", "slap=s1"), page.shown(f"/games/{game}")
        shown.append(f"{finish} {listed}".replace("\xa0", " "))
    for said in ("no other hand", "Ana, alone", "Only Ana", "double, alone"):
        assert [said in text for text in shown] == [False, True], said
    assert "Ana first, double" in shown[0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_board_says_large_who_lost(language: str) -> None:
    board = Board(1, NAMES, live=True)
    for number, line in enumerate(LOST, start=1):
        board.add_lines([(number, line)])
    seen = regions(board, texts(language), names=("state", "winner"))
    lost = texts(language)("ruling.lost", seat="Ana")
    assert lost in seen["state"] and f'<p class="who">{lost}</p>' in seen["winner"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_terminal_says_first_how_the_game_ended(language: str) -> None:
    conductor = Conductor(TableLine(t=0, id="table", seats=NAMES, dealer=2, rules="beggar-my-neighbour", counts=(1, 3)))
    with speaking(language):
        assert len(summarise(conductor, None, "")) == 1, "a game that is left has no outcome"
        for line in LOST[1:3]:
            conductor.put(decode_line(line, 2))
        conductor.finish()
        end = end_of(conductor.rulings)
        assert end is not None and end.kind == "lost"
        first, second = summarise(conductor, Path("game.jsonl"), "")
        assert first == RulingWords(NAMES, texts(language))(end)
        assert "game.jsonl" in second
