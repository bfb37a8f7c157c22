"""After a gap in which nobody looked: what lies there now, held against what was believed to lie there. Pure.

A watcher that has just been woken tells every card that it finds as if it had just come. Those that lay there before
the gap are no news; what else lies there came during it, nobody knows how many there were, in which order, or by whom.
So a `Gap` goes on the log, with the one card that is seen on top: the referee then asks before it rules on anything
that depends on the others (`judge_gap`).

Until people answer, nobody knows how many cards came, whose turn it is, whether a challenge stands, and who holds how
many cards. So one card that stands for any number lies in the pile (`Position.gaps`), and what may depend on it is not
ruled with confidence. What people answer is judged in place of the gap.

One rule holds for all that follows: until a pile is seen to go, and who took it, everything is ruled in doubt
(`Position.drift`), no card is out of turn, and the gap's own question is the only one (`ask_once`). Where the table was
empty on both sides of a gap in which a whole pile may have passed, that question waits until something contradicts what
is believed.

Hands that came while the game was paused are named, and not judged.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from referee.engine.first_hand import Decided
from referee.engine.observations import MAX_ERROR, Card, Foul, Gap, Observation, Slap, Taken
from referee.engine.rulings import Ruling, cause_of, to_ruling
from referee.engine.state import State
from referee.engine.unclaimed_piles import goes_to
from referee.rules.card_play import DRAWN_AT_ONCE_NS, lay
from referee.rules.cards import UNREADABLE, is_card
from referee.rules.elimination import after_pile
from referee.rules.phase import Claim, DeadHeat, LastChance, Player, Turn, War
from referee.rules.pickup import hold_provisionally, pick_up
from referee.rules.position import Drift, Laid, Position
from referee.rules.step import Draft, Step
from referee.units import SECOND, whole_ms

GAP_BETWEEN_CARDS: Final = DRAWN_AT_ONCE_NS + 1
"""Before and after a card that came during the gap, ns: nearer, it might be taken for a second one drawn at once (F9).
"""

PASSING_NS: Final = SECOND
"""A stretch in which no pile can be laid, won and taken, ns: two cards and a sweep need longer."""

Verdict = Literal["same", "more", "gone"]


@dataclass(frozen=True, slots=True)
class PileFinding:
    """What became of the pile during the gap."""

    verdict: Verdict
    believed: tuple[str, ...]
    """The pile before the gap, oldest first."""
    lying: tuple[str, ...]
    """What is seen now, oldest first, as far as that is known."""
    came: str = ""
    """The card that is seen on top now; `UNREADABLE` where nobody can read it, empty where nothing came."""

    @property
    def asks(self) -> bool:
        """Whether people must see to the pile."""
        return self.verdict != "same"

    @property
    def proves_nothing(self) -> bool:
        """Whether nothing lay there before and nothing lies there now: a whole pile may have come and gone."""
        return not self.asks and not self.believed and not self.lying

    @property
    def span(self) -> int:
        """How much of the gap its observations need, ns."""
        return GAP_BETWEEN_CARDS * (2 if self.came else 1) if self.asks else 2 * self.proves_nothing

    def observations(self, since: int, until: int, seen: int, paused: int | None = None) -> list[Observation]:
        """What to put on the log, without ids, all after ``since`` and before ``until`` (ns).

        Args:
            since: up to here everything was told.
            until: when the game goes on.
            seen: when the table was seen again first.
            paused: the last instant that was seen before the gap; None: ``since``.

        Raises:
            ValueError: the gap is shorter than `span`.
        """
        if until - since < self.span:
            raise ValueError(f"the gap must be {self.span} ns long, not {until - since}")
        lying = (self.came,) if self.came else ()
        gap = Gap(t=since + 1, until=max(since + 2, min(seen, until)), lying=lying, since=paused)
        if self.verdict == "same":
            began = since if paused is None else paused
            return [gap] if self.proves_nothing and gap.until - began > PASSING_NS else []
        # Where the gap is so long that no error reaches over it, the line says so beside it.
        t, extra = (since + until) // 2, {"gap": True}
        error = min(MAX_ERROR, t - since - 1)
        if not self.came:
            return [gap, Taken(t=t, t_error=error, extra=extra)]
        return [gap] if self.came == UNREADABLE else [gap, Card(t=t, card=self.came, t_error=error, extra=extra)]


def reconcile_pile(believed: Sequence[str], lying: Sequence[str], *, slapped: bool = False) -> PileFinding:
    """What became of a pile.

    Args:
        slapped: hands came down meanwhile: on an empty table a whole pile has come and gone then.
        believed: its cards before the gap, oldest first; ``??`` where one was not known.
        lying: the cards seen after it, in the order told; covered ones may be missing.
    """
    before, now = tuple(believed), tuple(lying)
    if not now:
        return PileFinding("gone" if before or slapped else "same", before, now)
    new = tuple(card for card in now if card not in before or card == UNREADABLE)
    top = before[-1] if before else ""
    # A card that nobody could read before may be the one that is read now, and the other way round never.
    if (not new and top in now) or (top == UNREADABLE and len(new) <= 1 and UNREADABLE not in new):
        return PileFinding("same", before, now)
    return PileFinding("more", before, now, new[-1] if new else UNREADABLE)


@dataclass(slots=True)
class FirstLook:
    """Collects what a watcher tells of its first frame, until it has told everything.

    ``patience``: ns of frames after which what has been told must do, though a hand still hides the pile.
    """

    patience: int = 5_000_000_000
    since: int | None = None
    """The first frame's instant, ns."""
    lying: list[str] = field(default_factory=list)
    later: list[Observation] = field(default_factory=list)
    """What happened after the first frame."""

    def add(self, t: int, seen: Iterable[Observation], watermark: int, *, hidden: bool, top: str = "") -> bool:
        """Take one frame's news; returns whether the first frame's are complete.

        Args:
            t: the frame's instant, ns.
            seen: what it told.
            watermark: everything up to here has been told, ns.
            hidden: whether something may hide the pile in this frame.
            top: the card that was on top before the gap: once it is seen, nothing that matters is hidden.
        """
        if self.since is None:
            self.since = t
        for one in seen:
            if isinstance(one, Card) and one.zone == "pile" and one.t <= self.since:
                self.lying.append(one.card)
            elif not (isinstance(one, Foul) and one.foul == "double_draw" and self._came() < 2):
                # Cards that lie there at the first frame came in the gap, and were not drawn at once.
                self.later.append(one)
        if t - self.since > self.patience:
            return True
        return watermark >= self.since and (not hidden or top in self.lying)

    def _came(self) -> int:
        """Cards that came after the first frame."""
        return sum(isinstance(one, Card) for one in self.later)


