"""Answers to commands in the language of whoever asked, with the names of whoever sits there.

The sentences are those of the code: their English template is their key in the table ``answer`` of a
language, and what nobody has put into a language stays English.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from referee.rules.cards import is_card
from referee.text.catalogue import LANGUAGES, Texts, table
from referee.text.ruling_lines import RulingWords, pretty

ENGLISH: Final = "en"
OTHERS: Final = tuple(language for language in LANGUAGES if language != ENGLISH)


@cache
def answers(language: str) -> Mapping[str, str]:
    """Sentences of a language by their English template; in English those that the others know."""
    if language == ENGLISH:
        return {template: template for template in answers(OTHERS[0])}
    return _group(language, "answer.")


@cache
def kinds(language: str) -> Mapping[str, str]:
    """Kinds of a log's lines in words; English calls them as the log does."""
    return {} if language == ENGLISH else _group(language, "kind.")


def _group(language: str, prefix: str) -> dict[str, str]:
    return {key.removeprefix(prefix): text for key, text in table(language).items() if key.startswith(prefix)}


def in_language(told: Mapping[str, Any], texts: Texts, names: Sequence[str] = ()) -> dict[str, str]:
    """Words of an answer, and ``lang``, the language that they are in; without it they are as they came.

    Args:
        told: what `referee.text.sentence.told` made, perhaps in another process.
        texts: the words of the language that is wanted.
        names: of who sits there, from the first seat on.
    """
    try:
        return {"words": _Words(texts, names).sentence(told), "lang": texts.language}
    except KeyError:
        return {"words": str(told.get("words", ""))}


class _Words:
    def __init__(self, texts: Texts, names: Sequence[str]) -> None:
        self._texts, self._seats = texts, RulingWords(names, texts)

    def sentence(self, told: Mapping[str, Any]) -> str:
        """Raises `KeyError` where nobody has put it into this language, or a field is missing."""
        said, fields = told.get("said"), told.get("fields")
        if not isinstance(said, str) or not isinstance(fields, Mapping):
            raise KeyError(said)
        template = answers(self._texts.language)[said]
        return template.format_map({name: self._field(name, value) for name, value in fields.items()})

    def _field(self, name: str, value: Any) -> str:
        if isinstance(value, Mapping):
            return self.sentence(value)
        if isinstance(value, list | tuple):
            one = "seat" if name == "seats" else ""
            between = f" {self._texts('word.or')} " if name == "either" else ", "
            return between.join(self._field(one, part) for part in value)
        if name == "seat":
            return self._seats.name(value)
        if name == "card" and isinstance(value, str) and is_card(value):
            return pretty(value)
        if name == "cards" and type(value) is int:
            return self._texts.count("cards", value)
        return kinds(self._texts.language).get(str(value), str(value)) if name == "kind" else str(value)
