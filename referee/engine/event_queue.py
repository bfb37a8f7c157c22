"""Event time: observations wait in a queue until every sensor has reported past them, and are judged in order."""

from __future__ import annotations

import bisect
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from operator import itemgetter
from typing import Any, Final, NamedTuple, Protocol

from referee.engine.contradiction import answers_about, as_answered
from referee.engine.doubt import better_order, judge_hand, limit_question, order_is_open, position_after
from referee.engine.first_hand import Answers, is_rival_hand
from referee.engine.fold import end_by_time, fold, last_tick, open_table
from referee.engine.observations import Answer, Card, Correct, Observation, Slap, Table, Taken
from referee.engine.overrule import OVERRULED
from referee.engine.rulings import AFTER_ALL_KINDS, Key, PlacedRuling, Ruling, place_of
from referee.engine.state import State
from referee.rules.phase import LastChance
from referee.rules.position import Position
from referee.rules.slap_verdict import OUTCOME_WORTH, end_by_clock

_BY_KEY: Final = itemgetter(0)
_SLACK: Final = 256
"""Free slots at the head before the queue is compacted, so that taking the head does not move the rest."""


class EventQueue:
    """A queue of observations in event time, earliest first; they arrive in any order, mostly in that one."""

    def __init__(self) -> None:
        self._keys: list[Key] = []
        self._lines: list[Observation] = []
        self._first = 0
        self._reveals: deque[tuple[Key, Observation]] = deque()
        """The waiting cards and pick-ups: a hand is near few of them, but may be near very many other hands."""
        self.hands = 0
        """Number of waiting hands."""
        self._widest = 0

    def add(self, observation: Observation) -> None:
        """Insert an observation."""
        key = place_of(observation)
        keys, kind = self._keys, type(observation)
        if keys and key < keys[-1]:
            at = bisect.bisect_right(keys, key, self._first)
            keys.insert(at, key)
            self._lines.insert(at, observation)
            if kind in _REVEALS:
                bisect.insort_right(self._reveals, (key, observation), key=_BY_KEY)
        else:
            keys.append(key)
            self._lines.append(observation)
            if kind in _REVEALS:
                self._reveals.append((key, observation))
        if kind is Slap:
            self.hands += 1
        error = getattr(observation, "t_error", 0)
        if error > self._widest:
            self._widest = error

    def head(self) -> Observation | None:
        """Return the earliest observation; None if none waits."""
        return self._lines[self._first] if self._first < len(self._lines) else None

    def all(self) -> tuple[Observation, ...]:
        """Return all waiting observations."""
        return tuple(self._lines[self._first :])

    def near(self, one: Card | Slap | Taken) -> Iterator[Observation]:
        """Yield the other waiting observations that may, within the errors, have happened before this one.

        For a hand, also those that may have happened before another hand indistinguishable from it (K3).
        """
        # Another hand of the heat may be one error away, and its own rivals two errors beyond that.
        widths = 1 if isinstance(one, Card) else 3
        at, until = self._first, one.t + one.t_error + widths * self._widest
        while at < len(self._lines) and self._lines[at].t <= until:
            if self._lines[at] is not one:
                yield self._lines[at]
            at += 1

    def _up_to(self, t: int) -> Iterator[Observation]:
        """Yield the waiting observations up to an instant (ns)."""
        for at in range(self._first, len(self._lines)):
            if self._lines[at].t > t:
                return
            yield self._lines[at]

    def is_heat_open(self, one: Card | Slap | Taken, until: int) -> bool:
        """Whether a card may still come, after ``until`` (ns), near another hand of this hand's dead heat."""
        if type(one) is Card or one.t + one.t_error + 2 * self._widest <= until:
            return False
        hands = (other for other in self.near(one) if type(other) is Slap)
        return any(other.t + other.t_error > until for other in hands if other.t - one.t < one.t_error + other.t_error)

    def is_known_around(self, t: int, until: int, lookahead: int) -> bool:
        """Whether all lines are known, up to ``until`` (ns), whose order with those up to ``t`` may be open.

        An amendment may put a line at an instant where it was not judged, or a hand behind a later card (K1, K9).
        """
        if t + lookahead > until:
            return False
        return all(
            line.t + max(lookahead, line.t_error) <= until
            for line in self._up_to(t + lookahead + self._widest)
            if isinstance(line, _ORDERED) and line.t - line.t_error <= t + lookahead
        )

    def hands_until(self, t: int) -> Iterator[Slap]:
        """Yield the waiting hands that may, within their errors, have come up to an instant (ns)."""
        for line in self._up_to(t + self._widest):
            if type(line) is Slap:
                yield line

    def rivals(self, one: Card | Slap | Taken) -> Sequence[Observation]:
        """Return the lines that may precede a card or pick-up; for a hand, only cards and pick-ups (K9)."""
        if isinstance(one, Slap):
            until = one.t + one.t_error + self._widest
            return [other for _, other in takewhile(lambda reveal: reveal[1].t <= until, self._reveals)]
        return tuple(self.near(one))

    def take(self, observation: Observation) -> Key:
        """Remove an observation; return its place in event time."""
        kind = type(observation)
        if kind in _REVEALS:
            if self._reveals[0][1] is observation:
                self._reveals.popleft()
            else:
                self._reveals.remove((place_of(observation), observation))
        elif kind is Slap:
            self.hands -= 1
        at = self._first
        if self._lines[at] is not observation:
            at = bisect.bisect_left(self._keys, place_of(observation), at)
            del self._lines[at]
            return self._keys.pop(at)
        key = self._keys[at]
        self._first = at + 1
        if at >= _SLACK and 2 * at >= len(self._lines):
            del self._keys[: at + 1], self._lines[: at + 1]
            self._first = 0
        return key


