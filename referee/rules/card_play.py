"""A card comes face up on the pile: in turn, as a chance, as a challenge, or dead (C rows, F7, F9, N5)."""

from __future__ import annotations

from typing import Final

from referee.rules.cards import UNREADABLE
from referee.rules.elimination import LAST_CHANCE_NS, announce_out, end_if_decided, lose, three_of_a_kind
from referee.rules.locks import card_was_laid
from referee.rules.pickup import claim_by_challenge, pick_up
from referee.rules.position import Challenge, Laid, LastChance, Position, State
from referee.rules.stacks import check_card, without_top
from referee.rules.step import Step

DRAWN_AT_ONCE_NS: Final = 100_000_000
"""Two cards of one seat nearer than this were drawn at once (F9): nobody draws ten a second."""


def lay(step: Step, card: str, seat: int | None) -> None:
    """A seat (None: whoever's turn it is) laid a card."""
    position = step.position
    if position.over or position.closed:
        return
    player = seat if seat is not None and position.rules.has("K4") else _whose_turn(position)
    if player > position.seats:
        return
    if player in position.tied:
        # One of the tied hands leads: who holds what stays open until people say who was first.
        step.set(pile=(), in_limbo=position.in_limbo + len(position.pile), tied=(), turn=player)
        if step.before.turn != player:
            step.rule("lead", "M1", seat=player)
    elif position.claim is not None and position.claim.seat == player == position.turn:
        pick_up(step)
    elif position.claim is not None and position.turn == player and position.claim.by == "slap":
        # The winner does not lead (N2): the next card of the one who does shows that the pile is gone.
        pick_up(step)
    if not step.position.over:
        drawn_at_once = _drawn_at_once(step, player)
        if player == step.position.turn and not drawn_at_once:
            _lay_in_turn(step, card, player)
        elif step.position.unread and not drawn_at_once:
            # An unread card may have been a challenge: nobody can say that this one was out of turn (reading 10).
            _put(step, card, player, "played")
            step.rule("question", "F7", ask="who_played", about=[step.ref, *sorted(step.position.unread)])
        else:
            _lay_dead(step, card, player, drawn_at_once=drawn_at_once)
    settle(step)


def settle(step: Step) -> None:
    """After cards left a stack: who is out, who pays, who plays, is the game decided."""
    if 0 in step.position.counts:
        # All but whose turn it is depends on a seat without cards.
        announce_out(step)
        _stop_turning(step)
        _pass_on(step)
        end_if_decided(step)
    step.announce_turn()


def _whose_turn(position: Position) -> int:
    """Who laid a card that nobody was seen to lay (reading 9)."""
    if position.turn is not None:
        return position.turn
    if position.last_chance is not None:
        return position.last_chance.seat
    return (position.tied or position.holders() or (1,))[0]


def _drawn_at_once(step: Step, seat: int) -> bool:
    """F9: a card of the seat that laid the top card, too soon to be another draw."""
    if not step.position.rules.has("F9") or not step.position.pile:
        return False
    top = step.position.pile[-1]
    return top.seat == seat and top.state != "burned" and step.t - top.t < DRAWN_AT_ONCE_NS


def _put(step: Step, card: str, seat: int, state: State) -> None:
    check_card(step, card, seat)
    if not step.position.holds(seat):
        step.rule("question", "K2", ask="recount", about=[step.ref])
    laid = Laid(card, step.ref, step.t, seat, state)
    position = step.position
    counts, known = without_top(position, seat)
    step.set(
        counts=counts,
        known=known,
        pile=(*position.pile, laid),
        laid=position.laid + 1,
        paid=0,
        penalised=frozenset(),
        said=position.calling,
        calling="",
        covered=(position.paid, position.said),
    )
    card_was_laid(step)
    if card == UNREADABLE and state == "played":
        step.set(unread=step.position.unread | {step.ref})
        step.rule("question", "K2", ask="unreadable_card", about=[step.ref])


def _lay_in_turn(step: Step, card: str, seat: int) -> None:
    _put(step, card, seat, "played")
    position = step.position
    if position.last_chance is not None:
        # One of the three cards of E2: no challenges, no turns.
        chance = position.last_chance
        left = chance.left - 1 if position.holds(chance.seat) else 0
        ends_at = None if left else step.t + LAST_CHANCE_NS
        step.set(last_chance=LastChance(chance.seat, left, ends_at, step.ref), turn=chance.seat if left else None)
    elif position.rules.chances(card) and (position.challenge is None or position.rules.has("C4")):
        _challenge(step, card, seat)
    elif position.challenge is not None and card[0] == "T" and position.rules.has("N5"):
        step.rule("challenge_off", "N5", because=(position.challenge.ref,), seat=seat)
        step.set(challenge=None, turn=position.after(seat))
    elif position.challenge is not None:
        _pay(step, seat, position.challenge)
    else:
        step.set(turn=position.after(seat))
    if position.rules.has("P16"):
        three_of_a_kind(step)
    if position.rules.has("P16b") and [top[0] for top in step.position.look().top[:3]] == ["6", "6", "6"]:
        # Three sixes in a row close the table until the next calendar day.
        step.set(closed=True)
        step.rule("remind", "P16b", what="closed")


