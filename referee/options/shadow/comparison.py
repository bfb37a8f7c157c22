"""Shadow mode: people referee and mark their verdicts, the referee's own stay hidden; both are compared.

A mark says that a slap was good (a player took the pile for it) or false. Several hands within a second are one slap,
as people see it. A slap that the referee could not decide - a dead heat, a slap judged by doubt, an unanswered question
- counts for neither side. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal

from referee.engine.observations import Observation, Other, Slap
from referee.engine.replay import ReplayedGame
from referee.engine.rulings import SLAP_KINDS, Ruling, cause_of
from referee.engine.shadow_marks import FALSE, GOOD, MARK, SHADOW, VERDICTS
from referee.share import wilson
from referee.units import SECOND

EXPECTED: Final = "expected"
"""The kind of the last line of a regression case: the required verdict."""
TOGETHER: Final = SECOND
"""Hands no further apart than this are one slap, ns."""
REACH: Final = 20 * SECOND
"""Longest time from a slap to its mark, ns."""
_CASE_GOES_ON: Final = 3 * SECOND
"""Time after its slap at which a regression case ends, ns."""
_NOT_IN_A_CASE: Final = frozenset((SHADOW, MARK, "edge", "trouble", "mended"))


@dataclass(frozen=True, slots=True)
class Mark:
    """People's verdict on a slap."""

    id: str
    t: int
    """Time of the key press, ns."""
    verdict: str
    """`GOOD` or `FALSE`."""


Undecided = Literal["dead_heat", "doubt", "question", "void", ""]


@dataclass(frozen=True, slots=True)
class JudgedSlap:
    """One slap, as people see it, and the referee's ruling."""

    hands: tuple[str, ...]
    """Ids of its hands, by time."""
    t: int
    """Time of the first hand, ns."""
    last: int
    """Time of the last hand, ns."""
    ruling: Ruling | None
    """The deciding ruling; None: there was none."""
    verdict: str
    """`GOOD`, `FALSE`, or empty if the referee could not or would not say."""
    why: Undecided
    """The reason if it could not."""


@dataclass(frozen=True, slots=True)
class MarkedSlap:
    """A slap with its mark."""

    slap: JudgedSlap
    mark: Mark


@dataclass(frozen=True, slots=True)
class Comparison:
    """A shadowed game: each slap is in one of four groups."""

    agreed: tuple[MarkedSlap, ...]
    differing: tuple[MarkedSlap, ...]
    """By time; the first is number 1."""
    undecided: tuple[MarkedSlap, ...]
    """Marked slaps that the referee could not decide."""
    unmarked: tuple[JudgedSlap, ...]
    """Slaps without a mark."""
    stray: tuple[Mark, ...]
    """Marks that belong to no slap."""
    replaced: tuple[Mark, ...]
    """Marks that a later mark of the same slap replaced."""

    @property
    def counted(self) -> int:
        """Slaps on which both have a verdict."""
        return len(self.agreed) + len(self.differing)

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the share that agrees."""
        return wilson(len(self.agreed), self.counted)


def find_marks(lines: Iterable[Observation]) -> list[Mark]:
    """Return people's marks, by time."""
    found = [
        Mark(line.id, line.t, str(line.extra.get("verdict")))
        for line in lines
        if isinstance(line, Other) and line.name == MARK and line.extra.get("verdict") in VERDICTS
    ]
    return sorted(found, key=lambda mark: mark.t)


def judge_slaps(lines: Iterable[Observation], rulings: Sequence[Ruling]) -> list[JudgedSlap]:
    """Return the slaps of a game, by time, with their rulings.

    Args:
        lines: its observations.
        rulings: those in force.
    """
    hands = sorted((line for line in lines if isinstance(line, Slap)), key=lambda hand: hand.t)
    starts = [0, *(n + 1 for n, (one, other) in enumerate(pairwise(hands)) if other.t - one.t > TOGETHER), len(hands)]
    own = {cause_of(ruling): ruling for ruling in rulings if ruling.kind in SLAP_KINDS}
    open_ = [ruling for ruling in rulings if ruling.kind in ("dead_heat", "question")]
    return [_judged(hands[start:stop], own, open_) for start, stop in pairwise(starts) if stop > start]


