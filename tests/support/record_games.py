"""Deals of Beggar-My-Neighbour as logs: published record games, and the deal that never ends.

A deal is two hands, ``/`` between them, top card first, ``-`` for a card that is no face card and no ace.
Sources: M. Paulhus, "Beggar My Neighbour", American Mathematical Monthly 106 (1999); R. P. Mann, "Known historical
beggar-my-neighbour records"; B. Casella and others, "A non-terminating game of Beggar-My-Neighbor" (2024).
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
    """A published deal, and its published number of tricks and cards."""

    hands: str
    tricks: int
    cards: int


NESSLER: Final = Deal("---AJ--Q---------QAKQJJ-QK/-----A----KJ-K--------A---", 1164, 8344)
PUBLISHED: Final = {
    "Paulhus 1999": Deal("------------KAQ----J------/-JQQK---K----JK--QA-A-JA--", 670, 4791),
    "Kleber 1999": Deal("---JQ---K-A----A-J-K---QK-/-J-----------AJQA----K---Q", 805, 5790),
    "Collins 2006": Deal("A-QK------Q----KA-----J---/-JAK----A--Q----J---QJ--K-", 960, 6913),
    "Mann and Wu 2007": Deal("K-KK----K-A-----JAA--Q--J-/---Q---Q-J-----J------AQ--", 1007, 7157),
    "Nessler 2012": Deal("----Q------A--K--A-A--QJK-/-Q--J--J---QK---K----JA---", 1015, 7207),
    "Nessler 2012, again": Deal("-J-------Q------A--A--QKK-/-A-Q--J--J---Q--AJ-K---K--", 1016, 7224),
    "Anderson 2013": Deal("--A-Q--J--J---Q--AJ-K---K-/-J-------Q------A--A--QKK-", 1016, 7225),
    "Rucklidge 2014": Deal("-J------Q------AAA-----QQ-/K----JA-----------KQ-K-JJK", 1122, 7959),
    "Nessler 2021": Deal("----K---A--Q-A--JJA------J/-----KK---------A-JK-Q-Q-Q", 1106, 7972),
    "Nessler 2022": NESSLER,
}
"""By discoverer and year, with the published tricks and cards."""
LONG: Final = (
    "-J--KA----A-Q--Q-A----KJ--/A------QKJ--Q-------KJ----",
    "---AK-Q--J----J--QKJ-Q----/------JK-----A--K--Q---AA-",
    "A-AQ-----Q--K--AQ-------JJ/-J-A-KKJ--K-----------Q---",
    "-AJ--QK--K----Q--J-A-KKJ--/---------JQ----------A-AQ-",
    "---Q--Q--J-Q-J----------A-/--K-K-KAQ-AA-----J-J-----K",
    "-J-QAA-----Q---K---Q-K--K-/-A-----Q---J---KJ-A-----J-",
    "---A---A--QJ--J----K--QK-K/------JQ-------QA--K--A--J",
    "--J-A-A-JK--K---A--K---K--/---Q-AQ-Q---Q--J-J--------",
    "--A--A-KK--J--J-K-JQ--J---/----KA-QQ---Q---------A---",
    "K-----J--J-J-----------A-A/K-----Q--KKJA-------Q-Q-QA",
    "--------Q-J-----Q--Q--AJ--/-AK--Q-A--K--AK-J-----KJ--",
    "-----J-AA-------QA------J-/J-QQ----A-KQ--KK--------JK",
)
"""Deals that are nearly as long, whose tricks were not published; some end with a card that is no payment."""
ENDLESS: Final = "---K---Q-KQAJ-----AAJ--J--/----------Q----KQ-J-----KA"


def hands(deal: str) -> list[deque[str]]:
    """Return whole cards for a deal's letters: suits and number ranks in the order of the pack."""
    left = {rank: [rank + suit for suit in SUITS] for rank in _CHANCES}
    left["-"] = [rank + suit for suit in SUITS for rank in "23456789T"]
    return [deque(left[kind].pop(0) for kind in hand) for hand in deal.split("/")]


def cards(deal: str) -> Iterator[tuple[int, str]]:
    """Yield seat and card of each card that is laid, by a player who knows only this game; end when one has run out."""
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
    """Yield the lines of a deal's log, the first ``lines`` of them: the table, then every card."""
    table = {"kind": "table", "t": 0, "seats": ["Ana", "Ben"], "dealer": 2, "rules": "beggar-my-neighbour"}
    yield json.dumps(table)
    for number, (seat, card) in enumerate(itertools.islice(cards(deal), None if lines is None else lines - 1), start=1):
        yield json.dumps({"kind": "card", "t": number * SECOND // 2, "card": card, "seat": seat})
