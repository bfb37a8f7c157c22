"""The hall's model of each table, built from messages and elapsed time; and the league of a day. Pure."""

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
"""A table publishes its state every ten seconds at least; one that has missed three is silent."""
MOST_TABLES: Final = 2000
"""Maximum number of tables: a broker may be flooded with names."""
_RECENT: Final = 12
"""Rulings kept for each table."""


class HallTable:
    """One table. Its facts are the displayed values, each with the number of the change that set it."""

    def __init__(self, name: str, now: int) -> None:
        self.name = name
        self.available: bool | None = None
        self.state: StatePayload | None = None
        self.day: DayPayload | None = None
        self.heard = now
        """Time of the last live message, ns; a retained one is no sign of life."""
        self.recent: deque[tuple[int, Ruling]] = deque(maxlen=_RECENT)
        self.session = ""
        self.number = 0
        self.missed = 0
        """Rulings that were lost, or published while the hall was not listening."""
        self.facts: dict[str, tuple[int, object]] = {}
        self.changed = 0

    def condition(self, now: int, connected: bool) -> str:
        """Return the condition in one word: silent (the display is outdated), waiting, over, paused or live."""
        state = self.state
        if not connected or self.available is not True or now - self.heard > SILENT_AFTER:
            return "silent"
        if state is None or state.game is None:
            return "waiting"
        if not state.on:
            return "over"
        return "paused" if state.paused else "live"

    def take(self, session: str, number: int, ruling: Ruling | None) -> None:
        """Take a ruling, and count the skipped numbers."""
        if session != self.session:
            # The first ruling heard in a session need not be its first.
            self.session, self.number = session, number - 1
        if number <= self.number:
            return  # a duplicate, since its acknowledgement was lost
        self.missed += number - self.number - 1
        self.number = number
        if ruling is not None and ruling.kind not in SHOWN_BY_POSITION:
            self.recent.append((number, ruling))

    def now_shows(self, now: int, connected: bool) -> dict[str, object]:
        """Return the present facts."""
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
        """Messages that were not a table's payload."""
        self.gone: dict[str, int] = {}
        """Removed tables, with the number of that change."""
        self._stale: set[str] = set()

    @property
    def missed(self) -> int:
        """Rulings that never arrived here, over all tables."""
        return sum(table.missed for table in self.tables.values())

    def hear(self, topic: str, payload: bytes, retained: bool, now: int, wall: float = 0.0) -> None:
        """Take a message; an unintelligible one is counted and dropped. Call `settle` afterwards.

        Args:
            topic: of the message.
            payload: of the message.
            retained: whether the broker had stored it.
            now: time of arrival, ns.
            wall: the wall time then, s since 1970, from which follows the age of a retained state, if the table's clock
                was right.
        """
        self.messages += 1
        name, leaf = parsed(topic) or ("", "")
        if name and not payload:
            # Clearing a table's retained state removes the table.
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
            # In a full hall the table's ``online`` may have been refused for lack of room.
            table.available = True if table.available is None else table.available
        elif leaf == "state" and not known_state and table.state is not None:
            table.heard = now - _age(table.state.at, wall)
        self._stale.add(name)

    def _has_room(self, new: HallTable, now: int) -> bool:
        """Return whether there is room for a table: in a full hall, it replaces one that is silent or has no state."""
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
        """Set whether the broker is connected: without it no table is live."""
        if connected != self.connected:
            self.connected = connected
            self._stale.update(self.tables)

    def pass_time(self, now: int) -> None:
        """Advance to ``now``, ns: some tables may have gone silent."""
        for name, table in self.tables.items():
            if table.facts and table.facts["condition"][1] != table.condition(now, self.connected):
                self._stale.add(name)

    def settle(self, now: int) -> bool:
        """Number the changes since the last call; return whether there were any."""
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
    """Return the age of a table's timestamp, ns; 0 if it is unknown."""
    try:
        return max(0, int((wall - datetime.fromisoformat(at).timestamp()) * SECOND))
    except (ValueError, OverflowError):
        return 0


@dataclass(frozen=True, slots=True)
class PlayerDay:
    """One player's day; players of the same name count as one, across tables."""

    name: str
    tables: int
    games: int
    won: int
    slaps: int
    false: int
    cards: int


def rank_players(days: Iterable[DayPayload], day: str) -> list[PlayerDay]:
    """Return the rows of one day, the best first: by games won, then slaps won, then fewer false slaps, then name.

    Args:
        days: each table's day.
        day: the date that counts, ISO 8601; other dates are ignored.
    """
    sums: dict[str, Counter[str]] = {}
    for payload in days:
        if payload.day != day:
            continue
        for player in payload.players:
            row = sums.setdefault(player.name, Counter())
            row.update({field: getattr(player, field) for field in TALLIED})
            row["tables"] += 1
    rows = [PlayerDay(name, row["tables"], *(row[field] for field in TALLIED)) for name, row in sums.items()]
    return sorted(rows, key=lambda row: (-row.won, -row.slaps, row.false, row.name))