_REVEALS: Final = (Card, Taken)
_HANDS: Final = (Slap, Taken)
"""Kinds that may have a dead heat: a take may count as a slap (M14)."""
_ORDERED: Final = (Card, Slap, Taken)
"""Kinds that wait for everything that may have come before them."""
_BEFORE_ALL: Final[Key] = (-(2**64), 0, 0, 0, "", 0)
"""A place before every instant that a log may state."""
_AMENDING: Final = (Answer, Correct)


class JudgedMoment(NamedTuple):
    """A judged observation: the state before it, the outcome, and people's answers about it.

    For the first line, the state is the table that it opens.
    """

    observation: Observation
    state: State
    after: State
    rulings: tuple[Ruling, ...]
    """With the ids that they have before amendments rename them."""
    nth: int
    """Number of observations before it; if it does not continue the last one, this is a second judging."""
    answers: tuple[Any, ...]
    """People's answers to the questions that this line raises, in their order."""


class Witness(Protocol):
    """A listener that sees each observation judged, and each ruling replaced."""

    def __call__(self, moment: JudgedMoment) -> None:
        """Handle an observation that was judged, or judged again."""

    def replace(self, names: Iterable[str]) -> None:
        """Handle the replacement of these rulings by those of the last repeated judging."""

    def undo(self, names: Iterable[str]) -> None:
        """Handle these rulings of the last judging, which a later line of the same judging undid (F9, E8)."""


