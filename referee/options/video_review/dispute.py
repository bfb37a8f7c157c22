"""A dispute settled from footage: the cards that were seen, and the hands whose first frames people mark.

Cards and takes come from `referee.options.video_review.footage`, the marks from the page (`dispute_page`). From both a
`Dispute` makes a table log in which each mark is a slap reported by people: it fell between the last frame without the
hand and the first with it, which is its error. A hand that the video's sound shows (`hearing`) has the sound's instant
and error instead. The engine rules that log like any other. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from referee.engine.amended_log import BY_PEOPLE
from referee.engine.event_queue import JudgedMoment
from referee.engine.observations import MAX_ERROR, Card, Correct, Lift, Observation, Other, Slap, Table, Taken
from referee.engine.replay import adjudicator_for, judge_log, outline_log
from referee.engine.rulings import SLAP_KINDS, Ruling, cause_of
from referee.options.video_review.footage_log import FrameSpan, as_evidence, forget_wrong_turns, rule_lines, write_lines
from referee.options.video_review.hearing import SOUND_ERROR, HandSpan, SoundFit, fit_sound, hear_hands
from referee.options.video_review.sound import Onset, Sound
from referee.rules.cards import UNREADABLE, is_card
from referee.rules.position import Position
from referee.rules.slap_verdict import OUTCOME_WORTH, Verdict, judge_slap
from referee.units import SECOND

LONGEST_MOMENT: Final = 4 * SECOND
"""Time after a card for which its frames are shown, ns, unless another event comes sooner."""
_MORE_FRAMES: Final = 2
"""Additional frames shown before the start of a moment and after its end."""
_OF_MARKS: Final = frozenset((*SLAP_KINDS, "dead_heat", "question"))


class DisputeError(ValueError):
    """A meaningless mark: an unknown moment, seat or frame, or no frame before it to bound the hand's instant."""


class SlapMoment(NamedTuple):
    """A card on the pile, and the frames in which a hand may have come down on it."""

    card: Card
    pile: tuple[str, ...]
    """The cards that count in the pile with it, oldest first."""
    patterns: tuple[str, ...]
    """Patterns that may be slapped then; empty if there are none."""
    unread: bool
    """Whether the slap depends on a card that was unread or unseen."""
    frames: range
    """Indices of the frames that show it."""

    @property
    def slappable(self) -> bool:
        """Whether a hand may win here, as far as the cards are known."""
        return bool(self.patterns) or self.unread


@dataclass(frozen=True, slots=True)
class Marks:
    """People's marks."""

    hands: Mapping[tuple[str, int], int] = field(default_factory=dict)
    """Index of the first frame with a seat's hand, by moment (the id of its card) and seat."""
    unslapped: frozenset[str] = frozenset()
    """Moments without a slap."""
    corrected: Mapping[str, str] = field(default_factory=dict)
    """Corrected card by line; empty if the event did not happen."""
    cards: Mapping[int, str] = field(default_factory=dict)
    """Cards that the eye missed, by the index of the first frame that shows each."""


class HandInstant(NamedTuple):
    """The instant at which a marked hand came down."""

    t: int
    t_error: int
    by_sound: bool
    """Whether the instant is that of a sound."""
    clock_error: int = 0
    """Additional error against the cards, ns: that of the sound's clock."""


