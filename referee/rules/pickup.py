"""Winning a pile and picking it up (C5, C8, M1, M3, F6d), and detecting repeated positions (reading 12)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from referee.rules.cards import UNREADABLE
from referee.rules.elimination import after_pile, announce_out, close_for_triple_sixes, count_pile
from referee.rules.locks import pile_was_won
from referee.rules.phase import Claim, DeadHeat, Player, Turn
from referee.rules.position import Laid, Memory, Position, SeatVerdict
from referee.rules.stacks import forget, hand_over, put_under
from referee.rules.step import Step


def claim_by_slap(step: Step, seat: int, ref: str, *, split: tuple[int, ...] = ()) -> None:
    """Give the pile to this seat by the slap ``ref``; the seat leads the next pile (M1), or the turn goes on (N2)."""
    position = step.position
    turn = seat
    if position.rules.has("N2") and position.turn is not None and position.holds(position.turn):
        turn = position.turn
    if position.rules.has("P16b") and position.rules.word("P16b") == "slapped":
        close_for_triple_sixes(step)
    step.enter(Claim(seat, "slap", ref, turn, split))
    pile_was_won(step)
    remember_verdict(step, seat, "slap", right=True, ref=ref)


def claim_by_challenge(step: Step, seat: int, *rule: str, **changes: Any) -> None:
    """Give the pile to the challenger, whose chances are used up, unless a slap comes first (C5, C9).

    ``changes``: other fields of the position to change.
    """
    step.enter(Claim(seat, "challenge", step.ref, seat), **changes)
    step.rule("challenge_won", *rule, seat=seat)
    remember_verdict(step, seat, "take", right=True, ref=step.ref)
    if not step.position.rules.slaps:
        pick_up(step)


def remember_verdict(step: Step, seat: int, act: Literal["slap", "take"], *, right: bool, ref: str) -> None:
    """Remember a seat's latest slap or take, for a contest (F5)."""
    kept = tuple(entry for entry in step.position.verdicts if (entry.seat, entry.act) != (seat, act))
    step.set(verdicts=(*kept, SeatVerdict(seat, act, right, ref)))


def remember_pickup(step: Step, seat: int, ref: str, *, won_by: str = "") -> None:
    """Remember an observed pick-up (F5): by the winner, with the card or slap ``won_by``, or by another seat."""
    verdicts = step.position.verdicts
    won = next((entry for entry in reversed(verdicts) if entry.seat == seat and entry.ref == won_by), None)
    if won is None:
        remember_verdict(step, seat, "take", right=won_by != "", ref=ref)
        return
    others = tuple(entry for entry in verdicts if entry is not won)
    step.set(verdicts=(*others, won._replace(pickup=ref)))


def hold_provisionally(step: Step, seat: int) -> None:
    """Remove a pile whose owner is undecided; the counts of all possible owners become uncertain.

    Readings 10 and 15.
    """
    position = step.position
    concerned = {seat, *position.tied, *((position.claim.seat,) if position.claim is not None else ())}
    claim = position.claim
    # An unread last chance stays open, so another seat's card may still be in turn (reading 10).
    still_open = frozenset((claim.ref,)) if claim is not None and claim.by == "unread" else frozenset[str]()
    step.set(
        pile=(),
        in_limbo=position.in_limbo + len(position.pile),
        unsure=position.unsure | concerned.intersection(position.players()),
        unread=still_open,
        paid=0,
    )
    step.enter(Turn(seat))
    if isinstance(position.phase, DeadHeat):
        heat_was_won(step)


def heat_was_won(step: Step) -> None:
    """Count an open dead heat's pile as won when it leaves, its owner undecided (F2, F6b, F6e, F6f, E7)."""
    pile_was_won(step)
    count_pile(step)


def pick_up(step: Step, *, by_card_of: int | None = None) -> None:
    """Put the pile face down under its winner's cards, order unchanged (C8), or share it (M3).

    ``by_card_of``: the seat whose next card shows the pick-up, and so that the seat has a card, whatever its count.
    """
    position, claim = step.position, step.position.claim
    assert claim is not None, "only a won pile is picked up"
    cards = [laid.card for laid in step.position.pile]
    by_slap = claim.by == "slap"
    winner = position.player(claim.seat)
    assert winner is not None, "a claim ends where its player leaves (E8)"
    leader: int = claim.turn if position.rules.has("N2") and by_slap else winner
    if leader not in (winner, by_card_of) and not position.holds(leader):
        leader = position.after(leader) or winner
    step.enter(Turn(leader), pile=(), unread=frozenset(), paid=0)
    if not by_slap:
        pile_was_won(step)
    if claim.split:
        _share(step, claim, len(cards))
    else:
        put_under(step, winner, cards)
        if not position.rules.has("C8"):
            forget(step, winner, step.position.counts[winner - 1])
        step.rule("pile", "C8", because=(claim.ref,), seat=winner, count=len(cards))
        _pay_debts(step, winner)
    if 0 in step.position.counts:
        announce_out(step)
    if not step.position.holds(winner) and winner != by_card_of:
        # The whole pile went to pay debts (F6d).
        winner = step.position.after(winner) or winner
        if leader == claim.seat:
            leader = winner
            step.enter(Turn(leader))
    after_pile(step, winner, by_slap=by_slap)
    if not step.position.over:
        step.rule("lead", "M1" if by_slap else "C5", seat=leader)
        watch_for_repetition(step)


