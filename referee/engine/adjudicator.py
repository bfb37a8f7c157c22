"""The referee without hands or eyes: observations in, rulings out.

Two laws hold. Replaying a log gives the same rulings, byte for byte. And any order of arrival gives the same rulings,
as long as each sensor keeps its promise about what it has already told: rulings depend on the set of observations, not
on the order of the news.
"""

from __future__ import annotations

import bisect
from dataclasses import replace
from typing import Final

from referee.engine.amendments import AmendmentError
from referee.engine.event_queue import EventJudge, Witness
from referee.engine.first_hand import won_ruling
from referee.engine.fold import open_table
from referee.engine.foresight import Foresight, foresee, recall_places
from referee.engine.gap import is_moot
from referee.engine.history import History
from referee.engine.observations import MAX_ERROR, Answer, Card, Correct, Join, LogError, Observation, Slap, Table, Tick
from referee.engine.rulings import (
    Key,
    PlacedRuling,
    Ruling,
    base_id,
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
"""``lookahead_ns`` of a live table: the widest error of a slap that a pad may state, ns."""
_AMENDING: Final = (Answer, Correct)
_TOLD_ONLY: Final = ("mend_amendment", "nothing_to_contest")
"""Questions that tell people that what they said fits nothing; there is nothing to answer."""


class Adjudicator:
    """Rules a game from its observations.

    Args:
        lookahead_ns: how far past a card or slap everything must be known before it is judged. The default covers the
            widest errors that a log may state. A live table whose sensors promise on an instant's *earliest* moment
            (``t - t_error``) may make it as small as the widest error of a slap.
        history: whether to keep what answers and corrections need. Without it memory does not grow, and an answer or a
            correction is refused.
        stream: whether to give rulings as they become final. Otherwise all come at the end, corrections sorted in.
        early: whether `take_early` will be asked. Without it nothing is kept for it.
        all_join: whether it is known that every seat beyond the table's that the log names joins in it, somewhere.
        witness: is shown each observation with the state that it met and what came of it; again if it is judged again.
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
        """Whether a line may name a seat that has not joined yet: bystanders may (M11), or it is known that it does."""
        self._opened = -_FOREVER
        self._ended = False
        self._reached: int | None = None
        """The log's last instant, ns, once it has ended."""
        self._held_back: list[tuple[int, Key, int, int, Ruling]] = []
        """By the order of print, then of judging."""
        self._serial = 0
        self._early: list[Ruling] = []
        self._said_early: str | None = None
        self._questions: dict[str, Ruling] = {}
        self._history = History() if history else None

    def observe(self, observation: Observation, promised: int | None = None, *, judge: bool = True) -> list[Ruling]:
        """Take one observation; give the rulings that became final, in the order in which they are printed.

        Args:
            observation: the next line of the log.
            promised: no line still to come is of this instant (ns) or before, as by `promise`.
            judge: whether to judge what can be judged; else that waits for a later line, and nothing is given yet. The
                rulings are the same, and many lines at once cost less.

        Raises:
            LogError: the observation does not fit this log (no table first, a seat that is none, rules that cannot be
                used, a correction of nothing). Nothing has changed then.
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
            if not isinstance(observation, _AMENDING):
                # Its sensor had promised it all, or cannot be believed: on record, and never judged silently (K1).
                draft = Draft("question", {"ask": "late_evidence", "about": [observation.id]}, ("K1",), ())
                ruling = to_ruling(draft, observation.id, max(self._watermark, observation.t), set())
                placed = PlacedRuling(place_of(observation), self._judge.judged, ruling)
                if self._history is not None:
                    self._history.keep_late(observation, placed)
                self._take([placed])
                return [*self._release(), *self._advance(promised)]
            observation = replace(observation, t=self._watermark + 1)
        if isinstance(observation, Join):
            self._joined = max(self._joined, observation.seat)
        self._judge.waiting.add(observation)
        return self._advance(promised) if judge else []

    def promise(self, t: int) -> list[Ruling]:
        """Whoever reads the log knows that no line still to come is of ``t`` (ns) or before."""
        return self._advance(t)

    def finish(self) -> list[Ruling]:
        """The end of the log: a final tick. Gives the rulings that were still open."""
        if self._ended:
            return []
        self._ended = True
        self._read_to = _FOREVER
        self._reached = self._last_t
        self._advance_loop()
        self._take(self._judge.end(self._last_t), judged=True)
        return self._release()

    def take_early(self) -> list[Ruling]:
        """Rulings as soon as they are decided, for lights and voice.

        A slap that won is here before its later runners-up are known; its final ruling has the same id and may name
        more of them. Each ruling is given once.
        """
        early, self._early = self._early, []
        return early

    def forget(self) -> None:
        """Go on without what answers and corrections need, as without ``history``; what they changed stays."""
        self._history = None
        past = self._judge
        self._judge = EventJudge(past.state, past.answers, past.judged, past.witness)
        self._judge.reached = past.reached
        for line in past.waiting.all():
            self._judge.waiting.add(line)

    @property
    def watermark(self) -> int:
        """Everything up to this instant (ns) has been reported."""
        return max(self._watermark, self._read_to)

    @property
    def view(self) -> View:
        """The position as believed up to the watermark."""
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
        """What can come next after all that was told, judged or not (K2); None where that is not sure."""
        state = self._judge.state
        return None if state is None else foresee(state.position, self._judge.waiting.all())

    @property
    def places(self) -> Foresight | None:
        """Which cards deck memory knows the places of, as judged so far (K2); None where it is switched off."""
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
            self._judge, changed, amended = self._history.amend(self._judge)
            self._take(changed)

    def _take(self, placed: list[PlacedRuling], *, judged: bool = False) -> None:
        if judged and self._history is not None:
            placed = self._history.remember(self._judge, placed)
        held_back, serial, tells_early = self._held_back, self._serial, self._tells_early
        for one in placed:
            ruling = one.ruling
            serial += 1
            held_back.append((*printing_order(ruling, one.key), serial, ruling))
            if ruling.supersedes:
                for gone in ruling.supersedes:
                    self._questions.pop(gone, None)
            if ruling.kind == "question" and ruling["ask"] not in _TOLD_ONLY and not _waits_for_gap(ruling):
                self._questions[ruling.id] = ruling
            if tells_early and ruling.id != self._said_early:
                self._early.append(ruling)
        self._serial = serial
        pending = self._judge.state.pending if self._judge.state is not None and tells_early else None
        if pending is not None and self._said_early != f"slap_won@{pending.slap.id}":
            self._early.append(won_ruling(pending))
            self._said_early = self._early[-1].id

    def _release(self) -> list[Ruling]:
        """Rulings that nothing can come before any more."""
        if not self._held_back or (not self._stream and not self._ended):
            return []
        frontier = 2 * _FOREVER if self._ended else self.watermark + 1
        state = self._judge.state
        if not self._ended and self._judge.next_t is not None:
            frontier = min(frontier, self._judge.next_t)
        if not self._ended and state is not None and state.pending is not None:
            frontier = min(frontier, state.pending.place[0] if state.pending.place is not None else state.pending.at)
        # Nearly sorted as it is, which costs little.
        self._held_back.sort()
        ready = bisect.bisect_left(self._held_back, (frontier,))
        out = [held[-1] for held in self._held_back[:ready]]
        del self._held_back[:ready]
        return out


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
    except RulesError as bad:
        raise LogError(None, str(bad)) from None


def _is_counted(question: Ruling, position: Position) -> bool:
    """Whether the stacks that this asks for were counted, or have decided the game meanwhile (P16, E7)."""
    if question["ask"] != "recount":
        return False
    owed = isinstance(position.phase, Over) and position.phase.owed in question.rule
    asked = {ref for ref, seat in position.uncounted if seat not in position.absent}
    return not owed and cause_of(question) not in asked


def _waits_for_gap(question: Ruling) -> bool:
    """Whether this only says of a hand that it hangs on a gap, whose own question settles it."""
    return bool(question["ask"] == "unseen_gap") and gap_form(question) == "hand"


def view_of(state: State, questions: tuple[str, ...] = ()) -> View:
    """What a scoreboard shows of a state."""
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
