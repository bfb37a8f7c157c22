"""How hard a pad is hit: an MCP3008 on the header's SPI, one channel per seat, read briefly after each press.

Optional: without it, a dead heat is settled by the players instead of by the hand with the most contact (M2). The
digital edge gives the instant, this only the force; it never moves an instant.
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
"""SPI speed, Hz: the chip's limit at 2.7 V, and so safe at the header's 3.3 V."""
CHANNELS: Final = 8
FULL: Final = 1023
FIRST_BY: Final = 6 * MS
"""Latest first reading after the edge, ns: with a later one the blow may be over, so its peak is not reported."""
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
    """A bus that sends bytes to a chip and returns as many."""

    def transfer(self, data: bytes) -> bytes:
        """Transfer bytes; raises `OSError` if the bus is gone."""
        ...

    def close(self) -> None: ...


class SpiBus:
    """Linux's SPI device, mode 0."""

    def __init__(self, device: str = _DEVICE) -> None:
        """Open it.

        Raises:
            HardwareMissing: it is missing, or may not be opened.
        """
        if not Path(device).exists():
            raise HardwareMissing(
                "{device} is not there, so no forces: switch SPI on (sudo raspi-config nonint do_spi "
                "0), or set pads.force to false",
                device=device,
            )
        try:
            self._fd = os.open(device, os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            raise HardwareMissing(
                "{device} cannot be opened ({why}): put your user into the group spi (sudo usermod -aG "
                "spi $USER, then log in again)",
                device=device,
                why=error.strerror,
            ) from None

    def transfer(self, data: bytes) -> bytes:
        """Send bytes and return those received meanwhile."""
        out = (c_uint8 * len(data))(*data)
        back = (c_uint8 * len(data))()
        # struct spi_ioc_transfer: buffers, length, speed, delay, bits per word, and flags that are all off.
        message = struct.pack("=QQIIHBBBBBB", addressof(out), addressof(back), len(data), _SPEED, 0, 8, 0, 0, 0, 0, 0)
        import fcntl

        fcntl.ioctl(self._fd, _TRANSFER, message)
        return bytes(back)

    def close(self) -> None:
        """Release it."""
        os.close(self._fd)


def read_channel(bus: Bus, channel: int) -> int:
    """Return one reading of an MCP3008, single-ended: 0 to 1023 (datasheet DS21295, figure 6-1)."""
    answer = bus.transfer(bytes((1, 8 + channel << 4, 0)))
    return (answer[1] & 3) << 8 | answer[2]


def has_chip(bus: Bus) -> bool:
    """Whether an MCP3008 may be answering: before each reading it pulls the line low for one bit.

    A line that rests low looks the same; then every force is 0, and settles no dead heat.
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
    """Reads a pad's channel after a press until `FORCE_WINDOW` has passed, and reports the greatest reading.

    The pads' thread may call `begin`, which only notes the press. The rest happens on this object's thread, or in
    `poll`, which a simulated table calls.
    """

    def __init__(self, bus: Bus, seats: Iterable[int], *, clock: Clock = monotonic, threaded: bool = True) -> None:
        """``seats``: seats whose pads have a channel, seat 1 on channel 0; ``clock``: the present instant, ns."""
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
        """Why forces are no longer reported; empty while they are."""

    def start(self, on_force: OnForce) -> None:
        """Report each blow's force, about `FORCE_WINDOW` after its edge, on this object's thread."""
        self._on_force = on_force
        if self._thread is not None:
            self._thread.start()

    def begin(self, seat: int, t: int) -> None:
        """Note a press of a seat's pad at ``t`` (ns); presses of its bounce are ignored."""
        if seat not in self._seats or self.trouble or self._closed:
            return
        with self._lock:
            if any(blow.seat == seat and t < blow.t + FORCE_WINDOW for blow in self._blows):
                return
            self._blows.append(_Blow(seat, t))
        self._pressed.set()

    def poll(self) -> bool:
        """Read every recently pressed pad once; return whether more readings are due."""
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
        """Stop, and release the bus; may be called twice."""
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
            except OSError as error:
                why = error.strerror or error
                self.trouble = Sentence("the referee no longer reads forces ({why}) and asks about dead heats", why=why)
                _log.error("%s", self.trouble)
                return


def open_force(seats: Iterable[int], device: str = _DEVICE) -> ForceSampler:
    """Return the sampler of this machine's MCP3008.

    Raises:
        HardwareMissing: there is no SPI, or no chip on it; the message says what to do.
    """
    bus = SpiBus(device)
    try:
        there = has_chip(bus)
    except OSError as error:
        there = False
        _log.warning("%s: %s", device, error.strerror or error)
    if not there:
        bus.close()
        raise HardwareMissing(
            "nothing answers on {device} like an MCP3008, so no forces: see to its wires "
            "(docs/build.md), or set pads.force to false",
            device=device,
        )
    return ForceSampler(bus, seats)
