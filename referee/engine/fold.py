"""The fold at the core of the referee: one state and one observation give the next state and its rulings.

Nothing here depends on the clock or the order of arrival: the loop passes observations in event time, each with those
that follow closely, because a hand's neighbours decide whether it was first.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any, Final

from referee.engine.contradiction import as_answered, lay_as, lay_seen, read_answers
from referee.engine.doubt import better_order, drawn_question, judge_hand, limit_question, order_is_open, position_after
from referee.engine.first_hand import (
    Answers,
    Decided,
    as_hand,
    dead_heat_hands,
    finish,
    is_rival_hand,
    left,
    run_up,
    war_card,
    win,
)
from referee.engine.gap import ask_once, judge_gap, prove_seats, prove_turn
from referee.engine.observations import Card, Gap, Leave, Observation, Slap, Table, Taken
from referee.engine.overrule import OVERRULED, apply_overrule
from referee.engine.position_changes import CHANGES
from referee.engine.rulings import Ruling, in_doubt_of_gap, to_ruling, to_rulings
from referee.engine.state import State
from referee.engine.unclaimed_piles import picked_up, unexplained
from referee.rules.card_play import lay, settle
from referee.rules.cards import NUMBER_RANKS, UNREADABLE, is_card
from referee.rules.deal import opening
from referee.rules.elimination import announce_out, end_by_most_cards, last_chance_over
from referee.rules.elimination import win as win_game
from referee.rules.locks import release_all_barred, somebody_slapped
from referee.rules.penalties import false_slap
from referee.rules.phase import Claim, DeadHeat, LastChance, Over, War
from referee.rules.pickup import hold_provisionally, pick_up, remember_pickup
from referee.rules.position import Position
from referee.rules.slap_verdict import Verdict
from referee.rules.stacks import may_be_there
from referee.rules.step import Draft, Step

_NO_ANSWERS: Final[Answers] = MappingProxyType({})


def open_table(table: Table, answers: Answers = _NO_ANSWERS) -> Decided:
    """Open the table: deal, and announce the lead (S1, S4a, S5); set the wild rank if people have named it (P14).

    Raises:
        RulesError: the house rules, the dealer or the counts cannot be used.
    """
    seats = len(table.seats)
    position = Position(
        table.house,
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
    drawn = answers.get(f"question@{table.id}")
    if isinstance(drawn, str) and drawn in NUMBER_RANKS and step.position.rules.has("P14"):
        step.set(wild=drawn)
    return State(step.position), to_rulings(step.drafts, table.id, table.t)


def fold(state: State, observation: Observation, upcoming: Iterable[Observation], answers: Answers) -> Decided:
    """Judge one observation.

    Args:
        state: the state after everything before it.
        observation: the next in event time.
        upcoming: those that follow within the largest errors.
        answers: people's answers, by question.
    """
    if isinstance(observation, Card):
        decided = _card(state, observation, answers)
    elif isinstance(observation, Slap):
        decided = _slap(state, observation, upcoming, answers)
    elif isinstance(observation, Taken):
        decided = _taken(state, observation, upcoming, answers)
    elif isinstance(observation, Leave):
        if not state.position.rules.has("E8"):
            return state, []
        decided = left(state, Step(state.position, observation.t, observation.id), observation.seat)
    elif isinstance(observation, Gap):
        step = Step(state.position, observation.t, observation.id)
        judge_gap(step, observation, answers)
        after, rulings = finish(state, step)
        # Its instant within the gap is unknown, whatever people say about it.
        decided = (
            after,
            [ruling if ruling.kind in ("question", "remind") else in_doubt_of_gap(ruling) for ruling in rulings],
        )
    else:
        change = CHANGES.get(type(observation))
        if change is None:
            return state, []
        step = Step(state.position, observation.t, observation.id)
        change(step, observation)
        decided = finish(state, step)
    drift = state.position.drift
    if drift is not None and state.position.drifts:
        decided = ask_once(*decided, observation, drift)
    return _winner_named(*decided, answers) if answers and isinstance(decided[0].position.phase, Over) else decided


def _winner_named(state: State, rulings: list[Ruling], answers: Answers) -> Decided:
    """Let people name the seat with the most cards of a game that is over if the counts are uncertain (P16, E7)."""
    phase = state.position.phase
    assert isinstance(phase, Over)
    asked = next((ruling for ruling in rulings if ruling.get("ask") == "recount" and phase.owed in ruling.rule), None)
    said = answers.get(asked.id) if asked is not None else None
    winner = state.position.player(said) if type(said) is int else None
    if asked is None or winner is None:
        return state, rulings
    step = Step(state.position, asked.t, asked.because[0])
    win_game(step, winner, phase.owed)
    state, more = finish(state, step)
    return state, [*rulings, *more]


def last_tick(state: State, t: int) -> Decided:
    """End the log: a pile won by a slap counts as picked up (reading 3).

    A pile won by a challenge stays provisional until a pick-up is seen (reading 4).
    """
    if state.position.claim is None or state.position.claim.by != "slap":
        return state, []
    step = Step(state.position, t, state.position.claim.ref)
    pick_up(step)
    step.announce_turn()
    return finish(state, step, used={f"{kind}@{step.ref}" for kind in ("slap_won", "turn", "out")})


def end_by_time(state: State, t: int, answers: Answers) -> Decided:
    """End the game by the clock at ``t`` (ns): no slap-in came (E2), or time is up (E7)."""
    phase = state.position.phase
    if isinstance(phase, LastChance) and phase.ends_at == t:
        step = Step(state.position, t, phase.ref)
        last_chance_over(step, taken=False)
        if not step.position.over:
            settle(step)
        # The line that ended the turning may have ruled a player out, too.
        return finish(state, step, used={f"out@{step.ref}"})
    step = Step(state.position, t, state.position.table)
    if state.position.claim is not None and state.position.claim.by != "unread":
        # A pile won before time was up counts; the last chance after it (E2) comes too late.
        pick_up(step)
        step.drafts = [draft for draft in step.drafts if draft.kind != "remind"]
    if not step.position.over:
        end_by_most_cards(step, "E7")
    # The table's line has already announced lead and turn, and perhaps asked for the wild rank.
    state, rulings = finish(state, step, used={f"{kind}@{step.ref}" for kind in ("lead", "turn", "question")})
    return _winner_named(state, rulings, answers)


def _card(state: State, card: Card, answers: Answers) -> Decided:
    if state.position.drift is not None:
        if _was_named(state.position, card):
            return state, []
        state = state.at(prove_seats(state.position, card))
    step = Step(state.position, card.t, card.id, card.t_error)
    war = state.position.phase
    if card.zone != "pile" or (type(war) is War and card.seat in war.seats):
        # During War, a card of a tied seat is a War card wherever it lies (M4, reading 18).
        named = answers.get(f"question@{card.id}")
        face = named if card.card == UNREADABLE and isinstance(named, str) and is_card(named) else card.card
        return war_card(state, step, card, face, answers)
    if answers:
        lay_as(step, card, read_answers(state.position, card, answers), answers)
        if step.side:
            return finish(state, step, {drawn_question(card.id)}, is_card=True)
    elif card.candidates:
        lay_seen(step, card, card.card, card.seat)
    else:
        lay(step, card.card, card.seat)
    if not step.doubt or step.position.rules.word("K9") != "question":
        return finish(state, step, doubt=step.doubt, is_card=True)
    # It counts as a separate draw until people say whether it was one (F9).
    about = {"ask": "slap_or_limit", "about": [card.id, state.position.pile[-1].ref]}
    question = Ruling("question", drawn_question(card.id), card.t, (card.id,), ("K9", "F9"), about, (), True)
    state, rulings = finish(state, step, {question.id}, doubt=True)
    rulings = [question, *rulings]
    return state.at(state.position, rulings), rulings


def _was_named(position: Position, card: Card) -> bool:
    """Whether people have already named this card as one that came unseen; moving the pile has only revealed it."""
    drift = position.drift
    return (
        drift is not None
        and any(laid.card == card.card and laid.ref == drift.gap for laid in position.pile)
        and not may_be_there(position, card.card)
    )


def _taken(state: State, taken: Taken, upcoming: Iterable[Observation], answers: Answers) -> Decided:
    if taken.id in state.settled:
        state = _past(state, taken)
    position = state.position
    step = Step(position, taken.t, taken.id)
    if position.over:
        return state, []
    phase = position.phase
    taker = position.player(taken.seat)
    if isinstance(phase, LastChance):
        last_chance_over(step, taken=True)
    elif isinstance(phase, Claim) and (phase.by == "unread" or _may_be_anothers(position, taker)):
        hold_provisionally(step, taker or phase.seat)
    elif isinstance(phase, Claim):
        if phase.by == "challenge" and taker not in (None, phase.seat):
            swept = _slapped_and_taken(state, taken, upcoming, answers)
            if swept is not None:
                return swept
        picked_up(step, taken, answers)
        entitled = taker in (None, phase.seat, *phase.sharers)
        remember_pickup(step, taker or phase.seat, taken.id, won_by=phase.ref if entitled else "")
    elif isinstance(phase, DeadHeat) and taker in phase.seats:
        hold_provisionally(step, taker)
    elif position.pile:
        swept = _slapped_and_taken(state, taken, upcoming, answers)
        if swept is not None:
            return swept
        unexplained(step, taken, answers)
        if taker is not None and not isinstance(phase, DeadHeat):
            remember_pickup(step, taker, taken.id)
    elif position.drifts:
        # The cards taken here were never seen.
        unexplained(step, taken, answers)
    prove_turn(step, taken)
    # A player who has just laid a last card is in, and may slap, until the pile is taken (E1, N8).
    if 0 in step.position.counts:
        announce_out(step)
    release_all_barred(step)
    step.announce_turn()
    return finish(state, step)


def _may_be_anothers(position: Position, taker: int | None) -> bool:
    """Whether a pile won by a challenge may belong to another taker, by a hand that waits for a gap's answer."""
    claim = position.claim
    return claim is not None and claim.by == "challenge" and position.unseen and taker not in (None, claim.seat)


