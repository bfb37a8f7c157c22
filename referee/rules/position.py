"""The position of a game: immutable, complete, and ignorant of how it came about."""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

from referee.rules.conditions import PileView
from referee.rules.frozen import record
from referee.rules.house import HouseRules

State = Literal["played", "burned", "dead"]
Until = Literal["pile", "rounds", "cards", "game", "slap"]


class Laid(NamedTuple):
    """A card in the pile: what it is, which observation brought it, when, by whom, and whether it counts."""

    card: str
    ref: str
    t: int
    seat: int
    state: State


@record(frozen=True, slots=True)
class Challenge:
    """A face card or ace waits to be beaten (C1)."""

    challenger: int
    challenged: int
    card: str
    ref: str
    left: int


@record(frozen=True, slots=True)
class Claim:
    """The pile is won and not yet picked up: by a slap for good (M1), by a challenge unless somebody slaps (C9)."""

    seat: int
    by: Literal["slap", "challenge"]
    ref: str
    split: tuple[int, ...] = ()
    """Seats that share the pile, the first of them leading (M3)."""


@record(frozen=True, slots=True)
class LastChance:
    """The last chance to slap in before the end (E2): cards still to turn, and when it ends once all are turned."""

    seat: int
    left: int
    ends_at: int | None = None
    ref: str = ""


@record(frozen=True, slots=True)
class War:
    """The tied play War for the pile (M4): who is still in, and what each has turned up this time."""

    seats: tuple[int, ...]
    shown: tuple[tuple[int, str], ...] = ()
    """Seat and card, in the order in which they were turned."""


class Lock(NamedTuple):
    """A seat may not slap until then; ``left`` counts rounds or cards."""

    until: Until
    left: int = 0


class Memory(NamedTuple):
    """A position kept to see whether it comes back (reading 12), by Brent's way of finding cycles.

    R. P. Brent, "An improved Monte Carlo factorization algorithm", BIT 20 (1980): the kept position is replaced at
    every power of two, so one is enough.
    """

    kept: tuple[object, ...] = ()
    power: int = 1
    since: int = 0
    cards: int = 0
    """Cards laid since the kept position stood."""
    said: bool = False


