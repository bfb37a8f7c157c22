"""Refused orders to the appliance: each refusal has words, and nothing is half done."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, cast

import pytest

from hardware.simulated.devices.silent_speaker import RecordingSpeaker
from referee.announce.volume_choice import VoiceChoice
from referee.control.commands import Command
from referee.control.seat_codes import make_seat_codes, read_seat_codes
from referee.engine.view import View
from referee.errors import UserError
from referee.record.people import People
from referee.record.store import Record
from referee.settings.model import parse_settings
from referee.table.names import NameService
from referee.table.orders import Orders
from referee.table.seats import GameSetup
from referee.table.services import GameContext
from referee.table.session import Evening, log_path, open_page, open_services, out_of_date
from referee.table.timeline import Timeline
from tests.record.playing import add_game
from tests.table.test_session import SETTINGS, Game, follow

AT = "2026-05-01T20:00:00+00:00"


def order(do: str, **fields: Any) -> Command:
    return Command(do, fields)


def test_more_people_than_pads_cannot_play() -> None:
    orders = Orders(SETTINGS)
    refused = orders(order("begin", seats=["A", "B", "C", "D"], rules="classic", dealer=1))
    assert refused == "4 cannot play here: there are 3 pads; referee setup adds more"
    assert orders.next is None
    assert orders(order("begin", seats=["A", "B"], rules="classic", dealer=2)) == ""
    assert orders.leaves
    assert orders.next == GameSetup(("A", "B"), "classic", 2)


def test_a_table_that_records_nothing_has_no_game_to_keep_or_remove() -> None:
    orders, game = Orders(SETTINGS), Game()
    game.view = View(game_over=True)
    for do in ("keep", "remove"):
        assert orders(order(do, game=1, keep=True, confirm=True)) == "no games are recorded at this table"
    follow(orders, game, None, None)
    assert orders(order("keep", game=1, keep=True)) == "no games are recorded at this table"


def test_a_game_is_kept_and_one_that_is_not_there_is_not(tmp_path: Path) -> None:
    path, orders = tmp_path / "record.db", Orders(SETTINGS)
    add_game(path, ["Ana", "Ben"], AT)
    with Record(path) as record:
        follow(orders, Game(), record, None)
        assert orders(order("keep", game=7, keep=True)) == "there is no game 7"
        assert orders(order("keep", game=1, keep=True)) == ""
        assert [info.keep for info in record.games()] == [True]
        assert orders(order("keep", game=1, keep=False)) == ""
        assert [info.keep for info in record.games()] == [False]


def test_a_record_that_breaks_is_told_in_its_own_words(tmp_path: Path) -> None:
    path, orders, game = tmp_path / "record.db", Orders(SETTINGS), Game()
    game.view = View(game_over=True)
    add_game(path, ["Ana", "Ben"], AT)
    with Record(path) as record:
        follow(orders, game, record, None)
        with closing(sqlite3.connect(path)) as db:
            db.execute("DROP TABLE game")
        for do in ("keep", "remove"):
            assert "record" in orders(order(do, game=1, keep=True, confirm=True))


def test_one_game_is_removed_at_a_time(tmp_path: Path) -> None:
    path, orders, game = tmp_path / "record.db", Orders(SETTINGS), Game()
    game.view = View(game_over=True)
    for _ in range(2):
        add_game(path, ["Ana", "Ben"], AT)
    busy = threading.Event()
    with Record(path) as record:
        follow(orders, game, record, None)
        orders._removing = threading.Thread(target=busy.wait)
        orders._removing.start()
        assert "another game is being removed" in orders(order("remove", game=1, confirm=True))
        busy.set()
        orders.prepare(SETTINGS)
        assert orders(order("remove", game=1, confirm=True)) == ""
        orders.prepare(SETTINGS)
        assert [info.id for info in record.games()] == [2]


def test_a_game_that_could_not_be_removed_is_told_at_the_table(tmp_path: Path) -> None:
    path, orders, game = tmp_path / "record.db", Orders(SETTINGS), Game()
    game.view = View(game_over=True)
    add_game(path, ["Ana", "Ben"], AT)
    with Record(path) as record:
        follow(orders, game, record, None)
        with People(path):
            pass
        with sqlite3.connect(path) as db:
            db.execute("UPDATE people_meta SET value='99' WHERE key='version'")
        orders(order("remove", game=1, confirm=True))
        orders.prepare(SETTINGS)
        orders.beat(0)
    (notice,) = game.told
    assert notice.words.startswith("a game could not be removed: the people in ")
    assert "newer program" in notice.words


def test_a_table_without_a_voice_has_no_volume() -> None:
    orders = Orders(SETTINGS)
    assert orders(order("settings", volume=20)) == "there is no voice at this table"
    follow(orders, Game(), None, None)
    assert orders(order("settings", volume=20)) == "there is no voice at this table"


def test_a_volume_that_cannot_be_kept_holds_until_the_next_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    speaker, orders = RecordingSpeaker(), Orders(SETTINGS, chosen=VoiceChoice(tmp_path / "file" / "voice.json"))
    follow(orders, Game(), None, speaker)
    said = orders(order("settings", volume=20))
    assert said.startswith("set, but only until the next start: it could not be kept (")
    assert speaker.volume is not None and speaker.volume.level == 20


def test_a_seats_code_is_called_in_where_a_page_is_its_pad(tmp_path: Path) -> None:
    (old,) = make_seat_codes(tmp_path, {2: ""}, {2: "Ben"})
    orders = Orders(SETTINGS, folder=tmp_path)
    assert orders(order("seat_code", seat=2, phones=3)) == ""
    (new,) = read_seat_codes(tmp_path)
    assert new.code != old.code and (new.seat, new.name, new.phones) == (2, "Ben", 3)
    assert "no code to replace" in orders(order("seat_code", seat=1))
    assert Orders(SETTINGS)(order("seat_code", seat=2)) == "no pad of this table is a page"


def test_words_of_the_pads_that_are_for_somebody_else_are_not_taken() -> None:
    orders = Orders(SETTINGS, may_switch_off=True)
    follow(orders, Game(), None, None)
    assert not orders.hear("pause")
    assert not orders.hear("no")


# Names


class Numbered:
    """Writes nothing; the game has this number in the record."""

    def __init__(self, game: int | None) -> None:
        self.game = game


def begun(service: NameService, game: Game, number: int | None = 1) -> None:
    keeper = cast(Any, Numbered(number))
    service.begin_game(GameContext(cast(Any, game), SETTINGS, Timeline(), lambda: 0, keeper, None, None))


def test_who_was_not_asked_is_named_while_the_game_is_on_and_not_afterwards(tmp_path: Path) -> None:
    path, game = tmp_path / "record.db", Game()
    add_game(path, ["Ana", "Ben", "Cho"], AT)
    with People(path) as people:
        people.answer("Ana", True, AT)
    service = NameService(path)
    service.prepare_record(SETTINGS)
    begun(service, game)
    assert [notice.words for notice in game.told] == ["Ben, Cho: named while the game is on, not afterwards"]
    service.note_over()
    service.note_reopened()
    service.end_game()
    with Record(path, read_only=True) as record:
        assert record.game(1).seats == ("Ana", "Seat 2", "Seat 3")


def test_a_game_without_a_number_settles_nobodys_name(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    add_game(path, ["Ana", "Ben", "Cho"], AT)
    service = NameService(path)
    begun(service, Game(), None)
    service.end_game()
    with Record(path, read_only=True) as record:
        assert record.game(1).seats == ("Ana", "Ben", "Cho")


# The evening around the games

SEATS = '[[seat]]\nname = "A"\n[[seat]]\nname = "B"\n'


def opened(text: str, stack: ExitStack) -> tuple[list[str], dict[str, str]]:
    """Return the services that these settings open, by name, and the missing ones."""
    missing: dict[str, str] = {}
    _, services = open_services(parse_settings(text + SEATS), [], stack, missing)
    return [service.name for service in services], missing


def test_without_a_record_there_are_orders_alone() -> None:
    with ExitStack() as stack:
        names, missing = opened('[record]\nfile = ""\n', stack)
    assert names[0] == "orders"
    assert {"names", "page"}.isdisjoint(names)
    assert missing == {}


def test_a_record_that_cannot_be_read_is_told_and_there_is_no_page(tmp_path: Path) -> None:
    (tmp_path / "record.db").write_bytes(b"no data base" * 100)
    with ExitStack() as stack:
        names, missing = opened(f'[record]\nfile = "{tmp_path / "record.db"}"\n[page]\nenabled = true\n', stack)
    assert "names" in names and "page" not in names
    assert "record.db" in missing["record"]


def test_hooks_open_further_services_and_may_open_none(tmp_path: Path) -> None:
    settings = parse_settings(f'[record]\nfile = "{tmp_path / "record.db"}"\n[page]\nenabled = false\n{SEATS}')
    service = NameService(tmp_path / "record.db")
    with ExitStack() as stack:
        missing: dict[str, str] = {}
        _, services = open_services(settings, [lambda *_: service, lambda *_: None], stack, missing)
    assert services[-1] is service
    assert None not in services
    assert missing == {}


def test_a_page_whose_sockets_cannot_be_made_is_told_and_the_table_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with ExitStack() as stack:
        missing: dict[str, str] = {}
        page = open_page(SETTINGS, tmp_path / "record.db", stack, missing, folder=tmp_path / "file" / "run")
    assert page == []
    assert missing["page"]


def test_where_the_page_is_a_service_of_its_own_no_process_is_started(tmp_path: Path) -> None:
    with ExitStack() as stack:
        page = open_page(SETTINGS, tmp_path / "record.db", stack, {}, folder=tmp_path, own_process=False)
        assert [service.name for service in page] == ["page"]


def test_a_log_goes_where_it_is_asked_for_and_each_further_one_beside_it(tmp_path: Path) -> None:
    folder = parse_settings(f'[log]\nfolder = "{tmp_path}"\n{SEATS}')
    assert log_path(SETTINGS, None) is None
    assert log_path(SETTINGS, tmp_path / "game.jsonl") == tmp_path / "game.jsonl"
    assert log_path(SETTINGS, tmp_path / "game.jsonl", 3) == tmp_path / "game-3.jsonl"
    made = log_path(folder, None)
    assert made is not None and made.parent == tmp_path and made.suffix == ".jsonl"


def test_a_calibration_for_another_size_of_pictures_is_out_of_date() -> None:
    calibrated = (
        "[calibration]\nsource = 'sheet'\nwidth = 1280\nheight = 960\n"
        "homography = [[1.5, 0.0, 640.0], [0.0, -1.5, 480.0], [0.0, 0.0, 1.0]]\n"
        "area = [[-250.0, 200.0], [250.0, 200.0], [250.0, -200.0], [-250.0, -200.0]]\n"
        "card_height_px = 133.4\ntilt_deg = 4.2\nerror_px = 0.31\nedge_px = 1.8\n"
    )
    assert out_of_date(SETTINGS) == ""
    same = parse_settings(SEATS + "[camera]\nsource = 'picamera'\nwidth = 1280\nheight = 960\n" + calibrated)
    assert out_of_date(same) == ""
    other = parse_settings(SEATS + "[camera]\nsource = 'picamera'\nwidth = 640\nheight = 480\n" + calibrated)
    assert "1280×960 px, and the camera is set to 640×480: run referee calibrate again" in out_of_date(other)
    usb = parse_settings(SEATS + "[camera]\nsource = 'usb:0'\nwidth = 640\nheight = 480\n" + calibrated)
    assert out_of_date(usb) == "", "another camera gives what size it likes"


def test_an_evening_without_camera_and_pads_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Other faults are no reason to hide this one."""
    (tmp_path / "record.db").write_bytes(b"no data base" * 100)
    settings = parse_settings(
        f'[record]\nfile = "{tmp_path / "record.db"}"\n[camera]\nsource = "{tmp_path / "none"}"\n'
        f"[lights]\nenabled = false\n[voice]\nenabled = false\n{SEATS}"
    )
    missing: dict[str, str] = {}
    with pytest.raises(UserError, match="camera"):
        Evening(settings, log=tmp_path / "none" / "game.jsonl").play(missing)
    assert "record.db" in missing["record"]
