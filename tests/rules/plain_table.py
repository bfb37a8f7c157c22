"""A plain table: the cards that each seat physically holds, and the pile; and players who obey the referee.

It knows no rules. Cards move when a player moves them, or when the referee says that some are burned, given or taken;
after each line it must agree with the referee's position.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from referee.engine.adjudicator import Adjudicator
from referee.engine.log import from_fields
from referee.engine.observations import Observation, Tick
from referee.engine.rulings import Ruling
from referee.rules.cards import JOKERS, PACK
from referee.rules.house import read_house_rules
from referee.rules.presets import PRESETS
from referee.rules.rows import RIVALS, ROWS
from tests.support.log_format import problems

MS = 1_000_000
NAMES = ("Ana", "Ben", "Cho", "Dee", "Eli", "Fay", "Gus", "Hal")
ALWAYS_AGREED = frozenset(ROWS) - {"S4d", "M4", "M11", "F9", "P16b", "M14"}
"""Rows that are switched on at random; the others need more than cards and hands, and have their own scenarios."""
VALUES: dict[str, tuple[Any, ...]] = {
    "F1": (0, 1, 2, 5),
    "F6a": (1, 3),
    "F6d": (1, 5),
    "F6e": (1, 3),
    "F7": ("stays", "bottom", "burn"),
    "F10": (0, 1, 3),
    "N1": ("void", "false"),
    "N8": (1, 5),
    "N10": ("void", "false"),
    "N11": ("slap", "challenger", "first"),
    "N12": ([100, "void"], [100, "false"]),
    "N13": (2, 6),
    "M6": (100, 400),
    "M9": (50, 150),
    "M15": (100, 300),
    "E2": (1, 3),
    "P4a": ("low", {"n": 4, "ace": "high", "wrap": True}),
    "P8": (True, False),
    "P10a": (2, 4),
    "P14": ("5", "T"),
    "P16": ("ends_game", "no_winner", "slap"),
    "P19": ({"red": "colour(1) = red"}, {"twins": "rank(1) = rank(2)", "big": "size >= 6"}),
    "C1": ({"A": 4, "K": 3, "Q": 2, "J": 1}, {"A": 1, "K": 1, "Q": 1, "J": 1}),
    "C3a": (1, 5),
    "S2": (1, 2),
    "S3": (0, 2, 3),
    "S5": ("clockwise", "counter-clockwise"),
    "S8": ("recorded", "false"),
}


def random_rules(rng: random.Random, agreed: frozenset[str] = ALWAYS_AGREED, *, most: int = 6) -> dict[str, Any]:
    """Return a preset with a few changes, as a log's first line; at most a number of ``agreed`` rows are on."""
    base = rng.choice(list(PRESETS))
    rows = sorted(agreed - read_house_rules(base).on)
    on: list[str] = []
    for row in rng.sample(rows, k=rng.randint(0, most)):
        if not any(row in RIVALS.get(other, ()) for other in on):
            on.append(row)
    free = sorted((PRESETS[base].rows - {"S4a", "S4b", "C6a", "C6b"}) - set(on))
    off = rng.sample(free, k=rng.randint(0, min(3, len(free))))
    values = {row: rng.choice(VALUES[row]) for row in rng.sample(sorted(VALUES), k=rng.randint(0, 6))}
    return {"base": base, "on": on, "off": off, "set": values}


