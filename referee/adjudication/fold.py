"""One observation against one state: the next state, and what is decided. The fold that the whole referee is.

Nothing here asks what time it is, or in which order news arrived: the loop hands over observations in event time, each
with those that follow it closely, for a hand's neighbours decide whether it was first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from referee.adjudication.drafting import to_ruling, to_rulings
from referee.adjudication.heats import by_force, heat
from referee.adjudication.observations import (
    MAX_SEATS,
    Card,
    Contest,
    Count,
    Day,
    Draw,
    Foul,
    Join,
    Lift,
    Observation,
    Pause,
    Placed,
    Resume,
    Say,
    Slap,
    Table,
    Taken,
)
from referee.adjudication.rulings import Ruling
from referee.adjudication.state import PendingWin, RunnerUp, State
from referee.rules import war
from referee.rules.cards import is_card
from referee.rules.dealing import opening
from referee.rules.ending import last_chance_over
from referee.rules.house import house_rules
from referee.rules.laying import lay, settle
from referee.rules.locks import somebody_slapped
from referee.rules.penalties import contest, false_slap, foul
from referee.rules.position import Position
from referee.rules.slapping import Verdict, verdict
from referee.rules.stacks import forget, put_under
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
    seats = len(table.seats)
    position = Position(
        house_rules(table.rules),
        table.seats,
        (None,) * seats,
        ((),) * seats,
        strikes=(0,) * seats,
        debts=(0,) * seats,
        locks=(None,) * seats,
        presses=((),) * seats,
    )
    step = Step(position, table.t, table.id)
    opening(
        step,
        table.dealer,
        packs=table.packs,
        jokers=table.jokers,
        counts=table.counts,
        direction=table.direction,
    )
    return State(step.position), to_rulings(step.drafts, table.id, table.t, set())


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
    change = _CHANGES.get(type(observation))
    if change is None:
        return state, []
    step = Step(state.position, observation.t, observation.id)
    change(step, observation)
    return _finish(state, step)


def _lift(step: Step, lift: Any) -> None:
    step.set(held=step.position.held - {lift.seat})


def _pause(step: Step, _: Any) -> None:
    step.set(paused=True)


def _resume(step: Step, _: Any) -> None:
    step.set(paused=False)


def _counted(step: Step, count: Any) -> None:
    """A stack was counted; what was known of it stays where that still fits (K2, S4c)."""
    position = step.position
    if count.seat > position.seats:
        return
    if count.cards < len(position.known[count.seat - 1]):
        forget(step, count.seat, count.cards)
    else:
        counts = list(position.counts)
        counts[count.seat - 1] = count.cards
        step.set(counts=tuple(counts))
    settle(step)


def _placed(step: Step, placed: Any) -> None:
    """Penalty cards that were seen going in get their names, lowest first (F1, P5b)."""
    names = list(placed.cards)
    pile = []
    for laid in step.position.pile:
        if names and laid.state == "burned" and placed.seat in (None, laid.seat):
            laid = laid._replace(card=names.pop(0))
        pile.append(laid)
    step.set(pile=tuple(pile))


def _foul(step: Step, said: Any) -> None:
    if said.seat <= step.position.seats and not step.position.over:
        foul(step, said.seat, said.foul)


def _contest(step: Step, said: Any) -> None:
    if not step.position.over:
        contest(step, said.by, said.against, said.ruling)


def _say(step: Step, said: Any) -> None:
    """A rank was called: for the top card if that seat has just laid it uncalled, else for its next one (N14)."""
    position = step.position
    top = position.pile[-1] if position.pile else None
    if top is not None and top.seat == said.seat and not position.said:
        step.set(said=said.rank)
    else:
        step.set(calling=said.rank)


def _draw(step: Step, drawn: Any) -> None:
    """The wild rank was drawn (P14)."""
    if step.position.rules.has("P14"):
        step.set(wild=drawn.rank)


def _join(step: Step, join: Any) -> None:
    """A bystander's pad joins, without cards, after the last seat (M11)."""
    position = step.position
    if not position.rules.has("M11") or join.seat != position.seats + 1 or join.seat > MAX_SEATS:
        return
    step.set(
        names=(*position.names, f"Seat {join.seat}"),
        counts=(*position.counts, 0),
        known=(*position.known, ()),
        strikes=(*position.strikes, 0),
        debts=(*position.debts, 0),
        locks=(*position.locks, None),
        presses=(*position.presses, ()),
    )


