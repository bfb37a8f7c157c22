"""Gaps in the camera's view: compare the pile seen afterwards with the believed one, and judge the difference. Pure.

A watcher that has just woken reports every card that it finds as new. Cards from before the gap are not new; the others
came during the gap, in unknown number and order and from unknown seats. So a `Gap` goes on the log, with the one card
seen on top, and the referee asks before it rules on anything that depends on the others (`judge_gap`).

Until people answer, the number of cards that came, the turn, a standing challenge and the counts are unknown. So one
card that stands for any number lies in the pile (`Position.gaps`), and nothing that may depend on it is ruled with
confidence. People's answer is judged in place of the gap. It names cards, and not the seats that laid them: these stay
unproved until a card is seen to come from the seat that the answer leads to (`prove_seats`).

One rule holds for everything after a gap: until a pile and its taker are seen, all rulings are in doubt
(`Position.drift`), no card is out of turn, and the gap's question is the only one (`ask_once`). If the table was empty
before and after a gap in which a whole pile may have passed, a reminder says so, all counts are unknown, and the
question waits until something contradicts the believed position.

Hands that came while the game was paused are reported, but not judged.
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
"""Minimum time around a card from the gap, ns: any closer, it might pass for one of two drawn at once (F9)."""

PASSING_NS: Final = SECOND
"""Time too short to lay, win and take a pile, ns: two cards and a sweep need longer."""

OPENING: Final = "opening"
"""Extra field of a gap before a new game's first picture."""

Verdict = Literal["same", "more", "gone"]


@dataclass(frozen=True, slots=True)
class PileFinding:
    """The change of the pile during the gap."""

    verdict: Verdict
    believed: tuple[str, ...]
    """The pile before the gap, oldest first."""
    lying: tuple[str, ...]
    """The cards seen now, oldest first, as far as known."""
    came: str = ""
    """The card now on top; `UNREADABLE` if it cannot be read, empty if nothing came."""

    @property
    def asks(self) -> bool:
        """Whether people must be asked about the pile."""
        return self.verdict != "same"

    @property
    def proves_nothing(self) -> bool:
        """Whether the table was empty before and is empty now, so that a whole pile may have come and gone."""
        return not self.asks and not self.believed and not self.lying

    @property
    def span(self) -> int:
        """Time that the observations need within the gap, ns."""
        return GAP_BETWEEN_CARDS * (2 if self.came else 1) if self.asks else 2 * self.proves_nothing

    def observations(
        self, since: int, until: int, seen: int, paused: int | None = None, *, opening: bool = False
    ) -> list[Observation]:
        """Return the observations to log, without ids, all after ``since`` and before ``until`` (ns).

        Args:
            since: everything up to here was reported.
            until: the instant at which the game resumes.
            seen: the instant at which the table was first seen again.
            paused: the last instant seen before the gap; None: ``since``.
            opening: whether the gap lies between a new game's beginning and the camera's first picture.

        Raises:
            ValueError: the gap is shorter than `span`.
        """
        if until - since < self.span:
            raise ValueError(f"the gap must be {self.span} ns long, not {until - since}")
        lying = (self.came,) if self.came else ()
        mark = {OPENING: True} if opening else {}
        gap = Gap(t=since + 1, until=max(since + 2, min(seen, until)), lying=lying, since=paused, extra=mark)
        if self.verdict == "same":
            began = since if paused is None else paused
            return [gap] if self.proves_nothing and gap.until - began > PASSING_NS else []
        # If no error is large enough to span the gap, an extra field marks the line instead.
        t, extra = (since + until) // 2, {"gap": True}
        error = min(MAX_ERROR, t - since - 1)
        if not self.came:
            return [gap, Taken(t=t, t_error=error, extra=extra)]
        return [gap] if self.came == UNREADABLE else [gap, Card(t=t, card=self.came, t_error=error, extra=extra)]


def reconcile_pile(
    believed: Sequence[str], lying: Sequence[str], *, slapped: bool = False, vouched: bool = False
) -> PileFinding:
    """Compare a pile before and after a gap.

    Args:
        slapped: hands came down meanwhile; on an empty table that means that a whole pile has come and gone.
        vouched: people say that the pile lies as it did: a card that cannot be read is then one of its cards.
        believed: its cards before the gap, oldest first; ``??`` for an unknown one.
        lying: the cards seen after it, in the order reported; covered ones may be missing.
    """
    before, now = tuple(believed), tuple(lying)
    if not now:
        return PileFinding("gone" if before or slapped else "same", before, now)
    new = tuple(card for card in now if card not in before or card == UNREADABLE)
    if vouched and before and new and set(new) <= {UNREADABLE}:
        return PileFinding("same", before, now)
    top = before[-1] if before else ""
    # A card that was unreadable before may be the one read now, but never the other way round.
    if (not new and top in now) or (top == UNREADABLE and len(new) <= 1 and UNREADABLE not in new):
        return PileFinding("same", before, now)
    return PileFinding("more", before, now, new[-1] if new else UNREADABLE)


