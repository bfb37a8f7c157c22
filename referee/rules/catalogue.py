"""Every row of the rules by its id: its title, and the value that house rules may set.

A row that is in `ROWS` but not in `RULED` is known and refused, so that no table believes a rule is in force that is
not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a short title and, where it has a value, its default and what is allowed."""

    title: str
    default: Any = None
    check: Callable[[Any], bool] | None = None
    allowed: str = ""


def _number(title: str, default: int, low: int, high: int, unit: str = "") -> Row:
    words = f"a whole number from {low} to {high}" + (f" ({unit})" if unit else "")
    return Row(title, default, lambda v: type(v) is int and low <= v <= high, words)


def _choice(title: str, default: Any, *choices: Any) -> Row:
    words = "one of " + ", ".join(repr(choice) for choice in choices)
    return Row(title, default, lambda v: any(v is c or (type(v) is type(c) and v == c) for c in choices), words)


def _chances(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and set(value) == set("AKQJ")
        and all(type(n) is int and 1 <= n <= 13 for n in value.values())
    )


ROWS: Final[Mapping[str, Row]] = {
    "S1": Row("two or more players in seat order"),
    "S2": _number("packs shuffled together", 1, 1, 8),
    "S3": _number("jokers", 0, 0, 32),
    "S4a": Row("deal one by one, extras to the first seats"),
    "S4b": Row("deal evenly, the excess starts the pile"),
    "S4c": Row("cut instead of dealing"),
    "S4d": Row("handicap: named seats start without cards"),
    "S5": Row("direction, and who leads"),
    "S6": Row("turn cards away from oneself"),
    "S7": Row("rings and watches off"),
    "S8": Row("snapping down a bad reveal"),
    "C1": Row(
        "chances by rank",
        {"A": 4, "K": 3, "Q": 2, "J": 1},
        _chances,
        'chances from 1 to 13 for each of "A", "K", "Q", "J"',
    ),
    "C2a": Row("chances reversed"),
    "C2b": Row("king and jack swapped"),
    "C3a": _number("a joker challenges", 5, 1, 13, "chances"),
    "C3b": Row("the black joker challenges with 13, the red is slapped"),
    "C4": Row("a face card or ace cancels and challenges the next"),
    "C5": Row("no face card within the chances: the challenger takes the pile"),
    "C6a": Row("out of cards in a challenge: the next player goes on"),
    "C6b": Row("out of cards in a challenge: the challenger takes the pile"),
    "C7": Row("a challenger without cards stays in"),
    "C8": Row("a taken pile goes under the taker's cards"),
    "C9": Row("the challenger's pile is open to a slap until picked up"),
    "C10": Row("the chances go round the table"),
    "P1": Row("double"),
    "P2": Row("sandwich"),
    "P3a": Row("hoagie"),
    "P3b": Row("big mac"),
    "P4a": Row("run of three"),
    "P4b": Row("run of four"),
    "P5a": Row("top-bottom, first played"),
    "P5b": Row("top-bottom, bottom card"),
    "P5c": Row("top-bottom with suit or colour"),
    "P6": Row("marriage"),
    "P7": Row("divorce"),
    "P8": Row("tens"),
    "P9": Row("add-up sandwich"),
    "P10a": Row("flush"),
    "P10b": Row("colour run"),
    "P11": Row("ratscrew"),
    "P12": Row("jack-ten"),
    "P13a": Row("any joker"),
    "P13b": Row("joker is dead"),
    "P13c": Row("joker is wild"),
    "P14": Row("wild rank"),
    "P15": Row("count match"),
    "P16": Row("three of a kind"),
    "P16b": Row("triple sixes"),
    "P17": Row("any ten"),
    "P18": Row("slapjack"),
    "P19": Row("your own pattern"),
    "M1": Row("the first hand on a valid pattern takes the pile"),
    "M2": Row("no discernible first hand: the most contact"),
    "M3": Row("undecided: the pile is split"),
    "M4": Row("undecided: war"),
    "M5": Row("hands withdrawn before a slap"),
    "M6": Row("forehead first"),
    "M7": Row("slap at any time"),
    "M8": Row("a covered pattern is lost"),
    "M9": _number("a slap just after the cover is void", 150, 0, 1000, "ms after the cover"),
    "M10": Row("slapping in"),
    "M11": Row("a bystander may slap in"),
    "M12": Row("slapping in only while two players hold cards"),
    "M13": Row("risk slap on a challenge's final card"),
    "M14": Row("slapping and taking in one motion"),
    "M15": Row("slap with the other hand"),
    "F1": _number("a false slap burns cards", 1, 0, 52, "cards"),
    "F2": Row("each further false slap burns one more"),
    "F3": Row("the pile goes to whoever laid last"),
    "F4": Row("penalty cards go on top, dead"),
    "F5": Row("contests"),
    "F6a": _number("no cards to burn: strikes", 3, 1, 20, "strikes"),
    "F6b": Row("no cards: one wrong slap a hand"),
    "F6c": Row("no cards: no more slaps after the first wrong one"),
    "F6d": Row("negative cards"),
    "F6e": Row("no cards: locked out for rounds"),
    "F6f": Row("burned hand"),
    "F7": _choice("a card out of turn is dead", "stays", "stays", "bottom"),
    "F8": Row("a slap over a dead card is false"),
    "F9": Row("two cards drawn at once"),
    "F10": Row("reported fouls"),
    "F11": Row("heckling"),
    "E1": Row("no cards left: out"),
    "E2": _number("a last chance before the end", 3, 1, 10, "cards"),
    "E3": Row("the last one plays on"),
    "E4": Row("nobody holds any card: a draw"),
    "E5a": Row("won by holding every card"),
    "E5b": Row("won by being the only one with cards"),
    "E6": Row("whoever first runs out loses"),
    **{f"N{n}": Row(title) for n, title in enumerate((
        "late slaps", "the turn goes on after a slap", "burned cards shift no pattern", "marriage in one suit",
        "a ten stops a challenge", "slap to collect", "one penalty a card", "no slaps for n cards",
        "a false slap gives the pile away", "slap before the first card", "a slap on the last chance",
        "anticipation", "mashing", "calling out", "a pattern anywhere",
    ), start=1)},
    **{f"K{n}": Row(title) for n, title in enumerate((
        "event time", "deck memory", "margins and errors", "whose hand", "replay", "corrections", "changed stacks",
        "risk slaps told apart",
    ), start=1)},
    "K9": _choice("a slap near a reveal", "slapper", "slapper", "question"),
}  # fmt: skip

