"""A real table's devices, opened as its settings say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hardware.camera import open_camera
from hardware.lights import GpioLights
from hardware.pads import GpioPads
from hardware.ports import Camera, HardwareMissing, Lights, Speaker
from referee.app.voice import VOCABULARY

if TYPE_CHECKING:
    from referee.app.running import TimedPads
    from referee.app.settings import CameraSettings, Settings, VoiceSettings


@dataclass(slots=True)
class OpenParts:
    """Devices that are open. Without camera or pads there is no game; without lights or a voice there is."""

    camera: Camera
    pads: TimedPads
    lights: Lights | None = None
    speaker: Speaker | None = None
    missing: list[str] = field(default_factory=list)

    def close(self) -> None:
        """Switch everything off."""
        for part in (self.camera, self.pads, self.lights, self.speaker):
            if part is not None:
                part.close()


def open_camera_of(settings: CameraSettings) -> Camera:
    """The camera that the settings name; raises `HardwareMissing`."""
    size = (settings.width, settings.height)
    if settings.source != "picamera":
        return open_camera(settings.source, fps=settings.fps, size=size)
    from hardware.picamera import PiCamera
    from hardware.picamera import Settings as Look

    return PiCamera(Look(size=size, fps=settings.fps, exposure_us=settings.exposure_us, gain=settings.gain))


def _speaker(settings: VoiceSettings) -> Speaker:
    from hardware.clips import Clips, find_synthesiser
    from hardware.speaker import StreamSpeaker

    clips = Clips(find_synthesiser())
    clips.render(VOCABULARY)
    return StreamSpeaker(clips, device=settings.device or None)


def open_parts(settings: Settings) -> OpenParts:
    """Open everything that the settings name.

    Raises:
        HardwareMissing: camera or pads are not here; says of each what to do.
    """
    camera, pads, lacking = None, None, []
    try:
        camera = open_camera_of(settings.camera)
    except HardwareMissing as bad:
        lacking.append(str(bad))
    try:
        pins = {number: seat.pad for number, seat in enumerate(settings.seats, start=1)}
        pads = GpioPads(pins, t_error=settings.pads.t_error_us * 1000, active_high=settings.pads.active_high)
    except HardwareMissing as bad:
        lacking.append(str(bad))
    if camera is None or pads is None:
        for part in (camera, pads):
            if part is not None:
                part.close()
        raise HardwareMissing("; and ".join(lacking))
    parts = OpenParts(camera, pads)
    try:
        if settings.lights.enabled:
            lamps = {number: seat.light for number, seat in enumerate(settings.seats, start=1)}
            parts.lights = GpioLights(lamps, settings.lights.table)
    except HardwareMissing as bad:
        parts.missing.append(str(bad))
    try:
        if settings.voice.enabled:
            parts.speaker = _speaker(settings.voice)
    except HardwareMissing as bad:
        parts.missing.append(str(bad))
    return parts
