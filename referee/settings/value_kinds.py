"""Kinds of values in a settings file: each has its check, and a description that completes the error message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import Field

from referee.sentence import Sentence


def whole(default: Any, low: int, high: int, unit: str = "") -> Any:
    """Return a field for a whole number within bounds."""
    return Field(default, ge=low, le=high, description=_in_unit("a whole number from {low} to {high}", low, high, unit))


def number(default: Any, low: float, high: float, unit: str = "") -> Any:
    """Return a field for a number within bounds."""
    return Field(
        default, ge=low, le=high, description=_in_unit("a number from {low} to {high}", f"{low:g}", f"{high:g}", unit)
    )


def _in_unit(words: str, low: object, high: object, unit: str) -> Sentence:
    number = Sentence(words, low=low, high=high)
    return Sentence("{number} {unit}", number=number, unit=Sentence(unit)) if unit else number


def flag(default: bool) -> Any:
    """Return a field for true or false."""
    return Field(default, description=Sentence("true or false"))


def text(default: str = "") -> Any:
    """Return a field for any text."""
    return Field(default, description=Sentence('a text in quotes, such as "USB Audio"'))


def one_of(default: Any, words: Iterable[str]) -> Any:
    """Return a field for one of these words."""
    words = tuple(words)
    return Field(
        default,
        pattern=f"^({'|'.join(words)})$",
        description=Sentence("{either}", either=[f'"{word}"' for word in words]),
    )


def time_of_day() -> Any:
    """Return a field for a time of day, or an empty text."""
    hours = "^(([01][0-9]|2[0-3]):[0-5][0-9])?$"
    return Field("", pattern=hours, description=Sentence('a time of day such as "22:00", or "" for never'))


def topic_name(default: str) -> Any:
    """Return a field for a name that a broker's topics may hold."""
    return Field(default, pattern="^[A-Za-z0-9_-]{1,40}$", description=Sentence("1 to 40 letters, digits, - and _"))
