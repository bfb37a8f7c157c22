"""Payloads from a broker, of which nothing is believed: checked and bounded, or None. Pure.

Anybody who may publish on the broker may have written them.

What the hall knows of each table: built from messages and from time that passes. Pure; time is data.

The league: what the day came to for every player, all tables together. Pure.
"""

from __future__ import annotations

import json
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar

from referee.engine.log import ruling_of
from referee.engine.rulings import RULING_ORDER, Ruling
from referee.extras.broker.messages import OFFLINE, ONLINE, UNTOLD, parsed
from referee.extras.broker.publisher import TALLIED
from referee.text.catalogue import texts
from referee.text.ruling_lines import RulingWords

T = TypeVar("T")
LONGEST: Final = 32 * 1024
"""Bytes of a payload; a table's own have two or three thousand at most."""
NAME: Final = 40
"""Characters of a name."""
WORDS: Final = 300
"""Characters of a sentence."""
SEATS: Final = 16
PLAYERS: Final = 200
OPEN: Final = 4
"""Open questions and troubles shown of one table."""
LARGEST: Final = 10**9
_CARD: Final = re.compile(r"[A2-9TJQK][shdc]|X[rb]|\?\?", re.ASCII)
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_UNSEEN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]+")
"""What cannot be seen, turns the direction of writing round, or cannot be encoded."""


@dataclass(frozen=True, slots=True)
class Seat:
    """One player."""

    name: str
    cards: int | None
    locked_out: bool


@dataclass(frozen=True, slots=True)
class Numbered:
    """A ruling with its place in what the table has told since it was switched on."""

    session: str
    number: int
    ruling: Ruling | None
    """None where the payload says nothing that we can put into words."""


@dataclass(frozen=True, slots=True)
class State:
    """What a table says of itself."""

    session: str
    number: int
    game: int | None
    on: bool
    paused: bool
    seats: tuple[Seat, ...]
    pile: int
    top: str | None
    turn: int | None
    owner: int | None
    winner: int | None
    challenge: tuple[int, int] | None
    """Who pays, and chances left."""
    asks: tuple[Ruling, ...]
    troubles: tuple[str, ...]
    last: Ruling | None
    at: str

    @property
    def names(self) -> tuple[str, ...]:
        """In seat order."""
        return tuple(seat.name for seat in self.seats)


@dataclass(frozen=True, slots=True)
class Day:
    """What a table's day came to: for each player's name the counts of `TALLIED`."""

    day: str
    players: tuple[tuple[str, tuple[int, ...]], ...]


class _Bad(Exception):  # noqa: N818 - never leaves this file
    """A field that is not what it should be."""


def state_of(payload: bytes) -> State | None:
    """A `State`; None for anything else."""
    return _parsed(payload, _state)


def numbered_of(payload: bytes, names: tuple[str, ...]) -> Numbered | None:
    """A ruling that can be said in words with these players; None for anything else."""
    return _parsed(payload, lambda raw: _numbered(raw, names))


def day_of(payload: bytes) -> Day | None:
    """A `Day`; None for anything else."""
    return _parsed(payload, _day)


def _parsed(payload: bytes, make: Callable[[Mapping[str, Any]], T]) -> T | None:
    if len(payload) > LONGEST:
        return None
    try:
        raw = json.loads(payload)
        return make(raw) if isinstance(raw, dict) else None
    except (ValueError, RecursionError, _Bad):
        return None


