"""Cards as two characters, the way the log writes them: rank then suit (``Th`` is the ten of hearts).

Jokers are ``Xr`` (red) and ``Xb`` (black); an unreadable card is ``??``.
"""

from __future__ import annotations

from typing import Final

RANKS: Final = "A23456789TJQK"
NUMBER_RANKS: Final = RANKS[1:10]
"""Ranks that may be drawn as the wild rank (P14)."""
SUITS: Final = "shdc"
JOKERS: Final = ("Xr", "Xb")
UNREADABLE: Final = "??"
PACK: Final = tuple(rank + suit for suit in SUITS for rank in RANKS)
"""One 52-card pack."""

CARDS: Final = frozenset((*PACK, *JOKERS, UNREADABLE))
"""Every valid notation of a card."""

_VALUE: Final = {rank: value for value, rank in enumerate(RANKS, start=1)}


def value(card: str) -> int:
    """Return the rank as a number, ace 1 to king 13; 0 for a joker or an unreadable card."""
    return _VALUE.get(card[0], 0)


def rank(card: str) -> str:
    """Return the rank's letter; empty for a card whose rank cannot match (jokers, unreadable)."""
    return card[0] if card[0] in _VALUE else ""


def suit(card: str) -> str:
    """Return the suit's letter; empty for a card without one."""
    return card[1] if card[0] in _VALUE else ""


def colour(card: str) -> str:
    """Return ``red`` or ``black``, jokers included; empty for an unreadable card."""
    if card == UNREADABLE:
        return ""
    return "red" if card[1] in "hdr" else "black"


def is_card(text: object) -> bool:
    """Whether this is a card in the log's notation."""
    return isinstance(text, str) and text in CARDS
