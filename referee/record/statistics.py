"""Figures of slaps: reaction times, margins, and risk and fake slaps told apart from reactions by their timing (K8).

Pure. No ruling rests on any of this.

What came out of each game, by seat and by person: worked out anew from the lines, and kept nowhere else.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Final

from referee.engine.observations import Card, LogError, Slap
from referee.engine.replay import Folded
from referee.engine.rulings import Ruling, cause_of
from referee.record.people import People
from referee.record.store import GameInfo, Record

if TYPE_CHECKING:
    from referee.engine.replay import Folded

MS: Final = 1_000_000
SOONEST: Final = 100 * MS
"""Nobody perceives and moves in less: R. Whelan, "Effective analysis of reaction time data", The Psychological Record
58 (2008), 475 to 482; also the limit of a false start in World Athletics' technical rules."""
LATEST: Final = 1000 * MS
"""A false slap later than this after the newest card answers nothing on the table. Our own limit: the published
reactions of people who watch for a sign lie far below."""
KINDS: Final = ("reaction", "mistaken", "risk", "fake", "open")
_KIND_OF: Final = {"slap_won": "won", "slap_false": "false", "slap_void": "void"}


@dataclass(frozen=True, slots=True)
class Figure:
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
    """Of the time since the reveal: the sum of both errors, ns."""
    kind: str
    """One of `KINDS`, or empty where neither a reaction nor a false slap."""
    margin: int | None
    """Of a slap that was won by time: to the second hand, ns."""
    margin_error: int | None
    patterns: tuple[str, ...]

    @property
    def since(self) -> int | None:
        """Time since the reveal, ns."""
        return None if self.reveal is None else self.t - self.reveal

    @property
    def counts(self) -> bool:
        """Whether it is a reaction time: a hand on a valid pattern, not too soon to be one for sure."""
        return self.outcome in ("won", "late") and self.since is not None and self.kind != "risk"


def figures(folded: Folded) -> list[Figure]:
    """Every hand of a game that was ruled on, by time; rulings as they stand in the end."""
    cards = sorted((line for line in folded.lines() if isinstance(line, Card)), key=lambda card: card.t)
    in_force = folded.slaps()
    won_by = {ref: ruling for ruling in in_force if ruling.kind == "slap_won" for ref in ruling.because}
    out = []
    for ruling in in_force:
        line = folded.line(cause_of(ruling.id))
        if isinstance(line, Slap):
            out.append(_figure(folded, ruling, line, cards, won_by.get(line.id)))
    return out


def _figure(folded: Folded, ruling: Ruling, slap: Slap, cards: Sequence[Card], won: Ruling | None) -> Figure:
    outcome = _KIND_OF[ruling.kind]
    reason = str(ruling.get("reason", ""))
    if outcome == "void" and won is not None and reason == "late":
        outcome = "late"
    card = None
    if outcome in ("won", "late") and won is not None:
        card = max((one for one in cards if one.id in won.because), key=lambda one: one.t, default=None)
    elif outcome == "false":
        card = max((one for one in cards if one.t <= slap.t), key=lambda one: one.t, default=None)
    error = slap.t_error + card.t_error if card is not None else 0
    by_time = ruling.kind == "slap_won" and ruling.get("decided_by") == "time"
    return Figure(
        folded.info.id, ruling.id, slap.id, slap.seat, _name(folded, slap.seat), outcome, reason, slap.t,
        None if card is None else card.t, error, _kind(outcome, slap.t, card, error),
        ruling.get("margin") if by_time else None, ruling.get("error") if by_time else None,
        tuple(ruling.get("patterns", ())),
    )  # fmt: skip


def _kind(outcome: str, t: int, card: Card | None, error: int) -> str:
    """What a hand was, by its timing alone; ``open`` where the errors reach over a limit."""
    if card is None:
        return ""
    low, high = t - card.t - error, t - card.t + error
    if high < SOONEST:
        return "risk"
    if low < SOONEST:
        return "open"
    if outcome != "false":
        return "reaction"
    if low > LATEST:
        return "fake"
    return "mistaken" if high <= LATEST else "open"


def _name(folded: Folded, seat: int) -> str:
    names = folded.table.seats
    return names[seat - 1] if 1 <= seat <= len(names) else f"seat {seat}"


