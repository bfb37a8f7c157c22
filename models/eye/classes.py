"""Card notation and the class lists of the networks.

A card is two characters: rank ``A 2 … 9 T J Q K`` and suit ``c d h s``; jokers are ``Xr`` (red) and ``Xb`` (black);
``??`` is a card that is seen but not read. The order of the two tuples is the order of the networks' outputs: it is
part of the weights and never changes without retraining.
"""

from __future__ import annotations

from typing import Final

RANK_CLASSES: Final = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "X")
SUIT_CLASSES: Final = ("c", "d", "h", "s", "r", "b")
UNREAD: Final = "??"
CARD_CLASSES: Final = (*(r + s for s in SUIT_CLASSES[:4] for r in RANK_CLASSES[:13]), "Xr", "Xb")
"""Every card that can be named, jokers last."""
SURE_READING: Final = 0.9
"""Confidence from which a reading counts as read."""
WIDTH_MM, HEIGHT_MM = 63.5, 88.9
"""Width and height of a poker card, the model for all proportions."""


class CardError(ValueError):
    """The text names no card; the message shows the notation."""


_COLOURS: Final = {"c": "black", "s": "black", "d": "red", "h": "red"}


def look_alike(card: str, other: str) -> bool:
    """Whether two cards differ only in suit, and their suits have the same colour."""
    colour = _COLOURS.get(card[1])
    return card != other and card[0] == other[0] and colour is not None and colour == _COLOURS.get(other[1])


def check(card: str) -> str:
    """Return `card` if it names a card; raise `CardError` otherwise."""
    if card not in CARD_CLASSES:
        raise CardError(
            f"{card!r} is no card: write rank A 2..9 T J Q K and suit c d h s, as in 7h or Tc; jokers are Xr, Xb"
        )
    return card
