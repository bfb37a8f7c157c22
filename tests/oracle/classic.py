"""A plain referee of the preset ``classic``: what the core's rulings are compared with.

It shares nothing with the core but the types of the observations: it was written from the text of the rules alone,
with lists that change in place and no cleverness, so that an error in one of the two shows as a difference. It knows
all observations of a log at once (no watermark) and stops being of use at the first question.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from referee.engine.observations import Card, Lift, Observation, Pause, Resume, Slap, Table, Taken

Row = dict[str, Any]
"""A ruling in reduced form: ``kind``, ``t`` and the fields that decide something."""

COVER = 150_000_000
"""M9: a slap sooner than this after a cover was meant for what is covered, ns."""
LAST_CHANCE = 2_000_000_000
"""E2: how long after the third card the last chance to slap in lasts, ns."""
CHANCES = {"A": 4, "K": 3, "Q": 2, "J": 1}


def expected(observations: Sequence[Observation], deal: Sequence[Sequence[str]] | None = None) -> list[Row]:
    """All rulings of a log by ``t``; ``deal`` is each seat's stack, its next card first, if known."""
    table = observations[0]
    assert isinstance(table, Table)
    oracle = Classic(table, deal)
    oracle.feed(observations[1:])
    oracle.end(max(one.t for one in observations))
    return sorted(oracle.rulings, key=lambda row: row["t"])


def dealt(seats: int, dealer: int, cards: int, step: int) -> list[int]:
    """S4a: how many cards each seat gets, index 0 for seat 1; the extras go to the seats after the dealer."""
    counts = [0] * seats
    seat = dealer - 1
    for _ in range(cards):
        seat = (seat + step) % seats
        counts[seat] += 1
    return counts


def pattern(cards: Sequence[str]) -> tuple[str, list[str]] | None:
    """P1 or P2 on the top of these played cards (oldest first): its id, and the cards that make it."""
    if len(cards) >= 2 and cards[-1][0] == cards[-2][0]:
        return "P1", list(cards[-2:])
    if len(cards) >= 3 and cards[-1][0] == cards[-3][0] and cards[-2][0] != cards[-1][0]:
        return "P2", list(cards[-3:])
    return None


