"""Stacks of cards: take from the top, put under the bottom, burn, remember (K2, K7, C8, F1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from referee.rules.cards import UNREADABLE
from referee.rules.phase import Player
from referee.rules.position import Laid, Position, State
from referee.rules.step import Draft, Step


def take_top(step: Step, seat: int, count: int = 1) -> tuple[str, ...]:
    """Take cards from a seat's stack; return their faces, empty where unknown."""
    position = step.position
    held, known = position.counts[seat - 1], position.known[seat - 1]
    above = count if held is None else min(max(held - len(known), 0), count)
    from_known = 0 if held is None else min(count - above, len(known))
    names = ("",) * above + known[:from_known]
    left = None if held is None else max(held - count, 0)
    _store(step, seat, left, known[from_known:])
    if held is not None and count > held:
        names += ("",) * from_limbo(step, seat, count - held)
    return names


def from_limbo(step: Step, seat: int, count: int) -> int:
    """Take cards beyond a seat's count from piles with an unknown owner; return the number taken."""
    position = step.position
    count = min(count, position.in_limbo) if seat in position.unsure else 0
    if count:
        step.set(in_limbo=position.in_limbo - count)
    return count


def without_top(position: Position, seat: int) -> tuple[tuple[int | None, ...], tuple[tuple[str, ...], ...]]:
    """Return the counts and known cards of all seats after a seat lays its top card: a fast `take_top` for one card."""
    at = seat - 1
    held, known = position.counts[at], position.known[at]
    if not held:
        return position.counts, position.known
    counts = list(position.counts)
    counts[at] = held - 1
    if held > len(known):
        return tuple(counts), position.known
    stacks = list(position.known)
    stacks[at] = known[1:]
    return tuple(counts), tuple(stacks)


def put_under(step: Step, seat: Player, cards: Sequence[str]) -> None:
    """Put cards under a seat's stack, the first of them next to it (C8); empty texts for unseen cards."""
    held, known = step.position.counts[seat - 1], step.position.known[seat - 1]
    remembered = step.position.rules.has("K2")
    names = tuple(card if remembered and card != UNREADABLE else "" for card in cards)
    if not known and not any(names):
        names = ()
    if seat in step.position.unsure:
        # A pile with an unknown owner may lie between.
        known = names = ()
    _store(step, seat, None if held is None else held + len(cards), known + names)


def hand_over(step: Step, seat: int, to: Player, count: int) -> None:
    """Move cards from the top of one stack to the bottom of another."""
    put_under(step, to, take_top(step, seat, count))


def forget(step: Step, seat: int, count: int | None) -> None:
    """Forget the cards of a stack; its count may stay known."""
    _store(step, seat, count, ())


def _store(step: Step, seat: int, count: int | None, known: tuple[str, ...]) -> None:
    counts = list(step.position.counts)
    stacks = list(step.position.known)
    counts[seat - 1] = count
    stacks[seat - 1] = known
    step.set(counts=tuple(counts), known=tuple(stacks))


def learn_count(step: Step, card: str, seat: int) -> None:
    """Learn a stack's count when its first known card is played: no cards are left above it (S4c, K2)."""
    position = step.position
    known = position.known[seat - 1]
    if position.counts[seat - 1] is None and known and known[0] == card and not may_be_there(position, card):
        _store(step, seat, len(known), known)


def check_card(step: Step, card: str, seat: int, expected: str) -> None:
    """Question a card that cannot be there, or that reveals a stack whose order changed (K2, K7, S2).

    The question names the candidates: first the card as reported, then the one that memory expects.
    """
    position = step.position
    if card == UNREADABLE or expected == card:
        return
    if expected:
        reordered = card in position.known[seat - 1]
        ask, row = ("order_changed", "K7") if reordered else ("impossible_card", "K2")
        if position.rules.has(row):
            step.rule("question", row, ask=ask, about=[step.ref], cards=[card, expected])
        forget(step, seat, position.counts[seat - 1])
    elif position.rules.has("K2") and position.rules.has("S2") and not may_be_there(position, card):
        step.rule("question", "K2", "S2", ask="impossible_card", about=[step.ref], cards=[card])


def may_be_there(position: Position, card: str) -> bool:
    """Whether a copy of this card may be in an unknown place (S2)."""
    return copies(position, card) < (position.jokers if card[0] == "X" else position.packs)


def copies(position: Position, card: str) -> int:
    """Return the number of copies of this card known to be on the table or in stacks."""
    alike = ("Xr", "Xb") if card[0] == "X" else (card,)
    places = ([laid.card for laid in position.pile], *position.known)
    return sum([place.count(twin) for place in places for twin in alike])


def ask_recount(step: Step, seats: Iterable[int], *rule: str) -> None:
    """Ask people to count stacks whose size is no longer known."""
    asked = frozenset(seats)
    step.set(uncounted=step.position.uncounted | {(step.ref, seat) for seat in asked})
    if "K2" in rule:
        # A seat that laid a card too many may hold more: its count decides nothing (reading 22), nor has it made the
        # seat out at the pick-up that the same card shows (E1, F6d).
        step.set(unsure=step.position.unsure | asked)
        step.drafts[:] = [
            draft for draft in step.drafts if not (_is_out_by_count(draft) and draft.fields["seat"] in asked)
        ]
    step.rule("question", *rule, ask="recount", about=[step.ref])


def _is_out_by_count(draft: Draft) -> bool:
    return draft.kind == "out" and "E8" not in draft.rule


def burn(step: Step, seat: int, cards: int, row: str) -> None:
    """Burn cards face up to the bottom of the pile, or dead on top of it (F1, F4); all of them if fewer are left."""
    held = step.position.count(seat)
    count = cards if held is None else min(cards, held)
    if count == 0:
        return
    on_top = step.position.rules.has("F4")
    names = take_top(step, seat, count)
    state: State = "dead" if on_top else "burned"
    burned = tuple(Laid(name or UNREADABLE, step.ref, step.t, seat, state, reveal=False) for name in names)
    pile = step.position.pile
    step.set(pile=pile + burned if on_top else burned[::-1] + pile)
    rows = (row, "F4") if on_top else (row,)
    step.rule("burn", *rows, seat=seat, count=count, where="top" if on_top else "bottom")


def burn_once(step: Step, seat: int, cards: int, row: str) -> None:
    """Burn cards for a fault other than a slap; with N7 a seat pays at most one penalty per card laid (reading 24)."""
    if seat not in step.position.penalised:
        burn(step, seat, cards, row)
    if step.position.rules.has("N7"):
        step.set(penalised=step.position.penalised | {seat})
