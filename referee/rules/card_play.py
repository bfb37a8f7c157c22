"""Laying a card face up on the pile: in turn, as a chance, as a challenge, or dead (C rows, F7, F9, N5)."""

from __future__ import annotations

from typing import Any, Final

from referee.rules import war
from referee.rules.cards import UNREADABLE
from referee.rules.elimination import (
    LAST_CHANCE_NS,
    announce_out,
    close_for_triple_sixes,
    end_if_decided,
    lose_if_due,
    three_of_a_kind,
    win,
)
from referee.rules.locks import card_was_laid, release_all_barred
from referee.rules.phase import TURNS, Challenge, Claim, DeadHeat, LastChance, OpenLead, Over, Turn, War
from referee.rules.pickup import claim_by_challenge, hold_provisionally, leave_behind, pick_up
from referee.rules.position import NO_SEAT, Covered, Laid, Position, State
from referee.rules.stacks import (
    ask_recount,
    burn_once,
    check_card,
    forget,
    from_limbo,
    learn_count,
    take_top,
    without_top,
)
from referee.rules.step import Step

_NOBODY: Final[frozenset[int]] = frozenset()
_tuple: Final = tuple.__new__
"""Builds a named tuple from all its fields in half the time; two are built with every card."""
_ENDING: Final = frozenset(("P16", "P16b"))
"""Rows by which a pattern ends the game or the evening at once."""
_GOING_ON: Final = (Turn, Challenge)
"""Phases in which the pile keeps growing."""
DRAWN_AT_ONCE_NS: Final = 100_000_000
"""Two cards of one seat closer than this were drawn at once (F9): no player draws ten a second."""
_MISCOUNT: Final = 3
"""An uncertain count of at most so many cards may be none: a gap of a few seconds hides no more."""


def lay(step: Step, card: str, seat: int | None) -> None:
    """Lay a card by a seat; None: the seat whose turn it is."""
    position = step.position
    phase = position.phase
    if position.closed or type(phase) is Over:
        return
    seen = seat if position.rules.has("K4") else None
    player = seen if seen is not None else _whose_turn(position)
    if player > len(position.names):
        # A seat that has not joined: people must say whose card it is.
        step.rule("question", "M11", ask="who_played", about=[step.ref])
        return
    if player in position.absent:
        # A vacant seat: the card counts as laid by the seat whose turn it is until people say whose it is.
        row = "E8" if position.rules.has("E8") else "M11"
        seat, seen, player = None, None, _whose_turn(position)
        if _owner_is_open(position):
            _lay_without_owner(step, card, row)
            settle(step)
            return
        step.rule("question", row, ask="who_played", about=[step.ref])
    elif seen is None and _owner_is_open(position):
        _lay_without_owner(step, card, "K3")
        settle(step)
        return
    if type(phase) not in _GOING_ON:
        if type(phase) is OpenLead and seat is None and phase.turn is None and position.drifts:
            # The lead was not seen.
            step.set(in_limbo=position.in_limbo + len(position.pile), pile=())
            step.enter(TURNS[None])
        else:
            _let_lead(step, player)
        phase = step.position.phase
    if type(phase) is not Over:
        _lay_by(step, card, player, seat, position)
        if seen is None:
            _seat_was_not_seen(step)
    settle(step)


