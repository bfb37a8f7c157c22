"""gpiozero's own tests of its devices, run on our pin factory: ``make gpiozero-tests``.

They come from the source distribution of the installed version. Where they ask for gpiozero's mock pins they get
`SuitePin`: ours, over a fake header, with the outside of a pin as those tests call it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from time import monotonic, monotonic_ns
from typing import Any, Final, NamedTuple

import pytest
from gpiod.line import Bias, Direction
from gpiozero import Device
from gpiozero.exc import PinInvalidPin
from gpiozero.pins import mock

import hardware.pin_factory
from hardware.pin_factory import Dimmer, GpiodFactory, GpiodPin
from hardware.priority import SWITCH
from referee.units import SECOND
from tests.support.fake_header import PULLED_UP, FakeHeader
from tests.support.patience import PATIENCE

FOLDER: Final = Path("build/gpiozero")
PIN_FIXTURES: Final = {"mock_factory", "pin_factory"}
"""A test that asks for neither touches no pin."""
OURS: Final = "gpiod"

DIFFERENCES: Final[dict[str, tuple[str, ...]]] = {
    "every pin of ours can be dimmed": (
        "test_mock_pin_frequency_unsupported",
        "test_output_pwm_not_supported",
        "test_servo_pins_nonpwm",
    ),
    "the test itself asks a mock for `called_with`, which Python refuses since 3.12": (
        ("test_spi_hardware_write",) if sys.version_info >= (3, 12) else ()
    ),
    "ours are pins of one class": ("test_mock_pin_init_twice_different_modes",),
    "only the kernel's SPI driver drives two devices of one port": ("test_spi_hardware_same_port",),
    "a level between 0 and 1 needs a frequency, as with gpiozero's own factories": ("test_mock_pwm_pin_state",),
}
"""Why tests fail on our pins, and which; that they do is part of the result."""
TRIES: Final = 5
"""Its tests measure real time to 50 ms; those that a busy machine fails are tried again, alone."""


class Circuit(FakeHeader):
    """A header in real time. As on mock pins, the level of an output stays until the line is pulled or driven."""

    def __init__(self) -> None:
        super().__init__()
        self.pins: dict[int, SuitePin] = {}
        self._kept: set[int] = set()

    def drive(self, pin: int, level: bool) -> None:
        self.now = monotonic_ns()
        self._kept.discard(pin)
        super().drive(pin, level)

    def changed(self, pin: int) -> None:
        settings = self.settings(pin)
        assert settings is not None
        if settings.direction is Direction.OUTPUT:
            self._kept.add(pin)
            self._driven[pin] = self.level(pin)
        elif pin in self._kept and (settings.bias in (Bias.PULL_UP, Bias.PULL_DOWN) or pin in PULLED_UP):
            self._kept.discard(pin)
            del self._driven[pin]
        self.pins[pin].line_changed()


class MeasuredDimmer(Dimmer):
    """Runs a line through one period whenever it is dimmed anew, and tells its pin the share that it was high."""

    def __init__(self) -> None:
        super().__init__(own_thread=False)

    def dim(self, pin: GpiodPin, frequency: float, share: float) -> None:
        assert isinstance(pin, SuitePin)
        now = high = 0
        dimmer = Dimmer(lambda: now, own_thread=False)
        dimmer.dim(pin, frequency, share)
        pin.measured = True
        while now < round(SECOND / frequency):
            pause = dimmer.turn()
            assert pause is not None
            high += pause if pin.line else 0
            now += pause
        pin.measured = False
        pin._change_state(high / now)


class PinState(NamedTuple):
    """A level, or a share of the time, and the time since the one before, s."""

    timestamp: float
    state: float


class SuitePin(GpiodPin):
    """One of our pins, with the outside of it as gpiozero's tests call it on their mock pins."""

    def __init__(self, factory: SuiteFactory, info: Any) -> None:
        super().__init__(factory, info)
        self._passed = threading.Condition()
        self._header = factory.header
        self._header.pins[self._number] = self
        self.measured = False
        self.states: list[PinState] = []
        self._last_change = 0.0
        self.clear_states()

    @property
    def line(self) -> bool:
        """The level of the line."""
        return self._header.level(self._number)

    def line_changed(self) -> None:
        """Note the level, unless its share of the time is being measured."""
        if not self.measured:
            self._change_state(self.line)

    def _change_state(self, state: float) -> None:
        """Note a state, if it is another one; `mock.MockConnectedPin` passes it on from here."""
        if state != self.states[-1].state:
            now = monotonic()
            self.states.append(PinState(now - self._last_change, state))
            self._last_change = now

    def read_edges(self) -> None:
        with self._passed:
            super().read_edges()
            self._passed.notify_all()

    def _drive(self, level: bool) -> None:
        assert self.function == "input"
        self._header.drive(self._number, level)
        self.line_changed()
        if threading.current_thread() is not self.factory.reader._thread:
            with self._passed:
                assert self._passed.wait_for(
                    lambda: not (self._request and self._request.wait_edge_events(0)), PATIENCE
                )

    def drive_high(self) -> None:
        self._drive(True)

    def drive_low(self) -> None:
        self._drive(False)

    def clear_states(self) -> None:
        self._last_change = monotonic()
        self.states = [PinState(0.0, self.line)]

    def assert_states(self, expected: list[float]) -> None:
        """Compare as many as there are, as the mock does: some of its tests look at pins that they do not use."""
        seen = [state for _, state in self.states]
        assert seen[: len(expected)] == pytest.approx(expected[: len(seen)], abs=1e-6)

    def assert_states_and_times(self, expected: list[tuple[float, float]]) -> None:
        self.assert_states([state for _, state in expected])
        for actual, (pause, _) in zip(self.states, expected, strict=False):
            assert actual.timestamp == pytest.approx(pause, rel=0.05, abs=0.05)