def _slapped_and_taken(state: State, taken: Taken, upcoming: Iterable[Observation], answers: Answers) -> Decided | None:
    """Judge slapping and taking in one motion as a slap if that is agreed (M14), in a dead heat with others too."""
    slap = as_hand(state.position, taken)
    if slap is None:
        return None
    judged, sides = judge_hand(state.position, slap)
    if judged.outcome != "won":
        return None
    near = tuple(upcoming)
    hands = _heat(state, slap, near, answers)
    doubt = bool(sides) or _heat_is_in_doubt(state, hands, near, answers)
    state = state._replace(doubted=state.doubted - {hand.id for hand in hands})
    rule = (*judged.rule, "M14")
    state, rulings = win(state, slap, judged._replace(rule=rule), hands, answers, doubt=doubt)
    # A later hand of the heat may have won (M2, M4): nothing happens to its pile before it came down.
    won = state.pending
    step = Step(state.position, taken.t if won is None else max(taken.t, won.slap.t), taken.id)
    if isinstance(step.position.phase, DeadHeat):
        hold_provisionally(step, slap.seat)
    elif step.position.claim is not None:
        picked_up(step, taken, answers)
    step.announce_turn()
    state, more = finish(state, step, used={ruling.id for ruling in rulings})
    return state, [*rulings, *more]


