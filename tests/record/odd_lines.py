"""Odd lines in recorded games: page, run, league, hall and broker go on, and each invalid line is reported.

``python -m tests.record.odd_lines 2000`` puts that many kinds of lines into games, each among the lines of a whole
game:
written straight into the record, without any check, and, where accepted, by an import.
"""

from __future__ import annotations

import asyncio
import io
import json
import random
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from referee.cli import main as referee
from referee.cli.serve import page_options
from referee.engine.rulings import encode_ruling
from referee.options.broker.messages import Telling
from referee.options.broker.service import tally_of
from referee.options.hall.tables import Hall
from referee.record.people import People
from referee.record.store import Record
from referee.record.stored_lines import LineReader, replay_rows
from referee.table.game import Conductor
from referee.table.timeline import RESUME_GAP, past_of
from referee.web.board import Board
from referee.web.events import Hub
from referee.web.games_cache import GameCache
from referee.web.server import build
from referee.web.site import Site
from tests.cli.test_fuzz import ODD, spoil_line
from tests.record.playing import game_lines
from tests.web.browser import HOST, request

AT: Final = "2026-01-02T03:04:05+00:00"
SHOWN: Final = ("", "/end", "/replay", "/steps", "/figures", "/figures.csv", "/rulings.csv", "/log.jsonl",
                "/finish?slap=s1", "/finish.svg?slap=s1", "/ruling?id=slap_won@s1")  # fmt: skip
EVERYWHERE: Final = ("/", "/games", "/finish", "/figures", "/figures.csv", "/league", "/league.csv")
_TEXTS: Final = (
    "", " ", "null", "7", '"text"', "[]", "{", "}", "{}", "\x00", "\ufeff{}", '{"kind":"card"', "[" * 5000,
    '{"kind":"card","t":NaN}', '{"a":' * 3000, "9" * 5000, '{"kind":"odd","t":' + "9" * 5000 + "}",
    '{"kind":"odd","t":1,"x":"\\u001b[2J"}', '{"kind":"odd","t":1,"x":"\\ud800"}', '{"ruling":"won"}',
    '{"ruling":null}', '{"ruling":"{seat}","id":"x","t":1}',
    '{"kind":"odd","t":1,"x":"' + "long" * 300_000 + '"}', '{"ruling":"slap_won","id":"slap_won@s1","t":1,"seat":99}',
)  # fmt: skip
"""Texts that are no valid line of any kind."""


@dataclass(slots=True)
class Findings:
    """The results of all odd lines."""

    kinds: int = 0
    odd: int = 0
    """Lines that were left out, and counted."""
    imported: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list)


def odd_lines(count: int, seed: int) -> list[str]:
    """Return lines of different kinds, some of which are valid except for one value."""
    chance, rulings = random.Random(seed), [encode_ruling(ruling) for ruling in replay_rows(_rows(WHOLE))[0].rulings]
    made = dict.fromkeys(_TEXTS[:count])
    while len(made) < count:
        line = chance.choice([*WHOLE[1:], *rulings])
        try:
            spoil = spoil_line if chance.random() < 0.6 else _spoil_ruling
            spoilt = spoil(chance, line)
        except (ValueError, RecursionError, TypeError):
            continue
        # SQLite holds no text that cannot be encoded; as an escape it comes in all the same.
        made[spoilt.encode(errors="replace").decode()] = None
    return list(made)


def _spoil_ruling(chance: random.Random, line: str) -> str:
    fields: dict[str, Any] = json.loads(line)
    name = chance.choice([*fields, "seat", "cards", "margin", "runners_up", "seats"])
    others = ({"seat": 1}, [{"seat": "x"}], [{"seat": 1, "margin": "x"}], ["7h", 7], -(2**70))
    fields[name] = chance.choice([*ODD, *others])
    return json.dumps(fields)


WHOLE: Final = game_lines(["Ana", "Ben"])


def _rows(lines: list[str]) -> list[tuple[int, str]]:
    return list(enumerate(lines, start=1))


def _mixed(odd: list[str], chance: random.Random) -> list[str]:
    """Return the lines of a whole game with odd ones among them, also before its table."""
    lines = list(WHOLE)
    for line in odd:
        lines.insert(chance.randint(int(chance.random() < 0.95), len(lines)), line)
    return lines


def try_odd_lines(count: int, seed: int = 1, together: int = 5) -> Findings:
    """Put the lines into games, a few into each, and have everything read them."""
    found, chance = Findings(), random.Random(seed)
    kinds = odd_lines(count, seed)
    with tempfile.TemporaryDirectory(prefix="odd-lines-") as name:
        path = Path(name) / "record.db"
        Record(path).close()
        with People(path) as people:
            people.remember("Ana", AT)
        while kinds:
            some, kinds = kinds[:together], kinds[together:]
            found.kinds += len(some)
            lines = _mixed(some, chance)
            for read in (_by_import, _by_page, _by_run, _by_league, _by_broker_and_hall):
                try:
                    read(path, lines, found)
                except Exception as error:
                    found.wrong.append(f"{read.__name__}: {type(error).__name__}: {error}; {some}"[:2000])
    return found