def _state(raw: Mapping[str, Any]) -> State:
    pile = _object(raw.get("pile"))
    seats = tuple(_seat(_object(one)) for one in _list(raw.get("seats"), SEATS))
    names = tuple(seat.name for seat in seats)
    last = _object(raw["last"]) if raw.get("last") is not None else {}
    here = len(seats)
    asks = (_question(_object(one), names) for one in _list(raw.get("questions", []), LARGEST)[:OPEN])
    return State(
        session=text(raw.get("session")),
        number=_count(raw.get("n")),
        game=_none_or(_count, raw.get("game")),
        on=_flag(raw.get("on")),
        paused=_flag(raw.get("paused")),
        seats=seats,
        pile=_count(pile.get("cards")),
        top=_none_or(_card, pile.get("top")),
        turn=_seat_number(raw.get("turn"), here),
        owner=_seat_number(raw.get("owner"), here),
        winner=_seat_number(raw.get("winner"), here),
        challenge=_challenge(raw.get("challenge"), here),
        asks=tuple(ask for ask in asks if ask is not None),
        troubles=tuple(_troubles(_object(raw.get("troubles", {})))),
        last=said(last.get("ruling"), names),
        at=text(raw.get("at", "")),
    )


def _seat(raw: Mapping[str, Any]) -> Seat:
    return Seat(text(raw.get("name")), _none_or(_count, raw.get("cards")), _flag(raw.get("locked_out", False)))


def _challenge(raw: Any, seats: int) -> tuple[int, int] | None:
    if raw is None:
        return None
    fields = _object(raw)
    payer = _seat_number(fields.get("challenged"), seats)
    return None if payer is None else (payer, _count(fields.get("left")))


def _question(raw: Mapping[str, Any], names: tuple[str, ...]) -> Ruling | None:
    cards = [_card(one) for one in _list(raw.get("cards", []), SEATS)]
    fields = {"ruling": "question", "id": text(raw.get("id"), WORDS), "t": 0, "ask": text(raw.get("ask"))}
    return said({**fields, "cards": cards}, names)


def _troubles(raw: Mapping[str, Any]) -> list[str]:
    return [f"{text(part)}: {text(words, WORDS)}" for part, words in list(raw.items())[:OPEN]]


def _numbered(raw: Mapping[str, Any], names: tuple[str, ...]) -> Numbered:
    return Numbered(text(raw.get("session")), _count(raw.get("n")), said(raw.get("ruling"), names))


def said(raw: Any, names: tuple[str, ...]) -> Ruling | None:
    """A ruling of a kind that we know, and that becomes a sentence; None for any other.

    A kind that nobody knows must not get through: a sentence's template is looked up by it, and one with braces would
    be taken as a template itself.
    """
    if not isinstance(raw, dict) or not isinstance(kind := raw.get("ruling"), str) or kind not in RULING_ORDER:
        return None
    try:
        ruling = ruling_of(raw)
        RulingWords(names, texts("en"))(ruling)
    except Exception:  # whatever a made-up field leads to, there is no sentence then
        return None
    return ruling


def sentence(ruling: Ruling, words: RulingWords) -> str:
    """A ruling in words, bounded; empty where there are none."""
    try:
        return text(words(ruling)[:WORDS], WORDS)
    except Exception:  # as in `said`
        return ""


def _day(raw: Mapping[str, Any]) -> Day:
    day = text(raw.get("day"))
    if not _DAY.fullmatch(day):
        raise _Bad
    players = (_object(one) for one in _list(raw.get("players"), PLAYERS))
    return Day(day, tuple((text(one.get("name")), tuple(_count(one.get(f, 0)) for f in TALLIED)) for one in players))


def text(value: Any, most: int = NAME) -> str:
    """A text without what cannot be seen, cut to a length; raises for anything else."""
    if not isinstance(value, str):
        raise _Bad
    return _UNSEEN.sub(" ", value[: 4 * most]).strip()[:most]


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= LARGEST:
        raise _Bad
    return value


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise _Bad
    return value


def _card(value: Any) -> str:
    if not isinstance(value, str) or not _CARD.fullmatch(value):
        raise _Bad
    return value


def _seat_number(value: Any, seats: int) -> int | None:
    if value is None:
        return None
    number = _count(value)
    return number if 1 <= number <= seats else None


def _none_or(check: Any, value: Any) -> Any:
    return None if value is None else check(value)


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _Bad
    return value