def _lay_by(step: Step, card: str, player: int, seat: int | None, position: Position) -> None:
    """Lay a card by a player, in turn or not.

    Args:
        step: the game, which is not over.
        card: the card.
        player: who counts as its layer.
        seat: whose card it was said to be; None: it is not known.
        position: as the card found it, before a lead that the card decides.
    """
    phase = step.position.phase
    drawn_at_once = position.rules.has("F9") and _drawn_at_once(step, player, in_turn=player == phase.turn)
    if player == phase.turn and not drawn_at_once and not (type(phase) is Claim and phase.by == "unread"):
        _lay_in_turn(step, card, player)
    elif phase.turn is None and position.drifts:
        _lay_after_gap(step, card, seat if position.rules.has("K4") else None)
    elif type(phase) is Turn and phase.turn is None and not drawn_at_once:
        _lay_in_open_turn(step, card, player)
    elif position.drifts and type(phase) is Turn and not drawn_at_once:
        # The card shows whose turn it was.
        step.rule("question", "F7", ask="who_played", about=[step.ref])
        step.enter(TURNS[player])
        _lay_in_turn(step, card, player)
    elif (position.drifts or step.position.unread) and not drawn_at_once:
        # An unread card may have been a challenge, so this card may have been in turn (reading 10).
        open_cards = sorted(step.position.unread)
        _put(step, card, player, "played")
        step.rule("question", "F7", ask="who_played", about=[step.ref, *open_cards])
    elif position.war is not None and seat is None:
        # Any seat in the War may have laid it.
        _put(step, card, player, "dead")
        step.rule("question", "M4", ask="who_played", about=[step.ref])
    elif not drawn_at_once and _may_have_been_skipped(step.position, player):
        # This seat is not the next one with cards, but only by uncertain counts (reading 15).
        step.rule("question", "F7", ask="who_played", about=[step.ref])
        if isinstance(phase, Challenge) and phase.challenger == player:
            # A seat cannot pay its own challenge: either it is won, or this card is out of turn.
            _put(step, card, player, "played")
        else:
            step.enter(phase._replace(challenged=player) if isinstance(phase, Challenge) else Turn(player))
            _lay_in_turn(step, card, player)
    else:
        _lay_dead(step, card, player, drawn_at_once=drawn_at_once)


def _owner_is_open(position: Position) -> bool:
    """Whether a card whose seat was not seen may be any of several seats', or no seat's: the lead is open (K3)."""
    phase = position.phase
    if position.drifts:
        return False
    if _whose_turn(position) == NO_SEAT:
        return True
    if not position.rules.has("K4"):
        return False
    if type(phase) is OpenLead:
        return not position.unsure.isdisjoint(phase.seats)
    return type(phase) is DeadHeat or (type(phase) is Turn and phase.turn is None and bool(position.unsure))


def _lay_without_owner(step: Step, card: str, row: str) -> None:
    """Lay a card whose owner is not known, and ask people (K3): it comes from the cards whose holder is not known."""
    phase = step.position.phase
    concerned = frozenset(step.position.tied or step.position.players())
    if type(phase) is DeadHeat:
        hold_provisionally(step, phase.seats[0])
    elif type(phase) is OpenLead:
        step.set(pile=(), in_limbo=step.position.in_limbo + len(step.position.pile))
    if step.position.over:
        return
    step.enter(TURNS[None])
    step.rule("question", row, ask="who_played", about=[step.ref])
    if step.position.in_limbo:
        step.set(in_limbo=step.position.in_limbo - 1)
    elif concerned:
        ask_recount(step, concerned, "K2")
    for seat in concerned:
        # It may have been the top card of any of these stacks.
        forget(step, seat, step.position.counts[seat - 1])
    step.set(unsure=step.position.unsure | concerned)
    _lay_after_gap(step, card, NO_SEAT)
    _seat_was_not_seen(step)


def _lay_in_open_turn(step: Step, card: str, seat: int) -> None:
    """Lay a seat's card while the turn is not known: it shows whose turn it was.

    It does not if the challenge of an unknown player may stand: then only a face card or ace is certain to challenge.
    """
    position = step.position
    rules = position.rules
    played = (laid for laid in position.pile if laid.state == "played")
    challenged = any(laid.ref in position.unread or rules.chances(laid.card) for laid in played)
    if challenged and not (rules.chances(card) and rules.has("C4")):
        _put(step, card, seat, "played")
        _end_by_pattern(step)
        return
    step.enter(TURNS[seat])
    _lay_in_turn(step, card, seat)


def _seat_was_not_seen(step: Step) -> None:
    """Mark the card's seat as inferred from the turn (reading 9); a report may name another (F7)."""
    pile = tuple(laid._replace(seat_seen=False) if laid.ref == step.ref else laid for laid in step.position.pile)
    step.set(pile=pile)


