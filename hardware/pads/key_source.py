"""Keys as pads: any keyboard, gamepad, button or Makey Makey that the kernel accepts as an input device.

The kernel stamps each report of such a device on arrival, on CLOCK_MONOTONIC. The press itself was up to a poll
interval earlier, so an edge is placed in the middle of that interval, with half of it added to its error. The rest of
the error comes from the firmware, which scans its keys one after another and debounces them. `hardware.pads.evdev_keys`
opens the devices; this module accepts any object with the same interface.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from hardware.pads.pad_place import PadPlace
from hardware.pads.plugged_pads import OnEdge, OnLost
from hardware.pads.poll_interval import ASSUMED, PollInterval
from hardware.ports import Edge, Lost
from referee.sentence import Sentence
from referee.units import MS, SECOND, US

FIRMWARE: Final = 3 * MS
"""Half-width of the variation of a keyboard firmware's delay, ns: it usually debounces for 5 ms (as QMK does) and scans
all keys in turn. The delay between two *models* is unknown without a blow on both (`referee calibrate pads`)."""
RADIO: Final = 30 * MS
"""Assumed poll interval of a Bluetooth keyboard, ns, whatever its answers suggest: two of its intervals, since it
resends lost packets."""
_STAMP: Final = US
"""The kernel truncates its stamps to whole microseconds."""
_DELIVERY: Final = MS
"""Longest time, ns, from an answer's stamp until it can be read: it is queued within the same interrupt."""
_LOOK_EVERY: Final = SECOND

EV_SYN, EV_KEY, EV_REL, EV_ABS = 0x00, 0x01, 0x02, 0x03
SYN_REPORT, SYN_DROPPED = 0, 3
BUS_BLUETOOTH, BUS_VIRTUAL = 0x05, 0x06
_UP, _DOWN = 0, 1
"""A third value is the repetition of a held key."""

_log = logging.getLogger(__name__)


class InputSignal(Protocol):
    """One event of the kernel's input layer, with evdev's names for its parts."""

    @property
    def sec(self) -> int: ...
    @property
    def usec(self) -> int: ...
    @property
    def type(self) -> int: ...
    @property
    def code(self) -> int: ...
    @property
    def value(self) -> int: ...


class KeyDevice(Protocol):
    """An open input device that has keys. Every call but `close` raises OSError if it is gone."""

    token: str
    """Identifies the device; another one after it is pulled out and put in again."""
    labels: frozenset[str]
    """Names by which a seat's place may refer to it: its name, socket, serial number, or files."""
    name: str
    socket: str
    """The socket it is plugged into, which distinguishes two devices of one model."""
    bus: int
    keys: frozenset[int]
    """Codes of its keys."""

    def fileno(self) -> int: ...
    def read(self) -> Iterable[InputSignal]:
        """Return the waiting signals; raises BlockingIOError if there are none."""
        ...

    def held(self) -> Collection[int]:
        """Return the codes of keys that are down now."""
        ...

    def grab(self) -> None:
        """Take its key presses for this program only."""
        ...

    def close(self) -> None: ...


class KeyDevices(Protocol):
    """The input devices of a machine."""

    @property
    def refused(self) -> str:
        """A device that may not be opened, with advice; empty if there was none at the last `find`."""
        ...

    def code(self, key: str) -> int:
        """Return the code of a key's name; raises ValueError if there is none."""
        ...

    def places(self) -> list[PadPlace]:
        """Return every key of every device, as a seat may name it."""
        ...

    def find(self, known: Collection[str]) -> list[KeyDevice]:
        """Open all devices that have keys, except those with known tokens."""
        ...


@dataclass(slots=True)
class _OpenKeys:
    """An open device that carries seats' keys."""

    device: KeyDevice
    seats: dict[int, int]
    """Seats by key code."""
    interval: PollInterval
    read_at: int
    reported: int = 0
    """The instant of its last complete answer, ns."""
    is_answer: bool = False
    """Whether the signals since then come from the device, rather than from the kernel's key repetition."""
    has_gap: bool = False
    """Whether its queue overflowed: signals up to the end of the answer are ignored."""
    down: set[int] = field(default_factory=set)
    """Codes of held keys."""


