"""Observations from footage as the first lines of a table log: the seats, the cards, the takes.

If footage begins in the middle of a game, the stacks and the turn are unknown. `dispute` adds people's marks. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from typing import Any, NamedTuple

from referee.engine.log import encode_observation
from referee.engine.observations import Card, Observation, Placed, Table, Taken
from referee.engine.replay import replay_log
from referee.engine.rulings import Ruling, cause_of


class FrameSpan(NamedTuple):
    """Exposure of a frame, ns: from ``t`` on for ``exposure``, each known to ± ``t_error``."""

    t: int
    exposure: int
    t_error: int = 0


def as_evidence(seen: Sequence[Observation]) -> list[Observation]:
    """Return the observations of cards and piles, in the order of time."""
    return sorted((line for line in seen if isinstance(line, Card | Taken | Placed)), key=lambda entry: entry.t)


def footage_table(
    seats: Sequence[str], rules: Any, seen: Sequence[Observation] = (), dealer: int | None = None
) -> Table:
    """Return the first line of the log.

    Args:
        seats: the players' names, in the order of the table.
        rules: a preset's name, or a changed preset.
        seen: the observations.
        dealer: the dealer, if the footage shows the game from its deal on. None: it begins in the middle, so each
            player's number of cards is unknown, and the player who lays the first card is assumed to be in turn.
    """
    names, unknown = tuple(seats), (None,) * len(seats)
    if dealer is not None:
        return Table(t=0, id="table", seats=names, dealer=dealer, rules=rules)
    laid = [line.seat for line in as_evidence(seen) if isinstance(line, Card)]
    # Assume that the cards before it were laid in the order of the seats; the dealer sits before the first.
    dealer = next((seat - 2 - place for place, seat in enumerate(laid) if seat is not None), -1) % len(names) + 1
    return Table(t=0, id="table", seats=names, dealer=dealer, rules=rules, counts=unknown)


def write_lines(lines: Sequence[Observation]) -> str:
    """Return lines of a log as its file has them."""
    return "".join(f"{encode_observation(line)}\n" for line in lines)


def rule_lines(lines: Sequence[Observation]) -> list[Ruling]:
    """Return the engine's rulings, the same as for the written log."""
    return list(replay_log(BytesIO(write_lines(lines).encode())))


def forget_wrong_turns(lines: Sequence[Observation]) -> list[Observation]:
    """Return the lines of a log, the table first, without unprovable cards out of turn.

    In footage that begins in the middle an unknown challenge may be running, and quarrelling players go on as one of
    them sees it. A card that would be dead for that loses its seat: the player in turn is assumed to have laid it.
    """
    told = list(lines)
    table = told[0]
    while isinstance(table, Table) and table.counts is not None:
        dead = {cause_of(ruling) for ruling in rule_lines(told) if ruling.kind == "dead_card"}
        seated = {line.id for line in told if isinstance(line, Card) and line.seat is not None}
        if not dead & seated:
            break
        told = [replace(line, seat=None) if isinstance(line, Card) and line.id in dead else line for line in told]
    return told