class Dispute:
    """Footage with its moments, people's marks, and the resulting rulings."""

    def __init__(
        self,
        table: Table,
        seen: Sequence[Observation],
        frames: Sequence[FrameSpan],
        sound: Sound | None = None,
    ) -> None:
        """Begin without marks.

        Args:
            table: the log's first line.
            seen: the observations in the file, each with an id.
            frames: all its frames, by time.
            sound: its sound. None: it has none, or it cannot be read.
        """
        self.table, self._frames, self.sound = table, frames, sound
        self._seen = as_evidence(seen)
        self.marks = Marks()
        self._before: list[Marks] = []
        self._fitted: tuple[Mapping[tuple[str, int], int], SoundFit | None] = ({}, None)
        self._ruled: tuple[Marks, list[Observation], list[Ruling]] | None = None
        """The lines and the rulings of some marks: the page asks for them once for each moment."""
        self.moments = self._find_moments()

    @property
    def takes(self) -> list[Taken]:
        """Takes of the pile that were seen and not struck out."""
        return [line for line in self._standing() if isinstance(line, Taken)]

    def mark(self, moment: str, seat: int, frame: int) -> None:
        """Mark the first frame with a seat's hand; raises `DisputeError`."""
        found = self._moment(moment)
        if not 1 <= seat <= len(self.table.seats) or frame not in found.frames:
            raise DisputeError(f"there is no seat {seat}, or no frame {frame} at that moment")
        self._bounds(frame)
        hands = {**self.marks.hands, (moment, seat): frame}
        self._change(replace(self.marks, hands=hands, unslapped=self.marks.unslapped - {moment}))

    def note_unslapped(self, moment: str) -> None:
        """Mark a moment as without a slap; raises `DisputeError`."""
        self._moment(moment)
        hands = {key: frame for key, frame in self.marks.hands.items() if key[0] != moment}
        self._change(replace(self.marks, hands=hands, unslapped=self.marks.unslapped | {moment}))

    def name_card(self, moment: str, card: str) -> None:
        """Correct the card of a moment; raises `DisputeError`."""
        self._moment(moment)
        self._correct(moment, _checked(card))

    def strike_out(self, line: str) -> None:
        """Remove a card that was not laid, or a take that did not happen; raises `DisputeError`."""
        if line not in {standing.id for standing in self._standing() if isinstance(standing, Card | Taken)}:
            raise DisputeError(f"there is no card or take {line!r}")
        self._correct(line, "")

    def add_card(self, frame: int, card: str) -> None:
        """Add a missed card that shows its face in this frame for the first time; raises `DisputeError`."""
        self._bounds(frame)
        self._change(replace(self.marks, cards={**self.marks.cards, frame: _checked(card)}))

    def undo(self) -> None:
        """Undo the last mark, if there is one."""
        if self._before:
            self.marks = self._before.pop()
            self.moments = self._find_moments()

    def instant(self, frame: int) -> tuple[int, int]:
        """Return the instant of a hand whose first frame is this one, and its error, ns; raises `DisputeError`."""
        low, high = self._bounds(frame)
        return (low + high) // 2, (high - low + 1) // 2

    def fit_sound(self) -> SoundFit | None:
        """Return the sound's clock against the video's by the marks so far; None: they do not show it."""
        if self._fitted[0] != self.marks.hands:
            self._fitted = self.marks.hands, fit_sound(self._onsets, self._spans())
        return self._fitted[1]

    def hand_instants(self) -> dict[tuple[str, int], HandInstant]:
        """Return when each marked hand came down, by moment and seat."""
        fit = self.fit_sound()
        heard = hear_hands(self._onsets, fit, self._spans()) if fit is not None else {}
        instants = {}
        for (moment, seat), frame in self.marks.hands.items():
            t, error = self.instant(frame)
            instants[moment, seat] = HandInstant(t, error, by_sound=False)
            sound = heard.get((moment, seat))
            if sound is None:
                continue
            if all((moment, other) in heard for named, other in self.marks.hands if named == moment):
                # Against each other such hands are known to the sound's error; its clock is off for all of them alike.
                instants[moment, seat] = HandInstant(sound.t, SOUND_ERROR, True, sound.clock_error)
                continue
            # Against a hand that was not heard the clock's error counts; the frames bound the instant all the same.
            low = max(t - error, sound.t - SOUND_ERROR - sound.clock_error)
            high = min(t + error, sound.t + SOUND_ERROR + sound.clock_error)
            if low <= high:
                instants[moment, seat] = HandInstant((low + high) // 2, (high - low + 1) // 2, True)
        return instants

    @property
    def _onsets(self) -> Sequence[Onset]:
        return () if self.sound is None else self.sound.onsets

    def _spans(self) -> list[HandSpan]:
        return [HandSpan(key, *self._bounds(frame)) for key, frame in self.marks.hands.items()]

    def lines(self) -> list[Observation]:
        """Return the table log's observations, the table first, then by time."""
        return self._rule()[1]

    def _rule(self) -> tuple[Marks, list[Observation], list[Ruling]]:
        """Return the present marks with their lines and rulings."""
        if self._ruled is None or self._ruled[0] is not self.marks:
            lines = self._write_lines()
            self._ruled = self.marks, lines, rule_lines(lines)
        return self._ruled

    def _write_lines(self) -> list[Observation]:
        told: list[Observation] = []
        off: dict[str, int] = {}
        for (moment, seat), hand in self.hand_instants().items():
            t, frame = hand.t, self.marks.hands[moment, seat]
            extra = {**BY_PEOPLE, "frame": frame, **({"by_sound": True} if hand.by_sound else {})}
            off[moment] = max(hand.clock_error, off.get(moment, 0))
            told.append(Slap(t=t, id=f"slap-{moment}-{seat}", seat=seat, t_error=hand.t_error, extra=extra))
            # People do not mark the lift; assume that the hand is gone before the next card (M5).
            end = self._end_of(self._moment(moment).card)
            told.append(Lift(t=max(t + 1, end), id=f"lift-{moment}-{seat}", seat=seat, extra={"assumed": True}))
        for moment in self.marks.unslapped:
            extra = {"on": moment, **BY_PEOPLE}
            told.append(Other(t=self._moment(moment).card.t, id=f"unslapped-{moment}", name="unslapped", extra=extra))
        end = self._frames[-1].t
        for name, card in self.marks.corrected.items():
            mends: Mapping[str, Any] = {"card": card} if card else {}
            told.append(Correct(t=end, id=f"correct-{name}", line=name, void=not card, extra=mends))
        laid = self._on_the_sounds_clock([*self._seen, *self._added()], off)
        lines = sorted([*laid, *told], key=lambda line: line.t)
        return forget_wrong_turns([self.table, *lines])

    def write_log(self) -> str:
        """Return the table log with observations and marks, one JSON object a line."""
        return write_lines(self.lines())

    def rule(self) -> list[Ruling]:
        """Return the engine's rulings of the log."""
        return self._rule()[2]

    def verdicts(self, rulings: Sequence[Ruling], moment: str) -> list[Ruling]:
        """Return the rulings about the hands of a moment."""
        hands = {f"slap-{moment}-{seat}" for named, seat in self.marks.hands if named == moment}
        return [ruling for ruling in rulings if ruling.kind in _OF_MARKS and cause_of(ruling) in hands]

    def _change(self, marks: Marks) -> None:
        self._before.append(self.marks)
        self.marks = marks
        if (marks.corrected, marks.cards) != (self._before[-1].corrected, self._before[-1].cards):
            self.moments = self._find_moments()
            names = {moment.card.id for moment in self.moments}
            hands = {key: frame for key, frame in marks.hands.items() if key[0] in names}
            self.marks = replace(marks, hands=hands, unslapped=marks.unslapped & names)

    def _correct(self, line: str, card: str) -> None:
        self._change(replace(self.marks, corrected={**self.marks.corrected, line: card}))

    def _on_the_sounds_clock(self, seen: Sequence[Observation], off: Mapping[str, int]) -> list[Observation]:
        """Return cards and takes, their errors widened where the hands beside them stand on the sound's clock."""
        spans = [
            (moment.card.t, self._end_of(moment.card), off[moment.card.id])
            for moment in self.moments if off.get(moment.card.id)
        ]  # fmt: skip
        wider: list[Observation] = []
        for line in seen:
            more = max((error for begin, end, error in spans if begin <= line.t <= end), default=0)
            if more and isinstance(line, Card | Taken):
                line = replace(line, t_error=min(line.t_error + more, MAX_ERROR))
            wider.append(line)
        return wider

    def _added(self) -> list[Card]:
        """Return the cards that only people have seen."""
        added = []
        for frame, card in self.marks.cards.items():
            t, error = self.instant(frame)
            added.append(Card(t=t, id=f"added-{frame}", card=card, t_error=error, extra={**BY_PEOPLE, "frame": frame}))
        return added

    def _standing(self) -> list[Observation]:
        """Return the events on the table with people's corrections, by time."""
        standing: list[Observation] = []
        for line in sorted([*self._seen, *self._added()], key=lambda entry: entry.t):
            said = self.marks.corrected.get(line.id)
            if said is None:
                standing.append(line)
            elif said and isinstance(line, Card):
                standing.append(replace(line, card=said))
        return standing

    def _moment(self, name: str) -> SlapMoment:
        found = next((moment for moment in self.moments if moment.card.id == name), None)
        if found is None:
            raise DisputeError(f"there is no moment {name!r}")
        return found

    def _bounds(self, frame: int) -> tuple[int, int]:
        """Return the interval in which a hand came down that is in this frame but not in the one before."""
        if not 1 <= frame < len(self._frames):
            raise DisputeError("no frame before it shows the table without the hand")
        before, first = self._frames[frame - 1], self._frames[frame]
        low, high = before.t - before.t_error, first.t + first.exposure + first.t_error
        if high - low > 2 * MAX_ERROR:
            raise DisputeError("frames are missing before it, so they do not show when the hand came")
        return low, high

    def _end_of(self, card: Card) -> int:
        """Return when the next card comes, the pile is taken, or the frames end, ns."""
        later = [line.t for line in self._standing() if isinstance(line, Card | Taken) and line.t > card.t]
        return min([*later, card.t + LONGEST_MOMENT])

    def _frames_of(self, card: Card) -> range:
        start, end = card.t - card.t_error, self._end_of(card)
        first = next((place for place, span in enumerate(self._frames) if span.t >= start), len(self._frames) - 1)
        last = next((place for place, span in enumerate(self._frames) if span.t >= end), len(self._frames) - 1)
        return range(max(0, first - _MORE_FRAMES), min(len(self._frames), last + _MORE_FRAMES + 1))

    def _find_moments(self) -> tuple[SlapMoment, ...]:
        witness = _Positions()
        standing = forget_wrong_turns([self.table, *self._standing()])
        numbered = list(enumerate(standing, start=1))
        outlined = outline_log(numbered)
        for _ in judge_log(adjudicator_for(outlined, witness), numbered, outlined):
            pass
        return tuple(self._moment_of(line, witness.after[line.id]) for line in standing if isinstance(line, Card))

    def _moment_of(self, card: Card, position: Position) -> SlapMoment:
        verdict = _best_verdict(position, self._end_of(card))
        pile = tuple(laid.card for laid in position.played())
        return SlapMoment(card, pile, verdict.patterns, verdict.outcome == "question", self._frames_of(card))


class _Positions:
    """A witness that keeps the position after every line; implements `referee.engine.event_queue.Witness`."""

    def __init__(self) -> None:
        self.after: dict[str, Position] = {}

    def __call__(self, moment: JudgedMoment) -> None:
        self.after[moment.observation.id] = moment.after.position

    def replace(self, names: Iterable[str]) -> None:
        """No-op: nothing is replaced without answers from people."""

    def undo(self, names: Iterable[str]) -> None:
        """No-op: the positions stand as they were judged."""


def _checked(card: str) -> str:
    if not is_card(card) or card == UNREADABLE:
        raise DisputeError(f"there is no card {card!r}")
    return card


def _best_verdict(position: Position, t: int) -> Verdict:
    """Return the best verdict of any seat at an instant (ns)."""
    verdicts = [judge_slap(position, seat, t) for seat in range(1, position.seats + 1)]
    return max(verdicts, key=lambda verdict: OUTCOME_WORTH[verdict.outcome])
