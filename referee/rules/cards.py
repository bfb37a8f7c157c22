"""Cards as two characters, the way the log writes them: rank then suit (``Th`` is the ten of hearts).

Jokers are ``Xr`` (red) and ``Xb`` (black); a card that nobody could read is ``??``.
"""

from __future__ import annotations

from typing import Final

RANKS: Final = "A23456789TJQK"
NUMBER_RANKS: Final = RANKS[1:10]
"""What a wild rank may be (P14)."""
SUITS: Final = "shdc"
JOKERS: Final = ("Xr", "Xb")
UNREADABLE: Final = "??"
PACK: Final = tuple(rank + suit for suit in SUITS for rank in RANKS)
"""One 52-card pack."""

CARDS: Final = frozenset((*PACK, *JOKERS, UNREADABLE))
"""Every text that may stand for a card."""

_VALUE: Final = {rank: value for value, rank in enumerate(RANKS, start=1)}


def value(card: str) -> int:
    """Rank as a number, ace 1 to king 13; 0 for a joker or an unreadable card."""
    return _VALUE.get(card[0], 0)


def rank(card: str) -> str:
    """The rank's letter, or an empty text where the card has none that can match (jokers, unreadable)."""
    return card[0] if card[0] in _VALUE else ""


def suit(card: str) -> str:
    """The suit's letter, or an empty text where the card has none."""
    return card[1] if card[0] in _VALUE else ""


def colour(card: str) -> str:
    """``red`` or ``black``, jokers included; empty for an unreadable card."""
    if card == UNREADABLE:
        return ""
    return "red" if card[1] in "hdr" else "black"


def is_card(text: object) -> bool:
    """Whether this is a text of the log's notation for a card."""
    return isinstance(text, str) and text in CARDS
