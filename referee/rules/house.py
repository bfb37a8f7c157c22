"""House rules: a preset, or a preset with changes, checked against the catalogue of rows.

Rows are switches, and some exclude each other: switching one on switches off its rivals in the preset. Naming two
rivals is a contradiction and is refused.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from referee.rules.cards import CARDS
from referee.rules.frozen import freeze, thaw
from referee.rules.notation import NotationError, compile_pattern
from referee.rules.presets import PRESETS
from referee.rules.rows import ALWAYS_ON, BY_NAME, CONTRARY, FOREHEADS, PATTERN_ROWS, RIVALS, ROWS, SUIT_ROWS
from referee.sentence import Sentence, Spoken

_KEYS: Final = ("base", "on", "off", "set")


class RulesError(Spoken, ValueError):
    """Invalid house rules; the message names the row and says what to change."""


class Run(NamedTuple):
    """Definition of a run (P4a, P4b): number of cards, place of the ace, and whether it wraps past the king."""

    n: int
    ace: str
    wrap: bool


class Anticipation(NamedTuple):
    """Time after a reveal too short for a reaction (N12), and the verdict on such a slap: ``void`` or ``false``."""

    ms: int
    outcome: str


class Forehead(NamedTuple):
    """Minimum duration of a touch of the forehead (M6), and who must touch it: ``all`` or ``convicted``."""

    ms: int
    who: str


class AgreedEnd(NamedTuple):
    """Agreed end of a game (E7): after minutes, or after piles; the other is None."""

    minutes: int | None
    piles: int | None


@dataclass(frozen=True, slots=True)
class HouseRules:
    """The rows that are on, and their values; immutable."""

    on: frozenset[str]
    values: Mapping[str, Any] = field(default_factory=dict)

    slaps: bool = field(init=False, compare=False)
    """Whether any slap is possible."""
    has: Callable[[str], bool] = field(init=False, compare=False, repr=False)
    """Whether a row is switched on; the set's own method, because every card asks for several rows."""
    alike: Mapping[str, str] = field(init=False, compare=False, repr=False)
    """Each card's sign; cards that no row can distinguish share one."""
    chances: Callable[[str], int] = field(init=False, compare=False, repr=False)
    """Number of chances a card gives when it is laid; 0 if it does not challenge."""

    def __post_init__(self) -> None:
        """Precompute the lookups that every card needs."""
        object.__setattr__(self, "on", frozenset(self.on))
        object.__setattr__(self, "values", freeze(self.values))
        object.__setattr__(self, "has", self.on.__contains__)
        object.__setattr__(self, "slaps", "M1" in self.on and not PATTERN_ROWS.isdisjoint(self.on))
        chances = self._chances_by_rank()
        by_card = {card: chances.get(card if card[0] == "X" else card[0], 0) for card in CARDS}
        object.__setattr__(self, "chances", by_card.__getitem__)
        object.__setattr__(self, "alike", MappingProxyType({card: self._sign(card) for card in CARDS}))

    def __deepcopy__(self, _: Any) -> HouseRules:
        """Return itself: it is immutable."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the constructor's arguments."""
        return HouseRules, (self.on, thaw(self.values))

    def _chances_by_rank(self) -> Mapping[str, int]:
        """Return the chances by rank or joker (C1, C2a, C2b, C3a, C3b)."""
        ranks: Mapping[str, int] = self.value("C1") if self.has("C1") else {}
        if self.has("C2a"):
            ranks = {"A": 1, "K": 2, "Q": 3, "J": 4}
        if self.has("C2b"):
            ranks = {"A": 4, "Q": 2, "K": 1, "J": 3}
        jokers = dict.fromkeys(("Xr", "Xb"), self.value("C3a")) if self.has("C3a") else {}
        return {**ranks, **jokers, **({"Xb": 13} if self.has("C3b") else {})}

    def _sign(self, card: str) -> str:
        """Return a card's sign: number cards are alike without slaps, and suits count only if a row looks at them."""
        if not self.slaps:
            return card[0] if self.chances(card) else "-"
        return card[0] if SUIT_ROWS.isdisjoint(self.on) else card

    def value(self, row: str) -> Any:
        """Return a row's value: the table's own, or the catalogue's default."""
        return self.values[row] if row in self.values else ROWS[row].default

    def number(self, row: str) -> int:
        """Return the value of a row whose value is a whole number."""
        value = self.value(row)
        if type(value) is not int:
            raise TypeError(f"the value of row {row} is {value!r}, no whole number")
        return value

    def word(self, row: str) -> str:
        """Return the value of a row whose value is a word; empty if it is not set yet (P14)."""
        value = self.value(row)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise TypeError(f"the value of row {row} is {value!r}, no word")
        return value

    def run(self, row: str) -> Run:
        """Return the definition of a run for this row (P4a, P4b)."""
        value = self.value(row)
        said = {"ace": value} if isinstance(value, str) else value
        usual = ROWS[row].default
        return Run(said.get("n", usual["n"]), said.get("ace", usual["ace"]), said.get("wrap", usual["wrap"]))

    @property
    def three_end_game(self) -> bool:
        """Whether three of a kind end the game at once (P16); otherwise they are one more pattern."""
        return self.has("P16") and self.word("P16") != "slap"

    @property
    def ace_is_one(self) -> bool:
        """Whether an ace counts as one in sums (P8, P9)."""
        return self.value("P8") is True

    @property
    def anticipation(self) -> Anticipation:
        """The anticipation limit (N12)."""
        return Anticipation(*self.value("N12"))

    @property
    def forehead(self) -> Forehead:
        """The minimum duration of a touch of the forehead, and the seats that must touch it (M6)."""
        value = self.value("M6")
        ms, who = value if isinstance(value, tuple) else (value, FOREHEADS[0])
        return Forehead(ROWS["M6"].default, ms) if isinstance(ms, str) else Forehead(ms, who)

    @property
    def agreed_end(self) -> AgreedEnd:
        """The agreed end of the game (E7)."""
        value = self.value("E7")
        return AgreedEnd(value.get("minutes"), value.get("piles"))

    @property
    def own_patterns(self) -> Mapping[str, str]:
        """The table's own patterns in notation (P19), by name."""
        patterns: Mapping[str, str] = self.value("P19")
        return patterns

    @property
    def seats_without_cards(self) -> tuple[int, ...]:
        """Seats that start without cards (S4d)."""
        return tuple(self.value("S4d"))


