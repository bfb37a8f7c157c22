"""The adjudicator, the referee without sensors or outputs: observations in, rulings out.

It guarantees two things. Replaying a log gives the same rulings, byte for byte. Any order of arrival gives the same
rulings, as long as each sensor keeps its promise about what it has already reported: rulings depend on the set of
observations, not on their order of arrival.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from referee.engine.amendments import AmendmentError
from referee.engine.event_queue import EventJudge, Witness
from referee.engine.first_hand import won_ruling
from referee.engine.fold import open_table
from referee.engine.foresight import Foresight, foresee, recall_places
from referee.engine.gap import is_moot
from referee.engine.history import History
from referee.engine.observations import (
    MAX_ERROR,
    Answer,
    Card,
    Correct,
    Join,
    Lift,
    LogError,
    Observation,
    Other,
    Slap,
    Table,
    Tick,
)
from referee.engine.rulings import (
    Key,
    PlacedRuling,
    Ruling,
    base_id,
    before_the_pickup,
    cause_of,
    gap_form,
    place_of,
    printing_order,
    to_ruling,
)
from referee.engine.state import State
from referee.engine.view import ChallengeView, View
from referee.rules.house import RulesError
from referee.rules.phase import Over
from referee.rules.position import Position
from referee.rules.step import Draft
from referee.sentence import Sentence

_FOREVER: Final = 2**64
LIVE_LOOKAHEAD: Final = 10_000_000
"""``lookahead_ns`` of a live table: the largest error of a slap that a pad may state, ns."""
_AMENDING: Final = (Answer, Correct)
_NEVER_LATE: Final = (*_AMENDING, Lift, Other)
"""Lines that are not asked about when they come late: people's words, a hand that lifts, and lines without a ruling."""
_TOLD_ONLY: Final = ("mend_amendment", "nothing_to_contest")
"""Questions without an answer, which only tell people that their statement fits nothing."""


