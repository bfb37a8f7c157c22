"""Event time: observations wait in a queue until every sensor has reported past them, and are judged in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from referee.adjudication.doubt import better_order, order_is_open
from referee.adjudication.drafting import AFTER_ALL, PLACES, Key
from referee.adjudication.fold import fold, last_chance_ends, last_tick, open_table
from referee.adjudication.observations import Answer, Card, Correct, Observation, Slap, Table
from referee.adjudication.overruled import key as overruled
from referee.adjudication.rulings import Ruling
from referee.adjudication.state import State
from referee.adjudication.waiting import Waiting
from referee.adjudication.winning import Answers
from referee.rules.records import record

_ORDERED: Final = (Card, Slap)
"""What waits for whatever may have come before it."""
_AMENDING: Final = (Answer, Correct)


@record(frozen=True, slots=True)
class Placed:
    """A ruling, the place of its cause in event time, and how many observations had been judged before that cause."""

    key: Key
    nth: int
    ruling: Ruling


class Scene(NamedTuple):
    """An observation that is about to be judged, the state then, and what followed closely enough to matter."""

    observation: Observation
    state: State
    near: tuple[Observation, ...]


Witness = Callable[[Scene], None]
"""Whoever wants to see what each observation met."""


class Loop:
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
        self._waiting = Waiting()

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

    def run(self, until: int, lookahead: int) -> list[Placed]:
        """Judge what can be judged once all up to ``until`` (ns, inclusive) is known; stop after an amendment.

        Args:
            until: the watermark.
            lookahead: how far beyond a card's or slap's instant everything must be known before it is judged, ns.
        """
        out: list[Placed] = []
        while True:
            head, deadline = self._waiting.head(), self._deadline()
            if deadline is not None and (head is None or deadline < head.t):
                if deadline > until:
                    break
                self._expire(out)
                continue
            if head is None or head.t + (lookahead if isinstance(head, _ORDERED) else 0) > until:
                break
            near = self._waiting.near(head, 1) if isinstance(head, _ORDERED) else ()
            if isinstance(self._judge(self._choose(head, near) if near else 0, out), _AMENDING):
                break
        return out

    def end(self, t: int) -> list[Placed]:
        """The last tick, at ``t``: piles that were won are picked up."""
        if self.state is None:
            return []
        out: list[Placed] = []
        self.state, rulings = last_tick(self.state, t)
        _put(rulings, (t, AFTER_ALL + 1, 0, 0, ""), self.judged, out)
        return out

    def _deadline(self) -> int | None:
        chance = self.state.position.last_chance if self.state is not None else None
        return chance.ends_at if chance is not None else None

    def _expire(self, out: list[Placed]) -> None:
        assert self.state is not None
        self.state, rulings = last_chance_ends(self.state)
        # A deadline belongs to the last line before it: whoever takes up the state after that line has it behind him.
        for ruling in rulings:
            _put([ruling], (ruling.t, AFTER_ALL, 0, 0, ""), self.judged - 1, out)

    def _judge(self, at: int, out: list[Placed]) -> Observation:
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
                self.witness(Scene(observation, state, tuple(near)))
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
            or overruled(slap.id) in self.answers
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


def _put(rulings: Iterable[Ruling], cause: Key, nth: int, out: list[Placed]) -> None:
    """Put rulings with their cause, but a slap that won with its slap, though it was closed later."""
    out += [Placed(cause if ruling.kind != "slap_won" else _slap_of(ruling), nth, ruling) for ruling in rulings]


def _slap_of(ruling: Ruling) -> Key:
    name = ruling.because[0]
    return ruling.t, PLACES["slap"], int(ruling["seat"]), len(name), name
