"""A plain referee of the presets: the reference for the core's rulings.

It shares nothing with the core, not even its types: it was written from the text of the rules alone and reads the lines
of the log, with mutable lists and no cleverness, so that an error in one of the two shows as a difference.
It knows all lines of a log at once (no watermark) and stops being of use at the first question that people must settle.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.oracle.plain_patterns import found

Line = dict[str, Any]
"""A line of the log."""
Row = dict[str, Any]
"""A ruling in reduced form: ``kind``, ``t`` and the deciding fields."""

COVER = 150_000_000
"""M9: a slap sooner than this after a cover was meant for the covered pattern, ns."""
REVEALS = ("card", "taken")
LAST_CHANCE = 2_000_000_000
"""E2: how long after the third card the last chance to slap in lasts, ns."""
CHANCES = {"A": 4, "K": 3, "Q": 2, "J": 1}
CONTESTED = ("slap_won", "slap_false", "challenge_won", "pile")
"""F5: an act that can be contested, a slap or a take."""
WON = ("slap_won", "challenge_won")
"""The reason for which a pile is taken."""

_CLASSIC = "C1 C6a F6a M2 M9 M10 M12 E2 E5a"
PRESETS = {
    "classic": f"P1 P2 {_CLASSIC}",
    "wikipedia-2025": f"P1 P2 P3a P4b P5a P6|P8 without ace|P10a P11 P13a P17 F5 {_CLASSIC}",
    "wikipedia-2020": f"P1 P2 P3a P4a P5a P6 P13c F5 {_CLASSIC}",
    "wikipedia-2009": "P1 P2 P4a P5b P6 P7 P8 P9 P12 P14 C1 C6a F6a M2 M3 M9 M10 S4b E3 E4 E5a",
    "wikibooks": "P1 P2 P3b P4a P6 P8 P10a C1 C6a M2 M9 M10 M11 C9 E5a",
    "short": "P1 P2 P4b P5b P6 C1 C6a C7 F1=2 F6c M2 M10 E5b",
    "classroom": "P1 P2 C1 C6a M2 M9 M10 E5a",
    "beggar-my-neighbour": "C1 C6b E6",
    "suck-the-well": "C1 C6b E6",
    "slapjack": "P18 M10 E5a",
}
"""The rows that differ between presets; rows that are on everywhere are not consulted."""


@dataclass
class Lying:
    """A card in a stack or in the pile; its name is empty where the log never states it."""

    name: str = ""
    seen: bool = False
    """Whether the table knows the card and its place."""
    dead: bool = False


def rows_of(rules: Any) -> set[str]:
    preset = rules if isinstance(rules, str) else rules["base"]
    rows = {row for part in PRESETS[preset].split("|") for row in ([part] if "without" in part else part.split())}
    if isinstance(rules, str) or "E8" not in rules.get("on", ()):
        return rows
    return rows | {"E8"} | ({"E8=others"} if rules.get("set", {}).get("E8") == "others" else set())


def dealt(seats: int, dealer: int, cards: int, step: int, evenly: bool = False) -> list[int]:
    """Return how many cards each seat gets, index 0 for seat 1.

    S4a: one by one, and the extras go to the seats after the dealer. S4b: as many for each.
    """
    counts = [cards // seats] * seats
    for extra in range(0 if evenly else cards % seats):
        counts[(dealer - 1 + step * (extra + 1)) % seats] += 1
    return counts


def expected(lines: Sequence[Line], deal: Sequence[Sequence[str]] | None = None) -> PlainReferee:
    """Return the referee that has read a log; ``deal`` is each seat's stack, its next card first, if known."""
    oracle = PlainReferee(lines[0], deal)
    oracle.feed(lines[1:])
    oracle.end(max(line["t"] for line in lines))
    return oracle


def error_of(line: Line) -> int:
    default = 1_500_000 if line["kind"] == "slap" else 0
    return int(line.get("t_error", default))


