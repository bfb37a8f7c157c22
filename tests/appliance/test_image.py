"""The image's files fit each other and the appliance. `make image-test` shows whether it boots, in half an hour."""

from __future__ import annotations

import configparser
import re
import struct
import subprocess
from pathlib import Path

import pytest

from referee.setup.doctor.probe import supplementary_groups

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


@pytest.mark.parametrize(
    "file", sorted(IMAGE.glob("initramfs-tools/*/**/table-referee")), ids=lambda file: file.parent.name
)
def test_the_initrds_own_files_can_be_run_and_need_nothing_first(file: Path) -> None:
    assert file.stat().st_mode & 0o111
    assert subprocess.run([file, "prereqs"], capture_output=True, check=True).stdout == b""


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


def test_every_device_that_is_given_to_a_group_is_open_to_the_services() -> None:
    """Debian's udev leaves pins, SPI, the camera's memory and the firmware's mailbox to root."""
    rules = (IMAGE / "udev" / "rules.d" / "60-table-referee-devices.rules").read_text(encoding="utf-8")
    given = dict(re.findall(r'^(?:SUBSYSTEM|KERNEL)=="(\w+)".*GROUP="(\w+)", MODE="0660"$', rules, flags=re.MULTILINE))
    assert given == {"gpio": "gpio", "spidev": "spi", "dma_heap": "video", "vcio": "video"}
    made = set(re.findall(r"^g (\S+) -$", (APPLIANCE / "table-referee.sysusers").read_text(), flags=re.MULTILINE))
    for name in ("table-referee", "table-referee-setup"):
        (file,) = APPLIANCE.rglob(f"{name}.service")
        groups = set(supplementary_groups(file.read_text(encoding="utf-8")))
        # Keyboards and boards as pads, and the sound, have Debian's own rules.
        assert groups == {*given.values(), "input", "dialout", "audio"} == made


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


@pytest.mark.parametrize("folder", sorted((IMAGE / "systemd" / "system").glob("*.d")), ids=lambda drop_in: drop_in.name)
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


def test_a_raspberry_pis_light_pins_have_no_console_and_its_camera_enough_memory() -> None:
    (options,) = re.findall(r'^    arm64-raspberry-\*\) CONSOLE="(.*)"', BUILD, flags=re.MULTILINE)
    assert "serial" not in options and "ttyAMA" not in options and "ttyS" not in options
    firmware = re.findall(r'^        FIRMWARE="?([^"\n]*?)"?(?: ;;)?$', BUILD, flags=re.MULTILINE)
    assert len(firmware) == 2 and not any("enable_uart" in said for said in firmware)
    assert "dtoverlay=vc4-kms-v3d,cma-256" in firmware[1].split()


def test_the_old_table_of_partitions_names_the_boot_partition_first() -> None:
    """The oldest of the boards reads no other one; a second entry, from block 1, says that GPT is the real one."""
    (octal,) = re.findall(r"printf '((?:\\[0-7]{1,3})+)'", BUILD)
    table = bytes(int(digits, 8) for digits in octal.split("\\")[1:])
    first, second = struct.iter_unpack("<B3xB3xII", table)
    sectors = int(re.findall(r"^size=(\d+)MiB, type=uefi", BUILD, flags=re.MULTILINE)[0]) << 11
    start = int(re.findall(r"^first-lba: (\d+)$", BUILD, flags=re.MULTILINE)[0])
    assert first == (0, 0x0C, start, sectors)
    assert second == (0, 0xEE, 1, start - 1)


def test_a_router_knows_the_machine_again_after_each_start() -> None:
    """Its machine-id is a new one then, from which systemd would derive the identity that it shows to routers."""
    network = configparser.ConfigParser(strict=False)
    network.optionxform = str  # type: ignore[assignment,method-assign]
    network.read(IMAGE / "systemd" / "network" / "80-table.network")
    assert (network["DHCPv4"]["ClientIdentifier"], network["DHCPv6"]["DUIDType"]) == ("mac", "link-layer")