def read_house_rules(said: Any) -> HouseRules:
    """Parse the house rules of a log's first line.

    Args:
        said: a preset's name, or ``{"base": preset, "on": [ids], "off": [ids], "set": {id: value}}``.

    Raises:
        RulesError: an unknown preset or row, a value out of range, or rows that contradict each other.
    """
    if isinstance(said, str):
        return _preset(said)
    if not isinstance(said, Mapping):
        raise RulesError(
            Sentence('house rules are a preset\'s name, or {{"base": …, "on": […], "off": […], "set": {{…}}}}')
        )
    for key in said:
        if key not in _KEYS:
            raise RulesError(
                'house rules have no "{key}"{hint}; they have {keys}',
                key=key,
                keys=", ".join(_KEYS),
                hint=suggest_nearest(str(key), _KEYS),
            )
    base = _preset(said.get("base", "classic"))
    on, off = _rows(said, "on"), _rows(said, "off")
    for problem in contradictions(on, off):
        raise RulesError(problem)
    rows = set(base.on)
    for row in on:
        rows -= RIVALS.get(row, frozenset())
        rows.add(row)
    values = {**base.values, **_values(said.get("set", {}))}
    if "S3" in values:
        rows.add("S3")
    rows -= set(off)
    return HouseRules(frozenset(rows), values)


def in_direction(said: Any, direction: str | None) -> Any:
    """Return the house rules with this direction of play (S5); unchanged if they already have it, and for None.

    Raises:
        RulesError: see `read_house_rules`.
    """
    if direction is None or read_house_rules(said).word("S5") == direction:
        return said
    whole: dict[str, Any] = {"base": said} if isinstance(said, str) else dict(said)
    others = {word: value for word, value in whole.get("set", {}).items() if row_named(word) != "S5"}
    return {**whole, "set": {**others, "S5": direction}}


