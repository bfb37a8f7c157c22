"""The image's files fit each other and the appliance. `make image-test` shows whether it boots, in half an hour."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
APPLIANCE = ROOT / "appliance"
IMAGE = APPLIANCE / "image" / "etc"
BUILD = (ROOT / "tools" / "image" / "build").read_text(encoding="utf-8")
SYSTEMD = {"systemd-networkd", "systemd-resolved", "systemd-timesyncd", "systemd-repart"}


def units() -> set[str]:
    """Return names of the appliance's own services."""
    return {file.stem for folder in (APPLIANCE, IMAGE / "systemd" / "system") for file in folder.glob("*.service")}


def test_the_shell_can_read_what_builds_it() -> None:
    subprocess.run(["bash", "-n", ROOT / "tools" / "image" / "build"], check=True)


def test_what_is_switched_on_is_there() -> None:
    enabled = re.search(r"systemctl enable ((?:[^|\\]|\\\n)*)", BUILD)
    assert enabled is not None
    assert set(enabled[1].replace("\\", "").split()) == {unit for unit in units() if "@" not in unit} | SYSTEMD


RULES = (IMAGE / "udev" / "rules.d" / "80-table-referee.rules").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["stick", "hotspot"])
def test_what_is_plugged_in_starts_what_is_there(name: str) -> None:
    (wanted,) = re.findall(rf'ENV\{{SYSTEMD_WANTS\}}\+="(\S*{name}@)\$name\.service"', RULES)
    assert wanted in units()
    unit = (IMAGE / "systemd" / "system" / f"{wanted}.service").read_text(encoding="utf-8")
    assert re.search(rf"^ExecStart(Pre)?=\+?/usr/local/sbin/table-referee-{name} ", unit, flags=re.MULTILINE)
    assert name in re.findall(r"^    for program in (.*); do$", BUILD, flags=re.MULTILINE)[0].split()
    assert (ROOT / "tools" / "image" / f"{name}.py").exists()


def test_what_a_stick_asks_for_is_written_to_four_places_alone() -> None:
    """The boot partition, the games, and the two systems; besides them the stick's own partition."""
    unit = (IMAGE / "systemd" / "system" / "table-referee-stick@.service").read_text(encoding="utf-8")
    said = re.findall(r"^(ProtectSystem|ReadWritePaths|DevicePolicy|DeviceAllow|PrivateTmp)=(.*)$", unit, re.MULTILINE)
    by_key: dict[str, list[str]] = {}
    for key, value in said:
        by_key.setdefault(key, []).extend(value.split())
    partitions = [f"/dev/disk/by-partlabel/root-{slot}" for slot in "ab"]
    assert by_key.pop("DeviceAllow") == ["/dev/%I", "rw", partitions[0], "rw", partitions[1], "rw"]
    assert by_key == {
        "ProtectSystem": ["strict"],
        "ReadWritePaths": ["/efi", "/var/lib/table-referee"],
        "DevicePolicy": ["closed"],
        "PrivateTmp": ["yes"],
    }


def test_the_machine_s_own_disk_is_no_stick() -> None:
    written = re.findall(r"^PARTLABEL=(\S+)", (IMAGE / "fstab").read_text(encoding="utf-8"), flags=re.MULTILINE)
    own = re.search(r'ENV\{ID_PART_ENTRY_NAME\}!="([^"]*)"', RULES)
    assert own is not None and set(own[1].split("|")) == set(written)


@pytest.mark.parametrize("folder", sorted((IMAGE / "systemd" / "system").glob("*.d")), ids=lambda one: one.name)
def test_what_is_added_to_a_service_belongs_to_one(folder: Path) -> None:
    assert folder.name.removesuffix(".service.d") in units()


@pytest.mark.parametrize("name", sorted(units()))
def test_every_service_has_its_share_of_the_memory_and_its_place_where_it_is_short(name: str) -> None:
    (file,) = (path for path in APPLIANCE.rglob(f"{name}.service"))
    said = dict(re.findall(r"^(Memory\w+|OOMScoreAdjust)=(.*)$", file.read_text(encoding="utf-8"), flags=re.MULTILINE))
    high, most = (int(said[key].rstrip("%M")) for key in ("MemoryHigh", "MemoryMax"))
    assert high < most
    referee = -500
    assert int(said["OOMScoreAdjust"]) >= referee, "the referee goes last"


def test_what_is_mounted_is_on_the_card() -> None:
    on_card = set(re.findall(r"^size=.*name=(\S+)$", BUILD, flags=re.MULTILINE))
    mounted = set(re.findall(r"^PARTLABEL=(\S+)", (IMAGE / "fstab").read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert on_card == mounted | {"root-a", "root-b"}


def test_the_record_alone_grows() -> None:
    """Of partitions of one type the first would grow, so the record has its own."""
    types = dict(re.findall(r"^size=.*type=(\S+), name=(\S+)$", BUILD, flags=re.MULTILINE))
    grows = re.search(
        r"^Type=(\S+)$", (IMAGE / "repart.d" / "50-record.conf").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert grows is not None and types[grows[1]] == "record"
    assert len(re.findall(grows[1], BUILD)) == 1
