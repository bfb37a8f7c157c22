"""A manifest for Raspberry Pi Imager, by which it writes an image to a card and asks for the card's settings.

``python3 -m tools.image.imager NAME --board BOARD [--url FOLDER]`` reads ``NAME.img`` and ``NAME.img.gz`` and writes
``NAME.rpi-imager-manifest``. Imager opens a manifest by a double click, or by the option ``--repo``. Its fields are
those of ``doc/json-schema/os-list-schema.json`` in Imager's repository.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
from pathlib import Path
from typing import Any, Final

ICON: Final = "icon.svg"
"""Lies beside the image."""
BOARDS: Final = {
    "raspberry-debian": ({"pi3-64bit": "3 and Zero 2 W", "pi4-64bit": "4", "pi5-64bit": "5"}, "camera on USB"),
    "raspberry-pi": ({"pi4-64bit": "4", "pi5-64bit": "5"}, "the Pi's own camera"),
}
"""Of each board: the computers by Imager's tags, and the camera."""


def make_manifest(name: Path, board: str, url: str = "") -> dict[str, Any]:
    """Return the manifest of an image.

    Args:
        name: of the image and its packed form, without their suffixes.
        board: one of `BOARDS`.
        url: of the folder from which both are to be had; without it, they are read from where they lie.
    """
    image, packed = Path(f"{name}.img"), Path(f"{name}.img.gz")
    computers, camera = BOARDS[board]

    def at(file: Path) -> str:
        return f"{url.rstrip('/')}/{file.name}" if url else file.resolve().as_uri()

    entry = {
        "name": "Table Referee",
        "description": f"Referees real card games: {camera}, pads, lights ({image.stem})",
        "icon": at(image.with_name(ICON)),
        "url": at(packed),
        "extract_size": image.stat().st_size,
        "extract_sha256": _sum_of(image),
        "image_download_size": packed.stat().st_size,
        "image_download_sha256": _sum_of(packed),
        "release_date": str(datetime.datetime.fromtimestamp(image.stat().st_mtime, datetime.UTC).date()),
        # Versions 1 and 2 of Imager know it, and `tools.image.card` reads what they write.
        "init_format": "systemd",
        "devices": list(computers),
        "architecture": "armv8",
    }
    devices = [
        {"name": f"Raspberry Pi {model}", "description": camera, "tags": [tag], "matching_type": "exclusive"}
        for tag, model in computers.items()
    ]
    return {"imager": {"devices": devices}, "os_list": [entry]}


def _sum_of(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def main() -> None:
    """Write the manifest."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("name", type=Path)
    parser.add_argument("--board", choices=BOARDS, required=True)
    parser.add_argument("--url", default="")
    chosen = parser.parse_args()
    manifest = make_manifest(chosen.name, chosen.board, chosen.url)
    Path(f"{chosen.name}.rpi-imager-manifest").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
