"""The way of one slap stays short enough to be read in an evening."""

from __future__ import annotations

from pathlib import Path

from tools.walk import walk


def test_a_slap_can_be_followed(tmp_path: Path) -> None:
    to_voice, to_page = walk(tmp_path)
    # Thirty-five of old; and the lines' seals, the bell that rings on every system, and what people are called.
    assert len(to_voice.files) <= 39
    # One of them fills a cache, so it counts only where nothing was said before.
    assert len(to_voice.entered) <= 187
    # Twelve for the board and its finish; and its first view, the winner's, a time's digits, the record's lines.
    assert len(to_page.files.keys() - to_voice.files.keys()) <= 16
