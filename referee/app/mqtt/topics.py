"""The topics of a table on a broker. Pure.

Under ``PREFIX/TABLE/``: ``available`` (``online`` or ``offline``, retained, the last will), ``state`` (the whole
present, retained), ``ruling`` (each as it is decided), ``day`` (what the day's games came to, retained).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

VERSION: Final = 1
"""Of the payloads: fields may be added under the same number; a field that changes its meaning raises it."""
ONLINE: Final = b"online"
OFFLINE: Final = b"offline"
LEAVES: Final = ("available", "state", "ruling", "day")
NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,40}", re.ASCII)
"""What a table or a prefix may be called: such a name means nothing to a topic filter, a browser or a template."""


@dataclass(frozen=True, slots=True)
class Topics:
    """One table's topics."""

    prefix: str
    table: str

    def __post_init__(self) -> None:
        """Raises `ValueError` for a name that a topic cannot hold."""
        for name in (self.prefix, self.table):
            if not NAME.fullmatch(name):
                raise ValueError(f"{name!r}: a name in a topic has 1 to 40 letters, digits, - and _")

    def of(self, leaf: str) -> str:
        """The topic of one of `LEAVES`."""
        return f"{self.prefix}/{self.table}/{leaf}"


def filters(prefix: str) -> list[str]:
    """What to subscribe to for every table."""
    return [f"{prefix}/+/{leaf}" for leaf in LEAVES]


def parsed(topic: str) -> tuple[str, str] | None:
    """Table and leaf of a topic; None for one that is not ours."""
    parts = topic.split("/")
    if len(parts) != 3 or parts[2] not in LEAVES or not NAME.fullmatch(parts[1]):
        return None
    return parts[1], parts[2]