def _day(step: Step, day: Any) -> None:
    """A new calendar day opens a table that three sixes closed (P16b)."""
    if step.position.closed and day.date != step.position.day:
        step.set(closed=False)
        step.rule("remind", "P16b", what="open")
    step.set(day=day.date)


_CHANGES: Mapping[type[Observation], Callable[[Step, Any], None]] = {
    Lift: _lift,
    Pause: _pause,
    Resume: _resume,
    Count: _counted,
    Placed: _placed,
    Foul: _foul,
    Contest: _contest,
    Say: _say,
    Draw: _draw,
    Join: _join,
    Day: _day,
}


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


def _finish(
    state: State, step: Step, used: set[str] | None = None, *, doubt: bool = False, open_: bool = False
) -> Decided:
    """Close a step: its rulings, and a slap's own once its pile is gone (``open_``: not yet claimed)."""
    used = set() if used is None else used
    rulings = to_rulings(step.drafts, step.ref, step.t, used, doubt=doubt)
    pending = state.pending
    if (
        pending is not None
        and not open_
        and (step.position.claim is None or step.position.claim.ref != pending.slap.id)
    ):
        rulings.append(won_ruling(pending))
        state = state._replace(pending=None)
    return state._replace(position=step.position), rulings


def _card(state: State, card: Card, answers: Answers) -> Decided:
    step = Step(state.position, card.t, card.id)
    if card.zone != "pile":
        return _war_card(state, step, card)
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
        swept = _slapped_and_taken(state, step, taken)
        if swept is not None:
            return swept
        _taken_unexplained(step, taken, answers)
    step.announce_turn()
    return _finish(state, step)


def _slapped_and_taken(state: State, step: Step, taken: Taken) -> Decided | None:
    """Slapping and taking in one motion counts as a slap where that is agreed (M14)."""
    position = step.position
    if taken.seat is None or not position.rules.has("M14"):
        return None
    judged = verdict(position, taken.seat, taken.t)
    if judged.outcome != "won":
        return None
    slap = Slap(t=taken.t, id=taken.id, seat=taken.seat, t_error=taken.t_error)
    pending = PendingWin(slap, judged.patterns, judged.cards, (*judged.rule, "M14"), judged.because)
    _claim(step, slap)
    pick_up(step)
    step.announce_turn()
    return _finish(state._replace(pending=pending), step)


def _war_card(state: State, step: Step, card: Card) -> Decided:
    """A card turned up in a War (M4)."""
    if card.seat is None or step.position.war is None:
        return state, []
    winner = war.show(step, card.seat, card.card)
    if winner is None:
        settle(step)
        return _finish(state, step)
    return _win_war(state, step, winner)


def _win_war(state: State, step: Step, seat: int) -> Decided:
    disputed = state.disputed
    assert disputed is not None
    hand = next(hand for hand in state.hands if hand.seat == seat)
    runners = tuple(
        RunnerUp(other.seat, other.t - hand.t, other.t_error, other.id) for other in state.hands if other is not hand
    )
    pending = replace(disputed, slap=hand, decided_by="war", runners_up=runners, t=step.t, rule=(*disputed.rule, "M4"))
    _claim(step, hand)
    settle(step)
    return _finish(state._replace(pending=pending, disputed=None, hands=()), step)


