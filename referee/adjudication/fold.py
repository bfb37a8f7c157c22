"""One observation against one state: the next state, and what is decided. The fold that the whole referee is.

Nothing here asks what time it is, or in which order news arrived: the loop hands over observations in event time, each
with those that follow it closely, for a hand's neighbours decide whether it was first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from referee.adjudication.drafting import to_ruling, to_rulings
from referee.adjudication.heats import by_force, heat
from referee.adjudication.observations import (
    Card,
    Count,
    Lift,
    Observation,
    Pause,
    Placed,
    Resume,
    Slap,
    Table,
    Taken,
)
from referee.adjudication.rulings import Ruling
from referee.adjudication.state import PendingWin, RunnerUp, State
from referee.rules.dealing import opening
from referee.rules.ending import last_chance_over
from referee.rules.house import house_rules
from referee.rules.laying import lay, settle_empty_seats
from referee.rules.penalties import false_slap
from referee.rules.slapping import Verdict, verdict
from referee.rules.step import Draft, Step
from referee.rules.taking import claim_by_slap, pick_up

Decided = tuple[State, list[Ruling]]
Answers = Mapping[str, Any]
"""What people said, by the id of the question."""


def open_table(table: Table) -> Decided:
    """The first line: deal, and say who leads (S1, S4a, S5).

    Raises:
        RulesError: the house rules, the dealer or the counts cannot be used.
    """
    position = opening(
        table.seats,
        table.dealer,
        house_rules(table.rules),
        packs=table.packs,
        jokers=table.jokers,
        counts=table.counts,
        direction=table.direction,
    )
    drafts = [Draft(kind, {"seat": position.turn}, ("S5",), ()) for kind in ("lead", "turn")]
    return State(position), to_rulings(drafts, table.id, table.t, set())


def fold(state: State, observation: Observation, upcoming: Iterable[Observation], answers: Answers) -> Decided:
    """Judge one observation.

    Args:
        state: what came of everything before it.
        observation: the next in event time.
        upcoming: those that follow within the errors that instants may have.
        answers: what people said, by question.
    """
    if isinstance(observation, Slap):
        return _slap(state, observation, upcoming, answers)
    if isinstance(observation, Card):
        return _card(state, observation, answers)
    if isinstance(observation, Taken):
        return _taken(state, observation, answers)
    position = state.position
    if isinstance(observation, Lift):
        return state._replace(position=position._replace(held=position.held - {observation.seat})), []
    if isinstance(observation, Pause | Resume):
        return state._replace(position=position._replace(paused=isinstance(observation, Pause))), []
    if isinstance(observation, Count):
        return _count(state, observation)
    if isinstance(observation, Placed):
        return state._replace(position=_name_burned(state, observation)), []
    return state, []


def last_tick(state: State, t: int) -> Decided:
    """The end of the log: a pile that was won is picked up by then (reading 3)."""
    if state.position.claim is None:
        return state, []
    step = Step(state.position, t, state.position.claim.ref)
    pick_up(step)
    step.announce_turn()
    return _finish(state, step, used={f"slap_won@{step.ref}", f"challenge_won@{step.ref}", f"turn@{step.ref}"})


def last_chance_ends(state: State) -> Decided:
    """Nobody slapped in within two seconds after the last of the three cards (E2)."""
    chance = state.position.last_chance
    assert chance is not None and chance.ends_at is not None
    step = Step(state.position, chance.ends_at, chance.ref)
    last_chance_over(step, taken=False)
    return _finish(state, step, used=set())


def _finish(state: State, step: Step, used: set[str] | None = None, *, doubt: bool = False) -> Decided:
    """Close a step: its rulings, and a slap's own once its pile is gone."""
    used = set() if used is None else used
    rulings = to_rulings(step.drafts, step.ref, step.t, used, doubt=doubt)
    pending = state.pending
    if pending is not None and (step.position.claim is None or step.position.claim.ref != pending.slap.id):
        rulings.append(won_ruling(pending))
        state = state._replace(pending=None)
    return state._replace(position=step.position), rulings


def _card(state: State, card: Card, answers: Answers) -> Decided:
    if card.zone != "pile":
        return state, []
    step = Step(state.position, card.t, card.id)
    question = f"question@{card.id}"
    face, seat = card.card, card.seat
    said = answers.get(question)
    if isinstance(said, str) and face == "??":
        step.rule("question", "K2", ask="unreadable_card", about=[card.id])
        face = said
    elif type(said) is int and 1 <= said <= state.position.seats:
        seat = said
    lay(step, face, seat)
    return _finish(state, step)