SAME_CARD_WINDOW: Final = 300_000_000
"""Hands that follow the first within so long are at the same card, ns: four people take 360 ms ± 67 to react."""


@dataclass(frozen=True, slots=True)
class First:
    """Who was first in a pause: information only, for the people to settle it with."""

    t: int
    slaps: tuple[Slap, ...]
    """The hands, the first one first."""

    @property
    def margin(self) -> int | None:
        """By how much, ns; None if nobody else slapped."""
        return self.slaps[1].t - self.slaps[0].t if len(self.slaps) > 1 else None

    @property
    def error(self) -> int:
        """The sum of the two hands' errors, ns."""
        return sum(slap.t_error for slap in self.slaps[:2]) if len(self.slaps) > 1 else 0

    @property
    def sure(self) -> bool:
        """Whether the pads can tell them apart."""
        return self.margin is None or self.margin > self.error

    @property
    def words(self) -> str:
        """In English."""
        seat = self.slaps[0].seat
        if self.margin is None:
            return f"first hand: seat {seat}, not judged"
        if not self.sure:
            return f"seats {seat} and {self.slaps[1].seat} at once, not judged"
        whole = whole_ms(self.margin, self.error)
        return f"first hand: seat {seat}, by {whole or 'less than 1'} ms, not judged"


