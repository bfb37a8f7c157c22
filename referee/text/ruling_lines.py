"""A ruling in one line of writing, with the players' names and the margins in figures.

Rulings in one line of a language, with the players' names and the margins in figures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from referee.engine.rulings import LIFE, Ruling
from referee.text.catalogue import Texts

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


_LONGEST: Final = 60
"""Characters shown of a kind that nobody knows."""


class RulingWords:
    """Rulings in words, for one table's players and one language."""

    def __init__(self, names: Sequence[str], texts: Texts) -> None:
        self._names = tuple(names)
        self.texts = texts

    def name(self, seat: Any) -> str:
        """The player at a seat; the seat's number for one that joined unnamed, nobody for None."""
        if seat is None:
            return self.texts("word.nobody")
        if isinstance(seat, int) and 1 <= seat <= len(self._names) and self._names[seat - 1]:
            return self._names[seat - 1]
        return self.texts("word.seat", n=seat)

    def pattern(self, row: str) -> str:
        """A pattern's name; that of people's own patterns is theirs."""
        id_, _, own = row.partition(":")
        return own or self.texts.get(f"pattern.{id_}", id_)

    def patterns(self, rows: Sequence[str]) -> str:
        """Several patterns' names."""
        return ", ".join(self.pattern(row) for row in rows)

    def reason(self, ruling: Ruling) -> str:
        """Why a slap did not count, or a card is dead."""
        said = str(ruling.get("reason", ""))
        return self.texts.get(f"reason.{said}", said.replace("_", " "))

    def __call__(self, ruling: Ruling) -> str:
        """One line, without a break."""
        text = self._plain(ruling)
        if ruling.doubt:
            text = self.texts("ruling.in_doubt", text=text)
        return self.texts("ruling.correction", text=text) if ruling.supersedes else text

    def _plain(self, ruling: Ruling) -> str:
        special = _SPECIAL.get(ruling.kind)
        if special is not None:
            return special(self, ruling)
        fields = {
            "name": self.name(ruling.get("seat")), "to": self.name(ruling.get("to")),
            "card": pretty(str(ruling.get("card", "??"))),
        }  # fmt: skip
        template = self.texts.get(f"ruling.{ruling.kind}", "") if ruling.kind in LIFE else ""
        if not template:
            # Of a log from elsewhere: a text to be shown, and never one to be filled in.
            return ruling.kind.replace("_", " ")[:_LONGEST]
        counted = _COUNTED.get(ruling.kind)
        if counted is not None:
            noun, field = counted
            fields["count"] = self.texts.count(noun, int(ruling.get(field) or 0))
        return template.format_map(fields)


_COUNTED: Final = {
    "burn": ("cards", "count"), "give": ("cards", "count"), "pile": ("cards", "count"), "repeated": ("cards", "cards"),
    "chance": ("chances", "left"), "challenge_moves": ("chances", "left"), "challenge": ("chances", "chances"),
}  # fmt: skip


def _slap_won_rulingwords(to: RulingWords, ruling: Ruling) -> str:
    fields = {"name": to.name(ruling["seat"]), "patterns": to.patterns(ruling["patterns"])}
    if ruling.get("margin") is None:
        return to.texts("ruling.slap_won_alone", **fields)
    margin, error = to.texts.ms(ruling["margin"]), to.texts.ms(ruling["error"])
    how = ruling.get("decided_by", "time")
    if how != "time":
        return to.texts("ruling.slap_won_by", how=to.texts.get(f"decided.{how}", str(how)), **fields)
    return to.texts("ruling.slap_won", margin=margin, error=error, **fields)


def _slap_off_rulingwords(to: RulingWords, ruling: Ruling) -> str:
    return to.texts(f"ruling.{ruling.kind}", name=to.name(ruling["seat"]), reason=to.reason(ruling))


def _dead_heat_rulingwords(to: RulingWords, ruling: Ruling) -> str:
    names = to.texts.both(to.name(seat) for seat in ruling["seats"])
    margin, error = to.texts.ms(ruling["margin"]), to.texts.ms(ruling["error"])
    return to.texts("ruling.dead_heat", names=names, margin=margin, error=error)


def _challenge_rulingwords(to: RulingWords, ruling: Ruling) -> str:
    card = pretty(str(ruling["card"]))
    if ruling["challenged"] is None:
        return to.texts("ruling.challenge_nobody", name=to.name(ruling["seat"]), card=card)
    count = to.texts.count("chances", ruling["chances"])
    return to.texts("ruling.challenge", name=to.name(ruling["challenged"]), card=card, count=count)


def _question_rulingwords(to: RulingWords, ruling: Ruling) -> str:
    ask = str(ruling["ask"])
    text = to.texts.get(f"ask.{ask}", ask.replace("_", " "))
    cards = ruling.get("cards", ())
    if len(cards) > 1:
        options = f" {to.texts('word.or')} ".join(pretty(card) for card in cards)
        return f"{text} ({options})"
    return text


def _dead_card(to: RulingWords, ruling: Ruling) -> str:
    card = pretty(str(ruling["card"]))
    return to.texts("ruling.dead_card", name=to.name(ruling["seat"]), card=card, reason=to.reason(ruling))


def _strike(to: RulingWords, ruling: Ruling) -> str:
    return to.texts("ruling.strike", name=to.name(ruling["seat"]), n=ruling["strikes"])


def _locked_out(to: RulingWords, ruling: Ruling) -> str:
    until = to.texts.get(f"until.{ruling['until']}", str(ruling["until"]))
    return to.texts("ruling.locked_out", name=to.name(ruling["seat"]), until=until)


def _foul(to: RulingWords, ruling: Ruling) -> str:
    foul = to.texts.get(f"foul.{ruling['foul']}", str(ruling["foul"]).replace("_", " "))
    return to.texts("ruling.foul", name=to.name(ruling["seat"]), foul=foul)


def _contested(to: RulingWords, ruling: Ruling) -> str:
    key = "ruling.contested_upheld" if ruling.get("upheld") else "ruling.contested_failed"
    return to.texts(key, name=to.name(ruling.get("against")), by=to.texts.both(map(to.name, ruling.get("by", ()))))


def _remind(to: RulingWords, ruling: Ruling) -> str:
    what = str(ruling["what"])
    return to.texts("ruling.remind", what=to.texts.get(f"remind.{what}", what.replace("_", " ")))


_SPECIAL: Final[Mapping[str, Callable[[RulingWords, Ruling], str]]] = {
    "slap_won": _slap_won_rulingwords, "slap_false": _slap_off_rulingwords, "slap_void": _slap_off_rulingwords, "dead_heat": _dead_heat_rulingwords,
    "challenge": _challenge_rulingwords, "question": _question_rulingwords, "dead_card": _dead_card, "strike": _strike,
    "locked_out": _locked_out, "foul": _foul, "contested": _contested, "remind": _remind,
}  # fmt: skip
