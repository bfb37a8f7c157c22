"""How hard a pad is hit: an MCP3008 on the header's SPI, one channel a seat, read for a moment after each press.

Optional: a table without one is refereed as well, only that people then settle a dead heat and not the hand with the
most contact (M2). The digital edge says when, this says how hard, and nothing here ever moves an instant.
"""

from __future__ import annotations

import logging
import os
import struct
import threading
from collections.abc import Callable, Iterable
from ctypes import addressof, c_uint8
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from hardware.clock import Clock, monotonic
from hardware.pads.seat_pad import FORCE_WINDOW
from hardware.ports import HardwareMissing
from referee.sentence import Sentence
from referee.units import MS

_DEVICE: Final = "/dev/spidev0.0"
_SPEED: Final = 1_350_000
"""Hz: what the chip is good for at 2.7 V, and so at the header's 3.3 V."""
CHANNELS: Final = 8
FULL: Final = 1023
FIRST_BY: Final = 6 * MS
"""A peak whose first reading came later than this after the edge is not told, ns: the blow may have been over."""
_TRANSFER: Final = 0x40206B00
"""SPI_IOC_MESSAGE(1) of linux/spi/spidev.h: one transfer of 32 bytes."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Force:
    """The greatest force on a seat's pad within `FORCE_WINDOW` of its edge at ``t`` (ns): 0 to 1."""

    seat: int
    t: int
    peak: float


OnForce = Callable[[Force], None]


class Bus(Protocol):
    """What sends bytes to a chip and brings back as many."""

    def transfer(self, data: bytes) -> bytes:
        """Raises `OSError` where the bus is gone."""
        ...

    def close(self) -> None: ...


class SpiBus:
    """Linux's own SPI device, mode 0."""

    def __init__(self, device: str = _DEVICE) -> None:
        """Open it.

        Raises:
            HardwareMissing: it is not there, or may not be opened.
        """
        if not Path(device).exists():
            raise HardwareMissing(
                "{device} is not there, so no forces: switch SPI on (sudo raspi-config nonint do_spi "
                "0), or set pads.force to false",
                device=device,
            )
        try:
            self._fd = os.open(device, os.O_RDWR | os.O_CLOEXEC)
        except OSError as refused:
            raise HardwareMissing(
                "{device} cannot be opened ({why}): put your user into the group spi (sudo usermod -aG "
                "spi $USER, then log in again)",
                device=device,
                why=refused.strerror,
            ) from None

    def transfer(self, data: bytes) -> bytes:
        """Send bytes and return those that came meanwhile."""
        out = (c_uint8 * len(data))(*data)
        back = (c_uint8 * len(data))()
        # struct spi_ioc_transfer: buffers, length, speed, delay, bits a word, and flags that are all off.
        message = struct.pack("=QQIIHBBBBBB", addressof(out), addressof(back), len(data), _SPEED, 0, 8, 0, 0, 0, 0, 0)
        import fcntl

        fcntl.ioctl(self._fd, _TRANSFER, message)
        return bytes(back)

    def close(self) -> None:
        """Let go of it."""
        os.close(self._fd)


def read_channel(bus: Bus, channel: int) -> int:
    """One reading of an MCP3008, single-ended: 0 to 1023 (datasheet DS21295, figure 6-1)."""
    answer = bus.transfer(bytes((1, 8 + channel << 4, 0)))
    return (answer[1] & 3) << 8 | answer[2]


def has_chip(bus: Bus) -> bool:
    """Whether an MCP3008 may be answering: before each reading it pulls the line low for a bit.

    A line that rests low looks the same; then every force is nought, and no dead heat is settled by it.
    """
    return not any(bus.transfer(bytes((1, 8 + channel << 4, 0)))[1] & 4 for channel in range(CHANNELS))


@dataclass(slots=True)
class _Blow:
    """A press whose force is being read."""

    seat: int
    t: int
    greatest: int = -1
    first: int = 0


class ForceSampler:
    """Reads a pad's channel from a press on until `FORCE_WINDOW` has passed, and tells the greatest reading.

    `begin` may be called by the pads' thread: it only notes the press. All else happens on a thread of our own, or in
    `poll`, which a simulated table calls.
    """

    def __init__(self, bus: Bus, seats: Iterable[int], *, clock: Clock = monotonic, threaded: bool = True) -> None:
        """``seats``: whose pads have a channel, seat 1 on channel 0; ``clock``: the present instant, ns."""
        self._bus = bus
        self._seats = frozenset(seats)
        self._clock = clock
        self._lock = threading.Lock()
        self._blows: list[_Blow] = []
        self._pressed = threading.Event()
        self._closed = False
        self._on_force: OnForce | None = None
        self._thread = threading.Thread(target=self._run, name="force", daemon=True) if threaded else None
        self.trouble = ""
        """Why no forces are told any more; empty while they are."""

    def start(self, on_force: OnForce) -> None:
        """Tell each blow's force, about `FORCE_WINDOW` after its edge, on a thread of our own."""
        self._on_force = on_force
        if self._thread is not None:
            self._thread.start()

    def begin(self, seat: int, t: int) -> None:
        """A seat's pad was pressed at ``t`` (ns); its bounce, too, may be told."""
        if seat not in self._seats or self.trouble or self._closed:
            return
        with self._lock:
            if any(blow.seat == seat and t < blow.t + FORCE_WINDOW for blow in self._blows):
                return
            self._blows.append(_Blow(seat, t))
        self._pressed.set()

    def poll(self) -> bool:
        """Read every pad that was just pressed once; gives whether there are more readings to come."""
        with self._lock:
            blows = list(self._blows)
        for blow in blows:
            now = self._clock()
            value = read_channel(self._bus, blow.seat - 1)
            if blow.greatest < 0:
                blow.first = now
            blow.greatest = max(blow.greatest, value)
        done = [blow for blow in blows if self._clock() >= blow.t + FORCE_WINDOW]
        with self._lock:
            self._blows = [blow for blow in self._blows if blow not in done]
            more = bool(self._blows)
            if not more:
                self._pressed.clear()
        for blow in done:
            if self._on_force is None or blow.first > blow.t + FIRST_BY:
                continue
            try:
                self._on_force(Force(blow.seat, blow.t, blow.greatest / FULL))
            except Exception:
                _log.exception("seat %d's force: the handler failed; the pads go on", blow.seat)
        return more

    def close(self) -> None:
        """Stop, and let go of the bus; may be called twice."""
        if self._closed:
            return
        self._closed = True
        self._pressed.set()
        if self._thread is not None and self._thread.is_alive():
            self._thread.join(timeout=1.0)
        self._bus.close()

    def _run(self) -> None:
        while not self._closed:
            self._pressed.wait()
            try:
                while not self._closed and self.poll():
                    pass
            except OSError as gone:
                why = gone.strerror or gone
                self.trouble = Sentence("forces are no longer read ({why}); dead heats are asked about", why=why)
                _log.error("%s", self.trouble)
                return


def open_force(seats: Iterable[int], device: str = _DEVICE) -> ForceSampler:
    """The sampler of this machine's MCP3008.

    Raises:
        HardwareMissing: no SPI, or no chip on it; says what to do.
    """
    bus = SpiBus(device)
    try:
        there = has_chip(bus)
    except OSError as bad:
        there = False
        _log.warning("%s: %s", device, bad.strerror or bad)
    if not there:
        bus.close()
        raise HardwareMissing(
            "nothing answers on {device} like an MCP3008, so no forces: see to its wires "
            "(docs/build.md), or set pads.force to false",
            device=device,
        )
    return ForceSampler(bus, seats)
