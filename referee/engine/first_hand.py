"""The first hand: one valid hand, or a dead heat if hands are closer than their errors, never a guess (K3).

A dead heat is decided by force, a split, War or people (M1 to M4).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from referee.engine.doubt import judge_hand, order_is_open, position_after
from referee.engine.observations import Card, Lift, Observation, Slap, Taken
from referee.engine.rulings import RULING_ORDER, Ruling, in_doubt_of_gap, to_rulings
from referee.engine.state import PendingWin, RunnerUp, State
from referee.rules import war
from referee.rules.card_play import leave, settle
from referee.rules.cards import UNREADABLE
from referee.rules.elimination import end_if_all_is_held
from referee.rules.penalties import false_slap
from referee.rules.phase import Claim, DeadHeat
from referee.rules.pickup import claim_by_slap
from referee.rules.position import Position
from referee.rules.slap_verdict import Verdict
from referee.rules.stacks import put_under
from referee.rules.step import Step

_FORCE_LEAD: Final = 0.1
"""Lead that the greatest force needs to decide a dead heat ("How the rows are to be read", 2)."""
_ROUNDING: Final = 1e-9
"""Tolerance: 0.4 - 0.3 is slightly more than a tenth in binary fractions."""


def dead_heat_hands(position: Position, first: Slap, upcoming: Iterable[Observation]) -> tuple[Slap, ...]:
    """Return all hands closer to the first than the sum of both errors, the first included, in order of time.

    Args:
        position: the position with the slapped pile.
        first: the first valid hand.
        upcoming: observations that follow it in event time.
    """
    hands = [first]
    if not position.rules.has("K3"):
        return (first,)
    lifted: set[int] = set()
    down: set[int] = set()
    cards: list[Card] = []
    for other in upcoming:
        if isinstance(other, Lift):
            lifted.add(other.seat)
            down.discard(other.seat)
        if isinstance(other, Card) and other.zone == "pile":
            cards.append(other)
        hand = as_hand(position, other)
        if hand is None or hand.seat in down or any(hand.seat == earlier.seat for earlier in hands):
            continue
        if hand is other:
            down.add(hand.seat)
        apart = abs(hand.t - first.t)
        is_near = not apart or apart < first.t_error + hand.t_error
        if is_near and _counts(position, hand, hand.seat in lifted, cards):
            hands.append(hand)
        elif position.rules.has("N1") and position.rules.word("N1") == "false":
            position = _after_late_hand(position, hand, len(cards), is_lifted=hand.seat in lifted)
    return tuple(hands)


def _after_late_hand(position: Position, hand: Slap, laid: int, *, is_lifted: bool) -> Position:
    """Return the position with the lock that a hand gets where it comes too late for the heat, and is false (N1, N8).

    ``laid``: the number of cards since that position, which do not shorten the lock.
    """
    held = position.held - {hand.seat} if is_lifted else position.held
    step = Step(position.replace(held=held, phase=DeadHeat(())), hand.t, hand.id)
    if judge_hand(step.position, hand)[0].outcome != "false":
        return position
    false_slap(step, hand.seat)
    lock = step.position.locks[hand.seat - 1]
    if lock is None or lock.until == "slap":
        # Burned hands are free again with the next hand (F6f).
        return position
    locks = list(position.locks)
    locks[hand.seat - 1] = lock._replace(left=lock.left + laid)
    return position.replace(locks=tuple(locks))


def as_hand(position: Position, line: Observation) -> Slap | None:
    """Return a slap, or a take as the slap that it counts as if that is agreed (M14); else None.

    The seat that has won the pile takes it, and does not slap.
    """
    if isinstance(line, Slap):
        return line
    if not isinstance(line, Taken) or line.seat is None or not position.rules.has("M14"):
        return None
    if position.claim is not None and (position.claim.by != "challenge" or line.seat == position.claim.seat):
        return None
    return Slap(t=line.t, id=line.id, seat=line.seat, t_error=line.t_error)


def is_rival_hand(position: Position, slap: Slap, taken: Observation) -> bool:
    """Whether a take counts as another seat's slap on the same pile: the two may be a dead heat (M14, K3)."""
    if not isinstance(taken, Taken) or not position.rules.has("K3"):
        return False
    hand = as_hand(position, taken)
    if hand is None or hand.seat == slap.seat:
        return False
    return all(judge_hand(position, judged)[0].outcome == "won" for judged in (hand, slap))


def _counts(position: Position, hand: Slap, lifted: bool, cards: Iterable[Card]) -> bool:
    """Whether a hand is valid by itself; cards that certainly came before it count as on the pile."""
    if lifted:
        position = position.replace(held=position.held - {hand.seat})
    pile = {laid.ref for laid in position.pile}
    for card in cards:
        if not order_is_open(hand, card):
            position = position_after(position, card)
            if not pile.issubset(laid.ref for laid in position.pile):
                # The card leads: the hand is on the next pile.
                return False
    return judge_hand(position, hand)[0].outcome == "won"