def _let_lead(step: Step, player: int) -> None:
    """Let a player lead; that shows that the last pile is gone, even if no pick-up was seen (reading 3)."""
    position = step.position
    phase = position.phase
    if isinstance(phase, DeadHeat | OpenLead) and player in phase.seats:
        # All counts concerned stay open until people say who was first.
        if isinstance(phase, DeadHeat):
            hold_provisionally(step, player)
        else:
            step.set(pile=(), in_limbo=position.in_limbo + len(position.pile))
            step.enter(Turn(player))
        if step.before.turn != player:
            step.rule("lead", "M1", seat=player)
    elif isinstance(phase, Claim) and phase.turn == player:
        if phase.by == "unread":
            if position.after(position.pile[-1].seat) != player:
                # Had that card been a face card, another seat would have to pay, so this seat leads.
                hold_provisionally(step, player)
        elif phase.by == "slap" or phase.seat == player:
            # If the winner does not lead (N2), the next card of the seat that leads shows the pick-up.
            pick_up(step, by_card_of=player)


def _may_have_been_skipped(position: Position, player: int) -> bool:
    """Whether all seats from the turn up to this player may be empty, at least one of them by an uncertain count."""
    turn = position.turn
    if turn is None or not isinstance(position.phase, _GOING_ON):
        return False
    unsure = False
    seat = turn
    while seat != player:
        held = position.counts[seat - 1]
        is_unsure = seat in position.unsure
        if held is None or held > (_MISCOUNT if is_unsure else 0):
            return False
        unsure = unsure or is_unsure
        seat = (seat - 1 + position.step) % position.seats + 1
    return unsure


def settle(step: Step) -> None:
    """After cards left a stack, update the seats that are out, pay, play or may slap, and end a decided game."""
    if 0 in step.position.counts:
        # Except for the turn, all of this depends on a seat without cards.
        announce_out(step)
        _stop_turning(step)
        _pass_on(step)
        end_if_decided(step)
        if any(step.position.locks):
            release_all_barred(step)
    step.announce_turn()


def _whose_turn(position: Position) -> int:
    """Return the seat assumed to have laid a card whose seat was not seen (reading 9); `NO_SEAT` if none has a card."""
    if position.phase.turn is not None:
        return position.phase.turn
    if position.last_chance is not None:
        return position.last_chance.seat
    if position.war is not None:
        shown = {seat for seat, _ in position.war.shown}
        return next((seat for seat in position.war.seats if seat not in shown), position.war.seats[0])
    return (position.tied or position.holders() or (NO_SEAT,))[0]


def _drawn_at_once(step: Step, seat: int, *, in_turn: bool) -> bool:
    """Whether this card was drawn at once with the top card, which the same seat laid (F9).

    If the errors leave that open, people's answer decides. Without one it counts as a separate draw, which favours the
    player. If that matters (in turn, or if a card out of turn costs something else), the rulings on the card are marked
    doubtful (K9).
    """
    if not step.position.pile:
        return False
    top = step.position.pile[-1]
    if top.seat != seat or not top.reveal or top.state == "burned":
        return False
    apart, errors = step.t - top.t, step.t_error + top.t_error
    if abs(apart - DRAWN_AT_ONCE_NS) < errors and step.position.rules.has("K9"):
        if step.side:
            return step.side == "before"
        rules = step.position.rules
        step.doubt = in_turn or not rules.has("F7") or (rules.word("F9") == "burn") != (rules.word("F7") == "burn")
        return False
    return apart < DRAWN_AT_ONCE_NS