def _judged(hands: Sequence[Slap], own: Mapping[str, Ruling], open_: Sequence[Ruling]) -> JudgedSlap:
    ids = tuple(hand.id for hand in hands)
    ruled = [own[name] for name in ids if name in own]
    ruling = min(ruled, key=lambda candidate: SLAP_KINDS.index(candidate.kind), default=None)
    # A question about cards does not affect this slap, otherwise the referee would not have ruled on it.
    asked = [question for question in open_ if not set(ids).isdisjoint((*question.because, *question.get("about", ())))]
    why: Undecided = ""
    if any(question.kind == "dead_heat" for question in asked):
        why = "dead_heat"
    elif asked or ruling is None:
        why = "question"
    elif ruling.doubt:
        why = "doubt"
    elif ruling.kind == "slap_void":
        why = "void"
    verdict = "" if why or ruling is None else GOOD if ruling.kind == "slap_won" else FALSE
    return JudgedSlap(ids, hands[0].t, hands[-1].t, ruling, verdict, why)


def compare(slaps: Sequence[JudgedSlap], marks: Sequence[Mark]) -> Comparison:
    """Assign each mark to the latest slap before it, and compare both verdicts.

    Args:
        slaps: by time.
        marks: by time.
    """
    given: dict[tuple[str, ...], MarkedSlap] = {}
    stray, replaced = [], []
    for mark in marks:
        before = [slap for slap in slaps if slap.t <= mark.t]
        if not before or mark.t - before[-1].last > REACH:
            stray.append(mark)
            continue
        slap = before[-1]
        if slap.hands in given:
            replaced.append(given[slap.hands].mark)
        given[slap.hands] = MarkedSlap(slap, mark)
    said = [given[slap.hands] for slap in slaps if slap.hands in given]
    return Comparison(
        agreed=tuple(compared for compared in said if compared.slap.verdict == compared.mark.verdict),
        differing=tuple(
            compared for compared in said if compared.slap.verdict and compared.slap.verdict != compared.mark.verdict
        ),
        undecided=tuple(compared for compared in said if not compared.slap.verdict),
        unmarked=tuple(slap for slap in slaps if slap.hands not in given),
        stray=tuple(stray),
        replaced=tuple(replaced),
    )


def compare_game(game: ReplayedGame) -> Comparison:
    """Compare a recorded game's marks with its rulings."""
    lines = game.lines()
    in_force = [ruling for ruling in game.rulings if ruling.id not in game.replaced_by]
    return compare(judge_slaps(lines, in_force), find_marks(lines))


def case_lines(log: Iterable[str], slap: JudgedSlap, expected: str) -> Iterator[str]:
    """Return a regression case: the log up to a slap, without names, and the required verdict.

    It is a log in the public format; its last line, of the kind `EXPECTED`, is one that the referee ignores.

    Args:
        log: the game's lines, as they are recorded.
        slap: the slap in question.
        expected: `GOOD` or `FALSE`.
    """
    end = slap.last + _CASE_GOES_ON
    for text in log:
        fields: dict[str, Any] = json.loads(text)
        if "ruling" in fields or fields.get("kind") in _NOT_IN_A_CASE or fields["t"] > end:
            continue
        if fields["kind"] == "table":
            fields["seats"] = [f"Seat {seat}" for seat in range(1, len(fields["seats"]) + 1)]
        yield _line(fields)
    yield _line({"kind": EXPECTED, "t": end, "id": EXPECTED, "hands": list(slap.hands), "verdict": expected})


def _line(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n"


def try_case(game: ReplayedGame) -> tuple[str, str]:
    """Return the expected verdict of a regression case, and the present one; empty if the referee cannot say.

    Raises:
        ValueError: this log expects nothing.
    """
    wanted = next((line for line in game.lines() if isinstance(line, Other) and line.name == EXPECTED), None)
    if wanted is None:
        raise ValueError("this log is no regression case: it has no line of the kind expected")
    in_force = [ruling for ruling in game.rulings if ruling.id not in game.replaced_by]
    ruled = [slap.verdict for slap in judge_slaps(game.lines(), in_force) if list(slap.hands) == wanted.extra["hands"]]
    return str(wanted.extra["verdict"]), ruled[0] if ruled else ""
