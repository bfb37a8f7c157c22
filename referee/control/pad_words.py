"""Words that pads can say: yes, no, next, undo, pause, contest, off, a call for a pairing code. Edges to words; pure.

A word must never be taken from a slap, nor a slap from a word:

- While the game goes on, only a hold says anything: down for `HOLD` to `STUCK`, released, and no other hand near it.
  Its press edge stays what it is, a slap like any other (M5 sees to it that a hand that stays down slaps only once),
  and where the referee judged it as one, `command_of` takes it for no word: hold a pad when the pile is empty, where a
  slap is nothing. From `STUCK` on the pad counts as stuck, not as a word.
- Short taps are words only where no slap is judged: paused, before the game, and after it.
- A gesture during which the mode changed says nothing.

Which gesture says what, by mode, is `MEANING`; what a word asks of the table is `command_of`. Called in the main
process, by `referee.table.page_link`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from hardware.pads.debounce import REBOUND, STUCK
from hardware.ports import Edge
from referee.control.corrections import SEAT_QUESTIONS
from referee.control.facts import Facts
from referee.control.reports import CONTESTABLE
from referee.engine.amended_log import LATE
from referee.engine.history import IGNORED
from referee.engine.observations import Correct, Pause, Resume, Slap
from referee.engine.rulings import Ruling, cause_of, gap_form
from referee.engine.view import View
from referee.units import MS, SECOND

HOLD: Final = 2 * SECOND
"""A shorter press is no hold, ns."""
TAP: Final = 500 * MS
"""A longer press is no tap, ns."""
TAP_GAP: Final = 700 * MS
"""A longer gap ends a row of taps, ns."""
_ALONE: Final = SECOND
"""No other hand came down within so long before a hold, ns: people slap for one pile nearer to each other than that."""


class Mode(Enum):
    """What the table is doing."""

    PLAY = "play"
    ASKING = "asking"
    """A question is open that one pad can answer, and the game goes on."""
    PAUSED = "paused"
    IDLE = "idle"
    """Before the game, or after it."""


class Gesture(Enum):
    """What hands did."""

    HOLD = "one pad held"
    TOGETHER = "two or more pads held at once"
    ONE = "one tap"
    TWO = "two taps"
    THREE = "three taps"
    FOUR = "four taps"
    KNOCK = "two taps, then held"
    RAP = "three taps, then held"


NEXT: Final = "next"
"""The word that reads out the next thing that may be said (`referee.control.spoken_choices`)."""
MEANING: Final[Mapping[Mode, Mapping[Gesture, str]]] = {
    Mode.PLAY: {Gesture.HOLD: "pause", Gesture.TOGETHER: "undo"},
    Mode.ASKING: {Gesture.HOLD: "yes", Gesture.TOGETHER: "no"},
    Mode.PAUSED: {
        Gesture.HOLD: "resume", Gesture.TOGETHER: "undo", Gesture.ONE: NEXT,
        Gesture.TWO: "yes", Gesture.THREE: "no", Gesture.FOUR: "contest", Gesture.KNOCK: "code", Gesture.RAP: "off",
    },
    Mode.IDLE: {
        Gesture.ONE: NEXT, Gesture.TWO: "yes", Gesture.THREE: "no", Gesture.KNOCK: "code", Gesture.RAP: "off",
    },
}  # fmt: skip

_TAPS: Final[Mapping[int, Gesture]] = {1: Gesture.ONE, 2: Gesture.TWO, 3: Gesture.THREE, 4: Gesture.FOUR}
"""By how many there are."""
_KNOCKS: Final[Mapping[int, Gesture]] = {2: Gesture.KNOCK, 3: Gesture.RAP}
"""By how many taps go before a hold."""


@dataclass(frozen=True, slots=True)
class Word:
    """What was said, by whose pad, from when to when (ns)."""

    word: str
    seat: int
    """Of two or more pads the one that was down first."""
    since: int
    t: int


@dataclass(frozen=True, slots=True)
class _Press:
    seat: int
    down: int
    up: int

    @property
    def is_hold(self) -> bool:
        return HOLD <= self.up - self.down < STUCK

    @property
    def is_tap(self) -> bool:
        return self.up - self.down <= TAP


@dataclass(slots=True)
class _Pad:
    """One pad: the press that goes on, or that may still go on after a bounce."""

    down: int | None = None
    up: int | None = None
    mode: Mode = Mode.PLAY
    taps: list[_Press] = field(default_factory=list)


class PadWords:
    """Every pad of a table. Feed edges in the order of their instants, and `advance` as far as all were fed.

    Args:
        seats: how many.
        mode: what the table is doing.
    """

    def __init__(self, seats: int, mode: Mode = Mode.IDLE) -> None:
        self._pads = {seat: _Pad() for seat in range(1, seats + 1)}
        self._mode = mode
        self._held: list[_Press] = []
        """Holds that others may still join."""
        self._downs: list[tuple[int, int]] = []
        """Instant and seat of presses, while a hold may refer to them."""

    def change(self, mode: Mode) -> None:
        """The table does something else now: what began before says nothing."""
        if mode is self._mode:
            return
        self._mode = mode
        self._held.clear()
        for pad in self._pads.values():
            pad.taps.clear()

    def feed(self, edge: Edge) -> list[Word]:
        """Take one edge; returns what it completed. One of a seat that is none says nothing."""
        pad = self._pads.get(edge.seat)
        if pad is None:
            return []
        words = self.advance(edge.t - 1)
        if not edge.pressed:
            if pad.down is not None and pad.up is None:
                pad.up = edge.t
            return words
        if pad.up is not None and edge.t - pad.up < REBOUND:
            # The hand bounced; it never left.
            pad.up = None
        elif pad.down is None:
            pad.down, pad.mode = edge.t, self._mode
            self._downs.append((edge.t, edge.seat))
        return words

    def advance(self, t: int) -> list[Word]:
        """All edges up to ``t`` (ns) have been fed; returns what was said."""
        for seat, pad in self._pads.items():
            if pad.down is not None and pad.up is not None and t - pad.up >= REBOUND:
                press = _Press(seat, pad.down, pad.up)
                pad.down = pad.up = None
                if pad.mode is self._mode and press.is_tap and Gesture.TWO in MEANING[self._mode]:
                    pad.taps.append(press)
                elif pad.mode is self._mode and press.is_hold:
                    self._held.append(press)
                else:
                    pad.taps.clear()
        words = [*self._finish_holds(t), *self._finish_taps(t)]
        self._downs = [(down, seat) for down, seat in self._downs if t - down <= STUCK + _ALONE + TAP_GAP]
        return words

    def _finish_holds(self, t: int) -> list[Word]:
        """Holds whose every neighbour has been let go of; a pad that is stuck is nobody's neighbour."""
        if not self._held or any(pad.down is not None and t - pad.down < STUCK for pad in self._pads.values()):
            return []
        held, self._held = sorted(self._held, key=lambda press: press.down), []
        first, last = held[0], max(press.up for press in held)
        seats = {press.seat for press in held}
        before = self._pads[first.seat].taps
        knocked = len(held) == 1 and len(before) in _KNOCKS and first.down - before[-1].up <= TAP_GAP
        ours = {(press.down, press.seat) for press in [*held, *(before if knocked else [])]}
        self._pads[first.seat].taps = []
        if any(first.down - _ALONE <= down <= last and (down, seat) not in ours for down, seat in self._downs):
            return []
        if len(held) > 1 and (len(seats) < len(held) or max(press.down for press in held) >= min(p.up for p in held)):
            return []
        alone = _KNOCKS[len(before)] if knocked else Gesture.HOLD
        gesture = Gesture.TOGETHER if len(held) > 1 else alone
        word = MEANING[self._mode].get(gesture)
        return [Word(word, first.seat, before[0].down if knocked else first.down, last)] if word is not None else []

    def _finish_taps(self, t: int) -> list[Word]:
        words: list[Word] = []
        for seat, pad in self._pads.items():
            if not pad.taps or pad.down is not None or t - pad.taps[-1].up <= TAP_GAP:
                continue
            taps, pad.taps = pad.taps, []
            gesture = _TAPS.get(len(taps))
            ours = {(press.down, press.seat) for press in taps}
            others = any(taps[0].down <= down <= t and (down, by) not in ours for down, by in self._downs)
            word = MEANING[self._mode].get(gesture) if gesture is not None else None
            if word is not None and not others:
                words.append(Word(word, seat, taps[0].down, taps[-1].up))
        return words


