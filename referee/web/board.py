"""What the scoreboard knows of the game that is on: built from the record's lines and from what the page is told.

Pure; the page's following of the game feeds it. What it offers for correction is what the main process would accept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Final, NamedTuple

from referee.engine.amended_log import AmendedLog
from referee.engine.log import replaced, ruling_of, split
from referee.engine.observations import Card, Correct, Observation, Slap, Table
from referee.engine.overrule import Overrulable, allows_corrections, overrulable
from referee.engine.rulings import Ruling, cause_of
from referee.engine.view import View
from referee.web.layout import address
from referee.web.news import News
from referee.web.photo_finish.moment import Finish, finish

SHOWN: Final = 14
"""Rulings in the list."""
CAPTIONS: Final = 5
KEPT: Final = 500
"""Lines that are remembered; a slap is over within a few."""
CORRECTABLE: Final = 12
"""Cards that are offered for correction."""
_QUIET: Final = frozenset(("turn", "lead", "chance"))
"""Rulings that the state of the table shows better than a list."""
_SLAPS: Final = frozenset(("slap_won", "slap_false", "slap_void"))


class Board:
    """The present state. Knows no clock, no file and no language."""

    def __init__(self) -> None:
        self.troubles: dict[str, str] = {}
        self.about: Mapping[str, Any] | None = None
        """What the main process said of the table; see `publishing.news`."""
        self.said: deque[tuple[int, str]] = deque(maxlen=CAPTIONS)
        self._captions = 0
        self._empty()

    def _empty(self) -> None:
        """Nothing is known of a game."""
        self.game: int | None = None
        self.names: tuple[str, ...] = ()
        self.began = 0
        """The instant of the first line, ns."""
        self.line = 0
        self.view = View()
        self.live = False
        self.paused = False
        self.correctable = True
        """Whether the house rules let people correct the referee (K6)."""
        self.rulings: list[Ruling] = []
        self.replaced_by: dict[str, str] = {}
        self._early: dict[str, Ruling] = {}
        self._places: dict[str, int] = {}
        self._lines: deque[Observation] = deque(maxlen=KEPT)
        self._corrections: list[Observation] = []

    def begin(self, game: int, names: Sequence[str]) -> None:
        """Another game is shown from now on."""
        self._empty()
        self.game, self.names = game, tuple(names)

    def add_lines(self, rows: Sequence[tuple[int, str]]) -> None:
        """Lines of the record that follow those that were added before; raises `LogError` for one that is none."""
        observations, rulings = split(rows)
        for _, seen in observations:
            if isinstance(seen, Table):
                self.names, self.began, self.correctable = seen.seats, seen.t, allows_corrections(seen.rules)
            (self._corrections if isinstance(seen, Correct) else self._lines).append(seen)
        if rows:
            self.line = rows[-1][0]
        self.add_rulings(rulings)

    def add_rulings(self, rulings: Iterable[Ruling]) -> None:
        """Rulings that stand; those of the same id that were told early make way."""
        for ruling in rulings:
            self._early.pop(ruling.id, None)
            if ruling.id in self._places:
                self.rulings[self._places[ruling.id]] = ruling
            else:
                self._places[ruling.id] = len(self.rulings)
                self.rulings.append(ruling)
            self.replaced_by.update(replaced((ruling,)))

    def hear(self, news: News) -> None:
        """What the main process tells."""
        if news.game is not None:
            self.view, self.live, self.paused = news.view, True, news.paused
            self.names = news.view.names or self.names
        self.troubles = dict(news.troubles)
        self.about = news.about
        for text in news.said:
            self._captions += 1
            self.said.append((self._captions, text))
        for raw in news.rulings:
            try:
                ruling = ruling_of(raw)
            except (KeyError, TypeError, ValueError):
                continue
            if ruling.id not in self._places:
                self._early[ruling.id] = ruling

    def listed(self) -> list[Ruling]:
        """The latest rulings worth a line, the latest first."""
        out = list(reversed(self._early.values()))
        for ruling in reversed(self.rulings):
            if ruling.kind not in _QUIET:
                out.append(ruling)
            if len(out) >= SHOWN:
                break
        return [ruling for ruling in out if ruling.kind not in _QUIET][:SHOWN]

    def questions(self) -> list[Ruling]:
        """What the table is asked, the oldest first."""
        found = (self._places.get(name) for name in self.view.questions)
        return [self.rulings[at] for at in found if at is not None]

    @property
    def playing(self) -> bool:
        """Whether a game is on, as far as the main process tells."""
        return self.live and self.game is not None and not self.view.game_over

    def _lines_now(self) -> list[Observation]:
        """The latest lines as they stand, with what people corrected since, by instant."""
        return AmendedLog([*self._lines, *self._corrections], ()).all_now()

    def cards(self) -> list[Card]:
        """The latest cards, the newest first, for people to correct."""
        found = [line for line in self._lines_now() if isinstance(line, Card)]
        return sorted(found, key=lambda card: card.t, reverse=True)[:CORRECTABLE]

    def hands(self) -> list[Slap]:
        """All hands that are remembered, as they stand, the newest first."""
        found = [line for line in self._lines_now() if isinstance(line, Slap)]
        return sorted(found, key=lambda hand: hand.t, reverse=True)

    def early(self) -> list[Ruling]:
        """Rulings that were told and are not in the log yet."""
        return list(self._early.values())

    def has_logged(self, name: str) -> bool:
        """Whether a ruling of this id is in the log."""
        return name in self._places

    def ruling(self, name: str) -> Ruling | None:
        """A ruling of this game by its id."""
        return self.rulings[self._places[name]] if name in self._places else self._early.get(name)

    def last_slap(self) -> Ruling | None:
        """The latest ruling on a hand that is worth a photo-finish: the slap that won rather than those it beat."""
        rulings = [ruling for ruling in [*self.rulings[-200:], *self._early.values()] if ruling.kind in _SLAPS]
        standing = [ruling for ruling in rulings if ruling.id not in self.replaced_by]
        if not standing:
            return None
        last = max(standing, key=lambda ruling: ruling.t)
        cause = last.because[0] if last.because else ""
        for ruling in standing:
            if ruling.kind == "slap_won" and cause in ruling.because:
                return ruling
        return last

    def last_finish(self) -> Finish | None:
        """Its photo-finish, as far as its lines are here."""
        ruling = self.last_slap()
        if ruling is None:
            return None
        slap = cause_of(ruling.id)
        rulings = [*self.rulings[-200:], *self._early.values()]
        return finish(self._lines_now(), rulings, slap, self.replaced_by, len(self.names))


OFFERED: Final = 12
"""Rulings in the list."""


class Dispute(NamedTuple):
    """A ruling that may be overruled, and by what."""

    ruling: Ruling
    instead: Overrulable


def disputes(board: Board, asked: str = "") -> list[Dispute]:
    """The latest ones, the newest first; ``asked`` is among them however old it is, where it may be overruled."""
    hands = board.hands()
    latest = (_dispute(board, ruling, hands) for ruling in chain(reversed(board.early()), reversed(board.rulings)))
    shown = list(islice((one for one in latest if one is not None), OFFERED))
    old = board.ruling(asked)
    if old is not None and old not in [one.ruling for one in shown]:
        shown += filter(None, [_dispute(board, old, hands)])
    return shown


def _dispute(board: Board, ruling: Ruling, hands: Sequence[Slap]) -> Dispute | None:
    if not board.correctable or ruling.id in board.replaced_by:
        return None
    instead = overrulable(ruling, hands, owner=board.view.owner, is_on_record=board.has_logged(ruling.id))
    return None if instead is None else Dispute(ruling, instead)


def disputed_at(board: Board, game: int | None, ruling: Ruling) -> str:
    """Where people may say that a ruling of a game is wrong; nothing where they may not, or no longer."""
    if game is None or game != board.game or _dispute(board, ruling, ()) is None:
        return ""
    return address("/control", {"ruling": ruling.id})
