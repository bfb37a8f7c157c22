"""Every row of the rules in a sentence that a twelve-year-old reads; ``{}`` stands for the row's value.

The rows of the rules in the page's languages, without their values: those stand beside them in the editor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from referee.rules.house import HouseRules, house_rules
from referee.rules.rows import ROWS
from referee.text.catalogue import Texts

GROUPS: Final[Sequence[tuple[str, Sequence[str]]]] = (
    ("Setting up", ("S",)),
    ("Challenges", ("C", "N5", "N6", "N11")),
    ("What may be slapped", ("P", "N3", "N4", "N14", "N15")),
    ("Slapping", ("M", "N1", "N2", "N10", "N12", "N13")),
    ("Faults and what they cost", ("F", "N7", "N8", "N9")),
    ("Running out and winning", ("E",)),
    ("What the referee does by itself", ("K",)),
)
"""Titles, and the letters or ids of the rows under them; an id goes before its letter."""

_SENTENCES: Final[Mapping[str, str]] = {
    "S1": "Two or more players sit round the table.",
    "S2": "{} of 52 cards shuffled together.",
    "S3": "{} in the pack.",
    "S4a": "Deal all cards one by one. If it does not come out even, the first players get one more.",
    "S4b": "Deal evenly. The cards that are left over start the pile.",
    "S4c": "Do not deal: cut the pack into rough shares. Nobody knows how many cards anyone has.",
    "S4d": "A handicap: {} without any cards.",
    "S5": "Play goes round the table {}. The player after the dealer begins.",
    "S6": "Turn your card away from yourself. Peeking is a foul.",
    "S7": "Rings, watches and bracelets off before you play.",
    "S8": "If a card is turned so that only its player sees it, you may snap it down. Slap with an open palm.",
    "C1": "{} The next player must pay that many cards.",
    "C2a": "Challenges the other way round: an ace asks for 1 card, a king 2, a queen 3, a jack 4.",
    "C2b": "King and jack swapped: an ace asks for 4 cards, a queen 2, a king 1, a jack 3.",
    "C3a": "A joker challenges too: it asks for {}.",
    "C3b": "The black joker asks for 13 cards. The red joker may be slapped at once.",
    "C4": "A face card or an ace among the cards paid ends that challenge and challenges the next player.",
    "C5": "No face card or ace among them: the challenger takes the pile and leads the next one.",
    "C6a": "If you run out of cards while you pay, the next player goes on with what is left.",
    "C6b": "If you run out of cards while you pay, the challenger takes the pile.",
    "C7": "If your last card was a challenge, you are still in until somebody beats it.",
    "C8": "A pile that you take goes face down under your own cards, in the order in which it lay.",
    "C9": "Until the challenger picks the pile up, it may still be slapped.",
    "C10": "The chances go round: each following player pays one of them.",
    "P1": "Double: two of a rank, one on the other. 7 7",
    "P2": "Sandwich: two of a rank with one other card between. 7 K 7",
    "P3a": "Hoagie: two of a rank with two other cards between. 7 K 2 7",
    "P3b": "Big mac: two of a rank round another two of a rank. 7 K K 7",
    "P4a": "{} in order, up or down. 5 6 7",
    "P4b": "{} in order, up or down. 5 6 7 8",
    "P5a": "Top-bottom: the newest card has the rank of the first card played to the pile.",
    "P5b": "Top-bottom: the newest card has the rank of the card that lies lowest, burned cards too.",
    "P5c": "For top-bottom the {} must be the same as well.",
    "P6": "Marriage: a king and a queen together.",
    "P7": "Divorce: a king and a queen with one card between.",
    "P8": "Tens: two cards that make ten. 4 6{}",
    "P9": "Add-up sandwich: two cards that make ten, with one between. 4 K 6",
    "P10a": "Flush: {} of one suit.",
    "P10b": "Colour run: {} of one colour.",
    "P11": "Ratscrew: a six and a nine together.",
    "P12": "Jack-ten: a ten played on a jack.",
    "P13a": "Any joker.",
    "P13b": "A joker may never be slapped.",
    "P13c": "A joker is wild: it stands for any card that makes a pattern.",
    "P14": "One number rank, drawn before play, may always be slapped{}.",
    "P15": "Count match: the second card paid to a challenge is a two, the third a three, and so on.",
    "P16": "Three of a kind: {}",
    "P16b": "Three sixes in a row close the table until tomorrow.",
    "P17": "Any ten.",
    "P18": "Any jack.",
    "P19": "Your own: {}",
    "M1": "The first hand down takes the pile and leads the next one.",
    "M2": "Too close to tell: the hand that lies on the pile the most takes it.",
    "M3": "If that does not settle it, the pile is shuffled and shared between the tied.",
    "M4": "If that does not settle it, the tied play War for the pile.",
    "M5": "Take your hand all the way back before you slap. A hand that rests on its pad does not slap.",
    "M6": "Touch your forehead before you slap. A slap faster than {} is too fast to have done so.",
    "M7": "You may slap at any time, whoever's turn it is.",
    "M8": "When the next card covers a pattern, it is gone.",
    "M9": "A slap less than {} after a card covered a pattern was meant for that pattern: it costs nothing.",
    "M10": "Out of cards? You may still slap, and so come back.",
    "M11": "Somebody who only watched may slap and so join the game.",
    "M12": "You can slap yourself back in only while at least two players hold cards.",
    "M13": "The last card of a challenge may be slapped without risk.",
    "M14": "Slapping and taking the pile in one movement counts as a slap.",
    "M15": "Slap with the hand that did not lay the card. Slapping your own card faster than {} does not count.",
    "F1": "A false slap costs {}: face up under the pile.",
    "F2": "Each further false slap costs one more, until somebody wins the pile.",
    "F3": "A false slap gives the pile to whoever laid the last card.",
    "F4": "Penalty cards go on top of the pile, and are dead.",
    "F5": "You may contest a slap. Whoever was wrong gives a card.",
    "F6a": "No cards to pay with: a strike. After {} you may not slap any more in this game.",
    "F6b": "No cards: after a wrong slap, none until the pile is won.",
    "F6c": "No cards: after a wrong slap you may not slap any more in this game.",
    "F6d": "No cards: you owe them, up to {}, and pay from what you slap in next.",
    "F6e": "No cards: no slaps for {}.",
    "F6f": "No cards: your hand is burned; no slaps until the pile is won or somebody else slaps.",
    "F7": "A card out of turn is dead: {}, and makes no pattern.",
    "F8": "Slapping over a dead card is a false slap.",
    "F9": "Two cards drawn at once: {}",
    "F10": "A foul that somebody reports costs {}.",
    "F11": "A false slap without cards may be made fun of, kindly.",
    "E1": "No cards left: you are out, but see slapping.",
    "E2": "When one player has everything after a challenge, {} turned: a last chance to slap in.",
    "E3": "The only one left with cards plays on until the pile is won.",
    "E4": "All cards in the pile and nobody holds any: a draw.",
    "E5a": "Whoever holds every card has won.",
    "E5b": "The only one left with cards has won.",
    "E6": "Whoever first runs out of cards has lost.",
    "N1": "A slap after the winner's {}.",
    "N2": "Winning a slap does not change whose turn it is.",
    "N3": "Burned cards under the pile never make or break a pattern.",
    "N4": "King and queen count only in one suit; but king and jack, or queen and jack, may be slapped too.",
    "N5": "A ten stops a challenge.",
    "N6": "A challenger must slap the pile to collect it.",
    "N7": "You pay at most once for each card that is laid.",
    "N8": "A false slap costs no cards: you may not slap for {}.",
    "N9": "A false slap gives the pile to the next player.",
    "N10": "A slap before the first card {}.",
    "N11": "A good slap on the card that ends a challenge: {}",
    "N12": "Nobody reacts faster than {}: such a slap {}.",
    "N13": "Drumming: more than {} in a second, and the pad rests for half a second.",
    "N14": "Name the ranks in order as you lay: a card that is what you named may be slapped.",
    "N15": "A pattern anywhere in the pile may be slapped.",
    "K1": "A slap counts for the pile as it lay at that very moment.",
    "K2": "It remembers every pile that was taken, and asks when a card cannot be there.",
    "K3": "It tells by how much a slap was first; nearer than it can measure is a tie, never a guess.",
    "K4": "It sees who laid each card.",
    "K5": "Every ruling can be replayed and explained.",
    "K6": "You can correct it; everything after that is ruled again.",
    "K7": "It notices when a stack was shuffled.",
    "K8": "It tells risky slaps from quick ones, in the statistics only.",
    "K9": "When it cannot tell whether card or slap came first, {}",
}

_THREE_OF_A_KIND: Final = {
    "ends_game": "the game ends, and whoever holds the most cards has won.",
    "slap": "the newest three share a rank. 7 7 7",
}
_COMPLETING: Final = {
    "slap": "the slap takes the pile.",
    "challenger": "the challenger keeps it.",
    "first": "whoever is first, slap or pick-up, has it.",
}
_DOUBT: Final = {"slapper": "it takes what is better for the slapper.", "question": "it asks you."}
_DRAWN: Final = {"dead": "the second is dead.", "burn": "a card is burned."}
_COSTS: Final = {"void": "costs nothing", "false": "is a false slap"}


def _many(number: int, noun: str, plural: str = "") -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def _chances(value: Mapping[str, int]) -> str:
    names = {"A": "An ace", "K": "a king", "Q": "a queen", "J": "a jack"}
    first, *rest = (f"{names[rank]} {'asks for ' if rank == 'A' else ''}{value[rank]}" for rank in "AKQJ")
    return f"{first} card{'s' * (value['A'] != 1)}, {', '.join(rest)}."


def _run(value: Any, length: int) -> str:
    said = {"ace": value} if isinstance(value, str) else value
    n, ace = said.get("n", length), said.get("ace", "both")
    ends = {"low": "ace before the two", "high": "ace after the king", "both": "ace at either end"}[ace]
    return f"Run: {n} ranks ({ends}{', and it goes round past the king' if said.get('wrap') else ''})"


def _own(value: Mapping[str, str]) -> str:
    return "; ".join(f"{name}, which is {text}" for name, text in value.items()) or "none written yet."


_VALUES: Final[Mapping[str, Callable[[Any], Sequence[str]]]] = {
    "S2": lambda n: ["One pack" if n == 1 else f"{n} packs"],
    "S3": lambda n: ["No jokers" if n == 0 else _many(n, "joker")],
    "S4d": lambda seats: [("seats " if len(seats) > 1 else "seat ") + ", ".join(map(str, seats)) + " start"
                          if seats else "chosen seats start"],
    "C1": lambda value: [_chances(value)],
    "C3a": lambda n: [_many(n, "card")],
    "P4a": lambda value: [_run(value, 3)],
    "P4b": lambda value: [_run(value, 4)],
    "P5c": lambda kind: [kind],
    "P8": lambda counts: ["" if counts else " (an ace is no one)"],
    "P10a": lambda n: [_many(n, "card")],
    "P10b": lambda n: [_many(n, "card")],
    "P14": lambda rank: [f": {rank.replace('T', '10')}" if rank else ""],
    "P16": lambda value: [_THREE_OF_A_KIND[value]],
    "P19": lambda value: [_own(value)],
    "M6": lambda ms: [f"{ms} ms"],
    "M9": lambda ms: [f"{ms} ms"],
    "M15": lambda ms: [f"{ms} ms"],
    "F1": lambda n: [_many(n, "card")],
    "F6a": lambda n: [_many(n, "strike")],
    "F6d": lambda n: [_many(n, "card")],
    "F6e": lambda n: [_many(n, "round")],
    "F7": lambda value: [{"stays": "it stays where it lies", "bottom": "it goes to the bottom"}[value]],
    "F9": lambda value: [_DRAWN[value]],
    "F10": lambda n: [_many(n, "card")],
    "E2": lambda n: [_many(n, "more card is", "more cards are")],
    "N1": lambda value: [_COSTS[value]],
    "N8": lambda n: [_many(n, "card")],
    "N10": lambda value: [_COSTS[value]],
    "N11": lambda value: [_COMPLETING[value]],
    "N12": lambda value: [f"{value[0]} ms", _COSTS[value[1]]],
    "N13": lambda n: [_many(n, "press", "presses")],
    "K9": lambda value: [_DOUBT[value]],
}  # fmt: skip


def sentence(row: str, rules: HouseRules) -> str:
    """What a row means under these house rules, its value included."""
    if row == "S5":
        return _SENTENCES[row].format("clockwise" if rules.direction == "clockwise" else "counter-clockwise")
    words = _VALUES.get(row)
    return _SENTENCES[row].format(*words(rules.value(row))) if words is not None else _SENTENCES[row]


def group_of(row: str) -> str:
    """The title under which a row stands."""
    letter = row[0]
    for title, members in GROUPS:
        if row in members:
            return title
    return next(title for title, members in GROUPS if letter in members)


def rows_by_group() -> dict[str, list[str]]:
    """Every row under its title, in the order of the rules."""
    grouped: dict[str, list[str]] = {title: [] for title, _ in GROUPS}
    for row in ROWS:
        grouped[group_of(row)].append(row)
    return grouped


GROUP_KEYS: Final = ("setup", "challenges", "patterns", "slapping", "faults", "ending", "referee")
"""Keys of the groups' titles, in the order of `referee.text.rules.GROUPS`."""
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
