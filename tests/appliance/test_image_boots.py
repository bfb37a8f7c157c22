"""`make image-test` in short, where an image was made here: it starts in a virtual machine, and asks in a browser."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tools.image.first_start import Phone
from tools.image.guest import Guest, missing_packages

BUILT = Path(__file__).parents[2] / "build" / "image"
PATIENCE = 600.0


@pytest.mark.slow
def test_an_image_starts_and_asks(tmp_path: Path) -> None:
    newest = BUILT / "newest-amd64"
    if not newest.exists():
        pytest.skip("no image was made here: make image ARCH=amd64 (three minutes, root)")
    if packages := missing_packages("amd64"):
        pytest.skip(f"no virtual machine: apt install {' '.join(packages)}")
    card = tmp_path / "card.img"
    shutil.copy(f"{newest.read_text().strip()}.img", card)
    with Guest(card, "amd64") as guest:
        assert guest.see(r"ready [\d.]+ s after the kernel began: \S+ in (.)", PATIENCE)[1] == "a"
        status, page = Phone(guest.port).get("/")
        assert status == 200 and "wizard.js" in page
