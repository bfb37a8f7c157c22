"""The camera in a separate process: real processes, shared memory and signals."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hardware.camera.camera_process import CameraProcess
from hardware.camera.remote import RemoteCamera
from hardware.camera.spec import CameraSpec
from hardware.camera.supervisor import Patience
from hardware.ports import Frame, HardwareMissing
from tests.hardware.camera.remote_parent import first_index
from tests.support.patience import PATIENCE

MS = 1_000_000
SECOND = 1_000_000_000
IMPATIENT = Patience(
    opening=20 * SECOND, frame=500 * MS, asked=100 * MS, killed=2 * SECOND, rests=(0, 20 * MS), steady=SECOND
)


def counting(count: int = 10**9, size: tuple[int, int] = (320, 240)) -> CameraSpec:
    return CameraSpec("tests.hardware.camera.cameras:counting", {"size": list(size), "count": count})


def twin(faults: str = "", **look: Any) -> CameraSpec:
    source = f"twin:{faults}" if faults else "twin"
    plain = {"size": [32, 24], "fps": 100.0, "patience": 0.1, "settle_frames": 3, "colour_gains": [1.0, 2.0]}
    return CameraSpec.of(source, **{**plain, **look})


class Watched:
    """A remote camera and its reports; closed at the end."""

    def __init__(self, spec: CameraSpec, **options: Any) -> None:
        self.words: list[str] = []
        self.camera = RemoteCamera(spec, told=self.words.append, patience=IMPATIENT, **options)

    def until(self, reached: Callable[[], bool]) -> list[Frame]:
        """Take frames until a condition holds; fail if it never does."""
        out = []
        limit = time.monotonic() + PATIENCE
        while not reached():
            assert time.monotonic() < limit, f"never so; told were {self.words}"
            frame = self.camera.next(0.05)
            if frame is not None:
                out.append(frame)
        return out

    def frames(self, count: int) -> list[Frame]:
        out: list[Frame] = []
        while len(out) < count:
            frame = self.camera.next(PATIENCE)
            assert frame is not None
            out.append(frame)
        return out


@pytest.fixture
def watch() -> Iterator[Callable[..., Watched]]:
    made: list[Watched] = []

    def make(spec: CameraSpec, **options: Any) -> Watched:
        made.append(Watched(spec, **options))
        return made[-1]

    yield make
    for watched in made:
        watched.camera.close()


def pidfd_ends(pidfd: int, seconds: float = PATIENCE) -> bool:
    return bool(select.select([pidfd], [], [], seconds)[0])


def test_frames_come_whole_in_order_and_those_missed_are_counted(watch: Callable[..., Watched]) -> None:
    camera = watch(counting()).camera
    frames = []
    for frame in camera.frames():
        frames.append(frame)
        if len(frames) == 60:
            break
    assert all((frame.image == frame.index % 256).all() for frame in frames), "no half of one and half of another"
    assert frames[0].image.shape == (240, 320, 3)
    indices = [frame.index for frame in frames]
    assert indices == sorted(set(indices))
    assert camera.order.dropped == indices[-1] + 1 - len(indices)
    assert [frame.t for frame in frames] == sorted({frame.t for frame in frames})
    assert 0 <= time.clock_gettime_ns(time.CLOCK_MONOTONIC) - frames[-1].t < 10 * SECOND


def test_a_recording_ends_and_its_last_frame_is_seen(watch: Callable[..., Watched]) -> None:
    watched = watch(counting(count=30))
    frames = list(watched.camera.frames())
    assert frames[-1].index == 29
    assert len(frames) + watched.camera.order.dropped == 30
    assert watched.words == []


def test_a_recording_that_ended_while_it_was_opened_still_gives_its_last_frame(watch: Callable[..., Watched]) -> None:
    def ended(spec: CameraSpec) -> CameraProcess:
        process = CameraProcess(spec)
        assert process.wait(PATIENCE)
        return process

    watched = watch(counting(count=30), process=ended)
    assert [frame.index for frame in watched.camera.frames()] == [29]


@pytest.mark.parametrize(
    ("factory", "words"),
    [
        ("absent", "^no camera answers; push the cable in$"),
        ("faulty", "^the camera failed: ZeroDivisionError: of nothing$"),
        ("crashing", "^the camera's process ended by SIGABRT$"),
        ("nothing", "^the camera failed: AttributeError: .*nothing'$"),
    ],
)
def test_the_first_opening_fails_with_a_sentence(factory: str, words: str) -> None:
    told: list[str] = []
    with pytest.raises(HardwareMissing, match=words):
        RemoteCamera(CameraSpec(f"tests.hardware.camera.cameras:{factory}"), told=told.append)
    assert told == []


@pytest.mark.parametrize(
    ("factory", "printed"),
    [
        ("absent", "libcamera: no i2c answer"),
        ("faulty", 'cameras.py", line'),
        ("crashing", "Fatal Python error: Aborted"),
        ("nothing", "Traceback (most recent call last)"),
    ],
)
def test_what_a_process_printed_before_it_ended_is_logged(
    factory: str, printed: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(HardwareMissing):
        RemoteCamera(CameraSpec(f"tests.hardware.camera.cameras:{factory}"))
    assert printed in caplog.text


def test_a_child_takes_no_search_path_that_another_thread_changes_for_a_while(
    watch: Callable[..., Watched], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As OpenCV's loader does while it loads: the folder that it puts first has a package that is called typing."""
    (tmp_path / "typing.py").write_text("raise ImportError('this is another typing')")
    monkeypatch.syspath_prepend(tmp_path)
    assert len(watch(counting()).frames(2)) == 2


