"""One observation against one state: the next state, and what is decided. The fold that the whole referee is.

Nothing here asks what time it is, or in which order news arrived: the loop hands over observations in event time, each
with those that follow it closely, for a hand's neighbours decide whether it was first.
"""

from __future__ import annotations

from collections.abc import Iterable

from referee.engine.contradiction import ask_unread, lay_said, lay_seen
from referee.engine.first_hand import Answers, Decided, claim, finish, heat, run_up, war_card, win
from referee.engine.observations import Card, Observation, Slap, Table, Taken
from referee.engine.overrule import OVERRULED, apply_overrule
from referee.engine.position_changes import CHANGES
from referee.engine.rulings import to_ruling, to_rulings
from referee.engine.state import PendingWin, State
from referee.engine.unclaimed_piles import lead_stands, picked_up, unexplained
from referee.rules.card_play import lay
from referee.rules.cards import is_card
from referee.rules.deal import opening
from referee.rules.elimination import last_chance_over
from referee.rules.house import read_house_rules
from referee.rules.locks import somebody_slapped
from referee.rules.penalties import false_slap
from referee.rules.pickup import pick_up
from referee.rules.position import Position
from referee.rules.slap_verdict import Verdict, judge_slap
from referee.rules.step import Draft, Step


def open_table(table: Table) -> Decided:
    """The first line: deal, and say who leads (S1, S4a, S5).

    Raises:
        RulesError: the house rules, the dealer or the counts cannot be used.
    """
    seats = len(table.seats)
    position = Position(
        read_house_rules(table.rules),
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
    if isinstance(observation, Card):
        return _card(state, observation, answers)
    if isinstance(observation, Slap):
        return _slap(state, observation, upcoming, answers)
    if isinstance(observation, Taken):
        return _taken(state, observation, answers)
    change = CHANGES.get(type(observation))
    if change is None:
        return state, []
    step = Step(state.position, observation.t, observation.id)
    change(step, observation)
    return finish(state, step)


def last_tick(state: State, t: int) -> Decided:
    """The end of the log: a pile that a slap won is picked up by then (reading 3).

    One that a challenge won stays provisional until somebody is seen to take it (reading 4).
    """
    if state.position.claim is None or state.position.claim.by != "slap":
        return state, []
    step = Step(state.position, t, state.position.claim.ref)
    pick_up(step)
    step.announce_turn()
    return finish(state, step, used={f"slap_won@{step.ref}", f"turn@{step.ref}"})


def last_chance_ends(state: State) -> Decided:
    """Nobody slapped in within two seconds after the last of the three cards (E2)."""
    chance = state.position.last_chance
    assert chance is not None and chance.ends_at is not None
    step = Step(state.position, chance.ends_at, chance.ref)
    last_chance_over(step, taken=False)
    return finish(state, step, used=set())


def _card(state: State, card: Card, answers: Answers) -> Decided:
    step = Step(state.position, card.t, card.id)
    if card.zone != "pile":
        return war_card(state, step, card)
    face, seat, named = card.card, card.seat, ""
    if answers:
        # A card may be asked about up to three times: how many cards its seat has, which it is, and who laid it.
        for number in ("", "/2", "/3"):
            said = answers.get(f"question@{card.id}{number}")
            if isinstance(said, str) and is_card(said) and said != "??":
                if face == "??":
                    ask_unread(step, card)
                    face = said
                else:
                    named = said
            elif type(said) is int and 1 <= said <= state.position.seats:
                seat = said
        lead_stands(step, card, seat, answers)
    if named:
        lay_said(step, card, face, named, seat)
    elif card.candidates:
        lay_seen(step, card, face, seat)
    else:
        lay(step, face, seat)
    return finish(state, step)


def _taken(state: State, taken: Taken, answers: Answers) -> Decided:
    position = state.position
    step = Step(position, taken.t, taken.id)
    if position.over:
        return state, []
    if position.last_chance is not None:
        last_chance_over(step, taken=True)
    elif position.claim is not None:
        picked_up(step, taken, answers)
    elif position.pile:
        swept = _slapped_and_taken(state, step, taken)
        if swept is not None:
            return swept
        unexplained(step, taken, answers)
    step.announce_turn()
    return finish(state, step)


def _slapped_and_taken(state: State, step: Step, taken: Taken) -> Decided | None:
    """Slapping and taking in one motion counts as a slap where that is agreed (M14)."""
    position = step.position
    if taken.seat is None or not position.rules.has("M14"):
        return None
    judged = judge_slap(position, taken.seat, taken.t)
    if judged.outcome != "won":
        return None
    slap = Slap(t=taken.t, id=taken.id, seat=taken.seat, t_error=taken.t_error)
    pending = PendingWin(slap, judged.patterns, judged.cards, (*judged.rule, "M14"), judged.because)
    claim(step, slap)
    pick_up(step)
    step.announce_turn()
    return finish(state._replace(pending=pending), step)


def _slap(state: State, slap: Slap, upcoming: Iterable[Observation], answers: Answers) -> Decided:
    pressed = _press(state.position, slap)
    if slap.id in state.settled:
        # A hand of a dead heat: if that was decided for another, this one was beaten; else people must say.
        state, pending = state._replace(position=pressed, settled=state.settled - {slap.id}), state.pending
        if pending is None or pending.slap.id == slap.id or pending.decided_by == "split":
            return state, []
        draft = Draft("slap_void", {"seat": slap.seat, "reason": "late"}, ("N1", "M2"), (pending.slap.id,))
        return state, [to_ruling(draft, slap.id, slap.t, set())]
    judged = judge_slap(state.position, slap.seat, slap.t)
    outcome = answers.get(OVERRULED + slap.id)
    if outcome is not None:
        judged = apply_overrule(judged, outcome)
    doubt = slap.id in state.doubted
    if doubt:
        state = state._replace(doubted=state.doubted - {slap.id})
    if slap.id in state.asked:
        draft = Draft("question", {"ask": "slap_or_card", "about": [slap.id]}, ("K9",), ())
        return state.at(pressed), [to_ruling(draft, slap.id, slap.t, set(), doubt=True)]
    if judged.outcome == "won":
        hands = heat(state.position, slap, (line for line in upcoming if OVERRULED + line.id not in answers))
        return win(state.at(pressed), slap, judged, hands, answers, doubt=doubt)
    state = state.at(pressed)
    if judged.outcome == "void":
        rule = (*judged.rule, "K9") if doubt else judged.rule
        draft = Draft("slap_void", {"seat": slap.seat, "reason": judged.reason}, rule, judged.because)
        if judged.reason == "late":
            state = run_up(state, slap)
        return state, [to_ruling(draft, slap.id, slap.t, set(), doubt=doubt)]
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
        position = position.but(presses=tuple(presses))
    step = Step(position.but(held=held), slap.t, slap.id)
    somebody_slapped(step, slap.seat)
    return step.position


def _ask(state: State, slap: Slap, judged: Verdict, answers: Answers, *, doubt: bool) -> Decided:
    """The verdict depends on a card that nobody knows (readings 7 and 10)."""
    fields = {"ask": judged.reason, "about": [*judged.because, slap.id]}
    ruling = to_ruling(Draft("question", fields, judged.rule, ()), slap.id, slap.t, set(), doubt=doubt)
    said = answers.get(ruling.id)
    if judged.reason == "bottom_card" and isinstance(said, str) and is_card(said):
        pile = state.position.pile
        named = state._replace(position=state.position.but(pile=(pile[0]._replace(card=said), *pile[1:])))
        again = judge_slap(named.position.but(held=named.position.held - {slap.seat}), slap.seat, slap.t)
        if again.outcome == "won":
            state, rulings = win(named, slap, again, (slap,), answers, doubt=doubt)
        else:
            state, rulings = _false(named, slap, again, doubt=doubt)
        return state, [ruling, *rulings]
    return state, [ruling]


def _false(state: State, slap: Slap, judged: Verdict, *, doubt: bool) -> Decided:
    if judged.reason == "late":
        state = run_up(state, slap)
    step = Step(state.position, slap.t, slap.id)
    rule = (*judged.rule, "K9") if doubt else judged.rule
    step.rule("slap_false", *rule, because=judged.because, seat=slap.seat, reason=judged.reason)
    false_slap(step, slap.seat)
    return finish(state, step, doubt=doubt)
