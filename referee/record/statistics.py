"""The result of each game, computed from its lines: the winner, and the figures of every hand that was ruled on.

Reaction times, margins, and risk and fake slaps told apart from reactions by their timing (K8); no ruling rests on any
of this. The page and the league use it; nothing of it is stored.
"""

from __future__ import annotations

import os
import pickle
import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Final

from referee.engine.amended_log import is_said
from referee.engine.observations import Card, LogError, Slap
from referee.engine.replay import ReplayedGame, TooLong
from referee.engine.rulings import Ruling, cause_of, end_of
from referee.record.people import People
from referee.record.store import GameInfo, Record
from referee.record.stored_lines import OddLine, replay_rows
from referee.units import MS

SOONEST_REACTION: Final = 100 * MS
"""Shortest human reaction: R. Whelan, "Effective analysis of reaction time data", The Psychological Record 58 (2008),
475 to 482; also the limit of a false start in World Athletics' technical rules."""
_LATEST: Final = 1000 * MS
"""A false slap later than this after the newest card is no response to the table. Our own limit: published reaction
times of people who watch for a signal are far below."""
HAND_KINDS: Final = ("reaction", "mistaken", "risk", "fake", "open")
_KIND_OF: Final = {"slap_won": "won", "slap_false": "false", "slap_void": "void"}


@dataclass(frozen=True, slots=True)
class HandFigure:
    """One hand that was ruled on."""

    game: int
    ruling: str
    slap: str
    seat: int
    player: str
    outcome: str
    """``won``, ``late`` (on a pattern that another hand won), ``false`` or ``void``."""
    reason: str
    t: int
    reveal: int | None
    """The reveal that it is measured from: of the card that completed the pattern, or of the newest card."""
    error: int
    """Error of the time since the reveal: the sum of both errors, ns."""
    kind: str
    """One of `HAND_KINDS`, or empty if neither a reaction nor a false slap."""
    margin: int | None
    """For a slap that was won by time: margin to the second hand, ns."""
    margin_error: int | None
    patterns: tuple[str, ...]

    @property
    def since(self) -> int | None:
        """Time since the reveal, ns."""
        return None if self.reveal is None else self.t - self.reveal

    @property
    def counts(self) -> bool:
        """Whether it is a reaction time: a hand on a valid pattern, not surely too soon to be one."""
        return self.outcome in ("won", "late") and self.since is not None and self.kind != "risk"


def make_figures(game: ReplayedGame, number: int) -> list[HandFigure]:
    """Return every hand of a game that was ruled on, in order of time; with the final rulings.

    Args:
        game: the game, ruled again.
        number: its number in the record.
    """
    cards = sorted((line for line in game.lines() if isinstance(line, Card)), key=lambda card: card.t)
    in_force = game.slaps()
    won_by = {ref: ruling for ruling in in_force if ruling.kind == "slap_won" for ref in ruling.because}
    out = []
    for ruling in in_force:
        line = game.line(cause_of(ruling))
        if isinstance(line, Slap):
            out.append(_figure(game, number, ruling, line, cards, won_by.get(line.id)))
    return out


def _figure(
    game: ReplayedGame, number: int, ruling: Ruling, slap: Slap, cards: Sequence[Card], won: Ruling | None
) -> HandFigure:
    outcome = _KIND_OF[ruling.kind]
    reason = str(ruling.get("reason", ""))
    if outcome == "void" and won is not None and reason == "late":
        outcome = "late"
    card = None
    if outcome in ("won", "late") and won is not None:
        card = max((card for card in cards if card.id in won.because), key=lambda laid: laid.t, default=None)
    elif outcome == "false":
        card = max((card for card in cards if card.t <= slap.t), key=lambda laid: laid.t, default=None)
    if is_said(slap) or is_said(card):
        # People reported it, and know only the order of events: no reaction time, and no margin.
        card = None
    names = game.table.seats
    player = names[slap.seat - 1] if slap.seat <= len(names) else f"seat {slap.seat}"
    error = slap.t_error + card.t_error if card is not None else 0
    by_time = ruling.kind == "slap_won" and ruling.get("decided_by") == "time" and not is_said(slap)
    return HandFigure(
        number, ruling.id, slap.id, slap.seat, player, outcome, reason, slap.t,
        None if card is None else card.t, error, _kind(outcome, slap.t, card, error),
        ruling.get("margin") if by_time else None, ruling.get("error") if by_time else None,
        tuple(ruling.get("patterns", ())),
    )  # fmt: skip


def _kind(outcome: str, t: int, card: Card | None, error: int) -> str:
    """Return the kind of a hand, judged by its timing alone; ``open`` if its error spans a limit."""
    if card is None:
        return ""
    low, high = t - card.t - error, t - card.t + error
    if high < SOONEST_REACTION:
        return "risk"
    if low < SOONEST_REACTION:
        return "open"
    if outcome != "false":
        return "reaction"
    if low > _LATEST:
        return "fake"
    return "mistaken" if high <= _LATEST else "open"


