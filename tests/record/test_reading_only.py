"""A record that may only be read, its folder included: as the page's service sees it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from referee.record.store import Record
from referee.web.games_cache import GameCache

AT = "2026-01-01T20:00:00+00:00"
TABLE = '{"kind":"table","t":0,"id":"table","seats":["Ana","Ben"],"dealer":1,"rules":"classic"}'


def _mount(*asked: str) -> bool:
    mount = shutil.which("mount")
    return mount is not None and subprocess.run([mount, *asked], check=False, capture_output=True).returncode == 0


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """The record's folder, and the same where nothing can be written."""
    real, seen = tmp_path / "real", tmp_path / "seen"
    real.mkdir()
    seen.mkdir()
    if not _mount("--bind", str(real), str(seen)):
        pytest.skip("no filesystem can be mounted here")
    try:
        assert _mount("-o", "remount,ro,bind", str(seen))
        yield real, seen
    finally:
        subprocess.run(["umount", "-l", seen], check=True)


def test_a_page_that_may_write_nothing_sees_every_game(folders: tuple[Path, Path]) -> None:
    real, seen = folders
    shelf = GameCache(seen / "record.db")
    with closing(shelf):
        assert shelf.games() == [] and shelf.latest() is None
        with Record(real / "record.db") as record:
            keeper = record.begin(AT)
            keeper.write(TABLE)
            keeper.commit()
            assert [len(shelf.lines(1)), shelf.game(1).ended] == [1, None]
            keeper.write('{"kind":"note","t":9,"id":"n1"}')
            keeper.commit()
            assert len(shelf.lines(1)) == 2, "as soon as it is on the disk"
            keeper.end(AT)
        assert shelf.game(1).ended == AT
    assert [path.name for path in seen.iterdir() if path.name.endswith("-journal")] == []


def test_a_page_that_starts_between_two_games_sees_the_last_one_and_then_the_next(folders: tuple[Path, Path]) -> None:
    real, seen = folders
    with Record(real / "record.db") as record:
        keeper = record.begin(AT)
        keeper.write(TABLE)
        keeper.end(AT)
    assert [path.name for path in real.iterdir()] == ["record.db"], "no program has it open"
    with closing(GameCache(seen / "record.db")) as shelf:
        assert [info.id for info in shelf.games()] == [1]
        with Record(real / "record.db") as record:
            keeper = record.begin(AT)
            keeper.write(TABLE)
            keeper.commit()
            assert [info.id for info in shelf.games()] == [2, 1]
            assert len(shelf.lines(2)) == 1
            keeper.write('{"kind":"note","t":9,"id":"n1"}')
            keeper.commit()
            assert len(shelf.lines(2)) == 2
        # The other page has kept the log from being removed; a new one reads it all the same.
        with closing(GameCache(seen / "record.db")) as other:
            assert len(other.lines(2)) == 2
    with closing(GameCache(seen / "record.db")) as later:
        assert len(later.lines(2)) == 2
