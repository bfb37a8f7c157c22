"""Sentences for people: English text that keeps its template and fields, so that it can be translated.

A sentence is a template with fields, and can be used as its English text. A field's name gives its kind: ``seat`` and
``seats`` are seat numbers, ``card`` is a card such as 7h, ``rank`` a rank such as T, ``cards`` a count of cards,
``kind`` a kind of line, ``either`` a choice; any other is data. A field may be a sentence itself, or a list of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Any, Final

Field = str | int | Sequence[str] | Sequence[int]
"""A value for a template's field."""
RANK_NAMES: Final = {"T": "10"}
"""Ranks that are written differently in a log."""


class Sentence(str):
    """English words, with the template and the fields that they were made of."""

    template: str
    fields: Mapping[str, Field]

    def __new__(cls, template: str, /, **given: object) -> Sentence:
        """Fill in a template; raises `KeyError` for a field that is not given.

        Args:
            template: as for `str.format`, with named fields. A `Sentence` is returned unchanged.
            given: the fields by name.
        """
        if isinstance(template, Sentence):
            return template
        fields = {name: _field(value) for name, value in given.items()}
        made = super().__new__(cls, template.format_map({name: english(name, fields[name]) for name in fields}))
        made.template, made.fields = template, fields
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the template and its fields."""
        return _remade, (self.template, dict(self.fields))


def _remade(template: str, fields: Mapping[str, Field]) -> Sentence:
    return Sentence(template, **fields)


def _field(value: object) -> Field:
    """Return a field as it is stored: an error as its words, any value except numbers, texts and lists as its text."""
    if isinstance(value, BaseException):
        return words_of(value)
    return value if isinstance(value, (str, int, tuple, list)) else str(value)


class Spoken(Exception):  # noqa: N818 - what goes wrong has names of its own
    """An error with a sentence for people.

    Args:
        words: the sentence, or its template if ``fields`` are given. Other text with braces is kept unchanged, since it
            may come from anywhere.
        fields: of the template.
    """

    sentence: str

    def __init__(self, words: str, /, **fields: object) -> None:
        as_it_stands = not fields and "{" in words
        self.sentence = words if as_it_stands else Sentence(words, **fields)
        super().__init__(self.sentence)


def joined(sentences: Sequence[str]) -> str:
    """Join sentences with spaces; an empty sequence gives an empty text."""
    if len(sentences) < 2:
        return sentences[0] if sentences else ""
    return Sentence("{first} {next}", first=sentences[0], next=joined(sentences[1:]))


def words_of(bad: BaseException) -> str:
    """Return the message of an error: its sentence if it has one."""
    said = bad.args[0] if bad.args else None
    return said if isinstance(said, Sentence) else str(bad)


def english(name: str, value: Field) -> str:
    """Return a field in English, without the players' names."""
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


def says_something(template: str) -> bool:
    """Return whether a template has words besides its fields; others are the same in every language."""
    try:
        return any(char.isalpha() for text, *_ in Formatter().parse(template) for char in text)
    except ValueError:
        return True


def to_json(words: str) -> dict[str, Any]:
    """Return a record for other processes: ``words``; for a sentence also its template, ``said``, and its
    ``fields``.
    """
    if not isinstance(words, Sentence):
        return {"words": words}
    fields = {name: _told_field(value) for name, value in words.fields.items()}
    return {"words": str(words), "said": words.template, "fields": fields}


def from_json(told: Mapping[str, Any]) -> str:
    """Return the text from a record of `to_json`: the sentence, if it was one."""
    said, fields = told.get("said"), told.get("fields")
    if not isinstance(said, str) or not isinstance(fields, Mapping):
        return str(told.get("words", ""))
    return Sentence(said, **{name: _retold_field(value) for name, value in fields.items()})


def _retold_field(value: Any) -> Any:
    if isinstance(value, Mapping):
        return from_json(value)
    return [_retold_field(part) for part in value] if isinstance(value, list) else value


def _told_field(value: Field) -> Any:
    if isinstance(value, Sentence):
        return to_json(value)
    if isinstance(value, (str, int)):
        return value
    return [to_json(part) if isinstance(part, Sentence) else part for part in value]