def _taken(state: State, taken: Taken, answers: Answers) -> Decided:
    position = state.position
    step = Step(position, taken.t, taken.id)
    if position.over:
        return state, []
    if position.last_chance is not None:
        last_chance_over(step, taken=True)
    elif position.claim is not None:
        winner = position.claim.seat
        pick_up(step)
        if taken.seat not in (None, winner):
            step.rule("question", "K6", ask="mend_pile", about=[taken.id])
    elif position.pile:
        _taken_unexplained(step, taken, answers)
    step.announce_turn()
    return _finish(state, step)


def _taken_unexplained(step: Step, taken: Taken, answers: Answers) -> None:
    """The pile left the table and nobody had won it, or nobody knows yet who did (reading 10)."""
    position = step.position
    count = len(position.pile)
    known = answers.get(f"question@{taken.id}")
    tied = position.tied
    step.set(pile=(), tied=(), challenge=None, unread=frozenset())
    if not tied:
        step.rule("question", "K6", ask="mend_pile", about=[taken.id])
    if type(known) is int and 1 <= known <= position.seats:
        step.add_cards(known, count)
        step.rule("pile", "K6", seat=known, count=count)
        step.set(turn=known)
        step.rule("lead", "K6", seat=known)
        return
    step.set(in_limbo=step.position.in_limbo + count)
    if tied and taken.seat in tied:
        step.set(turn=taken.seat)


def _count(state: State, count: Count) -> Decided:
    position = state.position
    if count.seat > position.seats:
        return state, []
    counts = list(position.counts)
    counts[count.seat - 1] = count.cards
    step = Step(position, count.t, count.id)
    step.set(counts=tuple(counts))
    settle_empty_seats(step)
    return _finish(state, step)


def _name_burned(state: State, placed: Placed) -> Any:
    """Penalty cards that were seen going in get their names, lowest first."""
    names = list(placed.cards)
    pile = []
    for laid in state.position.pile:
        if names and laid.state == "burned" and laid.card == "??" and placed.seat in (None, laid.seat):
            laid = laid._replace(card=names.pop(0))
        pile.append(laid)
    return state.position._replace(pile=tuple(pile))


def _slap(state: State, slap: Slap, upcoming: Iterable[Observation], answers: Answers) -> Decided:
    held = state.position._replace(held=state.position.held | {slap.seat})
    if slap.id in state.settled:
        return _settled(state._replace(position=held), slap)
    judged = verdict(state.position, slap.seat, slap.t)
    doubt = slap.id in state.doubted
    if slap.id in state.asked:
        draft = Draft("question", {"ask": "slap_or_card", "about": [slap.id]}, ("K9",), ())
        return state._replace(position=held), [to_ruling(draft, slap.id, slap.t, set(), doubt=True)]
    if judged.outcome == "won":
        return _won(state, slap, judged, heat(state.position, slap, upcoming), answers, doubt=doubt)
    state = state._replace(position=held)
    if judged.outcome == "void":
        return _void(state, slap, judged, doubt=doubt)
    if judged.outcome == "question":
        draft = Draft("question", {"ask": judged.reason, "about": [*judged.because, slap.id]}, judged.rule, ())
        return state, [to_ruling(draft, slap.id, slap.t, set(), doubt=doubt)]
    step = Step(held, slap.t, slap.id)
    rule = (*judged.rule, "K9") if doubt else judged.rule
    step.rule("slap_false", *rule, because=judged.because, seat=slap.seat, reason=judged.reason)
    false_slap(step, slap.seat)
    return _finish(state, step, doubt=doubt)


def _void(state: State, slap: Slap, judged: Verdict, *, doubt: bool) -> Decided:
    rule = (*judged.rule, "K9") if doubt else judged.rule
    draft = Draft("slap_void", {"seat": slap.seat, "reason": judged.reason}, rule, judged.because)
    if judged.reason == "late":
        state = _run_up(state, slap)
    return state, [to_ruling(draft, slap.id, slap.t, set(), doubt=doubt)]