class Adjudicator:
    """Rules a game from its observations.

    Args:
        lookahead_ns: how far past a card, slap or correction everything must be known before it is judged. The default
            covers the largest errors that a log may state. A live table whose sensors promise on an instant's
            *earliest* moment (``t - t_error``) may reduce it to the largest error of a slap.
        history: whether to keep the history that answers and corrections need. Without it, memory does not grow, and
            answers and corrections are refused.
        stream: whether to give rulings as they become final. Otherwise all come at the end, corrections sorted in.
        early: whether to collect rulings for `take_early`.
        all_join: whether every seat beyond the table's that the log names is known to join in it.
        witness: receives each observation with the state before it and the outcome; again if it is judged again.
    """

    def __init__(
        self,
        *,
        lookahead_ns: int = 2 * MAX_ERROR,
        history: bool = True,
        stream: bool = True,
        early: bool = True,
        all_join: bool = False,
        witness: Witness | None = None,
    ) -> None:
        self._stream = stream
        self._tells_early = early
        self._judge = EventJudge(witness=witness)
        self._lookahead = lookahead_ns
        self._watermark = -_FOREVER
        self._read_to = -_FOREVER
        self._marks: dict[str, int] = {}
        self._sensors: tuple[str, ...] = ()
        self._last_t = -_FOREVER
        self._seats = 0
        self._joined = 0
        self._may_join = all_join
        """Whether a line may name a seat that has not joined yet: bystanders may join (M11), or it is known to join."""
        self._opened = -_FOREVER
        self._ended = False
        self._reached: int | None = None
        """The log's last instant, ns, once it has ended."""
        self._held_back: list[tuple[tuple[int, Key, int], int, Ruling]] = []
        """Sorted by printing order, then by order of judging."""
        self._serial = 0
        self._early: list[Ruling] = []
        self._said_early: Ruling | None = None
        """The latest won slap returned by `take_early`."""
        self._questions: dict[str, Ruling] = {}
        self._history = History() if history else None

    def observe(self, observation: Observation, promised: int | None = None, *, judge: bool = True) -> list[Ruling]:
        """Take one observation; return the rulings that became final, in printing order.

        Args:
            observation: the next line of the log.
            promised: every later line is after this instant (ns), as in `promise`.
            judge: whether to judge now; otherwise judging waits for a later line, and nothing is returned yet. The
                rulings are the same, and judging many lines at once costs less.

        Raises:
            LogError: the observation does not fit this log (no table first, an invalid seat, unusable rules, a
                correction of nothing). The state is then unchanged.
        """
        if isinstance(observation, Tick):
            self._tick(observation)
            return self._advance(promised) if judge else []
        self._check(observation)
        if observation.t > self._last_t:
            self._last_t = observation.t
        if isinstance(observation, Table):
            self._sensors = observation.sensors
            self._seats = len(observation.seats)
            self._may_join = self._may_join or observation.house.has("M11")
            self._opened = observation.t
        elif observation.t <= self._watermark or (isinstance(observation, Slap) and observation.late):
            if not isinstance(observation, _NEVER_LATE):
                # It is older than its sensor's promise, or implausible: recorded, but never judged silently (K1).
                draft = Draft("question", {"ask": "late_evidence", "about": [observation.id]}, ("K1",), ())
                ruling = to_ruling(draft, observation.id, max(self._watermark, observation.t))
                placed = PlacedRuling(place_of(observation), self._judge.judged, ruling)
                if self._history is not None:
                    self._history.keep_late(observation, placed)
                self._take([placed])
                return [*self._release(), *self._advance(promised)]
            # It takes effect at the first instant that is still open.
            observation = replace(observation, t=self._watermark + 1)
        if isinstance(observation, Join):
            self._joined = max(self._joined, observation.seat)
        self._judge.waiting.add(observation)
        return self._advance(promised) if judge else []

    def promise(self, t: int) -> list[Ruling]:
        """Promise that every later line is after ``t`` (ns); return the rulings that became final."""
        return self._advance(t)

    def finish(self) -> list[Ruling]:
        """End the log with a final tick; return the remaining rulings."""
        if self._ended:
            return []
        self._ended = True
        self._read_to = _FOREVER
        self._reached = self._last_t
        self._advance_loop()
        self._take(self._judge.end(self._last_t), judged=True)
        return self._release()

    def take_early(self) -> list[Ruling]:
        """Return new rulings as soon as they are decided, for lights and voice.

        A won slap is returned before its pile is gone, and again under the same id once the next hand is known, or once
        none can come any more (see `Ruling.window`). Any other ruling is returned once.
        """
        early, self._early = self._early, []
        return early

    @property
    def won_so_far(self) -> Ruling | None:
        """The slap whose pile is still there, with the hands known so far; None if there is none."""
        pending = self._judge.state.pending if self._judge.state is not None else None
        return None if pending is None else before_the_pickup(won_ruling(pending))

    def forget(self) -> None:
        """Drop the history, as if created without ``history``; past amendments stay in effect."""
        self._history = None
        past = self._judge
        self._judge = EventJudge(past.state, past.answers, past.judged, past.witness)
        self._judge.reached = past.reached
        for line in past.waiting.all():
            self._judge.waiting.add(line)

    @property
    def watermark(self) -> int:
        """The instant (ns) up to which everything has been reported."""
        return max(self._watermark, self._read_to)

    @property
    def view(self) -> View:
        """The position as known up to the watermark."""
        state = self._judge.state
        if state is None:
            return View()
        answered = self._history.answers if self._history is not None else {}
        drawn = state.position.wild != ""
        waiting = sorted(
            name
            for name, question in self._questions.items()
            if base_id(question) not in answered
            and not (drawn and question["ask"] == "wild_rank")
            and not is_moot(question, state.position)
            and not _is_counted(question, state.position)
        )
        return view_of(state, tuple(waiting))

    @property
    def foresight(self) -> Foresight | None:
        """The cards that can come next after everything reported, judged or not (K2); None if uncertain."""
        state = self._judge.state
        return None if state is None else foresee(state.position, self._judge.waiting.all())

    @property
    def places(self) -> Foresight | None:
        """The cards whose places deck memory knows, as judged so far (K2); None if it is off."""
        return None if self._judge.state is None else recall_places(self._judge.state.position)

    def _check(self, observation: Observation) -> None:
        if self._ended:
            raise LogError(None, Sentence("this log has ended; begin another one for a new game"))
        if isinstance(observation, Table):
            _check_table(observation, again=self._seats > 0)
            return
        if not self._seats:
            raise LogError(
                None, Sentence("the first line of a log is its table, not a {sort}", sort=observation.kind or "line")
            )
        seat = getattr(observation, "seat", None)
        if seat is not None and seat > self._seats and not isinstance(observation, Slap):
            if observation.kind in ("lift", "join") or self._may_join or seat <= self._joined:
                return
            raise LogError(
                None, Sentence('"seat" must be 1 to {places}: this table has {places} seats', places=self._seats)
            )
        if observation.t < self._opened and isinstance(observation, Card):
            raise LogError(None, Sentence('this card came before its table: the "t" of a table is that of its opening'))
        if isinstance(observation, _AMENDING) and self._history is None:
            raise AmendmentError(None, f"this {observation.kind} needs the history that was switched off")

    def _tick(self, tick: Tick) -> None:
        self._last_t = max(self._last_t, tick.t)
        if tick.sensor is None:
            self._watermark = max(self._watermark, tick.t)
            return
        self._marks[tick.sensor] = max(self._marks.get(tick.sensor, -_FOREVER), tick.t)
        if self._sensors and all(sensor in self._marks for sensor in self._sensors):
            self._watermark = max(self._watermark, min(self._marks[sensor] for sensor in self._sensors))

    def _advance(self, promised: int | None = None) -> list[Ruling]:
        if promised is not None and promised > self._read_to:
            self._read_to = promised
        self._advance_loop()
        return self._release()

    def _advance_loop(self) -> None:
        if self._history is None:
            self._take(self._judge.run(self.watermark, self._lookahead, self._reached))
            self._judge.done.clear()
            return
        amended = True
        while amended:
            self._take(self._judge.run(self.watermark, self._lookahead, self._reached), judged=True)
            self._judge, changed, moved, amended = self._history.amend(self._judge)
            if moved:
                self._move(moved)
            self._take(changed)

    def _take(self, placed: list[PlacedRuling], *, judged: bool = False) -> None:
        if judged and self._history is not None:
            placed = self._history.remember(self._judge, placed)
        held_back, tells_early = self._held_back, self._tells_early
        for serial, new in enumerate(placed, self._serial):
            ruling = new.ruling
            held_back.append((printing_order(ruling, new.key), serial, ruling))
            if ruling.supersedes:
                for gone in ruling.supersedes:
                    self._questions.pop(gone, None)
            if ruling.kind == "question" and ruling["ask"] not in _TOLD_ONLY and not _waits_for_gap(ruling):
                self._questions[ruling.id] = ruling
            if tells_early:
                self._tell_early(ruling)
        self._serial += len(placed)
        pending = self._judge.state.pending if self._judge.state is not None and tells_early else None
        if pending is not None:
            said = self._said_early
            if (
                said is None
                or said.id != f"slap_won@{pending.slap.id}"
                or said["margin"] != pending.margin
                or said["decided_by"] != pending.decided_by
            ):
                self._tell_won(before_the_pickup(won_ruling(pending)))

    def _tell_early(self, ruling: Ruling) -> None:
        said = self._said_early
        if said is None or ruling.id != said.id:
            self._early.append(ruling)
        elif said.window == "open" or any(ruling[name] != said[name] for name in ("margin", "decided_by")):
            self._tell_won(ruling)

    def _tell_won(self, ruling: Ruling) -> None:
        again = self._said_early is not None and self._said_early.id == ruling.id
        # Corrections can take the only other hand back, and leave the window open.
        self._said_early = replace(ruling, window="closed") if again and ruling.window != "open" else ruling
        self._early.append(self._said_early)

    def _move(self, placed: Iterable[PlacedRuling]) -> None:
        """Move rulings that still wait to be printed to the place at which their line is judged now."""
        keys = {ruling.ruling.id: ruling.key for ruling in placed}
        self._held_back = [
            (printing_order(held[-1], keys[held[-1].id]), *held[1:]) if held[-1].id in keys else held
            for held in self._held_back
        ]

    def _release(self) -> list[Ruling]:
        """Release the rulings that no later ruling can precede."""
        if not self._held_back or (not self._stream and not self._ended):
            return []
        frontier = 2 * _FOREVER if self._ended else self.watermark + 1
        state = self._judge.state
        if not self._ended and self._judge.next_t is not None:
            frontier = min(frontier, self._judge.next_t)
        # The ruling of a won slap is closed later, but printed at the slap's instant: later rulings wait for it.
        if not self._ended and state is not None and state.pending is not None:
            frontier = min(frontier, state.pending.place[0] if state.pending.place is not None else state.pending.at)
        # Nearly sorted already, so sorting is cheap.
        self._held_back.sort()
        ready = bisect.bisect_left(self._held_back, ((frontier,),))
        out = [held[-1] for held in self._held_back[:ready]]
        del self._held_back[:ready]
        self._release_replaced(out)
        return out

    def _release_replaced(self, out: list[Ruling]) -> None:
        """Also release the rulings that these replace: a ruling is printed before its replacement (K6)."""
        seen = 0
        while self._held_back and seen < len(out):
            replaced = {name for ruling in out[seen:] for name in ruling.supersedes}
            seen = len(out)
            if replaced:
                out += [held[-1] for held in self._held_back if held[-1].id in replaced]
                self._held_back = [held for held in self._held_back if held[-1].id not in replaced]


