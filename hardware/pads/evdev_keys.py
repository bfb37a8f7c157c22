"""Input devices through the kernel's evdev interface, read-only and stamped on CLOCK_MONOTONIC.

The thin shell under `hardware.pads.key_source`; Linux only, in the referee's own process.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import logging
import struct
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Final

from hardware.pads.key_source import EV_KEY, InputSignal, KeyDevice
from hardware.pads.pad_place import PadPlace
from hardware.ports import HardwareMissing

USER_TO_INPUT: Final = "put your user into the group input (sudo usermod -aG input $USER), then log in again"
"""Advice for an input device that cannot be opened for lack of permission."""
_SET_CLOCK: Final = 0x400445A0
"""EVIOCSCLOCKID of linux/input.h: sets the clock of this reader's stamps."""

_TOUCHES: Final = frozenset(range(0x140, 0x150))
"""Codes of fingers and pens on touchpads and tablets, which are not keys."""

_log = logging.getLogger(__name__)


class EvdevDevice:
    """One open input device; implements `hardware.pads.key_source.KeyDevice`."""

    def __init__(self, path: str, token: str, links: Iterable[str] = ()) -> None:
        """Open it for reading.

        Args:
            path: of the device.
            token: identifies the device currently at that path.
            links: other files that lead to it, by which a seat may name it.

        Raises:
            OSError: it may not be opened, or is gone.
        """
        import evdev

        self._device = evdev.InputDevice(path, readonly=True)
        fcntl.ioctl(self._device.fd, _SET_CLOCK, struct.pack("i", time.CLOCK_MONOTONIC))
        self.token = token
        self.name = str(self._device.name).strip()
        self.socket = str(self._device.phys)
        """The socket it is plugged into, which distinguishes two devices of one model."""
        self.labels = frozenset(filter(None, (path, *links, self.name, self.socket, str(self._device.uniq))))
        self.bus = int(self._device.info.bustype)
        self.keys = frozenset(int(code) for code in self._device.capabilities(absinfo=False).get(EV_KEY, ()))

    def fileno(self) -> int:
        """Return the descriptor that is readable after a press."""
        return int(self._device.fd)

    def read(self) -> Iterable[InputSignal]:
        """Return the waiting signals, in order; raises BlockingIOError if there are none."""
        signals: Iterable[InputSignal] = self._device.read()
        return signals

    def held(self) -> Collection[int]:
        """Return the codes of keys that are down now."""
        return [int(code) for code in self._device.active_keys()]

    def grab(self) -> None:
        """Take its key presses for this program only; if another program has already done so, change nothing."""
        try:
            self._device.grab()
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            _log.warning("another program has taken %s for itself: its keys may not be heard here", self.name)

    def close(self) -> None:
        """Release it."""
        with contextlib.suppress(OSError):
            self._device.close()


class EvdevDevices:
    """This machine's input devices; implements `hardware.pads.key_source.KeyDevices`."""

    def __init__(self, folder: Path = Path("/dev/input")) -> None:
        """List devices from ``folder``, the kernel's directory.

        Raises:
            HardwareMissing: the evdev package is missing.
        """
        try:
            import evdev
        except ImportError as error:
            raise HardwareMissing(
                "keys as pads need evdev, which cannot be loaded ({why}): make install (or: pip install evdev)",
                why=error,
            ) from error
        self._codes: dict[str, int] = evdev.ecodes.ecodes
        self._names: dict[int, Any] = evdev.ecodes.keys
        self._folder = folder
        self._refused: dict[str, str] = {}

    @property
    def refused(self) -> str:
        """A device that may not be opened, with advice; empty if there was none at the last `find`."""
        return next(iter(self._refused.values()), "")

    def code(self, key: str) -> int:
        """Return the kernel's code for a key's name, as in ``a``, ``leftshift`` or ``btn_south``, or for ``0x2c0``.

        Raises:
            ValueError: there is no such key.
        """
        name = key.upper()
        code = self._codes.get(name if name.startswith(("BTN_", "KEY_")) else f"KEY_{name}")
        if code is not None:
            return code
        if not name.startswith("0X"):
            raise ValueError(f"there is no key called {key!r}; `referee setup --step pads` finds a key's name")
        return int(name, 16)

    def key(self, code: int) -> str:
        """Return the name of a key, in the form that `code` accepts."""
        name = self._names.get(code, hex(code))
        return str(name if isinstance(name, str) else name[0]).removeprefix("KEY_").casefold()

    def places(self) -> list[PadPlace]:
        """Return every key of every device as a seat may name it; sockets distinguish devices of one name."""
        devices = self.find(())
        names = [device.name for device in devices]
        found: list[PadPlace] = []
        for device in devices:
            label = device.name if names.count(device.name) == 1 else device.socket or device.name
            found += [PadPlace("key", self.key(code), label) for code in sorted(device.keys - _TOUCHES)]
            device.close()
        return found

    def find(self, known: Collection[str]) -> list[KeyDevice]:
        """Open every device that has keys, except known ones (by token) and those refused before."""
        before, self._refused = self._refused, {}
        links: dict[str, list[str]] = {}
        for link in self._folder.glob("by-*/*"):
            links.setdefault(str(link.resolve()), []).append(str(link))
        found: list[KeyDevice] = []
        for path in sorted(str(path) for path in self._folder.glob("event*")):
            try:
                # A newly plugged device, or changed permission, gives another token.
                there = Path(path).stat()
                token = f"{path} {there.st_ino} {there.st_ctime_ns}"
                if token in before:
                    self._refused[token] = before[token]
                if token in known or token in before:
                    continue
                device = EvdevDevice(path, token, links.get(path, ()))
            except PermissionError:
                self._refused[token] = f"{path} may not be opened, so its keys are not heard: {USER_TO_INPUT}"
                continue
            except OSError as error:
                _log.info("%s cannot be opened: %s", path, error)
                continue
            if device.keys:
                found.append(device)
            else:
                device.close()
        return found
