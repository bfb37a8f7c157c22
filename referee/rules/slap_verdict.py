"""The verdict on one slap against the current pile (M rows, F8, N rows).

`judge_slap` changes nothing, so a slap near a reveal can be judged both ways (K9).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, Literal, NamedTuple

from referee.rules.cards import PACK, UNREADABLE
from referee.rules.matches import find_patterns
from referee.rules.phase import Challenge, Claim, DeadHeat, Over, War
from referee.rules.position import Laid, Position
from referee.rules.unread_cards import hangs_on_gap, readings, rests_on_read_cards
from referee.units import MS

Outcome = Literal["won", "void", "question", "false"]

OUTCOME_WORTH: Final = {"won": 3, "question": 2, "void": 1, "false": 0}
"""Rank of each outcome for the slapper; higher is better (K9)."""


_MASHING_WINDOW_NS: Final = 1_000_000_000
_MASHING_BAR_NS: Final = 500_000_000


class Verdict(NamedTuple):
    """An outcome with its reason or patterns, its rows, and the cards that it rests on, oldest first."""

    outcome: Outcome
    reason: str = ""
    rule: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    because: tuple[str, ...] = ()
    cards: tuple[str, ...] = ()


def judge_near_limits(position: Position, seat: int, t: int, t_error: int) -> tuple[Verdict, list[Verdict]]:
    """Return the verdict on a hand by its instant, and those that its error leaves open, earliest instant first (K9).

    A time limit is an instant with the error of the reveal that it counts from. A hand closer to it than the sum of
    both errors may be on the other side: M6, M9, M15 and N12 after the newest card, N13 after the presses before it,
    and the end of a game that ends by the clock (E2, E7). The list is empty if the hand is near no limit.
    """
    judged = judge_slap(position, seat, t)
    instants = sorted({t, *_across_limits(position, seat, t, t_error)})
    open_ = [judged if at == t else judge_slap(position, seat, at) for at in instants]
    rules = position.rules
    if rules.has("N13") and seat <= len(position.names):
        sides = {_mashing(position, seat, t, t_error, lean) for lean in (-1, 1)}
        if len(sides) == 2:
            open_ = [
                judge_slap(position, seat, t, mashing=True),
                *(judge_slap(position, seat, at, mashing=False) for at in instants),
            ]
    end = end_by_clock(position)
    if end is not None and abs(t - end[0]) < t_error + end[1]:
        open_.append(Verdict("void", "not_playing", ("E1",)))
    return judged, open_ if len(open_) > 1 else []


def _across_limits(position: Position, seat: int, t: int, t_error: int) -> Iterator[int]:
    """Yield, for each limit after the newest card that is within the errors, an instant on its other side."""
    newest = newest_reveal(position)
    if newest is None:
        return
    rules = position.rules
    limits = []
    if rules.has("M6") and (rules.forehead.who == "all" or seat in position.convicted):
        limits.append(rules.forehead.ms)
    if rules.has("M15") and newest.seat == seat:
        limits.append(rules.number("M15"))
    if rules.has("N12"):
        limits.append(rules.anticipation.ms)
    if rules.has("M9"):
        limits.append(rules.number("M9"))
    for ms in limits:
        limit = newest.t + position.still + ms * MS
        if abs(t - limit) < t_error + newest.t_error:
            yield limit if t < limit else limit - 1


def end_by_clock(position: Position) -> tuple[int, int] | None:
    """Return the instant at which the clock ends the game (E2, E7) and its error, ns; None without such an end."""
    if position.paused_at is not None or position.over:
        return None
    ends = [(position.ends_at, 0)] if position.ends_at is not None else []
    chance = position.last_chance
    if chance is not None and chance.ends_at is not None:
        ends.append((chance.ends_at, chance.t_error))
    return min(ends, default=None)


def barred(position: Position, seat: int, t: int, *, mashing: bool | None = None) -> Verdict | None:
    """Return why this seat's hand does not count at ``t`` (ns); None if it counts."""
    if isinstance(position.phase, Over) or seat > len(position.names) or not position.rules.slaps:
        return Verdict("void", "not_playing", ("E1",))
    if seat in position.absent:
        return Verdict("void", "not_playing", ("E8" if position.rules.has("E8") else "M11",))
    if position.paused_at is not None or position.closed:
        return Verdict("void", "paused", ("P16b" if position.closed else "K6",))
    if seat in position.held and position.rules.has("M5"):
        return Verdict("void", "held", ("M5",))
    if position.rules.has("N13") and (_mashing(position, seat, t) if mashing is None else mashing):
        return Verdict("void", "mashing", ("N13",))
    lock = position.locks[seat - 1]
    if lock is not None:
        return Verdict("void", "locked_out", (lock.row,))
    if isinstance(position.phase, Challenge) and not position.rules.has("M7"):
        return Verdict("void", "not_playing", ("M7",))
    if position.may_slap(seat):
        return None
    return Verdict("void", "not_playing", ("M12" if position.rules.has("M10") else "M10",))


