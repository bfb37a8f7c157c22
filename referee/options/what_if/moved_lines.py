"""A hand or a card at another instant, in words; for the terminal and the page."""

from __future__ import annotations

from typing import Final

from referee.engine.observations import Card, Slap
from referee.options.what_if.moves import WhatIf
from referee.text.ruling_lines import RulingWords, pretty
from referee.units import MS

_WHOLE: Final = 10_000
"""Smallest step by which people move instants, a hundredth of a millisecond, ns."""


def line_words(line: Slap | Card, words: RulingWords) -> str:
    """Return the hand with its player, or the card with its name."""
    if isinstance(line, Slap):
        return words.texts("what_if.hand", name=words.name(line.seat))
    return words.texts("what_if.card", card=pretty(line.card), name=words.name(line.seat))


def moved_words(moved: WhatIf, words: RulingWords) -> str:
    """Return the heading of a hypothetical ruling: the moved line and its new instant."""
    texts, line, by = words.texts, moved.game.line(moved.move.line), moved.move.by
    assert isinstance(line, Slap | Card)
    key = "what_if.sooner" if by < 0 else "what_if.later" if by else "what_if.unmoved"
    said = texts(key, what=line_words(line, words), time=plain_ms(abs(by), words))
    return said if moved.move.error is None else f"{said}, ± {plain_ms(line.t_error, words)}"


def plain_ms(ns: int, words: RulingWords) -> str:
    """Return a time with the digits that people gave it."""
    value = round(ns / _WHOLE) * _WHOLE / MS
    digits = next((digits for digits in (0, 1) if round(value, digits) == value), 2)
    return f"{words.texts.number(value, digits)} ms"
