"""The position of a game: immutable, complete, and ignorant of how it came about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from referee.rules.conditions import PileView
from referee.rules.house import HouseRules
from referee.rules.phase import Challenge, Claim, DeadHeat, LastChance, OpenLead, Over, Phase, Player, Turn, War

State = Literal["played", "burned", "dead"]
Until = Literal["pile", "rounds", "cards", "game", "slap"]


class Laid(NamedTuple):
    """A card in the pile: what it is, which observation brought it, when, by whom, and whether it counts."""

    card: str
    ref: str
    t: int
    seat: int
    state: State
    seen: bool = False
    """A penalty card that was seen going in."""
    t_error: int = 0
    """How wrong ``t`` may be, ns: limits of time count from it (K9)."""
    reveal: bool = True
    """Whether it was turned up to be played; a penalty card on top was not (F4), and no limit counts from it."""
    seat_seen: bool = True
    """Whether the seat was seen; else the card counts as laid by the seat whose turn it was (reading 9)."""


class Lock(NamedTuple):
    """A seat may not slap until then, by this row; ``left`` counts rounds or cards."""

    until: Until
    row: str
    left: int = 0


_NOBODY: Final = Turn(None)


class Covered(NamedTuple):
    """What held for the top card before the latest one covered it (M8, M9), and what the game waited for (F9)."""

    paid: int = 0
    said: str = ""
    phase: Phase = _NOBODY


class SeatVerdict(NamedTuple):
    """A seat's latest slap or take, whether it was right, and its observation (F5)."""

    seat: int
    act: Literal["slap", "take"]
    right: bool
    ref: str
    pickup: str = ""
    """The pick-up that was seen, where a pile was won before it."""
    contested: frozenset[int] = frozenset()
    """Who has contested it: each player once."""


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


class Drift(NamedTuple):
    """What a gap in the camera's sight leaves unproved."""

    gap: str
    """The gap's observation."""
    lasted: int
    """ns."""
    until: int
    """Its end, ns: when in it anything happened nobody knows, so no hand before that is judged for sure."""
    asked: bool
    """Whether people were asked what passed in it."""
    leaves: Literal["all", "counts", "hands"] = "all"
    """``all``: whose turn it is, what lies there, who holds how many cards. ``counts``: only the last of these, for a
    pile was seen to go since, and who took it. ``hands``: only what hands in it were worth, for people have said which
    cards came."""


_NOTHING_COVERED: Final = Covered()
_NO_MEMORY: Final = Memory()