def _stored(path: Path, lines: list[str], *, ended: bool = True) -> int:
    """Return a new record, with one game of these unchanged lines."""
    with Record(path) as record:
        for info in record.games():
            record.remove(info.id, AT, "tried")
        game = record.add_game(AT, [(1, WHOLE[0])])
        with record.writing() as db:
            db.execute("DELETE FROM line WHERE game=?", (game,))
        record.add(game, _rows(lines))
        if ended:
            record.end(game, AT)
    with People(path) as people:
        people.tie(game)
    return game


def _call(*words: str) -> tuple[int, str]:
    told = io.StringIO()
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(told):
        status = referee(list(words))
    assert status in (0, 1, 2), status
    assert "\x1b" not in out.getvalue() + told.getvalue(), "an escape for the terminal"
    return status, told.getvalue()


def _by_import(path: Path, lines: list[str], found: Findings) -> None:
    log = path.with_name("log.jsonl")
    log.write_text("\n".join(lines), encoding="utf-8")
    status, told = _call("games", "--record", str(path), "--import", str(log))
    found.imported += status == 0
    found.refused += status != 0
    assert status == 0 or told.count("\n") == 1, told


def _by_page(path: Path, lines: list[str], found: Findings) -> None:
    game = _stored(path, lines)
    site = Site(GameCache(path), Hub(Board()))
    app = build(site, options=page_options())

    async def ask() -> None:
        for at in (*EVERYWHERE, *(f"/games/{game}{at}" for at in SHOWN)):
            where, _, query = at.partition("?")
            reply = await request(app, "GET", where, [("host", HOST)], query=query.encode())
            assert reply.status in (200, 303, 404, 422), f"{at}: {reply.status}"

    try:
        asyncio.run(ask())
        board = Board(game, ("Ana", "Ben"), live=True)
        board.add_lines(_rows(lines))
        for shown in (board.listed, board.questions, board.cards, board.last_finish, board.offers):
            shown()
        odd = site.shelf.folded(game).odd
    finally:
        site.close()
    reader = LineReader()
    reader.read(_rows(lines))
    assert {number for number, _ in reader.odd} <= {number for number, _ in odd}, "told on its page"
    found.odd += len(odd)


def _by_run(path: Path, lines: list[str], found: Findings) -> None:
    game = _stored(path, lines, ended=False)
    with Record(path) as record:
        past = past_of(text for _, text in record.lines(game))
        keeper = record.again(game)
        conductor = Conductor(past.table, past=past, journal=keeper)
        conductor.begin_again(past.last + RESUME_GAP)
        conductor.advance(past.last + 2 * RESUME_GAP, past.last + 2 * RESUME_GAP)
        conductor.finish()
        keeper.end(AT)


def _by_league(path: Path, lines: list[str], found: Findings) -> None:
    game = str(_stored(path, lines))
    for words in (["league"], ["league", "--csv"], ["people", "--export", "Ana"], ["games"], ["games", "--check"],
                  ["games", "--export", game], ["games", "--csv", game], ["people", "--tidy"]):  # fmt: skip
        status, told = _call(words[0], "--record", str(path), *words[1:])
        assert status == ("--check" in words), f"{words}: {told}"


def _by_broker_and_hall(path: Path, lines: list[str], found: Findings) -> None:
    game = _stored(path, lines)
    hall = Hall()
    with Record(path, read_only=True) as record:
        payload = tally_of(record, AT[:10]).payload()
        assert payload["players"]
        _, rulings = LineReader().read(record.lines(game))
    telling = Telling("session")
    telling.begin(game, ("Ana", "Ben"))
    for ruling in rulings:
        told = json.dumps(telling.ruling(ruling)).encode()
        hall.hear("ratscrew/one/ruling", told, False, 1)
    for line in lines:
        hall.hear("ratscrew/one/ruling", b'{"session":"s","n":1,"ruling":%s}' % line.encode(), False, 1)
        hall.hear("ratscrew/one/state", line.encode(), False, 1)
    hall.settle(2)


def main() -> int:
    """Try, and report; exit status 1 if anything stopped."""
    found = try_odd_lines(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
    print(f"{found.kinds} kinds of odd lines in games: {found.odd} lines left out and told; of the logs")
    print(f"{found.imported} were taken in, and {found.refused} refused in one line")
    print(f"  stopped page, run, league, broker or hall     required 0   measured {len(found.wrong)}")
    print("".join(f"  {words}\n" for words in found.wrong[:12]), end="")
    return int(bool(found.wrong))


if __name__ == "__main__":
    sys.exit(main())
