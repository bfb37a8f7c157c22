"""Possible identities of the unread cards, all of them together, by deck memory (reading 10, K2).

A slap is ruled if its verdict is the same for every such reading of the pile; otherwise the referee asks people.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from referee.rules.cards import JOKERS, PACK, UNREADABLE
from referee.rules.elimination import makes_three
from referee.rules.patterns import PATTERNS, pattern_depth
from referee.rules.phase import Challenge, Claim, Phase, Turn
from referee.rules.position import Laid, Position
from referee.rules.rows import SUIT_ROWS
from referee.rules.stacks import copies

_MOST: Final = 60_000
"""Maximum number of readings to try; with more, the referee asks people."""
_ENDS: Final = frozenset(("P5a", "P5b", "P5c"))
"""Patterns that look at the lowest or the first card."""
_WHOLE: Final = frozenset(("P15", "P19", "N14", "N15"))
"""Patterns that may depend on any card of the pile."""


def readings(position: Position) -> Iterator[Position | None]:
    """Yield the position for each reading of its unread cards; None for a reading that would have ended the game.

    Cards that no pattern can look at stay unread. If no row looks at suits, ranks stand for whole cards. Nothing is
    yielded if there are too many readings to try.
    """
    unread = [laid for laid in position.pile if laid.ref in position.unread and laid.state == "played"]
    matter = [laid for laid in unread if _matters(position, laid)]
    free = _free_cards(position)
    kinds = list(free)
    if len(kinds) ** len(matter) > _MOST:
        return
    for cards in itertools.product(kinds, repeat=len(matter)):
        if len(cards) > 1:
            # The number of free jokers is known, but not their colours.
            if any(times > free[card] for card, times in Counter(cards).items()):
                continue
            if sum(card in JOKERS for card in cards) > free.get(JOKERS[0], 0):
                continue
        read = dict(zip((laid.ref for laid in matter), cards, strict=True))
        yield _as_read(position, read)


def rests_on_read_cards(position: Position, patterns: tuple[str, ...]) -> bool:
    """Whether one of these patterns, all of which hold, looks at no unread card."""
    rules = position.rules
    if rules.three_end_game:
        return False
    if rules.has("P16b") or rules.has("P13b") or not rules.has("M7"):
        return False
    if position.claim is not None and not (position.claim.by == "challenge" and position.unseen):
        return False
    top = [laid.card for laid in reversed(position.played())]
    rows = (row for row in patterns if row in PATTERNS and row not in _ENDS | _WHOLE)
    return any(UNREADABLE not in top[: pattern_depth(row, rules)] for row in rows)


def hangs_on_gap(position: Position, *, rests: bool) -> bool:
    """Whether a hand's verdict may depend on cards, of any number, that came while the camera saw nothing.

    ``rests``: it wins by read cards that came later (`rests_on_read_cards`).
    """
    rules = position.rules
    # A challenge may have been won unseen: its winner may then be first (C9, N11), or take the pile by a slap (N6).
    winner = not rules.has("C9") or rules.has("N6") or (rules.has("N11") and rules.word("N11") == "challenger")
    if position.challenge is None and winner:
        return True
    return not rests and any(laid.ref in position.gaps and _matters(position, laid) for laid in position.pile)


def _free_cards(position: Position) -> dict[str, int]:
    """Return the number of free copies of each card; one entry per rank if suits decide nothing."""
    ordinary = {card: position.packs - copies(position, card) for card in PACK}
    if SUIT_ROWS.isdisjoint(position.rules.on) and not position.rules.has("P5c"):
        ranks: Counter[str] = Counter()
        for card, number in ordinary.items():
            # Any suit will do, since no row looks at it.
            ranks[card[0] + "s"] += max(number, 0)
        ordinary = dict(ranks)
    jokers = max(position.jokers - copies(position, JOKERS[0]), 0)
    free = {**ordinary, **dict.fromkeys(JOKERS, jokers)}
    return {card: number for card, number in free.items() if number > 0}


def _matters(position: Position, laid: Laid) -> bool:
    """Whether any active pattern or the current phase can depend on this card."""
    rules = position.rules
    if rules.on & _WHOLE or not rules.has("M7") or not rules.has("M8") or position.claim is not None:
        return True
    if rules.three_end_game:
        return True
    played = [other.ref for other in reversed(position.played())]
    depth = max((pattern_depth(row, rules) for row in rules.on if row[0] in "PN"), default=1)
    # A slap just after a cover is judged against the covered pile (M9): one card deeper.
    if laid.ref in played[: depth + 1]:
        return True
    # A burned card may lie lower, and is never unread.
    return bool(rules.on & _ENDS) and laid.ref == played[-1]


def _as_read(position: Position, read: Mapping[str, str]) -> Position | None:
    """Return the position with these cards read; None if they would have ended the game or closed the table."""
    pile = tuple(laid._replace(card=read[laid.ref]) if laid.ref in read else laid for laid in position.pile)
    claim = position.claim
    if claim is not None and claim.by == "unread":
        at = next((at for at, laid in enumerate(pile) if laid.ref == claim.ref), len(pile))
        if at < len(pile) - 1 and not position.rules.chances(pile[at].card):
            # The pile was won, and the cards above it lead the next one.
            position = position.replace(phase=Turn(claim.turn))
            pile = pile[at + 1 :]
    paid, phase = _paid_in(position, pile)
    again = position.replace(pile=pile, paid=paid, phase=phase)
    rules = position.rules
    if rules.has("P16") or rules.has("P16b"):
        played = [laid.card for laid in again.played()]
        for at in range(len(played) - 2):
            three = tuple(played[at : at + 3])
            if rules.three_end_game and makes_three(three):
                return None
            if rules.has("P16b") and rules.word("P16b") == "laid" and [card[0] for card in three] == ["6", "6", "6"]:
                return None
    return again


def _paid_in(position: Position, pile: tuple[Laid, ...]) -> tuple[int, Phase]:
    """Return the top card's number among those paid to its challenge (P15), and the resulting phase.

    A pile begins without a challenge, so both follow from its cards.
    """
    rules, phase = position.rules, position.phase
    if not isinstance(phase, Turn | Challenge | Claim):
        return position.paid, phase
    card, left, paid, challenger, ref = "", 0, 0, 0, ""
    for laid in pile:
        if laid.state != "played":
            continue
        paid = 0
        if rules.chances(laid.card) and (not left or rules.has("C4")):
            card, left, challenger, ref = laid.card, rules.chances(laid.card), laid.seat, laid.ref
        elif left and laid.card[0] == "T" and rules.has("N5"):
            left = 0
        elif left:
            left -= 1
            paid = rules.chances(card) - left
    if left:
        stands = phase if isinstance(phase, Challenge) else Challenge(challenger, phase.turn or 0, card, ref, left)
        return paid, stands
    if paid and rules.has("C5") and isinstance(phase, Claim):
        return paid, phase._replace(by="challenge") if phase.by == "unread" else phase
    return paid, Turn(phase.turn)
