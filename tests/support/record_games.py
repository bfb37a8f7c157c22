"""Deals of Beggar-My-Neighbour as logs: published record games, and the deal that never ends.

A deal is two hands, ``/`` between them, top card first, ``-`` for a card that is no face card and no ace.
Sources: M. Paulhus, "Beggar My Neighbour", American Mathematical Monthly 106 (1999); R. Mann and N. Wu (2007) and
R. Nessler (2022), as listed by R. P. Mann, "Known historical beggar-my-neighbour records".
"""

from __future__ import annotations

import itertools
import json
from collections import deque
from collections.abc import Iterator
from typing import Final, NamedTuple

from referee.rules.cards import SUITS

SECOND: Final = 1_000_000_000
_CHANCES: Final = {"A": 4, "K": 3, "Q": 2, "J": 1}


class Deal(NamedTuple):
    """A published deal, and how many tricks and cards it is said to take."""

    hands: str
    tricks: int
    cards: int


PAULHUS: Final = Deal("------------KAQ----J------/-JQQK---K----JK--QA-A-JA--", 670, 4791)
MANN_WU: Final = Deal("K-KK----K-A-----JAA--Q--J-/---Q---Q-J-----J------AQ--", 1007, 7157)
NESSLER: Final = Deal("---AJ--Q---------QAKQJJ-QK/-----A----KJ-K--------A---", 1164, 8344)
ENDLESS: Final = "---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA"


def hands(deal: str) -> list[deque[str]]:
    """Whole cards for a deal's letters: suits and number ranks in the order of the pack."""
    left = {rank: [rank + suit for suit in SUITS] for rank in _CHANCES}
    left["-"] = [rank + suit for suit in SUITS for rank in "23456789T"]
    return [deque(left[kind].pop(0) for kind in hand) for hand in deal.split("/")]


def cards(deal: str) -> Iterator[tuple[int, str]]:
    """Seat and card of each card that is laid, by a player who knows only this game; ends when one has run out."""
    held = hands(deal)
    pile: list[str] = []
    turn, challenger, left = 0, None, 0
    while held[turn] and (pile or all(held)):
        card = held[turn].popleft()
        pile.append(card)
        yield turn + 1, card
        chances = _CHANCES.get(card[0], 0)
        if chances:
            challenger, left, turn = turn, chances, 1 - turn
        elif challenger is None:
            turn = 1 - turn
        else:
            left -= 1
            if left == 0:
                held[challenger] += pile
                pile.clear()
                turn, challenger = challenger, None


def log(deal: str, lines: int | None = None) -> Iterator[str]:
    """The lines of a deal's log, the first ``lines`` of them: the table, then every card."""
    table = {"kind": "table", "t": 0, "seats": ["Ana", "Ben"], "dealer": 2, "rules": "beggar-my-neighbour"}
    yield json.dumps(table)
    for number, (seat, card) in enumerate(itertools.islice(cards(deal), None if lines is None else lines - 1), start=1):
        yield json.dumps({"kind": "card", "t": number * SECOND // 2, "card": card, "seat": seat})
