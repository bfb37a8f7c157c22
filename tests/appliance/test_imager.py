"""The manifest for Raspberry Pi Imager: the fields that its schema wants, and the image's own sizes and sums."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from tools.image.card import FILES
from tools.image.imager import BOARDS, ICON, make_manifest

ROOT: Final = Path(__file__).parents[2]
CONTENT: Final = bytes(range(256)) * 4096
# What an image's entry must and may hold, by doc/json-schema/os-list-schema.json in Imager's repository (2.0.11).
REQUIRED: Final[dict[str, type]] = {
    "name": str, "description": str, "icon": str, "url": str, "extract_size": int, "extract_sha256": str,
    "image_download_size": int, "release_date": str, "devices": list,
}  # fmt: skip
OPTIONAL: Final[dict[str, type]] = {
    "init_format": str,
    "website": str,
    "architecture": str,
    "capabilities": list,
    "tooltip": str,
}
UNLISTED: Final[dict[str, type]] = {"image_download_sha256": str}
"""In Imager's example and the official list; the schema allows fields that it does not name."""
FORMATS: Final = ("", "systemd", "cloudinit", "cloudinit-rpi", "rpi-preseed", "none")
DEVICE: Final[dict[str, type]] = {"name": str, "description": str, "tags": list}


@pytest.fixture
def name(tmp_path: Path) -> Path:
    """Return an image's name whose files are there."""
    made = tmp_path / "table-referee-0.1.0+202611281500-arm64-raspberry-debian"
    Path(f"{made}.img").write_bytes(CONTENT)
    Path(f"{made}.img.gz").write_bytes(gzip.compress(CONTENT))
    (tmp_path / ICON).write_text("<svg/>")
    return made


def complaints(manifest: dict[str, Any]) -> list[str]:
    """Return what Imager's schema would say against a manifest."""
    found = [f"{key} is not known" for key in manifest.keys() - {"imager", "os_list"}]
    found += [f"imager: {key}" for key in manifest["imager"].keys() - {"devices"}]
    for kinds, entries in ((REQUIRED, manifest["os_list"]), (DEVICE, manifest["imager"]["devices"])):
        for entry in entries:
            found += [f"{key} is missing" for key in kinds.keys() - entry.keys()]
            known = {**kinds, **(OPTIONAL | UNLISTED if kinds is REQUIRED else {"matching_type": str})}
            found += [
                f"{key} is no {known[key]}" for key in entry if key in known and type(entry[key]) is not known[key]
            ]
            found += [f"{key} is not known" for key in entry.keys() - known.keys()]
    for entry in manifest["os_list"]:
        found += [] if entry.get("init_format") in FORMATS else ["init_format"]
        found += [] if re.fullmatch(r"\d{4}-\d\d-\d\d", entry.get("release_date") or "") else ["release_date"]
        found += [] if urlsplit(entry.get("url") or "").path.endswith((".zip", ".gz", ".xz")) else ["url"]
        tags = {tag for device in manifest["imager"]["devices"] for tag in device["tags"]}
        found += [f"no device has {tag}" for tag in entry.get("devices") or [] if tag not in tags]
    return found


@pytest.mark.parametrize("board", BOARDS)
def test_imagers_schema_is_kept(board: str, name: Path) -> None:
    assert complaints(make_manifest(name, board)) == []


@pytest.mark.parametrize("field", REQUIRED)
def test_a_field_that_is_missing_or_of_another_kind_is_seen(field: str, name: Path) -> None:
    manifest = make_manifest(name, "raspberry-pi")
    manifest["os_list"][0][field] = None
    assert complaints(manifest)
    del manifest["os_list"][0][field]
    assert complaints(manifest)


def test_sizes_and_sums_are_the_files_own(name: Path) -> None:
    (entry,) = make_manifest(name, "raspberry-debian")["os_list"]
    packed = Path(f"{name}.img.gz").read_bytes()
    assert (entry["extract_size"], entry["image_download_size"]) == (len(CONTENT), len(packed))
    assert entry["extract_sha256"] == hashlib.sha256(CONTENT).hexdigest()
    assert entry["image_download_sha256"] == hashlib.sha256(packed).hexdigest()


def test_it_means_the_files_here_or_those_of_a_folder_in_the_network(name: Path) -> None:
    (here,) = make_manifest(name, "raspberry-debian")["os_list"]
    assert here["url"] == Path(f"{name}.img.gz").as_uri() and here["icon"] == name.with_name(ICON).as_uri()
    (there,) = make_manifest(name, "raspberry-debian", "https://example.org/referee/")["os_list"]
    assert there["url"] == f"https://example.org/referee/{name.name}.img.gz"
    assert there["icon"] == f"https://example.org/referee/{ICON}"


def test_the_build_makes_one_for_each_board_of_raspberry_pi(name: Path) -> None:
    build = (ROOT / "tools/image/build").read_text(encoding="utf-8")
    assert set(re.findall(r"^    arm64-(raspberry-\w+)\)", build, flags=re.MULTILINE)) == set(BOARDS)
    command = [sys.executable, "-m", "tools.image.imager", str(name), "--board", "raspberry-debian", "--url", ""]
    subprocess.run(command, cwd=ROOT, check=True)
    made = json.loads(Path(f"{name}.rpi-imager-manifest").read_text())
    assert made == make_manifest(name, "raspberry-debian")


def test_what_imager_writes_for_this_format_is_read(name: Path) -> None:
    (entry,) = make_manifest(name, "raspberry-debian")["os_list"]
    assert entry["init_format"] == "systemd" and "firstrun.sh" in FILES
