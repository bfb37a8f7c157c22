"""The Pi camera's shell over the simulated driver, in simulated time."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hardware.camera.camera import open_camera
from hardware.camera.pi_camera import STREAM_RESTARTS, PiCamera, PiCameraSettings
from hardware.camera.pi_driver import memory_words, open_driver
from hardware.camera.sensor_readout import readout_ns
from hardware.camera.spec import CameraReport
from hardware.ports import Frame, HardwareMissing, Image
from hardware.simulated.devices.camera_faults import FAULTS, Faults
from hardware.simulated.devices.simulated_picamera import (
    LATE_REQUEST,
    SimulatedJob,
    SimulatedPicamera2,
    TwinRequest,
    plain,
)
from tests.support.pi_room import Hours

MS = 1_000_000
SECOND = 1_000_000_000
SETTLE = 20
TELLS_AT_THE_OPENING = {
    "uninstalled": "choose another camera .*`referee doctor` says what to install",
    "bindings": "lacks libcamera: it must be the system's, not pip's",
    "mismatch": r"do not fit together .*undefined symbol.*apt full-upgrade",
    "numpy": "built for another numpy.*numpy<2",
    "absent": "no camera answers on the ribbon cable .*--list-cameras",
    "busy": "another program holds the camera .*Device or resource busy",
    "memory": "not enough contiguous memory .*cma-256",
    "planes": "gives YUV420 instead of RGB888",
    "silent": "stopped delivering; look at its ribbon cable and power",
    "error": r"stopped delivering \(RuntimeError: failed to find buffer\)",
}


class WatchedPicamera2(SimulatedPicamera2):
    """Counts its calls, and keeps its last requests."""

    def __init__(self, faults: Faults | None = None, **parts: Any) -> None:
        super().__init__(faults, **parts)
        self.stops = self.configured = self.changes = 0
        self.requests: list[TwinRequest] = []

    @property
    def controls(self) -> dict[str, Any]:
        """Return all control values that were set."""
        out = self._shown | self._next
        for _, coming in self._coming:
            out |= coming
        return out

    def configure(self, config: dict[str, Any]) -> None:
        self.configured += 1
        super().configure(config)

    def set_controls(self, controls: dict[str, Any]) -> None:
        super().set_controls(controls)
        self.changes += bool(self._epoch)

    def stop(self) -> None:
        self.stops += 1
        super().stop()

    def wait(self, job: SimulatedJob, timeout: float | None = None) -> TwinRequest:
        self.requests = [*self.requests[-7:], super().wait(job, timeout)]
        return self.requests[-1]


def look(**changes: Any) -> PiCameraSettings:
    defaults: dict[str, Any] = {"size": (32, 24), "colour_gains": (1.0, 2.0), "lens_position": 2.5, "fps": 50.0}
    return PiCameraSettings(settle_frames=SETTLE, **{**defaults, **changes})


def opened(
    faults: str | Faults = "", hours: Hours | None = None, *, model: str = "imx708", **changes: Any
) -> tuple[PiCamera, WatchedPicamera2, Hours]:
    hours = hours or Hours()
    script = Faults(faults) if isinstance(faults, str) else faults
    driver = WatchedPicamera2(script, model=model, clock=hours.mono, boot=hours.boot, pause=hours.pause)
    return PiCamera(look(**changes), driver=driver, mono=hours.mono, boot=hours.boot), driver, hours


def test_a_frame_begins_an_exposure_before_its_readout_whatever_clock_the_sensor_counts_on() -> None:
    for faults, clock in (("", "CLOCK_BOOTTIME"), ("mono", "CLOCK_MONOTONIC")):
        camera, driver, hours = opened(faults, Hours(boot_ahead=3_600 * SECOND), exposure_us=4_000)
        began = hours.now
        frames = list(itertools.islice(camera.frames(), 3))
        # The driver's frames are read out each 20 ms after its start, and arrive 12 ms later.
        readouts = [frame.t + frame.exposure for frame in frames]
        assert [later - earlier for earlier, later in itertools.pairwise(readouts)] == [20 * MS, 20 * MS]
        assert readouts[0] == began - 12 * MS + 20 * MS
        assert {frame.exposure for frame in frames} == {4 * MS}
        assert camera.report().clock == clock
        assert [frame.index for frame in frames] == [0, 1, 2]
        assert all(request.released for request in driver.requests), "the pictures outlive their requests"
        assert len({int(frame.image[0, 0, 0]) for frame in frames}) == 3


def test_the_rows_are_read_out_one_after_another_and_the_error_says_so() -> None:
    for model, size, milliseconds in (
        ("imx708", (1536, 864), 8.0),
        ("imx708_wide", (1536, 864), 8.0),
        ("imx708_noir", (1280, 720), 8.0),
        ("imx708_wide_noir", (2304, 1296), 17.3),
        ("imx296", (1280, 720), 0.0),
        # An unmeasured mode and sensor: a frame's time, at 50 frames a second.
        ("imx219", (1536, 864), 20.0),
        ("imx999", (1536, 864), 20.0),
        ("", (1536, 864), 20.0),
    ):
        camera, _, _ = opened(model=model, size=size)
        assert next(camera.frames()).t_error / MS == pytest.approx(milliseconds, abs=0.05), model
        assert any("reads out a picture is not known" in words for words in camera.report().warnings) == (
            milliseconds == 20.0
        )


def test_each_sensor_is_known_in_its_own_modes() -> None:
    known = {"imx219": (1640, 1232), "imx477": (2028, 1080), "ov5647": (1296, 972), "imx708": (4608, 2592)}
    readouts = {model: readout_ns(model, mode) for model, mode in known.items()}
    assert all(readout is not None and 5 * MS < readout < 90 * MS for readout in readouts.values()), readouts
    assert readout_ns("imx219", None) is None
    assert readout_ns("imx296_mono", None) == 0, "a global shutter, whatever its mode"


def test_stamps_of_no_clock_are_not_believed() -> None:
    for faults in ("alien", "unstamped"):
        camera, _, hours = opened(faults)
        frame = next(itertools.islice(camera.frames(), 6, 7))
        assert hours.now - frame.t == frame.exposure + 20 * MS
        assert frame.t_error == 20 * MS, "told by its arrival, which is some frame's length late"
    camera, _, _ = opened("alien")
    list(itertools.islice(camera.frames(), 6))
    assert camera.report().clock == "arrival"
    assert any("fit no clock" in words for words in camera.report().warnings)


def test_clocks_that_stand_close_cannot_be_told_apart_and_that_is_said() -> None:
    camera, _, _ = opened("", Hours(boot_ahead=100 * MS), model="imx296")
    assert next(camera.frames()).t_error == 0, "on the other clock the frame would come from the future"
    camera, _, _ = opened("mono", Hours(boot_ahead=100 * MS), model="imx296")
    assert next(camera.frames()).t_error == 100 * MS
    assert any("stand 100 ms apart" in words for words in camera.report().warnings)


def test_the_picture_is_locked_from_the_first_frame_to_the_restarted_one() -> None:
    camera, driver, _ = opened("stall@5")
    locked = {
        "AeEnable": False, "ExposureTime": 4_000, "AnalogueGain": 4.0, "FrameDurationLimits": (20_000, 20_000),
        "AwbEnable": False, "ColourGains": (1.0, 2.0), "AfMode": 0, "LensPosition": 2.5,
    }  # fmt: skip
    assert driver.controls == locked
    list(itertools.islice(camera.frames(), 10))
    assert driver.starts == 2
    assert driver.controls == locked, "a start uses the controls up: they are set again"
    assert driver.configured == 1, "memory in one piece is scarce: configured once"


def test_the_lights_colour_is_found_once_and_held() -> None:
    camera, driver, _ = opened("stall@60", colour_gains=None)
    assert driver.controls["AwbEnable"] is False
    assert driver.controls["ColourGains"] == (1.5, 2.5)
    report = camera.report()
    assert report.locks["ColourGains"].asked == (1.5, 2.5)
    assert report.warnings == ()
    list(itertools.islice(camera.frames(), 70))
    assert driver.starts == 2
    assert driver.controls["ColourGains"] == (1.5, 2.5), "the same after a restart"


def test_what_was_locked_is_read_back() -> None:
    camera, _, _ = opened("")
    locks = camera.report().locks
    assert set(locks) == {"ExposureTime", "AnalogueGain", "ColourGains", "LensPosition", "FrameDuration"}
    assert all(lock.held and lock.given == lock.asked for lock in locks.values())
    assert camera.report().warnings == ()
    told = camera.report()
    assert CameraReport.from_json(told.to_json()) == told


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("unlocked", r"the exposure \(µs\) does not hold: 4000 was asked for, 12000 given"),
        ("drift", r"the focus \(dioptres\) does not hold: 2.5 was asked for, 3.3 given"),
        ("slow", r"the time between frames \(µs\) does not hold: 20000 was asked for, 60000 given"),
        ("fixed", "lens cannot be moved"),
        ("size", "the camera gives 16×12 px instead of 32×24"),
    ],
)
def test_what_does_not_hold_is_said(fault: str, words: str, caplog: pytest.LogCaptureFixture) -> None:
    camera, _, _ = opened(fault)
    assert next(camera.frames()).image.any()
    assert any(re.search(words, warning) for warning in camera.report().warnings)


def test_a_lock_that_slips_in_the_game_is_set_again_and_said() -> None:
    camera, driver, _ = opened("unlocked@30")
    frames = camera.frames()
    list(itertools.islice(frames, 20))
    assert camera.report().warnings == ()
    set_before, changes = driver.controls, driver.changes
    list(itertools.islice(frames, 30))
    assert driver.changes > changes
    assert "the gain does not hold: 4 was asked for, 8 given" in camera.report().warnings
    assert driver.controls == set_before


def test_a_change_takes_frames_to_show_and_is_waited_for() -> None:
    camera, _, _ = opened("", colour_gains=None)
    assert camera.report().locks["ColourGains"].held
    hours = Hours()
    driver = WatchedPicamera2(clock=hours.mono, boot=hours.boot, pause=hours.pause)
    driver.configure(driver.create_video_configuration(main={"size": (8, 8), "format": "RGB888"}, controls={}))
    driver.start()
    driver.set_controls({"AnalogueGain": 8.0})
    gains = [driver.wait(driver.capture_request(wait=False), 1.0).get_metadata()["AnalogueGain"] for _ in range(15)]
    assert gains.index(8.0) == LATE_REQUEST - 1


def slanted(_number: int, _t: int, size: tuple[int, int]) -> Image:
    """Each pixel and channel differs from its neighbours."""
    width, height = size
    rows, columns, channels = np.ogrid[:height, :width, :3]
    out: Image = (3 * columns + 7 * rows + 50 * channels).astype(np.uint8)
    return out


@pytest.mark.parametrize("fault", ["", "padded", "rgb", "four", "padded+rgb", "padded+four"])
def test_padding_and_the_order_of_channels_are_undone(fault: str) -> None:
    hours = Hours()
    driver = WatchedPicamera2(
        Faults(fault), pictures=slanted, clock=hours.mono, boot=hours.boot, pause=hours.pause
    )  # fmt: skip
    camera = PiCamera(look(size=(30, 24)), driver=driver, mono=hours.mono, boot=hours.boot)
    image = next(camera.frames()).image
    assert image.flags.c_contiguous
    assert np.array_equal(image, slanted(0, 0, (30, 24)))


@pytest.mark.parametrize(("fault", "words"), TELLS_AT_THE_OPENING.items())
def test_an_opening_that_fails_says_what_to_do(fault: str, words: str) -> None:
    with pytest.raises(HardwareMissing, match=words):
        open_camera(f"twin:{fault}", size=[32, 24], fps=500, patience=0.03)


def test_a_stall_is_mended_by_stopping_and_starting() -> None:
    camera, driver, _ = opened("stall@25")
    frames = camera.frames()
    times = [next(frames).t for _ in range(40)]
    assert (driver.starts, driver.stops, driver.jobs) == (2, 1, [])
    gap = max(later - earlier for earlier, later in itertools.pairwise(times))
    assert SECOND < gap < SECOND + 100 * MS, "a second's patience, and then at once"


def test_a_camera_that_stays_silent_is_given_up_with_one_job_waiting() -> None:
    camera, driver, hours = opened("silent@25")
    frames = camera.frames()
    began = hours.now
    with pytest.raises(HardwareMissing, match="ribbon cable"):
        for _ in range(40):
            next(frames)
    assert driver.starts == 1 + STREAM_RESTARTS
    assert len(driver.jobs) == 1
    assert hours.now - began < (STREAM_RESTARTS + 2) * SECOND


def test_frames_from_the_past_are_no_frames() -> None:
    for fault in ("past@25", "again@25"):
        camera, driver, _ = opened(fault)
        frames = camera.frames()
        got: list[Frame] = []
        with pytest.raises(HardwareMissing):
            got.extend(frames)
        times = [frame.t for frame in got]
        assert times == sorted(set(times)), fault
        assert camera.past > 25, fault
        assert driver.starts == 1 + STREAM_RESTARTS, "old frames only are as good as none"


def test_a_dark_camera_is_no_silent_one() -> None:
    camera, driver, _ = opened("dark")
    frames = list(itertools.islice(camera.frames(), 20))
    assert not any(frame.image.any() for frame in frames)
    assert driver.starts == 1


def test_an_error_of_one_capture_is_survived() -> None:
    hours = Hours()
    errors = iter([False] * 10 + [True] + [False] * 100)

    class Once(Faults):
        def at(self, frame: int) -> frozenset[str]:
            return frozenset(("error",)) if frame >= 0 and next(errors) else frozenset()

    camera, driver, _ = opened(Once(), hours)
    assert len(list(itertools.islice(camera.frames(), 20))) == 20
    assert driver.starts == 2


def test_failures_far_apart_do_not_add_up() -> None:
    class Often(Faults):
        def at(self, frame: int) -> frozenset[str]:
            return frozenset(("error",)) if frame % 20 == 19 else frozenset()

    camera, driver, _ = opened(Often())
    assert len(list(itertools.islice(camera.frames(), 40 * STREAM_RESTARTS))) == 40 * STREAM_RESTARTS
    assert driver.starts > 1 + STREAM_RESTARTS


def test_every_fault_has_a_name_and_no_other() -> None:
    assert Faults("silent@30+mono").at(29) == {"mono"}
    assert Faults("silent@30+mono").at(30) == {"silent", "mono"}
    with pytest.raises(ValueError, match="no fault 'cable'"):
        Faults("cable")
    for fault in FAULTS:
        assert Faults(fault).at(-1) == {fault}


def test_a_file_switches_faults(tmp_path: Path) -> None:
    switch = tmp_path / "faults"
    faults = Faults(switch=switch)
    assert faults.at(0) == frozenset()
    switch.write_text("dark\n")
    assert faults.at(0) == {"dark"}
    switch.write_text("")
    assert faults.at(0) == frozenset()


@pytest.mark.parametrize(
    "bad",
    [
        AttributeError("module 'libcamera' has no attribute 'Transform'"),
        OSError("libcamera-base.so.0.3: wrong ELF class"),
        SystemError("initialization of _libcamera raised unreported exception"),
        RuntimeError("camera manager of another libcamera"),
        KeyError(),
    ],
    ids=lambda bad: type(bad).__name__,
)
def test_whatever_the_library_raises_is_told_with_what_mends_it(bad: Exception) -> None:
    def load() -> Callable[[], Any]:
        raise bad

    with pytest.raises(HardwareMissing, match=r"(?s)cannot be loaded \(.+apt full-upgrade") as told:
        open_driver(load)
    assert (str(bad) or "KeyError") in str(told.value)


def test_a_lack_of_memory_is_told_from_other_refusals() -> None:
    assert memory_words(RuntimeError("failed to allocate capture buffers for stream 0")) is not None
    assert memory_words(RuntimeError("something else")) is None
    assert plain(300, 0, (2, 1)).tolist() == [[[44, 44, 44], [44, 44, 44]]]
