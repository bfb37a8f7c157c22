"""The step of the house rules: a choice in people's words, and then one page of switches for what tables argue about.

A choice is a preset, or a preset with rows switched on and off (see `referee.rules.house`); the switches change it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from referee.errors import UserError
from referee.rules.house import HouseRules, read_house_rules, row_named
from referee.rules.presets import PRESETS
from referee.rules.rows import RIVALS
from referee.sentence import Sentence
from referee.settings.file import SettingsText
from referee.settings.house_rules import SUFFIX, HouseFileError, parse_house_rules
from referee.setup.wizard import BadAnswer, DeviceCall, Parse, Question, Run, choose, switches
from referee.text.terminal_language import here

_ORDINARY: Final = "ordinary"


@dataclass(frozen=True, slots=True)
class _Choice:
    words: str
    """A title, and on the next line a sentence."""
    rules: Any
    cards: Sequence[str] = ()
    """An example of cards that may be slapped, the lowest first."""


_CHOICES: Final[Mapping[str, _Choice]] = {
    "sandwiches": _Choice(
        Sentence(
            "Doubles and sandwiches (most families)\nSlap two of a rank, also with one other card between them."
        ),
        "classic",
        ("7h", "Ks", "7d"),
    ),
    "doubles": _Choice(
        Sentence("Doubles only (small children)\nSlap two of a rank, one on the other."),
        {"base": "classic", "off": ["P2"]},
        ("7h", "7d"),
    ),
    "everything": _Choice(
        Sentence("Everything that slaps\nAlso runs, king and queen, tens, three of a suit and more."),
        {"base": "wikipedia-2025", "on": ["P4a", "P7", "P9", "P12"]},
        ("Kh", "Qs"),
    ),
    "beggar": _Choice(
        Sentence("Beggar-My-Neighbour (no slaps)\nThe first to run out of cards has lost."), "beggar-my-neighbour"
    ),
    "slapjack": _Choice(Sentence("Slapjack\nSlap every jack, and nothing else."), "slapjack", ("5d", "Jc")),
    "class": _Choice(
        Sentence("Class\nDoubles and sandwiches, and no player is thrown out."), "classroom", ("4c", "9h", "4s")
    ),
}  # fmt: skip
_SOURCES: Final = tuple(name for name in PRESETS if name not in [choice.rules for choice in _CHOICES.values()])
"""Presets that are written on a page on the net and are no choice of their own."""


@dataclass(frozen=True, slots=True)
class _Switch:
    """A part of the rules that people switch as one."""

    words: str
    rows: tuple[str, ...]
    """The rows that make it so; the first is the one to switch on."""
    others: tuple[str, ...] = ()
    """Further rows that go off with it."""
    rivals: tuple[str, ...] = ()
    """Rows that would outweigh it: switching it on switches them off."""
    value: tuple[str, int, int] | None = None
    """A row whose value it sets: the value with the switch on, and off."""

    def fits(self, rules: HouseRules, options: Sequence[str]) -> bool:
        """Return whether it belongs to a game with these rules, for whose preset these rows are options."""
        row = self.rows[0] if self.rows else self.value[0] if self.value else ""
        match row[0]:
            case "P":
                return rules.has("P1")
            case "M":
                return rules.slaps
        return rules.has(row) or row in options

    def is_on(self, rules: HouseRules) -> bool:
        """Return whether the rules have it."""
        enough = self.value is None or rules.number(self.value[0]) >= self.value[1]
        return enough and (not self.rows or any(rules.has(row) for row in self.rows))


_SWITCHES: Final[Mapping[str, _Switch]] = {
    "sandwich": _Switch(
        Sentence("Sandwich: two of a rank with another card between them, as in 7 K 7."), ("P2",), ("P3a", "P3b")
    ),
    "top-bottom": _Switch(
        Sentence("Top and bottom: the newest card has the rank of the lowest one."), ("P5a", "P5b"), ("P5c",)
    ),
    "marriage": _Switch(Sentence("Marriage: king and queen together."), ("P6",), ("P7",)),
    "runs": _Switch(Sentence("Runs: three cards in order, up or down, as in 5 6 7."), ("P4a", "P4b")),
    "tens": _Switch(Sentence("Tens: two cards that add up to ten, as in 6 4."), ("P8",), ("P9", "P17")),
    "jokers": _Switch(Sentence("Jokers: two are in the pack, and each may be slapped."), ("P13a",), value=("S3", 2, 0)),
    "burn-two": _Switch(Sentence("A false slap costs two cards, not one."), (), value=("F1", 2, 1)),
    "comeback": _Switch(Sentence("A player without cards may slap, and so come back."), ("M10",)),
    "war": _Switch(Sentence("War: where no hand was first, the tied play War for the pile."), ("M4",), rivals=("M3",)),
    "agreed-end": _Switch(Sentence("The game ends after 20 minutes: the most cards win."), ("E7",)),
    "pay-the-layer": _Switch(Sentence("A false slap gives a card to the player who laid the top card."), ("F12",)),
}
_COUNTER_CLOCKWISE: Final = "counter-clockwise"


def rules_step(draft: SettingsText, *, files: bool = False) -> Run:
    """Choose rules, turn switches, and choose the deck if unusual ones were learned.

    Args:
        draft: the settings.
        files: whether the answer may be typed, and so be a file of house rules.
    """
    now: Any = tomllib.loads(draft.text).get("rules", "classic")
    usual = next((name for name, choice in _CHOICES.items() if choice.rules == now), "kept")
    words = {
        **({"kept": Sentence("As they are set now")} if usual == "kept" else {}),
        **{name: choice.words for name, choice in _CHOICES.items()},
        "page": Sentence("Like a page on the net …\nThe rules as Wikipedia and others wrote them down."),
        **({} if files else {"file": Sentence("Rules of your own …\nUpload a file of house rules.")}),
    }
    asked = Sentence("Which rules do you play by?")
    if files:
        asked = Sentence("Which rules? Or a file of your own (*{suffix}, see `referee rules example`)", suffix=SUFFIX)
    listed = choose("rules.preset", asked, usual, words)
    cards = {name: choice.cards for name, choice in _CHOICES.items() if choice.cards}
    name = yield replace(listed, check=_check_rules(draft, listed, files=files), cards=cards)
    if name == "page":
        titles = {name: here().get(f"preset.{name}", PRESETS[name].title) for name in _SOURCES}
        default = now if now in _SOURCES else _SOURCES[0]
        name = yield choose("rules.source", Sentence("Like which page?"), default, titles)
    elif name == "file":
        own = yield Question("rules.file", Sentence("Which file holds your rules?"), "", _parse_own, kind="file")
        name = yield DeviceCall("keep_rules", {"title": own.title, "text": own.text})
    said = now if name == "kept" else _CHOICES[name].rules if name in _CHOICES else name
    if said != now or draft.is_new:
        draft = draft.changed({"rules": said})
    draft = yield from _turn_switches(draft, said)
    learned, deck = (yield DeviceCall("decks", {})), draft.settings.deck
    if not learned and deck is None:
        return draft
    names = dict.fromkeys([*learned, *([deck] if deck else [])], Sentence("learned with referee enrol"))
    deck = yield choose("rules.deck", Sentence("Which deck is played with?"), deck or _ORDINARY,
                        {_ORDINARY: Sentence("any usual deck"), **names})  # fmt: skip
    return draft.changed({"deck": None if deck == _ORDINARY else deck})


@dataclass(frozen=True, slots=True)
class _OwnRules:
    title: str
    text: str


def _parse_own(text: str) -> _OwnRules:
    """Check an uploaded file of house rules."""
    try:
        return _OwnRules(parse_house_rules(text).title, text)
    except HouseFileError as error:
        first = error.mistakes[0]
        if first.place is None:
            raise BadAnswer(first.problem) from None
        raise BadAnswer(Sentence("line {line}: {problem}", line=first.place.line, problem=first.problem)) from None


def _check_rules(draft: SettingsText, listed: Question, *, files: bool) -> Parse:
    """Return a check for a choice, any preset's name, or a file where files may be typed."""

    def check(text: str) -> str:
        if text in PRESETS:
            return text
        if not files or not text.endswith(SUFFIX):
            return str(listed.check(text))
        try:
            draft.changed({"rules": text})
        except UserError as error:
            raise BadAnswer(error.sentence) from None
        return text

    return check