def _check_table(table: Table, *, again: bool) -> None:
    if again:
        raise LogError(None, Sentence("a second table: a log holds one game; put the other into a file of its own"))
    seats = len(table.seats)
    if not 1 <= table.dealer <= seats:
        raise LogError(None, Sentence('"dealer" must be a seat from 1 to {places}', places=seats))
    if table.counts is not None and len(table.counts) != seats:
        raise LogError(None, Sentence('"counts" must hold one number for each of the {places} seats', places=seats))
    if table.counts is not None and not any(count is None or count > 0 for count in table.counts):
        raise LogError(None, Sentence('"counts" leaves no seat with cards to lead'))
    try:
        open_table(table)
    except RulesError as error:
        raise LogError(None, str(error)) from None


def _is_counted(question: Ruling, position: Position) -> bool:
    """Whether the stacks in question were counted, or have decided the game meanwhile (P16, E7)."""
    if question["ask"] != "recount":
        return False
    owed = isinstance(position.phase, Over) and position.phase.owed in question.rule
    asked = {ref for ref, seat in position.uncounted if seat not in position.absent}
    return not owed and cause_of(question) not in asked


def _waits_for_gap(question: Ruling) -> bool:
    """Whether the question only says that a hand depends on a gap, whose own question settles it."""
    return bool(question["ask"] == "unseen_gap") and gap_form(question) == "hand"


def view_of(state: State, questions: tuple[str, ...] = ()) -> View:
    """Return the scoreboard's view of a state."""
    position = state.position
    challenge = position.challenge
    return View(
        names=position.names,
        counts=tuple(position.count(seat) for seat in range(1, position.seats + 1)),
        pile=tuple(laid.card for laid in position.pile),
        laid_by=tuple(laid.ref for laid in position.pile),
        turn=position.turn,
        challenge=ChallengeView(challenge.challenger, challenge.challenged, challenge.left) if challenge else None,
        owner=position.claim.seat if position.claim is not None and position.claim.by != "unread" else None,
        locked_out=position.locked_out,
        expected=tuple(position.expected(seat) or None for seat in range(1, position.seats + 1)),
        game_over=position.over,
        winner=position.winner,
        absent=position.absent,
        questions=questions,
    )
