"""Damage to a record's bytes: no traceback, no silent change, and every readable line is rescued.

``python -m tests.record.damages 5000`` changes single bytes and single pages of data base, write-ahead log and pictures
of a finished and a broken-off game, that many times, each time from the whole files; lets the table read them as at
a start; and compares every line with the written one.
"""

from __future__ import annotations

import asyncio
import io
import json
import random
import shutil
import sys
import tempfile
from collections import Counter
from contextlib import closing, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from referee.cli import main as referee
from referee.cli.serve import page_options
from referee.record.database import RecordError
from referee.record.people import People
from referee.record.pictures import Picture, PictureStore
from referee.record.rescue import mend_record
from referee.record.store import Record
from referee.record.stored_lines import LineReader
from referee.web.board import Board
from referee.web.events import Hub
from referee.web.games_cache import GameCache
from referee.web.server import build
from referee.web.site import Site
from tests.web.browser import HOST, request
from tests.web.table import demo_lines

AT: Final = "2026-01-02T03:04:05+00:00"
STAMP: Final = "20260102T030405"
PAGE: Final = 4096
FILES: Final = ("record.db", "record.db-wal", "frames.db")
HOW: Final = ("a bit", "a byte", "a page of noughts", "a page of chance", "a page of another place", "a sector")
JPEG: Final = b"\xff\xd8" + bytes(range(256)) * 20 + b"\xff\xd9"


@dataclass(slots=True)
class Tally:
    """The results of all damages."""

    tried: Counter[str] = field(default_factory=Counter)
    rescues: int = 0
    named: int = 0
    """Lines that differ from the written ones, each of them named."""
    missing: int = 0
    """Lines that are gone, and reported."""
    torn: int = 0
    """Last commits of a broken-off game that look just as if the power had cut them short."""
    tracebacks: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    """Lines that are changed or gone, without a report."""
    left: list[str] = field(default_factory=list)
    """Lines that still stand in the damaged bytes with their seals, and were not rescued."""

    @property
    def well(self) -> bool:
        """Whether nothing went wrong."""
        return not (self.tracebacks or self.silent or self.left)


class Whole:
    """The whole files, and the lines that were written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = folder / "record.db"
        lines = [line for line in demo_lines() if '"ruling"' not in line[:12]]
        Record(path).close()
        with People(path) as people:
            people.remember("Ana", AT)
        with Record(path) as record:
            for game, many in ((1, 260), (2, 90)):
                keeper = record.begin(AT)
                for line in (_of(game, lines[0]), *lines[1:many]):
                    keeper.write(line)
                keeper.end(AT)
        with PictureStore(folder / "frames.db") as frames:
            frames.add(1, [Picture(t, 5, JPEG) for t in range(0, 4_000_000_000, 400_000_000)])
        with Record(path) as record, closing(PictureStore(folder / "frames.db")) as frames:
            keeper = record.begin(AT)
            for at, line in enumerate((_of(3, lines[0]), *lines[1:200])):
                keeper.write(line)
                if at % 4 == 0:
                    keeper.commit()
            keeper.commit()
            # As the power cut leaves them: the log is not written back.
            self.files = {name: (folder / name).read_bytes() for name in FILES}
            self.lines = {game: dict(record.lines(game)) for game in (1, 2, 3)}
            self.sealed = {
                (game, number): text + (seal or "")
                for game in (1, 2, 3) for number, text, seal in record.sealed_lines(game)
            }  # fmt: skip
        self.last_commit = 4


def _of(game: int, table: str) -> str:
    """Return the table of a unique game, so that none of its seals is another's."""
    return json.dumps(json.loads(table) | {"evening": game}, separators=(",", ":"))


def damage(data: bytes, how: str, at: int, chance: random.Random) -> bytes:
    """Return the bytes with one place changed."""
    out = bytearray(data)
    page = at // PAGE * PAGE
    if how == "a bit":
        out[at] ^= 1 << chance.randrange(8)
    elif how == "a byte":
        out[at] ^= chance.randrange(1, 256)
    elif how == "a page of noughts":
        out[page : page + PAGE] = bytes(len(out[page : page + PAGE]))
    elif how == "a page of chance":
        out[page : page + PAGE] = chance.randbytes(len(out[page : page + PAGE]))
    elif how == "a page of another place":
        other = chance.randrange(len(data)) // PAGE * PAGE
        part = data[other : other + PAGE][: len(out) - page]
        out[page : page + len(part)] = part
    else:
        sector = at // 512 * 512
        out[sector : sector + 512] = bytes(len(out[sector : sector + 512]))
    return bytes(out)