def interval_of(bus: int) -> PollInterval:
    """Return the initial poll interval of a device on a bus."""
    if bus == BUS_VIRTUAL:
        # A virtual device belongs to another program: the kernel stamps its events as they are written.
        return PollInterval(0)
    return PollInterval(RADIO if bus == BUS_BLUETOOTH else ASSUMED)


class KeySource:
    """Seats' keys on input devices; implements `hardware.pads.plugged_pads.PadSource`."""

    pace = _LOOK_EVERY

    def __init__(
        self,
        places: Mapping[int, PadPlace],
        devices: KeyDevices,
        *,
        t_errors: Mapping[int, int],
        grab: bool = False,
        now: int,
    ) -> None:
        """Look for the keys; a missing device may come later.

        Args:
            places: by seat, of the kind ``key``.
            devices: this machine's devices.
            t_errors: half-width of the uncertainty of each seat's press besides the poll interval, ns; at least
                `FIRMWARE` is
                used.
            grab: whether to take the key presses of devices named by a place for this program only.
            now: the present instant, ns.

        Raises:
            ValueError: there is no key of such a name.
        """
        self._codes = {seat: devices.code(place.which) for seat, place in places.items()}
        self._places = dict(places)
        self._devices = devices
        self._errors = {seat: max(FIRMWARE, t_errors[seat]) for seat in places}
        self._grab = grab
        self._open: dict[str, _OpenKeys] = {}
        """Open devices by token."""
        self._others: set[str] = set()
        """Tokens of devices without a seat's key: opening all of them each second could delay the game."""
        self._looked = now
        self._last: dict[int, int] = {}
        self._on_edge: OnEdge | None = None
        self._on_lost: OnLost | None = None
        self._find(now)

    @property
    def silent(self) -> Mapping[int, str]:
        """By seat: messages about keys whose device is missing."""
        refused = self._devices.refused
        return {seat: refused or self._missing_words(self._places[seat]) for seat in self._absent()}

    @property
    def intervals(self) -> Mapping[int, PollInterval]:
        """By seat with a key here: the poll interval of its device."""
        return {seat: keys.interval for keys in self._open.values() for seat in keys.seats.values()}

    def start(self, on_edge: OnEdge, on_lost: OnLost, now: int) -> None:
        """Report edges from ``now`` (ns) on."""
        self.read(now)
        self._on_edge, self._on_lost = on_edge, on_lost

    def held(self) -> tuple[int, ...]:
        """Return the seats whose keys are down, as of the last read."""
        return tuple(sorted(keys.seats[code] for keys in self._open.values() for code in keys.down))

    def filenos(self) -> list[int]:
        """Return the descriptors of the devices' queues."""
        return [keys.device.fileno() for keys in self._open.values()]

    def read(self, now: int) -> None:
        """Report all waiting signals; release devices that are gone, and look for missing ones."""
        for token, device in list(self._open.items()):
            try:
                self._drain(device)
                device.read_at = now
            except OSError as error:
                _log.warning("%s is gone: %s", device.device.name, error)
                self._drop(token, now)
        if self._absent() and now - self._looked >= _LOOK_EVERY:
            self._find(now)

    def watermark(self, now: int) -> int:
        """Return the instant (ns) up to which all edges were reported; later ones are placed mid-interval."""
        return now - _DELIVERY - max((keys.interval.value for keys in self._open.values()), default=0) // 2

    def close(self) -> None:
        """Release the devices."""
        for keys in self._open.values():
            keys.device.close()
        self._open.clear()

    def _absent(self) -> list[int]:
        here = {seat for keys in self._open.values() for seat in keys.seats.values()}
        return sorted(self._codes.keys() - here)

    def _missing_words(self, place: PadPlace) -> str:
        where = place.device or Sentence("a keyboard that has the key {key}", key=place.which)
        said = "{where} is not plugged in; as soon as it is, the key {key} counts again"
        return Sentence(said, where=where, key=place.which)

    def _find(self, now: int) -> None:
        self._looked = now
        for device in self._devices.find(self._open.keys() | self._others):
            try:
                self._take(device, now)
            except OSError as error:
                _log.warning("%s went as soon as it had come: %s", device.name, error)
                self._open.pop(device.token, None)
                device.close()

    def _take(self, device: KeyDevice, now: int) -> None:
        """Keep a device if it has a seat's key."""
        seats = {
            code: seat
            for seat, code in self._codes.items()
            if code in device.keys and (not self._places[seat].device or self._places[seat].device in device.labels)
        }
        if not seats:
            self._others.add(device.token)
            device.close()
            return
        one = self._open[device.token] = _OpenKeys(device, seats, interval_of(device.bus), now)
        if self._grab and all(self._places[seat].device for seat in seats.values()):
            device.grab()
        one.down |= set(device.held()) & seats.keys()

    def _drop(self, token: str, now: int) -> None:
        """Release a device that is gone: its held keys went up at some time since the last read."""
        one = self._open.pop(token)
        one.device.close()
        for code in sorted(one.down):
            between = max(now - one.read_at, 0)
            self._report(one.seats[code], False, one.read_at + between // 2, (between + 1) // 2)
        self._looked = now

    def _drain(self, one: _OpenKeys) -> None:
        while True:
            try:
                signals = list(one.device.read())
            except BlockingIOError:
                return
            for signal in signals:
                self._hear(one, signal)

    def _hear(self, one: _OpenKeys, signal: InputSignal) -> None:
        t = signal.sec * SECOND + signal.usec * US
        if signal.type == EV_SYN and signal.code == SYN_DROPPED:
            one.has_gap = True
        elif signal.type == EV_SYN and signal.code == SYN_REPORT:
            if one.has_gap:
                self._catch_up(one, t)
            elif one.is_answer and one.device.bus not in (BUS_BLUETOOTH, BUS_VIRTUAL):
                one.interval.feed(t)
            one.reported, one.is_answer, one.has_gap = t, False, False
        elif not one.has_gap:
            own = signal.type in (EV_REL, EV_ABS) or (signal.type == EV_KEY and signal.value in (_UP, _DOWN))
            one.is_answer |= own
            if own and signal.type == EV_KEY and signal.code in one.seats:
                self._turn(one, signal.code, signal.value, t)

    def _turn(self, one: _OpenKeys, code: int, value: int, t: int) -> None:
        """Note that a key went down or up, unless it was so already."""
        if (code in one.down) != (value == _DOWN):
            (one.down.add if value == _DOWN else one.down.discard)(code)
            self._tell(one, code, value, t)

    def _catch_up(self, one: _OpenKeys, t: int) -> None:
        """Handle a queue overflow before ``t`` (ns): report the loss, and take the keys' present state."""
        if self._on_lost is not None:
            self._on_lost(Lost(1, after=one.reported, before=t))
        held = set(one.device.held()) & one.seats.keys()
        for code in sorted(one.down ^ held):
            self._turn(one, code, _DOWN if code in held else _UP, t)

    def _tell(self, one: _OpenKeys, code: int, value: int, t: int) -> None:
        half = (one.interval.value + 1) // 2
        seat = one.seats[code]
        self._report(seat, value == _DOWN, t - half, half + self._errors[seat] + _STAMP)

    def _report(self, seat: int, pressed: bool, t: int, t_error: int) -> None:
        # The interval's estimate changes, but a key's edges must stay in order.
        t = max(t, self._last.get(seat, t))
        self._last[seat] = t
        if self._on_edge is not None:
            self._on_edge(Edge(seat=seat, t=t, pressed=pressed, t_error=t_error))
