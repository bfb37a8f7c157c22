"""Figures of slaps: reaction times, margins, and risk and fake slaps told apart from reactions by their timing (K8).

Pure. No ruling rests on any of this.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from referee.adjudication.observations import Card, Slap
from referee.adjudication.rulings import Ruling
from referee.app.page.folding import Folded, slap_of

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
        line = folded.line(slap_of(ruling))
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
