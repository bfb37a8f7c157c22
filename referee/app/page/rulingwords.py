"""Rulings in one line of a language, with the players' names and the margins in figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from referee.adjudication.rulings import LIFE, Ruling
from referee.app.page.texts import Texts
from referee.app.wording import pretty

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


def _slap_won(to: RulingWords, ruling: Ruling) -> str:
    fields = {"name": to.name(ruling["seat"]), "patterns": to.patterns(ruling["patterns"])}
    if ruling.get("margin") is None:
        return to.texts("ruling.slap_won_alone", **fields)
    margin, error = to.texts.ms(ruling["margin"]), to.texts.ms(ruling["error"])
    how = ruling.get("decided_by", "time")
    if how != "time":
        return to.texts("ruling.slap_won_by", how=to.texts.get(f"decided.{how}", str(how)), **fields)
    return to.texts("ruling.slap_won", margin=margin, error=error, **fields)


def _slap_off(to: RulingWords, ruling: Ruling) -> str:
    return to.texts(f"ruling.{ruling.kind}", name=to.name(ruling["seat"]), reason=to.reason(ruling))


def _dead_heat(to: RulingWords, ruling: Ruling) -> str:
    names = to.texts.both(to.name(seat) for seat in ruling["seats"])
    margin, error = to.texts.ms(ruling["margin"]), to.texts.ms(ruling["error"])
    return to.texts("ruling.dead_heat", names=names, margin=margin, error=error)


def _challenge(to: RulingWords, ruling: Ruling) -> str:
    card = pretty(str(ruling["card"]))
    if ruling["challenged"] is None:
        return to.texts("ruling.challenge_nobody", name=to.name(ruling["seat"]), card=card)
    count = to.texts.count("chances", ruling["chances"])
    return to.texts("ruling.challenge", name=to.name(ruling["challenged"]), card=card, count=count)


def _question(to: RulingWords, ruling: Ruling) -> str:
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
    "slap_won": _slap_won, "slap_false": _slap_off, "slap_void": _slap_off, "dead_heat": _dead_heat,
    "challenge": _challenge, "question": _question, "dead_card": _dead_card, "strike": _strike,
    "locked_out": _locked_out, "foul": _foul, "contested": _contested, "remind": _remind,
}  # fmt: skip
