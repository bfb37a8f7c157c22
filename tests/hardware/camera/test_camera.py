"""Cameras: folders, videos, and a USB camera with a stand-in for the device."""

from __future__ import annotations

import itertools
import sys
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from hardware.camera.camera import FolderCamera, VideoCamera, open_camera
from hardware.camera.usb import SETTLE, SHOWS, TRIES, UsbCamera, UsbLocks
from hardware.clock import measure_offset
from hardware.ports import Frame, HardwareMissing
from hardware.simulated.devices.camera_faults import Faults
from tests.support.usb_twin import SimulatedCapture

MS = 1_000_000
SECOND = 1_000_000_000


def picture(level: int) -> Any:
    return np.full((24, 32, 3), level, np.uint8)


def test_a_folder_is_read_by_number_not_by_name(tmp_path: Path) -> None:
    for number in (2, 10, 1):
        cv2.imwrite(str(tmp_path / f"frame_{number}.png"), picture(number))
    (tmp_path / "notes.txt").write_text("no frame")
    frames = list(open_camera(str(tmp_path), fps=4).frames())
    assert [int(frame.image[0, 0, 0]) for frame in frames] == [1, 2, 10]
    assert [frame.t for frame in frames] == [0, 250 * MS, 500 * MS]
    assert [frame.index for frame in frames] == [0, 1, 2]


def test_an_empty_folder_and_a_torn_picture_are_named(tmp_path: Path) -> None:
    with pytest.raises(HardwareMissing, match="no numbered pictures"):
        FolderCamera(tmp_path)
    (tmp_path / "f1.png").write_bytes(b"torn")
    with pytest.raises(HardwareMissing, match=r"f1\.png is no picture"):
        list(FolderCamera(tmp_path).frames())
    with pytest.raises(ValueError, match="more than 0"):
        FolderCamera(tmp_path, fps=0)


def test_a_folder_holds_pictures_of_one_size(tmp_path: Path) -> None:
    for number, size in enumerate([(24, 32), (24, 32), (32, 24)]):
        cv2.imwrite(str(tmp_path / f"f{number}.png"), np.zeros((*size, 3), np.uint8))
    frames = FolderCamera(tmp_path).frames()
    assert [next(frames).image.shape for _ in range(2)] == [(24, 32, 3)] * 2
    with pytest.raises(HardwareMissing, match=r"f2\.png is 24×32 px and those before it are 32×24"):
        next(frames)


