"""What was sensed or said: the observations of the table log.

Every observation carries ``t``, the instant of the thing itself in integer nanoseconds on the machine's monotonic
clock, and an ``id`` that is unique in its log (a line without one gets its line's number). Fields and kinds are those
of the table log, version 1; unknown fields are kept in ``extra`` and unknown kinds as `Other`, and both are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, ClassVar, Final

from referee.rules.frozen import record
from referee.rules.house import HouseRules, read_house_rules
from referee.sentence import Sentence, Spoken

MAX_SEATS: Final = 8
_SLAP_ERROR: Final = 1_500_000
"""Default ``t_error`` of a slap, ns: no pad is known better than that unless its log says so."""
MAX_ERROR: Final = 1_000_000_000
"""Widest ``t_error`` a log may state, ns; beyond it an instant says nothing about a slap."""


class LogError(Spoken, ValueError):
    """A line of a log that cannot be read; says which line, and what to change."""

    def __init__(self, line: int | None, problem: str) -> None:
        self.line = line
        self.problem = problem
        if line is None:
            super().__init__(problem)
        else:
            super().__init__(Sentence("line {line}: {problem}", line=line, problem=problem))


@record(frozen=True, slots=True, kw_only=True)
class Observation:
    """Something that happened at ``t`` (ns)."""

    kind: ClassVar[str] = ""
    t: int
    id: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)


@record(frozen=True, kw_only=True)
class Table(Observation):
    """The first line: who sits where, who dealt, by which rules."""

    kind: ClassVar[str] = "table"
    seats: tuple[str, ...]
    dealer: int = 1
    rules: Any = "classic"
    packs: int | None = None
    jokers: int | None = None
    counts: tuple[int | None, ...] | None = None
    direction: str | None = None
    sensors: tuple[str, ...] = ()
    """Sensors whose ticks together move the watermark; empty: only ticks without a sensor do."""

    @cached_property
    def house(self) -> HouseRules:
        """The rules that ``rules`` says, read once; raises `RulesError` where they cannot be used."""
        return read_house_rules(self.rules)


@record(frozen=True, slots=True, kw_only=True)
class Card(Observation):
    """A card came face up; ``t`` is the first instant that shows its face."""

    kind: ClassVar[str] = "card"
    card: str
    seat: int | None = None
    t_error: int = 0
    confidence: float | None = None
    known_at: int | None = None
    zone: str = "pile"
    bearing: float | None = None
    """Where the hand came from: degrees, counter-clockwise from the picture's right."""
    candidates: tuple[tuple[str, float], ...] = ()
    """What the eye alone made of it, the likeliest first, where that left it open or spoke against deck memory."""


@record(frozen=True, slots=True, kw_only=True)
class Slap(Observation):
    """A pad's press edge."""

    kind: ClassVar[str] = "slap"
    seat: int
    force: float | None = None
    t_error: int = _SLAP_ERROR
    late: bool = False
    """Its device told it too late, or its instant cannot be believed: it is asked about, and never judged silently."""


@record(frozen=True, slots=True, kw_only=True)
class Lift(Observation):
    """A pad's release edge."""

    kind: ClassVar[str] = "lift"
    seat: int
    t_error: int = 0


@record(frozen=True, slots=True, kw_only=True)
class Taken(Observation):
    """The pile left the table."""

    kind: ClassVar[str] = "taken"
    seat: int | None = None
    t_error: int = 0


@record(frozen=True, slots=True, kw_only=True)
class Gap(Observation):
    """The camera saw nothing after ``t`` and before ``until``, and what lies there now is not what lay there."""

    kind: ClassVar[str] = "gap"
    until: int
    """Start of the first frame after it, ns."""
    lying: tuple[str, ...] = ()
    """The cards seen since that were not known, oldest first; none: the pile is gone."""
    since: int | None = None
    """Where the game was paused meanwhile: the last instant that was seen, ns. The line itself stands at the end of
    such a gap, for hands that fell in it were judged before."""


@record(frozen=True, slots=True, kw_only=True)
class Placed(Observation):
    """Penalty cards seen going into the pile."""

    kind: ClassVar[str] = "placed"
    seat: int | None = None
    count: int = 1
    where: str = "bottom"
    cards: tuple[str, ...] = ()


@record(frozen=True, slots=True, kw_only=True)
class Foul(Observation):
    """A foul that a person reported or the camera saw."""

    kind: ClassVar[str] = "foul"
    seat: int
    foul: str


@record(frozen=True, slots=True, kw_only=True)
class Contest(Observation):
    """Others contest a slap or a take."""

    kind: ClassVar[str] = "contest"
    by: tuple[int, ...]
    against: int
    ruling: str | None = None


@record(frozen=True, slots=True, kw_only=True)
class Answer(Observation):
    """People settle what the referee asked; ``to`` is the question's id."""

    kind: ClassVar[str] = "answer"
    to: str
    value: Any


@record(frozen=True, slots=True, kw_only=True)
class Say(Observation):
    """A called rank."""

    kind: ClassVar[str] = "say"
    seat: int
    rank: str


@record(frozen=True, slots=True, kw_only=True)
class Draw(Observation):
    """The wild rank was drawn."""

    kind: ClassVar[str] = "draw"
    rank: str


@record(frozen=True, slots=True, kw_only=True)
class Join(Observation):
    """A bystander's pad joins."""

    kind: ClassVar[str] = "join"
    seat: int


@record(frozen=True, slots=True, kw_only=True)
class Leave(Observation):
    """A player leaves the game (E8)."""

    kind: ClassVar[str] = "leave"
    seat: int


@record(frozen=True, slots=True, kw_only=True)
class Count(Observation):
    """A stack was counted."""

    kind: ClassVar[str] = "count"
    seat: int
    cards: int


@record(frozen=True, slots=True, kw_only=True)
class Day(Observation):
    """The calendar date."""

    kind: ClassVar[str] = "day"
    date: str


@record(frozen=True, slots=True, kw_only=True)
class Pause(Observation):
    """The table stops; slaps are void until `Resume`."""

    kind: ClassVar[str] = "pause"


@record(frozen=True, slots=True, kw_only=True)
class Resume(Observation):
    """The table goes on."""

    kind: ClassVar[str] = "resume"


@record(frozen=True, slots=True, kw_only=True)
class Correct(Observation):
    """A person's correction of the line ``line``: ``extra`` holds the fields that replace it."""

    kind: ClassVar[str] = "correct"
    line: str
    void: bool = False
    """The line never was."""
    take: bool = False
    """A line that came too late to be judged by is taken up."""


@record(frozen=True, slots=True, kw_only=True)
class Tick(Observation):
    """Every sensor (or that one) has reported everything up to ``t``."""

    kind: ClassVar[str] = "tick"
    sensor: str | None = None


@record(frozen=True, slots=True, kw_only=True)
class Other(Observation):
    """A kind that this version does not know; kept, and ignored."""

    name: str = ""


OBSERVATION_KINDS: Final[Mapping[str, type[Observation]]] = {
    cls.kind: cls
    for cls in (
        Table, Card, Slap, Lift, Taken, Gap, Placed, Foul, Contest, Answer, Say, Draw, Join, Leave, Count, Day, Pause,
        Resume, Correct, Tick,
    )
}  # fmt: skip
