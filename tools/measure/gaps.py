"""The referee's results with gaps in its sight: `make gaps`.

Each gap has its own short simulated game: some cards, the gap, some cards. The frames are drawn, and the product's
child looks at them (`tools.measure.gap_table`); the truth of the table is known. A game counts twice: as
refereed, with all questions left open, and with its log ruled again after people have answered with the truth.

A ruling is *wrong with confidence* where it is in force in the end, the truth's game has none like it, and it bears
no ``doubt``: an open question excuses nothing. A card is *lost without a word* where the log has neither the card nor
``??`` for it, and people were neither asked about that gap, within a second, nor asked to check the pile, nor told that
a pile may have passed and that no count is known.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass, field, replace
from io import StringIO
from itertools import takewhile
from pathlib import Path
from random import Random
from typing import Any, Final

from hardware.pads.pads import LEAST_ERROR
from hardware.simulated.decks.families import FAMILIES
from hardware.simulated.devices.silent_speaker import RecordingSpeaker
from hardware.simulated.table.acts import SETTLE_NS, SWEEP_NS
from hardware.simulated.table.course import ScriptError
from hardware.simulated.table.interruption import REACH, go_on, stand_still
from hardware.simulated.table.players import Habits
from hardware.simulated.table.script import Script, play_game
from hardware.simulated.table.simulated_table import SimulatedTable
from referee.demo.score import (
    align,
    asked_once,
    comparable,
    decisive,
    heats,
    in_force,
    is_called,
    match_rulings,
    stated_errors,
    true_rulings,
)
from referee.demo.simulated_game import settings_for
from referee.engine.log import encode_observation, read_observations, ruling_of
from referee.engine.observations import MAX_ERROR, Answer, Card, Gap, Lift, Observation, Other, Slap, Taken, Tick
from referee.engine.replay import ReplayedGame
from referee.engine.rulings import Ruling, base_id, encode_ruling
from referee.rules.cards import UNREADABLE
from referee.table.services import TableService
from referee.table.session import Evening
from referee.units import MS, SECOND
from referee.vision.videos import new_watcher, seat_bearings
from tools.measure.gap_table import Fault, GappedTable

FPS: Final = 15.0
_FRAME: Final = round(SECOND / FPS)
_AFTER: Final = 3 * SECOND
"""How long people play on after a gap, ns."""
_ANSWER_AFTER: Final = 1_200 * MS
_UNSETTLED: Final = SECOND
"""Events this shortly before a gap may be unreported; questions this shortly after it concern the gap, ns."""
_TURNS: Final = ("lead", "turn")
_LATE: Final = 3 * SECOND
"""Allowed lateness of a found pick-up, ns."""
_REMEMBERED: Final = 3
"""Cards seen by people alone that they can name."""
_MOST_ANSWERS: Final = 30
"""Largest number of answers in a game."""

HAPPENINGS: Final = ("nothing", "laid", "taken", "slapped")
_SHARES: Final = ("nothing", "laid", "slapped", "nothing", "taken", "laid", "slapped", "nothing", "laid", "taken")
"""The events in ten gaps of a kind."""


def _silent(seconds: float) -> Callable[[Random], tuple[int, dict[str, Any]]]:
    return lambda _chance: (round(seconds * SECOND), {})


def _between(
    low: float, high: float, behind: tuple[float, float] | None = None, **more: Any
) -> Callable[[Random], tuple[int, dict[str, Any]]]:
    def draw(chance: Random) -> tuple[int, dict[str, Any]]:
        length = round(chance.uniform(low, high) * SECOND)
        return length, more | ({"behind": round(chance.uniform(*behind) * SECOND)} if behind else {})

    return draw


KINDS: Final = {
    "silent 0.4 s": _silent(0.4),
    "silent 0.8 s": _silent(0.8),
    "silent 1.8 s": _silent(1.8),
    "silent 3 s": _silent(3.0),
    "camera killed, quickly back": _between(0.6, 1.2),
    "camera killed, slowly back": _between(2.2, 4.0),
    "camera killed, backlog, quickly back": _between(0.6, 1.2, (0.5, 1.5)),
    "camera killed, backlog, slowly back": _between(2.2, 4.0, (0.5, 1.5)),
    "eye killed": _between(1.0, 3.0),
    "picture repeated": _between(0.6, 2.0, repeats=True),
}
"""By kind of gap: its duration, ns, and any further fault."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One game with one gap."""

    number: int
    kind: str
    happening: str
    script: Script
    fault: Fault
    family: str

    @property
    def blind(self) -> tuple[int, int]:
        """Return the span from the last frame that shows the table before the gap to the first after it, ns."""
        first = -(-self.fault.since // _FRAME) * _FRAME
        return first - _FRAME, -(-self.fault.until // _FRAME) * _FRAME


def what_happens(script: Script, blind: tuple[int, int]) -> str:
    """Return the players' actions during the gap: the most telling of `HAPPENINGS`."""
    since, until = blind
    unseen = [line for line in script.truth if since - SETTLE_NS < line.t <= until and not isinstance(line, Lift)]
    if any(isinstance(line, Slap) for line in unseen):
        return "slapped"
    if any(isinstance(line, Taken) for line in unseen):
        return "taken"
    return "laid" if unseen else "nothing"


def plan(number: int, seed: int) -> Plan:
    """Return the ``number``-th gap of a set, from 0; ``seed`` chooses the set."""
    kind = list(KINDS)[number % len(KINDS)]
    wanted = _SHARES[number // len(KINDS) % len(_SHARES)]
    chance = Random(f"gaps {seed} {number}")
    families = sorted(FAMILIES)
    while True:
        length, more = KINDS[kind](chance)
        fault = Fault(0, length, kills_eye=kind == "eye killed", **more)
        drawn = _draw(chance, wanted, fault)
        if drawn is not None:
            script, since = drawn
            fault = replace(fault, since=since, until=since + length)
            made = Plan(number, kind, wanted, script, fault, families[chance.randrange(len(families))])
            if what_happens(script, made.blind) == wanted:
                return made


def _draw(chance: Random, wanted: str, fault: Fault) -> tuple[Script, int] | None:
    """Draw a game, and when its gap begins; None where nothing of it fits."""
    seed, seats = chance.randrange(10**6), chance.choice((3, 4, 4, 5))
    pace = chance.choice((1.5, 2.5, 3.5))
    length = fault.until
    script = play_game(seed, seats, "classic", 60, pace, habits=Habits(wrong_slap=0.04))
    low, high = 2_500 * MS + fault.behind, 7 * SECOND + fault.behind
    if wanted == "nothing" and (length > SECOND or chance.random() < 0.5):
        # People stand still for a while.
        at = chance.randrange(low, high)
        still = stand_still(script, at)
        since = at + REACH + chance.randrange(100 * MS, 400 * MS)
        try:
            script = go_on(still, since + length + chance.randrange(0, 300 * MS), still.truth[1:], 60)
        except ScriptError:
            return None
    elif wanted == "nothing":
        since = chance.randrange(low, high)
    else:
        kinds = {"laid": Card, "taken": Taken, "slapped": Slap}
        events = [line.t for line in script.truth if isinstance(line, kinds[wanted]) and low <= line.t <= high + length]
        if not events:
            return None
        since = chance.choice(events) - round(chance.uniform(0.1, 0.9) * length)
        if since < low:
            return None
    end = since + length + _AFTER
    if script.duration < end:
        return None
    script = stand_still(script, end)
    if heats(script.truth, 2 * LEAST_ERROR) or any(moment.t < script.duration for moment in script.called):
        # A situation that is too close to call without a gap says nothing of gaps.
        return None
    return replace(script, duration=end + REACH + 1_200 * MS), since


class _Leaver(TableService):
    """Leaves when the script is over."""

    name = "leaver"
    needs_record = False

    def __init__(self, table: GappedTable) -> None:
        self._table = table

    @property
    def leaves(self) -> bool:
        """See `TableService`."""
        return self._table.is_over(0)


@dataclass(frozen=True, slots=True)
class Refereed:
    """The referee's results for a game."""

    lines: tuple[Observation, ...]
    rulings: tuple[Ruling, ...]

    @property
    def is_told(self) -> bool:
        """Whether people were asked to check the pile."""
        notes = (line.extra for line in self.lines if isinstance(line, Other) and line.name == "reconciled")
        return any(note["verdict"] != "same" for note in notes)

    @classmethod
    def read(cls, log: Path) -> Refereed:
        """Read the log of `write`."""
        with log.open("rb") as file:
            lines = tuple(line for _, line in read_observations(file))
        raw = (json.loads(line) for line in log.read_text(encoding="utf-8").splitlines())
        return cls(lines, tuple(ruling_of(line) for line in raw if "ruling" in line))

    def write(self, log: Path) -> None:
        """Store it as a log."""
        log.parent.mkdir(parents=True, exist_ok=True)
        lines = [*map(encode_observation, self.lines), *map(encode_ruling, self.rulings)]
        log.write_text("\n".join(lines) + "\n", encoding="utf-8")


def referee(planned: Plan, *, gap: bool = True) -> Refereed:
    """Have the game refereed; all questions stay open."""
    script = planned.script
    table = SimulatedTable(script, FPS, deck_family=planned.family)
    slots = ((t, lambda t=t: table.render(t)) for t in map(table.frame_time, range(table.frame_count)))
    stepped = GappedTable(
        script, slots, lambda: new_watcher(seat_bearings(script.seats)), planned.fault if gap else None
    )
    settings = settings_for(script)
    settings = settings.model_copy(update={
        "voice": settings.voice.model_copy(update={"enabled": False}),
        "lights": settings.lights.model_copy(update={"enabled": False}),
    })  # fmt: skip
    evening = Evening(
        settings, [_Leaver(stepped)],
        openers=stepped.openers(lambda clock: RecordingSpeaker(clock, keep=0)), live=False,
    )  # fmt: skip
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        conductor = evening.play({}, new=True)
    stepped.close()
    return Refereed(tuple(conductor.observations), tuple(conductor.rulings))


def answered(planned: Plan, refereed: Refereed) -> Refereed:
    """Return the same log after people have answered every question with the truth."""
    lines, game, said = [*refereed.lines, Tick(t=planned.script.duration)], None, set[str]()
    for number in range(_MOST_ANSWERS):
        game = ReplayedGame(list(enumerate(lines, start=1)))
        told = next(
            ((asked, value) for asked in in_force(game.rulings)
             if asked.kind == "question" and base_id(asked) not in said
             and (value := true_answer(planned, asked, lines)) is not None),
            None,
        )  # fmt: skip
        if told is None:
            break
        asked, value = told
        said.add(base_id(asked))
        lines.append(Answer(t=asked.t + _ANSWER_AFTER, id=f"truth{number}", to=asked.id, value=value))
    assert game is not None
    return replace(refereed, lines=tuple(lines), rulings=tuple(game.rulings))


def true_answer(planned: Plan, asked: Ruling, lines: Sequence[Observation]) -> Any:
    """Return the answer of people who saw everything; None where they cannot tell, or nothing is asked of them."""
    about = asked.get("about", ())
    if asked["ask"] == "unseen_gap":
        stretch = stretches(lines).get(about[0])
        return (
            None
            if len(about) > 1 or stretch is None
            else what_passed(planned.script, asked, stretch, cards_told_before(about[0], lines))
        )
    seats = {line.seat for line in lines if isinstance(line, Slap) and line.id in about}
    return planned.script.answer(str(asked["ask"]), asked.t, seats or range(1, 9))


def stretches(lines: Iterable[Observation]) -> dict[str, tuple[int, int]]:
    """Return each gap's span in which the table was unseen, ns, by the log."""
    gaps = (line for line in lines if isinstance(line, Gap))
    return {gap.id: (gap.t if gap.since is None else gap.since, gap.until) for gap in gaps}


def cards_told_before(gap: str, lines: Iterable[Observation]) -> list[Card]:
    """Return the cards that the eye had reported when it reported a gap."""
    return [line for line in takewhile(lambda line: line.id != gap, lines) if isinstance(line, Card)]


def what_passed(
    script: Script, asked: Ruling, stretch: tuple[int, int] | None = None, told: Sequence[Card] = ()
) -> str | int:
    """Return who took the pile, or the cards before the seen ones, as far as people remember.

    Args:
        script: the truth.
        asked: the question.
        stretch: span in which the table was unseen, ns; None: as long as the question says, from its instant on.
        told: the cards that were seen before; one that was still on its way when the gap began is not
            among them, and lies there as well.
    """
    since, until = stretch or (asked.t, asked.t + asked["lasted"])
    seen = list(asked.get("cards", ()))
    unseen = [line for line in script.truth if since < line.t <= until or _was_on_its_way(line, since)]
    unseen = [line for line in unseen if not any(_is_told_by(line, card) for card in told)]
    takes = [line for line in unseen if isinstance(line, Taken)]
    came = [line.card for line in unseen if isinstance(line, Card) and (not takes or line.t > takes[-1].t)]
    between, above = came[: max(0, len(came) - len(seen))], came[max(0, len(came) - len(seen)) :]
    is_all_seen = len(above) == len(seen) and all(
        one in (other, UNREADABLE) for one, other in zip(seen, above, strict=True)
    )
    if takes:
        seat = takes[-1].seat
        return seat if seat is not None and is_all_seen and not between else "unknown"
    if not is_all_seen or len(between) > _REMEMBERED:
        return "unknown"
    return " ".join(between) or "nothing"


def _was_on_its_way(line: Observation, since: int) -> bool:
    return isinstance(line, Card) and since - SETTLE_NS < line.t <= since


def _is_told_by(line: Observation, card: Card) -> bool:
    return isinstance(line, Card) and line.card == card.card and abs(line.t - card.t) <= card.t_error + SETTLE_NS


@dataclass(slots=True)
class Score:
    """The score of one gap, with one way of answering."""

    cards: int = 0
    """Cards laid in the gap."""
    lost: list[str] = field(default_factory=list)
    """Cards that the log never has, though people were not asked."""
    wrong: list[str] = field(default_factory=list)
    """Rulings that are wrong with confidence ..."""
    before: list[str] = field(default_factory=list)
    """... and those that do not concern the gap."""
    instants: int = 0
    outside: list[str] = field(default_factory=list)
    """Cards and takes whose instant is further from the truth than stated."""
    questions: list[str] = field(default_factory=list)
    is_told: bool = False
    """Whether people were asked anything, or asked to check the pile."""
    is_reminded: bool = False
    """Whether people were told, and not asked, that a pile may have passed."""


def score(planned: Plan, refereed: Refereed) -> Score:
    """Compare the refereed game with the truth."""
    truth, since = planned.script.truth, planned.blind[0] - planned.fault.behind
    out = Score(cards=sum(isinstance(line, Card) and _is_hidden(planned, line.t) for line in truth))
    asked = _uncalled(planned, refereed)
    out.questions = [f"{_at(question.t)} {question.get('ask', question.kind)}" for question in asked]
    out.is_told = bool(asked) or refereed.is_told
    until = planned.blind[1] + _UNSETTLED
    out.is_reminded = any(ruling.get("what") == "passed_pile" for ruling in in_force(refereed.rulings))
    has_words = out.is_reminded or refereed.is_told
    has_words |= any(question.get("ask") == "unseen_gap" or since <= question.t <= until for question in asked)
    spans = list(stretches(refereed.lines).values())
    pairs = align(
        [line for line in truth if isinstance(line, Card)], [line for line in refereed.lines if isinstance(line, Card)]
    )
    for laid, seen in pairs:
        if laid is not None and seen is not None:
            _judge_instant(out, laid, seen, spans)
        elif laid is not None and not has_words:
            out.lost.append(f"{_at(laid.t)} {laid.card}")
    takes = [line for line in refereed.lines if isinstance(line, Taken)]
    for line in truth:
        near = min(takes, key=lambda other: abs(other.t - line.t), default=None)
        if isinstance(line, Taken) and near is not None and abs(near.t - line.t) < 2 * SECOND:
            _judge_instant(out, line, near, spans)
    for ruling in _wrong(planned, refereed):
        (out.wrong if ruling.t >= since - _UNSETTLED else out.before).append(_show(ruling))
    return out


def _is_hidden(planned: Plan, t: int) -> bool:
    since, until = planned.blind
    return since < t <= until


def _judge_instant(
    out: Score, true: Card | Taken, seen: Card | Taken, spans: Sequence[tuple[int, int]]
) -> None:  # fmt: skip
    out.instants += 1
    # A pile's leaving lasts as long as the sweep.
    slack = SWEEP_NS // 2 if isinstance(true, Taken) else 0
    # No card can state half of a longer gap as its error: the gap's own line gives its span.
    is_wide = seen.t_error >= MAX_ERROR or bool(seen.extra.get("gap"))
    is_told_by_gap = is_wide and any(a <= true.t <= b for a, b in spans)
    if abs(seen.t - true.t) > seen.t_error + slack and not is_told_by_gap:
        what = true.card if isinstance(true, Card) else "taken"
        out.outside.append(f"{_at(true.t)} {what}: told {_at(seen.t)} ± {seen.t_error / SECOND:.3f}")


def _uncalled(planned: Plan, refereed: Refereed) -> list[Ruling]:
    """Return questions without a reason in the script or the true game."""
    script = planned.script
    true = Counter(
        question.get("ask", question.kind) for question in asked_once(true_rulings(script.truth, script.duration))
    )
    out = []
    for ruling in asked_once(refereed.rulings):
        ask = ruling.get("ask", ruling.kind)
        # A hand whose worth depends on a gap's question has an uncertain verdict, and no question.
        waits = ask == "unseen_gap" and len(ruling.get("about", ())) > 1
        if not waits and not is_called(ruling, [called.t for called in script.called]) and not true[ask]:
            out.append(ruling)
        true[ask] -= 1
    return out


def _wrong(planned: Plan, refereed: Refereed) -> list[Ruling]:
    """Return rulings in force that the truth's game lacks, and that state no doubt."""
    script, errors = planned.script, errors_of(refereed)
    called = [moment.t for moment in script.called]
    wanted, _ = comparable(true_rulings(script.truth, script.duration), called)
    made, _ = comparable(refereed.rulings, called)
    _, lacking, surplus = match_rulings(wanted, made, errors)
    return [
        surplu
        for surplu in surplus
        if not says_so(surplu)
        and not is_their_turn(surplu, wanted, errors(surplu) + _FRAME)
        and not _is_told_later(surplu, lacking)
    ]


def _is_told_later(ruling: Ruling, lacking: Sequence[Ruling]) -> bool:
    """Whether this is the truth's own pile, whose pick-up was found only when the next card was laid."""
    return ruling.kind == "pile" and any(
        decisive(lost) == decisive(ruling) and 0 < ruling.t - lost.t < _LATE for lost in lacking
    )


def errors_of(refereed: Refereed) -> Callable[[Ruling], int]:
    """Return the allowed distance of a ruling's instant from the truth, ns: the gap's length where it rests on one."""
    stated, gaps = stated_errors(refereed.lines), stretches(refereed.lines)
    lasted = {gap: until - since for gap, (since, until) in gaps.items()}
    longest = max(lasted.values(), default=0)
    # A ruling in a pause says so beside its error, which does not cover the pause.
    lasted |= {line.id: longest for line in refereed.lines if line.extra.get("gap")}
    return lambda ruling: stated(ruling) + max((lasted.get(name, 0) for name in ruling.because), default=0)


def is_their_turn(ruling: Ruling, wanted: Sequence[Ruling], error: int) -> bool:
    """Whether a ruling only states later, or in the other wording, the turn that the truth's rulings confirm."""
    if ruling.kind not in _TURNS:
        return False
    turns = [expected for expected in wanted if expected.kind in _TURNS]
    before = [turn for turn in turns if turn.t <= ruling.t - error][-1:]
    near = [turn for turn in turns if abs(turn.t - ruling.t) < error]
    return any(earlier["seat"] == ruling["seat"] for earlier in (*before, *near))


def says_so(ruling: Ruling) -> bool:
    """Whether a ruling states its own doubt, or judges nothing."""
    is_paused = ruling.kind == "slap_void" and ruling.get("reason") == "paused"
    return ruling.doubt or is_paused or ruling.kind in ("remind", "corrected")


def _show(ruling: Ruling) -> str:
    return f"{_at(ruling.t)} {ruling.kind} {dict(ruling.fields)}"


def _at(t: int) -> str:
    return f"{t / SECOND:.2f} s"


@dataclass(slots=True)
class Row:
    """The sums of all gaps of a kind."""

    gaps: int = 0
    cards: int = 0
    lost: int = 0
    wrong: int = 0
    """Rulings ..."""
    wrong_gaps: int = 0
    """... and the gaps that led to any."""
    wrong_answered: int = 0
    instants: int = 0
    outside: int = 0
    questions: int = 0
    most_questions: int = 0
    idle: int = 0
    idle_asked: int = 0
    idle_reminded: int = 0
    """Idle gaps after which people were told, and not asked, that a pile may have passed."""

    def add(self, happening: str, left: Score, said: Score) -> None:
        """Add a gap."""
        self.gaps += 1
        self.cards += left.cards
        self.lost += len(left.lost)
        self.wrong += len(left.wrong)
        self.wrong_gaps += bool(left.wrong)
        self.wrong_answered += len(said.wrong)
        self.instants += left.instants
        self.outside += len(left.outside)
        self.questions += len(left.questions)
        self.most_questions = max(self.most_questions, len(left.questions), len(said.questions))
        self.idle += happening == "nothing"
        self.idle_asked += happening == "nothing" and left.is_told
        self.idle_reminded += happening == "nothing" and left.is_reminded


HEADINGS: Final = (
    "kind of gap", "gaps", "cards in them", "lost without a word", "wrong, unanswered", "in gaps", "wrong, answered",
    "instants inside", "questions", "most a gap", "idle asked about",
    "idle told of",
)  # fmt: skip


def _cells(name: str, row: Row) -> str:
    inside = f"{row.instants - row.outside} of {row.instants}"
    cells = (
        name, row.gaps, row.cards, row.lost, row.wrong, row.wrong_gaps, row.wrong_answered, inside, row.questions,
        row.most_questions, f"{row.idle_asked} of {row.idle}",
        f"{row.idle_reminded} of {row.idle}",
    )  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


def table_of(rows: dict[str, Row]) -> Iterator[str]:
    """Yield the table, a kind a line, with the sums at the end."""
    yield "| " + " | ".join(HEADINGS) + " |"
    yield "| --- |" + " ---: |" * (len(HEADINGS) - 1)
    for kind, row in rows.items():
        yield _cells(kind, row)


def missed(row: Row) -> list[str]:
    """Return the requirements that were missed."""
    out = []
    if row.lost:
        out.append(f"{row.lost} cards lost without a word (none may be)")
    if row.wrong or row.wrong_answered:
        out.append(f"{row.wrong} rulings wrong with confidence, {row.wrong_answered} after answers (none may be)")
    if row.outside > 0.005 * row.instants:
        out.append(f"{row.outside} of {row.instants} instants outside their error (0.5 % may be)")
    if row.most_questions > 1:
        out.append(f"{row.most_questions} questions about one gap (one may be)")
    if row.idle_asked > 0.05 * row.idle:
        out.append(f"{row.idle_asked} of {row.idle} gaps in which nothing happened were asked about (5 % may be)")
    return out


def main(arguments: Sequence[str] | None = None) -> int:
    """Play the games and print the table; return 1 where a requirement was missed."""
    parser = argparse.ArgumentParser(prog="gaps", description=__doc__)
    parser.add_argument("--gaps", type=int, default=200, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="chooses the set")
    parser.add_argument("--only", type=int, nargs="+", help="these gaps of the set alone, by number")
    parser.add_argument("--kind", help="gaps whose kind begins so alone")
    parser.add_argument("--no-gap", action="store_true", help="the same games, and all frames come: what else is wrong")
    parser.add_argument("--json", type=Path, default=Path("out/gaps.json"), help="takes every gap's figures")
    parser.add_argument("--logs", type=Path, default=Path("out/gaps"), help="a folder that takes each game's log")
    parser.add_argument("--again", action="store_true", help="score the logs that lie there, and referee nothing")
    args = parser.parse_args(arguments)
    rows = {kind: Row() for kind in KINDS}
    total, told, began = Row(), [], time.monotonic()
    numbers = args.only or range(args.gaps)
    for number in numbers:
        planned = plan(number, args.seed)
        if args.kind and not planned.kind.startswith(args.kind):
            continue
        log = args.logs / f"{args.seed}-{number}.jsonl"
        if args.again:
            refereed = Refereed.read(log)
        else:
            refereed = referee(planned, gap=not args.no_gap)
            refereed.write(log)
        after = answered(planned, refereed)
        left, said = score(planned, refereed), score(planned, after)
        for row in (rows[planned.kind], total):
            row.add(planned.happening, left, said)
        told.append(_as_json(planned, left, said))
        _show_gap(planned, left, said, time.monotonic() - began)
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(json.dumps({"seed": args.seed, "total": asdict(total), "gaps": told}, indent=1) + "\n")
    print(*table_of({kind: row for kind, row in rows.items() if row.gaps} | {"all": total}), sep="\n")
    print(*(f"missed: {words}" for words in missed(total)), sep="\n")
    return 1 if missed(total) else 0


def _show_gap(planned: Plan, left: Score, said: Score, took: float) -> None:
    since, until = planned.blind
    print(
        f"{planned.number:4d} {took:5.0f} s  {planned.kind}, {planned.happening}, {_at(since)} to {_at(until)}",
        flush=True,
    )
    for title, found in (
        ("lost", left.lost), ("wrong", left.wrong), ("wrong, answered", said.wrong), ("wrong before", left.before),
        ("outside", left.outside), ("asked", left.questions), ("asked, answered", said.questions),
    ):  # fmt: skip
        for words in found:
            print(f"        {title}: {words}", flush=True)


def _as_json(planned: Plan, left: Score, said: Score) -> dict[str, Any]:
    since, until = planned.blind
    return {
        "number": planned.number, "kind": planned.kind, "happening": planned.happening, "since": since, "until": until,
        "unanswered": asdict(left), "answered": asdict(said),
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
