"""`referee run` from game to game, as a separate process: orders over the page's socket are executed."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from hardware.simulated.devices.silent_speaker import RecordingSpeaker
from hardware.sound.volume import Volume
from referee.announce.sinks import ANOTHER_GAME, Notice
from referee.announce.volume_choice import VoiceChoice
from referee.control.commands import Command
from referee.control.seat_codes import read_seat_codes
from referee.control.socket import SOCKET_NAME, ControlError, ask_referee
from referee.engine.view import View
from referee.record.store import GameInfo, Record
from referee.settings.model import parse_settings
from referee.table.assembly import AFTER_THE_END, End
from referee.table.orders import OFF, OFF_ASK, OFF_STAYS, Orders
from referee.table.power_off import ANSWER
from referee.table.seats import GameSetup, seated
from referee.table.services import GameContext, TableService
from referee.table.timeline import Timeline
from tests.record.playing import add_game
from tests.support.patience import PATIENCE
from tests.table.test_systemd_process import Listener
from tests.table.test_systemd_process import table as table

SECOND = 1_000_000_000


class Running:
    """The referee, run as systemd would."""

    def __init__(self, folder: Path, inbox: socket.socket, process: subprocess.Popen[bytes]) -> None:
        self.folder, self.process = folder, process
        self.systemd = Listener(inbox, process)

    def ready(self) -> None:
        """Wait until the next game is ready."""
        self.systemd.until("READY=1")

    def ask(self, **asked: Any) -> dict[str, Any]:
        """Ask as the page does; between two games, ask again."""
        for _ in range(PATIENCE):
            try:
                return asyncio.run(ask_referee(self.folder / "run" / SOCKET_NAME, asked))
            except ControlError:
                assert self.process.poll() is None
        raise AssertionError("the table does not answer")

    def games(self) -> list[GameInfo]:
        """Return the recorded games, the latest first."""
        with Record(self.folder / "table-referee" / "games" / "record.db", read_only=True) as record:
            return record.games()


@contextmanager
def running(table: Path, output: int = subprocess.DEVNULL, *, leads: bool = False) -> Iterator[Running]:
    """``output``: its output and input; ``leads``: that is its own controlling terminal."""
    folder = table.parent
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as inbox:
        (folder / "notify").unlink(missing_ok=True)
        inbox.bind(str(folder / "notify"))
        inbox.settimeout(1)
        environ = {
            **os.environ, "NOTIFY_SOCKET": str(folder / "notify"), "XDG_CACHE_HOME": str(folder),
            "XDG_DATA_HOME": str(folder), "RUNTIME_DIRECTORY": str(folder / "run"), "OMP_NUM_THREADS": "1",
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        }  # fmt: skip
        command = [sys.executable, "-m", "referee", "run", "--settings", str(table)]
        if leads:
            command = [sys.executable, "-c", LEADER, *command]
        with subprocess.Popen(
            command, env=environ, cwd=folder, stdin=output, stdout=output,
            stderr=None if output == subprocess.DEVNULL else output, start_new_session=leads,
        ) as process:  # fmt: skip
            try:
                yield Running(folder, inbox, process)
            finally:
                process.kill()


LEADER = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"


def test_a_terminal_that_is_closed_ends_no_game(table: Path) -> None:
    master, slave = os.openpty()
    with running(table, slave, leads=True) as table_:
        os.close(slave)
        table_.ready()
        # Its leader and all children get SIGHUP, and their output goes nowhere.
        os.close(master)
        assert table_.ask(do="pause")["accepted"]
        assert table_.ask(do="resume")["accepted"]
        again = table_.ask(do="rematch", abandon=True)
        assert again["accepted"], again
        table_.ready()
        assert len(table_.games()) == 2, "another game is begun, which prints as the first one did"
        assert table_.process.poll() is None
        table_.process.send_signal(signal.SIGTERM)
        assert table_.process.wait(PATIENCE) == 0


def test_standard_output_that_is_full_ends_no_game(table: Path) -> None:
    full = os.open("/dev/full", os.O_RDWR)
    with running(table, full) as table_:
        os.close(full)
        table_.ready()
        again = table_.ask(do="rematch", abandon=True)
        assert again["accepted"], again
        table_.ready()
        table_.process.send_signal(signal.SIGTERM)
        assert table_.process.wait(PATIENCE) == 0


def _switch(folder: Path, script: str) -> None:
    """Put a fake `systemctl` first in the path."""
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "bin" / "systemctl").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "bin" / "systemctl").chmod(0o755)


def test_another_game_is_ordered_and_after_a_power_cut_it_is_the_one_that_goes_on(table: Path) -> None:
    with running(table) as table_:
        table_.ready()
        refused = table_.ask(do="begin", seats=["Cho", "Dan"], rules="slapjack")
        assert "break it off" in refused["words"], "a game is on"
        many = table_.ask(do="begin", seats=["Cho", "Dan", "Eve"], rules="slapjack", abandon=True)
        assert "2 pads" in many["words"]
        done = table_.ask(do="begin", seats=["Cho", "Dan"], rules="slapjack", dealer=2, abandon=True)
        assert done["accepted"], done
        table_.ready()
        new, old = table_.games()
        assert (new.seats, new.rules, new.ended) == (("Cho", "Dan"), "slapjack", None)
        assert old.ended is not None
        assert old.seats == ("Seat 1", "Seat 2"), "no player agreed to be remembered"
        table_.process.send_signal(signal.SIGKILL)
        table_.process.wait()
    with running(table) as table_:
        table_.ready()
        assert [info.id for info in table_.games()] == [new.id, old.id], "it goes on, whatever the settings say"
        again = table_.ask(do="rematch", abandon=True)
        assert again["accepted"], again
        table_.ready()
        assert (table_.games()[0].seats, len(table_.games())) == (("Cho", "Dan"), 3)
        assert table_.ask(do="keep", game=1, keep=True)["accepted"]
        assert "no game 99" in table_.ask(do="keep", game=99, keep=True)["words"]
        assert [info.keep for info in table_.games()] == [False, False, True]
        assert "being played" in table_.ask(do="remove", game=2, confirm=True)["words"]
        assert "no voice" in table_.ask(do="settings", volume=20)["words"]


def test_phones_stay_joined_to_a_game_that_was_broken_off_and_to_no_other(table: Path) -> None:
    lines = [line for line in table.read_text().splitlines() if not line.startswith("pad =")]
    table.write_text("\n".join(lines).replace("[[seat]]", '[[seat]]\npad = "phone"'))
    codes = []
    for _ in range(3):
        with running(table) as table_:
            table_.ready()
            codes.append([code.code for code in read_seat_codes(table.parent / "run")])
            table_.process.send_signal(signal.SIGKILL)
            table_.process.wait()
        if len(codes) == 2:
            shutil.rmtree(table.parent / "table-referee")
    assert len(codes[0]) == 2
    assert codes[0] == codes[1]
    assert not set(codes[1]) & set(codes[2])


def test_games_of_an_earlier_version_are_named_at_the_start(table: Path) -> None:
    """They lay in the folder in which the program was started."""
    earlier, said = table.parent / "games" / "record.db", table.parent / "said"
    add_game(earlier, ["Ana", "Ben"], "2026-05-01T20:00:00+00:00")
    with said.open("w") as output, running(table, output.fileno()) as table_:
        table_.ready()
        assert len(table_.games()) == 1, "its own"
    assert f"`referee games --import {earlier}`" in said.read_text(encoding="utf-8")


def test_a_damaged_record_is_rescued_at_the_start_and_the_game_goes_on(table: Path) -> None:
    record = table.parent / "table-referee" / "games" / "record.db"
    with running(table) as table_:
        table_.ready()
        table_.process.send_signal(signal.SIGKILL)
        table_.process.wait()
        (before,) = table_.games()
    # Its log is written back, and then the index page is lost.
    with closing(sqlite3.connect(record)) as db:
        db.execute("PRAGMA journal_mode=DELETE")
    with record.open("r+b") as file:
        file.write(bytes(4096))
    with running(table) as table_:
        table_.ready()
        assert [(info.id, info.began, info.ended) for info in table_.games()] == [(before.id, before.began, None)]
        told = table_.ask(do="state")["troubles"]["rescue"]["words"]
        assert "nothing of it is known to be missing" in told and "record.db.damaged-" in told
    assert len(list(record.parent.glob("record.db.damaged-*"))) == 1


def test_switching_off_closes_everything_first_and_a_machine_that_stays_on_goes_on(table: Path) -> None:
    _switch(table.parent, "echo not today >&2; exit 1")
    with running(table) as table_:
        table_.ready()
        assert table_.ask(do="power_off", confirm=True)["accepted"]
        table_.ready()
        assert len(table_.games()) == 1, "the game that was left goes on"
        with Record(table.parent / "table-referee" / "games" / "record.db", read_only=True) as record:
            told = "\n".join(text for _, text in record.lines(1))
        assert "not today" in told
        _switch(table.parent, f"echo $@ > {table.parent}/off")
        assert table_.ask(do="power_off", confirm=True)["accepted"]
        off = table.parent / "off"
        for _ in range(PATIENCE * 10):
            if off.exists() and off.read_text():
                break
            try:
                table_.process.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
        assert off.read_text().strip() == "poweroff"
        table_.process.send_signal(signal.SIGTERM)
        assert table_.process.wait(PATIENCE) == 0
        assert table_.games()[0].ended is None


@pytest.mark.parametrize("confirm", [None, False])
def test_nothing_is_switched_off_unconfirmed(table: Path, confirm: bool | None) -> None:
    _switch(table.parent, f"touch {table.parent}/off")
    with running(table) as table_:
        table_.ready()
        asked = {} if confirm is None else {"confirm": confirm}
        assert not table_.ask(do="power_off", **asked)["accepted"]
        assert table_.ask(do="pause")["accepted"], "the game goes on"
    assert not (table.parent / "off").exists()


SEATS = "".join(f'[[seat]]\nname = "{name}"\n' for name in ("Ana", "Ben", "Cho"))
SETTINGS = parse_settings(
    f"{SEATS}[pads_measured]\nt_error_us = [1, 2, 3]\nbounce_us = [4, 5, 6]\n"
    "crosstalk_us = [[0, 1, 2], [3, 0, 4], [5, 6, 0]]\n"
)


def test_fewer_people_than_pads_sit_at_the_first_ones() -> None:
    assert seated(SETTINGS, None) is SETTINGS
    two = seated(SETTINGS, GameSetup(("Dan", "Eve"), "slapjack", 2))
    assert [(seat.name, seat.pad) for seat in two.seats] == [
        ("Dan", SETTINGS.seats[0].pad), ("Eve", SETTINGS.seats[1].pad),
    ]  # fmt: skip
    assert (two.rules, two.dealer) == ("slapjack", 2)
    assert two.pads_measured is not None
    assert two.pads_measured.crosstalk_us == ((0, 1), (3, 0))
    with pytest.raises(ValueError, match="4 people do not fit at 3 pads"):
        seated(SETTINGS, GameSetup(("A", "B", "C", "D"), "classic", 1))


class Game:
    """A game as seen by orders and by its end."""

    def __init__(self) -> None:
        self.now, self.paused = 0, False
        self.told: list[Notice] = []
        self.view = View(game_over=False)

    def pause(self) -> None:
        self.paused = True

    def tell(self, notice: Notice) -> None:
        self.told.append(notice)


def follow(orders: Orders, game: Game, record: Record | None, speaker: RecordingSpeaker | None) -> None:
    """Begin the game."""
    orders.pause = game.pause
    orders.begin_game(GameContext(cast(Any, game), SETTINGS, Timeline(), lambda: game.now, None, record, speaker))


class Watched(TableService):
    """Reports the fate of the game."""

    def __init__(self, *, stays: bool) -> None:
        self.became: list[str] = []
        self.stays = stays

    def note_over(self) -> None:
        self.became.append("over")

    def note_reopened(self) -> None:
        self.became.append("goes on")


@pytest.mark.parametrize("stays", [True, False])
def test_a_game_is_over_once_its_last_words_were_heard(stays: bool) -> None:
    game, kept, orders = Game(), Watched(stays=stays), Orders(SETTINGS)
    if stays:
        follow(orders, game, None, None)
    end = End(game, [orders, kept])  # type: ignore[arg-type]
    assert not end.leaves(0)
    game.view = View(game_over=True)
    assert not end.leaves(SECOND)
    assert not end.leaves(SECOND + AFTER_THE_END - 1)
    assert kept.became == []
    assert end.leaves(SECOND + AFTER_THE_END) is not stays
    assert end.leaves(SECOND + 2 * AFTER_THE_END) is not stays
    assert kept.became == ["over"]
    assert [notice.what for notice in game.told] == ([ANOTHER_GAME] if stays else [])


def test_a_game_whose_end_was_corrected_goes_on_and_ends_again() -> None:
    game, kept = Game(), Watched(stays=True)
    end = End(game, [kept])  # type: ignore[arg-type]
    for over, now in ((True, 0), (True, 6), (False, 7), (False, 8), (True, 20), (True, 24), (True, 25)):
        game.view = View(game_over=over)
        end.leaves(now * SECOND)
    assert kept.became == ["over", "goes on", "over"]


def test_the_pads_switch_off_only_after_a_yes() -> None:
    game, orders = Game(), Orders(SETTINGS, may_switch_off=True)
    assert not orders.hear("off"), "there is no game yet"
    follow(orders, game, None, None)
    assert not orders.hear("yes"), "nothing was asked"
    assert orders.hear("off")
    assert orders.hear("no")
    orders.hear("off")
    game.now = ANSWER
    orders.beat(game.now)
    assert [notice.what for notice in game.told] == [OFF_ASK, OFF_STAYS, OFF_ASK, OFF_STAYS]
    assert not orders.leaves
    orders.hear("off")
    assert orders.hear("yes")
    assert game.paused
    assert orders.switches_off
    assert game.told[-1].what == OFF
    assert orders.closed(0, lambda: "it is stuck") == "Not switched off: it is stuck."
    follow(orders, game, None, None)
    assert not orders.leaves, "the game goes on"


def test_a_computer_that_is_not_the_tables_own_is_not_switched_off() -> None:
    game, orders = Game(), Orders(SETTINGS)
    follow(orders, game, None, None)
    assert not orders.hear("off")
    assert "service" in orders(Command("power_off", {"confirm": True}))
    assert not orders.leaves
    assert orders.about(SETTINGS)["power_off"] is False


def test_a_volume_that_was_chosen_holds_until_the_file_says_otherwise(tmp_path: Path) -> None:
    chosen, speaker = VoiceChoice(tmp_path / "voice.json"), RecordingSpeaker()
    orders = Orders(SETTINGS, chosen=chosen)
    follow(orders, Game(), None, speaker)
    assert orders(Command("settings", {"volume": 20, "quiet_from": "22:00", "quiet_to": "07:00"})) == ""
    assert speaker.volume == Volume(20, "22:00", "07:00", SETTINGS.voice.quiet_volume)
    assert orders(Command("settings", {"quiet_from": "25:00", "quiet_to": "07:00"})) != ""
    assert Orders(SETTINGS, chosen=chosen).voice == orders.voice
    assert orders.voice.quiet_from == "22:00"
    assert orders.about(SETTINGS)["voice"]["volume"] == 20
    louder = parse_settings(f"{SEATS}[voice]\nvolume = 90\n")
    assert Orders(louder, chosen=chosen).voice.volume == 90
    chosen.path.write_text('{"torn')
    assert Orders(SETTINGS, chosen=chosen).voice == SETTINGS.voice


def test_a_game_is_removed_while_none_is_played(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    game, orders = Game(), Orders(SETTINGS)
    with Record(path) as record:
        for _ in range(2):
            keeper = record.begin("2026-01-02T00:00:00+00:00")
            keeper.write('{"kind":"table","t":0,"id":"table","seats":["Ana","Ben"],"dealer":1,"rules":"classic"}')
            keeper.end("2026-01-02T01:00:00+00:00")
        follow(orders, game, record, None)
        order = Command("remove", {"game": 1, "confirm": True})
        assert "when it is over" in orders(order)
        game.view = View(game_over=True)
        assert "no game 9" in orders(Command("remove", {"game": 9, "confirm": True}))
        assert orders(order) == ""
        orders.prepare(SETTINGS)
        orders.beat(0)
        assert game.told == []
        assert [info.id for info in record.games()] == [2]
