"""The hall's words: every language has the same, with the same fields."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

from referee.options.hall.pages import _SCRIPT_WORDS, COLUMNS
from referee.text.catalogue import LANGUAGES, table

HALL = Path(__file__).parents[3] / "referee" / "options" / "hall"
OTHERS = tuple(language for language in LANGUAGES if language != "en")


def _hall(language: str) -> dict[str, str]:
    return {key.removeprefix("hall."): text for key, text in table(language).items() if key.startswith("hall.")}


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_has_the_same_keys_and_fields(language: str) -> None:
    def fields(text: str) -> set[str]:
        return {name for _, name, _, _ in Formatter().parse(text) if name is not None}

    english, other = _hall("en"), _hall(language)
    assert set(english) == set(other)
    assert {key for key in english if fields(english[key]) != fields(other[key])} == set()
    assert {key for key in english if english[key] == other[key] and len(english[key]) > 12} == set()


def test_every_text_that_is_asked_for_is_there() -> None:
    pages = (HALL / "pages.py").read_text(encoding="utf-8")
    script = (HALL / "static" / "hall.js").read_text(encoding="utf-8")
    asked = {*re.findall(r'texts\("hall\.([a-z_]+)"\)', pages), *_SCRIPT_WORDS, *COLUMNS}
    assert len(asked) > 40 and asked <= set(_hall("en"))
    assert set(re.findall(r"words\.([a-z_]+)", script)) <= set(_SCRIPT_WORDS)
