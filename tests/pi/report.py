"""The product's reports on the board, on the guest's clock (ns), as one line of JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, astuple, dataclass, field

MARK = "PI REPORT "


@dataclass(frozen=True, slots=True)
class ToldEdge:
    """An edge, and when the handler received it."""

    seat: int
    t: int
    pressed: bool
    t_error: int
    at: int


@dataclass(slots=True)
class Report:
    """Everything that was reported."""

    edges: list[ToldEdge] = field(default_factory=list)
    slaps: list[tuple[int, int]] = field(default_factory=list)
    """Seat and instant of each slap of the filter."""
    lost: int = 0
    merged: int = 0
    trouble: str = ""
    signals: list[tuple[int, int]] = field(default_factory=list)
    """Instants before and after each rise of the signal's pin, which compare the guest's clock with the emulator's."""
    board: str = ""

    def to_line(self) -> str:
        """Return the report as a line of the console."""
        # Ten thousands of edges go through an emulated serial port.
        edges = [astuple(edge) for edge in self.edges]
        return MARK + json.dumps({**asdict(self), "edges": edges}, separators=(",", ":"))


def read_report(lines: tuple[str, ...]) -> Report:
    """Return the report among the console's lines."""
    fields = json.loads(next(line for line in lines if line.startswith(MARK)).removeprefix(MARK))
    fields["edges"] = [ToldEdge(*edge) for edge in fields["edges"]]
    for name in ("slaps", "signals"):
        fields[name] = [(first, second) for first, second in fields[name]]
    return Report(**fields)