def _claim(step: Step, slap: Slap, split: tuple[int, ...] = ()) -> None:
    """The pile is this hand's; one without cards has slapped in (M1, M10)."""
    in_play = step.position.holds(slap.seat)
    claim_by_slap(step, slap.seat, slap.id, split=split)
    if not in_play:
        step.rule("slapped_in", "M10", because=(slap.id,), seat=slap.seat)


def _taken_unexplained(step: Step, taken: Taken, answers: Answers) -> None:
    """The pile left the table and nobody had won it, or nobody knows yet who did (reading 10)."""
    position = step.position
    cards = [laid.card for laid in position.pile]
    known = answers.get(f"question@{taken.id}")
    tied = position.tied
    step.set(pile=(), tied=(), challenge=None, unread=frozenset())
    if not tied:
        step.rule("question", "K6", ask="mend_pile", about=[taken.id])
    if type(known) is int and 1 <= known <= position.seats:
        put_under(step, known, cards)
        step.rule("pile", "K6", seat=known, count=len(cards))
        step.set(turn=known)
        step.rule("lead", "K6", seat=known)
        return
    step.set(in_limbo=step.position.in_limbo + len(cards))
    if tied and taken.seat in tied:
        step.set(turn=taken.seat)


def _slap(state: State, slap: Slap, upcoming: Iterable[Observation], answers: Answers) -> Decided:
    pressed = _press(state.position, slap)
    if slap.id in state.settled:
        return _settled(state._replace(position=pressed), slap)
    judged = verdict(state.position, slap.seat, slap.t)
    doubt = slap.id in state.doubted
    if slap.id in state.asked:
        draft = Draft("question", {"ask": "slap_or_card", "about": [slap.id]}, ("K9",), ())
        return state._replace(position=pressed), [to_ruling(draft, slap.id, slap.t, set(), doubt=True)]
    if judged.outcome == "won":
        hands = heat(state.position, slap, upcoming)
        return _won(state._replace(position=pressed), slap, judged, hands, answers, doubt=doubt)
    state = state._replace(position=pressed)
    if judged.outcome == "void":
        return _void(state, slap, judged, doubt=doubt)
    if judged.outcome == "question":
        return _ask(state, slap, judged, answers, doubt=doubt)
    return _false(state, slap, judged, doubt=doubt)


def _press(position: Position, slap: Slap) -> Position:
    """The pad is down, whatever the hand is worth (M5); a burned hand comes free when another slaps (F6f)."""
    if slap.seat > position.seats:
        return position
    held = position.held | {slap.seat}
    if position.rules.has("N13"):
        presses = list(position.presses)
        presses[slap.seat - 1] = (*presses[slap.seat - 1], slap.t)[-2 * position.rules.value("N13") :]
        position = position._replace(presses=tuple(presses))
    step = Step(position._replace(held=held), slap.t, slap.id)
    somebody_slapped(step, slap.seat)
    return step.position


def _ask(state: State, slap: Slap, judged: Verdict, answers: Answers, *, doubt: bool) -> Decided:
    """The verdict depends on a card that nobody knows (readings 7 and 10)."""
    fields = {"ask": judged.reason, "about": [*judged.because, slap.id]}
    ruling = to_ruling(Draft("question", fields, judged.rule, ()), slap.id, slap.t, set(), doubt=doubt)
    said = answers.get(ruling.id)
    if judged.reason == "bottom_card" and isinstance(said, str) and is_card(said):
        pile = state.position.pile
        named = state._replace(position=state.position._replace(pile=(pile[0]._replace(card=said), *pile[1:])))
        again = verdict(named.position._replace(held=named.position.held - {slap.seat}), slap.seat, slap.t)
        if again.outcome == "won":
            state, rulings = _won(named, slap, again, (slap,), answers, doubt=doubt)
        else:
            state, rulings = _false(named, slap, again, doubt=doubt)
        return state, [ruling, *rulings]
    return state, [ruling]