def _preset(name: Any) -> HouseRules:
    preset = PRESETS.get(name) if isinstance(name, str) else None
    if preset is None:
        known = ", ".join(PRESETS)
        raise RulesError(
            'there is no preset "{name}"{hint}; the presets are {known}',
            name=name,
            hint=suggest_nearest(str(name), PRESETS),
            known=known,
        )
    return HouseRules(preset.rows | ALWAYS_ON, preset.values)


def _rows(said: Mapping[str, Any], key: str) -> list[str]:
    rows = said.get(key, [])
    if not isinstance(rows, list):
        raise RulesError('"{key}" is a list of row ids, such as ["P1"]', key=key)
    return [row_named(row) for row in rows]


def row_named(word: Any) -> str:
    """Return the id of a row given by its id, its name, or both (``P1``, ``double``, ``P1 double``).

    Raises:
        RulesError: there is no such row, or id and name belong to different rows.
    """
    if isinstance(word, str):
        if word in ROWS:
            return word
        if word in BY_NAME:
            return BY_NAME[word]
        row, _, name = word.partition(" ")
        if row in ROWS and name.strip() in BY_NAME:
            if BY_NAME[name.strip()] == row:
                return row
            raise RulesError(
                'row {row} is "{name}", not "{other}"; keep one of them',
                row=row,
                name=ROWS[row].name,
                other=name.strip(),
            )
    said = str(word)[:40]
    raise RulesError(
        'there is no row "{word}" in the rules{hint}', word=said, hint=suggest_nearest(said, (*ROWS, *BY_NAME))
    )


def contradictions(on: Iterable[str], off: Iterable[str]) -> Iterator[str]:
    """Yield each contradiction in switching these rows on and those off, as one sentence."""
    chosen = list(on)
    for row in off:
        if row in chosen:
            yield Sentence("row {row} is switched on and off at once; keep one of the two", row=row)
    for place, row in enumerate(chosen):
        for other in chosen[:place]:
            if other in RIVALS.get(row, ()):
                why = CONTRARY.get(frozenset((other, row)))
                pair = {
                    "one": f"{other} ({ROWS[other].name})",
                    "other": f"{row} ({ROWS[row].name})",
                }
                if why:
                    yield Sentence(
                        "rows {one} and {other} exclude each other: {why}; switch only one of them on", **pair, why=why
                    )
                else:
                    yield Sentence("rows {one} and {other} exclude each other; switch only one of them on", **pair)


def _values(said: Any) -> dict[str, Any]:
    if not isinstance(said, Mapping):
        raise RulesError(Sentence('"set" maps row ids to values, such as {{"F1": 2}}'))
    values: dict[str, Any] = {}
    for word, value in said.items():
        row = row_named(word)
        if row in values:
            raise RulesError("row {row} is set twice; keep one of them", row=row)
        values[row] = checked_value(row, value)
    return values


def checked_value(row: str, value: Any) -> Any:
    """Return the value if this row allows it.

    Raises:
        RulesError: the row has no value, or does not allow this one; says what is allowed.
    """
    entry = ROWS[row]
    if entry.check is None:
        raise RulesError('row {row} ("{name}") has no value to set', row=row, name=entry.name)
    if not entry.check(value):
        reason = _why_not(value) if row == "P19" else ""
        raise RulesError(
            "row {row}: {value} is not allowed; it must be {allowed}{reason}",
            row=row,
            value=repr(value),
            allowed=entry.allowed,
            reason=reason,
        )
    return value


def _why_not(patterns: Any) -> str:
    """Return the problem of the first custom pattern that cannot be read."""
    for name, text in patterns.items() if isinstance(patterns, Mapping) else ():
        try:
            compile_pattern(text)
        except NotationError as error:
            return Sentence("; {name}: {why}", name=name, why=error)
    return ""


def suggest_nearest(word: str, known: Iterable[str]) -> str:
    """Return a suggestion in brackets if a known word is close to this one; else an empty text."""
    folded = {name.casefold(): name for name in known}
    close = difflib.get_close_matches(word.casefold(), list(folded), n=1)
    return Sentence(' (did you mean "{word}"?)', word=folded[close[0]]) if close else ""
