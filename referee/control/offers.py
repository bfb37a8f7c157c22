"""The reports that the house rules in force allow: the page offers them, and commands are checked against them.

Called in the page's process and in the main process, so that the offers match what is accepted. Pure.
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
"""Reports about a hand; each is useful only if one of its rules is on."""
_LIKELY: Final = 6
"""Most cards offered instead of a misread one."""
_COLOUR: Final = {"h": "red", "d": "red", "r": "red", "s": "black", "c": "black", "b": "black"}
_ALIKE: Final = ("35689", "JQK", "A4", "27T")
"""Groups of ranks that look alike."""
WILD_RANKS: Final = "23456789T"
"""Ranks that may be drawn as the wild one (P14)."""


@dataclass(frozen=True, slots=True)
class Offers:
    """The reports that are possible now; seats count from 1."""

    contests: bool
    """F5"""
    fouls: tuple[str, ...]
    """A subset of `FOULS`."""
    call: tuple[int | None, str] | None
    """N14: the seat that lays the next card, and the rank after the last one called; None if ranks are not called."""
    joins: tuple[int, ...]
    """M11: free seats that have a pad."""
    leaves: tuple[int, ...]
    """E8: seats that may leave."""
    sights: bool
    """K6: whether people may log a card, a slap or a late line."""


def read_offers(rules: HouseRules, view: View, said: Iterable[Observation], pads: int = MAX_SEATS) -> Offers:
    """Return the reports that these house rules make useful now; once the game is over, only those of K6.

    Args:
        rules: the rules in force.
        view: the position.
        said: the log's lines, at least those that call a rank.
        pads: number of pads.
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
    """Return the cards that a misread card may be, likeliest first.

    First come the cards that the referee named in its question: eye and deck memory were weighed for them already. Then
    the eye's own candidates, and then cards that look alike: the same rank in other suits, that of its colour first,
    then similar ranks. A card that deck memory places elsewhere is left out; if the eye itself named it, it comes after
    the possible ones instead, since memory may be wrong. For an unread card only named cards are offered.

    Args:
        card: its present line.
        places: what deck memory knows of all cards (K2); None if it is switched off.
        asked: the cards in the referee's question about this one, in its order.
    """
    eye = [name for name, _ in sorted(card.candidates, key=lambda candidate: -candidate[1])]
    free = [name for name in eye if _may_be(name, places)]
    pack = PACK if places is None else places.pack
    alike = [] if card.card == UNREADABLE else sorted(pack, key=lambda other: _unlikeness(card.card, other))
    possible = [name for name in alike if _may_be(name, places)]
    named = dict.fromkeys((*asked, *free, *eye, *possible))
    return tuple(name for name in named if name not in (card.card, UNREADABLE))[:_LIKELY]


def _may_be(name: str, places: Foresight | None) -> bool:
    return places is None or places.may_come(name, None)


def _unlikeness(card: str, other: str) -> tuple[bool, bool, bool, bool]:
    """Sort key, smallest for the most similar card: same rank, similar rank in the suit, same suit, same colour."""
    ranks = next((ranks for ranks in _ALIKE if card[0] in ranks), "")
    return (
        card[0] != other[0],
        other[0] not in ranks or card[1] != other[1],
        card[1] != other[1],
        _COLOUR[card[1]] != _COLOUR[other[1]],
    )


def _next_rank(lines: Iterable[Observation]) -> str:
    """Return the rank to call next; the ace follows the king."""
    called = [line for line in lines if isinstance(line, Say)]
    last = max(called, key=lambda line: line.t).rank if called else RANKS[-1]
    return RANKS[(RANKS.index(last) + 1) % len(RANKS)]