def by_force(hands: Sequence[Slap]) -> Slap | None:
    """Return the hand with the most contact, if every pad reports force and the greatest leads clearly (M2)."""
    if any(hand.force is None for hand in hands):
        return None
    ordered = sorted(hands, key=lambda hand: -(hand.force or 0.0))
    lead = (ordered[0].force or 0.0) - (ordered[1].force or 0.0)
    return ordered[0] if lead > _FORCE_LEAD + _ROUNDING else None


_COUNTED: Final = frozenset(("out", "slapped_in", "won", "lost", "drawn"))
"""Kinds of rulings that depend on the counts of cards."""
_UNPROVED: Final = frozenset(RULING_ORDER) - {"question", "dead_heat", "remind", "corrected", "contested"}
_DRIFTING: Final = {
    "all": _UNPROVED,
    "seats": _UNPROVED,
    "counts": _COUNTED,
    "hands": frozenset[str](),
}
"""The kinds of rulings that depend on what a gap leaves unproved."""

Decided = tuple[State, list[Ruling]]
Answers = Mapping[str, Any]
"""People's answers, by question id."""


def finish(
    state: State,
    step: Step,
    used: Iterable[str] = (),
    *,
    doubt: bool = False,
    open_: bool = False,
    is_card: bool = False,
) -> Decided:
    """Close a step: return its rulings, and a slap's own once its pile is gone (``open_``: not yet claimed).

    ``is_card``: they are the rulings on a card, which may be undone (F9).
    """
    rulings = to_rulings(step.drafts, step.ref, step.t, used, doubt=doubt)
    drift = state.position.drift
    if drift is not None:
        rulings = [in_doubt_of_gap(ruling) if ruling.kind in _DRIFTING[drift.leaves] else ruling for ruling in rulings]
    pending = state.pending
    if (
        pending is not None
        and not open_
        and not (isinstance(step.position.phase, Claim) and step.position.phase.ref == pending.slap.id)
    ):
        rulings.append(won_ruling(pending))
        spent = state.spent | (state.settled & pending.winners) if state.settled else state.spent
        state = state._replace(pending=None, spent=spent)
    if step.undone or step.undone_card:
        rulings = _undoing(state, step, rulings)
    return state.at(step.position, rulings if is_card else None), rulings


_CARD_DID: Final = ("turn", "challenge", "chance", "challenge_moves", "challenge_off", "challenge_won")


def _undoing(state: State, step: Step, rulings: list[Ruling]) -> list[Ruling]:
    """Let the first ruling on a dead card or a player who left replace the rulings that it undoes (F9, E8)."""
    of_card = (ruling for ruling in state.latest if ruling.because[0] == step.undone_card)
    did = (ruling.id for ruling in of_card if ruling.kind in _CARD_DID or ruling.get("ask") == "slap_or_limit")
    undone = (*step.undone, *did)
    at = next((at for at, ruling in enumerate(rulings) if ruling.kind in ("dead_card", "out")), None)
    if at is None or not undone:
        return rulings
    return [*rulings[:at], replace(rulings[at], undoes=undone, supersedes=undone), *rulings[at + 1 :]]


def claim(step: Step, slap: Slap, empty: Container[int], split: tuple[int, ...] = ()) -> None:
    """Give the pile to this hand; a hand without cards (``empty``) has slapped in (M1, M10)."""
    claim_by_slap(step, slap.seat, slap.id, split=split)
    for seat in split or (slap.seat,):
        if seat in empty:
            step.rule("slapped_in", "M10", because=(slap.id,), seat=seat)


def without_cards(position: Position, seats: Iterable[int]) -> frozenset[int]:
    """Return those of these seats that have no card to play and have not just laid their last one."""
    empty = (seat for seat in seats if not position.holds(seat) and not position.just_emptied(seat))
    return frozenset(seat for seat in empty if not position.stays_in(seat))


def run_up(state: State, slap: Slap) -> State:
    """Add a hand that came after the winner's, which counts for the margin (K3)."""
    pending = state.pending
    if pending is None or slap.seat == pending.slap.seat:
        return state
    if any(other.seat == slap.seat for other in pending.runners_up):
        return state
    apart = slap.t - pending.slap.t
    runner = RunnerUp(slap.seat, apart if apart >= 0 else None, slap.t_error, slap.id)
    runners = (*pending.runners_up, runner)
    if pending.decided_by == "time" and runner.margin is None:
        # By the timestamps this hand was first; doubt put the other before it (K9).
        pending = pending._replace(margin=None, error=None, decided_by="doubt")
    elif pending.decided_by == "time" and pending.margin is None:
        pending = pending._replace(margin=runner.margin, error=pending.slap.t_error + runner.error)
    return state._replace(pending=pending._replace(runners_up=runners))


