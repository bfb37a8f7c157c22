"""Card notation and the class lists of the networks.

A card is two characters: rank ``A 2 … 9 T J Q K`` and suit ``c d h s``; jokers are ``Xr`` (red) and ``Xb`` (black);
``??`` is a card that is seen but not read. The order of the two tuples is the order of the networks' outputs: it is
part of the weights and never changes without retraining.
"""

from __future__ import annotations

RANKS: tuple[str, ...] = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "X")
SUITS: tuple[str, ...] = ("c", "d", "h", "s", "r", "b")
UNREAD = "??"

#: Every card that can be named, jokers last.
CARDS: tuple[str, ...] = (*(r + s for s in SUITS[:4] for r in RANKS[:13]), "Xr", "Xb")

#: Millimetres of a poker card, width and height: the model from which proportions are taken.
WIDTH_MM, HEIGHT_MM = 63.5, 88.9


class CardError(ValueError):
    """The text is no card; the message says what one looks like."""


def rank_index(card: str) -> int:
    """Place of the card's rank in `RANKS`; raises `CardError`."""
    return RANKS.index(check(card)[0])


def suit_index(card: str) -> int:
    """Place of the card's suit in `SUITS`; raises `CardError`."""
    return SUITS.index(check(card)[1])


def check(card: str) -> str:
    """`card` itself if it names a card, else `CardError`."""
    if card not in CARDS:
        raise CardError(
            f"{card!r} is no card: write rank A 2..9 T J Q K and suit c d h s, as in 7h or Tc; jokers are Xr, Xb"
        )
    return card


def compose(rank: int, suit: int) -> str | None:
    """The card of two class indices, or None where they do not go together (a joker of hearts)."""
    card = RANKS[rank] + SUITS[suit]
    return card if card in CARDS else None
