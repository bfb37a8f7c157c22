"""Orders on a stick: which file is executed, once, and the report about it."""

from __future__ import annotations

import errno
import os
import re
import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tools.image.hotspot import keep_hotspot
from tools.image.stick import OPTIONS, ORDERS, REPORT, Appliance, obey_stick, report

RESTART = "systemctl reboot --reboot-argument='0 tryboot'"


class Machine:
    """Notes its commands; a backup is made, all else succeeds unless set to fail."""

    def __init__(self, folder: Path) -> None:
        self.ran: list[list[str]] = []
        self.fails = False
        self.appliance = Appliance(self.run, answered=folder / "settings" / "answered", state=folder)
        self.appliance.answered.parent.mkdir()
        self.appliance.answered.write_text("")

    def run(self, command: Sequence[str]) -> tuple[int, str]:
        self.ran.append(list(command))
        if "backup" in command and not self.fails:
            Path(command[command.index("backup") + 1]).write_bytes(b"games")
        how = f": {RESTART}" if command[0].endswith("update") and command[1] != "state" and not self.fails else ""
        return int(self.fails), f"reading ...\nsaid: {command[-1]}{how}"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    (tmp_path / "state").mkdir()
    return Machine(tmp_path / "state")


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    made = tmp_path / "stick"
    made.mkdir()
    (made / "holiday.jpg").write_bytes(b"a picture")
    (made / "photos.update").mkdir()
    return made


def test_a_stick_that_asks_for_nothing_is_left_alone(stick: Path, machine: Machine) -> None:
    assert obey_stick(stick, machine.appliance) == ([], "")
    assert machine.ran == []


def test_the_newest_update_goes_in_and_the_machine_starts_anew(stick: Path, machine: Machine) -> None:
    for name in ("table-referee-0.9.1+20261101-arm64.update", "table-referee-0.10.0+20261001-arm64.update"):
        (stick / name).write_bytes(b"")
    words, restart = obey_stick(stick, machine.appliance)
    newest = "table-referee-0.10.0+20261001-arm64.update"
    assert machine.ran == [["table-referee-update", "--once", str(stick / newest)]]
    assert (words, restart) == ([f"said: {newest}"], RESTART)


def test_an_update_that_is_refused_is_told_and_starts_nothing(stick: Path, machine: Machine) -> None:
    (stick / "new.update").write_bytes(b"")
    machine.fails = True
    assert obey_stick(stick, machine.appliance) == (["said: new.update"], "")


@pytest.mark.parametrize("name", ["back.txt", "BACK.TXT"])
def test_the_way_back_is_taken_once_and_before_any_update(stick: Path, machine: Machine, name: str) -> None:
    (stick / name).write_text("")
    (stick / "new.update").write_bytes(b"")
    assert obey_stick(stick, machine.appliance) == (["said: back"], RESTART)
    assert machine.ran == [["table-referee-update", "back"]]
    assert [file.stem.lower() for file in stick.glob("*.done")] == ["back"]
    machine.ran.clear()
    obey_stick(stick, machine.appliance)
    assert ["table-referee-update", "back"] not in machine.ran


def test_a_table_without_a_screen_names_its_network(stick: Path, machine: Machine) -> None:
    (stick / "wireless.txt").write_text("")
    assert obey_stick(stick, machine.appliance) == (["this table has opened no wireless network of its own yet"], "")
    keep_hotspot(machine.appliance.answered.parent, "dc:a6:32:00:be:ef")
    (stick / "wireless.txt").write_text("")
    words, restart = obey_stick(stick, machine.appliance)
    assert restart == "" and re.search("name: Table Referee beef, password: [a-z0-9-]{14}$", words[0])


def test_the_first_questions_are_asked_again(stick: Path, machine: Machine) -> None:
    (stick / "questions.txt").write_text("")
    words, restart = obey_stick(stick, machine.appliance)
    assert restart == "systemctl reboot" and not machine.appliance.answered.exists()
    (stick / "questions.txt").write_text("")
    words, restart = obey_stick(stick, machine.appliance)
    assert (words, restart) == (["the first questions are being asked already"], "")


def test_a_backup_comes_onto_the_stick_and_nothing_of_it_stays(stick: Path, machine: Machine) -> None:
    (stick / "backup.txt").write_text("")
    words, restart = obey_stick(stick, machine.appliance)
    (made,) = stick.glob("table-referee-*.zip")
    assert made.read_bytes() == b"games" and not restart
    (ran,) = machine.ran
    assert ran[:4] == ["runuser", "-u", "table-referee", "--"] and ran[6:9] == [
        "referee",
        "backup",
        str(machine.appliance.state / "table-referee-backup.zip"),
    ]
    assert not (machine.appliance.state / "table-referee-backup.zip").exists()
    assert words
    machine.fails = True
    (stick / "backup.txt").write_text("")
    obey_stick(stick, machine.appliance)
    assert len(list(stick.glob("*.zip"))) == 1


