"""Record games of Beggar-My-Neighbour, played out card by card.

A deal is written as it was published: player 1's cards before the slash, player 2's behind it, the first to be played
on the left; ``-`` is a card that challenges nobody. `log_of` plays it with plain lists, quite apart from the referee,
and gives the log that a camera would have written.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, NamedTuple

PAULHUS_1999: Final = "------------KAQ----J------/-JQQK---K----JK--QA-A-JA--"
MANN_WU_2007: Final = "K-KK----K-A-----JAA--Q--J-/---Q---Q-J-----J------AQ--"
NESSLER_2022: Final = "---AJ--Q---------QAKQJJ-QK/-----A----KJ-K--------A---"
INFINITE: Final = "---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA"

_CHANCES: Final = {"A": 4, "K": 3, "Q": 2, "J": 1}


class Deal(NamedTuple):
    """A deal with a suit for every card, so that each card of the pack is there once."""

    hands: tuple[tuple[str, ...], ...]


def deal(published: str) -> Deal:
    """Give every dash a number card, and every card a suit."""
    numbers = (rank + suit for suit in "shdc" for rank in "23456789T")
    courts = {rank: iter("shdc") for rank in "AKQJ"}
    hands = [
        tuple(next(numbers) if letter == "-" else letter + next(courts[letter]) for letter in half)
        for half in published.split("/")
    ]
    return Deal(tuple(hands))


def cards_of(dealt: Deal) -> Iterator[tuple[int, str]]:
    """Seat and card of every card laid, player 1 first; ends when somebody has nothing left to play or pay with."""
    hands = [deque(hand) for hand in dealt.hands]
    pile: list[str] = []
    player, owed, challenger = 0, 0, -1
    while hands[player]:
        card = hands[player].popleft()
        pile.append(card)
        yield player + 1, card
        if card[0] in _CHANCES:
            challenger, player, owed = player, 1 - player, _CHANCES[card[0]]
        elif not owed:
            player = 1 - player
        else:
            owed -= 1
            if not owed:
                hands[challenger] += pile
                pile.clear()
                player = challenger
                if not all(hands):
                    return


def log_of(published: str, most: int | None = None) -> str:
    """The log of a whole game, or of its first cards."""
    table: dict[str, Any] = {
        "kind": "table",
        "t": 0,
        "seats": ["One", "Two"],
        "dealer": 2,
        "rules": "beggar-my-neighbour",
    }
    lines = [json.dumps(table)]
    for number, (seat, card) in enumerate(islice(cards_of(deal(published)), most), start=1):
        lines.append(json.dumps({"kind": "card", "t": number * 250_000_000, "card": card, "seat": seat}))
    return "\n".join(lines) + "\n"
