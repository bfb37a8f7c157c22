"""Reads the stored lines of a game: invalid ones are left out, counted and reported, and stop nothing.

The record may hold anything: games come from other tables and older programs, and disks err. So every reader of stored
lines - the table that resumes a game, the page, the league, the broker - reads them here. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from referee.engine.log import LONGEST_LINE, from_fields, parse_object, ruling_of
from referee.engine.observations import (
    MAX_SEATS,
    Card,
    Join,
    Lift,
    LogError,
    Observation,
    Slap,
    Table,
    Tick,
)
from referee.engine.replay import ReplayedGame
from referee.engine.rulings import RULING_ORDER, Ruling
from referee.rules.cards import CARDS
from referee.sentence import Sentence
from referee.units import SECOND

_LONGEST_GAME: Final = 400 * 86_400 * SECOND
"""Greatest distance of a line's instant from the table's, ns: longer than any interrupted game."""
_GREATEST: Final = 2**62
"""Greatest instant of a table, ns: beyond it there is no room for those of its game."""


class OddLine(NamedTuple):
    """A line that was left out."""

    number: int
    """0 if unknown."""
    why: str


def _whole(value: Any) -> bool:
    return type(value) is int and -(2**63) <= value < 2**63


def _count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**31


def _seat(value: Any) -> bool:
    return type(value) is int and 1 <= value <= MAX_SEATS


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _card(value: Any) -> bool:
    return isinstance(value, str) and value in CARDS


def _many(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _or_none(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or check(value)


def _runner_up(value: Any) -> bool:
    return isinstance(value, dict) and _seat(value.get("seat")) and _or_none(_whole)(value.get("margin", ""))


_CHECKS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "id": lambda value: isinstance(value, str) and value != "",
    "t": _whole, "because": _many(_text), "rule": _many(_text), "supersedes": _many(_text), "amended_by": _text,
    "doubt": lambda value: type(value) is bool,
    "seat": _seat, "to": _seat, "against": _seat, "seats": _many(_seat), "by": _many(_seat),
    "challenged": _or_none(_seat), "card": _card, "count": _count, "chances": _count, "left": _count,
    "strikes": _count, "reason": _text, "foul": _text, "until": _text, "where": _text, "ask": _text, "what": _text,
    "decided_by": _text, "about": _many(_text), "patterns": _many(_text), "margin": _or_none(_whole),
    "error": _or_none(_whole), "runners_up": _many(_runner_up), "upheld": lambda value: type(value) is bool,
    "cards": lambda value: _count(value) or _many(_card)(value),
}  # fmt: skip
"""The check of each field of a ruling, whatever its kind."""
_NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    "lead": ("seat",), "turn": ("seat",), "challenge": ("seat", "challenged", "card", "chances"),
    "chance": ("seat", "left"), "challenge_moves": ("seat", "left"), "challenge_off": (), "challenge_won": ("seat",),
    "slap_won": ("seat", "patterns", "cards", "margin", "error", "runners_up", "decided_by"),
    "slap_false": ("seat", "reason"), "slap_void": ("seat", "reason"), "dead_heat": ("seats", "margin", "error"),
    "burn": ("seat", "count", "where"), "give": ("seat", "to", "count"), "strike": ("seat", "strikes"),
    "locked_out": ("seat", "until"), "dead_card": ("seat", "card", "reason"), "foul": ("seat", "foul"),
    "pile": ("seat", "count"), "out": ("seat",), "slapped_in": ("seat",), "contested": ("against", "by", "upheld"),
    "question": ("ask", "about"), "remind": ("what",), "repeated": ("cards",), "won": ("seat",), "lost": ("seat",),
    "drawn": (), "corrected": (),
}  # fmt: skip
"""The fields of each kind of ruling, besides those that all have."""
_LISTS: Final = frozenset(("slap_won", "question"))
"""Kinds whose ``cards`` are cards; elsewhere they are a count."""


def check_ruling(raw: Mapping[str, Any]) -> str:
    """Return what is odd about a ruling's object; empty for one that can be shown, summed and spoken."""
    kind = raw.get("ruling")
    if not isinstance(kind, str) or kind not in RULING_ORDER:
        return "a ruling of a kind that is not known here"
    for name in ("id", "t", *_NEEDED[kind]):
        if name not in raw:
            return f'this {kind} has no "{name}"'
    for name, value in raw.items():
        if name in _CHECKS and not _CHECKS[name](value):
            return f'"{name}" of this {kind} is not what it should be'
    if kind == "dead_heat" and None in (raw["margin"], raw["error"]):
        return "this dead_heat has no margin"
    if isinstance(raw.get("cards"), list) is not (kind in _LISTS) and "cards" in raw:
        return f'"cards" of this {kind} is not what it should be'
    return ""