class EventJudge:
    """A queue of observations, and the state after everything judged.

    ``answers`` holds people's answers so far, by question; ``witness`` sees everything that is judged.
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
        """Number of observations judged."""
        self.done: list[Observation] = []
        """Observations judged since the owner last emptied the list, in the order of judging."""
        self.waiting = EventQueue()
        """Observations not judged yet."""
        self.reached: Key = _BEFORE_ALL
        """The latest place in event time judged so far; rulings that doubt puts behind it are printed there."""

    @property
    def next_t(self) -> int | None:
        """The instant of the next observation, ns; None if none waits."""
        head = self.waiting.head()
        return None if head is None else head.t

    def run(self, until: int, lookahead: int | None, reached: int | None = None) -> list[PlacedRuling]:
        """Judge what can be judged once everything up to ``until`` (ns, inclusive) is known; stop after an amendment.

        Args:
            until: the watermark.
            lookahead: how far beyond a card or slap everything must be known before judging it, ns, or the line's own
                error if larger. None if the log is complete.
            reached: the latest instant of any line or tick, ns, if the watermark lies beyond it: the end of a log
                proves that no more lines come, but not that any time passed (reading 17).
        """
        out: list[PlacedRuling] = []
        clock = until if reached is None else min(until, reached)
        waiting = self.waiting
        while True:
            head, state = waiting.head(), self.state
            if state is not None and (state.position.ends_at is not None or type(state.position.phase) is LastChance):
                end = end_by_clock(state.position)
                if end is not None and (head is None or end[0] < head.t):
                    if end[0] > clock or (lookahead is not None and end[0] + max(lookahead, end[1]) > until):
                        break
                    in_time = self._in_time(state, *end)
                    if in_time is not None:
                        self._judge(in_time, out)
                        continue
                    self.state, rulings = end_by_time(state, end[0], self.answers)
                    # It belongs to the last line before it: a resumed state after that line already contains it.
                    for ruling in rulings:
                        key = self._printed_at((ruling.t, AFTER_ALL_KINDS, 0, 0, "", 0))
                        out.append(PlacedRuling(ruling.place or key, self.judged - 1, ruling))
                    continue
            if head is None:
                break
            # Everything that may have come before it, within its own error, must be known.
            chosen = head
            if isinstance(head, _ORDERED):
                if lookahead is None:
                    if head.t > until:
                        break
                elif head.t + max(lookahead, head.t_error) > until or waiting.is_heat_open(head, until):
                    break
                if waiting.hands:
                    # Only the order between a hand and something else can be open.
                    chosen = self._choose(head, waiting.rivals(head), until, lookahead)
                    # The same holds for an observation that doubt puts before the head.
                    if lookahead is not None and chosen.t + max(lookahead, chosen.t_error) > until:
                        self.state = state
                        break
            elif head.t > until or (
                lookahead is not None
                and type(head) in _AMENDING
                and not waiting.is_known_around(head.t, until, lookahead)
            ):
                break
            self._judge(chosen, out)
            if type(chosen) in _AMENDING:
                break
        return out

    def end(self, t: int) -> list[PlacedRuling]:
        """Judge the last tick, at ``t``: won piles are picked up."""
        if self.state is None:
            return []
        self.state, rulings = last_tick(self.state, t)
        last = (t, AFTER_ALL_KINDS + 1, 0, 0, "", 0)
        return [PlacedRuling(ruling.place or last, self.judged, ruling) for ruling in rulings]

    def _judge(self, observation: Observation, out: list[PlacedRuling]) -> None:
        """Judge a waiting observation, and add its rulings to ``out``."""
        key = self.waiting.take(observation)
        state, nth = self.state, self.judged
        self.done.append(observation)
        self.judged = nth + 1
        if state is None:
            self.reached = key
            if not isinstance(observation, Table):
                return
            after, rulings = open_table(observation, self.answers)
        else:
            won = state.pending
            if won is not None and won.place is not None and type(observation) in _REVEALS:
                # The winning hand of a dead heat may stand behind a card or pick-up that follows from its win.
                self.reached = max(self.reached, won.place)
            if key >= self.reached:
                self.reached = key
            else:
                key = self._printed_at(key)
            # An observation that doubt put behind a slap is near it, too.
            near = self.waiting.near(observation) if isinstance(observation, _HANDS) else ()
            after, rulings = fold(state, observation, near, self.answers)
        pending = after.pending
        if pending is not None and pending.place is None:
            decided = key if pending.t is not None else max(key, place_of(pending.slap))
            after = after._replace(pending=pending._replace(place=decided))
        self.state = after
        if self.witness is not None:
            met = after if state is None else state
            said = answers_about(observation.id, self.answers)
            self.witness(JudgedMoment(observation, met, after, tuple(rulings), nth, said))
        # A won slap, though closed later, has the place of the line that decided it.
        out += [PlacedRuling(ruling.place or key, nth, ruling) for ruling in rulings]

    def _printed_at(self, place: Key) -> Key:
        """Return where a ruling is printed: in its place, or behind those that doubt had judged before it (K9)."""
        reached = self.reached
        if place < reached:
            place = (*reached[:5], reached[5] + 1)
        self.reached = place
        return place

    def _choose(
        self, head: Card | Slap | Taken, rivals: Sequence[Observation], until: int, lookahead: int | None
    ) -> Card | Slap | Taken:
        """Return the observation to judge first: the head, unless the reverse of a doubtful order is better (K9).

        A hand whose surroundings are not known up to ``until`` is returned, too: it may be the one.
        """
        if self.state is None or not rivals:
            return head
        if isinstance(head, Slap):
            return self._next_of(head, rivals)
        for other in rivals:
            if self.answers.get(OVERRULED + other.id) == "won":
                # No doubt puts a later hand before the one that people say was first (K6).
                return head
            if isinstance(other, Slap):
                reveal = self._open_reveal(other, head)
                if reveal is None:
                    continue
                after = position_after(self.state.position, reveal)
                if self._doubtful(other, after) != "slap":
                    continue
                waits = lookahead is not None and other.t + max(lookahead, other.t_error) > until
                if waits or not self._fares_better_later(other, head, after):
                    return other
        return head

    def _in_time(self, state: State, end: int, error: int) -> Slap | None:
        """Return the first hand stamped after the clock's end that may have come before it and fares better so.

        Such a hand is judged before the end (K9); if people must be asked about it, they are asked before the end.
        """
        position = state.position
        if not position.rules.has("K9"):
            return None
        asks = position.rules.word("K9") == "question"
        for hand in self.waiting.hands_until(end + error):
            if hand.t - end >= hand.t_error + error or OVERRULED + hand.id in self.answers:
                continue
            worth = OUTCOME_WORTH[judge_hand(position, hand)[0].outcome]
            said = self.answers.get(limit_question(hand.id)) if asks else None
            if said == "before" or (said is None and worth > OUTCOME_WORTH["void"]):
                return hand
        return None

    def _next_of(self, head: Slap, reveals: Iterable[Observation]) -> Card | Slap | Taken:
        """Return the observation to judge first where the head is a hand, which may be put behind cards and pick-ups.

        If it is, that is the first hand before them that is not put behind them itself, else the first of them: only
        doubtful hands move.
        """
        other = self._put_behind(head, reveals)
        if other is None:
            return head
        between = (
            line for line in self.waiting.near(head) if isinstance(line, Slap) and place_of(line) < place_of(other)
        )
        return next((slap for slap in between if self._put_behind(slap, self.waiting.rivals(slap)) is None), other)

    def _put_behind(self, slap: Slap, reveals: Iterable[Observation]) -> Card | Taken | None:
        """Return the first of the cards and pick-ups behind which doubt puts a hand; None if it stays before them."""
        first: Card | Taken | None = None
        assert self.state is not None
        position = self.state.position
        for other in reveals:
            if not isinstance(other, Card | Taken) or (reveal := self._open_reveal(slap, other)) is None:
                continue
            # A hand behind it has passed the earlier ones, too, which keep their order.
            first = first or other
            position = position_after(position, reveal)
            if self._doubtful(slap, position) == "card":
                return first
        return None

    def _fares_better_later(self, slap: Slap, head: Card | Taken, after: Position) -> bool:
        """Whether a hand that fares better before the head fares best behind later cards and pick-ups of open order.

        ``after``: the position after the head.
        """
        assert self.state is not None
        before = self.state.position
        if before.rules.word("K9") == "question":
            return False
        for other in self.waiting.rivals(slap):
            if other is head or not isinstance(other, Card | Taken):
                continue
            if (reveal := self._open_reveal(slap, other)) is not None:
                after = position_after(after, reveal)
                if better_order(slap, before, after) == "card":
                    return True
        return False

    def _open_reveal(self, slap: Slap, other: Card | Taken) -> Card | Taken | None:
        """Return a card, as people described it, or a pick-up whose order with a hand is open (K9); else None."""
        state = self.state
        if state is None or not order_is_open(slap, other) or slap.id in state.settled:
            return None
        position = state.position
        if OVERRULED + slap.id in self.answers or not position.rules.has("K9"):
            return None
        if isinstance(other, Card):
            return as_answered(position, other, self.answers) if other.zone == "pile" else None
        return None if is_rival_hand(position, slap, other) else other

    def _doubtful(self, slap: Slap, after: Position) -> str | None:
        """Return which comes first, a hand or the cards and pick-ups that lead to a position, if it matters (K9).

        The slap is marked, so that its ruling says so.
        """
        assert self.state is not None
        better = better_order(slap, self.state.position, after)
        if better is None:
            return None
        if self.state.position.rules.word("K9") == "question":
            said = self.answers.get(f"question@{slap.id}")
            if said not in ("slap", "card"):
                self.state = self.state._replace(asked=self.state.asked | {slap.id})
                return None
            return str(said)
        self.state = self.state._replace(doubted=self.state.doubted | {slap.id})
        return better