class SuiteFactory(GpiodFactory):
    """Our factory, whose pins may be parts of a circuit as in gpiozero's `MockFactory`."""

    def __init__(self, dimmer: Dimmer | None = None) -> None:
        self.header = Circuit()
        super().__init__(Path("/dev/gpiochip0"), request_lines=self.header.request_lines, dimmer=dimmer)
        self.pin_class = SuitePin

    def pin(self, name: object, pin_class: type[SuitePin] | None = None, **options: object) -> SuitePin:
        for _, info in self.board_info.find_pin(name):
            if info not in self.pins:
                self.pins[info] = (pin_class or self.pin_class)(self, info, **options)
            return self.pins[info]
        raise PinInvalidPin(f"{name} is not a valid pin name")

    def reset(self) -> None:
        self.close()
        self._reservations.clear()


class ThreadedTest(threading.Thread):
    """A question that is asked on another thread."""

    def __init__(self, ask: Any) -> None:
        super().__init__(daemon=True)
        self._ask = ask
        self._answer: Any = None
        self.start()

    def run(self) -> None:
        self._answer = self._ask()

    @property
    def result(self) -> Any:
        self.join(PATIENCE)
        return self._answer


# What the suite's own conftest.py, which is not in the distribution, gives to its tests


@pytest.fixture
def no_default_factory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Device, "pin_factory", None)


@pytest.fixture
def mock_factory(monkeypatch: pytest.MonkeyPatch) -> Iterator[SuiteFactory]:
    factory = SuiteFactory(MeasuredDimmer())
    monkeypatch.setattr(Device, "pin_factory", factory)
    yield factory
    factory.reset()


@pytest.fixture
def pwm() -> None:
    """Ask for pins that can be dimmed: all of ours can."""


def pytest_configure() -> None:
    """Put our pins into the place of gpiozero's mock pins; its circuits become circuits of ours."""
    sys.modules["conftest"] = sys.modules[__name__]
    for part in ("Connected", "Charging", "Trigger", "SPIClock", "SPISelect"):
        getattr(mock, f"Mock{part}Pin").__bases__ = (SuitePin,)
    for name, ours in {"MockPin": SuitePin, "MockPWMPin": SuitePin, "MockFactory": SuiteFactory}.items():
        setattr(mock, name, ours)
    # Its tests of real pins load a factory by its name.
    hardware.pin_factory.GpiodFactory = SuiteFactory  # type: ignore[misc, assignment]
    # A test that skips itself is not passed.
    pytest.skip = pytest.fail  # type: ignore[assignment]
    # As the referee does: one of the tests samples a dimmed line in a busy loop.
    sys.setswitchinterval(SWITCH)
    # Its software SPI asks for a default factory even where one is given.
    Device.pin_factory = SuiteFactory()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what touches no pin or other makers' pins; what differs must fail."""
    kept = []
    for item in items:
        params = getattr(getattr(item, "callspec", None), "params", {})
        if PIN_FIXTURES & set(getattr(item, "fixturenames", ())) and params.get("pin_factory_name", OURS) == OURS:
            kept.append(item)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept
    reasons = {test: reason for reason, tests in DIFFERENCES.items() for test in tests}
    for item in items:
        name = item.name.removesuffix(f"[{OURS}]")
        if name in reasons:
            item.add_marker(pytest.mark.xfail(reason=reasons.pop(name), strict=True))
    assert config.option.lf or not reasons, f"not in the suite: {sorted(reasons)}"


def fetch() -> Path:
    """Return the folder of the installed version; pip gets its source distribution where it is not here."""
    name = f"gpiozero-{version('gpiozero')}"
    if not (FOLDER / name).is_dir():
        command = ["pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "--no-build-isolation"]
        command += ["-d", str(FOLDER), name.replace("-", "==", 1)]
        subprocess.run([sys.executable, "-m", *command], check=True)
        shutil.unpack_archive(FOLDER / f"{name}.tar.gz", FOLDER)
    return FOLDER / name


def main() -> int:
    """Run the suite; the exit status is pytest's."""
    folder = fetch()
    lock = folder / "lock"
    lock.unlink(missing_ok=True)
    # -P: the installed gpiozero is tested, not the one in the folder.
    command = [sys.executable, "-P", "-m", "pytest", "-c", "/dev/null", "--rootdir", ".", "-q", "-rxXfE", "--tb=short"]
    command += ["-W", "ignore", "-W", "error::pytest.PytestUnhandledThreadExceptionWarning", "-o", "cache_dir=cache"]
    command += ["-p", "no:schemathesis", "-p", "tests.hardware.gpiozero_suite"]
    paths = {"PYTHONPATH": str(Path.cwd()), "GPIOZERO_TEST_LOCK": str(lock.absolute())}
    for attempt in range(TRIES):
        again = ["--last-failed"] if attempt else []
        status = subprocess.run(
            [*command, *again, "tests", *sys.argv[1:]], cwd=folder, env=os.environ | paths
        ).returncode
        if status != pytest.ExitCode.TESTS_FAILED:
            break
    return status


if __name__ == "__main__":
    sys.exit(main())
