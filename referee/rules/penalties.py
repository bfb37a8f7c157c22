"""Penalties for false slaps and reported fouls (F rows, N7 to N9, M13)."""

from __future__ import annotations

from typing import Final

from referee.rules.card_play import let_go, put_at_bottom, settle
from referee.rules.locks import lock
from referee.rules.phase import Claim, DeadHeat, OpenLead, Player, War
from referee.rules.pickup import give_pile, remember_verdict
from referee.rules.position import NO_SEAT, Laid, Position
from referee.rules.stacks import ask_recount, burn, burn_once, check_card, from_limbo, hand_over, take_top
from referee.rules.step import Step

_WORN: Final = frozenset(("rings", "ring", "watch", "bracelet", "nails"))
"""Fouls for things worn on a hand, followed by a reminder (S7)."""
_COSTS: Final = ("counts", "strikes", "debts", "locks")
"""Position fields that a penalty changes; a false slap that changes none of them does not count (F2)."""
_BESIDE_THE_PAD: Final = frozenset(("slapped_pile", "slap_your_pad"))
"""Reports of a hand on the pile itself: not a foul, and not judged (reading 14)."""


def false_slap(step: Step, seat: int) -> None:
    """Penalise a false slap: it burns cards (F1), or costs what the house rules say instead."""
    position = step.position
    rules = position.rules
    remember_verdict(step, seat, "slap", right=False, ref=step.ref)
    step.set(convicted=position.convicted | {seat})
    if rules.has("M13") and position.final:
        # The final card of a challenge may be slapped at no risk, whatever card it is.
        return
    if seat in position.penalised:
        return
    if rules.has("N7"):
        step.set(penalised=position.penalised | {seat})
    layer = _latest_layer(position)
    # A won pile already has an owner, by a slap (N1) or a challenge (reading 4), so it cannot be given away.
    in_play = layer is not None and position.claim is None
    if not position.holds(seat):
        _without_cards(step, seat)
    elif rules.has("N8"):
        # The card that was slapped, and the agreed number after it.
        lock(step, seat, "cards", "N8", rules.number("N8") + 1)
    elif rules.has("F3") and in_play and layer is not None:
        owner = _layer_or_before(position, layer, seat)
        if owner is not None:
            give_pile(step, owner, "F3")
    elif rules.has("N9") and in_play:
        following = position.after(seat, never=seat)
        if following is not None:
            give_pile(step, following, "N9")
    elif rules.has("F12") and layer is not None:
        _pay_the_layer(step, seat)
    elif rules.has("F1"):
        extra = position.false_run if rules.has("F2") else 0
        burn(step, seat, rules.number("F1") + extra, "F2" if extra else "F1")
    after = step.position
    if any(getattr(after, field) is not getattr(position, field) for field in _COSTS):
        step.set(false_run=after.false_run + 1)
    settle(step)


def _latest_layer(position: Position) -> int | None:
    """Return the seat that laid the latest card still in the pile; None if only burned cards are left."""
    return next((laid.seat for laid in position.pile if laid.ref == position.latest), None)


def _layer_or_before(position: Position, layer: int, slapper: int) -> Player | None:
    """Return the seat that laid a card, or the player before if that is the slapper or no longer plays (F3, F12)."""
    if layer == NO_SEAT:
        # People are asked who laid the card; until then it belongs to no player.
        return None
    player = position.player(layer) if layer != slapper else None
    return player if player is not None else position.before(layer, never=slapper)


def _pay_the_layer(step: Step, seat: int) -> None:
    """Pay for a false slap: give cards to the player who laid the top card, ignoring dead cards put below (F12)."""
    position = step.position
    top = next(laid.seat for laid in reversed(position.pile) if laid.reveal and laid.state != "burned")
    to = _layer_or_before(position, top, seat)
    held = step.position.count(seat)
    count = step.position.rules.number("F12")
    count = count if held is None else min(count, held)
    if count and to is not None:
        hand_over(step, seat, to, count)
        step.rule("give", "F12", seat=seat, to=to, count=count)