def _slap(state: State, slap: Slap, upcoming: Iterable[Observation], answers: Answers) -> Decided:
    pressed = _press(state.position, slap)
    if slap.id in state.settled:
        # A hand of a dead heat: beaten if the heat was decided for another hand; otherwise people must say.
        has_won, pending = slap.id in state.spent, state.pending
        state = _past(state, slap)._replace(position=pressed)
        if has_won or pending is None or pending.slap.id == slap.id or pending.decided_by == "split":
            return state, []
        draft = Draft("slap_void", {"seat": slap.seat, "reason": "late"}, ("N1", "M2"), (pending.slap.id,))
        return state, [to_ruling(draft, slap.id, slap.t)]
    judged, sides = judge_hand(state.position, slap)
    outcome = answers.get(OVERRULED + slap.id)
    if outcome in ("won", "false") and not _can_be_overruled(state.position, slap.seat, outcome):
        # People cannot award a pile that is not there; a question tells them so.
        state, rulings = _slap(state, slap, upcoming, {k: v for k, v in answers.items() if k != OVERRULED + slap.id})
        draft = Draft("question", {"ask": "mend_amendment", "about": [slap.id]}, ("K6",), ())
        return state, [*rulings, to_ruling(draft, slap.id, slap.t, {ruling.id for ruling in rulings})]
    if outcome is not None and state.position.player(slap.seat) is not None:
        judged, sides = apply_overrule(judged, outcome), []
    doubt = slap.id in state.doubted
    if doubt:
        state = state._replace(doubted=state.doubted - {slap.id})
    if pressed.drifts:
        doubt, judged = True, judged._replace(rule=tuple(dict.fromkeys((*judged.rule, "K2"))))
    if slap.id in state.asked:
        draft = Draft("question", {"ask": "slap_or_card", "about": [slap.id]}, ("K9",), ())
        return state.at(pressed), [to_ruling(draft, slap.id, slap.t, doubt=True)]
    if sides and state.position.rules.word("K9") == "question":
        said = answers.get(limit_question(slap.id))
        if said not in ("before", "after"):
            draft = Draft("question", {"ask": "slap_or_limit", "about": [slap.id]}, ("K9",), ())
            used = {f"question@{slap.id}"}
            return state.at(pressed), [to_ruling(draft, slap.id, slap.t, used, doubt=True)]
        judged = sides[0 if said == "before" else -1]
    elif sides:
        doubt = True
    if judged.outcome == "won":
        near = tuple(upcoming)
        hands = _heat(state, slap, near, answers)
        doubt = doubt or _heat_is_in_doubt(state, hands, near, answers)
        if any(isinstance(line, Taken) and hand.id == line.id for line in near for hand in hands):
            judged = judged._replace(rule=(*judged.rule, "M14"))
        state = state._replace(position=pressed, doubted=state.doubted - {hand.id for hand in hands})
        return win(state, slap, judged, hands, answers, doubt=doubt)
    state = state.at(pressed)
    if judged.outcome == "void":
        rule = (*judged.rule, "K9") if doubt else judged.rule
        draft = Draft("slap_void", {"seat": slap.seat, "reason": judged.reason}, rule, judged.because)
        if judged.reason == "late":
            state = run_up(state, slap)
        return state, [to_ruling(draft, slap.id, slap.t, doubt=doubt)]
    if judged.outcome == "question":
        return _ask(state, slap, judged, upcoming, answers, doubt=doubt)
    return _false(state, slap, judged, doubt=doubt)


