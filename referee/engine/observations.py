"""The observations of the table log, from sensors and people.

Every observation carries ``t``, the instant of the event in integer nanoseconds on the machine's monotonic clock, and
an ``id`` that is unique in its log (a line without one gets its line number). Fields and kinds are those of the table
log, version 1; unknown fields are kept in ``extra`` and unknown kinds as `Other`, and both are ignored.
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
"""Default ``t_error`` of a slap, ns, unless the log states a better one."""
MAX_ERROR: Final = 1_000_000_000
"""Largest ``t_error`` that a log may state, ns; with a larger one an instant says nothing about a slap."""


class LogError(Spoken, ValueError):
    """A log line that cannot be read; the message names the line and says what to change."""

    def __init__(self, line: int | None, problem: str) -> None:
        self.line = line
        self.problem = problem
        if line is None:
            super().__init__(problem)
        else:
            super().__init__(Sentence("line {line}: {problem}", line=line, problem=problem))


@record(frozen=True, slots=True, kw_only=True)
class Observation:
    """An event at ``t`` (ns)."""

    kind: ClassVar[str] = ""
    t: int
    id: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)


@record(frozen=True, kw_only=True)
class Table(Observation):
    """The first line: the seats, the dealer and the house rules."""

    kind: ClassVar[str] = "table"
    seats: tuple[str, ...]
    dealer: int = 1
    rules: Any = "classic"
    packs: int | None = None
    jokers: int | None = None
    counts: tuple[int | None, ...] | None = None
    direction: str | None = None
    sensors: tuple[str, ...] = ()
    """Sensors whose ticks together move the watermark; if empty, only ticks without a sensor do."""

    @cached_property
    def house(self) -> HouseRules:
        """The parsed house rules, cached; raises `RulesError` if they are invalid."""
        return read_house_rules(self.rules)


@record(frozen=True, slots=True, kw_only=True)
class Card(Observation):
    """A card was revealed; ``t`` is the first instant that shows its face."""

    kind: ClassVar[str] = "card"
    card: str
    seat: int | None = None
    t_error: int = 0
    confidence: float | None = None
    known_at: int | None = None
    zone: str = "pile"
    bearing: float | None = None
    """Direction from which the hand came: degrees, counter-clockwise from the right of the image."""
    candidates: tuple[tuple[str, float], ...] = ()
    """Readings by the camera alone, likeliest first, if they were ambiguous or contradicted deck memory."""


@record(frozen=True, slots=True, kw_only=True)
class Slap(Observation):
    """A pad's press edge."""

    kind: ClassVar[str] = "slap"
    seat: int
    force: float | None = None
    t_error: int = _SLAP_ERROR
    late: bool = False
    """Whether the device reported it too late or with an implausible instant; the referee asks before judging it."""


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
    """The camera saw nothing between ``t`` and ``until``, and the pile has changed since."""

    kind: ClassVar[str] = "gap"
    until: int
    """Start of the first frame after the gap, ns."""
    lying: tuple[str, ...] = ()
    """New cards seen since, oldest first; empty: the pile is gone."""
    since: int | None = None
    """If the game was paused meanwhile, the last instant seen, ns. The line then stands at the end of the gap, because
    hands in the gap were judged before."""


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
    """Other players contest a slap or a take."""

    kind: ClassVar[str] = "contest"
    by: tuple[int, ...]
    against: int
    ruling: str | None = None


@record(frozen=True, slots=True, kw_only=True)
class Answer(Observation):
    """People answer a question of the referee; ``to`` is the question's id."""

    kind: ClassVar[str] = "answer"
    to: str
    value: Any


@record(frozen=True, slots=True, kw_only=True)
class Say(Observation):
    """A player called a rank."""

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
    """Whether the line is struck out."""
    take: bool = False
    """Whether a line that came too late is accepted for judging."""


@record(frozen=True, slots=True, kw_only=True)
class Tick(Observation):
    """Every sensor (or the named one) has reported everything up to ``t``."""

    kind: ClassVar[str] = "tick"
    sensor: str | None = None


@record(frozen=True, slots=True, kw_only=True)
class Other(Observation):
    """An observation of an unknown kind; kept, but ignored."""

    name: str = ""


OBSERVATION_KINDS: Final[Mapping[str, type[Observation]]] = {
    cls.kind: cls
    for cls in (
        Table, Card, Slap, Lift, Taken, Gap, Placed, Foul, Contest, Answer, Say, Draw, Join, Leave, Count, Day, Pause,
        Resume, Correct, Tick,
    )
}  # fmt: skip
