"""Every row of the rules in a sentence for a twelve-year-old, under titles that people look for.

`referee rules`, practice and the page's API write a row with its value, in English; the page's editor writes it without
in every language, because it shows the value separately.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from referee.rules.house import HouseRules
from referee.rules.rows import ROWS
from referee.text.catalogue import Texts, texts

_GROUPS: Final[Mapping[str, Sequence[str]]] = {
    "setup": ("S",),
    "challenges": ("C", "N5", "N6", "N11"),
    "patterns": ("P", "N3", "N4", "N14", "N15"),
    "slapping": ("M", "N1", "N2", "N10", "N12", "N13"),
    "faults": ("F", "N7", "N8", "N9"),
    "ending": ("E",),
    "referee": ("K",),
}
"""Letters or ids of the rows under each title, by its key; an id takes precedence over its letter."""
_COUNTED: Final = {
    "S3": "joker", "C3a": "card", "P10a": "card", "P10b": "card", "F1": "card", "F6a": "strike", "F6d": "card",
    "F6e": "round", "F10": "card", "F12": "card", "N8": "card",
}  # fmt: skip
"""Rows whose value is a number, and its noun."""
_MILLISECONDS: Final = frozenset(("M9", "M15"))
_CHOSEN: Final = frozenset(("S5", "S8", "P16", "P16b", "M4", "F7", "F9", "E8", "N1", "N10", "N11", "K9"))
"""Rows whose value is one of several words; each has its own text."""


def rows_by_group(language: Texts | None = None) -> dict[str, list[str]]:
    """Return every row under its title (English, or of this language), in the order of the rules."""
    say = language or texts("en")
    keys = {member: key for key, members in _GROUPS.items() for member in members}
    grouped: dict[str, list[str]] = {key: [] for key in _GROUPS}
    for row in ROWS:
        grouped[keys.get(row) or keys[row[0]]].append(row)
    return {say(f"rulegroup.{key}"): rows for key, rows in grouped.items()}


def row_words(row: str, language: Texts) -> str:
    """Return the text of a row, without its value."""
    return language(f"rule.{row}")


def sentence(row: str, rules: HouseRules, language: Texts | None = None) -> str:
    """Return the text of a row under these house rules: in English with its value, in other languages without."""
    if language is not None and language.language != "en":
        return row_words(row, language)
    english = texts("en")
    template = english.get(f"rule_with_value.{row}", "")
    if not template:
        return row_words(row, english)
    value: Any = rules.value(row)
    if row in _CHOSEN:
        words = [english(f"rule_with_value.{row}.{value}")]
    elif row in _MILLISECONDS:
        words = [f"{value} ms"]
    elif row == "M6":
        words = [english(f"rule_with_value.M6.{rules.forehead.who}"), f"{rules.forehead.ms} ms"]
    elif row == "N12":
        words = [f"{value[0]} ms", english(f"rule_with_value.{row}.{value[1]}")]
    elif row == "S3" and value == 0:
        words = ["No jokers"]
    elif row in _COUNTED:
        words = [_count(value, _COUNTED[row])]
    else:
        words = [_VALUES[row](value)]
    return template.format(*words)


def _count(number: int, noun: str, plural: str = "") -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def _chances(value: Mapping[str, int]) -> str:
    names = {"A": "An ace", "K": "a king", "Q": "a queen", "J": "a jack"}
    first, *rest = (f"{names[rank]} {'asks for ' if rank == 'A' else ''}{value[rank]}" for rank in "AKQJ")
    return f"{first} card{'s' * (value['A'] != 1)}, {', '.join(rest)}."


def _run(value: Any, length: int) -> str:
    said = {"ace": value} if isinstance(value, str) else value
    n, ace = said.get("n", length), said.get("ace", "both")
    ends = {"low": "ace before the two", "high": "ace after the king", "both": "ace at either end"}[ace]
    return f"Run: {n} ranks ({ends}{', and it goes round past the king' if said.get('wrap') else ''})"


def _without_cards(seats: Sequence[int]) -> str:
    if not seats:
        return "chosen seats start"
    return f"seat{'s' * (len(seats) > 1)} {', '.join(map(str, seats))} start"


_VALUES: Final[Mapping[str, Any]] = {
    "S2": lambda n: "One pack" if n == 1 else f"{n} packs",
    "S4d": _without_cards,
    "C1": _chances,
    "P4a": lambda value: _run(value, 3),
    "P4b": lambda value: _run(value, 4),
    "P5c": str,
    "P8": lambda counts: "" if counts else " (an ace is no one)",
    "P14": lambda rank: f": {rank.replace('T', '10')}" if rank else "",
    "P19": lambda own: "; ".join(f"{name}, which is {text}" for name, text in own.items()) or "none written yet.",
    "E2": lambda n: _count(n, "more card is", "more cards are"),
    "E7": lambda agreed: " and ".join(_count(number, unit[:-1]) for unit, number in agreed.items()),
    "N13": lambda n: _count(n, "press", "presses"),
}
"""Rows whose value has special wording."""