class PlainReferee:
    """The present table, changed by each line; ``rulings`` grows."""

    def __init__(self, table: Line, deal: Sequence[Sequence[str]] | None = None) -> None:
        seats, rules = len(table["seats"]), table["rules"]
        self.rows = rows_of(rules)
        self.drawn = "" if isinstance(rules, str) else rules.get("set", {}).get("P14", "")
        backwards = table.get("direction", "counter-clockwise" if rules == "suck-the-well" else "") != ""
        self.step = -1 if backwards and table.get("direction") != "clockwise" else 1
        size = 52 * table.get("packs", 1) + table.get("jokers", 0)
        counts = table.get("counts") or dealt(seats, table["dealer"], size, self.step, "S4b" in self.rows)
        # Each stack is a real list, its next card first. Undealt cards start the pile (S4b).
        stacks = deal if deal is not None else [[""] * count for count in counts]
        self.stacks = {seat + 1: [Lying(name) for name in stacks[seat]] for seat in range(seats)}
        excess = size - sum(counts) if "S4b" in self.rows and not table.get("counts") else 0
        self.burned = [Lying() for _ in range(excess)]  # under the pile, the lowest first
        if deal is not None and excess:
            self.burned = [Lying(name) for name in deal[seats]]
        self.size = excess + sum(len(stack) for stack in self.stacks.values())
        self.unplaced: dict[int, list[Lying]] = {}  # each seat's last burned cards, the lowest first
        self.pile: list[Lying] = []  # oldest first
        self.last_laid: int | None = None  # when the newest card of this pile was laid
        self.last_error = 0  # and its error
        self.layer: int | None = None  # the seat that laid it
        self.emptied: int | None = None  # the seat that laid it as the last card of a stack
        self.gone: set[int] = set()  # seats that are out
        self.contested: set[tuple[int, int]] = set()  # acts, and who has contested them
        self.lowest: list[Lying] = []  # the burned card that lay lowest when it was laid
        self.challenger: int | None = None
        self.challenge_ruling: Row = {}  # of the latest challenge, or of its success
        self.left = 0
        self.owner: int | None = None  # the seat that has won the pile and not picked it up
        self.won_by = ""  # "slap" or "challenge"
        self.won_ruling: Row = {}
        self.sharers: list[int] = []  # M3
        self.heat_open = False  # the pile is won, by an unknown seat
        self.stopped_at: int | None = None  # the events then are unknown, so nothing is ruled from there on
        self.held: set[int] = set()
        self.strikes: dict[int, int] = {}
        self.locked: set[int] = set()
        self.last_chance = False
        self.last_chance_of = 0
        self.turned = 0
        self.deadline: int | None = None
        self.deadline_error = 0
        self.paused_at: int | None = None
        self.pauses = 0
        self.over = False
        self.moved: dict[str, tuple[int, int]] = {}
        self.doubted: dict[str, bool] = {}
        self.rulings: list[Row] = []
        self.turn: int | None = self.after(table["dealer"])
        self.rule(table["t"], "lead", seat=self.turn)
        self.rule(table["t"], "turn", seat=self.turn)
        if "P14" in self.rows and not self.drawn:
            self.rule(table["t"], "question", ask="wild_rank")

    # -- small helpers ------------------------------------------------------------------------------------------

    def rule(self, t: int, kind: str, **fields: Any) -> Row:
        row: Row = {"kind": kind, "t": t, **fields}
        self.rulings.append(row)
        return row

    def stops(self) -> bool:
        """Whether this referee is of no more use: the game is over, or people must say how it goes on."""
        return self.over or self.heat_open or self.stopped_at is not None

    def holders(self) -> list[int]:
        return [seat for seat in self.stacks if self.stacks[seat]]

    def order(self, seat: int) -> list[int]:
        """Return all seats in the order of play after ``seat``, which itself comes last."""
        around = sorted({*self.stacks, seat}, reverse=self.step < 0)
        order = around[around.index(seat) + 1 :] + around[: around.index(seat) + 1]
        return order if seat in self.stacks else order[:-1]

    def after(self, seat: int, but: int | None = None) -> int | None:
        """Return the next seat with cards after ``seat``, which itself comes last; never ``but``."""
        return next((other for other in self.order(seat) if self.stacks[other] and other != but), None)

    def set_turn(self, seat: int, t: int) -> None:
        if self.only_one_left(t):
            return
        if seat != self.turn:
            self.rule(t, "turn", seat=seat)
        self.turn = seat

    def finish(self, t: int, kind: str, **fields: Any) -> None:
        self.rule(t, kind, **fields)
        self.over = True
        self.turn = None

    def clock(self, t: int) -> int:
        """Return the time that has passed without pauses."""
        return (t if self.paused_at is None else self.paused_at) - self.pauses

    def live(self) -> list[str]:
        return [card.name for card in self.pile if not card.dead]

    def patterns(self) -> dict[str, int]:
        """Return the patterns that may be slapped now."""
        return self.patterns_on(self.pile, self.burned[:1])

    def patterns_on(self, pile: list[Lying], lowest: list[Lying]) -> dict[str, int]:
        """Return the patterns on such a pile, with such a burned card below; F8: none while the top one is dead."""
        if not pile or pile[-1].dead:
            return {}
        known = None if not lowest else lowest[0].name if lowest[0].seen else ""
        return found([card.name for card in pile if not card.dead], known, self.rows, self.drawn)

    def slappable(self, pile: list[Lying] | None = None, lowest: list[Lying] | None = None) -> bool | None:
        """Whether there is a pattern; None where that depends on an unseen lowest card."""
        pile, lowest = self.pile if pile is None else pile, self.burned[:1] if lowest is None else lowest
        if self.patterns_on(pile, lowest):
            return True
        can = bool(pile) and not pile[-1].dead and pile[-1].name[0] != "X"  # a joker matches nothing there
        return None if can and "P5b" in self.rows and lowest and not lowest[0].seen else False

    def covered(self) -> bool | None:
        """M9: whether the newest card covered a pattern, with the lowest card of that time; None if unknown."""
        return self.slappable(self.pile[:-1], self.lowest)

    # -- reading the log ----------------------------------------------------------------------------------------

    def place(self, line: Line) -> tuple[int, int, int, int]:
        """Return a line's place: by time, a card before slaps, slaps by seat; or where doubt moved it."""
        slap = line["kind"] == "slap"
        t, rank = self.moved.get(line["id"], (line["t"], 1 if line["kind"] == "card" else 2 if slap else 3))
        return t, rank, line["t"], line["seat"] if slap else 0

    def feed(self, lines: Iterable[Line]) -> None:
        """Rule on a stretch of the log; lines nearer than the errors must come in one stretch."""
        queue = sorted(lines, key=self.place)
        while queue and self.stopped_at is None:
            queue = self.settle_doubt(queue)
            line = self.in_time(queue) or queue[0]
            queue.remove(line)
            if not self.near_deadline(line):
                self.let_pass(line["t"])
            if line["kind"] == "slap":
                self.slap(line, queue)
            else:
                self.take_in(line)

    def take_in(self, line: Line) -> None:
        """Process any line that is no slap."""
        kind, t, seat = line["kind"], line["t"], line.get("seat")
        if kind == "card":
            self.card(line)
        elif kind == "lift":
            self.held.discard(line["seat"])
        elif kind == "taken" and (self.owner is not None or self.last_chance):
            self.pick_up(t)
        elif kind == "placed":
            for card in self.unplaced.pop(line["seat"], []):
                card.seen = card.seen or card.name in line.get("cards", [])
        elif kind == "contest" and "F5" in self.rows:
            self.contest(line)
        elif kind == "draw":
            self.drawn = line["rank"]
        elif kind == "join" and "M11" in self.rows and seat is not None and seat not in self.stacks:
            self.stacks[seat] = []
        elif kind == "leave" and "E8" in self.rows and seat in self.stacks and not self.over:
            self.leave(line["seat"], t)
        elif kind == "pause":
            self.paused_at = t
        elif kind == "resume" and self.paused_at is not None:
            self.pauses, self.paused_at = self.pauses + t - self.paused_at, None

    def let_pass(self, t: int) -> None:
        """End E2 two seconds after the third card; a pause does not count."""
        if self.deadline is not None and self.clock(t) >= self.deadline and not self.over and self.owner is None:
            self.finish(self.deadline + self.pauses, "won", seat=self.last_chance_of)

    def near_deadline(self, line: Line) -> bool:
        """Whether this is a hand that may have come on either side of E2's end."""
        if self.deadline is None or line["kind"] != "slap" or self.paused_at is not None:
            return False
        return abs(self.clock(line["t"]) - self.deadline) < error_of(line) + self.deadline_error

    def in_time(self, queue: list[Line]) -> Line | None:
        """Return the first hand stamped after E2's end that may have come before it, and is better off so."""
        if self.deadline is None or self.clock(queue[0]["t"]) <= self.deadline or self.over:
            return None
        good = ("slap_won", "question")
        return next(
            (slap_line for slap_line in queue if self.near_deadline(slap_line) and self.verdict(slap_line)[0] in good),
            None,
        )

    def end(self, t: int) -> None:
        """End the log at ``t``: a pile that a slap won is picked up; one of a challenge stays provisional."""
        self.let_pass(t)
        if self.owner is not None and self.won_by == "slap" and not self.stops():
            self.pick_up(t)

    # -- K9: slaps so near a reveal or a pick-up that either may have come first ----------------------------------

    def settle_doubt(self, queue: list[Line]) -> list[Line]:
        """Decide the order in the queue: a slap, or the card or pick-up that it is in doubt with."""
        while True:
            first = queue[0]
            if first["kind"] == "slap" and first["id"] not in self.doubted:
                for card in queue:
                    if card["kind"] in REVEALS and self.in_doubt(first, card):
                        self.judge_both_ways(first, card)
                        break
            if first["kind"] in REVEALS:
                for slap in queue:
                    if slap["kind"] == "slap" and slap["id"] not in self.doubted and self.in_doubt(slap, first):
                        self.judge_both_ways(slap, first)
                        if self.place(slap) < self.place(first):
                            break  # it comes first, and may change the others
            queue = sorted(queue, key=self.place)
            if queue[0] is first:
                return queue

    def in_doubt(self, slap: Line, card: Line) -> bool:
        error = error_of(slap) + error_of(card)
        ahead: int = card["t"] - slap["t"]
        near = ahead <= error if ahead > 0 else -ahead < error
        return near and slap["kind"] == "slap"

    def judge_both_ways(self, slap: Line, card: Line) -> None:
        """Put the slap on that side of the card where it fares better; leave it where both are alike."""
        other = self.ahead(card)
        worth = {"slap_won": 2, "slap_void": 1, "slap_false": 0, "question": 0}
        start, end = min(slap["t"], card["t"]), max(slap["t"], card["t"])
        before = worth[self.verdict(slap)[0]]
        after = worth[other.verdict(slap)[0]]
        self.doubted[slap["id"]] = before != after
        if before > after:
            self.moved[slap["id"]] = (start, 0 if slap["t"] >= card["t"] else 2)
        elif after > before:
            self.moved[slap["id"]] = (end, 2)

    def ahead(self, card: Line) -> PlainReferee:
        """Return the table after this card or pick-up, without its rulings."""
        kept, self.rulings = self.rulings, []
        kept_won, self.won_ruling = self.won_ruling, {}
        other = copy.deepcopy(self)
        self.rulings, self.won_ruling = kept, kept_won
        other.take_in(card)
        return other

    # -- cards --------------------------------------------------------------------------------------------------

    def card(self, line: Line) -> None:
        if self.over:
            return
        seat, t, name = line.get("seat") or self.turn, line["t"], line["card"]
        assert seat is not None, "a card that no player can have laid"
        if seat != self.turn:
            emptied = self.emptied
            self.lay(seat, line, dead=True)
            self.rule(t, "dead_card", seat=seat, card=name, reason="out_of_turn")
            self.lose_cards(emptied, t)
            self.only_one_left(t)
            return
        self.in_turn(seat, line)

    def in_turn(self, seat: int, line: Line) -> None:
        t, name = line["t"], line["card"]
        # In turn, the owner of the pile lays only once it has taken it.
        if self.owner is not None and not self.pick_up(t):
            return
        emptied = self.emptied
        self.lay(seat, line)
        if self.last_chance:
            self.turned += 1
            if self.turned == 3:
                self.deadline, self.deadline_error = self.clock(t) + LAST_CHANCE, error_of(line)
                self.turn = None  # no other player lays
            return
        challenges = "C1" in self.rows and name[0] in CHANCES
        beaten = self.challenger
        if challenges:
            self.challenger, self.left = seat, CHANCES[name[0]]
            self.leave_beaten(beaten, t)
        if challenges:
            self.challenge(seat, t, name)
        elif self.challenger is not None:
            self.pay(seat, t)
        else:
            self.go_on(seat, t)
        self.lose_cards(emptied, t)

    def lay(self, seat: int, line: Line, dead: bool = False) -> None:
        """Lay a card; F7: a card out of turn stays in its place and means nothing."""
        if not self.stacks[seat]:
            self.stopped_at = line["t"]  # it holds a pile of unknown owner
            return
        top = self.stacks[seat].pop(0)
        assert top.name in ("", line["card"]), f"seat {seat} laid {line['card']}, its next card was {top.name}"
        self.lowest = self.burned[:1]
        self.pile.append(Lying(line["card"], seen=True, dead=dead))
        self.last_laid, self.last_error, self.layer = self.clock(line["t"]), error_of(line), seat
        self.emptied = None if self.stacks[seat] else seat

    def lose_cards(self, seat: int | None, t: int) -> None:
        """Remove players without cards: E1: out; C7: unless they have a standing challenge. M12: a player who has just
        laid the last one is not out before the next card lies or the pile is taken.
        """
        if seat is None or self.stacks[seat] or seat in self.gone or seat == self.emptied:
            return
        if self.won_by == "slap" and seat in (self.owner, *self.sharers):
            return  # back, with the pile still on the table
        if not ("C7" in self.rows and seat == self.standing()):
            self.gone.add(seat)
            self.rule(t, "out", seat=seat)

    def standing(self) -> int | None:
        """Return the seat whose challenge is not beaten."""
        return self.owner if self.won_by == "challenge" else self.challenger

    def leave_beaten(self, seat: int | None, t: int) -> None:
        """Remove a beaten challenger: C7: without cards it stays in until beaten."""
        if "C7" in self.rows:
            self.lose_cards(seat, t)

    def only_one_left(self, t: int) -> bool:
        """End the game where one seat is left with cards to play (E5b)."""
        left = {*self.holders(), *([self.owner] if self.owner is not None else [])}
        left |= {seat for seat in [self.emptied] if seat is not None}  # not out before the next card
        if "C7" in self.rows:
            left |= {seat for seat in [self.standing()] if seat is not None}
        lies = self.won_by == "slap"  # then it is won with that pile
        if "E5b" in self.rows and len(left) == 1 and self.holders() and not self.over and not lies:
            self.finish(t, "won", seat=left.pop())
        return self.over

    def challenge(self, seat: int, t: int, card: str) -> None:
        if "E6" in self.rows:
            payer: int | None = self.order(seat)[0]
        else:
            payer = self.after(seat, but=seat)
        self.challenge_ruling = self.rule(t, "challenge", seat=seat, challenged=payer, card=card, chances=self.left)
        if payer is None or not self.stacks[payer]:
            self.win_challenge(t, lost=payer)
        else:
            self.set_turn(payer, t)

    def pay(self, seat: int, t: int) -> None:
        self.left -= 1
        if self.left == 0:
            self.win_challenge(t)
            return
        self.rule(t, "chance", seat=seat, left=self.left)
        if not self.stacks[seat]:
            self.move_challenge(seat, t)

    def move_challenge(self, seat: int, t: int, left: bool = False) -> None:
        """Move a challenge.

        C6a: the payer has no cards; the next who has goes on, but never the challenger. C6b: it is over, unless the
        payer has ``left`` (E8).
        """
        payer = None if "C6b" in self.rows and not left else self.after(seat, but=self.challenger)
        if payer is None:
            self.win_challenge(t, lost=None if left else seat)
        else:
            self.rule(t, "challenge_moves", seat=payer, left=self.left)
            self.set_turn(payer, t)

    def win_challenge(self, t: int, lost: int | None = None) -> None:
        """Give the challenger the pile until a slap; E6: there are no slaps, and a seat that could not pay has lost."""
        assert self.challenger is not None
        self.owner, self.won_by = self.challenger, "challenge"
        self.challenger = None
        self.challenge_ruling = self.rule(t, "challenge_won", seat=self.owner)
        if "E6" not in self.rows:
            self.set_turn(self.owner, t)
        else:
            self.pick_up(t, lost)

    def leave(self, seat: int, t: int) -> None:
        """E8: the cards go under the pile, or one by one to the others; this player's challenge or claim is off.

        Leaving loses nothing to who pays a challenge: the next player pays on. The last player left has won.
        """
        stack = self.stacks.pop(seat)
        self.unplaced.pop(seat, None)
        self.rule(t, "out", seat=seat)
        others = self.order(seat)
        if "E8=others" not in self.rows:
            self.burned = [*reversed(stack), *self.burned]
            if stack:
                self.rule(t, "burn", seat=seat, count=len(stack), where="bottom")
        for place, other in enumerate(others if "E8=others" in self.rows else ()):
            share = stack[place :: len(others)]
            if share:
                self.stacks[other] += share
                self.gone.discard(other)
                self.rule(t, "give", seat=seat, to=other, count=len(share))
        self.emptied = None if self.emptied == seat else self.emptied
        self.gone.discard(seat)
        if seat == self.standing():
            self.rulings[:] = [row for row in self.rulings if row is not self.challenge_ruling]
        if seat == self.owner:
            self.owner, self.won_by = None, ""
        if seat == self.challenger:
            self.challenger = None
        pays = seat == self.turn and self.challenger is not None
        if pays and len(others) > 1:
            self.move_challenge(seat, t, left=True)
        if len(others) == 1:
            if pays:  # no player is left to pay on
                self.rule(t, "challenge_won", seat=others[0])
            self.finish(t, "won", seat=others[0])
        elif not self.holders() and self.owner is None:
            self.finish(t, "drawn")
        elif seat == self.turn:
            following = self.after(seat)
            assert following is not None
            self.set_turn(following, t)
        else:
            self.only_one_left(t)

    def go_on(self, seat: int, t: int) -> None:
        """Go on without a challenge: the next seat with cards plays, or no seat holds any (E4)."""
        following = self.order(seat)[0] if "E6" in self.rows else self.after(seat)
        if following is None:
            self.finish(t, "drawn")
        elif self.stacks[following]:
            self.set_turn(following, t)
        else:  # the other has the cards on the table, as the last trick; without cards only this seat is not out yet
            self.owner = self.after(following) or seat
            self.pick_up(t, following)

    def pick_up(self, t: int, lost: int | None = None) -> bool:
        """Put the pile under the owner's stack, face down, its order unchanged; return whether the game goes on."""
        seat = self.owner if self.owner is not None else self.last_chance_of
        cards = self.burned + self.pile
        for card in cards:
            card.dead = False
        by_slap, ending = self.won_by == "slap", self.last_chance and self.owner is None
        if self.sharers:
            self.share(cards, t)
        else:
            self.stacks[seat] += cards
            self.rule(t, "pile", seat=seat, count=len(cards))
        self.gone -= set(self.holders())
        emptied, self.emptied = self.emptied, None
        self.burned, self.pile, self.last_laid, self.layer = [], [], None, None
        winners = [seat, *self.sharers]
        self.owner, self.won_by, self.sharers = None, "", []
        for loser in (emptied, *winners):
            self.lose_cards(loser, t)
        if "E6" in self.rows and self.holders() == [seat]:  # so the published deals end, with this trick
            lost = lost or self.order(seat)[0]
        if lost is not None:
            self.finish(t, "lost", seat=lost)
        elif self.only_one_left(t):
            pass
        elif len(self.stacks[seat]) < self.size or "E5a" not in self.rows:
            self.rule(t, "lead", seat=seat)
            self.set_turn(seat, t)
        elif by_slap or ending or "E2" not in self.rows:
            self.finish(t, "won", seat=seat)
        else:
            self.last_chance, self.last_chance_of = True, seat
            self.turned, self.deadline = 0, None
            self.rule(t, "lead", seat=seat)
        return not self.over

    def share(self, cards: list[Lying], t: int) -> None:
        """M3: shuffle and split evenly; the odd ones go to the earlier hands.

        The places of all cards are unknown then.
        """
        random.Random(t).shuffle(cards)
        for place, seat in enumerate(self.sharers):
            share = [Lying(card.name) for card in cards[place :: len(self.sharers)]]
            self.stacks[seat] += share
            self.rule(t, "pile", seat=seat, count=len(share))

    # -- slaps --------------------------------------------------------------------------------------------------

    def verdict(self, slap: Line) -> tuple[str, str, bool]:
        """Return the verdict on this slap as the next event: the ruling's kind, the reason, and whether a time limit is
        so near that it may lie on either side, where it gets the better one.
        """
        kind, reason = self.verdict_by(slap)
        kinds = {(kind, reason)}
        distance = None if self.last_laid is None else self.clock(slap["t"]) - self.last_laid - COVER
        if distance is not None and abs(distance) < error_of(slap) + self.last_error:
            kinds |= {self.verdict_by(slap, soon=soon) for soon in (False, True)}
        if self.near_deadline(slap) and not self.over:
            kinds.add(("slap_void", "not_playing"))
        worth = {"slap_won": 3, "question": 2, "slap_void": 1, "slap_false": 0}
        best = max(kinds, key=lambda outcome: (worth[outcome[0]], outcome == (kind, reason)))
        return *best, len({outcome[0] for outcome in kinds}) > 1

    def verdict_by(self, slap: Line, soon: bool | None = None) -> tuple[str, str]:
        """Return the same by its instant alone; ``soon``: whether it came within M9's limit."""
        seat, t = slap["seat"], slap["t"]
        empty = seat in self.stacks and not self.stacks[seat] and seat != self.emptied
        if self.over or seat not in self.stacks or "E6" in self.rows:
            return "slap_void", "not_playing"
        if self.paused_at is not None:
            return "slap_void", "paused"
        if seat in self.held:
            return "slap_void", "held"
        if seat in self.locked:
            return "slap_void", "locked_out"
        few = len(self.holders()) < 2 and not self.heat_open  # a seat whose cards are in doubt may hold some
        if empty and "M12" in self.rows and few and not self.last_chance:
            return "slap_void", "not_playing"
        if self.won_by == "slap" or self.heat_open:
            return "slap_void", "late"
        if not self.pile:
            return "slap_void", "empty_pile"
        may = self.slappable()
        if may:
            return "slap_won", ""
        assert self.last_laid is not None
        soon = self.clock(t) - self.last_laid < COVER if soon is None else soon
        covered = "M9" in self.rows and soon and self.covered()
        if may is None or covered is None:
            return "question", "bottom_card"
        if covered:
            return "slap_void", "covered"
        return "slap_false", "dead_card" if self.pile[-1].dead else "no_pattern"

    def slap(self, slap: Line, later: list[Line]) -> None:
        kind, reason, near = self.verdict(slap)
        if near:
            self.doubted[slap["id"]] = True
        heat = self.heat(slap, later) if kind == "slap_won" else [slap]
        self.held.add(slap["seat"])
        if kind == "slap_void":
            self.void(slap, reason)
        elif kind == "slap_false":
            self.false(slap, reason)
        elif kind == "question":
            self.rule(slap["t"], "question", ask=reason)
            self.stopped_at = slap["t"]
        elif len(heat) == 1:
            self.win(slap, "time")
        else:
            self.dead_heat(heat, later)

    def heat(self, slap: Line, later: list[Line]) -> list[Line]:
        """Return all good hands nearer to this one than the errors, and those of one instant."""
        heat = [slap]
        passed: list[Line] = []
        held, self.held = self.held, {*self.held, slap["seat"]}
        for other in later:
            if other["kind"] == "card":
                passed.append(other)
            if other["kind"] == "lift":
                self.held.discard(other["seat"])
            if other["kind"] != "slap" or other["t"] > slap["t"] + 10**9:
                continue
            apart = other["t"] - slap["t"]
            near = apart < error_of(slap) + error_of(other) or apart == 0
            lying = self
            for card in passed:  # one that came surely before this hand lies under it
                if near and not self.in_doubt(other, card):
                    lying = lying.ahead(card)
            if near and lying.verdict(other)[0] == "slap_won":
                heat.append(other)
                for card in later:
                    if card["kind"] == "card" and other["id"] not in self.doubted and self.in_doubt(other, card):
                        self.judge_both_ways(other, card)
            self.held.add(other["seat"])
        self.held = held
        return heat

    def void(self, slap: Line, reason: str) -> None:
        seat, t = slap["seat"], slap["t"]
        self.rule(t, "slap_void", seat=seat, reason=reason, doubt=self.doubted.get(slap["id"], False))
        if reason == "late" and self.won_by == "slap":
            self.run_up(slap)

    def run_up(self, slap: Line) -> None:
        """Record a hand that came after the winner's; its margin has no number where the stamps say otherwise."""
        won, seat = self.won_ruling, slap["seat"]
        if not won or seat == won["seat"] or any(row["seat"] == seat for row in won["runners_up"]):
            return
        after = slap["t"] - won["t"]
        if not won["runners_up"]:
            won["margin"], won["error"] = after, error_of(slap) + won["own_error"]
        won["runners_up"].append({"seat": seat, "margin": after if after >= 0 else None})
        if after < 0:
            won["margin"] = won["error"] = None
            won["decided_by"] = "doubt" if won["decided_by"] == "time" else won["decided_by"]

    def false(self, slap: Line, reason: str) -> None:
        seat, t = slap["seat"], slap["t"]
        stack = self.stacks[seat]
        self.rule(t, "slap_false", seat=seat, reason=reason, doubt=self.doubted.get(slap["id"], False))
        if not stack:
            self.punish_empty(seat, t)
            return
        count = min(2 if "F1=2" in self.rows else 1, len(stack))
        for _ in range(count):
            self.burned.insert(0, stack.pop(0))
        self.unplaced[seat] = self.burned[:count]
        self.rule(t, "burn", seat=seat, count=count, where="bottom")
        self.go_on_without(seat, t)

    def go_on_without(self, seat: int, t: int) -> None:
        """Go on after a penalty that may have cost a seat its last card, perhaps in turn."""
        if self.stacks[seat]:
            return
        self.lose_cards(seat, t)
        if seat != self.turn or self.owner is not None:
            self.only_one_left(t)
        elif self.challenger is not None:
            self.move_challenge(seat, t)
        else:
            self.go_on(seat, t)

    def contest(self, line: Line) -> None:
        """F5: it was right, and each of them gives a card; it was wrong, and each of them gets one."""
        t, seat = line["t"], line["against"]
        if seat not in self.stacks:
            self.rule(t, "question", ask="nothing_to_contest")
            return
        done = [row for row in self.rulings if row["kind"] in CONTESTED and row["seat"] == seat]
        act = done[-2] if done[-1]["kind"] == "pile" and done[-2:-1] and done[-2]["kind"] in WON else done[-1]
        upheld = act["kind"] != "slap_false"
        by = [
            other
            for other in line["by"]
            if other in self.stacks and other != seat and (id(act), other) not in self.contested
        ]
        if not by:
            self.rule(t, "question", ask="nothing_to_contest")
            return
        self.contested |= {(id(act), other) for other in by}  # one act is contested once by each
        for other in by:
            giver, taker = (other, seat) if upheld else (seat, other)
            if self.stacks[giver]:
                self.stacks[taker].append(self.stacks[giver].pop(0))
                self.gone.discard(taker)
                self.rule(t, "give", seat=giver, to=taker, count=1)
        self.rule(t, "contested", against=seat, by=by, upheld=upheld)
        for giver in by if upheld else [seat]:
            self.go_on_without(giver, t)

    def punish_empty(self, seat: int, t: int) -> None:
        """F6a: a strike, and no more slaps after the third; F6c: none after the first."""
        if "F6a" in self.rows:
            self.strikes[seat] = self.strikes.get(seat, 0) + 1
            self.rule(t, "strike", seat=seat, strikes=self.strikes[seat])
        if "F6c" in self.rows or self.strikes.get(seat) == 3:
            self.locked.add(seat)
            self.rule(t, "locked_out", seat=seat, until="game")

    def win(self, slap: Line, by: str, sharers: Sequence[int] = ()) -> None:
        seat, t = slap["seat"], slap["t"]
        matched = self.patterns()
        cards = self.live()[-max(matched.values()) :]
        self.won_ruling = self.rule(
            t, "slap_won", seat=seat, patterns=sorted(matched), cards=cards, margin=None, error=None, runners_up=[],
            decided_by=by, doubt=self.doubted.get(slap["id"], False), own_error=error_of(slap),
        )  # fmt: skip
        beaten = self.standing()
        for sharer in sharers or [seat]:
            stays = "C7" in self.rows and sharer == beaten
            if not self.stacks[sharer] and sharer != self.emptied and not stays:
                self.rule(t, "slapped_in", seat=sharer)
            self.gone.discard(sharer)
        self.owner, self.won_by, self.sharers = seat, "slap", list(sharers)
        self.challenger = None
        self.last_chance, self.deadline = False, None
        if beaten != seat:
            self.leave_beaten(beaten, t)
        self.set_turn(seat, t)

    def dead_heat(self, heat: list[Line], later: list[Line]) -> None:
        """M2: too near to call by time, the greatest force wins if it leads clearly; M3: shared; else people say."""
        first, second = heat[0], heat[1]
        t, seats = first["t"], [slap_line["seat"] for slap_line in heat]
        margin, error = second["t"] - t, error_of(first) + error_of(second)
        self.rule(t, "dead_heat", seats=seats, margin=margin, error=error)
        self.held.update(seats)
        for tied in heat[1:]:
            later.remove(tied)
        forces = sorted((tied_hand["force"] for tied_hand in heat if tied_hand.get("force") is not None), reverse=True)
        told = "M2" in self.rows and len(forces) == len(heat) and round(forces[0] - forces[1], 6) > 0.1
        if not told and "M3" not in self.rows:
            self.rule(t, "question", ask="who_was_first")
            self.heat_open, self.last_chance, self.turn = True, False, None
            # The pile's owner is a question for people; so it is for a card that doubt put behind these hands.
            self.stopped_at = min([t, *(line["t"] for line in later)])
            return
        winner = next(tied_hand for tied_hand in heat if tied_hand.get("force") == forces[0]) if told else first
        self.win(winner, "force" if told else "split", () if told else seats)
        for tied in heat:
            if tied is not winner:
                if told:
                    self.void(tied, "late")
                else:
                    self.run_up(tied)
        if self.won_ruling["margin"] is not None:
            self.won_ruling["error"] = error
        self.won_ruling["doubt"] = any(self.doubted.get(slap_line["id"], False) for slap_line in heat)