def _false(state: State, slap: Slap, judged: Verdict, *, doubt: bool) -> Decided:
    if judged.reason == "late":
        state = _run_up(state, slap)
    step = Step(state.position, slap.t, slap.id)
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
    step = Step(state.position, slap.t, slap.id)
    rule = (*judged.rule, "K9") if doubt else judged.rule
    pending = PendingWin(slap, judged.patterns, judged.cards, rule, judged.because, doubt=doubt)
    split: tuple[int, ...] = ()
    if len(hands) > 1:
        state = state._replace(settled=state.settled | {hand.id for hand in hands[1:]})
        pending = _rule_heat(step, pending, hands)
        decided = _decide_heat(step, pending, hands, answers)
        if decided is None:
            return _finish(state._replace(disputed=pending, hands=hands), step, doubt=doubt)
        pending = decided
        split = tuple(hand.seat for hand in hands) if decided.decided_by == "split" else ()
    if pending.slap is not slap:
        step.rule("slap_void", "N1", "M2", because=(pending.slap.id,), seat=slap.seat, reason="late")
    state, rulings = _finish(state._replace(pending=pending), step, doubt=doubt, open_=True)
    taking = Step(step.position, pending.slap.t, pending.slap.id)
    _claim(taking, pending.slap, split)
    taking.announce_turn()
    state, more = _finish(state, taking, doubt=doubt)
    return state, [*rulings, *more]


def _rule_heat(step: Step, pending: PendingWin, hands: tuple[Slap, ...]) -> PendingWin:
    """Rule the dead heat: nearer than the errors, so nobody was first (K3, reading 2)."""
    first, second = hands[0], hands[1]
    margin, error = second.t - first.t, first.t_error + second.t_error
    ids = tuple(hand.id for hand in hands)
    seats = [hand.seat for hand in hands]
    step.rule("dead_heat", "K3", "M2", because=ids, seats=seats, margin=margin, error=error)
    because = tuple(dict.fromkeys((*ids, *pending.because)))
    return replace(pending, because=because, margin=margin, error=error)


def _decide_heat(step: Step, pending: PendingWin, hands: tuple[Slap, ...], answers: Answers) -> PendingWin | None:
    """Who has the pile after a dead heat: force (M2), a split (M3), War (M4), else people; None while that is open."""
    rules = step.position.rules
    strongest = by_force(hands) if rules.has("M2") else None
    if strongest is not None:
        return _of_heat(pending, strongest, hands, "force", "M2")
    if rules.has("M3"):
        return _of_heat(pending, hands[0], hands, "split", "M3")
    seats = tuple(hand.seat for hand in hands)
    if rules.has("M4"):
        able = war.begin(step, seats)
        winner = next((hand for hand in hands if hand.seat == able), None)
        return None if winner is None else _of_heat(pending, winner, hands, "war", "M4")
    ids = tuple(hand.id for hand in hands)
    step.rule("question", "M2", because=ids, ask="who_was_first", about=list(ids))
    said = answers.get(f"question@{hands[0].id}")
    named = next((hand for hand in hands if hand.seat == said), None)
    if named is not None:
        return _of_heat(pending, named, hands, "people", "M2")
    step.set(tied=seats, claim=None, challenge=None, turn=None, last_chance=None)
    return None


def _of_heat(
    pending: PendingWin,
    winner: Slap,
    hands: tuple[Slap, ...],
    how: Literal["force", "split", "war", "people"],
    row: str,
) -> PendingWin:
    runners = tuple(
        RunnerUp(hand.seat, hand.t - winner.t, hand.t_error, hand.id) for hand in hands if hand is not winner
    )
    return replace(pending, slap=winner, rule=(*pending.rule, row), decided_by=how, runners_up=runners)


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
    return to_ruling(draft, pending.slap.id, pending.at, set(), doubt=pending.doubt)