def win(
    state: State,
    slap: Slap,
    judged: Verdict,
    hands: tuple[Slap, ...],
    answers: Answers,
    used: Iterable[str] = (),
    *,
    doubt: bool,
) -> Decided:
    """Rule on a valid first hand, alone or in a dead heat (M1, M2, K3); ``used``: ids already given by this slap."""
    step = Step(state.position, slap.t, slap.id)
    rule = (*judged.rule, "K9") if doubt else judged.rule
    by_people = "K6" in judged.rule
    how: Literal["time", "people"] = "people" if by_people else "time"
    empty = without_cards(state.position, (hand.seat for hand in hands))
    pending = PendingWin(slap, judged.patterns, judged.cards, rule, judged.because, how, doubt=doubt, empty=empty)
    split: tuple[int, ...] = ()
    if len(hands) > 1:
        state = state._replace(settled=state.settled | {hand.id for hand in hands[1:]})
        # Closer than the errors, so no hand was first (reading 2).
        margin, error = abs(hands[1].t - slap.t), slap.t_error + hands[1].t_error
        ids = tuple(hand.id for hand in hands)
        seats = [hand.seat for hand in hands]
        step.rule("dead_heat", "K3", "M2", because=ids, seats=seats, margin=margin, error=error)
        because = tuple(dict.fromkeys((*ids, *pending.because)))
        pending = pending._replace(because=because, margin=margin, error=error)
        decided = _decide_heat(step, pending, hands, answers)
        if decided is None:
            return _left_open(*finish(state._replace(disputed=pending, hands=hands), step, used, doubt=doubt))
        pending = decided
        split = tuple(hand.seat for hand in hands) if decided.decided_by == "split" else ()
    if pending.slap is not slap:
        step.rule("slap_void", "N1", "M2", because=(pending.slap.id,), seat=slap.seat, reason="late")
    state, rulings = finish(state._replace(pending=pending), step, used, doubt=doubt, open_=True)
    taking = Step(step.position, pending.slap.t, pending.slap.id)
    claim(taking, pending.slap, pending.empty, split)
    if 0 in taking.position.counts:
        # A challenger without cards is out once its challenge is slapped away (C7).
        settle(taking)
    else:
        taking.announce_turn()
    state, more = finish(state, taking, doubt=doubt)
    return state, [*rulings, *more]


def _left_open(state: State, rulings: list[Ruling]) -> Decided:
    """Remember the question by which people are asked who was first."""
    asked = next((ruling.id for ruling in rulings if ruling.get("ask") == "who_was_first"), "")
    if asked and state.disputed is not None:
        state = state._replace(disputed=state.disputed._replace(asked=asked))
    return state, rulings


def _decide_heat(step: Step, pending: PendingWin, hands: tuple[Slap, ...], answers: Answers) -> PendingWin | None:
    """Decide a dead heat: by force (M2), a split (M3), War (M4), else people; return None while it is open."""
    rules = step.position.rules
    strongest = by_force(hands) if rules.has("M2") else None
    if strongest is not None:
        return _of_heat(pending, strongest, hands, "force", "M2")
    if rules.has("M3"):
        return _of_heat(pending, hands[0], hands, "split", "M3")
    seats = tuple(hand.seat for hand in hands)
    if rules.has("M4"):
        able = war.begin(step, seats)
        _name_every_hand(step, hands)
        winner = next((hand for hand in hands if hand.seat == able), None)
        if winner is not None:
            return _of_heat(pending, winner, hands, "war", "M4")
        if step.position.war is not None:
            return None
        # No seat can match: people say who was first.
        named = _named(hands, answers, hands[0].id)
        return _of_heat(pending, named, hands, "people", "M4") if named is not None else None
    ids = tuple(hand.id for hand in hands)
    step.rule("question", "M2", because=ids, ask="who_was_first", about=list(ids))
    named = _named(hands, answers, hands[0].id)
    if named is not None:
        return _of_heat(pending, named, hands, "people", "M2")
    step.enter(DeadHeat(seats))
    return None


def _name_every_hand(step: Step, hands: Iterable[Slap]) -> None:
    """Let people, when asked who was first after a War, name any hand of the heat whose player is still there."""
    about = [hand.id for hand in hands if step.position.player(hand.seat) is not None]
    step.drafts[:] = [
        replace(draft, fields={**draft.fields, "about": about})
        if draft.kind == "question" and draft.fields["ask"] == "who_was_first"
        else draft
        for draft in step.drafts
    ]


def _named(hands: Iterable[Slap], answers: Answers, cause: str) -> Slap | None:
    """Return the hand that people named in answer to this cause's first or second question, else None.

    It is the second if the first asked about an unreadable card.
    """
    said = [answers.get(f"question@{cause}{number}") for number in ("", "/2")]
    return next((hand for hand in hands if hand.seat in said), None)


