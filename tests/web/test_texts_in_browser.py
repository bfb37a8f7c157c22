"""Texts at first sight on a page say nothing of options, rows, files or commands, in any language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from referee.text.catalogue import LANGUAGES, table
from tools.texts import SCENES, Reader, faults_of, strange_in

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_OF_THE_CODE = ("answer.",)
"""Sentences of the code, many of them for a terminal."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_of_a_page_names_what_only_the_code_knows(language: str) -> None:
    texts = {key: re.sub(r"\{\w*\}", "", text) for key, text in table(language).items()}
    found = {key: strange_in(text) for key, text in texts.items() if not key.startswith(_OF_THE_CODE)}
    assert {key: faults for key, faults in found.items() if faults} == {}


@pytest.mark.parametrize(
    "words",
    [
        "see --host", "the row N4 is off", "run `referee calibrate`", "kept in table.toml", "kept in /var/lib/games",
        "raise camera.delay_ms", "[Errno 2] no such file", "Why: slap_won@s1", "seal 3fa9c01b", "undefined",
    ],
)  # fmt: skip
def test_what_is_strange_is_found(words: str) -> None:
    assert strange_in(words)


@pytest.mark.parametrize("scene", ["control", "questions", "certificates", "errors"])
def test_what_is_shown_at_first_sight_is_for_people(browser: Browser, scene: str) -> None:
    reader = Reader(browser, ("en", "fr"))
    SCENES[scene](reader)
    assert len(reader.shown["en"]) > 30
    assert faults_of(reader) == []
