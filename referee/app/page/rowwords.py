"""The rows of the rules in the page's languages, without their values: those stand beside them in the editor."""

from __future__ import annotations

from typing import Final

from referee.app.page.texts import Texts
from referee.app.rulewords import GROUPS, sentence
from referee.rules.house import house_rules

GROUP_KEYS: Final = ("setup", "challenges", "patterns", "slapping", "faults", "ending", "referee")
"""Keys of the groups' titles, in the order of `referee.app.rulewords.GROUPS`."""
_ENGLISH: Final = {
    "S2": "Packs of 52 cards, shuffled together.",
    "S3": "Jokers in the pack.",
    "S5": "Play goes round the table. The player after the dealer begins.",
    "S4d": "A handicap: some seats start without any cards.",
    "C1": "An ace, king, queen or jack challenges: the next player must pay so many cards.",
    "C3a": "A joker challenges too, and asks for so many cards.",
    "P4a": "Run of three: cards in order, up or down. 5 6 7",
    "P4b": "Run of four: cards in order, up or down. 5 6 7 8",
    "P5c": "For top-bottom the suit or colour must be the same as well.",
    "P8": "Tens: two cards that make ten. 4 6 (an ace may count as one)",
    "P10a": "Flush: so many cards of one suit.",
    "P10b": "Colour run: so many cards of one colour.",
    "P14": "One number rank, drawn before play, may always be slapped.",
    "P16": "Three of a kind. 7 7 7",
    "P19": "Patterns of your own.",
    "M6": "Touch your forehead before you slap. What is too fast for that does not count.",
    "M9": "A slap just after a card covered a pattern was meant for that pattern: it costs nothing.",
    "M15": "Slap with the hand that did not lay the card. What is too fast for that does not count.",
    "F1": "A false slap costs cards: face up under the pile.",
    "F6a": "No cards to pay with: a strike. After the last one you may not slap any more in this game.",
    "F6d": "No cards: you owe them, up to a limit, and pay from what you slap in next.",
    "F6e": "No cards: no slaps for some rounds.",
    "F7": "A card out of turn is dead, and makes no pattern.",
    "F9": "Two cards drawn at once.",
    "F10": "A foul that somebody reports costs cards.",
    "E2": "When one player has everything after a challenge, some more cards are turned: a last chance to slap in.",
    "N1": "A slap after the winner's.",
    "N8": "A false slap costs no cards: you may not slap for some cards.",
    "N10": "A slap before the first card.",
    "N11": "A good slap on the card that ends a challenge.",
    "N12": "Nobody reacts faster than this.",
    "N13": "Drumming: with so many presses in a second the pad rests for half a second.",
    "K9": "When it cannot tell whether card or slap came first.",
}
"""Rows whose sentence in the rule book has the value in it."""


def row_words(row: str, texts: Texts) -> str:
    """What a row says, whatever its value."""
    if texts.language == "en":
        return _ENGLISH.get(row) or sentence(row, house_rules("classic"))
    return texts(f"rule.{row}")


def group_titles(texts: Texts) -> dict[str, str]:
    """By the rule book's title, the title in this language."""
    return {title: texts(f"rulegroup.{key}") for (title, _), key in zip(GROUPS, GROUP_KEYS, strict=True)}
