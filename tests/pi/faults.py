"""Broken drivers, which the judge must catch: stand between the kernel's request and the pads' shell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class _Event:
    line_offset: int
    timestamp_ns: int
    global_seqno: int
    line_seqno: int


class _BrokenRequest:
    def __init__(self, request: Any) -> None:
        self._request = request

    def __bool__(self) -> bool:
        return bool(self._request)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._request, name)


class OrderedByPin(_BrokenRequest):
    """Gives the edges of one batch in the order of the pins, as a driver would that looks at them one by one."""

    def read_edge_events(self, most: int) -> list[Any]:
        events = self._request.read_edge_events(most)
        stamps = sorted(event.timestamp_ns for event in events)
        by_pin = sorted(events, key=lambda event: event.line_offset)
        return [
            _Event(event.line_offset, stamp, event.global_seqno, event.line_seqno)
            for event, stamp in zip(by_pin, stamps, strict=True)
        ]


class LosesAnEdge(_BrokenRequest):
    """Drops every twentieth edge unnoticed: the numbers have no gap."""

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self._read = 0
        self._given: dict[int, int] = {}

    def read_edge_events(self, most: int) -> list[Any]:
        kept = []
        for event in self._request.read_edge_events(most):
            self._read += 1
            if self._read % 20:
                self._given[event.line_offset] = self._given.get(event.line_offset, 0) + 1
                number, of_line = sum(self._given.values()), self._given[event.line_offset]
                kept.append(_Event(event.line_offset, event.timestamp_ns, number, of_line))
        return kept


class LateStamps(_BrokenRequest):
    """Stamps each edge when it is read."""

    def read_edge_events(self, most: int) -> list[Any]:
        events = self._request.read_edge_events(most)
        return [
            _Event(event.line_offset, event.timestamp_ns + 700_000, event.global_seqno, event.line_seqno)
            for event in events
        ]


FAULTS: Final[dict[str, Callable[[Any], Any]]] = {
    "none": lambda request: request,
    "order": OrderedByPin,
    "loses": LosesAnEdge,
    "late": LateStamps,
}
