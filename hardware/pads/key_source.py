"""Keys as pads: any keyboard, gamepad, button or Makey Makey that the kernel takes for an input device.

The kernel stamps each answer of such a device as it comes in, on CLOCK_MONOTONIC. The press itself was up to a poll
interval earlier, so an edge is told for the middle of that interval, and half of it is part of its error; the rest is
the firmware's own, which looks at its keys one after another and debounces them. The devices themselves are opened by
`hardware.pads.evdev_keys`; here they are anything of that shape.
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
"""Half-width of how unlike two presses a keyboard's own program may be late, ns: it debounces for 5 ms as a rule (QMK
does), and looks at all keys in turn. How much later than another *model* it answers nobody knows without a blow on
both (`referee calibrate pads`)."""
RADIO: Final = 30 * MS
"""What is taken for the poll interval of a keyboard by Bluetooth, ns, whatever its answers look like: two of its
intervals, for it sends again what was not heard."""
_STAMP: Final = US
"""The kernel tells its stamps in whole microseconds, cut off."""
_DELIVERY: Final = MS
"""An answer can be read so long after its stamp at the latest, ns: it is queued within the same interrupt."""
_LOOK_EVERY: Final = SECOND

EV_SYN, EV_KEY, EV_REL, EV_ABS = 0x00, 0x01, 0x02, 0x03
SYN_REPORT, SYN_DROPPED = 0, 3
BUS_BLUETOOTH, BUS_VIRTUAL = 0x05, 0x06
_UP, _DOWN = 0, 1
"""A third value is a repetition of a key that is held."""

_log = logging.getLogger(__name__)


class InputSignal(Protocol):
    """One event of the kernel's input layer, with the names that evdev gives its parts."""

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
    """An open input device that has keys. Every call but `close` raises OSError when it is gone."""

    token: str
    """Which device it is; once it is pulled out and put in again, another."""
    labels: frozenset[str]
    """Whatever it may be called by in a seat's place: its name, its socket, its serial number, its files."""
    name: str
    socket: str
    """Where it is plugged in: two of one make differ in it."""
    bus: int
    keys: frozenset[int]
    """Codes of the keys that it has."""

    def fileno(self) -> int: ...
    def read(self) -> Iterable[InputSignal]:
        """What waits; raises BlockingIOError where there is nothing."""
        ...

    def held(self) -> Collection[int]:
        """Codes of the keys that are down now."""
        ...

    def grab(self) -> None:
        """Have what is pressed on it go nowhere else."""
        ...

    def close(self) -> None: ...


class KeyDevices(Protocol):
    """The input devices of a machine."""

    @property
    def refused(self) -> str:
        """A device that may not be opened, and what to do; empty where there was none at the last `find`."""
        ...

    def code(self, key: str) -> int:
        """The code of a key's name. Raises ValueError for none."""
        ...

    def places(self) -> list[PadPlace]:
        """Every key of every device, as a seat may name it."""
        ...

    def find(self, known: Collection[str]) -> list[KeyDevice]:
        """Open all that have keys, but those whose tokens are known."""
        ...


@dataclass(slots=True)
class _OpenKeys:
    """A device that carries seats' keys."""

    device: KeyDevice
    seats: dict[int, int]
    """By code."""
    interval: PollInterval
    read_at: int
    reported: int = 0
    """Instant of its last whole answer, ns."""
    is_answer: bool = False
    """Whether what came since is one of the device's own, not of the kernel's repetition."""
    has_gap: bool = False
    """Whether its queue overflowed: what comes up to the end of the answer counts for nothing."""
    down: set[int] = field(default_factory=set)
    """Codes that are held."""


def interval_of(bus: int) -> PollInterval:
    """What is known of the poll interval of a device on a bus, before it answered."""
    if bus == BUS_VIRTUAL:
        # Another program's: the kernel stamps what it writes as it writes it.
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
        """Look for the keys; one whose device is not here may come later.

        Args:
            places: by seat, of the kind ``key``.
            devices: this machine's.
            t_errors: half-width of what is known of each seat's own press besides the poll interval, ns; never taken
                for less than `FIRMWARE`.
            grab: whether what is pressed on devices that a place names goes nowhere else.
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
        """By token."""
        self._others: set[str] = set()
        """Tokens of devices without a seat's key: opening all of them each second could hold up the game."""
        self._looked = now
        self._last: dict[int, int] = {}
        self._on_edge: OnEdge | None = None
        self._on_lost: OnLost | None = None
        self._find(now)

    @property
    def silent(self) -> Mapping[int, str]:
        """By seat: which key is on no device that is here."""
        refused = self._devices.refused
        return {seat: refused or self._missing_words(self._places[seat]) for seat in self._absent()}

    @property
    def intervals(self) -> Mapping[int, PollInterval]:
        """By seat whose key is here: how often its device is asked."""
        return {seat: one.interval for one in self._open.values() for seat in one.seats.values()}

    def start(self, on_edge: OnEdge, on_lost: OnLost, now: int) -> None:
        """Report edges from ``now`` (ns) on."""
        self.read(now)
        self._on_edge, self._on_lost = on_edge, on_lost

    def held(self) -> tuple[int, ...]:
        """Seats whose keys are down, as far as was read."""
        return tuple(sorted(one.seats[code] for one in self._open.values() for code in one.down))

    def filenos(self) -> list[int]:
        """The devices' queues."""
        return [one.device.fileno() for one in self._open.values()]

    def read(self, now: int) -> None:
        """Report everything that waits; let go of devices that are gone, and look for those that are missing."""
        for token, one in list(self._open.items()):
            try:
                self._drain(one)
                one.read_at = now
            except OSError as gone:
                _log.warning("%s is gone: %s", one.device.name, gone)
                self._drop(token, now)
        if self._absent() and now - self._looked >= _LOOK_EVERY:
            self._find(now)

    def watermark(self, now: int) -> int:
        """Every edge up to this instant (ns) was reported: what comes yet is told for the middle of its interval."""
        return now - _DELIVERY - max((one.interval.value for one in self._open.values()), default=0) // 2

    def close(self) -> None:
        """Let go of the devices."""
        for one in self._open.values():
            one.device.close()
        self._open.clear()

    def _absent(self) -> list[int]:
        here = {seat for one in self._open.values() for seat in one.seats.values()}
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
            except OSError as gone:
                _log.warning("%s went as soon as it had come: %s", device.name, gone)
                self._open.pop(device.token, None)
                device.close()

    def _take(self, device: KeyDevice, now: int) -> None:
        """Keep a device if a seat's key is on it."""
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
        """A device is gone: what was held on it was let go somewhere since it was last read."""
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
        """A key goes down or up, unless it was so already."""
        if (code in one.down) != (value == _DOWN):
            (one.down.add if value == _DOWN else one.down.discard)(code)
            self._tell(one, code, value, t)

    def _catch_up(self, one: _OpenKeys, t: int) -> None:
        """The queue overflowed before ``t`` (ns): say so, and take the keys as they are now."""
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
        # What is known of the interval changes, and may not turn a key's own edges round.
        t = max(t, self._last.get(seat, t))
        self._last[seat] = t
        if self._on_edge is not None:
            self._on_edge(Edge(seat=seat, t=t, pressed=pressed, t_error=t_error))