def _put(step: Step, card: str, seat: int, state: State, *, final: bool = False, following: Turn | None = None) -> None:
    """Put the card on the pile; ``following``: the next phase, if already known."""
    position = step.position
    held = position.counts[seat - 1]
    if held is None:
        learn_count(step, card, seat)
    expected = step.position.expected(seat)
    if expected != card:
        check_card(step, card, seat, expected)
    if held == 0 and not from_limbo(step, seat, 1):
        ask_recount(step, (seat,), "K2")
    if position.paused_at is not None:
        step.stand_still(step.t)
    ref = step.ref
    position = step.position
    counts, known = without_top(position, seat)
    changes: dict[str, Any] = {
        "counts": counts,
        "known": known,
        "pile": (*position.pile, _tuple(Laid, (card, ref, step.t, seat, state, False, step.t_error, True, True))),
        "laid": position.laid + 1,
        "paid": 0,
        "covered": _tuple(Covered, (position.paid, position.said, position.phase)),
        "latest": ref,
        "emptied": seat if counts[seat - 1] == 0 else 0,
        "final": final,
    }
    if following is not None:
        changes["phase"] = following
    if position.said or position.calling:
        changes.update(said=position.calling, calling="")
    if position.penalised or position.still:
        changes.update(penalised=_NOBODY, still=0)
    step.position = position.replace(**changes)
    if position.rules.has("N8"):
        card_was_laid(step)
    if card == UNREADABLE and state == "played":
        step.set(unread=step.position.unread | {ref})
        step.rule("question", "K2", ask="unreadable_card", about=[ref])


def _lay_in_turn(step: Step, card: str, seat: int) -> None:
    position = step.position
    phase = position.phase
    challenge = phase if type(phase) is Challenge else None
    chances = position.rules.chances(card)
    following = None
    if type(phase) is Turn and not chances and (turn := position.after(seat)) != seat:
        # Most cards only pass the turn on, and the next seat does not depend on this stack: change both in one step.
        following = TURNS[turn]
    _put(step, card, seat, "played", final=challenge is not None and challenge.left == 1, following=following)
    position = step.position
    phase = position.phase
    if type(phase) is LastChance:
        # One of the three cards of E2: no challenges, no turns.
        left = phase.left - 1 if position.holds(phase.seat) else 0
        step.enter(LastChance(phase.seat, left, None if left else step.t + LAST_CHANCE_NS, step.ref, step.t_error))
    elif chances and (challenge is None or position.rules.has("C4")):
        _challenge(step, card, seat)
    elif challenge is None:
        if following is None:
            step.enter(TURNS[position.after(seat)])
    elif card[0] == "T" and position.rules.has("N5"):
        step.rule("challenge_off", "N5", because=(challenge.ref,), seat=seat)
        step.enter(Turn(position.after(seat)))
    else:
        _pay(step, card, seat, challenge)
    if not _ENDING.isdisjoint(position.rules.on):
        _end_by_pattern(step)


def _end_by_pattern(step: Step) -> None:
    """Apply three of a kind and triple sixes as soon as they are laid (P16, P16b)."""
    rules = step.position.rules
    three_of_a_kind(step)
    if rules.has("P16b") and rules.word("P16b") == "laid":
        close_for_triple_sixes(step)


def _lay_after_gap(step: Step, card: str, seat: int | None) -> None:
    """Lay a card after a gap: unseen cards may have passed, so its seat and challenge are uncertain.

    It counts for patterns. A face card whose seat is known certainly challenges, whatever came before it. `NO_SEAT`:
    the card counts as no player's.
    """
    if step.position.paused_at is not None:
        step.stand_still(step.t)
    position = step.position
    held = without_top(position, seat)[0] if seat else position.counts
    layer = _whose_turn(position) if seat is None else seat
    step.set(
        counts=held,
        pile=(*position.pile, Laid(card, step.ref, step.t, layer, "played")),
        laid=position.laid + 1,
        paid=0,
        covered=Covered(position.paid, position.said, position.phase),
        latest=step.ref,
        emptied=layer if layer and held[layer - 1] == 0 else 0,
        final=False,
        said=position.calling,
        calling="",
        penalised=_NOBODY,
        still=0,
    )
    rules = position.rules
    if rules.has("N8"):
        card_was_laid(step)
    if card == UNREADABLE:
        step.set(unread=step.position.unread | {step.ref})
        step.rule("question", "K2", ask="unreadable_card", about=[step.ref])
    elif seat and rules.chances(card) and rules.has("C4"):
        _challenge(step, card, seat)
    _end_by_pattern(step)