def give_pile(step: Step, seat: Player, *rule: str) -> None:
    """Give the pile to a seat at once, as a penalty (F3, N9)."""
    cards = [laid.card for laid in step.position.pile]
    step.enter(Turn(seat), pile=(), unread=frozenset(), paid=0)
    pile_was_won(step)
    put_under(step, seat, cards)
    step.rule("pile", *rule, seat=seat, count=len(cards))
    after_pile(step, seat, by_slap=True)
    if not step.position.over:
        step.rule("lead", *rule, seat=seat)


def _share(step: Step, claim: Claim, cards: int) -> None:
    """Shuffle the pile and split it evenly; odd cards go to the earlier hands (M3)."""
    each, extras = divmod(cards, len(claim.split))
    for place, seat in enumerate(claim.split):
        share = (UNREADABLE,) * (each + (1 if place < extras else 0))
        sharer = None if seat in claim.gone else step.position.player(seat)
        if sharer is not None:
            put_under(step, sharer, share)
            step.rule("pile", "M3", because=(claim.ref,), seat=seat, count=len(share))
        else:
            leave_behind(step, seat, share)
    for seat in claim.sharers:
        _pay_debts(step, seat)


def leave_behind(step: Step, seat: int, cards: Sequence[str]) -> None:
    """Put the cards of a player who left, top first, under the pile, or deal them to the others (E8)."""
    others = step.position.players_after(seat)
    if step.position.rules.word("E8") == "others" and others:
        for place, other in enumerate(others):
            share = cards[place :: len(others)]
            if share:
                put_under(step, other, share)
                step.rule("give", "E8", seat=seat, to=other, count=len(share))
    elif cards:
        under = tuple(Laid(name or UNREADABLE, step.ref, step.t, seat, "burned") for name in cards)
        step.set(pile=under[::-1] + step.position.pile)
        step.rule("burn", "E8", seat=seat, count=len(cards), where="bottom")


def _pay_debts(step: Step, seat: int) -> None:
    """Pay a seat's debts card by card from its winnings, clockwise whatever the direction of play (F6d)."""
    debt = step.position.debts[seat - 1]
    if not debt:
        return
    owed: dict[int, int] = {}
    others = step.position.players_after(seat, step=1)
    for number in range(debt if others else 0):
        if step.position.counts[seat - 1] == 0:
            break
        payee = others[number % len(others)]
        hand_over(step, seat, payee, 1)
        owed[payee] = owed.get(payee, 0) + 1
    debts = list(step.position.debts)
    debts[seat - 1] = debt - sum(owed.values())
    step.set(debts=tuple(debts))
    for other, count in owed.items():
        step.rule("give", "F6d", seat=seat, to=other, count=count)


def watch_for_repetition(step: Step) -> None:
    """Compare the position at a lead with a kept one; rule `repeated` once (Brent's algorithm).

    Only positions in which every card is known can be compared.
    """
    position = step.position
    memory = position.memory
    stacks = zip(position.counts, position.known, strict=True)
    if memory.said or not all(count == len(known) and "" not in known for count, known in stacks):
        return
    is_due = not memory.kept or memory.since + 1 >= memory.power
    # Most positions differ from the kept one in the sizes of the stacks.
    now = signature(position) if is_due or memory.kept[0] == position.counts else ()
    if now and memory.kept == now:
        step.rule("repeated", "K2", cards=position.laid - memory.cards)
        step.set(memory=memory._replace(said=True))
    elif is_due:
        power = memory.power * 2 if memory.kept else 1
        step.set(memory=Memory(now, power, 0, position.laid))
    else:
        step.set(memory=memory._replace(since=memory.since + 1))


def signature(position: Position) -> tuple[object, ...]:
    """Return everything in a position at a lead that the active rules can distinguish."""
    alike = position.rules.alike
    return (
        position.counts,
        tuple("".join([alike[card] for card in stack]) for stack in position.known),
        position.turn,
        position.strikes,
        position.debts,
        position.locks,
        position.false_run,
        position.over,
    )
