"""What is asked of a person before anything of theirs outlives a game: in plain words, once, in every language."""

from __future__ import annotations

from typing import Final

from referee.record.retention import RetentionPeriods
from referee.text.catalogue import texts

CONSENT_VERSION: Final = 2
"""Of the text: kept with each answer, so that it is known what somebody agreed to."""


def consent_question(name: str, keeping: RetentionPeriods, language: str = "en") -> str:
    """What a person is asked, with the periods that hold at this table; raises `KeyError` for another language."""
    text = texts(language)
    return text(
        "consent.question",
        name=name,
        pictures=text("consent.pictures", days=keeping.pictures),
        figures=text("consent.figures", days=keeping.figures),
        games=text("consent.games", days=keeping.games),
    )
