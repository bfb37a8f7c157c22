"""Installing the appliance, as a dry run into a folder: twice equals once, and settings outlive an uninstall."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hardware.priority import NICE, OOM_SCORE, PRIORITY
from hardware.service_manager import feeding_interval
from referee.cli import build_parser
from referee.settings.model import load_settings
from referee.table import systemd as service
from referee.table.page_link import PAGE_SOCKET
from referee.units import SECOND

ROOT = Path(__file__).parents[2]
UNIT = "etc/systemd/system/table-referee.service"
PAGE = "etc/systemd/system/table-referee-page.service"
SETTINGS = "etc/table-referee/table.toml"
RULES = "etc/polkit-1/rules.d/60-table-referee.rules"
BROKER = "etc/systemd/system/table-referee.service.d/broker.conf"
FILES = {UNIT, PAGE, SETTINGS, RULES, "etc/sysusers.d/table-referee.conf", "usr/local/bin/referee"}
LEAST_PROTECTED = 25
"""Tenths: `systemd-analyze security` gives 0 (shut) to 10 (open); an unprotected service has 9.6."""


def appliance(what: str, dest: Path, **variables: str) -> str:
    """Run the installer as `make install-appliance DESTDIR=…` does."""
    given = {name: value for name, value in os.environ.items() if name not in ("DESTDIR", "PREFIX", "PURGE")}
    environ = {**given, "DESTDIR": str(dest), "SETTINGS": str(dest.parent / "none.toml"), **variables}
    done = subprocess.run(
        [str(ROOT / "appliance" / "install"), what], env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def files(folder: Path) -> dict[str, bytes]:
    """Return every file under a folder, by its name there."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def key(unit: str, name: str) -> str:
    """Return a key's value in a unit's text."""
    (value,) = re.findall(rf"^{name}=(.*)$", unit, flags=re.MULTILINE)
    return str(value)


def test_twice_is_once_and_settings_stay(tmp_path: Path) -> None:
    dest = tmp_path / "root"
    appliance("install", dest)
    once = files(dest)
    assert set(once) == FILES
    (dest / SETTINGS).write_text((dest / SETTINGS).read_text().replace('"Ana"', '"Zoe"'))
    assert "kept" in appliance("install", dest)
    twice = files(dest)
    assert load_settings(dest / SETTINGS).seats[0].name == "Zoe"
    assert {name: data for name, data in twice.items() if name != SETTINGS} == {
        name: data for name, data in once.items() if name != SETTINGS
    }
    appliance("uninstall", dest)
    assert set(files(dest)) == {SETTINGS}
    appliance("uninstall", dest)
    appliance("uninstall", dest, PURGE="yes")
    assert files(dest) == {}


