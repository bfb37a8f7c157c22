"""Listening to all possible pads, before the settings name them.

It listens to header pins and the keys of all input devices at once; called by `referee.setup.bench`.
"""

from __future__ import annotations

import contextlib
import queue
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial

from hardware.clock import monotonic
from hardware.pads.board_lines import MOST_PADS
from hardware.pads.key_source import KeyDevices, KeySource
from hardware.pads.pad_place import PadPlace, parse_place
from hardware.pads.pads import GpioPads
from hardware.pads.plugged_pads import PluggedPads
from hardware.pads.serial_link import SerialPorts, usb_ports
from hardware.pads.serial_source import SerialSource
from hardware.ports import HardwareMissing, Pads
from referee.errors import UserError

Heard = Callable[[int | str], None]


def wait_for_hit(pins: Sequence[int], active_high: bool, patience: float) -> int | str | None:
    """Return the pin of the first pad hit, or the place of the first key pressed; `None`: time is up.

    Args:
        pins: possible pins of a pad.
        active_high: whether such a pad drives its line high.
        patience: time limit, s.

    Raises:
        UserError: this machine has neither such pins nor keys; says for each what to do.
    """
    hits: queue.Queue[int | str] = queue.Queue()
    missing: list[str] = []
    with contextlib.ExitStack() as stack:
        ears = (partial(_hear_pins, pins, active_high), _hear_keys, _hear_boards)
        for listen in ears:
            try:
                stack.callback(listen(hits.put).close)
            except HardwareMissing as error:
                missing.append(str(error))
        if len(missing) == len(ears):
            raise UserError("{why}; or answer `skip` to leave the pads out", why="; ".join(missing))
        try:
            return hits.get(timeout=patience)
        except queue.Empty:
            return None
        finally:
            _forget_typed()


def keys_held_together(
    places: Sequence[str], patience: float, devices: KeyDevices | None = None
) -> tuple[str, ...]:  # fmt: skip
    """Return the keys that were down together, at the moment when most of them were.

    Args:
        places: of the keys.
        patience: time limit until all are down, s.
        devices: None: this machine's.
    """
    chosen = dict(enumerate(parse_place(place) for place in places))
    source = _key_source(chosen, devices or _machine_keys())
    best: tuple[int, ...] = ()
    ready = threading.Event()

    def note(held: tuple[int, ...]) -> None:
        nonlocal best
        best = max(best, held, key=len)
        if len(best) == len(places):
            ready.set()

    with contextlib.closing(PluggedPads(source)) as pads:
        pads.start(lambda _edge: note(source.held()))
        note(pads.held())
        ready.wait(patience)
    _forget_typed()
    return tuple(places[number] for number in best)


def _hear_pins(pins: Sequence[int], active_high: bool, heard: Heard) -> Pads:
    """Listen to pads on the header; raises `HardwareMissing`."""
    pads = GpioPads(dict(enumerate(pins)), active_high=active_high)
    pads.start(lambda edge: heard(pins[edge.seat]) if edge.pressed else None)
    return pads


def _hear_keys(heard: Heard) -> Pads:
    """Listen to every key of every input device; raises `HardwareMissing`."""
    devices = _machine_keys()
    places = dict(enumerate(devices.places()))
    if not places:
        raise HardwareMissing(devices.refused or "no keyboard or button is plugged in")
    pads = PluggedPads(_key_source(places, devices))
    pads.start(lambda edge: heard(str(places[edge.seat])) if edge.pressed else None)
    return pads


def _hear_boards(heard: Heard) -> Pads:
    """Listen to every pad of every board on USB; raises `HardwareMissing`."""
    ports = usb_ports()
    if not ports:
        raise HardwareMissing("no pad board is plugged in")
    every = [PadPlace("serial", str(pad), port) for port in ports for pad in range(1, MOST_PADS + 1)]
    places = dict(enumerate(every))
    source = SerialSource(places, SerialPorts(), t_errors=dict.fromkeys(places, 0), clock=monotonic)
    pads = PluggedPads(source)
    pads.start(lambda edge: heard(str(places[edge.seat])) if edge.pressed else None)
    return pads


def _machine_keys() -> KeyDevices:
    from hardware.pads.evdev_keys import EvdevDevices

    return EvdevDevices()


def _key_source(places: dict[int, PadPlace], devices: KeyDevices) -> KeySource:
    return KeySource(places, devices, t_errors=dict.fromkeys(places, 0), now=monotonic())


def _forget_typed() -> None:
    """Discard what pad keys have typed into this terminal, so that it does not answer a question."""
    if sys.stdin is not None and sys.stdin.isatty():
        import termios

        termios.tcflush(sys.stdin, termios.TCIFLUSH)
