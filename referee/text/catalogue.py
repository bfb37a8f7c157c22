"""The written texts in every language: one file for each, with the same keys.

`referee.announce.phrases` holds the spoken ones.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from referee.units import last_place, round_at

LANGUAGES: Final[Mapping[str, str]] = {"en": "English", "es": "Español", "de": "Deutsch", "fr": "Français"}
"""The languages that the referee reads, writes and speaks: codes, and their own names."""
_USUAL_PLURALS: Final[Mapping[str, Callable[[int], bool]]] = {"one": lambda n: n == 1, "many": lambda _: True}
_PLURALS: Final = {"fr": {"one": lambda n: n in (0, 1), "many": lambda _: True}}
"""Plural forms other than the usual two, and which numbers each is for; the first that holds is used."""
_DECIMAL_COMMA: Final = frozenset(("es", "de", "fr"))
_POWERS: Final = {"ms": 6, "s": 9}
"""Units of time, as powers of ten in ns."""


class Texts:
    """The texts of one language, and its number format."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._table = table(language)

    def __call__(self, key: str, **fields: object) -> str:
        """Return a text with its fields filled in; raises `KeyError` for an unknown key."""
        text = self._table[key]
        return text.format_map(fields) if fields else text

    def get(self, key: str, default: str) -> str:
        """Return a text if it exists, for names that come from outside."""
        return self._table.get(key, default)

    def count(self, key: str, number: int, **fields: object) -> str:
        """Return ``1 card``, ``2 cards``, from a text with the language's plural forms."""
        form = next(name for name, holds in _PLURALS.get(self.language, _USUAL_PLURALS).items() if holds(number))
        return self(f"{key}.{form}", n=number, **fields)

    def number(self, value: float, digits: int) -> str:
        """Return a number with the language's decimal sign, and a true minus."""
        text = f"{abs(value):.{digits}f}"
        sign = "−" if value < 0 and float(text) != 0 else ""
        return sign + (text.replace(".", ",") if self.language in _DECIMAL_COMMA else text)

    def ms(self, ns: int, error: int, *, sign: bool = False) -> str:
        """Return nanoseconds as milliseconds, with the digits that their error (ns) allows: ``45 ms``; ``sign``: ``+45
        ms``.
        """
        return f"{self._rounded(ns, last_place(error, ns), 'ms', sign)} ms"

    def measured(self, ns: int, error: int, *, sign: bool = False, unit: str = "ms") -> str:
        """Return a time and its error, both in ns, as ``45 ± 3 ms``; without an error if it is exact. ``unit``: ms or
        s.
        """
        place = last_place(error, ns)
        time = self._rounded(ns, place, unit, sign)
        return f"{time} ± {self._rounded(error, place, unit, False)} {unit}" if error > 0 else f"{time} {unit}"

    def _rounded(self, ns: int, place: int, unit: str, sign: bool) -> str:
        power = _POWERS[unit]
        if ns == 0:
            return "0"
        plus = "+" if sign and round_at(ns, place) > 0 else ""
        return plus + self.number(round_at(ns, place) / 10**power, max(power - place, 0))

    def seconds(self, ns: int) -> str:
        """Return nanoseconds as seconds of a clock, ``12.3 s``: every sensor is exact enough for that."""
        return f"{self.number(ns / 1e9, 1)} s"

    def both(self, items: Iterable[str]) -> str:
        """Return ``a, b and c``."""
        names = list(items)
        if len(names) < 2:
            return "".join(names)
        return f"{', '.join(names[:-1])} {self('word.and')} {names[-1]}"


def plural_forms(language: str) -> tuple[str, ...]:
    """Return the keys of a language's plural forms: ``one`` and ``many``, or others."""
    return tuple(_PLURALS.get(language, _USUAL_PLURALS))


def with_nbsp(text: str) -> str:
    """Return a text with no-break spaces between times and their unit or error."""
    return text.replace(" ms", "\u00a0ms").replace(" ± ", "\u00a0±\u00a0")


@cache
def texts(language: str) -> Texts:
    """Return the texts of a language; raises `KeyError` for an unknown one."""
    if language not in LANGUAGES:
        raise KeyError(language)
    return Texts(language)


@cache
def table(language: str) -> Mapping[str, str]:
    """Return every text of a language by its key; nested tables are joined by dots."""
    with (Path(__file__).parent / f"{language}.toml").open("rb") as file:
        return dict(_flat(tomllib.load(file), ""))


def _flat(tree: Mapping[str, Any], before: str) -> Iterable[tuple[str, str]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield before + key, str(value)


def chosen(asked: str | None, kept: str | None, accepted: str) -> str:
    """Return the language to use.

    Args:
        asked: the language in the address.
        kept: the language chosen before.
        accepted: the browser's ``Accept-Language``.
    """
    for name in (asked, kept):
        if name is not None and name in LANGUAGES:
            return name
    wanted: list[tuple[float, str]] = []
    for part in accepted[:400].split(","):
        name, _, weight = part.strip().partition(";q=")
        try:
            # Negative, because the sort is stable: equal weights keep the browser's order.
            wanted.append((-float(weight or 1), name.strip()[:2].lower()))
        except ValueError:
            continue
    return next((name for _, name in sorted(wanted, key=lambda pair: pair[0]) if name in LANGUAGES), "en")
