"""After a gap in which nobody looked: what lies there now, held against what was believed to lie there. Pure.

A watcher that has just been woken tells every card that it finds as if it had just come. Those that lay there before
the gap are no news; what else lies there came during it, nobody knows how many there were, in which order, or by whom.
So what cannot be known is put down as cards that nobody could read (`UNREADABLE`), under the one that is seen: the
referee then asks before it rules on anything that depends on them. There are two (`_UNSEEN_CARDS`), since one alone
would make a sure sandwich of the cards on either side.

Hands that came meanwhile are named, and not judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from referee.engine.observations import MAX_ERROR, Card, Observation, Slap, Taken
from referee.rules.card_play import DRAWN_AT_ONCE_NS
from referee.rules.cards import UNREADABLE
from referee.units import whole_ms

GAP_BETWEEN_CARDS: Final = DRAWN_AT_ONCE_NS + 1
"""Between two cards that came during the gap, ns: nearer, they would be taken for one seat's that drew two (F9)."""
_UNSEEN_CARDS: Final = 2
"""Cards that stand for those that may have come unseen. Only a pattern that reaches over exactly so many (P3) can be
feigned by a gap then."""

Verdict = Literal["same", "more", "gone"]


@dataclass(frozen=True, slots=True)
class PileFinding:
    """What became of the pile during the gap."""

    verdict: Verdict
    believed: tuple[str, ...]
    """The pile before the gap, oldest first."""
    lying: tuple[str, ...]
    """What is seen now, oldest first, as far as that is known."""
    came: tuple[str, ...] = ()
    """Cards to be put on the pile, oldest first."""

    @property
    def asks(self) -> bool:
        """Whether people must see to the pile."""
        return self.verdict != "same"

    @property
    def span(self) -> int:
        """How much of the gap its observations need, ns."""
        return GAP_BETWEEN_CARDS * (len(self.came) + 1)

    def observations(self, since: int, until: int) -> list[Observation]:
        """What to put on the log, without ids, all after ``since`` and before ``until`` (ns).

        Raises:
            ValueError: the gap is shorter than `span`.
        """
        if until - since < self.span:
            raise ValueError(f"the gap must be {self.span} ns long, not {until - since}")
        if self.verdict == "gone":
            return [Taken(t=since + 1, t_error=min(MAX_ERROR, until - since - 2))]
        return [
            Card(t=t, card=card, t_error=min(MAX_ERROR, until - t - 1), extra={"gap": True})
            for t, card in ((since + GAP_BETWEEN_CARDS * (n + 1), card) for n, card in enumerate(self.came))
        ]


def reconcile_pile(believed: Sequence[str], lying: Sequence[str]) -> PileFinding:
    """What became of a pile.

    Args:
        believed: its cards before the gap, oldest first; ``??`` where one was not known.
        lying: the cards seen after it, in the order told; covered ones may be missing.
    """
    before, now = tuple(believed), tuple(lying)
    if not now:
        return PileFinding("gone" if before else "same", before, now)
    new = tuple(card for card in now if card not in before or card == UNREADABLE)
    top = before[-1] if before else ""
    # A card that nobody could read before may be the one that is read now, and the other way round never.
    if (not new and top in now) or (top == UNREADABLE and len(new) <= 1 and UNREADABLE not in new):
        return PileFinding("same", before, now)
    came = (*(UNREADABLE,) * _UNSEEN_CARDS, *(card for card in new if card != UNREADABLE))
    return PileFinding("more", before, now, came)


@dataclass(slots=True)
class FirstLook:
    """Collects what a watcher tells of its first frame, until it has told everything.

    ``patience``: ns of frames after which what has been told must do, though a hand still hides the pile.
    """

    patience: int = 5_000_000_000
    since: int | None = None
    """The first frame's instant, ns."""
    lying: list[str] = field(default_factory=list)
    later: list[Observation] = field(default_factory=list)
    """What happened after the first frame."""

    def add(self, t: int, seen: Iterable[Observation], watermark: int, *, hidden: bool, top: str = "") -> bool:
        """Take one frame's news; returns whether the first frame's are complete.

        Args:
            t: the frame's instant, ns.
            seen: what it told.
            watermark: everything up to here has been told, ns.
            hidden: whether something may hide the pile in this frame.
            top: the card that was on top before the gap: once it is seen, nothing that matters is hidden.
        """
        if self.since is None:
            self.since = t
        for one in seen:
            if isinstance(one, Card) and one.zone == "pile" and one.t <= self.since:
                self.lying.append(one.card)
            else:
                self.later.append(one)
        if t - self.since > self.patience:
            return True
        return watermark >= self.since and (not hidden or top in self.lying)


SAME_CARD_WINDOW: Final = 300_000_000
"""Hands that follow the first within so long are at the same card, ns: four people take 360 ms ± 67 to react."""


@dataclass(frozen=True, slots=True)
class First:
    """Who was first in a pause: information only, for the people to settle it with."""

    t: int
    slaps: tuple[Slap, ...]
    """The hands, the first one first."""

    @property
    def margin(self) -> int | None:
        """By how much, ns; None if nobody else slapped."""
        return self.slaps[1].t - self.slaps[0].t if len(self.slaps) > 1 else None

    @property
    def error(self) -> int:
        """The sum of the two hands' errors, ns."""
        return sum(slap.t_error for slap in self.slaps[:2]) if len(self.slaps) > 1 else 0

    @property
    def sure(self) -> bool:
        """Whether the pads can tell them apart."""
        return self.margin is None or self.margin > self.error

    @property
    def words(self) -> str:
        """In English."""
        seat = self.slaps[0].seat
        if self.margin is None:
            return f"first hand: seat {seat}, not judged"
        if not self.sure:
            return f"seats {seat} and {self.slaps[1].seat} at once, not judged"
        whole = whole_ms(self.margin, self.error)
        return f"first hand: seat {seat}, by {whole or 'less than 1'} ms, not judged"


@dataclass(slots=True)
class PauseHands:
    """Collects the hands of a pause."""

    since: int
    """The pause's instant, ns."""
    _slaps: list[Slap] = field(default_factory=list)

    def add(self, slap: Slap) -> None:
        """A hand, in any order; one from before the pause is none of its own."""
        if slap.t >= self.since:
            self._slaps.append(slap)

    def told(self, t: int) -> list[First]:
        """Every pad has reported up to ``t`` (ns): those hands that can be told now."""
        out: list[First] = []
        self._slaps.sort(key=lambda slap: (slap.t, slap.seat))
        while self._slaps and self._slaps[0].t + SAME_CARD_WINDOW <= t:
            first = self._slaps[0]
            near = [slap for slap in self._slaps if slap.t <= first.t + SAME_CARD_WINDOW]
            others = [slap for slap in near[1:] if slap.seat != first.seat]
            out.append(First(first.t, (first, *others)))
            del self._slaps[: len(near)]
        return out
