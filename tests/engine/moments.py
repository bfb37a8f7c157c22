"""Laws that hold at every moment of any game, whatever its house rules: they need no second referee.

A `TableLaws` is a witness of the adjudicator. It looks at each line as it is judged, with the position before and
after it and its rulings, and names each broken law, with its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from referee.engine.event_queue import JudgedMoment
from referee.engine.observations import Card, Count, Slap, Table
from referee.engine.rulings import Ruling
from referee.rules.phase import Challenge, Claim, DeadHeat, LastChance, OpenLead, Over, Phase, Turn, War
from referee.rules.position import Position


class Broken(NamedTuple):
    """A broken law: its name, its rows, and the symptom."""

    law: str
    rows: str
    words: str


_RECEIVING: Final = frozenset(
    (
        "lead", "turn", "chance", "challenge", "challenge_moves", "challenge_won", "pile", "give", "burn", "strike",
        "locked_out", "out", "slapped_in", "won", "lost", "contested", "dead_heat",
    )
)  # fmt: skip
"""Kinds of rulings that concern players alone."""
_NAMING: Final = ("seat", "to", "challenged", "against", "seats", "by")


class TableLaws:
    """Checks each judged line against the laws; ``broken`` holds the breaches."""

    def __init__(self) -> None:
        self.broken: list[Broken] = []

    def __call__(self, moment: JudgedMoment) -> None:
        """Check a judged line; lines may be judged again."""
        for law in _LAWS:
            for rows, words in law(moment):
                name = law.__name__.strip("_").replace("_", " ")
                self.broken.append(Broken(name, rows, f"at {moment.observation.id}: {words}"))

    def replace(self, names: Iterable[str]) -> None:
        """Check again after rulings were replaced."""

    def undo(self, names: Iterable[str]) -> None:
        """Go on after rulings were undone."""


_Found = Iterator[tuple[str, str]]


def seats_of(phase: Phase) -> set[int]:
    """Return every seat that the game waits for, or that has won the pile in question."""
    if isinstance(phase, Challenge):
        return {phase.challenger, phase.challenged}
    if isinstance(phase, Claim):
        return {phase.seat, phase.turn, *phase.sharers}
    if isinstance(phase, LastChance):
        return {phase.seat}
    if isinstance(phase, Over):
        return set() if phase.winner is None else {phase.winner}
    seats = set(phase.seats) if isinstance(phase, DeadHeat | War | OpenLead) else set()
    turn = phase.turn
    return seats if turn is None else {*seats, turn}


def _named(ruling: Ruling) -> set[int]:
    """Return the seats named in a ruling."""
    found: set[int] = set()
    for field in _NAMING:
        value = ruling.get(field)
        found.update(value if isinstance(value, list | tuple) else () if value is None else (value,))
    return found


def _nothing_for_who_does_not_play(moment: JudgedMoment) -> _Found:
    before, after = moment.state.position, moment.after.position
    for seat in sorted(after.absent):
        if after.counts[seat - 1] or seat in after.unsure or after.known[seat - 1]:
            yield "E8 M11", f"seat {seat} does not play and holds {after.counts[seat - 1]} cards"
        if after.debts[seat - 1]:
            yield "E8 F6d", f"seat {seat} does not play and owes {after.debts[seat - 1]}"
        if seat in seats_of(after.phase):
            yield "E8 M11", f"seat {seat} does not play, and the game waits for it: {after.phase}"
    if isinstance(moment.observation, Table):
        return
    for ruling in moment.rulings:
        named = _named(ruling) if ruling.kind in _RECEIVING else set()
        if ruling.kind in ("burn", "give") and "E8" in ruling.rule:
            # The share of a sharer who left goes once the pile is picked up: it is given, and nothing is received.
            named.discard(ruling["seat"])
        gone = sorted(named & before.absent)
        if gone:
            yield "E8 M11", f"{ruling.id} names seat {gone[0]}, which does not play: {dict(ruling.fields)}"


def _who_is_due_holds_a_card(moment: JudgedMoment) -> _Found:
    after = moment.after.position
    phase = after.phase
    due = phase.turn
    if due is None or after.rules.has("E6") or not isinstance(phase, Turn | Challenge):
        return
    if not after.holds(due) and (isinstance(phase, Challenge) or after.holders()):
        yield "E1 C6a S5", f"seat {due} is due and holds no card: {after.counts}, {phase}"


def _no_player_pays_their_own_challenge(moment: JudgedMoment) -> _Found:
    phase = moment.after.position.phase
    if isinstance(phase, Challenge) and phase.challenger == phase.challenged:
        yield "C1 C6a", f"seat {phase.challenger} is to pay its own challenge"
    if isinstance(phase, Challenge) and phase.left < 1:
        yield "C1 C5", f"{phase.left} chances are left"
    stood = moment.state.position.challenge
    for ruling in moment.rulings:
        if ruling.kind == "challenge" and ruling["seat"] == ruling["challenged"]:
            yield "C1", f"{ruling.id}: seat {ruling['seat']} challenges itself"
        if ruling.kind == "chance" and stood is not None and ruling["seat"] == stood.challenger:
            yield "C1 C6a", f"{ruling.id}: seat {ruling['seat']} pays its own challenge"


def _weigh(position: Position) -> int | None:
    held = [count for count in position.counts if count is not None]
    return sum(held) + len(position.pile) + position.in_limbo if len(held) == position.seats else None


def _cards_are_conserved(moment: JudgedMoment) -> _Found:
    before, after = moment.state.position, moment.after.position
    held = [count for count in after.counts if count is not None]
    if min(held, default=0) < 0 or after.in_limbo < 0:
        yield "S2", f"fewer than no cards: {after.counts}, {after.in_limbo} in limbo"
    for seat, (count, known) in enumerate(zip(after.counts, after.known, strict=True), start=1):
        if count is not None and count < len(known):
            yield "K2", f"more is known of the stack of seat {seat} than it holds: {known}"
    line = moment.observation
    if isinstance(line, Table):
        there = after.packs * 52 + after.jokers
        dealt = line.counts is None and (after.rules.has("S4a") or after.rules.has("S4b"))
        if dealt and _weigh(after) not in (None, there):
            yield "S4a S4b", f"{_weigh(after)} cards are dealt, not {there}"
        return
    if isinstance(line, Count) or any(ruling.get("ask") in ("recount", "unseen_gap") for ruling in moment.rulings):
        # A stack is corrected, or laid a card that it was not known to hold.
        return
    if None not in (was := _weigh(before), now := _weigh(after)) and was != now:
        places = f"{before.counts} and {len(before.pile)}, then {after.counts} and {len(after.pile)}"
        yield "S2 C8", f"{was} cards become {now}: {places}, {after.in_limbo} in limbo"


def _a_pile_is_won_once(moment: JudgedMoment) -> _Found:
    before, after = moment.state.position, moment.after.position
    piles = [ruling for ruling in moment.rulings if ruling.kind == "pile"]
    was, now = before.claim, after.claim
    if was is not None and now is not None and was.by == "slap" and now.ref != was.ref and not piles:
        yield "M1 N1", f"{was} has won it, and {now} wins it again"
    takers = [ruling["seat"] for ruling in piles]
    sharers = set() if was is None else set(was.split)
    if before.rules.has("M3"):
        # A dead heat with a hand that slaps and takes in one motion is split at once (M14).
        sharers |= {seat for ruling in moment.rulings if ruling.kind == "dead_heat" for seat in ruling["seats"]}
    shared = set(takers) <= sharers and len(set(takers)) == len(takers)
    # A leading card may be the last trick by itself, after the pile before it, won or taken (E6, K6).
    led = was is not None or (bool(piles) and "K6" in piles[0].rule)
    two = len(takers) > 1 and isinstance(moment.observation, Card) and led and after.over
    if len(takers) > 1 and not shared and not two:
        yield "C8 M3", f"the pile goes to {takers}"
    burned = sum(ruling["count"] for ruling in moment.rulings if ruling.kind == "burn")
    lay = len(before.pile) + before.in_limbo + burned
    if sum(ruling["count"] for ruling in piles) > lay + 1:
        yield "C8", f"{sum(ruling['count'] for ruling in piles)} cards are picked up, {lay} lay there"
    if after.piles > before.piles + 1:
        yield "E7", f"{after.piles - before.piles} piles are counted at once"


def _every_lock_ends_by_its_row(moment: JudgedMoment) -> _Found:
    before, after = moment.state.position, moment.after.position
    if isinstance(moment.observation, Table) or after.over:
        return
    locked_now = {ruling["seat"] for ruling in moment.rulings if ruling.kind == "locked_out"}
    # A slap's prize was won at the slap; a pile that people were seen to take is theirs without a win (K6).
    piles = [ruling for ruling in moment.rulings if ruling.kind == "pile" and "K6" not in ruling.rule]
    won = bool(piles) and not (before.claim is not None and before.claim.by == "slap")
    claimed = (
        after.claim is not None and after.claim.by == "slap" and after.claim.ref != getattr(before.claim, "ref", "")
    )
    gone = bool(before.pile) and len(after.pile) < len(before.pile)
    laid = after.laid - before.laid if not before.paused else 0
    for seat, was in enumerate(before.locks, start=1):
        now = after.locks[seat - 1]
        if was is None or seat in locked_now:
            continue
        if was.until == "game" and now != was:
            yield was.row, f"seat {seat} was locked out for the game, and is no more"
        if was.until in ("pile", "slap") and (won or claimed) and now == was:
            yield was.row, f"seat {seat} is locked out until the pile, and the pile is won"
        if was.until == "pile" and now is None and not won and not claimed and not gone:
            yield was.row, f"seat {seat} is released, and no pile is won"
        if was.until == "cards" and laid > 0 and now == was:
            yield "N8", f"seat {seat} is locked out for {was.left} cards, and a card changes nothing"
        early = was.until == "cards" and now is None and not locked_now and was.left > laid
        if early and any(lock is not None and lock.until == "cards" for lock in after.locks):
            yield "N8", f"seat {seat} is released with {was.left} cards to come"
        if was.until == "rounds" and (won or claimed) and now == was:
            yield "F6e", f"seat {seat} is locked out for {was.left} rounds, and a pile changes nothing"
    barred = [seat for seat, lock in enumerate(after.locks, start=1) if lock is not None and lock.until == "cards"]
    playing = [seat for seat in range(1, after.seats + 1) if seat not in after.absent]
    could = [seat for seat in playing if _may_slap(after, seat)]
    if barred and all(after.locks[seat - 1] is not None for seat in could):
        yield "N8", f"seats {barred} are barred, and no seat is left to slap"


def _may_slap(position: Position, seat: int) -> bool:
    """Whether a seat has cards, has just laid its last, or may slap in without any (M10, M12)."""
    if position.holds(seat) or any(laid.ref == position.latest and laid.seat == seat for laid in position.pile):
        return True
    needs_two = position.rules.has("M12") and position.last_chance is None
    return position.rules.has("M10") and not (needs_two and len(position.holders()) < 2)


def _counts_that_are_unknown_decide_nothing(moment: JudgedMoment) -> _Found:
    before, after = moment.state.position, moment.after.position
    counts = {seat: after.count(seat) for seat in range(1, after.seats + 1)}
    for ruling in moment.rulings:
        seat, rows = ruling.get("seat"), set(ruling.rule)
        if ruling.kind == "out" and "E8" not in rows and counts[seat] is None:
            yield "E1", f"seat {seat} is out, and its count is not known"
        if ruling.kind == "won" and rows & {"E5a", "E5b"}:
            unknown = [other for other, count in counts.items() if other != seat and count is None]
            if unknown or after.in_limbo:
                yield "E5a E5b", f"seat {seat} has won, and what {unknown} hold is not known"
        if ruling.kind == "won" and rows & {"E7", "P16"} and seat not in moment.answers and None in counts.values():
            yield "E7 P16", f"seat {seat} has won by the most cards: {counts}"
        if ruling.kind == "drawn" and "E4" in rows and any(count != 0 for count in counts.values()):
            yield "E4", f"a draw, and they hold {counts}"
        if ruling.kind == "lost" and counts[seat] is None:
            yield "E6", f"seat {seat} has lost, and its count is not known"
        no_cards = ruling.kind == "strike" or (ruling.kind == "locked_out" and not rows & {"N8"})
        if no_cards and before.count(seat) is None:
            yield "F6a", f"{ruling.id}: seat {seat} has no cards, and its count is not known"
        if ruling.kind == "slapped_in" and before.count(seat) is None:
            yield "M10", f"seat {seat} slaps in, and its count is not known"
        if ruling.kind == "give" and before.count(seat) == 0 and not {"F6d", "E8"} & rows:
            yield str(ruling.rule[0]), f"{ruling.id}: seat {seat} gives and holds nothing"


def _a_game_ends_once(moment: JudgedMoment) -> _Found:
    before, after = moment.state.position, moment.after.position
    if isinstance(moment.observation, Table):
        return
    ends = [ruling.id for ruling in moment.rulings if ruling.kind in ("won", "lost", "drawn")]
    if len(ends) > 1:
        yield "E5a E7", f"the game ends twice: {ends}"
    if isinstance(before.phase, Over):
        done = [ruling.id for ruling in moment.rulings if ruling.kind not in ("slap_void", "question", "remind")]
        owed = before.phase.owed != "" and done == ends
        # A hand that won before the end is closed with a later line.
        if [name for name in done if not name.startswith("slap_won")] and not owed:
            yield "E5a E7", f"the game is over, and {done} is ruled"
    if before.closed and after.closed and after.laid > before.laid:
        yield "P16b", "the table is closed, and a card counts"


def _hands_that_do_not_count_win_nothing(moment: JudgedMoment) -> _Found:
    before = moment.state.position
    for ruling in moment.rulings:
        seats = list(ruling["seats"]) if ruling.kind == "dead_heat" else []
        for seat in seats:
            if before.locks[seat - 1] is not None and not _may_come_free(before, seat):
                yield "K3 F6a N8", f"{ruling.id} names seat {seat}, which is locked out: {before.locks[seat - 1]}"
        if len(set(seats)) < len(seats):
            yield "K3", f"{ruling.id} names a seat twice: {seats}"
        if ruling.kind == "slap_false" and before.paused and "K6" not in ruling.rule:
            yield "K6", f"{ruling.id} while the table is paused"
    hand = moment.observation
    if isinstance(hand, Slap) and hand.id in moment.state.settled:
        lock = before.locks[hand.seat - 1]
        if lock is not None and lock.until == "cards":
            yield "K3 N8", f"seat {hand.seat} is of a dead heat, and locked out: {lock}"


def _may_come_free(position: Position, seat: int) -> bool:
    """Whether a lock may end before the seat's hand: with another hand (F6f), or with cards laid before it (N8)."""
    lock = position.locks[seat - 1]
    return lock is not None and lock.until in ("slap", "cards")


_LAWS: Final = (
    _nothing_for_who_does_not_play,
    _who_is_due_holds_a_card,
    _no_player_pays_their_own_challenge,
    _cards_are_conserved,
    _a_pile_is_won_once,
    _every_lock_ends_by_its_row,
    _counts_that_are_unknown_decide_nothing,
    _a_game_ends_once,
    _hands_that_do_not_count_win_nothing,
)
