"""Games of two to eight players for the page: a slap won narrowly, a late and a false hand, a pile on the table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import cycle
from typing import Any, Final

NAMES: Final = ("Ana", "Benedikt", "Cho", "Dora", "Emmanuelle", "Finn", "Guadalupe", "Hal")
_FACES: Final = (
    "2h", "5s", "9d", "3c", "7h", "Ts", "4d", "8c", "6s", "2d", "9s", "5h", "3s", "8d", "4c", "Th", "7d", "6c", "2c",
)  # fmt: skip
MS: Final = 1_000_000


def crowd_lines(seats: int) -> Iterator[str]:
    """Yield the lines of an unfinished game with this many players, ticks included; a card has just been laid."""
    yield _line("table", 0, "table", seats=list(NAMES[:seats]), dealer=seats, rules="classic")
    turns, t, number = cycle(range(1, seats + 1)), 1_000 * MS, 0
    faces = iter(_FACES)
    for _ in range(9):
        t, number = t + 900 * MS, number + 1
        yield _line("card", t, f"c{number}", card=next(faces), seat=next(turns), t_error=8 * MS)
    last = next(turns)
    yield _line("card", t + 900 * MS, "c10", card="8s", seat=last, t_error=8 * MS)
    t += 1_800 * MS
    yield _line("card", t, "c11", card="8h", seat=next(turns), t_error=8 * MS)
    winner, late = seats, 1
    yield _line("slap", t + 262 * MS, "s1", seat=winner)
    yield _line("slap", t + 306_694_000, "s2", seat=late)
    yield _line("tick", t + 700 * MS)
    yield _line("taken", t + 1_700 * MS, "t1", seat=winner)
    t += 2_500 * MS
    lead = cycle([winner, *range(1, winner)])
    for place in range(10):
        yield _line("card", t + place * 900 * MS, f"d{place}", card=next(faces), seat=next(lead), t_error=8 * MS)
    yield _line("slap", t + 8_700 * MS, "s3", seat=2)
    yield _line("tick", t + 12_000 * MS)


def _line(kind: str, t: int, name: str | None = None, **fields: Any) -> str:
    named = {} if name is None else {"id": name}
    return json.dumps({"kind": kind, "t": t, **named, **fields}, separators=(",", ":"))
