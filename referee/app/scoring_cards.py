"""Cards laid against cards seen: aligned in their order, within a window of time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from referee.adjudication.observations import Card, Observation, Taken

MS: Final = 1_000_000
WINDOW: Final = 1_500 * MS
"""How far apart a card laid and a card seen may be to be the same one, ns."""
SURE: Final = 0.9
FRAME: Final = 67 * MS


@dataclass(frozen=True, slots=True)
class CardScore:
    """How the cards that were laid were read."""

    laid: int
    right: int
    wrong: int
    wrong_sure: int
    """Read wrong, or seen where none was laid, with confidence 0.9 or more."""
    unread: int
    missed: int
    ghosts: int
    """Seen where none was laid."""
    seat_right: int
    """Right cards whose seat was right."""
    wholly: int = 0
    """Plays of which everything was right: the card, its place in the order, its seat, and who took its pile."""
    in_frame: int = 0
    """Right cards whose reveal is no further from the truth than from one frame to the next."""
    as_stated: int = 0
    """Right cards whose reveal is no further from the truth than is stated."""
    quickest_ms: float = 0.0
    """The least time from one card laid to the next, ms."""
    faults: tuple[str, ...] = ()
    """Each card that was not read right, in words."""


def _cost(laid: Card, seen: Card) -> int:
    if laid.card == seen.card:
        return 0
    return 3 if seen.card == "??" else 4


def align(laid: Sequence[Card], seen: Sequence[Card]) -> list[tuple[Card | None, Card | None]]:
    """Pair cards laid with cards seen, both in the order of time; None where one has no other."""
    gap, far = 3, 10**6
    table = [[gap * column for column in range(len(seen) + 1)]]
    for row, one in enumerate(laid, start=1):
        above = table[-1]
        line = [gap * row]
        for column, other in enumerate(seen, start=1):
            same = above[column - 1] + (_cost(one, other) if abs(one.t - other.t) <= WINDOW else far)
            line.append(min(same, above[column] + gap, line[column - 1] + gap))
        table.append(line)
    pairs: list[tuple[Card | None, Card | None]] = []
    row, column = len(laid), len(seen)
    while row or column:
        here = table[row][column]
        if row and column:
            one, other = laid[row - 1], seen[column - 1]
            near = abs(one.t - other.t) <= WINDOW
            if near and here == table[row - 1][column - 1] + _cost(one, other):
                pairs.append((one, other))
                row, column = row - 1, column - 1
                continue
        if row and here == table[row - 1][column] + gap:
            pairs.append((laid[row - 1], None))
            row -= 1
        else:
            pairs.append((None, seen[column - 1]))
            column -= 1
    return pairs[::-1]


def _sure(card: Card) -> bool:
    return card.card != "??" and (card.confidence is None or card.confidence >= SURE)


def _fault(laid: Card | None, seen: Card | None) -> str:
    if laid is None and seen is not None:
        return f"{seen.t / 1e9:.2f} s: nothing was laid, {seen.card} was seen ({_confidence(seen)})"
    if laid is not None and seen is None:
        return f"{laid.t / 1e9:.2f} s: {laid.card} of seat {laid.seat} was not seen"
    if laid is not None and seen is not None:
        return f"{laid.t / 1e9:.2f} s: {laid.card} of seat {laid.seat} was read {seen.card} ({_confidence(seen)})"
    return ""


def _confidence(card: Card) -> str:
    return "no confidence given" if card.confidence is None else f"confidence {card.confidence:.2f}"


def score_cards(truth: Iterable[Observation], seen: Iterable[Observation]) -> CardScore:
    """Count how the cards laid on the pile were read."""
    truth, seen = list(truth), list(seen)
    laid = sorted((o for o in truth if isinstance(o, Card)), key=lambda card: card.t)
    read = sorted((o for o in seen if isinstance(o, Card)), key=lambda card: card.t)
    takers, seen_takers = _takers(truth), _takers(seen)
    pairs = align(laid, read)
    both = [(one, other) for one, other in pairs if one is not None and other is not None]
    right = [(one, other) for one, other in both if one.card == other.card]
    unread = [other for _, other in both if other.card == "??"]
    wrong = [other for one, other in both if other.card not in ("??", one.card)]
    ghosts = [other for one, other in pairs if one is None and other is not None]
    return CardScore(
        laid=len(laid),
        right=len(right),
        wrong=len(wrong),
        wrong_sure=sum(map(_sure, [*wrong, *ghosts])),
        unread=len(unread),
        missed=sum(other is None for _, other in pairs),
        ghosts=len(ghosts),
        seat_right=sum(one.seat == other.seat for one, other in right),
        wholly=sum(one.seat == other.seat and takers(one) == seen_takers(other) for one, other in right),
        in_frame=sum(abs(one.t - other.t) <= FRAME for one, other in right),
        as_stated=sum(abs(one.t - other.t) <= other.t_error for one, other in right),
        quickest_ms=min((round((b.t - a.t) / MS, 1) for a, b in pairwise(laid)), default=0.0),
        faults=tuple(
            _fault(one, other) for one, other in pairs if one is None or other is None or one.card != other.card
        ),
    )


def _takers(told: Iterable[Observation]) -> Callable[[Card], int | None]:
    """Who took the pile that a card came to lie in; 0 if nobody did."""
    taken = sorted((o for o in told if isinstance(o, Taken)), key=lambda one: one.t)
    return lambda card: next((one.seat for one in taken if one.t > card.t), 0)