def _lay_dead(step: Step, card: str, seat: int, *, drawn_at_once: bool) -> None:
    """Lay a dead card: no turn, no chance, no challenge; it leaves with the pile (F7, F9, reading 9)."""
    if not drawn_at_once and not step.position.rules.has("F7"):
        # It counts for every row of patterns.
        _put(step, card, seat, "played")
        _end_by_pattern(step)
        return
    reason, rows = ("double_draw", ("F9", "F7")) if drawn_at_once else ("out_of_turn", ("F7",))
    _put(step, card, seat, "dead")
    rules = step.position.rules
    if rules.word("F7") != "stays":
        # The card on top stays uncovered.
        step.set(paid=step.position.covered.paid, said=step.position.covered.said)
        put_at_bottom(step, step.ref)
    step.rule("dead_card", *rows, seat=seat, card=card, reason=reason)
    row = "F9" if drawn_at_once else "F7"
    if rules.word(row) == "burn":
        burn_once(step, seat, rules.number("F1"), row)


def put_at_bottom(step: Step, ref: str) -> None:
    """Move a dead card to the bottom of the pile (F7)."""
    pile = step.position.pile
    # The sort is stable: only the dead card moves.
    step.set(pile=tuple(sorted(pile, key=lambda laid: laid.ref != ref)))


def _stop_turning(step: Step) -> None:
    """Start the two seconds of E2 if the last card to turn went as a penalty."""
    chance = step.position.last_chance
    if chance is not None and chance.left and not step.position.holds(chance.seat):
        step.enter(LastChance(chance.seat, 0, step.t + LAST_CHANCE_NS, step.ref))


def _challenge(step: Step, card: str, seat: int) -> None:
    """Start a challenge to the next seat with cards; one among the chances replaces the old challenge (C1, C4)."""
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
    step.enter(Challenge(seat, challenged, card, step.ref, chances))


def _pay(step: Step, card: str, seat: int, challenge: Challenge) -> None:
    """Use up one chance by a number card (C1); the last one wins the pile for the challenger (C5)."""
    position = step.position
    left = challenge.left - 1
    paid = position.rules.chances(challenge.card) - left
    if left == 0 and position.rules.has("C5"):
        if card == UNREADABLE:
            # It may have been a face card: the pile is not won until people name it (reading 10).
            step.enter(Claim(challenge.challenger, "unread", step.ref, challenge.challenger), paid=paid)
        else:
            claim_by_challenge(step, challenge.challenger, "C5", paid=paid)
        return
    if left == 0:
        step.enter(Turn(position.after(seat)), paid=paid)
        return
    step.rule("chance", "C1", because=(challenge.ref,), seat=seat, left=left)
    payer = seat
    if position.rules.has("C10"):
        payer = position.after(seat, never=challenge.challenger) or seat
    step.enter(Challenge(challenge.challenger, payer, challenge.card, challenge.ref, left), paid=paid)


def _pass_on(step: Step) -> None:
    """Pass on the turn of a seat without cards; if no seat can go on, the pile is won (C6a, C6b, E6)."""
    position = step.position
    phase = position.phase
    if isinstance(phase, Challenge) and not position.holds(phase.challenged):
        heir = position.after(phase.challenged, never=phase.challenger)
        rows = [row for row in ("C6a", "C6b") if position.rules.has(row)]
        if position.rules.has("E6"):
            step.rule("challenge_won", "C5", *rows, seat=phase.challenger)
            lose_if_due(step)
        elif heir is None or not position.rules.has("C6a"):
            claim_by_challenge(step, phase.challenger, "C5", *rows)
        else:
            step.enter(phase._replace(challenged=heir))
            step.rule("challenge_moves", "C6a", because=(phase.ref,), seat=heir, left=phase.left)
    elif isinstance(phase, Turn | OpenLead) and phase.turn is not None and not position.holds(phase.turn):
        if position.rules.has("E6") and isinstance(phase, Turn):
            lose_if_due(step)
            return
        heir = position.after(phase.turn)
        if isinstance(phase, OpenLead) and heir is not None and heir not in phase.seats:
            # Since its count became uncertain, it may lead, too.
            phase = phase._replace(seats=(*phase.seats, heir))
        step.enter(phase._replace(turn=heir))