def test_a_video_keeps_order_and_times(tmp_path: Path) -> None:
    file = tmp_path / "table.avi"
    writer = cv2.VideoWriter(str(file), cv2.VideoWriter.fourcc(*"MJPG"), 20.0, (32, 24))
    for level in (10, 100, 200):
        writer.write(picture(level))
    writer.release()
    camera = open_camera(str(file))
    frames = list(camera.frames())
    camera.close()
    assert [frame.t // MS for frame in frames] == [0, 50, 100]
    levels = [float(frame.image.mean()) for frame in frames]
    assert levels == sorted(levels)
    assert frames[0].image.shape == (24, 32, 3)


def test_a_file_that_is_no_video_is_named(tmp_path: Path) -> None:
    file = tmp_path / "table.mp4"
    file.write_bytes(b"not a video at all")
    with pytest.raises(HardwareMissing, match="no video that OpenCV can read"):
        VideoCamera(file)
    with pytest.raises(HardwareMissing, match=r"name picamera, usb:0, a stream.s .* or a folder"):
        open_camera("webcam")


class Capture:
    """Stands for cv2.VideoCapture: pictures with the driver's stamps in ms; the end is a cable pulled out."""

    def __init__(self, stamps: list[float]) -> None:
        self._stamps = stamps
        self._at = -1

    def isOpened(self) -> bool:  # noqa: N802 - OpenCV's name
        return bool(self._stamps)

    def set(self, _setting: int, _value: float) -> bool:
        return True

    def get(self, setting: int) -> float:
        return 20.0 if setting == cv2.CAP_PROP_FPS else self._stamps[self._at]

    def read(self) -> tuple[bool, Any]:
        self._at += 1
        return (self._at < len(self._stamps), picture(1))

    def release(self) -> None:
        pass


def test_a_usb_camera_believes_the_drivers_stamp_only_if_it_is_of_now() -> None:
    camera = UsbCamera(0, capture=Capture([9_990.0, 0.0]), clock=lambda: 10 * SECOND)
    frames = camera.frames()
    first, second = next(frames), next(frames)
    assert (first.t, first.exposure, first.t_error) == (9_940 * MS, 50 * MS, 50 * MS)
    assert second.t == 9_950 * MS, "a stamp of another clock: the arrival, a frame's length before"
    assert camera.report().clock == "arrival"
    assert camera.report().size == (32, 24)
    assert "the camera gives 32×24 px instead of 1280×720" in camera.report().warnings
    with pytest.raises(HardwareMissing, match="look at its cable"):
        next(frames)


class LateCapture(Capture):
    """A picture every 50 ms into the driver's buffers, without a stamp of now; reading the n-th takes so many ms."""

    def __init__(self, buffers: int, reading: Mapping[int, int], pictures: int = 40) -> None:
        super().__init__([0.0] * pictures)
        self._buffers, self._reading = buffers, reading
        self.now, self.awake = 10 * SECOND, 0
        self._given_back = deque([self.now] * buffers)
        self._filled = 0
        self.lit: dict[int, int] = {}
        """By the instant at which it had been read, ns: when the picture had been taken."""

    def get(self, setting: int) -> float:
        return float(self._buffers) if setting == cv2.CAP_PROP_BUFFERSIZE else super().get(setting)

    def read(self) -> tuple[bool, Any]:
        if len(self._given_back) < self._buffers:
            self._given_back.append(self.now)
        self._filled = (max(self._filled, self._given_back.popleft()) // (50 * MS) + 1) * 50 * MS
        there, image = super().read()
        reading = self._reading.get(self._at, 5) * MS
        self.now = max(self.now, self._filled) + reading
        self.awake += reading
        self.lit[self.now] = self._filled
        return there, image


def given(capture: LateCapture) -> list[Frame]:
    """Return the frames of a USB camera until it stops."""
    out: list[Frame] = []
    camera = UsbCamera(0, capture=capture, clock=lambda: capture.now, awake=lambda: capture.awake)
    with pytest.raises(HardwareMissing, match="look at its cable"):
        out.extend(camera.frames())
    return out


@pytest.mark.parametrize("buffers", [1, 2, 4])
def test_a_usb_picture_dated_by_its_arrival_says_how_late_it_may_have_been_read(buffers: int) -> None:
    capture = LateCapture(buffers, dict.fromkeys(range(10, 20), 120))
    frames = given(capture)
    assert len(frames) == 40
    for frame in frames:
        read = frame.t + frame.exposure
        assert read - frame.clock_error <= capture.lit[read] <= read, "it holds for each"
    assert max(frame.clock_error for frame in frames) <= (buffers * 170 + 50) * MS, "and is no wider than the buffers"
    assert frames[-1].clock_error == 5 * MS


def test_a_usb_picture_of_before_a_long_stop_is_passed_over_if_it_has_no_stamp() -> None:
    capture = LateCapture(2, {10: 5_000})
    frames = given(capture)
    assert len(frames) == 38, "the one that was read so slowly, and the one that lay there meanwhile"
    assert all(frame.clock_error < 100 * MS for frame in frames)


def test_a_usb_cameras_automatics_are_held_where_that_does_not_change_the_picture() -> None:
    for script, held, exposure in (("", True, 1.0), ("unlocked", False, 3.0)):
        capture = SimulatedCapture(Faults(script), pause=lambda _: None)
        camera = UsbCamera(0, size=(64, 48), fps=20, capture=capture)
        list(itertools.islice(camera.frames(), TRIES * (SETTLE + SHOWS) + 1))
        assert capture.get(cv2.CAP_PROP_AUTO_EXPOSURE) == exposure, "switched back where it changed the picture"
        assert capture.get(cv2.CAP_PROP_AUTO_WB) == (0.0 if held else 1.0)
        assert any("cannot be held" in words for words in camera.report().warnings) is not held


def test_a_hand_that_comes_in_while_the_automatics_are_switched_off_is_no_reason_to_give_up() -> None:
    capture = SimulatedCapture(Faults(""))
    locks = UsbLocks(capture)
    grey, bright = (np.full((48, 64, 3), level, np.uint8) for level in (120, 200))
    for picture_ in [grey] * SETTLE + [bright] * SHOWS:
        locks.look(picture_)
    assert capture.get(cv2.CAP_PROP_AUTO_EXPOSURE) == 3.0
    for picture_ in [bright] * (SETTLE + SHOWS):
        locks.look(picture_)
    assert locks.held
    assert capture.get(cv2.CAP_PROP_AUTO_EXPOSURE) == 1.0


def test_a_camera_without_such_automatics_is_said_to_follow_the_light() -> None:
    class Plain(SimulatedCapture):
        def set(self, setting: int, value: float) -> bool:
            return False

    locks = UsbLocks(Plain(Faults("")))
    for _ in range(SETTLE):
        assert locks.warnings == ()
        locks.look(np.full((48, 64, 3), 120, np.uint8))
    assert "cannot be held" in locks.warnings[0]


def test_without_a_usb_camera_the_words_say_what_to_do() -> None:
    with pytest.raises(HardwareMissing, match="usb:3; plug one in"):
        UsbCamera(3, capture=Capture([]))
    with pytest.raises(HardwareMissing, match="usb:/dev/v4l/by-id/nothing; plug one in"):
        open_camera("usb:/dev/v4l/by-id/nothing")


def test_without_picamera2_the_words_say_what_it_means_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "picamera2", None)
    with pytest.raises(
        HardwareMissing, match=r"no slap is judged; begin the evening again and choose another camera .*referee doctor"
    ):
        open_camera("picamera", size=[64, 48], exposure_us=2_000, gain=None)


def test_without_opencv_the_words_say_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "1.png").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(HardwareMissing, match="pip install opencv-python"):
        list(FolderCamera(tmp_path).frames())


def test_the_offset_is_the_tightest_of_several_tries() -> None:
    readings = iter([0, 100, 200, 210, *[300, 400] * 14])
    offset = measure_offset(lambda: 1_000, lambda: next(readings))
    assert (offset.ahead, offset.error) == (795, 5)
