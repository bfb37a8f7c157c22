"""What was seen in people's own footage as the first lines of a table log: who sits there, the cards, the takes.

Where footage begins in the middle of a game nobody knows the stacks or whose turn it is. `dispute` adds what
people mark. Pure.
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
    """When a frame was taken, ns: from ``t`` on for ``exposure``, each known to ± ``t_error``."""

    t: int
    exposure: int
    t_error: int = 0


def as_evidence(seen: Sequence[Observation]) -> list[Observation]:
    """What tells of cards and piles, in the order of time."""
    return sorted((one for one in seen if isinstance(one, Card | Taken | Placed)), key=lambda one: one.t)


def footage_table(
    seats: Sequence[str], rules: Any, seen: Sequence[Observation] = (), dealer: int | None = None
) -> Table:
    """The first line of the log.

    Args:
        seats: the players' names, in the order of the table.
        rules: a preset's name, or a changed preset.
        seen: what was seen.
        dealer: who dealt, where the footage shows the game from its deal on. None where it begins in the middle: then
            nobody knows how many cards each player holds, and whoever lays the first card is taken to be in turn.
    """
    names, unknown = tuple(seats), (None,) * len(seats)
    if dealer is not None:
        return Table(t=0, id="table", seats=names, dealer=dealer, rules=rules)
    laid = [line.seat for line in as_evidence(seen) if isinstance(line, Card)]
    # Those before it were laid in the order of the seats, as far as anybody can tell; the dealer sits before the first.
    dealer = next((seat - 2 - place for place, seat in enumerate(laid) if seat is not None), -1) % len(names) + 1
    return Table(t=0, id="table", seats=names, dealer=dealer, rules=rules, counts=unknown)


def write_lines(lines: Sequence[Observation]) -> str:
    """Lines of a log as its file has them."""
    return "".join(f"{encode_observation(line)}\n" for line in lines)


def rule_lines(lines: Sequence[Observation]) -> list[Ruling]:
    """What the engine rules, just as it does of the written log."""
    return list(replay_log(BytesIO(write_lines(lines).encode())))


def forget_wrong_turns(lines: Sequence[Observation]) -> list[Observation]:
    """The lines of a log, the table first, in which no card is out of turn where nobody can know that it is.

    In footage that begins in the middle an unknown challenge may run, and players who quarrel go on as one of them sees
    it. A card that would be dead for that is nobody's: it is taken as laid by whoever was to lay it.
    """
    told = list(lines)
    table = told[0]
    while isinstance(table, Table) and table.counts is not None:
        dead = {cause_of(ruling) for ruling in rule_lines(told) if ruling.kind == "dead_card"}
        seated = {line.id for line in told if isinstance(line, Card) and line.seat is not None}
        if not dead & seated:
            break
        told = [replace(one, seat=None) if isinstance(one, Card) and one.id in dead else one for one in told]
    return told
