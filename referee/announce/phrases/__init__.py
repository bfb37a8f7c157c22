"""The voice's phrases in each language, and how they are put together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from referee.announce.phrases.de import GERMAN
from referee.announce.phrases.en import ENGLISH
from referee.announce.phrases.es import SPANISH
from referee.announce.phrases.fr import FRENCH
from referee.announce.phrases.language import Language, NoWords

BY_CODE: Final[Mapping[str, Language]] = {one.code: one for one in (ENGLISH, SPANISH, GERMAN, FRENCH)}


def words_in(code: str) -> Language:
    """The language of a code; raises `NoWords` for one that the referee does not speak."""
    if code not in BY_CODE:
        raise NoWords(f"no language {code!r}: the referee speaks {', '.join(BY_CODE)}")
    return BY_CODE[code]
