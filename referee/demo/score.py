"""Rulings against those of the same core when it is fed the exact truth.

They are compared by kind, seat and decisive fields, and by their instants, which may part by what the observations
behind them state as their errors and one frame more; those beyond the errors are counted. Ids, margins and errors are
left out, for they rest on how well a sensor sees. Slaps that the players' script made too close to call are left out
and counted.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from referee.adjudication.adjudicator import Adjudicator
from referee.adjudication.observations import Observation, Slap, Taken, Tick
from referee.adjudication.rulings import Ruling
from referee.app.scoring_cards import FRAME, MS

TAKEN_SLACK: Final = 1_000 * MS
"""A pile's leaving is no instant: the sweep lasts half a second, and whoever sees it may name any part of it."""
HEAT_SPAN: Final = 10 * MS
"""How far from a called-for dead heat its slaps may lie, ns."""
SLAP_KINDS: Final = frozenset(("slap_won", "slap_false", "slap_void", "dead_heat"))
ASKING: Final = frozenset(("question", "dead_heat"))
_NOT_DECISIVE: Final = frozenset(("margin", "error", "decided_by", "about"))


def true_rulings(truth: Iterable[Observation], end: int) -> list[Ruling]:
    """What the core rules when ideal sensors tell it everything up to ``end`` (ns)."""
    adjudicator = Adjudicator()
    made: list[Ruling] = []
    for seen in truth:
        made += adjudicator.observe(seen)
    made += adjudicator.observe(Tick(t=end))
    return made + adjudicator.finish()


def in_force(rulings: Iterable[Ruling]) -> list[Ruling]:
    """Rulings that no later one replaced, by ``t``."""
    made = list(rulings)
    replaced = {old for ruling in made for old in ruling.supersedes}
    return sorted((ruling for ruling in made if ruling.id not in replaced), key=lambda ruling: ruling.t)


def decisive(ruling: Ruling) -> str:
    """What two rulings must share to be the same decision."""
    fields: dict[str, Any] = {name: value for name, value in ruling.fields.items() if name not in _NOT_DECISIVE}
    if "runners_up" in fields:
        fields["runners_up"] = [hand["seat"] for hand in fields["runners_up"]]
    return json.dumps([ruling.kind, fields], sort_keys=True, default=list)


@dataclass(frozen=True, slots=True)
class RulingScore:
    """How the rulings compare with those that rest on the truth."""

    true: int
    equal: int
    in_doubt: int
    """Of the equal ones, those that say they were decided in doubt."""
    off_time: int
    """Of the equal ones, those whose instant is further from the truth than the sensors state."""
    left_out: int
    """Rulings about slaps that the script made too close to call."""
    differing: tuple[str, ...]
    """Each ruling that the other side does not have, in words."""
    called: int
    """Questions and dead heats that the script called for."""
    uncalled: int
    """And those that it did not."""
    asked: tuple[str, ...]
    """The uncalled ones, in words."""


class _Errors:
    """How far a ruling's instant may be from the truth: what the observations behind it state."""

    def __init__(self, seen: Iterable[Observation]) -> None:
        self._behind = {observation.id: observation for observation in seen}
        self._last = max((observation.t for observation in self._behind.values()), default=0)

    def __call__(self, ruling: Ruling) -> int:
        if ruling.t > self._last:
            # It rests on the end of the log, wherever that was.
            return 2**62
        behind = [self._behind[name] for name in ruling.because if name in self._behind]
        at = [observation for observation in behind if observation.t == ruling.t]
        slack = TAKEN_SLACK if any(isinstance(o, Taken) for o in at) or not at else 2 * MS
        return max((getattr(observation, "t_error", 0) for observation in at), default=0) + slack


def heats(truth: Iterable[Observation], apart: int) -> list[int]:
    """Instants of hands that really came down no further apart than the pads can tell (ns): a tie to any referee."""
    slaps = sorted((seen for seen in truth if isinstance(seen, Slap)), key=lambda slap: slap.t)
    return [one.t for one, two in pairwise(slaps) if two.t - one.t <= apart and one.seat != two.seat]


def score_rulings(
    ruled: Sequence[Ruling], seen: Sequence[Observation], truth: Sequence[Observation], called: Sequence[int], end: int
) -> RulingScore:
    """Compare what was ruled with what the truth leads to.

    Args:
        ruled: every ruling of the game.
        seen: what the sensors told.
        truth: what ideal sensors would have told, the table first.
        called: instants (ns) that the players' script made too close to call.
        end: when the script ended, ns.
    """
    errors = _Errors(seen)
    expected = true_rulings(truth, end)
    wanted, left_out_wanted = _without_called(in_force(expected), called)
    made, left_out = _without_called(in_force(ruled), called)
    made = [ruling for ruling in made if ruling.kind not in ASKING]
    wanted = [ruling for ruling in wanted if ruling.kind not in ASKING]
    equal, lacking, surplus = _match(wanted, made, errors)
    asked = _asked(ruled)
    uncalled = [ruling for ruling in asked if not _is_called(ruling, called)]
    return RulingScore(
        true=len(wanted),
        equal=len(equal),
        in_doubt=sum(ruling.doubt for _, ruling in equal),
        off_time=sum(abs(ruling.t - true.t) > errors(ruling) for true, ruling in equal),
        left_out=max(left_out, left_out_wanted),
        differing=tuple(
            f"{ruling.t / 1e9:.3f} s: {side} {decisive(ruling)}"
            for ruling, side in sorted(
                [(r, "should be") for r in lacking] + [(r, "was ruled") for r in surplus], key=lambda pair: pair[0].t
            )
        ),
        called=len(asked) - len(uncalled),
        uncalled=len(uncalled),
        asked=tuple(f"{ruling.t / 1e9:.3f} s: {ruling.kind} {dict(ruling.fields)}" for ruling in uncalled),
    )


def _is_called(ruling: Ruling, called: Sequence[int]) -> bool:
    return any(abs(ruling.t - t) <= HEAT_SPAN for t in called)


def _without_called(rulings: Sequence[Ruling], called: Sequence[int]) -> tuple[list[Ruling], int]:
    kept = [r for r in rulings if not (r.kind in SLAP_KINDS and _is_called(r, called))]
    return kept, len(rulings) - len(kept)


def _asked(rulings: Iterable[Ruling]) -> list[Ruling]:
    """Questions and dead heats; a dead heat and the question that it leads to are one."""
    once: dict[tuple[int, str], Ruling] = {}
    for ruling in rulings:
        if ruling.kind in ASKING:
            about = "first" if ruling.kind == "dead_heat" or ruling.get("ask") == "who_was_first" else ruling["ask"]
            once.setdefault((ruling.t, about), ruling)
    return list(once.values())


def _match(
    wanted: Sequence[Ruling], made: Sequence[Ruling], errors: _Errors
) -> tuple[list[tuple[Ruling, Ruling]], list[Ruling], list[Ruling]]:
    """Equal rulings (as wanted and as made), those that are lacking, and those that are too many."""
    waiting: dict[str, list[Ruling]] = defaultdict(list)
    for ruling in made:
        waiting[decisive(ruling)].append(ruling)
    equal: list[tuple[Ruling, Ruling]] = []
    lacking: list[Ruling] = []
    for ruling in wanted:
        like = waiting[decisive(ruling)]
        near = min(like, key=lambda other: abs(other.t - ruling.t), default=None)
        if near is None or abs(near.t - ruling.t) > errors(near) + FRAME:
            lacking.append(ruling)
            continue
        like.remove(near)
        equal.append((ruling, near))
    return equal, lacking, [ruling for like in waiting.values() for ruling in like]