def _without_cards(step: Step, seat: int) -> None:
    """Penalise a false slap by a seat without cards (F6a to F6f, F11)."""
    rules = step.position.rules
    if rules.has("F6a"):
        # After the last strike the seat may not slap for the rest of the game.
        strikes = list(step.position.strikes)
        strikes[seat - 1] += 1
        step.set(strikes=tuple(strikes))
        step.rule("strike", "F6a", seat=seat, strikes=strikes[seat - 1])
        if strikes[seat - 1] >= rules.number("F6a"):
            lock(step, seat, "game", "F6a")
    elif rules.has("F6b"):
        lock(step, seat, "pile", "F6b")
    elif rules.has("F6c"):
        lock(step, seat, "game", "F6c")
    elif rules.has("F6d"):
        # The debt grows; above the limit the seat may not slap for the rest of the game.
        debts = list(step.position.debts)
        debts[seat - 1] += rules.number("F1")
        step.set(debts=tuple(debts))
        if debts[seat - 1] > rules.number("F6d"):
            lock(step, seat, "game", "F6d")
    elif rules.has("F6e"):
        lock(step, seat, "rounds", "F6e", rules.number("F6e"))
    elif rules.has("F6f"):
        lock(step, seat, "slap", "F6f")
    if rules.has("F11"):
        step.rule("remind", "F11", what="heckle")


def foul(step: Step, seat: int, name: str) -> None:
    """Record a reported foul and apply its penalty by the house rules (S6, S8, F7, F9, F10)."""
    rules = step.position.rules
    if name in _BESIDE_THE_PAD:
        step.rule("remind", "M1", what="slap_your_pad")
        return
    row = {"peek": "S6", "snap": "S8", "double_draw": "F9", "out_of_turn": "F7"}.get(name, "F10")
    step.rule("foul", row if rules.has(row) else "F10", seat=seat, foul=name)
    if name == "double_draw" and rules.has("F9"):
        if rules.word("F9") == "burn":
            burn_once(step, seat, rules.number("F1"), "F9")
        else:
            _second_card_is_dead(step, seat)
    elif name == "out_of_turn" and rules.has("F7"):
        _card_was_out_of_turn(step, seat)
    elif (name == "peek" and rules.has("S6")) or (rules.has("F10") and name != "snap"):
        burn_once(step, seat, rules.number("F10"), "S6" if name == "peek" and rules.has("S6") else "F10")
    elif name == "snap" and rules.has("S8") and rules.word("S8") == "false":
        false_slap(step, seat)
    if name == "hover":
        step.set(hovering=step.position.hovering | {(seat, step.position.laid)})
    if name in _WORN and rules.has("S7"):
        step.rule("remind", "S7", what="rings")
    settle(step)


def _second_card_is_dead(step: Step, seat: int) -> None:
    """Make the latest card of a seat that drew two at once dead, and undo its effects (F9, reading 16)."""
    laid = next((laid for laid in _latest_first(step.position) if laid.seat == seat), None)
    # A dead card was already judged when it was laid: out of turn, or too soon after the first.
    if laid is not None and laid.state == "played":
        _is_dead(step, laid, "F9", "double_draw")


def _card_was_out_of_turn(step: Step, seat: int) -> None:
    """Make a seat's latest card dead: people report that it was out of turn (F7).

    A card whose seat the camera did not see counted as laid by the seat to play; it now belongs to the reported seat.
    """
    for laid in _latest_first(step.position):
        if laid.seat == seat and laid.state == "dead":
            # It was already judged when it was laid.
            return
        if laid.state == "played" and (laid.seat == seat or not laid.seat_seen):
            if laid.seat != seat:
                laid = _laid_instead(step, laid, seat)
            _is_dead(step, laid, "F7", "out_of_turn")
            if step.position.rules.word("F7") == "burn":
                burn_once(step, seat, step.position.rules.number("F1"), "F7")
            return