RULED: Final = frozenset(
    [
        "S1",
        "S2",
        "S4a",
        "S5",
        "C1",
        "C4",
        "C5",
        "C6a",
        "C8",
        "C9",
        "P1",
        "P2",
        "M1",
        "M2",
        "M5",
        "M7",
        "M8",
        "M9",
        "M10",
        "M12",
        "F1",
        "F6a",
        "F7",
        "F8",
        "E1",
        "E2",
        "E4",
        "E5a",
        "N3",
        "K1",
        "K3",
        "K5",
        "K6",
        "K9",
    ]
)
"""Rows that this version rules by."""

ALWAYS_ON: Final = frozenset(
    [
        "S1",
        "S2",
        "S5",
        "C4",
        "C5",
        "C8",
        "C9",
        "M1",
        "M5",
        "M7",
        "M8",
        "F7",
        "F8",
        "E1",
        "E4",
        "N3",
        "K1",
        "K3",
        "K5",
        "K6",
        "K9",
    ]
)
"""Rows that every preset has."""

_EXCLUSIVE: Final = (
    ("C1", "C2a", "C2b"), ("C6a", "C6b"), ("S4a", "S4b", "S4c"), ("P5a", "P5b"), ("P13a", "P13b", "P13c"),
    ("F1", "F3", "N8", "N9"), ("F6a", "F6b", "F6c", "F6d", "F6e", "F6f"), ("E5a", "E5b"),
)  # fmt: skip

GROUPS: Final[Mapping[str, frozenset[str]]] = {row: frozenset(group) for group in _EXCLUSIVE for row in group}
"""For each row of a group, all rows of that group."""
