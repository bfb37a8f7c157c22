"""What a slap is worth: the verdict on one hand against the pile as it lies (M rows, F8, N1).

`verdict` looks and changes nothing, so that a slap near a reveal can be judged both ways (K9).
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from referee.rules.cards import PACK
from referee.rules.patterns import patterns
from referee.rules.position import Position

Outcome = Literal["won", "void", "question", "false"]

WORTH: Final = {"won": 3, "question": 2, "void": 1, "false": 0}
"""How good an outcome is for the slapper (K9)."""


class Verdict(NamedTuple):
    """An outcome with its reason or patterns, its rows, and the cards that it rests on, oldest first."""

    outcome: Outcome
    reason: str = ""
    rule: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    because: tuple[str, ...] = ()
    cards: tuple[str, ...] = ()


def barred(position: Position, seat: int) -> Verdict | None:
    """Why this seat's hand does not count at all, or None where it does."""
    if position.over or seat > position.seats:
        return Verdict("void", "not_playing", ("E1",))
    if position.paused:
        return Verdict("void", "paused", ("K6",))
    if seat in position.held:
        return Verdict("void", "held", ("M5",))
    if seat in position.locked_out:
        return Verdict("void", "locked_out", ("F6a",))
    if position.holds(seat):
        return None
    if not position.rules.has("M10"):
        return Verdict("void", "not_playing", ("M10",))
    if position.rules.has("M12") and position.last_chance is None and len(position.holders()) < 2:
        return Verdict("void", "not_playing", ("M12",))
    return None


def verdict(position: Position, seat: int, t: int) -> Verdict:
    """Judge a hand at ``t`` (ns) against the position as it stands (reading 1)."""
    no = barred(position, seat)
    if no is not None:
        return no
    if position.tied or (position.claim is not None and position.claim.by == "slap"):
        return Verdict("void", "late", ("N1",))
    if all(laid.state == "burned" for laid in position.pile):
        return Verdict("void", "empty_pile", ("M1",))
    if position.unread:
        return _verdict_on_unread(position, t)
    return _verdict_on_pile(position, t)


def _verdict_on_pile(position: Position, t: int) -> Verdict:
    dead = _dead_on_top(position)
    if dead is None:
        rows, depth = patterns(_top(position), position.rules)
        if rows:
            made = position.played()[-depth:]
            refs = tuple(laid.ref for laid in made)
            return Verdict("won", "", ("M1", *rows), rows, refs, tuple(laid.card for laid in made))
    top = _newest(position)
    if _just_covered(position, t):
        return Verdict("void", "covered", ("M9",), because=(top,))
    if dead is not None:
        return Verdict("false", "dead_card", ("F8",), because=(dead,))
    return Verdict("false", "no_pattern", ("F1",), because=(top,))


def _verdict_on_unread(position: Position, t: int) -> Verdict:
    """Where a card nobody could read decides, nothing is decided (reading 10)."""
    plain = _verdict_on_pile(position, t)
    for ref in position.unread:
        for card in PACK:
            pile = tuple(laid._replace(card=card) if laid.ref == ref else laid for laid in position.pile)
            if _verdict_on_pile(position._replace(pile=pile), t).outcome != plain.outcome:
                return Verdict("question", "unreadable_card", ("K2",), because=tuple(sorted(position.unread)))
    return plain


def _top(position: Position) -> tuple[str, ...]:
    return tuple(laid.card for laid in reversed(position.pile) if laid.state == "played")


def _dead_on_top(position: Position) -> str | None:
    """The dead card that lies on top, by its observation; None where a counting card does."""
    for laid in reversed(position.pile):
        if laid.state == "dead":
            return laid.ref
        if laid.state == "played":
            return None
    return None


def _newest(position: Position) -> str:
    return next((laid.ref for laid in reversed(position.pile) if laid.state != "burned"), "")


def _just_covered(position: Position, t: int) -> bool:
    """Whether the newest card is so new that the hand can only have meant what it covered (M9)."""
    if not position.rules.has("M9"):
        return False
    newest = max((laid for laid in position.pile if laid.state != "burned"), key=lambda laid: laid.t, default=None)
    if newest is None or t - newest.t >= position.rules.value("M9") * 1_000_000:
        return False
    under = tuple(laid for laid in position.pile if laid is not newest)
    before = position._replace(pile=under)
    if _dead_on_top(before) is not None:
        return False
    return bool(patterns(_top(before), position.rules)[0])
