"""A card comes face up on the pile: in turn, as a chance, as a challenge, or dead (C rows, F7)."""

from __future__ import annotations

from referee.rules.cards import UNREADABLE
from referee.rules.ending import LAST_CHANCE_NS, announce_out, draw_if_nobody_can_play
from referee.rules.position import Challenge, Laid, LastChance, Position, State
from referee.rules.step import Step
from referee.rules.taking import claim_by_challenge, pick_up


def lay(step: Step, card: str, seat: int | None) -> None:
    """A seat (None: whoever's turn it is) laid a card."""
    position = step.position
    if position.over:
        return
    player = seat if seat is not None else _whose_turn(position)
    if player in position.tied:
        # One of the tied hands leads: who holds what stays open until people say who was first.
        _lead_while_tied(step, player)
    elif position.claim is not None and position.claim.seat == player:
        pick_up(step)
        if step.position.over:
            return
    if player == step.position.turn:
        _lay_in_turn(step, card, player)
    elif position.unread:
        _lay_doubtful(step, card, player)
    else:
        _lay_dead(step, card, player)
    announce_out(step)
    _challenged_seat_is_empty(step)
    draw_if_nobody_can_play(step)
    step.announce_turn()


def _whose_turn(position: Position) -> int:
    """Who laid a card that nobody was seen to lay (reading 9)."""
    if position.turn is not None:
        return position.turn
    if position.last_chance is not None:
        return position.last_chance.seat
    return (position.tied or position.holders() or (1,))[0]


def _put(step: Step, card: str, seat: int, state: State) -> None:
    laid = Laid(card, step.ref, step.t, seat, state)
    step.set(pile=(*step.position.pile, laid))
    step.add_cards(seat, -1)
    if card == UNREADABLE and state == "played":
        step.set(unread=step.position.unread | {step.ref})
        step.rule("question", "K2", ask="unreadable_card", about=[step.ref])


def _lead_while_tied(step: Step, seat: int) -> None:
    position = step.position
    step.set(pile=(), in_limbo=position.in_limbo + len(position.pile), tied=(), turn=seat)
    if step.before.turn != seat:
        step.rule("lead", "M1", seat=seat)


def _lay_in_turn(step: Step, card: str, seat: int) -> None:
    if not step.position.holds(seat):
        step.rule("question", "K2", ask="recount", about=[step.ref])
    _put(step, card, seat, "played")
    position = step.position
    if position.last_chance is not None:
        _turn_last_chance(step, position.last_chance)
    elif card[0] in position.rules.value("C1") and position.rules.has("C1"):
        _challenge(step, card, seat)
    elif position.challenge is not None:
        _pay(step, seat, position.challenge)
    else:
        step.set(turn=position.after(seat))


def _lay_doubtful(step: Step, card: str, seat: int) -> None:
    """An unread card may have been a challenge, so nobody can say that this card was out of turn (reading 10)."""
    _put(step, card, seat, "played")
    step.rule("question", "F7", ask="who_played", about=[step.ref, *sorted(step.position.unread)])


def _lay_dead(step: Step, card: str, seat: int) -> None:
    """A card out of turn: no turn, no chance, no challenge; it leaves with the pile (F7, reading 9)."""
    if not step.position.holds(seat):
        step.rule("question", "K2", ask="recount", about=[step.ref])
    _put(step, card, seat, "dead")
    if step.position.rules.value("F7") == "bottom":
        *rest, dead = step.position.pile
        step.set(pile=(dead, *rest))
    step.rule("dead_card", "F7", seat=seat, card=card, reason="out_of_turn")


def _turn_last_chance(step: Step, chance: LastChance) -> None:
    """One of the three cards of E2: no challenges, no turns."""
    left = chance.left - 1
    ends_at = None if left else step.t + LAST_CHANCE_NS
    step.set(last_chance=LastChance(chance.seat, left, ends_at, step.ref), turn=chance.seat if left else None)


def _challenge(step: Step, card: str, seat: int) -> None:
    """A face card or ace challenges the next seat with cards; one among the chances cancels the old (C1, C4)."""
    position = step.position
    chances = position.rules.value("C1")[card[0]]
    challenged = position.after(seat, never=seat)
    rows = ("C1", "C4") if position.challenge is not None else ("C1",)
    if challenged is None:
        step.rule("challenge", *rows, seat=seat, challenged=None, card=card, chances=chances)
        claim_by_challenge(step, seat, "C5", "C6a")
        return
    step.rule("challenge", *rows, seat=seat, challenged=challenged, card=card, chances=chances)
    step.set(challenge=Challenge(seat, challenged, card, step.ref, chances), turn=challenged)


def _pay(step: Step, seat: int, challenge: Challenge) -> None:
    """A number card uses up one chance (C1); the last one wins the pile for the challenger (C5)."""
    left = challenge.left - 1
    if left == 0:
        claim_by_challenge(step, challenge.challenger, "C5")
        return
    step.set(challenge=Challenge(challenge.challenger, seat, challenge.card, challenge.ref, left))
    step.rule("chance", "C1", because=(challenge.ref,), seat=seat, left=left)


def _challenged_seat_is_empty(step: Step) -> None:
    """The seat that pays has no cards left: the next one goes on, or nobody can and the pile is won (C6a)."""
    challenge_moves(step)
    position = step.position
    if position.turn is not None and position.challenge is None and position.claim is None:
        _skip_empty_seat(step, position.turn)


def _skip_empty_seat(step: Step, seat: int) -> None:
    if not step.position.holds(seat) and step.position.last_chance is None and not step.position.over:
        step.set(turn=step.position.after(seat))


def challenge_moves(step: Step) -> None:
    """Hand a challenge on from a seat that has run out (C6a); with nobody left to pay, it is won."""
    challenge = step.position.challenge
    if challenge is None or step.position.holds(challenge.challenged):
        return
    heir = step.position.after(challenge.challenged, never=challenge.challenger)
    if heir is None:
        claim_by_challenge(step, challenge.challenger, "C5", "C6a")
        return
    step.set(
        challenge=Challenge(challenge.challenger, heir, challenge.card, challenge.ref, challenge.left),
        turn=heir,
    )
    step.rule("challenge_moves", "C6a", because=(challenge.ref,), seat=heir, left=challenge.left)


def settle_empty_seats(step: Step) -> None:
    """After cards left a stack otherwise than by play: who is out, who pays, who plays, is it a draw."""
    announce_out(step)
    _challenged_seat_is_empty(step)
    draw_if_nobody_can_play(step)
    step.announce_turn()
