"""The position of a game: immutable and complete, without its history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from referee.rules.conditions import PileView
from referee.rules.house import HouseRules
from referee.rules.phase import Challenge, Claim, DeadHeat, LastChance, OpenLead, Over, Phase, Player, Turn, War

State = Literal["played", "burned", "dead"]
Until = Literal["pile", "rounds", "cards", "game", "slap"]

NO_SEAT: Final = 0
"""The seat of a card whose owner is not known, because a dead heat left the lead open (K3)."""


class Laid(NamedTuple):
    """A card in the pile: its face, observation, instant and seat (or `NO_SEAT`), and whether it counts."""

    card: str
    ref: str
    t: int
    seat: int
    state: State
    seen: bool = False
    """Whether a penalty card was seen going in."""
    t_error: int = 0
    """Error of ``t``, ns: time limits count from it (K9)."""
    reveal: bool = True
    """Whether it was turned up in play; a penalty card on top was not (F4), and no limit counts from it."""
    seat_seen: bool = True
    """Whether the seat was seen; otherwise the card counts as laid by the seat whose turn it was (reading 9)."""


class Lock(NamedTuple):
    """A row bars a seat from slapping until then; ``left`` counts rounds or cards."""

    until: Until
    row: str
    left: int = 0


_NOBODY: Final = Turn(None)


class Covered(NamedTuple):
    """The state of the top card before the latest one covered it (M8, M9), and the phase then (F9)."""

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
    """The pick-up that was seen, if the pile was won before it."""
    contested: frozenset[int] = frozenset()
    """Players who have contested it, each once."""


class Memory(NamedTuple):
    """A position kept to detect its repetition (reading 12) by Brent's cycle-finding algorithm.

    R. P. Brent, "An improved Monte Carlo factorization algorithm", BIT 20 (1980): the kept position is replaced at
    every power of two, so one is enough.
    """

    kept: tuple[object, ...] = ()
    power: int = 1
    since: int = 0
    cards: int = 0
    """Cards laid in the game when the position was kept."""
    said: bool = False


class Drift(NamedTuple):
    """The facts left unproved by a gap in the camera's view."""

    gap: str
    """The gap's observation id."""
    lasted: int
    """ns."""
    until: int
    """Its end, ns. Events in the gap have no known instant, so no hand before its end is judged with certainty."""
    asked: bool
    """Whether people were asked what happened in it."""
    leaves: Literal["all", "seats", "counts", "hands"] = "all"
    """``all``: the turn, the pile and all counts are unproved. ``seats``: the same, but people have named the cards
    that came, so a card in turn proves the seats. ``counts``: only the counts, because a pile and its taker were seen
    since. ``hands``: only the verdicts on hands in the gap, because the cards and the seats are proved."""


_NOTHING_COVERED: Final = Covered()
_NO_MEMORY: Final = Memory()
_PLAYERS: Final = tuple(map(Player, range(9)))
"""Every seat as a player, made once: each card asks who plays after it."""


