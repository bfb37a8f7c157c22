"""The language of the terminal: found once for a command; whatever the command prints and complains of is put into it.

Where nothing is asked for, the table's settings decide, and where there are none, the system's language does, as for
every other program of the terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from referee.sentence import Sentence, told, words_of
from referee.text.catalogue import LANGUAGES, Texts, texts

_KEY: Final = re.compile(r"^\s*language\s*=\s*[\"'](\w+)[\"']", re.MULTILINE)
"""The voice's language in a settings file, which may have mistakes elsewhere."""
_LOCALES: Final = ("LC_ALL", "LC_MESSAGES", "LANG")
_UNSPOKEN: Final = ("C", "POSIX")
_spoken = ["en"]
"""The last one is the terminal's: of the process, for threads print as well."""


def here() -> Texts:
    """The texts of the terminal's language."""
    return texts(_spoken[-1])


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Print in this language; raises `KeyError` for one that there is not."""
    texts(language)
    _spoken.append(language)
    try:
        yield
    finally:
        _spoken.pop()


def say(words: str | BaseException, /, **fields: object) -> str:
    """A sentence, or what an error says, in the terminal's language; what nobody has put into it stays as it is.

    Args:
        words: what is said; with ``fields`` a template as a `Sentence` has one.
        fields: of the template.
    """
    given = words_of(words) if isinstance(words, BaseException) else words
    return say_among((), Sentence(given, **fields) if fields or "{" not in given else given)


def say_among(names: Sequence[str], words: str) -> str:
    """The same among people who have these names, from the first seat on."""
    if not names and here().language == "en":
        return str(words)
    # What is English needs none of it, and `referee --help` starts the sooner.
    from referee.text.answers import in_language

    return in_language(told(words), here(), names)["words"]


def find_language(asked: str | None, settings: Path | None, environment: Mapping[str, str]) -> str:
    """The code of the language to print in.

    Args:
        asked: by an option.
        settings: the table's settings, which need not be right, nor there.
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
