"""Answers to commands in the asker's language, with the players' names.

The sentences are those of the code: their English template is their key in the table ``answer`` of a language. A
sentence without a translation stays English.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from referee.rules.cards import is_card
from referee.sentence import RANK_NAMES, says_something
from referee.text.catalogue import LANGUAGES, Texts, table
from referee.text.ruling_lines import RulingWords, pretty

_OF_LISTS: Final = {"seats": "seat", "cards": "card"}
"""Fields that are lists, and the kind of their parts."""
OTHERS: Final = tuple(language for language in LANGUAGES if language != "en")
"""Languages that the code's sentences are translated into."""


@cache
def answers(language: str) -> Mapping[str, str]:
    """Return the sentences of a language by their English template; for English, those that are translated."""
    if language == "en":
        return {template: template for template in answers(OTHERS[0])}
    return {key.removeprefix("answer."): text for key, text in table(language).items() if key.startswith("answer.")}


def in_language(told: Mapping[str, Any], texts: Texts, names: Sequence[str] = ()) -> dict[str, str]:
    """Return the words of an answer, and ``lang``, their language; an untranslated answer has no ``lang``.

    Args:
        told: the result of `referee.sentence.to_json`, possibly from another process.
        texts: the texts of the wanted language.
        names: of the players, from the first seat on.
    """
    try:
        return {"words": _translated(told, RulingWords(names, texts)), "lang": texts.language}
    except KeyError:
        return {"words": str(told.get("words", ""))}


def _translated(told: Mapping[str, Any], words: RulingWords) -> str:
    """Translate a sentence; raises `KeyError` if there is no translation, or a field is missing."""
    said, fields = told.get("said"), told.get("fields")
    if not isinstance(said, str) or not isinstance(fields, Mapping):
        raise KeyError(said)
    template = answers(words.texts.language)[said] if says_something(said) else said
    return template.format_map({name: _field(name, value, words) for name, value in fields.items()})


def _field(name: str, value: Any, words: RulingWords) -> str:
    texts = words.texts
    if isinstance(value, Mapping):
        return _translated(value, words)
    if isinstance(value, list | tuple):
        between = f" {texts('word.or')} " if name == "either" else ", "
        return between.join(_field(_OF_LISTS.get(name, ""), part, words) for part in value)
    if name == "seat":
        return words.name(value)
    if name == "card" and is_card(value):
        return pretty(value)
    if name == "rank":
        return RANK_NAMES.get(str(value), str(value))
    if name == "cards" and type(value) is int:
        return texts.count("cards", value)
    return texts.get(f"kind.{value}", str(value)) if name == "kind" else str(value)
