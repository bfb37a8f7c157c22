"""Names as people type them. Pure."""

from __future__ import annotations

import unicodedata
from typing import Final

LONGEST: Final = 40
"""Characters of a name."""


class PeopleError(ValueError):
    """What was asked cannot be done; says why."""


def tidied(name: str) -> str:
    """A name as it is shown; raises `PeopleError` for one that nobody can be called."""
    shown = " ".join(unicodedata.normalize("NFC", name).split())
    if not 1 <= len(shown) <= LONGEST or not shown.isprintable():
        raise PeopleError(f"a name has 1 to {LONGEST} letters, on one line")
    return shown


def key_of(name: str) -> str:
    """What two spellings of one name have in common: case, width and spaces do not matter."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
