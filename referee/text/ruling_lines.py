"""A ruling in one line of writing, with the players' names and the margins in figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from referee.adjudication.rulings import Ruling

SUITS: Final = {"s": "♠", "h": "♥", "d": "♦", "c": "♣", "r": "★", "b": "★"}
_PATTERNS: Final = {
    "P1": "double", "P2": "sandwich", "P3a": "hoagie", "P3b": "big mac", "P4a": "run of three", "P4b": "run of four",
    "P5a": "top-bottom", "P5b": "top-bottom", "P6": "marriage", "P7": "divorce", "P8": "tens", "P9": "add-up sandwich",
    "P10a": "flush", "P10b": "colour run", "P11": "ratscrew", "P12": "jack-ten", "P13a": "joker", "P14": "wild rank",
    "P15": "count match", "P16": "three of a kind", "P17": "ten", "P18": "jack",
}  # fmt: skip
_REASONS: Final = {
    "no_pattern": "nothing to slap", "dead_card": "on a dead card", "too_soon": "too soon", "hovering": "hovering",
    "late": "too late", "covered": "the pattern was covered", "held": "the pad was held down",
    "locked_out": "locked out", "empty_pile": "no pile", "not_playing": "not playing", "mashing": "drumming",
    "paused": "paused", "overruled": "overruled by the table",
    "out_of_turn": "out of turn", "double_draw": "two cards at once",
}  # fmt: skip
_ASKS: Final = {
    "who_was_first": "who was first?", "unreadable_card": "which card is this?",
    "impossible_card": "this card cannot be here: which is it?", "who_played": "who played this card?",
    "bottom_card": "which card is at the bottom?", "mend_pile": "whose pile is this?",
    "recount": "please count your cards", "slap_or_card": "was the slap before the card?",
    "late_evidence": "something was told too late: what happened?",
}  # fmt: skip
_DOUBTS: Final = {
    "impossible_card": "this card cannot be here", "order_changed": "the order of this stack has changed",
    "unreadable_card": "this card cannot be read",
}  # fmt: skip
"""Questions that may name the cards between which people are to choose."""


def pretty(card: str) -> str:
    """A card as people write it: ``10♥``."""
    if card == "??":
        return "?"
    rank, suit = card[0], card[1]
    return {"T": "10", "X": "joker "}.get(rank, rank) + SUITS.get(suit, suit)


def milliseconds(ns: int) -> str:
    """Nanoseconds as milliseconds, as finely as they are worth."""
    ms = ns / 1e6
    return f"{ms:.2f} ms" if ms < 1 else f"{ms:.1f} ms"


class Wording:
    """Rulings in words for one table's players."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)

    def name(self, seat: Any) -> str:
        """The player at a seat; the seat's number for one that joined unnamed."""
        if isinstance(seat, int) and 1 <= seat <= len(self._names):
            return self._names[seat - 1]
        return f"seat {seat}"

    def __call__(self, ruling: Ruling) -> str:
        """One line, without a break."""
        say = _WORDS.get(ruling.kind)
        text = say(self, ruling) if say is not None else ruling.kind.replace("_", " ")
        if ruling.doubt:
            text += " (in doubt, the better reading for the slapper)"
        return ("correction: " if ruling.supersedes else "") + text


def _slap_won(to: Wording, ruling: Ruling) -> str:
    patterns = ", ".join(_PATTERNS.get(row, row) for row in ruling["patterns"])
    text = f"{to.name(ruling['seat'])} wins the slap: {patterns}"
    margin = ruling.get("margin")
    if margin is None:
        return text + ", alone"
    return f"{text}, by {milliseconds(margin)} ± {milliseconds(ruling['error'])}"


def _slap_off(to: Wording, ruling: Ruling) -> str:
    what = "false slap" if ruling.kind == "slap_false" else "slap is void"
    return f"{to.name(ruling['seat'])}'s {what}: {_REASONS.get(str(ruling['reason']), ruling['reason'])}"


def _dead_heat(to: Wording, ruling: Ruling) -> str:
    seats = " and ".join(to.name(seat) for seat in ruling["seats"])
    return f"too close to call: {seats}, {milliseconds(ruling['margin'])} ± {milliseconds(ruling['error'])}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _challenge(to: Wording, ruling: Ruling) -> str:
    if ruling["challenged"] is None:
        return f"{to.name(ruling['seat'])} challenges with {pretty(ruling['card'])}, and nobody has a card to pay"
    return f"{to.name(ruling['challenged'])} has {_count(ruling['chances'], 'chance')} against {pretty(ruling['card'])}"


def _question(to: Wording, ruling: Ruling) -> str:
    doubt, cards = _DOUBTS.get(str(ruling["ask"])), ruling.get("cards", ())
    if doubt and len(cards) > 1:
        return f"{doubt}: is it {' or '.join(map(pretty, cards))}?"
    return _ASKS.get(str(ruling["ask"]), str(ruling["ask"]).replace("_", " "))


def _seat(words: str) -> Callable[[Wording, Ruling], str]:
    return lambda to, ruling: f"{to.name(ruling['seat'])} {words}"


_WORDS: Final[Mapping[str, Callable[[Wording, Ruling], str]]] = {
    "slap_won": _slap_won,
    "slap_false": _slap_off,
    "slap_void": _slap_off,
    "dead_heat": _dead_heat,
    "burn": lambda to, r: f"{to.name(r['seat'])} burns {_count(r['count'], 'card')}",
    "give": lambda to, r: f"{to.name(r['seat'])} gives {to.name(r['to'])} {_count(r['count'], 'card')}",
    "strike": lambda to, r: f"strike {r['strikes']} for {to.name(r['seat'])}",
    "locked_out": lambda to, r: f"{to.name(r['seat'])} may not slap ({r['until']})",
    "dead_card": lambda to, r: (
        f"{to.name(r['seat'])}'s {pretty(r['card'])} is dead: {_REASONS.get(str(r['reason']), r['reason'])}"
    ),
    "foul": lambda to, r: f"foul by {to.name(r['seat'])}: {r['foul']}",
    "challenge": _challenge,
    "chance": lambda to, r: f"{_count(r['left'], 'chance')} left for {to.name(r['seat'])}",
    "challenge_moves": lambda to, r: f"{to.name(r['seat'])} goes on with {_count(r['left'], 'chance')}",
    "challenge_off": lambda to, r: "the challenge is off",
    "challenge_won": _seat("takes the pile unless somebody slaps first"),
    "pile": lambda to, r: f"{to.name(r['seat'])} picks up {_count(r['count'], 'card')}",
    "out": _seat("is out"),
    "slapped_in": _seat("is back in the game"),
    "won": _seat("wins the game"),
    "lost": _seat("loses the game"),
    "drawn": lambda to, r: "the game is a draw",
    "repeated": lambda to, r: f"this position was here {_count(r['cards'], 'card')} ago",
    "lead": _seat("leads"),
    "turn": _seat("is to play"),
    "question": _question,
    "remind": lambda to, r: f"reminder: {str(r['what']).replace('_', ' ')}",
}
