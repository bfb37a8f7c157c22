"""A ruling in one line of a language, with the players' names and the margins in figures.

For the terminal, `referee explain`, the broker and the page; `referee.announce.voice` has the spoken form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import Formatter
from typing import Any, Final

from referee.engine.observations import Table
from referee.engine.overrule import is_overruled
from referee.engine.rulings import RULING_ORDER, SLAP_KINDS, Ruling, gap_form, rests_on_gap, unamended
from referee.rules.cards import UNREADABLE, is_card
from referee.text.catalogue import Texts, texts

_SUIT_SIGNS: Final = {"s": "♠", "h": "♥", "d": "♦", "c": "♣", "r": "★", "b": "★"}
_COUNTED: Final = {"count": "cards", "cards": "cards", "left": "chances", "chances": "chances"}
"""Fields that count something, and its noun."""
_WORDED: Final = {
    "reason": "reason", "until": "until", "foul": "foul", "decided_by": "decided", "what": "remind",
}  # fmt: skip
"""Fields that are one of several words, and the table that has their texts."""
_LONGEST: Final = 60
"""Maximum characters shown of an unknown kind."""


def suit_sign(card: str) -> str:
    """Return ``♥``; a star for a joker, a question mark for an unreadable card."""
    return _SUIT_SIGNS.get(card[1], "?")


def pretty(card: str) -> str:
    """Return a card as people write it: ``10♥``."""
    if card == "??":
        return "?"
    return {"T": "10", "X": "joker "}.get(card[0], card[0]) + suit_sign(card)


class RulingWords:
    """Rulings in words, for one table's players and one language (default: English)."""

    def __init__(self, names: Sequence[str], language: Texts | None = None) -> None:
        self._names = tuple(names)
        self.texts = language or texts("en")

    def name(self, seat: Any) -> str:
        """Return the name of the player at a seat; the seat's number if unnamed, the text ``word.nobody`` if None."""
        if seat is None:
            return self.texts("word.nobody")
        if isinstance(seat, int) and 1 <= seat <= len(self._names) and self._names[seat - 1]:
            return self._names[seat - 1]
        return self.texts("word.seat", n=seat)

    def pattern(self, row: str) -> str:
        """Return a pattern's name; custom patterns keep theirs."""
        id_, _, own = row.partition(":")
        return own or self.texts.get(f"pattern.{id_}", id_)

    def patterns(self, rows: Sequence[str]) -> str:
        """Return several patterns' names."""
        return ", ".join(self.pattern(row) for row in rows)

    def reason(self, ruling: Ruling) -> str:
        """Return why a slap did not count, or a card is dead."""
        if is_beaten(ruling):
            return self.texts("reason.tie")
        return self._field("reason", ruling.get("reason", ""))

    def how(self, ruling: Ruling) -> str:
        """Return what decided a won slap if it was not the clock; otherwise an empty text."""
        how = "people" if "K6" in ruling.rule and is_overruled(ruling) else str(ruling.get("decided_by", "time"))
        return "" if how == "time" else self._field("decided_by", how)

    def outcome(self, end: Ruling | None) -> str:
        """Return how a game ended, even if a correction brought that about; ``end``: `end_of` its rulings, if known."""
        return self.texts("board.game_over") if end is None else self(unamended(end))

    def __call__(self, ruling: Ruling) -> str:
        """Return the ruling as one line; may raise any error for a malformed field."""
        text = self._plain(ruling)
        if ruling.doubt and ruling.kind in SLAP_KINDS and ruling.get("decided_by") != "doubt":
            text = f"{text} ({self.texts('decided.doubt_gap' if rests_on_gap(ruling) else 'decided.doubt')})"
        return self.texts("ruling.correction", text=text) if ruling.is_correction else text

    def _plain(self, ruling: Ruling) -> str:
        if ruling.kind not in RULING_ORDER:
            # From a foreign log: text to show, never a template to fill in.
            return ruling.kind.replace("_", " ")[:_LONGEST]
        if ruling.kind == "question":
            return self._question(ruling)
        template = self.texts(f"ruling.{_form(ruling)}")
        fields = [name for _, name, _, _ in Formatter().parse(template) if name is not None]
        return template.format_map({name: self._of(ruling, name) for name in fields})

    def _of(self, ruling: Ruling, name: str) -> str:
        if name == "reason":
            return self.reason(ruling)
        if name == "margin":
            return self.texts.measured(ruling.get("margin") or 0, ruling.get("error") or 0)
        return self.how(ruling) if name == "decided_by" else self._field(name, ruling.get(name))

    def _question(self, ruling: Ruling) -> str:
        ask, cards = str(ruling["ask"]), ruling.get("cards", ())
        if ask == "unseen_gap":
            return self._gap(ruling, [card for card in cards if card != UNREADABLE])
        # Near F9's limit the question is about two cards, not a slap.
        key = f"{ask}_card" if ask == "slap_or_limit" and "F9" in ruling.rule else ask
        text = self.texts.get(f"ask.{key}", ask.replace("_", " "))
        if len(cards) < 2:
            return text
        either = f" {self.texts('word.or')} ".join(map(pretty, cards))
        return f"{text} ({either})"

    def _gap(self, ruling: Ruling, cards: Sequence[str]) -> str:
        """Return the question about an unseen stretch, with the cards that are visible now."""
        form = gap_form(ruling)
        seconds = self.texts.seconds(ruling.get("lasted") or 0)
        return self.texts(
            f"ask.unseen_gap{form and '_' + form}", seconds=seconds, cards=self.texts.both(map(pretty, cards))
        )

    def _field(self, name: str, value: Any) -> str:
        if name in ("seats", "by"):
            return self.texts.both(map(self.name, value))
        if name in _COUNTED:
            return self.texts.count(_COUNTED[name], int(value or 0))
        if name in _WORDED:
            return self.texts.get(f"{_WORDED[name]}.{value}", str(value).replace("_", " "))
        if name == "card":
            return pretty(value) if is_card(value) else str(value)
        if name == "patterns":
            return self.patterns(value)
        return str(value) if name == "strikes" else self.name(value)


def ruling_writer(table: Table, words: Texts) -> Callable[[Ruling], str]:
    """Return a function that writes a ruling as one line: seconds since the log's first line, ruling, rows and id."""
    said = RulingWords(table.seats, words)

    def line(ruling: Ruling) -> str:
        return f"{words.seconds(ruling.t - table.t):>9}  {said(ruling)}  [{' '.join(ruling.rule)}]  {ruling.id}"

    return line


def is_beaten(ruling: Ruling) -> bool:
    """Return whether this hand was as early as the winner's, within the errors, and another got the tie (M2)."""
    return ruling.kind == "slap_void" and ruling.get("reason") == "late" and "M2" in ruling.rule


def _form(ruling: Ruling) -> str:
    """Return the name of the text for a ruling: its kind, or a variant that depends on its fields."""
    if ruling.kind == "slap_won":
        if ruling.get("decided_by", "time") != "time" or ("K6" in ruling.rule and is_overruled(ruling)):
            return "slap_won_by" if ruling.get("patterns") else "slap_won_people"
        if ruling.get("margin") is None:
            return "slap_won_open" if ruling.window == "open" else "slap_won_alone"
        return "slap_won"
    if ruling.kind == "contested":
        return "contested_upheld" if ruling["upheld"] else "contested_refused"
    return "challenge_nobody" if ruling.kind == "challenge" and ruling["challenged"] is None else ruling.kind
