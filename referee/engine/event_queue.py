"""Event time: observations wait in a queue until every sensor has reported past them, and are judged in their order."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from referee.engine.doubt import better_order, order_is_open
from referee.engine.first_hand import Answers
from referee.engine.fold import fold, last_chance_ends, last_tick, open_table
from referee.engine.observations import Answer, Card, Correct, Observation, Slap, Table
from referee.engine.overrule import OVERRULED
from referee.engine.rulings import AFTER_ALL_KINDS, KIND_PLACES, Key, PlacedRuling, Ruling, place_of
from referee.engine.state import State

_SLACK: Final = 256
"""Places left behind by what was taken before the queue closes up; so taking the head does not move all the rest."""


class EventQueue:
    """Observations by place in event time, the earliest first; they arrive in any order, mostly in that one."""

    def __init__(self) -> None:
        self._keys: list[Key] = []
        self._lines: list[Observation] = []
        self._first = 0
        self._widest = 0

    def add(self, observation: Observation) -> None:
        """Put an observation into its place."""
        key = place_of(observation)
        if self._keys and key < self._keys[-1]:
            at = bisect.bisect_right(self._keys, key, self._first)
            self._keys.insert(at, key)
            self._lines.insert(at, observation)
        else:
            self._keys.append(key)
            self._lines.append(observation)
        error = getattr(observation, "t_error", 0)
        if error > self._widest:
            self._widest = error

    def head(self) -> Observation | None:
        """The earliest; None where none waits."""
        return self._lines[self._first] if self._first < len(self._lines) else None

    def all(self) -> tuple[Observation, ...]:
        """Everything that waits."""
        return tuple(self._lines[self._first :])

    def near(self, one: Card | Slap, skip: int = 0) -> Sequence[Observation]:
        """What waits, without the first ``skip``, and may have happened before this card or slap, by the errors."""
        until = one.t + one.t_error + self._widest
        lines, first = self._lines, self._first + skip
        end = first
        while end < len(lines) and lines[end].t <= until:
            end += 1
        return lines[first:end] if end > first else ()

    def take(self, at: int) -> tuple[Key, Observation]:
        """Take the ``at``-th out, with its place in event time."""
        if at:
            return self._keys.pop(self._first + at), self._lines.pop(self._first + at)
        first = self._first
        taken = self._keys[first], self._lines[first]
        self._first = first + 1
        if first >= _SLACK and 2 * first >= len(self._lines):
            del self._keys[: first + 1], self._lines[: first + 1]
            self._first = 0
        return taken


_ORDERED: Final = (Card, Slap)
"""What waits for whatever may have come before it."""
_AMENDING: Final = (Answer, Correct)


class JudgedMoment(NamedTuple):
    """An observation that is about to be judged, the state then, and what followed closely enough to matter."""

    observation: Observation
    state: State
    near: tuple[Observation, ...]


Witness = Callable[[JudgedMoment], None]
"""Whoever wants to see what each observation met."""


class EventJudge:
    """A queue of observations and the state of everything that has been judged.

    ``answers`` is what people have said so far, by question; ``witness`` is shown every scene before it is judged.
    """

    def __init__(
        self,
        state: State | None = None,
        answers: Answers | None = None,
        judged: int = 0,
        witness: Witness | None = None,
    ) -> None:
        self.state = state
        self.witness = witness
        self.answers: Answers = answers if answers is not None else {}
        self.judged = judged
        """How many observations have been judged."""
        self.done: list[Observation] = []
        """What was judged since the owner last emptied it, in the order of judging."""
        self._waiting = EventQueue()

    def add(self, observation: Observation) -> None:
        """Put an observation into its place in event time."""
        self._waiting.add(observation)

    @property
    def next_t(self) -> int | None:
        """The instant of the next observation, ns; None where none waits."""
        head = self._waiting.head()
        return None if head is None else head.t

    def waiting(self) -> tuple[Observation, ...]:
        """What waits, in event time."""
        return self._waiting.all()

    def run(self, until: int, lookahead: int) -> list[PlacedRuling]:
        """Judge what can be judged once all up to ``until`` (ns, inclusive) is known; stop after an amendment.

        Args:
            until: the watermark.
            lookahead: how far beyond a card's or slap's instant everything must be known before it is judged, ns.
        """
        out: list[PlacedRuling] = []
        while True:
            head, deadline = self._waiting.head(), self._deadline()
            if deadline is not None and (head is None or deadline < head.t):
                if deadline > until:
                    break
                assert self.state is not None
                self.state, rulings = last_chance_ends(self.state)
                # It belongs to the last line before it: whoever takes up the state after that line has it behind him.
                for ruling in rulings:
                    _put([ruling], (ruling.t, AFTER_ALL_KINDS, 0, 0, ""), self.judged - 1, out)
                continue
            if head is None or head.t + (lookahead if isinstance(head, _ORDERED) else 0) > until:
                break
            near = self._waiting.near(head, 1) if isinstance(head, _ORDERED) else ()
            if isinstance(self._judge(self._choose(head, near) if near else 0, out), _AMENDING):
                break
        return out

    def end(self, t: int) -> list[PlacedRuling]:
        """The last tick, at ``t``: piles that were won are picked up."""
        if self.state is None:
            return []
        out: list[PlacedRuling] = []
        self.state, rulings = last_tick(self.state, t)
        _put(rulings, (t, AFTER_ALL_KINDS + 1, 0, 0, ""), self.judged, out)
        return out

    def _deadline(self) -> int | None:
        chance = self.state.position.last_chance if self.state is not None else None
        return chance.ends_at if chance is not None else None

    def _judge(self, at: int, out: list[PlacedRuling]) -> Observation:
        """Judge what waits at this place; gives it, and adds its rulings to ``out``."""
        key, observation = self._waiting.take(at)
        self.done.append(observation)
        nth = self.judged
        self.judged = nth + 1
        state = self.state
        if state is None:
            if not isinstance(observation, Table):
                return observation
            self.state, rulings = open_table(observation)
        else:
            # What a doubtful order put behind a slap is near it, too.
            near = self._waiting.near(observation) if isinstance(observation, Slap) else ()
            if self.witness is not None:
                self.witness(JudgedMoment(observation, state, tuple(near)))
            self.state, rulings = fold(state, observation, near, self.answers)
        _put(rulings, key, nth, out)
        return observation

    def _choose(self, head: Observation, near: Sequence[Observation]) -> int:
        """Which waiting observation comes first: the head, unless a doubtful order is better the other way (K9)."""
        if self.state is None:
            return 0
        for place, other in enumerate(near, start=1):
            if isinstance(head, Card) and isinstance(other, Slap):
                if self._doubtful(other, head) == "slap":
                    return place
            elif isinstance(head, Slap) and isinstance(other, Card) and self._doubtful(head, other) == "card":
                return place
        return 0

    def _doubtful(self, slap: Slap, card: Card) -> str | None:
        """Which comes first where that is open and matters; marks the slap so that its ruling says so."""
        assert self.state is not None
        if not self.state.position.rules.has("K9"):
            return None
        if (
            slap.id in self.state.settled
            or OVERRULED + slap.id in self.answers
            or card.zone != "pile"
            or not order_is_open(slap, card)
        ):
            return None
        better = better_order(self.state.position, slap, card)
        if better is None:
            return None
        if self.state.position.rules.value("K9") == "question":
            said = self.answers.get(f"question@{slap.id}")
            if said not in ("slap", "card"):
                self.state = self.state._replace(asked=self.state.asked | {slap.id})
                return None
            return str(said)
        self.state = self.state._replace(doubted=self.state.doubted | {slap.id})
        return better


def _put(rulings: Iterable[Ruling], cause: Key, nth: int, out: list[PlacedRuling]) -> None:
    """Put rulings with their cause, but a slap that won with its slap, though it was closed later."""
    for ruling in rulings:
        key = cause
        if ruling.kind == "slap_won":
            name = ruling.because[0]
            key = (ruling.t, KIND_PLACES["slap"], int(ruling["seat"]), len(name), name)
        out.append(PlacedRuling(key, nth, ruling))
