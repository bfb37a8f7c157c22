"""The image for a Raspberry Pi that was made here, looked at without starting it: card, firmware, system, manifest."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from referee.setup.doctor.probe import supplementary_groups
from tests.appliance.test_image import APPLIANCE, BUILD, SYSTEMD, units
from tests.appliance.test_imager import complaints
from tools.image.image_check import BUILT
from tools.image.pi_check import BOARD, Card
from tools.image.update import Machine, examine
from tools.pi.cpio import unpack

ROOT = Path(__file__).parents[2]
NEWEST = BUILT / f"newest-arm64-{BOARD}"
NAME = Path(NEWEST.read_text().strip()) if NEWEST.exists() else BUILT / "nothing"
TOOLS = ("mtype", "sfdisk", "unsquashfs", "zstd")
MADE = "arm64-raspberry-debian"
TREES = ("2837-rpi-3-b", "2837-rpi-3-b-plus", "2837-rpi-zero-2-w", "2711-rpi-4-b", "2712-rpi-5-b")

pytestmark = pytest.mark.skipif(
    not NEWEST.exists() or any(shutil.which(tool, path="/usr/bin:/usr/sbin:/bin:/sbin") is None for tool in TOOLS),
    reason=f"no image was made here (make image BOARD={BOARD}), or a tool of {', '.join(TOOLS)} is missing",
)


@pytest.fixture(scope="module")
def card() -> Card:
    return Card(Path(f"{NAME}.img"))


@pytest.fixture(scope="module")
def system(card: Card, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the system's /etc and the appliance's own programs."""
    folder = tmp_path_factory.mktemp("system") / "root"
    begin, _ = card.partition("root-a")
    wanted = ("etc", "usr/local/sbin", "usr/share/table-referee", "usr/lib/os-release", "opt/table-referee/venv/bin")
    subprocess.run(
        ["unsquashfs", "-q", "-n", "-no-xattrs", "-o", str(begin), "-d", folder, card.path, *wanted],
        stdout=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    return folder


def test_the_card_has_its_partitions_one_after_the_other(card: Card) -> None:
    places = [card.partition(name) for name in ("esp", "root-a", "root-b", "record")]
    assert places[0][0] == 1 << 20
    for (begin, size), (following, _) in pairwise(places):
        assert begin + size == following
    assert places[1][1] == places[2][1]
    assert places[-1][0] + places[-1][1] <= card.path.stat().st_size


def test_the_firmware_finds_itself_and_what_it_starts(card: Card) -> None:
    for name in ("bootcode.bin", "start.elf", "fixup.dat", "start4.elf", "fixup4.dat"):
        assert len(card.boot_file(name)) > 1000, name
    started = card.started()
    kernel = gzip.decompress(card.boot_file(started["kernel"]))
    assert kernel[56:60] == b"ARM\x64"
    for tree in TREES:
        assert card.boot_file(f"a/bcm{tree}.dtb")[:4] == b"\xd0\x0d\xfe\xed", tree


def test_the_boot_partition_has_room_for_two_systems(card: Card) -> None:
    used = sum(len(card.boot_file(card.started()[part])) for part in ("kernel", "initrd"))
    assert 2 * used + (32 << 20) < card.partition("esp")[1]


def test_the_console_is_the_screen_alone(card: Card) -> None:
    options = card.started()["options"].split()
    assert [word for word in options if word.startswith("console=")] == ["console=tty0"]
    assert "root=PARTLABEL=root-a" in options


def test_the_initrd_reaches_the_card_and_puts_the_way_back_into_its_place(card: Card) -> None:
    plain, rest = unpack(card.boot_file(card.started()["initrd"]))
    packed = subprocess.run(["zstd", "-dc"], input=rest, stdout=subprocess.PIPE, check=True).stdout
    files = {name: content for name, _, content in (*plain, *unpack(packed)[0])}
    for module in ("sdhci-iproc", "bcm2835", "squashfs", "vfat", "nls_cp437", "nls_ascii"):
        assert any(re.search(rf"/{module}\.ko(\.xz)?$", name) for name in files), module
    assert files["scripts/local-premount/table-referee"].startswith(b"#!/bin/sh")
    assert b"/scripts/local-premount/table-referee" in files["scripts/local-premount/ORDER"]


def test_the_services_are_switched_on(system: Path) -> None:
    enabled = {link.name.removesuffix(".service") for link in (system / "etc/systemd/system").glob("*.wants/*.service")}
    assert {unit for unit in units() if "@" not in unit} <= enabled
    assert set(re.findall(r"systemd-\w+", " ".join(SYSTEMD))) <= enabled | {"systemd-repart"}


def test_the_services_user_has_the_groups_of_the_devices(system: Path) -> None:
    lines = [line.split(":") for line in (system / "etc/group").read_text().splitlines()]
    members = {name: people.split(",") for name, _, _, people in lines}
    for group in supplementary_groups((APPLIANCE / "table-referee.service").read_text()):
        assert "table-referee" in members[group], group


def test_nobody_can_log_in(card: Card) -> None:
    begin, _ = card.partition("root-a")
    shadow = subprocess.run(
        ["unsquashfs", "-o", str(begin), "-cat", card.path, "etc/shadow"], stdout=subprocess.PIPE, check=True
    )
    assert all(line.split(":")[1][:1] in ("*", "!") for line in shadow.stdout.decode().splitlines())


def test_what_is_furnished_is_there(system: Path) -> None:
    for file in (APPLIANCE / "image").rglob("*"):
        if file.is_file():
            there = system / file.relative_to(APPLIANCE / "image")
            assert there.read_text().replace("/opt/table-referee", "@PREFIX@") == file.read_text(), file
    for program in re.findall(r"^    for program in (.*); do$", BUILD, flags=re.MULTILINE)[0].split():
        assert (system / f"usr/local/sbin/table-referee-{program}").stat().st_mode & 0o111
    release = (system / "etc/os-release").read_text()
    assert f"IMAGE_ARCHITECTURE={MADE}\n" in release and "IMAGE_ID=table-referee\n" in release


def test_the_update_is_taken_by_this_image_before_it(system: Path, tmp_path: Path) -> None:
    esp, partitions = tmp_path / "efi", tmp_path / "by-partlabel"
    (esp / "loader" / "entries").mkdir(parents=True)
    partitions.mkdir()
    for slot in "ab":
        with (partitions / f"root-{slot}").open("wb") as made:
            made.truncate(Card(Path(f"{NAME}.img")).partition(f"root-{slot}")[1])
    (tmp_path / "cmdline").write_text("root=PARTLABEL=root-a ro\n")
    (tmp_path / "os-release").write_text(f"IMAGE_VERSION=0.0.1\nIMAGE_ARCHITECTURE={MADE}\n")
    machine = Machine(
        esp, partitions, tmp_path / "cmdline", tmp_path / "os-release", system / "usr/share/table-referee/update.pem",
        tmp_path / "table.toml",
    )  # fmt: skip
    assert set(examine(Path(f"{NAME}.update"), machine).sums) == {"root", "linux", "initrd", "devices"}


def test_the_manifest_keeps_imagers_schema_and_means_these_files() -> None:
    manifest = json.loads(Path(f"{NAME}.rpi-imager-manifest").read_text())
    assert complaints(manifest) == []
    (entry,) = manifest["os_list"]
    for key, suffix in (("extract_sha256", ".img"), ("image_download_sha256", ".img.gz")):
        with Path(f"{NAME}{suffix}").open("rb") as content:
            assert hashlib.file_digest(content, "sha256").hexdigest() == entry[key]
    assert entry["extract_size"] == Path(f"{NAME}.img").stat().st_size
    packed = hashlib.sha256()
    with gzip.open(f"{NAME}.img.gz") as content:
        while block := content.read(1 << 20):
            packed.update(block)
    assert packed.hexdigest() == entry["extract_sha256"]