def read_ruling(text: str, number: int = 0) -> Ruling:
    """Return the ruling in a stored line; raises `LogError` if it holds none."""
    raw = _object(text, number)
    if odd := check_ruling(raw):
        raise LogError(number, odd)
    return ruling_of(raw)


def _object(text: Any, number: int) -> dict[str, Any]:
    if not isinstance(text, str):
        raise LogError(number, Sentence("no text"))
    if len(text) > LONGEST_LINE:
        raise LogError(number, Sentence("longer than {most} characters", most=LONGEST_LINE))
    raw = parse_object(text, number)
    if "\\u" in text or "NaN" in text or "Infinity" in text:
        try:
            json.dumps(raw, ensure_ascii=False, allow_nan=False).encode()
        except ValueError:
            raise LogError(number, Sentence("it holds a value that is neither text nor number")) from None
    return raw


class LineReader:
    """Reads the lines of one game, in order, in any number of portions."""

    def __init__(self) -> None:
        self.odd: list[OddLine] = []
        """The lines left out so far."""
        self.table: Table | None = None
        self._ids: set[str | int] = set()
        self._joined = 0
        """The last seat that joined."""

    def read(
        self, rows: Iterable[tuple[int, str]], *, ticks: bool = True
    ) -> tuple[list[tuple[int, Observation]], list[Ruling]]:
        """Return observations with the numbers of their lines, and rulings, each in the order of the game.

        Args:
            rows: numbers and texts of the next lines.
            ticks: include ticks; most lines of a live game are ticks.
        """
        found: list[tuple[int, Observation]] = []
        rulings: list[Ruling] = []
        for number, text in rows:
            if not ticks and isinstance(text, str) and text.startswith('{"kind":"tick"'):
                continue
            try:
                raw = _object(text, number)
                if "ruling" in raw and "kind" not in raw:
                    rulings.append(read_ruling(text, number))
                    continue
                seen = from_fields(raw, number)
                self._fit(seen, number)
            except LogError as error:
                self.leave_out(number, error)
                continue
            if ticks or not isinstance(seen, Tick):
                found.append((number, seen))
        return self._at_the_table(found), rulings

    def leave_out(self, number: int, bad: LogError) -> None:
        """Note that a line turned out not to fit this game."""
        self.odd.append(OddLine(number, bad.problem))

    def _fit(self, seen: Observation, number: int) -> None:
        """Raise `LogError` for a line that is valid by itself, but does not fit this game."""
        if isinstance(seen, Table):
            if self.table is not None:
                raise LogError(number, Sentence("a second table: a log holds one game"))
            if abs(seen.t) > _GREATEST:
                raise LogError(number, Sentence("the table's instant is outside the years in which people play"))
            self.table = seen
        elif self.table is None:
            raise LogError(number, Sentence("it comes before the table of its game"))
        elif abs(seen.t - self.table.t) > _LONGEST_GAME:
            raise LogError(number, Sentence("its instant lies outside this game"))
        elif isinstance(seen, Card) and seen.t < self.table.t:
            raise LogError(number, Sentence("a card that came before its table"))
        name = int(seen.id) if seen.id.isascii() and seen.id.isdigit() and len(seen.id) < 19 else seen.id
        name = name if str(name) == seen.id else seen.id
        if name in self._ids:
            raise LogError(number, Sentence('the id "{id}" was used before', id=seen.id))
        self._ids.add(name)

    def _at_the_table(self, lines: Sequence[tuple[int, Observation]]) -> list[tuple[int, Observation]]:
        """Return the lines without those of seats that the table does not have, and that never join."""
        self._joined = max([self._joined, *(seen.seat for _, seen in lines if isinstance(seen, Join))])
        sits = max(self._joined, len(self.table.seats) if self.table is not None else 0)
        kept = []
        for number, seen in lines:
            if (getattr(seen, "seat", None) or 0) > sits and not isinstance(seen, Slap | Lift):
                self.leave_out(number, LogError(number, Sentence("this table has {sits} seats", sits=sits)))
            else:
                kept.append((number, seen))
        return kept


def replay_rows(rows: Iterable[tuple[int, str]]) -> tuple[ReplayedGame, list[OddLine]]:
    """Return a game ruled again from its stored lines, and the lines that were left out.

    Raises:
        LogError: it has no table, or one that cannot be played at.
        TooLong: it is too long to be kept.
    """
    reader = LineReader()
    lines, logged = reader.read(rows)
    return ReplayedGame(lines, logged, leave_out=reader.leave_out), reader.odd


def tell_odd_lines(odd: Sequence[OddLine]) -> str:
    """Return what was left out of a game, in words; empty for nothing."""
    if not odd:
        return ""
    many = "1 line" if len(odd) == 1 else f"{len(odd)} lines"
    number, why = odd[0]
    where = f"line {number}, " if number else ""
    return f"{many} of the game cannot be used and {'is' if len(odd) == 1 else 'are'} left out: {where}{why}"
