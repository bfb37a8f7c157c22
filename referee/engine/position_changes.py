"""Observations that change the position without judging: lifts, counts, calls, days, joins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from referee.engine.observations import (
    Contest,
    Count,
    Day,
    Draw,
    Foul,
    Join,
    Lift,
    Observation,
    Pause,
    Placed,
    Resume,
    Say,
)
from referee.engine.rulings import is_caused_by
from referee.rules.card_play import settle
from referee.rules.deal import draw_wild_rank
from referee.rules.elimination import settle_owed
from referee.rules.penalties import contest, foul
from referee.rules.stacks import forget
from referee.rules.step import Step


def _lift(step: Step, lift: Any) -> None:
    step.set(held=step.position.held - {lift.seat})


def _pause(step: Step, pause: Any) -> None:
    if not step.position.paused:
        step.set(paused_at=pause.t)


def _resume(step: Step, resume: Any) -> None:
    step.stand_still(resume.t)
    step.set(paused_at=None, unjudged=False)


def _counted(step: Step, count: Any) -> None:
    """Set a counted stack; its known cards stay if they still fit (K2, S4c)."""
    position = step.position
    if count.seat > position.seats or count.seat in position.absent:
        return
    if count.cards < len(position.known[count.seat - 1]):
        forget(step, count.seat, count.cards)
    else:
        counts = list(position.counts)
        counts[count.seat - 1] = count.cards
        step.set(counts=tuple(counts))
    asked = (entry for entry in step.position.uncounted if entry[1] != count.seat)
    step.set(unsure=step.position.unsure - {count.seat}, uncounted=frozenset(asked))
    drift = step.position.drift
    if drift is not None and drift.leaves == "counts" and not step.position.unsure:
        # All that the gap left unproved is counted.
        step.set(drift=None)
    if step.position.over:
        settle_owed(step)
        return
    settle(step)


def _placed(step: Step, placed: Any) -> None:
    """Name penalty cards that were seen going in, lowest first, the earliest penalty first (F1, P5b)."""
    pile = list(step.position.pile)
    unseen = [
        (laid.t, at)
        for at, laid in enumerate(pile)
        if laid.state == "burned" and not laid.seen and placed.seat in (None, laid.seat)
    ]
    named = list(placed.cards)
    for _, at in sorted(unseen)[: max(placed.count, len(named))]:
        pile[at] = pile[at]._replace(seen=True, card=named.pop(0) if named else pile[at].card)
    step.set(pile=tuple(pile))


def _foul(step: Step, said: Any) -> None:
    if step.position.player(said.seat) is not None and not step.position.over:
        foul(step, said.seat, said.foul)


def _contest(step: Step, said: Any) -> None:
    if not step.position.over:
        acts = (ref for act in step.position.verdicts for ref in (act.ref, act.pickup) if ref)
        named = [ref for ref in acts if said.ruling is not None and is_caused_by(said.ruling, ref)]
        contest(step, said.by, said.against, max(named, key=len, default=said.ruling))


def _say(step: Step, said: Any) -> None:
    """Apply a called rank: to the top card if that seat has just laid it uncalled, else to its next one (N14)."""
    position = step.position
    top = position.pile[-1] if position.pile else None
    if top is not None and top.seat == said.seat and not position.said:
        step.set(said=said.rank)
    else:
        step.set(calling=said.rank)


def _draw(step: Step, drawn: Any) -> None:
    """Apply the drawn wild rank (P14)."""
    if step.position.rules.has("P14"):
        draw_wild_rank(step, drawn.rank)


def _join(step: Step, join: Any) -> None:
    """Let a bystander join from a free pad, without cards, or a player who left return (M11, E8).

    Pads between stay vacant.
    """
    position = step.position
    if not position.rules.has("M11"):
        return
    new = range(position.seats + 1, join.seat + 1)
    step.set(
        names=(*position.names, *(f"Seat {seat}" for seat in new)),
        counts=(*position.counts, *(0 for _ in new)),
        known=(*position.known, *(() for _ in new)),
        strikes=(*position.strikes, *(0 for _ in new)),
        debts=(*position.debts, *(0 for _ in new)),
        locks=(*position.locks, *(None for _ in new)),
        presses=(*position.presses, *(() for _ in new)),
        absent=(position.absent | set(new)) - {join.seat},
    )


def _day(step: Step, day: Any) -> None:
    """Open a table closed by three sixes on a new calendar day (P16b)."""
    if step.position.closed and day.date != step.position.day:
        step.set(closed=False)
        step.rule("remind", "P16b", what="open")
    step.set(day=day.date)


CHANGES: Final[Mapping[type[Observation], Callable[[Step, Any], None]]] = {
    Lift: _lift,
    Pause: _pause,
    Resume: _resume,
    Count: _counted,
    Placed: _placed,
    Foul: _foul,
    Contest: _contest,
    Say: _say,
    Draw: _draw,
    Join: _join,
    Day: _day,
}
"""The handler of each kind."""