def _list(value: Any, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise _Bad
    return value


SECOND: Final = 1_000_000_000
SILENCE: Final = 30 * SECOND
"""A table tells its present every ten seconds at least; one that has missed three is silent."""
TABLES: Final = 2000
"""More are not taken up: a broker may be flooded with names."""
RECENT: Final = 12
"""Rulings kept of each table."""
_Fact = object


class Table:
    """One table. Its facts are what is shown, each with the number of the change that made it so."""

    def __init__(self, name: str, now: int) -> None:
        self.name = name
        self.available: bool | None = None
        self.state: State | None = None
        self.day: Day | None = None
        self.heard = now
        """When it was heard last, ns; what had been retained is no sign of life."""
        self.recent: deque[tuple[int, Ruling]] = deque(maxlen=RECENT)
        self.session = ""
        self.number = 0
        self.missed = 0
        """Rulings that were told while nobody here listened, or that were lost."""
        self.facts: dict[str, tuple[int, _Fact]] = {}
        self.changed = 0

    def silent(self, now: int, connected: bool) -> bool:
        """Whether what is shown is old."""
        return not connected or self.available is not True or now - self.heard > SILENCE

    def condition(self, now: int, connected: bool) -> str:
        """In one word: silent, waiting, over, paused or live."""
        state = self.state
        if self.silent(now, connected):
            return "silent"
        if state is None or state.game is None:
            return "waiting"
        if not state.on:
            return "over"
        return "paused" if state.paused else "live"

    def take(self, session: str, number: int, ruling: Ruling | None) -> None:
        """A ruling was told; numbers that were passed over are counted."""
        if session != self.session:
            # The first that is heard of a run need not be its first.
            self.session, self.number = session, number - 1
        if number <= self.number:
            return  # sent again, since its receipt was lost
        self.missed += number - self.number - 1
        self.number = number
        if ruling is not None and ruling.kind not in UNTOLD:
            self.recent.append((number, ruling))

    def now_shows(self, now: int, connected: bool) -> dict[str, _Fact]:
        """The facts as they are now."""
        state, condition = self.state, self.condition(now, connected)
        facts: dict[str, _Fact] = {
            "condition": condition,
            "quiet": self.heard // 1_000_000 if condition == "silent" else None,
            "n": self.number,
            "said": self.recent[-1][1] if self.recent else state.last if state else None,
            "recent": tuple(self.recent),
        }
        if state is None:
            return facts
        asks, troubles = (state.asks, state.troubles) if condition != "silent" else ((), ())
        return facts | {
            "names": state.names,
            "cards": tuple(seat.cards for seat in state.seats),
            "locked": tuple(place for place, seat in enumerate(state.seats, 1) if seat.locked_out),
            "pile": state.pile, "top": state.top, "turn": state.turn, "owner": state.owner, "winner": state.winner,
            "pays": state.challenge, "asks": asks, "troubles": troubles, "help": bool(asks or troubles),
            "game": state.game, "at": state.at,
        }  # fmt: skip


class Hall:
    """Every table of one broker."""

    def __init__(self) -> None:
        self.tables: dict[str, Table] = {}
        self.change = 0
        """Number of the last change."""
        self.connected = False
        self.messages = 0
        self.refused = 0
        """Messages that were no payload of a table."""
        self.gone: dict[str, int] = {}
        """Tables that were taken off the broker, with the number of that change."""
        self._stale: set[str] = set()

    @property
    def missed(self) -> int:
        """Rulings that never arrived here, all tables together."""
        return sum(table.missed for table in self.tables.values())

    def hear(self, topic: str, payload: bytes, retained: bool, now: int, wall: float = 0.0) -> None:
        """One message; what cannot be understood is counted and left out. Then `settle`.

        Args:
            topic: where it was published.
            payload: what.
            retained: whether the broker had kept it for us.
            now: when it came, ns.
            wall: the wall time then, s since 1970: how old a retained state is, if the table knew the time.
        """
        self.messages += 1
        where = parsed(topic)
        if where is None:
            self.refused += 1
            return
        name, leaf = where
        if not payload:
            self._forget(name, leaf)
            return
        table = self.tables.get(name)
        known = table is not None
        if table is None:
            if len(self.tables) >= TABLES:
                self.refused += 1
                return
            table = Table(name, now)
        known_state = table.state is not None
        if not self._hear(table, leaf, payload):
            self.refused += 1
            return
        if not known:
            self.tables[name] = table
            self.gone.pop(name, None)
        if not retained and leaf != "available":
            table.heard = now
        elif leaf == "state" and not known_state and table.state is not None:
            table.heard = now - _age(table.state.at, wall)
        self._stale.add(name)

    def _hear(self, table: Table, leaf: str, payload: bytes) -> bool:
        if leaf == "available":
            if payload not in (ONLINE, OFFLINE):
                return False
            table.available = payload == ONLINE
        elif leaf == "state":
            state = state_of(payload)
            if state is None:
                return False
            if table.state is not None and table.state.game != state.game:
                table.recent.clear()
            table.state = state
        elif leaf == "day":
            day = day_of(payload)
            if day is None:
                return False
            table.day = day
        else:
            numbered = numbered_of(payload, table.state.names if table.state else ())
            if numbered is None:
                return False
            table.take(numbered.session, numbered.number, numbered.ruling)
        return True

    def _forget(self, name: str, leaf: str) -> None:
        """An empty payload takes a retained one off the broker: who clears a table's state takes the table away."""
        if leaf == "state" and self.tables.pop(name, None) is not None:
            self.change += 1
            self.gone[name] = self.change
            self._stale.discard(name)
            while len(self.gone) > TABLES:
                self.gone.pop(next(iter(self.gone)))

    def broker(self, connected: bool) -> None:
        """The connection to the broker stands, or is gone: nothing is live without it."""
        if connected != self.connected:
            self.connected = connected
            self._stale.update(self.tables)

    def pass_time(self, now: int) -> None:
        """It is ``now``, ns: some tables may have fallen silent."""
        for name, table in self.tables.items():
            if table.facts and table.facts["condition"][1] != table.condition(now, self.connected):
                self._stale.add(name)

    def settle(self, now: int) -> bool:
        """Number what has changed since the last call; returns whether anything has."""
        before = self.change
        for name in self._stale:
            table = self.tables[name]
            fresh = table.now_shows(now, self.connected)
            differing = {key: fact for key, fact in fresh.items() if table.facts.get(key, (0, _NONE))[1] != fact}
            if differing:
                self.change += 1
                table.changed = self.change
                table.facts.update({key: (self.change, fact) for key, fact in differing.items()})
        self._stale.clear()
        return self.change != before


def _age(at: str, wall: float) -> int:
    """How long ago a table's label says that it was, ns; nothing where that cannot be told."""
    try:
        return max(0, int((wall - datetime.fromisoformat(at).timestamp()) * SECOND))
    except (ValueError, OverflowError):
        return 0


_NONE: Final = object()


@dataclass(frozen=True, slots=True)
class Row:
    """One player's day; whoever bears the same name is the same player, whatever the table."""

    name: str
    tables: int
    games: int
    won: int
    slaps: int
    false: int
    cards: int


def league(days: Iterable[tuple[str, Day]], day: str) -> list[Row]:
    """Rows for one day, the best first: by games won, then slaps won, then fewer false slaps, then name.

    Args:
        days: by table, what its day came to.
        day: the date that counts, ISO 8601; a table that was last on yesterday does not.
    """
    sums: dict[str, Counter[str]] = {}
    for _, one in days:
        if one.day != day:
            continue
        for name, counts in one.players:
            row = sums.setdefault(name, Counter())
            row.update(dict(zip(TALLIED, counts, strict=True)))
            row["tables"] += 1
    rows = [
        Row(name, c["tables"], c["games"], c["won"], c["slaps"], c["false"], c["cards"]) for name, c in sums.items()
    ]
    return sorted(rows, key=lambda row: (-row.won, -row.slaps, row.false, row.name))
