"""The watchdog, pure and over a real socket: one silent part is enough to stop the feeding."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardware.service_manager import feeding_interval
from referee.table.systemd import Service, Watchdog, open_service, serving
from referee.units import SECOND

PARTS = {"pads": 4 * SECOND, "engine": 3 * SECOND, "audio": 5 * SECOND}


class Table:
    """A service whose datagrams arrive at a real socket, with the test's clock."""

    def __init__(self, inbox: socket.socket, address: str) -> None:
        self.now = 100 * SECOND
        self._inbox = inbox
        environ = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "6000000", "WATCHDOG_PID": str(os.getpid())}
        self.service = open_service(PARTS, environ=environ, clock=lambda: self.now)

    def told(self) -> list[str]:
        """Return every datagram since the last look."""
        out = []
        while True:
            try:
                out.append(self._inbox.recv(4096).decode())
            except BlockingIOError:
                return out

    def lives(self, seconds: int, *parts: str) -> list[str]:
        """Let these parts beat four times a second; return the datagrams sent meanwhile."""
        for _ in range(seconds * 4):
            self.now += SECOND // 4
            for part in parts:
                self.service.beat(part)
        return self.told()


@pytest.fixture(params=["file", "abstract"])
def table(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Table]:
    name = str(tmp_path / "notify") if request.param == "file" else f"@referee-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as inbox:
        inbox.bind(name.replace("@", "\0"))
        inbox.setblocking(False)
        yield Table(inbox, name)


def test_it_is_fed_at_a_third_of_what_systemd_waits(table: Table) -> None:
    assert table.lives(20, *PARTS).count("WATCHDOG=1") == 10


def test_between_two_games_systemd_waits_longer_and_then_as_before(table: Table) -> None:
    table.service.ready("first")
    table.service.between_games()
    table.service.ready("second")
    table.service.ready("third")
    assert table.told() == [
        "READY=1\nSTATUS=first", "STATUS=between two games\nWATCHDOG_USEC=600000000",
        "READY=1\nSTATUS=second\nWATCHDOG_USEC=6000000", "READY=1\nSTATUS=third",
    ]  # fmt: skip


@pytest.mark.parametrize("dead", PARTS)
def test_one_part_falls_silent_and_nothing_feeds_any_more(table: Table, dead: str) -> None:
    assert "WATCHDOG=1" in table.lives(6, *PARTS)
    others = [part for part in PARTS if part != dead]
    last = table.lives(PARTS[dead] // SECOND, *others)
    after = table.lives(60, *others)
    assert "WATCHDOG=1" in last, "it is still within its deadline"
    assert after == [f"STATUS=no sign of life: {dead}"]
    assert "WATCHDOG=1" in table.lives(3, *PARTS), "it came back in time"


def test_a_part_that_is_not_here_is_not_waited_for(table: Table) -> None:
    table.service.retire("audio")
    assert table.lives(20, "pads", "engine").count("WATCHDOG=1") == 10
    table.service.beat("audio")
    with pytest.raises(KeyError):
        table.service.beat("camera")


def test_ready_and_status_are_said_in_one_line_each(table: Table) -> None:
    table.service.ready("Ana\nREADY=0 Ben")
    table.service.status("3 cards")
    table.service.status("3 cards")
    assert table.told() == ["READY=1\nSTATUS=Ana READY=0 Ben", "STATUS=3 cards"]


def test_sigterm_asks_the_loop_to_end_and_systemd_hears_of_it(table: Table) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with serving(table.service) as service:
        service.ready("")
        os.kill(os.getpid(), signal.SIGTERM)
        assert service.stop_asked
        assert table.told() == ["READY=1\nSTATUS=", "STOPPING=1"]
    assert signal.getsignal(signal.SIGTERM) == before
    assert table.told() == ["STOPPING=1"]


def test_sigterm_before_the_table_is_ready_ends_at_once(table: Table) -> None:
    with pytest.raises(KeyboardInterrupt), serving(table.service):
        os.kill(os.getpid(), signal.SIGTERM)


def test_systemd_that_has_gone_is_no_error(tmp_path: Path) -> None:
    for environ in ({}, {"NOTIFY_SOCKET": str(tmp_path / "nobody")}):
        service: Service = open_service(environ=environ)
        service.ready("here")
        service.beat("pads")
        service.stopping()


@pytest.mark.parametrize(
    ("environ", "every"),
    [
        ({}, SECOND),
        ({"WATCHDOG_USEC": "30000000"}, 10 * SECOND),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"}, 10 * SECOND),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "8"}, SECOND),
        ({"WATCHDOG_USEC": "soon"}, SECOND),
    ],
)
def test_how_often_it_is_fed(environ: dict[str, str], every: int) -> None:
    assert feeding_interval(environ, own=7) == every


@given(st.lists(st.tuples(st.sampled_from([*PARTS, ""]), st.integers(0, 2 * SECOND)), max_size=60))
def test_it_is_never_fed_while_a_part_is_late(steps: list[tuple[str, int]]) -> None:
    """By a plain model: the last sign of each part."""
    dog, now, last = Watchdog(PARTS, SECOND, 0), 0, dict.fromkeys(PARTS, 0)
    fed: int | None = None
    for part, wait in steps:
        now += wait
        if part:
            dog.beat(part, now)
            last[part] = now
        alive = all(now - last[part] <= PARTS[part] for part in PARTS)
        due = fed is None or now - fed >= SECOND
        feeds = dog.feeds(now)
        assert feeds == (alive and due)
        fed = now if feeds else fed
