"""Sentences for people: English words that know what they were made of, so that others can put them into a language.

A sentence is a template with fields, and is its English text wherever a text is wanted. What a field is shows in its
name: ``seat`` and ``seats`` are numbers of seats, ``card`` is a card such as 7h, ``rank`` a rank such as T, ``cards`` a
count of cards, ``kind`` a kind of line, ``either`` a choice; any other is data as it stands. A field may be a sentence
itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

Field = str | int | Sequence[str] | Sequence[int]
"""What a template can be filled with."""
RANK_NAMES: Final = {"T": "10"}
"""Ranks that people write otherwise than a log."""


class Sentence(str):
    """Words in English, with the template and the fields that they were made of."""

    template: str
    fields: Mapping[str, Field]

    def __new__(cls, template: str, /, **fields: Field) -> Sentence:
        """A template filled in; raises `KeyError` for a field that it names and that is not given.

        Args:
            template: as for `str.format`, naming its fields. A sentence stays what it is.
            fields: by name.
        """
        if isinstance(template, Sentence):
            return template
        made = super().__new__(cls, template.format_map({name: english(name, fields[name]) for name in fields}))
        made.template, made.fields = template, fields
        return made


class Spoken(Exception):  # noqa: N818 - what goes wrong has names of its own
    """Something that is told to people in a sentence."""

    def __init__(self, template: str, /, **fields: Field) -> None:
        self.sentence = Sentence(template, **fields)
        super().__init__(self.sentence)


def english(name: str, value: Field) -> str:
    """A field as English has it where nobody knows the players' names."""
    if not isinstance(value, (str, int)):
        between, one = (" or " if name == "either" else ", "), ("seat" if name == "seats" else "")
        return between.join(english(one, part) for part in value)
    if name == "seat":
        return f"seat {value}"
    if name == "rank":
        return RANK_NAMES.get(str(value), str(value))
    if name == "cards":
        return f"{value} card{'' if value == 1 else 's'}"
    return str(value)


def told(words: str) -> dict[str, Any]:
    """As it goes from process to process: ``words``; of a sentence also its template, ``said``, and its ``fields``."""
    if not isinstance(words, Sentence):
        return {"words": words}
    fields = {name: told(value) if isinstance(value, Sentence) else value for name, value in words.fields.items()}
    return {"words": str(words), "said": words.template, "fields": fields}