_NOTHING: Final = frozenset(("empty_pile", "not_playing", "paused", "locked_out"))
"""Reasons for which a press was no slap: only then can it have been the beginning of a word."""
PAUSING: Final = (Pause, Resume, Correct)
"""Lines after which a game may be paused that was not, or the other way round."""
_ANY_YES: Final = Word("yes", 1, 0, 0)
_CONTRADICTIONS: Final = frozenset(("impossible_card", "order_changed"))


def read_mode(view: View, rulings: Sequence[Ruling], *, paused: bool) -> Mode:
    """What the table is doing; ``rulings`` are those on record.

    Whether it is paused tells the log, and changes only with a line of `PAUSING`.
    """
    if view.game_over:
        return Mode.IDLE
    if paused:
        return Mode.PAUSED
    # A question that no pad can answer, or that may wait for ever, must not keep hands from pausing the game.
    return Mode.ASKING if first_for_pads(view, rulings) is not None else Mode.PLAY


def first_for_pads(view: View, rulings: Sequence[Ruling]) -> Ruling | None:
    """The oldest open question that one pad can answer while the game goes on; None where there is none."""
    if not view.questions:
        return None
    open_ = [one for one in rulings if one.kind == "question" and one.id in view.questions]
    found = [one for one in open_ if _answer_to(one, _ANY_YES) is not None]
    return min(found, key=lambda one: (one.t, one.id), default=None)


