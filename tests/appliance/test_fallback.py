"""The way to a table that joins no network: each step of the decision, and the programs that it runs."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from math import inf
from pathlib import Path

import pytest

from referee.table.network import FALLBACK
from tools.image import fallback, hotspot
from tools.image.fallback import ATTEMPT, Network, Setting, watch_device

UNITS = Path(__file__).parents[2] / "appliance/image/etc/systemd/system"
AGAIN = 600.0
WRITTEN, JOINED, OWN = Network.WRITTEN, Network.JOINED, Network.OWN


@pytest.mark.parametrize(
    ("before", "now", "is_up", "phones", "network", "until"),
    [
        # After the start, and in a further attempt.
        (Setting(WRITTEN, 120), 119, False, 0, WRITTEN, 120),
        (Setting(WRITTEN, 120), 119, True, 0, JOINED, inf),
        (Setting(WRITTEN, 120), 120, True, 0, JOINED, inf),
        (Setting(WRITTEN, 120), 120, False, 0, OWN, 720),
        # In station mode, iw counts the access point.
        (Setting(WRITTEN, 120), 120, False, 1, OWN, 720),
        # The own network: its link is up, too.
        (Setting(OWN, 720), 719, True, 0, OWN, 720),
        (Setting(OWN, 720), 720, True, 0, WRITTEN, 720 + ATTEMPT),
        (Setting(OWN, 720), 720, False, 0, WRITTEN, 720 + ATTEMPT),
        (Setting(OWN, 720), 300, True, 1, OWN, 900),
        (Setting(OWN, 720), 720, True, 2, OWN, 1320),
        # A router that restarts in the evening is waited for.
        (Setting(JOINED, inf), 1e6, False, 0, JOINED, inf),
        (Setting(JOINED, inf), 1e6, True, 1, JOINED, inf),
    ],
)
def test_every_step_of_the_decision(
    before: Setting, now: float, is_up: bool, phones: int, network: Network, until: float
) -> None:
    assert before.after(now, AGAIN, is_up=is_up, phones=phones) == (network, until)


class Machine:
    """A machine whose time passes with each sleep, and whose programs are played."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.own = 0.0, root / "open"
        self.answers_at, self.phones_until = inf, 0.0
        self.changes: list[tuple[float, bool]] = []
        """Instants of restarts, and whether the own network was to be opened."""
        monkeypatch.setattr(fallback, "OPEN", str(root / "open"))
        monkeypatch.setattr(fallback, "Path", self._path)
        monkeypatch.setattr("time.monotonic", lambda: self.now)
        monkeypatch.setattr("time.sleep", self._sleep)
        monkeypatch.setattr(subprocess, "run", self._run)

    def _sleep(self, seconds: float) -> None:
        self.now += seconds

    def _path(self, *parts: str) -> Path:
        if parts[0] != "/sys/class/net":
            return Path(*parts)
        assert parts == ("/sys/class/net", "wlan0", "operstate")
        state = self.own.with_name("operstate")
        joined = self.now >= self.answers_at
        state.write_text("up\n" if joined or self.own.exists() else "dormant\n")
        return state

    def _run(self, command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        output = ""
        if command == ["iw", "dev", "wlan0", "station", "dump"]:
            output = "Station 02:00:00:00:01:00 (on wlan0)\n\tinactive time:\t8 ms\n" * (self.now < self.phones_until)
        else:
            assert command == ["systemctl", "restart", "table-referee-hotspot@wlan0.service"]
            self.changes.append((self.now, self.own.exists()))
        return subprocess.CompletedProcess(command, 0, output)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_a_network_that_answers_is_joined_and_nothing_is_changed(machine: Machine) -> None:
    machine.answers_at = 100
    watch_device("wlan0", 120, AGAIN)
    assert machine.changes == [] and not machine.own.exists()


def test_the_own_network_opens_and_goes_once_the_written_one_answers(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.answers_at = 1000
    watch_device("wlan0", 120, AGAIN)
    assert machine.changes == [(120, True), (720, False), (750, True), (1350, False)]
    assert machine.now == 1355 and not machine.own.exists()
    assert re.findall(r"^wlan0: (.*)$", capsys.readouterr().out, re.MULTILINE) == [
        network.value for network in (OWN, WRITTEN, OWN, WRITTEN, JOINED)
    ]


def test_no_attempt_is_made_while_a_phone_is_in_the_own_network(machine: Machine) -> None:
    machine.answers_at, machine.phones_until = 0.5, 4000
    machine.own.touch()
    watch_device("wlan0", 120, AGAIN)
    assert machine.changes == [(3995 + AGAIN, False)]


def test_restarted_while_the_own_network_is_open_it_takes_its_link_for_no_other(machine: Machine) -> None:
    machine.own.touch()
    machine.answers_at = 0
    watch_device("wlan0", 120, AGAIN)
    assert machine.changes == [(AGAIN, False)]


def said(unit: str) -> Iterator[tuple[str, str]]:
    """Yield the settings of a unit."""
    yield from re.findall(r"^(\w+)=(.*)$", (UNITS / unit).read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_all_mean_the_same_file_and_units() -> None:
    service = dict(said("table-referee-fallback@.service"))
    assert fallback.OPEN == hotspot.INSTEAD
    assert Path(fallback.OPEN).parents[1] == FALLBACK == Path("/run", service["RuntimeDirectory"]).parent
    assert service["RuntimeDirectory"] == f"{FALLBACK.name}/%I" and service["RuntimeDirectoryPreserve"] == "restart"
    assert service["ExecStart"] == "/usr/local/sbin/table-referee-fallback %I 120 600"
    assert service["ConditionPathExists"] == str(hotspot.JOINED)
    assert ("Wants", "table-referee-fallback@%i.service") in said("table-referee-hotspot@.service")
    assert "table-referee-hotspot@%i.service" in service["After"]


@pytest.mark.parametrize("is_open", [False, True])
def test_the_hotspot_takes_the_written_network_unless_the_own_one_is_to_be_open(
    is_open: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, settings, address = tmp_path / "run", tmp_path / "settings", tmp_path / "net" / "wlan0" / "address"
    for folder in (run, settings, address.parent):
        folder.mkdir(parents=True)
    address.write_text("02:00:00:00:1a:2b\n")
    joined, own = tmp_path / "wireless.conf", tmp_path / "open"
    joined.write_text("the written one")
    if is_open:
        own.touch()
    places: dict[str, Path] = {
        "/run/table-referee-hotspot": run, "/etc/table-referee": settings,
        "/sys/class/net": tmp_path / "net", "/dev/console": tmp_path / "console",
    }  # fmt: skip
    monkeypatch.setattr(hotspot, "Path", lambda first, *rest: places.get(str(first), Path(first)).joinpath(*rest))
    monkeypatch.setattr(hotspot, "JOINED", joined)
    monkeypatch.setattr(hotspot, "INSTEAD", str(own))
    monkeypatch.setattr("sys.argv", ["", "wlan0"])
    assert hotspot.main() == 0
    configuration = run / "wlan0.conf"
    assert configuration.read_text().startswith("network=" if is_open else "the written one")
    assert configuration.stat().st_mode & 0o077 == 0
    assert (tmp_path / "console").exists() == is_open
