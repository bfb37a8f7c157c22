"""Pictures on the photo-finish: none before there is a file, and shown as soon as there is one."""

from __future__ import annotations

from pathlib import Path
from urllib.request import Request, urlopen

from referee.record.pictures import Picture, PictureStore
from referee.record.store import Record
from tests.web.served import Served
from tests.web.table import Table, demo_lines


def test_a_page_starts_without_the_file_of_pictures_and_shows_them_once_it_is_there(tmp_path: Path) -> None:
    with Record(tmp_path / "record.db") as record:
        lines = demo_lines()
        table = Table(record, lines[0], at_once=True)
        for line in lines[1:300]:
            table.observe(line)
        table.finish()
    won = next(ruling for ruling in reversed(table.rulings) if ruling.kind == "slap_won")
    path = f"/games/{table.game}/finish?slap={won.id.partition('@')[2]}"
    with Served(record.path, "--pictures", str(tmp_path / "frames.db")) as served:
        assert "Pictures are switched off." in _got(served, path)
        store = PictureStore(tmp_path / "frames.db")
        assert "There are no pictures of this slap." in _got(served, path)
        store.add(table.game, [Picture(won.t - 5, 4_000_000, b"\xff\xd8 a picture")])
        assert f'src="/games/{table.game}/pictures/{won.t - 5}.jpg"' in _got(served, path)
        with urlopen(f"{served.address}/games/{table.game}/pictures/{won.t - 5}.jpg") as reply:
            assert reply.read() == b"\xff\xd8 a picture"
        store.close()


def _got(served: Served, path: str) -> str:
    asked = Request(served.address + path, headers={"Accept-Language": "en"})
    with urlopen(asked) as reply:
        return str(reply.read().decode())