@dataclass(frozen=True, slots=True)
class PlayerSummary:
    """A player's figures. Times in ns; None without data."""

    player: str
    seat: int
    """The player's last seat, for the colour; 0 for several players together."""
    reactions: tuple[int, ...]
    """In order of size."""
    won: int
    false: int
    void: int
    kinds: dict[str, int]

    @property
    def median(self) -> int | None:
        """The median reaction."""
        return round(statistics.median(self.reactions)) if self.reactions else None

    @property
    def quartiles(self) -> tuple[int, int] | None:
        """The limits of the middle half."""
        if len(self.reactions) < 4:
            return None
        low, _, high = statistics.quantiles(self.reactions, n=4, method="inclusive")
        return round(low), round(high)


def summarise_players(of: Iterable[HandFigure]) -> list[PlayerSummary]:
    """Return each player's figures, in the order of seats."""
    by_player: dict[str, list[HandFigure]] = {}
    for figure in of:
        by_player.setdefault(figure.player, []).append(figure)
    made = []
    for player, ones in by_player.items():
        times = sorted(hand.since for hand in ones if hand.counts and hand.since is not None)
        kinds = {kind: sum(hand.kind == kind for hand in ones) for kind in HAND_KINDS}
        outcomes = [hand.outcome for hand in ones]
        void = outcomes.count("void") + outcomes.count("late")
        made.append(PlayerSummary(
            player, ones[-1].seat, tuple(times), outcomes.count("won"), outcomes.count("false"), void, kinds,
        ))  # fmt: skip
    return sorted(made, key=lambda summary: (summary.seat, summary.player))


def list_margins(of: Iterable[HandFigure]) -> list[int]:
    """Return the margins of second hands, ns, in order of size."""
    return sorted(figure.margin for figure in of if figure.margin is not None)


def typical_error(of: Iterable[HandFigure]) -> int:
    """Return the median error of the reaction times, ns; 0 if there are none."""
    errors = [figure.error for figure in of if figure.counts]
    return round(statistics.median(errors)) if errors else 0


@dataclass(frozen=True, slots=True)
class GameResult:
    """The result of one game."""

    game: int
    began: str
    seats: int
    winner: int | None
    """Seat; None if the game was drawn, broken off, or cannot be read any more."""
    finished: bool
    people: dict[int, str] = field(default_factory=dict)
    """Ids of those who agreed, by seat."""
    hands: tuple[HandFigure, ...] = ()
    """Every hand that was ruled on."""
    odd: tuple[OddLine, ...] = ()
    """Lines that were left out."""


@dataclass(frozen=True, slots=True)
class Season:
    """Days from ``start`` to ``end``, both included, by the table's clock; None leaves that side open."""

    start: date | None = None
    end: date | None = None

    def __contains__(self, began: str) -> bool:
        """Return whether a game that began then is in the season; an invalid date is only in the one without limits."""
        if self.start is None and self.end is None:
            return True
        try:
            day = date.fromisoformat(began[:10])
        except ValueError:
            return False
        return (self.start is None or self.start <= day) and (self.end is None or day <= self.end)


def list_results(people: People, season: Season | None = None) -> Iterator[GameResult]:
    """Yield the games in which a person who agreed played, oldest first; raises `RecordError`."""
    ties: dict[int, dict[int, str]] = {}
    for (game, seat), who in people.ties().items():
        ties.setdefault(game, {})[seat] = who
    with Record(people.path, read_only=True) as record:
        for info in reversed(record.games()):
            if info.id in ties and (season is None or info.began in season):
                yield replace(count_game(record, info), people=ties[info.id])


def count_game(record: Record, info: GameInfo) -> GameResult:
    """Return the result of a recorded game, without its people. Raises `RecordError`."""
    odd: list[OddLine] = []
    try:
        if record.is_too_long(info.id):
            raise TooLong
        replayed, odd = replay_rows(record.lines(info.id))
        made = make_result(info, replayed)
    except (LogError, TooLong):
        made = make_result(info, None)
    return replace(made, odd=tuple(odd))


def print_results(path: str, games: Iterable[str]) -> None:
    """Count games of a record for another process, at the lowest priority.

    Each goes to standard output as a pickle: its number, that of its last line, and its `GameResult`.
    """
    os.nice(19)
    for game in map(int, games):
        with Record(Path(path), read_only=True) as record:
            last = record.last_line(game)
            pickle.dump((game, last, count_game(record, record.game(game))), sys.stdout.buffer)
        sys.stdout.buffer.flush()


def make_result(info: GameInfo, game: ReplayedGame | None) -> GameResult:
    """Return the result of a game that was ruled again, without its people; an empty one if that failed (None)."""
    if game is None:
        return GameResult(info.id, info.began, len(info.seats), None, False)
    end = end_of(game.rulings)
    winner = None if end is None or end.kind == "drawn" else int(end["seat"])
    if end is not None and end.kind == "lost":
        # In Beggar-My-Neighbour the game ends with the loser; of two players the other one has won.
        winner = 3 - end["seat"] if len(info.seats) == 2 else None
    return GameResult(
        info.id, info.began, len(info.seats), winner, end is not None, {}, tuple(make_figures(game, info.id))
    )