def test_a_camera_that_opens_and_sends_nothing_is_told_from_one_that_is_not_there() -> None:
    patience = Patience(opening=400 * MS, asked=100 * MS)
    with pytest.raises(HardwareMissing, match=r"twin:stuck sent no picture within 0.4 s; look at its cable and power"):
        RemoteCamera(twin("stuck"), patience=patience)
    with pytest.raises(HardwareMissing, match=r"^no camera answers on the ribbon cable"):
        RemoteCamera(twin("absent"))


def test_a_killed_process_is_replaced_and_the_frames_go_on(watch: Callable[..., Watched]) -> None:
    watched = watch(twin())
    camera = watched.camera
    frames = watched.frames(3)
    assert camera.pid is not None
    os.kill(camera.pid, signal.SIGKILL)
    frames += watched.until(lambda: len(watched.words) == 2)
    frames += watched.frames(3)
    assert watched.words == ["the camera's process ended by SIGKILL; starting it anew", "the camera is back"]
    assert camera.live
    assert camera.starts == 2
    indices, times = [frame.index for frame in frames], [frame.t for frame in frames]
    assert indices == sorted(set(indices))
    assert times == sorted(set(times))


@pytest.mark.parametrize("fault", ["silent", "hang", "stuck", "loop", "past"])
def test_a_camera_that_falls_silent_is_started_anew_whatever_it_hangs_in(
    fault: str, watch: Callable[..., Watched], tmp_path: Path
) -> None:
    switch = tmp_path / "fault"
    # Its own shell is set slower than the deadline, so that the process is replaced.
    watched = watch(twin(str(switch), patience=0.3))
    watched.frames(2)
    switch.write_text(fault)
    watched.until(lambda: bool(watched.words))
    assert not watched.camera.live
    switch.write_text("")
    watched.until(lambda: watched.camera.live)
    assert watched.words == ["the camera fell silent; starting it anew", "the camera is back"]
    assert watched.frames(2)


def test_an_interrupt_from_the_keyboard_is_not_the_cameras_business(watch: Callable[..., Watched]) -> None:
    watched = watch(twin())
    assert watched.camera.pid is not None
    os.kill(watched.camera.pid, signal.SIGINT)
    assert len(watched.frames(20)) == 20
    assert watched.words == []


def test_a_process_that_is_stopped_is_replaced_too(watch: Callable[..., Watched]) -> None:
    watched = watch(twin())
    watched.frames(1)
    assert watched.camera.pid is not None
    os.kill(watched.camera.pid, signal.SIGSTOP)
    watched.until(lambda: len(watched.words) == 2)
    assert watched.words == ["the camera fell silent; starting it anew", "the camera is back"]


