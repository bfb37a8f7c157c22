"""The judged game, state by state, so that it can be judged again after an answer or a correction (K6)."""

from __future__ import annotations

import bisect
from collections.abc import Container, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from referee.engine.amendments import AmendmentError, apply_correction, as_in_turn, compare_rulings, name_undone
from referee.engine.event_queue import EventJudge
from referee.engine.first_hand import won_ruling
from referee.engine.fold import open_table
from referee.engine.observations import MAX_ERROR, Answer, Card, Correct, Observation, Slap, Table, Taken
from referee.engine.overrule import read_overrule
from referee.engine.rulings import PlacedRuling, Ruling, base_id, cause_of, first_name, place_of, to_ruling
from referee.engine.state import State
from referee.engine.unclaimed_piles import lead_key
from referee.rules.house import RulesError
from referee.rules.step import Draft

IGNORED: Final = "ignore"
"""The answer that leaves late evidence out for good (reading 20)."""
_KEEP_EVERY: Final = 64
"""Observations between two kept states; a correction runs the fold again from the nearest one before it."""
_ANSWERED_BY_SEAT: Final = frozenset(("who_was_first", "who_played", "mend_pile"))
_WINDOW: Final = 2 * MAX_ERROR
"""Span before a line in which the order may depend on it, ns: twice the largest error (K9)."""


