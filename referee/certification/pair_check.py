"""A check that the table reports the slaps of two neighbours in the requested order.

Pure, in event time, like `referee.setup.calibration.pad_check`, but with the filter of a game: it reveals a pad that is
wired to another seat or swallows a hand.
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
"""Time limit for both hands of a pair, ns."""
_QUIET: Final = 300 * MS
"""Time from the second hand to the next request, ns."""


class PairCheck:
    """The dialogue of the check.

    Args:
        names: of the seats, seat 1 first.
        start: when it begins, ns.
        filter_: turns edges into slaps.
        texts: the language of the requests.
        silent: seats whose pads are known to report nothing; they are skipped.
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
        """Outcome by pair, in the order in which its seats were requested."""
        self._since, self._hands = start, list[Slap]()

    @property
    def asking(self) -> tuple[int, ...]:
        """The seats that are to slap now, the first one first; empty at the end."""
        return self._left[0] if self._left else ()

    @property
    def request(self) -> str:
        """The current request."""
        if not self.asking:
            return ""
        first, then = (self._names[seat - 1] for seat in self.asking)
        return self._texts("certificate.ask_pair", first=first, then=then)

    def feed(self, edge: Edge) -> None:
        """Process a raw edge of any pad."""
        self._hear(self._filter.feed(edge))

    def advance(self, t: int) -> list[str]:
        """Advance to ``t`` (ns), up to which all edges were fed; return what to say."""
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
        self._hands += [line for line in told if isinstance(line, Slap) and line.seat in self.asking]

    def _note(self, outcome: Outcome, t: int) -> None:
        self.outcomes[self._left.pop(0)] = outcome
        self._hands, self._since = [], t


def _order(pair: Sequence[int], hands: Sequence[Slap]) -> Outcome:
    first, then = (next(hand for hand in hands if hand.seat == seat) for seat in pair)
    # Within both errors the order is open.
    if abs(then.t - first.t) <= first.t_error + then.t_error:
        return "open"
    return "told" if first.t < then.t else "swapped"