def test_a_driver_that_crashes_leaves_its_last_words(watch: Callable[..., Watched], tmp_path: Path) -> None:
    switch = tmp_path / "fault"
    watched = watch(twin(str(switch)))
    watched.frames(2)
    switch.write_text("die")
    watched.until(lambda: bool(watched.words))
    switch.write_text("")
    watched.until(lambda: watched.camera.live)
    assert watched.words[0] == "the camera's process ended by SIGABRT; starting it anew"
    assert "the simulated driver fell over: bad address" in watched.camera.last_words


def test_a_cable_pulled_out_and_put_in_again(watch: Callable[..., Watched], tmp_path: Path) -> None:
    switch = tmp_path / "cable"
    watched = watch(twin(str(switch), patience=0.05))
    watched.frames(2)
    switch.write_text("silent")
    watched.until(lambda: bool(watched.words))
    switch.write_text("absent")
    watched.until(lambda: watched.camera.starts >= 4)
    assert not watched.camera.live
    switch.write_text("")
    watched.until(lambda: watched.camera.live)
    assert watched.words[0] == "the camera stopped delivering; look at its ribbon cable and power"
    assert watched.words[-2].startswith("no camera answers on the ribbon cable")
    assert watched.words[-1] == "the camera is back"
    assert len(watched.words) <= 4, "however often it was tried"


@pytest.mark.parametrize("fault", ["silent", "stuck"])
def test_a_usb_cable_pulled_out_and_put_in_again(fault: str, watch: Callable[..., Watched], tmp_path: Path) -> None:
    switch = tmp_path / "cable"
    watched = watch(CameraSpec("tests.support.usb_twin:open_usb", {"switch": str(switch)}))
    before = watched.frames(2)
    switch.write_text(fault)
    watched.until(lambda: bool(watched.words))
    switch.write_text("absent")
    watched.until(lambda: "no camera answers at usb:0" in watched.words[-1])
    switch.write_text("")
    after = watched.until(lambda: watched.camera.live)
    pulled = {
        "silent": "the camera usb:0 stopped answering; look at its cable",
        "stuck": "the camera fell silent; starting it anew",
    }
    assert watched.words[0] == pulled[fault]
    assert watched.words[-1] == "the camera is back"
    assert before[-1].t < (after + watched.frames(1))[0].t
    assert watched.camera.report.size == (64, 48)


def test_a_stall_that_the_shell_mends_is_no_trouble(watch: Callable[..., Watched]) -> None:
    watched = watch(twin("stall@10"))
    assert len(watched.frames(30)) == 30
    assert watched.words == []
    assert watched.camera.starts == 1


def test_dark_pictures_are_pictures(watch: Callable[..., Watched], tmp_path: Path) -> None:
    switch = tmp_path / "fault"
    switch.write_text("dark")
    watched = watch(twin(str(switch)))
    assert not any(frame.image.any() for frame in watched.frames(5))
    assert watched.camera.live
    assert watched.words == []


def test_what_the_camera_found_out_is_known_here(watch: Callable[..., Watched]) -> None:
    watched = watch(twin("size+unlocked+padded"))
    watched.frames(2)
    report = watched.camera.report
    assert (report.asked_size, report.size) == ((32, 24), (16, 12))
    assert report.clock == "CLOCK_BOOTTIME"
    assert report.boot_ahead_error > 0
    assert not report.locks["ExposureTime"].held
    assert "the camera gives 16×12 px instead of 32×24" in report.warnings


def test_a_lock_that_slips_in_the_game_is_told(watch: Callable[..., Watched]) -> None:
    watched = watch(twin("drift@40", lens_position=2.0))
    watched.until(lambda: bool(watched.words))
    assert watched.words[0] == "the focus (dioptres) does not hold: 2 was asked for, 2.8 given"
    assert watched.camera.live


def test_colours_stay_when_the_process_is_replaced(watch: Callable[..., Watched]) -> None:
    asked: list[CameraSpec] = []

    def start(spec: CameraSpec) -> CameraProcess:
        asked.append(spec)
        return CameraProcess(spec)

    watched = watch(twin(colour_gains=None), process=start)
    watched.frames(2)
    assert watched.camera.pid is not None
    os.kill(watched.camera.pid, signal.SIGKILL)
    watched.until(lambda: len(watched.words) == 2)
    assert [spec.arguments["colour_gains"] for spec in asked] == [None, [1.5, 2.5]]


