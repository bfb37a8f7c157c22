"""gpiozero's pins on libgpiod 2: the header's lines for lights, pads and any other device of gpiozero.

gpiozero finds it by its name (``GPIOZERO_PIN_FACTORY=gpiod``), or takes it as ``Device.pin_factory``. Edges come with
the kernel's stamps. A level of 0 or 1 is a plain write, and takes effect at once; one thread dims all lines to levels
between.
"""

from __future__ import annotations

import errno
import logging
import select
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import gpiod
from gpiod.line import Bias, Clock, Direction, Edge, Value
from gpiozero.exc import (
    GPIOPinInUse,
    PinFixedPull,
    PinInvalidBounce,
    PinInvalidEdges,
    PinInvalidFunction,
    PinInvalidPin,
    PinInvalidPull,
    PinInvalidState,
    PinPWMFixedValue,
    PinSetInput,
    PinUnknownPi,
)
from gpiozero.pins.local import LocalPiFactory, LocalPiPin

from hardware import clock
from hardware.bell import Waker
from hardware.pads.pinout import header_path
from referee.units import SECOND

CONSUMER: Final = "table referee"
"""The beginning of the names of our lines in the kernel's list (`gpioinfo`)."""
_BIASES: Final = {"up": Bias.PULL_UP, "down": Bias.PULL_DOWN, "floating": Bias.DISABLED}
_EDGES: Final = {"both": Edge.BOTH, "rising": Edge.RISING, "falling": Edge.FALLING}
_MOST_HERTZ: Final = 10_000
"""Highest frequency of dimming, as lgpio's: the dimmer's thread wakes twice in each period."""
_MODEL_3B: Final = 0xA02082
"""Revision code assumed where neither firmware nor kernel tells one: every board has the same header since 2014."""

_log = logging.getLogger(__name__)


class Dimmer:
    """Dims lines by switching them on at the begin of each period and off after a share of it; one thread for all."""

    def __init__(self, now: clock.Clock = clock.monotonic, *, own_thread: bool = True) -> None:
        """``now`` returns the present instant, ns; without ``own_thread`` the owner calls `turn`."""
        self._now = now
        self._lines: dict[GpiodPin, tuple[int, int]] = {}
        self._changed = threading.Event()
        if own_thread:
            # It begins now: `hardware.priority.be_urgent` reaches the threads that exist. An ordinary thread that
            # holds the interpreter's lock would delay a hand.
            threading.Thread(target=self._turn_on, name="dimmer", daemon=True).start()

    def dim(self, pin: GpiodPin, frequency: float, share: float) -> None:
        """Switch a line on for this share of each period from now on."""
        period = max(2, round(SECOND / frequency))
        self._lines[pin] = (period, min(period - 1, max(1, round(share * period))))
        self._changed.set()

    def leave(self, pin: GpiodPin) -> None:
        """Leave a line alone from now on."""
        self._lines.pop(pin, None)

    def turn(self) -> int | None:
        """Bring every line to its level of this instant; return the time until the next change, ns; None: none."""
        now, pauses = self._now(), []
        for pin, (period, on) in tuple(self._lines.items()):
            phase = now % period
            pin.show(phase < on)
            pauses.append((on if phase < on else period) - phase)
        return min(pauses, default=None)

    def _turn_on(self) -> None:
        while True:
            self._changed.clear()
            pause = self.turn()
            self._changed.wait(None if pause is None else pause / SECOND)


class EdgeReader:
    """Reads the edges of all pins that watch their line, on one thread."""

    def __init__(self) -> None:
        self._pins: set[GpiodPin] = set()
        self._waker = Waker()
        self._thread: threading.Thread | None = None

    def watch(self, pin: GpiodPin) -> None:
        """Read this pin's edges from now on."""
        self._pins.add(pin)
        if self._thread is None:
            self._thread = threading.Thread(target=self._read_on, name="gpiozero edges", daemon=True)
            self._thread.start()
        self._waker.ring()

    def leave(self, pin: GpiodPin) -> None:
        """Read them no longer."""
        self._pins.discard(pin)
        self._waker.ring()

    def _read_on(self) -> None:
        while True:
            pins = {pin.descriptor: pin for pin in tuple(self._pins)}
            try:
                ready, _, _ = select.select([*(fd for fd in pins if fd is not None), self._waker.waitable], [], [])
                self._waker.hush()
            except (OSError, ValueError):
                # A line was released between the statements, or the program ends.
                continue
            for descriptor in ready:
                if descriptor in pins:
                    pins[descriptor].read_edges()