class Classic:
    """The table as it stands, changed by each observation; ``rulings`` grows."""

    def __init__(self, table: Table, deal: Sequence[Sequence[str]] | None = None) -> None:
        self.seats = len(table.seats)
        self.step = -1 if table.direction == "counter-clockwise" else 1
        size = 52 * (table.packs or 1)
        counts = table.counts or dealt(self.seats, table.dealer, size, self.step)
        # Each stack is a real list, its next card first; a card that is not known is an empty text.
        self.stacks: dict[int, list[str]] = {}
        for seat in range(1, self.seats + 1):
            self.stacks[seat] = list(deal[seat - 1]) if deal is not None else [""] * (counts[seat - 1] or 0)
        self.size = sum(len(stack) for stack in self.stacks.values())
        self.burned: list[str] = []  # under the pile, the lowest first
        self.pile: list[tuple[str, bool]] = []  # (card, dead), oldest first
        self.last_laid: int | None = None  # when the newest card of this pile was laid
        self.challenger: int | None = None
        self.left = 0
        self.owner: int | None = None  # who has won the pile and not picked it up
        self.won_by = ""  # "slap" or "challenge"
        self.won_ruling: Row = {}
        self.heat_open = False
        self.held: set[int] = set()
        self.strikes = dict.fromkeys(self.stacks, 0)
        self.last_chance = False
        self.last_chance_of = 0
        self.turned = 0
        self.deadline: int | None = None
        self.paused = False
        self.over = False
        self.moved: dict[str, tuple[int, int]] = {}
        self.doubted: dict[str, bool] = {}
        self.rulings: list[Row] = []
        self.turn: int | None = self.after(table.dealer)
        self.rule(table.t, "lead", seat=self.turn)
        self.rule(table.t, "turn", seat=self.turn)

    # -- small helpers ------------------------------------------------------------------------------------------

    def rule(self, t: int, kind: str, **fields: Any) -> Row:
        row: Row = {"kind": kind, "t": t, **fields}
        self.rulings.append(row)
        return row

    def count(self, seat: int) -> int:
        return len(self.stacks[seat])

    def holders(self) -> list[int]:
        return [seat for seat in self.stacks if self.stacks[seat]]

    def after(self, seat: int, but: int | None = None) -> int | None:
        """The next seat with cards after ``seat``, which itself comes last; never ``but``."""
        for far in range(1, self.seats + 1):
            other = (seat - 1 + self.step * far) % self.seats + 1
            if self.stacks[other] and other != but:
                return other
        return None

    def set_turn(self, seat: int | None, t: int) -> None:
        if seat != self.turn and seat is not None and not self.over:
            self.rule(t, "turn", seat=seat)
        self.turn = seat

    def finish(self, t: int, kind: str, **fields: Any) -> None:
        self.rule(t, kind, **fields)
        self.over = True
        self.turn = None

    def live(self) -> list[str]:
        return [card for card, dead in self.pile if not dead]

    # -- reading the log ----------------------------------------------------------------------------------------

    def place(self, one: Observation) -> tuple[int, int, int, int]:
        """Where an observation stands: by time, a card before slaps, slaps by seat; or where doubt moved it."""
        t, rank = self.moved.get(one.id, (one.t, 1 if isinstance(one, Card) else 2 if isinstance(one, Slap) else 3))
        return t, rank, one.t, one.seat if isinstance(one, Slap) else 0

    def feed(self, observations: Iterable[Observation]) -> None:
        """Rule on a stretch of the log; whatever lies nearer than the errors must come in one stretch."""
        queue = sorted(observations, key=self.place)
        while queue:
            queue = self.settle_doubt(queue)
            one = queue.pop(0)
            self.let_pass(one.t)
            if isinstance(one, Card):
                self.card(one)
            elif isinstance(one, Slap):
                self.slap(one, queue)
            elif isinstance(one, Lift):
                self.held.discard(one.seat)
            elif isinstance(one, Taken):
                if self.owner is not None or self.last_chance:
                    self.pick_up(one.t)
            elif isinstance(one, Pause):
                self.paused = True
            elif isinstance(one, Resume):
                self.paused = False

    def let_pass(self, t: int) -> None:
        """E2 ends by itself two seconds after the third card."""
        if self.deadline is not None and t >= self.deadline and not self.over and self.owner is None:
            self.finish(self.deadline, "won", seat=self.last_chance_of)

    def end(self, t: int) -> None:
        """The log ends at ``t``: a pile that a slap won is picked up; one of a challenge stays provisional."""
        self.let_pass(t)
        if self.owner is not None and self.won_by == "slap" and not self.over and not self.heat_open:
            self.pick_up(t)

    # -- K9: slaps so near a reveal that either may have come first --------------------------------------------------

    def settle_doubt(self, queue: list[Observation]) -> list[Observation]:
        """Decide what comes first in the queue: a slap, or the card that it is in doubt with."""
        first = queue[0]
        if isinstance(first, Slap) and first.id not in self.doubted:
            for card in queue:
                if isinstance(card, Card) and self.in_doubt(first, card):
                    self.judge_both_ways(first, card)
                    break
        if isinstance(first, Card):
            for slap in queue:
                if isinstance(slap, Slap) and slap.id not in self.doubted and self.in_doubt(slap, first):
                    self.judge_both_ways(slap, first)
                    if self.place(slap) < self.place(first):
                        break  # it comes first, and may change what the others are
        return sorted(queue, key=self.place)

    def in_doubt(self, slap: Observation, card: Card) -> bool:
        if not isinstance(slap, Slap):
            return False
        error = slap.t_error + card.t_error
        return card.t - slap.t <= error if slap.t < card.t else slap.t - card.t < error

    def judge_both_ways(self, slap: Slap, card: Card) -> None:
        """Put the slap on that side of the card where it fares better; where it stands if both are alike."""
        other = self.ahead(card)
        worth = {"slap_won": 2, "slap_void": 1, "slap_false": 0}
        before = worth[self.verdict(slap, min(slap.t, card.t))[0]]
        after = worth[other.verdict(slap, max(slap.t, card.t))[0]]
        self.doubted[slap.id] = before != after
        if before > after:
            self.moved[slap.id] = (min(slap.t, card.t), 0 if slap.t >= card.t else 2)
        elif after > before:
            self.moved[slap.id] = (max(slap.t, card.t), 2)

    def ahead(self, card: Card) -> Classic:
        """The table as it would stand after this card, without its rulings."""
        kept, self.rulings = self.rulings, []
        kept_won, self.won_ruling = self.won_ruling, {}
        other = copy.deepcopy(self)
        self.rulings, self.won_ruling = kept, kept_won
        other.card(card)
        return other

    # -- cards --------------------------------------------------------------------------------------------------

    def card(self, card: Card) -> None:
        if self.over:
            return
        seat = card.seat if card.seat is not None else self.turn
        assert seat is not None, "a card that nobody can have laid"
        if seat != self.turn:
            self.dead(seat, card)
            return
        # In turn, the owner of the pile lays only once it has taken it.
        if self.owner is not None and not self.pick_up(card.t):
            return
        stack = self.stacks[seat]
        top = stack.pop(0)
        assert top in ("", card.card), f"seat {seat} laid {card.card}, its next card was {top}"
        self.pile.append((card.card, False))
        self.last_laid = card.t
        if not stack:
            self.rule(card.t, "out", seat=seat)
        if self.last_chance:
            self.turned += 1
            if self.turned == 3:
                self.deadline = card.t + LAST_CHANCE
                self.turn = None  # nobody lays another
        elif card.card[0] in CHANCES:
            self.challenge(seat, card)
        elif self.challenger is not None:
            self.pay(seat, card.t)
        else:
            self.go_on(seat, card.t)

    def dead(self, seat: int, card: Card) -> None:
        """F7: a card out of turn lies where it lies and means nothing."""
        top = self.stacks[seat].pop(0)
        assert top in ("", card.card), f"seat {seat} laid {card.card}, its next card was {top}"
        self.pile.append((card.card, True))
        self.last_laid = card.t
        self.rule(card.t, "dead_card", seat=seat, card=card.card, reason="out_of_turn")
        if not self.stacks[seat]:
            self.rule(card.t, "out", seat=seat)

    def challenge(self, seat: int, card: Card) -> None:
        self.challenger = seat
        self.left = CHANCES[card.card[0]]
        payer = self.after(seat, but=seat)
        self.rule(card.t, "challenge", seat=seat, challenged=payer, card=card.card, chances=self.left)
        if payer is None:
            self.win_challenge(card.t)
        else:
            self.set_turn(payer, card.t)

    def pay(self, seat: int, t: int) -> None:
        self.left -= 1
        if self.left == 0:
            self.win_challenge(t)
            return
        self.rule(t, "chance", seat=seat, left=self.left)
        if not self.stacks[seat]:
            self.move_challenge(seat, t)

    def move_challenge(self, seat: int, t: int) -> None:
        """C6a: the payer has no cards; the next who has goes on, but never the challenger."""
        payer = self.after(seat, but=self.challenger)
        if payer is None:
            self.win_challenge(t)
        else:
            self.rule(t, "challenge_moves", seat=payer, left=self.left)
            self.set_turn(payer, t)

    def win_challenge(self, t: int) -> None:
        assert self.challenger is not None
        self.owner, self.won_by = self.challenger, "challenge"
        self.challenger = None
        self.rule(t, "challenge_won", seat=self.owner)
        self.set_turn(self.owner, t)

    def go_on(self, seat: int, t: int) -> None:
        """No challenge: the next seat with cards plays, or nobody holds any (E4)."""
        following = self.after(seat)
        if following is None:
            self.finish(t, "drawn")
        else:
            self.set_turn(following, t)

    def pick_up(self, t: int) -> bool:
        """The pile goes under the owner's stack, face down, its order unchanged; whether the game goes on."""
        seat = self.owner if self.owner is not None else self.last_chance_of
        cards = self.burned + [card for card, _ in self.pile]
        self.stacks[seat] += cards
        self.burned, self.pile, self.last_laid = [], [], None
        by_slap, ending = self.won_by == "slap", self.last_chance and self.owner is None
        self.owner, self.won_by = None, ""
        self.rule(t, "pile", seat=seat, count=len(cards))
        if self.count(seat) < self.size:
            self.rule(t, "lead", seat=seat)
        elif by_slap or ending:
            self.finish(t, "won", seat=seat)
        else:
            self.last_chance, self.last_chance_of = True, seat
            self.turned, self.deadline = 0, None
            self.rule(t, "lead", seat=seat)
        return not self.over

    # -- slaps --------------------------------------------------------------------------------------------------

    def verdict(self, slap: Slap, t: int) -> tuple[str, str]:
        """What this slap would be if it were the next thing, at ``t``: the ruling's kind, and the reason."""
        if self.over or slap.seat > self.seats:
            return "slap_void", "not_playing"
        if self.paused:
            return "slap_void", "paused"
        if slap.seat in self.held:
            return "slap_void", "held"
        if self.strikes[slap.seat] >= 3:
            return "slap_void", "locked_out"
        if not self.stacks[slap.seat] and len(self.holders()) < 2 and not self.last_chance:
            return "slap_void", "not_playing"
        if self.won_by == "slap" or self.heat_open:
            return "slap_void", "late"
        if not self.pile:
            return "slap_void", "empty_pile"
        top_dead = self.pile[-1][1]
        if not top_dead and pattern(self.live()) is not None:
            return "slap_won", ""
        assert self.last_laid is not None
        below = self.pile[:-1]
        covered = below and not below[-1][1] and pattern([card for card, dead in below if not dead]) is not None
        if covered and t - self.last_laid < COVER:
            return "slap_void", "covered"
        return "slap_false", "dead_card" if top_dead else "no_pattern"

    def slap(self, slap: Slap, later: list[Observation]) -> None:
        kind, reason = self.verdict(slap, slap.t)
        heat = [slap]
        if kind == "slap_won":
            passed: list[Card] = []
            for other in later:
                if isinstance(other, Card):
                    passed.append(other)
                elif isinstance(other, Slap) and other.t - slap.t < slap.t_error + other.t_error:
                    here = all(self.in_doubt(other, card) for card in passed)  # else it lies on another pile
                    if here and self.verdict(other, other.t)[0] == "slap_won" and other.seat != slap.seat:
                        heat.append(other)
                        for card in later:
                            if isinstance(card, Card) and other.id not in self.doubted and self.in_doubt(other, card):
                                self.judge_both_ways(other, card)
        self.held.add(slap.seat)
        if kind == "slap_void":
            self.void(slap, reason)
        elif kind == "slap_false":
            self.false(slap, reason)
        elif len(heat) == 1:
            self.win(slap, "time")
        else:
            self.dead_heat(heat, later)

    def void(self, slap: Slap, reason: str) -> None:
        self.rule(slap.t, "slap_void", seat=slap.seat, reason=reason, doubt=self.doubted.get(slap.id, False))
        won = self.won_ruling
        if reason != "late" or not won or self.won_by != "slap" or slap.seat == won["seat"]:
            return
        if all(row["seat"] != slap.seat for row in won["runners_up"]):
            won["runners_up"].append({"seat": slap.seat, "margin": slap.t - won["t"]})
            if won["margin"] is None:
                won["margin"], won["error"] = slap.t - won["t"], slap.t_error + won["own_error"]

    def false(self, slap: Slap, reason: str) -> None:
        seat, t = slap.seat, slap.t
        self.rule(t, "slap_false", seat=seat, reason=reason, doubt=self.doubted.get(slap.id, False))
        if not self.stacks[seat]:
            self.strikes[seat] += 1
            self.rule(t, "strike", seat=seat, strikes=self.strikes[seat])
            if self.strikes[seat] == 3:
                self.rule(t, "locked_out", seat=seat, until="game")
            return
        self.burned.insert(0, self.stacks[seat].pop(0))
        self.rule(t, "burn", seat=seat, count=1, where="bottom")
        if self.stacks[seat]:
            return
        self.rule(t, "out", seat=seat)
        if seat != self.turn or self.owner is not None:
            return
        if self.challenger is not None:
            self.move_challenge(seat, t)
        else:
            self.go_on(seat, t)

    def win(self, slap: Slap, by: str) -> None:
        seat, t = slap.seat, slap.t
        found = pattern(self.live())
        assert found is not None
        self.won_ruling = self.rule(
            t, "slap_won", seat=seat, patterns=[found[0]], cards=found[1], margin=None, error=None, runners_up=[],
            decided_by=by, doubt=self.doubted.get(slap.id, False), own_error=slap.t_error,
        )  # fmt: skip
        if not self.stacks[seat]:
            self.rule(t, "slapped_in", seat=seat)
        self.owner, self.won_by = seat, "slap"
        self.challenger = None
        self.last_chance, self.deadline = False, None
        self.set_turn(seat, t)

    def dead_heat(self, heat: list[Slap], later: list[Observation]) -> None:
        """M2: too near to call by time; the greatest force wins if it leads clearly, else people are asked."""
        first, second = heat[0], heat[1]
        margin, error = second.t - first.t, first.t_error + second.t_error
        self.rule(first.t, "dead_heat", seats=[one.seat for one in heat], margin=margin, error=error)
        self.held.update(one.seat for one in heat)
        for one in heat[1:]:
            later.remove(one)
        forces = sorted((one.force for one in heat if one.force is not None), reverse=True)
        if len(forces) < len(heat) or round(forces[0] - forces[1], 6) <= 0.1:
            self.rule(first.t, "question", ask="who_was_first", about=[one.id for one in heat])
            self.heat_open, self.last_chance, self.turn = True, False, None  # the pile is won, nobody knows by whom
            return
        winner = next(one for one in heat if one.force == forces[0])
        self.win(winner, "force")
        self.won_ruling["margin"], self.won_ruling["error"] = margin, error
        for one in heat:
            if one is not winner:
                self.void(one, "late")