def _mashing(position: Position, seat: int, t: int, t_error: int = 0, lean: int = 0) -> bool:
    """Whether the pad is barred: more than n presses within a second bar it for half a second (N13).

    ``lean``: 1 if all errors count towards the bar, -1 if all count against it, 0 if errors are ignored.
    """
    presses = (*position.presses[seat - 1], (t, t_error))
    limit = position.rules.number("N13")
    for place in range(limit, len(presses)):
        (first, first_error), (last, last_error) = presses[place - limit], presses[place]
        # A distance equal to the errors is far enough (K9), so leaning down takes 1 ns less.
        window = lean * (first_error + last_error) + (lean < 0 < first_error + last_error)
        own = 0 if place == len(presses) - 1 else t_error + last_error
        bar = lean * own + (lean < 0 < own)
        if t - last < _MASHING_BAR_NS + bar and last - first < _MASHING_WINDOW_NS + window:
            return True
    return False


def judge_slap(position: Position, seat: int, t: int, *, mashing: bool | None = None) -> Verdict:
    """Judge a hand at ``t`` (ns) against the position as it stands (reading 1).

    ``mashing`` says whether N13 bars the pad, if the presses' errors leave that open.
    """
    no = barred(position, seat, t, mashing=mashing)
    if no is not None:
        return no
    phase = position.phase
    if (isinstance(phase, Claim) and phase.by == "slap") or isinstance(phase, War | DeadHeat):
        # The pile has an owner, though perhaps not a known one yet.
        late_is_false = position.rules.has("N1") and position.rules.word("N1") == "false"
        return Verdict("false" if late_is_false else "void", "late", ("N1",))
    if all(laid.state == "burned" for laid in position.pile):
        # No card to slap; before the first card of a game that may be false (N10).
        if position.laid or not position.rules.has("N10"):
            return Verdict("void", "empty_pile", ("M1",))
        if position.rules.word("N10") == "false":
            return Verdict("false", "too_soon", ("N10",))
        return Verdict("void", "empty_pile", ("N10",))
    too_soon = _too_soon(position, seat, t)
    if too_soon is not None:
        return too_soon
    if position.hovering and hovers(position, seat):
        return Verdict("false", "hovering", ("M5",))
    if position.unread:
        return _verdict_on_unread(position, seat, t)
    return _verdict_on_pile(position, seat, t)


def hovers(position: Position, seat: int) -> bool:
    """Whether this hand was reported hovering, and at most one card has been laid since (M5)."""
    return position.rules.has("M5") and any(
        hand == seat and position.laid <= laid + 1 for hand, laid in position.hovering
    )


def _too_soon(position: Position, seat: int, t: int) -> Verdict | None:
    """Return the verdict on a hand that came too soon after the reveal (M6, M15, N12), else None.

    A hand meant for the covered card is not too soon (M9).
    """
    newest = newest_reveal(position)
    if newest is None:
        return None
    since, rules = t - newest.t - position.still, position.rules
    if rules.has("M6"):
        forehead = rules.forehead
        if since < forehead.ms * MS and (forehead.who == "all" or seat in position.convicted):
            return Verdict("void", "too_soon", ("M6",), because=(newest.ref,))
    if rules.has("M15") and newest.seat == seat and since < rules.number("M15") * MS:
        return Verdict("void", "too_soon", ("M15",), because=(newest.ref,))
    if rules.has("N12") and since < rules.anticipation.ms * MS and not _just_covered(position, t):
        outcome: Outcome = "false" if rules.anticipation.outcome == "false" else "void"
        return Verdict(outcome, "too_soon", ("N12",), because=(newest.ref,))
    return None


def _verdict_on_pile(position: Position, seat: int, t: int) -> Verdict:
    dead = _dead_on_top(position)
    rules = position.rules
    # Whether a won challenge can no longer be slapped away (C9, N11).
    challenger_first = not rules.has("C9") or (rules.has("N11") and rules.word("N11") == "challenger")
    claim = position.phase if isinstance(position.phase, Claim) else None
    taken = claim is not None and challenger_first
    if dead is None and not taken:
        won = _pattern_verdict(position)
        if won is not None:
            return won
    newest = newest_reveal(position)
    top = (newest.ref,) if newest is not None else ()
    if _just_covered(position, t):
        if dead is None and not taken and _needs_bottom_card(position):
            return Verdict("question", "bottom_card", ("P5b",), because=top)
        return Verdict("void", "covered", ("M9",), because=top)
    if claim is not None and claim.seat == seat and position.rules.has("N6"):
        return Verdict("won", "", ("N6",), ("N6",), top, tuple(laid.card for laid in position.pile[-1:]))
    covered = _uncovered(position, t)
    # The covered pile may have been a pattern with an unseen lowest card.
    unsure = covered is not None and _needs_bottom_card(covered)
    if dead is not None and not unsure:
        return Verdict("false", "dead_card", ("F8",), because=(dead,))
    if taken and _pattern_verdict(position) is not None:
        return Verdict("void", "late", ("N11",), because=top)
    if dead is None and _needs_bottom_card(position):
        return Verdict("question", "bottom_card", ("P5b",), because=top)
    if unsure:
        return Verdict("question", "bottom_card", ("P5b", "M9"), because=top)
    return Verdict("false", "no_pattern", ("F1",), because=top)