class GpiodPin(LocalPiPin):  # type: ignore[misc]
    """One line of the header; it is claimed when its function, level or pull is first set or read."""

    def __init__(self, factory: GpiodFactory, info: Any) -> None:
        super().__init__(factory, info)
        self._when_changed: Any = None
        self._lock = threading.RLock()
        self._request: Any = None
        self._settings = gpiod.LineSettings()
        self._level = False
        self._frequency: float | None = None
        self._share = 0.0
        self._watched = "both"
        self._bounce: float | None = None
        self._next_edge: int | None = None
        self.lost = 0
        """Number of edges that the kernel stamped and dropped, because its queue was full."""

    def close(self) -> None:
        """Make the line an input and release it; a closed pin may be used again."""
        with self._lock:
            self.factory.dimmer.leave(self)
            self.factory.reader.leave(self)
            self._when_changed = self._frequency = None
            self._watched, self._bounce = "both", None
            if self._request is None:
                return
            with suppress(OSError):
                self._configure(gpiod.LineSettings(direction=Direction.INPUT))
            self._request.release()
            self._request, self._settings = None, gpiod.LineSettings()

    def output_with_state(self, state: float) -> None:
        """Make it an output that begins with this level."""
        with self._lock:
            self._become_output(bool(state))

    # Function, level and pull, as gpiozero's properties call them

    def _get_function(self) -> str:
        return "output" if self._settings.direction is Direction.OUTPUT else "input"

    def _set_function(self, value: str) -> None:
        with self._lock:
            if value == "output":
                self._become_output(self._frequency is None and self._line_level())
            elif value == "input":
                self._stop_dimming()
                self._become_input(self._info.pull or "floating")
            else:
                raise PinInvalidFunction(f'invalid function "{value}" for pin {self!r}')

    def _become_output(self, level: bool) -> None:
        self._stop_dimming()
        self.factory.reader.leave(self)
        self._level = level
        self._configure(gpiod.LineSettings(direction=Direction.OUTPUT, output_value=Value(level)))

    def _line_level(self) -> bool:
        """Read the line; one that is not claimed yet is left as it is."""
        if self._request is None:
            self._configure(gpiod.LineSettings(direction=Direction.AS_IS))
        return bool(self._request.get_value(self._number).value)

    def _become_input(self, pull: str) -> None:
        self._next_edge = None
        self._configure(self._input_settings(pull))
        if self._when_changed is not None:
            self.factory.reader.watch(self)

    def _get_state(self) -> float:
        with self._lock:
            if self._frequency is not None:
                return self._share
            return bool(self._claimed().get_value(self._number).value)

    def _set_state(self, value: float) -> None:
        with self._lock:
            if self._get_function() == "input":
                raise PinSetInput(f"cannot set state of pin {self!r}")
            if self._frequency is None:
                self._write(bool(value))
                return
            if not 0 <= value <= 1:
                raise PinInvalidState(f'invalid state "{value}" for pin {self!r}')
            self._share = value
            if 0 < value < 1:
                self.factory.dimmer.dim(self, self._frequency, value)
            else:
                self.factory.dimmer.leave(self)
                self._write(value == 1)

    def show(self, level: bool) -> None:
        """Write a level for the dimmer, unless the line is dimmed no longer; one that is gone is left alone."""
        with self._lock:
            if self._level == level or not 0 < self._share < 1:
                return
            try:
                self._write(level)
            except OSError as error:
                self.factory.dimmer.leave(self)
                _log.error("%r cannot be dimmed any longer: %s", self, error)

    def _write(self, level: bool) -> None:
        self._claimed().set_value(self._number, Value(level))
        self._level = level

    def _get_pull(self) -> str:
        if self._info.pull:
            return str(self._info.pull)
        return next((name for name, bias in _BIASES.items() if bias is self._settings.bias), "floating")

    def _set_pull(self, value: str) -> None:
        with self._lock:
            if self._get_function() != "input":
                raise PinFixedPull(f"cannot set pull on non-input pin {self!r}")
            if self._info.pull not in (value, ""):
                raise PinFixedPull(f"{self!r} has a physical pull-{self._info.pull} resistor")
            if value not in _BIASES:
                raise PinInvalidPull(f'invalid pull "{value}" for pin {self!r}')
            self._configure(self._input_settings(value))

    def _input_settings(self, pull: str) -> gpiod.LineSettings:
        return gpiod.LineSettings(
            direction=Direction.INPUT,
            bias=Bias.AS_IS if self._info.pull else _BIASES[pull],
            edge_detection=Edge.NONE if self._when_changed is None else _EDGES[self._watched],
            event_clock=Clock.MONOTONIC,
            debounce_period=timedelta(seconds=self._bounce or 0),
        )

    # Dimming

    def _get_frequency(self) -> float | None:
        return self._frequency

    def _set_frequency(self, value: float | None) -> None:
        with self._lock:
            if not value:
                if self._frequency is not None:
                    self._stop_dimming()
                    self._write(False)
                return
            if self._get_function() != "output":
                raise PinPWMFixedValue(f"cannot start PWM on pin {self!r}")
            if not 0 < value <= _MOST_HERTZ:
                raise PinPWMFixedValue(f"pin {self!r} cannot be dimmed at {value} Hz, only up to {_MOST_HERTZ}")
            was_plain, self._frequency = self._frequency is None, value
            self._set_state(0 if was_plain else self._share)

    def _stop_dimming(self) -> None:
        self.factory.dimmer.leave(self)
        self._frequency, self._share = None, 0.0

    # Edges

    def _get_bounce(self) -> float | None:
        return self._bounce

    def _set_bounce(self, value: float | None) -> None:
        if value is not None and not (isinstance(value, (int, float)) and value >= 0):
            raise PinInvalidBounce("bounce must be a number, 0 or greater")
        with self._lock:
            self._bounce = value or None
            if self._settings.direction is Direction.INPUT:
                self._configure(replace(self._settings, debounce_period=timedelta(seconds=value or 0)))

    def _get_edges(self) -> str:
        return self._watched

    def _set_edges(self, value: str) -> None:
        if value not in _EDGES:
            raise PinInvalidEdges(f'invalid edges "{value}" for pin {self!r}')
        with self._lock:
            self._watched = value
            if self._when_changed is not None and self._settings.direction is Direction.INPUT:
                self._enable_event_detect()

    def _enable_event_detect(self) -> None:
        with self._lock:
            self._become_input(self._get_pull())

    def _disable_event_detect(self) -> None:
        self.factory.reader.leave(self)
        with self._lock:
            if self._settings.direction is Direction.INPUT:
                self._configure(replace(self._settings, edge_detection=Edge.NONE))

    @property
    def descriptor(self) -> int | None:
        """The file that is readable while edges wait; None: the line is not claimed."""
        with self._lock:
            return None if self._request is None else self._request.fd

    def read_edges(self) -> None:
        """Pass on every edge that waits; a handler that raises is logged and stops no other pin."""
        with self._lock:
            if self._request is None or not self._request.wait_edge_events(0):
                return
            events = self._request.read_edge_events()
        for event in events:
            if self._next_edge is not None and event.line_seqno > self._next_edge:
                self.lost += event.line_seqno - self._next_edge
                _log.error("%r: %d edges were lost", self, event.line_seqno - self._next_edge)
            self._next_edge = event.line_seqno + 1
            if self._when_changed is None:
                return
            try:
                self._call_when_changed(event.timestamp_ns / SECOND, int(event.event_type is event.Type.RISING_EDGE))
            except Exception:
                _log.exception("%r: the handler of an edge failed; the others go on", self)

    # The line

    def _claimed(self) -> Any:
        if self._request is None:
            self._configure(self._input_settings(self._info.pull or "floating"))
        return self._request

    def _configure(self, settings: gpiod.LineSettings) -> None:
        if self._request is None:
            self._request = self.factory.claim(self, settings)
        else:
            self._request.reconfigure_lines({self._number: settings})
        self._settings = settings