def leave(step: Step, seat: int, *, is_counted: bool = False) -> int | None:
    """Remove a player: the cards go under the pile, or are dealt out to the others (E8).

    The player's challenge, claim to a pile not yet picked up, and hand in a dead heat are void. The last player left at
    the table wins.

    Args:
        step: the transition.
        seat: the player who leaves.
        is_counted: the player's count is certain, though the owner of a pile is undecided.

    Returns:
        The seat that thereby wins a dead heat or a War, because the others have left.
    """
    position = step.position
    if position.over or not 1 <= seat <= position.seats or seat in position.absent:
        return None
    step.set(absent=position.absent | {seat})
    step.rule("out", "E8", seat=seat)
    held = position.counts[seat - 1]
    if held is None or (seat in position.unsure and not is_counted):
        # The number of cards that leave with the player is unknown.
        ask_recount(step, position.players_after(seat), "E8")
    leave_behind(step, seat, take_top(step, seat, held) if held else ())
    forget(step, seat, 0)
    debts = tuple(0 if other == seat else debt for other, debt in enumerate(position.debts, start=1))
    step.set(unsure=step.position.unsure - {seat}, debts=debts)
    winner = let_go(step, seat)
    others = step.position.players_after(seat)
    if len(others) == 1 and not step.position.over:
        win(step, others[0], "E8")
        winner = None
    settle(step)
    return winner


def let_go(step: Step, seat: int) -> int | None:
    """Adjust the phase to a seat that no longer plays (E8); return the seat that thereby wins a dead heat."""
    position = step.position
    phase = position.phase
    turn = position.after(seat)
    if isinstance(phase, Claim) and (sharers := [other for other in phase.sharers if other != seat]):
        # The share of a player who left goes by E8 once the pile is picked up.
        first = sharers[0] if phase.seat == seat else phase.seat
        gone = (*phase.gone, seat) if seat in phase.sharers else phase.gone
        step.enter(phase._replace(seat=first, turn=first if phase.turn == seat else phase.turn, gone=gone))
    elif isinstance(phase, Challenge) and phase.challenged == seat:
        _hand_on_challenge(step, phase)
    elif (isinstance(phase, Claim | LastChance) and phase.seat == seat) or (
        isinstance(phase, Challenge) and phase.challenger == seat
    ):
        if isinstance(phase, Challenge):
            step.undone += (f"challenge@{phase.ref}",)
        elif isinstance(phase, Claim) and phase.by == "challenge":
            step.undone += (f"challenge_won@{phase.ref}",)
        step.enter(Turn(phase.turn if phase.turn != seat else turn))
    elif isinstance(phase, Claim | Turn) and phase.turn == seat and turn is not None:
        step.enter(phase._replace(turn=turn))
    elif isinstance(phase, OpenLead) and seat in phase.seats:
        left = tuple(other for other in phase.seats if other != seat) or position.players_after(seat)
        # Where no player is left to lead, the pile lies there for who slaps in or joins (M10, M11).
        step.enter(OpenLead(left, left[0] if phase.turn == seat else phase.turn) if left else Turn(turn))
    elif isinstance(phase, DeadHeat) and seat in phase.seats:
        left = tuple(other for other in phase.seats if other != seat)
        step.enter(DeadHeat(left))
        return left[0] if len(left) == 1 else None
    elif isinstance(phase, War):
        return war.without(step, seat)
    return None


def _hand_on_challenge(step: Step, challenge: Challenge) -> None:
    """Pass a challenge on when its payer leaves: leaving never loses it, so the next player pays (E8, C6a)."""
    heir = step.position.after(challenge.challenged, never=challenge.challenger)
    if heir is None:
        claim_by_challenge(step, challenge.challenger, "C5", "E8")
    else:
        step.enter(challenge._replace(challenged=heir))
        step.rule("challenge_moves", "C6a", "E8", because=(challenge.ref,), seat=heir, left=challenge.left)
