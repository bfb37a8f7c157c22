"""Elimination and the end (E rows, P16)."""

from __future__ import annotations

from typing import Final

from referee.rules.locks import pile_was_won
from referee.rules.phase import Challenge, Claim, DeadHeat, LastChance, OpenLead, Over, Player, Turn, War
from referee.rules.position import Position
from referee.rules.stacks import put_under
from referee.rules.step import Step

LAST_CHANCE_NS: Final = 2_000_000_000
"""Time to slap in after the last card of E2, ns ("How the rows are to be read", 11)."""


def announce_out(step: Step) -> None:
    """Rule every seat without cards out (E1), except a challenger whose challenge is unbeaten (C7).

    A seat that has just laid its last card is out once the next card is laid or the pile is taken (M12, E5b).
    """
    before, after = step.before, step.position
    if not after.rules.has("E1"):
        return
    if before.counts == after.counts and before.phase == after.phase and before.pile == after.pile:
        return
    for seat, held in enumerate(after.counts, start=1):
        if held or seat in after.absent or _is_out(before, seat) or not _is_out(after, seat):
            continue
        if not any(draft.kind == "out" and draft.fields["seat"] == seat for draft in step.drafts):
            step.rule("out", "E1", seat=seat)


def _is_out(position: Position, seat: int) -> bool:
    return not position.holds(seat) and not position.stays_in(seat) and not position.just_emptied(seat)


def after_pile(step: Step, seat: Player, *, by_slap: bool) -> None:
    """After a pick-up, check for the last pile (E7), a seat that holds everything (E5a) and a last chance (E2)."""
    count_pile(step)
    if not step.position.over:
        end_if_all_is_held(step, seat, by_slap=by_slap)


def end_if_all_is_held(step: Step, seat: Player, *, by_slap: bool) -> None:
    """End the game if the winner of a pile now holds everything (E5a, E6), or start the others' last chance (E2)."""
    position = step.position
    if position.holders() != (seat,) or position.in_limbo:
        return
    if position.rules.has("E6"):
        # Where all others have left, their leaving ends the game (E8).
        for loser in position.players_after(seat)[:1]:
            _lose(step, loser)
        return
    if not (position.rules.has("E5a") or position.rules.has("E5b")):
        return
    if by_slap or not position.rules.has("E2"):
        win(step, seat, "E5a" if position.rules.has("E5a") else "E5b")
        return
    step.enter(LastChance(seat, position.rules.number("E2")))
    step.rule("remind", "E2", what="last_chance")


def count_pile(step: Step) -> None:
    """Count a won pile; the agreed number of piles ends the game (E7)."""
    step.set(piles=step.position.piles + 1)
    rules = step.position.rules
    if rules.has("E7") and rules.agreed_end.piles == step.position.piles:
        end_by_most_cards(step, "E7")


def win(step: Step, seat: Player, *rule: str) -> None:
    """End the game with a winner."""
    step.enter(Over(seat))
    step.rule("won", *rule, seat=seat)


def draw(step: Step, *rule: str) -> None:
    """End the game without a winner."""
    step.enter(Over())
    step.rule("drawn", *rule)


def end_if_decided(step: Step) -> None:
    """After cards left the stacks, end the game with a draw (E4) or the only player left (E5b)."""
    position = step.position
    phase = position.phase
    if not isinstance(phase, Turn | Challenge | Claim) or position.in_limbo:
        return
    holders = position.holders()
    if not holders:
        if position.rules.has("E4") and not isinstance(phase, Claim):
            draw(step, "E4")
    elif position.rules.has("E5b") and len(holders) == 1 and not (isinstance(phase, Claim) and phase.by != "challenge"):
        # The only seat with cards plays on while cards lie in the pile (E3) or another seat's challenge stands (C7).
        goes_on = position.rules.has("E3") and position.pile
        others = position.players_after(holders[0])
        # A seat that has just laid its last card is not out before the next one is laid.
        if not goes_on and not any(position.stays_in(seat) or position.just_emptied(seat) for seat in others):
            win(step, holders[0], "E5b")