def _turn_switches(draft: SettingsText, said: Any) -> Run:
    """Show the switches that fit these rules, as the rules have them; a file of house rules is left as it is.

    The settings store the direction of play (S5) only if it differs from the rules.
    """
    rules = read_house_rules(draft.settings.rules)
    fitting: dict[str, _Switch] = {}
    if not _is_file(said):
        options = PRESETS[said if isinstance(said, str) else said.get("base", "classic")].options
        fitting = {name: switch for name, switch in _SWITCHES.items() if switch.fits(rules, options)}
    choices = {name: switch.words for name, switch in fitting.items()}
    if "runs" in choices and rules.has("P4b") and not rules.has("P4a"):
        choices["runs"] = Sentence("Runs: four cards in order, up or down, as in 5 6 7 8.")
    on = [name for name, switch in fitting.items() if switch.is_on(rules)]
    way = rules.word("S5")
    if rules.has("S5"):
        choices[_COUNTER_CLOCKWISE] = Sentence("Play goes counter-clockwise: the next player sits on your right.")
        on += [_COUNTER_CLOCKWISE] if (draft.settings.direction or way) == _COUNTER_CLOCKWISE else []
    if not choices:
        return draft
    told = yield switches("rules.switches", Sentence("Which of these do you play with?"), on, choices)
    turned = {name: name in told for name in fitting if (name in told) != (name in on)}
    if turned:
        draft = draft.changed({"rules": _with_switches(said, turned)})
    if rules.has("S5"):
        chosen = _COUNTER_CLOCKWISE if _COUNTER_CLOCKWISE in told else "clockwise"
        draft = draft.changed({"direction": None if chosen == way else chosen})
    return draft