@dataclass(slots=True)
class PauseHands:
    """Collects the hands of a pause."""

    since: int
    """The pause's instant, ns."""
    _slaps: list[Slap] = field(default_factory=list)
    _any: bool = False

    def add(self, slap: Slap) -> None:
        """A hand, in any order; one from before the pause is none of its own."""
        if slap.t >= self.since:
            self._slaps.append(slap)
            self._any = True

    @property
    def any_came(self) -> bool:
        """Whether a hand came down in this pause."""
        return self._any

    def told(self, t: int) -> list[First]:
        """Every pad has reported up to ``t`` (ns): those hands that can be told now."""
        out: list[First] = []
        self._slaps.sort(key=lambda slap: (slap.t, slap.seat))
        while self._slaps and self._slaps[0].t + SAME_CARD_WINDOW <= t:
            first = self._slaps[0]
            near = [slap for slap in self._slaps if slap.t <= first.t + SAME_CARD_WINDOW]
            others = [slap for slap in near[1:] if slap.seat != first.seat]
            out.append(First(first.t, (first, *others)))
            del self._slaps[: len(near)]
        return out

    def forget(self, t: int) -> None:
        """Hands from ``t`` (ns) on fell when the game went on again: they are judged."""
        self._slaps = [slap for slap in self._slaps if slap.t < t]


# What is ruled and asked

ASK: Final = "unseen_gap"
_PILE_NS: Final = 2 * SECOND
"""A stretch in which no pile can be taken, and another one laid, won and taken as well, ns."""
_COVERED: Final = {
    "who_played": "F7", "mend_pile": "K6", "impossible_card": "K2", "order_changed": "K7", "recount": "K2",
}  # fmt: skip
"""Questions to which a gap before them may be the answer, each with its row."""
NOTHING: Final = "nothing"
"""Answer: nothing came between; what is seen was laid on what lay there."""
UNKNOWN: Final = "unknown"
"""Answer: several cards came, and nobody can say which."""


def read_cards(value: Any) -> tuple[str, ...]:
    """The cards of an answer such as ``"7h"`` or ``"7h 9c"``, oldest first; none where it is no such answer."""
    cards = tuple(value.split()) if isinstance(value, str) else ()
    return cards if all(is_card(card) and card != UNREADABLE for card in cards) else ()


def is_answer(value: Any, players: Container[int], *, gone: bool, passed: bool = False) -> bool:
    """Whether people may answer so: one of ``players`` took the pile; which cards came, if it is not ``gone``; unknown.

    ``passed``: it is asked whether a pile came and went at all.
    """
    if type(value) is int:
        return value in players
    if value == NOTHING:
        return passed or not gone
    return value == UNKNOWN or (not gone and bool(read_cards(value)))


def is_moot(question: Ruling, position: Position) -> bool:
    """Whether a gap's question needs no answer any more: its pile is gone, and all stacks were counted."""
    return bool(question["ask"] == ASK) and cause_of(question) not in position.unread and not position.unsure