def _lay_dead(step: Step, card: str, seat: int, *, drawn_at_once: bool) -> None:
    """A card out of turn: no turn, no chance, no challenge; it leaves with the pile (F7, F9, reading 9)."""
    if not drawn_at_once and not step.position.rules.has("F7"):
        _put(step, card, seat, "played")
        return
    reason, rows = ("double_draw", ("F9", "F7")) if drawn_at_once else ("out_of_turn", ("F7",))
    _put(step, card, seat, "dead")
    if step.position.rules.value("F7") == "bottom":
        *rest, dead = step.position.pile
        step.set(pile=(dead, *rest))
    step.rule("dead_card", *rows, seat=seat, card=card, reason=reason)


def _stop_turning(step: Step) -> None:
    """The last of the cards for E2 went as a penalty: nothing is left to turn, and the two seconds run."""
    chance = step.position.last_chance
    if chance is not None and chance.left and not step.position.holds(chance.seat):
        step.set(last_chance=LastChance(chance.seat, 0, step.t + LAST_CHANCE_NS, step.ref), turn=None)


def _challenge(step: Step, card: str, seat: int) -> None:
    """A face card or ace challenges the next seat with cards; one among the chances cancels the old (C1, C4)."""
    position = step.position
    chances = position.rules.chances(card)
    challenged = position.after(seat, never=seat)
    row = next((row for row in ("C2a", "C2b") if position.rules.has(row)), "C1")
    if card[0] == "X":
        row = "C3b" if card == "Xb" and position.rules.has("C3b") else "C3a"
    rows = (row, "C4") if position.challenge is not None else (row,)
    step.rule("challenge", *rows, seat=seat, challenged=challenged, card=card, chances=chances)
    if challenged is None:
        claim_by_challenge(step, seat, "C5", "C6a")
        return
    step.set(challenge=Challenge(seat, challenged, card, step.ref, chances), turn=challenged)


def _pay(step: Step, seat: int, challenge: Challenge) -> None:
    """A number card uses up one chance (C1); the last one wins the pile for the challenger (C5)."""
    position = step.position
    left = challenge.left - 1
    paid = position.rules.chances(challenge.card) - left
    if left == 0:
        step.set(paid=paid)
    if left == 0 and position.rules.has("C5"):
        claim_by_challenge(step, challenge.challenger, "C5")
        return
    if left == 0:
        step.set(challenge=None, turn=position.after(seat))
        return
    step.rule("chance", "C1", because=(challenge.ref,), seat=seat, left=left)
    payer = seat
    if position.rules.has("C10"):
        payer = position.after(seat, never=challenge.challenger) or seat
    again = Challenge(challenge.challenger, payer, challenge.card, challenge.ref, left)
    step.set(paid=paid, challenge=again, turn=payer)


def _pass_on(step: Step) -> None:
    """The seat to play has no cards left: the next one goes on, or nobody can and the pile is won (C6a, C6b, E6)."""
    position = step.position
    if position.over:
        return
    challenge = position.challenge
    if challenge is not None and not position.holds(challenge.challenged):
        heir = position.after(challenge.challenged, never=challenge.challenger)
        if heir is None or not position.rules.has("C6a"):
            rows = [row for row in ("C6a", "C6b") if position.rules.has(row)]
            claim_by_challenge(step, challenge.challenger, "C5", *rows)
        else:
            moved = Challenge(challenge.challenger, heir, challenge.card, challenge.ref, challenge.left)
            step.set(challenge=moved, turn=heir)
            step.rule("challenge_moves", "C6a", because=(challenge.ref,), seat=heir, left=challenge.left)
    position = step.position
    if position.rules.has("E6"):
        if position.over or position.claim is not None:
            return
        # Beggar-My-Neighbour: whoever first runs out has lost, but a standing challenge is settled before.
        challenger = position.challenge.challenger if position.challenge is not None else None
        empty = [seat for seat in range(1, position.seats + 1) if seat != challenger and not position.holds(seat)]
        if empty:
            lose(step, empty[0])
    elif position.turn is None or position.challenge or position.claim or position.last_chance:
        return
    elif not position.holds(position.turn):
        step.set(turn=position.after(position.turn))