@dataclass(frozen=True, slots=True)
class Summary:
    """A player's figures. Times in ns; None where there is nothing to go by."""

    player: str
    seat: int
    """Where the player sat last, for the colour."""
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
        """Between which the middle half lies."""
        if len(self.reactions) < 4:
            return None
        low, _, high = statistics.quantiles(self.reactions, n=4, method="inclusive")
        return round(low), round(high)


def summaries(of: Iterable[Figure]) -> list[Summary]:
    """Each player's figures, by the order of seats."""
    by_player: dict[str, list[Figure]] = {}
    for figure in of:
        by_player.setdefault(figure.player, []).append(figure)
    made = [_summary(player, ones) for player, ones in by_player.items()]
    return sorted(made, key=lambda one: (one.seat, one.player))


def _summary(player: str, ones: Sequence[Figure]) -> Summary:
    times = sorted(one.since for one in ones if one.counts and one.since is not None)
    kinds = {kind: sum(one.kind == kind for one in ones) for kind in KINDS}
    outcomes = [one.outcome for one in ones]
    return Summary(
        player, ones[-1].seat, tuple(times), outcomes.count("won"), outcomes.count("false"),
        outcomes.count("void") + outcomes.count("late"), kinds,
    )  # fmt: skip


def margins(of: Iterable[Figure]) -> list[int]:
    """Distances of second hands, ns, in order of size."""
    return sorted(one.margin for one in of if one.margin is not None)


def typical_error(of: Iterable[Figure]) -> int:
    """The median error of the reaction times, ns; 0 where there are none."""
    errors = [one.error for one in of if one.counts]
    return round(statistics.median(errors)) if errors else 0


@dataclass(frozen=True, slots=True)
class Result:
    """One game."""

    game: int
    began: str
    seats: int
    winner: int | None
    """Seat; None where the game was drawn, broken off, or cannot be read any more."""
    finished: bool
    people: dict[int, str] = field(default_factory=dict)
    """Ids by seat, of those who agreed."""
    hands: tuple[Figure, ...] = ()
    """Every hand that was ruled on."""


@dataclass(frozen=True, slots=True)
class Season:
    """From a day to a day, both included; None leaves that side open. Days as the table's clock had them."""

    start: date | None = None
    end: date | None = None

    def __contains__(self, began: str) -> bool:
        """Whether a game that began then belongs to it; a beginning that is no date belongs to none but the open."""
        if self.start is None and self.end is None:
            return True
        try:
            day = date.fromisoformat(began[:10])
        except ValueError:
            return False
        return (self.start is None or self.start <= day) and (self.end is None or day <= self.end)


def results(people: People, season: Season | None = None) -> Iterator[Result]:
    """Games in which somebody who agreed played, the oldest first; raises `RecordError`."""
    ties: dict[int, dict[int, str]] = {}
    for (game, seat), who in people.ties().items():
        ties.setdefault(game, {})[seat] = who
    with Record(people.path, read_only=True) as record:
        for info in reversed(record.games()):
            if info.id in ties and (season is None or info.began in season):
                yield _result(record, info, ties[info.id])


def _result(record: Record, info: GameInfo, people: dict[int, str]) -> Result:
    from referee.engine.replay import Folded, TooLong

    try:
        winner, over, hands = outcome(Folded(info, list(record.lines(info.id))))
    except (LogError, TooLong):
        return Result(info.id, info.began, len(info.seats), None, False, people)
    return Result(info.id, info.began, len(info.seats), winner, over, people, hands)


def outcome(folded: Folded) -> tuple[int | None, bool, tuple[Figure, ...]]:
    """Of a game that was ruled again: who won (seat, or None), whether it came to its end, and every hand."""

    ends = [ruling for ruling in folded.rulings if ruling.kind in ("won", "lost", "drawn")]
    over = [ruling for ruling in ends if ruling.id not in folded.replaced_by]
    winner = next((ruling["seat"] for ruling in over if ruling.kind == "won"), None)
    # In Beggar-My-Neighbour the game ends with who lost; of two players the other one has won.
    loser = next((ruling["seat"] for ruling in over if ruling.kind == "lost"), None)
    if winner is None and loser is not None and len(folded.info.seats) == 2:
        winner = 3 - loser
    return winner, bool(over), tuple(figures(folded))
