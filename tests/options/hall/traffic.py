"""The payloads of one table of the bench: counted over one game, without a broker and in no time."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from referee.options.broker.messages import Telling, encoded
from referee.options.broker.service import PACE, Outbox, Tally
from tests.options.hall.generator import LULL
from tests.options.hall.performance import performance

ALIVE: Final = 10_000_000_000
"""A table publishes its state at least this often, ns."""
AT: Final = "2026-01-01T20:00:00+00:00"


@dataclass(frozen=True)
class Traffic:
    """The traffic of one table, in a game and the lull behind it."""

    sizes: dict[str, list[int]]
    """By topic, bytes of each payload."""
    seconds: float

    @property
    def words(self) -> str:
        """Return it in one line."""
        each = ", ".join(f"a {name} {sum(all_) / len(all_) / 1000:.2f} kB" for name, all_ in self.sizes.items())
        rulings = len(self.sizes["ruling"]) / self.seconds
        others = sum(len(all_) for name, all_ in self.sizes.items() if name != "ruling") / self.seconds
        rate = sum(map(sum, self.sizes.values())) / self.seconds / 1000
        kept = sum(all_[-1] for name, all_ in self.sizes.items() if name != "ruling") / 1000
        return (
            f"a table's payloads: {each}; {rulings:.1f} rulings and {others:.1f} others a second, {rate:.1f} kB/s; "
            f"state and day, which are retained, {kept:.1f} kB"
        )


def traffic() -> Traffic:
    """Play the recorded game once, by the code of a table, with time as data."""
    play, telling, tally, box = performance(), Telling("bench"), Tally(), Outbox()
    names = tuple(f"{name} 1" for name in play.names)
    telling.begin(1, names)
    tally.begin(AT[:10], 1, names)
    sizes: defaultdict[str, list[int]] = defaultdict(list)

    def tell(now: int) -> None:
        for topic, payload, _ in box.take(now, 100):
            sizes[topic].append(len(encoded({**payload, "at": AT})))

    told = 0
    for moment in play.moments:
        # Messages held back by the rate limit go out meanwhile; a waiting table sends nothing else.
        tell(min(moment.t, told + PACE))
        for alive in range(told + ALIVE, moment.t, ALIVE):
            tell(alive)
        for ruling in moment.rulings:
            box.put("ruling", telling.ruling(ruling))
        if tally.take(moment.rulings):
            box.keep("day", tally.payload())
        box.keep("state", telling.state(moment.view))
        tell(moment.t)
        told = moment.t
    tell(told + PACE)
    return Traffic(dict(sizes), (play.length + LULL) / 1e9)