def _run_up(state: State, slap: Slap) -> State:
    """A hand that came after the winner's counts for the margin (K3)."""
    pending = state.pending
    if pending is None or slap.seat == pending.slap.seat:
        return state
    if any(other.seat == slap.seat for other in pending.runners_up):
        return state
    runner = RunnerUp(slap.seat, slap.t - pending.slap.t, slap.t_error, slap.id)
    runners = (*pending.runners_up, runner)
    if pending.margin is None:
        pending = replace(pending, margin=runner.margin, error=pending.slap.t_error + runner.error)
    return state._replace(pending=replace(pending, runners_up=runners))


def _settled(state: State, slap: Slap) -> Decided:
    """A hand of a dead heat: if that was decided for another, this one was beaten; else people must say."""
    pending = state.pending
    if pending is None or pending.slap.id == slap.id:
        return state, []
    draft = Draft("slap_void", {"seat": slap.seat, "reason": "late"}, ("N1", "M2"), (pending.slap.id,))
    return state, [to_ruling(draft, slap.id, slap.t, set())]


def _won(
    state: State, slap: Slap, judged: Verdict, hands: tuple[Slap, ...], answers: Answers, *, doubt: bool
) -> Decided:
    """A valid first hand, alone or in a dead heat (M1, M2, K3)."""
    step = Step(state.position._replace(held=state.position.held | {slap.seat}), slap.t, slap.id)
    rule = (*judged.rule, "K9") if doubt else judged.rule
    pending = PendingWin(slap, judged.patterns, judged.cards, rule, judged.because, doubt=doubt)
    if len(hands) > 1:
        state = state._replace(settled=state.settled | {hand.id for hand in hands[1:]})
        decided = _decide_heat(step, pending, hands, answers)
        if decided is None:
            step.set(
                tied=tuple(hand.seat for hand in hands),
                claim=None,
                challenge=None,
                turn=None,
                last_chance=None,
            )
            return _finish(state, step, doubt=doubt)
        pending = decided
    winner = pending.slap
    in_play = step.position.holds(winner.seat)
    claim_by_slap(step, winner.seat, winner.id)
    if winner is not slap:
        step.rule("slap_void", "N1", "M2", because=(winner.id,), seat=slap.seat, reason="late")
    if not in_play:
        step.rule("slapped_in", "M10", because=(winner.id,), seat=winner.seat)
    step.announce_turn()
    return _finish(state._replace(pending=pending), step, doubt=doubt)


def _decide_heat(step: Step, pending: PendingWin, hands: tuple[Slap, ...], answers: Answers) -> PendingWin | None:
    """Rule the dead heat and say who won it, or ask (M2, reading 2)."""
    first, second = hands[0], hands[1]
    margin, error = second.t - first.t, first.t_error + second.t_error
    ids = tuple(hand.id for hand in hands)
    step.rule("dead_heat", "K3", "M2", because=ids, seats=[hand.seat for hand in hands], margin=margin, error=error)
    winner = by_force(hands)
    how: Literal["force", "people"] = "force"
    if winner is None:
        step.rule("question", "M2", because=ids, ask="who_was_first", about=list(ids))
        said = answers.get(f"question@{first.id}")
        winner, how = next((hand for hand in hands if hand.seat == said), None), "people"
    if winner is None:
        return None
    runners = tuple(
        RunnerUp(hand.seat, hand.t - winner.t, hand.t_error, hand.id) for hand in hands if hand is not winner
    )
    return replace(
        pending,
        slap=winner,
        rule=(*pending.rule, "M2"),
        because=tuple(dict.fromkeys((*ids, *pending.because))),
        decided_by=how,
        margin=margin,
        error=error,
        runners_up=runners,
    )


def won_ruling(pending: PendingWin) -> Ruling:
    """The ruling of a slap that won, with all hands known so far that counted."""
    fields = {
        "seat": pending.slap.seat,
        "patterns": list(pending.patterns),
        "cards": list(pending.cards),
        "margin": pending.margin,
        "error": pending.error,
        "runners_up": [{"seat": runner.seat, "margin": runner.margin} for runner in pending.runners_up],
        "decided_by": pending.decided_by,
    }
    because = (*pending.because, *(runner.ref for runner in pending.runners_up))
    rule = (*pending.rule, "K3") if pending.runners_up else pending.rule
    draft = Draft("slap_won", fields, tuple(dict.fromkeys(rule)), because)
    return to_ruling(draft, pending.slap.id, pending.slap.t, set(), doubt=pending.doubt)
