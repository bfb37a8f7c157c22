"""The Pi camera's shell in a simulated room, paced by its own clock alone."""

from __future__ import annotations

from hardware.camera.pi_camera import PiCamera, PiCameraSettings
from hardware.ports import Image
from hardware.simulated.devices.camera_faults import Faults
from hardware.simulated.devices.simulated_picamera import CameraRoom, SimulatedPicamera2
from hardware.simulated.pictures.ambient import SensorNoise
from hardware.simulated.pictures.overhead import Overhead
from referee.units import SECOND
from tests.support.overhead import with_sheet

_CAMERA = Overhead(tilt=6.0, turn=3.0)


class Hours:
    """A clock that advances only during waits."""

    def __init__(self, boot_ahead: int = 0) -> None:
        self.now = 40 * SECOND
        self.boot_ahead = boot_ahead

    def mono(self) -> int:
        return self.now

    def boot(self) -> int:
        return self.now + self.boot_ahead

    def pause(self, seconds: float) -> None:
        self.now += round(seconds * SECOND)


def pi_camera(room: CameraRoom, faults: str = "") -> PiCamera:
    """The Pi camera's shell over a simulated driver that sees the sheet."""
    hours, sheet = Hours(), _CAMERA.picture(with_sheet())
    noise = SensorNoise(*_CAMERA.size, 2.0, 1)

    def paint(number: int, _t: int, _size: tuple[int, int]) -> Image:
        image = sheet.copy()
        noise.add_to(image, number)
        return image

    driver = SimulatedPicamera2(
        Faults(faults), pictures=paint, room=room, clock=hours.mono, boot=hours.boot, pause=hours.pause
    )
    return PiCamera(PiCameraSettings(size=_CAMERA.size), driver=driver, mono=hours.mono, boot=hours.boot)