@dataclass(slots=True)
class FirstLook:
    """Collects a watcher's report on its first frame until it is complete.

    ``patience``: time after which the report counts as complete even if a hand still hides the pile, ns.
    """

    patience: int = 5_000_000_000
    since: int | None = None
    """The first frame's instant, ns."""
    lying: list[str] = field(default_factory=list)
    later: list[Observation] = field(default_factory=list)
    """Observations after the first frame."""

    def add(self, t: int, seen: Iterable[Observation], watermark: int, *, hidden: bool, top: str = "") -> bool:
        """Add one frame's observations; return whether the first frame's are complete.

        Args:
            t: the frame's instant, ns.
            seen: its observations. watermark: everything up to here has been reported, ns.
            hidden: whether something may hide the pile in this frame.
            top: the card on top before the gap; once it is seen, nothing relevant is hidden.
        """
        if self.since is None:
            self.since = t
        for line in seen:
            if isinstance(line, Card) and line.zone == "pile" and line.t <= self.since:
                self.lying.append(line.card)
            elif not (isinstance(line, Foul) and line.foul == "double_draw" and self._came() < 2):
                # Cards in the first frame came during the gap, so they were not drawn at once.
                self.later.append(line)
        if t - self.since > self.patience:
            return True
        return watermark >= self.since and (not hidden or top in self.lying)

    def _came(self) -> int:
        """Return the number of cards that came after the first frame."""
        return sum(isinstance(line, Card) for line in self.later)


SAME_CARD_WINDOW: Final = 300_000_000
"""Hands within this time of the first are at the same card, ns: four people take 360 ms ± 67 to react."""


@dataclass(frozen=True, slots=True)
class First:
    """The first hand in a pause: information only, for people to settle it."""

    t: int
    slaps: tuple[Slap, ...]
    """The hands, in order."""

    @property
    def margin(self) -> int | None:
        """Lead over the second hand, ns; None if there is no other."""
        return self.slaps[1].t - self.slaps[0].t if len(self.slaps) > 1 else None

    @property
    def error(self) -> int:
        """The sum of the two hands' errors, ns."""
        return sum(slap.t_error for slap in self.slaps[:2]) if len(self.slaps) > 1 else 0

    @property
    def sure(self) -> bool:
        """Whether the pads can separate the two hands."""
        return self.margin is None or self.margin > self.error

    @property
    def words(self) -> str:
        """Describe it in English."""
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
    _added: set[tuple[int, int]] = field(default_factory=set)
    """Seat and instant, ns, of each hand so far."""

    def add(self, slap: Slap) -> None:
        """Add a hand, in any order; one from before the pause, or that was added before, is ignored."""
        if slap.t >= self.since and (slap.seat, slap.t) not in self._added:
            self._slaps.append(slap)
            self._added.add((slap.seat, slap.t))

    @property
    def any_came(self) -> bool:
        """Whether any hand came down in this pause."""
        return bool(self._added)

    def told(self, t: int) -> list[First]:
        """Return the hands that can be reported now that every pad has reported up to ``t`` (ns)."""
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
        """Drop hands from ``t`` (ns) on: the game had resumed, so they are judged."""
        self._slaps = [slap for slap in self._slaps if slap.t < t]


# Rulings and questions

ASK: Final = "unseen_gap"
_PILE_NS: Final = 2 * SECOND
"""Time too short for one pile to be taken and another to be laid, won and taken, ns."""
_COVERED: Final = {
    "who_played": "F7", "mend_pile": "K6", "impossible_card": "K2", "order_changed": "K7", "recount": "K2",
}  # fmt: skip
"""Questions that an earlier gap may explain, each with its row."""
NOTHING: Final = "nothing"
"""Answer: nothing else came; the card seen was laid on the believed pile."""
UNKNOWN: Final = "unknown"
"""Answer: several unknown cards came."""


def read_cards(value: Any) -> tuple[str, ...]:
    """Return the cards of an answer such as ``"7h"`` or ``"7h 9c"``, oldest first; empty for any other answer."""
    cards = tuple(value.split()) if isinstance(value, str) else ()
    return cards if all(is_card(card) and card != UNREADABLE for card in cards) else ()


def is_answer(value: Any, players: Container[int], *, gone: bool, passed: bool = False) -> bool:
    """Whether the answer is valid: a taker from ``players``, the cards that came unless it is ``gone``, or unknown.

    ``passed``: the question is whether a pile came and went at all.
    """
    if type(value) is int:
        return value in players
    if value == NOTHING:
        return passed or not gone
    return value == UNKNOWN or (not gone and bool(read_cards(value)))


def is_moot(question: Ruling, position: Position) -> bool:
    """Whether a gap's question no longer needs an answer: its pile is gone, and all stacks were counted."""
    return bool(question["ask"] == ASK) and cause_of(question) not in position.unread and not position.unsure