class History:
    """The lines of a log as they now stand, the rulings in force, and states to resume from."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        """People's answers, by question id."""
        self._lines: list[Observation] = []
        self._kept: list[tuple[int, State | None]] = [(0, None)]
        self._in_force: list[PlacedRuling] = []
        self._amendment: Answer | Correct | None = None
        self._gone: set[str] = set()
        """Ids of rulings that were replaced."""
        self._original: dict[str, Observation] = {}
        """Each corrected line, in its original form."""
        self._corrections: dict[str, tuple[Correct, ...]] = {}
        """The corrections of each such line."""
        self._did: dict[str, Correct] = {}
        """Corrections that were translated into another one, by id."""
        self._overruled: dict[str, dict[str, str]] = {}
        self._answers_to: dict[str, list[Answer]] = {}
        self._asked: dict[str, Ruling] = {}
        """Every question ever asked, by its first id: people may answer one that has become moot."""
        self._late: dict[str, tuple[Observation, PlacedRuling]] = {}
        """Lines that came after the watermark had passed them, each with its question: recorded, but judged only if
        people accept them."""
        self._taken_up: dict[str, tuple[Observation, PlacedRuling]] = {}
        """Late lines by the correction that accepted them."""
        self._accepted: tuple[PlacedRuling, ...] = ()
        """The question about a late line that has just been accepted."""
        self._waiting: dict[str, Observation] = {}
        """Observations not judged yet, while an amendment is applied."""
        self._last_amendment = ""

    def keep_late(self, observation: Observation, question: PlacedRuling) -> None:
        """Keep a late line, in case people accept it (reading 20)."""
        self._late[observation.id] = observation, question
        self._asked[base_id(question.ruling)] = question.ruling

    def remember(self, judge: EventJudge, placed: list[PlacedRuling]) -> list[PlacedRuling]:
        """Keep the observations and rulings just judged; return the rulings with ids that no replaced ruling has."""
        judge.answers = self.answers
        if self._gone:
            placed = [self._renamed(ruling) if ruling.ruling.id in self._gone else ruling for ruling in placed]
        if any(ruling.ruling.undoes for ruling in placed):
            names = {base_id(ruling.ruling): ruling.ruling.id for ruling in (*self._in_force, *placed)}
            placed = [_superseding(ruling, names, self._gone) for ruling in placed]
            undone = [name for ruling in placed for name in ruling.ruling.supersedes]
            self._gone.update(undone)
            if judge.witness is not None:
                judge.witness.undo(undone)
        self._asked.update(
            (base_id(ruling.ruling), ruling.ruling) for ruling in placed if ruling.ruling.kind == "question"
        )
        if judge.done and isinstance(judge.done[-1], Answer | Correct):
            self._amendment = judge.done[-1]
        self._lines += judge.done
        judge.done.clear()
        self._in_force += placed
        for ruling in placed:
            if ruling.ruling.kind == "lead":
                self.answers.setdefault(lead_key(ruling.ruling.because[0]), ruling.ruling["seat"])
        if len(self._lines) - self._kept[-1][0] >= _KEEP_EVERY:
            # A state can be resumed only if everything judged lies before everything that waits.
            last = max(line.t for line in self._lines[-_KEEP_EVERY:])
            if judge.next_t is None or last < judge.next_t:
                self._kept.append((len(self._lines), judge.state))
        return placed

    def _renamed(self, placed: PlacedRuling) -> PlacedRuling:
        """Return the ruling with an unused id, because a ruling with its id was replaced."""
        name = f"{placed.ruling.id}~{self._last_amendment}"
        while name in self._gone:
            name += "+"
        return replace(placed, ruling=replace(placed.ruling, id=name))

    def amend(self, judge: EventJudge) -> tuple[EventJudge, list[PlacedRuling], list[PlacedRuling], bool]:
        """Rule again from before the line that the last answer or correction concerns.

        Returns:
            The judge to continue with, the new rulings, those that stand at another place of print than before, and
            whether there was anything to amend.
        """
        amendment, self._amendment = self._amendment, None
        if amendment is None:
            return judge, [], [], False
        state, start = judge.state, None
        if isinstance(amendment, Answer) or state is None or state.position.rules.has("K6"):
            self._waiting = {line.id: line for line in judge.waiting.all()}
            with suppress(AmendmentError):
                start = self._apply(amendment, state)
        if start is None:
            return judge, [self._unusable(amendment, judge)], [], True
        self._last_amendment = amendment.id
        start = self._before_undone(start)
        again, placed, at = self._judge_again(judge, self._before_window(start), amendment)
        cut = self._first_since(at)
        accepted, self._accepted = self._accepted, ()
        before = self._in_force[:cut]
        kept, changed = compare_rulings(before, [*self._in_force[cut:], *accepted], placed, amendment, self._gone)
        self._asked.update(
            (base_id(ruling.ruling), ruling.ruling) for ruling in changed if ruling.ruling.kind == "question"
        )
        gone = [name for new in changed for name in new.ruling.supersedes]
        self._gone.update(gone)
        if judge.witness is not None:
            judge.witness.replace(gone)
            judge.witness.undo({ruling.ruling.id for ruling in changed}.intersection(gone))
        places = {ruling.ruling.id: ruling.key for ruling in self._in_force[cut:]}
        moved = [ruling for ruling in kept if places.get(ruling.ruling.id, ruling.key) != ruling.key]
        self._in_force[cut:] = kept
        return again, changed, moved, True

    def _before_undone(self, start: int) -> int:
        """Return ``start``, or an earlier line whose rulings are undone after it: both are judged again (F9, E8)."""
        since = self._in_force[self._first_since(start) :]
        undone = {name for ruling in since for name in ruling.ruling.undoes}
        if not undone:
            return start
        return min((start, *(ruling.nth for ruling in self._in_force if base_id(ruling.ruling) in undone)))

    def _first_since(self, start: int) -> int:
        """Return the index of the first ruling on the line at ``start`` or a later one: they are in this order."""
        return bisect.bisect_left(self._in_force, start, key=lambda ruling: ruling.nth)

    def _before_window(self, start: int) -> int:
        """Return the first line whose order may change because of the line at ``start``."""
        if start < len(self._lines):
            since = self._lines[start].t - _WINDOW
            while start and self._lines[start - 1].t >= since:
                start -= 1
        return start

    def _judge_again(
        self, judge: EventJudge, start: int, amendment: Answer | Correct
    ) -> tuple[EventJudge, list[PlacedRuling], int]:
        """Run the fold from the nearest state before ``start`` up to the amendment, which is judged again, too."""
        amended_at = self._find(amendment.id)
        assert amended_at is not None, "an amendment is applied once it has been judged"
        while self._kept[-1][0] > min(start, amended_at):
            self._kept.pop()
        at, state = self._kept[-1]
        again = EventJudge(state, self.answers, at, judge.witness)
        for line in (*self._lines[at:], *self._waiting.values()):
            again.waiting.add(line)
        placed: list[PlacedRuling] = []
        # `run` stops after every amendment, also after earlier ones that are judged again.
        while not again.done or again.done[-1].id != amendment.id:
            placed += again.run(amendment.t, None)
        self._lines[at:] = again.done
        again.done.clear()
        return again, placed, at

    def _apply(self, amendment: Answer | Correct, state: State | None) -> int | None:
        """Apply the amendment to the lines; return the index of the first affected line, None if there is none.

        Raises:
            AmendmentError: a correction does not fit its line.
        """
        if isinstance(amendment, Answer):
            question = first_name(amendment.to, self._asked)
            if question not in self._asked:
                return None
            self._check_answer(self._asked[question], amendment.value, state)
            self._answers_to.setdefault(question, []).append(amendment)
            self.answers[question] = amendment.value
            return self._place_of(self._asked[question])
        if amendment.line == amendment.id:
            return None
        if amendment.take:
            return self._take_up(amendment)
        if amendment.line in self._original:
            return self._correct(amendment.line, (*self._corrections[amendment.line], amendment))
        at = self._find(amendment.line)
        if at is None:
            return self._overrule(amendment, state)
        line = self._lines[at]
        if isinstance(line, Answer | Correct):
            return self._undo(line, amendment)
        return self._correct(line.id, (amendment,))

    def _take_up(self, amendment: Correct) -> int | None:
        """Accept late evidence, to be judged as if it had come in time."""
        if amendment.line not in self._late:
            # By this log's order it was in time after all, and already judged.
            return self._place(amendment.line)
        late = self._late.pop(amendment.line)
        self._taken_up[amendment.id] = late
        self._accepted = (late[1],)
        return self._put_in(late[0])

    def _put_in(self, line: Observation) -> int:
        place = place_of(line)
        later = (n for n, other in enumerate(self._lines) if other.t >= line.t and place_of(other) > place)
        slot = next(later, len(self._lines))
        self._lines.insert(slot, line)
        return slot

    def _correct(self, name: str, by: tuple[Correct, ...]) -> int | None:
        """Apply all corrections of a line together.

        Raises:
            AmendmentError: they do not fit it. A table may be corrected, but not its seats, on which everything else
                depends.
        """
        at = self._find(name)
        waits = self._waiting.get(name)
        original = self._original[name] if name in self._original else self._lines[at or 0]
        line: Observation | None = original
        for correction in by:
            line = apply_correction(line, correction) if line is not None else None
        opened = next((other.t for other in self._lines if isinstance(other, Table)), None)
        if line is not None and opened is not None and line.t < opened and not isinstance(line, Table):
            raise AmendmentError(None, "nothing at this table can have happened before it opened")
        if isinstance(original, Table):
            if not isinstance(line, Table) or len(line.seats) != len(original.seats):
                raise AmendmentError(None, "the table itself cannot be taken away, nor its number of seats changed")
            if any(isinstance(other, Card) and other.t < line.t for other in self._lines):
                raise AmendmentError(None, "the table cannot have opened after its first card")
            try:
                open_table(line)
            except RulesError as error:
                raise AmendmentError(None, str(error)) from None
        self._original[name], self._corrections[name] = original, by
        touched = [] if at is None else [at]
        if at is not None:
            del self._lines[at]
        if waits is not None:
            # It was due to be judged after this amendment; it is judged at its new place.
            del self._waiting[name]
            touched.append(len(self._lines))
        if line is not None:
            touched.append(self._put_in(line))
        return min(touched, default=None)

    def _overrule(self, correction: Correct, state: State | None) -> int | None:
        """Overrule a verdict, even one that still waits for its pile to be picked up."""
        in_force = [placed.ruling for placed in self._in_force]
        if state is not None and state.pending is not None:
            in_force.append(won_ruling(state.pending))
        ruling = next((ruling for ruling in in_force if correction.line in (ruling.id, base_id(ruling))), None)
        if ruling is None:
            return None
        if ruling.kind == "dead_card" and correction.void:
            by = as_in_turn(ruling, correction)
            self._did[correction.id] = by
            return self._correct(by.line, (*self._corrections.get(by.line, ()), by))
        said = read_overrule(ruling, correction, self._lines, in_force)
        self._overruled[correction.id] = said
        self.answers.update(said)
        return self._first_of(said)

    def _undo(self, amendment: Answer | Correct, by: Correct) -> int | None:
        """Take back an answer or a correction.

        Raises:
            AmendmentError: it must be changed instead.
        """
        if not by.void:
            raise AmendmentError(None, f'"{amendment.id}" can only be taken back ("void": true); then say it again')
        if isinstance(amendment, Answer):
            question = first_name(amendment.to, self._asked)
            answers = self._answers_to.get(question, [])
            if amendment not in answers:
                return None
            answers.remove(amendment)
            del self.answers[question]
            if answers:
                self.answers[question] = answers[-1].value
            return self._place_of(self._asked[question])
        late = self._taken_up.pop(amendment.id, None)
        if late is not None:
            at = self._find(late[0].id)
            if at is not None:
                del self._lines[at]
            self._late[late[0].id] = late
            return at if at is not None else len(self._lines)
        said = self._overruled.pop(amendment.id, None)
        if said is not None:
            for name in said:
                del self.answers[name]
            for later in self._overruled.values():
                self.answers.update(later)
            return self._first_of(said)
        done = self._did.get(amendment.id, amendment)
        if done.line not in self._original:
            return None
        return self._correct(
            done.line, tuple(correct for correct in self._corrections[done.line] if correct.id != amendment.id)
        )

    def _first_of(self, said: Mapping[str, Any]) -> int | None:
        places = [self._find(name.partition("@")[2]) for name in said]
        return min((place for place in places if place is not None), default=None)

    def _check_answer(self, question: Ruling, value: Any, state: State | None) -> None:
        """Refuse an answer that names a vacant seat, or one whose hand is not in question.

        Raises:
            AmendmentError: the answer is unusable, so the question stays open.
        """
        ask = question["ask"]
        if ask == "late_evidence" and value != IGNORED:
            raise AmendmentError(None, "what came late is taken up by a correction, or ignored")
        if ask not in _ANSWERED_BY_SEAT or type(value) is not int or state is None:
            return
        about = question.get("about", ())
        hands = {line.seat for line in self._lines if isinstance(line, Slap | Taken) and line.id in about}
        # A player who is out now may have played then.
        sits = 1 <= value <= state.position.seats and value not in state.position.absent
        if not sits or (ask == "who_was_first" and hands and value not in hands):
            raise AmendmentError(None, f"seat {value} is no answer to that")

    def _place_of(self, question: Ruling) -> int | None:
        """Return the index from which an answer is judged again; for late lines the end, so that nothing is judged."""
        return len(self._lines) if question["ask"] == "late_evidence" else self._place(cause_of(question))

    def _place(self, name: str) -> int | None:
        """Return the index of a line, the end if it waits or came late; None if there is no such line."""
        at = self._find(name)
        return len(self._lines) if at is None and (name in self._waiting or name in self._late) else at

    def _find(self, name: str) -> int | None:
        # Mostly it is a recent one.
        return next((at for at in range(len(self._lines) - 1, -1, -1) if self._lines[at].id == name), None)

    @staticmethod
    def _unusable(amendment: Answer | Correct, judge: EventJudge) -> PlacedRuling:
        """Make the question that tells people that their answer or correction fits nothing; the record is unchanged."""
        about = amendment.to if isinstance(amendment, Answer) else amendment.line
        draft = Draft("question", {"ask": "mend_amendment", "about": [about]}, ("K6",), ())
        return PlacedRuling(place_of(amendment), judge.judged - 1, to_ruling(draft, amendment.id, amendment.t))


def _superseding(placed: PlacedRuling, names: Mapping[str, str], gone: Container[str]) -> PlacedRuling:
    """Return the ruling with the current ids of the rulings that it undoes."""
    ruling = placed.ruling
    if not ruling.undoes:
        return placed
    return replace(placed, ruling=replace(ruling, supersedes=name_undone(ruling, names, gone)))