def try_damages(count: int, seed: int = 1) -> Tally:
    """Damage the files a number of times, each time from whole ones."""
    tally, chance = Tally(), random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="damages-") as name:
        (Path(name) / "whole").mkdir()
        whole = Whole(Path(name) / "whole")
        for number in range(count):
            which = FILES[0] if number % 5 < 2 else FILES[1] if number % 5 < 4 else FILES[2]
            how = chance.choice(HOW)
            at = chance.randrange(len(whole.files[which]))
            folder = Path(name) / "table"
            folder.mkdir()
            files = dict(whole.files)
            files[which] = damage(files[which], how, at, chance)
            for file, data in files.items():
                (folder / file).write_bytes(data)
            tally.tried[f"{how} of {which}"] += 1
            case = f"{how} at {at} of {which} (try {number})"
            try:
                _judge(folder, whole, files, which, how, case, tally)
            except Exception as error:
                tally.tracebacks.append(f"{case}: {type(error).__name__}: {error}")
            shutil.rmtree(folder)
    return tally


def _judge(folder: Path, whole: Whole, files: dict[str, bytes], which: str, how: str, case: str, tally: Tally) -> None:
    path = folder / "record.db"
    told = mend_record(path, STAMP)
    tally.rescues += (folder / f"record.db.damaged-{STAMP}").exists()
    _use(folder)
    found, named = _read(path)
    stored = files["record.db"] + files["record.db-wal"]
    for game, lines in whole.lines.items():
        have = found.get(game, {})
        for number, text in lines.items():
            if have.get(number) == text:
                continue
            is_told = bool(told) or game in named
            if number in have:
                tally.named += 1
                if number not in named.get(game, ()):
                    tally.silent.append(f"{case}: game {game}, line {number} is changed: {told}")
            elif is_told:
                tally.missing += 1
            elif game == 3 and which == "record.db-wal" and number > len(lines) - whole.last_commit:
                tally.torn += 1
            else:
                tally.silent.append(f"{case}: game {game}, line {number} is gone: {told}")
            if number not in have and whole.sealed[game, number].encode() in stored and (is_told or game != 3):
                tally.left.append(f"{case}: game {game}, line {number}: {told}")
        extra = set(have) - set(lines) - named.get(game, set())
        if extra and game not in named:
            tally.silent.append(f"{case}: game {game} has lines {sorted(extra)[:5]} more")


def _read(path: Path) -> tuple[dict[int, dict[int, str]], dict[int, set[int]]]:
    """Return every line by game and number, and the numbers reported as altered."""
    found: dict[int, dict[int, str]] = {}
    named: dict[int, set[int]] = {}
    with suppress(RecordError), Record(path, read_only=True) as record:
        for info in record.games():
            rows = list(record.lines(info.id))
            found[info.id] = dict(rows)
            reader = LineReader()
            reader.read(rows)
            broken = {number for number, _ in record.broken_seals(info.id)} | {number for number, _ in reader.odd}
            if broken:
                named[info.id] = broken
    return found, named


def _use(folder: Path) -> None:
    """Perform every use of the record: done, or refused in words."""
    path = str(folder / "record.db")
    for words in (["games"], ["games", "--check"], ["games", "--export", "1"], ["games", "--csv", "3"], ["league"],
                  ["people"], ["games", "--rescue"]):  # fmt: skip
        err = io.StringIO()
        with redirect_stdout(io.StringIO()), redirect_stderr(err):
            status = referee([words[0], "--record", path, *words[1:]])
        assert status in (0, 1, 2), (words, status)
        assert "Traceback" not in err.getvalue()
    with suppress(RecordError), closing(PictureStore(folder / "frames.db")) as frames:
        frames.add(3, [Picture(1, 5, JPEG)])
    site = Site(GameCache(folder / "record.db", folder / "frames.db"), Hub(Board()))
    app = build(site, options=page_options())

    async def ask() -> None:
        for at in (
            "/",
            "/games",
            "/games/1",
            "/games/3/replay",
            "/finish",
            "/games/1/pictures/400000000.jpg",
            "/league",
        ):
            reply = await request(app, "GET", at, [("host", HOST)])
            assert reply.status in (200, 303, 404, 422, 503), f"{at}: {reply.status}"

    try:
        asyncio.run(ask())
    finally:
        site.close()


def main() -> int:
    """Damage, and report; exit status 1 if anything went wrong."""
    tally = try_damages(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
    print(f"{sum(tally.tried.values())} damages: {tally.rescues} records were moved aside and rescued")
    print(f"  {tally.named} lines changed and named, {tally.missing} gone and told; {tally.torn} of a last commit that")
    print("  looks as if the power had cut it short")
    for name, value in (("tracebacks", tally.tracebacks), ("silent changes", tally.silent),
                        ("readable lines that were not rescued", tally.left)):  # fmt: skip
        print(f"  {name:46} required 0   measured {len(value)}")
        print("".join(f"    {words[:600]}\n" for words in value[:8]), end="")
    for kind, many in sorted(tally.tried.items()):
        print(f"    {kind:44} {many:5}")
    return int(not tally.well)


if __name__ == "__main__":
    sys.exit(main())