def test_a_child_that_prints_more_than_a_pipe_holds_goes_on(watch: Callable[..., Watched]) -> None:
    watched = watch(twin("noisy"))
    assert len(watched.frames(40)) == 40
    watched.camera.close()
    assert "complains" in watched.camera.last_words


class Undead(CameraProcess):
    """A process that waits in the kernel for its device: no signal reaches it."""

    undead: int | None = None

    def ask(self) -> None:
        if self.pid != Undead.undead:
            super().ask()

    def kill(self) -> None:
        if self.pid != Undead.undead:
            super().kill()


def test_a_process_that_cannot_be_killed_is_left_behind(watch: Callable[..., Watched]) -> None:
    watched = watch(twin(), process=Undead)
    watched.frames(1)
    Undead.undead = watched.camera.pid
    assert Undead.undead is not None
    os.kill(Undead.undead, signal.SIGSTOP)
    try:
        watched.until(lambda: watched.words[-1:] == ["the camera is back"])
        assert watched.words[1] == "the camera's process cannot be ended and is left behind; starting another"
        assert watched.frames(2)
    finally:
        os.kill(Undead.undead, signal.SIGKILL)


@pytest.mark.parametrize("fault", ["", "hang", "stuck", "silent"])
def test_closing_takes_no_longer_than_asking_and_killing(
    fault: str, watch: Callable[..., Watched], tmp_path: Path
) -> None:
    switch = tmp_path / "fault"
    watched = watch(twin(str(switch)))
    watched.frames(1)
    assert watched.camera.pid is not None
    pidfd = os.pidfd_open(watched.camera.pid)
    switch.write_text(fault)
    began = time.monotonic()
    watched.camera.close()
    watched.camera.close()
    assert time.monotonic() - began < (IMPATIENT.asked + IMPATIENT.killed) / SECOND + 20
    assert pidfd_ends(pidfd, 0), "it is gone"
    os.close(pidfd)
    assert watched.camera.next(0) is None


def test_another_thread_may_close_while_one_waits_for_a_frame(watch: Callable[..., Watched]) -> None:
    watched = watch(twin("silent@3", patience=30.0))
    ended = threading.Event()

    def look() -> None:
        for _ in watched.camera.frames():
            pass
        ended.set()

    thread = threading.Thread(target=look)
    thread.start()
    watched.camera.close()
    assert ended.wait(PATIENCE)
    thread.join()


@pytest.mark.parametrize("fault", ["", "stuck"])
def test_the_child_ends_with_its_parent(fault: str) -> None:
    spec = twin(f"{fault}@5" if fault else "")
    parent = subprocess.Popen(
        [sys.executable, "-m", "tests.hardware.camera.remote_parent", spec.to_json(), fault],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert parent.stdout is not None
    child = os.pidfd_open(int(parent.stdout.readline()))
    parent.kill()
    assert pidfd_ends(child), "though no other process asked it to"
    os.close(child)
    _, errors = parent.communicate(timeout=PATIENCE)
    assert errors == "", "nothing is left that anybody must clean up"


def test_the_child_ends_with_its_parent_though_another_holds_its_lifeline() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-m", "tests.hardware.camera.remote_parent", twin().to_json(), "forked"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert parent.stdout is not None
    sibling, child = (int(parent.stdout.readline()) for _ in range(2))
    pidfd = os.pidfd_open(child)
    parent.kill()
    try:
        assert pidfd_ends(pidfd)
    finally:
        os.kill(sibling, signal.SIGKILL)
        os.close(pidfd)
        parent.communicate(timeout=PATIENCE)


def test_a_parent_that_leaves_without_closing_leaves_nothing() -> None:
    left = subprocess.run(
        [sys.executable, "-m", "tests.hardware.camera.remote_parent", twin().to_json(), "leave"],
        capture_output=True, text=True, check=True, timeout=PATIENCE,
    )  # fmt: skip
    assert left.stderr == ""
    with contextlib.suppress(ProcessLookupError):
        assert pidfd_ends(os.pidfd_open(int(left.stdout)))


def test_a_daemonic_child_of_multiprocessing_may_have_a_camera() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        pid, index = pool.apply_async(first_index, (twin().to_json(),)).get(PATIENCE)
    assert pid > 0
    assert index >= 0


def test_nothing_is_left_open(watch: Callable[..., Watched]) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        camera = RemoteCamera(counting(count=3))
        list(camera.frames())
        camera.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
