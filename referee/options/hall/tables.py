"""What the hall knows of each table, built from messages and from time that passes; and the league of a day. Pure."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from referee.engine.rulings import SHOWN_BY_POSITION, Ruling
from referee.options.broker.messages import OFFLINE, ONLINE, parsed
from referee.options.broker.service import TALLIED
from referee.options.hall.payloads import DayPayload, RulingPayload, StatePayload, known_ruling, read_payload
from referee.units import MS, SECOND

_NONE: Final = object()
SILENT_AFTER: Final = 30 * SECOND
"""A table tells its present every ten seconds at least; one that has missed three is silent."""
MOST_TABLES: Final = 2000
"""More are not taken up: a broker may be flooded with names."""
_RECENT: Final = 12
"""Rulings kept of each table."""


class HallTable:
    """One table. Its facts are what is shown, each with the number of the change that made it so."""

    def __init__(self, name: str, now: int) -> None:
        self.name = name
        self.available: bool | None = None
        self.state: StatePayload | None = None
        self.day: DayPayload | None = None
        self.heard = now
        """When it was heard last, ns; what had been retained is no sign of life."""
        self.recent: deque[tuple[int, Ruling]] = deque(maxlen=_RECENT)
        self.session = ""
        self.number = 0
        self.missed = 0
        """Rulings that were told while nobody here listened, or that were lost."""
        self.facts: dict[str, tuple[int, object]] = {}
        self.changed = 0

    def condition(self, now: int, connected: bool) -> str:
        """In one word: silent (what is shown is old), waiting, over, paused or live."""
        state = self.state
        if not connected or self.available is not True or now - self.heard > SILENT_AFTER:
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
        if ruling is not None and ruling.kind not in SHOWN_BY_POSITION:
            self.recent.append((number, ruling))

    def now_shows(self, now: int, connected: bool) -> dict[str, object]:
        """The facts as they are now."""
        state, condition = self.state, self.condition(now, connected)
        facts: dict[str, object] = {
            "condition": condition,
            "quiet": self.heard // MS if condition == "silent" else None,
            "n": self.number,
            "said": self.recent[-1][1] if self.recent else state.last_ruling if state else None,
            "recent": tuple(self.recent),
        }
        if state is None:
            return facts
        asks, troubles = (state.asks, state.trouble_lines) if condition != "silent" else ((), ())
        return facts | {
            "names": state.names,
            "cards": tuple(seat.cards for seat in state.seats),
            "locked": tuple(place for place, seat in enumerate(state.seats, 1) if seat.locked_out),
            "pile": state.pile.cards, "top": state.pile.top, "turn": state.turn, "owner": state.owner,
            "winner": state.winner,
            "pays": state.pays, "asks": asks, "troubles": troubles, "help": bool(asks or troubles),
            "game": state.game, "at": state.at,
        }  # fmt: skip


class Hall:
    """Every table of one broker."""

    def __init__(self) -> None:
        self.tables: dict[str, HallTable] = {}
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
        name, leaf = parsed(topic) or ("", "")
        if name and not payload:
            # Who takes a table's retained state off the broker takes the table away.
            if leaf == "state" and name in self.tables:
                self._drop(name)
            return
        table = self.tables.get(name) or HallTable(name, now)
        known_state = table.state is not None
        if not name or not self._take(table, leaf, payload) or not (name in self.tables or self._has_room(table, now)):
            self.refused += 1
            return
        self.tables[name] = table
        self.gone.pop(name, None)
        if not retained and leaf != "available":
            table.heard = now
            # Whoever is taken up in a full hall has said it before, when there was no room for so little.
            table.available = True if table.available is None else table.available
        elif leaf == "state" and not known_state and table.state is not None:
            table.heard = now - _age(table.state.at, wall)
        self._stale.add(name)

    def _has_room(self, new: HallTable, now: int) -> bool:
        """Whether a table can be taken up: in a full hall a name that tells nothing, or no more, makes way for one."""
        if len(self.tables) < MOST_TABLES:
            return True
        least = min(self.tables.values(), key=lambda table: (table.state is not None, table.heard))
        if new.state is None or (least.state is not None and now - least.heard <= SILENT_AFTER):
            return False
        self._drop(least.name)
        return True

    def _drop(self, name: str) -> None:
        del self.tables[name]
        self.change += 1
        self.gone[name] = self.change
        self._stale.discard(name)
        while len(self.gone) > MOST_TABLES:
            self.gone.pop(next(iter(self.gone)))

    @staticmethod
    def _take(table: HallTable, leaf: str, payload: bytes) -> bool:
        if leaf == "available":
            if payload not in (ONLINE, OFFLINE):
                return False
            table.available = payload == ONLINE
        elif leaf == "state":
            state = read_payload(StatePayload, payload)
            if state is None:
                return False
            if table.state is not None and table.state.game != state.game:
                table.recent.clear()
            table.state = state
        elif leaf == "day":
            day = read_payload(DayPayload, payload)
            table.day = day or table.day
            return day is not None
        else:
            told = read_payload(RulingPayload, payload)
            if told is None:
                return False
            ruling = known_ruling(told.ruling, table.state.names if table.state else ())
            table.take(told.session, told.number, ruling)
        return True

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


@dataclass(frozen=True, slots=True)
class PlayerDay:
    """One player's day; whoever bears the same name is the same player, whatever the table."""

    name: str
    tables: int
    games: int
    won: int
    slaps: int
    false: int
    cards: int


def rank_players(days: Iterable[DayPayload], day: str) -> list[PlayerDay]:
    """Rows for one day, the best first: by games won, then slaps won, then fewer false slaps, then name.

    Args:
        days: what each table's day came to.
        day: the date that counts, ISO 8601; a table that was last on yesterday does not.
    """
    sums: dict[str, Counter[str]] = {}
    for one in days:
        if one.day != day:
            continue
        for player in one.players:
            row = sums.setdefault(player.name, Counter())
            row.update({field: getattr(player, field) for field in TALLIED})
            row["tables"] += 1
    rows = [PlayerDay(name, row["tables"], *(row[field] for field in TALLIED)) for name, row in sums.items()]
    return sorted(rows, key=lambda row: (-row.won, -row.slaps, row.false, row.name))
