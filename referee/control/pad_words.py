"""Words that pads can say: yes, no, next, undo, pause, contest, off, and a request for a pairing code. Pure.

Slaps and words must never be confused:

- While the game goes on, only a hold is a word: down for `HOLD` to `STUCK`, then released, with no other hand near it.
  Its press edge remains a slap like any other (M5 makes sure that a hand that stays down slaps only once). If the
  referee judged it as a slap, `command_of` ignores the word: so hold a pad when the pile is empty, when a slap counts
  for nothing. From `STUCK` on the pad is stuck, and there is no word.
- Short taps are words only while no slap is judged: paused, before the game, and after it.
- A gesture during which the mode changed is ignored.

`MEANING` gives the word of each gesture by mode, and `command_of` the command of a word. Called in the main process, by
`referee.table.page_link`.
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
"""Shortest hold, ns."""
TAP: Final = 500 * MS
"""Longest tap, ns."""
TAP_GAP: Final = 700 * MS
"""Longest gap within a series of taps, ns."""
_ALONE: Final = SECOND
"""Time before a hold during which no other hand may come down, ns: slaps for one pile are closer together than that."""


class Mode(Enum):
    """The table's state, as far as gestures depend on it."""

    PLAY = "play"
    ASKING = "asking"
    """A question is open that one pad can answer, and the game goes on."""
    PAUSED = "paused"
    IDLE = "idle"
    """Before the game, or after it."""


class Gesture(Enum):
    """Gestures of hands on the pads."""

    HOLD = "one pad held"
    TOGETHER = "two or more pads held at once"
    ONE = "one tap"
    TWO = "two taps"
    THREE = "three taps"
    FOUR = "four taps"
    KNOCK = "two taps, then held"
    RAP = "three taps, then held"


NEXT: Final = "next"
"""The word that reads out the next option (`referee.control.spoken_choices`)."""
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
"""By number of taps."""
_KNOCKS: Final[Mapping[int, Gesture]] = {2: Gesture.KNOCK, 3: Gesture.RAP}
"""By number of taps before a hold."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word, its seat, and its beginning and end (ns)."""

    word: str
    seat: int
    """Of two or more pads, the one that was down first."""
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
    """One pad: the current press, which may still continue after a bounce."""

    down: int | None = None
    up: int | None = None
    mode: Mode = Mode.PLAY
    taps: list[_Press] = field(default_factory=list)


class PadWords:
    """Recognises the gestures on every pad of a table. Feed edges in order, then `advance` as far as all were fed.

    Args:
        seats: number of seats.
        mode: the table's state.
    """

    def __init__(self, seats: int, mode: Mode = Mode.IDLE) -> None:
        self._pads = {seat: _Pad() for seat in range(1, seats + 1)}
        self._mode = mode
        self._held: list[_Press] = []
        """Holds that other hands may still join."""
        self._downs: list[tuple[int, int]] = []
        """Instant and seat of presses, for as long as a hold may refer to them."""

    def change(self, mode: Mode) -> None:
        """Set the table's new state; gestures begun before are dropped."""
        if mode is self._mode:
            return
        self._mode = mode
        self._held.clear()
        for pad in self._pads.values():
            pad.taps.clear()

    def feed(self, edge: Edge) -> list[Word]:
        """Take one edge; return the words that it completed. An unknown seat is ignored."""
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
        """Move on to ``t`` (ns), up to which all edges have been fed; return the words completed."""
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
        """Return the words of holds once no other pad is down; a stuck pad does not count."""
        if not self._held or any(pad.down is not None and t - pad.down < STUCK for pad in self._pads.values()):
            return []
        held, self._held = sorted(self._held, key=lambda press: press.down), []
        first, last = held[0], max(press.up for press in held)
        seats = {press.seat for press in held}
        before = self._pads[first.seat].taps
        knocked = len(held) == 1 and len(before) in _KNOCKS and first.down - before[-1].up <= TAP_GAP
        ours = {(press.down, press.seat) for press in [*held, *(before if knocked else [])]}
        self._pads[first.seat].taps = []
        # Another hand came near the hold: people are slapping.
        if any(first.down - _ALONE <= down <= last and (down, seat) not in ours for down, seat in self._downs):
            return []
        # Two holds of one pad, or holds that do not overlap, are no common gesture.
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
"""Reasons for which a press was no slap; only such a press can be part of a word."""
PAUSING: Final = (Pause, Resume, Correct)
"""Lines that can change whether a game is paused."""
_ANY_YES: Final = Word("yes", 1, 0, 0)
_CONTRADICTIONS: Final = frozenset(("impossible_card", "order_changed"))


def read_mode(view: View, rulings: Sequence[Ruling], *, paused: bool) -> Mode:
    """Return the table's state; ``rulings`` are those on record.

    ``paused`` comes from the log, and changes only with a line of `PAUSING`.
    """
    if view.game_over:
        return Mode.IDLE
    if paused:
        return Mode.PAUSED
    # A question that no pad can answer, or that may wait for ever, must not keep hands from pausing the game.
    return Mode.ASKING if first_for_pads(view, rulings) is not None else Mode.PLAY


def first_for_pads(view: View, rulings: Sequence[Ruling]) -> Ruling | None:
    """Return the oldest open question that one pad can answer while the game goes on; None if there is none."""
    if not view.questions:
        return None
    open_ = [ruling for ruling in rulings if ruling.kind == "question" and ruling.id in view.questions]
    found = [ruling for ruling in open_ if _answer_to(ruling, _ANY_YES) is not None]
    return min(found, key=lambda asked: (asked.t, asked.id), default=None)


def command_of(word: Word, facts: Facts) -> dict[str, Any] | None:
    """Return the record of the command that a word asks for; None if there is none.

    A request for a pairing code ("code") and one to read on (`NEXT`) do not concern the game, and are handled
    elsewhere.
    """
    log = facts.log
    found = [log.ruling(name) for name in facts.view.questions]
    questions = sorted((ruling for ruling in found if ruling is not None), key=lambda asked: (asked.t, asked.id))
    # While a question holds up the pile, every hand on it is late.
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
    """Return the command to contest the latest slap or take on record, if the house rules allow contests (F5)."""
    if not facts.offers.contests:
        return None
    found = [ruling for ruling in facts.log.rulings.values() if ruling.kind in CONTESTABLE]
    latest = max(found, key=lambda act: act.t)["seat"] if found else None
    # A slap that won is on record once its pile is picked up.
    against = facts.view.owner or latest
    return {"do": "contest", "by": [seat], "against": against} if against not in (None, seat) else None


def _answer_to(question: Ruling, word: Word) -> int | str | None:
    """Return the answer that a word gives: the pad's seat, or yes and no; None if one pad cannot answer."""
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