def test_a_stick_that_cannot_be_written_is_told_and_not_obeyed(
    stick: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (stick / "questions.txt").write_text("")

    def refuse(_file: Path, _name: Path) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "replace", refuse)
    (words,), restart = obey_stick(stick, machine.appliance)
    assert "write-protected" in words and not restart
    assert machine.appliance.answered.exists()


def test_what_was_done_can_be_read_on_the_stick(stick: Path, machine: Machine) -> None:
    report(stick, ["done"], machine.appliance)
    assert (stick / REPORT).read_bytes() == b"done\r\n\r\nreading ...\r\nsaid: state\r\n"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of the machine, with a file in it that must stay unchanged."""
    made = tmp_path / "machine"
    made.mkdir()
    (made / "shadow").write_text("secret")
    return made


LINKS = ("shadow", "new", "pipe", "folder")
"""To a file, to a new name, to a device (a pipe stands for one: opening it would block), to a folder."""


def _link(at: Path, to: str, outside: Path) -> None:
    if to == "pipe":
        os.mkfifo(outside / to)
    elif to == "folder":
        (outside / to).mkdir()
    at.symlink_to(outside / to)


@pytest.mark.parametrize("to", LINKS)
def test_the_report_is_a_file_of_the_stick_s_own(stick: Path, machine: Machine, outside: Path, to: str) -> None:
    _link(stick / REPORT, to, outside)
    before = sorted(outside.rglob("*"))
    report(stick, ["done"], machine.appliance)
    assert not (stick / REPORT).is_symlink() and (stick / REPORT).read_bytes().startswith(b"done\r\n")
    assert sorted(outside.rglob("*")) == before and (outside / "shadow").read_text() == "secret"


@pytest.mark.parametrize("kind", [stat.S_IFIFO, stat.S_IFCHR])
def test_a_device_in_the_report_s_place_is_not_written_to(stick: Path, machine: Machine, kind: int) -> None:
    try:
        os.mknod(stick / REPORT, kind | 0o600, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes devices")
    report(stick, ["done"], machine.appliance)
    assert (stick / REPORT).is_file()


def test_a_folder_in_the_report_s_place_is_left_there(stick: Path, machine: Machine) -> None:
    (stick / REPORT).mkdir()
    with pytest.raises(OSError):
        report(stick, ["done"], machine.appliance)


def test_a_stick_whose_own_folder_is_a_link_gets_no_report(
    stick: Path, machine: Machine, outside: Path, tmp_path: Path
) -> None:
    (tmp_path / "mounted").symlink_to(outside)
    with pytest.raises(OSError):
        report(tmp_path / "mounted", ["done"], machine.appliance)
    assert [file.name for file in outside.iterdir()] == ["shadow"]


@pytest.mark.parametrize("to", LINKS)
def test_links_are_no_orders(stick: Path, machine: Machine, outside: Path, to: str) -> None:
    for number, name in enumerate((*ORDERS, "new.update")):
        (outside / str(number)).mkdir()
        _link(stick / name, to, outside / str(number) if to != "shadow" else outside)
    assert obey_stick(stick, machine.appliance) == ([], "")
    assert machine.ran == []
    assert (outside / "shadow").read_text() == "secret" and machine.appliance.answered.exists()


def test_a_link_in_the_backup_s_place_is_not_copied_onto_the_stick(
    stick: Path, machine: Machine, outside: Path
) -> None:
    """The folder is the referee's own, which might have been taken over; the stick's program runs as root."""

    def run(command: Sequence[str]) -> tuple[int, str]:
        Path(command[command.index("backup") + 1]).symlink_to(outside / "shadow")
        return 0, "saved"

    (stick / "backup.txt").write_text("")
    (words,), _ = obey_stick(stick, Appliance(run, machine.appliance.answered, machine.appliance.state))
    assert words.startswith("the backup cannot be written onto the stick")
    assert not list(stick.glob("*.zip")) and (outside / "shadow").read_text() == "secret"


def test_a_mounted_stick_has_no_links(tmp_path: Path) -> None:
    """As the kernel sees it, where the test may ask."""
    real = tmp_path / "real"
    real.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", OPTIONS, "tmpfs", real], check=False, capture_output=True)
    if mounted.returncode:
        pytest.skip("no filesystem can be mounted here")
    try:
        (real / "link").symlink_to("/etc/hostname")
        (real / "folder").symlink_to("/etc")
        for name in ("link", "folder/hostname"):
            with pytest.raises(OSError) as refused:
                (real / name).read_bytes()
            assert refused.value.errno == errno.ELOOP
    finally:
        subprocess.run(["umount", real], check=True)
