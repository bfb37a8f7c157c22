"""A strip of addressable LEDs as lights: each seat has a stretch of it, with the table's light between them.

On a Raspberry Pi 5 the kernel's ``ws2812-pio`` overlay provides a device file for a strip (``/dev/leds0``), which takes
four bytes per LED: red, green, blue, and an unused one. It needs no library and no root, only the file's group. The
overlay goes into ``/boot/firmware/config.txt``, such as ``dtoverlay=ws2812-pio,gpio=10,num_leds=64``. (Not yet tested
on a Pi; see docs/senses.md.)

Writing to the device file may block, so a separate thread writes, and only the newest picture.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from hardware.ports import HardwareMissing, Lights

_BYTES: Final = 4
"""Bytes per LED: red, green, blue, unused."""
_TABLE_SHARE: Final = 4
"""Every fourth LED of a seat's stretch, at its two ends, belongs to the table's light."""
BRIGHTEST: Final = 160
"""Brightest level, of 255: a strip can dazzle a camera above it."""


def stretches(length: int, seats: int) -> list[range]:
    """Return the LEDs of each seat, seat 1 first, divided as evenly as possible.

    Raises:
        ValueError: there are fewer LEDs than seats.
    """
    if length < seats:
        raise ValueError(f"a strip of {length} LEDs is too short for {seats} seats")
    return [range(seat * length // seats, (seat + 1) * length // seats) for seat in range(seats)]


def picture(length: int, levels: dict[int, float], table: tuple[float, float, float]) -> bytes:
    """Return the bytes for a whole strip: the seats white at their levels, the table's colour at their ends.

    Args:
        length: number of LEDs.
        levels: level of each seat's light, 0 to 1.
        table: red, green and blue of the table's light, 0 to 1.
    """
    out = bytearray(length * _BYTES)
    for stretch, (_, level) in zip(stretches(length, len(levels)), sorted(levels.items()), strict=True):
        ends = len(stretch) // (2 * _TABLE_SHARE)
        for place, led in enumerate(stretch):
            outside = place < ends or place >= len(stretch) - ends
            colour = table if outside else (level, level, level)
            out[led * _BYTES : led * _BYTES + 3] = bytes(round(BRIGHTEST * min(1.0, max(0.0, part))) for part in colour)
    return bytes(out)


class StripLights:
    """Lights on a strip; implements `hardware.ports.Lights`."""

    def __init__(self, device: Path, length: int, seats: int) -> None:
        """Open the strip, all dark.

        Raises:
            HardwareMissing: the device is missing, cannot be written, or is too short.
        """
        self._length = length
        self._levels = dict.fromkeys(range(1, seats + 1), 0.0)
        self._table = (0.0, 0.0, 0.0)
        self._failed: OSError | None = None
        self._closing = False
        self._changed = threading.Event()
        try:
            dark = picture(length, self._levels, self._table)
            # Without O_CREAT: a missing device must not become a file of that name.
            self._file = os.open(device, os.O_WRONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            raise HardwareMissing(
                "there is no strip of lights at {device}: add "
                "dtoverlay=ws2812-pio,gpio=10,num_leds={length} to /boot/firmware/config.txt and start "
                "anew, or set lights.strip to an empty text",
                device=device,
                length=length,
            ) from None
        except OSError as error:
            raise HardwareMissing(
                "the strip of lights {device} cannot be opened ({why}): put your user into the group gpio",
                device=device,
                why=error.strerror,
            ) from error
        except ValueError as error:
            raise HardwareMissing("{why}: set lights.strip_length to what it has", why=error) from None
        self._write(dark)
        self._writer = threading.Thread(target=self._write_on, name="strip", daemon=True)
        self._writer.start()

    def seat(self, seat: int, level: float) -> None:
        """Set one seat's light; a no-op for a seat without one. Raises OSError if the last write failed."""
        if seat in self._levels:
            self._levels[seat] = level
        self._tell()

    def table(self, red: float, green: float, blue: float) -> None:
        """Set the table's light. Raises OSError if the last write failed."""
        self._table = (red, green, blue)
        self._tell()

    def close(self) -> None:
        """Switch all lights off and release the strip."""
        self._closing = True
        self._changed.set()
        self._writer.join(timeout=1.0)
        self._write(bytes(self._length * _BYTES))
        os.close(self._file)

    def _tell(self) -> None:
        self._changed.set()
        failed, self._failed = self._failed, None
        if failed is not None:
            raise failed

    def _write_on(self) -> None:
        while True:
            self._changed.wait()
            # Clear before reading the state, so that a later `close` or change wakes the thread again.
            self._changed.clear()
            if self._closing:
                return
            self._write(picture(self._length, dict(self._levels), self._table))

    def _write(self, data: bytes) -> None:
        try:
            # Write a whole picture from the start of the strip; some devices cannot seek and need not.
            with suppress(OSError):
                os.lseek(self._file, 0, os.SEEK_SET)
            os.write(self._file, data)
        except OSError as error:
            self._failed = error


class BothLights:
    """Two sets of lights that show the same; implements `hardware.ports.Lights`. A failure of one does not stop the
    other.
    """

    def __init__(self, one: Lights, other: Lights) -> None:
        self._both = (one, other)

    def seat(self, seat: int, level: float) -> None:
        """Set one seat's light on both; then raise the error of either one."""
        self._each([partial(lights.seat, seat, level) for lights in self._both])

    def table(self, red: float, green: float, blue: float) -> None:
        """Set the table's light on both; raises as `seat`."""
        self._each([partial(lights.table, red, green, blue) for lights in self._both])

    def close(self) -> None:
        """Switch both off."""
        self._each([lights.close for lights in self._both])

    @staticmethod
    def _each(acts: Sequence[Callable[[], None]]) -> None:
        failed: Exception | None = None
        for act in acts:
            try:
                act()
            except Exception as error:  # the other set must still be updated
                failed = error
        if failed is not None:
            raise failed
