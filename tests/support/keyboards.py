"""Input devices as the kernel shows them, pressed by a script: they answer requests, and can be pulled out."""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from hardware.pads.key_source import EV_KEY, EV_SYN, SYN_DROPPED, SYN_REPORT, KeyDevice
from hardware.pads.pad_place import PadPlace
from referee.units import SECOND, US

USB: Final = 0x03
_CODES: Final = {"a": 30, "s": 31, "d": 32, "leftshift": 42, "btn_south": 304}


@dataclass(frozen=True, slots=True)
class KernelSignal:
    """One event, with the names that evdev gives its parts."""

    sec: int
    usec: int
    type: int
    code: int
    value: int


class FakeKeyboard:
    """A device with keys; every change waits to be read, under the given stamp."""

    def __init__(self, name: str, *, socket: str = "usb-1", number: int = 3, bus: int = USB) -> None:
        self.name, self.socket, self.bus = name, socket, bus
        self.token = f"/dev/input/event{number} {number}"
        self.labels = frozenset({name, socket})
        self.keys = frozenset(_CODES.values())
        self.down: set[int] = set()
        self.is_grabbed = self.is_gone = self.is_closed = False
        self._waiting: deque[KernelSignal] = deque()
        self._bell = os.eventfd(0, os.EFD_CLOEXEC)

    def answer(self, t: int, **keys: int) -> None:
        """Send one answer, stamped ``t`` (ns): by key 1 for down, 0 for up, 2 for a repetition."""
        for key, value in keys.items():
            code = _CODES[key]
            (self.down.discard if value == 0 else self.down.add)(code)
            self._put(t, EV_KEY, code, value)
        self._put(t, EV_SYN, SYN_REPORT, 0)

    def overflow(self, t: int, *, down: Collection[str] = ()) -> None:
        """Overflow the queue; afterwards these keys are down."""
        self._waiting.clear()
        self._put(t, EV_SYN, SYN_DROPPED, 0)
        self._put(t, EV_KEY, _CODES["s"], 1)
        self._put(t, EV_SYN, SYN_REPORT, 0)
        self.down = {_CODES[key] for key in down}

    def pull_out(self) -> None:
        """Unplug it: waiting events are lost, as the kernel loses them."""
        self.is_gone = True
        os.eventfd_write(self._bell, 1)

    def _put(self, t: int, kind: int, code: int, value: int) -> None:
        self._waiting.append(KernelSignal(t // SECOND, t % SECOND // US, kind, code, value))
        os.eventfd_write(self._bell, 1)

    def fileno(self) -> int:
        return self._bell

    def read(self) -> Iterable[KernelSignal]:
        self._refuse()
        if not self._waiting:
            raise BlockingIOError
        os.eventfd_read(self._bell)
        signals = list(self._waiting)
        self._waiting.clear()
        return signals

    def held(self) -> Collection[int]:
        self._refuse()
        return set(self.down)

    def grab(self) -> None:
        self._refuse()
        self.is_grabbed = True

    def close(self) -> None:
        self.is_closed = True

    def _refuse(self) -> None:
        if self.is_gone:
            raise OSError(errno.ENODEV, "No such device")


class FakeKeyboards:
    """The input devices of a machine."""

    def __init__(self, *plugged: FakeKeyboard, refused: str = "") -> None:
        self.plugged = list(plugged)
        self.refused = refused
        self.opened: list[str] = []

    def code(self, key: str) -> int:
        if key not in _CODES:
            raise ValueError(f"there is no key called {key!r}")
        return _CODES[key]

    def places(self) -> list[PadPlace]:
        return [PadPlace("key", key, keyboard.name) for keyboard in self.plugged for key in _CODES]

    def find(self, known: Collection[str]) -> list[KeyDevice]:
        found: list[KeyDevice] = [
            keyboard for keyboard in self.plugged if not keyboard.is_gone and keyboard.token not in known
        ]
        self.opened += [device.name for device in found]
        return found
