"""What was judged, state by state, so that it can be judged again when people answer or correct (K6)."""

from __future__ import annotations

from typing import Any, Final

from referee.adjudication.amendments import AmendmentError, base_id, corrected, differences
from referee.adjudication.drafting import place_of, to_ruling
from referee.adjudication.loop import Loop, Placed
from referee.adjudication.observations import Answer, Correct, Observation
from referee.adjudication.state import State
from referee.rules.step import Draft

KEEP_EVERY: Final = 64
"""Observations between two kept states: a correction runs the fold again from the nearest one before it."""


class History:
    """The lines of a log as they stand now, the rulings in force, and states to take up again."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        """What people said, by the id of the question."""
        self._lines: list[Observation] = []
        self._kept: list[tuple[int, State | None]] = [(0, None)]
        self._in_force: list[Placed] = []
        self._amendment: Answer | Correct | None = None

    def remember(self, loop: Loop, placed: list[Placed]) -> None:
        """Keep what a loop has just judged."""
        loop.answers = self.answers
        if loop.done and isinstance(loop.done[-1], Answer | Correct):
            self._amendment = loop.done[-1]
        self._lines += loop.done
        loop.done.clear()
        self._in_force += placed
        if len(self._lines) - self._kept[-1][0] >= KEEP_EVERY and self._clean(loop):
            self._kept.append((len(self._lines), loop.state))

    def _clean(self, loop: Loop) -> bool:
        """Whether everything judged lies before everything that waits: only then can a state be taken up again."""
        if loop.next_t is None:
            return True
        return max(line.t for line in self._lines[-KEEP_EVERY:]) < loop.next_t

    def amend(self, loop: Loop) -> tuple[Loop, list[Placed], bool]:
        """Rule again from before the line that the last answer or correction is about.

        Returns:
            The loop to go on with, the rulings that are new, and whether there was anything to amend.
        """
        amendment, self._amendment = self._amendment, None
        if amendment is None:
            return loop, [], False
        state = loop.state
        if isinstance(amendment, Correct) and state is not None and not state.position.rules.has("K6"):
            return loop, [self._unusable(amendment, loop)], True
        try:
            start = self._apply(amendment)
        except AmendmentError:
            return loop, [self._unusable(amendment, loop)], True
        if start is None:
            return loop, [self._unusable(amendment, loop)], True
        again, placed, at = self._judge_again(loop, start, amendment)
        cut = next((n for n, old in enumerate(self._in_force) if old.nth >= at), len(self._in_force))
        kept, changed = differences(self._in_force[cut:], placed, amendment)
        self._in_force[cut:] = kept
        return again, changed, True

    def _judge_again(self, loop: Loop, start: int, amendment: Answer | Correct) -> tuple[Loop, list[Placed], int]:
        """Run the fold from the nearest state before ``start`` up to the amendment."""
        while self._kept[-1][0] > start:
            self._kept.pop()
        at, state = self._kept[-1]
        again = Loop(state, self.answers, at, loop.witness)
        for line in (*self._lines[at:], *loop.waiting()):
            again.add(line)
        placed: list[Placed] = []
        while not again.done or again.done[-1].id != amendment.id:
            placed += again.run(amendment.t, 0)
        self._lines[at:] = again.done
        again.done.clear()
        return again, placed, at

    def _apply(self, amendment: Answer | Correct) -> int | None:
        """Write the amendment into the record; gives the place of the first line that it touches, None for none.

        Raises:
            AmendmentError: a correction does not fit its line.
        """
        if isinstance(amendment, Answer):
            question = base_id(amendment.to)
            asked = {base_id(placed.ruling.id) for placed in self._in_force if placed.ruling.kind == "question"}
            if question not in asked:
                return None
            self.answers[question] = amendment.value
            return self._find(question.partition("@")[2].partition("/")[0])
        at = self._find(amendment.line)
        if at is None:
            return None
        mended = corrected(self._lines[at], amendment)
        self._lines[at : at + 1] = [] if mended is None else [mended]
        return at

    def _find(self, name: str) -> int | None:
        return next((at for at, line in enumerate(self._lines) if line.id == name), None)

    @staticmethod
    def _unusable(amendment: Answer | Correct, loop: Loop) -> Placed:
        """An answer to nothing, or a correction that fits nothing: the record stays, and people are told."""
        about = amendment.to if isinstance(amendment, Answer) else amendment.line
        draft = Draft("question", {"ask": "mend_amendment", "about": [about]}, ("K6",), ())
        return Placed(place_of(amendment), loop.judged - 1, to_ruling(draft, amendment.id, amendment.t, set()))