def _can_be_overruled(position: Position, seat: int, outcome: str) -> bool:
    """Whether the game is still open to this hand, and there is a pile that no hand has won if people say it won."""
    if position.over or position.closed or position.player(seat) is None:
        return False
    has_won = position.claim is not None and position.claim.by == "slap"
    return outcome == "false" or (bool(position.pile) and not has_won)


def _past(state: State, hand: Slap | Taken) -> State:
    """Return the state once the instant of a hand has come: its dead heat need not remember it any more."""
    return state._replace(settled=state.settled - {hand.id}, spent=state.spent - {hand.id})


def _press(position: Position, slap: Slap) -> Position:
    """Mark the pad as pressed, whatever the verdict (M5); a burned hand is released when another slaps (F6f)."""
    if slap.seat > len(position.names):
        return position
    held = position.held | {slap.seat}
    if position.paused_at is not None and not position.unjudged:
        position = position.replace(unjudged=True)
    if position.drift is not None and (slap.t < position.drift.until or position.paused_at is not None):
        # Its order with the unseen cards is unknown, and so is its effect if none counted.
        position = position.replace(drift=position.drift._replace(leaves="all"))
    if position.rules.has("N13"):
        presses = list(position.presses)
        presses[slap.seat - 1] = (*presses[slap.seat - 1], (slap.t, slap.t_error))[-2 * position.rules.number("N13") :]
        position = position.replace(presses=tuple(presses))
    if not any(position.locks):
        return position.replace(held=held)
    step = Step(position.replace(held=held), slap.t, slap.id)
    somebody_slapped(step, slap.seat)
    return step.position


