"""Two neighbours slap one after the other: whether the table tells them in the order in which it asked for them.

Pure, in event time, like `referee.setup.calibration.pad_check`, but with the filter of a game: a pad that is wired to
another seat, or that swallows a hand, shows here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from hardware.pads.slaps import PadFilter
from hardware.ports import Edge
from referee.engine.observations import Slap
from referee.text.catalogue import Texts
from referee.units import MS, SECOND

Outcome = Literal["told", "swapped", "open", "silent"]
PAIR_PATIENCE: Final = 15 * SECOND
"""How long both hands of a pair are waited for, ns."""
_QUIET: Final = 300 * MS
"""So long after the second hand the next pair is asked for, ns."""


class PairCheck:
    """The conversation.

    Args:
        names: of the seats, seat 1 first.
        start: when it begins, ns.
        filter_: makes slaps of the edges.
        texts: in whose language it asks.
        silent: seats of which it is known that their pads tell nothing; they are not asked.
    """

    def __init__(
        self, names: Sequence[str], start: int, filter_: PadFilter, texts: Texts, *, silent: Iterable[int] = ()
    ) -> None:
        self._names, self._filter, self._texts = tuple(names), filter_, texts
        count = len(names)
        dead = frozenset(silent)
        every = [(seat, seat % count + 1) for seat in range(1, count + 1)]
        self._left = [pair for pair in every if not dead & set(pair)]
        self.outcomes: dict[tuple[int, int], Outcome] = {pair: "silent" for pair in every if dead & set(pair)}
        """By pair, in the order in which its seats were asked for."""
        self._since, self._hands = start, list[Slap]()

    @property
    def asking(self) -> tuple[int, ...]:
        """The seats that are to slap now, the first one first; none at the end."""
        return self._left[0] if self._left else ()

    @property
    def request(self) -> str:
        """What is asked for now."""
        if not self.asking:
            return ""
        first, then = (self._names[seat - 1] for seat in self.asking)
        return self._texts("certificate.ask_pair", first=first, then=then)

    def feed(self, edge: Edge) -> None:
        """A raw edge of any pad."""
        self._hear(self._filter.feed(edge))

    def advance(self, t: int) -> list[str]:
        """It is ``t`` (ns), and all edges up to then were fed: what there is to say."""
        self._hear(self._filter.advance(t))
        if not self._left:
            return []
        pair = self._left[0]
        if {hand.seat for hand in self._hands} >= set(pair) and t >= self._hands[-1].t + _QUIET:
            self._note(_order(pair, self._hands), t)
        elif t >= self._since + PAIR_PATIENCE:
            self._note("silent", t)
        else:
            return []
        return [self.request] if self._left else []

    def _hear(self, told: Iterable[object]) -> None:
        self._hands += [one for one in told if isinstance(one, Slap) and one.seat in self.asking]

    def _note(self, outcome: Outcome, t: int) -> None:
        self.outcomes[self._left.pop(0)] = outcome
        self._hands, self._since = [], t


def _order(pair: Sequence[int], hands: Sequence[Slap]) -> Outcome:
    first, then = (next(hand for hand in hands if hand.seat == seat) for seat in pair)
    if abs(then.t - first.t) <= first.t_error + then.t_error:
        return "open"
    return "told" if first.t < then.t else "swapped"