def lose_if_due(step: Step) -> None:
    """End Beggar-My-Neighbour if the seat due to lay holds no card: it has lost (E6, reading 12).

    The cards on the table go to the other player as the last trick: to the challenger, else to the next with cards,
    else to the one who has just laid the last card. This also ends a game in which a trick leaves one player with
    everything.
    """
    position = step.position
    phase = position.phase
    if not isinstance(phase, Turn | Challenge) or phase.turn is None or position.holds(phase.turn):
        return
    seat = phase.turn
    others = position.players_after(seat)
    heirs = [other for other in others if position.holds(other)] or [*filter(position.just_emptied, others)]
    player = next(iter(heirs or others), None)
    other = position.player(phase.challenger) if isinstance(phase, Challenge) else player
    cards = [laid.card for laid in position.pile]
    if cards and other is not None:
        step.set(pile=())
        put_under(step, other, cards)
        step.rule("pile", "C8", "E6", seat=other, count=len(cards))
        announce_out(step)
    _lose(step, seat)


def _lose(step: Step, seat: int) -> None:
    step.enter(Over())
    step.rule("lost", "E6", seat=seat)


def three_of_a_kind(step: Step) -> None:
    """P16: end the game if the top three share a rank: the most cards win, or, with `no_winner`, it is drawn."""
    position = step.position
    if position.over or not position.rules.three_end_game:
        return
    if makes_three(position.look().top[:3]):
        if position.rules.word("P16") == "no_winner":
            draw(step, "P16")
        else:
            end_by_most_cards(step, "P16")


def makes_three(top: tuple[str, ...]) -> bool:
    """Whether three cards share a rank (P16)."""
    return len(top) == 3 and len({card[0] for card in top}) == 1 and top[0][0] not in "X?"


def close_for_triple_sixes(step: Step) -> None:
    """P16b: close the table until the next calendar day if the top three are sixes."""
    if [card[0] for card in step.position.look().top[:3]] == ["6", "6", "6"]:
        step.set(closed=True)
        step.rule("remind", "P16b", what="closed")


def end_by_most_cards(step: Step, row: str) -> None:
    """End the game; the seat with the most cards wins (P16, E7), and a tie is a draw.

    If a count that matters is uncertain, the referee asks for it, and the game has no winner until people answer.
    """
    phase = step.position.phase
    if isinstance(phase, DeadHeat | War | OpenLead):
        # The pile's owner is undecided, so the counts of these seats are uncertain (reading 15).
        step.set(unsure=step.position.unsure | set(phase.seats))
    elif isinstance(phase, Claim) and phase.by == "unread":
        step.set(unsure=step.position.unsure | {phase.seat})
    if not isinstance(phase, Over):
        step.enter(Over(owed=row))
    if not settle_owed(step):
        step.rule("question", row, ask="recount", about=[step.ref])


def settle_owed(step: Step) -> bool:
    """Rule the winner by the most cards once all counts are certain; return whether they are."""
    position = step.position
    if not isinstance(position.phase, Over) or not position.phase.owed:
        return False
    row = position.phase.owed
    held = {seat: position.count(seat) for seat in position.players()}
    if None in held.values():
        return False
    most = max((count or 0 for count in held.values()), default=0)
    best = [seat for seat, count in held.items() if count == most]
    if len(best) == 1:
        win(step, best[0], row)
    else:
        draw(step, row)
    return True


def last_chance_over(step: Step, *, taken: bool) -> None:
    """End the last chance without a slap: the seat that holds everything wins (E2, E5a, reading 11)."""
    chance = step.position.last_chance
    assert chance is not None, "its clock ends it, or its pile is taken"
    seat = step.position.player(chance.seat)
    assert seat is not None, "the player who turns the last cards plays"
    # Another was given cards meanwhile (F12), or laid one too many and may hold more (reading 22): the game goes on.
    goes_on = any(other != seat for other in step.position.holders())
    cards = [laid.card for laid in step.position.pile]
    if taken or not goes_on:
        put_under(step, seat, cards)
        step.set(pile=())
    if taken:
        step.rule("pile", "C8", seat=seat, count=len(cards))
    if not goes_on:
        win(step, seat, "E2", "E5a")
        return
    if taken:
        # The pile is won by this seat, too: locks until a pile end, and it counts for E7.
        pile_was_won(step)
        count_pile(step)
        if step.position.over:
            return
    step.enter(Turn(seat if step.position.holds(seat) else step.position.after(seat)))
    if taken:
        step.rule("lead", "C5", seat=seat)
