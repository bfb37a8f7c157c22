"""Faults of pins and handlers, and their error messages."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import pwd
import threading
import time
from collections.abc import Callable
from typing import Any

from hardware.lights.leds import GpioLights
from hardware.pads.gpiod_lines import QUEUE, open_gpiod
from hardware.pads.pads import GpioPads
from hardware.pads.pinout import SEAT_LIGHT_PINS, TABLE_LIGHT_PINS
from hardware.ports import Edge, HardwareMissing
from tests.vm.chip import SimulatedChip
from tests.vm.hands import Move
from tests.vm.rig import MS, PINS, Rig
from tests.vm.rounds import SEATS
from tests.vm.table import Row


def refused(what: str, attempt: Callable[[], Any], *words: str) -> Row:
    """Return a row that wants a `HardwareMissing` with all of these words."""
    try:
        attempt()
    except HardwareMissing as error:
        lacking = [word for word in words if word not in str(error)]
        return Row(what, "says what to do", f"{error}" + (f" (not: {lacking})" if lacking else ""), not lacking)
    return Row(what, "says what to do", "no error at all", ok=False)


def no_header(_: None) -> list[Row]:
    """Open before there is any chip, and with a chip that is no header."""
    none = refused("no GPIO chip", lambda: open_gpiod(PINS, False), "no GPIO chip", "referee demo")
    SimulatedChip("decoy", "usb-relay-board", lines=8)
    other = refused("a chip that is no header", lambda: open_gpiod(PINS, False), "usb-relay-board", "referee demo")
    return [none, other]


def busy(chip: SimulatedChip) -> list[Row]:
    """Open lines that others hold: another referee, another program, a light of ours."""
    import gpiod

    rows = []
    lines = open_gpiod(PINS, False)
    rows.append(refused("pads held by another referee", lambda: open_gpiod(PINS, False), "seats 1", "another referee"))
    lines.close()
    with gpiod.request_lines(str(chip.path), consumer="doorbell", config={PINS[3]: None}):
        rows.append(
            refused("a pad's pin held by another program", lambda: open_gpiod(PINS, False),
                    "seat 3", f"pin {PINS[3]}", "doorbell", "choose another pin")
        )  # fmt: skip
    rows.append(refused("a pin that is not there", lambda: open_gpiod({1: 4, 2: 99}, False), "seat 2", "no pin 99"))
    open_gpiod(PINS, False).close()
    return [*rows, Row("the pins afterwards", "free again", "free again")]


def forbidden(_: SimulatedChip) -> list[Row]:
    """Open as a user who may not open the chip."""
    # That user may not read the libraries where they lie in root's home.
    importlib.import_module("hardware.pin_factory")
    os.setuid(pwd.getpwnam("nobody").pw_uid)
    return [refused("no permission", lambda: open_gpiod(PINS, False), "/dev/gpiochip", "group gpio")]


def raising(chip: SimulatedChip) -> list[Row]:
    """Let one seat's handler raise each time; the others must go on, in order."""

    def handler(edge: Edge) -> None:
        if edge.seat == SEATS[0]:
            raise ValueError("a fault in the handler")

    rig = Rig(chip)
    rig.start(handler)
    seats = [SEATS[0] if k % 2 else SEATS[1 + k % 7] for k in range(40)]
    moves = [move for seat in seats for move in (Move(seat, True, 60 * MS), Move(seat, False, 8 * MS))]
    told = [press.edge.seat for press in rig.play(moves).presses()]
    rig.close()
    return [Row("presses told while a handler raises", f"{len(seats)} of {len(seats)}", f"{len(told)} of {len(seats)}",
                told == seats)]  # fmt: skip


def flooded(chip: SimulatedChip) -> list[Row]:
    """Block a handler until the kernel's queue overflows: every lost edge must be reported."""
    rig = Rig(chip)
    blocked = threading.Event()

    def blocks(_edge: Edge) -> None:
        blocked.wait(30)

    rig.start(blocks)
    count = 2 * QUEUE
    moves = [move for k in range(count) for move in (Move(SEATS[k % 8], True), Move(SEATS[k % 8], False))]
    rig.hands.begin(moves)
    while (made := rig.hands.done()) is None:
        time.sleep(0.01)
    blocked.set()
    rig.rest(100 * MS)
    told = len(rig.story.presses())
    lost = sum(gap.count for gap in rig.story.lost)
    within = all(made[0].before <= gap.before <= made[-1].after for gap in rig.story.lost)
    rig.close()
    return [
        Row(f"a queue of {QUEUE} flooded with {count}: told + lost + merged", str(count),
            f"{told} + {lost} + {rig.pads.merged}",
            told + lost + rig.pads.merged == count and lost > 0 and rig.pads.lost == lost and within)
    ]  # fmt: skip


def closing(chip: SimulatedChip) -> list[Row]:
    """Close while pads chatter, and open again at once."""
    threads = []
    for _ in range(5):
        rig = Rig(chip)
        rig.start()
        rig.hands.begin([Move(SEATS[k % 8], k % 16 < 8, MS // 2) for k in range(100)])
        time.sleep(0.02)
        rig.pads.close()
        rig.pads.close()
        threads.append(sum(thread.name == "pads" for thread in threading.enumerate()))
        while rig.hands.done() is None:
            time.sleep(0.01)
        rig.hands.end()
    return [
        Row("closed amid chatter and opened again, 5 times: threads left", "0", str(sum(threads)), not any(threads))
    ]


def beside_lights(chip: SimulatedChip) -> list[Row]:
    """Run pads and lights on one chip at once."""
    rig = Rig(chip)
    lights = GpioLights(dict(zip(SEATS, SEAT_LIGHT_PINS, strict=True)), TABLE_LIGHT_PINS)
    rig.start()
    for seat in SEATS:
        lights.seat(seat, 1.0)
    lit = sum(chip.level(pin) for pin in SEAT_LIGHT_PINS)
    lights.table(0.5, 0.5, 0.5)
    seats = [SEATS[k % 8] for k in range(24)]
    story = rig.play([move for seat in seats for move in (Move(seat, True, 60 * MS), Move(seat, False, 8 * MS))])
    told = [press.edge.seat for press in story.presses()]
    clash = refused("a pad on a light's pin", lambda: open_gpiod({1: SEAT_LIGHT_PINS[0]}, False), "seat 1", "holds")
    lights.close()
    rig.close()
    return [
        Row("seat lights lit beside the pads", "8", str(lit), lit == 8),
        Row("presses told beside lit and dimmed lights", f"{len(seats)}", f"{len(told)}", told == seats),
        clash,
    ]


def unplugged(chip: SimulatedChip) -> list[Row]:
    """Remove the chip while the pads are open: the last scenario, since there is no chip afterwards."""
    pads = GpioPads(PINS)
    pads.start(lambda edge: None)
    gone = multiprocessing.get_context("fork").Process(target=chip.unplug, daemon=True)
    gone.start()
    gone.join(timeout=10)
    until = time.monotonic() + 5
    while not pads.trouble and time.monotonic() < until:
        pads.held()
        time.sleep(0.01)
    words = pads.trouble
    pads.close()
    return [Row("the chip vanishes", "is reported", words or "nothing is reported", "are gone" in words)]