def _of_heat(
    pending: PendingWin,
    winner: Slap,
    hands: tuple[Slap, ...],
    how: Literal["force", "split", "war", "people", "left"],
    row: str,
) -> PendingWin:
    runners = tuple(
        RunnerUp(hand.seat, hand.t - winner.t if hand.t >= winner.t else None, hand.t_error, hand.id)
        for hand in hands
        if hand is not winner
    )
    won = pending._replace(slap=winner, rule=(*pending.rule, row), decided_by=how, runners_up=runners)
    # By the timestamps another hand was first, so no margin is given.
    return won if all(runner.margin is not None for runner in runners) else won._replace(margin=None, error=None)


def won_ruling(pending: PendingWin) -> Ruling:
    """Return the ruling of a slap that won, with all counted hands known so far."""
    fields = {
        "seat": pending.slap.seat,
        "patterns": list(pending.patterns),
        "cards": list(pending.cards),
        "margin": pending.margin,
        "error": pending.error,
        "runners_up": [{"seat": runner.seat, "margin": runner.margin} for runner in pending.runners_up],
        "decided_by": pending.decided_by,
    }
    refs = (pending.slap.id, *pending.because, *(runner.ref for runner in pending.runners_up))
    rule = (*pending.rule, "K3") if pending.runners_up else pending.rule
    return Ruling(
        "slap_won",
        f"slap_won@{pending.slap.id}",
        pending.at,
        tuple(dict.fromkeys(refs)),
        tuple(dict.fromkeys(rule)),
        fields,
        doubt=pending.doubt,
        place=pending.place,
    )


def war_card(state: State, step: Step, card: Card, face: str, answers: Answers) -> Decided:
    """Rule on a card turned up in a War (M4), read as ``face``."""
    if card.seat is None or step.position.war is None:
        return state, []
    if face != card.card and card.card == UNREADABLE:
        step.rule("question", "M4", "K2", ask="unreadable_card", about=[card.id])
    winner = war.show(step, card.seat, face)
    _name_every_hand(step, state.hands)
    decided_by: Literal["war", "people"] = "war"
    if winner is None and isinstance(step.position.phase, DeadHeat):
        # No seat is left that can match: people decide.
        hand = _named(state.hands, answers, card.id)
        winner, decided_by = (hand.seat if hand is not None else None), "people"
    if winner is None:
        settle(step)
        return _left_open(*finish(state, step))
    return _settle_dispute(state, step, winner, decided_by, "M4")


def _settle_dispute(state: State, step: Step, winner: int, how: Literal["war", "people", "left"], row: str) -> Decided:
    """Let the hand of this seat win an open dead heat or a War, at the instant of ``step``."""
    assert state.disputed is not None
    if how == "left" and state.disputed.asked:
        step.undone += (state.disputed.asked,)
    hand = next(hand for hand in state.hands if hand.seat == winner)
    pending = _of_heat(state.disputed, hand, state.hands, how, row)._replace(t=step.t)
    claim(step, hand, pending.empty)
    settle(step)
    return finish(state._replace(pending=pending, disputed=None, hands=()), step)


def left(state: State, step: Step, seat: int) -> Decided:
    """Remove a player (E8); the only hand left in a dead heat or a War wins it."""
    tied = state.disputed is not None and any(hand.seat == seat for hand in state.hands)
    seats = {hand.seat for hand in state.hands} if tied else set()
    still = [other for other in seats if other != seat and step.position.player(other) is not None]
    is_last = len(still) == 1 and step.position.unsure <= {seat, *still}
    winner = leave(step, seat, is_counted=is_last)
    if tied:
        _name_every_hand(step, state.hands)
    if winner is not None and tied:
        return _settle_dispute(state, step, winner, "left", "E8")
    if is_last and not step.position.over and step.position.in_limbo:
        return _settle_taken(state, step, still[0])
    return finish(state, step)


def _settle_taken(state: State, step: Step, winner: int) -> Decided:
    """Give the pile of an open dead heat, which has left the table, to this seat."""
    player = step.position.player(winner)
    assert player is not None and state.disputed is not None
    if state.disputed.asked:
        step.undone += (state.disputed.asked,)
    hand = next(hand for hand in state.hands if hand.seat == winner)
    pending = _of_heat(state.disputed, hand, state.hands, "left", "E8")._replace(t=step.t)
    cards = step.position.in_limbo
    step.set(in_limbo=0, unsure=frozenset())
    put_under(step, player, (UNREADABLE,) * cards)
    step.rule("pile", "E8", because=(hand.id,), seat=player, count=cards)
    end_if_all_is_held(step, player, by_slap=True)
    settle(step)
    return finish(state._replace(pending=pending, disputed=None, hands=()), step)