def test_make_hands_everything_on(tmp_path: Path) -> None:
    dest = tmp_path / "root"
    for what in ("install-appliance", "uninstall-appliance"):
        done = subprocess.run(
            ["make", "-s", what, f"DESTDIR={dest}", "PREFIX=/srv/ref"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        if what == "install-appliance":
            assert "/srv/ref/venv/bin/referee run" in (dest / UNIT).read_text()
    assert set(files(dest)) == {SETTINGS}


def test_settings_bring_their_house_rules_and_their_deck(tmp_path: Path) -> None:
    mine, data = tmp_path / "mine", tmp_path / "data"
    (data / "table-referee" / "decks").mkdir(parents=True)
    mine.mkdir()
    (data / "table-referee" / "decks" / "skat.npz").write_bytes(b"a deck")
    (mine / "house.toml").write_text('base = "classic"\n')
    seats = '[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n'
    (mine / "table.toml").write_text(f'rules = "house.toml"\ndeck = "skat"   # learned\n{seats}')
    dest = tmp_path / "root"
    appliance("install", dest, SETTINGS=str(mine / "table.toml"), XDG_DATA_HOME=str(data))
    assert load_settings(dest / SETTINGS).rules["base"] == "classic"
    assert (dest / "var/lib/table-referee/decks/skat.npz").read_bytes() == b"a deck"


def test_somebody_elses_command_of_that_name_stays(tmp_path: Path) -> None:
    theirs = tmp_path / "root" / "usr" / "local" / "bin" / "referee"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("#!/bin/sh\necho whistle\n")
    appliance("uninstall", tmp_path / "root")
    assert theirs.exists()


def test_where_memory_is_short_the_page_goes_first_and_the_referee_last() -> None:
    """The eye is a process of the referee's unit: it goes between them, and its death does not end the unit."""
    referee, page = ((ROOT / "appliance" / f"table-referee{name}.service").read_text() for name in ("", "-page"))
    assert int(key(referee, "OOMScoreAdjust")) < 0 < OOM_SCORE < int(key(page, "OOMScoreAdjust"))
    assert key(referee, "OOMPolicy") == "continue"
    for unit in (referee, page):
        high, most = (int(key(unit, name).rstrip("%M")) for name in ("MemoryHigh", "MemoryMax"))
        assert 0 < high < most, "first it is slowed down, and only then ended"
    assert key(page, "MemorySwapMax") == "0"


def test_the_page_outlives_a_referee_that_is_started_again_and_again() -> None:
    """A referee without a table restarts every few seconds; a unit bound to it would go down with each start."""
    unit = (ROOT / "appliance" / "table-referee-page.service").read_text()
    assert not re.search("^(PartOf|BindsTo|Requires|StopPropagatedFrom)=", unit, flags=re.MULTILINE)


def test_the_page_is_watched_reads_who_may_look_and_writes_nothing() -> None:
    unit = (ROOT / "appliance" / "table-referee-page.service").read_text()
    assert 0 < int(key(unit, "WatchdogSec")) <= 60
    assert f"--settings /{SETTINGS}" in unit
    assert key(unit, "ProtectSystem") == "strict"
    assert key(unit, "ReadWritePaths") == "/run/table-referee" and "StateDirectory" not in unit


def test_the_unit_waits_as_long_as_the_parts_may_be_silent() -> None:
    """A part's deadline and the feeding's interval together stay below systemd's timeout."""
    unit = (ROOT / "appliance" / "table-referee.service").read_text()
    waits = int(key(unit, "WatchdogSec")) * SECOND
    every = feeding_interval({"WATCHDOG_USEC": str(waits // 1000)}, 1)
    assert max(service.DEADLINES.values()) + every < waits
    assert key(unit, "Type") == "notify"
    assert int(key(unit, "Nice")) == NICE
    assert int(key(unit, "LimitRTPRIO")) == PRIORITY
    assert key(unit, "Restart") == "on-failure"


def test_referee_and_page_meet_in_one_folder() -> None:
    units = [
        (ROOT / "appliance" / name).read_text() for name in ("table-referee.service", "table-referee-page.service")
    ]
    assert (key(units[0], "RuntimeDirectory"), key(units[0], "RuntimeDirectoryPreserve")) == ("table-referee", "yes")
    assert key(units[0], "RuntimeDirectoryMode") == "0770", "the group's alone"
    assert (key(units[0], "User"), key(units[1], "User")) == ("table-referee", "table-referee-page")
    assert key(units[1], "Group") == "table-referee"
    assert "\nu table-referee-page -:table-referee " in (ROOT / "appliance" / "table-referee.sysusers").read_text()
    assert int(key(units[0], "UMask"), 8) == 0o027, "the group reads what the referee writes, and no more"
    started = key(units[1].replace("\\\n", ""), "ExecStart").split()[1:]
    options = build_parser().parse_args(started)
    assert (options.listen.name, options.runtime) == (PAGE_SOCKET, Path("/run/table-referee"))
    assert (options.record, options.pictures, options.settings) == (None, None, Path("/") / SETTINGS)
    for unit in units:
        assert "XDG_DATA_HOME=/var/lib" in key(unit, "Environment").split(), "so both find one record"


def test_the_command_looks_where_the_services_do(tmp_path: Path) -> None:
    """For those who may change the table's data; others have their own."""
    state = tmp_path / "state" / "table-referee"
    program = tmp_path / "opt" / "venv" / "bin" / "referee"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "$XDG_DATA_HOME"\n')
    program.chmod(0o755)
    appliance("install", tmp_path / "root", PREFIX=str(tmp_path / "opt"))
    command = tmp_path / "root" / "usr" / "local" / "bin" / "referee"
    command.write_text(command.read_text().replace("/var/lib", str(state.parent)))

    def looks() -> str:
        said = subprocess.run([command], env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=True)
        return said.stdout.strip()

    assert looks() == ""
    state.mkdir(parents=True)
    assert looks() == str(state.parent)


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Return the unit, with an executable program where it expects one."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not here (apt install systemd)")
    program = tmp_path / "opt" / "venv" / "bin" / "referee"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    appliance("install", tmp_path / "root", PREFIX=str(tmp_path / "opt"))
    return tmp_path / "root" / UNIT


def _analyze(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["systemd-analyze", "--no-pager", *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("unit", [UNIT, PAGE])
def test_systemd_finds_nothing_wrong_with_the_units(installed: Path, unit: str) -> None:
    done = _analyze("verify", "--man=no", str(installed.parent / Path(unit).name))
    assert done.returncode == 0, done.stderr
    about_us = [line for line in (done.stdout + done.stderr).splitlines() if "table-referee" in line]
    assert about_us == []


def test_a_unit_that_is_wrong_would_be_found(installed: Path) -> None:
    installed.write_text(installed.read_text().replace("WatchdogSec=30", "WatchdogSek=30"))
    assert "WatchdogSek" in _analyze("verify", "--man=no", str(installed)).stderr


@pytest.mark.parametrize("unit", [UNIT, PAGE])
def test_the_services_may_do_little_more_than_they_need(installed: Path, unit: str) -> None:
    path = installed.parent / Path(unit).name
    done = _analyze("security", "--offline=true", f"--threshold={LEAST_PROTECTED}", str(path))
    assert done.returncode == 0, (done.stdout + done.stderr)[-300:]


def _broker(folder: Path, mqtt: str) -> Path:
    """Return the installer's file for a broker, with these settings."""
    settings = folder / "mqtt.toml"
    settings.write_text(f'[mqtt]\n{mqtt}\n[log]\nfolder = ""\n[[seat]]\nname = "Ana"\n[[seat]]\nname = "Ben"\n')
    load_settings(settings)
    appliance("install", folder / "root", SETTINGS=str(settings))
    return folder / "root" / BROKER


NEAR = "localhost link-local multicast 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7"


@pytest.mark.parametrize(
    ("host", "allowed"),
    [("localhost", "localhost"), ("192.168.1.5", "192.168.1.5"), ("fd00::5", "fd00::5"), ("broker.local", NEAR)],
)
def test_the_service_may_reach_its_broker_and_no_further(tmp_path: Path, host: str, allowed: str) -> None:
    written = _broker(tmp_path, f'enabled = true   # yes\nhost = "{host}"   # there\nport = 1883').read_text()
    assert key(written, "IPAddressAllow") == allowed
    assert key(written, "RestrictAddressFamilies") == "AF_INET AF_INET6"
    assert key((tmp_path / "root" / UNIT).read_text(), "IPAddressDeny") == "any"


def test_without_a_broker_there_is_no_network(tmp_path: Path) -> None:
    """Nor after it was switched off again and installed anew."""
    assert not _broker(tmp_path, 'enabled = false\nhost = "192.168.1.5"').exists()
    (tmp_path / "root" / SETTINGS).unlink()
    path = _broker(tmp_path, 'enabled = true\nhost = "192.168.1.5"')
    assert path.exists()
    settings = tmp_path / "root" / SETTINGS
    settings.write_text(settings.read_text().replace("enabled = true", "enabled = false"))
    appliance("install", tmp_path / "root")
    assert not path.exists()


@pytest.mark.parametrize("host", ["localhost", "192.168.1.5", "fd00::5", "broker.local"])
def test_systemd_takes_the_brokers_file(installed: Path, tmp_path: Path, host: str) -> None:
    (tmp_path / "root" / SETTINGS).unlink()
    path = _broker(tmp_path, f'enabled = true\nhost = "{host}"')
    installed.write_text(installed.read_text().replace("/opt/table-referee", str(tmp_path / "opt")))
    done = _analyze("verify", "--man=no", str(installed))
    assert "table-referee" not in done.stdout + done.stderr
    path.write_text(path.read_text().replace("IPAddressAllow=", "IPAddressAllow=nowhere "))
    assert "broker.conf" in _analyze("verify", "--man=no", str(installed)).stderr


def test_only_the_referees_user_may_switch_off(tmp_path: Path) -> None:
    """`make appliance-check` asks polkit itself; here the rule is compared with the user that the unit names."""
    appliance("install", tmp_path / "root")
    rule = (tmp_path / "root" / RULES).read_text()
    user = key((tmp_path / "root" / UNIT).read_text(), "User")
    assert f'subject.user == "{user}" &&' in rule
    actions = set(re.findall(r'action\.id == "([^"]+)"', rule))
    assert actions == {f"org.freedesktop.login1.{name}" for name in ("power-off", "power-off-multiple-sessions")}
