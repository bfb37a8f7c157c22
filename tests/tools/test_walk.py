"""The walk of one slap can be followed, from the pad's edge to the voice and to the page."""

from __future__ import annotations

from pathlib import Path

from tools.walk import walk


def test_a_slap_can_be_followed(tmp_path: Path) -> None:
    to_voice, to_page = walk(tmp_path)
    for file in (
        "hardware/pads/slaps.py",
        "referee/engine/fold.py",
        "referee/record/journal.py",
        "referee/announce/voice.py",
    ):
        assert file in to_voice.files
    assert "referee/web/board.py" in to_page.files