class GpiodFactory(LocalPiFactory):  # type: ignore[misc]
    """The header's lines as gpiozero's pins."""

    def __init__(
        self,
        chip: Path | None = None,
        *,
        request_lines: Callable[..., Any] = gpiod.request_lines,
        dimmer: Dimmer | None = None,
    ) -> None:
        """Prepare; lines are claimed when they are used.

        Args:
            chip: path of the chip; None: the header's.
            request_lines: claims lines, as `gpiod.request_lines`.
            dimmer: dims the lines; None: one with a thread of its own.

        Raises:
            HardwareMissing: this machine has no header, or it may not be opened.
        """
        super().__init__()
        # gpiozero shares these among its own factories. Here the kernel refuses a line that is claimed twice.
        self.pins: dict[Any, GpiodPin] = {}
        self._reservations: dict[str, list[Any]] = defaultdict(list)
        self._res_lock = threading.RLock()
        self.chip = header_path() if chip is None else chip
        self._request_lines = request_lines
        self.dimmer = Dimmer() if dimmer is None else dimmer
        self.reader = EdgeReader()
        self.pin_class = GpiodPin

    def request(self, config: Mapping[Any, gpiod.LineSettings], purpose: str, queue: int | None = None) -> Any:
        """Claim lines of the chip for a purpose, with one queue of edges for all; return the `gpiod.LineRequest`."""
        return self._request_lines(
            str(self.chip), consumer=f"{CONSUMER} {purpose}", config=config, event_buffer_size=queue
        )

    def claim(self, pin: GpiodPin, settings: gpiod.LineSettings) -> Any:
        """Claim one pin's line.

        Raises:
            GPIOZeroError: it is in use or does not exist.
            OSError: the chip may not be opened, or is gone.
        """
        number = int(pin.info.name.removeprefix("GPIO"))
        try:
            return self.request({number: settings}, "gpiozero")
        except ValueError as error:
            raise PinInvalidPin(f"{self.chip} has no {pin!r}") from error
        except OSError as error:
            if error.errno == errno.EBUSY:
                raise GPIOPinInUse(f"pin {pin!r} is held by {self._holder(number)}") from error
            raise

    def _holder(self, number: int) -> str:
        with suppress(OSError), gpiod.Chip(str(self.chip)) as chip:
            return repr(chip.get_line_info(number).consumer or "a driver")
        return "another program or driver"

    def _get_revision(self) -> int:
        try:
            return int(super()._get_revision())
        except PinUnknownPi:
            return _MODEL_3B
