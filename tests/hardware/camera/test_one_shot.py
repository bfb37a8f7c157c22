"""Exposure, white balance and focus found once and held, with the truth from the simulated camera's room."""

from __future__ import annotations

import itertools

import cv2
import numpy as np
import pytest

from hardware.camera.pi_camera import PiCamera, PiCameraSettings
from hardware.ports import Image
from hardware.simulated.devices.camera_faults import Faults
from hardware.simulated.devices.simulated_picamera import CameraRoom, SimulatedPicamera2
from tests.support.pi_room import Hours


def card(_number: int, _t: int, size: tuple[int, int]) -> Image:
    """White paper with print on a dark cloth."""
    out = np.full((size[1], size[0], 3), 60, np.uint8)
    cv2.rectangle(out, (size[0] // 4, size[1] // 4), (3 * size[0] // 4, 3 * size[1] // 4), (190, 190, 190), -1)
    cv2.putText(out, "7", (size[0] // 2 - 20, size[1] // 2 + 20), cv2.FONT_HERSHEY_SIMPLEX, 2, (20, 20, 160), 6)
    return out


def opened(room: CameraRoom, faults: str = "", **look: object) -> PiCamera:
    hours = Hours()
    driver = SimulatedPicamera2(
        Faults(faults), pictures=card, room=room, clock=hours.mono, boot=hours.boot, pause=hours.pause
    )
    settings = PiCameraSettings(size=(320, 240), settle_frames=12).changed(**look)
    return PiCamera(settings, driver=driver, mono=hours.mono, boot=hours.boot)


def sharpness(camera: PiCamera) -> float:
    """Return the steepness of edges, as a share of the range between dark and bright."""
    grey = cv2.cvtColor(next(camera.frames()).image, cv2.COLOR_BGR2GRAY)
    return float(cv2.Laplacian(grey, cv2.CV_64F).std() / (int(grey.max()) - int(grey.min())))


@pytest.mark.parametrize(
    "room",
    [
        CameraRoom(),
        CameraRoom(focus=4.0, light=40_000.0),
        CameraRoom(focus=0.4, light=14_000.0, colour_gains=(2.1, 1.4)),
    ],
)
def test_focus_and_light_are_found_held_and_told(room: CameraRoom) -> None:
    camera = opened(room)
    before = sharpness(camera)
    found = camera.adjust()
    assert found.look["lens_position"] == pytest.approx(room.focus, abs=0.01)
    assert found.look["exposure_us"] * found.look["gain"] == pytest.approx(room.light, rel=0.03)
    assert found.look["exposure_us"] <= 30_000
    assert found.look["colour_gains"] == pytest.approx(room.colour_gains, abs=0.01)
    assert f"{found.look['lens_position']:g} dioptres ({100 / room.focus:.0f} cm)" in " ".join(found.words)
    locks = camera.report().locks
    assert set(locks) == {"ExposureTime", "AnalogueGain", "ColourGains", "LensPosition", "FrameDuration"}
    assert all(lock.held for lock in locks.values())
    # From the first frame on the picture is final, and sharp.
    frames = list(itertools.islice(camera.frames(), 30))
    assert len({frame.image.tobytes() for frame in frames}) == 1
    assert frames[0].image.max() == pytest.approx(190, abs=12)
    assert sharpness(camera) > 1.2 * before


def test_a_lens_that_cannot_move_or_finds_nothing_is_told_and_left_alone() -> None:
    fixed = opened(CameraRoom(), "fixed").adjust()
    assert "lens_position" not in fixed.look
    assert any("no autofocus: turn its lens by hand" in words for words in fixed.words)
    blind = opened(CameraRoom(), "unfocused", lens_position=2.0)
    found = blind.adjust()
    assert "lens_position" not in found.look
    assert any("found no focus" in words and "lay the sheet" in words for words in found.words)
    # The stored settings are applied again.
    assert blind.report().locks["LensPosition"].given == pytest.approx((2.0,), abs=0.05)


def test_other_values_are_held_from_the_next_frame_on() -> None:
    camera = opened(CameraRoom())
    camera.adjust()
    camera.hold(fps=26.0, exposure_us=3000, gain=4.0)
    one, other = itertools.islice(camera.frames(), 2)
    assert other.t - one.t == pytest.approx(1e9 / 26, rel=1e-3)
    assert one.exposure == 3_000_000
    assert camera.report().locks["LensPosition"].held
