"""The protocol between a pad board and the referee: JSON, one object per line; the board's lines carry a checksum.

docs/timing.md describes the fields. Pure; `hardware.pads.serial_source` conducts the conversation.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

VERSION: Final = 1
_SUM: Final = b',"sum":'
_LONGEST: Final = 512
"""Longest line, bytes; a longer one is invalid."""
MOST_PADS: Final = 64
"""Most pads of one board."""
_MOST_ERROR: Final = 10_000
"""Greatest uncertainty, µs, that a board may state for its stamps."""
_LAST_US: Final = 1 << 53
"""Upper limit of a board's uptime, µs: 285 years."""


@dataclass(frozen=True, slots=True)
class BoardHello:
    """A board's greeting, sent at its start or on request."""

    pads: int
    """Number of its pads, which are numbered from 1."""
    error_us: int
    """Half-width of the uncertainty of its stamps."""
    count: int
    """Number of edges reported since it started."""


@dataclass(frozen=True, slots=True)
class BoardEdge:
    """An edge of a board's pad: it closed or opened."""

    pad: int
    us: int
    """The instant on the board's clock."""
    pressed: bool
    count: int
    """The edge's number since the board started, from 1."""


@dataclass(frozen=True, slots=True)
class BoardAnswer:
    """A board's answer: its clock at that moment, sent after all earlier edges."""

    number: int
    """Number of the question."""
    us: int
    count: int
    """Number of edges reported."""
    down: frozenset[int]
    """Pads that are down after these edges."""


BoardLine = BoardHello | BoardEdge | BoardAnswer


class BoardReader:
    """Assembles bytes into lines; counts and skips invalid ones."""

    def __init__(self) -> None:
        self._begun = bytearray()
        self.junk = 0
        """Number of lines that were torn, or not from a board."""

    def feed(self, data: bytes) -> list[BoardLine]:
        """Return the lines completed by these bytes."""
        self._begun += data
        *lines, rest = bytes(self._begun).split(b"\n")
        if len(rest) > _LONGEST:
            self.junk += 1
            rest = b""
        self._begun = bytearray(rest)
        read: list[BoardLine] = []
        for line in lines:
            if line.strip():
                try:
                    read.append(_parse(line.strip()))
                except (ValueError, KeyError, TypeError):
                    self.junk += 1
        return read


def encode_question(number: int) -> bytes:
    """Return a question for a board's clock."""
    return f'{{"ask":{number}}}\n'.encode()


def encode_greeting() -> bytes:
    """Return a request for a board's greeting."""
    return b'{"hello":1}\n'


def _parse(line: bytes) -> BoardLine:
    """Parse a line; raises ValueError, KeyError or TypeError if it is invalid."""
    body, _, checked = line.rpartition(_SUM)
    if not checked.endswith(b"}") or int(checked[:-1]) != sum(body) & 0xFFFF:
        raise ValueError("the line is not whole")
    told = json.loads(body + b"}")
    if "hello" in told:
        if told["version"] != VERSION:
            raise ValueError("another version of the protocol")
        return BoardHello(_whole(told["pads"], MOST_PADS), _whole(told["error_us"], _MOST_ERROR), _whole(told["n"]))
    if "answer" in told:
        down = frozenset(_whole(pad, MOST_PADS) for pad in told["down"])
        return BoardAnswer(_whole(told["answer"]), _whole(told["us"]), _whole(told["n"]), down)
    pressed = {"down": True, "up": False}[told["edge"]]
    return BoardEdge(_whole(told["pad"], MOST_PADS), _whole(told["us"]), pressed, _whole(told["n"]))


def _whole(value: Any, most: int = _LAST_US) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"no whole number up to {most}: {value!r}")
    return value
