"""The hall's own words, one table for each language, beside those of a table's page."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Final

from referee.app.page.texts import Texts

_FOLDER: Final = Path(__file__).parent / "texts"


@cache
def hall_table(language: str) -> dict[str, str]:
    """Every text of the hall by its key; raises `OSError` for a language that it does not speak."""
    with (_FOLDER / f"{language}.toml").open("rb") as file:
        return {key: str(text) for key, text in tomllib.load(file).items()}


class HallTexts:
    """The hall's words in the language of a request, with the page's at hand."""

    def __init__(self, page: Texts) -> None:
        self.page = page
        self._table = hall_table(page.language)

    def __call__(self, key: str) -> str:
        """A text; raises `KeyError` for a key that there is not."""
        return self._table[key]