@record(frozen=True)
class Position:
    """Everything that rulings depend on. Seats count from 1; tuples by seat are in seat order.

    Without slots, so that `changed` can copy all fields in one step.
    """

    rules: HouseRules
    names: tuple[str, ...]
    counts: tuple[int | None, ...]
    """Cards held by each seat; None where unknown."""
    known: tuple[tuple[str, ...], ...]
    """The lower part of each seat's stack that is known card by card, top first; an empty text for a card that is not
    (K2). What lies above it is unknown."""
    step: Literal[1, -1] = 1
    """1 clockwise, -1 counter-clockwise."""
    packs: int = 1
    jokers: int = 0
    turn: int | None = None
    pile: tuple[Laid, ...] = ()
    """Lowest card first."""
    laid: int = 0
    """Cards played in this game so far."""
    challenge: Challenge | None = None
    paid: int = 0
    """The top card is the n-th paid to its challenge (P15); 0 where it was not paid."""
    claim: Claim | None = None
    tied: tuple[int, ...] = ()
    """Seats between which people must say who was first; the pile is one of theirs."""
    war: War | None = None
    strikes: tuple[int, ...] = ()
    debts: tuple[int, ...] = ()
    """Negative cards (F6d)."""
    locks: tuple[Lock | None, ...] = ()
    held: frozenset[int] = frozenset()
    """Seats whose pad is pressed."""
    hovering: frozenset[tuple[int, int]] = frozenset()
    """Seats reported hovering, each with the number of cards laid by then (M5)."""
    presses: tuple[tuple[int, ...], ...] = ()
    """Each pad's latest presses, ns (N13)."""
    false_run: int = 0
    """False slaps at the table since the last pile was won (F2)."""
    penalised: frozenset[tuple[int, str]] = frozenset()
    """Seat and top card of each penalty, while one a card is the rule (N7)."""
    wild: str = ""
    """The wild rank, once drawn (P14)."""
    said: str = ""
    """The rank that was called for the top card (N14)."""
    calling: str = ""
    """The rank that was called for the next card."""
    covered: tuple[int, str] = (0, "")
    """What ``paid`` and ``said`` were for the card that the latest one covered (M8, M9)."""
    day: str = ""
    closed: bool = False
    """Closed until the next day (P16b)."""
    last_chance: LastChance | None = None
    verdicts: tuple[tuple[int, bool, str], ...] = ()
    """Each seat's latest slap or take, whether it was right, and its observation (F5); latest last."""
    paused: bool = False
    over: bool = False
    winner: int | None = None
    in_limbo: int = 0
    """Cards that left the table, nobody can say to whom."""
    unread: frozenset[str] = frozenset()
    """Cards on the table that nobody could read, by the observation that brought them."""
    memory: Memory = Memory()

    def but(self, **changes: Any) -> Position:
        """The same but for these fields."""
        return changed(self, changes)

    @property
    def seats(self) -> int:
        """How many seats play."""
        return len(self.names)

    @property
    def locked_out(self) -> frozenset[int]:
        """Seats that may not slap."""
        return frozenset(seat for seat, lock in enumerate(self.locks, start=1) if lock is not None)

    def holds(self, seat: int) -> bool:
        """Whether a seat has cards (an unknown stack has some)."""
        return self.counts[seat - 1] != 0

    def holders(self) -> tuple[int, ...]:
        """Seats that have cards."""
        return tuple(seat for seat in range(1, self.seats + 1) if self.counts[seat - 1] != 0)

    def after(self, seat: int, *, never: int | None = None) -> int | None:
        """The next seat with cards in the direction of play, ``seat`` itself last, ``never`` not at all."""
        counts = self.counts
        seats = len(counts)
        for distance in range(1, seats + 1):
            other = (seat - 1 + self.step * distance) % seats + 1
            if other != never and counts[other - 1] != 0:
                return other
        return None

    def others_after(self, seat: int) -> tuple[int, ...]:
        """All other seats in the direction of play."""
        return tuple((seat - 1 + self.step * d) % self.seats + 1 for d in range(1, self.seats))

    def played(self) -> tuple[Laid, ...]:
        """Cards that count for patterns, lowest first (N3)."""
        if not self.rules.has("N3"):
            return tuple(laid for laid in self.pile if laid.state != "dead")
        return tuple(laid for laid in self.pile if laid.state == "played")

    def expected(self, seat: int) -> str:
        """The card that this seat must turn next, where its stack is known that far (K2); else an empty text."""
        count, known = self.counts[seat - 1], self.known[seat - 1]
        return known[0] if known and count == len(known) else ""

    def without(self, laid: Laid) -> Position:
        """The same, as if the latest card did not lie there: what it covered is on top again (M8, M9)."""
        paid, said = self.covered
        return self.but(pile=tuple(other for other in self.pile if other is not laid), paid=paid, said=said)

    def look(self) -> PileView:
        """What a pattern may look at."""
        played = self.played()
        lowest = next((laid for laid in self.pile if laid.state != "dead"), None)
        return PileView(
            top=tuple(laid.card for laid in reversed(played)),
            first=played[0].card if played else "",
            bottom="" if lowest is None else lowest.card,
            paid=self.paid,
            wild=self.wild,
            said=self.said,
            under=lowest is not None and lowest.state == "burned",
        )


_new: Final = object.__new__


def changed(position: Position, changes: dict[str, Any]) -> Position:
    """The same position but for these fields. All fields are copied at once: it happens two or three times a line."""
    other = _new(Position)
    other.__dict__ = position.__dict__ | changes
    return other