def _heat(state: State, slap: Slap, upcoming: Iterable[Observation], answers: Answers) -> tuple[Slap, ...]:
    """Return the hands of this hand's dead heat that people have not overruled, and that have not won another one."""
    others = (line for line in upcoming if OVERRULED + line.id not in answers and line.id not in state.spent)
    as_said = (as_answered(state.position, line, answers) if isinstance(line, Card) else line for line in others)
    return dead_heat_hands(state.position, slap, as_said)


def _heat_is_in_doubt(state: State, hands: tuple[Slap, ...], near: Iterable[Observation], answers: Answers) -> bool:
    """Whether one of the other hands of a heat is good only because of a doubt (K9)."""
    return state.position.rules.has("K9") and any(
        hand.id in state.doubted or _is_in_doubt(state.position, hand, near, answers) for hand in hands[1:]
    )


def _is_in_doubt(position: Position, hand: Slap, near: Iterable[Observation], answers: Answers) -> bool:
    """Whether a hand of a heat is valid only because doubt gave it the better order (K9)."""
    position = position.replace(held=position.held - {hand.seat})
    reveals = (as_answered(position, line, answers) if isinstance(line, Card) else line for line in near)
    return bool(judge_hand(position, hand)[1]) or any(
        isinstance(reveal, Card | Taken)
        and getattr(reveal, "zone", "pile") == "pile"
        and order_is_open(hand, reveal)
        and reveal.id != hand.id
        and not is_rival_hand(position, hand, reveal)
        and better_order(hand, position, position_after(position, reveal)) is not None
        for reveal in reveals
    )


def _ask(
    state: State, slap: Slap, judged: Verdict, upcoming: Iterable[Observation], answers: Answers, *, doubt: bool
) -> Decided:
    """Ask people about an unknown card on which the verdict depends (readings 7 and 10)."""
    fields: dict[str, Any] = {"ask": judged.reason, "about": [*judged.because, slap.id]}
    ruling = to_ruling(Draft("question", fields, judged.rule, ()), slap.id, slap.t, doubt=doubt)
    said = answers.get(ruling.id)
    if judged.reason == "bottom_card" and isinstance(said, str) and is_card(said):
        pile = state.position.pile
        named = state._replace(position=state.position.replace(pile=(pile[0]._replace(card=said), *pile[1:])))
        before = named.at(named.position.replace(held=named.position.held - {slap.seat}))
        again, _ = judge_hand(before.position, slap)
        if again.outcome == "won":
            hands = _heat(before, slap, upcoming, answers)
            state, rulings = win(named, slap, again, hands, answers, {ruling.id}, doubt=doubt)
        elif again.outcome == "false":
            state, rulings = _false(named, slap, again, {ruling.id}, doubt=doubt)
        else:
            kind, fields = "slap_void", {"seat": slap.seat, "reason": again.reason}
            if again.outcome == "question":
                # That card alone does not settle it: ask about another unknown card, and rule nothing.
                kind, fields = "question", {"ask": again.reason, "about": [*again.because, slap.id]}
            draft = Draft(kind, fields, again.rule, again.because)
            state, rulings = named, [to_ruling(draft, slap.id, slap.t, {ruling.id}, doubt=doubt)]
        return state, [ruling, *rulings]
    return state, [ruling]


def _false(state: State, slap: Slap, judged: Verdict, used: Iterable[str] = (), *, doubt: bool) -> Decided:
    if judged.reason == "late":
        state = run_up(state, slap)
    step = Step(state.position, slap.t, slap.id)
    rule = (*judged.rule, "K9") if doubt else judged.rule
    step.rule("slap_false", *rule, because=judged.because, seat=slap.seat, reason=judged.reason)
    false_slap(step, slap.seat)
    return finish(state, step, used, doubt=doubt)
