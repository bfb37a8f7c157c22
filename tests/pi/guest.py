"""On the board: the product's own pads, filter and lights, at work while contacts close and open."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from array import array
from collections import deque
from pathlib import Path
from typing import Final

import gpiod
from gpiod.line import Direction, Value

from hardware.clock import monotonic
from hardware.lights.leds import GpioLights
from hardware.pads.gpiod_lines import open_gpiod
from hardware.pads.pads import GpioPads
from hardware.pads.pinout import SEAT_LIGHT_PINS, TABLE_LIGHT_PINS, header_path
from hardware.pads.slaps import PadFilter
from hardware.ports import Edge
from hardware.priority import be_urgent, make_quick
from referee.engine.observations import Slap
from tests.pi.faults import FAULTS
from tests.pi.plan import PINS
from tests.pi.report import Report, ToldEdge
from tools.pi.board import GO_PIN

ORDERS: Final = Path("/orders.json")
_SIGNALS: Final = 20
_GROWING: Final = """
import sys, time
while True:
    kept = []
    for _ in range(1000):
        kept.append(bytearray(5000 * int(sys.argv[1])))
        time.sleep(0.005)
"""
"""A program whose memory grows by so many MB in a second, for five seconds each time."""


def main() -> int:
    """Signal that everything is open, look on for as long as was ordered, and print the report."""
    orders = json.loads(ORDERS.read_text())
    report = Report(board=f"{_chip()}, Python {sys.version.split()[0]}")
    lights = GpioLights(dict(zip(PINS, SEAT_LIGHT_PINS, strict=True)), TABLE_LIGHT_PINS)
    # Dimmed light costs processor time beside the pads.
    lights.table(0.5, 0.2, 0.0)
    lines = open_gpiod(PINS, False)
    lines.request = FAULTS[orders["fault"]](lines.request)
    pads = GpioPads(PINS, lines=lines)
    waiting: deque[Edge] = deque()
    # Numbers alone: at 20,000 kept objects Python's garbage collector would stop the handler for 15 ms.
    told = array("q")

    def take(edge: Edge) -> None:
        at = monotonic()
        lights.seat(edge.seat, float(edge.pressed))
        told.extend((edge.seat, edge.t, edge.pressed, edge.t_error, at))
        waiting.append(edge)

    beside = subprocess.Popen([sys.executable, "-c", _GROWING, str(orders["growth"])]) if orders["growth"] else None
    # As the referee's process does.
    make_quick()
    be_urgent()
    pads.start(take)
    filter_ = PadFilter(len(PINS), start=monotonic())
    time.sleep(0.5)
    _signal(report)
    until = monotonic() + orders["length"]
    while monotonic() < until:
        # As the referee's loop does: first the promise, then all that has come.
        promised = pads.watermark(monotonic())
        observations = [observation for edge in _taken(waiting) for observation in filter_.feed(edge)]
        observations += filter_.advance(promised)
        report.slaps += [(slap.seat, slap.t) for slap in observations if isinstance(slap, Slap)]
        time.sleep(0.005)
    report.lost, report.merged, report.trouble = pads.lost, pads.merged, str(pads.trouble or "")
    pads.close()
    lights.close()
    if beside is not None:
        beside.kill()
    rows = [told[place : place + 5] for place in range(0, len(told), 5)]
    report.edges = [ToldEdge(seat, t, pressed == 1, t_error, at) for seat, t, pressed, t_error, at in rows]
    print(report.to_line(), flush=True)
    return 0


def _chip() -> str:
    with gpiod.Chip(str(header_path())) as chip:
        return str(chip.get_info().label)


def _taken(waiting: deque[Edge]) -> list[Edge]:
    return [waiting.popleft() for _ in range(len(waiting))]


def _signal(report: Report) -> None:
    """Raise the signal's pin a few times: the plan begins with the first."""
    settings = gpiod.LineSettings(direction=Direction.OUTPUT)
    with gpiod.request_lines(str(header_path()), consumer="signal", config={GO_PIN: settings}) as request:
        for _ in range(_SIGNALS):
            before = monotonic()
            request.set_value(GO_PIN, Value.ACTIVE)
            report.signals.append((before, monotonic()))
            request.set_value(GO_PIN, Value.INACTIVE)


if __name__ == "__main__":
    sys.exit(main())
