"""gpiozero's own devices on our pin factory, over a fake header."""

from __future__ import annotations

import logging
import queue
import tomllib
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gpiod
import pytest
from gpiod.line import Bias, Direction, Edge
from gpiozero import LED, PWMLED, RGBLED, Button, Device, DigitalInputDevice
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
)

from hardware.lights.leds import GpioLights
from hardware.pads.gpiod_lines import GpiodLines
from hardware.pads.pads import GpioPads
from hardware.pin_factory import Dimmer, GpiodFactory
from hardware.ports import Edge as PadEdge
from hardware.ports import HardwareMissing
from tests.support.fake_header import FakeHeader
from tests.support.patience import PATIENCE

MS = 1_000_000


class Bench:
    """A factory on a fake header, dimmed by the test's own clock."""

    def __init__(self) -> None:
        self.header = FakeHeader()
        self.dimmer = Dimmer(lambda: self.header.now, own_thread=False)
        self.factory = GpiodFactory(Path("/dev/gpiochip0"), request_lines=self.header.request_lines, dimmer=self.dimmer)

    def run(self, until: int) -> None:
        """Let the dimmer's thread turn whenever something is due, up to an instant (ns)."""
        while (pause := self.dimmer.turn()) is not None and self.header.now + pause <= until:
            self.header.now += pause
        self.header.now = until

    def share(self, pin: int, begin: int, end: int) -> float:
        """Return the share of a span in which a pin was high."""
        high, level, since = 0, False, begin
        for t, written, value in self.header.outputs:
            if written == pin and t <= end:
                high += max(t - since, 0) if level else 0
                level, since = value, max(t, begin)
        return (high + (end - since if level else 0)) / (end - begin)


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.factory.close()


# Outputs


def test_a_light_is_switched_at_once(bench: Bench) -> None:
    led = LED(19, pin_factory=bench.factory)
    assert not bench.header.level(19)
    led.on()
    assert bench.header.level(19) and led.is_lit
    led.toggle()
    assert not bench.header.level(19) and led.value == 0
    led.close()
    assert bench.header.settings(19) is None


def test_an_output_begins_with_its_level(bench: Bench) -> None:
    """There is no other level before, not even for an instant."""
    led = LED(20, active_high=False, pin_factory=bench.factory)
    assert bench.header.outputs == [(0, 20, True)]
    led.on()
    assert bench.header.outputs[-1] == (0, 20, False)


@pytest.mark.parametrize("level", [False, True])
def test_an_output_without_a_level_of_its_own_leaves_the_line_as_it_is(bench: Bench, level: bool) -> None:
    bench.header.drive(20, level)
    led = LED(20, initial_value=None, pin_factory=bench.factory)
    assert bench.header.outputs == [(0, 20, level)]
    assert led.is_lit is level
    led.pin.function = "output"
    assert bench.header.level(20) is level


def test_a_handler_of_edges_leaves_an_output_alone(bench: Bench) -> None:
    def changed(_ticks: float, _state: int) -> None: ...

    pin = bench.factory.pin(20)
    pin.when_changed = changed
    pin.function = "output"
    pin.state = 1
    pin.edges = "rising"
    assert pin.function == "output" and bench.header.level(20)
    pin.when_changed = None
    assert pin.function == "output" and bench.header.level(20)