def _latest_first(position: Position) -> list[Laid]:
    """Return the cards that were turned up, latest first, wherever they lie: a dead one may be at the bottom (F7)."""
    turned_up = (laid for laid in position.pile if laid.reveal and laid.state != "burned")
    return sorted(turned_up, key=lambda laid: laid.t, reverse=True)


def _laid_instead(step: Step, laid: Laid, seat: int) -> Laid:
    """Take a laid card from this seat's stack instead, and give one back to the seat that was thought to lay it."""
    expected = step.position.expected(seat)
    empty = step.position.counts[seat - 1] == 0
    lacks = empty and not from_limbo(step, seat, 1)
    if not empty:
        take_top(step, seat)
    held = step.position.counts[laid.seat - 1] if laid.seat != NO_SEAT else None
    if laid.seat == NO_SEAT:
        step.set(in_limbo=step.position.in_limbo + 1)
    if held is not None:
        counts = list(step.position.counts)
        counts[laid.seat - 1] = held + 1
        step.set(counts=tuple(counts))
    own = laid._replace(seat=seat, seat_seen=True)
    step.set(pile=tuple(own if other.ref == laid.ref else other for other in step.position.pile))
    if expected:
        check_card(step, laid.card, seat, expected)
    if lacks:
        ask_recount(step, (seat,), "K2")
    return own


def _is_dead(step: Step, laid: Laid, row: str, reason: str) -> None:
    """Make a counted card dead, as people reported, and undo its effects (F7, F9, reading 16)."""
    position = step.position
    dead = laid._replace(state="dead")
    pile = tuple(dead if other.ref == dead.ref else other for other in position.pile)
    step.set(pile=pile, unread=position.unread - {dead.ref})
    step.rule("dead_card", row, seat=dead.seat, card=dead.card, reason=reason, because=(dead.ref,))
    if position.rules.has("F7") and position.rules.word("F7") != "stays":
        put_at_bottom(step, dead.ref)
    phase = position.phase
    if isinstance(phase, War | DeadHeat | OpenLead) or (isinstance(phase, Claim) and phase.by == "slap"):
        # A hand has won the pile since, or may have; that result stands.
        return
    if dead.ref == position.latest:
        before = position.covered
        step.set(paid=before.paid, said=before.said, final=False)
        step.enter(before.phase)
        step.undone_card = dead.ref
        for absent in step.position.absent:
            let_go(step, absent)
    elif position.challenge is not None or position.claim is not None:
        # Others have played since; people must say who was due.
        step.rule("question", row, ask="who_played", about=[position.latest])


def contest(step: Step, by: tuple[int, ...], against: int, cause: str | None) -> None:
    """Settle by the record whether a contested slap or take was right (F5): the latest, or the one ``cause`` names.

    An act that did not count cannot be contested, and each player may contest an act once. ``upheld`` says that the
    slap or take was right.
    """
    position = step.position
    if not position.rules.has("F5"):
        return
    accused = position.player(against)
    record = reversed(position.verdicts)
    act = next((entry for entry in record if entry.seat == against and cause in (None, entry.ref, entry.pickup)), None)
    players = (player for other in dict.fromkeys(by) if (player := position.player(other)) is not None)
    said = tuple(player for player in players if player != against and (act is None or player not in act.contested))
    if act is None or accused is None or not said:
        step.rule("question", "F5", ask="nothing_to_contest", about=[step.ref])
        return
    again = act._replace(contested=act.contested | set(said))
    step.set(verdicts=tuple(again if entry is act else entry for entry in position.verdicts))
    right = act.right
    step.rule("contested", "F5", because=(act.ref,), against=against, by=list(said), upheld=right)
    for other in said:
        giver, taker = (other, accused) if right else (accused, other)
        if step.position.count(giver) != 0:
            hand_over(step, giver, taker, 1)
            step.rule("give", "F5", seat=giver, to=taker, count=1)
    settle(step)
