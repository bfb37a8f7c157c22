"""Every row of the rules by id: its title, and the value that house rules may set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from referee.rules.cards import NUMBER_RANKS
from referee.rules.frozen import freeze
from referee.rules.notation import NotationError, compile_pattern
from referee.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a name, a short title and, if it has a value, its default and the allowed values."""

    name: str
    """Name that house rules may use instead of the id."""
    title: str
    default: Any = None
    check: Callable[[Any], bool] | None = None
    allowed: str = ""

    def __post_init__(self) -> None:
        """Freeze the default: all games share it."""
        object.__setattr__(self, "default", freeze(self.default))


def _number(name: str, title: str, default: int, low: int, high: int, unit: str = "") -> Row:
    words = Sentence("a whole number from {low} to {high}", low=low, high=high)
    if unit:
        words = Sentence("{number} ({unit})", number=words, unit=Sentence(unit))
    return Row(name, title, default, lambda value: _whole(value, low, high), words)


def _whole(value: Any, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high


def _choice(name: str, title: str, default: Any, *choices: Any) -> Row:
    words = Sentence("one of {names}", names=", ".join(repr(choice) for choice in choices))
    return Row(name, title, default, lambda value: any(type(value) is type(c) and value == c for c in choices), words)


def _chances(value: Any) -> bool:
    return isinstance(value, Mapping) and set(value) == set("AKQJ") and all(_whole(n, 1, 13) for n in value.values())


_ACES: Final = ("low", "high", "both")
FOREHEADS: Final = ("all", "convicted")
"""Seats that must touch the forehead (M6): all, or those that have slapped falsely before."""
MOST_AGREED: Final[Mapping[str, int]] = MappingProxyType({"minutes": 600, "piles": 1000})
"""Units of an agreed end of the game (E7), each with its maximum."""


def _run(name: str, title: str, length: int) -> Row:
    return Row(
        name,
        title,
        {"n": length, "ace": "both", "wrap": False},
        _is_run,
        Sentence('"low", "high", "both", or {{"n": 3 to 13, "ace": "low", "high" or "both", "wrap": true or false}}'),
    )


def _is_run(value: Any) -> bool:
    if isinstance(value, str):
        return value in _ACES
    return (
        isinstance(value, Mapping)
        and set(value) <= {"n", "ace", "wrap"}
        and _whole(value.get("n", 3), 3, 13)
        and value.get("ace", "both") in _ACES
        and type(value.get("wrap", False)) is bool
    )


def _seats(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(_whole(seat, 1, 8) for seat in value)


def _anticipation(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) == 2
        and _whole(value[0], 1, 1000)
        and value[1] in ("void", "false")
    )


def _forehead(value: Any) -> bool:
    """Check M6: the minimum duration of a touch, the seats that must touch, or both."""
    if isinstance(value, list | tuple):
        return len(value) == 2 and _whole(value[0], 1, 2000) and _is_who(value[1])
    return _whole(value, 1, 2000) or _is_who(value)


def _is_who(value: Any) -> bool:
    return isinstance(value, str) and value in FOREHEADS


def _agreed_end(value: Any) -> bool:
    """Check E7: one key, and a number in its range."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return False
    ((unit, number),) = value.items()
    return unit in MOST_AGREED and _whole(number, 1, MOST_AGREED[unit])


def _number_rank(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 1 and value in NUMBER_RANKS


def _patterns(value: Any) -> bool:
    if not isinstance(value, Mapping) or not value:
        return False
    for text in value.values():
        try:
            compile_pattern(text)
        except NotationError:
            return False
    return all(isinstance(name, str) and name for name in value)


_ROWS: Final = {
    "S1": Row("seats", "two or more players, in seat order"),
    "S2": _number("packs", "packs shuffled together", 1, 1, 8),
    "S3": _number("jokers", "jokers in the pack", 0, 0, 32),
    "S4a": Row("deal", "cards are dealt one by one, the extras to the first seats"),
    "S4b": Row("even-deal", "cards are dealt evenly, the excess starts the pile"),
    "S4c": Row("cut", "the pack is cut into rough shares of unknown size"),
    "S4d": Row(
        "handicap", "handicap: named seats start without cards", (), _seats, Sentence("a list of seats, such as [2, 3]")
    ),
    "S5": _choice(
        "direction",
        "the direction of play, and the seat after the dealer leads",
        "clockwise",
        "clockwise",
        "counter-clockwise",
    ),
    "S6": Row("turn-away", "a card is turned away from oneself; peeking is a foul"),
    "S7": Row("no-rings", "rings, watches and bracelets off"),
    "S8": _choice(
        "open-palm", "a bad reveal may be snapped down; slap with an open palm", "recorded", "recorded", "false"
    ),
    "C1": Row(
        "chances",
        "an ace takes 4 chances, a king 3, a queen 2, a jack 1",
        {"A": 4, "K": 3, "Q": 2, "J": 1},
        _chances,
        'chances from 1 to 13 for each of "A", "K", "Q", "J"',
    ),
    "C2a": Row("chances-reversed", "chances reversed: an ace 1, a king 2, a queen 3, a jack 4"),
    "C2b": Row("king-jack-swapped", "king and jack swapped: an ace 4, a queen 2, a king 1, a jack 3"),
    "C3a": _number("joker-challenge", "a joker challenges too", 5, 1, 13, "chances"),
    "C3b": Row("black-joker-thirteen", "the black joker challenges with 13 chances, the red one may be slapped"),
    "C4": Row("answered-challenge", "a face card or ace among the chances challenges the next player"),
    "C5": Row("challenger-takes", "no face card or ace within the chances: the challenger takes the pile"),
    "C6a": Row("next-pays-on", "out of cards in a challenge: the next player goes on"),
    "C6b": Row("empty-ends-challenge", "out of cards in a challenge: the challenger takes the pile"),
    "C7": Row("challenger-stays-in", "a challenger without cards stays in until the challenge is beaten"),
    "C8": Row("face-down-under", "a taken pile goes face down under the taker's cards"),
    "C9": Row("open-until-picked-up", "the challenger's pile may be slapped until it is picked up"),
    "C10": Row("chances-go-round", "the chances go round the table, one card each"),
    "P1": Row("double", "double: the top two share a rank"),
    "P2": Row("sandwich", "sandwich: one card between two of a rank"),
    "P3a": Row("hoagie", "hoagie: two cards between two of a rank"),
    "P3b": Row("big-mac", "big mac: X-Y-Y-X"),
    "P4a": _run("run-of-three", "a run of three", 3),
    "P4b": _run("run-of-four", "a run of four", 4),
    "P5a": Row("top-bottom", "top-bottom: the top card has the rank of the first card played"),
    "P5b": Row("top-lowest", "top-bottom: the top card has the rank of the lowest card"),
    "P5c": _choice("top-bottom-in-kind", "top-bottom must match in suit or colour as well", "suit", "suit", "colour"),
    "P6": Row("marriage", "marriage: king and queen together"),
    "P7": Row("divorce", "divorce: one card between king and queen"),
    "P8": _choice("tens", "tens: the top two add up to ten", True, True, False),
    "P9": Row("add-up-sandwich", "add-up sandwich: ten, with one card between"),
    "P10a": _number("flush", "flush: cards of one suit", 3, 2, 13, "cards"),
    "P10b": _number("colour-run", "colour run: cards of one colour", 4, 2, 13, "cards"),
    "P11": Row("ratscrew", "ratscrew: a six and a nine together"),
    "P12": Row("jack-ten", "jack-ten: a ten played on a jack"),
    "P13a": Row("any-joker", "any joker may be slapped"),
    "P13b": Row("dead-joker", "a joker may never be slapped"),
    "P13c": Row("wild-joker", "a joker stands for any card that completes a pattern"),
    "P14": Row(
        "wild-rank",
        "wild rank: one number rank may always be slapped",
        None,
        _number_rank,
        "a number rank, 2 to 9 or T",
    ),
    "P15": Row("count-match", "count match: the n-th card paid to a challenge is an n"),
    "P16": _choice("three-of-a-kind", "three of a kind", "ends_game", "ends_game", "no_winner", "slap"),
    "P16b": _choice(
        "triple-sixes", "three sixes in a row close the table until the next day", "laid", "laid", "slapped"
    ),
    "P17": Row("any-ten", "any ten may be slapped"),
    "P18": Row("any-jack", "any jack may be slapped"),
    "P19": Row(
        "own-patterns",
        "a pattern of your own",
        {},
        _patterns,
        'patterns by name, such as {"twins": "rank(1) = rank(2)"}',
    ),
    "M1": Row("first-hand", "the first hand on a valid pattern takes the pile"),
    "M2": Row("most-contact", "no discernible first hand: the one with the most contact"),
    "M3": Row("split", "still undecided: the pile is split among the tied"),
    "M4": _choice("war", "still undecided: the tied play War for it", "ace", "ace", "jack"),
    "M5": Row("hands-off", "hands are withdrawn before a slap"),
    "M6": Row(
        "forehead",
        "forehead first",
        400,
        _forehead,
        'a whole number from 1 to 2000 (ms after the reveal), "all", "convicted", or both, such as [400, "convicted"]',
    ),
    "M7": Row("any-time", "slap at any time, on anyone's turn"),
    "M8": Row("covered-is-lost", "a covered pattern is lost"),
    "M9": _number("just-covered", "a slap just after the cover is void", 150, 1, 1000, "ms after the cover"),
    "M10": Row("slap-in", "a player without cards may slap in"),
    "M11": Row("bystanders", "a bystander with a pad may slap in"),
    "M12": Row("slap-in-needs-two", "slapping in only while two players hold cards"),
    "M13": Row("risk-slap", "the final card of a challenge may be slapped at no risk"),
    "M14": Row("one-motion", "slapping and taking in one motion counts as a slap"),
    "M15": _number("other-hand", "slap with the hand that did not lay the card", 300, 1, 2000, "ms after the reveal"),
    "F1": _number("burn", "a false slap burns cards", 1, 0, 52, "cards"),
    "F2": Row("growing-burn", "each further false slap burns one more"),
    "F3": Row("pile-to-latest-layer", "a false slap gives the pile to the player of the latest card"),
    "F4": Row("burn-on-top", "penalty cards go on top, dead"),
    "F5": Row("contest", "contests are settled from the record"),
    "F6a": _number("strikes", "no cards to burn: strikes", 3, 1, 20, "strikes"),
    "F6b": Row("one-wrong-a-hand", "no cards: one wrong slap a hand"),
    "F6c": Row("wrong-and-gone", "no cards: no more slaps after the first wrong one"),
    "F6d": _number("debts", "no cards: a debt, with a limit", 5, 1, 52, "cards"),
    "F6e": _number("locked-for-rounds", "no cards: locked out for rounds", 1, 1, 20, "rounds"),
    "F6f": Row("burned-hand", "no cards: the hand is burned until the pile is won or another player slaps"),
    "F7": _choice("dead-card", "a card out of turn is dead", "stays", "stays", "bottom", "burn"),
    "F8": Row("slap-on-dead-card", "a slap over a dead card is false"),
    "F9": _choice("double-draw", "two cards drawn at once", "dead", "dead", "burn"),
    "F10": _number("foul-penalty", "a reported foul burns cards", 1, 0, 52, "cards"),
    "F11": Row("heckling", "a false slap without cards is heckled"),
    "F12": _number("pay-the-layer", "a false slap pays the player of the top card", 1, 1, 52, "cards"),
    "E1": Row("out", "no cards left: out"),
    "E2": _number("last-chance", "a last chance to slap in before the end", 3, 1, 10, "cards"),
    "E3": Row("play-on", "the last one with cards plays on until the pile is won"),
    "E4": Row("all-in-the-pile", "all cards in the pile and no player holds any: a draw"),
    "E5a": Row("hold-everything", "won by holding every card"),
    "E5b": Row("last-with-cards", "won by being the only one with cards"),
    "E6": Row("first-out-loses", "a player due to lay a card who holds none loses"),
    "E7": Row(
        "agreed-end",
        "the game ends at an agreed time, or after so many piles",
        {"minutes": 20},
        _agreed_end,
        '{"minutes": 1 to 600} or {"piles": 1 to 1000}',
    ),
    "E8": _choice("leaving", "a player leaves in the middle of a game", "pile", "pile", "others"),
    "N1": _choice("late-slap", "a late slap", "void", "void", "false"),
    "N2": Row("turn-goes-on", "after a slap the turn simply goes on"),
    "N3": Row("burned-never-counts", "burned cards never shift a pattern"),
    "N4": Row("royal-pairs", "marriage and divorce in one suit; king-jack and queen-jack pairs"),
    "N5": Row("ten-stops", "a ten stops a challenge"),
    "N6": Row("slap-to-collect", "the challenger must slap to collect"),
    "N7": Row("one-penalty-a-card", "one false-slap penalty for each player and card"),
    "N8": _number("barred-for-cards", "a false slap bars for some cards", 5, 1, 52, "cards"),
    "N9": Row("pile-to-next", "a false slap gives the pile to the next player"),
    "N10": _choice("early-slap", "a slap before the first card", "void", "void", "false"),
    "N11": _choice(
        "completing-card", "a slap on the card that completes a challenge", "slap", "slap", "challenger", "first"
    ),
    "N12": Row(
        "anticipation",
        "anticipation limit",
        [100, "void"],
        _anticipation,
        '[milliseconds, "void" or "false"], such as [100, "void"]',
    ),
    "N13": _number("mashing", "mashing bars the pad", 6, 1, 50, "presses a second"),
    "N14": Row("calling-out", "calling out: a card equal to the rank that was called"),
    "N15": Row("anywhere", "a pattern anywhere in the pile"),
    "K1": Row("event-time", "event time"),
    "K2": Row("deck-memory", "deck memory"),
    "K3": Row("margins", "the margin and its error; nearer is a dead heat"),
    "K4": Row("seen-out-of-turn", "out-of-turn plays are seen"),
    "K5": Row("replay", "any ruling can be replayed"),
    "K6": Row("corrections", "people can correct"),
    "K7": Row("stack-order", "a stack whose order changed is noticed"),
    "K8": Row("risk-statistics", "risk slaps are told apart in the statistics"),
    "K9": _choice("doubt", "a slap near a reveal is judged both ways", "slapper", "slapper", "question"),
}
ROWS: Final[Mapping[str, Row]] = MappingProxyType(_ROWS)
"""Rows by id, in the order of the written rules."""

BY_NAME: Final[Mapping[str, str]] = MappingProxyType({row.name: id_ for id_, row in ROWS.items()})
"""Ids by the rows' names."""

_ALWAYS: Final = "S1 S2 S5 C4 C5 C8 C9 M1 M5 M7 M8 F7 F8 E1 E4 N1 N3 N10 N11 K1 K2 K3 K4 K5 K6 K7 K8 K9"
ALWAYS_ON: Final = frozenset(_ALWAYS.split(" "))
"""Rows that every preset has."""

_GROUPS: Final = (
    ("C1", "C2a", "C2b"),
    ("C6a", "C6b"),
    ("S4a", "S4b", "S4c"),
    ("P5a", "P5b"),
    ("P13a", "P13b", "P13c"),
    ("F1", "F3", "N8", "N9", "F12"),
    ("F6a", "F6b", "F6c", "F6d", "F6e", "F6f"),
    ("E5a", "E5b"),
)
CONTRARY: Final[Mapping[frozenset[str], str]] = MappingProxyType(
    {
        frozenset(("C3a", "C3b")): Sentence(
            "one asks for as many chances for either joker, the other only for the black one"
        ),
        frozenset(("C3b", "P13b")): Sentence("one lets the red joker be slapped, the other lets no joker be slapped"),
        frozenset(("E5a", "E6")): Sentence(
            "with one the game ends when a player holds every card, with the other before that"
        ),
        frozenset(("E5b", "E6")): Sentence("one ends the game with a winner, the other with a loser"),
        frozenset(("M8", "N15")): Sentence("with one a covered pattern is lost, with the other it is not"),
    }
)
"""Pairs of rows outside the groups that exclude each other, with the reason."""


def _rivals() -> dict[str, frozenset[str]]:
    rivals: dict[str, set[str]] = {}
    for group in (*_GROUPS, *CONTRARY):
        for row in group:
            rivals.setdefault(row, set()).update(other for other in group if other != row)
    return {row: frozenset(others) for row, others in rivals.items()}


RIVALS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(_rivals())
"""For each row, the rows that it excludes; switching it on switches them off."""

SUIT_ROWS: Final = frozenset(("P5c", "P10a", "P10b", "N4", "P19"))
"""Rows that look at suits or colours."""

PATTERN_ROWS: Final = frozenset(row for row in ROWS if row[0] == "P") | {"N4", "N14", "N15", "C3b"}
"""Rows that make something slappable; with none on, there are no slaps (Beggar-My-Neighbour)."""