def judge_gap(step: Step, gap: Gap, answers: Mapping[str, Any]) -> None:
    """Ask what came, and put down what is known of it."""
    position = step.position
    phase = position.phase
    if position.over or position.closed:
        return
    lasted = max(gap.until - (gap.t if gap.since is None else gap.since), 1)
    if isinstance(phase, Claim) and not gap.lying and phase.by == "slap" and lasted <= _PILE_NS:
        # Whoever has won the pile may take it unseen.
        return
    is_won = isinstance(phase, Claim) and phase.by == "challenge" and not position.drifts and not position.unjudged
    if is_won and not gap.lying and lasted <= PASSING_NS:
        # So may whoever has won it by a challenge, unless a hand was first.
        step.set(drift=Drift(gap.id, lasted, gap.until, asked=False, leaves="hands"))
        return
    said = answers.get(f"question@{gap.id}")
    if not position.pile and not gap.lying:
        _judge_empty_table(step, gap, lasted, said)
        return
    fields: dict[str, Any] = {"ask": ASK, "about": [gap.id], "lasted": lasted}
    if gap.lying:
        fields["cards"] = list(gap.lying)
    step.rule("question", "K2", **fields)
    if not is_answer(said, position.players(), gone=not gap.lying):
        said = UNKNOWN
    is_known = type(said) is str and said != UNKNOWN and gap.lying[-1:] != (UNREADABLE,)
    leaves: Literal["all", "hands"] = "hands" if is_known and not position.unjudged else "all"
    step.set(drift=Drift(gap.id, lasted, gap.until, True, leaves))
    taker = position.player(said) if type(said) is int else None
    if taker is not None:
        _taken_by(step, taker)
    elif said not in (NOTHING, UNKNOWN):
        cards = read_cards(said)
        for place, card in enumerate(cards, start=1):
            # Before the middle of the gap, where the card that is seen now stands.
            one = Step(step.position, gap.t + (gap.until - gap.t) * place // (2 * len(cards) + 2), gap.id)
            lay(one, card, None)
            step.position = one.position
            step.drafts += one.drafts
    if not is_known and type(said) is not int and not isinstance(step.position.phase, War | LastChance):
        # Nobody knows how many came, or which is the one on top.
        _anything_came(step)
    if said in (NOTHING, UNKNOWN) or type(said) is int:
        step.announce_turn()


def _judge_empty_table(step: Step, gap: Gap, lasted: int, said: Any) -> None:
    """Nothing lay there before the gap, and nothing after it: that a pile came and went is asked once it shows."""
    position = step.position
    if lasted <= PASSING_NS or said == NOTHING:
        return
    is_told = is_answer(said, position.players(), gone=True)
    step.set(drift=Drift(gap.id, lasted, gap.until, is_told))
    if is_told:
        _forget_counts(step)
    if type(said) is int and is_told:
        step.enter(Turn(said))
    step.announce_turn()


def ask_once(state: State, rulings: list[Ruling], observation: Observation, drift: Drift) -> Decided:
    """A gap's question covers every other one that the gap may answer; it is asked with the first of them at latest."""
    left = [one for one in rulings if _COVERED.get(one.get("ask", "")) not in one.rule]
    position = state.position
    if len(left) == len(rulings) or drift.asked or position.drift is None:
        return state, left
    fields = {"ask": ASK, "about": [drift.gap], "lasted": drift.lasted, "passed": True}
    draft = Draft("question", fields, ("K2",), (observation.id,))
    step = Step(position.but(drift=position.drift._replace(asked=True)), observation.t, drift.gap)
    _forget_counts(step)
    return state.at(step.position), [*left, to_ruling(draft, drift.gap, observation.t, set())]


def prove_turn(step: Step, taken: Taken) -> None:
    """A pile was seen to go and who took it: from here on only the counts of cards are open."""
    position = step.position
    drift = position.drift
    if drift is not None and not position.pile and taken.seat is not None and position.turn == taken.seat:
        step.set(drift=drift._replace(leaves="counts" if drift.leaves == "all" else drift.leaves))


def _forget_counts(step: Step) -> None:
    """Any stack may hold more or less than is counted."""
    step.set(known=((),) * step.position.seats, unsure=frozenset(step.position.players()))


def _taken_by(step: Step, seat: Player) -> None:
    """People say who took the pile: whoever had won it, or another."""
    phase = step.position.phase
    if isinstance(phase, Claim) and phase.by != "unread" and seat in (phase.seat, *phase.split):
        pick_up(step)
    else:
        goes_to(step, seat)
        after_pile(step, seat, by_slap=False)
    _forget_counts(step)


def _anything_came(step: Step) -> None:
    """Any number of cards, by anybody; the pile may have been taken before them, too."""
    phase = step.position.phase
    if isinstance(phase, Claim) and phase.by == "slap":
        # Nothing is laid on a pile that was won before it is picked up (reading 3).
        pick_up(step)
    elif isinstance(phase, DeadHeat):
        hold_provisionally(step, phase.seats[0])
    position = step.position
    if position.over:
        return
    _forget_counts(step)
    stands_for_them = Laid(UNREADABLE, step.ref, step.t, phase.turn or 1, "played")
    step.enter(
        Turn(None),
        pile=(*position.pile, stands_for_them),
        unread=position.unread | {step.ref},
        gaps=position.gaps | {step.ref},
        paid=0,
        said="",
        calling="",
    )