@dataclass(frozen=True)
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
    phase: Phase = _NOBODY
    """What the game is waiting for."""
    pile: tuple[Laid, ...] = ()
    """Lowest card first."""
    laid: int = 0
    """Cards played in this game so far."""
    paid: int = 0
    """The top card is the n-th paid to its challenge (P15); 0 where it was not paid."""
    strikes: tuple[int, ...] = ()
    debts: tuple[int, ...] = ()
    """Negative cards (F6d)."""
    locks: tuple[Lock | None, ...] = ()
    held: frozenset[int] = frozenset()
    """Seats whose pad is pressed."""
    hovering: frozenset[tuple[int, int]] = frozenset()
    """Seats reported hovering, each with the number of cards laid by then (M5)."""
    presses: tuple[tuple[tuple[int, int], ...], ...] = ()
    """Each pad's latest presses: their instants and errors, ns (N13)."""
    false_run: int = 0
    """False slaps at the table since the last pile was won (F2)."""
    penalised: frozenset[int] = frozenset()
    """Seats that have paid for the latest card, while once a card is the rule (N7)."""
    convicted: frozenset[int] = frozenset()
    """Seats that have slapped falsely in this game (M6)."""
    wild: str = ""
    """The wild rank, once drawn (P14)."""
    said: str = ""
    """The rank that was called for the top card (N14)."""
    calling: str = ""
    """The rank that was called for the next card."""
    covered: Covered = _NOTHING_COVERED
    latest: str = ""
    """The latest card that was laid, by its observation."""
    emptied: int = 0
    """The seat of whose stack it was the last card; 0 where it left others."""
    final: bool = False
    """Whether that card was the last chance of a challenge, whatever it turned out to be (M13)."""
    day: str = ""
    closed: bool = False
    """Closed until the next day (P16b)."""
    table: str = ""
    """The observation that opened the table: what ends by the clock follows from it."""
    ends_at: int | None = None
    """When the agreed time is over, ns (E7)."""
    piles: int = 0
    """Piles taken in this game (E7)."""
    verdicts: tuple[SeatVerdict, ...] = ()
    """Each seat's latest slap and take; latest last."""
    paused_at: int | None = None
    """Since when the table is paused, ns; None where it is not."""
    still: int = 0
    """How long the table has been paused since the latest card, ns: waiting times stand still then."""
    in_limbo: int = 0
    """Cards that left the table, nobody can say to whom."""
    unsure: frozenset[int] = frozenset()
    """Seats that may hold more than is counted: people have not said yet whose a pile was (readings 10 and 15)."""
    absent: frozenset[int] = frozenset()
    """Seats where nobody plays: left (E8), or between the table and a pad that joined (M11)."""
    unread: frozenset[str] = frozenset()
    """Cards on the table that nobody could read, by the observation that brought them."""
    gaps: frozenset[str] = frozenset()
    """Of those, the ones that stand for any number of cards: what may have come while the camera saw nothing."""
    uncounted: frozenset[tuple[str, int]] = frozenset()
    """Stacks that people were asked to count and have not: the observation by which, and the seat."""
    memory: Memory = _NO_MEMORY
    drift: Drift | None = None
    unjudged: bool = False
    """Whether a hand came down in the pause that lasts: what it did at the table nobody knows."""

    def but(self, **changes: Any) -> Position:
        """The same but for these fields."""
        return changed(self, changes)

    @property
    def turn(self) -> int | None:
        """Whoever plays next."""
        return self.phase.turn

    @property
    def challenge(self) -> Challenge | None:
        """The challenge that stands."""
        return self.phase if type(self.phase) is Challenge else None

    @property
    def claim(self) -> Claim | None:
        """Who has won the pile that still lies there."""
        return self.phase if type(self.phase) is Claim else None

    @property
    def tied(self) -> tuple[int, ...]:
        """Seats of which people must say who was first, or of which a card must show who leads."""
        return self.phase.seats if isinstance(self.phase, DeadHeat | OpenLead) else ()

    @property
    def war(self) -> War | None:
        """The War that is fought for the pile."""
        return self.phase if type(self.phase) is War else None

    @property
    def last_chance(self) -> LastChance | None:
        """The last chance to slap in."""
        return self.phase if type(self.phase) is LastChance else None

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return type(self.phase) is Over

    @property
    def winner(self) -> int | None:
        """Who has won the game."""
        return self.phase.winner if isinstance(self.phase, Over) else None

    @property
    def seats(self) -> int:
        """How many seats play."""
        return len(self.names)

    @property
    def locked_out(self) -> frozenset[int]:
        """Seats that may not slap."""
        return frozenset(seat for seat, lock in enumerate(self.locks, start=1) if lock is not None)

    @property
    def paused(self) -> bool:
        """Whether slaps are void until the table goes on."""
        return self.paused_at is not None

    @property
    def unseen(self) -> bool:
        """Whether any number of cards may lie in the pile that the camera did not see come."""
        return bool(self.gaps) and not self.gaps.isdisjoint(self.unread)

    @property
    def drifts(self) -> bool:
        """Whether nobody can prove whose turn it is and what lies there, since a gap in the camera's sight."""
        return self.drift is not None and self.drift.leaves == "all"

    def holds(self, seat: int) -> bool:
        """Whether a seat has cards (an unknown stack has some)."""
        return self.counts[seat - 1] != 0 or self._may_hold_more(seat)

    def _may_hold_more(self, seat: int) -> bool:
        """Whether a pile may be this seat's, though people have not said so yet."""
        return seat in self.unsure or (type(self.phase) is DeadHeat and seat in self.phase.seats)

    def holders(self) -> tuple[Player, ...]:
        """Seats that have cards."""
        return tuple(Player(seat) for seat in range(1, self.seats + 1) if self.holds(seat))

    def player(self, seat: int | None) -> Player | None:
        """This seat as one that plays now; None where no player sits there, or one who is out for good.

        A seat is no player that has left (E8), that nobody has taken (M11), or that has no cards and no way back: it
        may not slap in (M10), nothing that it has won lies there, and it has not just laid its last card.
        """
        if seat is None or not 1 <= seat <= self.seats or seat in self.absent:
            return None
        rules = self.rules
        returns = rules.has("M10") or rules.has("E6")
        if self.holds(seat) or returns or self._may_win(seat) or self.just_emptied(seat):
            return Player(seat)
        return None

    def players(self) -> tuple[Player, ...]:
        """Every seat that plays now."""
        return tuple(player for seat in range(1, self.seats + 1) if (player := self.player(seat)) is not None)

    def players_after(self, seat: int, *, step: int = 0) -> tuple[Player, ...]:
        """All other seats that play now, in the direction of play, or of ``step``: 1 is clockwise."""
        around = ((seat - 1 + (step or self.step) * distance) % self.seats + 1 for distance in range(1, self.seats))
        return tuple(player for other in around if (player := self.player(other)) is not None)

    def _may_win(self, seat: int) -> bool:
        """Whether what the game waits for may give this seat the pile."""
        phase = self.phase
        if isinstance(phase, Claim):
            return seat in (phase.seat, *phase.split)
        if isinstance(phase, War | DeadHeat | OpenLead):
            return seat in phase.seats
        return seat == (phase.challenger if isinstance(phase, Challenge) else getattr(phase, "seat", None))

    def stays_in(self, seat: int) -> bool:
        """The seat that turns its last cards (E2); whose won pile lies there (M10); whose challenge stands (C7)."""
        phase = self.phase
        if isinstance(phase, LastChance):
            return phase.seat == seat
        if isinstance(phase, Claim) and phase.by == "slap":
            # Whoever has slapped in is back, with the pile still on the table.
            return seat in (phase.seat, *phase.split)
        if isinstance(phase, Challenge | Claim) and self.rules.has("C7"):
            return seat == (phase.challenger if isinstance(phase, Challenge) else phase.seat)
        return False

    def just_emptied(self, seat: int) -> bool:
        """Whether the latest card was the last of this seat's stack: until the next card lies or the pile is taken, the
        seat is still in (M12, E5b)."""
        if self.emptied != seat or self.counts[seat - 1] != 0:
            return False
        return any(laid.ref == self.latest for laid in reversed(self.pile))

    def may_slap(self, seat: int) -> bool:
        """Whether this seat has cards, or has just laid its last, or may slap in without any (M10, M12)."""
        if self.holds(seat) or self.just_emptied(seat):
            return True
        needs_two = self.rules.has("M12") and self.last_chance is None
        return self.rules.has("M10") and not (needs_two and len(self.holders()) < 2)

    def count(self, seat: int) -> int | None:
        """How many cards a seat holds; None where that is not certain."""
        return None if seat in self.unsure else self.counts[seat - 1]

    def after(self, seat: int, *, never: int | None = None) -> Player | None:
        """The next seat with cards in the direction of play, ``seat`` itself last, ``never`` not at all.

        With E6 nobody is passed over: whoever is due to lay and has no card has lost.
        """
        counts = self.counts
        seats = len(counts)
        for distance in range(1, seats + 1):
            other = (seat - 1 + self.step * distance) % seats + 1
            if other != never and (counts[other - 1] != 0 or self._may_hold_more(other)):
                return Player(other)
            if other not in (never, seat) and other not in self.absent and self.rules.has("E6"):
                return Player(other)
        return None

    def before(self, seat: int, *, never: int | None = None) -> Player | None:
        """The player before a seat in the direction of play, of those with cards if there are any; not ``never``."""
        others = [other for other in reversed(self.players_after(seat)) if other != never]
        return next((other for other in others if self.holds(other)), others[0] if others else None)

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
        pile = tuple(other for other in self.pile if other is not laid)
        return self.but(pile=pile, paid=self.covered.paid, said=self.covered.said)

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
_fill: Final = Position.__dict__["__dict__"].__set__


def changed(position: Position, changes: dict[str, Any]) -> Position:
    """The same position but for these fields. All fields are copied at once: it happens two or three times a line."""
    other = _new(Position)
    # Past the guard that keeps everybody else from changing one.
    _fill(other, position.__dict__ | changes)
    return other