def judge_gap(step: Step, gap: Gap, answers: Mapping[str, Any]) -> None:
    """Ask which cards came, and apply what is known."""
    position = step.position
    phase = position.phase
    if position.over or position.closed:
        return
    lasted = max(gap.until - (gap.t if gap.since is None else gap.since), 1)
    if isinstance(phase, Claim) and not gap.lying and phase.by == "slap" and lasted <= _PILE_NS:
        # The winner of the pile may take it unseen.
        return
    is_won = isinstance(phase, Claim) and phase.by == "challenge" and not position.drifts and not position.unjudged
    if is_won and not gap.lying and lasted <= PASSING_NS:
        # So may its winner by a challenge, unless a hand was first.
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
    leaves: Literal["all", "seats"] = "seats" if is_known and not position.unjudged else "all"
    step.set(drift=Drift(gap.id, lasted, gap.until, True, leaves))
    taker = position.player(said) if type(said) is int else None
    if taker is not None:
        _taken_by(step, taker)
    elif said not in (NOTHING, UNKNOWN):
        cards = read_cards(said)
        for place, card in enumerate(cards, start=1):
            # Before the middle of the gap, which is the instant of the card seen now.
            one = Step(step.position, gap.t + (gap.until - gap.t) * place // (2 * len(cards) + 2), gap.id)
            lay(one, card, None)
            step.position = one.position
            step.drafts += one.drafts
    if not is_known and type(said) is not int and not isinstance(step.position.phase, War | LastChance):
        # The number of cards that came and the top one are unknown.
        _anything_came(step)
    if said in (NOTHING, UNKNOWN) or type(said) is int:
        step.announce_turn()


def _judge_empty_table(step: Step, gap: Gap, lasted: int, said: Any) -> None:
    """Judge a gap with an empty table before and after: say that a pile may have passed, and forget the counts.

    People are asked only once a contradiction shows: most such gaps hide nothing.
    """
    position = step.position
    if lasted <= PASSING_NS or said == NOTHING:
        return
    is_answered = is_answer(said, position.players(), gone=True)
    if gap.extra.get(OPENING) and not is_answered:
        # No player was called to lead before the first picture. Only a hand that came all the same tells of a pile.
        step.set(drift=Drift(gap.id, lasted, gap.until, asked=False, leaves="hands"))
        return
    step.rule("remind", "K2", what="passed_pile")
    step.set(drift=Drift(gap.id, lasted, gap.until, is_answered))
    _forget_counts(step)
    if type(said) is int and is_answered:
        step.enter(Turn(said))
    step.announce_turn()


def ask_once(state: State, rulings: list[Ruling], observation: Observation, drift: Drift) -> Decided:
    """Replace questions that the gap may answer by the gap's own, asked with the first of them at the latest."""
    left = [ruling for ruling in rulings if _COVERED.get(ruling.get("ask", "")) not in ruling.rule]
    position = state.position
    if len(left) == len(rulings) or drift.asked or position.drift is None:
        return state, left
    fields = {"ask": ASK, "about": [drift.gap], "lasted": drift.lasted, "passed": True}
    draft = Draft("question", fields, ("K2",), (observation.id,))
    asked = position.replace(drift=position.drift._replace(asked=True))
    return state.at(asked), [*left, to_ruling(draft, drift.gap, observation.t)]


def prove_seats(position: Position, card: Card) -> Position:
    """Compare a seen card's seat with the turn that follows from the cards that people named.

    A card out of turn in the gap moves the believed turn. A standing challenge hides that: its payer may be the next
    seat by either reading.
    """
    drift = position.drift
    if drift is None or drift.leaves != "seats" or card.seat is None or not position.rules.has("K4"):
        return position
    if card.seat != position.turn:
        return position.replace(drift=drift._replace(leaves="all"))
    return position.replace(drift=drift._replace(leaves="hands")) if type(position.phase) is Turn else position


def prove_turn(step: Step, taken: Taken) -> None:
    """Note that a pile and its taker were seen: from here on only the counts are uncertain."""
    position = step.position
    drift = position.drift
    if drift is None or position.pile or taken.seat is None or position.turn != taken.seat or not position.drifts:
        return
    if drift.leaves == "seats":
        _forget_counts(step)
    step.set(drift=drift._replace(leaves="counts"))


def _forget_counts(step: Step) -> None:
    """Make all counts unknown: any stack may hold more or fewer cards than counted."""
    step.set(known=((),) * step.position.seats, unsure=frozenset(step.position.players()))


def _taken_by(step: Step, seat: Player) -> None:
    """Let the seat that people name take the pile: its winner, or another."""
    phase = step.position.phase
    if isinstance(phase, Claim) and phase.by != "unread" and seat in (phase.seat, *phase.sharers):
        pick_up(step)
    else:
        goes_to(step, seat)
        after_pile(step, seat, by_slap=False)
    _forget_counts(step)


def _anything_came(step: Step) -> None:
    """Add any number of cards by any seats; the old pile may have been taken before them."""
    phase = step.position.phase
    if isinstance(phase, Claim) and phase.by == "slap":
        # No card is laid on a won pile before it is picked up (reading 3).
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
