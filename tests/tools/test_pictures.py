"""Pictures of the documents: each shows its page as the program draws it now."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("playwright")

from tools.pictures import TEXTS, game_lines, read_texts, record_game


def test_no_picture_is_older_than_what_it_shows(tmp_path: Path) -> None:
    """Where this fails, draw them anew: make pictures."""
    kept = json.loads(TEXTS.read_text(encoding="utf-8"))
    assert read_texts(record_game(tmp_path, game_lines())) == kept
