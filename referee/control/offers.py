"""What people may report of a game, by the house rules in force: the page offers it, and commands ask whether it is so.

Called in the page's process and in the main process, so that what is offered is what is accepted. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from referee.engine.foresight import Foresight
from referee.engine.observations import MAX_SEATS, Card, Observation, Say
from referee.engine.view import View
from referee.rules.cards import PACK, RANKS, UNREADABLE
from referee.rules.house import HouseRules

FOULS: Final[Mapping[str, tuple[str, ...]]] = {
    "peek": ("S6", "F10"),
    "hover": ("M5", "F10"),
    "snap": ("S8",),
    "out_of_turn": ("F7", "F10"),
    "double_draw": ("F9", "F10"),
    "ring": ("S7", "F10"),
}
"""What people may report of a hand, and the rows of which one must be on for the report to be of any use."""
_LIKELY: Final = 6
"""Cards offered instead of one that was misread."""
_COLOUR: Final = {"h": "red", "d": "red", "r": "red", "s": "black", "c": "black", "b": "black"}
_ALIKE: Final = ("35689", "JQK", "A4", "27T")
"""Ranks that are taken for one another."""
WILD_RANKS: Final = "23456789T"
"""Ranks that may be drawn as the wild one (P14)."""


@dataclass(frozen=True, slots=True)
class Offers:
    """What may be said of a game now; seats count from 1."""

    contests: bool
    """F5"""
    fouls: tuple[str, ...]
    """Of `FOULS`."""
    call: tuple[int | None, str] | None
    """N14: who lays the next card, and the rank that follows the last one called; None where ranks are not called."""
    joins: tuple[int, ...]
    """M11: free seats, as far as there are pads."""
    leaves: tuple[int, ...]
    """E8: seats that may leave."""
    sights: bool
    """K6: whether a card, a slap or a late line may be put on record by people."""


def read_offers(rules: HouseRules, view: View, said: Iterable[Observation], pads: int = MAX_SEATS) -> Offers:
    """What these house rules make useful at this moment; nothing once the game is over, but K6.

    Args:
        rules: in force.
        view: the position.
        said: the log's lines, at least those that call a rank.
        pads: how many pads there are.
    """
    if view.game_over:
        return Offers(False, (), None, (), (), rules.has("K6"))
    seats = [seat for seat in range(1, len(view.names) + 1) if seat not in view.absent]
    free = [seat for seat in range(1, min(pads, MAX_SEATS) + 1) if seat not in seats]
    return Offers(
        contests=rules.has("F5"),
        fouls=tuple(foul for foul, rows in FOULS.items() if any(map(rules.has, rows))),
        call=(view.turn, _next_rank(said)) if rules.has("N14") else None,
        joins=tuple(free) if rules.has("M11") else (),
        leaves=tuple(seats) if rules.has("E8") and len(seats) > 1 else (),
        sights=rules.has("K6"),
    )


def likely_cards(card: Card, places: Foresight | None, asked: Iterable[str] = ()) -> tuple[str, ...]:
    """What a card may be instead of what it was read as, the likeliest first, for people who say that it is wrong.

    What the referee named when it asked comes first, for there eye and deck memory were weighed already. Then what the
    eye held possible, and what looks alike: its rank in the other suits, that of its colour before the others, then
    ranks that look like its own. What deck memory knows to lie elsewhere is left out, but where the eye itself named
    it, for memory may be wrong: it comes behind what may be. Of an unread card only what was named is offered.

    Args:
        card: as it stands now.
        places: what deck memory knows of all cards (K2); None where it is switched off.
        asked: what the referee named when it asked about this card, in its order.
    """
    eye = [name for name, _ in sorted(card.candidates, key=lambda one: -one[1])]
    free = [name for name in eye if _may_be(name, places)]
    pack = PACK if places is None else places.pack
    alike = [] if card.card == UNREADABLE else sorted(pack, key=lambda other: _unlikeness(card.card, other))
    possible = [name for name in alike if _may_be(name, places)]
    named = dict.fromkeys((*asked, *free, *eye, *possible))
    return tuple(name for name in named if name not in (card.card, UNREADABLE))[:_LIKELY]


def _may_be(name: str, places: Foresight | None) -> bool:
    return places is None or places.may_come(name, None)


def _unlikeness(card: str, other: str) -> tuple[bool, bool, bool, bool]:
    """Sorts by how unlike two cards look: rank, colour, then ranks that are taken for one another, then suit."""
    ranks = next((ranks for ranks in _ALIKE if card[0] in ranks), "")
    return (
        card[0] != other[0],
        other[0] not in ranks or card[1] != other[1],
        card[1] != other[1],
        _COLOUR[card[1]] != _COLOUR[other[1]],
    )


def _next_rank(lines: Iterable[Observation]) -> str:
    """Ranks are named in their order, the ace after the king."""
    called = [line for line in lines if isinstance(line, Say)]
    last = max(called, key=lambda line: line.t).rank if called else RANKS[-1]
    return RANKS[(RANKS.index(last) + 1) % len(RANKS)]