@dataclass(frozen=True)
class Position:
    """The complete state that rulings depend on. Seats count from 1; tuples by seat are in seat order.

    Without slots, so that `replace` can copy all fields in one step.
    """

    rules: HouseRules
    names: tuple[str, ...]
    counts: tuple[int | None, ...]
    """Cards held by each seat; None if unknown."""
    known: tuple[tuple[str, ...], ...]
    """The remembered lower part of each seat's stack, top first; an empty text for an unknown card (K2). The cards
    above it are unknown."""
    step: Literal[1, -1] = 1
    """1 clockwise, -1 counter-clockwise."""
    packs: int = 1
    jokers: int = 0
    phase: Phase = _NOBODY
    """The current phase, which gives the next card or hand its meaning."""
    pile: tuple[Laid, ...] = ()
    """Lowest card first."""
    laid: int = 0
    """Cards played in this game so far."""
    paid: int = 0
    """Number of the top card among those paid to its challenge (P15); 0 if it was not paid."""
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
    """Seats that have already paid a penalty for the latest card (N7)."""
    convicted: frozenset[int] = frozenset()
    """Seats that have slapped falsely in this game (M6)."""
    wild: str = ""
    """The wild rank, once drawn (P14)."""
    said: str = ""
    """The rank called for the top card (N14)."""
    calling: str = ""
    """The rank called for the next card."""
    covered: Covered = _NOTHING_COVERED
    latest: str = ""
    """Observation id of the latest card laid."""
    emptied: int = 0
    """The seat whose stack that card emptied; 0 if none."""
    final: bool = False
    """Whether that card was the last chance of a challenge, whatever its face (M13)."""
    day: str = ""
    closed: bool = False
    """Closed until the next day (P16b)."""
    table: str = ""
    """The observation that opened the table; an end by the clock is caused by it."""
    ends_at: int | None = None
    """End of the agreed time, ns (E7)."""
    piles: int = 0
    """Piles taken in this game (E7)."""
    verdicts: tuple[SeatVerdict, ...] = ()
    """Each seat's latest slap and take; latest last."""
    paused_at: int | None = None
    """Start of the current pause, ns; None if not paused."""
    still: int = 0
    """Time paused since the latest card, ns; time limits do not run during a pause."""
    in_limbo: int = 0
    """Cards that left the table to an unknown seat."""
    unsure: frozenset[int] = frozenset()
    """Seats that may hold more than their count, because the owner of a pile is undecided (readings 10 and 15)."""
    absent: frozenset[int] = frozenset()
    """Seats without a player: left (E8), or between the table and a pad that joined (M11)."""
    unread: frozenset[str] = frozenset()
    """Observation ids of unreadable cards on the table."""
    gaps: frozenset[str] = frozenset()
    """Unread ids that stand for any number of cards, which may have come while the camera saw nothing."""
    uncounted: frozenset[tuple[str, int]] = frozenset()
    """Stacks that people were asked to count and have not yet: the observation that asked, and the seat."""
    memory: Memory = _NO_MEMORY
    drift: Drift | None = None
    unjudged: bool = False
    """Whether a hand came down in the current pause, with unknown effects at the table."""

    def replace(self, **changes: Any) -> Position:
        """Return a copy with these fields changed. All fields are copied at once: it runs a few times per line."""
        other = _new(Position)
        # Bypasses the frozen guard of the dataclass.
        _fill(other, self.__dict__ | changes)
        return other

    @property
    def turn(self) -> int | None:
        """The seat that plays next."""
        return self.phase.turn

    @property
    def challenge(self) -> Challenge | None:
        """The standing challenge."""
        return self.phase if type(self.phase) is Challenge else None

    @property
    def claim(self) -> Claim | None:
        """The claim to a won pile that is not yet picked up."""
        return self.phase if type(self.phase) is Claim else None

    @property
    def tied(self) -> tuple[int, ...]:
        """Seats among which people must say who was first, or a card must show who leads."""
        return self.phase.seats if isinstance(self.phase, DeadHeat | OpenLead) else ()

    @property
    def war(self) -> War | None:
        """The War for the pile."""
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
        """The seat that has won the game."""
        return self.phase.winner if isinstance(self.phase, Over) else None

    @property
    def seats(self) -> int:
        """The number of seats."""
        return len(self.names)

    @property
    def locked_out(self) -> frozenset[int]:
        """Seats that may not slap."""
        return frozenset(seat for seat, lock in enumerate(self.locks, start=1) if lock is not None)

    @property
    def paused(self) -> bool:
        """Whether the table is paused, so that slaps are void."""
        return self.paused_at is not None

    @property
    def unseen(self) -> bool:
        """Whether the pile may hold any number of cards that the camera did not see come."""
        return not self.gaps.isdisjoint(self.unread)

    @property
    def drifts(self) -> bool:
        """Whether the turn and the pile are unproved since a gap in the camera's view."""
        return self.drift is not None and self.drift.leaves in ("all", "seats")

    def holds(self, seat: int) -> bool:
        """Whether a seat has cards (an unknown stack has some)."""
        return self.counts[seat - 1] != 0 or self._may_hold_more(seat)

    def _may_hold_more(self, seat: int) -> bool:
        """Whether a pile with an undecided owner may be this seat's."""
        return seat in self.unsure or (type(self.phase) is DeadHeat and seat in self.phase.seats)

    def holders(self) -> tuple[Player, ...]:
        """Return the seats that have cards."""
        counts = enumerate(self.counts, start=1)
        return tuple(_PLAYERS[seat] for seat, held in counts if held != 0 or self._may_hold_more(seat))

    def player(self, seat: int | None) -> Player | None:
        """Return the seat as a current player; None if it is vacant or its player is out for good.

        A seat is not a player if it has left (E8), is not taken (M11), or has no cards and no way back: it may not slap
        in (M10), has won no pile on the table, and has not just laid its last card.
        """
        if seat is None or not 1 <= seat <= self.seats or seat in self.absent:
            return None
        rules = self.rules
        returns = rules.has("M10") or rules.has("E6")
        if self.holds(seat) or returns or self._may_win(seat) or self.just_emptied(seat):
            return Player(seat)
        return None

    def players(self) -> tuple[Player, ...]:
        """Return every seat that currently plays."""
        return tuple(player for seat in range(1, self.seats + 1) if (player := self.player(seat)) is not None)

    def players_after(self, seat: int, *, step: int = 0) -> tuple[Player, ...]:
        """Return all other current players, in the direction of play, or of ``step``: 1 is clockwise."""
        around = ((seat - 1 + (step or self.step) * distance) % self.seats + 1 for distance in range(1, self.seats))
        return tuple(player for other in around if (player := self.player(other)) is not None)

    def _may_win(self, seat: int) -> bool:
        """Whether the current phase may give this seat the pile."""
        phase = self.phase
        if isinstance(phase, Claim):
            return seat in (phase.seat, *phase.sharers)
        if isinstance(phase, War | DeadHeat | OpenLead):
            return seat in phase.seats
        return seat == (phase.challenger if isinstance(phase, Challenge) else getattr(phase, "seat", None))

    def stays_in(self, seat: int) -> bool:
        """Whether a seat is still in: by turning its last cards (E2), a won pile (M10) or its challenge (C7)."""
        phase = self.phase
        if isinstance(phase, Challenge):
            if seat != phase.challenger:
                return False
            # With E6, a seat that is due to pay and has no card has lost, and the challenger gets the pile.
            return self.rules.has("C7") or (self.rules.has("E6") and not self.holds(phase.challenged))
        if isinstance(phase, Claim):
            if phase.by == "slap":
                # A seat that has slapped in is back, though the pile is still on the table.
                return seat in (phase.seat, *phase.sharers)
            return seat == phase.seat and self.rules.has("C7")
        return isinstance(phase, LastChance) and phase.seat == seat

    def just_emptied(self, seat: int) -> bool:
        """Whether the latest card was this seat's last; the seat stays in until the next card or pick-up (M12, E5b)."""
        if self.emptied != seat or self.counts[seat - 1] != 0:
            return False
        return any(laid.ref == self.latest for laid in reversed(self.pile))

    def may_slap(self, seat: int) -> bool:
        """Whether this seat has cards, has just laid its last one, or may slap in without any (M10, M12)."""
        if self.holds(seat) or self.just_emptied(seat):
            return True
        needs_two = self.rules.has("M12") and self.last_chance is None
        return self.rules.has("M10") and not (needs_two and len(self.holders()) < 2)

    def count(self, seat: int) -> int | None:
        """Return the number of cards a seat holds; None if uncertain."""
        return None if seat in self.unsure else self.counts[seat - 1]

    def after(self, seat: int, *, never: int | None = None) -> Player | None:
        """Return the next seat with cards in the direction of play, ``seat`` itself last, ``never`` excluded.

        With E6 no seat is passed over: a seat that is due to lay and has no card has lost.
        """
        counts = self.counts
        seats = len(counts)
        for distance in range(1, seats + 1):
            other = (seat - 1 + self.step * distance) % seats + 1
            if other != never and (counts[other - 1] != 0 or self._may_hold_more(other)):
                return _PLAYERS[other]
            if other not in (never, seat) and other not in self.absent and self.rules.has("E6"):
                return _PLAYERS[other]
        return None

    def before(self, seat: int, *, never: int | None = None) -> Player | None:
        """Return the player before a seat in the direction of play, preferably one with cards; ``never`` excluded."""
        others = [other for other in reversed(self.players_after(seat)) if other != never]
        return next((other for other in others if self.holds(other)), others[0] if others else None)

    def played(self) -> tuple[Laid, ...]:
        """Return the cards that count for patterns, lowest first (N3)."""
        if not self.rules.has("N3"):
            return tuple(laid for laid in self.pile if laid.state != "dead")
        return tuple(laid for laid in self.pile if laid.state == "played")

    def expected(self, seat: int) -> str:
        """Return the card that this seat must turn next, if deck memory knows it (K2); else an empty text."""
        known = self.known[seat - 1]
        return known[0] if known and self.counts[seat - 1] == len(known) else ""

    def without(self, laid: Laid) -> Position:
        """Return the position without the latest card: the card it covered is on top again (M8, M9)."""
        pile = tuple(other for other in self.pile if other is not laid)
        return self.replace(pile=pile, paid=self.covered.paid, said=self.covered.said)

    def look(self) -> PileView:
        """Return the part of the pile that a pattern may look at."""
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
