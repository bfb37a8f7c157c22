"""The lines that a pad board and the referee send each other: JSON, one object a line, each line of the board summed.

docs/timing.md says what each holds. Pure; `hardware.pads.serial_source` holds the conversation.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

VERSION: Final = 1
_SUM: Final = b',"sum":'
_LONGEST: Final = 512
"""Bytes of a line; what goes on for longer is none."""
MOST_PADS: Final = 64
"""Of one board."""
_MOST_ERROR: Final = 10_000
"""Microseconds that a board may leave open of its own stamps."""
_LAST_US: Final = 1 << 53
"""No board is up for so many microseconds: 285 years."""


@dataclass(frozen=True, slots=True)
class BoardHello:
    """A board began, or was asked who it is."""

    pads: int
    """How many it has: 1 to that."""
    error_us: int
    """Half-width of what it knows about its own stamps."""
    count: int
    """How many edges it has told since it began."""


@dataclass(frozen=True, slots=True)
class BoardEdge:
    """A pad of a board closed or opened."""

    pad: int
    us: int
    """By the board's clock."""
    pressed: bool
    count: int
    """The edge's number since the board began, from 1 on."""


@dataclass(frozen=True, slots=True)
class BoardAnswer:
    """What a board's clock showed as it answered, after every edge before."""

    number: int
    """Of the question."""
    us: int
    count: int
    """How many edges it has told."""
    down: frozenset[int]
    """Pads that are down after these."""


BoardLine = BoardHello | BoardEdge | BoardAnswer


class BoardReader:
    """Bytes as they come, made into lines; what is none is counted and passed over."""

    def __init__(self) -> None:
        self._begun = bytearray()
        self.junk = 0
        """How many lines were torn, or no board's."""

    def feed(self, data: bytes) -> list[BoardLine]:
        """The lines that these bytes end."""
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
    """Asks a board for its clock."""
    return f'{{"ask":{number}}}\n'.encode()


def encode_greeting() -> bytes:
    """Asks a board who it is."""
    return b'{"hello":1}\n'


def _parse(line: bytes) -> BoardLine:
    """Raises ValueError, KeyError or TypeError where it is no line of a board."""
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