def _pattern_verdict(position: Position) -> Verdict | None:
    rows, depth = find_patterns(position.look(), position.rules)
    if not rows and not position.rules.has("M8") and len(position.played()) > 1:
        under = position.without(position.played()[-1])
        # With M8 off, only the pattern just covered counts: M8 stops the recursion.
        return _pattern_verdict(under.replace(rules=replace(position.rules, on=position.rules.on | {"M8"})))
    if not rows:
        return None
    made = position.played()[-depth:]
    ids = tuple(row.partition(":")[0] for row in rows)
    return Verdict("won", "", ("M1", *ids), rows, tuple(laid.ref for laid in made), tuple(laid.card for laid in made))


def _needs_bottom_card(position: Position) -> bool:
    """Whether P5b hangs on an unseen lowest card, which might have the top card's rank (reading 7)."""
    look = position.look()
    if look.bottom != UNREADABLE or not position.rules.has("P5b"):
        return False
    return any(find_patterns(look._replace(bottom=card), position.rules)[0] for card in PACK)


def _verdict_on_unread(position: Position, seat: int, t: int) -> Verdict:
    """Judge a slap on a pile with unread cards; ask if the verdict depends on them (reading 10)."""
    plain = _verdict_on_pile(position, seat, t)
    rests = plain.outcome == "won" and rests_on_read_cards(position, plain.patterns)
    if position.unseen and hangs_on_gap(position, rests=rests):
        return Verdict("question", "unseen_gap", ("K2",), because=tuple(sorted(position.gaps & position.unread)))
    if rests:
        return plain
    question = Verdict("question", "unreadable_card", ("K2",), because=tuple(sorted(position.unread)))
    common: Verdict | None = None
    for reading in readings(position):
        # If these cards would have ended the game, no hand counts.
        judged = Verdict("void", "not_playing", ("P16",))
        if reading is not None:
            judged = _verdict_of_reading(reading, seat, t)
        if common is None:
            common = judged
        elif judged.outcome != common.outcome:
            return question
        elif judged.patterns != common.patterns:
            both = tuple(row for row in common.patterns if row in judged.patterns)
            common = common._replace(patterns=both or common.patterns)
    if common is None:
        # No reading fits, or there are too many to try.
        return question
    if common.outcome == plain.outcome:
        return plain
    # Every reading gives this outcome; the cards stay unnamed.
    cards = ("??" if ref in position.unread else card for ref, card in zip(common.because, common.cards, strict=False))
    rows = ("M1", *(row.partition(":")[0] for row in common.patterns)) if common.outcome == "won" else common.rule
    return common._replace(rule=rows, cards=tuple(cards))


def _verdict_of_reading(position: Position, seat: int, t: int) -> Verdict:
    """Return the verdict for one reading; without M7, a challenge made by an unread card bars every hand."""
    if position.challenge is not None and not position.rules.has("M7"):
        return Verdict("void", "not_playing", ("M7",))
    return _verdict_on_pile(position, seat, t)


def _dead_on_top(position: Position) -> str | None:
    """Return the observation id of a dead card on top (F8); None if the top card counts."""
    if not position.rules.has("F8"):
        return None
    for laid in reversed(position.pile):
        if laid.state == "dead":
            return laid.ref
        if laid.state == "played":
            return None
    return None


def newest_reveal(position: Position) -> Laid | None:
    """Return the card turned up last; a penalty card is never a reveal (F4)."""
    return max(filter(_was_turned_up, position.pile), key=lambda laid: laid.t, default=None)


def _was_turned_up(laid: Laid) -> bool:
    return laid.reveal and laid.state != "burned"


def _just_covered(position: Position, t: int) -> bool:
    """Whether the newest card is so new that the hand must have been meant for the pattern it covered (M9)."""
    before = _uncovered(position, t)
    return before is not None and bool(find_patterns(before.look(), position.rules)[0])


def _uncovered(position: Position, t: int) -> Position | None:
    """Return the position before the newest card, if the hand may have been meant for it (M9); else None."""
    if not position.rules.has("M9"):
        return None
    newest = newest_reveal(position)
    if newest is None or t - newest.t - position.still >= position.rules.number("M9") * MS:
        return None
    before = position.without(newest)
    # Cards burned since were not there yet.
    before = before.replace(pile=tuple(laid for laid in before.pile if _was_turned_up(laid) or laid.t < newest.t))
    return None if _dead_on_top(before) is not None else before