@pytest.mark.parametrize("before", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("level", [0.0, 1.0])
def test_a_dimmable_light_takes_plain_levels_at_once(bench: Bench, before: float, level: float) -> None:
    led = PWMLED(21, frequency=200, pin_factory=bench.factory)
    led.value = before
    bench.run(7 * MS)
    written = len(bench.header.outputs)
    led.value = level
    assert bench.header.outputs[written:] == [(7 * MS, 21, level == 1)]
    bench.run(50 * MS)
    assert bench.header.outputs[written + 1 :] == [], "a plain level is dimmed no longer"


@pytest.mark.parametrize("share", [0.01, 0.25, 0.5, 0.99])
def test_a_level_between_is_a_share_of_the_time(bench: Bench, share: float) -> None:
    led = PWMLED(21, frequency=200, pin_factory=bench.factory)
    led.value = share
    bench.run(1_000 * MS)
    assert led.value == share
    assert bench.share(21, 5 * MS, 1_000 * MS) == pytest.approx(share, abs=0.001)


def test_lights_of_one_frequency_are_switched_on_together(bench: Bench) -> None:
    """Each wake-up costs the pads' thread time."""
    lights = GpioLights({1: 19, 2: 20}, (27, 14, 15), factory=bench.factory)
    lights.seat(1, 0.5)
    lights.seat(2, 0.5)
    bench.run(20 * MS)
    bench.header.outputs.clear()
    bench.run(120 * MS)
    assert len({t for t, _, _ in bench.header.outputs}) == 40
    lights.close()


def test_a_coloured_light_mixes_its_parts(bench: Bench) -> None:
    light = RGBLED(27, 14, 15, pin_factory=bench.factory)
    light.color = (1, 0.25, 0)
    bench.run(500 * MS)
    assert [bench.share(pin, 20 * MS, 500 * MS) for pin in (27, 14, 15)] == pytest.approx([1, 0.25, 0], abs=0.001)


def test_a_line_that_is_gone_is_dimmed_no_longer(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    led = PWMLED(21, pin_factory=bench.factory)
    led.value = 0.5
    bench.header.gone = True
    with caplog.at_level(logging.ERROR):
        bench.run(100 * MS)
    assert caplog.text.count("cannot be dimmed") == 1


def test_the_dimmers_own_thread_dims() -> None:
    header = FakeHeader()
    factory = GpiodFactory(Path("/dev/gpiochip0"), request_lines=header.request_lines)
    written: queue.Queue[bool] = queue.Queue()

    class Pin:
        show = staticmethod(written.put)

    pin: Any = Pin()
    factory.dimmer.dim(pin, 1_000, 0.5)
    seen = {written.get(timeout=PATIENCE)}
    while len(seen) < 2:
        seen.add(written.get(timeout=PATIENCE))
    factory.dimmer.leave(pin)
    factory.close()


def test_a_frequency_needs_an_output_and_ends_with_the_light_off(bench: Bench) -> None:
    pin = bench.factory.pin(22)
    with pytest.raises(PinPWMFixedValue):
        pin.frequency = 100
    pin.output_with_state(1)
    for wrong in (-1, 20_000):
        with pytest.raises(PinPWMFixedValue):
            pin.frequency = wrong
    assert bench.header.level(22)
    pin.frequency = 100
    assert (pin.state, bench.header.level(22)) == (0, False)
    pin.state = 0.5
    pin.frequency = 50
    assert (pin.frequency, pin.state) == (50, 0.5)
    with pytest.raises(PinInvalidState):
        pin.state = 1.5
    pin.frequency = None
    assert (pin.frequency, pin.state) == (None, False)


# Inputs


def test_a_button_is_pulled_and_read(bench: Bench) -> None:
    button = Button(4, pin_factory=bench.factory)
    settings = bench.header.settings(4)
    assert settings is not None and (settings.direction, settings.bias) == (Direction.INPUT, Bias.PULL_UP)
    assert not button.is_pressed
    bench.header.drive(4, False)
    assert button.is_pressed
    bench.header.release(4)
    assert not button.is_pressed


def test_a_buttons_edges_come_in_order_with_the_kernels_stamps(bench: Bench) -> None:
    told: queue.Queue[tuple[float, bool]] = queue.Queue()

    def changed(ticks: float, state: int) -> None:
        told.put((ticks, bool(state)))

    pin = bench.factory.pin(4)
    pin.input_with_pull("up")
    pin.when_changed = changed
    for number in range(6):
        bench.header.now = 10 * MS + number * MS // 4
        bench.header.drive(4, number % 2 == 1)
    heard = [told.get(timeout=PATIENCE) for _ in range(6)]
    assert heard == [((10 * MS + number * MS // 4) / 1e9, number % 2 == 1) for number in range(6)]
    assert pin.lost == 0


def test_gpiozeros_events_fire(bench: Bench) -> None:
    told: queue.Queue[str] = queue.Queue()
    button = Button(5, pin_factory=bench.factory)
    button.when_pressed = lambda: told.put("pressed")
    button.when_released = lambda: told.put("released")
    bench.header.drive(5, False)
    assert told.get(timeout=PATIENCE) == "pressed"
    bench.header.drive(5, True)
    assert told.get(timeout=PATIENCE) == "released"
    button.close()
    assert bench.header.settings(5) is None


@pytest.mark.parametrize(("edges", "heard"), [("rising", [1, 1]), ("falling", [0, 0]), ("both", [0, 1, 0, 1])])
def test_only_the_edges_that_are_watched_come(bench: Bench, edges: str, heard: list[int]) -> None:
    told: queue.Queue[int] = queue.Queue()

    def changed(_ticks: float, state: int) -> None:
        told.put(state)

    pin = bench.factory.pin(6)
    pin.input_with_pull("up")
    pin.edges = edges
    pin.when_changed = changed
    for level in (False, True, False, True):
        bench.header.drive(6, level)
    assert [told.get(timeout=PATIENCE) for _ in heard] == heard
    assert pin.edges == edges


def test_edges_come_again_after_an_output(bench: Bench) -> None:
    """As `gpiozero.LightSensor` has it: it drains a capacitor, and waits until that is charged."""
    told: queue.Queue[int] = queue.Queue()

    def changed(_ticks: float, state: int) -> None:
        told.put(state)

    pin = bench.factory.pin(6)
    pin.edges = "rising"
    pin.when_changed = changed
    for _ in range(2):
        pin.function = "output"
        bench.header.drive(6, False)
        pin.function = "input"
        bench.header.drive(6, True)
        assert told.get(timeout=PATIENCE) == 1


def test_edges_that_the_kernel_dropped_are_counted(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    told: queue.Queue[float] = queue.Queue()

    def changed(ticks: float, _state: int) -> None:
        told.put(ticks)

    pin = bench.factory.pin(6)
    pin.input_with_pull("up")
    pin.when_changed = changed
    bench.header.drive(6, False)
    told.get(timeout=PATIENCE)
    with pin._lock, caplog.at_level(logging.ERROR):
        # The reader waits for the pin meanwhile, and the queue holds 16.
        for number in range(20):
            bench.header.drive(6, number % 2 == 0)
    for _ in range(16):
        told.get(timeout=PATIENCE)
    assert pin.lost == 4


def test_a_handler_that_fails_stops_no_other_pin(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    told: queue.Queue[int] = queue.Queue()

    def fails(_ticks: float, _state: int) -> None:
        raise RuntimeError("a fault in a handler")

    def works(_ticks: float, state: int) -> None:
        told.put(state)

    for number, handler in ((12, fails), (13, works)):
        pin = bench.factory.pin(number)
        pin.input_with_pull("up")
        pin.when_changed = handler
    with caplog.at_level(logging.ERROR):
        bench.header.drive(12, False)
        bench.header.drive(13, False)
        assert told.get(timeout=PATIENCE) == 0


def test_bounce_is_the_kernels(bench: Bench) -> None:
    device = DigitalInputDevice(16, pull_up=True, bounce_time=0.005, pin_factory=bench.factory)
    settings = bench.header.settings(16)
    assert settings is not None and settings.debounce_period.total_seconds() == 0.005
    assert settings.edge_detection is Edge.BOTH
    for wrong in (-1, "a while"):
        with pytest.raises(PinInvalidBounce):
            device.pin.bounce = wrong


# What is refused


def test_a_fixed_pull_stays(bench: Bench) -> None:
    pin = bench.factory.pin(2)
    pin.function = "input"
    pin.pull = "up"
    assert pin.pull == "up"
    with pytest.raises(PinFixedPull):
        pin.pull = "down"
    settings = bench.header.settings(2)
    assert settings is not None and settings.bias is Bias.AS_IS


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("function", "clock", PinInvalidFunction), ("pull", "sideways", PinInvalidPull),
        ("edges", "none", PinInvalidEdges), ("state", 1, PinSetInput),
    ],
)  # fmt: skip
def test_a_value_that_is_none_is_refused(bench: Bench, name: str, value: object, error: type[Exception]) -> None:
    pin = bench.factory.pin(17)
    pin.function = "input"
    with pytest.raises(error):
        setattr(pin, name, value)


def test_an_output_has_no_pull(bench: Bench) -> None:
    pin = bench.factory.pin(17)
    pin.function = "output"
    with pytest.raises(PinFixedPull):
        pin.pull = "up"


def test_a_line_of_another_program_is_refused_with_its_name(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    class Chip:
        def __init__(self, _path: str) -> None: ...

        def __enter__(self) -> Chip:
            return self

        def __exit__(self, *_: object) -> None: ...

        def get_line_info(self, _pin: int) -> SimpleNamespace:
            return SimpleNamespace(consumer="doorbell")

    monkeypatch.setattr(gpiod, "Chip", Chip)
    bench.header.take(19, "doorbell")
    with pytest.raises(GPIOPinInUse, match="GPIO19 is held by 'doorbell'"):
        LED(19, pin_factory=bench.factory)
    with pytest.raises(HardwareMissing, match=r"GPIO19 is held by 'doorbell'.*choose other pins"):
        GpioLights({1: 20, 2: 19}, None, factory=bench.factory)
    assert bench.header.settings(20) is None, "the lights before it are released"


def test_a_pin_twice_and_a_pin_that_is_not_there(bench: Bench) -> None:
    led = LED(19, pin_factory=bench.factory)
    with pytest.raises(GPIOPinInUse):
        PWMLED(led.pin.info.name, pin_factory=bench.factory)
    with pytest.raises(PinInvalidPin):
        LED(99, pin_factory=bench.factory)


# The factory


def test_a_closed_pin_may_be_used_again(bench: Bench) -> None:
    led = PWMLED(23, pin_factory=bench.factory)
    led.value = 0.5
    led.close()
    button = Button(23, pin_factory=bench.factory)
    assert not button.is_pressed
    assert bench.factory.pin(23).frequency is None


def test_the_factorys_end_releases_every_line(bench: Bench) -> None:
    devices = (LED(19, pin_factory=bench.factory, initial_value=True), Button(4, pin_factory=bench.factory))
    assert [bench.header.settings(pin) is None for pin in (4, 19)] == [False, False]
    bench.factory.close()
    assert not any(device.pin.frequency for device in devices)
    assert [bench.header.settings(pin) for pin in (4, 19)] == [None, None]
    assert not bench.header.level(19)


def test_two_factories_keep_their_pins_apart(bench: Bench) -> None:
    other = Bench()
    leds = [LED(19, pin_factory=each.factory, initial_value=each is bench) for each in (bench, other)]
    assert leds[0].pin is not leds[1].pin
    assert (bench.header.level(19), other.header.level(19)) == (True, False)


def test_the_board_is_known_without_a_revision_code(bench: Bench) -> None:
    assert bench.factory.board_info.headers["J8"].columns == 2


def test_gpiozero_finds_it_by_its_name(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ((name, value),) = project["entry-points"]["gpiozero_pin_factories"].items()
    assert EntryPoint(name, value, "gpiozero_pin_factories").load() is GpiodFactory
    monkeypatch.setattr(Device, "pin_factory", bench.factory)
    assert LED(24).pin.factory is bench.factory


def test_pads_and_lights_share_the_chip(bench: Bench) -> None:
    """Pads take the kernel's one queue for all; a light on a pad's pin is refused."""
    settings = gpiod.LineSettings(
        direction=Direction.INPUT, edge_detection=Edge.RISING, bias=Bias.PULL_UP, active_low=True
    )
    lines = GpiodLines(bench.factory.request({(4, 5): settings}, "pads", 1024), clock=lambda: bench.header.now)
    edges: list[PadEdge] = []
    pads = GpioPads({1: 4, 2: 5}, lines=lines, clock=lambda: bench.header.now, poller=False)
    pads.start(edges.append)
    lights = GpioLights({1: 19}, None, factory=bench.factory)
    assert pads.held() == ()
    with pytest.raises(HardwareMissing, match="GPIO4"):
        GpioLights({2: 4}, None, factory=bench.factory)
    pads.close()
    lights.close()