def _is_file(said: Any) -> bool:
    return isinstance(said, str) and said.endswith(SUFFIX)


def _with_switches(said: Any, turned: Mapping[str, bool]) -> Any:
    """Return house rules with these switches turned on or off."""
    whole: Mapping[str, Any] = {"base": said} if isinstance(said, str) else said
    base_name = whole.get("base", "classic")
    base = read_house_rules(base_name)
    on, off = ([row_named(row) for row in whole.get(key, ())] for key in ("on", "off"))
    values = {row_named(row): value for row, value in whole.get("set", {}).items()}
    for name, is_on in turned.items():
        switch = _SWITCHES[name]
        kin = (*switch.rows, *switch.others)
        if is_on:
            # The base's own rows come back; without any, the first one comes on, and its rivals go off by themselves.
            own = any(base.has(row) for row in switch.rows)
            wanted = [row for row in kin if base.has(row)] if own else switch.rows[:1]
            weaker = {rival for row in wanted for rival in RIVALS.get(row, ())}
            on = [row for row in on if row not in (*wanted, *weaker, *switch.rivals)]
            on += [row for row in wanted if not base.has(row)]
            off = [row for row in off if row not in (*wanted, *switch.rivals)]
            off += [row for row in switch.rivals if base.has(row)]
        else:
            on = [row for row in on if row not in kin]
            off = [row for row in off if row not in (*kin, *switch.rivals)]
            # Where a value decides, as the number of jokers does, the base's rows may stay.
            off += [row for row in kin if base.has(row) and switch.value is None]
        if switch.value is not None:
            row, high, low = switch.value
            values[row] = high if is_on else low
            if values[row] == base.value(row):
                del values[row]
    changes = {key: value for key, value in (("on", on), ("off", off), ("set", values)) if value}
    return {"base": base_name, **changes} if changes else base_name
