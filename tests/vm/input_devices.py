"""Keys as pads on keyboards made by a program (the kernel's driver uinput), inside the virtual machine.

The whole way: a key event written into the kernel, its stamp, the evdev shell, the source, the thread, the filter.
"""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections import deque
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from hardware.clock import monotonic
from hardware.pads.evdev_keys import EvdevDevices
from hardware.pads.key_source import BUS_VIRTUAL, KeySource
from hardware.pads.pad_place import parse_place
from hardware.pads.plugged_pads import PluggedPads
from hardware.pads.slaps import PadFilter
from hardware.ports import Edge
from referee.engine.observations import Slap
from tests.vm.hands import Done
from tests.vm.rig import LIMIT, MS, QUIET
from tests.vm.table import Row

NAMES: Final = ("Keyboard One", "Keyboard Two")
KEYS: Final = {1: "a", 2: "leftshift", 3: "a"}
"""By seat: two share the first keyboard, and the same key of the second is a third's."""
ON: Final = {1: NAMES[0], 2: NAMES[0], 3: NAMES[1]}
BETWEEN: Final = 110 * MS


def make_keyboard(name: str) -> Any:
    """Make the program's own keyboard; `close` pulls it out."""
    import evdev

    codes = evdev.ecodes
    return evdev.UInput({codes.EV_KEY: [codes.KEY_A, codes.KEY_LEFTSHIFT]}, name=name, bustype=BUS_VIRTUAL)


class KeyRig:
    """Two keyboards, three seats, and the referee's whole way from a key to a slap."""

    def __init__(self) -> None:
        self.boards = {name: make_keyboard(name) for name in NAMES}
        self.devices = EvdevDevices()
        places = {seat: parse_place(f"key:{key}@{ON[seat]}") for seat, key in KEYS.items()}
        source = KeySource(places, self.devices, t_errors=dict.fromkeys(KEYS, 0), grab=True, now=monotonic())
        self.pads = PluggedPads(source)
        self.filter = PadFilter(len(KEYS), start=monotonic())
        self.slaps: list[Slap] = []
        self._edges: deque[Edge] = deque()
        self._told = 0
        self.belated = 0
        self.pads.start(self._edges.append)

    def press(self, seat: int, closed: bool) -> Done:
        """Write a key's event into the kernel."""
        import evdev

        board = self.boards[ON[seat]]
        before = monotonic()
        board.write(evdev.ecodes.EV_KEY, self.devices.code(KEYS[seat]), int(closed))
        board.syn()
        return Done(seat, closed, before, monotonic())

    def turn(self, length: int = 0) -> None:
        """Turn as the referee's loop does, for a time, ns."""
        until = monotonic() + length
        while True:
            told = self.pads.watermark(monotonic())
            while self._edges:
                edge = self._edges.popleft()
                self.belated += edge.t <= self._told
                self._keep(self.filter.feed(edge))
            self._told = max(self._told, told)
            self._keep(self.filter.advance(told))
            if monotonic() >= until:
                return
            time.sleep(0.001)

    def _keep(self, made: Sequence[Any]) -> None:
        self.slaps += [line for line in made if isinstance(line, Slap)]


def load_modules() -> None:
    """Load the kernel's input devices, and those made by programs."""
    for module in Path(os.environ["VM"], "key-modules").read_text().split():
        subprocess.run(["insmod", module], check=True)


def keys(_: None, pairs: int) -> list[Row]:
    """Test pairs in both orders on one keyboard and on two, and a keyboard that is pulled out and put in again."""
    load_modules()
    rig = KeyRig()
    with closing(rig.pads):
        rng = random.Random(7)
        rig.turn(QUIET)
        wrong = decided = told = off = 0
        for number in range(pairs):
            first, second = rng.sample(sorted(KEYS), 2)
            rig.slaps.clear()
            done = [rig.press(first, True)]
            rig.turn(rng.randint(2, 40) * MS)
            done.append(rig.press(second, True))
            rig.turn(15 * MS)
            for seat in (first, second):
                rig.press(seat, False)
            rig.turn(BETWEEN)
            by_seat = {slap.seat: slap for slap in rig.slaps}
            told += len(rig.slaps)
            if len(rig.slaps) != 2 or set(by_seat) != {first, second}:
                print(f"vm: pair {number}: {done} was reported as {rig.slaps}", flush=True)
                wrong += 1
                continue
            off += sum(
                not move.before - by_seat[move.seat].t_error <= by_seat[move.seat].t <= move.after for move in done
            )
            one, other = by_seat[first], by_seat[second]
            if abs(one.t - other.t) > one.t_error + other.t_error:
                decided += 1
                wrong += one.t > other.t
        return [
            Row("pairs of keys 2 to 40 ms apart: wrong or missing", f"0 of {pairs}", f"{wrong} ({decided} decided)",
                not wrong and decided > pairs // 2),
            Row("keys told", str(2 * pairs), str(told), told == 2 * pairs),
            Row("keys told outside the stated error of their writing", "0", str(off), not off),
            Row("keys told after a watermark that had passed them", "0", str(rig.belated), not rig.belated),
            *_pull_out(rig),
        ]  # fmt: skip


def _pull_out(rig: KeyRig) -> list[Row]:
    """Remove a keyboard while its key is held; plug in another of its name."""
    rig.slaps.clear()
    rig.press(3, True)
    rig.turn(50 * MS)
    rig.boards[NAMES[1]].close()
    began = monotonic()
    while not rig.pads.silent and monotonic() < began + LIMIT:
        rig.turn(5 * MS)
    gone, silent = monotonic() - began, dict(rig.pads.silent)
    held = rig.pads.held()
    rig.press(1, True)
    rig.turn(50 * MS)
    rig.press(1, False)
    rig.turn(QUIET)
    rig.boards[NAMES[1]] = make_keyboard(NAMES[1])
    began = monotonic()
    while rig.pads.silent and monotonic() < began + LIMIT:
        rig.turn(5 * MS)
    back = monotonic() - began
    rig.press(3, True)
    rig.turn(50 * MS)
    rig.press(3, False)
    rig.turn(QUIET)
    return [
        Row("a keyboard that is pulled out: told as its seat's", "seat 3, released", f"seats {sorted(silent)}, held "
            f"{held}, after {gone / MS:.0f} ms", set(silent) == {3} and not held),
        Row("put in again: heard", "within 2 s", f"after {back / MS:.0f} ms", back < 2_000 * MS),
        Row("seats that slapped before, meanwhile and afterwards", "3, 1, 3", ", ".join(
            str(slap.seat) for slap in sorted(rig.slaps, key=lambda slap: slap.t)),
            [slap.seat for slap in sorted(rig.slaps, key=lambda slap: slap.t)] == [3, 1, 3]),
    ]  # fmt: skip
