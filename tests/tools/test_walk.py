"""The way of one slap stays short enough to be read in an evening."""

from __future__ import annotations

from pathlib import Path

from tools.walk import walk


def test_a_slap_can_be_followed(tmp_path: Path) -> None:
    to_voice, to_page = walk(tmp_path)
    assert len(to_voice.files) <= 35
    assert len(to_voice.entered) <= 180
    # Twelve for the board and its finish; one each for its first view, the winner's, and the digits of a time.
    assert len(to_page.files.keys() - to_voice.files.keys()) <= 15