def command_of(word: Word, facts: Facts) -> dict[str, Any] | None:
    """The record of the command that a word asks for; None for none.

    A request for a pairing code ("code") and one to go on reading out (`NEXT`) are no matter of the game, and are not
    answered here.
    """
    log = facts.log
    found = [log.ruling(name) for name in facts.view.questions]
    questions = sorted((one for one in found if one is not None), key=lambda one: (one.t, one.id))
    # While a pile waits for people to say whose it is, every hand on it is late.
    nothing = _NOTHING | {"late"} if questions else _NOTHING
    for line in facts.observations:
        if isinstance(line, Slap) and line.seat == word.seat and word.since <= line.t <= word.t:
            void = log.ruling(f"slap_void@{line.id}")
            if void is None or void["reason"] not in nothing:
                # A press of that pad counted for something, or is not judged yet.
                return None
    if word.word in ("pause", "resume", "undo"):
        return {"do": word.word}
    if word.word == "contest":
        return _contest(word.seat, facts)
    if word.word not in ("yes", "no"):
        return None
    for question in questions:
        answer = _answer_to(question, word)
        if answer is not None:
            return {"do": "answer", "question": question.id, "value": answer}
    late = [cause_of(question) for question in questions if question["ask"] == LATE]
    if late and word.word == "yes":
        return {"do": "take_up", "line": late[0]}
    if late:
        return {"do": "answer", "question": f"question@{late[0]}", "value": IGNORED}
    return {"do": "rematch"} if word.word == "yes" and facts.view.game_over else None


def _contest(seat: int, facts: Facts) -> dict[str, Any] | None:
    """A seat contests the latest slap or take on record, where the house rules know contests (F5)."""
    if not facts.offers.contests:
        return None
    found = [one for one in facts.log.rulings.values() if one.kind in CONTESTABLE]
    latest = max(found, key=lambda one: one.t)["seat"] if found else None
    # A slap that won is on record once its pile is picked up.
    against = facts.view.owner or latest
    return {"do": "contest", "by": [seat], "against": against} if against not in (None, seat) else None


def _answer_to(question: Ruling, word: Word) -> int | str | None:
    """Whose pad it was, or yes and no; None where one pad cannot answer."""
    ask, yes = question["ask"], word.word == "yes"
    if yes and (ask in SEAT_QUESTIONS or (ask == "unseen_gap" and gap_form(question) in ("gone", "passed"))):
        return word.seat
    if ask == "slap_or_card":
        return "slap" if yes else "card"
    if ask == "slap_or_limit":
        return "before" if yes else "after"
    if ask in _CONTRADICTIONS and len(question.get("cards", ())) == 2:
        # First what was seen, then what deck memory expects: "is it what I saw?"
        return str(question["cards"][0 if yes else 1])
    return None
