"""The language of the terminal: determined once for a command, and used for all its output and errors.

Without an option, the table's settings decide, and without settings the system's language, as for other terminal
programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from referee.sentence import Sentence, to_json, words_of
from referee.text.catalogue import LANGUAGES, Texts, texts

_KEY: Final = re.compile(r"^\s*language\s*=\s*[\"'](\w+)[\"']", re.MULTILINE)
"""The voice's language in a settings file, which may have mistakes elsewhere."""
_LOCALES: Final = ("LC_ALL", "LC_MESSAGES", "LANG")
_UNSPOKEN: Final = ("C", "POSIX")
_spoken = ["en"]
"""The last one is the terminal's; process-wide, because other threads print as well."""


def here() -> Texts:
    """Return the texts of the terminal's language."""
    return texts(_spoken[-1])


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Print in this language; raises `KeyError` for an unknown one."""
    texts(language)
    _spoken.append(language)
    try:
        yield
    finally:
        _spoken.pop()


def translate(words: str | BaseException, /, **fields: object) -> str:
    """Return a sentence or an error's message in the terminal's language; untranslated text stays as it is.

    Args:
        words: the text; with ``fields`` a template as in `Sentence`.
        fields: of the template.
    """
    given = words_of(words) if isinstance(words, BaseException) else words
    return say_among((), Sentence(given, **fields) if fields or "{" not in given else given)


def say_among(names: Sequence[str], words: str) -> str:
    """Return the same with the players' names, from the first seat on."""
    if not names and here().language == "en":
        return str(words)
    # English needs no translation; the lazy import speeds up `referee --help`.
    from referee.text.answers import in_language

    return in_language(to_json(words), here(), names)["words"]


def find_language(asked: str | None, settings: Path | None, environment: Mapping[str, str]) -> str:
    """Return the code of the language to print in.

    Args:
        asked: the option's value.
        settings: the table's settings, which may be invalid or missing.
        environment: variables of the shell.
    """
    if asked is not None:
        return asked
    if settings is not None and settings.is_file():
        text = ""
        with suppress(OSError, UnicodeDecodeError):
            text = settings.read_text(encoding="utf-8")
        found = _KEY.search(text)
        return found[1] if found is not None and found[1] in LANGUAGES else "en"
    locale = next((environment[name] for name in _LOCALES if environment.get(name)), "C")
    if locale.partition(".")[0] in _UNSPOKEN:
        return "en"
    wished = [*filter(None, environment.get("LANGUAGE", "").split(":")), locale]
    return next((name[:2].lower() for name in wished if name[:2].lower() in LANGUAGES), "en")