class PlainTable:
    """One game in progress; ``lines`` is its log so far.

    Raises:
        AssertionError: the referee and the table no longer agree.
    """

    def __init__(self, said: dict[str, Any], seats: int, rng: random.Random, *, few: bool = False) -> None:
        self.rules = read_house_rules(said)
        self.rng = rng
        self.t = 0
        self.lines: list[Observation] = []
        self.rulings: list[Ruling] = []
        self.stuck = False
        self.referee = Adjudicator(lookahead_ns=4 * MS)
        table: dict[str, Any] = {"seats": list(NAMES[:seats]), "dealer": rng.randint(1, seats), "rules": said}
        counted = few or self.rules.has("S4c")
        if counted:
            table["counts"] = [rng.randint(1, 7) for _ in range(seats)]
        packs = self.rules.number("S2")
        jokers = self.rules.number("S3") if self.rules.has("S3") else 0
        deck = [*PACK * packs, *(JOKERS[n % 2] for n in range(jokers))]
        rng.shuffle(deck)
        self.stacks: list[list[str]] = [[] for _ in range(seats)]
        self.pile: list[str] = []
        self.deck: Counter[str] = Counter()
        self._say("table", **table)
        self._deal(deck)
        self.deck = Counter(self.cards())
        self.check()

    def cards(self) -> list[str]:
        """Return every card, wherever it lies."""
        return [*self.pile, *(card for stack in self.stacks for card in stack)]

    def _deal(self, deck: list[str]) -> None:
        """Deal as many to each seat as the referee believes, and the rest to where it believes that cards lie."""
        view = self.referee.view
        for stack, count in zip(self.stacks, view.counts, strict=True):
            assert count is not None
            stack += [deck.pop() for _ in range(count)]
        self.pile = [deck.pop() for _ in view.pile]

    @property
    def over(self) -> bool:
        """Whether no player can act any more."""
        return self.stuck or self.referee.view.game_over

    def lay(self, seat: int | None = None) -> None:
        """Let a seat lay a card: the one whose turn it is, or another that holds one."""
        if self.over:
            return
        view = self.referee.view
        player = seat if seat is not None else view.turn
        if player is None:
            self.wait()
            return
        if view.owner == player and self.rules.has("F6d"):
            # A debt is paid from the top of the pile, before the next card is laid.
            self.take()
        top = self._top(player)
        if top is None and seat is None and view.owner is not None:
            # The seat that was to lead has burned its last card meanwhile: first the pile is picked up.
            self.take()
            return
        if top is None:
            assert seat is not None, f"seat {player} is to play and holds no card"
            return
        self._say("card", card=top, seat=player, after=self.rng.choice((120, 300, 900)))

    def _top(self, seat: int) -> str | None:
        stack = self.stacks[seat - 1]
        if stack:
            return stack[0]
        return self.pile[0] if self.pile and self.referee.view.owner == seat else None

    def wait(self) -> None:
        """Let time pass without a turn: a last chance ends, a won pile is taken, or nothing can happen any more."""
        view = self.referee.view
        if view.owner is not None:
            self.take()
            return
        self._tick(3_000 * MS)
        self.stuck = not self.referee.view.game_over

    def slap(self, seat: int, after: int = 200) -> None:
        """Bring a hand down and up again."""
        self._say("slap", seat=seat, t_error=0, after=after)
        self._say("lift", seat=seat, after=20)

    def take(self) -> None:
        """Let the pile's winner pick it up."""
        owner = self.referee.view.owner
        if owner is not None:
            self._say("taken", seat=owner, after=300)

    def say(self, kind: str, **fields: Any) -> None:
        """Report any other event."""
        self._say(kind, **fields)

    def _say(self, kind: str, after: int = 50, **fields: Any) -> None:
        if self.over and self.lines:
            return
        self.t += after * MS + self.rng.randint(1, MS)
        line = from_fields({"kind": kind, "t": self.t, "id": f"{kind[0]}{len(self.lines)}", **fields}, 1)
        self.lines.append(line)
        self.rulings += self.referee.observe(line)
        self._tick(5 * MS)
        played = fields["card"] if kind == "card" else None
        self._obey(self.referee.take_early(), fields.get("seat"), played)
        if self.deck:
            self.check()

    def _tick(self, after: int) -> None:
        self.t += after
        line = Tick(t=self.t, id=f"k{len(self.lines)}")
        self.lines.append(line)
        self.rulings += self.referee.observe(line)
        if after > 1_000 * MS:
            self._obey(self.referee.take_early(), None, None)

    def _obey(self, early: list[Ruling], seat: int | None, card: str | None) -> None:
        """Move the played card, and the cards that the rulings name."""
        # The burn for a card out of turn goes under that card (F7), though its ruling is printed first.
        for ruling in sorted(early, key=lambda ruling: ruling.kind != "dead_card"):
            if ruling.kind == "pile":
                if card is not None and ruling["count"] == len(self.pile) + 1:
                    self._put(seat, card)
                    card = None
                self._give_pile(ruling["seat"], ruling["count"])
            elif ruling.kind == "burn":
                self._burn(ruling["seat"], ruling["count"], ruling["where"])
            elif ruling.kind == "dead_card" and self.rules.word("F7") != "stays" and card is not None:
                self._put(seat, card, at=0)
                card = None
            elif ruling.kind == "won" and self.rules.has("E2") and "E2" in ruling.rule:
                self.stacks[ruling["seat"] - 1] += self.pile
                self.pile = []
        self._hand_over([ruling for ruling in early if ruling.kind == "give"])
        if card is not None:
            self._put(seat, card)

    @staticmethod
    def _one_by_one(gives: list[Ruling]) -> list[Ruling]:
        """Return each gift as often as it has cards, in rounds: cards are handed out one by one."""
        most = max((give["count"] for give in gives), default=0)
        return [give for number in range(most) for give in gives if give["count"] > number]

    def _hand_over(self, gives: list[Ruling]) -> None:
        for give in self._one_by_one(gives):
            self.stacks[give["to"] - 1].append(self.stacks[give["seat"] - 1].pop(0))

    def _put(self, seat: int | None, card: str, at: int | None = None) -> None:
        assert seat is not None
        stack = self.stacks[seat - 1]
        assert stack, f"seat {seat} plays with no card"
        assert stack.pop(0) == card
        self.pile.insert(len(self.pile) if at is None else at, card)

    def _give_pile(self, seat: int, count: int) -> None:
        assert count <= len(self.pile)
        self.stacks[seat - 1] += self.pile[:count]
        del self.pile[:count]

    def _burn(self, seat: int, count: int, where: str) -> None:
        stack = self.stacks[seat - 1]
        burned = [stack.pop(0) for _ in range(count)]
        self.pile = self.pile + burned if where == "top" else burned[::-1] + self.pile

    def check(self) -> None:
        """Check that the referee's position equals the table's, and that no card is lost or doubled."""
        assert Counter(self.cards()) == self.deck
        view = self.referee.view
        if view.game_over:
            return
        assert view.counts == tuple(map(len, self.stacks))
        assert len(view.pile) == len(self.pile)
        for believed, lies in zip(view.pile, self.pile, strict=True):
            assert believed in ("??", lies), f"{view.pile} is believed, {self.pile} lies there"
        for expected, stack in zip(view.expected, self.stacks, strict=True):
            assert expected is None or expected == stack[0]
        self._check_foresight()

    def _check_foresight(self) -> None:
        """Check that the next card was never ruled out."""
        foresight = self.referee.foresight
        if foresight is None:
            return
        for seat, stack in enumerate(self.stacks, start=1):
            if stack:
                assert foresight.expected(seat) in (None, stack[0])
                assert foresight.may_come(stack[0], seat) and foresight.may_come(stack[0], None)

    def close(self) -> list[Ruling]:
        """End the log; return all its rulings, of which at most one ends the game."""
        self.rulings += self.referee.finish()
        ends = [ruling for ruling in self.rulings if ruling.kind in ("won", "lost", "drawn")]
        view = self.referee.view
        assert len(ends) <= 1
        assert view.game_over == bool(ends)
        assert not ends or ends[0].kind != "won" or view.winner == ends[0]["seat"]
        wrong = [ruling for ruling in self.rulings if ruling.get("ask") in ("recount", "impossible_card", "mend_pile")]
        assert not wrong, f"the referee asks for what is in order: {wrong[0]}"
        assert not (unlike := problems(self.rulings, self.lines)), unlike
        return self.rulings


def play_randomly(seed: int, steps: int = 60) -> PlainTable:
    """Play a whole random game under random rules."""
    rng = random.Random(seed)
    table = PlainTable(random_rules(rng), rng.randint(2, 8), rng, few=rng.random() < 0.6)
    for _ in range(steps):
        if table.over:
            break
        one_move(table)
    return table


def one_move(table: PlainTable) -> None:
    """Play one random event: mostly a card."""
    rng = table.rng
    seat = rng.randint(1, len(table.stacks))
    what = rng.random()
    if what < 0.62:
        table.lay()
    elif what < 0.66:
        if table.stacks[seat - 1]:
            table.lay(seat)
    elif what < 0.84:
        table.slap(seat, rng.choice((30, 120, 250, 400)))
    elif what < 0.92:
        table.take()
    elif what < 0.94:
        table.say("foul", seat=seat, foul=rng.choice(("peek", "hover", "snap")))
    elif what < 0.96:
        table.say("contest", by=[rng.randint(1, len(table.stacks))], against=seat)
    elif what < 0.98:
        table.say("say", seat=seat, rank=rng.choice("A23456789TJQK"))
    else:
        table.say("draw", rank=rng.choice("23456789T"))
